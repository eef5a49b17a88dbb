"""The command `bsoap` as `python -m bsoap`."""

import importlib.metadata
import json
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import bsoap
import pytest
from conftest import MESH

COMMAND = [sys.executable, "-m", "bsoap"]


def run(*arguments, **options):
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=30, **options)


def test_a_description():
    done = run("describe", MESH)
    assert done.returncode == 0 and done.stderr == ""
    assert "echoDoubles" in done.stdout
    assert json.loads(run("describe", MESH, "--json").stdout)


def test_its_version_is_that_of_the_package():
    assert run("--version").stdout == f"bsoap {bsoap.__version__}\n"
    assert importlib.metadata.version("bsoap") == bsoap.__version__


def test_exit_codes():
    assert run("--help").returncode == 0
    wrong = run("describe")
    assert wrong.returncode == 2 and "Usage: bsoap describe" in wrong.stderr
    missing = run("describe", "missing.wsdl")
    assert missing.returncode == 3 and missing.stdout == "" and "missing.wsdl" in missing.stderr
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert run("call", MESH, "sumInts", "values.item=1", "--endpoint", f"http://127.0.0.1:{port}/mesh").returncode == 4


def test_the_script_is_the_same_command():
    (script,) = importlib.metadata.entry_points(group="console_scripts", name="bsoap")
    assert script.load()(["describe", str(MESH)]) == 0


def test_standard_input_and_output_are_those_of_the_process():
    sample = run("encode", MESH, "sumInts", input='{"values": {"item": [1, 2]}}')
    assert sample.returncode == 0, sample.stderr
    decoded = run("decode", MESH, "-", input=sample.stdout)
    assert decoded.returncode == 0, decoded.stderr
    assert "[1,2]" in decoded.stdout.replace(" ", "").replace("\n", "")


def test_a_reader_that_closes_the_pipe_is_no_failure():
    child = subprocess.Popen([*COMMAND, "describe", str(MESH)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    child.stdout.close()
    assert child.wait(30) == 0
    assert child.stderr.read() == b""
    child.stderr.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_a_service(number):
    arguments = [*COMMAND, "serve", str(MESH), "--echo", "--listen", "127.0.0.1:0"]
    child = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for line in child.stdout:
        if found := re.search(r"http://127\.0\.0\.1:\d+/mesh\b", line):
            break
    client = bsoap.Client(MESH, endpoint=found[0])
    assert client.service.echoInts(values={"item": [1, 2]}).item.tolist() == [1, 2]
    child.send_signal(number)
    child.communicate(timeout=20)
    assert child.returncode == 0


def test_ctrl_c_ends_a_call():
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/mesh"
        arguments = [*COMMAND, "call", str(MESH), "sumInts", "values.item=1", "--endpoint", url]
        child = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        connection, _ = server.accept()
        connection.recv(1)
        child.send_signal(signal.SIGINT)
        assert child.wait(10) == -signal.SIGINT
        connection.close()
        child.stdout.close()
        child.stderr.close()


def test_the_command_needs_no_numpy():
    program = "import sys; import bsoap.__main__; sys.exit('numpy' in sys.modules or 'asyncio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_it_is_the_command_of_the_checkout():
    help_of = Path(__file__).parents[2] / "docs/guide/command.md"
    listed = set(re.findall(r"^  ([a-z]+) ", run("--help").stdout, re.MULTILINE)) - {"help"}
    assert {"call", "decode", "describe", "serve"} <= listed and "bsoap serve" in help_of.read_text()
