"""The values of messages."""

from __future__ import annotations

import datetime
import functools
import keyword
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import enum
    import re
    from collections.abc import Callable
    from typing import Final, Literal

# Modules that take long to import are imported where they are needed: programs that make one call do not wait for them.


class Field(NamedTuple):
    """A child element of a type."""

    name: str
    type: str
    repeats: bool
    optional: bool
    nillable: bool
    array: str | None
    """The format of numpy if an array of it is one of numbers."""


class Attribute(NamedTuple):
    """An attribute of a type."""

    name: str
    type: str
    required: bool


if TYPE_CHECKING:
    # Type checkers understand `is NIL` if it is the only member of an enumeration.
    class Nil(enum.Enum):
        NIL = "nil"

        def __bool__(self) -> Literal[False]: ...

    NIL: Final = Nil.NIL
else:

    class Nil:
        """An element with ``xsi:nil``, where None would mean that the element is absent."""

        def __repr__(self) -> str:
            return "bsoap.NIL"

        def __bool__(self) -> bool:
            return False

        def __reduce__(self) -> str:
            return "NIL"

    NIL = Nil()


class _EmptyArray:
    """What a repeated element is that is not there: a new empty list or array at each access."""

    def __init__(self, array: str | None) -> None:
        self.array = array

    def __get__(self, instance: Object | None, owner: type) -> Any:
        if instance is None:
            return self
        if self.array is not None:
            try:
                import numpy
            except ImportError:
                return []
            return numpy.empty(0, self.array)
        return []


class _Alias:
    """A member whose key is no name of Python, found by its name: ``currency`` for ``@currency``, ``class_`` for ``class``.

    The dictionary of an instance comes first.
    """

    def __init__(self, key: str) -> None:
        self.key = key

    def __get__(self, instance: Object | None, owner: type) -> Any:
        return self if instance is None else instance.__dict__.get(self.key)


