"""Services, called by clients of the same package."""

import asyncio
import dataclasses
import datetime
import importlib
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from decimal import Decimal
from pathlib import Path

import bsoap
import pytest
from conftest import MESH, ROOT

SHOP = Path(__file__).parent / "testdata/shop.wsdl"


@pytest.fixture
def service():
    return bsoap.Service(SHOP, shutdown_timeout=5)


@pytest.fixture
def start():
    """Starts services. At the end, nobody waits for idle connections, which are closed a second later."""
    started = []

    def start(service, **options):
        running = service.start(**options)
        started.append(running)
        return running

    yield start
    for running in started:
        running.stop(timeout=0)


@pytest.fixture
def serve(service, start):
    """Starts the service and returns a client of it."""
    return lambda **options: bsoap.Client(SHOP, endpoint=start(service).url, timeout=10, **options)


def test_members_are_parameters(service, serve):
    @service.operation
    def get_price(product_id: str, quantity: int = 1) -> Decimal:
        return Decimal("1.50") * quantity + len(product_id)

    client = serve()
    assert client.service.GetPrice(productId="ab") == Decimal("3.50")
    assert client.service.GetPrice(productId="ab", quantity=2) == Decimal("5.00")


def test_the_whole_request_is_a_parameter(service, serve):
    @service.operation
    def PlaceOrder(request):
        assert request.due == datetime.date(2026, 11, 5)
        return {"number": 7, "count": sum(line.count for line in request.line)}

    lines = [{"sku": "a", "count": 2}, {"sku": "b", "count": 3}]
    answer = serve().service.PlaceOrder(line=lines, due=datetime.date(2026, 11, 5))
    assert (answer.number, answer.count) == (7, 5)


def test_absent_members_are_none_or_empty(service, serve):
    seen = []

    @service.operation
    def place_order(line, due):
        seen.append((list(line), due))
        return {"number": 1, "count": 0}

    serve().service.PlaceOrder()
    assert seen == [([], None)]


def test_other_members_are_keyword_arguments(service, serve):
    @service.operation("PlaceOrder")
    def place(due=None, **others):
        return {"number": len(others["line"]), "count": 0}

    assert serve().service.PlaceOrder(line=[{"sku": "a", "count": 1}]).number == 1


def test_a_dataclass_is_an_answer(service, serve):
    @dataclasses.dataclass
    class Placed:
        number: int
        count: int

    @service.operation
    def place_order(request) -> Placed:
        return Placed(3, 4)

    assert serve().service.PlaceOrder().to_dict() == {"number": 3, "count": 4}


@pytest.mark.parametrize("returned, expected", [(None, None), ("hello", "hello"), ({"text": "x"}, "x"), ({}, None)])
def test_an_answer_of_one_member(service, serve, returned, expected):
    @service.operation
    def ping():
        return returned

    assert serve().service.Ping() == expected


def test_arrays_are_arrays_of_numpy(start):
    numpy = pytest.importorskip("numpy")
    service = bsoap.Service(MESH)

    @service.operation
    def echo_doubles(values):
        assert isinstance(values.item, numpy.ndarray)
        return {"item": values.item * 2}

    @service.operation
    def sum_doubles(values):
        return values.item.sum()

    running = start(service)
    client = bsoap.Client(MESH, endpoint=running.url)
    numbers = numpy.arange(100_000) / 7
    assert (client.service.echoDoubles(values={"item": numbers}).item == numbers * 2).all()
    assert client.service.sumDoubles(values={"item": [1.5, 2.5]}) == 4.0


def test_coroutine_functions_run_side_by_side(service, serve):
    entered = []

    @service.operation
    async def ping(context: bsoap.Context):
        entered.append(context.operation)
        while len(entered) < 4:
            await asyncio.sleep(0.005)
        return "all"

    client = serve()
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(client.service.Ping())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == ["all"] * 4


def test_functions_that_wait_run_side_by_side(service, serve):
    barrier = threading.Barrier(4, timeout=10)

    @service.operation
    def ping():
        barrier.wait()
        return "all"

    client = serve()
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(client.service.Ping())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == ["all"] * 4


def test_the_context_of_a_request(service, serve):
    seen = {}

    @service.operation
    def get_price(product_id, context):
        seen.update(token=context.headers.token, agent=context.http_headers["x-client"], peer=context.peer)
        context.set_header("stamp", "done")
        context.add_header("<t:trace xmlns:t='urn:trace'>7</t:trace>")
        with pytest.raises(bsoap.EncodeError):
            context.set_header("seal", "x")
        return 1

    client = serve(headers={"x-client": "test"})
    answer = client.exchange("GetPrice", {"productId": "a"}, soap_headers={"token": "secret"})
    assert seen["token"] == "secret" and seen["agent"] == "test" and seen["peer"][0] == "127.0.0.1"
    assert answer.headers.stamp == "done"
    assert "trace" in answer.headers["#any"][0]


