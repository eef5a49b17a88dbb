"""The runtime of modules that ``bsoap generate --lang python`` writes; public as ``bsoap.typed``.

A generated module describes each dataclass once, with :func:`describe`: which member of a message each field is. From
that description, two functions are compiled when a class is first used: one that builds an instance from a decoded
message (:func:`load`), one that makes the mapping that is sent (:func:`dump`). Leaves (numbers, texts, dates, arrays of
numbers) pass through both unchanged: an array of numbers that was received as a numpy array stays one.

>>> from dataclasses import dataclass
>>> @dataclass(kw_only=True, eq=False, repr=False, slots=True)
... class Add(Struct):
...     a: int
...     b: int | None = None
>>> describe(Add, a=value("a"), b=value("b", optional=True))
>>> load(Add, {"a": 1})
Add(a=1)
>>> dump(Add(a=1, b=2))
{'a': 1, 'b': 2}
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    Generic,
    Self,
    TypeAlias,
    TypedDict,
    TypeVar,
    Unpack,
    cast,
)

from ._errors import DecodeError
from ._errors import Fault as _Fault
from ._values import NIL, Nil, Object, _equal

if TYPE_CHECKING:
    import enum

    from numpy import bool_, float32, float64, integer
    from numpy.typing import NDArray

    from . import AsyncClient, Client, Service

    Bools: TypeAlias = Sequence[bool] | NDArray[bool_]
    Doubles: TypeAlias = Sequence[float] | NDArray[float64]
    Floats: TypeAlias = Sequence[float] | NDArray[float32]
    Ints: TypeAlias = Sequence[int] | NDArray[integer[Any]]
else:
    # numpy is optional, and annotations are not evaluated.
    Bools = Doubles = Floats = Ints = Sequence

__all__ = [
    "NIL",
    "Alternatives",
    "Answer",
    "Bools",
    "CallOptions",
    "Doubles",
    "Fault",
    "Floats",
    "Ints",
    "Nil",
    "Operation",
    "Struct",
    "TypedAsyncClient",
    "TypedClient",
    "anything",
    "closed",
    "describe",
    "dump",
    "items",
    "load",
    "serve",
    "unpack",
    "value",
    "values",
]

T = TypeVar("T")
S = TypeVar("S", bound="Struct")
Q = TypeVar("Q")
A = TypeVar("A")
H = TypeVar("H", bound="Struct")

#: What a method of a service returns: the answer, or an awaitable of it. So a method may be ``async`` or not.
Answer: TypeAlias = T | Awaitable[T]

_Convert: TypeAlias = Callable[[Any], Any]
_TYPE_KEYS: Final = ("@type", "@xsi:type")


# --- descriptions -----------------------------------------------------------------------------------------------------


class Struct:
    """The base of generated dataclasses: equality that compares arrays, and a ``repr`` without defaults."""

    __slots__ = ()
    __hash__: ClassVar[None]  # type: ignore[assignment]

    #: The name of the schema type, as ``{namespace}local``; empty if it has none.
    __bsoap_type__: ClassVar[str] = ""
    __bsoap_fields__: ClassVar[dict[str, _Member]] = {}
    __bsoap_load__: ClassVar[_Convert]
    __bsoap_dump__: ClassVar[_Convert]

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(_equal(getattr(self, name), getattr(other, name)) for name in self.__bsoap_fields__)

    def __repr__(self) -> str:
        shown = []
        for field in fields(cast(Any, self)):
            here = getattr(self, field.name)
            default = [] if field.default_factory is not MISSING else field.default
            if not _equal(here, default):
                shown.append(f"{field.name}={here!r}")
        return f"{type(self).__qualname__}({', '.join(shown)})"


class _Member:
    """How a field is a member of a message's object."""

    __slots__ = ("key", "nillable", "optional", "repeats", "target")

    def __init__(self, key: str, target: Any, repeats: bool, optional: bool, nillable: bool) -> None:
        self.key = key
        self.target = target
        self.repeats = repeats
        self.optional = optional
        self.nillable = nillable