class Object:
    """An element of a message: its children and attributes.

    Members are attributes and items: ``order.id`` and ``order["id"]``. A child that is absent is None, or an empty list if it may
    repeat; ``"id" in order`` is False for an absent child and True for one that is nil. Attributes have the keys ``@name``, the text
    of an element with attributes has the key ``#text``; both are also found without the sign, as ``price.currency`` and
    ``price.text``, unless a child has that name. A child with the name of a method, such as ``values``, hides
    the method. A trailing underscore is left out: ``order.class_``.

    >>> order = Object({"id": 7, "lines": [{"sku": "a"}]})
    >>> order.id, order["id"], "note" in order
    (7, 7, False)
    """

    __slots__ = ("__dict__", "__weakref__")

    _fields: dict[str, Field] = {}
    _attributes: dict[str, Attribute] = {}
    _text: str | None = None
    _name = ""
    _namespace = ""

    def __init__(self, members: Any = (), /, **more: Any) -> None:
        if members:
            self.__dict__.update(members)
        for name, value in more.items():
            self.__dict__[self._key(name)] = value

    @classmethod
    def _key(cls, name: str) -> str:
        """The key of a member that is called by a Python name."""
        if name in cls._fields:
            return name
        if (key := "@" + name) in cls._attributes:
            return key
        if name == "text" and cls._text is not None:
            return "#text"
        if name.endswith("_"):
            shorter = name[:-1]
            if shorter in cls._fields or keyword.iskeyword(shorter):
                return shorter
        return name

    def __getattr__(self, name: str) -> Any:
        # Only for names that are no member.
        if name.startswith("__"):
            raise AttributeError(name)
        members = self.__dict__
        cls = type(self)
        for key in ("@" + name, name[:-1] if name.endswith("_") else name):
            if key in members:
                return members[key]
        if name == "text" and "#text" in members:
            return members["#text"]
        if cls._key(name) != name or (cls._text is not None and name == "text"):
            return None
        known = ", ".join(sorted(cls._fields) or sorted(members))
        raise AttributeError(f"{cls.__name__} has no member {name!r}; it has: {known}", name=name, obj=self)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "__dict__":
            object.__setattr__(self, name, value)
        else:
            self.__dict__[type(self)._key(name)] = value

    def __getitem__(self, key: str) -> Any:
        return self.__dict__[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.__dict__[key] = value

    def __delitem__(self, key: str) -> None:
        del self.__dict__[key]

    def __contains__(self, key: object) -> bool:
        return key in self.__dict__

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__)

    def __len__(self) -> int:
        return len(self.__dict__)

    def __bool__(self) -> bool:
        return True

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *type(self)._fields, *self.__dict__})

    def keys(self) -> Any:
        return self.__dict__.keys()

    def values(self) -> Any:
        return self.__dict__.values()

    def items(self) -> Any:
        return self.__dict__.items()

    def get(self, key: str, default: Any = None) -> Any:
        return self.__dict__.get(key, default)

    def pop(self, key: str, *default: Any) -> Any:
        return self.__dict__.pop(key, *default)

    def popitem(self) -> tuple[str, Any]:
        return self.__dict__.popitem()

    def setdefault(self, key: str, default: Any = None) -> Any:
        return self.__dict__.setdefault(key, default)

    def update(self, members: Any = (), /, **more: Any) -> None:
        self.__dict__.update(members, **more)

    def clear(self) -> None:
        self.__dict__.clear()

    def to_dict(self) -> dict[str, Any]:
        """Dictionaries and lists all the way down; arrays of numbers stay arrays."""
        return _to_dict(self)  # type: ignore[no-any-return]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Object):
            return _equal(self.__dict__, other.__dict__)
        if isinstance(other, Mapping):
            return _equal(self.__dict__, other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    @recursive_repr()
    def __repr__(self) -> str:
        shown = []
        for key, value in self.__dict__.items():
            name = key if key.isidentifier() else f"{key!r}"
            shown.append(f"{name}={_short(value)}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def __str__(self) -> str:
        return "\n".join(_tree(self, "")).strip("\n")

    def __copy__(self) -> Object:
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Object:
        import copy

        made = object.__new__(type(self))
        # Known before its members are copied: they may refer to it.
        memo[id(self)] = made
        made.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        # Classes of a WSDL cannot be imported: they are made again.
        cls = type(self)
        if cls is Object:
            return (Object, (), dict(self.__dict__))
        fields = [tuple(field) for field in cls._fields.values()]
        attributes = [tuple(attribute) for attribute in cls._attributes.values()]
        made = (cls._name, cls._namespace, tuple(fields), tuple(attributes), cls._text)
        return (_unpickle, (made,), dict(self.__dict__))


MutableMapping.register(Object)

_made: dict[Any, type[Object]] = {}


def _unpickle(made: tuple[Any, ...]) -> Object:
    cls = _made.get(made)
    if cls is None:
        name, namespace, fields, attributes, text = made
        cls = make_class(name, namespace=namespace, fields=fields, attributes=attributes, text=text)
        _made[made] = cls
    return object.__new__(cls)


def make_class(
    name: str,
    *,
    namespace: str,
    fields: Any,
    attributes: Any,
    text: str | None,
) -> type[Object]:
    """The class of a type of a WSDL."""
    known = {field[0]: Field(*field) for field in fields}
    members: dict[str, Any] = {
        "__slots__": (),
        "_fields": known,
        "_attributes": {attribute[0]: Attribute(*attribute) for attribute in attributes},
        "_text": text,
        "_name": name,
        "_namespace": namespace,
        "__doc__": _documentation(name, namespace, known, attributes, text),
    }
    # What is absent, and what has another key: the dictionary of an instance comes first.
    for field in known.values():
        if not field.name.startswith("_"):
            members[field.name] = _EmptyArray(field.array) if field.repeats else None
            if keyword.iskeyword(field.name):
                members[field.name + "_"] = _Alias(field.name)
    aliases = [attribute[0] for attribute in attributes] + ([] if text is None else ["#text"])
    for key in aliases:
        if not key[1:].startswith("_"):
            members.setdefault(key[1:], _Alias(key))
    shown = name or "Object"
    return type(shown if shown.isidentifier() else "Object", (Object,), members)


def _documentation(name: str, namespace: str, fields: dict[str, Field], attributes: Any, text: str | None) -> str:
    lines = [f"{{{namespace}}}{name}" if namespace else name or "An element.", ""]
    if text is not None:
        lines.append(f"    text: {text}")
    lines += [f"    {attribute[0]}: {attribute[1]}{'' if attribute[2] else ' | None'}" for attribute in attributes]
    lines += [f"    {field.name}: {annotation(field)}" for field in fields.values()]
    return "\n".join(lines)


class Annotation(str):
    """A type in a signature, which is shown without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def annotation(field: Field) -> Annotation:
    """The type of a field, as it is written in Python."""
    shown = field.type
    if field.repeats:
        shown = f"array[{shown}]" if field.array else f"list[{shown}]"
    elif field.optional or field.nillable:
        shown = f"{shown} | None"
    return Annotation(shown)


def _to_dict(value: Any, made: dict[int, Any] | None = None) -> Any:
    """``made`` has the dictionaries so far: one for each object, so that shared objects stay shared and cycles end."""
    made = {} if made is None else made
    if isinstance(value, (Object, dict)):
        if id(value) not in made:
            members: dict[str, Any] = {}
            made[id(value)] = members
            items = value.__dict__ if isinstance(value, Object) else value
            members.update((key, _to_dict(item, made)) for key, item in items.items())
        return made[id(value)]
    if isinstance(value, list):
        return [_to_dict(item, made) for item in value]
    return value


def _is_array(value: Any) -> bool:
    return hasattr(value, "__array__") or type(value).__name__ == "Column"


def _equal(one: Any, other: Any, compared: set[tuple[int, int]] | None = None) -> bool:
    """``compared`` has the pairs that are being compared: if a cycle leads to one again, it says nothing new."""
    if _is_array(one) or _is_array(other):
        if not (hasattr(one, "__len__") and hasattr(other, "__len__")) or len(one) != len(other):
            return False
        return bool(_listed(one) == _listed(other))
    if isinstance(one, Object):
        one = one.__dict__
    if isinstance(other, Object):
        other = other.__dict__
    if isinstance(one, dict) and isinstance(other, Mapping):
        compared = set() if compared is None else compared
        if (id(one), id(other)) in compared:
            return True
        compared.add((id(one), id(other)))
        return one.keys() == other.keys() and all(_equal(item, other[key], compared) for key, item in one.items())
    if isinstance(one, list) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(_equal(*pair, compared) for pair in zip(one, other, strict=True))
    return bool(one == other)


def _listed(array: Any) -> Any:
    return array.tolist() if hasattr(array, "tolist") else list(array)


_SHOWN = 6


def _short(value: Any) -> str:
    if isinstance(value, list) and len(value) > _SHOWN:
        inner = ", ".join(_short(item) for item in value[:3])
        return f"[{inner}, … {len(value)} items]"
    if isinstance(value, list):
        return f"[{', '.join(map(_short, value))}]"
    if _is_array(value):
        if len(value) > _SHOWN:
            inner = ", ".join(str(item) for item in _listed(value[:3]) if item is not None)
            return f"array([{inner}, … {len(value)} items])"
        return f"array({_listed(value)!r})"
    if isinstance(value, (str, bytes)) and len(value) > 80:
        return f"{value[:60]!r}… {len(value)} long"
    return repr(value)


def _tree(value: Object, indent: str, around: tuple[int, ...] = ()) -> Iterator[str]:
    if id(value) in around:
        yield f"{type(value).__name__}: …"
        return
    around = (*around, id(value))
    yield f"{type(value).__name__}:"
    for key, item in value.__dict__.items():
        if isinstance(item, Object):
            first, *rest = _tree(item, "", around)
            yield f"{indent}  {key}: {first}"
            yield from (f"{indent}  {line}" for line in rest)
        elif isinstance(item, list) and any(isinstance(entry, Object) for entry in item):
            yield f"{indent}  {key}:"
            for entry in item[:20]:
                lines = list(_tree(entry, "", around)) if isinstance(entry, Object) else [_short(entry)]
                yield f"{indent}    - {lines[0]}"
                yield from (f"{indent}    {line}" for line in lines[1:])
            if len(item) > 20:
                yield f"{indent}    … {len(item)} items"
        else:
            yield f"{indent}  {key}: {_short(item)}"


class DateTime(datetime.datetime):
    """A date and time whose text says more than Python can hold, such as a second's fraction of nanoseconds; ``text`` is sent back."""

    text: str

    @classmethod
    def of(cls, value: datetime.datetime, text: str) -> DateTime:
        made = cls(
            value.year,
            value.month,
            value.day,
            value.hour,
            value.minute,
            value.second,
            value.microsecond,
            value.tzinfo,
        )
        made.text = text
        return made

    def __getattr__(self, name: str) -> Any:
        # The result of a computation has no text of its own.
        if name == "text":
            return self.isoformat()
        raise AttributeError(f"a DateTime has no attribute {name!r}")

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return (exact_datetime, (self.text,))


class Date(datetime.date):
    """A date with a time zone, which Python's dates cannot have; ``text`` is sent back."""

    text: str
    tzinfo: datetime.tzinfo | None

    def __getattr__(self, name: str) -> Any:
        # The result of a computation has no text and no time zone of its own.
        if name == "text":
            return self.isoformat()
        if name == "tzinfo":
            return None
        raise AttributeError(f"a Date has no attribute {name!r}")

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        if self.tzinfo is None:
            return (datetime.date, (self.year, self.month, self.day))
        return (exact_date, (self.text,))


_DATETIME = r"(\d{4}-\d\d-\d\dT)(\d\d)(:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?"


def _match(pattern: str, text: str) -> re.Match[str] | None:
    import re

    return re.fullmatch(pattern, text)


def exact_datetime(text: str) -> datetime.datetime | str:
    """A date and time with more digits than microseconds, or midnight as 24:00:00. Texts that Python cannot hold are returned."""
    found = _match(_DATETIME, text)
    if not found:
        return text
    day, hour, rest, fraction, zone = found.groups()
    plain = f"{day}{'00' if hour == '24' else hour}{rest}.{(fraction or '0')[:6].ljust(6, '0')}{zone or ''}"
    try:
        value = datetime.datetime.fromisoformat(plain)
        if hour == "24":
            value += datetime.timedelta(days=1)
    except (ValueError, OverflowError):
        return text
    return DateTime.of(value, text)


def exact_date(text: str) -> datetime.date | str:
    """A date with a time zone. Texts that Python cannot hold are returned."""
    try:
        value = datetime.date.fromisoformat(text[:10])
        zone = datetime.datetime.fromisoformat(f"2000-01-01T00:00:00{text[10:]}").tzinfo
    except ValueError:
        return text
    if zone is None:
        return text
    made = Date(value.year, value.month, value.day)
    made.text = text
    made.tzinfo = zone
    return made


_DURATION = r"(-)?P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d+))?S)?)?"


class Duration:
    """A duration with years or months, whose length in days depends on the date, or one that ``timedelta`` cannot hold.

    >>> parse_duration("P1Y2M3D")
    Duration('P1Y2M3D')
    >>> parse_duration("PT90S")
    datetime.timedelta(seconds=90)
    """

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        if not _match(_DURATION, text) or text.endswith(("P", "T")):
            raise ValueError(f"{text!r} is no duration, such as P1Y2M3DT4H5M6.7S")
        self.text = text

    def __eq__(self, other: object) -> bool:
        return self.text == other.text if isinstance(other, Duration) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.text)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Duration, (self.text,))

    @property
    def months(self) -> int:
        """The years and months, in months."""
        found = _match(_DURATION, self.text)
        assert found
        months = int(found[2] or 0) * 12 + int(found[3] or 0)
        return -months if found[1] else months

    @property
    def timedelta(self) -> datetime.timedelta:
        """The days, hours, minutes and seconds."""
        return _timedelta(self.text)

    def __repr__(self) -> str:
        return f"Duration({self.text!r})"

    def __str__(self) -> str:
        return self.text


