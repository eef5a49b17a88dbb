"""zeep's test scenarios as a table: each case runs through zeep and through bsoap.zeep.

`python zeep_parity.py` prints the table; `--write` puts it into docs/guide/python/zeep-parity.md.
"""

from __future__ import annotations

import dataclasses
import datetime
import pathlib
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from lxml import etree

PAGE = pathlib.Path(__file__).parents[2] / "docs/guide/python/zeep-parity.md"
T = "urn:t"
XSI = "http://www.w3.org/2001/XMLSchema-instance"

WSDL = """<?xml version="1.0"?>
<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/{soap}/" xmlns:t="urn:t"
    xmlns:xsd="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:t">
  <types><xsd:schema targetNamespace="urn:t" elementFormDefault="qualified">
    {schema}
    <xsd:element name="Auth"><xsd:complexType><xsd:sequence>
      <xsd:element name="key" type="xsd:string"/></xsd:sequence></xsd:complexType></xsd:element>
  </xsd:schema></types>
  <message name="In"><part name="parameters" element="t:Request"/></message>
  <message name="Out"><part name="parameters" element="t:Response"/></message>
  <message name="Head"><part name="auth" element="t:Auth"/></message>
  <portType name="P"><operation name="Op"><input message="t:In"/><output message="t:Out"/></operation></portType>
  <binding name="B" type="t:P"><soap:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="Op"><soap:operation soapAction="urn:t#Op"/>
      <input><soap:body use="literal"/>{header}</input><output><soap:body use="literal"/>{header_out}</output></operation></binding>
  <service name="S"><port name="P" binding="t:B"><soap:address location="http://test.invalid/"/></port></service>
</definitions>"""

HEADER = '<soap:header message="t:Head" part="auth" use="literal"/>'
ENVELOPES = {"soap": "http://schemas.xmlsoap.org/soap/envelope/", "soap12": "http://www.w3.org/2003/05/soap-envelope"}


@dataclasses.dataclass
class Case:
    group: str
    name: str
    schema: str
    """The content of the types of Request and Response, unless it has elements of these names."""
    arguments: Callable[[Any, Any], dict[str, Any]] | dict[str, Any] | None = None
    answer: str | None = None
    """The content of the Response, unless it begins with `!`: then that of the Body."""
    verdict: str = "same"
    why: str = ""
    soap: str = "soap"
    header: str = ""
    header_out: str = ""
    answer_header: str = ""
    settings: dict[str, Any] = dataclasses.field(default_factory=dict)
    status: int = 200
    options: Callable[[Any], dict[str, Any]] | None = None
    """More arguments of the client."""
    then: Callable[[Any, Any, Any], Any] | None = None
    """What else is compared, of the module, the client and the result."""


@dataclasses.dataclass
class Outcome:
    request: Any = None
    value: Any = None
    more: Any = None
    by: str = ""
    """Who converted the request and the answer: the codec, or zeep's rules."""


def wsdl_of(case: Case) -> bytes:
    schema = case.schema
    if 'name="Request"' not in schema:
        types, _, content = schema.rpartition("---")
        body = (
            content
            if content.lstrip().startswith("<xsd:complexType")
            else f"<xsd:complexType>{content}</xsd:complexType>"
        )
        schema = (
            f'{types}<xsd:element name="Request">{body}</xsd:element><xsd:element name="Response">{body}</xsd:element>'
        )
    text = WSDL.format(soap=case.soap, schema=schema, header=case.header, header_out=case.header_out)
    return text.encode()


def run(zeep: Any, case: Case) -> Outcome:
    import io

    import requests

    outcome = Outcome()
    sent: list[bytes] = []

    class Recorded(zeep.transports.Transport):
        def post(self, address: Any, message: Any, headers: Any) -> Any:
            sent.append(message)
            answer = case.answer or ""
            body = answer[1:] if answer.startswith("!") else f'<t:Response xmlns:t="{T}">{answer}</t:Response>'
            head = f"<e:Header>{case.answer_header}</e:Header>" if case.answer_header else ""
            response = requests.Response()
            response.status_code = case.status
            response.headers["Content-Type"] = "text/xml; charset=utf-8"
            response._content = (
                f'<e:Envelope xmlns:e="{ENVELOPES[case.soap]}" xmlns:xsi="{XSI}" xmlns:xsd="http://www.w3.org/2001/XMLSchema" '
                f'xmlns:t="{T}">{head}<e:Body>{body}</e:Body></e:Envelope>'
            ).encode()
            if answer == "!!":
                response._content = b"no xml"
            return response

    try:
        more = case.options(zeep) if case.options else {}
        client = zeep.Client(
            io.BytesIO(wsdl_of(case)), transport=Recorded(), settings=zeep.Settings(**case.settings), **more
        )
        operation = client.service._binding.get("Op")
        given = case.arguments(zeep, client) if callable(case.arguments) else case.arguments
        given = dict(given or {})
        args = given.pop("_args", ())
    except Exception as error:
        outcome.request = _error(error)
        return outcome
    by = []
    result: Any = None
    try:
        if case.arguments is not None or case.answer is not None:
            if hasattr(operation, "encode"):
                by.append("codec" if operation.encode(args, given) is not None else "rules")
            result = client.service.Op(*args, **given)
            outcome.value = plain(result) if case.answer is not None else None
    except Exception as error:
        if sent:
            outcome.value = _error(error)
        else:
            outcome.request = _error(error)
    if sent:
        outcome.request = infoset(etree.fromstring(sent[-1]))
    if case.answer is not None and hasattr(operation, "decode") and case.status == 200 and not case.answer_header:
        from bsoap.zeep import _native

        body = (
            case.answer[1:] if case.answer.startswith("!") else f'<t:Response xmlns:t="{T}">{case.answer}</t:Response>'
        )
        text = (
            f'<e:Envelope xmlns:e="{ENVELOPES[case.soap]}" xmlns:xsi="{XSI}" xmlns:xsd="http://www.w3.org/2001/XMLSchema" '
            f'xmlns:t="{T}"><e:Body>{body}</e:Body></e:Envelope>'
        )
        by.append("rules" if operation.decode(text.encode()) is _native.NOT_SENT else "codec")
    outcome.by = "/".join(by)
    if case.then:
        try:
            outcome.more = plain(case.then(zeep, client, result))
        except Exception as error:
            outcome.more = _error(error)
    return outcome