def value(key: str, target: Any = None, *, optional: bool = False, nillable: bool = False) -> _Member:
    """A field that is one value: a leaf, or of a class, an enumeration, or one of several :class:`Alternatives`."""
    return _Member(key, target, False, optional, nillable)


def values(key: str, target: Any = None, *, nillable: bool = False) -> _Member:
    """A field that is a list of such values, or an array of numbers."""
    return _Member(key, target, True, True, nillable)


class items:
    """The values of a list type whose items are of an enumeration."""

    __slots__ = ("target",)

    def __init__(self, target: Any) -> None:
        self.target = target


#: A value of any type: it stays as it is, but an instance that is sent names its type.
anything: Final = items(None)


class closed:
    """An enumeration that refuses values that it does not list."""

    __slots__ = ("target",)

    def __init__(self, target: type[enum.StrEnum]) -> None:
        self.target = target


class Alternatives:
    """A declared class and those derived from it; the member ``@type`` of an object says which it is.

    ``declared`` is ``None`` if the declared type is abstract. ``derived`` are the key, the name and the class of each
    other.
    """

    __slots__ = ("_by_class", "_by_name", "_declared")

    def __init__(self, declared: type[Struct] | None, *derived: tuple[str, str, type[Struct]]) -> None:
        self._declared = declared
        self._by_name = {name: cls for _, name, cls in derived}
        self._by_class = {cls: (key, name) for key, name, cls in derived}

    def load(self, obj: Any) -> Any:
        if obj is None:
            return None
        get = obj.get
        if get("@nil") is True or get("@xsi:nil") is True:
            return None
        cls = self._declared
        for key in _TYPE_KEYS:
            named = self._by_name.get(get(key))
            if named is not None:
                cls = named
                break
        if cls is None:
            raise TypeError(f"an object names none of the types {', '.join(self._by_name)} in its member @type")
        return cls.__bsoap_load__(obj)

    def dump(self, instance: Any) -> Any:
        if not isinstance(instance, Struct):
            return self._nil() if instance is None else instance
        members = type(instance).__bsoap_dump__(instance)
        tag = self._by_class.get(type(instance))
        if tag is not None:
            return {tag[0]: tag[1], **members}
        if type(instance) is not self._declared:
            raise TypeError(f"{type(instance).__qualname__} is none of the types that are allowed here")
        return members

    def _nil(self) -> Any:
        """Nil. If the declared type is abstract, the element has to name another one."""
        if self._declared is not None:
            return None
        for key, name in self._by_class.values():
            return {key: name, "@nil" if key == "@type" else "@xsi:nil": True}
        return None


def describe(cls: type[Struct], /, **members: _Member) -> None:
    """Says which members the fields of a class are. Those of the classes it is derived from come first."""
    cls.__bsoap_fields__ = {**cls.__bsoap_fields__, **members}

    # Compiled when they are first used, by when all classes of a module are described.
    def first_load(obj: Any) -> Any:
        cls.__bsoap_load__ = staticmethod(_compile_load(cls))
        return cls.__bsoap_load__(obj)

    def first_dump(instance: Any) -> Any:
        cls.__bsoap_dump__ = staticmethod(_compile_dump(cls))
        return cls.__bsoap_dump__(instance)

    cls.__bsoap_load__ = staticmethod(first_load)
    cls.__bsoap_dump__ = staticmethod(first_dump)


# --- conversions ------------------------------------------------------------------------------------------------------


def load(cls: type[S], obj: Any) -> S:
    """An instance of a generated class from a decoded message, or any mapping of its members."""
    try:
        return cast(S, cls.__bsoap_load__(obj))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _mismatch(cls, error) from error


def dump(instance: Struct) -> dict[str, Any]:
    """The mapping of members that is sent for an instance of a generated class."""
    return cast("dict[str, Any]", type(instance).__bsoap_dump__(instance))


def _mismatch(cls: type[Struct], error: Exception) -> DecodeError:
    what = f"it has no member {error}" if isinstance(error, KeyError) else str(error)
    return DecodeError(f"the message is no {cls.__qualname__}: {what}")


