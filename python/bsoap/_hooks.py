"""What hooks see of messages."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(slots=True)
class OutgoingMessage:
    """A message that is about to be sent. A hook may replace ``body`` and add to ``headers``."""

    operation: str
    headers: dict[str, str]
    """HTTP headers by their names in lower case."""
    body: bytes


@dataclasses.dataclass(slots=True)
class IncomingMessage:
    """An answer that has arrived and is not decoded yet. A hook may replace ``body``."""

    operation: str | None
    headers: dict[str, str]
    body: bytes
    http_status: int | None
