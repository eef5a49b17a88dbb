"""Values of zeep to and from those of bsoap.

A converter is made once per type. What it cannot convert (repeated groups, xsd:anyType, mixed content) raises `Refused`; then the
message is converted by zeep's rules with lxml instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lxml import etree

from .. import _values
from ._durations import native_duration
from .xsd.const import Nil, NotSet, SkipValue
from .xsd.elements import Any as Wildcard
from .xsd.elements import AnyAttribute, Choice, Element, Indicator
from .xsd.types import AnySimpleType, ComplexType, ListType, UnionType, builtins
from .xsd.valueobjects import AnyObject, CompoundValue

Convert = Callable[[Any], Any]


class Refused(Exception):
    """The codec has no form for a value."""


class Member:
    """A child or attribute of a type: its name for zeep, and its key for bsoap."""

    __slots__ = ("default", "element", "in_choice", "key", "kind", "name", "repeats")

    def __init__(self, name: str, key: str, kind: str, element: Any, in_choice: bool) -> None:
        self.name = name
        self.key = key
        self.kind = kind
        self.element = element
        self.in_choice = in_choice
        self.repeats = element.accepts_multiple if kind != "attribute" else False
        self.default = None if in_choice else element.default_value


class Shape:
    """The members of a complex type."""

    def __init__(self, kind: ComplexType) -> None:
        self.kind = kind
        self.members: list[Member] = []
        self.is_refused = False
        self.is_simple = isinstance(kind._element, Element)
        self.text: Any = None
        self.root_choice = isinstance(kind._element, Choice)
        if self.is_simple:
            self.text = kind._element.type
        else:
            for name, element in kind.elements_nested:
                self._walk(name, element, False)
        for name, attribute in kind.attributes:
            key = "@any" if isinstance(attribute, AnyAttribute) else "@" + str(attribute.name)
            self.members.append(Member(name, key, "attribute", attribute, False))
        keys = [member.key for member in self.members]
        # Children of one name in several places, or of two namespaces.
        if len(set(keys)) < len(keys):
            self.is_refused = True
        self.by_name = {member.name: member for member in self.members}
        # zeep's wildcards take all elements that follow, also those that are declared behind them.
        kinds = [member.kind for member in self.members]
        first = kinds.index("any") if "any" in kinds else len(kinds)
        self.behind_any = frozenset(member.key for member in self.members[first:] if member.kind == "element")

    def _walk(self, name: Any, element: Any, in_choice: bool) -> None:
        if isinstance(element, Wildcard):
            self.members.append(Member(name, "#any", "any", element, in_choice))
        elif isinstance(element, Element):
            self.members.append(Member(name, element.name, "element", element, in_choice))
        elif isinstance(element, Indicator) and not element.accepts_multiple:
            nested: Any = element.child if hasattr(element, "child") else element
            if nested.accepts_multiple:
                self.is_refused = True
                return
            inside = in_choice or isinstance(nested, Choice)
            for inner_name, inner in nested.elements_nested:
                self._walk(inner_name, inner, inside)
        else:
            self.is_refused = True


# To bsoap


def encoder(kind: Any) -> Convert:
    """Converts values of a type to values of bsoap."""
    made = kind.__dict__.get("_encoder")
    if made is None:
        made = _complex_encoder(kind) if isinstance(kind, ComplexType) else _simple_encoder(kind)
        kind.__dict__["_encoder"] = made
    return made  # type: ignore[no-any-return]


_PASSED: list[tuple[type, tuple[type, ...]]] = [
    (builtins.Integer, (int,)),
    (builtins.Double, (float, int)),
    (builtins.Float, (float, int)),
    (builtins.Decimal, (int,)),
    (builtins.Base64Binary, (bytes, str)),
    (builtins.String, (str,)),
    (builtins.BuiltinType, (str,)),
]


def _simple_encoder(kind: Any) -> Convert:
    if isinstance(kind, ListType):
        item = encoder(kind.item_type)
        return lambda value: [item(member) for member in value]
    if isinstance(kind, builtins.Boolean):
        # zeep sends what Python takes for true.
        return lambda value: value if isinstance(value, bool) else kind.xmlvalue(value) == "true"
    if not isinstance(kind, AnySimpleType):
        return _refuse
    passed: tuple[type, ...] = next((types for base, types in _PASSED if isinstance(kind, base)), ())

    def encode(value: Any) -> Any:
        if type(value) in passed:
            return value
        if isinstance(value, (etree.CDATA, AnyObject, CompoundValue, list, dict)):
            raise Refused
        text = kind.xmlvalue(value)
        if not isinstance(text, str):
            raise Refused
        return text

    encode.passed = passed  # type: ignore[attr-defined]
    return encode


def _refuse(value: Any, is_root: bool = False) -> Any:
    raise Refused


def _is_absent(value: Any) -> bool:
    return value is None or value is NotSet or value is SkipValue


def _complex_encoder(kind: ComplexType) -> Convert:
    shape = Shape(kind)
    if shape.is_refused:
        return _refuse
    by_name = shape.by_name
    # Of single children of simple types: the key, and the classes of Python that the codec takes as they are.
    plain: dict[str, tuple[str, tuple[type, ...]]] = {}
    # What is sent although it is not given.
    added = [member for member in shape.members if _is_added(member)]
    for member in shape.members:
        if member.kind != "any" and not member.repeats and member.key != "@any":
            kind_of = member.element.type
            if isinstance(kind_of, AnySimpleType):
                plain[member.name] = (member.key, getattr(encoder(kind_of), "passed", ()))

    def encode(value: Any) -> Any:
        if isinstance(value, CompoundValue):
            own = value._xsd_type
            if own is not kind:
                return _derived(own, value)
            items = value.__values__
        elif isinstance(value, dict):
            items = value
        elif shape.is_simple and not isinstance(value, list):
            items = {"_value_1": value}
        else:
            raise Refused
        made: dict[str, Any] = {}
        if shape.is_simple:
            text = items.get("_value_1")
            if not _is_absent(text):
                made["#text"] = encoder(shape.text)(text)
        for name, item in items.items():
            known = plain.get(name)
            if known is not None and type(item) in known[1]:
                made[known[0]] = item
                continue
            member = by_name.get(name)
            if member is None:
                if shape.is_simple and name == "_value_1":
                    continue
                if item is None and isinstance(value, CompoundValue):
                    continue
                raise Refused
            converted = _encode_member(member, item)
            if converted is not None:
                made[member.key] = converted
        if shape.is_simple and not shape.members:
            return made.get("#text", "")
        for member in added:
            if member.key in made or items.get(member.name) is SkipValue:
                continue
            if not member.default:
                made[member.key] = [] if member.repeats else _values.NIL
            elif member.name not in items:
                made[member.key] = _encode_member(member, member.default)
        return made

    return encode


def _is_added(member: Member) -> bool:
    """Whether a member has a default, or is an element that must be there and may be nil."""
    if member.default:
        return True
    element = member.element
    return bool(member.kind == "element" and element.nillable and not element.is_optional and not member.in_choice)


def _derived(kind: Any, value: CompoundValue) -> Any:
    if kind is None or kind.qname is None or not kind.is_global:
        raise Refused
    made = encoder(kind)(value)
    if not isinstance(made, dict):
        made = {"#text": made}
    return {"@type": kind.qname.text, **made}


def _encode_member(member: Member, value: Any) -> Any:
    """None for what is absent."""
    if _is_absent(value):
        return None
    element = member.element
    if member.kind == "attribute":
        if member.key == "@any":
            if value:
                raise Refused
            return None
        return encoder(element.type)(value)
    if member.kind == "any":
        return _fragments(value)
    if value is Nil:
        return _values.NIL
    encode = encoder(element.type)
    if not member.repeats:
        if isinstance(value, list) and not isinstance(element.type, ListType):
            raise Refused
        return encode(value)
    if hasattr(value, "__array__"):
        return value
    if not isinstance(value, (list, tuple)):
        return [encode(value)]
    passed = getattr(encode, "passed", None)
    if passed and set(map(type, value)).issubset(passed):
        return value if value else None
    items = [_values.NIL if item is Nil else item if item is None else encode(item) for item in value]
    if None in value:
        # What is None is absent if the element is optional, as for zeep.
        if not element.is_optional and not element.nillable:
            raise Refused
        items = (
            [item for item in items if item is not None]
            if element.is_optional
            else [_values.NIL if i is None else i for i in items]
        )
    return items or None


def _fragments(value: Any) -> list[str]:
    fragments = []
    for item in value if isinstance(value, list) else [value]:
        if etree.iselement(item):
            fragments.append(etree.tostring(item, encoding="unicode", with_tail=False))
        elif isinstance(item, AnyObject):
            parent = etree.Element("any")
            for member in item.value if isinstance(item.value, list) else [item.value]:
                item.xsd_elm.render(parent, member)
            fragments += [etree.tostring(child, encoding="unicode") for child in parent]
        elif not _is_absent(item):
            raise Refused
    return fragments


# From bsoap


def decoder(kind: Any, schema: Any) -> Convert:
    """Converts values of bsoap to those of zeep; the converter keeps the schema."""
    made = kind.__dict__.get("_decoder")
    if made is None:
        made = _complex_decoder(kind, schema) if isinstance(kind, ComplexType) else _simple_decoder(kind)
        kind.__dict__["_decoder"] = made
    return made  # type: ignore[no-any-return]


def _simple_decoder(kind: Any) -> Convert:
    if isinstance(kind, ListType):
        item = decoder(kind.item_type, None)
        return lambda value: [] if value is None else [item(member) for member in _listed(value)]
    if isinstance(kind, UnionType) or not isinstance(kind, AnySimpleType):
        return _refuse
    if isinstance(kind, (builtins.Integer, builtins.Float, builtins.Boolean, builtins.Decimal)):
        return _number
    if isinstance(kind, builtins.HexBinary):
        return lambda value: value.hex().upper() if isinstance(value, bytes) and value else value or None
    if isinstance(kind, builtins.Duration):
        return native_duration
    if isinstance(kind, builtins.Base64Binary):
        # One that came beside the message is an attachment.
        return lambda value: bytes(value) or None if value is not None else None
    if isinstance(kind, builtins.Date):
        return _plain_date
    if isinstance(kind, builtins._Gregorian):
        return lambda value: None if value is None else kind.pythonvalue(str(value))
    if type(kind) is AnySimpleType or isinstance(kind, builtins.QName):
        # The codec resolves names and guesses types; zeep returns the text.
        return _refuse
    return lambda value: None if value == "" else value


def _number(value: Any) -> Any:
    # Texts are numbers that the codec could not read, such as an empty element in a lenient mode.
    return None if value == "" else value


def _plain_date(value: Any) -> Any:
    import datetime

    return datetime.date(value.year, value.month, value.day) if isinstance(value, _values.Date) else value


def _listed(value: Any) -> list[Any]:
    return value.tolist() if hasattr(value, "tolist") else list(value)


def _complex_decoder(kind: ComplexType, schema: Any) -> Convert:
    shape = Shape(kind)
    if shape.is_refused:
        return _refuse
    template: dict[str, Any] = {"_value_1": None} if shape.is_simple else {}
    lists = []
    any_attribute = None
    for member in shape.members:
        template[member.name] = member.default
        if member.repeats and member.kind == "element" and not member.in_choice:
            lists.append(member.name)
        if member.key == "@any":
            any_attribute = member.name
    of = kind._value_class._of
    by_key = {member.key: member for member in shape.members}
    converters: dict[str, Convert] = {}
    is_empty = not template

    def convert(member: Member, value: Any) -> Any:
        made = converters.get(member.key)
        if made is None:
            made = converters[member.key] = _member_decoder(member, schema)
        return made(value)

    def decode(value: Any, is_root: bool = False) -> Any:
        if is_empty:
            return None
        if shape.is_simple and not isinstance(value, (dict, _values.Object)):
            # The text alone, where there are no attributes.
            value = {"#text": value}
        if value is None:
            # zeep takes xsi:nil for content.
            return _defaults(of, template, lists)
        members = value.__dict__ if isinstance(value, _values.Object) else value
        if not isinstance(members, dict):
            raise Refused
        if "@type" in members:
            return _derived_value(kind, schema, members, value, is_root)
        if not members and not is_root:
            return None
        made = dict(template)
        for name in lists:
            made[name] = []
        if shape.behind_any and not shape.behind_any.isdisjoint(members):
            raise Refused
        if any_attribute and any(key.startswith("@") for key in members):
            made[any_attribute] = {}
        for key, item in members.items():
            member = by_key.get(key)
            if member is not None:
                made[member.name] = convert(member, item)
            elif key == "#text" and shape.is_simple:
                made["_value_1"] = decoder(shape.text, schema)(item)
            elif key == "#order":
                raise Refused
            elif key != "@nil" and not key.startswith("@xsi:"):
                raise Refused
        return of(made)

    def rows(array: Any) -> list[Any]:
        """Values of a structured array."""
        names = [by_key[name].name for name in array.dtype.names]
        if names == list(template):
            return [of(dict(zip(names, row, strict=True))) for row in array.tolist()]
        made = []
        for row in array.tolist():
            values = dict(template)
            for name in lists:
                values[name] = []
            values.update(zip(names, row, strict=True))
            made.append(of(values))
        return made

    decode.rows = rows  # type: ignore[attr-defined]
    return decode


def _defaults(of: Convert, template: dict[str, Any], lists: list[str]) -> Any:
    made = dict(template)
    for name in lists:
        made[name] = []
    return of(made)


def _derived_value(kind: Any, schema: Any, members: dict[str, Any], value: Any, is_root: bool) -> Any:
    cls = type(value)
    given = members["@type"]
    local = given.rpartition("}")[2]
    namespace = given.rpartition("}")[0].removeprefix("{") or getattr(cls, "_namespace", None)
    actual = schema.type_named(local, namespace if getattr(cls, "_name", local) == local else None)
    if actual is None:
        raise Refused
    rest = {key: item for key, item in members.items() if key != "@type"}
    convert: Any = decoder(actual, schema)
    if not isinstance(actual, ComplexType):
        return convert(rest.get("#text"))
    # An element with xsi:type is not empty for zeep.
    return convert(rest, True)


def _member_decoder(member: Member, schema: Any) -> Convert:
    element = member.element
    if member.kind == "any":
        return _wildcard_decoder(element, schema)
    if member.kind == "attribute":
        if member.key == "@any":
            return _refuse
        if isinstance(element.type, builtins.String):
            return lambda value: value
        return decoder(element.type, schema)
    convert: Any = decoder(element.type, schema)
    if not member.repeats:
        return convert  # type: ignore[no-any-return]
    if convert is _number:
        return _listed

    def decode(value: Any) -> Any:
        if hasattr(value, "dtype"):
            return convert.rows(value) if value.dtype.names else _listed(value)
        return [convert(item) for item in _listed(value)]

    return decode


def _wildcard_decoder(element: Any, schema: Any) -> Convert:
    from .loader import parse_xml

    def decode(fragments: Any) -> Any:
        found = [element.parse(parse_xml(text), schema) for text in fragments]
        found = [item for item in found if item is not None]
        if element.accepts_multiple:
            return found
        return found[0] if found else None

    return decode
