"""Plugins see the envelopes as elements of lxml, and may change or replace them."""

from __future__ import annotations

from collections import deque
from typing import Any


class Plugin:
    def ingress(self, envelope: Any, http_headers: Any, operation: Any) -> Any:
        """Sees an answer before it is decoded."""
        return envelope, http_headers

    def egress(self, envelope: Any, http_headers: Any, operation: Any, binding_options: Any) -> Any:
        """Sees a request before it is sent."""
        return envelope, http_headers


def apply_egress(
    client: Any, envelope: Any, http_headers: Any, operation: Any, binding_options: Any
) -> tuple[Any, Any]:
    for plugin in client.plugins:
        result = plugin.egress(envelope, http_headers, operation, binding_options)
        if result is not None:
            envelope, http_headers = result
    return envelope, http_headers


def apply_ingress(client: Any, envelope: Any, http_headers: Any, operation: Any) -> tuple[Any, Any]:
    for plugin in client.plugins:
        result = plugin.ingress(envelope, http_headers, operation)
        if result is not None:
            envelope, http_headers = result
    return envelope, http_headers


class HistoryPlugin(Plugin):
    """Keeps the last messages: ``last_sent`` and ``last_received`` are ``{"envelope", "http_headers"}``."""

    def __init__(self, maxlen: int = 1) -> None:
        self._buffer: deque[dict[str, Any]] = deque([], maxlen)

    @property
    def last_sent(self) -> Any:
        return self._buffer[-1]["sent"]

    @property
    def last_received(self) -> Any:
        return self._buffer[-1]["received"]

    def ingress(self, envelope: Any, http_headers: Any, operation: Any) -> Any:
        self._buffer[-1]["received"] = {"envelope": envelope, "http_headers": http_headers}

    def egress(self, envelope: Any, http_headers: Any, operation: Any, binding_options: Any) -> Any:
        self._buffer.append({"received": None, "sent": {"envelope": envelope, "http_headers": http_headers}})
