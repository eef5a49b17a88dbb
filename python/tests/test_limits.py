"""Limits by their names, deviations by their names, and the check of identifiers."""

import bsoap
import pytest
from bsoap import codec
from conftest import MESH, ROOT

PHOTOS = ROOT / "examples/photos/photos.wsdl"
ENCODED = bsoap.Wsdl(ROOT / "crates/protocol/tests/testdata/encoded.wsdl")
ENVELOPE = (
    '<S:Envelope xmlns:S="http://schemas.xmlsoap.org/soap/envelope/" xmlns:E="http://schemas.xmlsoap.org/soap/encoding/" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t">'
    "<S:Header>{}</S:Header><S:Body>{}</S:Body></S:Envelope>"
)
SUM = "<m:sumInts xmlns:m='urn:bsoap:mesh'><values><item>1</item></values>{}</m:sumInts>"


def message(body, headers=""):
    return ENVELOPE.format(headers, body).encode()


def test_an_error_about_a_limit_says_which_option_raises_it(echo):
    for limits, match in [
        ({"depth": 3}, r"limits=\{\"depth\": …\} accepts more"),
        ({"total_size": 100}, r"limits=\{\"total_size\": …\}"),
    ]:
        client = bsoap.Client(MESH, endpoint=echo.url, limits=limits)
        with pytest.raises(bsoap.LimitError, match=match):
            client.service.echoInts(values={"item": [1, 2]})
    client = bsoap.Client(MESH, endpoint=echo.url, limits={"depth": 200, "header_blocks": 1})
    assert client.service.echoInts(values={"item": [1]}).item.tolist() == [1]


def test_limits_of_requests():
    two = "<a:a xmlns:a='urn:a'/><a:b xmlns:a='urn:a'/>"
    text = message(SUM.format(""), two)
    assert codec.decode_request(MESH, text, limits={"header_blocks": 2}).operation == "sumInts"
    with pytest.raises(bsoap.LimitError, match="the limit `header_blocks`.*limits="):
        codec.decode_request(MESH, text, limits={"header_blocks": 1})
    service = bsoap.Service(MESH, limits={"depth": 3}, shutdown_timeout=5)
    with service.start() as running, pytest.raises(bsoap.Fault, match="depth"):
        bsoap.Client(MESH, endpoint=running.url).service.sumInts(values={"item": [1]})


def test_limits_of_encoded_messages():
    array = '<t:echoDoubles><in E:arrayType="xsd:double[9]" E:offset="[5]"><item>1</item></in></t:echoDoubles>'
    decoder = codec.Decoder(ENCODED, port="soap", limits={"omitted_items": 4})
    with pytest.raises(bsoap.LimitError, match="the limit `omitted_items`.*limits="):
        decoder.request(message(array))
    people = (
        '<t:echoPeople><in E:arrayType="t:Person[2]"><item><name href="#n"/></item><item><name href="#n"/></item></in></t:echoPeople>'
        f'<multiRef id="n" xsi:type="xsd:string">{"x" * 1000}</multiRef>'
    )
    assert codec.decode_request(ENCODED, message(people), port="soap").operation == "echoPeople"
    with pytest.raises(bsoap.LimitError, match="the limit `reference_expansion`.*limits="):
        codec.decode_request(ENCODED, message(people), port="soap", limits={"reference_expansion": 1500})


def test_limits_of_packages():
    service = bsoap.Service(PHOTOS, mtom=True, shutdown_timeout=5)

    @service.operation
    def echo(photo):
        return {"photo": [bsoap.Attachment(bytes(one), "text/plain") for one in photo]}

    with service.start() as running:
        for limits in ({"headers": 1}, {"header_bytes": 10}, {"root_bytes": 10}, {"parts": 1}):
            name = next(iter(limits))
            client = bsoap.Client(PHOTOS, endpoint=running.url, mtom=True, attachments=limits)
            with pytest.raises(bsoap.LimitError, match=rf"attachments=\{{\"{name}\": …\}} accepts more"):
                client.call("echo", {"photo": [b"one"]})
    with pytest.raises(ValueError, match="header_bytes, root_bytes"):
        bsoap.Client(PHOTOS, attachments={"part": 1})


def test_limits_of_loading():
    with pytest.raises(bsoap.LimitError, match=r"load_limits=\{\"nodes\": …\} accepts more"):
        bsoap.Wsdl(MESH, load_limits={"nodes": 10})
    assert bsoap.Wsdl(MESH, load_limits={"work": 100_000_000}).services


def test_an_answer_that_is_too_long(echo):
    client = bsoap.Client(MESH, endpoint=echo.url, max_response=100)
    with pytest.raises(bsoap.TransportError, match="limit of 100 bytes; max_response=… accepts more"):
        client.service.echoInts(values={"item": [1]})


def test_archives_have_limits_and_deviations():
    text = message(SUM.format("<more/>"))
    read = {"wsdl": MESH, "rows": "values.item", "direction": "request", "operation": "sumInts"}
    assert len(bsoap.read_messages([text], mode=("strict", "unknown-element"), **read)) == 1
    with pytest.raises(bsoap.LimitError, match="the limit `depth`.*limits="):
        bsoap.read_messages([text], mode="lenient", limits={"depth": 3}, **read)


