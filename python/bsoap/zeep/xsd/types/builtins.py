"""The datatypes of XML Schema: ``xmlvalue`` gives the text of a value, ``pythonvalue`` the value of a text."""

from __future__ import annotations

import base64
import datetime
import re
from decimal import Decimal as _Decimal
from typing import Any

from ..._durations import duration_text, duration_types, duration_value
from ..const import xsd_ns
from . import AnySimpleType, AnyType


class BuiltinType(AnySimpleType):
    def __init__(self, qname: Any = None, is_global: bool = False) -> None:
        super().__init__(qname, is_global=True)

    def xmlvalue(self, value: Any) -> Any:
        if isinstance(value, (list, dict, set)):
            raise ValueError(f"The {type(self).__name__} type doesn't accept collections as value")
        return self._text(value)

    def _text(self, value: Any) -> Any:
        return value

    def pythonvalue(self, value: Any, schema: Any = None) -> Any:
        return value


def treat_whitespace(behaviour: str) -> Any:
    """For datatypes of programs: a decorator of ``pythonvalue``."""

    def decorate(function: Any) -> Any:
        def pythonvalue(self: Any, value: str) -> Any:
            if behaviour == "replace":
                value = re.sub(r"[\n\r\t]", " ", value)
            elif behaviour == "collapse":
                value = _collapse(value)
            return function(self, value)

        return pythonvalue

    return decorate


def check_no_collection(function: Any) -> Any:
    """For datatypes of programs: a decorator of ``xmlvalue``."""

    def xmlvalue(self: Any, value: Any) -> Any:
        if isinstance(value, (list, dict, set)):
            raise ValueError(f"The {type(self).__name__} type doesn't accept collections as value")
        return function(self, value)

    return xmlvalue


def _collapse(value: str) -> str:
    return re.sub(r"[\n\r\t ]", " ", value).strip()


class String(BuiltinType):
    _default_qname = xsd_ns("string")
    accepted_types = [str]

    def _text(self, value: Any) -> Any:
        if isinstance(value, bytes):
            return value.decode("utf-8")
        return str(value if value is not None else "")


class Boolean(BuiltinType):
    _default_qname = xsd_ns("boolean")
    accepted_types = [bool]

    def _text(self, value: Any) -> Any:
        return "true" if value and value not in ("false", "0") else "false"

    def pythonvalue(self, value: Any, schema: Any = None) -> Any:
        return _collapse(value) in ("true", "1")


class Decimal(BuiltinType):
    _default_qname = xsd_ns("decimal")
    accepted_types = [_Decimal, float, str]

    def _text(self, value: Any) -> Any:
        return f"{value:f}" if isinstance(value, _Decimal) else str(value)

    def pythonvalue(self, value: Any, schema: Any = None) -> Any:
        try:
            return _Decimal(_collapse(value))
        except ArithmeticError as error:
            raise ValueError(str(error)) from None


class Float(BuiltinType):
    _default_qname = xsd_ns("float")
    accepted_types = [float, _Decimal, str]

    def _text(self, value: Any) -> Any:
        return str(value).upper()

    def pythonvalue(self, value: Any, schema: Any = None) -> Any:
        return float(_collapse(value))


class Double(Float):
    _default_qname = xsd_ns("double")
    accepted_types = [_Decimal, float, str]

    def _text(self, value: Any) -> Any:
        return str(value)


class Duration(BuiltinType):
    _default_qname = xsd_ns("duration")
    accepted_types = [*duration_types, datetime.timedelta, str]

    def _text(self, value: Any) -> Any:
        return duration_text(value)

    def pythonvalue(self, value: Any, schema: Any = None) -> Any:
        return duration_value(_collapse(value))