class _Source:
    """Source text of a function, with the objects that it refers to."""

    def __init__(self, head: str) -> None:
        self.lines = [head]
        self.names: dict[str, Any] = {}

    def name(self, obj: Any) -> str:
        """A name for an object."""
        name = f"_{len(self.names)}"
        self.names[name] = obj
        return name

    def add(self, *lines: str) -> None:
        self.lines += [f"    {line}" for line in lines]

    def compile(self, name: str) -> _Convert:
        exec("\n".join(self.lines), self.names)  # noqa: S102
        return cast(_Convert, self.names[name])


def _is_struct(target: Any) -> bool:
    return isinstance(target, type) and issubclass(target, Struct)


def _load_item(source: _Source, target: Any, name: str) -> str | None:
    """An expression that loads the value of a variable, which is not ``None``; ``None`` if it stays as it is."""
    if target is None:
        return None
    if _is_struct(target):
        return f"{source.name(target)}.__bsoap_load__({name})"
    if isinstance(target, Alternatives):
        return f"{source.name(target.load)}({name})"
    if isinstance(target, items):
        inner = _load_item(source, target.target, "i")
        return name if inner is None else f"[{inner} for i in {name}]"
    if isinstance(target, closed):
        return f"{source.name(target.target)}({name})"
    known = source.name(target._value2member_map_.get)
    return f"{known}({name}, {name})"


def _compile_load(cls: type[Struct]) -> _Convert:
    source = _Source("def load(obj):")
    new, owner = source.name(object.__new__), source.name(cls)
    members = cls.__bsoap_fields__
    if any(member.key == "#text" for member in members.values()):
        # The text of an element without attributes may be given alone.
        plain = source.name(_text_alone)
        source.add("if not hasattr(obj, 'get'):", f"    obj = {plain}(obj)")
    # The members of an Object are its dictionary, which is asked without a call of Python code.
    source.add(f"if isinstance(obj, {source.name(Object)}):", "    obj = obj.__dict__")
    source.add("get = obj.get", f"self = {new}({owner})")
    for field, member in members.items():
        key, target = repr(member.key), member.target
        if member.repeats:
            _load_list(source, field, member)
            continue
        convert = _load_item(source, target, "v")
        if not member.optional and not member.nillable:
            source.add(f"v = obj[{key}]")
            source.add(f"self.{field} = {convert or 'v'}")
        elif member.optional and member.nillable:
            missing, nil = source.name(MISSING), source.name(NIL)
            source.add(f"v = get({key}, {missing})")
            loaded = f"None if v is {missing} else {nil} if v is None else {convert or 'v'}"
            if isinstance(target, Alternatives):
                loaded = f"None if v is {missing} else {nil} if v is None or (w := {convert}) is None else w"
            source.add(f"self.{field} = {loaded}")
        else:
            source.add(f"v = get({key})")
            source.add(f"self.{field} = " + (f"None if v is None else {convert}" if convert else "v"))
    source.add("return self")
    return source.compile("load")


def _load_list(source: _Source, field: str, member: _Member) -> None:
    convert = _load_item(source, member.target, "i")
    if convert and member.nillable:
        convert = f"None if i is None else {convert}"
    source.add(f"v = get({member.key!r})")
    if convert is None:
        source.add(f"self.{field} = [] if v is None else v")
        return
    rows = source.name(_rows)
    source.add(
        "if v is None:",
        "    v = ()",
        "elif hasattr(v, 'dtype'):",
        f"    v = {rows}(v)",
        f"self.{field} = [{convert} for i in v]",
    )


def _text_alone(text: Any) -> dict[str, Any]:
    return {"#text": text}


def _rows(array: Any) -> Iterable[Any]:
    """The items of an array: those of a structured array as mappings."""
    names = array.dtype.names
    rows: list[Any] = array.tolist()
    return rows if names is None else [dict(zip(names, row, strict=True)) for row in rows]


