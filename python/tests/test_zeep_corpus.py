"""The WSDLs of the corpus as zeep and bsoap.zeep describe them, and messages of their operations."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import io
import logging
import pathlib
import warnings
from typing import Any

import pytest

pytest.importorskip("lxml")

from lxml import etree
from zeep_parity import infoset, plain
from zeep_servers import corpus

zeep = pytest.importorskip("zeep")
ours = pytest.importorskip("bsoap.zeep")

# WSDLs that are described in another way, and why.
DIFFERENT = {
    "DataService": "a schema in a message",
    "cxf1662/test": "operations without messages",
    "cxf1694/test": "operations without messages",
    "hello_world_doc_lit_router": "ports without an address of SOAP",
    "no-address": "ports without an address of SOAP",
    "soapheader_rpc": "zeep ignores the attribute `parts` of soap:body",
    "header_doc_lit": "zeep ignores the attribute `parts` of soap:body",
    "webservicex-globalweather-ws": "bindings without SOAP",
    "ferry": "bindings without SOAP",
    "getAppointmentNumber__should_be_able_to_parse_response/soap": "bindings without SOAP",
    "recursive": "bindings without SOAP",
    "test_http_post": "bindings without SOAP",
    "NoParams__add_correct_namespace_for_operations_without_parameters/soap": "ports without an address of SOAP",
    "registration-common": "operations of an imported WSDL",
    "swa/swa": "zeep reads no Body of a MIME binding",
    "no_body_parts": "zeep reads no Body of a MIME binding",
    "swa-mime-nomime": "zeep reads no Body of a MIME binding",
    "swa-mime": "zeep reads no Body of a MIME binding",
    "hello-mime": "zeep reads no Body of a MIME binding",
    "schema044/service": "the order of an attribute and a group in an extension",
}
# Bindings and services of imported WSDLs are found too.
IMPORTED = ("Soap11Binding: ", "Soap12Binding: ", "Service: ", "Port: ")


class _Offline(Exception):
    pass


def transport(module: Any) -> Any:
    class Transport(module.Transport):  # type: ignore[misc]
        def _load_remote_data(self, url: str) -> bytes:
            raise _Offline(url)

    return Transport()


def described(module: Any, path: pathlib.Path) -> list[str]:
    out = io.StringIO()
    client = module.Client(str(path), transport=transport(module))
    with contextlib.redirect_stdout(out):
        client.wsdl.dump()
    return [line.strip() for line in out.getvalue().splitlines() if line.strip()]


def test_wsdls_are_described_as_by_zeep() -> None:
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    same, different, failed = 0, [], []
    try:
        for path in sorted(corpus().rglob("*.wsdl")):
            if path.stat().st_size > 900_000:
                continue
            try:
                one = described(zeep, path)
            except (Exception, RecursionError):
                continue
            try:
                other = described(ours, path)
            except ours.exceptions.WsdlSyntaxError:
                # zeep takes any document for an empty WSDL.
                if any(line.startswith(("Service", "Port")) for line in one):
                    failed.append(f"{path}: not a WSDL")
                continue
            except Exception as error:
                failed.append(f"{path}: {type(error).__name__}: {error}")
                continue
            missing = set(one) - set(other)
            more = {line for line in set(other) - set(one) if not line.startswith(IMPORTED)}
            if not missing and not more:
                same += 1
            elif not any(str(path).endswith(f"/{name}.wsdl") for name in DIFFERENT) and "recursive" not in path.stem:
                different.append(f"{path}: {sorted(missing)[:3]} {sorted(more)[:3]}")
    finally:
        logging.disable(logging.NOTSET)
        warnings.resetwarnings()
    assert not different, "\n".join(different)
    assert len(failed) <= 1, "\n".join(failed)
    assert same > 250


def simple(kind: Any) -> Any:
    """A value of a simple type."""
    from bsoap.zeep.xsd import types
    from bsoap.zeep.xsd.types import builtins as b

    if isinstance(kind, types.ListType):
        return [simple(kind.item_type)] * 2
    if isinstance(kind, types.UnionType):
        return "5"
    values = {
        b.Integer: 5,
        b.Boolean: True,
        b.Float: 1.5,
        b.Decimal: decimal.Decimal("2.50"),
        b.DateTime: datetime.datetime(2020, 1, 2, 3, 4, 5),
        b.Date: datetime.date(2020, 1, 2),
        b.Time: datetime.time(1, 2, 3),
        b.Duration: datetime.timedelta(hours=1),
        b.Base64Binary: b"abc",
        b.HexBinary: "0AFF",
        b.gYearMonth: (2020, 1, None),
        b.gYear: (2020, None),
        b.gMonthDay: (2, 3, None),
        b.gDay: (3, None),
        b.gMonth: (3, None),
        b.AnyURI: "urn:x",
    }
    return next((value for cls, value in values.items() if isinstance(kind, cls)), "text")


def sample(kind: Any, is_full: bool, depth: int = 0) -> Any:
    """A value of a type: with all members, or with those that must be there."""
    from bsoap.zeep.xsd import ComplexType, elements

    if not isinstance(kind, ComplexType):
        return simple(kind)
    made: dict[str, Any] = {}

    def add(name: Any, element: Any, to: dict[str, Any]) -> None:
        if isinstance(element, elements.Any):
            return
        if isinstance(element, elements.Element):
            if (not is_full or depth > 5) and element.is_optional:
                return
            if depth > 12:
                raise RecursionError
            value = sample(element.type, is_full, depth + 1)
            to[name] = [value, sample(element.type, is_full, depth + 1)] if element.accepts_multiple else value
            return
        child = element.child if isinstance(element, elements.Group) else element
        members = child.elements_nested[:1] if isinstance(child, elements.Choice) else child.elements_nested
        inner: dict[str, Any] = {}
        if not (element.accepts_multiple and element.is_optional and not is_full):
            for member, nested in members:
                add(member, nested, inner)
        if element.accepts_multiple and inner:
            to[name or "_value_1"] = [inner]
        elif not element.accepts_multiple:
            to.update(inner)

    for name, element in kind.elements_nested:
        if isinstance(element, elements.Element):
            made["_value_1"] = sample(element.type, is_full, depth + 1)
        else:
            add(name, element, made)
    for name, attribute in kind.attributes:
        if attribute.name and (is_full or attribute.required):
            made[name] = simple(attribute.type)
    return made


def result(function: Any, *args: Any, **kwargs: Any) -> Any:
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return ("raised", type(error).__name__, str(error))


def read(operation: Any, client: Any, text: bytes) -> Any:
    """The request as a value, by the rules."""
    body = etree.fromstring(text).find("{*}Body")
    return plain(operation.input.body.parse(body[0], client.wsdl.types))


REFUSED = object()


def decoded(operation: Any, client: Any, text: bytes) -> Any:
    """The request as a value, by the codec; `REFUSED` if it refuses."""
    from bsoap import Error
    from bsoap.zeep import _convert, _native

    native = _native.of(client.wsdl)
    if native is None:
        return REFUSED
    kind = operation.input.body.type
    convert: Any = _convert.decoder(kind, client.wsdl.types)
    try:
        value = native.decoder(operation).request(text).value
        return plain(convert(value, True) if isinstance(kind, _convert.ComplexType) else convert(value))
    except (_convert.Refused, Error):
        return REFUSED


def test_messages_are_those_of_zeep() -> None:
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    wrong: list[str] = []
    count = {"all": 0, "encoded": 0, "decoded": 0}
    try:
        for path in sorted(corpus().rglob("*.wsdl")):
            if path.stat().st_size > 400_000:
                continue
            clients = [result(module.Client, str(path), transport=transport(module)) for module in (zeep, ours)]
            if any(isinstance(client, tuple) for client in clients):
                continue
            for name, binding in clients[1].wsdl.bindings.items():
                if not hasattr(binding, "nsmap") or name not in clients[0].wsdl.bindings:
                    continue
                original = clients[0].wsdl.bindings[name]
                for operation in list(binding._operations.values())[:2]:
                    compare(path, operation, original._operations.get(operation.name), clients, wrong, count)
    finally:
        logging.disable(logging.NOTSET)
        warnings.resetwarnings()
    assert not wrong, "\n".join(wrong)
    assert count["all"] > 400
    assert count["encoded"] > 0.85 * count["all"]
    assert count["decoded"] > 0.9 * count["all"]


def compare(path: Any, operation: Any, original: Any, clients: Any, wrong: list[str], count: dict[str, int]) -> None:
    message = operation.input
    if original is None or message is None or message.body is None or message.waits_for or message._is_body_wrapped:
        return
    # zeep sends no namespace if soap:body has none, and ignores its `parts`.
    if (
        (operation.style == "rpc" and not message.namespace)
        or "header_doc_lit" in path.stem
        or path.stem in ("recursive", "DataService")
    ):
        return
    for is_full in (False, True):
        try:
            arguments = sample(message.body.type, is_full)
        except (RecursionError, ours.exceptions.Error):
            continue
        args, kwargs = ((), arguments) if isinstance(arguments, dict) else ((arguments,), {})
        made = result(original.create, *args, **kwargs)
        by_rules = result(operation.create, *args, **kwargs)
        where = f"{path}: {operation.name}"
        if "raised" in (made[0], by_rules[0]):
            if made[:2] != by_rules[:2]:
                wrong.append(f"{where}: {made} {by_rules}")
            continue
        count["all"] += 1
        expected = infoset(made.content)
        if infoset(by_rules.content) != expected:
            wrong.append(f"{where}: {expected} by zeep, {infoset(by_rules.content)} by the rules")
        text = operation.encode(args, dict(kwargs))
        if text is not None:
            count["encoded"] += 1
            if infoset(etree.fromstring(text)) != expected:
                wrong.append(f"{where}: {expected} by zeep, {infoset(etree.fromstring(text))} by the codec")
        text = etree.tostring(made.content)
        value = result(read, original, clients[0], text)
        if result(read, operation, clients[1], text) != value:
            wrong.append(f"{where}: {value} by zeep, {result(read, operation, clients[1], text)} by the rules")
        by_codec = decoded(operation, clients[1], text)
        if by_codec is not REFUSED:
            count["decoded"] += 1
            if by_codec != value:
                wrong.append(f"{where}: {value} by zeep, {by_codec} by the codec")
