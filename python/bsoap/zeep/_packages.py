"""Answers in MIME packages: SOAP with Attachments, and MTOM, whose attachments become the values that refer to them."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from email.message import Message
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from requests.structures import CaseInsensitiveDict

from .exceptions import NotCovered, TransportError

_INCLUDE = "{http://www.w3.org/2004/08/xop/include}Include"


class Attachment:
    """What came beside an answer. ``content_id`` is as it was sent: ``<id>``."""

    def __init__(self, headers: CaseInsensitiveDict[str], read: Callable[[], bytes]) -> None:
        self.headers = headers
        self.content_type = headers.get("Content-Type")
        self.content_id = headers.get("Content-ID")
        self.content_location = headers.get("Content-Location")
        self._read = read

    @classmethod
    def native(cls, attachment: Any) -> Attachment:
        """That of an attachment of bsoap, which has read its transfer encoding."""
        headers: CaseInsensitiveDict[str] = CaseInsensitiveDict()
        if attachment.content_type is not None:
            headers["Content-Type"] = attachment.content_type
        if attachment.content_id is not None:
            headers["Content-ID"] = f"<{attachment.content_id}>"
        return cls(headers, attachment.__bytes__)

    def __repr__(self) -> str:
        return f"<Attachment({self.content_id!r}, {self.content_type!r})>"

    @cached_property
    def content(self) -> bytes:
        """The octets."""
        content = self._read()
        encoding = self.headers.get("Content-Transfer-Encoding", "").strip().lower()
        return base64.b64decode(content) if encoding == "base64" else content


class MessagePack:
    """An answer with attachments: ``root`` is the result, ``attachments`` are the other parts."""

    def __init__(self, parts: Iterable[Attachment]) -> None:
        self.attachments = list(parts)
        self._root: Any = None

    def __repr__(self) -> str:
        return f"<MessagePack(attachments=[{', '.join(map(repr, self.attachments))}])>"

    @property
    def root(self) -> Any:
        return self._root

    def _set_root(self, root: Any) -> None:
        self._root = root

    def get_by_content_id(self, content_id: str) -> Attachment | None:
        """The attachment with this content id, which is ``<id>``; None if there is none."""
        return next((part for part in self.attachments if part.content_id == content_id), None)


def split(content: bytes, content_type: str) -> tuple[bytes, list[Attachment]]:
    """The root of a package, and the other parts."""
    head = Message()
    head["Content-Type"] = content_type
    boundary = head.get_param("boundary")
    if not isinstance(boundary, str) or not boundary:
        raise TransportError("The multipart/related answer has no boundary", content=content)
    # A line break precedes each delimiter but the first.
    pieces = (b"\r\n" + content).split(b"\r\n--" + boundary.encode())
    parts = [_part(piece) for piece in pieces[1:] if not piece.startswith(b"--")]
    if not parts:
        raise TransportError("The multipart/related answer has no parts", content=content)
    start = head.get_param("start")
    root = next((part for part in parts if start and part.content_id == start), parts[0])
    return root.content, [part for part in parts if part is not root]


def _part(piece: bytes) -> Attachment:
    head, _, content = piece.partition(b"\r\n\r\n")
    headers: CaseInsensitiveDict[str] = CaseInsensitiveDict()
    unfolded = head.replace(b"\r\n ", b" ").replace(b"\r\n\t", b" ")
    for line in unfolded.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        headers[name.decode("latin-1").strip()] = value.decode("latin-1").strip()
    return Attachment(headers, lambda: content)


def process_xop(document: Any, pack: MessagePack) -> bool:
    """Replaces the references to attachments by their octets, as base64 text. Whether there were any."""
    includes = list(document.iter(_INCLUDE))
    for include in includes:
        href = include.get("href", "")
        found = pack.get_by_content_id(f"<{unquote(href[4:])}>" if href.startswith("cid:") else href)
        if found is None:
            raise ValueError(f"No part found for: {href!r}")
        parent = include.getparent()
        parent.remove(include)
        parent.text = base64.b64encode(found.content).decode()
    return bool(includes)


def refuse_xop(document: Any) -> None:
    """Refuses a root whose attachments are gone: the codec has read the package, but not its values."""
    if next(document.iter(_INCLUDE), None) is not None:
        raise NotCovered("an answer with MTOM does not conform to the WSDL: bsoap.Client says where it does not")


__all__ = ["Attachment", "MessagePack", "process_xop", "refuse_xop", "split"]