def _dump_item(source: _Source, target: Any, name: str) -> str | None:
    """An expression that dumps the value of a variable; ``None`` if it stays as it is."""
    if _is_struct(target):
        cls, struct = source.name(target), source.name(Struct)
        other = f"{source.name(_dump_other)}({cls}, {name}) if isinstance({name}, {struct}) else {name}"
        return f"({cls}.__bsoap_dump__({name}) if type({name}) is {cls} else {other})"
    if isinstance(target, Alternatives):
        return f"{source.name(target.dump)}({name})"
    if target is anything:
        return f"({source.name(_dump_any)}({name}) if isinstance({name}, {source.name(Struct)}) else {name})"
    # Members of enumerations are strings.
    return None


def _dump_other(cls: type[Struct], instance: Struct) -> Any:
    raise TypeError(f"expected {cls.__qualname__}, found {type(instance).__qualname__}")


def _compile_dump(cls: type[Struct]) -> _Convert:
    source = _Source("def dump(self):")
    source.add("out = {}")
    for field, member in cls.__bsoap_fields__.items():
        key, target = repr(member.key), member.target
        source.add(f"v = self.{field}")
        if member.repeats:
            item = _dump_item(source, target, "i")
            whole = "v" if item is None else f"[{item} for i in v]"
            source.add("if v is not None and len(v):", f"    out[{key}] = {whole}")
            continue
        convert = _dump_item(source, target, "v")
        if member.optional and member.nillable:
            nil = source.name(NIL)
            lone = isinstance(target, Alternatives)
            empty = f"{source.name(target.dump)}(None)" if lone else nil
            if lone:
                empty = f"({empty} or {nil})"
            source.add(f"if v is {nil}:", f"    out[{key}] = {empty}")
            source.add("elif v is not None:", f"    out[{key}] = {convert or 'v'}")
        elif member.optional:
            source.add("if v is not None:", f"    out[{key}] = {convert or 'v'}")
        else:
            source.add(f"out[{key}] = {convert or 'v'}")
    source.add("return out")
    return source.compile("dump")


def _dump_any(instance: Struct) -> Any:
    """A value of an element that may be of any type: it names its own."""
    members = type(instance).__bsoap_dump__(instance)
    name = type(instance).__bsoap_type__
    return {"@xsi:type": name, **members} if name else members


# --- operations -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that an operation declares: its exception, the keys of its element in the detail, and its target."""

    exception: type[_Fault]
    keys: tuple[str, ...]
    target: Any = None

    def of(self, fault: _Fault) -> _Fault | None:
        """The exception for a fault that was received. ``None`` if it is another one."""
        get = getattr(fault.detail, "get", None)
        if get is None:
            return None
        for key in self.keys:
            found = get(key, MISSING)
            if found is MISSING:
                continue
            if isinstance(found, list) and len(found) == 1 and not isinstance(self.target, items):
                found = found[0]
            exception = self.exception.__new__(self.exception, *fault.args)
            exception.args = fault.args
            exception.__dict__.update(fault.__dict__)
            exception.detail = None if found is None else _converter(self.target, _load_item)(found)
            return exception
        return None

    def detail(self, fault: _Fault) -> dict[str, Any] | None:
        """The detail that is sent for an exception. ``None`` if it is another one."""
        if type(fault) is not self.exception:
            return None
        return {self.keys[0]: _converter(self.target, _dump_item)(fault.detail)}


def _converter(target: Any, make: Callable[[_Source, Any, str], str | None]) -> _Convert:
    """A function that loads or dumps one value."""
    source = _Source("def convert(v):")
    source.add(f"return {make(source, target, 'v') or 'v'}")
    return source.compile("convert")


