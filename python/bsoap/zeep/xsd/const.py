"""Marks for values."""

from __future__ import annotations

from typing import Any

from lxml import etree

from .. import ns


def xsi_ns(localname: str) -> etree.QName:
    return etree.QName(ns.XSI, localname)


def xsd_ns(localname: str) -> etree.QName:
    return etree.QName(ns.XSD, localname)


class _StaticIdentity:
    def __init__(self, val: str) -> None:
        self.__value__ = val

    def __repr__(self) -> str:
        return self.__value__

    # Marks are compared by identity, so copies are the same object.
    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


NotSet = _StaticIdentity("NotSet")
SkipValue = _StaticIdentity("SkipValue")
Nil = _StaticIdentity("Nil")

AUTO_IMPORT_NAMESPACES = ["http://schemas.xmlsoap.org/soap/encoding/"]
