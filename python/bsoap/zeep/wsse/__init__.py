"""WS-Security."""

from __future__ import annotations

from .compose import Compose
from .signature import BinarySignature, MemorySignature, Signature
from .username import UsernameToken

__all__ = ["BinarySignature", "Compose", "MemorySignature", "Signature", "UsernameToken"]