def _timedelta(text: str) -> datetime.timedelta:
    found = _match(_DURATION, text)
    assert found
    days, hours, minutes, seconds = (int(found[group] or 0) for group in (4, 5, 6, 7))
    microseconds = int((found[8] or "0")[:6].ljust(6, "0"))
    value = datetime.timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds, microseconds=microseconds)
    return -value if found[1] else value


def parse_duration(text: str) -> datetime.timedelta | Duration | str:
    """A timedelta, or a Duration if there are years, months, or more digits than microseconds."""
    found = _match(_DURATION, text)
    if not found:
        return text
    if found[2] or found[3] or len(found[8] or "") > 6:
        return Duration(text)
    try:
        return _timedelta(text)
    except OverflowError:
        return Duration(text)


def duration_text(value: datetime.timedelta) -> str:
    """A timedelta as xsd:duration."""
    sign, value = ("-", -value) if value < datetime.timedelta() else ("", value)
    hours, seconds = divmod(value.seconds, 3600)
    minutes, seconds = divmod(seconds, 60)
    fraction = f".{value.microseconds:06}".rstrip("0") if value.microseconds else ""
    text = "".join(
        (
            f"{hours}H" if hours else "",
            f"{minutes}M" if minutes else "",
            f"{seconds}{fraction}S" if seconds or fraction else "",
        )
    )
    days = f"{value.days}D" if value.days else ""
    return f"{sign}P{days}{'T' + text if text else ''}" if days or text else "PT0S"


