"""suds calls a mesh service: every operation, and the declared fault. It speaks SOAP 1.1 only.

    python suds_client.py WSDL ADDRESS

Prints one line and exits with 0 when all answers are right.
"""

import pathlib
import sys

import numbers_of_a_mesh as mesh
import suds
import suds.client


def array(client, kind, items):
    values = client.factory.create(kind)
    values.item = items
    return values


def check(client):
    call = client.service
    doubles = mesh.hard_doubles(500)
    answer = call.echoDoubles(array(client, "ns0:ArrayOfDouble", doubles))
    assert mesh.bits(answer.item) == mesh.bits(doubles)
    answer = call.echoInts(array(client, "ns0:ArrayOfInt", mesh.INTS))
    assert answer.item == mesh.INTS
    objects = []
    for i in range(50):
        value = client.factory.create("ns0:MeshInterfaceObject")
        value.x, value.y, value.value = i, -i, doubles[i]
        objects.append(value)
    answer = call.echoMesh(array(client, "ns0:ArrayOfMeshInterfaceObject", objects))
    assert [(o.x, o.y, o.value) for o in answer.item] == [(o.x, o.y, o.value) for o in objects]
    assert call.sumDoubles(array(client, "ns0:ArrayOfDouble", [1.5, 2.25, -0.75])) == 3.0
    assert call.sumInts(array(client, "ns0:ArrayOfInt", mesh.INTS)) == sum(mesh.INTS)

    field = mesh.field()
    answer = call.jacobiStep(4, 5, array(client, "ns0:ArrayOfDouble", field))
    assert (answer.field.item, answer.residual) == mesh.jacobi(4, 5, field)
    try:
        call.jacobiStep(3, 3, array(client, "ns0:ArrayOfDouble", [1.0]))
    except suds.WebFault as fault:
        shape = fault.fault.detail.badShape
        assert (int(shape.expected), int(shape.found)) == (9, 1), shape
    else:
        raise AssertionError("a field of the wrong shape was accepted")


def main(wsdl, address):
    url = wsdl if "://" in wsdl else pathlib.Path(wsdl).absolute().as_uri()
    client = suds.client.Client(url, location=address, cache=None)
    client.set_options(port="MeshSoap11")
    check(client)
    print("suds and the service agree")


if __name__ == "__main__":
    main(*sys.argv[1:])
