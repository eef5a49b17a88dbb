"""The definitions of bsoap behind a WSDL of zeep, and its client where the transport of the program needs nothing else."""

from __future__ import annotations

import email.message
import logging
import os
import re
import threading
import types
import warnings
from collections.abc import Sequence
from typing import Any, Final
from xml.sax.saxutils import quoteattr

import requests
import requests.adapters
import urllib3.connectionpool
from requests.cookies import extract_cookies_to_jar

from .. import _errors, codec
from .._client import Client, Wsdl
from . import ns
from ._convert import Refused
from ._packages import Attachment, MessagePack
from .exceptions import TransportError, ZeepWarning

logger = logging.getLogger("bsoap.zeep")


class _NotSent:
    def __repr__(self) -> str:
        return "NOT_SENT"


NOT_SENT: Final = _NotSent()
"""The codec refuses a message, which zeep's rules are to convert."""

_SERVICE = "bsoap-zeep"

# Tests replace these to record and replay; then messages go through them.
_ORIGINALS: list[tuple[Any, str, Any]] = [
    (requests.Session, name, getattr(requests.Session, name)) for name in ("request", "post", "send", "get_adapter")
]
_ORIGINALS.append((requests.adapters.HTTPAdapter, "send", requests.adapters.HTTPAdapter.send))
_ORIGINALS += [
    (pool, "ConnectionCls", pool.ConnectionCls)
    for pool in (urllib3.connectionpool.HTTPConnectionPool, urllib3.connectionpool.HTTPSConnectionPool)
]


def of(wsdl: Any) -> NativeWsdl | None:
    """The definitions of bsoap for a document; None if bsoap cannot load it."""
    if wsdl._native is None:
        try:
            wsdl._native = NativeWsdl(wsdl)
        except _errors.Error as error:
            warnings.warn(
                f"bsoap cannot load {wsdl.location}, so zeep's rules convert all messages: {error}",
                ZeepWarning,
                stacklevel=2,
            )
            wsdl._native = False
    return wsdl._native or None


class NativeWsdl:
    def __init__(self, wsdl: Any) -> None:
        documents = dict(wsdl._documents)
        entry = next(iter(documents))
        self._ports: dict[int, str] = {}
        documents[entry] = self._with_ports(documents[entry], wsdl.bindings)
        self.wsdl = Wsdl.from_documents(entry, documents)
        self._known = {name for name in self.wsdl.services.get(_SERVICE, [])}
        self._templates: dict[tuple[str, str], codec.Template] = {}
        self._decoders: dict[str, codec.Decoder] = {}

    def _with_ports(self, text: str, bindings: Any) -> str:
        """The WSDL with a port for each binding: many are used without one."""
        ports = []
        for index, (name, binding) in enumerate(bindings.items()):
            if not hasattr(binding, "transport"):
                continue
            namespace, _, local = name.removeprefix("{").rpartition("}")
            port = f"bsoap-zeep-{index}"
            self._ports[id(binding)] = port
            ports.append(
                f'<w:port name="{port}" binding="b:{local}" xmlns:b={quoteattr(namespace)}>'
                f'<s:address xmlns:s="{binding.nsmap["soap"]}" location="http://localhost/"/></w:port>'
            )
        end = text.rfind("</")
        return f'{text[:end]}<w:service xmlns:w="{ns.WSDL}" name="{_SERVICE}">{"".join(ports)}</w:service>{text[end:]}'

    def port(self, binding: Any) -> str:
        name = self._ports.get(id(binding), "")
        if name not in self._known:
            raise _errors.SchemaError(f"bsoap has no port for {binding!r}")
        return name

    def template(self, operation: Any) -> codec.Template:
        port = self.port(operation.binding)
        key = (port, operation.name)
        made = self._templates.get(key)
        if made is None:
            made = self._templates[key] = codec.Template(self.wsdl, operation.name, port=port, differential=False)
        return made

    def decoder(self, operation: Any) -> codec.Decoder:
        port = self.port(operation.binding)
        made = self._decoders.get(port)
        if made is None:
            made = self._decoders[port] = codec.Decoder(self.wsdl, port=port)
        return made


class _Received(threading.local):
    """The last answer of this thread."""

    message: Any = None


_received = _Received()


def _keep(message: Any) -> None:
    _received.message = message


def client_for(client: Any, binding: Any, options: dict[str, Any]) -> NativeCall | None:
    """The client of bsoap for a call; None if the transport of the program has to see the messages."""
    settings = client.settings
    if client.plugins or settings.raw_response:
        return None
    from .wsse.username import UsernameToken

    wsse = client.wsse if isinstance(client.wsse, (list, tuple)) else [client.wsse] if client.wsse else []
    if any(type(token) is not UsernameToken for token in wsse):
        return None
    chosen = _transport_options(client.transport)
    if chosen is None:
        return None
    native = of(binding.wsdl)
    address = options.get("address")
    if native is None or not address:
        return None
    try:
        port = native.port(binding)
    except _errors.SchemaError:
        return None
    key = (port, address, repr(sorted(chosen.items(), key=lambda item: item[0])))
    known: dict[Any, Client] = client.__dict__.setdefault("_native_clients", {})
    found = known.get(key)
    if found is None:
        try:
            found = Client(
                native.wsdl, service=_SERVICE, port=port, endpoint=address, after_receive=_keep, redirects=5, **chosen
            )
        except (_errors.Error, ValueError) as error:
            logger.debug("bsoap has no client for these options: %s", error)
            return None
        known[key] = found
    return NativeCall(client, found, list(wsse))