def plain(value: Any) -> Any:
    """A value that the binary module converts: a text, a number, a dictionary, a list. Others are returned as they are."""
    for kind, convert in _plain_kinds():
        if isinstance(value, kind):
            return convert(value)
    cls = type(value)
    if hasattr(cls, "__bsoap_fields__"):
        from . import _typed as typed

        return typed.dump(value)
    fields = getattr(cls, "__dataclass_fields__", None)
    if fields is not None:
        members = ((name, getattr(value, name)) for name in fields)
        return {name.removesuffix("_"): member for name, member in members if member is not None}
    if cls.__name__ == "NAType":
        # `NA` of pandas.
        return None
    members = _columns(value)
    if members is not None:
        return members
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        return _array(value)
    if hasattr(value, "to_pylist"):
        return _arrow(value)
    if hasattr(value, "dtype") and hasattr(value, "to_list") and hasattr(value, "null_count"):
        return _polars(value)
    if hasattr(value, "__array__"):
        return value.__array__()
    if isinstance(value, Iterable) and not isinstance(value, Mapping):
        return list(value)
    return value


class Columns(dict[str, Any]):
    """An array of structs by columns: the binary module makes the rows. A dot in a name begins a member of a nested struct."""


def _columns(value: Any) -> Any:
    """Structured arrays and data frames by their columns; None for other values."""
    names = getattr(getattr(value, "dtype", None), "names", None)
    if names:
        if getattr(value, "ndim", 0) == 0:
            return dict(zip(names, value.tolist(), strict=True))
        return Columns({name: _field(value[name]) for name in names})
    if type(value).__module__ == "bsoap._table":
        if hasattr(value, "columns"):
            return Columns({name: plain(value[name]) for name in value.columns})
        is_number = value.null_count == 0 and value.type in ("double", "float", "int64")
        return value.to_numpy() if is_number else value.to_list()
    if hasattr(value, "column_names") and hasattr(value, "to_pylist"):
        return Columns({name: value.column(name) for name in value.column_names})
    if hasattr(value, "to_dicts") and hasattr(value, "get_columns"):
        return Columns({column.name: column for column in value.get_columns()})
    if hasattr(value, "to_dict") and hasattr(value, "columns") and hasattr(value, "iloc"):
        return Columns({str(name): _field(value.iloc[:, index]) for index, name in enumerate(value.columns)})
    if hasattr(value, "__arrow_c_stream__") and not hasattr(value, "dtype") and not hasattr(value, "to_pylist"):
        import pyarrow

        return _columns(pyarrow.table(value))
    return None


