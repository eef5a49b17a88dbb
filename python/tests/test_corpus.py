"""The corpus through Python: what is decoded to Python objects and encoded again is the same message."""

import bsoap
from bsoap import codec
from conftest import corpus


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
        # Of several operations with the same Body, the action says which is meant.
        headers = template.http_headers
        decoded = codec.Decoder(wsdl, port=port, differential=False).request(
            text, content_type=headers["Content-Type"], soap_action=headers.get("SOAPAction")
        )
        if decoded.operation != template.operation:
            return None  # several operations have this Body
        again = template.encode(decoded.value)
    except (bsoap.Error, TypeError, ValueError) as error:
        return str(error)
    return None if again == text else f"{text[-300:]!r} became {again[-300:]!r}"


def test_recorded_answers_are_read_the_same_by_both_routes():
    wsdl = bsoap.Wsdl(corpus("recorded-polling/console.wsdl"))
    differential, full = codec.Decoder(wsdl, mode="lenient"), codec.Decoder(wsdl, mode="lenient", differential=False)
    (operation,) = (name for _, _, ports in wsdl._definitions.services() for port in ports[:1] for name in port[4])
    count, refused = 0, 0
    for path in sorted(corpus("recorded-polling").rglob("*.xml")):
        text = path.read_bytes()
        for _ in range(2):
            one, other = read(differential, operation, text), read(full, operation, text)
            assert one == other, path
        refused += isinstance(one, str)
        count += 1
    print(f"{count} recorded answers, {refused} of them refused")
    assert count > refused


def read(decoder, operation, text):
    """The value of an answer, or why it is refused."""
    try:
        return decoder.answer(operation, text).value
    except bsoap.Error as error:
        return str(error)
