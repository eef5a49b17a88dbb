"""zeep calls a mesh service: every operation, both versions of SOAP, and the declared fault.

    python zeep_client.py WSDL [PORT_11_ADDRESS PORT_12_ADDRESS]

Without addresses those in the WSDL are used (so WSDL may be `http://.../mesh?wsdl`).
Prints one line and exits with 0 when all answers are right.
"""

import sys

import numbers_of_a_mesh as mesh
import zeep
from zeep.exceptions import Fault


def check(service):
    doubles = mesh.hard_doubles(500)
    assert mesh.bits(service.echoDoubles(values={"item": doubles})) == mesh.bits(doubles)
    assert service.echoInts(values={"item": mesh.INTS}) == mesh.INTS
    objects = [{"x": i, "y": -i, "value": doubles[i]} for i in range(50)]
    answer = service.echoMesh(objects={"item": objects})
    assert [(o["x"], o["y"], o["value"]) for o in answer] == [(o["x"], o["y"], o["value"]) for o in objects]
    assert service.sumDoubles(values={"item": [1.5, 2.25, -0.75]}) == 3.0
    assert service.sumInts(values={"item": mesh.INTS}) == sum(mesh.INTS)

    field = mesh.field()
    answer = service.jacobiStep(rows=4, columns=5, field={"item": field})
    assert (answer["field"]["item"], answer["residual"]) == mesh.jacobi(4, 5, field)

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