def _transport_options(transport: Any) -> dict[str, Any] | None:
    """The options that are like the transport; None if it does more than bsoap can."""
    from .transports import Transport

    if type(transport) is not Transport or transport.__dict__.keys() & {"post", "post_xml"}:
        return None
    session = transport.session
    if type(session) is not requests.Session or any(
        getattr(owner, name) is not original for owner, name, original in _ORIGINALS
    ):
        return None
    adapters = {type(adapter).__name__ for adapter in session.adapters.values()}
    if adapters - {"HTTPAdapter", "FileAdapter"} or session.hooks.get("response") or session.params or session.cookies:
        return None
    if session.proxies or session.__dict__.keys() & {"request", "post", "send", "get_adapter"}:
        return None
    for prefix, adapter in session.adapters.items():
        retries = getattr(getattr(adapter, "max_retries", None), "total", 0)
        if retries or prefix not in ("http://", "https://", "file://"):
            return None
    timeout = transport.operation_timeout
    if not (timeout is None or isinstance(timeout, (int, float))):
        return None
    options: dict[str, Any] = {"timeout": 86400.0 if timeout is None else float(timeout)}
    if session.auth is not None:
        if not (isinstance(session.auth, tuple) and len(session.auth) == 2):
            return None
        options["auth"] = tuple(map(str, session.auth))
    verify = session.verify
    if verify is True and session.trust_env:
        verify = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE") or True
    if not isinstance(verify, bool) and not os.path.isfile(verify):
        return None
    options["verify"] = verify
    if session.cert is not None:
        cert = session.cert
        options["cert"] = cert if isinstance(cert, tuple) else (cert, cert)
    if not session.trust_env:
        options["proxy"] = False
    skipped = ("accept", "accept-encoding", "connection")
    options["headers"] = {
        name: value.decode("latin-1") if isinstance(value, bytes) else str(value)
        for name, value in session.headers.items()
        if name.lower() not in skipped
    }
    return options


class NativeCall:
    def __init__(self, client: Any, native: Client, wsse: list[Any]) -> None:
        self.client = client
        self.native = native
        self.wsse = wsse

    def call(self, operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a call; `NOT_SENT` if the codec refuses its arguments."""
        message = operation.output
        if operation._is_refused["output"] or (
            message is not None and (message.has_headers or message._is_body_wrapped)
        ):
            return NOT_SENT
        prepared = operation.arguments(args, kwargs)
        if prepared is None:
            return NOT_SENT
        value, blocks = prepared
        blocks = blocks + [token.header_text() for token in self.wsse]
        headers = self.client.settings.extra_http_headers
        options: dict[str, Any] = {}
        if blocks:
            options["soap_headers"] = blocks
        if headers:
            options["http_headers"] = dict(headers)
        _received.message = None
        try:
            return self._exchange(operation, value, options)
        finally:
            # It may be large.
            _received.message = None

    def _exchange(self, operation: Any, value: Any, options: dict[str, Any]) -> Any:
        try:
            answer = self.native.exchange(operation.name, value, **options)
        except _errors.EncodeError as error:
            if _received.message is None:
                logger.debug("the codec refuses the arguments of %s: %s", operation.name, error)
                return NOT_SENT
            return self._by_rules(operation, error)
        except _errors.Error as error:
            return self._by_rules(operation, error)
        self._keep_cookies()
        message = operation.output
        try:
            # All octets that came beside the answer are read, within a limit that zeep's rules do not have.
            received = answer.value
        except (_errors.LimitError, OSError) as error:
            raise TransportError(str(error), status_code=answer.http_status) from error
        if received is None or message is None or message.body is None:
            return None
        parts = [Attachment.native(part) for part in answer.attachments]
        try:
            result = operation.converted(received)
        except Refused as error:
            operation._is_refused["output"] = True
            return self._by_rules(operation, error, parts)
        if not parts or "application/xop+xml" in answer.http_headers.get("content-type", ""):
            return result
        pack = MessagePack(parts)
        pack._set_root(result)
        return pack

    def _by_rules(self, operation: Any, error: BaseException, parts: Sequence[Attachment] = ()) -> Any:
        """Reads by zeep's rules the answer that the codec did not."""
        received = _received.message
        if received is not None:
            self._keep_cookies()
            response = requests.Response()
            response.status_code = received.http_status or 0
            response._content = received.body
            response._bsoap_parts = list(parts)  # type: ignore[attr-defined]
            response.headers.update(received.headers)
            return operation.binding.process_reply(self.client, operation, response)
        if isinstance(error, _errors.TransportError):
            if error.is_timeout:
                raise (requests.ConnectTimeout if error.is_connect else requests.ReadTimeout)(str(error)) from error
            if error.http_status:
                raise TransportError(str(error), status_code=error.http_status) from error
            kind = requests.exceptions.SSLError if "certificate" in str(error) else requests.ConnectionError
            raise kind(str(error)) from error
        raise TransportError(str(error)) from error

    def _keep_cookies(self) -> None:
        """Gives cookies to the session; it then transports the calls that follow."""
        text = _received.message.headers.get("set-cookie") if _received.message else None
        if not text:
            return
        # Those that were sent apart are joined by commas, which dates have too.
        headers = email.message.Message()
        for cookie in re.split(r",(?=\s*[^;,\s=]+=)", text):
            headers["Set-Cookie"] = cookie.strip()
        request = requests.Request("POST", self.native.endpoint).prepare()
        # As if http.client had received them.
        original = types.SimpleNamespace(msg=headers)
        extract_cookies_to_jar(
            self.client.transport.session.cookies, request, types.SimpleNamespace(_original_response=original)
        )
