"""Elements, attributes, wildcards and groups of a schema.

They say which members values have, and convert values to and from elements of lxml. Bodies of messages are converted by the codec of
bsoap; this code does header blocks, values for wildcards, and the messages that the codec refuses but zeep accepts.
"""

from __future__ import annotations

import copy
import logging
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any as Anything

from lxml import etree

from .. import ns
from ..exceptions import LookupError, NamespaceError, UnexpectedElementError, ValidationError
from .const import Nil, NotSet, SkipValue, xsi_ns
from .utils import as_qname, create_prefixed_name, max_occurs_iter
from .valueobjects import AnyObject, CompoundValue

__all__ = ["All", "Any", "AnyAttribute", "Attribute", "AttributeGroup", "Choice", "Element", "Group", "Sequence"]

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
        from .types import ComplexType

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
        from .types import AnyType

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


class Indicator(Base):
    elements: Anything

    @property
    def default_value(self) -> Anything:
        values = OrderedDict((name, element.default_value) for name, element in self.elements)
        return {"_value_1": values} if self.accepts_multiple else values


class OrderIndicator(Indicator, list):  # type: ignore[type-arg]
    """A sequence, a choice or an all."""

    def __init__(self, elements: Anything = None, min_occurs: int = 1, max_occurs: Anything = 1) -> None:
        self.min_occurs = min_occurs
        self.max_occurs = max_occurs
        list.__init__(self, elements or [])

    def clone(self, name: Anything, min_occurs: int = 1, max_occurs: Anything = 1) -> Anything:
        return type(self)(list(self), min_occurs=min_occurs, max_occurs=max_occurs)

    @cached_property
    def elements(self) -> list[tuple[Anything, Anything]]:
        result: list[tuple[Anything, Anything]] = []
        for name, element in self.elements_nested:
            result.extend(element.elements if name is None else [(name, element)])
        return result

    @cached_property
    def elements_nested(self) -> list[tuple[Anything, Anything]]:
        """The members with their names; groups that do not repeat add no level and have no name."""
        result: list[tuple[Anything, Anything]] = []
        wildcards = _numbered("_value_")
        seen: dict[str, int] = {}
        for element in self:
            if isinstance(element, Indicator):
                if element.accepts_multiple:
                    result.append((next(wildcards), element))
                else:
                    for name, _ in element.elements:
                        _unique(seen, name)
                    result.append((None, element))
            elif isinstance(element, Any):
                result.append((next(wildcards), element))
            else:
                result.append((_unique(seen, element.attr_name), element))
        return result

    def accept(self, values: Anything) -> Anything:
        results = set()
        for value in values if self.accepts_multiple else [values]:
            count = 0
            for _, element in self.elements_nested:
                if isinstance(element, Element):
                    count += int(element.name in value and value[element.name] is not None)
                else:
                    count += element.accept(value)
            results.add(count)
        return max(results) if results else 0

    def parse_args(self, args: list[Anything], index: int = 0) -> Anything:
        if any(isinstance(element, Choice) for _, element in self.elements_nested):
            raise TypeError("Choice elements only work with keyword arguments")
        result = {}
        for name, _ in self.elements:
            if index >= len(args):
                break
            result[name] = args[index]
            index += 1
        return result, args, index

    def parse_kwargs(self, kwargs: Anything, name: Anything, available: set[str]) -> Anything:
        if not self.accepts_multiple:
            found: dict[str, Anything] = OrderedDict()
            for member, element in self.elements_nested:
                found.update(element.parse_kwargs(kwargs, member, available) or {})
            return found
        if name not in available:
            return {}
        items = kwargs.get(name)
        result = []
        for item in max_occurs_iter(self.max_occurs, items if isinstance(items, list) else [items]):
            try:
                rest = set(item.keys() if hasattr(item, "keys") else item)
            except TypeError:
                raise TypeError("A list of dicts is expected for unbounded Sequences") from None
            values: dict[str, Anything] = OrderedDict()
            for member, element in self.elements:
                values.update(element.parse_kwargs(item, member, rest) or {})
            if rest:
                raise TypeError(f"{self}() got an unexpected keyword argument {next(iter(rest))!r}.")
            result.append(values)
        available.discard(name)
        return {name: result}

    def render(self, parent: Anything, value: Anything, render_path: Anything) -> None:
        values = value if isinstance(value, list) else [value]
        self.validate(values, render_path)
        for item in max_occurs_iter(self.max_occurs, values):
            for name, element in self.elements_nested:
                if not name:
                    member, path = item, render_path
                elif name in item:
                    member, path = item[name], render_path + [name]
                else:
                    member, path = NotSet, render_path
                if member is SkipValue:
                    continue
                if member is not None or not element.is_optional:
                    element.render(parent, member, path)

    def validate(self, value: Anything, render_path: Anything) -> None:
        if any(item is NotSet for item in value):
            raise ValidationError("No value set", path=render_path)

    def signature(self, schema: Anything = None, standalone: bool = True) -> str:
        parts = []
        for name, element in self.elements_nested:
            text = element.signature(schema, standalone=False)
            parts.append(text if isinstance(element, Indicator) else f"{name}: {text}")
        part = ", ".join(parts)
        return f"[{part}]" if self.accepts_multiple else part

    def __repr__(self) -> str:
        return f"<{type(self).__name__}({list.__repr__(self)})>"

    def __hash__(self) -> int:  # type: ignore[override]
        return id(self)


