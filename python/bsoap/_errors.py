"""The exceptions of bsoap.

Error
├── Fault           the peer answered with a fault
├── SchemaError     the WSDL cannot be loaded
├── EncodeError     the arguments do not match the WSDL; nothing was sent
├── DecodeError     the answer does not match the WSDL
├── TransportError  the message or its answer could not be transported
└── LimitError      a limit was exceeded; the message names it
"""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """The base class of all errors of bsoap."""

    @property
    def message(self) -> str:
        """What was wrong, where, and what to do."""
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.args, self.__dict__))


def _rebuild(cls: type[Error], args: tuple[Any, ...], state: dict[str, Any]) -> Error:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class SchemaError(Error):
    """The WSDL, or a schema that it imports, cannot be loaded."""


class EncodeError(Error, ValueError):
    """The arguments do not match the WSDL. Nothing was sent."""


class DecodeError(Error, ValueError):
    """An answer or a text does not match the WSDL."""


class LimitError(Error):
    """A limit was exceeded; the message names it."""


class TransportError(Error, OSError):
    """The message or its answer could not be transported."""

    is_timeout: bool = False
    """Whether a time limit was reached."""
    is_connect: bool = False
    """Whether no connection could be established."""
    was_not_sent: bool = False
    """Whether the peer has certainly not received the message, so that any call may be repeated."""
    http_status: int | None = None
    """The HTTP status of the answer, if there was one."""

    def __str__(self) -> str:
        return self.message


class Fault(Error):
    """The peer answered with a fault, or a handler raises one.

    >>> fault = Fault("no such sensor", code="Sender")
    >>> fault.code, fault.message
    ('Sender', 'no such sensor')
    """

    code: str
    """``Sender`` (``Client`` in SOAP 1.1), ``Receiver`` (``Server``), ``MustUnderstand``, ``VersionMismatch``, or another name."""
    subcodes: list[str]
    """More specific codes, from general to specific."""
    reasons: dict[str, str]
    """The reason by language."""
    node: str | None
    actor: str | None
    detail: Any
    """An object with the declared elements as objects of their types; others as XML under ``#any``. None if there is no detail."""
    headers: dict[str, Any]
    """The header blocks that came with the fault: those of ``soap:headerfault`` by the name of their part, others as XML under ``#any``."""
    http_status: int | None = None
    """The HTTP status that a received fault came with."""

    def __init__(
        self,
        message: str = "",
        code: str = "Receiver",
        *,
        subcodes: list[str] | None = None,
        actor: str | None = None,
        detail: Any = None,
        headers: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.headers = headers or {}
        self.code = code
        self.subcodes = subcodes or []
        self.reasons = {"en": message}
        self.node = None
        self.actor = actor
        self.detail = detail

    def __str__(self) -> str:
        codes = ".".join([self.code, *self.subcodes])
        return f"{codes}: {self.message}"
