"""Several parts of WS-Security."""

from __future__ import annotations

from typing import Any


class Compose:
    def __init__(self, wsse_objects: list[Any]) -> None:
        self.wsse_objects = wsse_objects

    def apply(self, envelope: Any, headers: Any) -> Any:
        for part in self.wsse_objects:
            envelope, headers = part.apply(envelope, headers)
        return envelope, headers

    def verify(self, envelope: Any) -> None:
        for part in self.wsse_objects:
            part.verify(envelope)