class Operation(Generic[Q, A]):
    """An operation: what it takes, what it answers, and the faults it declares.

    ``request`` and ``answer`` are classes or :class:`Alternatives`; a :func:`value` if the message has one part, which
    goes by its name; ``None`` if there is nothing.
    """

    __slots__ = (
        "_answer_dump",
        "_answer_load",
        "_request_dump",
        "_request_load",
        "answer_headers",
        "faults",
        "headers",
        "name",
    )

    def __init__(
        self,
        name: str,
        request: Any = None,
        answer: Any = None,
        *,
        headers: type[Struct] | None = None,
        answer_headers: type[Struct] | None = None,
        faults: tuple[Fault, ...] = (),
    ) -> None:
        self.name = name
        self.headers = headers
        self.answer_headers = answer_headers
        self.faults = faults
        self._request_load, self._request_dump = _message(request)
        self._answer_load, self._answer_dump = _message(answer)

    def body(self, request: Q) -> Any:
        """What is sent for a request."""
        return self._request_dump(request)

    def answer(self, obj: Any) -> A:
        """The answer that a message is."""
        return cast(A, self._load(self._answer_load, obj, "answer"))

    def request(self, obj: Any) -> Q:
        """The request that a message is."""
        return cast(Q, self._load(self._request_load, obj, "request"))

    def _load(self, load: _Convert, obj: Any, what: str) -> Any:
        try:
            return load(obj)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            problem = f"it has no member {error}" if isinstance(error, KeyError) else str(error)
            raise DecodeError(f"this is no {what} of {self.name}: {problem}") from error

    def message(self, answer: Any) -> Any:
        """What is sent for an answer, which may be a pair of the answer and its header blocks."""
        headers = None
        if self.answer_headers is not None and isinstance(answer, tuple):
            answer, headers = answer
        body = self._answer_dump(answer)
        return body if headers is None else {**body, "@headers": dump(headers)}

    def declared(self, fault: _Fault) -> _Fault:
        """The exception of the declared fault that this is, or itself."""
        for one in self.faults:
            found = one.of(fault)
            if found is not None:
                return found
        return fault

    def sent(self, fault: _Fault) -> _Fault:
        """The fault with the detail that is sent."""
        for one in self.faults:
            detail = one.detail(fault)
            if detail is not None:
                fault.detail = detail
                break
        return fault


def _message(target: Any) -> tuple[_Convert, _Convert]:
    """The functions that load and dump what a message has."""
    if target is None:
        return _nothing, _no_members
    if not isinstance(target, _Member):
        return _converter(target, _load_item), _converter(target, _dump_item)
    member = target

    # A part is sent by its name. When it is received alone, it is the message.
    load_part = _nil_or(_converter(member.target, _load_item))
    dump_part = _converter(member.target, _dump_item)

    def dump_parts(part: Any) -> dict[str, Any]:
        return {member.key: dump_part(part)}

    return load_part, dump_parts


def _nil_or(load: _Convert) -> _Convert:
    return lambda obj: None if obj is None else load(obj)


def _nothing(_: Any) -> None:
    return None


def _no_members(_: Any) -> dict[str, Any]:
    return {}


def _headers(cls: type[H], blocks: Any) -> H:
    """The header blocks of a message: all are optional."""
    return load(cls, {} if blocks is None else blocks)


# --- clients and services ---------------------------------------------------------------------------------------------


class CallOptions(TypedDict, total=False):
    """The options of a call, besides its declared header blocks."""

    timeout: float
    endpoint: str
    http_headers: Mapping[str, str]
    soap_headers: Any


