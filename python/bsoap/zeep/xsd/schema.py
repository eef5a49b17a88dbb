"""The schemas of a WSDL. Components are made when they are first needed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

from lxml import etree

from .. import exceptions, ns
from ..settings import Settings
from . import elements as xsd_elements
from . import types as xsd_types
from .const import xsd_ns
from .elements.element import _Later
from .types import builtins
from .utils import as_qname, create_prefixed_name, qname_attr

logger = logging.getLogger("zeep.xsd.schema")

_GROUPS = {f"{{{ns.XSD}}}{name}" for name in ("group", "all", "choice", "sequence")}
_KINDS = ("element", "type", "attribute", "group", "attributeGroup")


class SchemaDocument:
    """The components of one schema document by kind and name, as elements of lxml until they are needed."""

    def __init__(
        self, namespace: str | None, location: str | None, node: Any = None, is_chameleon: bool = False
    ) -> None:
        self._target_namespace = self.namespace = namespace
        self._location = location
        self._is_internal = node is None
        self.is_chameleon = is_chameleon
        self.nodes: dict[str, dict[str, Any]] = {kind: {} for kind in _KINDS}
        self.made: dict[tuple[str, str], Any] = {}
        self.is_qualified = self.has_qualified_attributes = False
        if node is None:
            return
        self.is_qualified = node.get("elementFormDefault") == "qualified"
        self.has_qualified_attributes = node.get("attributeFormDefault") == "qualified"
        self.add(node)

    def add(self, node: Any) -> None:
        """Adds the components of a document; those of redefinitions win."""
        for child in node:
            if not isinstance(child.tag, str):
                continue
            kind = etree.QName(child).localname
            if kind in ("redefine", "override"):
                self.add(child)
                continue
            kind = "type" if kind in ("complexType", "simpleType") else kind
            name = child.get("name")
            if kind in self.nodes and name:
                self.nodes[kind][name.strip()] = child

    def register_type(self, qname: Any, value: Any) -> None:
        """Replaces a type, such as a datatype with more tolerance."""
        self.made["type", etree.QName(qname).localname] = value

    @property
    def is_empty(self) -> bool:
        return not (self.nodes["type"] or self.nodes["element"])

    def __repr__(self) -> str:
        return (
            f"<SchemaDocument(location={self._location!r}, tns={self._target_namespace!r}, is_empty={self.is_empty!r})>"
        )


class _Documents:
    """The documents of a schema by namespace."""

    def __init__(self, by_namespace: dict[str | None, list[SchemaDocument]]) -> None:
        self._by_namespace = by_namespace

    def __iter__(self) -> Iterator[SchemaDocument]:
        for documents in self._by_namespace.values():
            yield from documents

    values = __iter__

    def get_all_namespaces(self) -> list[str | None]:
        return list(self._by_namespace)

    def has_schema_document_for_ns(self, namespace: str) -> bool:
        return namespace in self._by_namespace

    def get_by_namespace(self, namespace: str, fail_silently: bool = False) -> list[SchemaDocument]:
        if namespace not in self._by_namespace and not fail_silently:
            raise exceptions.NamespaceError(f"No schema available for the namespace {namespace!r}")
        return self._by_namespace.get(namespace, [])


class Schema:
    """All schema documents of a WSDL."""

    def __init__(
        self, node: Any = None, transport: Any = None, location: str | None = None, settings: Any = None
    ) -> None:
        self.settings = settings or Settings()
        self._transport = transport
        self._prefix_map_custom: dict[str, str] = {}
        self._documents: dict[str | None, list[SchemaDocument]] = {ns.XSD: [SchemaDocument(ns.XSD, None)]}
        self._by_local: dict[str, list[Any]] | None = None
        nodes = node if isinstance(node, list) else [] if node is None else [node]
        self.add_documents(nodes, location)

    def add_documents(self, schema_nodes: list[Any], location: str | None) -> None:
        from ..loader import Loader

        loader = Loader(self._transport, self.settings)
        for node in schema_nodes:
            if node is None:
                continue
            for document in loader.schema_documents(node, location):
                self.add_document(document)

    def add_document(self, document: SchemaDocument) -> None:
        self._documents.setdefault(document.namespace, []).append(document)

    def merge(self, schema: Schema) -> None:
        for documents in schema._documents.values():
            for document in documents:
                if not document._is_internal:
                    self.add_document(document)

    @property
    def documents(self) -> _Documents:
        return _Documents(self._documents)

    @property
    def root_document(self) -> Any:
        return next((document for document in self.documents if not document._is_internal), None)

    @property
    def is_empty(self) -> bool:
        return all(document.is_empty for document in self.documents)

    @property
    def namespaces(self) -> list[Any]:
        return list(self._documents)

    @property
    def _prefix_map_auto(self) -> dict[str, str]:
        prefixes = {"xsd": ns.XSD}
        others = [namespace for namespace in self._documents if namespace not in (None, ns.XSD)]
        prefixes.update((f"ns{index}", str(namespace)) for index, namespace in enumerate(others))
        return prefixes

    @property
    def prefix_map(self) -> dict[str, str]:
        known = set(self._prefix_map_custom.values())
        automatic = {prefix: name for prefix, name in self._prefix_map_auto.items() if name not in known}
        return {**self._prefix_map_custom, **automatic}

    def set_ns_prefix(self, prefix: str, namespace: str) -> None:
        self._prefix_map_custom[prefix] = namespace

    def get_ns_prefix(self, prefix: str) -> str:
        found = self._prefix_map_custom.get(prefix) or self._prefix_map_auto.get(prefix)
        if found is None:
            raise ValueError(f"No such prefix {prefix!r}")
        return found

    def get_shorthand_for_ns(self, namespace: str) -> str:
        for prefixes in (self._prefix_map_auto, self._prefix_map_custom):
            for prefix, other in prefixes.items():
                if namespace == other:
                    return prefix
        return "soap-env" if namespace == ns.SOAP_ENV_11 else namespace

    def _create_qname(self, name: Any) -> etree.QName:
        if isinstance(name, etree.QName):
            return name
        if not name.startswith("{") and ":" in name:
            prefix, local = name.split(":", 1)
            namespace = self._prefix_map_custom.get(prefix) or self._prefix_map_auto.get(prefix)
            if namespace is None:
                raise ValueError(f"No namespace defined for the prefix {prefix!r}")
            return etree.QName(namespace, local)
        return etree.QName(name)

    def get_element(self, qname: Any) -> Any:
        return self._get("element", qname)

    def get_type(self, qname: Any, fail_silently: bool = False) -> Any:
        try:
            return self._get("type", qname)
        except exceptions.NamespaceError:
            if fail_silently:
                return None
            raise

    def get_group(self, qname: Any) -> Any:
        return self._get("group", qname)

    def get_attribute(self, qname: Any) -> Any:
        return self._get("attribute", qname)

    def get_attribute_group(self, qname: Any) -> Any:
        return self._get("attributeGroup", qname)

    def deserialize(self, node: Any) -> Any:
        return self.get_element(etree.QName(node)).parse(node, schema=self)

    @property
    def elements(self) -> Iterator[Any]:
        return self._all("element")

    @property
    def types(self) -> Iterator[Any]:
        return self._all("type")

    def _all(self, kind: str) -> Iterator[Any]:
        made = (self._made(document, kind, name) for document in self.documents for name in document.nodes[kind])
        seen = set()
        for component in [*(builtins.default_types.values() if kind == "type" else ()), *made]:
            name = component.qname.text if component.qname else None
            if name not in seen:
                seen.add(name)
                yield component

    def type_named(self, local: str, namespace: str | None) -> Any:
        """The type that the codec names; its namespace is known only if two types have the name."""
        if namespace:
            return self.get_type(etree.QName(namespace, local))
        found = [document for document in self.documents if local in document.nodes["type"]]
        return self._made(found[0], "type", local) if found else None

    def _get(self, kind: str, qname: Any) -> Any:
        qname = self._create_qname(qname)
        namespace, local = qname.namespace, qname.localname
        if namespace == ns.XSD and kind == "type" and qname in builtins.default_types:
            replaced = self._documents[ns.XSD][0].made.get(("type", local))
            if replaced is not None:
                return replaced
            return builtins.default_types[qname]
        if namespace == ns.XSD and kind == "element" and local == "schema":
            # Schemas in messages, as of data sets of .NET, are elements of lxml.
            return xsd_elements.Element(qname, builtins.default_types[xsd_ns("anyType")], is_global=True)
        documents = self._documents.get(namespace)
        if documents is None and namespace == ns.XML and kind == "attribute":
            return xsd_elements.Attribute(qname, builtins.default_types[xsd_ns("string")])
        if documents is None:
            raise exceptions.NamespaceError(
                f"Unable to resolve {kind} {qname.text}. No schema available for the namespace {namespace!r}."
            )
        for document in documents:
            if local in document.nodes[kind]:
                return self._made(document, kind, local)
        known = ", ".join(f"{{{namespace}}}{name}" for document in documents for name in document.nodes[kind])
        raise exceptions.LookupError(
            f"No {kind} '{local}' in namespace {namespace}. Available {kind}s are: {known or ' - '}",
            qname=qname,
            item_name=kind,
            location=documents[0]._location,
        )

    def _made(self, document: SchemaDocument, kind: str, name: str) -> Any:
        made = document.made.get((kind, name))
        if made is None:
            with xsd_types.BUILDING:
                made = document.made.get((kind, name))
                if made is None:
                    made = document.made[kind, name] = _Maker(self, document).component(
                        kind, document.nodes[kind][name]
                    )
        return made

    def __repr__(self) -> str:
        root = self.root_document
        return f"<Schema(location={root._location!r}, tns={root._target_namespace!r})>" if root else "<Schema()>"


def _occurs(node: Any) -> tuple[int, Any]:
    most = node.get("maxOccurs", "1").strip()
    return int(node.get("minOccurs", "1")), most if most == "unbounded" else int(most)


def _children(node: Any) -> list[Any]:
    return [child for child in node if isinstance(child.tag, str) and etree.QName(child).localname != "annotation"]


def _local(node: Any) -> str:
    return etree.QName(node).localname


class _Maker:
    """Makes the components of a document."""

    def __init__(self, schema: Schema, document: SchemaDocument) -> None:
        self.schema = schema
        self.document = document

    def component(self, kind: str, node: Any) -> Any:
        makers: dict[str, Callable[[Any, bool], Any]] = {
            "element": self.element,
            "attribute": self.attribute,
            "group": self.group,
            "attributeGroup": self.attribute_group,
            "type": self.type,
        }
        return makers[kind](node, True)

    def _name(self, text: str, node: Any) -> etree.QName:
        """The component that a reference in the document means."""
        qname = as_qname(text, node.nsmap)
        if qname.namespace is None and self.document.is_chameleon and self.document.namespace:
            return etree.QName(self.document.namespace, qname.localname)
        return qname

    def _own(self, name: str) -> etree.QName:
        return (
            etree.QName(self.document.namespace, name.strip()) if self.document.namespace else etree.QName(name.strip())
        )

    def _type_of(self, node: Any) -> Any:
        """The type of an element or attribute, as a value or to be looked up."""
        for child in _children(node):
            if _local(child) == "complexType":
                return self.complex_type(child, False, node)
            if _local(child) == "simpleType":
                return self.simple_type(child, False, node)
        text = node.get("type")
        if text is not None:
            return self._later(self._name(text, node))
        head = node.get("substitutionGroup")
        if head is not None:
            name = self._name(head, node)
            return _Later(lambda: self.schema.get_element(name).type)
        return xsd_types.AnyType()

    def _later(self, name: etree.QName) -> _Later:
        return _Later(lambda: self.schema.get_type(name))

    def element(self, node: Any, is_global: bool = False, in_choice: bool = False) -> Any:
        least, most = (1, 1) if is_global else _occurs(node)
        if in_choice:
            least = 0
        ref = node.get("ref")
        if ref is not None:
            return self.schema.get_element(self._name(ref, node)).clone(min_occurs=least, max_occurs=most)
        name = node.get("name").strip()
        form = node.get("form")
        is_qualified = is_global or form == "qualified" or (form is None and self.document.is_qualified)
        return xsd_elements.Element(
            self._own(name) if is_qualified else etree.QName(name),
            self._type_of(node),
            min_occurs=least,
            max_occurs=most,
            nillable=node.get("nillable") in ("true", "1"),
            default=node.get("default"),
            is_global=is_global,
        )

    def attribute(self, node: Any, is_global: bool = False) -> Any:
        ref = node.get("ref")
        required = node.get("use") == "required"
        if ref is not None:
            made = self.schema.get_attribute(self._name(ref, node)).clone()
            made.required = required
            return made
        form = node.get("form")
        is_qualified = is_global or form == "qualified" or (form is None and self.document.has_qualified_attributes)
        name = node.get("name").strip()
        qname = self._own(name) if is_qualified else etree.QName(name)
        return xsd_elements.Attribute(qname, self._type_of(node), default=node.get("default"), required=required)

    def attributes(self, nodes: list[Any]) -> list[Any]:
        result: list[Any] = []
        for node in nodes:
            kind = _local(node)
            if kind == "attribute" and node.get("use") != "prohibited":
                result.append(self.attribute(node))
            elif kind == "attributeGroup":
                result.append(self.attribute_group(node))
            elif kind == "anyAttribute":
                result.append(xsd_elements.AnyAttribute(node.get("processContents", "strict")))
        return result

    def attribute_group(self, node: Any, is_global: bool = False) -> Any:
        ref = node.get("ref")
        if ref is not None:
            return self.schema.get_attribute_group(self._name(ref, node))
        return xsd_elements.AttributeGroup(self._own(node.get("name")), self.attributes(_children(node)))

    def group(self, node: Any, is_global: bool = False) -> Any:
        ref = node.get("ref")
        if ref is not None:
            least, most = _occurs(node)
            return self.schema.get_group(self._name(ref, node)).clone(None, min_occurs=least, max_occurs=most)
        return xsd_elements.Group(self._own(node.get("name")), self.particle(_children(node)[0]))

    def particle(self, node: Any, in_choice: bool = False) -> Any:
        kind = _local(node)
        least, most = _occurs(node)
        if kind == "element":
            return self.element(node, in_choice=in_choice)
        if kind == "any":
            return xsd_elements.Any(
                max_occurs=most, min_occurs=least, process_contents=node.get("processContents", "strict")
            )
        if kind == "group":
            return self.group(node)
        items = [self.particle(child, kind == "choice") for child in _children(node)]
        if kind == "all":
            return xsd_elements.All(items)
        cls = xsd_elements.Choice if kind == "choice" else xsd_elements.Sequence
        return cls(items, min_occurs=least, max_occurs=most)

    def type(self, node: Any, is_global: bool = False) -> Any:
        make = self.complex_type if _local(node) == "complexType" else self.simple_type
        return make(node, is_global, node)

    def complex_type(self, node: Any, is_global: bool, parent: Any) -> Any:
        name = (parent.get("name") or "ComplexType").strip()
        qname = self._own(name)
        cls = type(name, (xsd_types.ComplexType,), {"__module__": "zeep.xsd.dynamic_types", "_xsd_name": qname})
        return cls(qname=qname, is_global=is_global, later=lambda: self._content(node))

    def _content(self, node: Any) -> tuple[Any, Any, Any, Any]:
        """The group, the attributes, and the base of a restriction or an extension."""
        children = _children(node)
        first = _local(children[0]) if children else ""
        if first not in ("simpleContent", "complexContent"):
            return (*self._body(children), None, None)
        inner = _children(children[0])[-1]
        base = self.schema.get_type(self._name(inner.get("base"), inner))
        if first == "simpleContent":
            attributes = self.attributes(_children(inner))
            return None, attributes, None, base
        element, attributes = self._body(_children(inner))
        if _local(inner) == "restriction":
            if (
                inner.get("base")
                and self._name(inner.get("base"), inner).namespace == "http://schemas.xmlsoap.org/soap/encoding/"
            ):
                raise exceptions.NotCovered("arrays of SOAP encoding wait for a later release of bsoap")
            return element, attributes, base, None
        return element, attributes, None, base

    def _body(self, children: list[Any]) -> tuple[Any, Any]:
        element = None
        if children and children[0].tag in _GROUPS:
            element = self.particle(children[0])
            children = children[1:]
        return element, self.attributes(children)

    def simple_type(self, node: Any, is_global: bool, parent: Any) -> Any:
        name = (parent.get("name") or "Anonymous").strip()
        qname = self._own(name)
        inner = _children(node)[0]
        kind = _local(inner)
        if kind == "list":
            text = inner.get("itemType")
            item = self._later(self._name(text, inner)) if text else self.simple_type(_children(inner)[-1], False, node)
            return xsd_types.ListType(item)
        if kind == "union":
            members = [self._later(self._name(text, inner)) for text in (inner.get("memberTypes") or "").split()]
            return xsd_types.UnionType(members + [self.simple_type(child, False, node) for child in _children(inner)])
        base_name = qname_attr(inner, "base")
        if base_name is not None:
            base = self.schema.get_type(self._name(inner.get("base"), inner))
        else:
            base = self.simple_type(_children(inner)[0], False, node)
        if isinstance(base, xsd_types.UnionType):
            return xsd_types.UnionType(base.item_types, qname)
        if isinstance(base, xsd_types.ListType):
            return xsd_types.ListType(base.item_type, qname)
        cls = type(name, (type(base),), {"__module__": "zeep.xsd.dynamic_types"})
        return cls(qname, True)


__all__ = ["Schema", "SchemaDocument", "create_prefixed_name"]
