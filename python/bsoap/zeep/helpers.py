"""Values as plain Python."""

from __future__ import annotations

import datetime
from collections import OrderedDict
from typing import Any

from lxml import etree

from . import xsd as _xsd
from .xsd.valueobjects import CompoundValue

# Names of its star imports.
xsd: Any = _xsd


def serialize_object(obj: Any, target_cls: Any = OrderedDict) -> Any:
    """Values as ``target_cls`` all the way down."""
    if isinstance(obj, list):
        return [serialize_object(item, target_cls) for item in obj]
    if isinstance(obj, (dict, CompoundValue)):
        result = target_cls()
        for key in obj:
            result[key] = serialize_object(obj[key], target_cls)
        return result
    return obj


def create_xml_soap_map(values: dict[str, Any]) -> Any:
    """A value of http://xml.apache.org/xml-soap#Map."""
    kind = xsd.ComplexType(
        xsd.Sequence([xsd.Element("item", xsd.AnyType(), min_occurs=1, max_occurs="unbounded")]),
        qname=etree.QName("{http://xml.apache.org/xml-soap}Map"),
    )
    entry = xsd.Element(
        "{http://xml.apache.org/xml-soap}KeyValueData",
        xsd.ComplexType(xsd.Sequence([xsd.Element("key", xsd.AnyType()), xsd.Element("value", xsd.AnyType())])),
    )
    items = [
        entry(xsd.AnyObject(xsd.String(), key), xsd.AnyObject(guess_xsd_type(value), value))
        for key, value in values.items()
    ]
    return kind(item=items)


def guess_xsd_type(obj: Any) -> Any:
    for kind, made in (
        (bool, xsd.Boolean),
        (int, xsd.Integer),
        (float, xsd.Float),
        (datetime.datetime, xsd.DateTime),
        (datetime.date, xsd.Date),
    ):
        if isinstance(obj, kind):
            return made()
    return xsd.String()


def Nil() -> Any:
    """A value that is sent as xsi:nil."""
    return xsd.AnyObject(None, None)
