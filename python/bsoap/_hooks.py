"""What hooks see of messages."""

from __future__ import annotations


class OutgoingMessage:
    """A message that is about to be sent. A hook may replace ``body`` and add to ``headers``.

    ``headers`` are the HTTP headers by their names in lower case.
    """

    __slots__ = ("body", "headers", "operation")

    def __init__(self, operation: str, headers: dict[str, str], body: bytes) -> None:
        self.operation = operation
        self.headers = headers
        self.body = body


class IncomingMessage:
    """An answer that has arrived and is not decoded yet. A hook may replace ``body``."""

    __slots__ = ("body", "headers", "http_status", "operation")

    def __init__(self, operation: str | None, headers: dict[str, str], body: bytes, http_status: int | None) -> None:
        self.operation = operation
        self.headers = headers
        self.body = body
        self.http_status = http_status