def _error(error: BaseException) -> Any:
    return ("raised", type(error).__name__, str(error))


def infoset(element: Any) -> Any:
    """An element without prefixes, so that two ways of writing it are equal."""
    attributes = []
    for name, value in sorted(element.attrib.items()):
        if name == f"{{{XSI}}}type" and ":" in value:
            prefix, local = value.split(":")
            value = f"{{{element.nsmap[prefix]}}}{local}"
        attributes.append((name, value))
    children = [infoset(child) for child in element if isinstance(child.tag, str)]
    text = (element.text or "").strip() if children else element.text or ""
    return (element.tag, attributes, text, children)


def plain(value: Any) -> Any:
    """A value of either module as plain Python, with the class of objects."""
    if hasattr(value, "__values__"):
        return (type(value).__name__, {key: plain(item) for key, item in value.__values__.items()})
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)) or type(value).__name__ == "deque":
        return [plain(item) for item in value]
    if etree.iselement(value):
        return infoset(value)
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.UTC)
    if type(value).__name__ == "Response" and hasattr(value, "content"):
        return [value.status_code, value.content]
    if value != value:
        return "NaN"
    return value


def both(case: Case) -> tuple[Outcome, Outcome]:
    import zeep as original
    import zeep.wsse
    from bsoap import zeep as ours

    return run(original, case), run(ours, case)


def is_same(one: Outcome, other: Outcome) -> bool:
    return (one.request, one.value, one.more) == (other.request, other.value, other.more)


def seq(*elements: str, attributes: str = "") -> str:
    return f"<xsd:sequence>{''.join(elements)}</xsd:sequence>{attributes}"


def el(name: str, kind: str = "xsd:string", more: str = "") -> str:
    return f'<xsd:element name="{name}" type="{kind}" {more}/>'


MANY = 'minOccurs="0" maxOccurs="unbounded"'
OPTIONAL = 'minOccurs="0"'
BASE = (
    '<xsd:complexType name="Base"><xsd:sequence><xsd:element name="id" type="xsd:int"/></xsd:sequence></xsd:complexType>'
    '<xsd:complexType name="Derived"><xsd:complexContent><xsd:extension base="t:Base"><xsd:sequence>'
    '<xsd:element name="more" type="xsd:string"/></xsd:sequence></xsd:extension></xsd:complexContent></xsd:complexType>---'
)
ITEM = (
    '<xsd:complexType name="Item"><xsd:sequence><xsd:element name="sku" type="xsd:string"/>'
    '<xsd:element name="count" type="xsd:int" minOccurs="0"/></xsd:sequence></xsd:complexType>---'
)
PRICE = (
    '<xsd:complexType name="Price"><xsd:simpleContent><xsd:extension base="xsd:decimal">'
    '<xsd:attribute name="currency" type="xsd:string"/></xsd:extension></xsd:simpleContent></xsd:complexType>---'
)
ANY = '<xsd:any minOccurs="0" maxOccurs="unbounded" processContents="lax" namespace="##any"/>'
CHOICES = f"<xsd:choice>{el('a', 'xsd:int')}{el('b')}</xsd:choice>"
CHOICE_MANY = f'<xsd:choice maxOccurs="unbounded">{el("a", "xsd:int")}{el("b")}</xsd:choice>'
FAULT = (
    "!<e:Fault><faultcode>e:Server</faultcode><faultstring>broken</faultstring><faultactor>me</faultactor>"
    "<detail><t:Auth><t:key>k</t:key></t:Auth></detail></e:Fault>"
)
FAULT12 = (
    "!<e:Fault><e:Code><e:Value>e:Sender</e:Value><e:Subcode><e:Value>t:Bad</e:Value></e:Subcode></e:Code><e:Reason>"
    '<e:Text xml:lang="en">broken</e:Text></e:Reason><e:Detail><t:Auth><t:key>k</t:key></t:Auth></e:Detail></e:Fault>'
)


def r(*elements: str) -> str:
    return "".join(elements)


def x(name: str, text: Any, more: str = "") -> str:
    return f"<t:{name}{more}>{text}</t:{name}>"


def fault_fields(zeep: Any, client: Any, result: Any) -> Any:
    try:
        client.service.Op()
    except zeep.exceptions.Fault as fault:
        codes = [str(code) for code in fault.subcodes or []]
        return [fault.message, fault.code, fault.actor, fault.detail, codes]
    return "no fault"


