"""Live exchanges: zeep with a service of bsoap, and bsoap.zeep with a service that knows neither."""

from __future__ import annotations

import asyncio
import http.server
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from zeep_servers import ROOT, serve

pytest.importorskip("lxml")
pytest.importorskip("requests")

import requests
import requests.adapters
from bsoap import zeep as ours
from bsoap.zeep import _native
from lxml import etree

MESH = ROOT / "examples/mesh/mesh.wsdl"
BINDING = "{urn:bsoap:mesh}MeshSoap11"


@pytest.fixture(scope="module")
def mesh() -> Iterator[str]:
    with serve(MESH, None, "--echo") as url:
        yield url


def calls(service: Any) -> list[Any]:
    structs = service.echoMesh(objects={"item": [{"x": 1, "y": 2, "value": 3.5}, {"x": 4, "y": 5, "value": 6.5}]})
    return [
        service.echoDoubles(values={"item": [1.5, -0.25, 1e300]}),
        service.echoInts(values={"item": [1, -2, 2**31 - 1]}),
        [(item.x, item["y"], item.value) for item in structs],
        service.echoDoubles({"item": []}),
    ]


EXPECTED = [[1.5, -0.25, 1e300], [1, -2, 2**31 - 1], [(1, 2, 3.5), (4, 5, 6.5)], []]


@pytest.mark.parametrize("binding", ["MeshSoap11", "MeshSoap12"])
def test_zeep_calls_a_service_of_bsoap(mesh: str, binding: str) -> None:
    zeep = pytest.importorskip("zeep")
    client = zeep.Client(f"{mesh}?wsdl")
    answers = calls(client.bind("MeshService", binding))
    assert answers[:3] == EXPECTED[:3]
    assert not answers[3]


@pytest.mark.parametrize("binding", ["MeshSoap11", "MeshSoap12"])
def test_bsoap_zeep_calls_a_service_of_bsoap(mesh: str, binding: str) -> None:
    client = ours.Client(f"{mesh}?wsdl")
    answers = calls(client.bind("MeshService", binding))
    assert answers[:3] == EXPECTED[:3]
    assert not answers[3]
    # The client of bsoap sent them.
    assert client._native_clients
    assert type(answers[0]) is list and type(answers[0][0]) is float


def test_values_of_a_repeated_call_are_those_of_the_last(mesh: str) -> None:
    service = ours.Client(str(MESH)).create_service(BINDING, mesh)
    for number in range(5):
        assert service.echoInts(values={"item": [number] * 100}) == [number] * 100


def test_a_subclass_of_transport_sees_the_messages(mesh: str) -> None:
    seen: list[Any] = []

    class Seeing(ours.Transport):
        def post(self, address: str, message: Any, headers: Any) -> Any:
            seen.append((address, message, dict(headers)))
            return super().post(address, message, headers)

    client = ours.Client(str(MESH), transport=Seeing())
    assert calls(client.create_service(BINDING, mesh))[:3] == EXPECTED[:3]
    assert len(seen) == 4 and "_native_clients" not in vars(client)
    assert isinstance(seen[0][1], bytes) and seen[0][2]["Content-Type"] == "text/xml; charset=utf-8"


def test_post_xml_of_a_subclass_sees_elements(mesh: str) -> None:
    seen: list[Any] = []

    class Seeing(ours.Transport):
        def post_xml(self, address: str, envelope: Any, headers: Any) -> Any:
            seen.append(etree.QName(envelope).localname)
            return super().post_xml(address, envelope, headers)

    client = ours.Client(str(MESH), transport=Seeing())
    assert calls(client.create_service(BINDING, mesh))[:3] == EXPECTED[:3]
    assert seen == ["Envelope"] * 4


def test_adapters_of_a_session_see_the_messages(mesh: str) -> None:
    seen: list[str] = []

    class Seeing(requests.adapters.HTTPAdapter):
        def send(self, request: Any, **options: Any) -> Any:  # type: ignore[override]
            seen.append(request.url)
            return super().send(request, **options)

    session = requests.Session()
    session.mount("http://", Seeing())
    client = ours.Client(str(MESH), transport=ours.Transport(session=session))
    assert calls(client.create_service(BINDING, mesh))[:3] == EXPECTED[:3]
    assert seen == [mesh] * 4