def test_header_blocks_have_their_soap_attributes(service, serve):
    seen = []

    @service.operation
    def get_price(product_id, context):
        seen.extend(context.blocks)
        assert "token" not in context.headers or context.headers.token["@actor"].endswith("next")
        context.set_header("stamp", {"#text": "done", "@mustUnderstand": "1"})
        return 1

    client = serve()
    namespace = "http://schemas.xmlsoap.org/soap/"
    for actor in (namespace + "actor/next", "urn:other"):
        token = {"#text": "secret", "@actor": actor, "@mustUnderstand": "1"}
        answer = client.exchange("GetPrice", {"productId": "a"}, soap_headers={"token": token})
    assert [block["role"] for block in seen] == [namespace + "actor/next", "urn:other"]
    assert all(block["must_understand"] for block in seen)
    assert seen[0]["xml"] is None and ">secret<" in seen[1]["xml"]
    assert answer.blocks[0]["must_understand"] and answer.blocks[0]["name"].endswith("}stamp")


def test_a_fault_has_header_blocks(service, serve):
    @service.operation
    def get_price(product_id):
        raise bsoap.Fault("expired", code="Sender", headers={"#any": ["<h:when xmlns:h='urn:h'>5</h:when>"]})

    with pytest.raises(bsoap.Fault) as raised:
        serve().service.GetPrice(productId="a")
    assert ">5<" in raised.value.headers["#any"][0]


def test_addressing_has_a_version_and_endpoints(start):
    service = bsoap.Service(MESH, addressing=["127.0.0.1"])
    seen = []

    @service.operation
    def sum_doubles(request, context):
        seen.append(context.headers["#any"])
        return 0.0

    running = start(service)
    none = "http://www.w3.org/2005/08/addressing/none"
    for addressing in (True, "2004/08", {"version": "1.0", "reply_to": none, "must_understand": True}):
        client = bsoap.Client(MESH, endpoint=running.url, addressing=addressing)
        result = client.service.sumDoubles(values={"item": [1.5]})
    assert result is None
    # Such a request is accepted before the function runs.
    deadline = time.monotonic() + 10
    while len(seen) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert "2004/08" in "".join(seen[1]) and none in "".join(seen[2])
    with pytest.raises(ValueError, match="2004/08"):
        bsoap.Client(MESH, endpoint=running.url, addressing="0.9")


def test_what_changed_since_the_last_request(start):
    service = bsoap.Service(MESH)
    seen = []

    @service.operation
    def sum_doubles(request, context):
        seen.append(context.changes())
        return 0.0

    running = start(service)
    client = bsoap.Client(MESH, endpoint=running.url)
    for last in (1.0, 1.0, 2.0):
        client.service.sumDoubles(values={"item": [1.5, 2.5, last]})
    assert seen == [None, None, [("values.item", 2, 3)]] or seen[2] == [("values.item", 2, 3)]


def test_a_fault_is_sent_as_it_is_raised(service, serve):
    @service.operation
    def get_price(product_id):
        raise bsoap.Fault(
            "no such product",
            code="Sender",
            subcodes=["Unknown"],
            actor="urn:shop",
            detail={"NoSuchProduct": {"productId": product_id}},
        )

    with pytest.raises(bsoap.Fault) as raised:
        serve().service.GetPrice(productId="xyz")
    fault = raised.value
    assert (fault.code, fault.subcodes, fault.actor) == ("Sender", ["Unknown"], "urn:shop")
    assert fault.message == "no such product"
    assert fault.detail.NoSuchProduct.productId == "xyz"


@pytest.mark.parametrize("is_async", [False, True])
def test_another_exception_is_logged_but_not_sent(service, serve, caplog, is_async):
    def fail():
        raise ValueError("the password is swordfish")

    async def fail_async():
        fail()

    service.operation("Ping")(fail_async if is_async else fail)
    with pytest.raises(bsoap.Fault) as raised:
        serve().service.Ping()
    assert raised.value.code == "Receiver"
    assert "swordfish" not in str(raised.value) and "Traceback" not in str(raised.value)
    assert "swordfish" in caplog.text and "Ping" in caplog.text


@pytest.mark.parametrize(
    "returned", [{"number": "seven", "count": 1}, {"number": 1}, {"numbers": 1}, 5, None, object()]
)
def test_an_answer_that_does_not_match_is_a_fault(service, serve, caplog, returned):
    @service.operation
    def place_order():
        return returned

    with pytest.raises(bsoap.Fault) as raised:
        serve().service.PlaceOrder()
    assert raised.value.code == "Receiver"
    assert [record.levelno for record in caplog.records] == [logging.ERROR]
    assert caplog.records[0].name == "bsoap" and "PlaceOrder" in caplog.text


