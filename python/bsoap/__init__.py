"""SOAP at the speed of the machine.

>>> import bsoap
>>> client = bsoap.Client("examples/mesh/mesh.wsdl")
>>> client.service.sumDoubles(values={"item": [1.5, 2.5]})  # doctest: +SKIP
4.0
"""

from __future__ import annotations

from ._bsoap import Answer, __version__
from ._client import AsyncClient, Client, Operation, Operations, UsernameToken, Wsdl, load
from ._errors import DecodeError, EncodeError, Error, Fault, LimitError, SchemaError, TransportError
from ._hooks import IncomingMessage, OutgoingMessage
from ._values import NIL, Date, DateTime, Duration, Object

__all__ = [
    "NIL",
    "Answer",
    "AsyncClient",
    "Client",
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
    "SchemaError",
    "TransportError",
    "UsernameToken",
    "Wsdl",
    "__version__",
    "load",
]