def test_replaced_functions_of_requests_see_the_messages(mesh: str, monkeypatch: pytest.MonkeyPatch) -> None:
    client = ours.Client(str(MESH))
    service = client.create_service(BINDING, mesh)
    assert service.echoInts(values={"item": [1]}) == [1]
    seen: list[str] = []
    original = requests.Session.send

    def send(self: Any, request: Any, **options: Any) -> Any:
        seen.append(request.url)
        return original(self, request, **options)

    monkeypatch.setattr(requests.Session, "send", send)
    assert service.echoInts(values={"item": [1]}) == [1]
    assert seen == [mesh]


def test_history_and_other_plugins(mesh: str) -> None:
    history = ours.plugins.HistoryPlugin(maxlen=3)
    client = ours.Client(str(MESH), plugins=[history])
    assert calls(client.create_service(BINDING, mesh))[:3] == EXPECTED[:3]
    assert history.last_sent["envelope"].find(".//{urn:bsoap:mesh}echoDoubles") is not None
    assert history.last_received["envelope"].find(".//{urn:bsoap:mesh}echoDoublesResponse") is not None
    assert history.last_received["http_headers"]["content-type"].startswith("text/xml")


def test_asyncio(mesh: str) -> None:
    pytest.importorskip("httpx")

    async def main() -> Any:
        async with ours.AsyncClient(str(MESH)) as client:
            service = client.create_service(BINDING, mesh)
            return await asyncio.gather(*(service.echoInts(values={"item": [number]}) for number in range(5)))

    assert asyncio.run(main()) == [[0], [1], [2], [3], [4]]


def test_threads_share_a_client(mesh: str) -> None:
    from concurrent.futures import ThreadPoolExecutor

    service = ours.Client(str(MESH)).create_service(BINDING, mesh)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda number: service.echoInts(values={"item": [number] * 50}), range(40)))
    assert answers == [[number] * 50 for number in range(40)]


