"""rpc/encoded messages: shared values are one object, cycles are cycles, arrays have their dimensions."""

import copy
import datetime
import pickle
import pydoc
from pathlib import Path

import bsoap
import numpy
import pytest
from bsoap import codec

ROOT = Path(__file__).resolve().parents[2]
WSDL = bsoap.Wsdl(ROOT / "crates/protocol/tests/testdata/encoded.wsdl")
PORTS = ["soap", "soap12"]
ENVELOPE = (
    '<S:Envelope xmlns:S="http://schemas.xmlsoap.org/soap/envelope/" xmlns:E="http://schemas.xmlsoap.org/soap/encoding/" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t">'
    "<S:Body>{}</S:Body></S:Envelope>"
)


def read(body):
    return codec.decode_request(WSDL, ENVELOPE.format(body).encode(), port="soap").value["in"]


def write(operation, value, port="soap"):
    return codec.encode(WSDL, operation, {"in": value}, port=port).decode()


def again(operation, value, port="soap"):
    text = codec.encode(WSDL, operation, {"in": value}, port=port)
    return codec.decode_request(WSDL, text, port=port).value["in"]


@pytest.fixture
def start():
    started = []

    def start(service):
        running = service.start()
        started.append(running)
        return running

    yield start
    for running in started:
        running.stop(timeout=0)


def test_a_value_that_is_referred_to_twice_is_one_object():
    people = read(
        '<t:echoPeople><in E:arrayType="t:Person[3]"><item href="#a"/><item href="#b"/><item href="#a"/></in></t:echoPeople>'
        '<multiRef id="a" xsi:type="t:Person"><name>Ada</name></multiRef>'
        '<multiRef id="b" xsi:type="t:Person"><name>Bob</name><friend href="#a"/></multiRef>'
    )
    ada, bob, third = people.item
    assert third is ada and bob.friend is ada
    assert (ada.name, bob.name) == ("Ada", "Bob")
    assert "@id" not in ada


def test_a_reference_may_come_before_its_value():
    people = read(
        '<t:echoPeople><in E:arrayType="t:Person[2]"><item href="#a"/><item id="a"><name>Ada</name></item></in></t:echoPeople>'
    )
    assert people.item[0] is people.item[1]
    ada = read(
        '<t:echoPerson><in><friend href="#s"/><scores href="#n"/></in></t:echoPerson>'
        '<multiRef id="s" xsi:type="t:Person"><scores id="n" E:arrayType="xsd:double[1]"><item>2</item></scores></multiRef>'
    )
    assert ada.friend.scores is ada.scores
    assert ada.scores.item.tolist() == [2.0]


def test_a_cycle_is_a_cycle_of_objects():
    ada = read(
        '<t:echoPerson><in href="#a"/></t:echoPerson>'
        '<multiRef id="a" xsi:type="t:Person"><name>Ada</name><friend href="#b"/></multiRef>'
        '<multiRef id="b" xsi:type="t:Pupil"><name>Bob</name><friend href="#a"/></multiRef>'
    )
    assert ada.friend.friend is ada
    assert "…" in str(ada) and "..." in repr(ada)
    for other in (copy.deepcopy(ada), pickle.loads(pickle.dumps(ada))):
        assert other.friend.friend is other and other is not ada
        assert other == ada
    plain = ada.to_dict()
    assert plain["friend"]["friend"] is plain


@pytest.mark.parametrize("port", PORTS)
def test_an_object_that_appears_twice_is_written_once(port):
    ada = {"name": "Ada", "scores": {"item": [1.0, 2.0]}}
    text = write("echoPeople", [ada, {"name": "Bob", "friend": ada}, ada], port)
    assert text.count("Ada") == 1 and text.count("Bob") == 1
    assert text.count("ref=" if port == "soap12" else "href=") == 2
    people = again("echoPeople", [ada, {"name": "Bob", "friend": ada}, ada], port)
    first, bob, third = people.item
    assert first is third and bob.friend is first


@pytest.mark.parametrize("port", PORTS)
def test_cycles_are_written(port):
    ada, bob = bsoap.Object(name="Ada"), {"name": "Bob"}
    ada.friend, bob["friend"] = bob, ada
    found = again("echoPerson", ada, port)
    assert found.friend.friend is found
    alone = bsoap.Object(name="Eve")
    alone.friend = alone
    found = again("echoPerson", alone, port)
    assert found.friend is found


