"""Clients."""

from __future__ import annotations

import keyword
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from . import _bsoap
from ._bsoap import Attachment
from ._errors import Error
from ._hooks import IncomingMessage, OutgoingMessage
from ._values import Annotation, Field, Object, annotation

if TYPE_CHECKING:
    import inspect

    from ._bsoap import Answer

# Modules that take long to import, such as asyncio, are imported where they are needed.

WsdlSource: TypeAlias = "str | os.PathLike[str] | bytes | Wsdl"


class UsernameToken(NamedTuple):
    """A user name token of WS-Security: the password as text, or its digest with a nonce and the time."""

    user: str
    password: str
    digest: bool = False
    nonce: bool = False


class DigestAuth(NamedTuple):
    """A user name and a password for HTTP Digest authentication."""

    user: str
    password: str


class BearerAuth(NamedTuple):
    """A bearer token: a text, or a function that obtains one when it is needed.

    The function returns the token, or the token and for how many seconds it is valid. It is called before the first message, before the
    token expires, and once for a message that is refused with status 401, from a thread of the library.
    """

    token: str | Callable[[], str | tuple[str, float]]


class Retries(NamedTuple):
    """Whether and how calls are repeated.

    A call whose connection cannot be established is repeated up to ``max`` times. If it may run twice, it is also repeated after a broken
    connection, an attempt of more than ``attempt_timeout`` seconds, and an answer with status 429, 502, 503 or 504. It may run twice if
    its operation is one of ``operations``, if the WSDL says that it is safe, or with ``_idempotent=True``. The time limit of the
    call includes all of it.
    """

    max: int = 3
    operations: Iterable[str] = ()
    first_delay: float = 0.1
    max_delay: float = 10.0
    attempt_timeout: float | None = None


