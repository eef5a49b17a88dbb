"""Clients, against services of the command."""

import asyncio
import contextlib
import http.server
import inspect
import threading
import time

import bsoap
import pytest
from conftest import MESH

NUMBERS = [1.5, 2.5, -0.0]


def test_a_call(client):
    assert client.service.echoDoubles(values={"item": NUMBERS}).item.tolist() == NUMBERS
    assert client.service.echoDoubles({"item": NUMBERS}).item.tolist() == NUMBERS
    answer = client.call("echoDoubles", {"values": {"item": NUMBERS}})
    assert answer["values"].item.tolist() == NUMBERS


def test_what_a_client_says_of_itself(client):
    assert "MeshService" in repr(client)
    assert "echoDoubles" in client.operations
    assert "echoDoubles" in dir(client.service)
    assert list(inspect.signature(client.service.jacobiStep).parameters) == ["rows", "columns", "field"]
    assert "Returns the doubles" in client.service.echoDoubles.__doc__
    with pytest.raises(AttributeError, match="did you mean 'echoDoubles'"):
        _ = client.service.echoDouble


def test_an_answer_and_what_changed(client):
    # The first message is not kept: few come again.
    for _ in range(2):
        client.exchange("echoDoubles", {"values": {"item": NUMBERS}})
    answer = client.exchange("echoDoubles", {"values": {"item": [1.5, 9.5, -0.0]}})
    assert answer.changes() == [("values.item", 1, 2)]
    assert answer.http_status == 200
    assert answer.http_headers["content-type"].startswith("text/xml")
    assert answer.warnings == []
    assert client.exchange("echoDoubles", {"values": {"item": [1.5, 9.5, -0.0]}}).changes() == []


def test_envelopes_on_demand(echo):
    client = bsoap.Client(MESH, endpoint=echo.url, keep_envelopes=True)
    client.service.sumInts(values={"item": [1]})
    assert b"<item>1</item>" in client.last_answer.sent
    assert b"sumIntsResponse" in client.last_answer.received
    assert client.create_message("sumInts", values={"item": [1]}) == client.last_answer.sent


def test_hooks_see_and_change_messages(echo):
    seen = []

    def before(message):
        seen.append(message.operation)
        message.headers["x-id"] = "7"
        message.body = message.body.replace(b">2<", b">3<")

    def after(message):
        seen.append(message.http_status)

    client = bsoap.Client(MESH, endpoint=echo.url, before_send=before, after_receive=after)
    assert client.service.echoInts(values={"item": [1, 2]}).item.tolist() == [1, 3]
    assert seen == ["echoInts", 200]

    def refuse(_message):
        raise RuntimeError("not today")

    with pytest.raises(RuntimeError, match="not today"):
        bsoap.Client(MESH, endpoint=echo.url, before_send=refuse).service.sumInts(values={})


def test_a_service_that_is_not_there():
    client = bsoap.Client(MESH, endpoint="http://127.0.0.1:1/", retries=1)
    with pytest.raises(bsoap.TransportError) as raised:
        client.service.sumInts(values={"item": [1]})
    assert raised.value.is_connect
    assert raised.value.was_not_sent
    assert not raised.value.is_timeout
    with pytest.raises(bsoap.SchemaError, match="missing.wsdl"):
        bsoap.Client("missing.wsdl")


FAULT = b"""<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><e:Fault>
<faultcode>e:Client.Shape</faultcode><faultstring>no such shape</faultstring><faultactor>urn:actor</faultactor>
<detail><m:badShape xmlns:m="urn:bsoap:mesh"><expected xmlns="">9</expected><found xmlns="">1</found></m:badShape><other/></detail>
</e:Fault></e:Body></e:Envelope>"""


@contextlib.contextmanager
def answering(body, status, delay=0.0):
    """A server that always gives the same answer."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            time.sleep(delay)
            self.send_response(status)
            self.send_header("Content-Type", "text/xml; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


def test_faults_have_typed_details():
    with answering(FAULT, 500) as url, pytest.raises(bsoap.Fault) as raised:
        bsoap.Client(MESH, endpoint=url).service.jacobiStep(rows=1, columns=1, field={"item": [1.5]})
    fault = raised.value
    assert (fault.code, fault.subcodes, fault.message, fault.actor) == (
        "Sender",
        ["Shape"],
        "no such shape",
        "urn:actor",
    )
    assert type(fault.detail.badShape).__name__ == "badShape"
    assert (fault.detail.badShape.expected, fault.detail.badShape.found) == (9, 1)
    assert fault.detail["#any"][0].startswith("<other")


def test_an_answer_that_does_not_match():
    with answering(FAULT.replace(b"Fault", b"Result"), 200) as url, pytest.raises(bsoap.DecodeError, match="Result"):
        bsoap.Client(MESH, endpoint=url).service.sumInts(values={"item": [1]})
    with answering(b"<html>busy</html>", 503) as url, pytest.raises(bsoap.Error, match="503"):
        bsoap.Client(MESH, endpoint=url).service.sumInts(values={"item": [1]})


def test_time_limits():
    with answering(FAULT, 500, delay=2.0) as url:
        client = bsoap.Client(MESH, endpoint=url, timeout=0.2)
        with pytest.raises(bsoap.TransportError) as raised:
            client.service.sumInts(values={"item": [1]})
        assert raised.value.is_timeout
        assert not raised.value.was_not_sent


def test_asyncio(echo):
    async def main():
        client = bsoap.AsyncClient(MESH, endpoint=echo.url)
        answers = await asyncio.gather(*(client.service.echoInts(values={"item": [number]}) for number in range(20)))
        assert [answer.item.tolist() for answer in answers] == [[number] for number in range(20)]
        assert (await client.call("sumInts", {"values": {"item": [1, 2]}})) is not None

    asyncio.run(main())


def test_threads_share_a_client(client):
    wrong = []

    def call(number):
        for _ in range(20):
            answer = client.service.echoInts(values={"item": [number] * 10})
            if answer.item.tolist() != [number] * 10:
                wrong.append(number)

    threads = [threading.Thread(target=call, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_what_is_saved_can_be_limited(echo):
    for differential in (False, True, {"templates": 1, "histories": 2, "bytes": 1 << 20}):
        client = bsoap.Client(MESH, endpoint=echo.url, differential=differential, hints=True)
        for number in range(4):
            assert client.service.echoInts(values={"item": [number, 7]}).item.tolist() == [number, 7]
    with pytest.raises(ValueError, match="templates, histories and bytes"):
        bsoap.Client(MESH, endpoint=echo.url, differential={"template": 1})


def test_documents_of_a_url_may_be_in_a_folder(tmp_path):
    (tmp_path / "mesh.wsdl").write_bytes(MESH.read_bytes())
    text = b"""<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" targetNamespace="urn:outer">
        <import namespace="urn:bsoap:mesh" location="http://shop.example/wsdl/mesh.wsdl"/></definitions>"""
    with pytest.raises(bsoap.SchemaError, match="http://shop.example/wsdl/mesh.wsdl"):
        bsoap.Wsdl(text)
    mapped = {"http://shop.example/wsdl": tmp_path}
    assert bsoap.Wsdl(text, map=mapped).services == bsoap.Wsdl(MESH).services
    assert "sumDoubles" in bsoap.Client(text, map=mapped).operations
