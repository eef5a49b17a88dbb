"""Services: a WSDL, and a function for each of its operations."""

from __future__ import annotations

import asyncio
import atexit
import collections
import collections.abc
import datetime
import decimal
import functools
import inspect
import io
import logging
import os
import re
import signal
import threading
import types
import typing
import weakref
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

from . import _bsoap
from ._bsoap import Context
from ._client import Wsdl, WsdlSource, _field, _nearest, _read
from ._values import Field, Object, annotation

if TYPE_CHECKING:
    from types import FrameType

Function = TypeVar("Function", bound=Callable[..., Any])

_log = logging.getLogger("bsoap")


def log_failure(what: str, error: BaseException) -> None:
    """Logs what the peer does not get to know of a failure."""
    _log.error("%s", what, exc_info=error)


class Caller(NamedTuple):
    """Who sends a request, as far as the connection and the HTTP headers say. Credentials are not checked."""

    headers: dict[str, str]
    """The HTTP headers by their names in lower case."""
    peer: str
    """The address and the port of the client; ``0.0.0.0:0`` under another server."""
    basic: tuple[str, str] | None
    """The user name and the password of Basic authentication."""
    bearer: str | None
    """The token of Bearer authentication."""
    certificate: bytes | None
    """The certificate of the client, in DER. It is checked: see ``client_ca``."""


