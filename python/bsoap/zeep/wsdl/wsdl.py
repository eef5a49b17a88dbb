"""A WSDL with all that it imports."""

from __future__ import annotations

import operator
import os
import warnings
from collections import OrderedDict
from typing import Any

from lxml import etree

from .. import ns
from ..exceptions import LookupError, NamespaceError, WsdlSyntaxError
from ..loader import Loader, absolute_location, is_relative_path
from ..settings import Settings
from ..xsd.schema import Schema
from ..xsd.utils import as_qname, qname_attr
from . import bindings
from .definitions import AbstractMessage, AbstractOperation, MessagePart, Port, PortType, Service

_W = f"{{{ns.WSDL}}}"


class Document:
    """A WSDL: ``services``, ``bindings``, ``port_types``, ``messages`` and ``types``."""

    def __init__(self, location: Any, transport: Any = None, base: str | None = None, settings: Any = None) -> None:
        self.settings = settings or Settings()
        self.transport = transport
        if isinstance(location, (str, os.PathLike)):
            location = os.fspath(location)
            if is_relative_path(location):
                location = os.path.abspath(os.path.expanduser(location))
            self.location = location
        else:
            self.location = base  # type: ignore[assignment]
        self._loader = Loader(transport, self.settings)
        self.types = Schema(None, transport, self.location, self.settings)
        self._definitions: dict[str, Definition] = {}
        self._native: Any = None
        self.load(location)

    def load(self, location: Any) -> None:
        """Loads the documents; a subclass may put it off."""
        root = self._loader.root(location, self.location, is_initial=True)
        if root.tag != _W + "definitions":
            raise WsdlSyntaxError(f"{self.location} is no WSDL: its root element is {root.tag}")
        self._root = Definition(self, root, self.location)
        # Documents may import one another: each step needs the one before it of all.
        steps = (
            Definition.read_messages,
            Definition.read_port_types,
            Definition.read_bindings,
            Definition.read_services,
        )
        for step in steps:
            # What is imported comes first.
            for definition in reversed(self._definitions.values()):
                step(definition)
        self.messages = self._root.messages
        self.port_types = self._root.port_types
        self.bindings = self._root.bindings
        self.services = self._root.services

    @property
    def _documents(self) -> dict[str, str]:
        """The texts of the documents by location, the WSDL first."""
        return self._loader.texts

    def __repr__(self) -> str:
        return f"<WSDL(location={self.location!r})>"

    def dump(self) -> None:
        print("\nPrefixes:")
        for prefix, namespace in self.types.prefix_map.items():
            print(" " * 4, f"{prefix}: {namespace}")
        print("\nGlobal elements:")
        for element in sorted(self.types.elements, key=lambda element: str(element.qname.text)):
            print(" " * 4, element.signature(schema=self.types))
        print("\nGlobal types:")
        for kind in sorted(self.types.types, key=lambda kind: str(kind.qname.text if kind.qname else "")):
            print(" " * 4, kind.signature(schema=self.types))
        print("\nBindings:")
        for binding in sorted(self.bindings.values(), key=str):
            print(" " * 4, str(binding))
        print("")
        for service in self.services.values():
            print(str(service))
            for port in service.ports.values():
                print(" " * 4, str(port))
                print(" " * 8, "Operations:")
                for operation in sorted(port.binding._operations.values(), key=operator.attrgetter("name")):
                    print(f"{' ' * 12}{operation}")
                print("")


