"""Values in both directions."""

import copy
import pickle
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import bsoap
import pytest
from bsoap import codec
from hypothesis import given
from hypothesis import strategies as st

SCHEMA = b"""<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/"
    xmlns:x="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" targetNamespace="urn:t">
  <types><x:schema targetNamespace="urn:t" elementFormDefault="qualified">
    <x:element name="all"><x:complexType><x:sequence>
      <x:element name="text" type="x:string" minOccurs="0"/>
      <x:element name="int" type="x:int" minOccurs="0"/>
      <x:element name="big" type="x:integer" minOccurs="0"/>
      <x:element name="unsigned" type="x:unsignedLong" minOccurs="0" maxOccurs="unbounded"/>
      <x:element name="double" type="x:double" minOccurs="0" maxOccurs="unbounded"/>
      <x:element name="float" type="x:float" minOccurs="0" maxOccurs="unbounded"/>
      <x:element name="flag" type="x:boolean" minOccurs="0" maxOccurs="unbounded"/>
      <x:element name="decimal" type="x:decimal" minOccurs="0"/>
      <x:element name="moment" type="x:dateTime" minOccurs="0"/>
      <x:element name="day" type="x:date" minOccurs="0"/>
      <x:element name="clock" type="x:time" minOccurs="0"/>
      <x:element name="span" type="x:duration" minOccurs="0"/>
      <x:element name="hex" type="x:hexBinary" minOccurs="0"/>
      <x:element name="base64" type="x:base64Binary" minOccurs="0"/>
      <x:element name="list" minOccurs="0"><x:simpleType><x:list itemType="x:double"/></x:simpleType></x:element>
      <x:element name="nillable" type="x:int" nillable="true" minOccurs="0"/>
      <x:element name="price" type="t:Price" minOccurs="0"/>
      <x:element name="shape" type="t:Shape" minOccurs="0"/>
      <x:element name="mixed" type="t:Mixed" minOccurs="0"/>
      <x:element name="items" type="t:Price" minOccurs="0" maxOccurs="unbounded"/>
      <x:any minOccurs="0" namespace="##other" processContents="lax"/>
    </x:sequence></x:complexType></x:element>
    <x:complexType name="Price"><x:simpleContent><x:extension base="x:decimal">
      <x:attribute name="currency" type="x:string" use="required"/>
    </x:extension></x:simpleContent></x:complexType>
    <x:complexType name="Shape"><x:sequence><x:element name="name" type="x:string"/></x:sequence></x:complexType>
    <x:complexType name="Circle"><x:complexContent><x:extension base="t:Shape"><x:sequence>
      <x:element name="radius" type="x:double"/><x:element name="drawn" type="x:dateTime" minOccurs="0"/>
    </x:sequence></x:extension></x:complexContent></x:complexType>
    <x:complexType name="Mixed" mixed="true"><x:sequence><x:element name="b" type="x:string" minOccurs="0"/></x:sequence></x:complexType>
  </x:schema></types>
  <message name="m"><part name="p" element="t:all"/></message>
  <portType name="P"><operation name="all"><input message="t:m"/><output message="t:m"/></operation></portType>
  <binding name="B" type="t:P"><s:binding transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="all"><s:operation soapAction=""/><input><s:body use="literal"/></input>
      <output><s:body use="literal"/></output></operation>
  </binding>
  <service name="S"><port name="P" binding="t:B"><s:address location="http://127.0.0.1:1/"/></port></service>
</definitions>"""

WSDL = bsoap.Wsdl(SCHEMA)


def there(value):
    """What arrives when a value is sent."""
    return codec.decode_request(WSDL, codec.encode(WSDL, "all", value)).value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("text", "a & b < ü"),
        ("int", -7),
        ("big", 10**40),
        ("decimal", Decimal("12.50")),
        ("moment", datetime(2026, 11, 26, 1, 2, 3, 456789, tzinfo=UTC)),
        ("moment", datetime(2026, 11, 26, 1, 2, 3)),
        ("moment", datetime(2026, 11, 26, 1, 2, 3, tzinfo=timezone(timedelta(hours=-5)))),
        ("day", date(2026, 2, 28)),
        ("clock", time(23, 59, 58, 1000)),
        ("span", timedelta(days=-3, hours=4, microseconds=5)),
        ("span", bsoap.Duration("P1Y2M")),
        ("hex", b"\xde\xad"),
        ("base64", bytes(range(256))),
    ],
)
def test_simple_values_arrive_as_they_were(name, value):
    found = there({name: value})[name]
    assert found == value
    assert type(found) is type(value)


def test_what_python_cannot_hold_keeps_its_text():
    sent = "2026-11-26T01:02:03.123456789Z"
    value = there({"moment": sent})
    assert value.moment == datetime(2026, 11, 26, 1, 2, 3, 123456, tzinfo=UTC)
    assert there(value).moment.text == sent
    assert there({"moment": "-0044-03-15T12:00:00Z"}).moment == "-0044-03-15T12:00:00Z"
    assert there({"moment": "2026-12-31T24:00:00"}).moment == datetime(2027, 1, 1)
    day = there({"day": "2026-11-26+01:00"}).day
    assert (day, day.tzinfo.utcoffset(None)) == (date(2026, 11, 26), timedelta(hours=1))
    assert there({"day": day}).day.text == "2026-11-26+01:00"