class Service:
    """A service for a WSDL: functions handle its operations.

    >>> service = Service("examples/mesh/mesh.wsdl")
    >>> @service.operation
    ... def sum_doubles(values):
    ...     return float(values.item.sum())
    >>> with service.start("127.0.0.1:0") as running:  # doctest: +SKIP
    ...     print(running.url)

    A function takes the members of the request as parameters, or the whole request as a parameter ``request``; a parameter ``context``
    takes a :class:`Context`. It returns the answer as a mapping or an object, or the value of its only member. It may be a coroutine
    function. A :class:`Fault` that it raises is sent; other exceptions are logged, and the peer gets a general fault.

    Options:
        service: the name of the service, if the WSDL has several; by default all are served.
        mode: ``"strict"``, ``"default"`` or ``"lenient"``: which deviations of requests from the WSDL are accepted.
        validate: whether all facets are checked.
        differential: whether similar messages are converted only where they differ.
        max_body: bytes of a request, also after decompression (64 MiB).
        max_handlers, queue: how many functions run at a time, and ``(requests, seconds)`` that wait for their turn.
        handler_timeout: seconds (300). A coroutine function is then cancelled; another one runs on, but the peer has its fault.
        max_connections, max_connections_per_address, max_requests_per_second: limits on clients.
        head_timeout, body_timeout: seconds that a client has to send the parts of a request.
        shutdown_timeout: seconds that requests have to end after the service is stopped (30).
        tls: ``(certificates, key)``, paths of PEM files. ``client_ca``: a PEM file with the authorities of clients, which then need a
            certificate.
        public_address: the address in the published WSDL, such as ``https://example.com``, behind a proxy.
        trusted_proxies: addresses whose ``Forwarded`` headers are believed, such as ``10.0.0.0/8``.
        gzip, http2: False switches them off.
        principal: a function that says who sends a request: it takes a :class:`Caller` and returns a unique name, or None.
        challenge: the ``WWW-Authenticate`` of the answer 401 to a request without a principal, such as ``'Basic realm="mesh"'``.
        understands: names ``{namespace}local`` of header blocks that the functions understand though the WSDL does not declare them.
        bad_request: whether faults of the sender have the HTTP status 400 in SOAP 1.2, instead of 500.
        unknown_action: ``"accept"`` or ``"refuse"``: what happens to requests whose action is of no operation.
        fetch, allow_imports_from: as for :class:`Wsdl`.
    """

    def __init__(
        self,
        wsdl: WsdlSource,
        *,
        service: str | None = None,
        mode: str = "default",
        validate: bool = False,
        differential: bool = True,
        max_body: int | None = None,
        max_handlers: int | None = None,
        queue: tuple[int, float] | None = None,
        handler_timeout: float | None = None,
        max_connections: int | None = None,
        max_connections_per_address: int | None = None,
        max_requests_per_second: int | None = None,
        head_timeout: float | None = None,
        body_timeout: float | None = None,
        shutdown_timeout: float | None = None,
        tls: tuple[str | os.PathLike[str], str | os.PathLike[str]] | None = None,
        client_ca: str | os.PathLike[str] | None = None,
        public_address: str | None = None,
        trusted_proxies: Iterable[str] | None = None,
        gzip: bool = True,
        http2: bool = True,
        principal: Callable[[Caller], str | None] | None = None,
        challenge: str | None = None,
        understands: Iterable[str] | None = None,
        bad_request: bool = False,
        unknown_action: str | None = None,
        fetch: bool = False,
        allow_imports_from: Iterable[str | os.PathLike[str]] = (),
    ) -> None:
        options: dict[str, Any] = {
            "service": service,
            "max_body": max_body,
            "max_handlers": max_handlers,
            "queue": queue,
            "handler_timeout": handler_timeout,
            "max_connections": max_connections,
            "max_connections_per_address": max_connections_per_address,
            "max_requests_per_second": max_requests_per_second,
            "head_timeout": head_timeout,
            "body_timeout": body_timeout,
            "shutdown_timeout": shutdown_timeout,
            "public_address": public_address,
            "trusted_proxies": None if trusted_proxies is None else list(trusted_proxies),
            "understands": None if understands is None else list(understands),
            "unknown_action": unknown_action,
        }
        if tls is not None:
            options["tls"] = (_read(tls[0]), _read(tls[1]))
        if client_ca is not None:
            options["client_ca"] = _read(client_ca)
        if principal is not None:
            options["principal"] = (principal, challenge)
        elif challenge is not None:
            raise TypeError("a challenge needs a function principal that says who sends a request")
        options = {name: value for name, value in options.items() if value is not None}
        options |= {
            "mode": mode,
            "validate": validate,
            "differential": differential,
            "gzip": gzip,
            "http2": http2,
            "bad_request": bad_request,
        }
        self.wsdl = Wsdl.of(wsdl, fetch=fetch, allow_imports_from=allow_imports_from)
        self._options = options
        self._max_body = 64 << 20 if max_body is None else max_body
        self._operations = self._find_operations(service)
        self._handlers: dict[str, _Handler] = {}
        self._built: _bsoap.Service | None = None
        self._lock = threading.Lock()
        self._loop: _Loop | None = None
        # Wrong options are reported here.
        self._build()

    def _find_operations(self, only: str | None) -> dict[str, dict[str, Any]]:
        """The operations that can be handled, with their descriptions."""
        found: dict[str, dict[str, Any]] = {}
        for service, _, ports in self.wsdl._definitions.services():
            if only not in (None, service):
                continue
            for port in ports:
                for name in port[4]:
                    described = None if name in found else self.wsdl._definitions.operation(port[0], name)
                    if described is not None:
                        found[name] = described
        return found

    @property
    def operations(self) -> list[str]:
        """The names of the operations."""
        return list(self._operations)

    @property
    def missing(self) -> list[str]:
        """The operations without a function: they are answered with a fault."""
        return [name for name in self._operations if name not in self._handlers]

    @property
    def paths(self) -> list[str]:
        """The paths of the ports."""
        return self._build().paths

    @overload
    def operation(self, name: Function, /) -> Function: ...

    @overload
    def operation(self, name: str | None = None, /) -> Callable[[Function], Function]: ...

    def operation(self, name: Any = None, /) -> Any:
        """Registers a function for an operation: that of its name, in camel case or in snake case, or the one given.

        >>> service = Service("examples/mesh/mesh.wsdl")
        >>> @service.operation("sumDoubles")
        ... async def total(request, context):
        ...     return float(request.values.item.sum())
        """
        if callable(name):
            self._register(name, self._named(name))
            return name

        def register(function: Function) -> Function:
            self._register(function, self._named(function) if name is None else name)
            return function

        return register

    def _named(self, function: Callable[..., Any]) -> str:
        """The operation that a function is called after."""
        own: str = getattr(function, "__name__", type(function).__name__)
        if own in self._operations:
            return own
        plain = _plain(own)
        found = [name for name in self._operations if _plain(name) == plain]
        if len(found) == 1:
            return found[0]
        raise LookupError(f"the WSDL has no operation {own!r}{_nearest(own, self._operations)}")

    def _register(self, function: Callable[..., Any], name: str) -> None:
        described = self._operations.get(name)
        if described is None:
            raise LookupError(f"the WSDL has no operation {name!r}{_nearest(name, self._operations)}")
        if name in self._handlers:
            raise ValueError(f"operation {name} has the handler {_name(self._handlers[name].function)} already")
        handler = _Handler.of(function, name, described)
        with self._lock:
            self._handlers[name] = handler
            self._built = None

    def _build(self) -> _bsoap.Service:
        with self._lock:
            if self._built is None:
                handlers = list(self._handlers.values())
                # A weak reference, since the garbage collector does not see into the binary module.
                submit = functools.partial(_submit, weakref.ref(self))
                self._built = _bsoap.Service(self.wsdl._definitions, handlers, submit, self._options)
            return self._built

    def _tasks(self) -> _Tasks:
        """What starts coroutine functions on the loop of this service."""
        loop = self._loop
        if loop is None or loop.process != os.getpid():
            with self._lock:
                loop = self._loop
                if loop is None or loop.process != os.getpid():
                    loop = self._loop = _Loop()
        return loop.tasks

    def start(self, address: str = "127.0.0.1:0", *, threads: int = 1) -> Running:
        """Starts the server on threads of its own and returns at once; port 0 selects a free one.

        ``threads`` convert messages and call functions, which the interpreter runs one at a time in any case; long messages and functions
        that wait have more threads.
        """
        return Running(self._build().serve(_address(address), threads), self)

    def run(self, address: str = "127.0.0.1:8000", *, threads: int = 1) -> None:
        """Serves until SIGINT (Ctrl-C) or SIGTERM: then the requests that were sent are answered. A second signal ends the process.

        In another thread than the main one, signals are not looked for: use :meth:`start`.
        """
        running = self.start(address, threads=threads)
        _log.info("serving %s", ", ".join(running.urls))
        with running, _signals(running):
            running.wait()

    @property
    def asgi(self) -> Callable[..., Awaitable[None]]:
        """The service as an ASGI application: ``app = service.asgi``, for uvicorn or hypercorn."""

        # A function, since servers find out by its kind which version of ASGI this is.
        async def app(scope: Mapping[str, Any], receive: Any, send: Any) -> None:
            await _asgi(self, scope, receive, send)

        return app

    @property
    def wsgi(self) -> Callable[..., Iterable[bytes]]:
        """The service as a WSGI application: ``app = service.wsgi``, for gunicorn or wsgiref."""
        return functools.partial(_wsgi, self)

    def _stop_loop(self) -> None:
        loop, self._loop = self._loop, None
        if loop is not None and loop.process == os.getpid():
            loop.stop()

    def __repr__(self) -> str:
        handled = [f"{name} by {_name(handler.function)}" for name, handler in self._handlers.items()]
        lines = [f"<bsoap.Service {', '.join(self.wsdl.services)}", *handled]
        if self.missing:
            lines.append(f"without a handler: {', '.join(self.missing)}")
        return "\n  ".join(lines) + ">"


