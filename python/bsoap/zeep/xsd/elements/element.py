"""Elements, attributes and wildcards of a schema. Sequences, choices and groups are in `indicators.py`.

They say which members values have, and convert values to and from elements of lxml. Bodies of messages are converted by the codec of
bsoap; this code does header blocks, values for wildcards, and the messages that the codec refuses but zeep accepts.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable
from typing import Any as Anything

from lxml import etree

from ...exceptions import LookupError, NamespaceError, UnexpectedElementError, ValidationError
from ..const import Nil, NotSet, xsi_ns
from ..utils import as_qname, create_prefixed_name, max_occurs_iter
from ..valueobjects import AnyObject, CompoundValue

__all__ = ["Any", "AnyAttribute", "Attribute", "AttributeGroup", "Element"]

logger = logging.getLogger("zeep.xsd")

_NIL = xsi_ns("nil")
_TYPE = xsi_ns("type")


class Base:
    name: Anything = None
    attr_name: Anything = None
    min_occurs: Anything = 1
    max_occurs: Anything = 1

    @property
    def accepts_multiple(self) -> bool:
        return bool(self.max_occurs != 1)

    @property
    def is_optional(self) -> bool:
        return bool(self.min_occurs == 0)

    @property
    def default_value(self) -> Anything:
        return None

    def parse_args(self, args: list[Anything], index: int = 0) -> Anything:
        if not args:
            return {}, args, index
        return {self.attr_name: args[index]}, args, index + 1

    def resolve(self) -> Anything:
        return self


class Element(Base):
    def __init__(
        self,
        name: Anything,
        type_: Anything = None,
        min_occurs: int = 1,
        max_occurs: Anything = 1,
        nillable: bool = False,
        default: Anything = None,
        is_global: bool = False,
        attr_name: str | None = None,
    ) -> None:
        if name is None:
            raise ValueError("name cannot be None", self.__class__)
        self.qname = name if isinstance(name, etree.QName) else etree.QName(name)
        self.name = self.qname.localname
        self._type = type_
        self.min_occurs = min_occurs
        self.max_occurs = max_occurs
        self.nillable = nillable
        self.is_global = is_global
        self.default = default
        self.attr_name = attr_name or self.name

    @property
    def type(self) -> Anything:
        # Types of a schema are looked up when they are first needed.
        if isinstance(self._type, _Later):
            self._type = self._type()
        return self._type

    @type.setter
    def type(self, value: Anything) -> None:
        self._type = value

    def __str__(self) -> str:
        if not self.type:
            return f"{self.name}()"
        return f"{self.name}({self.type.qname if self.type.is_global else self.type.signature()})"

    def __call__(self, *args: Anything, **kwargs: Anything) -> Anything:
        instance = self.type(*args, **kwargs)
        if isinstance(instance, CompoundValue):
            instance._xsd_elm = self
        return instance

    def __repr__(self) -> str:
        return f"<{type(self).__name__}(name={self.name!r}, type={self.type!r})>"

    def get_prefixed_name(self, schema: Anything) -> Anything:
        return create_prefixed_name(self.qname, schema)

    @property
    def default_value(self) -> Anything:
        if self.accepts_multiple:
            return []
        return None if self.is_optional else self.default

    def clone(self, name: Anything = None, min_occurs: int = 1, max_occurs: Anything = 1) -> Anything:
        new = copy.copy(self)
        if name:
            new.qname = name if isinstance(name, etree.QName) else etree.QName(name)
            new.name = new.attr_name = new.qname.localname
        new.min_occurs, new.max_occurs = min_occurs, max_occurs
        return new

    def parse(
        self, xmlelement: Anything, schema: Anything, allow_none: bool = False, context: Anything = None
    ) -> Anything:
        """The value of an element of lxml."""
        given = xmlelement.get(_TYPE)
        xsd_type = None
        if given is not None:
            xsd_type = schema.get_type(as_qname(given, xmlelement.nsmap), fail_silently=True)
        xsd_type = xsd_type or self.type
        return xsd_type.parse_xmlelement(
            xmlelement, schema, allow_none=allow_none, context=context, schema_type=self.type
        )

    def parse_kwargs(self, kwargs: Anything, name: str | None, available: set[str]) -> Anything:
        return self.type.parse_kwargs(kwargs, name or self.attr_name, available)

    def parse_xmlelements(
        self, xmlelements: Anything, schema: Anything, name: Anything = None, context: Anything = None
    ) -> Anything:
        result: list[Anything] = []
        for _ in max_occurs_iter(self.max_occurs):
            if not xmlelements:
                break
            first = xmlelements[0]
            tag = etree.QName(first.tag)
            strict = schema is None or schema.settings.strict
            # Peers qualify elements wrongly: the namespace counts only if both have one.
            if tag.namespace and self.qname.namespace and tag.namespace != self.qname.namespace and strict:
                break
            if tag.localname == self.qname.localname:
                xmlelements.popleft()
            elif (
                schema is not None
                and schema.settings.xsd_ignore_sequence_order
                and (first := self._somewhere(xmlelements)) is not None
            ):
                xmlelements.remove(first)
            else:
                if not result and not self.is_optional:
                    raise UnexpectedElementError(f"Unexpected element {tag.text!r}, expected {self.qname.text!r}")
                break
            result.append(self.parse(first, schema, allow_none=True, context=context))
        if self.accepts_multiple:
            return result
        return result[0] if result else None

    def _somewhere(self, xmlelements: Anything) -> Anything:
        return next(
            (element for element in xmlelements if etree.QName(element.tag).localname == self.qname.localname), None
        )

    def render(self, parent: Anything, value: Anything, render_path: Anything = None) -> None:
        """Adds the element with a value to an element of lxml."""
        path = render_path or [self.qname.localname]
        self.validate(value, path)
        for item in value if self.accepts_multiple and isinstance(value, list) else [value]:
            self._render_value_item(parent, item, path)

    def _render_value_item(self, parent: Anything, value: Anything, path: Anything) -> None:
        if value is None or value is NotSet:
            if not self.is_optional:
                element = etree.SubElement(parent, self.qname)
                if self.nillable:
                    element.set(_NIL, "true")
            return
        node = etree.SubElement(parent, self.qname)
        if value is Nil:
            node.set(_NIL, "true")
            return
        own = getattr(value, "_xsd_type", None) or self.type
        if own is not self.type:
            own.render(node, value, own, path)
        else:
            self.type.render(node, value, None, path)

    def validate(self, value: Anything, render_path: Anything = None) -> None:
        if self.accepts_multiple and isinstance(value, list):
            if len(value) < self.min_occurs:
                raise ValidationError(
                    f"Expected at least {self.min_occurs} items (minOccurs check) {len(value)} items found.",
                    path=render_path,
                )
            if self.max_occurs != "unbounded" and len(value) > self.max_occurs:
                raise ValidationError(
                    f"Expected at most {self.max_occurs} items (maxOccurs check) {len(value)} items found.",
                    path=render_path,
                )
            for item in value:
                self._validate_item(item, render_path)
            return
        if not self.is_optional and not self.nillable and (value is None or value is NotSet):
            raise ValidationError(f"Missing element {self.name}", path=render_path)
        self._validate_item(value, render_path)

    def _validate_item(self, value: Anything, render_path: Anything) -> None:
        if self.nillable and (value is None or value is NotSet):
            return
        try:
            self.type.validate(value, required=True)
        except ValidationError as error:
            # An optional element that is absent is valid.
            if not (self.is_optional and value is None):
                raise ValidationError(
                    f"The element {self.qname} is not valid: {error.message}", path=render_path
                ) from None

    def signature(self, schema: Anything = None, standalone: bool = True) -> str:
        from ..types import ComplexType

        if self.type is None:
            value = ""
        elif self.type.is_global or (not standalone and self.is_global):
            value = self.type.get_prefixed_name(schema)
        else:
            value = self.type.signature(schema, standalone=False)
            if not standalone and isinstance(self.type, ComplexType):
                value = f"{{{value}}}"
        if standalone:
            value = f"{self.get_prefixed_name(schema)}({value})"
        return f"{value}[]" if self.accepts_multiple else str(value)


class _Later:
    """A type that is looked up when it is first needed."""

    def __init__(self, find: Callable[[], Anything]) -> None:
        self.find = find

    def __call__(self) -> Anything:
        return self.find()


class Attribute(Element):
    def __init__(
        self, name: Anything, type_: Anything = None, required: bool = False, default: Anything = None
    ) -> None:
        super().__init__(name, type_, default=default)
        self.required = required
        self.array_type: Anything = None

    def parse(self, value: Anything, *more: Anything, **options: Anything) -> Anything:  # type: ignore[override]
        try:
            return self.type.pythonvalue(value)
        except (TypeError, ValueError):
            logger.exception("Error during xml -> python translation")
            return None

    def render(self, parent: Anything, value: Anything, render_path: Anything = None) -> None:
        if (value is None or value is NotSet) and not self.required:
            return
        self.validate(value, render_path)
        parent.set(self.qname, self.type.xmlvalue(value))

    def validate(self, value: Anything, render_path: Anything = None) -> None:
        try:
            self.type.validate(None if value is NotSet else value, required=self.required)
        except ValidationError as error:
            raise ValidationError(
                f"The attribute {self.qname} is not valid: {error.message}", path=render_path
            ) from None


class AttributeGroup:
    type = None
    is_global = True

    def __init__(self, name: Anything, attributes: list[Anything]) -> None:
        self.qname = name if isinstance(name, etree.QName) else etree.QName(name)
        self.name = self.qname.localname
        self._attributes = attributes

    @property
    def attributes(self) -> list[Anything]:
        result: list[Anything] = []
        for attribute in self._attributes:
            result.extend(attribute.attributes if isinstance(attribute, AttributeGroup) else [attribute])
        return result

    def resolve(self) -> Anything:
        return self

    def signature(self, schema: Anything = None, standalone: bool = True) -> str:
        return ", ".join(attribute.signature(schema) for attribute in self._attributes)


class AnyAttribute(Base):
    qname: Anything = None
    required = False

    def __init__(self, process_contents: str = "strict") -> None:
        self.process_contents = process_contents

    def parse(self, attributes: Anything, context: Anything = None) -> Anything:
        return {key: value for key, value in attributes.items() if key != _TYPE.text}

    def render(self, parent: Anything, value: Anything, render_path: Anything = None) -> None:
        for name, item in (value or {}).items() if value is not NotSet else ():
            parent.set(name, item)

    def signature(self, schema: Anything = None, standalone: bool = True) -> str:
        return "{}"


class Any(Base):
    """A wildcard for elements."""

    def __init__(
        self, max_occurs: Anything = 1, min_occurs: int = 1, process_contents: str = "strict", restrict: Anything = None
    ) -> None:
        self.max_occurs = max_occurs
        self.min_occurs = min_occurs
        self.process_contents = process_contents
        self.restrict = restrict

    @property
    def type(self) -> Anything:
        from ..types import AnyType

        return AnyType()

    def __call__(self, any_object: Anything) -> Anything:
        return any_object

    def __repr__(self) -> str:
        return f"<Any(name={self.name!r})>"

    def accept(self, value: Anything) -> bool:
        return True

    def parse(self, xmlelement: Anything, schema: Anything, context: Anything = None) -> Anything:
        if self.process_contents == "skip":
            return xmlelement
        given = xmlelement.get(_TYPE)
        if given is not None:
            xsd_type = schema.get_type(as_qname(given, xmlelement.nsmap))
            return xsd_type.parse_xmlelement(xmlelement, schema, context=context)
        if self.restrict:
            return self.restrict.parse_xmlelement(xmlelement, schema, context=context)
        try:
            return schema.get_element(etree.QName(xmlelement.tag)).parse(xmlelement, schema, context=context)
        except (NamespaceError, LookupError):
            return xmlelement

    def parse_kwargs(self, kwargs: Anything, name: Anything, available: set[str]) -> Anything:
        if name not in available:
            return {}
        available.discard(name)
        return {name: kwargs[name]}

    def parse_xmlelements(
        self, xmlelements: Anything, schema: Anything, name: Anything = None, context: Anything = None
    ) -> Anything:
        result = []
        for _ in max_occurs_iter(self.max_occurs):
            if not xmlelements:
                break
            item = self.parse(xmlelements.popleft(), schema, context=context)
            if item is not None:
                result.append(item)
        if self.accepts_multiple:
            return result
        return result[0] if result else None

    def render(self, parent: Anything, value: Anything, render_path: Anything = None) -> None:
        self.validate(value, render_path)
        for item in value if isinstance(value, list) else [value]:
            self._render_value_item(parent, item, render_path)

    def _render_value_item(self, parent: Anything, value: Anything, path: Anything) -> None:
        if value is None or value is NotSet:
            return
        if etree.iselement(value):
            # The element stays in the tree of its owner.
            parent.append(copy.deepcopy(value))
        elif self.restrict:
            for item in value if isinstance(value, list) else [value]:
                self.restrict.render(parent, item, None, render_path=path)
        else:
            for item in value.value if isinstance(value.value, list) else [value.value]:
                value.xsd_elm.render(parent, item, render_path=path)

    def validate(self, value: Anything, render_path: Anything = None) -> None:
        if self.accepts_multiple and isinstance(value, list):
            if len(value) < self.min_occurs:
                raise ValidationError(f"Expected at least {self.min_occurs} items (minOccurs check)")
            if self.max_occurs != "unbounded" and len(value) > self.max_occurs:
                raise ValidationError(f"Expected at most {self.max_occurs} items (maxOccurs check)")
            for item in value:
                self._validate_item(item)
            return
        if not self.is_optional and (value is None or value is NotSet):
            raise ValidationError("Missing element for Any")
        self._validate_item(value)

    def _validate_item(self, value: Anything) -> None:
        if value is None or value is NotSet or isinstance(value, (dict, AnyObject)) or etree.iselement(value):
            return
        if self.restrict and isinstance(value, tuple(self.restrict.accepted_types)):
            return
        raise TypeError(
            f"Any element received object of type {type(value).__name__!r}, "
            "expected lxml.etree._Element or builtins.dict or zeep.xsd.valueobjects.AnyObject\n"
            "See http://docs.python-zeep.org/en/master/datastructures.html#any-objects for more information"
        )

    def signature(self, schema: Anything = None, standalone: bool = True) -> str:
        base = self.restrict.name if self.restrict else "ANY"
        return f"{base}[]" if self.accepts_multiple else str(base)
