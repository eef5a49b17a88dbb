"""Answers with attachments."""

from __future__ import annotations

from .._packages import Attachment, MessagePack

__all__ = ["Attachment", "MessagePack"]
