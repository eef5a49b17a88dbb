"""WS-Addressing: what the header blocks of a message say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class EndpointReference(NamedTuple):
    """Where messages are sent: an address, and header blocks (reference parameters, as XML) that every message to it has."""

    address: str
    reference_parameters: Sequence[str] = ()


class RelatesTo(NamedTuple):
    """A message that another one is related to; without a relationship, it is the answer to it."""

    message_id: str
    relationship: str | None = None


class Addressing(NamedTuple):
    """What the header blocks of WS-Addressing of a message say; None is what it does not have."""

    version: str
    """``"1.0"`` or ``"2004/08"``."""
    to: str | None
    action: str | None
    message_id: str | None
    relates_to: list[RelatesTo]
    from_: EndpointReference | None
    reply_to: EndpointReference | None
    fault_to: EndpointReference | None
    answered_id: str | None
    """The ``MessageID`` of the request that the message answers."""


__all__ = ["Addressing", "EndpointReference", "RelatesTo"]
