"""SOAP at the speed of the machine.

>>> import bsoap
>>> client = bsoap.Client("examples/mesh/mesh.wsdl")
>>> client.service.sumDoubles(values={"item": [1.5, 2.5]})  # doctest: +SKIP
4.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._bsoap import Answer, Context, __version__
from ._client import AsyncClient, Client, Operation, Operations, UsernameToken, Wsdl, load
from ._errors import DecodeError, EncodeError, Error, Fault, LimitError, SchemaError, TransportError
from ._hooks import IncomingMessage, OutgoingMessage
from ._values import NIL, Date, DateTime, Duration, Object

if TYPE_CHECKING:
    from . import _typed as typed
    from ._service import Caller, Running, Service

__all__ = [
    "NIL",
    "Answer",
    "AsyncClient",
    "Caller",
    "Client",
    "Context",
    "Date",
    "DateTime",
    "DecodeError",
    "Duration",
    "EncodeError",
    "Error",
    "Fault",
    "IncomingMessage",
    "LimitError",
    "Object",
    "Operation",
    "Operations",
    "OutgoingMessage",
    "Running",
    "SchemaError",
    "Service",
    "TransportError",
    "UsernameToken",
    "Wsdl",
    "__version__",
    "load",
    "typed",
]


def __getattr__(name: str) -> Any:
    # What only some programs need is imported when it is asked for: services import asyncio, which takes long.
    if name == "typed":
        from . import _typed

        return _typed
    if name in ("Caller", "Running", "Service"):
        from . import _service

        return getattr(_service, name)
    raise AttributeError(f"module 'bsoap' has no attribute {name!r}")
