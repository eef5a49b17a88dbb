"""The services, ports, bindings and messages of a WSDL."""

from __future__ import annotations

from .wsdl import Document as Document

__all__ = ["Document"]
