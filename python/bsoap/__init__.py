"""SOAP at the speed of the machine.

>>> import bsoap
>>> client = bsoap.Client("examples/mesh/mesh.wsdl")
>>> client.service.sumDoubles(values={"item": [1.5, 2.5]})  # doctest: +SKIP
4.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._addressing import Addressing, EndpointReference, RelatesTo
from ._bsoap import Answer, Attachment, Context, __version__
from ._client import (
    AsyncClient,
    BearerAuth,
    Client,
    DigestAuth,
    Operation,
    Operations,
    Retries,
    UsernameToken,
    Wsdl,
    load,
)
from ._errors import DecodeError, EncodeError, Error, Fault, LimitError, SchemaError, TransportError
from ._hooks import IncomingMessage, OutgoingMessage
from ._values import NIL, Date, DateTime, Duration, Object

if TYPE_CHECKING:
    from . import _typed as typed
    from ._bulk import Batches, read_messages
    from ._service import Caller, Running, Service
    from ._table import Failure, Table, TableColumn, table

__all__ = [
    "NIL",
    "Addressing",
    "Answer",
    "AsyncClient",
    "Attachment",
    "Caller",
    "Batches",
    "BearerAuth",
    "Client",
    "Context",
    "Date",
    "DateTime",
    "DecodeError",
    "DigestAuth",
    "Duration",
    "EncodeError",
    "EndpointReference",
    "Error",
    "Failure",
    "Fault",
    "IncomingMessage",
    "LimitError",
    "Object",
    "Operation",
    "Operations",
    "OutgoingMessage",
    "RelatesTo",
    "Retries",
    "Running",
    "SchemaError",
    "Service",
    "Table",
    "TableColumn",
    "TransportError",
    "UsernameToken",
    "Wsdl",
    "__version__",
    "load",
    "read_messages",
    "table",
    "typed",
]

_LATER = {
    "Caller": "_service",
    "Running": "_service",
    "Service": "_service",
    "Batches": "_bulk",
    "Failure": "_table",
    "Table": "_table",
    "TableColumn": "_table",
    "read_messages": "_bulk",
    "table": "_table",
}


def __getattr__(name: str) -> Any:
    # What only some programs need is imported when it is asked for: services import asyncio, which takes long.
    import importlib

    if name == "typed":
        return importlib.import_module("._typed", __name__)
    if name in _LATER:
        found = getattr(importlib.import_module("." + _LATER[name], __name__), name)
        globals()[name] = found
        return found
    raise AttributeError(f"module 'bsoap' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