def _field(column: Any) -> Any:
    """A column whose items are in one piece. Small integers are numbers here, not octets."""
    if type(column).__module__.startswith("pandas"):
        return _array(column)
    if column.ndim > 1:
        return list(column)
    if column.dtype.kind == "u" and column.dtype.itemsize == 1:
        return column.astype("<i8")
    return column.copy() if column.dtype.kind in "iuf" else column


def _array(value: Any) -> Any:
    """Arrays of numpy that are no plain numbers, single values of numpy, and series of pandas."""
    kind = getattr(value.dtype, "kind", "")
    if kind == "f" and value.dtype.itemsize > 8:
        # Longer than a double: Python has no such number.
        value = value.astype("f8")
    if kind == "M":
        return _datetimes(value)
    if kind == "m":
        return _array(value.to_numpy()) if hasattr(value, "to_numpy") else value.astype("m8[us]").tolist()
    if not hasattr(value, "to_numpy"):
        return value.tolist()
    # Series of pandas: numbers and booleans are arrays, unless values are missing. NaN of plain numpy is a number.
    if kind and kind in "iufb" and (not hasattr(value.dtype, "na_value") or not value.hasnans):
        array = value.to_numpy()
        if array.dtype.kind in "iufb":
            return array.astype("<i8") if array.dtype == "u1" else array
    missing = value.isna().tolist()
    return [None if is_missing else item for item, is_missing in zip(value.tolist(), missing, strict=True)]