class Wsdl:
    """A WSDL, loaded once for any number of clients, services and codecs.

    ``source`` is a path, a URL, or the text as bytes. Documents that a WSDL from a file refers to are not fetched from the network
    unless ``fetch`` is true, and files are imported from its own folder and those in ``allow_imports_from`` only. ``map`` says which
    file or folder has the documents of a URL prefix: ``{"http://example.com/schemas": "schemas"}``. ``load_limits`` sets other limits
    of loading, by the names that errors have: ``{"work": 100_000_000}``.
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | bytes,
        *,
        fetch: bool = False,
        allow_imports_from: Iterable[str | os.PathLike[str]] = (),
        map: Mapping[str, str | os.PathLike[str]] | None = None,
        load_limits: Mapping[str, int] | None = None,
        **options: Any,
    ) -> None:
        unknown = sorted(options.keys() - _FETCHING)
        if unknown:
            raise TypeError(f"a WSDL has no option {unknown[0]!r}{_nearest(unknown[0], _WSDL_OPTIONS)}")
        if isinstance(source, str) and source.lstrip().startswith("<"):
            source = source.encode()
        if not isinstance(source, (str, bytes, list, os.PathLike)):
            raise TypeError(f"a WSDL is a path, a URL or a text, not {type(source).__name__}")
        self._definitions = _bsoap.Definitions(
            source,
            fetch=fetch,
            allow_imports_from=_names(allow_imports_from, "allow_imports_from", "folders") or [],
            map=list((map or {}).items()),
            load_limits=_limits(load_limits, "load_limits"),
            options=options,
        )

    @classmethod
    def from_documents(cls, entry: str, documents: Mapping[str, str]) -> Wsdl:
        """A WSDL whose documents are given by location; ``entry`` is the location of the WSDL. Nothing is read or fetched."""
        if entry not in documents:
            raise LookupError(f"no document has the location {entry!r}{_nearest(entry, documents)}")
        wsdl = cls.__new__(cls)
        ordered = [(entry, documents[entry])]
        ordered += [(location, text) for location, text in documents.items() if location != entry]
        wsdl._definitions = _bsoap.Definitions(ordered)
        return wsdl

    @classmethod
    def of(cls, source: WsdlSource, **options: Any) -> Wsdl:
        """``source`` itself if it is loaded."""
        return source if isinstance(source, Wsdl) else cls(source, **options)

    @property
    def services(self) -> dict[str, list[str]]:
        """The names of the ports by service."""
        return {name: [port[0] for port in ports] for name, _, ports in self._definitions.services()}

    @property
    def types(self) -> list[str]:
        """The named types, as ``{namespace}name``."""
        return [f"{{{namespace}}}{name}" if namespace else name for namespace, name in self._definitions.types()]

    @property
    def notes(self) -> list[str]:
        """What was tolerated in the WSDL, and what it has that cannot be called."""
        return self._definitions.notes()

    @property
    def documents(self) -> dict[str, str]:
        """The documents that were read, by location; the WSDL is the first."""
        return dict(self._definitions.documents())

    def get_type(self, name: str) -> type[Object]:
        """The class of a type; ``name`` is its local name or ``{namespace}name``."""
        found = self._definitions.get_type(name)
        if found is None:
            raise LookupError(
                f"the WSDL has no type {name!r}{_nearest(name, (t.rpartition('}')[2] for t in self.types))}"
            )
        return found

    def get_element(self, name: str) -> type[Object]:
        """The class of the type of a global element, ``{namespace}name``."""
        namespace, _, local = name.removeprefix("{").rpartition("}")
        for known, element in self._definitions.elements():
            if element == local and namespace in ("", known):
                found = self._definitions.get_element(known, element)
                if found is not None:
                    return found
        raise LookupError(f"the WSDL has no element {name!r}")

    def __repr__(self) -> str:
        return f"<bsoap.Wsdl {', '.join(self.services) or 'without SOAP services'}>"


#: How a WSDL is fetched, as the binary module calls it.
_FETCHING = {"auth", "ca", "insecure", "proxy", "timeout"}
_WSDL_OPTIONS = ["fetch", "allow_imports_from", "map", "load_limits", "auth", "proxy", "timeout"]


def _listed(names: Any) -> list[Any]:
    """Several names, of which one alone may be given as it is."""
    return [names] if isinstance(names, (str, os.PathLike)) else list(names)


def _names(names: Any, option: str, what: str) -> list[Any] | None:
    """Several names of an option, or one; None if the option is not given."""
    if not (names is None or isinstance(names, (str, os.PathLike, Iterable))):
        raise _wrong(option, f"a list of {what}", names)
    return None if names is None else _listed(names)


def _mode(mode: str | Iterable[str]) -> str | list[str]:
    """A mode of tolerance, or a mode and deviations that are accepted besides."""
    if not isinstance(mode, Iterable):
        raise _wrong("mode", "the name of a mode, or a list of it and of names of deviations", mode)
    return mode if isinstance(mode, str) else list(mode)


def _nearest(name: str, known: Iterable[str]) -> str:
    import difflib

    names = sorted(set(known))
    near = difflib.get_close_matches(name, names, 1)
    if near:
        return f": did you mean {near[0]!r}?"
    listed = ", ".join(names[:12])
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    return f"; it has {listed}{more}" if names else ""


class Operation:
    """An operation of a client: call it with the members of its request as keyword arguments.

    If the answer has one member alone, that is returned; ``client.call`` always returns the whole answer.
    """

    def __init__(self, client: _Base, name: str, described: dict[str, Any]) -> None:
        self._client = client
        self._described = described
        self.__name__ = name
        self.__qualname__ = name
        request = described["input"]
        self._names: list[str] = [member[0] for member in request["members"]]
        self._known = frozenset(name for name in self._names if not name.startswith("_"))
        output = described["output"]
        members = output["members"] if output else []
        self._single: str | None = None
        if output and output["is_wrapped"] and len(members) == 1:
            self._single = members[0][0]

    @property
    def __signature__(self) -> inspect.Signature:
        import inspect

        parameters = []
        # Those behind an optional one have to be named.
        kind: inspect._ParameterKind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        for member in self._described["input"]["members"]:
            # A keyword of Python has an underscore behind it.
            name = member[0] + "_" if keyword.iskeyword(member[0]) else member[0]
            field = _field(member)
            optional = field.optional or field.repeats
            if optional or not name.isidentifier():
                kind = inspect.Parameter.KEYWORD_ONLY
            if not name.isidentifier():
                continue
            parameters.append(
                inspect.Parameter(
                    name,
                    kind,
                    default=None if optional else inspect.Parameter.empty,
                    annotation=annotation(field),
                )
            )
        return inspect.Signature(parameters, return_annotation=self._returns())

    def _returns(self) -> Annotation:
        output = self._described["output"]
        if output is None:
            return Annotation("None")
        if self._single is not None:
            return annotation(_field(output["members"][0]))
        return Annotation(output.get("label", "Object"))

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        import textwrap

        described = self._described
        lines = textwrap.wrap(described["documentation"] or "", 100)
        for title, message in (("Request", described["input"]), ("Answer", described["output"])):
            if not message or not message["members"]:
                continue
            lines += ["", f"{title}:"]
            for member in message["members"]:
                lines.append(f"    {member[0]}: {annotation(_field(member))}")
                lines += textwrap.wrap(member[5] or "", 92, initial_indent=" " * 8, subsequent_indent=" " * 8)
            for name, cls in message["headers"]:
                lines.append(f"    header {name}: {cls.__name__}")
        for name, label, documentation in described["faults"]:
            lines += ["", f"Fault {name}: {label or 'no detail'}"]
            lines += textwrap.wrap(documentation or "", 92, initial_indent="    ", subsequent_indent="    ")
        return "\n".join(lines).strip("\n")

    def __repr__(self) -> str:
        return f"<bsoap operation {self.__name__}{self.__signature__}>"

    def _arguments(self, positional: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if not positional:
            for name in named:
                if name.endswith("_") and name not in self._names:
                    return {self._member(name): value for name, value in named.items()}
            return named
        names = self._names
        if len(positional) == 1 and not named and isinstance(positional[0], (Mapping, Object)) and len(names) != 1:
            return positional[0]
        if len(positional) > len(names):
            plural = "argument" if len(names) == 1 else "arguments"
            raise TypeError(f"{self.__name__} takes {len(names)} {plural}, not {len(positional)}: {', '.join(names)}")
        arguments = dict(zip(names, positional, strict=False))
        for name, value in named.items():
            key = self._member(name)
            if key in arguments:
                raise TypeError(f"{self.__name__} got {name!r} twice")
            arguments[key] = value
        return arguments

    def _member(self, name: str) -> str:
        if name in self._names or not name.endswith("_"):
            return name
        shorter = name[:-1]
        return shorter if shorter in self._names else name

    def _result(self, answer: Answer) -> Any:
        value = answer.value
        # There is no value if the answer goes to another endpoint.
        if self._single is not None and value is not None:
            return getattr(value, self._single)
        return value

    def __call__(self, *positional: Any, **named: Any) -> Any:
        if not positional and named.keys() <= self._known:
            return self._client._operate(self, named, {})
        named, options = _split(named)
        for name in named:
            if name[0] == "_" and name not in self._names and self._member(name) not in self._names:
                raise TypeError(
                    f"{self.__name__} has no member and a call no option {name!r}{_nearest(name, _CALL_OPTIONS)}"
                )
        return self._client._operate(self, self._arguments(positional, named), options)


def _field(member: tuple[Any, ...]) -> Field:
    """A member of a described message."""
    name, kind, repeats, optional, nillable, *_ = member
    return Field(name, kind, repeats, optional, nillable, None)


def _split(named: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Takes the options of a call, which begin with an underscore, out of its arguments."""
    if not any(name[0] == "_" for name in named):
        return named, {}
    arguments, options = {}, {}
    for name, value in named.items():
        known = _CALL_OPTIONS.get(name)
        if known is None:
            arguments[name] = value
        elif value is not None:
            options[known] = value
    return arguments, options