def test_objects_that_are_equal_are_not_shared():
    text = write("echoPeople", [{"name": "Ada"}, {"name": "Ada"}])
    assert text.count("Ada") == 2 and "href" not in text and " id=" not in text


def test_ids_of_the_program_stay():
    ada = {"@id": "id1", "name": "Ada"}
    bob = {"name": "Bob"}
    text = write("echoPeople", [ada, {"name": "Eve", "friend": {"@href": "#id1"}}, bob, bob, ada])
    assert text.count('id="id1"') == 1 and text.count('"#id1"') == 2
    assert 'id="id2"' in text and '"#id2"' in text


def test_a_dangling_reference_is_refused():
    with pytest.raises(bsoap.EncodeError, match="nobody"):
        write("echoPerson", {"name": "Ada", "friend": {"@href": "#nobody"}})


@pytest.mark.parametrize("port", PORTS)
def test_arrays_have_their_dimensions(port):
    grid = numpy.arange(6.0).reshape(2, 3)
    for given in (grid, {"item": grid}, numpy.asfortranarray(grid), grid.astype("float32")):
        found = again("echoGrid", given, port)
        assert found.item.shape == (2, 3)
        assert (found.item == grid).all()
        assert (again("echoGrid", found, port).item == grid).all()
    text = write("echoGrid", grid, port)
    assert ("[2,3]" in text) == (port == "soap") and ('"2 3"' in text) == (port == "soap12")
    cube = numpy.zeros((2, 1, 4))
    assert again("echoGrid", cube, port).item.shape == (2, 1, 4)
    assert again("echoDoubles", numpy.arange(3.0), port).item.tolist() == [0, 1, 2]


def test_arrays_without_all_their_items_stay_flat():
    found = read('<t:echoGrid><in E:arrayType="xsd:double[2,3]"><item>1</item></in></t:echoGrid>')
    assert found.item.tolist() == [1.0] and found["@arrayType"] == "[2,3]"


def test_literal_messages_refuse_several_dimensions():
    with pytest.raises(ValueError, match="2 dimensions"):
        codec.encode(ROOT / "examples/mesh/mesh.wsdl", "sumDoubles", {"values": {"item": numpy.zeros((2, 2))}})


def test_many_shared_objects_are_quick():
    shared = [{"name": f"n{number}"} for number in range(5000)]
    found = again("echoPeople", shared * 2).item
    assert len(found) == 10_000 and found[1] is found[5001] and found[0].name == "n0"


@pytest.mark.parametrize("is_async", [False, True])
def test_services_get_and_return_graphs(start, is_async):
    service = bsoap.Service(WSDL)
    seen = []

    def echo(request):
        person = request["in"]
        seen.append(person.friend.friend is person)
        return person

    if is_async:

        @service.operation
        async def echo_person(request):
            return echo(request)
    else:

        @service.operation
        def echo_person(request):
            return echo(request)

    client = bsoap.Client(WSDL, port="soap", endpoint=start(service).url, timeout=10)
    ada, bob = {"name": "Ada"}, {"name": "Bob"}
    ada["friend"], bob["friend"] = bob, ada
    found = client.service.echoPerson(**{"in": ada})
    assert seen == [True]
    assert found.name == "Ada" and found.friend.friend is found


PARTS = bsoap.Wsdl(Path(__file__).parent / "testdata/encoded-parts.wsdl")


def friends():
    ada, bob = {"name": "Ada"}, {"name": "Bob"}
    ada["friend"], bob["friend"] = bob, ada
    return ada, bob


@pytest.mark.parametrize("port", PORTS)
def test_header_blocks_share_values_with_each_other_and_with_the_arguments(port):
    ada, bob = friends()
    blocks = {"host": {"name": "Hal", "friend": ada}, "guest": {"name": "Gus", "friend": bob}}
    text = codec.encode(PARTS, "meet", {"in": ada}, port=port, soap_headers=blocks)
    assert text.count(b"Ada") == text.count(b"Bob") == 1
    found = codec.decode_request(PARTS, text, port=port)
    headers = found.headers
    assert (headers.host.name, headers.host.friend.name) == ("Hal", "Ada")
    assert headers.guest.friend is headers.host.friend.friend and headers.guest.friend.friend is headers.host.friend
    # Those of the Body are other objects, but whole ones.
    person = found.value["in"]
    assert person.name == "Ada" and person.friend.name == "Bob" and person.friend.friend is person
    again = codec.encode(PARTS, "meet", {"in": person}, port=port, soap_headers=headers)
    assert again.count(b"Ada") == again.count(b"Bob") == 2