class _TypedBase:
    """What generated clients have in common."""

    #: The port that is called, if the WSDL has ports of other port types.
    _port: str | None = None
    _options: CallOptions = {}

    def with_options(self, **options: Unpack[CallOptions]) -> Self:
        """The same client, whose calls have these options."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._options = {**self._options, **options}
        return made

    def _client_options(self, options: dict[str, Any]) -> dict[str, Any]:
        """The options of the client underneath, with the port unless they choose one."""
        if self._port is None or not options.keys().isdisjoint({"port", "service", "soap_version"}):
            return options
        return {"port": self._port, **options}

    def _call_options(self, headers: Struct | None) -> dict[str, Any]:
        options: dict[str, Any] = {**self._options}
        if headers is not None:
            blocks = dump(headers)
            more = options.get("soap_headers")
            options["soap_headers"] = blocks if more is None else _joined(more, blocks)
        return options


def _joined(more: Any, blocks: dict[str, Any]) -> Any:
    return {**more, **blocks} if hasattr(more, "keys") else [*more, blocks]


class TypedClient(_TypedBase):
    """The base of generated clients. ``inner`` is the client underneath."""

    def __init__(self, source: Client | Any, /, **options: Any) -> None:
        """A client of a WSDL, with the options of :class:`bsoap.Client`; or over such a client."""
        from . import Client

        self.inner = source if isinstance(source, Client) else Client(source, **self._client_options(options))

    def _call(self, operation: Operation[Q, A], request: Q, headers: Struct | None = None) -> A:
        try:
            answer = self.inner.call(operation.name, operation.body(request), **self._call_options(headers))
        except _Fault as fault:
            raise operation.declared(fault) from None
        return operation.answer(answer)

    def _call_with_headers(
        self, operation: Operation[Q, A], request: Q, headers: Struct | None, answer_headers: type[H]
    ) -> tuple[A, H]:
        try:
            answer = self.inner.exchange(operation.name, operation.body(request), **self._call_options(headers))
        except _Fault as fault:
            raise operation.declared(fault) from None
        return operation.answer(answer.value), _headers(answer_headers, answer.headers)


class TypedAsyncClient(_TypedBase):
    """The base of generated clients for asyncio. ``inner`` is the client underneath."""

    def __init__(self, source: AsyncClient | Any, /, **options: Any) -> None:
        """A client of a WSDL, with the options of :class:`bsoap.AsyncClient`; or over such a client."""
        from . import AsyncClient

        self.inner = source if isinstance(source, AsyncClient) else AsyncClient(source, **self._client_options(options))

    async def _call(self, operation: Operation[Q, A], request: Q, headers: Struct | None = None) -> A:
        try:
            answer = await self.inner.call(operation.name, operation.body(request), **self._call_options(headers))
        except _Fault as fault:
            raise operation.declared(fault) from None
        return operation.answer(answer)

    async def _call_with_headers(
        self, operation: Operation[Q, A], request: Q, headers: Struct | None, answer_headers: type[H]
    ) -> tuple[A, H]:
        try:
            answer = await self.inner.exchange(operation.name, operation.body(request), **self._call_options(headers))
        except _Fault as fault:
            raise operation.declared(fault) from None
        return operation.answer(answer.value), _headers(answer_headers, answer.headers)


def serve(
    service: Service, implementation: object, base: type, operations: Mapping[str, Operation[Any, Any]]
) -> Service:
    """Registers the methods that ``implementation`` overrides in ``base``, each for an operation."""
    for name, operation in operations.items():
        if getattr(type(implementation), name) is not getattr(base, name):
            service.operation(operation.name)(_handler(operation, getattr(implementation, name)))
    return service


def _handler(operation: Operation[Any, Any], method: Callable[..., Any]) -> Callable[..., Any]:
    import inspect

    has_request = operation._request_load is not _nothing

    def arguments(obj: Any, context: Any) -> list[Any]:
        given: list[Any] = [operation.request(obj)] if has_request else []
        if operation.headers is not None:
            given.append(_headers(operation.headers, _blocks(obj) if context is None else context.headers))
        return given

    if inspect.iscoroutinefunction(method):

        async def handle_async(request: Any, context: Any = None) -> Any:
            try:
                return operation.message(await method(*arguments(request, context)))
            except _Fault as fault:
                raise operation.sent(fault) from fault.__cause__

        return handle_async

    def handle(request: Any, context: Any = None) -> Any:
        try:
            return operation.message(method(*arguments(request, context)))
        except _Fault as fault:
            raise operation.sent(fault) from fault.__cause__

    return handle


def _blocks(request: Any) -> Any:
    """The header blocks of a request."""
    return request.get("@headers") if hasattr(request, "get") else None


def unpack(documents: str) -> dict[str, str]:
    """The documents that a module embeds: locations and texts, in JSON, compressed, as base85."""
    import base64
    import json
    import zlib

    return cast("dict[str, str]", json.loads(zlib.decompress(base64.b85decode(documents))))
