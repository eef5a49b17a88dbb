"""Clients with the interface of zeep."""

from __future__ import annotations

from typing import Any

from .proxy import AsyncServiceProxy, ServiceProxy
from .settings import Settings
from .transports import AsyncTransport, Transport
from .wsdl import Document


class Factory:
    """The types or elements of a namespace as attributes."""

    def __init__(self, types: Any, kind: str, namespace: str) -> None:
        self._method = getattr(types, f"get_{kind}")
        self._ns = namespace if namespace in types.namespaces else types.get_ns_prefix(namespace)

    def __getattr__(self, key: str) -> Any:
        return self[key]

    def __getitem__(self, key: str) -> Any:
        return self._method(f"{{{self._ns}}}{key}")


class Client:
    """A client with the interface of zeep's; the codec of bsoap converts its messages."""

    _default_transport: Any = Transport
    _proxy_class: Any = ServiceProxy

    def __init__(
        self,
        wsdl: Any,
        wsse: Any = None,
        transport: Any = None,
        service_name: str | None = None,
        port_name: str | None = None,
        plugins: Any = None,
        settings: Any = None,
    ) -> None:
        if not wsdl:
            raise ValueError("No URL given for the wsdl")
        self.settings = settings or Settings()
        self.transport = transport if transport is not None else self._default_transport()
        self.wsdl = wsdl if isinstance(wsdl, Document) else Document(wsdl, self.transport, settings=self.settings)
        self.wsse = wsse
        self.plugins = plugins if plugins is not None else []
        self._default_service: Any = None
        self._default_service_name = service_name
        self._default_port_name = port_name
        self._default_soapheaders: Any = None

    @property
    def namespaces(self) -> dict[str, str]:
        return self.wsdl.types.prefix_map  # type: ignore[no-any-return]

    @property
    def service(self) -> Any:
        if self._default_service is None:
            self._default_service = self.bind(self._default_service_name, self._default_port_name)
        if self._default_service is None:
            raise ValueError(
                "There is no default service defined. This is usually due to missing wsdl:service definitions in the WSDL"
            )
        return self._default_service

    def bind(self, service_name: str | None = None, port_name: str | None = None) -> Any:
        if not self.wsdl.services:
            return None
        port = self._get_port(self._get_service(service_name), port_name)
        return self._proxy_class(self, port.binding, **port.binding_options)

    def create_service(self, binding_name: str, address: str) -> Any:
        try:
            binding = self.wsdl.bindings[binding_name]
        except KeyError:
            known = ", ".join(self.wsdl.bindings)
            raise ValueError(f"No binding found with the given QName. Available bindings are: {known}") from None
        return self._proxy_class(self, binding, address=address)

    def create_message(self, service: Any, operation_name: str, *args: Any, **kwargs: Any) -> Any:
        """The envelope of a request as an element of lxml."""
        return service._binding._create(operation_name, args, kwargs, client=self, options=service._binding_options)[0]

    def type_factory(self, namespace: str) -> Factory:
        return Factory(self.wsdl.types, "type", namespace)

    def get_type(self, name: Any) -> Any:
        return self.wsdl.types.get_type(name)

    def get_element(self, name: Any) -> Any:
        return self.wsdl.types.get_element(name)

    def set_ns_prefix(self, prefix: str, namespace: str) -> None:
        self.wsdl.types.set_ns_prefix(prefix, namespace)

    def set_default_soapheaders(self, headers: Any) -> None:
        self._default_soapheaders = headers

    def _get_port(self, service: Any, name: str | None) -> Any:
        if not name:
            return next(iter(service.ports.values()))
        port = service.ports.get(name)
        if not port:
            raise ValueError("Port not found")
        return port

    def _get_service(self, name: str | None) -> Any:
        if not name:
            return next(iter(self.wsdl.services.values()), None)
        service = self.wsdl.services.get(name)
        if not service:
            raise ValueError("Service not found")
        return service

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *problem: Any) -> None:
        if hasattr(self.transport, "close"):
            self.transport.close()


class AsyncClient(Client):
    _default_transport = AsyncTransport
    _proxy_class = AsyncServiceProxy

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(self, *problem: Any) -> None:
        await self.transport.aclose()


class CachingClient(Client):
    """A client whose transport keeps documents in an `SqliteCache`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        from .cache import SqliteCache

        kwargs["transport"] = kwargs.get("transport") or Transport(cache=SqliteCache())
        super().__init__(*args, **kwargs)
