"""Small functions that programs import from zeep."""

from __future__ import annotations

from email.message import Message
from typing import Any

from lxml import etree

from .xsd.utils import as_qname as as_qname
from .xsd.utils import qname_attr as qname_attr


def get_version() -> str:
    from . import __version__

    return __version__


def detect_soap_env(envelope: Any) -> Any:
    return etree.QName(envelope).namespace


def get_media_type(value: str) -> str:
    message = Message()
    message["content-type"] = value
    return message.get_content_type()