def _submit(
    of: weakref.ref[Service], function: Callable[..., Any], arguments: dict[str, Any], reply: _bsoap.Reply
) -> None:
    """Runs a coroutine function on the loop of a service."""
    service = of()
    if service is not None:
        service._tasks().submit(function, arguments, reply)


class Running:
    """A service that runs on threads of its own. As a context manager, it stops the service at the end."""

    def __init__(self, running: _bsoap.Running, service: Service) -> None:
        self._running = running
        self._service = service
        _running.add(self)

    @property
    def url(self) -> str:
        """The URL of the first port."""
        return self._running.urls[0]

    @property
    def urls(self) -> list[str]:
        """The URLs of the ports."""
        return self._running.urls

    @property
    def base(self) -> str:
        """The scheme and the address, such as ``http://127.0.0.1:8000``."""
        return self._running.base

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until the service has ended. False if it has not, after a number of seconds."""
        return self._running.join(timeout)

    def stop(self, timeout: float | None = None) -> bool:
        """Accepts no more connections, and waits until the requests that were sent are answered. False if they are not, after a number of
        seconds."""
        self._running.stop()
        ended = self._running.join(timeout)
        _running.discard(self)
        if ended and not any(other._service is self._service for other in _running):
            self._service._stop_loop()
        return ended

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<bsoap service at {', '.join(self.urls)}>"


#: The services that run, to stop them before the interpreter ends.
_running: weakref.WeakSet[Running] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    for running in list(_running):
        running._running.stop()
    for running in list(_running):
        running._running.join(2.0)


class _signals:
    """Stops a service at SIGINT or SIGTERM, in the main thread."""

    def __init__(self, running: Running) -> None:
        self._running = running
        self._before: dict[signal.Signals, Any] = {}
        self._is_stopping = False

    def __enter__(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._stop)

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        if self._is_stopping:
            # As a shell reports a process that SIGINT has ended.
            os._exit(130)
        self._is_stopping = True
        self._running._running.stop()


def _address(address: str) -> str:
    """An address to listen at: a port alone is one of this machine."""
    host, _, port = address.rpartition(":")
    return address if host or not port.isdigit() else f"127.0.0.1:{port}"


def _plain(name: str) -> str:
    """A name without what differs between camel case and snake case."""
    return name.replace("_", "").lower()


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", repr(function))


# --- functions --------------------------------------------------------------------------------------------------------


class _Handler(NamedTuple):
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

    @classmethod
    def of(cls, function: Callable[..., Any], operation: str, described: dict[str, Any]) -> _Handler:
        fields = [_field(member) for member in described["input"]["members"]]
        signature = _Signature(function, operation, fields)
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
        )


def _is_async(function: Callable[..., Any]) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    called = function if inspect.isroutine(function) else type(function).__call__
    return inspect.iscoroutinefunction(called)


class _Signature:
    """What a function takes of a request; its type hints are checked."""

    def __init__(self, function: Callable[..., Any], operation: str, fields: list[Field]) -> None:
        self.where = f"handler {_name(function)} of operation {operation}"
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
        by_plain = {_plain(name): field for name, field in by_name.items()}
        for parameter in parameters:
            field = by_name.get(parameter.name) or by_plain.get(_plain(parameter.name))
            if field is None:
                known = ", ".join(by_name) or "none"
                raise TypeError(
                    f"{self.where}: parameter {parameter.name!r} is no member of the request, which has: {known}. "
                    "A parameter that takes the whole request is called 'request'"
                )
            self._check(f"parameter {parameter.name!r}", parameter.name, field)
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


# --- coroutine functions ----------------------------------------------------------------------------------------------


class _Tasks:
    """Starts coroutine functions on an event loop, from any thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: collections.deque[tuple[Callable[..., Any], dict[str, Any], _bsoap.Reply]] = collections.deque()
        self._is_woken = False
        self.running: set[asyncio.Task[None]] = set()

    def submit(self, function: Callable[..., Any], arguments: dict[str, Any], reply: _bsoap.Reply) -> None:
        self._waiting.append((function, arguments, reply))
        # To wake the loop costs more than to start a task: once for all that wait.
        if not self._is_woken:
            self._is_woken = True
            self._loop.call_soon_threadsafe(self._start)

    def _start(self) -> None:
        self._is_woken = False
        while self._waiting:
            function, arguments, reply = self._waiting.popleft()
            task = self._loop.create_task(_answer(function, arguments, reply))
            self.running.add(task)
            task.add_done_callback(self.running.discard)
            if not reply.begin(functools.partial(self._cancel, task)):
                task.cancel()

    def _cancel(self, task: asyncio.Task[None]) -> None:
        self._loop.call_soon_threadsafe(task.cancel)