class All(OrderIndicator):
    def __init__(
        self, elements: Anything = None, min_occurs: int = 1, max_occurs: Anything = 1, consume_other: bool = False
    ) -> None:
        super().__init__(elements, min_occurs, max_occurs)
        self._consume_other = consume_other

    def parse_xmlelements(
        self, xmlelements: Anything, schema: Anything, name: Anything = None, context: Anything = None
    ) -> Anything:
        expected = {element.qname.text for _, element in self.elements}
        found: dict[str, deque[Anything]] = defaultdict(deque)
        rest = []
        for element in xmlelements:
            if element.tag in expected:
                found[element.tag].append(element)
            else:
                rest.append(element)
        xmlelements.clear()
        xmlelements.extend(rest)
        result: dict[str, Anything] = OrderedDict()
        for member, element in self.elements:
            if given := found.get(element.qname.text):
                result[member] = element.parse_xmlelements(given, schema, context=context)
        if self._consume_other and xmlelements:
            result["_raw_elements"] = list(xmlelements)
            xmlelements.clear()
        return result


class Sequence(OrderIndicator):
    def parse_xmlelements(
        self, xmlelements: Anything, schema: Anything, name: Anything = None, context: Anything = None
    ) -> Anything:
        result: list[Anything] = []
        for _ in max_occurs_iter(self.max_occurs):
            if not xmlelements:
                break
            before = len(xmlelements)
            values: dict[str, Anything] = OrderedDict()
            for member, element in self._parsed:
                try:
                    value = element.parse_xmlelements(xmlelements, schema, member, context=context)
                except UnexpectedElementError:
                    if schema.settings.strict:
                        # The first element of another occurrence does not fit: the sequence has ended.
                        if result and len(xmlelements) == before:
                            return {name: result}
                        raise
                    value = None
                if isinstance(element, Indicator):
                    values.update(value or {})
                else:
                    values[member] = value
                if not xmlelements:
                    break
            if len(xmlelements) == before:
                break
            if values:
                result.append(values)
        if self.accepts_multiple:
            return {name: result}
        return result[0] if result else None

    @cached_property
    def _parsed(self) -> list[tuple[Anything, Anything]]:
        return [(name, element) for name, element in self.elements_nested]


class Choice(OrderIndicator):
    @property
    def is_optional(self) -> bool:
        return True

    @property
    def default_value(self) -> Anything:
        return OrderedDict()

    def parse_args(self, args: list[Anything], index: int = 0) -> Anything:
        if args:
            raise TypeError("Choice elements only work with keyword arguments")
        return {}, args, index

    def parse_xmlelements(
        self, xmlelements: Anything, schema: Anything, name: Anything = None, context: Anything = None
    ) -> Anything:
        result = []
        for _ in max_occurs_iter(self.max_occurs):
            if not xmlelements:
                break
            best: tuple[int, Anything] = (0, None)
            for member, element in self.elements_nested:
                rest = copy.copy(xmlelements)
                try:
                    found = element.parse_xmlelements(rest, schema, member, context=context)
                except UnexpectedElementError:
                    continue
                if not isinstance(element, Indicator):
                    found = {member: found}
                consumed = len(xmlelements) - len(rest)
                if consumed > best[0]:
                    best = (consumed, found)
            if not best[0]:
                break
            result.append(best[1])
            for _ in range(best[0]):
                xmlelements.popleft()
        if self.accepts_multiple:
            return {name: result}
        return result[0] if result else {}

    def parse_kwargs(self, kwargs: Anything, name: Anything, available: set[str]) -> Anything:
        if name and name in available:
            values = kwargs[name] or []
            available.discard(name)
            items = [self._chosen(value, name) for value in ([values] if isinstance(values, dict) else values)]
            if self.accepts_multiple:
                return {name: items}
            return {name: items[0] if items else None}
        if self.accepts_multiple:
            return {}
        result: dict[str, Anything] = {}
        is_found = False
        for member, choice in self.elements_nested:
            rest = copy.copy(available)
            given = choice.parse_kwargs(kwargs, member, rest)
            if not given:
                continue
            # A branch without values is taken besides the first one with values.
            if is_found and any(value is not None and value != [] for value in given.values()):
                continue
            is_found = is_found or any(value is not None and value != [] for value in given.values())
            available.intersection_update(rest)
            result.update(given)
        if is_found:
            for member, _ in self.elements:
                result.setdefault(member, None)
            return result
        return {}

    def _chosen(self, value: Anything, name: Anything) -> Anything:
        for element in self:
            if isinstance(element, OrderIndicator):
                chosen = value[name] if name in value else value
                if element.accept(chosen):
                    return chosen
            elif isinstance(element, Any):
                return value
            elif isinstance(element, Group):
                if element.accept(value):
                    return value
            elif element.name in value:
                return {element.name: value[element.name]}
        raise TypeError(
            f"No complete xsd:Sequence found for the xsd:Choice {name!r}.\nThe signature is: {self.signature()}"
        )

    def accept(self, values: Anything) -> Anything:
        best = 0
        for name, element in self.elements_nested:
            if isinstance(element, Element):
                items = values if self.accepts_multiple and isinstance(values, list) else [values]
                found = int(bool(items) and all(name in item and item[name] is not None for item in items))
            else:
                found = element.accept(values)
            best = max(best, found)
        return best

    def render(self, parent: Anything, value: Anything, render_path: Anything) -> None:
        values = value if self.accepts_multiple else [value]
        if values is None or values is NotSet:
            return
        for item in values:
            found = self._find_element_to_render(item)
            if found:
                found[0].render(parent, found[1], render_path)

    def _find_element_to_render(self, value: Anything) -> Anything:
        best: tuple[Anything, ...] = (0,)
        for name, element in self.elements_nested:
            if isinstance(element, Element):
                if element.name in value and value[element.name] is not None and best[0] < 1:
                    best = (1, element, value[element.name])
                continue
            chosen = value
            if name is not None:
                try:
                    chosen = value[name]
                except (KeyError, TypeError):
                    chosen = value
            score = int(element.accept(chosen)) if chosen is not None else 0
            if score > best[0]:
                best = (score, element, chosen)
        return best[1:] if best[0] else None

    def signature(self, schema: Anything = None, standalone: bool = True) -> str:
        parts = []
        for name, element in self.elements_nested:
            text = element.signature(schema, standalone=False)
            parts.append(f"{{{text}}}" if isinstance(element, OrderIndicator) else f"{{{name}: {text}}}")
        part = f"({' | '.join(parts)})"
        return f"{part}[]" if self.accepts_multiple else part


