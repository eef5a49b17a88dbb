"""Elements of the Security header block."""

from __future__ import annotations

import datetime
import uuid
from typing import Any

from lxml import etree
from lxml.builder import ElementMaker

from .. import ns
from ..wsdl.utils import get_or_create_header

NSMAP = {"wsse": ns.WSSE, "wsu": ns.WSU}
WSSE = ElementMaker(namespace=ns.WSSE, nsmap={"wsse": ns.WSSE})
WSU = ElementMaker(namespace=ns.WSU, nsmap={"wsu": ns.WSU})
ID_ATTR = etree.QName(ns.WSU, "Id")


def get_security_header(doc: Any) -> Any:
    """The Security block of an envelope; it is added if there is none."""
    header = get_or_create_header(doc)
    security = header.find(f"{{{ns.WSSE}}}Security")
    if security is None:
        security = WSSE.Security()
        header.append(security)
    return security


def get_timestamp(timestamp: Any = None, zulu_timestamp: bool | None = None) -> str:
    timestamp = timestamp or datetime.datetime.now(datetime.UTC)
    timestamp = timestamp.replace(tzinfo=datetime.UTC, microsecond=0)
    text = str(timestamp.isoformat())
    return text.replace("+00:00", "Z") if zulu_timestamp else text


def get_unique_id() -> str:
    return f"id-{uuid.uuid4()}"


def ensure_id(node: Any) -> str:
    found = node.get(ID_ATTR)
    if not found:
        found = get_unique_id()
        node.set(ID_ATTR, found)
    return str(found)
