"""Answers with attachments through bsoap.zeep, and the same through zeep."""

from __future__ import annotations

import http.server
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bsoap
import pytest
from zeep_servers import ROOT

pytest.importorskip("lxml")
pytest.importorskip("requests")

import requests
from bsoap import zeep as ours

PHOTOS = ROOT / "examples/photos/photos.wsdl"
BINDING = "{urn:bsoap:photos}Photos"
ENVELOPE = '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>%s</s:Body></s:Envelope>'
INCLUDE = '<x:Include xmlns:x="http://www.w3.org/2004/08/xop/include" href="cid:%s"/>'
OCTETS = b"\r\n\x00--b\xff\r\n" * 1000


def package(root: str, parts: dict[str, bytes], kind: str = "text/xml") -> tuple[str, bytes]:
    """The media type and the body of a package."""
    pieces = [f"Content-Type: {kind}\r\nContent-ID: <root>\r\n\r\n{root}".encode()]
    for name, octets in parts.items():
        pieces.append(f"Content-Type: image/png\r\nContent-ID: <{name}>\r\n\r\n".encode() + octets)
    body = b"".join(b"\r\n--b-1\r\n" + piece for piece in pieces)
    return f'multipart/related; boundary="b-1"; type="{kind}"', body[2:] + b"\r\n--b-1--\r\n"


class _Service(http.server.BaseHTTPRequestHandler):
    answer = ("text/xml", b"")

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        kind, body = type(self).answer
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture
def service() -> Iterator[tuple[Any, str]]:
    handler: Any = type("Handler", (_Service,), {})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield handler, f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def wsdl(tmp_path: Any) -> str:
    """The WSDL without the schema of `swaRef`, which zeep would fetch."""
    text = re.sub("<xsd:import .*?/>", "", PHOTOS.read_text()).replace("ref:swaRef", "xsd:anyURI")
    path = tmp_path / "photos.wsdl"
    path.write_text(text)
    return str(path)


def proxies(wsdl: str, url: str) -> list[Any]:
    """Services by the client of bsoap, by a plugin that sees the messages, and by zeep."""
    made = [
        ours.Client(wsdl).create_service(BINDING, url),
        ours.Client(wsdl, plugins=[ours.Plugin()]).create_service(BINDING, url),
    ]
    try:
        import zeep
    except ImportError:
        return made
    return [*made, zeep.Client(wsdl).create_service(BINDING, url)]


def test_attachments_of_mtom_are_the_values_that_refer_to_them(service: tuple[Any, str], wsdl: str) -> None:
    handler, url = service
    root = ENVELOPE % (
        f'<t:echoResponse xmlns:t="urn:bsoap:photos"><t:photo>{INCLUDE % "a%40b"}</t:photo><t:photo>AQID</t:photo></t:echoResponse>'
    )
    handler.answer = package(root, {"a@b": OCTETS}, "application/xop+xml")
    for proxy in proxies(wsdl, url):
        assert proxy.echo() == [OCTETS, b"\1\2\3"]


def test_many_references_to_one_attachment_are_an_error(service: tuple[Any, str], wsdl: str) -> None:
    handler, url = service
    photo = f"<t:photo>{INCLUDE % 'a'}</t:photo>"
    root = ENVELOPE % f'<t:echoResponse xmlns:t="urn:bsoap:photos">{photo * 300}</t:echoResponse>'
    handler.answer = package(root, {"a": bytes(1 << 20)}, "application/xop+xml")
    native = ours.Client(wsdl).create_service(BINDING, url)
    with pytest.raises(ours.exceptions.TransportError, match="bytes came beside the message") as caught:
        native.echo()
    assert caught.value.status_code == 200


def test_documents_beside_an_answer_are_in_a_message_pack(service: tuple[Any, str], wsdl: str) -> None:
    handler, url = service
    root = ENVELOPE % (
        '<t:sendResponse xmlns:t="urn:bsoap:photos"><t:document>cid:one@example.org</t:document></t:sendResponse>'
    )
    handler.answer = package(root, {"one@example.org": OCTETS, "two@example.org": b"two"})
    for proxy in proxies(wsdl, url):
        answer = proxy.send(document="cid:none")
        assert answer.root == "cid:one@example.org"
        assert [(part.content_id, part.content_type) for part in answer.attachments] == [
            ("<one@example.org>", "image/png"),
            ("<two@example.org>", "image/png"),
        ]
        assert answer.get_by_content_id("<one@example.org>").content == OCTETS
        assert answer.get_by_content_id("<three>") is None
        assert "one@example.org" in repr(answer)


def test_a_package_without_attachments_is_the_answer_alone(service: tuple[Any, str], wsdl: str) -> None:
    handler, url = service
    root = ENVELOPE % '<t:storeResponse xmlns:t="urn:bsoap:photos"><t:size>7</t:size></t:storeResponse>'
    handler.answer = package(root, {})
    for proxy in proxies(wsdl, url):
        assert proxy.store(name="a", photo=b"b") == 7


def test_a_reference_to_nothing_and_a_package_without_a_boundary_are_errors(
    service: tuple[Any, str], wsdl: str
) -> None:
    handler, url = service
    root = (
        ENVELOPE % f'<t:echoResponse xmlns:t="urn:bsoap:photos"><t:photo>{INCLUDE % "lost"}</t:photo></t:echoResponse>'
    )
    kind, body = package(root, {"other": b"1"}, "application/xop+xml")
    seeing = ours.Client(wsdl, plugins=[ours.Plugin()]).create_service(BINDING, url)
    native = ours.Client(wsdl).create_service(BINDING, url)
    handler.answer = (kind, body)
    with pytest.raises(ValueError, match="No part found"):
        seeing.echo()
    with pytest.raises((ours.exceptions.Error, NotImplementedError)):
        native.echo()
    handler.answer = ("multipart/related", body)
    for proxy in (native, seeing):
        with pytest.raises((ours.exceptions.TransportError, requests.ConnectionError), match="boundary"):
            proxy.echo()


def test_operations_with_parts_in_their_binding_are_called_and_answered(service: tuple[Any, str], wsdl: str) -> None:
    handler, url = service
    text = Path(wsdl).read_text()
    before, _, after = text.partition('<wsdl:output><soap:body use="literal"/></wsdl:output>')
    multipart = (
        '<m:multipartRelated xmlns:m="http://schemas.xmlsoap.org/wsdl/mime/"><m:part><soap:body use="literal"/></m:part>'
        '<m:part><m:content part="scan" type="image/png"/></m:part></m:multipartRelated>'
    )
    text = f"{before}<wsdl:output>{multipart}</wsdl:output>{after}".replace(
        '<wsdl:message name="storeOutput">',
        '<wsdl:message name="storeOutput"><wsdl:part name="scan" type="xsd:base64Binary"/>',
    )
    Path(wsdl).write_text(text)
    root = ENVELOPE % '<t:storeResponse xmlns:t="urn:bsoap:photos"><t:size>7</t:size></t:storeResponse>'
    handler.answer = package(root, {"scan=1@example.org": b"scanned"})
    for plugins in ([], [ours.Plugin()]):
        proxy = ours.Client(wsdl, plugins=plugins).create_service(BINDING, url)
        answer = proxy.store(name="a", photo=b"b")
        assert (answer.root, [part.content for part in answer.attachments]) == (7, [b"scanned"])
    # The native client finds it by the name of the part.
    answer = bsoap.Client(wsdl, endpoint=url).exchange("store", {"name": "a", "photo": b"b"})
    assert bytes(answer.attachment("scan")) == b"scanned"
