"""The corpus through Python: what is decoded to Python objects and encoded again is the same message."""

import re

import pytest
from conftest import corpus

import bsoap
from bsoap import codec

# Recorded messages, as in the conformance runner: the WSDL, the messages, and what is allowed.
RECORDED = [
    ("recorded-polling/console.wsdl", "recorded-polling"),
    ("xsdata/calculator/services.wsdl", "xsdata/calculator"),
]


def wsdls():
    root = corpus("wsdl_index.tsv").parent
    for line in (root / "wsdl_index.tsv").read_text().splitlines()[1:]:
        yield line.split("\t")[0]


def test_samples_of_all_operations_pass_through_python():
    root = corpus("wsdl_index.tsv").parent
    count, different, left_out = 0, [], 0
    for file in wsdls():
        try:
            wsdl = bsoap.Wsdl(root / file, allow_imports_from=[root])
        except bsoap.Error:
            left_out += 1
            continue
        seen = set()
        for service, _, ports in wsdl._definitions.services():
            for name, _, _, binding, operations in ports:
                port = f"{service}/{name}"
                for name in operations:
                    if (binding, name) in seen or operations.count(name) > 1:
                        continue
                    seen.add((binding, name))
                    template = codec.Template(wsdl, name, port=port, differential=False)
                    try:
                        text = template._template.sample()
                    except bsoap.Error:
                        left_out += 1
                        continue
                    problem = passes(wsdl, port, template, text)
                    count += 1
                    if problem:
                        different.append(f"{file} {port} {name}: {problem}")
    print(f"{count} samples passed through Python, {left_out} left out")
    assert different == []
    assert count > 1400


def passes(wsdl, port, template, text):
    """None if the text is the same after a way through Python objects, otherwise what differs."""
    try:
        decoded = codec.Decoder(wsdl, port=port, differential=False).request(text)
        if decoded.operation != template.operation:
            return None  # several operations have this Body
        again = template.encode(decoded.value)
    except (bsoap.Error, TypeError, ValueError) as error:
        return str(error)
    return None if again == text else f"{text[-300:]!r} became {again[-300:]!r}"


@pytest.mark.parametrize(("file", "messages"), RECORDED)
def test_recorded_messages_pass_through_python(file, messages):
    wsdl = bsoap.Wsdl(corpus(file), allow_imports_from=[corpus(".")])
    decoder = codec.Decoder(wsdl, mode="lenient", differential=False)
    count = 0
    for path in sorted(corpus(messages).rglob("*.xml")):
        text = path.read_bytes()
        if not re.search(rb"<[\w:]*Body", text) or b"Response" in text[:2000] or b"Fault" in text[:2000]:
            continue
        decoded = decoder.request(text)
        again = codec.encode(wsdl, decoded.operation, decoded.value)
        assert decoder.request(again).value == decoded.value, path
        count += 1
    print(f"{count} recorded messages passed through Python")
