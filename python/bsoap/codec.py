"""Conversion for those who bring their own transport: requests, httpx, a message queue, files.

>>> import bsoap, bsoap.codec
>>> wsdl = bsoap.Wsdl("examples/mesh/mesh.wsdl")
>>> request = bsoap.codec.encode(wsdl, "sumDoubles", {"values": {"item": [1.5, 2.5]}})
>>> received = bsoap.codec.decode_request(wsdl, request)
>>> received.operation, received.value.values.item.tolist()
('sumDoubles', [1.5, 2.5])
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from . import _bsoap
from ._bsoap import Decoded
from ._client import Wsdl, WsdlSource, _limits, _mode


class Template:
    """Writes the requests of an operation; of similar ones only what changed is converted.

    ``http_headers`` are those that go with the requests.
    """

    def __init__(self, wsdl: WsdlSource, operation: str, *, port: str | None = None, differential: bool = True) -> None:
        self.operation = operation
        self._template = _bsoap.Template(Wsdl.of(wsdl)._definitions, operation, port=port, differential=differential)

    @property
    def http_headers(self) -> dict[str, str]:
        return self._template.http_headers

    def encode(self, body: Any = None, *, soap_headers: Any = None) -> bytes:
        """The text of a request with these arguments."""
        return self._template.encode({} if body is None else body, soap_headers)


class Decoder:
    """Reads the messages of a port; of similar ones only what changed is converted.

    ``mode`` and ``limits`` are as for :class:`bsoap.Client`.
    """

    def __init__(
        self,
        wsdl: WsdlSource,
        *,
        port: str | None = None,
        mode: str | Iterable[str] = "default",
        differential: bool = True,
        limits: Mapping[str, int] | None = None,
    ) -> None:
        self._decoder = _bsoap.Decoder(
            Wsdl.of(wsdl)._definitions,
            port=port,
            mode=_mode(mode),
            differential=differential,
            limits=_limits(limits, "limits"),
        )

    def answer(
        self,
        operation: str,
        text: bytes,
        *,
        status: int = 200,
        content_type: str | None = None,
    ) -> Decoded | None:
        """The answer to an operation; None if it is empty and the operation is one-way. A fault is raised."""
        return self._decoder.answer(operation, text, status=status, content_type=content_type)

    def request(self, text: bytes, *, content_type: str | None = None, soap_action: str | None = None) -> Decoded:
        """A request; its operation is found by its Body, and by the action if several have one."""
        return self._decoder.request(text, content_type=content_type, soap_action=soap_action)


def encode(
    wsdl: WsdlSource, operation: str, body: Any = None, *, port: str | None = None, soap_headers: Any = None
) -> bytes:
    """The text of one request."""
    return Template(wsdl, operation, port=port, differential=False).encode(body, soap_headers=soap_headers)


def sample(wsdl: WsdlSource, operation: str, *, port: str | None = None) -> bytes:
    """The text of a request that is made of the schema alone, and is valid."""
    return Template(wsdl, operation, port=port)._template.sample()


def decode(
    wsdl: WsdlSource,
    operation: str,
    text: bytes,
    *,
    port: str | None = None,
    mode: str | Iterable[str] = "default",
    limits: Mapping[str, int] | None = None,
) -> Any:
    """The value of the answer to an operation. A fault is raised."""
    decoded = Decoder(wsdl, port=port, mode=mode, differential=False, limits=limits).answer(operation, text)
    return None if decoded is None else decoded.value


def decode_request(
    wsdl: WsdlSource,
    text: bytes,
    *,
    port: str | None = None,
    mode: str | Iterable[str] = "default",
    limits: Mapping[str, int] | None = None,
) -> Decoded:
    """A request: its operation, value and header blocks."""
    return Decoder(wsdl, port=port, mode=mode, differential=False, limits=limits).request(text)


__all__ = ["Decoded", "Decoder", "Template", "decode", "decode_request", "encode", "sample"]
