"""The messages of an operation: their elements, and their conversion by zeep's rules."""

from __future__ import annotations

import copy
from collections import OrderedDict
from typing import Any, NamedTuple

from lxml import etree

from .. import xsd
from ..exceptions import NotCovered, XMLParseError
from ..xsd.valueobjects import CompoundValue


class SerializedMessage(NamedTuple):
    path: Any
    headers: dict[str, str]
    content: Any


class SoapMessage:
    """A message; ``body``, ``header`` and ``envelope`` are elements of the schema."""

    def __init__(self, operation: Any, name: Any, kind: str, style: str, namespace: str | None) -> None:
        self.operation = operation
        self.wsdl = operation.binding.wsdl
        self.nsmap = operation.binding.nsmap
        self.name = name
        self.type = kind
        self.style = style
        self.namespace = namespace
        self.waits_for: str | None = None
        """What the message needs that is not covered."""
        self.abstract: Any = None
        self.body: Any = None
        self.header: Any = None
        self.envelope: Any = None
        self._is_body_wrapped = False

    def resolve(self, abstract: Any, part_names: Any, headers: list[tuple[str, Any, bool]], has_body: bool) -> None:
        """``headers`` are parts by their names, with whether they are of this message."""
        if (abstract is None or not abstract.parts) and self.type != "input":
            return
        self.abstract = abstract
        parts = OrderedDict(abstract.parts)
        blocks = xsd.All(consume_other=True)
        for name, part, own in headers:
            if own:
                parts.pop(name, None)
            blocks.append(_element_of(name, part))
        env = self.nsmap["soap-env"]
        self.header = xsd.Element(etree.QName(env, "Header"), xsd.ComplexType(blocks))
        if part_names:
            # Names of parts that there are not are mistakes.
            parts = OrderedDict((name, part) for name, part in parts.items() if name in part_names) or parts
        if has_body:
            self._resolve_body(parts, env)
        members = [xsd.Element(f"{{{env}}}header", self.header.type)] if len(blocks) else []
        members.append(xsd.Element(f"{{{env}}}body", self.body.type if self.body is not None else None))
        self.envelope = xsd.Element(f"{{{env}}}envelope", xsd.ComplexType(xsd.Sequence(members)))

    def _resolve_body(self, parts: Any, env: str) -> None:
        if self.style == "rpc":
            name = self.operation.name if self.type == "input" else self.abstract.name.localname
            elements = [
                part.element if part.element is not None else xsd.Element(key, part.type) for key, part in parts.items()
            ]
            self.body = xsd.Element(etree.QName(self.namespace, name), xsd.ComplexType(xsd.Sequence(elements)))
            return
        if not parts:
            return
        elements = [_element_of(name, part) for name, part in parts.items()]
        if len(elements) > 1:
            self._is_body_wrapped = True
            self.body = xsd.Element(etree.QName(env, "Body"), xsd.ComplexType(xsd.All(elements)))
        else:
            self.body = elements[0]

    @property
    def has_headers(self) -> bool:
        return self.header is not None and bool(self.header.type.elements)

    def serialize(self, *args: Any, **kwargs: Any) -> SerializedMessage:
        """The envelope as an element of lxml, by zeep's rules."""
        self._check()
        env = self.nsmap["soap-env"]
        nsmap = {"soap-env": env, **self.wsdl.types._prefix_map_custom}
        envelope = etree.Element(etree.QName(env, "Envelope"), nsmap=nsmap)
        header = self._serialize_header(kwargs.pop("_soapheaders", None), nsmap)
        if header is not None:
            envelope.append(header)
        body = None if self.body is None else self.body(*args, **kwargs)
        if self.body is not None and self._is_body_wrapped:
            self.body.render(envelope, body)
        else:
            node = etree.SubElement(envelope, etree.QName(env, "Body"))
            if self.body is not None:
                self.body.render(node, body)
        return SerializedMessage(None, self.http_headers(), envelope)

    def _check(self) -> None:
        if self.waits_for:
            raise NotCovered(f"{self.operation.name}: bsoap.zeep has no {self.waits_for}; bsoap.Client has them")

    def http_headers(self) -> dict[str, str]:
        action = self.operation.soapaction
        return {"SOAPAction": f'"{action}"' if action else '""'}

    def _serialize_header(self, value: Any, nsmap: Any) -> Any:
        if not value:
            return None
        header = etree.Element(etree.QName(self.nsmap["soap-env"], "Header"), nsmap=nsmap)
        if isinstance(value, list):
            for block in value:
                if isinstance(block, CompoundValue):
                    owner = getattr(block, "_xsd_elm", None)
                    (owner if owner is not None else block._xsd_type).render(header, block)
                elif etree.iselement(block):
                    header.append(copy.deepcopy(block))
                else:
                    raise ValueError("Invalid value given to _soapheaders")
        elif isinstance(value, dict):
            given = self.header(**value)
            for name, element in self.header.type.elements:
                if name in given and given[name] is not None:
                    element.render(header, given[name], ["header", name])
        else:
            raise ValueError("Invalid value given to _soapheaders")
        return header

    def deserialize(self, envelope: Any) -> Any:
        """The result in an envelope of lxml, by zeep's rules."""
        if self.envelope is None:
            return None
        self._check()
        env = self.nsmap["soap-env"]
        node = envelope.find(f"{{{env}}}Body")
        if node is None:
            raise XMLParseError("The answer has no Body")
        if not self._is_body_wrapped:
            children = [child for child in node if isinstance(child.tag, str)]
            node = children[0] if children else None
        body = None
        if self.body is not None and node is not None:
            body = self.body.parse(node, self.wsdl.types)
        if not self.has_headers:
            return unwrapped(body)
        header = envelope.find(f"{{{env}}}Header")
        parsed = None if header is None else self.header.type.parse_xmlelement(header, self.wsdl.types)
        return self.envelope(header=parsed, body=body)

    def signature(self, as_output: bool = False) -> Any:
        if self.envelope is None:
            return None
        schema = self.wsdl.types
        if as_output:
            members = self.envelope.type.elements
            if len(members) == 1:
                inner = members[0][1].type
                return None if inner is None else inner.signature(schema=schema, standalone=False)
            return self.envelope.type.signature(schema=schema, standalone=False)
        parts = [] if self.body is None else [self.body.type.signature(schema=schema, standalone=False)]
        if self.has_headers:
            parts.append(f"_soapheaders={{{self.header.type.signature(schema=schema, standalone=False)}}}")
        return ", ".join(part for part in parts if part)


class DocumentMessage(SoapMessage):
    pass


class RpcMessage(SoapMessage):
    pass


def _element_of(name: str, part: Any) -> Any:
    if part.element is None:
        return xsd.Element(name, part.type)
    element = part.element.clone()
    element.attr_name = name or element.name
    return element


def unwrapped(result: Any) -> Any:
    """What zeep returns for a body: the only member of the only member, if there are no more."""
    if not isinstance(result, CompoundValue):
        return result
    if len(result) == 0:
        return None
    if len(result) > 1:
        return result
    inner = next(iter(result.__values__.values()))
    if isinstance(inner, CompoundValue):
        children = inner._xsd_type.elements
        if len(children) == 1 and not inner._xsd_type.attributes:
            return inner[children[0][0]]
    return inner
