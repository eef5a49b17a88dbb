"""Documents of a WSDL: loaded through the transport, as zeep does, and given to bsoap by their locations."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urljoin, urlparse

from lxml import etree

from . import ns
from .exceptions import (
    DTDForbidden,
    EntitiesForbidden,
    ExternalReferenceForbidden,
    TransportError,
    XMLSyntaxError,
)

_XSD = f"{{{ns.XSD}}}"
_WSDL = f"{{{ns.WSDL}}}"

# bsoap has these schemas; they are not fetched from the network.
_WELL_KNOWN = {
    ns.XML,
    ns.XSD,
    "http://www.w3.org/2005/05/xmlmime",
    "http://www.w3.org/2004/06/xmlmime",
    ns.WSDL,
    ns.SOAP_11,
}


def parse_xml(content: Any, transport: Any = None, base_url: str | None = None, settings: Any = None) -> Any:
    """Parses a text; entities are not expanded from outside."""
    recover = settings is not None and not settings.strict
    huge = settings is not None and settings.xml_huge_tree
    parser = etree.XMLParser(
        remove_comments=True, resolve_entities=False, no_network=True, recover=recover, huge_tree=huge
    )
    if isinstance(content, str):
        content = content.encode()
    try:
        element = etree.fromstring(content, parser=parser, base_url=base_url)
    except etree.XMLSyntaxError as error:
        raise XMLSyntaxError(f"Invalid XML content received ({error.msg})", content=content) from error
    if element is None:
        raise XMLSyntaxError("Invalid XML content received (no element)", content=content)
    info = element.getroottree().docinfo
    if settings is not None and info.doctype:
        if settings.forbid_dtd:
            raise DTDForbidden(info.doctype, info.system_url, info.public_id)
        if settings.forbid_entities and info.internalDTD is not None:
            for entity in info.internalDTD.iterentities():
                raise EntitiesForbidden(entity.name, entity.content)
    return element


def is_relative_path(value: str) -> bool:
    return not value.startswith(("http://", "https://", "file://"))


def absolute_location(location: str, base: str | None) -> str:
    if location == base or location.startswith(("http://", "https://", "file://")) or base is None:
        return location
    if base.startswith(("http://", "https://", "file://")):
        return urljoin(base, location)
    if os.path.isabs(location):
        return location
    return os.path.normpath(os.path.join(os.path.dirname(base), location))


class Loader:
    """Loads documents and what they refer to, each once."""

    def __init__(self, transport: Any, settings: Any) -> None:
        self.transport = transport
        self.settings = settings
        self.texts: dict[str, str] = {}
        self._roots: dict[str, Any] = {}
        self._schemas: set[tuple[str | None, str]] = set()

    def root(self, location: Any, base: str | None = None, is_initial: bool = False) -> Any:
        """The root element of a document: a location, or a file object."""
        if hasattr(location, "read"):
            content = location.read()
            location = base or "document.wsdl"
        else:
            location = absolute_location(location, base)
            if location in self._roots:
                return self._roots[location]
            is_remote = urlparse(location).scheme in ("http", "https")
            if is_remote and not is_initial and self.settings.forbid_external:
                raise ExternalReferenceForbidden(location)
            content = self._content(location)
        root = parse_xml(content, self.transport, location, settings=self.settings)
        self._roots[location] = root
        if isinstance(content, bytes):
            try:
                content = content.decode("utf-8-sig")
            except UnicodeDecodeError:
                content = etree.tostring(root, encoding="unicode")
        if "encoding" in content[:120] and "utf-8" not in content[:120].lower():
            content = etree.tostring(root, encoding="unicode")
        self.texts[location] = content
        return root

    def _content(self, location: str) -> Any:
        if self.transport is None:
            with open(os.path.expanduser(location.removeprefix("file://")), "rb") as file:
                return file.read()
        try:
            return self.transport.load(location)
        except OSError as error:
            status = getattr(getattr(error, "response", None), "status_code", None)
            if status is None or not isinstance(error, TransportError):
                raise
            raise

    def schema_documents(self, node: Any, location: str | None, namespace: str | None = None) -> list[Any]:
        """A schema and those that it includes and imports, in the order in which zeep numbers prefixes."""
        from .xsd.schema import SchemaDocument

        own = node.get("targetNamespace")
        is_chameleon = not own and namespace is not None
        document = SchemaDocument(own or namespace, location, node, is_chameleon)
        found = [document]
        for child in node:
            if not isinstance(child.tag, str):
                continue
            kind = child.tag.removeprefix(_XSD)
            if kind not in ("import", "include", "redefine", "override"):
                continue
            target = child.get("schemaLocation")
            imported = child.get("namespace") if kind == "import" else document.namespace
            if not target:
                continue
            target = absolute_location(target, location)
            if imported in _WELL_KNOWN and is_remote(target):
                if (imported, "") not in self._schemas and imported != ns.XSD:
                    self._schemas.add((imported, ""))
                    empty = SchemaDocument(imported, target)
                    empty._is_internal = False
                    found.append(empty)
                continue
            if (imported, target) in self._schemas:
                continue
            self._schemas.add((imported, target))
            root = self.root(target)
            if root.tag == _WSDL + "definitions":
                inner = root.findall(f"{_WSDL}types/{_XSD}schema")
                for schema in inner:
                    found += self.schema_documents(schema, target)
            else:
                found += self.schema_documents(root, target, document.namespace if kind != "import" else None)
        return found


def is_remote(location: str) -> bool:
    return urlparse(location).scheme in ("http", "https")


def load_external(url: Any, transport: Any, base_url: str | None = None, settings: Any = None, **more: Any) -> Any:
    from .settings import Settings

    return Loader(transport, settings or Settings()).root(url, base_url, is_initial=True)
