"""Services: a WSDL, and a function for each of its operations."""

from __future__ import annotations

import atexit
import functools
import logging
import os
import signal
import threading
import weakref
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

from . import _bsoap
from ._bsoap import Context
from ._client import (
    Wsdl,
    WsdlSource,
    _attachment_options,
    _limits,
    _listed,
    _mode,
    _names,
    _nearest,
    _pair,
    _read,
    _wrong,
)
from ._functions import Handler, function_name, plain_name
from ._tasks import Loop, Tasks
from ._web import serve_asgi, serve_wsgi

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
        mode: ``"strict"``, ``"default"`` or ``"lenient"``: which deviations of requests from the WSDL are accepted. Or a mode and the
            names of deviations that are accepted besides: ``("strict", "unknown-element")``.
        validate: whether all facets are checked.
        limits: other limits of requests, by the names that errors have: ``{"attributes": 5000, "header_blocks": 1000}``.
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
        roles: roles (``actor`` in SOAP 1.1) that the service plays: header blocks for them are read, and must be understood.
        understands: names ``{namespace}local`` of header blocks that the functions understand though the WSDL does not declare them.
        bad_request: whether faults of the sender have the HTTP status 400 in SOAP 1.2, instead of 500.
        unknown_action: ``"accept"`` or ``"refuse"``: what happens to requests whose action is of no operation.
        addressing: whether the header blocks of WS-Addressing are understood; by default, if the WSDL says so. Or the hosts, with or
            without a port, that answers may be sent to. Or a mapping with some of ``required`` (requests without the header blocks are
            refused), ``replies_to`` (these hosts) and ``serving`` (the addresses that the header ``To`` may have).
        mtom: True sends all answers with MTOM; by default, those to requests with MTOM.
        attachment_threshold, attachments, binary: as for :class:`Client`. As ``bytes``, binary values beside a request may be as long
            together as a request (``max_body``).
        fetch, allow_imports_from, map: as for :class:`Wsdl`.
    """

    def __init__(
        self,
        wsdl: WsdlSource,
        *,
        service: str | None = None,
        mode: str | Iterable[str] = "default",
        validate: bool = False,
        limits: Mapping[str, int] | None = None,
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
        roles: Iterable[str] | None = None,
        understands: Iterable[str] | None = None,
        bad_request: bool = False,
        unknown_action: str | None = None,
        addressing: bool | Iterable[str] | Mapping[str, Any] | None = None,
        mtom: bool | None = None,
        attachment_threshold: int | None = None,
        attachments: bool | Mapping[str, Any] = True,
        binary: str = "bytes",
        fetch: bool = False,
        allow_imports_from: Iterable[str | os.PathLike[str]] = (),
        map: Mapping[str, str | os.PathLike[str]] | None = None,
    ) -> None:
        options: dict[str, Any] = {
            "service": service,
            "max_body": max_body,
            "max_handlers": max_handlers,
            "queue": _queue(queue),
            "handler_timeout": handler_timeout,
            "max_connections": max_connections,
            "max_connections_per_address": max_connections_per_address,
            "max_requests_per_second": max_requests_per_second,
            "head_timeout": head_timeout,
            "body_timeout": body_timeout,
            "shutdown_timeout": shutdown_timeout,
            "public_address": public_address,
            "trusted_proxies": _names(trusted_proxies, "trusted_proxies", "addresses"),
            "limits": _limits(limits, "limits"),
            "roles": _names(roles, "roles", "URIs"),
            "understands": _names(understands, "understands", "names"),
            "unknown_action": unknown_action,
            "addressing": _addressing_options(addressing),
            "attachments": _attachment_options(mtom, attachment_threshold, attachments),
            "binary": binary,
        }
        if tls is not None:
            chain, key = _pair(tls, "tls")
            options["tls"] = (_read(chain, "tls"), _read(key, "tls"))
        if client_ca is not None:
            options["client_ca"] = _read(client_ca, "client_ca")
        if principal is not None:
            options["principal"] = (principal, challenge)
        elif challenge is not None:
            raise TypeError("a challenge needs a function principal that says who sends a request")
        options = {name: value for name, value in options.items() if value is not None}
        options |= {
            "mode": _mode(mode),
            "validate": validate,
            "differential": differential,
            "gzip": gzip,
            "http2": http2,
            "bad_request": bad_request,
        }
        if max_handlers is not None and max_handlers < 1:
            raise ValueError("max_handlers is at least 1")
        if principal is not None and not callable(principal):
            raise TypeError("principal is a function that takes a Caller")
        self.wsdl = Wsdl.of(wsdl, fetch=fetch, allow_imports_from=allow_imports_from, map=map)
        self._options = options
        self._max_body = 64 << 20 if max_body is None else max_body
        self._operations = self._find_operations(service)
        self._handlers: dict[str, Handler] = {}
        self._built: _bsoap.Service | None = None
        self._lock = threading.Lock()
        self._loop: Loop | None = None
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
    def operation(self, name: str | None = None, /, *, binary: str | None = None) -> Callable[[Function], Function]: ...

    def operation(self, name: Any = None, /, *, binary: str | None = None) -> Any:
        """Registers a function for an operation: that of its name, in camel case or in snake case, or the one given.

        >>> service = Service("examples/mesh/mesh.wsdl")
        >>> @service.operation("sumDoubles")
        ... async def total(request, context):
        ...     return float(request.values.item.sum())

        ``binary`` is that of the service, for this function: ``@service.operation(binary="file")``.
        """
        if not (name is None or isinstance(name, str) or callable(name)):
            raise TypeError(f"an operation has a name, or a function has its name, not {name!r}")
        if callable(name):
            self._register(name, self._named(name), binary)
            return name

        def register(function: Function) -> Function:
            self._register(function, self._named(function) if name is None else name, binary)
            return function

        return register

    def _named(self, function: Callable[..., Any]) -> str:
        """The operation that a function is called after."""
        own: str = getattr(function, "__name__", type(function).__name__)
        if own in self._operations:
            return own
        plain = plain_name(own)
        found = [name for name in self._operations if plain_name(name) == plain]
        if len(found) == 1:
            return found[0]
        raise LookupError(f"the WSDL has no operation {own!r}{_nearest(own, self._operations)}")

    def _register(self, function: Callable[..., Any], name: str, binary: str | None) -> None:
        described = self._operations.get(name)
        if described is None:
            raise LookupError(f"the WSDL has no operation {name!r}{_nearest(name, self._operations)}")
        if name in self._handlers:
            raise ValueError(f"operation {name} has the handler {function_name(self._handlers[name].function)} already")
        if binary not in (None, "bytes", "file"):
            raise ValueError(f'binary is "bytes" or "file", not {binary!r}')
        own = self._options.get("binary", "bytes") if binary is None else binary
        handler = Handler.of(function, name, described, own)
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

    def _tasks(self) -> Tasks:
        """What starts coroutine functions on the loop of this service."""
        loop = self._loop
        if loop is None or loop.process != os.getpid():
            with self._lock:
                loop = self._loop
                if loop is None or loop.process != os.getpid():
                    loop = self._loop = Loop()
        return loop.tasks

    def start(self, address: str | int = "127.0.0.1:0", *, threads: int = 1) -> Running:
        """Starts the server on threads of its own and returns at once; port 0 selects a free one. Functions that are registered
        later are not called by it.

        ``threads`` convert messages and call functions, which the interpreter runs one at a time in any case; long messages and functions
        that wait have more threads.
        """
        return Running(self._build().serve(_address(address), threads), self)

    def run(self, address: str | int = "127.0.0.1:8000", *, threads: int = 1) -> None:
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
            await serve_asgi(self, scope, receive, send)

        return app

    @property
    def wsgi(self) -> Callable[..., Iterable[bytes]]:
        """The service as a WSGI application: ``app = service.wsgi``, for gunicorn or wsgiref."""
        return functools.partial(serve_wsgi, self)

    def _stop_loop(self) -> None:
        loop, self._loop = self._loop, None
        if loop is not None and loop.process == os.getpid():
            loop.stop()

    def __repr__(self) -> str:
        handled = [f"{name} by {function_name(handler.function)}" for name, handler in self._handlers.items()]
        lines = [f"<bsoap.Service {', '.join(self.wsdl.services)}", *handled]
        if self.missing:
            lines.append(f"without a handler: {', '.join(self.missing)}")
        return "\n  ".join(lines) + ">"


def _queue(queue: tuple[int, float] | None) -> tuple[int, float] | None:
    if not (queue is None or (isinstance(queue, tuple) and len(queue) == 2)):
        raise _wrong("queue", "a pair (requests, seconds)", queue)
    return queue


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


def _addressing_options(
    addressing: bool | Iterable[str] | Mapping[str, Any] | None,
) -> bool | list[str] | dict[str, Any] | None:
    """How WS-Addressing is used: whether it is, the hosts that answers may be sent to, or options."""
    if addressing is None or isinstance(addressing, bool):
        return addressing
    if not isinstance(addressing, Iterable):
        allowed = "True, False, the hosts that answers may be sent to, or a mapping of options"
        raise _wrong("addressing", allowed, addressing)
    if not isinstance(addressing, Mapping):
        return _listed(addressing)
    lists = ("replies_to", "serving")
    return {name: _listed(value) if name in lists else value for name, value in addressing.items()}


def _address(address: str | int) -> str:
    """An address to listen at: a port alone is one of this machine."""
    address = str(address)
    host, _, port = address.rpartition(":")
    return address if host or not port.isdigit() else f"127.0.0.1:{port}"


__all__ = ["Caller", "Context", "Running", "Service"]