class Group(Indicator):
    def __init__(self, name: Anything, child: Anything, max_occurs: Anything = 1, min_occurs: int = 1) -> None:
        self.child = child
        self.qname = name
        self.name = name.localname if name else None
        self.max_occurs = max_occurs
        self.min_occurs = min_occurs

    def __str__(self) -> str:
        return self.signature()

    def __iter__(self) -> Iterator[Anything]:
        return iter(self.child)

    @cached_property
    def elements(self) -> Anything:
        return [("_value_1", self.child)] if self.accepts_multiple else self.child.elements

    def clone(self, name: Anything, min_occurs: int = 1, max_occurs: Anything = 1) -> Anything:
        return type(self)(None, self.child, min_occurs=min_occurs, max_occurs=max_occurs)

    def accept(self, values: Anything) -> Anything:
        return self.child.accept(values)

    def parse_args(self, args: list[Anything], index: int = 0) -> Anything:
        return self.child.parse_args(args, index)

    def parse_kwargs(self, kwargs: Anything, name: Anything, available: set[str]) -> Anything:
        if not self.accepts_multiple:
            return self.child.parse_kwargs(kwargs, name, available)
        if name not in kwargs:
            return {}
        available.discard(name)
        result = []
        for item in max_occurs_iter(self.max_occurs, kwargs[name]):
            rest = set(item)
            values = self.child.parse_kwargs(item, "_value_1" if self.child.accepts_multiple else None, rest)
            if rest:
                raise TypeError(f"{self}() got an unexpected keyword argument {next(iter(rest))!r}.")
            if values:
                result.append(values)
        return {name: result}

    def parse_xmlelements(
        self, xmlelements: Anything, schema: Anything, name: Anything = None, context: Anything = None
    ) -> Anything:
        result: list[Anything] = []
        for _ in max_occurs_iter(self.max_occurs):
            before = len(xmlelements)
            try:
                result.append(self.child.parse_xmlelements(xmlelements, schema, name, context=context))
            except UnexpectedElementError:
                if not (result and self.accepts_multiple):
                    raise
                break
            if not xmlelements or len(xmlelements) == before:
                break
        return {name: result} if self.accepts_multiple else result[0]

    def render(self, parent: Anything, value: Anything, render_path: Anything) -> None:
        for item in value if isinstance(value, list) else [value]:
            self.child.render(parent, item, render_path)

    def signature(self, schema: Anything = None, standalone: bool = True) -> str:
        text = self.child.signature(schema, standalone=False)
        return f"{create_prefixed_name(self.qname, schema)}({text})" if standalone else str(text)


def _numbered(prefix: str) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        yield f"{prefix}{number}"


def _unique(seen: dict[str, int], name: str) -> str:
    if name in seen:
        seen[name] += 1
        return f"{name}__{seen[name]}"
    seen[name] = 0
    return name


SCHEMA_NAMESPACE = ns.XSD
