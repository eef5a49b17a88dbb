"""WS-Addressing of clients and services, and the roles that a service plays."""

import http.server
import threading
import time

import bsoap
import pytest
from conftest import MESH

NUMBERS = {"values": {"item": [1.5, 2.5]}}
TRACE = (
    "<t:trace xmlns:t='urn:t' xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' s:mustUnderstand='1'{}>7</t:trace>"
)


@pytest.fixture
def start():
    """Starts services of the mesh WSDL that record the addressing headers of requests."""
    started = []

    def start(**options):
        service = bsoap.Service(MESH, shutdown_timeout=5, **options)
        seen = []

        @service.operation
        def sum_doubles(request, context):
            seen.append(context.addressing)
            return float(request.values.item.sum())

        running = service.start()
        started.append(running)
        return running.url, seen

    yield start
    for running in started:
        running.stop(timeout=0)


class Endpoint:
    """An endpoint that answers are sent to."""

    def __enter__(self):
        arrived = self.arrived = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                arrived.append((self.headers["content-type"], body))
                self.send_response(202)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/replies"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def next(self):
        deadline = time.monotonic() + 10
        while not self.arrived and time.monotonic() < deadline:
            time.sleep(0.01)
        return self.arrived.pop(0)


def test_an_answer_at_another_endpoint_is_read(start):
    url, seen = start(addressing={"replies_to": "127.0.0.1"})
    with Endpoint() as endpoint:
        order = "<o:order xmlns:o='urn:orders'>7</o:order>"
        reply_to = bsoap.EndpointReference(endpoint.address, [order])
        client = bsoap.Client(MESH, endpoint=url, addressing={"reply_to": reply_to})
        accepted = client.exchange("sumDoubles", NUMBERS)
        assert accepted.http_status == 202 and accepted.value is None and accepted.addressing is None
        content_type, body = endpoint.next()
        answer = client.read_answer("sumDoubles", body, content_type=content_type)
        assert answer.value.sum == 4.0 and answer.message_id is None
        addressing = answer.addressing
        assert addressing.answered_id == accepted.message_id is not None
        assert addressing.relates_to == [bsoap.RelatesTo(accepted.message_id, None)]
        assert addressing.to == endpoint.address and addressing.version == "1.0"
        # Of a received message, reference parameters are ordinary header blocks.
        assert any(">7</o:order>" in block for block in answer.headers["#any"])
    assert seen[0].reply_to.address == endpoint.address
    assert ">7<" in seen[0].reply_to.reference_parameters[0]
    assert seen[0].message_id == accepted.message_id and seen[0].to == url
    with pytest.raises(bsoap.DecodeError):
        client.read_answer("sumDoubles", b"<a/>")
    fault = body.replace(b"sumDoublesResponse", b"other")
    with pytest.raises(bsoap.DecodeError):
        client.read_answer("sumDoubles", fault, content_type=content_type)


def test_an_answer_on_the_connection_has_addressing_headers(start):
    url, seen = start(addressing=True)
    answer = bsoap.Client(MESH, endpoint=url, addressing="2004/08").exchange("sumDoubles", NUMBERS)
    assert answer.addressing.answered_id == answer.message_id
    assert answer.addressing.version == seen[0].version == "2004/08"
    answer = bsoap.Client(MESH, endpoint=url).exchange("sumDoubles", NUMBERS)
    assert answer.addressing is None and answer.message_id is None and seen[1] is None


def test_a_service_may_require_addressing_and_knows_its_addresses(start):
    url, _ = start(addressing={"required": True, "serving": ["http://mesh.example/mesh"]})
    with pytest.raises(bsoap.Fault) as raised:
        bsoap.Client(MESH, endpoint=url).service.sumDoubles(**NUMBERS)
    assert "MessageAddressingHeaderRequired" in f"{raised.value.code} {raised.value.subcodes}"
    with pytest.raises(bsoap.Fault, match="http://127"):
        bsoap.Client(MESH, endpoint=url, addressing=True).service.sumDoubles(**NUMBERS)
    ours = bsoap.Client(MESH, endpoint=url, addressing={"to": "http://mesh.example/mesh"})
    assert ours.service.sumDoubles(**NUMBERS) == 4.0
    with pytest.raises(TypeError, match="required, replies_to and serving"):
        bsoap.Service(MESH, addressing={"require": True})


def test_a_service_plays_roles(start):
    audit = TRACE.format(" s:actor='urn:audit'")
    call = {"soap_headers": [audit]}
    url, _ = start()
    assert bsoap.Client(MESH, endpoint=url).exchange("sumDoubles", NUMBERS, **call).value.sum == 4.0
    url, _ = start(roles=["urn:audit"])
    with pytest.raises(bsoap.Fault) as raised:
        bsoap.Client(MESH, endpoint=url).exchange("sumDoubles", NUMBERS, **call)
    assert "MustUnderstand" in raised.value.code
    url, _ = start(roles="urn:audit", understands="{urn:t}trace")
    assert bsoap.Client(MESH, endpoint=url).exchange("sumDoubles", NUMBERS, **call).value.sum == 4.0
