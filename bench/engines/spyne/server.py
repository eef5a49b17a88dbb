"""The server of `rpc` as spyne's users write it, behind waitress. Answers with what it was sent.

python server.py: prints its address; ends with its input.
"""

import os
import sys
import threading

import waitress
from spyne import (
    Application,
    Boolean,
    ByteArray,
    ComplexModel,
    Date,
    DateTime,
    Decimal,
    Double,
    Integer32,
    Integer64,
    ServiceBase,
    Unicode,
    UnsignedInteger32,
    XmlAttribute,
    rpc,
)
from spyne.protocol.soap import Soap11
from spyne.server.wsgi import WsgiApplication

BENCH = "urn:bsoap:bench"

# What a line's attribute `number` is called inside this program, see `Soap`.
LINE_NUMBER = "lineNumber"


def required(kind):
    # Children of elements are in no namespace: elementFormDefault is unqualified.
    return kind(min_occurs=1, sub_ns="")


def optional(kind):
    return kind(min_occurs=0, sub_ns="")


def many(kind):
    return kind.customize(min_occurs=0, max_occurs="unbounded", sub_ns="")


class Bench(ComplexModel):
    __namespace__ = BENCH


class doubles(Bench):
    item = many(Double)


class ints(Bench):
    item = many(Integer32)


class Customer(Bench):
    _type_info = [
        ("number", required(Integer64)),
        ("name", required(Unicode)),
        ("email", optional(Unicode)),
        ("vat", optional(Unicode)),
    ]


class Address(Bench):
    _type_info = [
        ("name", required(Unicode)),
        ("street", required(Unicode)),
        ("house", required(Integer32)),
        ("city", required(Unicode)),
        ("postcode", required(Unicode)),
        ("country", required(Unicode)),
        ("latitude", optional(Double)),
        ("longitude", optional(Double)),
    ]


class Line(Bench):
    _type_info = [
        ("sku", required(Unicode)),
        ("description", required(Unicode)),
        ("quantity", required(Integer32)),
        ("price", required(Decimal)),
        ("weight", required(Double)),
        ("discount", optional(Double)),
        ("taxRate", required(Double)),
        ("inStock", required(Boolean)),
        ("due", optional(Date)),
        (LINE_NUMBER, XmlAttribute(Integer32(sub_name="number"), use="required")),
    ]


class Totals(Bench):
    _type_info = [
        ("net", required(Decimal)),
        ("tax", required(Decimal)),
        ("gross", required(Decimal)),
        ("weight", required(Double)),
        ("parcels", required(UnsignedInteger32)),
        ("discount", optional(Double)),
    ]


class Payment(Bench):
    _type_info = [
        ("method", required(Unicode)),
        ("reference", optional(Unicode)),
        ("due", required(Date)),
        ("signature", required(ByteArray)),
    ]


class order(Bench):
    _type_info = [
        ("number", required(Unicode)),
        ("placed", required(DateTime)),
        ("priority", required(Integer32)),
        ("express", required(Boolean)),
        ("note", optional(Unicode)),
        ("customer", required(Customer.customize)),
        ("billing", required(Address.customize)),
        ("shipping", optional(Address.customize)),
        ("line", many(Line)),
        ("totals", required(Totals.customize)),
        ("payment", required(Payment.customize)),
        ("id", XmlAttribute(Integer64, use="required")),
        ("currency", XmlAttribute(Unicode, use="required")),
    ]


def echo(kind):
    """An operation of this name that returns its argument."""
    name = kind.__name__

    def operation(_, all):
        return all

    operation.__name__ = name
    style = {"_body_style": "bare", "_in_message_name": name, "_out_message_name": name}
    return rpc(kind, _returns=kind, **style)(operation)


class Echo(ServiceBase):
    doubles = echo(doubles)
    ints = echo(ints)
    order = echo(order)


class Soap(Soap11):
    """spyne reads an attribute of a child also as the parent's member of that name, here the order's `number`."""

    def decompose_incoming_envelope(self, ctx, message=Soap11.REQUEST):
        super().decompose_incoming_envelope(ctx, message)
        for line in ctx.in_body_doc.iterchildren("line"):
            line.set(LINE_NUMBER, line.attrib.pop("number"))


def wait_for_input():
    sys.stdin.read()
    os._exit(0)


def main():
    application = Application([Echo], BENCH, in_protocol=Soap(), out_protocol=Soap11())
    server = waitress.create_server(WsgiApplication(application), host="127.0.0.1", port=0)
    threading.Thread(target=wait_for_input, daemon=True).start()
    print(f"127.0.0.1:{server.effective_port}", flush=True)
    server.run()


if __name__ == "__main__":
    main()
