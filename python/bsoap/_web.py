"""A service under another server: ASGI and WSGI."""

from __future__ import annotations

import asyncio
import io
import re
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ._tasks import Tasks

if TYPE_CHECKING:
    from ._service import Service


class _Request(NamedTuple):
    """A request of another server. The binary module reads it."""

    method: str
    target: str
    headers: list[tuple[bytes, bytes]]
    body: bytes
    peer: tuple[str, int] | None
    submit: Callable[..., Any] | None


#: What starts coroutine functions on the loop of a server.
_loops: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Tasks] = weakref.WeakKeyDictionary()


async def serve_asgi(service: Service, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
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
        tasks = _loops[loop] = Tasks(loop)
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


def serve_wsgi(service: Service, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
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
