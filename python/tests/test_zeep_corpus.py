"""The WSDLs of the corpus as zeep and bsoap.zeep describe them, and messages of their operations."""

from __future__ import annotations

import contextlib
import io
import logging
import pathlib
import warnings
from typing import Any

import pytest
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
