"""Services under other servers: ASGI and WSGI."""

import asyncio
import threading
import time
import wsgiref.simple_server
import wsgiref.validate
from pathlib import Path

import bsoap
import bsoap.codec
import pytest

SHOP = Path(__file__).parent / "testdata/shop.wsdl"


def make(**options):
    service = bsoap.Service(SHOP, **options)

    @service.operation
    def get_price(product_id, quantity, context):
        context.set_header("stamp", f"{context.peer[0]} {context.http_headers['x-client']}")
        return quantity

    @service.operation
    async def ping():
        await asyncio.sleep(0.01)
        return asyncio.get_running_loop().__class__.__name__

    @service.operation
    def place_order():
        raise ValueError("a secret")

    return service


class Scripted:
    """Calls an ASGI application as a server does."""

    def __init__(self, app):
        self.app = app

    async def request(self, method, path, body=b"", headers=(), query=b"", parts=1, kind="http"):
        size = max(1, -(-len(body) // parts))
        events = [
            {"type": "http.request", "body": body[at : at + size], "more_body": at + size < len(body)}
            for at in range(0, max(1, len(body)), size)
        ]
        self.read = 0
        sent = []

        async def receive():
            self.read += 1
            return events.pop(0) if events else {"type": "http.disconnect"}

        async def send(event):
            sent.append(event)

        scope = {
            "type": kind,
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": query,
            "headers": [(b"host", b"example.com"), *headers],
            "client": ("192.0.2.7", 4711),
            "scheme": "http",
        }
        await self.app(scope, receive, send)
        if not sent:
            return None
        start, answered = sent
        names = dict(start["headers"])
        assert int(names[b"content-length"]) == len(answered["body"]) or method == "HEAD"
        return start["status"], names, answered["body"]

    async def call(self, operation, body, **options):
        codec = bsoap.codec.Template(SHOP, operation)
        headers = [(name.lower().encode(), value.encode()) for name, value in codec.http_headers.items()]
        headers.append((b"x-client", b"test"))
        status, _, text = await self.request("POST", "/shop", codec.encode(body), headers, **options)
        decoder = bsoap.codec.Decoder(SHOP)
        return decoder.answer(operation, text, status=status, content_type="text/xml; charset=utf-8")


def test_asgi_calls():
    async def main():
        scripted = Scripted(make().asgi)
        answer = await scripted.call("GetPrice", {"productId": "a", "quantity": 7}, parts=5)
        assert answer.value.price == 7 and answer.headers.stamp == "192.0.2.7 test"
        # Coroutine functions run on the loop of the server.
        answer = await scripted.call("Ping", {})
        assert answer.value.text == type(asyncio.get_running_loop()).__name__
        with pytest.raises(bsoap.Fault) as raised:
            await scripted.call("PlaceOrder", {})
        assert "secret" not in str(raised.value)

    asyncio.run(main())


def test_asgi_calls_run_side_by_side():
    async def main():
        scripted = Scripted(make().asgi)
        begun = time.monotonic()
        await asyncio.gather(*(Scripted(scripted.app).call("Ping", {}) for _ in range(100)))
        assert time.monotonic() - begun < 0.9

    asyncio.run(main())


def test_asgi_pages():
    async def main():
        scripted = Scripted(make().asgi)
        status, headers, body = await scripted.request("GET", "/shop", query=b"wsdl")
        assert status == 200 and headers[b"content-type"].startswith(b"text/xml")
        assert b"http://example.com/shop" in body
        assert (await scripted.request("GET", "/none"))[0] == 404
        assert (await scripted.request("PUT", "/shop"))[0] == 405

    asyncio.run(main())


def test_asgi_bodies_are_limited():
    async def main():
        scripted = Scripted(make(max_body=1000).asgi)
        headers = [(b"content-type", b"text/xml")]
        status, _, _ = await scripted.request("POST", "/shop", b"x" * 1_000_000, headers, parts=100)
        assert status == 413
        # No more is read than shows that it is too long.
        assert scripted.read == 1
        status, _, _ = await scripted.request("POST", "/shop", b"x" * 5000, headers, parts=50)
        assert status == 413 and scripted.read == 11

    asyncio.run(main())


def test_asgi_clients_that_are_gone():
    service = bsoap.Service(SHOP)
    seen = []

    @service.operation
    async def ping():
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def main():
        call = asyncio.create_task(Scripted(service.asgi).call("Ping", {}))
        await asyncio.sleep(0.1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        for _ in range(100):
            if seen:
                break
            await asyncio.sleep(0.01)

    asyncio.run(main())
    assert seen == ["cancelled"]


def test_asgi_lifespan_and_other_scopes():
    async def main():
        app = make().asgi
        events = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]
        sent = []

        async def receive():
            return events.pop(0)

        async def send(event):
            sent.append(event["type"])

        await app({"type": "lifespan"}, receive, send)
        assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
        with pytest.raises(ValueError, match="websocket"):
            await app({"type": "websocket"}, receive, send)

    asyncio.run(main())


def test_asgi_under_uvicorn():
    uvicorn = pytest.importorskip("uvicorn")
    server = uvicorn.Server(uvicorn.Config(make().asgi, port=0, log_level="critical"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        client = bsoap.Client(SHOP, endpoint=f"http://127.0.0.1:{port}/shop", headers={"x-client": "test"})
        answer = client.exchange("GetPrice", {"productId": "a", "quantity": 3})
        assert answer.value.price == 3 and answer.headers.stamp == "127.0.0.1 test"
        assert client.service.Ping()
    finally:
        server.should_exit = True
        thread.join()


class Quiet(wsgiref.simple_server.WSGIRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def wsgi():
    app = wsgiref.validate.validator(make(max_body=10_000).wsgi)
    server = wsgiref.simple_server.make_server("127.0.0.1", 0, app, handler_class=Quiet)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/shop"
    server.shutdown()
    thread.join()
    server.server_close()


def test_wsgi_calls(wsgi):
    client = bsoap.Client(SHOP, endpoint=wsgi, headers={"x-client": "test"})
    answer = client.exchange("GetPrice", {"productId": "a", "quantity": 3})
    assert answer.value.price == 3 and answer.headers.stamp == "127.0.0.1 test"
    # Coroutine functions run on a loop of the service.
    assert "EventLoop" in client.service.Ping()
    with pytest.raises(bsoap.Fault, match="the service failed"):
        client.service.PlaceOrder()


def test_wsgi_pages_and_limits(wsgi):
    assert bsoap.Client(wsgi + "?wsdl").endpoint == wsgi
    client = bsoap.Client(SHOP, endpoint=wsgi, headers={"x-client": "test"})
    with pytest.raises(bsoap.Error, match="413"):
        client.service.GetPrice(productId="x" * 20_000)