class _Service(http.server.BaseHTTPRequestHandler):
    """Answers with what the test says."""

    answer: tuple[int, dict[str, str], bytes] = (200, {}, b"")
    seen: list[dict[str, str]] = []
    texts: list[bytes] = []

    def do_POST(self) -> None:
        type(self).seen.append({name.lower(): value for name, value in self.headers.items()})
        type(self).texts.append(self.rfile.read(int(self.headers["content-length"])))
        status, headers, body = type(self).answer
        self.send_response(status)
        for name, value in {"Content-Type": "text/xml", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture
def service() -> Iterator[tuple[Any, str]]:
    handler: Any = type("Handler", (_Service,), {"seen": [], "texts": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield handler, f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def envelope(body: str) -> bytes:
    return (
        f'<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>{body}</s:Body></s:Envelope>'.encode()
    )


OK = envelope('<t:echoIntsResponse xmlns:t="urn:bsoap:mesh"><values><item>7</item></values></t:echoIntsResponse>')
FAULT = envelope(
    "<s:Fault><faultcode>s:Client</faultcode><faultstring>no</faultstring><detail><t:badShape xmlns:t='urn:bsoap:mesh'>"
    "<expected>1</expected><found>2</found></t:badShape></detail></s:Fault>"
)


def call(url: str, **options: Any) -> Any:
    client = ours.Client(str(MESH), **options)
    return client, client.create_service(BINDING, url)


@pytest.mark.parametrize("is_native", [True, False])
def test_faults_have_elements_as_details(service: tuple[Any, str], is_native: bool) -> None:
    handler, url = service
    handler.answer = (500, {}, FAULT)
    client, proxy = call(url, plugins=[] if is_native else [ours.Plugin()])
    with pytest.raises(ours.exceptions.Fault) as caught:
        proxy.echoInts(values={"item": [1]})
    fault = caught.value
    assert (fault.message, fault.code, fault.actor) == ("no", "s:Client", None)
    detail = client.wsdl.types.deserialize(fault.detail[0])
    assert (detail.expected, detail.found) == (1, 2)
    assert bool(vars(client).get("_native_clients")) == is_native
    assert len(handler.seen) == 1


@pytest.mark.parametrize("is_native", [True, False])
@pytest.mark.parametrize(
    ("answer", "raised", "text"),
    [
        ((503, {}, b""), ours.exceptions.TransportError, "503"),
        (
            (500, {"Content-Type": "text/html"}, b"<html><body>down</html>"),
            ours.exceptions.TransportError,
            "invalid XML",
        ),
        ((200, {}, envelope("<a/>")[:-5]), ours.exceptions.TransportError, "invalid XML"),
        ((200, {}, OK.replace(b"<values>", b"<odd/><values>")), ours.exceptions.XMLParseError, "odd"),
        ((200, {}, b"<other/>"), ours.exceptions.XMLSyntaxError, "Envelope"),
    ],
)
def test_bad_answers_raise_the_errors_of_zeep(
    service: tuple[Any, str], is_native: bool, answer: Any, raised: type[Exception], text: str
) -> None:
    handler, url = service
    handler.answer = answer
    _, proxy = call(url, plugins=[] if is_native else [ours.Plugin()])
    with pytest.raises(raised, match=text):
        proxy.echoInts(values={"item": [1]})
    assert len(handler.seen) == 1


@pytest.mark.parametrize("is_native", [True, False])
def test_answers_in_mime_packages_are_read(service: tuple[Any, str], is_native: bool) -> None:
    handler, url = service
    package = b"--x\r\nContent-Type: text/xml\r\n\r\n" + OK + b"\r\n--x--\r\n"
    handler.answer = (200, {"Content-Type": 'multipart/related; boundary=x; type="text/xml"'}, package)
    _, proxy = call(url, plugins=[] if is_native else [ours.Plugin()])
    assert proxy.echoInts(values={"item": [1]}) == [7]


def test_no_connection_and_timeouts_raise_the_errors_of_requests(service: tuple[Any, str]) -> None:
    _, proxy = call("http://127.0.0.1:9/")
    with pytest.raises(requests.ConnectionError):
        proxy.echoInts(values={"item": [1]})
    client, _ = call("http://127.0.0.1:9/")
    import socket

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        late = client.create_service(BINDING, f"http://127.0.0.1:{listening.getsockname()[1]}/")
        client.transport.operation_timeout = 0.2
        with pytest.raises(requests.Timeout):
            late.echoInts(values={"item": [1]})


def test_what_a_session_says_is_sent(service: tuple[Any, str]) -> None:
    handler, url = service
    handler.answer = (200, {}, OK)
    client, proxy = call(url)
    client.transport.session.auth = ("me", "secret")
    client.transport.session.headers["X-One"] = "1"
    with client.settings(extra_http_headers={"X-Two": "2"}):
        assert proxy.echoInts(values={"item": [1]}) == [7]
    assert client._native_clients
    seen = handler.seen[0]
    assert (seen["x-one"], seen["x-two"], seen["authorization"]) == ("1", "2", "Basic bWU6c2VjcmV0")
    assert seen["user-agent"].startswith("Zeep/")
    assert seen["soapaction"].startswith('"')


def test_cookies_are_sent_back(service: tuple[Any, str]) -> None:
    handler, url = service
    handler.answer = (200, {"Set-Cookie": "id=abc; Path=/"}, OK)
    _, proxy = call(url)
    for _ in range(3):
        assert proxy.echoInts(values={"item": [1]}) == [7]
    assert [seen.get("cookie") for seen in handler.seen] == [None, "id=abc", "id=abc"]


def test_header_blocks_and_tokens_are_sent_by_the_client_of_bsoap(service: tuple[Any, str]) -> None:
    handler, url = service
    handler.answer = (200, {}, OK)
    client, proxy = call(url, wsse=ours.wsse.UsernameToken("me", "secret", use_digest=True))
    client.set_default_soapheaders([etree.XML("<h xmlns='urn:h'>1</h>")])
    assert proxy.echoInts(values={"item": [1]}) == [7]
    assert client._native_clients
    sent = etree.fromstring(handler.texts[0])
    header = sent[0]
    assert [etree.QName(block).localname for block in header] == ["h", "Security"]
    assert sent.findtext(".//{*}Username") == "me" and sent.find(".//{*}Nonce") is not None


def test_raw_answers(service: tuple[Any, str]) -> None:
    handler, url = service
    handler.answer = (200, {}, OK)
    client, proxy = call(url)
    with client.settings(raw_response=True):
        answer = proxy.echoInts(values={"item": [1]})
    assert (answer.status_code, answer.content) == (200, OK)


@pytest.mark.parametrize("name", ["Signature", "BinarySignature", "MemorySignature"])
def test_what_is_not_covered_says_so(name: str) -> None:
    with pytest.raises(NotImplementedError, match="xmlsec"):
        getattr(ours.wsse, name)("key", "cert")


def test_caches_keep_documents(mesh: str, tmp_path: Any) -> None:
    for cache in (ours.cache.InMemoryCache(), ours.cache.SqliteCache(path=str(tmp_path / "cache.db"))):
        transport = ours.Transport(cache=cache)
        ours.Client(f"{mesh}?wsdl", transport=transport)
        found = cache.get(f"{mesh}?wsdl")
        assert found is not None and b"definitions" in found
        transport.session = None
        assert transport.load(f"{mesh}?wsdl") == found
        transport._close_session = False


def test_numpy_arrays_are_accepted(mesh: str) -> None:
    numpy = pytest.importorskip("numpy")
    service = ours.Client(str(MESH)).create_service(BINDING, mesh)
    assert service.echoDoubles(values={"item": numpy.array([1.5, 2.5])}) == [1.5, 2.5]


def test_bsoap_loads_the_wsdl_of_a_client() -> None:
    client = ours.Client(str(MESH))
    assert _native.of(client.wsdl) is not None


def test_bsoap_zeep_calls_a_service_of_spyne() -> None:
    pytest.importorskip("spyne")
    from wsgiref.simple_server import WSGIRequestHandler, make_server

    from spyne import Application, Array, ComplexModel, Double, Fault, Integer, ServiceBase, Unicode, rpc
    from spyne.protocol.soap import Soap11
    from spyne.server.wsgi import WsgiApplication

    class Point(ComplexModel):
        __namespace__ = "urn:spyne"
        x = Integer
        label = Unicode

    class Points(ServiceBase):
        @rpc(Array(Double), _returns=Double)
        def total(ctx: Any, numbers: Any) -> float:
            return float(sum(numbers or []))

        @rpc(Point, Integer, _returns=Array(Point))
        def repeat(ctx: Any, point: Any, times: int) -> Any:
            return [point] * times

        @rpc(Unicode, _returns=Unicode)
        def fail(ctx: Any, text: str) -> str:
            raise Fault("Client.Bad", text)

    application = WsgiApplication(Application([Points], "urn:spyne", in_protocol=Soap11(), out_protocol=Soap11()))

    class Quiet(WSGIRequestHandler):
        def log_message(self, *arguments: Any) -> None:
            pass

    server = make_server("127.0.0.1", 0, application, handler_class=Quiet)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        client = ours.Client(f"http://127.0.0.1:{server.server_port}/?wsdl")
        assert client.service.total(numbers={"double": [1.5, 2.5]}) == 4.0
        point = client.get_type("ns0:Point")(x=3, label="p")
        answer = client.service.repeat(point, 2)
        assert [(item.x, item.label) for item in answer] == [(3, "p"), (3, "p")]
        with pytest.raises(ours.exceptions.Fault, match="why") as caught:
            client.service.fail("why")
        assert caught.value.code.endswith("Client.Bad")
        assert client._native_clients
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
