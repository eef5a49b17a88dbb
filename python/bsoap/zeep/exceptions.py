"""The exceptions of zeep, raised for those of bsoap."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    def __init__(self, message: Any = "", **more: Any) -> None:
        super().__init__(message)
        self.message = message

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.message!r})"


class XMLSyntaxError(Error):
    def __init__(self, *args: Any, content: Any = None) -> None:
        self.content = content
        super().__init__(*args)


class XMLParseError(Error):
    def __init__(self, *args: Any, filename: str | None = None, sourceline: int | None = None) -> None:
        self.filename = filename
        self.sourceline = sourceline
        super().__init__(*args)

    def __str__(self) -> str:
        if self.filename and self.sourceline:
            return f"{self.message} ({self.filename}:{self.sourceline})"
        return str(self.message)


class UnexpectedElementError(Error):
    pass


class WsdlSyntaxError(Error):
    pass


class TransportError(Error):
    def __init__(self, message: str = "", status_code: int = 0, content: bytes | None = None) -> None:
        super().__init__(message)
        self.status_code = status_code
        self.content = content


class LookupError(Error):
    def __init__(
        self, *args: Any, qname: Any = None, item_name: str | None = None, location: str | None = None
    ) -> None:
        self.qname = qname
        self.item_name = item_name
        self.location = location
        super().__init__(*args)


class NamespaceError(Error):
    pass


class Fault(Error):
    """``detail`` is an element of lxml, ``subcodes`` are its QNames."""

    def __init__(
        self, message: Any, code: Any = None, actor: Any = None, detail: Any = None, subcodes: Any = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.actor = actor
        self.detail = detail
        self.subcodes = subcodes


class ZeepWarning(RuntimeWarning):
    pass


class ValidationError(Error):
    def __init__(self, *args: Any, path: list[Any] | None = None) -> None:
        self.path = path or []
        super().__init__(*args)

    def __str__(self) -> str:
        return f"{self.message} ({'.'.join(map(str, self.path))})" if self.path else str(self.message)


class SignatureVerificationFailed(Error):
    pass


class IncompleteMessage(Error):
    pass


class IncompleteOperation(Error):
    pass


class DTDForbidden(Error):
    def __init__(self, name: Any, sysid: Any, pubid: Any) -> None:
        super().__init__()
        self.name, self.sysid, self.pubid = name, sysid, pubid

    def __str__(self) -> str:
        return f"DTDForbidden(name='{self.name}', system_id={self.sysid!r}, public_id={self.pubid!r})"


class EntitiesForbidden(Error):
    def __init__(self, name: Any, content: Any) -> None:
        super().__init__()
        self.name, self.content = name, content

    def __str__(self) -> str:
        return f"EntitiesForbidden(name='{self.name}', content={self.content!r})"


class ExternalReferenceForbidden(Error):
    def __init__(self, url: str) -> None:
        super().__init__(f"External reference to {url!r} is forbidden")
        self.url = url

    def __str__(self) -> str:
        return f"ExternalReferenceForbidden(url={self.url!r})"


class NotCovered(Error, NotImplementedError):
    """A part of zeep that ``bsoap.zeep`` does not have; the message says what to use instead."""