class DateTime(BuiltinType):
    _default_qname = xsd_ns("dateTime")
    accepted_types = [datetime.datetime, str]

    def _text(self, value: Any) -> Any:
        return value if isinstance(value, str) else value.isoformat().replace("+00:00", "Z")

    def pythonvalue(self, value: Any, schema: Any = None) -> Any:
        from ...._values import exact_datetime

        text = _collapse(value)
        if len(text) == 10:
            text += "T00:00:00"
        try:
            return datetime.datetime.fromisoformat(text)
        except ValueError:
            made = exact_datetime(text)
            if isinstance(made, str):
                raise
            return made


class Time(BuiltinType):
    _default_qname = xsd_ns("time")
    accepted_types = [datetime.time, str]

    def _text(self, value: Any) -> Any:
        return value if isinstance(value, str) else value.isoformat().replace("+00:00", "Z")

    def pythonvalue(self, value: Any, schema: Any = None) -> Any:
        return datetime.time.fromisoformat(_collapse(value))


class Date(BuiltinType):
    _default_qname = xsd_ns("date")
    accepted_types = [datetime.date, str]

    def _text(self, value: Any) -> Any:
        return value if isinstance(value, str) else value.strftime("%Y-%m-%d")

    def pythonvalue(self, value: Any, schema: Any = None) -> Any:
        return datetime.date.fromisoformat(_collapse(value)[:10])


class ParseError(ValueError):
    pass


class _Gregorian(BuiltinType):
    """A part of a date: a tuple of its numbers and the time zone."""

    accepted_types = [datetime.date, str]
    _pattern = re.compile("")
    _format = ""

    def _text(self, value: Any) -> Any:
        if isinstance(value, str):
            return value
        *numbers, zone = value
        return self._format % tuple(numbers) + _zone_text(zone)

    def pythonvalue(self, value: Any, schema: Any = None) -> Any:
        found = self._pattern.fullmatch(_collapse(value))
        if not found:
            raise ParseError(value)
        *numbers, zone = found.groups()
        return (*map(int, numbers), _zone(zone))


_ZONE = r"(Z|[-+]\d\d:?\d\d)?"


class gYearMonth(_Gregorian):
    _default_qname = xsd_ns("gYearMonth")
    _pattern = re.compile(r"(-?\d{4,})-(\d\d)" + _ZONE)
    _format = "%04d-%02d"


class gYear(_Gregorian):
    _default_qname = xsd_ns("gYear")
    _pattern = re.compile(r"(-?\d{4,})" + _ZONE)
    _format = "%04d"


class gMonthDay(_Gregorian):
    _default_qname = xsd_ns("gMonthDay")
    _pattern = re.compile(r"--(\d\d)-(\d\d)" + _ZONE)
    _format = "--%02d-%02d"


class gDay(_Gregorian):
    _default_qname = xsd_ns("gDay")
    _pattern = re.compile(r"---(\d\d)" + _ZONE)
    _format = "---%02d"


class gMonth(_Gregorian):
    _default_qname = xsd_ns("gMonth")
    _pattern = re.compile(r"--(\d\d)" + _ZONE)
    _format = "--%02d"


def _zone(text: str | None) -> Any:
    if not text:
        return None
    if text in ("Z", "+00:00"):
        return datetime.UTC
    minutes = int(text[1:3]) * 60 + int(text[-2:])
    return datetime.timezone(datetime.timedelta(minutes=-minutes if text[0] == "-" else minutes))


def _zone_text(zone: Any) -> str:
    if not zone:
        return ""
    return "Z" if zone == datetime.UTC else datetime.datetime.now(tz=zone).isoformat()[-6:]


class HexBinary(BuiltinType):
    _default_qname = xsd_ns("hexBinary")
    accepted_types = [str]

    def _text(self, value: Any) -> Any:
        return value.hex().upper() if isinstance(value, bytes) else value


class Base64Binary(BuiltinType):
    _default_qname = xsd_ns("base64Binary")
    accepted_types = [str]

    def _text(self, value: Any) -> Any:
        return value if isinstance(value, str) else base64.b64encode(value).decode()

    def pythonvalue(self, value: Any, schema: Any = None) -> Any:
        return base64.b64decode(value)