def test_an_operation_without_a_function(service, serve):
    assert service.missing == ["GetPrice", "PlaceOrder", "Log", "Ping"]
    with pytest.raises(bsoap.Fault, match="operation Ping is not implemented here"):
        serve().service.Ping()


def test_a_one_way_operation(service, serve):
    logged = threading.Event()
    texts = []

    @service.operation
    def log(text: str) -> None:
        texts.append(text)
        logged.set()

    assert serve().service.Log(text="hello") is None
    assert logged.wait(10) and texts == ["hello"]


def test_a_slow_handler_is_ended(start, caplog):
    service = bsoap.Service(SHOP, handler_timeout=0.2)
    cancelled = threading.Event()

    @service.operation
    async def ping():
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    running = start(service)
    with pytest.raises(bsoap.Fault, match="handler_timeout"):
        bsoap.Client(SHOP, endpoint=running.url).service.Ping()
    assert cancelled.wait(5)
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_a_function_that_begins_to_wait_does_not_stop_others(service, serve):
    """Quick functions are called on the thread of the connections, until one is not quick."""
    release = threading.Event()

    @service.operation
    def get_price(product_id):
        if product_id == "slow":
            time.sleep(0.01)
        if product_id == "wait":
            release.wait(10)
        return 1

    client = serve()
    for _ in range(100):
        client.service.GetPrice(productId="quick")
    client.service.GetPrice(productId="slow")
    waiting = threading.Thread(target=lambda: client.service.GetPrice(productId="wait"))
    waiting.start()
    assert client.service.GetPrice(productId="quick") == 1
    release.set()
    waiting.join()


def test_who_is_calling(start):
    def identify(caller):
        if caller.bearer == "broken":
            raise RuntimeError("no directory")
        return {"secret": "mary"}.get(caller.bearer)

    service = bsoap.Service(SHOP, principal=identify, challenge="Bearer")

    @service.operation
    def ping(context):
        return context.principal

    running = start(service)
    mary = bsoap.Client(SHOP, endpoint=running.url, headers={"authorization": "Bearer secret"})
    assert mary.service.Ping() == "mary"
    for token in ("guess", "broken"):
        other = bsoap.Client(SHOP, endpoint=running.url, headers={"authorization": f"Bearer {token}"})
        with pytest.raises(bsoap.Error, match="401"):
            other.service.Ping()


def test_limits(start):
    service = bsoap.Service(SHOP, max_body=1000)

    @service.operation
    def log(text):
        pass

    running = start(service)
    client = bsoap.Client(SHOP, endpoint=running.url)
    client.service.Log(text="short")
    with pytest.raises(bsoap.Error, match="413"):
        client.service.Log(text="long" * 1000)


def test_pages_and_the_wsdl(service, start):
    running = start(service)
    wsdl = urllib.request.urlopen(running.url + "?wsdl").read()
    assert running.url.encode() in wsdl
    assert b"PlaceOrder" in urllib.request.urlopen(running.base).read()
    assert bsoap.Client(running.url + "?wsdl").endpoint == running.url


def test_wrong_functions_are_refused(service):
    def refused(function, error=TypeError, name=None):
        with pytest.raises(error) as raised:
            service.operation(name)(function) if name else service.operation(function)
        return str(raised.value)

    def get_price(product_id, quantum):
        pass

    assert "'quantum'" in refused(get_price) and "quantity" in refused(get_price) and "GetPrice" in refused(get_price)

    def get_price(quantity):  # noqa: F811
        pass

    assert "'productId'" in refused(get_price)

    def get_price(product_id: int):  # noqa: F811
        pass

    message = refused(get_price)
    assert "product_id" in message and "int" in message and "str" in message

    def get_price(product_id: "list[str] | None"):  # noqa: F811
        pass

    assert "'productId' is str" in refused(get_price)

    def get_price(product_id) -> str:  # noqa: F811
        pass

    assert "the result" in refused(get_price)

    def get_price(product_id) -> None:  # noqa: F811
        pass

    assert "'price'" in refused(get_price)

    def place_order(line: str):
        pass

    assert "'line' is list[Line]" in refused(place_order)

    def place_order(request) -> int:  # noqa: F811
        pass

    assert "number, count" in refused(place_order)
    assert "did you mean 'Ping'" in refused(lambda: None, LookupError, "Pong")


