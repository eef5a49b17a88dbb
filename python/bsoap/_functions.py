"""The functions of a service: what they take of a request, and whether their type hints fit the WSDL."""

from __future__ import annotations

import collections
import collections.abc
import datetime
import decimal
import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ._bsoap import Attachment, Context
from ._client import _field
from ._values import Field, Object, annotation


def plain_name(name: str) -> str:
    """A name without what differs between camel case and snake case."""
    return name.replace("_", "").lower()


def function_name(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", repr(function))


class Handler(NamedTuple):
    """A function with what it takes. The binary module reads it."""

    operation: str
    function: Callable[..., Any]
    is_async: bool
    request: str | None
    """The parameter that takes the whole request."""
    members: list[tuple[str, str, bool]]
    """Parameter, member, and whether the default of the parameter stands for an absent member."""
    takes_others: bool
    context: str | None
    single: str | None
    """The only member of the answer."""
    is_optional: bool
    """Whether that member may be absent."""
    binary: str
    """What binary values are: ``bytes``, or an ``Attachment`` (``"file"``)."""

    @classmethod
    def of(cls, function: Callable[..., Any], operation: str, described: dict[str, Any], binary: str) -> Handler:
        fields = [_field(member) for member in described["input"]["members"]]
        signature = _Signature(function, operation, fields, binary)
        output = described["output"]
        answer = [_field(member) for member in output["members"]] if output else []
        signature.check_answer(answer, output)
        single = answer[0] if len(answer) == 1 and output["is_wrapped"] else None
        return cls(
            operation,
            function,
            _is_async(function),
            signature.request,
            signature.members,
            signature.takes_others,
            signature.context,
            None if single is None else single.name,
            single is not None and (single.optional or single.repeats),
            binary,
        )


def _is_async(function: Callable[..., Any]) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    called = function if inspect.isroutine(function) else type(function).__call__
    return inspect.iscoroutinefunction(called)


class _Signature:
    """What a function takes of a request; its type hints are checked."""

    def __init__(self, function: Callable[..., Any], operation: str, fields: list[Field], binary: str) -> None:
        self.binary = binary
        self.where = f"handler {function_name(function)} of operation {operation}"
        self.request: str | None = None
        self.context: str | None = None
        self.members: list[tuple[str, str, bool]] = []
        self.takes_others = False
        self.hints = _hints(function)
        by_name = {field.name: field for field in fields}
        parameters = self._parameters(function, by_name)
        if len(parameters) == 1 and self._is_whole(parameters[0], by_name):
            self.request = parameters[0].name
            return
        by_plain = {plain_name(name): field for name, field in by_name.items()}
        for parameter in parameters:
            field = by_name.get(parameter.name) or by_plain.get(plain_name(parameter.name))
            if field is None:
                known = ", ".join(by_name) or "none"
                raise TypeError(
                    f"{self.where}: parameter {parameter.name!r} is no member of the request, which has: {known}. "
                    "A parameter that takes the whole request is called 'request'"
                )
            self._check(f"parameter {parameter.name!r}", parameter.name, field)
            self._check_binary(parameter.name, field)
            self.members.append((parameter.name, field.name, parameter.default is not parameter.empty))
        self._check_missing(fields)

    def _parameters(self, function: Callable[..., Any], fields: Mapping[str, Field]) -> list[inspect.Parameter]:
        """The parameters that take something of the request."""
        found = []
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is parameter.VAR_KEYWORD:
                self.takes_others = True
            elif parameter.kind is parameter.POSITIONAL_ONLY:
                raise TypeError(f"{self.where}: parameter {parameter.name!r} cannot be positional-only")
            elif parameter.kind is parameter.VAR_POSITIONAL:
                continue
            elif self.hints.get(parameter.name) is Context or (parameter.name == "context" and "context" not in fields):
                self.context = parameter.name
            else:
                found.append(parameter)
        return found

    def _is_whole(self, parameter: inspect.Parameter, fields: Mapping[str, Field]) -> bool:
        """Whether a parameter takes the whole request."""
        return parameter.name == "request" and "request" not in fields

    def _check_missing(self, fields: list[Field]) -> None:
        if self.takes_others:
            return
        taken = {member for _, member, _ in self.members}
        missing = [
            field.name for field in fields if field.name not in taken and not field.optional and not field.repeats
        ]
        if missing:
            raise TypeError(
                f"{self.where}: it has no parameter for {', '.join(map(repr, missing))}, which every request has. "
                "Add one, or **others, or take the whole 'request'"
            )

    def _check(self, what: str, hint_name: str, field: Field) -> None:
        hint = self.hints.get(hint_name, Any)
        if not _may_be(hint, field):
            raise TypeError(
                f"{self.where}: {what} is a {_shown(hint)}, but {field.name!r} is {annotation(field)} in the WSDL"
            )

    def _check_binary(self, parameter: str, field: Field) -> None:
        """Whether a parameter is what binary values are."""
        hint = self.hints.get(parameter, Any)
        arms = typing.get_args(hint) or (hint,)
        if self.binary == "bytes" and Attachment in arms and bytes not in arms:
            raise TypeError(
                f"{self.where}: parameter {parameter!r} is an Attachment, but the value of {field.name!r} is bytes: "
                'register the function with operation(binary="file")'
            )

    def check_answer(self, fields: list[Field], output: dict[str, Any] | None) -> None:
        """Checks the type of what a function returns."""
        hint = self.hints.get("return", Any)
        required = [field for field in fields if not field.optional and not field.repeats]
        if hint is type(None):
            if required:
                raise TypeError(
                    f"{self.where}: it returns None, but every answer has {', '.join(repr(f.name) for f in required)}"
                )
            return
        if not _is_scalar(hint):
            return
        if len(fields) != 1:
            count = "no members" if not fields else f"the members {', '.join(field.name for field in fields)}"
            raise TypeError(f"{self.where}: it returns a {_shown(hint)}, but the answer has {count}")
        self._check("the result", "return", fields[0])


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The type hints of a function, without those that cannot be evaluated."""
    inner: Any = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    if not inspect.isroutine(inner):
        inner = type(inner).__call__
    try:
        return typing.get_type_hints(inner)
    except Exception:
        given = getattr(inner, "__annotations__", {})
        return {name: hint for name, hint in given.items() if not isinstance(hint, str)}


#: Which types a value has by its name in signatures. A date and time that is out of the range of Python is a text.
_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int, float, decimal.Decimal),
    "float": (float,),
    "bool": (bool,),
    "str": (str,),
    "bytes": (bytes,),
    "Decimal": (decimal.Decimal,),
    "datetime": (datetime.datetime, datetime.date, str),
    "date": (datetime.date, str),
    "time": (datetime.time, str),
    "timedelta": (datetime.timedelta, str),
}

_SCALARS = (bool, int, float, str, bytes, decimal.Decimal, datetime.date, datetime.time, datetime.timedelta)


def _is_scalar(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, _SCALARS)


def _may_be(hint: Any, field: Field) -> bool:
    """Whether a value of a field may have a type. Only what is clearly wrong is not."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        arms = [arm for arm in typing.get_args(hint) if arm is not type(None)]
        return any(_may_be(arm, field) for arm in arms)
    if typing.get_origin(hint) is typing.Annotated:
        return _may_be(typing.get_args(hint)[0], field)
    kind = typing.get_origin(hint) or hint
    is_list = field.repeats or field.type.startswith("list[")
    if not isinstance(kind, type) or kind is object:
        return True
    if is_list:
        return not _is_scalar(kind) and not issubclass(kind, (Object, collections.abc.Mapping))
    known = _TYPES.get(field.type)
    if known is None:
        # An object.
        return not _is_scalar(kind) and not issubclass(kind, (list, tuple, set))
    if field.nillable and kind is type(None):
        return True
    if _is_scalar(kind):
        return issubclass(kind, known)
    return not issubclass(kind, (list, tuple, set, dict, Object))


def _shown(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint)