def history(zeep: Any) -> dict[str, Any]:
    return {"plugins": [zeep.plugins.HistoryPlugin()]}


def last(zeep: Any, client: Any, result: Any) -> Any:
    plugin = client.plugins[0]
    return [
        plugin.last_sent["envelope"],
        plugin.last_sent["http_headers"]["SOAPAction"],
        plugin.last_received["envelope"],
    ]


def changing(zeep: Any) -> dict[str, Any]:
    class Changing(zeep.Plugin):
        def egress(self, envelope: Any, http_headers: Any, operation: Any, binding_options: Any) -> Any:
            envelope.find(".//{urn:t}a").text = "changed"
            http_headers["X-Op"] = operation.name
            return envelope, http_headers

        def ingress(self, envelope: Any, http_headers: Any, operation: Any) -> Any:
            envelope.find(".//{urn:t}a").text += "!"
            return envelope, http_headers

    return {"plugins": [Changing()]}


def header_element(zeep: Any) -> Any:
    xsd = zeep.xsd
    kind = xsd.ComplexType(
        xsd.Sequence([xsd.Element("{urn:h}user", xsd.String()), xsd.Element("{urn:h}level", xsd.Integer())])
    )
    return xsd.Element("{urn:h}Login", kind)(user="me", level=3)


