"""The operations of a binding as methods."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any


class OperationProxy:
    def __init__(self, service_proxy: Any, operation_name: str) -> None:
        self._proxy = service_proxy
        self._op_name = operation_name

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return str(self._proxy._binding._operations[self._op_name])

    def _merge_soap_headers(self, given: Any) -> Any:
        default = self._proxy._client._default_soapheaders
        if not (default and given):
            return default or given
        merged = copy.deepcopy(default)
        if type(merged) is not type(given):
            raise ValueError("Incompatible soapheaders definition")
        if isinstance(given, list):
            merged.extend(given)
        else:
            merged.update(given)
        return merged

    def _prepared(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        headers = self._merge_soap_headers(kwargs.pop("_soapheaders", None))
        return {**kwargs, "_soapheaders": headers} if headers else kwargs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        proxy = self._proxy
        return proxy._binding.send(proxy._client, proxy._binding_options, self._op_name, args, self._prepared(kwargs))


class AsyncOperationProxy(OperationProxy):
    async def __call__(self, *args: Any, **kwargs: Any) -> Any:
        proxy = self._proxy
        return await proxy._binding.send_async(
            proxy._client, proxy._binding_options, self._op_name, args, self._prepared(kwargs)
        )


class ServiceProxy:
    _operation_class: Any = OperationProxy

    def __init__(self, client: Any, binding: Any, **binding_options: Any) -> None:
        self._client = client
        self._binding_options = binding_options
        self._binding = binding
        self._operations = {name: self._operation_class(self, name) for name in binding.all()}

    def __getattr__(self, key: str) -> Any:
        if key.startswith("__"):
            raise AttributeError(key)
        return self[key]

    def __getitem__(self, key: str) -> Any:
        try:
            return self._operations[key]
        except KeyError:
            raise AttributeError(f"Service has no operation {key!r}") from None

    def __iter__(self) -> Iterator[Any]:
        return iter(self._operations.items())

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._operations]


class AsyncServiceProxy(ServiceProxy):
    _operation_class = AsyncOperationProxy
