"""Types of a schema."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from functools import cached_property
from typing import Any as Anything

from lxml import etree

from ...exceptions import UnexpectedElementError, ValidationError, XMLParseError
from ..const import Nil, NotSet, SkipValue, xsd_ns, xsi_ns
from ..elements import AnyAttribute, AttributeGroup, Choice, Element, Group, OrderIndicator, Sequence
from ..elements.indicators import _numbered
from ..utils import as_qname, create_prefixed_name
from ..valueobjects import AnyObject, CompoundValue

__all__ = ["AnySimpleType", "AnyType", "ComplexType", "ListType", "Type", "UnionType"]

logger = logging.getLogger("zeep.xsd")


BUILDING = threading.RLock()
"""Held while components are made: each must be one object for all threads."""


class Type:
    _default_qname: Anything = None
    accepted_types: Anything = []

    def __init__(self, qname: Anything = None, is_global: bool = False) -> None:
        self.qname = qname
        self.name = qname.localname if qname else None
        self.is_global = is_global

    def get_prefixed_name(self, schema: Anything) -> Anything:
        return create_prefixed_name(self.qname, schema)

    def validate(self, value: Anything, required: bool = False) -> None:
        return

    def parse_kwargs(self, kwargs: Anything, name: Anything, available: set[str]) -> Anything:
        name = name or self.name
        if name not in available:
            return {}
        available.discard(name)
        return {name: kwargs[name]}

    def resolve(self) -> Anything:
        return self

    @property
    def attributes(self) -> Anything:
        return []

    @property
    def elements(self) -> Anything:
        return []

    def signature(self, schema: Anything = None, standalone: bool = True) -> str:
        return ""


class AnyType(Type):
    _default_qname = xsd_ns("anyType")
    _element: Anything = None
    _attributes_unwrapped: Anything = []

    def __call__(self, value: Anything = None) -> Anything:
        return value or ""

    def render(self, node: Anything, value: Anything, xsd_type: Anything = None, render_path: Anything = None) -> None:
        if isinstance(value, AnyObject):
            if value.xsd_type is None:
                node.set(xsi_ns("nil"), "true")
                return
            value.xsd_type.render(node, value.value, None, render_path)
            node.set(xsi_ns("type"), value.xsd_type.qname)
        elif isinstance(value, CompoundValue):
            owner = getattr(value, "_xsd_elm", None)
            if owner is None:
                value._xsd_type.render(node, value, value._xsd_type, render_path)
            else:
                owner.render(node, value, render_path)
                node.set(xsi_ns("type"), owner.qname)
        else:
            node.text = self.xmlvalue(value)

    def parse_xmlelement(
        self,
        xmlelement: Anything,
        schema: Anything = None,
        allow_none: bool = True,
        context: Anything = None,
        schema_type: Anything = None,
    ) -> Anything:
        if xmlelement.get(xsi_ns("nil")) == "true":
            return None
        children = list(xmlelement)
        given = xmlelement.get(xsi_ns("type"))
        if given is not None and schema:
            xsd_type = schema.get_type(as_qname(given, xmlelement.nsmap), fail_silently=True)
            if not xsd_type:
                return self.pythonvalue(xmlelement.text) if xmlelement.text else children
            if type(xsd_type) is AnyType:
                return self.pythonvalue(xmlelement.text) or None
            return xsd_type.parse_xmlelement(xmlelement, schema, context=context)
        if children:
            return children
        return None if xmlelement.text is None else self.pythonvalue(xmlelement.text)

    def xmlvalue(self, value: Anything) -> Anything:
        from . import builtins

        for kind in ("String", "Boolean", "Decimal", "Float", "DateTime", "Date", "Time"):
            cls = getattr(builtins, kind)
            if isinstance(value, tuple(cls.accepted_types)):
                return cls().xmlvalue(value)
        return str(value)

    def pythonvalue(self, value: Anything, schema: Anything = None) -> Anything:
        return value

    def signature(self, schema: Anything = None, standalone: bool = True) -> str:
        return "xsd:anyType"


class AnySimpleType(AnyType):
    _default_qname = xsd_ns("anySimpleType")

    def __init__(self, qname: Anything = None, is_global: bool = False) -> None:
        super().__init__(qname or self._default_qname, is_global)

    def __call__(self, *args: Anything, **kwargs: Anything) -> Anything:
        if len(args) + len(kwargs) != 1:
            raise TypeError(
                f"{type(self).__name__}() takes exactly 1 argument ({len(args) + len(kwargs)} given). "
                "Simple types expect only a single value argument"
            )
        if kwargs and "value" not in kwargs:
            raise TypeError(
                f"{type(self).__name__}() got an unexpected keyword argument {next(iter(kwargs))!r}. "
                "Simple types expect only a single value argument"
            )
        return self.xmlvalue(args[0] if args else kwargs["value"])

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(type(self))

    def __str__(self) -> str:
        return f"{type(self).__name__}(value)"

    def parse_xmlelement(
        self,
        xmlelement: Anything,
        schema: Anything = None,
        allow_none: bool = True,
        context: Anything = None,
        schema_type: Anything = None,
    ) -> Anything:
        if xmlelement.text is None:
            return None
        try:
            return self.pythonvalue(xmlelement.text)
        except (TypeError, ValueError):
            logger.exception("Error during xml -> python translation")
            return None

    def render(self, node: Anything, value: Anything, xsd_type: Anything = None, render_path: Anything = None) -> None:
        if value is Nil:
            node.set(xsi_ns("nil"), "true")
        else:
            node.text = value if isinstance(value, etree.CDATA) else self.xmlvalue(value)

    def signature(self, schema: Anything = None, standalone: bool = True) -> str:
        return str(self.get_prefixed_name(schema))

    def validate(self, value: Anything, required: bool = False) -> None:
        if required and value is None:
            raise ValidationError("Value is required")


class ListType(AnySimpleType):
    """A list of values, with spaces between them."""

    def __init__(self, item_type: Anything, qname: Anything = None) -> None:
        self._item_type = item_type
        super().__init__(qname)
        self.is_global = bool(qname)

    @property
    def item_type(self) -> Anything:
        if not isinstance(self._item_type, Type):
            self._item_type = self._item_type()
        return self._item_type

    def __call__(self, value: Anything) -> Anything:  # type: ignore[override]
        return value

    def xmlvalue(self, value: Anything) -> Anything:
        return " ".join(self.item_type.xmlvalue(item) for item in value)

    def pythonvalue(self, value: Anything, schema: Anything = None) -> Anything:
        return [self.item_type.pythonvalue(item) for item in value.split()] if value else []

    def signature(self, schema: Anything = None, standalone: bool = True) -> str:
        return str(self.item_type.signature(schema)) + "[]"


class UnionType(AnySimpleType):
    """One of several types. Values are texts, unless all types have one base."""

    def __init__(self, item_types: list[Anything], qname: Anything = None) -> None:
        self._item_types = item_types
        super().__init__(qname)
        self.is_global = bool(qname)

    @cached_property
    def item_types(self) -> list[Anything]:
        return [item if isinstance(item, Type) else item() for item in self._item_types]

    @cached_property
    def item_class(self) -> Anything:
        orders = [type(item).__mro__[::-1] for item in self.item_types]
        base: Anything = None
        for level in zip(*orders, strict=False):
            if len(set(level)) > 1:
                break
            base = level[0]
        from .builtins import BuiltinType

        usable = base is not None and issubclass(base, AnySimpleType) and base not in (AnySimpleType, BuiltinType)
        return base if usable and not issubclass(base, (UnionType, ListType)) else None

    def signature(self, schema: Anything = None, standalone: bool = True) -> str:
        return ""

    def parse_xmlelement(
        self,
        xmlelement: Anything,
        schema: Anything = None,
        allow_none: bool = True,
        context: Anything = None,
        schema_type: Anything = None,
    ) -> Anything:
        if self.item_class:
            return self.item_class().parse_xmlelement(xmlelement, schema, allow_none, context)
        return str(xmlelement.text) or None

    def pythonvalue(self, value: Anything, schema: Anything = None) -> Anything:
        return self.item_class().pythonvalue(value) if self.item_class else value

    def xmlvalue(self, value: Anything) -> Anything:
        return self.item_class().xmlvalue(value) if self.item_class else value


class ComplexType(AnyType):
    _xsd_name: Anything = None

    def __init__(
        self,
        element: Anything = None,
        attributes: Anything = None,
        restriction: Anything = None,
        extension: Anything = None,
        qname: Anything = None,
        is_global: bool = False,
        later: Callable[[], tuple[Anything, Anything, Anything, Anything]] | None = None,
    ) -> None:
        if element is not None and type(element) is list:
            element = Sequence(element)
        self._later = later
        self._parts = (element, list(attributes or []), restriction, extension)
        self._is_built = False
        self._extension_types: list[type] = []
        super().__init__(qname=qname, is_global=is_global)
        if qname is None:
            self.qname = self.name = None
        else:
            self.name = type(self).__name__

    def __call__(self, *args: Anything, **kwargs: Anything) -> Anything:
        return self._value_class(*args, **kwargs)

    def __str__(self) -> str:
        return f"{type(self).__name__}({self.signature()})"

    def _build(self) -> None:
        """The content with that of the base type."""
        if self._is_built:
            return
        with BUILDING:
            if not self._is_built:
                self._build_once()

    def _build_once(self) -> None:
        element, attributes, restriction, extension = self._later() if self._later else self._parts
        if extension is not None:
            base_element = getattr(extension, "_element", None)
            base_attributes = list(getattr(extension, "_attributes_unwrapped", []))
            attributes = _merge(base_attributes, _unwrap(attributes))
            element = self._extended(element, base_element, extension)
            self._extension_types = list(extension.accepted_types)
        elif restriction is not None:
            attributes = _merge(list(getattr(restriction, "_attributes_unwrapped", [])), _unwrap(attributes))
            if element is None:
                element = getattr(restriction, "_element", None)
        self._built = (element, attributes)
        self._is_built = True

    def _extended(self, element: Anything, base: Anything, extension: Anything) -> Anything:
        if not _is_content(element) or not _is_content(base):
            if _is_content(element) or _is_content(base):
                return element if _is_content(element) else base
            # An extension of a type without content, or of a simple type, whose value is a member.
            return None if isinstance(extension, ComplexType) else Element("_value_1", extension)
        if isinstance(base, Element):
            return base
        merged = element.clone(element.name)
        if isinstance(base, Choice):
            merged.insert(0, base)
        elif isinstance(element, Choice):
            merged = base.clone(element.name)
            merged.append(element)
        elif isinstance(merged, OrderIndicator):
            merged[:0] = list(base)
        elif isinstance(merged, Group):
            merged = Sequence([*base, element])
        return merged

    @property
    def _element(self) -> Anything:  # type: ignore[override]
        self._build()
        return self._built[0]

    @property
    def _attributes(self) -> Anything:
        self._build()
        return self._built[1]

    @property
    def accepted_types(self) -> list[type]:  # type: ignore[override]
        self._build()
        return [self._value_class, *self._extension_types]

    @cached_property
    def _value_class(self) -> Anything:
        return type(type(self).__name__, (CompoundValue,), {"_xsd_type": self, "__module__": "zeep.objects"})

    @cached_property
    def attributes(self) -> Anything:  # type: ignore[override]
        numbered = _numbered("_attr_")
        children = {name for name, _ in self.elements if name is not None}
        result = []
        for attribute in self._attributes_unwrapped:
            if attribute.name is None:
                name = next(numbered)
            else:
                name = f"attr__{attribute.name}" if attribute.name in children else attribute.name
            result.append((name, attribute))
        return result

    @cached_property
    def _attributes_unwrapped(self) -> Anything:  # type: ignore[override]
        return _unwrap(self._attributes)

    @cached_property
    def elements(self) -> Anything:  # type: ignore[override]
        """The children with their names."""
        result: list[tuple[Anything, Anything]] = []
        for _, element in self.elements_nested:
            result.extend([(element.attr_name, element)] if isinstance(element, Element) else element.elements)
        return result

    @cached_property
    def elements_nested(self) -> list[tuple[Anything, Anything]]:
        return [("_value_1", self._element)] if _is_content(self._element) else []

    def parse_xmlelement(
        self,
        xmlelement: Anything,
        schema: Anything = None,
        allow_none: bool = True,
        context: Anything = None,
        schema_type: Anything = None,
    ) -> Anything:
        if not self.attributes and not self.elements:
            return None
        attributes = xmlelement.attrib
        values: dict[str, Anything] = OrderedDict()
        if isinstance(self._element, Element):
            name, element = self.elements_nested[0]
            values[name] = element.type.parse_xmlelement(xmlelement, schema, name, context=context)
        else:
            elements = deque(child for child in xmlelement if isinstance(child.tag, str))
            if allow_none and not elements and not attributes:
                return None
            for name, element in self.elements_nested:
                try:
                    values.update(element.parse_xmlelements(elements, schema, name, context=context) or {})
                except UnexpectedElementError as error:
                    raise XMLParseError(error.message) from error
            if elements:
                if schema and schema.settings.strict:
                    raise XMLParseError(f"Unexpected element {elements[0].tag!r}")
                values["_raw_elements"] = elements
        if attributes:
            rest = dict(attributes)
            for name, attribute in self.attributes:
                if not attribute.name:
                    values[name] = attribute.parse(rest)
                elif attribute.qname.text in rest:
                    values[name] = attribute.parse(rest.pop(attribute.qname.text))
        return self._value_class(**values)

    def render(self, node: Anything, value: Anything, xsd_type: Anything = None, render_path: Anything = None) -> None:
        path = render_path or [self.name]
        if not self.elements_nested and not self.attributes:
            self._mark(node, xsd_type)
            return
        if value is None or value is NotSet:
            value = {}
        is_simple = isinstance(self._element, Element)
        if not isinstance(value, (dict, CompoundValue)) and not (is_simple or isinstance(value, list)):
            raise ValidationError(f"{type(value).__name__} is no value for {self.qname}", path=path)
        if not isinstance(value, (dict, CompoundValue)) and is_simple:
            value = {"_value_1": value}
        for name, attribute in self.attributes:
            attribute.render(node, value[name] if name in value else NotSet, path + [name])
        for name, element in self.elements_nested:
            if is_simple or element.accepts_multiple:
                member = value[name] if name in value else NotSet
                child_path = path + [name]
            else:
                member, child_path = value, list(path)
            if member is SkipValue:
                continue
            if is_simple:
                element.type.render(node, None if member is NotSet else member, None, child_path)
            else:
                element.render(node, member, child_path)
        self._mark(node, xsd_type)

    @staticmethod
    def _mark(node: Anything, xsd_type: Anything) -> None:
        if xsd_type is not None and xsd_type.qname:
            node.set(xsi_ns("type"), xsd_type.qname)

    def parse_kwargs(self, kwargs: Anything, name: Anything, available: set[str]) -> Anything:
        name = name or self.name
        if name not in available:
            return {}
        value = kwargs[name]
        available.discard(name)
        return {name: value if value is Nil else self._create_object(value)}

    def _create_object(self, value: Anything) -> Anything:
        if value is None or value is SkipValue or isinstance(value, CompoundValue):
            return value
        if isinstance(value, list):
            return [self._create_object(item) for item in value]
        return self(**value) if isinstance(value, dict) else self(value)

    def signature(self, schema: Anything = None, standalone: bool = True) -> str:
        parts = [element.signature(schema, standalone=False) for _, element in self.elements_nested]
        parts += [f"{name}: {attribute.signature(schema, standalone=False)}" for name, attribute in self.attributes]
        value = ", ".join(parts)
        return f"{self.get_prefixed_name(schema)}({value})" if standalone else value

    def __deepcopy__(self, memo: Anything) -> Anything:
        return self


def _is_content(element: Anything) -> bool:
    return isinstance(element, Element) or (element is not None and (isinstance(element, Group) or len(element) > 0))


def _unwrap(attributes: Anything) -> list[Anything]:
    result: list[Anything] = []
    for attribute in attributes:
        result.extend(attribute.attributes if isinstance(attribute, AttributeGroup) else [attribute])
    return result


def _merge(base: list[Anything], own: list[Anything]) -> list[Anything]:
    """The attributes of a type and of its base; those of the type win."""
    merged: dict[str, Anything] = OrderedDict()
    for attribute in [*base, *own]:
        merged["##any" if isinstance(attribute, AnyAttribute) else attribute.qname.text] = attribute
    return list(merged.values())