async def _answer(function: Callable[..., Any], arguments: dict[str, Any], reply: _bsoap.Reply) -> None:
    try:
        returned = await function(**arguments)
    except asyncio.CancelledError as error:
        reply.fail(error)
        raise
    except BaseException as error:
        reply.fail(error)
    else:
        reply.finish(returned)


class _Loop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self._loop = asyncio.new_event_loop()
        self.tasks = _Tasks(self._loop)
        self._thread = threading.Thread(target=self._run, name="bsoap-handlers", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            tasks = asyncio.all_tasks(self._loop)
            for task in tasks:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()


# --- other servers ----------------------------------------------------------------------------------------------------


class _Request(NamedTuple):
    """A request of another server. The binary module reads it."""

    method: str
    target: str
    headers: list[tuple[bytes, bytes]]
    body: bytes
    peer: tuple[str, int] | None
    submit: Callable[..., Any] | None


#: What starts coroutine functions on the loop of a server.
_loops: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Tasks] = weakref.WeakKeyDictionary()


async def _asgi(service: Service, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        await _lifespan(service, receive, send)
        return
    if scope["type"] != "http":
        raise ValueError(f"a SOAP service cannot answer a connection of type {scope['type']!r}")
    body = await _body(receive, service._max_body)
    if body is None:
        return
    loop = asyncio.get_running_loop()
    tasks = _loops.get(loop)
    if tasks is None:
        tasks = _loops[loop] = _Tasks(loop)
    path = scope.get("raw_path") or scope["path"].encode()
    query = scope.get("query_string", b"")
    peer = scope.get("client")
    request = _Request(
        scope["method"],
        _target(path.decode("latin-1").partition("?")[0], query.decode("latin-1")),
        [(bytes(name), bytes(value)) for name, value in scope["headers"]],
        body,
        None if peer is None or peer[1] is None else (peer[0], peer[1]),
        tasks.submit,
    )
    status, headers, text = await service._build().answer_async(loop, request)
    sent = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in _with_length(headers, text)]
    await send({"type": "http.response.start", "status": status, "headers": sent})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else text})