def test_arrays_of_numbers_are_views():
    np = pytest.importorskip("numpy")
    value = there({"double": [1.5, float("inf")], "float": [1.1], "flag": [True, False], "unsigned": [2**64 - 1]})
    assert value.double.dtype == np.float64
    assert value.double.tolist() == [1.5, float("inf")]
    assert value.float.dtype == np.float32
    assert value.flag.tolist() == [True, False]
    assert value.unsigned.tolist() == [2**64 - 1]
    with pytest.raises(ValueError, match="read-only"):
        value.double[0] = 2
    array = value.double
    del value
    assert array[0] == 1.5
    assert there({"list": np.array([1.5, 2.5])}).list.tolist() == [1.5, 2.5]
    assert there({"double": np.arange(6.0)[::2]}).double.tolist() == [0, 2, 4]


@given(st.lists(st.floats(), max_size=50), st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=1))
def test_doubles_keep_their_bits(doubles, ints):
    np = pytest.importorskip("numpy")
    found = there({"double": np.array(doubles, "f8"), "int": ints[0]})
    assert np.array_equal(np.asarray(found.double, "f8"), np.array(doubles, "f8"), equal_nan=True)
    assert found.int == ints[0]


def test_absent_and_nil_are_told_apart():
    absent, nil = there({}), there({"nillable": None})
    assert absent.nillable is None
    assert nil.nillable is None
    assert "nillable" not in absent
    assert "nillable" in nil
    assert "nillable" in there({"nillable": bsoap.NIL})
    assert there(nil) == nil
    assert there({"text": None}) == absent
    assert list(absent.items) == []


def test_attributes_and_text():
    price = there({"price": {"@currency": "EUR", "#text": Decimal("2.50")}}).price
    assert (price["@currency"], price.currency, price.text, price["#text"]) == (
        "EUR",
        "EUR",
        Decimal("2.50"),
        Decimal("2.50"),
    )
    Price = WSDL.get_type("Price")
    assert there({"price": Price(currency="EUR", text=1)}).price.text == 1
    price.currency = "CHF"
    assert there({"price": price}).price["@currency"] == "CHF"
    with pytest.raises(AttributeError, match="has no member 'curency'"):
        _ = price.curency


def test_derived_types():
    shape = there({"shape": {"@type": "Circle", "name": "c", "radius": 2.5, "drawn": datetime(2026, 1, 1)}}).shape
    assert type(shape).__name__ == "Circle"
    assert (shape["@type"], shape.radius, shape.drawn) == ("Circle", 2.5, datetime(2026, 1, 1))
    assert there({"shape": shape}).shape == shape


def test_mixed_and_any():
    value = there({"mixed": {"#mixed": ["a ", {"b": "bold"}, " c"]}, "#any": ['<z xmlns="urn:z">1</z>']})
    assert value.mixed["#mixed"] == ["a ", {"b": "bold"}, " c"]
    assert value["#any"] == ['<z xmlns="urn:z">1</z>']


def test_objects_are_mappings():
    value = there({"text": "t", "items": [{"@currency": "EUR", "#text": 1}]})
    assert dict(value)["text"] == "t"
    assert value == {"text": "t", "items": [{"@currency": "EUR", "#text": Decimal(1)}]}
    assert {**value}["text"] == "t"
    assert value.to_dict()["items"] == [{"@currency": "EUR", "#text": Decimal(1)}]
    for made in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert made == value
        assert made.int is None
    assert "text='t'" in repr(value)
    assert "currency" in str(value) or "@currency" in str(value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"txt": "a"}, "did you mean text"),
        ({"int": "seven"}, "int"),
        ({"int": 2**31}, "int"),
        ({"double": [[1.5]]}, "double"),
        ({"text": object()}, "cannot be sent"),
        ({"moment": "yesterday"}, "yesterday"),
    ],
)
def test_wrong_arguments_are_refused_with_their_place(value, message):
    with pytest.raises((bsoap.EncodeError, TypeError), match=message):
        codec.encode(WSDL, "all", value)


def test_values_that_contain_themselves_are_refused():
    value = {}
    value["shape"] = value
    with pytest.raises(ValueError, match="nest deeper"):
        codec.encode(WSDL, "all", value)


def test_errors_can_be_pickled():
    with pytest.raises(bsoap.EncodeError) as raised:
        codec.encode(WSDL, "all", {"int": "seven"})
    error = pickle.loads(pickle.dumps(raised.value))
    assert (type(error), str(error)) == (bsoap.EncodeError, str(raised.value))
    fault = pickle.loads(pickle.dumps(bsoap.Fault("no", code="Sender", detail={"a": 1})))
    assert (fault.code, fault.message, fault.detail, str(fault)) == ("Sender", "no", {"a": 1}, "Sender: no")