ONE = seq(el("a"), el("b", "xsd:int", OPTIONAL))
CASES = [
    Case("arguments", "named", ONE, {"a": "x", "b": 2}, r(x("a", "y"), x("b", 3))),
    Case("arguments", "positional", ONE, {"_args": ("x", 2)}, r(x("a", "y"))),
    Case("arguments", "an optional one is absent", ONE, {"a": "x"}, x("a", "y")),
    Case("arguments", "a required one is missing", ONE, {"b": 2}),
    Case("arguments", "an unknown one", ONE, {"a": "x", "c": 1}),
    Case("arguments", "too many", ONE, {"_args": ("x", 2, 3)}),
    Case("arguments", "None for an optional one", ONE, {"a": "x", "b": None}, x("a", "y")),
    Case("arguments", "SkipValue for a required one", ONE, lambda z, c: {"a": z.xsd.SkipValue, "b": 1}),
    Case("arguments", "no arguments", "<xsd:sequence/>", {}, ""),
    Case("results", "the single member is returned", seq(el("a")), {"a": "x"}, x("a", "y")),
    Case("results", "one of two members is absent", ONE, {"a": "x"}, x("a", "y")),
    Case("results", "an empty string", ONE, {"a": ""}, x("a", "")),
    Case("results", "a list of the single member", seq(el("a", "xsd:int", MANY)), {"a": [1, 2]}, r(x("a", 1), x("a", 2))),
    Case("results", "an empty list", seq(el("a", "xsd:int", MANY)), {"a": []}, ""),
    Case("results", "an unknown element is refused", ONE, {"a": "x"}, r(x("a", "y"), x("zz", 1))),
    Case("results", "an unknown element with strict=False", ONE, {"a": "x"}, r(x("a", "y"), x("zz", 1)), settings={"strict": False}),
    Case("results", "a missing element is refused", ONE, {"a": "x"}, x("b", 1)),
    Case(
        "results", "elements in another order", ONE, {"a": "x"}, r(x("b", 1), x("a", "y")), settings={"xsd_ignore_sequence_order": True}
    ),
    Case("results", "elements without their namespace", ONE, {"a": "x"}, "<a>y</a><b>1</b>"),
    Case("results", "no XML", ONE, {"a": "x"}, "!!", then=lambda z, c, v: None),
    Case("nested", "a dictionary", ITEM + seq(el("item", "t:Item")), {"item": {"sku": "s", "count": 2}}, x("item", x("sku", "s"))),
    Case(
        "nested",
        "objects of get_type",
        ITEM + seq(el("item", "t:Item", MANY)),
        lambda z, c: {"item": [c.get_type("ns0:Item")(sku="s"), c.get_type("{urn:t}Item")(sku="u", count=1)]},
        r(x("item", x("sku", "s")), x("item", r(x("sku", "u"), x("count", 1)))),
    ),
    Case(
        "nested", "objects of type_factory", ITEM + seq(el("item", "t:Item")), lambda z, c: {"item": c.type_factory("ns0").Item("s", 4)}
    ),
    Case("nested", "an unknown key in a dictionary", ITEM + seq(el("item", "t:Item")), {"item": {"sku": "s", "zz": 2}}),
    Case("nested", "an empty element", ITEM + seq(el("item", "t:Item", OPTIONAL)), {}, x("item", "")),
    Case("nested", "a missing element inside", ITEM + seq(el("item", "t:Item")), {"item": {"count": 2}}),
    Case("nested", "one object where a list is expected", ITEM + seq(el("item", "t:Item", MANY)), {"item": {"sku": "s"}}),
    Case("nested", "an array of numbers", seq(el("v", "xsd:double", MANY)), {"v": [1.5, 2.25]}, r(x("v", "1.5"), x("v", "2.25"))),
    Case(
        "nested",
        "an array of flat structs",
        '<xsd:complexType name="P"><xsd:sequence><xsd:element name="x" type="xsd:int"/><xsd:element name="y" type="xsd:double"/>'
        "</xsd:sequence></xsd:complexType>---" + seq(el("p", "t:P", MANY)),
        {"p": [{"x": 1, "y": 1.5}, {"x": 2, "y": 2.5}]},
        r(x("p", r(x("x", 1), x("y", 1.5))), x("p", r(x("x", 2), x("y", 2.5)))),
    ),
    Case(
        "nested",
        "xsd:all",
        f"<xsd:all>{el('a')}{el('b', 'xsd:int', OPTIONAL)}</xsd:all>",
        {"b": 1, "a": "x"},
        r(x("b", 1), x("a", "x")),
    ),
    Case(
        "nested",
        "xsd:group",
        f'<xsd:group name="g"><xsd:sequence>{el("a")}{el("b")}</xsd:sequence></xsd:group>---<xsd:sequence><xsd:group ref="t:g"/>'
        f"{el('c')}</xsd:sequence>",
        {"a": "1", "b": "2", "c": "3"},
        r(x("a", 1), x("b", 2), x("c", 3)),
    ),
    Case(
        "nested",
        "a repeated sequence",
        f'<xsd:sequence maxOccurs="unbounded">{el("a")}{el("b")}</xsd:sequence>',
        {"_value_1": [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]},
        r(x("a", 1), x("b", 2), x("a", 3), x("b", 4)),
    ),
    Case(
        "nested",
        "a repeated sequence in a sequence",
        seq(el("h"), f'<xsd:sequence maxOccurs="unbounded">{el("a")}{el("b")}</xsd:sequence>'),
        {"h": "0", "_value_1": [{"a": "1", "b": "2"}]},
        r(x("h", 0), x("a", 1), x("b", 2), x("a", 3), x("b", 4)),
    ),
    Case(
        "nested",
        "a recursive type",
        '<xsd:complexType name="N"><xsd:sequence><xsd:element name="v" type="xsd:int"/><xsd:element name="n" type="t:N" minOccurs="0"/>'
        "</xsd:sequence></xsd:complexType>---" + seq(el("n", "t:N")),
        {"n": {"v": 1, "n": {"v": 2}}},
        x("n", r(x("v", 1), x("n", x("v", 2)))),
    ),
    Case("choices", "the first branch", CHOICES, {"a": 1}, x("a", 1)),
    Case("choices", "the second branch", CHOICES, {"b": "x"}, x("b", "x")),
    Case("choices", "both branches", CHOICES, {"a": 1, "b": "x"}),
    Case("choices", "none", CHOICES, {}),
    Case("choices", "in a sequence", seq(el("h"), CHOICES), {"h": "0", "b": "x"}, r(x("h", 0), x("a", 1))),
    Case(
        "choices",
        "repeated: _value_1",
        CHOICE_MANY,
        {"_value_1": [{"a": 1}, {"b": "x"}, {"a": 2}]},
        r(x("a", 1), x("b", "x"), x("a", 2)),
    ),
    Case(
        "choices",
        "repeated, in a sequence",
        seq(el("h"), CHOICE_MANY),
        {"h": "0", "_value_1": [{"b": "x"}, {"a": 2}]},
        r(x("h", 0), x("b", "x"), x("a", 2)),
    ),
    Case("choices", "repeated: an unknown branch", CHOICE_MANY, {"_value_1": [{"zz": 1}]}),
    Case(
        "choices",
        "of sequences",
        f"<xsd:choice>{seq(el('a'), el('b'))}{seq(el('c'), el('d'))}</xsd:choice>",
        {"c": "1", "d": "2"},
        r(x("a", 1), x("b", 2)),
    ),
    Case(
        "choices",
        "with a repeated element",
        f'<xsd:choice>{el("a", "xsd:int", MANY)}{el("b")}</xsd:choice>',
        {"a": [1, 2]},
        x("b", "x"),
    ),
    Case("attributes", "of a complex type", seq(el("a"), attributes='<xsd:attribute name="id" type="xsd:int"/>'), {"a": "x", "id": 3}),
    Case(
        "attributes",
        "in an answer",
        seq(el("a"), attributes='<xsd:attribute name="id" type="xsd:int"/>'),
        None,
        '!<t:Response id="4"><t:a>y</t:a></t:Response>',
        then=None,
    ),
    Case(
        "attributes",
        "required and missing",
        seq(el("a"), attributes='<xsd:attribute name="id" type="xsd:int" use="required"/>'),
        {"a": "x"},
    ),
    Case(
        "attributes",
        "with a default",
        seq(el("a"), attributes='<xsd:attribute name="id" type="xsd:int" default="7"/>'),
        {"a": "x"},
    ),
    Case(
        "attributes",
        "of the name of an element",
        seq(el("id"), attributes='<xsd:attribute name="id" type="xsd:int"/>'),
        {"id": "x", "attr__id": 3},
        '!<t:Response id="4"><t:id>y</t:id></t:Response>',
    ),
    Case(
        "attributes",
        "xsd:anyAttribute: _attr_1",
        seq(el("a"), attributes='<xsd:anyAttribute processContents="lax"/>'),
        {"a": "x", "_attr_1": {"k": "v"}},
        '!<t:Response k="4"><t:a>y</t:a></t:Response>',
    ),
    Case(
        "attributes",
        "of simple content: _value_1",
        PRICE + seq(el("p", "t:Price")),
        {"p": {"_value_1": Decimal("1.50"), "currency": "EUR"}},
        '<t:p currency="EUR">2.50</t:p>',
    ),
    Case("attributes", "simple content alone", PRICE + seq(el("p", "t:Price")), {"p": {"_value_1": "1.5"}}, "<t:p>2.50</t:p>"),
    Case(
        "attributes",
        "simple content as the argument",
        PRICE + seq(el("p", "t:Price")),
        {"p": Decimal("1.5")},
        "<t:p>2.50</t:p>",
    ),
    Case(
        "attributes",
        "of an attribute group",
        '<xsd:attributeGroup name="g"><xsd:attribute name="k" type="xsd:string"/></xsd:attributeGroup>---'
        + seq(el("a"), attributes='<xsd:attributeGroup ref="t:g"/>'),
        {"a": "x", "k": "v"},
        '!<t:Response k="4"><t:a>y</t:a></t:Response>',
    ),
    Case("wildcards", "elements of lxml", seq(el("a"), ANY),
         lambda z, c: {"a": "x", "_value_1": [etree.XML("<z:q xmlns:z='urn:z'>1</z:q>")]}),
    Case(
        "wildcards",
        "AnyObject",
        seq(el("a"), ANY),
        lambda z, c: {"a": "x", "_value_1": [z.AnyObject(c.get_element("ns0:Auth"), c.get_element("ns0:Auth")(key="k"))]},
    ),
    Case("wildcards", "an unknown element in an answer", seq(el("a"), ANY), None, r(x("a", "y"), '<q xmlns="urn:z">1</q>')),
    Case("wildcards", "a known element in an answer", seq(el("a"), ANY), None, r(x("a", "y"), x("Auth", x("key", "k")))),
    Case("wildcards", "before a declared element, which it takes", seq(el("a"), ANY, el("b", "xsd:string", OPTIONAL)), None,
         r(x("a", "y"), x("b", "z"))),
    Case("wildcards", "a value of the wrong type", seq(el("a"), ANY), {"a": "x", "_value_1": ["text"]}),
    Case("wildcards", "one at most", seq(el("a"), '<xsd:any minOccurs="0" processContents="skip"/>'), None, r(x("a", "y"), x("q", 1))),
    Case("wildcards", "xsd:anyType with a text", seq(el("a", "xsd:anyType")), {"a": "x"}, x("a", "y")),
    Case(
        "wildcards",
        "xsd:anyType with xsi:type",
        seq(el("a", "xsd:anyType")),
        lambda z, c: {"a": z.xsd.AnyObject(z.xsd.Int(), 4)},
        x("a", 5, ' xsi:type="xsd:int"'),
    ),
    Case("wildcards", "xsd:anyType with elements", seq(el("a", "xsd:anyType")), None, x("a", x("q", 1))),
    Case(
        "wildcards",
        "mixed content",
        f'<xsd:complexType mixed="true">{seq(el("a"))}</xsd:complexType>',
        {"a": "x"},
        f"text {x('a', 'y')} text",
    ),
    Case(
        "derived types",
        "an object of a derived type",
        BASE + seq(el("o", "t:Base")),
        lambda z, c: {"o": c.get_type("ns0:Derived")(id=1, more="m")},
        '<t:o xsi:type="t:Derived"><t:id>1</t:id><t:more>m</t:more></t:o>',
    ),
    Case(
        "derived types",
        "in a list",
        BASE + seq(el("o", "t:Base", MANY)),
        lambda z, c: {"o": [c.get_type("ns0:Derived")(id=1, more="m"), c.get_type("ns0:Base")(id=2)]},
        '<t:o xsi:type="t:Derived"><t:id>1</t:id><t:more>m</t:more></t:o><t:o><t:id>2</t:id></t:o>',
    ),
    Case("derived types", "the base type", BASE + seq(el("o", "t:Base")), {"o": {"id": 1}}, x("o", x("id", 1))),
    Case("derived types", "the derived type is declared", BASE + seq(el("o", "t:Derived")), {"o": {"id": 1, "more": "m"}}),
    Case(
        "derived types",
        "xsi:type of an unknown type",
        BASE + seq(el("o", "t:Base")),
        None,
        '<t:o xsi:type="t:Nope"><t:id>1</t:id></t:o>',
        then=None,
    ),
    Case("nil", "Nil", seq(el("a", "xsd:int", 'nillable="true"'), el("b")), lambda z, c: {"a": z.xsd.Nil, "b": "x"}),
    Case("nil", "None for what must be there", seq(el("a", "xsd:int", 'nillable="true"'), el("b")), {"a": None, "b": "x"}),
    Case("nil", "None for what may be absent", seq(el("a", "xsd:int", 'nillable="true" minOccurs="0"'), el("b")), {"a": None, "b": "x"}),
    Case("nil", "a number that is nil", ONE.replace("/>", ' nillable="true"/>'), None, r(x("a", "y"), x("b", "", ' xsi:nil="true"'))),
    Case(
        "nil",
        "an object that is nil",
        ITEM + seq(el("item", "t:Item", 'nillable="true"'), el("b")),
        None,
        r(x("item", "", ' xsi:nil="true"'), x("b", "x")),
    ),
    Case(
        "nil",
        "in a list",
        seq(el("a", "xsd:int", 'nillable="true" ' + MANY)),
        {"a": [1, None]},
        r(x("a", 1), x("a", "", ' xsi:nil="true"')),
    ),
    Case("datatypes", "numbers", seq(el("i", "xsd:int"), el("d", "xsd:double"), el("f", "xsd:float")), {"i": 1, "d": 1.5, "f": 2.5},
         r(x("i", 1), x("d", "1.5"), x("f", "1.1"))),
    Case("datatypes", "a number as a text", seq(el("i", "xsd:int"), el("d", "xsd:double")), {"i": "1", "d": "1.5"}),
    Case("datatypes", "the exponent of a double", seq(el("d", "xsd:double")), {"d": 1e21}, x("d", "1E21")),
    Case("datatypes", "infinity", seq(el("d", "xsd:double")), {"d": float("inf")}, x("d", "INF"), "different",
         "`INF` is sent instead of `inf`, which is no xsd:double"),
    Case("datatypes", "NaN", seq(el("d", "xsd:double")), {"d": float("nan")}, x("d", "NaN"), "different",
         "`NaN` is sent instead of `nan`, which is no xsd:double"),
    Case("datatypes", "decimal", seq(el("d", "xsd:decimal")), {"d": Decimal("1.50")}, x("d", "2.50")),
    Case("datatypes", "an integer beyond 64 bits", seq(el("d", "xsd:integer")), {"d": 10**30}, x("d", 10**30)),
    Case("datatypes", "boolean", seq(el("a", "xsd:boolean"), el("b", "xsd:boolean")), {"a": True, "b": 0}, r(x("a", "1"), x("b", "false"))),
    Case("datatypes", "dateTime", seq(el("a", "xsd:dateTime")),
         {"a": datetime.datetime(2020, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)}, x("a", "2020-01-02T03:04:05.5+02:00")),
    Case("datatypes", "dateTime without a time zone", seq(el("a", "xsd:dateTime")), {"a": datetime.datetime(2020, 1, 2)},
         x("a", "2020-01-02T03:04:05")),
    Case("datatypes", "date and time", seq(el("a", "xsd:date"), el("b", "xsd:time")),
         {"a": datetime.date(2020, 1, 2), "b": datetime.time(3, 4)}, r(x("a", "2020-01-02"), x("b", "03:04:05"))),
    Case("datatypes", "a date with a time zone", seq(el("a", "xsd:date")), None, x("a", "2020-01-02+02:00")),
    Case("datatypes", "duration", seq(el("a", "xsd:duration")), {"a": datetime.timedelta(hours=1)}, x("a", "PT1H30M")),
    Case("datatypes", "a duration with months", seq(el("a", "xsd:duration")), None, x("a", "P1Y2M")),
    Case("datatypes", "base64Binary", seq(el("a", "xsd:base64Binary")), {"a": b"abc"}, x("a", "YWJj")),
    Case("datatypes", "hexBinary", seq(el("a", "xsd:hexBinary")), {"a": "0AFF"}, x("a", "0AFF")),
    Case("datatypes", "gYear and gYearMonth", seq(el("a", "xsd:gYear"), el("b", "xsd:gYearMonth")),
         {"a": (2020, None), "b": (2020, 2, None)}, r(x("a", "2020"), x("b", "2020-02"))),
    Case("datatypes", "anyURI and QName", seq(el("a", "xsd:anyURI"), el("b", "xsd:QName")), None, r(x("a", "urn:x"), x("b", "t:x"))),
    Case("datatypes", "an enumeration",
         '<xsd:simpleType name="E"><xsd:restriction base="xsd:string"><xsd:enumeration value="a"/></xsd:restriction></xsd:simpleType>---'
         + seq(el("a", "t:E")), {"a": "a"}, x("a", "a")),
    Case("datatypes", "a value that an enumeration does not list",
         '<xsd:simpleType name="E"><xsd:restriction base="xsd:string"><xsd:enumeration value="a"/></xsd:restriction></xsd:simpleType>---'
         + seq(el("a", "t:E")), {"a": "q"}, x("a", "q")),
    Case("datatypes", "a restricted integer",
         '<xsd:simpleType name="E"><xsd:restriction base="xsd:int"><xsd:maxInclusive value="5"/></xsd:restriction></xsd:simpleType>---'
         + seq(el("a", "t:E")), {"a": 4}, x("a", 5)),
    Case("datatypes", "a list", '<xsd:simpleType name="L"><xsd:list itemType="xsd:int"/></xsd:simpleType>---' + seq(el("a", "t:L")),
         {"a": [1, 2]}, x("a", "3 4")),
    Case("datatypes", "a union",
         '<xsd:simpleType name="U"><xsd:union memberTypes="xsd:int xsd:string"/></xsd:simpleType>---' + seq(el("a", "t:U")),
         {"a": "x"}, x("a", "5")),
    Case("datatypes", "a union of integers",
         '<xsd:simpleType name="U"><xsd:union memberTypes="xsd:int xsd:long"/></xsd:simpleType>---' + seq(el("a", "t:U")),
         {"a": 4}, x("a", "5")),
    Case("datatypes", "a text that is no number", seq(el("a", "xsd:int"), el("b")), None, r(x("a", "q"), x("b", "x"))),
    Case("datatypes", "an object for a string", ONE, {"a": 5}),
    Case("datatypes", "a list for a string", ONE, {"a": ["x"]}),
    Case("headers", "an element of lxml", ONE, lambda z, c: {"a": "x", "_soapheaders": [etree.XML("<h xmlns='urn:h'>1</h>")]}),
    Case("headers", "a value of xsd.Element", ONE, lambda z, c: {"a": "x", "_soapheaders": [header_element(z)]}),
    Case("headers", "declared, as a dictionary", ONE, {"a": "x", "_soapheaders": {"auth": {"key": "k"}}}, header=HEADER),
    Case("headers", "declared, as an object", ONE, lambda z, c: {"a": "x", "_soapheaders": [c.get_element("ns0:Auth")(key="k")]},
         header=HEADER),
    Case("headers", "a dictionary without a declaration", ONE, {"a": "x", "_soapheaders": {"auth": {"key": "k"}}}),
    Case("headers", "another kind of value", ONE, {"a": "x", "_soapheaders": 5}),
    Case("headers", "a declared one in an answer: .header and .body", ONE, {"a": "x"}, x("a", "y"), header_out=HEADER,
         answer_header=x("Auth", x("key", "k"))),
    Case("headers", "default headers", ONE, None, None,
         then=lambda z, c, v: (c.set_default_soapheaders([etree.XML("<h xmlns='urn:h'>1</h>")]), c.service.Op(a="x"),
                               c.service.Op._merge_soap_headers([etree.XML("<i/>")]))[2]),
    Case("faults", "SOAP 1.1", ONE.replace("/>", f" {OPTIONAL}/>", 1), {}, FAULT, status=500, then=fault_fields),
    Case("faults", "SOAP 1.2", ONE.replace("/>", f" {OPTIONAL}/>", 1), {}, FAULT12, status=500, soap="soap12", then=fault_fields),
    Case("faults", "with the HTTP status 200", ONE.replace("/>", f" {OPTIONAL}/>", 1), {}, FAULT, then=fault_fields),
    Case("faults", "the detail by wsdl.types.deserialize", ONE.replace("/>", f" {OPTIONAL}/>", 1), {}, FAULT, status=500,
         then=lambda z, c, v: c.wsdl.types.deserialize(etree.XML("<Auth xmlns='urn:t'><key>k</key></Auth>"))),
    Case("faults", "a status without a fault", ONE, {"a": "x"}, x("a", "y"), status=500),
    Case("settings", "raw_response", ONE, {"a": "x"}, x("a", "y"), settings={"raw_response": True},
         then=lambda z, c, v: v.status_code),
    Case("settings", "as a context manager", ONE, None, None,
         then=lambda z, c, v: [_in(c), c.settings.strict]),
    Case("settings", "extra_http_headers", ONE, {"a": "x"}, x("a", "y"), settings={"extra_http_headers": {"X-A": "1"}},
         options=history, then=lambda z, c, v: c.plugins[0].last_sent["http_headers"]["X-A"]),
    Case("plugins", "HistoryPlugin", ONE, {"a": "x"}, x("a", "y"), options=history, then=last),
    Case("plugins", "that change both messages", ONE, {"a": "x"}, x("a", "y"), options=changing),
    Case("wsse", "UsernameToken", ONE, {"a": "x"}, x("a", "y"),
         options=lambda z: {"wsse": z.wsse.username.UsernameToken("me", "secret")}),
    Case("wsse", "UsernameToken with a digest", ONE, {"a": "x"}, x("a", "y"),
         options=lambda z: {"wsse": z.wsse.username.UsernameToken(
             "me", "secret", use_digest=True, nonce="n", created=datetime.datetime(2020, 1, 1), zulu_timestamp=True)}),
    Case("wsse", "with a Timestamp", ONE, {"a": "x"}, x("a", "y"),
         options=lambda z: {"wsse": z.wsse.username.UsernameToken("me", "secret", timestamp_token=etree.XML("<Timestamp/>"))}),
    Case("wsse", "Compose", ONE, {"a": "x"}, x("a", "y"),
         options=lambda z: {"wsse": z.wsse.Compose([z.wsse.UsernameToken("me", "secret")])}),
    Case("wsse", "Signature", ONE, None, None, "different", "a clear error: bsoap.zeep has no XML signatures",
         options=lambda z: {"wsse": z.wsse.signature.MemorySignature(b"", b"")}),
    Case("helpers", "serialize_object", ITEM + seq(el("item", "t:Item", MANY), el("b", "xsd:string", OPTIONAL)), {},
         r(x("item", x("sku", "s"))), then=lambda z, c, v: z.helpers.serialize_object(v, dict)),
    Case("helpers", "create_xml_soap_map", seq(el("a", "xsd:anyType")), None, None,
         then=lambda z, c, v: _rendered(z, z.helpers.create_xml_soap_map({"k": "v", "n": 1}))),
    Case("values", "obj['name'], in, iteration, len", ONE, {"a": "x"}, x("a", "y"),
         then=lambda z, c, v: [v["a"], "b" in v, "zz" in v, list(v), len(v), dir(v)]),
    Case("values", "a member is set and sent", ITEM + seq(el("item", "t:Item")), lambda z, c: {"item": _set(c.get_type("ns0:Item")())}),
    Case("values", "an unknown member", ONE, {"a": "x"}, x("a", "y"), then=lambda z, c, v: v.zz),
    Case("values", "repr", ITEM + seq(el("item", "t:Item", MANY), el("b", "xsd:string", OPTIONAL)), {}, x("item", x("sku", "s")),
         then=lambda z, c, v: repr(v)),
    Case("values", "equality and copies", ONE, {"a": "x"}, x("a", "y"), then=lambda z, c, v: _copies(v)),
    Case("values", "pickle and __json__", ONE, {"a": "x"}, x("a", "y"), then=lambda z, c, v: _pickled(v)),
    Case("types", "signatures",
         ITEM + seq(el("item", "t:Item", MANY), CHOICES, ANY, attributes='<xsd:attribute name="id" type="xsd:int"/>'),
         None, None, then=lambda z, c, v: [str(c.service._binding.get("Op")), c.service.Op.__doc__]),
    Case("types", "namespaces and prefixes", ONE, None, None, then=lambda z, c, v: dict(c.namespaces)),
    Case("types", "set_ns_prefix", ITEM + seq(el("i", "t:Item")), None, None,
         then=lambda z, c, v: (c.set_ns_prefix("q", "urn:t"), c.get_type("q:Item")(sku="s"), dict(c.namespaces))[1:]),
    Case("types", "an unknown type", ONE, None, None, then=lambda z, c, v: c.get_type("ns0:Nope")),
    Case("types", "an unknown prefix", ONE, None, None, then=lambda z, c, v: c.get_type("nope:Nope")),
    Case("types", "an unknown namespace", ONE, None, None, then=lambda z, c, v: c.get_element("{urn:nope}Nope")),
    Case("types", "an unknown operation", ONE, None, None, then=lambda z, c, v: c.service.Nope),
    Case("types", "services, ports, bindings and operations", ONE, None, None, then=lambda z, c, v: _described(c)),
    Case("types", "wsdl.dump()", ITEM + seq(el("i", "t:Item")), None, None, "different",
         "zeep also has an empty line for its element xsd:schema", then=lambda z, c, v: _dumped(c)),
    Case("types", "create_message", ONE, None, None, then=lambda z, c, v: c.create_message(c.service, "Op", a="x")),
    Case("types", "create_service", ONE, None, None,
         then=lambda z, c, v: c.create_service("{urn:t}B", "http://other.invalid/")._binding_options),
    Case("types", "bind of an unknown port", ONE, None, None, then=lambda z, c, v: c.bind("S", "Nope")),
    Case("one element", "of a simple type", '<xsd:element name="Request" type="xsd:int"/><xsd:element name="Response" type="xsd:int"/>',
         {"_args": (5,)}, "!<t:Response xmlns:t='urn:t'>7</t:Response>"),
]  # fmt: skip


