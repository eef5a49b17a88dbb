"""Threads, forks, signals, leaks."""

import asyncio
import gc
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
import warnings
from pathlib import Path

import bsoap
import pytest

SHOP = Path(__file__).parent / "testdata/shop.wsdl"

#: How many calls the leak test makes: 100 000 take a minute.
LEAK_CALLS = int(os.environ.get("BSOAP_LEAK_CALLS", "15000"))


@pytest.fixture(scope="module")
def url():
    service = bsoap.Service(SHOP)

    @service.operation
    def get_price(product_id, quantity=0):
        return quantity

    @service.operation
    async def ping():
        await asyncio.sleep(0.3)

    with service.start() as running:
        yield running.url


def prices(client, first, count=50):
    """Whether each call has its own answer."""
    numbers = range(first, first + count)
    return all(client.service.GetPrice(productId="a", quantity=number) == number for number in numbers)


def test_a_client_is_shared_by_threads(url):
    client = bsoap.Client(SHOP, endpoint=url)
    results = []

    def call(first):
        results.append(prices(client, first, 200))

    threads = [threading.Thread(target=call, args=(number * 1000,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 8


def test_other_threads_run_during_a_call(url):
    client = bsoap.Client(SHOP, endpoint=url)
    count = 0
    done = threading.Event()

    def work():
        nonlocal count
        while not done.wait(0.001):
            count += 1

    thread = threading.Thread(target=work)
    thread.start()
    client.service.Ping()
    done.set()
    thread.join()
    assert count > 20


def test_children_of_a_fork_call_too(url):
    client = bsoap.Client(SHOP, endpoint=url)
    assert prices(client, 0)
    children = []
    for number in range(1, 4):
        with warnings.catch_warnings():
            # Python 3.12 warns of forks of processes with threads.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            try:
                code = 0 if prices(client, number * 1000) else 1
            except BaseException:
                traceback.print_exc()
                code = 2
            os._exit(code)
        children.append(child)
    assert prices(client, 9000)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 0, 0]


def test_children_of_a_fork_run_event_loops(url):
    async def call():
        client = bsoap.AsyncClient(SHOP, endpoint=url)
        return await asyncio.gather(*(client.service.GetPrice(productId="a", quantity=number) for number in range(20)))

    assert asyncio.run(call()) == list(range(20))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if asyncio.run(call()) == list(range(20)) else 1
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def in_child(url, first):
    return prices(bsoap.Client(SHOP, endpoint=url), first)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_of_a_pool(url, method):
    assert in_child(url, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.starmap(in_child, [(url, 1000), (url, 2000), (url, 3000)]) == [True] * 3


def test_a_service_starts_after_a_fork():
    service = bsoap.Service(SHOP)

    @service.operation
    async def ping():
        return "pong"

    def works():
        with service.start() as running:
            return bsoap.Client(SHOP, endpoint=running.url).service.Ping() == "pong"

    assert works()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if works() else 1
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.fixture
def silent():
    """A peer that accepts connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


WAIT = """
import sys, time
import bsoap
client = bsoap.Client({wsdl!r}, endpoint="http://127.0.0.1:{port}/shop")
print("ready", flush=True)
try:
    client.service.Ping()
except KeyboardInterrupt:
    print(time.monotonic(), flush=True)
"""


def test_ctrl_c_interrupts_a_call(silent):
    program = WAIT.format(wsdl=str(SHOP), port=silent.getsockname()[1])
    taken = []
    for _ in range(3):
        child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        assert child.stdout.readline() == "ready\n"
        connection, _ = silent.accept()
        connection.recv(1)
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        taken.append(float(child.stdout.readline()) - sent)
        assert child.wait(10) == 0
        connection.close()
    # The best of three: other programs may have the processor.
    assert min(taken) < 0.2, taken


def test_a_cancelled_call_ends_its_exchange(silent):
    async def main():
        loop = asyncio.get_running_loop()
        client = bsoap.AsyncClient(SHOP, endpoint=f"http://127.0.0.1:{silent.getsockname()[1]}/shop")
        call = asyncio.create_task(client.call("Ping"))
        silent.setblocking(False)
        connection, _ = await asyncio.wait_for(loop.sock_accept(silent), 10)
        connection.setblocking(False)
        assert b"POST" in await asyncio.wait_for(loop.sock_recv(connection, 10_000), 10)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        # The connection is closed, so that the peer need not answer.
        while await asyncio.wait_for(loop.sock_recv(connection, 10_000), 10):
            pass
        connection.close()

    asyncio.run(main())


def test_a_cancelled_call_cancels_its_handler():
    service = bsoap.Service(SHOP)
    cancelled = threading.Event()
    entered = threading.Event()

    @service.operation
    async def ping():
        entered.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def main(url):
        call = asyncio.create_task(bsoap.AsyncClient(SHOP, endpoint=url).call("Ping"))
        await asyncio.to_thread(entered.wait, 10)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await asyncio.to_thread(cancelled.wait, 10)

    with service.start() as running:
        asyncio.run(main(running.url))


def resident():
    """The memory of the process in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="the memory of the process is not known")
def test_calls_and_their_handlers_leave_no_memory_behind(url):
    client = bsoap.Client(SHOP, endpoint=url)

    def call(count):
        for number in range(count):
            client.service.GetPrice(productId=str(number), quantity=number)
            if number % 100 == 0:
                with pytest.raises(bsoap.Fault):
                    client.service.PlaceOrder()

    call(3000)
    gc.collect()
    before = resident()
    call(LEAK_CALLS)
    gc.collect()
    grown = resident() - before
    assert grown < 5_000_000, f"{grown} bytes more after {LEAK_CALLS} calls"
