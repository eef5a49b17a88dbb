"""A mesh service of spyne, SOAP 1.1, behind waitress.

    python spyne_server.py WSDL

Writes its own WSDL to the file, prints its port, and ends with its input.
"""

import os
import sys
import threading
import urllib.request

import numbers_of_a_mesh as mesh
import waitress
from spyne import Application, Array, ComplexModel, Double, Fault, Integer, Integer32, Integer64, ServiceBase, rpc
from spyne.protocol.soap import Soap11
from spyne.server.wsgi import WsgiApplication

MESH = "urn:bsoap:mesh"


class MeshInterfaceObject(ComplexModel):
    __namespace__ = MESH
    x = Integer32
    y = Integer32
    value = Double


class Step(ComplexModel):
    __namespace__ = MESH
    field = Array(Double)
    residual = Double


class Mesh(ServiceBase):
    @rpc(Array(Double), _returns=Array(Double))
    def echoDoubles(_, values):
        return values

    @rpc(Array(Integer32), _returns=Array(Integer32))
    def echoInts(_, values):
        return values

    @rpc(Array(MeshInterfaceObject), _returns=Array(MeshInterfaceObject))
    def echoMesh(_, objects):
        return objects

    @rpc(Array(Double), _returns=Double)
    def sumDoubles(_, values):
        return sum(values)

    @rpc(Array(Integer32), _returns=Integer64)
    def sumInts(_, values):
        return sum(values)

    @rpc(Integer, Integer, Array(Double), _returns=Step)
    def jacobiStep(_, rows, columns, field):
        if rows * columns != len(field):
            raise Fault("Client.Shape", f"expected {rows * columns} values, found {len(field)}")
        new, residual = mesh.jacobi(rows, columns, field)
        return Step(field=new, residual=residual)


def wait_for_input():
    sys.stdin.read()
    os._exit(0)


def main(wsdl):
    application = Application([Mesh], MESH, in_protocol=Soap11(validator="lxml"), out_protocol=Soap11())
    server = waitress.create_server(WsgiApplication(application), host="127.0.0.1", port=0)
    threading.Thread(target=server.run, daemon=True).start()
    with urllib.request.urlopen(f"http://127.0.0.1:{server.effective_port}/?wsdl") as answer:
        text = answer.read()
    with open(wsdl, "wb") as file:
        file.write(text)
    print(server.effective_port, flush=True)
    wait_for_input()


if __name__ == "__main__":
    main(*sys.argv[1:])
