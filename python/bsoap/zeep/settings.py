"""Settings, as a value and as a context manager per thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_DEFAULTS: dict[str, Any] = {
    "strict": True,
    "raw_response": False,
    "force_https": True,
    "extra_http_headers": None,
    "xml_huge_tree": False,
    "forbid_dtd": False,
    "forbid_entities": True,
    "forbid_external": False,
    "xsd_ignore_sequence_order": False,
}


class Settings:
    """The settings of a client.

    ``with client.settings(strict=False):`` changes some in this thread for a while.
    ``xml_huge_tree`` has no effect on what bsoap decodes: its limits are those of bsoap.
    """

    def __init__(
        self,
        strict: bool = True,
        raw_response: bool = False,
        force_https: bool = True,
        extra_http_headers: Any = None,
        xml_huge_tree: bool = False,
        forbid_dtd: bool = False,
        forbid_entities: bool = True,
        forbid_external: bool = False,
        xsd_ignore_sequence_order: bool = False,
    ) -> None:
        given = dict(locals())
        given.pop("self")
        object.__setattr__(self, "_values", given)
        object.__setattr__(self, "_tls", threading.local())

    def __getattr__(self, name: str) -> Any:
        if name not in _DEFAULTS:
            raise AttributeError(f"Settings has no setting {name!r}; it has: {', '.join(_DEFAULTS)}")
        mine = self.__dict__["_tls"].__dict__
        return mine[name] if name in mine else self.__dict__["_values"][name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _DEFAULTS:
            raise AttributeError(f"Settings has no setting {name!r}; it has: {', '.join(_DEFAULTS)}")
        self.__dict__["_values"][name] = value

    @contextmanager
    def __call__(self, **options: Any) -> Iterator[None]:
        mine = self.__dict__["_tls"].__dict__
        for name in options:
            getattr(self, name)
        before = dict(mine)
        mine.update(options)
        try:
            yield
        finally:
            mine.clear()
            mine.update(before)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Settings) and all(getattr(self, name) == getattr(other, name) for name in _DEFAULTS)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Settings({', '.join(f'{name}={getattr(self, name)!r}' for name in _DEFAULTS)})"

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.__dict__["_values"])

    def __setstate__(self, state: dict[str, Any]) -> None:
        object.__setattr__(self, "_values", state)
        object.__setattr__(self, "_tls", threading.local())