def _in(client: Any) -> Any:
    with client.settings(strict=False, raw_response=True):
        return [client.settings.strict, client.settings.raw_response]


def _rendered(zeep: Any, value: Any) -> Any:
    parent = etree.Element("parent")
    value._xsd_type.render(parent, value)
    return parent


def _set(item: Any) -> Any:
    item.sku = "s"
    item["count"] = 4
    return item


def _copies(value: Any) -> Any:
    import copy

    other = copy.deepcopy(value)
    first = other == value
    other.a = "changed"
    return [first, other == value, value.a]


def _pickled(value: Any) -> Any:
    import pickle

    return [dict(pickle.loads(pickle.dumps(value)).__values__), dict(value.__json__())]


def _described(client: Any) -> Any:
    found = []
    for service in client.wsdl.services.values():
        for port in service.ports.values():
            for operation in port.binding._operations.values():
                members = [(name, element.type.name) for name, element in operation.input.body.type.elements]
                options = dict(port.binding_options)
                found.append(
                    [service.name, port.name, str(port.binding), operation.name, operation.soapaction, members, options]
                )
    return found + [list(client.wsdl.messages), list(client.wsdl.port_types), list(client.wsdl.bindings)]


def _dumped(client: Any) -> Any:
    import contextlib
    import io

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        client.wsdl.dump()
    return sorted(out.getvalue().splitlines())