_CALL_OPTIONS = {
    "_soapheaders": "soap_headers",
    "_http_headers": "http_headers",
    "_timeout": "timeout",
    "_endpoint": "endpoint",
    "_idempotent": "idempotent",
    "_attachments": "attachments",
    "_binary": "binary",
}


class Operations:
    """The operations of a port as methods."""

    def __init__(self, client: _Base) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Operation:
        if name.startswith("__"):
            raise AttributeError(name)
        operation = self._client._operation(name)
        # The next time it is found without this method.
        self.__dict__[name] = operation
        return operation

    def __getitem__(self, name: str) -> Operation:
        return self._client._operation(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._client.operations)

    def __len__(self) -> int:
        return len(self._client.operations)

    def __contains__(self, name: object) -> bool:
        return name in self._client.operations

    def __dir__(self) -> list[str]:
        return list(self._client.operations)

    def __repr__(self) -> str:
        return f"<operations {', '.join(self._client.operations)}>"


class _Base:
    """What clients that block and those of asyncio have in common."""

    def __init__(
        self,
        wsdl: WsdlSource,
        *,
        service: str | None = None,
        port: str | None = None,
        soap_version: str | None = None,
        endpoint: str | None = None,
        auth: tuple[str, str] | DigestAuth | BearerAuth | None = None,
        wsse: UsernameToken | tuple[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        soap_headers: Any = None,
        timeout: float | None = None,
        connect_timeout: float | None = None,
        verify: bool | str | os.PathLike[str] = True,
        fingerprint: str | None = None,
        cert: str | os.PathLike[str] | tuple[str | os.PathLike[str], str | os.PathLike[str]] | None = None,
        proxy: str | bool | None = None,
        redirects: int | None = None,
        mode: str | Iterable[str] = "default",
        validate: bool = False,
        limits: Mapping[str, int] | None = None,
        differential: bool | Mapping[str, int] = True,
        hints: bool = False,
        gzip: bool = False,
        max_response: int | None = None,
        max_connections: int | None = None,
        retries: int | Retries = 0,
        cookies: bool = False,
        addressing: bool | str | Mapping[str, Any] | None = None,
        mtom: bool | None = None,
        attachment_threshold: int | None = None,
        attachments: bool | Mapping[str, Any] = True,
        binary: str = "bytes",
        record: str | os.PathLike[str] | None = None,
        replay: str | os.PathLike[str] | None = None,
        before_send: Callable[[OutgoingMessage], object] | None = None,
        after_receive: Callable[[IncomingMessage], object] | None = None,
        keep_envelopes: bool = False,
        fetch: bool = False,
        allow_imports_from: Iterable[str | os.PathLike[str]] = (),
        map: Mapping[str, str | os.PathLike[str]] | None = None,
    ) -> None:
        options: dict[str, Any] = {
            "service": service,
            "port": port,
            "soap_version": soap_version,
            "endpoint": endpoint,
            **_authentication(auth),
            "http_headers": _headers(headers, "headers") if headers else None,
            "timeout": timeout,
            "connect_timeout": connect_timeout,
            "fingerprint": fingerprint,
            "redirects": redirects,
            "max_response": max_response,
            "max_connections": max_connections,
            "before_send": _function(before_send, "before_send"),
            "after_receive": _function(after_receive, "after_receive"),
            "cookies": cookies or None,
            "limits": _limits(limits, "limits"),
            "addressing": dict(addressing) if isinstance(addressing, Mapping) else addressing,
            "attachments": _attachment_options(mtom, attachment_threshold, attachments),
            "binary": binary,
            "record": _path(record, "record"),
            "replay": _path(replay, "replay"),
        }
        options = {name: value for name, value in options.items() if value is not None}
        options |= {"mode": _mode(mode), "validate": validate, "gzip": gzip, "hints": hints}
        options["differential"] = dict(differential) if isinstance(differential, Mapping) else differential
        if retries:
            if not isinstance(retries, (int, Retries)):
                raise _wrong("retries", "a number, or Retries", retries)
            chosen = retries if isinstance(retries, Retries) else Retries(retries)
            options["retries"] = tuple(chosen._replace(operations=list(chosen.operations)))
        if wsse is not None:
            if not isinstance(wsse, tuple) or len(wsse) not in range(2, 5):
                raise _wrong("wsse", "a UsernameToken, or a pair (user, password)", wsse)
            options["wsse"] = tuple(UsernameToken(*wsse))
        if verify is False:
            options["insecure"] = True
        elif verify is not True:
            options["ca"] = _read(verify, "verify")
        if cert is not None:
            chain, key = _pair(cert if isinstance(cert, tuple) else (cert, cert), "cert")
            options["identity"] = (_read(chain, "cert"), _read(key, "cert"))
        if proxy is not None:
            options["proxy"] = None if proxy is False else proxy
        blocks, xml = _soap_headers(soap_headers)
        if blocks:
            options["soap_headers"] = blocks
        if xml:
            options["soap_headers_xml"] = xml
        for_wsdl = {name: options[name] for name in ("auth", "ca", "insecure", "proxy", "timeout") if name in options}
        self.wsdl = Wsdl.of(wsdl, fetch=fetch, allow_imports_from=allow_imports_from, map=map, **for_wsdl)
        self._options = options
        self._keeps = keep_envelopes
        self._connect()

    def _connect(self) -> None:
        self._client = _bsoap.Client(self.wsdl._definitions, self._options)
        self._service_name, self._port_name, self._version = self._client.port
        self._known: dict[str, Operation] = {}
        self.service = Operations(self)
        self.last_answer: Answer | None = None

    @property
    def endpoint(self) -> str:
        """The address that messages are sent to."""
        return self._client.endpoint

    @property
    def operations(self) -> dict[str, str]:
        """The operations of the port with their signatures."""
        return {name: f"{name}{self._operation(name).__signature__}" for name in self._operation_names()}

    def _operation_names(self) -> list[str]:
        for name, _, ports in self.wsdl._definitions.services():
            if name == self._service_name:
                for port in ports:
                    if port[0] == self._port_name:
                        return list(dict.fromkeys(port[4]))
        return []

    def _operation(self, name: str) -> Operation:
        known = self._known.get(name)
        if known is None:
            described = self.wsdl._definitions.operation(f"{self._service_name}/{self._port_name}", name)
            if described is None:
                raise AttributeError(
                    f"port {self._port_name} has no operation {name!r}{_nearest(name, self._operation_names())}"
                )
            known = self._known[name] = Operation(self, name, described)
        return known

    def get_type(self, name: str) -> type[Object]:
        """The class of a type of the WSDL: ``client.get_type("Order")(id=7)``. A prefix, as in ``ns0:Order``, is left out."""
        return self.wsdl.get_type(name if name.startswith("{") else name.rpartition(":")[2])

    def get_element(self, name: str) -> type[Object]:
        """The class of the type of a global element."""
        return self.wsdl.get_element(name if name.startswith("{") else name.rpartition(":")[2])

    def create_message(self, operation: str | Operations, body: Any = None, /, **members: Any) -> bytes:
        """The text of the request that a call would send. ``create_message(client.service, "Operation", …)``, as with zeep, also works."""
        if isinstance(operation, Operations):
            operation, body = str(body), None
        members, options = _split(members)
        if body is not None and members:
            raise TypeError(f"give the members of {operation} as a mapping or by name, not both")
        arguments = members if body is None else body
        return self._client.message(operation, arguments, self._call_options(options))[0]

    def _call_options(self, options: dict[str, Any]) -> dict[str, Any] | None:
        for name in options.keys() - _CALL_OPTIONS.values():
            raise TypeError(f"a call has no option {name!r}{_nearest(name, _CALL_OPTIONS.values())}")
        options = _given(**options)
        if "soap_headers" in options:
            blocks, xml = _soap_headers(options.pop("soap_headers"))
            if blocks:
                options["soap_headers"] = blocks
            if xml:
                options["soap_headers_xml"] = xml
        if "http_headers" in options:
            options["http_headers"] = _headers(options["http_headers"], "http_headers")
        if "attachments" in options:
            options["attachments"] = _attached(options["attachments"])
        if self._keeps:
            options["keep_envelopes"] = True
        return options or None

    def read_answer(self, operation: str, body: bytes, *, content_type: str | None = None) -> Answer:
        """Reads an answer that arrived at an endpoint of the program, to which the request had asked to send it (``reply_to``). A fault is
        raised. ``answer.addressing.answered_id`` is the ``message_id`` of the answer that the call returned at once."""
        return self._client.read_answer(operation, body, content_type)

    def bind(self, service: str | None = None, port: str | None = None) -> Operations:
        """The operations of another port."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        chosen = {"service": service, "port": port}
        kept = {
            name: value
            for name, value in self._options.items()
            if name not in ("service", "port", "soap_version", "endpoint")
        }
        other._options = kept | {name: value for name, value in chosen.items() if value is not None}
        other._connect()
        return other.service

    def _operate(self, operation: Operation, arguments: Any, options: dict[str, Any]) -> Any:
        raise NotImplementedError

    def __repr__(self) -> str:
        lines = [
            f"<bsoap.{type(self).__name__} {self._service_name}.{self._port_name}, SOAP {self._version}, {self.endpoint}"
        ]
        names = self._operation_names()
        lines += [f"  {self._operation(name).__name__}{self._operation(name).__signature__}" for name in names[:20]]
        if len(names) > 20:
            lines.append(f"  … {len(names)} operations")
        return "\n".join(lines) + ">"


def _wrong(option: str, allowed: str, found: object) -> TypeError:
    return TypeError(f"{option} is {allowed}, not a value of type {type(found).__name__}")


def _pair(value: Any, option: str) -> tuple[Any, Any]:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise _wrong(option, "a pair (certificates, key) of paths of PEM files", value)
    return value[0], value[1]


def _limits(limits: Any, option: str) -> dict[str, int] | None:
    """Limits by their names; the binary module checks both."""
    if not (limits is None or isinstance(limits, Mapping)):
        raise _wrong(option, "a mapping of the names of limits to numbers", limits)
    return None if limits is None else dict(limits)


def _path(value: Any, option: str) -> Any:
    if not (value is None or isinstance(value, (str, os.PathLike))):
        raise _wrong(option, "the path of a folder", value)
    return value


def _function(value: Any, option: str) -> Any:
    if not (value is None or callable(value)):
        raise _wrong(option, "a function that takes a message", value)
    return value


def _headers(headers: Any, option: str) -> dict[str, str]:
    """HTTP headers; the binary module checks names and values."""
    if not isinstance(headers, Mapping):
        raise _wrong(option, "a mapping of the names of HTTP headers to their values", headers)
    return dict(headers)


def _attachment_options(
    mtom: bool | None, threshold: int | None, attachments: bool | Mapping[str, Any]
) -> dict[str, Any] | None:
    """How attachments are sent and received, if it is not the default."""
    if not isinstance(attachments, (bool, Mapping)):
        raise _wrong("attachments", "True, False, or a mapping of options such as {'memory': 1 << 20}", attachments)
    options: dict[str, Any] = dict(attachments) if isinstance(attachments, Mapping) else {}
    if attachments is False:
        options["accept"] = False
    if mtom is not None:
        options["mtom"] = mtom
    if threshold is not None:
        options["threshold"] = threshold
    return options or None


def _attached(given: Any) -> list[Attachment]:
    """What is sent beside a message: a list, or a mapping by the names of parts, which begin the content ids."""
    if isinstance(given, (str, bytes, Attachment)) or not isinstance(given, Iterable):
        allowed = "a list of what is sent beside the message, or a mapping of it by the names of parts"
        raise _wrong("attachments", allowed, given)
    if not isinstance(given, Mapping):
        return [item if isinstance(item, Attachment) else Attachment(item) for item in given]
    import uuid

    named = []
    for name, item in given.items():
        attachment = item if isinstance(item, Attachment) else Attachment(item)
        if attachment.content_id is None:
            attachment = Attachment(attachment, attachment.content_type, f"{name}={uuid.uuid4()}@bsoap")
        named.append(attachment)
    return named


def _authentication(auth: tuple[str, str] | DigestAuth | BearerAuth | None) -> dict[str, Any]:
    if isinstance(auth, DigestAuth):
        return {"digest": tuple(auth)}
    if isinstance(auth, BearerAuth):
        return {"bearer": auth.token}
    return {"auth": auth}


def _read(path: str | os.PathLike[str], option: str) -> bytes:
    # A number would be a file that is open, and is closed here.
    if not isinstance(path, (str, os.PathLike)):
        raise _wrong(option, "the path of a PEM file", path)
    with open(path, "rb") as file:
        return file.read()


def _soap_headers(headers: Any) -> tuple[dict[str, Any], list[str]]:
    """Declared blocks by the name of their part, and others as XML."""
    if headers is None:
        return {}, []
    if isinstance(headers, (str, bytes)) or hasattr(headers, "tag"):
        headers = [headers]
    if isinstance(headers, (Mapping, Object)):
        return dict(headers.items()), []
    if not isinstance(headers, Iterable):
        allowed = "a mapping of header blocks by part, XML as a text or an element, or a list of these"
        raise _wrong("soap_headers", allowed, headers)
    blocks: dict[str, Any] = {}
    xml: list[str] = []
    for header in headers:
        if isinstance(header, str):
            xml.append(header)
        elif isinstance(header, bytes):
            xml.append(header.decode())
        elif isinstance(header, (Mapping, Object)):
            blocks.update(header.items())
        elif hasattr(header, "tag"):
            xml.append(_element_text(header))
        else:
            raise TypeError(
                f"a SOAP header block is a text, an element, or a mapping by part, not {type(header).__name__}"
            )
    return blocks, xml


def _element_text(element: Any) -> str:
    """An element of lxml or of the standard library as XML."""
    if type(element).__module__.startswith("lxml"):
        from lxml import etree  # type: ignore[import-untyped,unused-ignore]

        return str(etree.tostring(element, encoding="unicode", with_tail=False))
    import xml.etree.ElementTree as ElementTree

    return ElementTree.tostring(element, encoding="unicode")


class Client(_Base):
    """A client of one port of a service.

    ``wsdl`` is a path, a URL, the text as bytes, or a loaded :class:`Wsdl`. Operations are methods of ``client.service``, with the
    members of the request as keyword arguments; ``help(client.service.Op)`` describes one.

    Options:
        service, port, soap_version: the port; by default the first one of SOAP 1.1 or 1.2 that has an address.
        endpoint: the address, instead of that in the WSDL.
        auth: ``(user, password)`` of HTTP Basic, a :class:`DigestAuth`, or a :class:`BearerAuth`.
        wsse: a :class:`UsernameToken`.
        headers, soap_headers: HTTP headers and SOAP header blocks of every request.
        timeout, connect_timeout: seconds.
        verify: False accepts any certificate, a path names authorities to trust besides those of the system.
        fingerprint: the SHA-256 of the only certificate to trust.
        cert: ``(certificates, key)``, paths of PEM files, or one file with both.
        proxy: a URL; False for none; by default that of the environment.
        mode: ``"strict"``, ``"default"`` or ``"lenient"``: which deviations of answers from the WSDL are accepted. Or a mode and the
            names of deviations that are accepted besides: ``("strict", "unknown-element")``.
        validate: whether all facets are checked.
        limits: other limits of answers, by the names that errors have: ``{"attributes": 5000, "header_blocks": 1000}``.
        differential: whether similar messages are converted only where they differ; or limits of what is saved for that, a mapping
            with some of ``templates``, ``histories`` and ``bytes``.
        hints: whether a peer that runs bsoap is sent hints, which make new messages faster to read.
        retries: how often a call is repeated whose message certainly did not reach the peer, or :class:`Retries`.
        addressing: whether the header blocks of WS-Addressing are sent; by default, if the WSDL requires them. ``"1.0"`` or
            ``"2004/08"`` is their version; a mapping has ``version``, ``to``, ``reply_to``, ``fault_to`` and ``must_understand``. An
            endpoint is an address or an :class:`EndpointReference`. With ``reply_to``, calls return None when the peer has accepted
            the message, and ``read_answer`` reads what arrives at the endpoint.
        cookies: whether the cookies of answers are kept and sent back to their host, for services that keep a session.
        mtom: whether binary values are sent beside the message (MTOM); by default, if a policy of the WSDL requires it.
        attachment_threshold: the number of bytes from which MTOM sends a value beside the message (4096). Paths, files and
            :class:`Attachment` always are.
        attachments: False refuses answers with attachments; or what is accepted of them, a mapping with some of ``memory`` (bytes of
            a message that are not written to temporary files, 1 MiB), ``directory`` (of these files), ``disk`` (bytes of all of
            them, 16 GiB), ``parts`` (101), ``headers`` (of a part, 32), ``header_bytes`` (8 KiB), ``root_bytes`` (64 MiB),
            ``attachment_bytes`` (1 GiB) and ``total_bytes`` (2 GiB).
        binary: what values of ``xs:base64Binary`` are, whether they come in a message or beside it: ``"bytes"``, or ``"file"`` for
            :class:`Attachment`, which is read like a file, in constant memory. As ``bytes``, those beside an answer may be as long
            together as an answer (``max_response``).
        record, replay: a folder to which all messages are written, or from whose files calls are answered instead of being sent.
        before_send, after_receive: functions that see and may change messages; see the guide.
        keep_envelopes: whether answers keep the texts of both messages.
        fetch, allow_imports_from, map: as for :class:`Wsdl`.

    A client may be shared by threads and used after a fork.
    """

    def call(
        self,
        operation: str,
        body: Any = None,
        *,
        soap_headers: Any = None,
        http_headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        endpoint: str | None = None,
        attachments: Any = None,
        binary: str | None = None,
    ) -> Any:
        """Calls an operation with its arguments as a mapping or an object, and returns the whole answer.

        ``attachments`` are sent beside the message: a list, or a mapping by the names of the parts that the WSDL declares. ``binary``
        is that of the client, for this answer.
        """
        options = _given(
            soap_headers=soap_headers,
            http_headers=http_headers,
            timeout=timeout,
            endpoint=endpoint,
            attachments=attachments,
            binary=binary,
        )
        return self.exchange(operation, body, **options).value

    def exchange(self, operation: str, body: Any = None, **options: Any) -> Answer:
        """Calls an operation; the :class:`Answer` also has header blocks, changes, the HTTP status and headers."""
        return self._exchange(operation, {} if body is None else body, self._call_options(options))

    def _exchange(self, operation: str, arguments: Any, options: dict[str, Any] | None) -> Answer:
        answer = self._client.call(operation, arguments, options)
        self.last_answer = answer
        return answer

    def _operate(self, operation: Operation, arguments: Any, options: dict[str, Any]) -> Any:
        return operation._result(self._exchange(operation.__name__, arguments, self._call_options(options)))


class AsyncClient(_Base):
    """As :class:`Client`, for asyncio: calls are awaited. A cancelled call ends its exchange."""

    async def call(
        self,
        operation: str,
        body: Any = None,
        *,
        soap_headers: Any = None,
        http_headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        endpoint: str | None = None,
        attachments: Any = None,
        binary: str | None = None,
    ) -> Any:
        """Calls an operation with its arguments as a mapping or an object, and returns the whole answer.

        ``attachments`` are sent beside the message: a list, or a mapping by the names of the parts that the WSDL declares. ``binary``
        is that of the client, for this answer.
        """
        options = _given(
            soap_headers=soap_headers,
            http_headers=http_headers,
            timeout=timeout,
            endpoint=endpoint,
            attachments=attachments,
            binary=binary,
        )
        return (await self.exchange(operation, body, **options)).value

    async def exchange(self, operation: str, body: Any = None, **options: Any) -> Answer:
        """Calls an operation; the :class:`Answer` also has header blocks, changes, the HTTP status and headers."""
        import asyncio

        loop = asyncio.get_running_loop()
        prepared = self._call_options(options)
        arguments = {} if body is None else body
        answer: Answer = await self._client.call_async(loop, operation, arguments, prepared)
        self.last_answer = answer
        return answer

    async def _operate(self, operation: Operation, arguments: Any, options: dict[str, Any]) -> Any:
        return operation._result(await self.exchange(operation.__name__, arguments, **options))


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def load(source: WsdlSource, **options: Any) -> Wsdl:
    """Loads a WSDL once for several clients."""
    return Wsdl.of(source, **options)


__all__ = [
    "AsyncClient",
    "BearerAuth",
    "Client",
    "DigestAuth",
    "Error",
    "Operation",
    "Operations",
    "Retries",
    "UsernameToken",
    "Wsdl",
    "load",
]
