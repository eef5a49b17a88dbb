"""zeep calls a mesh service: every operation, both versions of SOAP, and the declared fault.

    python zeep_client.py WSDL [PORT_11_ADDRESS PORT_12_ADDRESS]

Without addresses those in the WSDL are used (so WSDL may be `http://.../mesh?wsdl`).
Prints one line and exits with 0 when all answers are right.
"""

import random
import struct
import sys

import zeep
from zeep.exceptions import Fault


def hard_doubles(count, seed=1):
    """Finite doubles over all exponents."""
    draw = random.Random(seed)
    values = [0.0, -0.0, 5e-324, 1.7976931348623157e308, 0.1]
    while len(values) < count:
        value = struct.unpack("<d", draw.randbytes(8))[0]
        if value == value and abs(value) != float("inf"):
            values.append(value)
    return values


def bits(values):
    return [struct.pack("<d", value) for value in values]


def check(service):
    doubles = hard_doubles(500)
    assert bits(service.echoDoubles(values={"item": doubles})) == bits(doubles)
    ints = [0, 1, -1, 2**31 - 1, -(2**31)] + list(range(-300, 300, 7))
    assert service.echoInts(values={"item": ints}) == ints
    objects = [{"x": i, "y": -i, "value": doubles[i]} for i in range(50)]
    answer = service.echoMesh(objects={"item": objects})
    assert [(o["x"], o["y"], o["value"]) for o in answer] == [(o["x"], o["y"], o["value"]) for o in objects]
    assert service.sumDoubles(values={"item": [1.5, 2.25, -0.75]}) == 3.0
    assert service.sumInts(values={"item": ints}) == sum(ints)

    field = [0.0] * 20
    field[:5] = [1.0] * 5
    answer = service.jacobiStep(rows=4, columns=5, field={"item": field})
    expected = list(field)
    for row in (1, 2):
        for column in (1, 2, 3):
            i = row * 5 + column
            expected[i] = 0.25 * (field[i - 5] + field[i + 5] + field[i - 1] + field[i + 1])
    assert answer["field"]["item"] == expected
    assert answer["residual"] == 0.25

    try:
        service.jacobiStep(rows=3, columns=3, field={"item": [1.0]})
    except Fault as fault:
        detail = fault.detail
        texts = {element.tag.rsplit("}")[-1]: element.text for element in detail.iter()}
        assert (texts["expected"], texts["found"]) == ("9", "1"), texts
    else:
        raise AssertionError("a field of the wrong shape was accepted")


def main(wsdl, *addresses):
    client = zeep.Client(wsdl)
    for index, version in enumerate(("11", "12")):
        if addresses:
            service = client.create_service(f"{{urn:bsoap:mesh}}MeshSoap{version}", addresses[index])
        else:
            service = client.bind("MeshService", f"MeshSoap{version}")
        check(service)
    print("zeep and the service agree")


if __name__ == "__main__":
    main(*sys.argv[1:])
