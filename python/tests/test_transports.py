"""Authentication, cookies, retries and recordings of clients."""

import contextlib
import http.server
import threading

import bsoap
import pytest
from conftest import MESH

ANSWER = b"""<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>
<m:sumIntsResponse xmlns:m="urn:bsoap:mesh"><sum>7</sum></m:sumIntsResponse></s:Body></s:Envelope>"""


@contextlib.contextmanager
def peer(respond):
    """A server whose answers are `(status, headers)` of a function of the request's headers; 200 has the answer of `sumInts`."""
    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            seen.append(self.headers)
            status, headers = respond(len(seen), self.headers)
            body = ANSWER if status == 200 else b""
            self.send_response(status)
            self.send_header("content-type", "text/xml")
            self.send_header("content-length", str(len(body)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", seen
    finally:
        server.shutdown()
        server.server_close()


def call(client, **options):
    return client.service.sumInts(values={"item": [3, 4]}, **options)


def test_digest():
    challenge = {"www-authenticate": 'Digest realm="r", qop="auth", algorithm=SHA-256, nonce="n"'}
    with peer(lambda _, headers: (200, {}) if "authorization" in headers else (401, challenge)) as (url, seen):
        client = bsoap.Client(MESH, endpoint=url, auth=bsoap.DigestAuth("jo", "secret"))
        assert call(client) == call(client) == 7
        counts = [headers["authorization"].partition("nc=")[2][:8] for headers in seen[1:]]
        assert counts == ["00000001", "00000002"]
        with pytest.raises(bsoap.DecodeError, match="authentication by Digest"):
            call(bsoap.Client(MESH, endpoint=url))


def test_bearer_tokens_of_a_function():
    obtained = []

    def obtain():
        obtained.append(len(obtained) + 1)
        return f"t{len(obtained)}", 3600

    def respond(_, headers):
        return (401, {}) if headers["authorization"] == "Bearer t1" else (200, {})

    with peer(respond) as (url, seen):
        client = bsoap.Client(MESH, endpoint=url, auth=bsoap.BearerAuth(obtain))
        assert call(client) == call(client) == 7
        assert [headers["authorization"] for headers in seen] == ["Bearer t1", "Bearer t2", "Bearer t2"]
        fixed = bsoap.Client(MESH, endpoint=url, auth=bsoap.BearerAuth("fixed"))
        assert call(fixed) == 7
        assert seen[-1]["authorization"] == "Bearer fixed"

        def fails():
            raise RuntimeError("no token today")

        with pytest.raises(bsoap.TransportError, match="no token today") as raised:
            call(bsoap.Client(MESH, endpoint=url, auth=bsoap.BearerAuth(fails)))
        assert raised.value.was_not_sent


def test_addressing(echo):
    arguments = {"values": {"item": [1, 2]}}
    for wanted in (True, False, None):
        client = bsoap.Client(MESH, endpoint=echo.url, addressing=wanted, keep_envelopes=True)
        answer = client.exchange("echoInts", arguments)
        assert answer.value["values"].item.tolist() == [1, 2]
        assert (b'addressing">urn:uuid:' in answer.sent) == bool(wanted)


def test_cookies():
    with peer(lambda *_: (200, {"set-cookie": "session=7; Path=/"})) as (url, seen):
        client = bsoap.Client(MESH, endpoint=url, cookies=True)
        call(client), call(client), call(bsoap.Client(MESH, endpoint=url, cookies=True))
        assert [headers["cookie"] for headers in seen] == [None, "session=7", None]


def test_retries():
    with peer(lambda number, _: (200, {}) if number % 3 == 0 else (503, {})) as (url, seen):
        retries = bsoap.Retries(3, operations=["sumInts"], first_delay=0.01)
        assert call(bsoap.Client(MESH, endpoint=url, retries=retries)) == 7
        assert len(seen) == 3
        client = bsoap.Client(MESH, endpoint=url, retries=3)
        with pytest.raises(bsoap.Error, match="503"):
            call(client)
        assert len(seen) == 4
        assert call(client, _idempotent=True) == 7
        assert len(seen) == 6
    client = bsoap.Client(MESH, endpoint="http://127.0.0.1:1/", retries=2)
    with pytest.raises(bsoap.TransportError, match="after 3 attempts"):
        call(client)


def test_a_recording_is_replayed(tmp_path):
    with peer(lambda *_: (200, {})) as (url, _):
        assert call(bsoap.Client(MESH, endpoint=url, record=tmp_path)) == 7
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "0001-sumInts-request.xml",
        "0001-sumInts-response.xml",
    ]
    client = bsoap.Client(MESH, replay=str(tmp_path))
    assert call(client) == 7
    with pytest.raises(bsoap.TransportError, match="0002-sumInts-response.xml"):
        call(client)


def test_a_lenient_client_reads_what_has_to_be_rewritten(tmp_path):
    answer = ANSWER.replace(b"<sum>", b'<m:sum xmlns:x="urn:x" x:y="1">').replace(b"</sum>", b"</m:sum>")
    (tmp_path / "0001-sumInts-response.xml").write_bytes(answer)
    client = bsoap.Client(MESH, replay=tmp_path, mode="lenient")
    answer = client.exchange("sumInts", {"values": {"item": [3]}})
    assert answer.value.sum == 7
    assert len(answer.warnings) == 2
    with pytest.raises(bsoap.DecodeError, match="lenient mode reads it as that element"):
        call(bsoap.Client(MESH, replay=tmp_path))