def _datetimes(value: Any) -> Any:
    """The texts of datetime64; those of pandas may have a time zone."""
    import numpy

    suffix = ""
    if hasattr(value, "to_numpy"):
        if getattr(value.dtype, "tz", None) is not None:
            value = value.dt.tz_convert("UTC").dt.tz_localize(None)
            suffix = "Z"
        value = value.to_numpy()
    texts = numpy.datetime_as_string(numpy.atleast_1d(value)).tolist()
    texts = [None if text == "NaT" else _shorter(text) + suffix for text in texts]
    return texts if value.ndim else texts[0]


def _shorter(text: str) -> str:
    """Without zeros at the end of a second's fraction."""
    return text.rstrip("0").rstrip(".") if "." in text else text


def _arrow(value: Any) -> Any:
    """Numbers of Arrow as an array of numpy, which shares their memory; other columns as lists."""
    if hasattr(value, "to_numpy") and not getattr(value, "null_count", 1):
        try:
            array = value.to_numpy(zero_copy_only=False) if not hasattr(value, "chunks") else value.to_numpy()
        except (TypeError, ValueError, NotImplementedError):
            return value.to_pylist()
        if array.dtype.kind in "iuf":
            return array.astype("<i8") if array.dtype == "u1" else array
    return value.to_pylist()


def _polars(value: Any) -> Any:
    """Numbers of polars as an array of numpy; other columns as lists."""
    if value.null_count() == 0:
        array = value.to_numpy()
        if array.dtype.kind in "iuf" and array.ndim == 1:
            return array.astype("<i8") if array.dtype == "u1" else array
    return value.to_list()


@functools.cache
def _plain_kinds() -> list[tuple[type, Callable[[Any], Any]]]:
    import enum
    import uuid

    return [
        (enum.Enum, lambda value: value.value),
        (str, str.__str__),
        (bool, bool),
        (int, int.__int__),
        (float, float.__float__),
        (DateTime, lambda value: value.text),
        # `NaT` of pandas is a datetime that does not equal itself, and its timestamps may have nanoseconds.
        (datetime.datetime, lambda value: value.isoformat() if value == value else None),
        (Date, lambda value: value.text),
        (datetime.date, datetime.date.isoformat),
        (datetime.time, datetime.time.isoformat),
        (datetime.timedelta, lambda value: duration_text(value) if value == value else None),
        (Duration, str),
        (uuid.UUID, str),
        (bytes, bytes),
    ]