@pytest.mark.parametrize("direction", ["request", "answer"])
def test_archives_have_limits_of_headers(direction):
    two = "<a:a xmlns:a='urn:a'/><a:b xmlns:a='urn:a'/>"
    element = {"request": "sumInts", "answer": "echoIntsResponse"}[direction]
    text = message(f"<m:{element} xmlns:m='urn:bsoap:mesh'><values><item>1</item></values></m:{element}>", two)
    operation = element.removesuffix("Response")
    read = {"wsdl": MESH, "rows": "values.item", "direction": direction, "operation": operation}
    assert len(bsoap.read_messages([text], limits={"header_blocks": 2}, **read)) == 1
    with pytest.raises(
        bsoap.LimitError, match=r"the limit `header_blocks` \(1\).*limits=\{\"header_blocks\": …\} accepts"
    ):
        bsoap.read_messages([text], limits={"header_blocks": 1}, **read)


@pytest.mark.parametrize(
    "quoted", ["the limit `depth` (2)", 'x" the limit `depth` (2) "', "the limit `header_blocks` (1)"]
)
def test_what_a_message_says_of_limits_is_no_limit(quoted):
    read = {"wsdl": MESH, "rows": "values.item", "direction": "request", "operation": "sumInts"}
    request = message(f"<m:sumInts xmlns:m='urn:bsoap:mesh'><values><item>{quoted}</item></values></m:sumInts>")
    answer = message(
        f"<m:echoIntsResponse xmlns:m='urn:bsoap:mesh'><values><item>{quoted}</item></values></m:echoIntsResponse>"
    )
    for reading in (
        lambda: codec.decode_request(MESH, request),
        lambda: bsoap.read_messages([request], **read),
        lambda: codec.decode(MESH, "echoInts", answer),
        lambda: bsoap.read_messages([answer], MESH, operation="echoInts"),
    ):
        with pytest.raises(bsoap.DecodeError, match="is not an xs:int") as caught:
            reading()
        assert "accepts more" not in str(caught.value)


def test_wrong_limits_are_refused():
    with pytest.raises(TypeError, match="limits has no limit 'dept'|limits has no limit \"dept\""):
        bsoap.Client(MESH, limits={"dept": 3})
    for depth in (-3, 257):
        with pytest.raises(ValueError, match="depth"):
            bsoap.Client(MESH, limits={"depth": depth})
    with pytest.raises(TypeError, match="load_limits has no limit"):
        bsoap.Wsdl(MESH, load_limits={"dept": 3})


def test_single_deviations_are_accepted():
    text = message(SUM.format("<more/>"))
    decoded = codec.decode_request(MESH, text, mode=("strict", "unknown-element"))
    assert "more" in decoded.warnings[0]
    with pytest.raises(bsoap.DecodeError):
        codec.decode_request(MESH, text, mode=["strict", "special-float"])
    with pytest.raises(ValueError, match="there are special-float"):
        bsoap.Client(MESH, mode=("strict", "unknown"))
    assert bsoap.Service(MESH, mode=("default", "unknown-element")).operations


def test_identifiers_and_references_are_checked_on_request(tmp_path):
    element = (
        '<xsd:element name="tree"><xsd:complexType><xsd:sequence><xsd:element name="node" maxOccurs="unbounded"><xsd:complexType>'
        '<xsd:attribute name="id" type="xsd:ID"/><xsd:attribute name="next" type="xsd:IDREF"/>'
        "</xsd:complexType></xsd:element></xsd:sequence></xsd:complexType></xsd:element>"
    )
    wsdl = tmp_path / "tree.wsdl"
    wsdl.write_text(TREE.format(element=element))
    service = bsoap.Service(wsdl, shutdown_timeout=5)
    seen = []

    @service.operation("tree")
    def tree(request, context):
        seen.append(context.wrong_identities())
        return request

    with service.start() as running:
        client = bsoap.Client(wsdl, endpoint=running.url)
        nodes = [{"@id": "a", "@next": "b"}, {"@id": "a"}]
        answer = client.exchange("tree", {"node": nodes})
        wrong = answer.wrong_identities()
    assert wrong == seen[0] and len(wrong) == 2
    (path, twice), (_, dangling) = wrong
    assert path.endswith("node[2]/@id") or path.endswith("node[2]")
    assert '"a" is there twice' in twice and 'no element has the xs:ID "b"' in dangling
    for most in range(4):
        assert answer.wrong_identities(most=most) == wrong[:most]


TREE = """<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:t="urn:tree"
  xmlns:xsd="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:tree" name="Tree">
  <types><xsd:schema targetNamespace="urn:tree" elementFormDefault="qualified">{element}</xsd:schema></types>
  <message name="m"><part name="body" element="t:tree"/></message>
  <portType name="P"><operation name="tree"><input message="t:m"/><output message="t:m"/></operation></portType>
  <binding name="B" type="t:P"><soap:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="tree"><soap:operation soapAction="urn:tree"/>
      <input><soap:body use="literal"/></input><output><soap:body use="literal"/></output></operation></binding>
  <service name="S"><port name="Tree" binding="t:B"><soap:address location="http://localhost/tree"/></port></service>
</definitions>
"""
