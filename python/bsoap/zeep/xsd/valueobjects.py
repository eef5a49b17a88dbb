"""The values of complex types."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

__all__ = ["AnyObject", "CompoundValue"]


class AnyObject:
    """A value for xsd:any or xsd:anyType, with its element or type."""

    def __init__(self, xsd_object: Any, value: Any) -> None:
        self.xsd_obj = xsd_object
        self.value = value

    @property
    def xsd_type(self) -> Any:
        return self.xsd_obj

    @property
    def xsd_elm(self) -> Any:
        return self.xsd_obj

    def __repr__(self) -> str:
        return f"<AnyObject(type={self.xsd_obj!r}, value={self.value!r})>"

    def __deepcopy__(self, memo: Any) -> AnyObject:
        return type(self)(self.xsd_obj, copy.deepcopy(self.value))


_new = object.__new__
_set = object.__setattr__


def _unpickle_compound_value(name: str, values: Any) -> Any:
    cls = type(name, (CompoundValue,), {"_xsd_type": None, "__module__": "zeep.objects"})
    made = cls()
    made.__values__ = values
    return made


class ArrayValue(list):  # type: ignore[type-arg]
    """The value of an array of SOAP encoding."""


class CompoundValue:
    """An element with children or attributes: members are attributes and items."""

    _xsd_type: Any = None
    _xsd_elm: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        values: dict[str, Any] = OrderedDict()
        self.__values__ = values
        if self._xsd_type is None:
            return
        for name, container in self._xsd_type.elements_nested:
            default = container.default_value
            if isinstance(default, dict):
                values.update(default)
            else:
                values[name] = default
        for name, attribute in self._xsd_type.attributes:
            values[name] = attribute.default_value
        values.update(process_signature(self._xsd_type, args, kwargs))

    @classmethod
    def _of(cls, values: dict[str, Any]) -> CompoundValue:
        """A value whose members are complete."""
        made = _new(cls)
        _set(made, "__values__", values)
        return made

    def __reduce__(self) -> Any:
        return (_unpickle_compound_value, (type(self).__name__, self.__values__))

    def __contains__(self, key: object) -> bool:
        return key in self.__values__

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, CompoundValue) and type(self) is type(other) and bool(self.__values__ == other.__values__)
        )

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self.__values__)

    def __iter__(self) -> Iterator[str]:
        return iter(self.__values__)

    def __dir__(self) -> list[str]:
        return list(self.__values__)

    def __repr__(self) -> str:
        return PrettyPrinter().pformat(self.__values__)

    def __delitem__(self, key: str) -> None:
        del self.__values__[key]

    def __getitem__(self, key: str) -> Any:
        return self.__values__[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.__values__[key] = value

    def __setattr__(self, key: str, value: Any) -> None:
        if key.startswith("__") or key in ("_xsd_type", "_xsd_elm"):
            object.__setattr__(self, key, value)
        else:
            self.__values__[key] = value

    def __getattribute__(self, key: str) -> Any:
        # Members come first: one may be called as a method of this class.
        if key.startswith("__") or key in ("_xsd_type", "_xsd_elm"):
            return object.__getattribute__(self, key)
        try:
            return self.__values__[key]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} instance has no attribute '{key}'") from None

    def __deepcopy__(self, memo: Any) -> Any:
        made = type(self)._of(copy.deepcopy(self.__values__, memo))
        for key, value in object.__getattribute__(self, "__dict__").items():
            if key != "__values__":
                setattr(made, key, value)
        return made

    def __json__(self) -> Any:
        return self.__values__


def process_signature(xsd_type: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The members that positional and named arguments give."""
    result: dict[str, Any] = OrderedDict()
    if args:
        rest = list(args)
        index = 0
        for _, element in xsd_type.elements_nested:
            values, rest, index = element.parse_args(rest, index)
            if not values:
                break
            result.update(values)
        for name, _ in xsd_type.attributes:
            if len(args) <= index:
                break
            result[name] = rest[index]
            index += 1
        if len(args) > index:
            raise TypeError(f"__init__() takes at most {len(result)} positional arguments ({len(args)} given)")
    available = set(kwargs)
    for name, element in xsd_type.elements_nested:
        values = element.parse_kwargs(kwargs, name if element.accepts_multiple else None, available)
        for key, value in (values or {}).items():
            result.setdefault(key, value)
    for name, _ in xsd_type.attributes:
        if name in available:
            available.discard(name)
            result[name] = kwargs[name]
    if "_raw_elements" in available and kwargs["_raw_elements"]:
        result["_raw_elements"] = kwargs["_raw_elements"]
        available.discard("_raw_elements")
    if available:
        signature = xsd_type.signature(standalone=False)
        unknown = next(name for name in kwargs if name in available)
        raise TypeError(
            f"{xsd_type.qname or 'ComplexType'}() got an unexpected keyword argument {unknown!r}. Signature: `{signature}`"
        )
    return result


class PrettyPrinter:
    def pformat(self, value: Any) -> str:
        return "".join(self._lines(value, 1))

    def _lines(self, value: Any, level: int) -> Iterator[str]:
        if isinstance(value, dict) and type(value).__repr__ in (dict.__repr__, OrderedDict.__repr__):
            opening, items, closing = "{", [(f"'{key}': ", item) for key, item in value.items()], "}"
        elif isinstance(value, list) and type(value).__repr__ is list.__repr__:
            opening, items, closing = "[", [("", item) for item in value], "]"
        else:
            yield repr(value).replace("\n", "\n" + " " * 4 * (level - 1))
            return
        yield opening + ("\n" if opening == "{" or items else "")
        for index, (label, item) in enumerate(items):
            yield " " * 4 * level + label
            yield from self._lines(item, level + 1)
            yield ",\n" if index < len(items) - 1 else "\n"
        yield (" " * 4 * (level - 1) if items else "") + closing
