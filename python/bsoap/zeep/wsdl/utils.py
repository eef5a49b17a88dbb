"""Envelopes as text."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlparse, urlunparse

from lxml import etree

from ..utils import detect_soap_env


def get_or_create_header(envelope: Any) -> Any:
    name = f"{{{detect_soap_env(envelope)}}}Header"
    header = envelope.find(name)
    if header is None:
        header = etree.Element(name)
        envelope.insert(0, header)
    return header


def etree_to_string(node: Any) -> bytes:
    return bytes(etree.tostring(node, pretty_print=False, xml_declaration=True, encoding="utf-8"))


def url_http_to_https(value: str) -> str:
    parts = urlparse(value)
    if parts.scheme != "http":
        return value
    return urlunparse(("https", parts.netloc.removesuffix(":80")) + parts[2:])