class Definition:
    """One WSDL document; names are looked up in those it imports too."""

    def __init__(self, wsdl: Document, root: Any, location: str) -> None:
        self.wsdl = wsdl
        self.location = location
        self.target_namespace = root.get("targetNamespace")
        wsdl._definitions[location] = self
        self.imports: list[Definition] = []
        self.messages: dict[str, Any] = {}
        self.port_types: dict[str, Any] = {}
        self.bindings: dict[str, Any] = {}
        self.services: OrderedDict[str, Any] = OrderedDict()
        for node in root.findall(_W + "import"):
            self._import(node)
        for node in root.findall(f"{_W}types/{{{ns.XSD}}}schema"):
            for document in wsdl._loader.schema_documents(node, location):
                wsdl.types.add_document(document)
        self._node = root

    def read_messages(self) -> None:
        for node in self._node.findall(_W + "message"):
            try:
                message = self._message(node)
            except (LookupError, NamespaceError) as error:
                warnings.warn(f"The wsdl:message {node.get('name')} is left out: {error}", stacklevel=2)
            else:
                self.messages[message.name.text] = message

    def read_port_types(self) -> None:
        for node in self._node.findall(_W + "portType"):
            port_type = self._port_type(node)
            self.port_types[port_type.name.text] = port_type

    def read_bindings(self) -> None:
        for node in self._node.findall(_W + "binding"):
            binding = bindings.parse(self, node)
            if binding is not None:
                self.bindings[binding.name.text] = binding
        for imported in self.imports:
            for name, binding in imported.bindings.items():
                self.bindings.setdefault(name, binding)

    def read_services(self) -> None:
        for node in self._node.findall(_W + "service"):
            service = self._service(node)
            self.services.setdefault(service.name, service)
        if not self.services:
            for imported in self.imports:
                self.services.update(imported.services)

    def _import(self, node: Any) -> None:
        location = node.get("location")
        if not location:
            return
        location = absolute_location(location, self.location)
        known = self.wsdl._definitions.get(location)
        if known is not None:
            self.imports.append(known)
            return
        root = self.wsdl._loader.root(location)
        if etree.QName(root).localname == "schema":
            for document in self.wsdl._loader.schema_documents(root, location):
                self.wsdl.types.add_document(document)
        else:
            self.imports.append(Definition(self.wsdl, root, location))

    def get(self, container: str, key: str, _seen: set[int] | None = None) -> Any:
        own = getattr(self, container)
        if key in own:
            return own[key]
        seen = _seen or set()
        seen.add(id(self))
        for definition in self.imports:
            if id(definition) not in seen:
                try:
                    return definition.get(container, key, seen)
                except IndexError:
                    continue
        raise IndexError(f"No definition {key!r} in {container!r} found")

    def _message(self, node: Any) -> AbstractMessage:
        message = AbstractMessage(etree.QName(self.target_namespace, node.get("name")))
        for part in node.findall(_W + "part"):
            element, kind = qname_attr(part, "element"), qname_attr(part, "type")
            if element is not None:
                message.parts[part.get("name")] = MessagePart(self.wsdl.types.get_element(element), None)
            elif kind is not None:
                message.parts[part.get("name")] = MessagePart(None, self.wsdl.types.get_type(kind))
        return message

    def _port_type(self, node: Any) -> PortType:
        operations = {}
        for item in node.findall(_W + "operation"):
            found: dict[str, Any] = {"fault": {}}
            action = None
            is_complete = True
            for child in item:
                if not isinstance(child.tag, str) or child.get("message") is None:
                    continue
                kind = etree.QName(child).localname
                try:
                    message = self.get(
                        "messages", as_qname(child.get("message"), child.nsmap, self.target_namespace).text
                    )
                except IndexError:
                    is_complete = is_complete and kind == "fault"
                    continue
                if kind == "fault":
                    found["fault"][child.get("name")] = message
                else:
                    found[kind] = message
                    if kind == "input":
                        names = ("2006/05/addressing/wsdl", "2007/05/addressing/metadata")
                        action = next(
                            filter(None, (child.get(f"{{http://www.w3.org/{name}}}Action") for name in names)), None
                        )
            name = item.get("name")
            if not is_complete:
                warnings.warn(f"The operation {name} is left out: its messages are", stacklevel=2)
                continue
            operations[name] = AbstractOperation(
                name, found.get("input"), found.get("output"), found["fault"], item.get("parameterOrder"), action
            )
        return PortType(etree.QName(self.target_namespace, node.get("name")), operations)

    def _service(self, node: Any) -> Service:
        service = Service(node.get("name"))
        force = self.wsdl.settings.force_https and (self.location or "").startswith("https")
        for item in node.findall(_W + "port"):
            name = as_qname(item.get("binding"), item.nsmap, self.target_namespace).text
            try:
                binding = self.get("bindings", name)
            except IndexError:
                continue
            options = binding.process_service_port(item, force)
            if options is not None:
                service.ports[item.get("name")] = Port(item.get("name"), binding, options)
        return service


__all__ = ["Definition", "Document"]