def test_type_hints_that_may_be_right_are_accepted(service):
    @service.operation
    def get_price(product_id: "str", quantity: int | None = None) -> "Decimal | int":
        return 1

    @service.operation
    def place_order(line: list[bsoap.Object], due: "NoSuchName" = None) -> dict[str, int]:  # noqa: F821
        return {}

    with pytest.raises(ValueError, match="handler"):
        service.operation("GetPrice")(get_price)
    assert "GetPrice by" in repr(service)


def test_wrong_options_are_refused(start):
    with pytest.raises(ValueError, match="mode"):
        bsoap.Service(SHOP, mode="careless")
    with pytest.raises(ValueError, match="10.0.0.x"):
        bsoap.Service(SHOP, trusted_proxies=["10.0.0.x"])
    with pytest.raises(bsoap.Error, match="Shops"):
        bsoap.Service(SHOP, service="Shops")
    with pytest.raises(TypeError, match="challenge"):
        bsoap.Service(SHOP, challenge="Basic")
    service = bsoap.Service(SHOP)
    address = start(service).base.removeprefix("http://")
    with pytest.raises(bsoap.TransportError, match="listen"):
        service.start(address)


@pytest.mark.parametrize("threads", [1, 3])
def test_many_calls_from_many_threads(service, start, threads):
    @service.operation
    def get_price(product_id, quantity):
        return quantity

    failures = []

    def call(client, first):
        for number in range(first, first + 200):
            if client.service.GetPrice(productId="a", quantity=number) != number:
                failures.append(number)

    running = start(service, threads=threads)
    client = bsoap.Client(SHOP, endpoint=running.url)
    callers = [threading.Thread(target=call, args=(client, first * 1000)) for first in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert failures == []


RUN = """
import bsoap, sys, time
service = bsoap.Service({wsdl!r})

@service.operation
{kind} ping():
    {wait}
    return "pong"

running = None
import logging
logging.basicConfig(level=logging.INFO, format="%(message)s")
service.run("127.0.0.1:0")
print("stopped", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_signal_stops_a_service_when_its_requests_are_answered(kind, number):
    wait = "time.sleep(0.5)" if kind == "def" else "import asyncio; await asyncio.sleep(0.5)"
    program = RUN.format(wsdl=str(SHOP), kind=kind, wait=wait)
    child = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    url = child.stderr.readline().split()[-1]
    client = bsoap.Client(SHOP, endpoint=url)
    answers = []
    caller = threading.Thread(target=lambda: answers.append(client.service.Ping()))
    caller.start()
    time.sleep(0.25)
    os.kill(child.pid, number)
    caller.join()
    assert answers == ["pong"]
    out, err = child.communicate(timeout=10)
    assert (child.returncode, out, err) == (0, "stopped\n", "")


def test_the_example_of_the_documentation_is_right():
    import doctest

    from bsoap import _service

    before = os.getcwd()
    os.chdir(ROOT)
    try:
        assert doctest.testmod(_service).failed == 0
    finally:
        os.chdir(before)


def test_the_guide_is_right(monkeypatch):
    guide = (ROOT / "docs/guide/python/service.md").read_text()
    snippets = re.findall(r"^```python\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    assert len(snippets) > 5
    monkeypatch.chdir(ROOT)
    shared = {}
    for snippet in snippets:
        exec(compile(snippet, "service.md", "exec"), shared)


def test_a_generated_service(service, start, tmp_path, monkeypatch):
    module = tmp_path / "generated_shop.py"
    command = [sys.executable, "-m", "bsoap", "generate", "--lang", "python", str(SHOP), "-o", str(module)]
    subprocess.run(command, check=True, capture_output=True)
    monkeypatch.syspath_prepend(tmp_path)
    shop = importlib.import_module("generated_shop")

    class Shop(shop.ShopService):
        def get_price(self, request, headers):
            if request.product_id == "none":
                raise shop.NoSuchProductError("unknown", shop.NoSuchProduct(product_id="none"), code="Sender")
            stamp = shop.GetPriceAnswerHeaders(stamp=headers.token)
            return shop.GetPriceResponse(price=Decimal(request.quantity)), stamp

        async def ping(self):
            return shop.PingResponse(text="pong")

        def log(self, request):
            assert request.text == "x"

    shop.serve_shop(Shop(), service)
    client = shop.ShopClient(SHOP, endpoint=start(service).url)
    headers = shop.GetPriceHeaders(token=shop.TokenBlock(value="secret"))
    answer, stamped = client.get_price_with_headers(shop.GetPrice(product_id="a", quantity=3), headers=headers)
    assert answer.price == 3 and "secret" in repr(stamped)
    assert client.ping().text == "pong"
    client.log(shop.Log(text="x"))
    with pytest.raises(shop.NoSuchProductError) as raised:
        client.get_price(shop.GetPrice(product_id="none"))
    assert raised.value.detail == shop.NoSuchProduct(product_id="none")