INTRO = """# Parity with zeep

Each case runs through zeep {version} and through `bsoap.zeep`. Compared are the envelopes, without regard to prefixes; the values; and the
errors with their messages. *By* says who converted the request and the answer: the codec of bsoap, or zeep's rules with lxml, for what the
codec refuses. This page is written by `python/tests/zeep_parity.py --write`.

{same} of {all} cases are the same.
"""


def table() -> str:
    import zeep

    rows = []
    same = 0
    group = ""
    for case in CASES:
        one, other = both(case)
        found = "same" if is_same(one, other) else "different"
        same += found == "same"
        if case.group != group:
            group = case.group
            rows.append(f"\n## {group[0].upper()}{group[1:]}\n\n| case | | by | |\n|---|---|---|---|")
        rows.append(f"| {case.name} | {found} | {other.by} | {case.why} |")
    return INTRO.format(version=zeep.__version__, same=same, all=len(CASES)) + "\n".join(rows) + "\n"


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(table(), encoding="utf-8")
    else:
        for case in CASES:
            one, other = both(case)
            if is_same(one, other) != (case.verdict == "same"):
                print("==", case.group, case.name, "is", "same" if is_same(one, other) else "different")
                for part in ("request", "value", "more"):
                    if getattr(one, part) != getattr(other, part):
                        print("  ", part, "zeep:", getattr(one, part))
                        print("  ", part, "ours:", getattr(other, part))
