"""Options that are wrong: the error names the option and what is allowed."""

import bsoap
import pytest
from bsoap import codec
from conftest import ROOT

PHOTOS = ROOT / "examples/photos/photos.wsdl"


@pytest.fixture(scope="module")
def url():
    with bsoap.Service(PHOTOS).start("127.0.0.1:0") as running:
        yield running.url


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mtom": 1}, "mtom is True or False, not a value of type int"),
        ({"attachments": 1}, "attachments is True, False, or a mapping of options.* not a value of type int"),
        ({"attachments": {"memory": "1 MB"}}, "memory is an int .* not a value of type str"),
        ({"attachment_threshold": 4.5}, "attachment_threshold is an int"),
        ({"binary": "files"}, 'binary is "bytes" or "file", not "files"'),
        ({"binary": bytes}, 'binary is "bytes" or "file", not a value of type type'),
        (
            {"addressing": 1},
            'addressing is True, False, "1.0", "2004/08" or a mapping of options, not a value of type int',
        ),
        ({"addressing": {"to": 5}}, "to is a URL or a bsoap.EndpointReference, not a value of type int"),
        ({"headers": ["a"]}, "headers is a mapping of the names of HTTP headers.* not a value of type list"),
        ({"headers": {"A": 5}}, 'the value of the HTTP header "A" is a text, not a value of type int'),
        ({"soap_headers": 5}, "soap_headers is a mapping of header blocks by part.* not a value of type int"),
        ({"timeout": "5"}, "timeout is a number of seconds, not a value of type str"),
        ({"endpoint": 5}, "endpoint is a text, not a value of type int"),
        ({"auth": "user"}, r"auth is a pair of texts, \(user, password\)"),
        (
            {"mode": 3},
            "mode is the name of a mode, or a list of it and of names of deviations, not a value of type int",
        ),
        ({"retries": "3"}, "retries is a number, or Retries, not a value of type str"),
        ({"wsse": "mary"}, r"wsse is a UsernameToken, or a pair \(user, password\), not a value of type str"),
        ({"verify": 5}, "verify is the path of a PEM file, not a value of type int"),
        ({"cert": ("chain.pem",)}, r"cert is a pair \(certificates, key\)"),
        ({"cert": (1, 2)}, "cert is the path of a PEM file"),
        ({"record": 3}, "record is the path of a folder"),
        ({"before_send": 5}, "before_send is a function that takes a message"),
        ({"cookies": 3}, "cookies is True or False"),
        ({"max_response": "1"}, "max_response is an int that is not negative"),
        ({"limits": 5}, "limits is a mapping of the names of limits to numbers, not a value of type int"),
        ({"limits": "x"}, "limits is a mapping of the names of limits to numbers, not a value of type str"),
        ({"allow_imports_from": 5}, "allow_imports_from is a list of folders, not a value of type int"),
    ],
)
def test_options_of_a_wrong_type_are_refused_by_name(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        bsoap.Client(PHOTOS, **options)


def test_options_of_a_call_of_a_wrong_type_are_refused_by_name(url):
    client = bsoap.Client(PHOTOS, endpoint=url)
    for options, message in [
        ({"_attachments": b"octets"}, "attachments is a list of what is sent beside the message"),
        ({"_attachments": ["photo.png"]}, "pathlib.Path"),
        ({"_http_headers": 5}, "http_headers is a mapping"),
        ({"_soapheaders": 5}, "soap_headers is a mapping"),
        ({"_timeout": "soon"}, "timeout is a number of seconds"),
        ({"_binary": 5}, 'binary is "bytes" or "file"'),
    ]:
        with pytest.raises((TypeError, ValueError), match=message):
            client.service.store("a", b"", **options)


def test_names_of_options_are_checked(url):
    client = bsoap.Client(PHOTOS, endpoint=url)
    with pytest.raises(TypeError, match="a call has no option '_timeout': did you mean 'timeout'"):
        client.exchange("store", {"name": "a", "photo": b""}, _timeout=3)
    with pytest.raises(
        TypeError, match="store has no member and a call no option '_soapheader': did you mean '_soapheaders'"
    ):
        client.service.store(name="a", photo=b"", _soapheader={})
    with pytest.raises(
        bsoap.EncodeError, match='no header block "token" for operation store, but none: give other blocks as XML'
    ):
        client.service.store("a", b"", _soapheaders={"token": "secret"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"addressing": 1},
            "addressing is True, False, the hosts that answers may be sent to, or a mapping of options, not a value of type int",
        ),
        ({"mtom": "yes"}, "mtom is True or False"),
        ({"attachments": 1}, "attachments is True, False, or a mapping"),
        ({"binary": 1}, 'binary is "bytes" or "file"'),
        ({"queue": 3}, r"queue is a pair \(requests, seconds\)"),
        ({"max_body": "3"}, "max_body is an int that is not negative"),
        ({"handler_timeout": "3"}, "handler_timeout is a number of seconds"),
        ({"understands": [5]}, "a name in understands is a text"),
        ({"gzip": "x"}, "gzip is True or False"),
        ({"tls": "x"}, r"tls is a pair \(certificates, key\)"),
        ({"client_ca": 5}, "client_ca is the path of a PEM file"),
        ({"limits": 5}, "limits is a mapping of the names of limits to numbers, not a value of type int"),
        ({"roles": 5}, "roles is a list of URIs, not a value of type int"),
        ({"understands": 5}, "understands is a list of names, not a value of type int"),
        ({"trusted_proxies": 5}, "trusted_proxies is a list of addresses, not a value of type int"),
    ],
)
def test_options_of_services_of_a_wrong_type_are_refused_by_name(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        bsoap.Service(PHOTOS, **options)


def test_limits_of_a_wrong_type_are_refused_wherever_they_are_given():
    for wrong in (5, "x", [1]):
        with pytest.raises(TypeError, match="load_limits is a mapping of the names of limits"):
            bsoap.Wsdl(PHOTOS, load_limits=wrong)
        with pytest.raises(TypeError, match="^limits is a mapping of the names of limits"):
            codec.Decoder(PHOTOS, limits=wrong)
        with pytest.raises(TypeError, match="^limits is a mapping of the names of limits"):
            bsoap.read_messages([b""], PHOTOS, operation="echo", limits=wrong)


def test_an_option_that_is_none_is_not_given():
    service = bsoap.Service(PHOTOS, binary=None, shutdown_timeout=5)
    kinds = []

    @service.operation
    def echo(photo):
        kinds.extend(map(type, photo))
        return {"photo": photo}

    with service.start() as running:
        client = bsoap.Client(PHOTOS, endpoint=running.url, binary=None)
        answer = client.exchange("echo", {"photo": [b"1"]}, binary=None, timeout=None, attachments=None)
        assert answer.value.photo == [b"1"]
        assert client.service.echo([b"1"], _binary=None) == [b"1"]
    assert kinds == [bytes, bytes]