class _Collapsed(BuiltinType):
    accepted_types = [str]

    def pythonvalue(self, value: Any, schema: Any = None) -> Any:
        return _collapse(value)


class AnyURI(_Collapsed):
    _default_qname = xsd_ns("anyURI")


class QName(_Collapsed):
    _default_qname = xsd_ns("QName")


class Notation(BuiltinType):
    _default_qname = xsd_ns("NOTATION")
    accepted_types = [str]


class NormalizedString(String):
    _default_qname = xsd_ns("normalizedString")

    def pythonvalue(self, value: Any, schema: Any = None) -> Any:
        return re.sub(r"[\n\r\t]", " ", value)


class Token(NormalizedString):
    _default_qname = xsd_ns("token")

    def pythonvalue(self, value: Any, schema: Any = None) -> Any:
        return _collapse(value)


class Language(Token):
    _default_qname = xsd_ns("language")


class NmToken(Token):
    _default_qname = xsd_ns("NMTOKEN")


class NmTokens(NmToken):
    _default_qname = xsd_ns("NMTOKENS")


class Name(Token):
    _default_qname = xsd_ns("Name")


class NCName(Name):
    _default_qname = xsd_ns("NCName")


class ID(NCName):
    _default_qname = xsd_ns("ID")


class IDREF(NCName):
    _default_qname = xsd_ns("IDREF")


class IDREFS(IDREF):
    _default_qname = xsd_ns("IDREFS")


class Entity(NCName):
    _default_qname = xsd_ns("ENTITY")


class Entities(Entity):
    _default_qname = xsd_ns("ENTITIES")


class Integer(Decimal):
    _default_qname = xsd_ns("integer")
    accepted_types = [int, float, str]

    def _text(self, value: Any) -> Any:
        return str(value)

    def pythonvalue(self, value: Any, schema: Any = None) -> Any:
        return int(value)


class NonPositiveInteger(Integer):
    _default_qname = xsd_ns("nonPositiveInteger")


class NegativeInteger(Integer):
    _default_qname = xsd_ns("negativeInteger")


class Long(Integer):
    _default_qname = xsd_ns("long")


class Int(Long):
    _default_qname = xsd_ns("int")


class Short(Int):
    _default_qname = xsd_ns("short")


class Byte(Short):
    _default_qname = xsd_ns("byte")


class NonNegativeInteger(Integer):
    _default_qname = xsd_ns("nonNegativeInteger")


class UnsignedLong(NonNegativeInteger):
    _default_qname = xsd_ns("unsignedLong")


class UnsignedInt(UnsignedLong):
    _default_qname = xsd_ns("unsignedInt")


class UnsignedShort(UnsignedInt):
    _default_qname = xsd_ns("unsignedShort")


class UnsignedByte(UnsignedShort):
    _default_qname = xsd_ns("unsignedByte")


class PositiveInteger(NonNegativeInteger):
    _default_qname = xsd_ns("positiveInteger")


_types: list[Any] = [
    String, Boolean, Decimal, Float, Double, Duration, DateTime, Time, Date, gYearMonth, gYear, gMonthDay, gDay, gMonth,
    HexBinary, Base64Binary, AnyURI, QName, Notation, NormalizedString, Token, Language, NmToken, NmTokens, Name, NCName,
    ID, IDREF, IDREFS, Entity, Entities, Integer, NonPositiveInteger, NegativeInteger, Long, Int, Short, Byte,
    NonNegativeInteger, UnsignedByte, UnsignedInt, UnsignedLong, UnsignedShort, PositiveInteger, AnyType, AnySimpleType,
]  # fmt: skip
default_types: dict[Any, Any] = {cls._default_qname: cls(is_global=True) for cls in _types}

__all__ = [cls.__name__ for cls in _types if cls not in (AnyType, AnySimpleType)] + ["BuiltinType"]
