"""Services and clients over TLS, behind proxies, and with more requests than they take."""

import concurrent.futures
import hashlib
import ssl
import threading
from pathlib import Path

import bsoap
import pytest
from conftest import MESH

trustme = pytest.importorskip("trustme")


class Authority:
    """A certificate authority, and what it has signed, as files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.authority = trustme.CA()
        self.ca = folder / "ca.pem"
        self.authority.cert_pem.write_to_path(str(self.ca))

    def sign(self, name: str) -> tuple[Path, Path]:
        signed = self.authority.issue_cert(name)
        chain, key = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        chain.write_bytes(b"".join(part.bytes() for part in signed.cert_chain_pems))
        signed.private_key_pem.write_to_path(str(key))
        return chain, key


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path)


def summing(**options):
    service = bsoap.Service(MESH, **options)

    @service.operation
    def sum_doubles(values):
        return float(sum(values.item))

    return service


def ask(url, **options):
    return bsoap.Client(MESH, endpoint=url, timeout=10, **options).service.sumDoubles(values={"item": [1.5, 2.5]})


def test_a_service_over_tls_is_verified(authority):
    with summing(tls=authority.sign("localhost")).start() as running:
        url = running.url.replace("127.0.0.1", "localhost")
        assert url.startswith("https://")
        assert ask(url, verify=authority.ca) == 4.0
        assert ask(url, verify=False) == 4.0
        with pytest.raises(bsoap.TransportError, match="certificate"):
            ask(url)
        with pytest.raises(bsoap.TransportError, match="certificate"):
            # The certificate is that of another name.
            ask(running.url, verify=authority.ca)


def test_a_certificate_may_be_pinned(authority):
    chain, key = authority.sign("localhost")
    der = ssl.PEM_cert_to_DER_cert(chain.read_text().split("-----END")[0] + "-----END CERTIFICATE-----")
    fingerprint = hashlib.sha256(der).hexdigest()
    with summing(tls=(chain, key)).start() as running:
        assert ask(running.url, fingerprint=fingerprint) == 4.0
        with pytest.raises(bsoap.TransportError):
            ask(running.url, fingerprint="00" * 32)


def test_clients_may_need_a_certificate(authority):
    seen = []

    def principal(caller):
        seen.append(caller.certificate)
        return hashlib.sha256(caller.certificate).hexdigest()

    chain, key = authority.sign("localhost")
    with summing(tls=(chain, key), client_ca=authority.ca, principal=principal).start() as running:
        url = running.url.replace("127.0.0.1", "localhost")
        client = authority.sign("client.example")
        assert ask(url, verify=authority.ca, cert=client) == 4.0
        assert seen[0] == ssl.PEM_cert_to_DER_cert(client[0].read_text())
        with pytest.raises(bsoap.TransportError):
            ask(url, verify=authority.ca)


@pytest.mark.parametrize(("trusted", "expected"), [(["127.0.0.1"], "198.51.100.7"), (None, "127.0.0.1")])
def test_forwarded_addresses_are_believed_of_trusted_proxies(trusted, expected):
    seen = []

    def principal(caller):
        seen.append(caller.peer.rpartition(":")[0])
        return "anybody"

    with summing(principal=principal, trusted_proxies=trusted).start() as running:
        assert ask(running.url, headers={"x-forwarded-for": "198.51.100.7"}) == 4.0
    assert seen == [expected]


def test_requests_beyond_the_queue_are_refused_at_once():
    service = bsoap.Service(MESH, max_handlers=1, queue=(0, 1.0))
    begun, go_on = threading.Event(), threading.Event()

    @service.operation
    def sum_doubles(values):
        begun.set()
        go_on.wait(20)
        return float(sum(values.item))

    with service.start() as running, concurrent.futures.ThreadPoolExecutor(1) as pool:
        first = pool.submit(ask, running.url)
        assert begun.wait(20)
        with pytest.raises(bsoap.Fault, match="max_handlers") as refused:
            ask(running.url)
        go_on.set()
        assert first.result(20) == 4.0
        assert refused.value.http_status == 503