@pytest.mark.parametrize("port", PORTS)
def test_a_header_block_in_a_cycle_is_written_once_more_inside(port):
    # References do not name header blocks, whose types have attributes of their own.
    ada, bob = friends()
    text = codec.encode(PARTS, "meet", {"in": bob}, port=port, soap_headers={"host": ada, "guest": ada})
    assert text.count(b"Ada") == 3 and text.count(b"Bob") == 1
    headers = codec.decode_request(PARTS, text, port=port).headers
    assert headers.host.name == headers.guest.name == "Ada"
    assert headers.guest.friend is headers.host.friend
    assert headers.host.friend.friend.friend is headers.host.friend


def test_literal_header_blocks_of_encoded_messages_have_no_references():
    until = {"until": "2024-05-01"}
    note = {"first": 1, "second": until, "third": until}
    text = codec.encode(PARTS, "meet", {"in": {"name": "Ada"}}, port="soap", soap_headers={"note": note})
    assert text.count(b"2024-05-01") == 2 and b"href" not in text


@pytest.fixture
def meeting(start):
    service = bsoap.Service(PARTS)

    @service.operation
    def meet(request, context):
        person, headers = request["in"], context.headers
        assert person.friend.friend is person
        assert headers.host.friend is headers.guest.friend.friend
        if person.name == "Ada":
            context.set_header("host", headers.host)
            context.set_header("guest", headers.guest)
            return person
        eve = bsoap.Object(name="Eve", born=datetime.date(1990, 1, 2), other=person)
        eve.friend = eve
        raise bsoap.Fault("not you", code="Client", detail={"refusal": eve}, headers={"absent": eve})

    return start(service)


@pytest.mark.parametrize("port", PORTS)
def test_answers_and_faults_have_graphs_in_all_their_parts(meeting, port):
    ada, bob = friends()
    url = meeting.urls[PORTS.index(port)]
    # The blocks of the client and those of the call are of one message.
    client = bsoap.Client(PARTS, port=port, endpoint=url, soap_headers={"host": ada}, timeout=10)
    answer = client.exchange("meet", {"in": ada}, soap_headers={"guest": bob})
    person = answer.value.out
    assert person.friend.friend is person
    assert (answer.headers.host.name, answer.headers.guest.name) == ("Ada", "Bob")
    guest = answer.headers.guest
    assert guest.friend.friend.name == "Bob" and guest.friend.friend.friend is guest.friend
    with pytest.raises(bsoap.Fault, match="not you") as caught:
        client.service.meet(**{"in": bob}, _soapheaders={"guest": bob})
    eve = caught.value.detail["refusal"]
    assert eve.friend is eve and eve.born == datetime.date(1990, 1, 2)
    assert eve.other.friend.friend is eve.other
    absent = caught.value.headers["absent"]
    assert type(absent).__name__ == "Person" and absent.name == "Eve" and absent.born == datetime.date(1990, 1, 2)


def test_a_reference_of_a_header_block_may_name_an_independent_value():
    envelope = ENVELOPE.replace(
        "<S:Body>",
        '<S:Header><t:host xsi:type="t:Person"><name>Ada</name><friend href="#b"/></t:host>'
        '<t:guest xsi:type="t:Person"><name>Gus</name><friend href="#b"/></t:guest></S:Header><S:Body>',
    )
    text = envelope.format(
        '<t:meet><in xsi:type="t:Person"><name>Eve</name><friend href="#b"/></in></t:meet>'
        '<multiRef id="b" xsi:type="t:Person"><name>Bob</name><friend href="#b"/></multiRef>'
    )
    found = codec.decode_request(PARTS, text.encode(), port="soap")
    headers = found.headers
    bob = headers.host.friend
    assert headers.guest.friend is bob and bob.friend is bob
    bob = found.value["in"].friend
    assert bob.name == "Bob" and bob.friend is bob


def test_names_that_are_keywords_have_an_underscore_in_signatures():
    client = bsoap.Client(WSDL, port="soap", endpoint="http://127.0.0.1:9/")
    assert "echoPerson(*, in_: Person | None = None)" in repr(client)
    assert "echoPerson(*, in_: Person | None = None)" in pydoc.render_doc(client.service.echoPerson)
    assert b"Ada" in client.create_message("echoPerson", {"in": {"name": "Ada"}})
