"""Names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lxml import etree

from .. import ns
from ..exceptions import XMLParseError


def as_qname(value: str, nsmap: Any, target_namespace: str | None = None) -> etree.QName:
    """The name that a text in a document means."""
    value = value.strip()
    if ":" in value:
        prefix, local = value.split(":")
        namespace = ns.XML if prefix == "xml" else nsmap.get(prefix)
        if not namespace:
            raise XMLParseError(f"No namespace defined for {prefix!r} ({value!r})")
        return etree.QName(namespace, local) if local else etree.QName(ns.XSD, "anyType")
    namespace = target_namespace or nsmap.get(None)
    return etree.QName(namespace, value) if namespace else etree.QName(value)


def qname_attr(node: Any, name: Any, target_namespace: str | None = None) -> etree.QName | None:
    value = node.get(name)
    return None if value is None else as_qname(value, node.nsmap, target_namespace)


def create_prefixed_name(qname: Any, schema: Any) -> Any:
    if not qname:
        return None
    if not qname.namespace:
        return qname.localname
    if schema:
        prefix = schema.get_shorthand_for_ns(qname.namespace)
        if prefix:
            return f"{prefix}:{qname.localname}"
    elif qname.namespace in ns.NAMESPACE_TO_PREFIX:
        return f"{ns.NAMESPACE_TO_PREFIX[qname.namespace]}:{qname.localname}"
    return qname.text


def max_occurs_iter(max_occurs: Any, items: Iterable[Any] | None = None) -> Iterator[Any]:
    limit = 2**31 - 1 if max_occurs == "unbounded" else max_occurs
    if items is None:
        yield from range(limit)
    else:
        for _, item in zip(range(limit), items, strict=False):
            yield item