async def _body(receive: Any, limit: int) -> bytes | None:
    """The body of a request, or as much of it as shows that it is too long. None if the client is gone."""
    parts: list[bytes] = []
    length = 0
    while length <= limit:
        event = await receive()
        if event["type"] == "http.disconnect":
            return None
        part = event.get("body", b"")
        parts.append(part)
        length += len(part)
        if not event.get("more_body", False):
            break
    return b"".join(parts)


async def _lifespan(service: Service, receive: Any, send: Any) -> None:
    while True:
        event = await receive()
        if event["type"] == "lifespan.startup":
            await send({"type": "lifespan.startup.complete"})
        elif event["type"] == "lifespan.shutdown":
            await asyncio.get_running_loop().run_in_executor(None, service._build().finish)
            await send({"type": "lifespan.shutdown.complete"})
            return


def _wsgi(service: Service, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    path = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
    headers = [
        (name[5:].replace("_", "-").lower().encode(), value.encode("latin-1"))
        for name, value in environ.items()
        if name.startswith("HTTP_") and name not in ("HTTP_CONTENT_LENGTH", "HTTP_CONTENT_TYPE")
    ]
    for name, header in (("CONTENT_TYPE", b"content-type"), ("CONTENT_LENGTH", b"content-length")):
        if environ.get(name):
            headers.append((header, environ[name].encode("latin-1")))
    if "HTTP_HOST" not in environ:
        headers.append((b"host", f"{environ['SERVER_NAME']}:{environ['SERVER_PORT']}".encode()))
    port = environ.get("REMOTE_PORT", "0")
    peer = environ.get("REMOTE_ADDR")
    request = _Request(
        environ["REQUEST_METHOD"],
        _target(_quoted(path), environ.get("QUERY_STRING", "")),
        headers,
        _input(environ, service._max_body),
        (peer, int(port) if port.isdigit() else 0) if peer else None,
        None,
    )
    status, answered, text = service._build().answer(request)
    start_response(f"{status} {_reason(status)}", _with_length(answered, text))
    return [b"" if environ["REQUEST_METHOD"] == "HEAD" else text]


def _input(environ: Mapping[str, Any], limit: int) -> bytes:
    """The body of a request, or as much of it as shows that it is too long."""
    stream: io.BufferedIOBase = environ["wsgi.input"]
    length = environ.get("CONTENT_LENGTH")
    if length and length.isdigit():
        return stream.read(min(int(length), limit + 1))
    if environ.get("wsgi.input_terminated"):
        return stream.read(limit + 1)
    return b""


def _reason(status: int) -> str:
    import http

    try:
        return http.HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"


def _quoted(path: str) -> str:
    """A path as it was sent: the server has decoded it."""
    import urllib.parse

    return urllib.parse.quote(path.encode("latin-1"), safe="/:@!$&'()*+,;=~-._")


def _target(path: str, query: str) -> str:
    # What is no visible character of ASCII is no part of a URL.
    target = re.sub(r"[^!-~]", "", f"{path or '/'}?{query}" if query else path or "/")
    return target if target.startswith("/") else f"/{target}"


def _with_length(headers: list[tuple[str, str]], text: bytes) -> list[tuple[str, str]]:
    """The headers of an answer, with the length of its body and without those of a connection."""
    kept = [
        (name, value) for name, value in headers if name not in ("content-length", "connection", "transfer-encoding")
    ]
    return [*kept, ("content-length", str(len(text)))]


__all__ = ["Caller", "Context", "Running", "Service"]
