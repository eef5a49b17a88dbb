"""What tests share: the WSDL of the examples, and services of the command that echo."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def corpus(path):
    """A folder or file of the corpus; the test is skipped where it is missing."""
    found = Path(os.environ.get("BSOAP_CORPUS", ROOT.parent / "shared/corpus")) / path
    if not found.exists():
        pytest.skip(f"{found} is missing (BSOAP_CORPUS)")
    return found


def program():
    """The command `bsoap`."""
    candidates = [
        os.environ.get("BSOAP_PROGRAM"),
        ROOT / "target/debug/bsoap",
        ROOT / "target/demo/bsoap",
        shutil.which("bsoap"),
    ]
    for candidate in candidates:
        if candidate and Path(candidate).exists():
            return str(candidate)
    pytest.skip("the command bsoap is not built (BSOAP_PROGRAM)")


class Echo:
    """`bsoap serve --echo` of a WSDL on a free port."""

    def __init__(self, wsdl, *options):
        command = [program(), "serve", "--echo", "--listen", "127.0.0.1:0", *options, str(wsdl)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in self.process.stdout:
            if found := re.search(r"https?://127\.0\.0\.1:\d+[^\s?]*", line):
                self.url = found[0]
                return
        raise RuntimeError("the service did not start")

    def stop(self):
        self.process.kill()
        self.process.wait()


MESH = ROOT / "examples/mesh/mesh.wsdl"


@pytest.fixture(scope="session")
def echo():
    service = Echo(MESH)
    yield service
    service.stop()


@pytest.fixture
def client(echo):
    import bsoap

    return bsoap.Client(MESH, endpoint=echo.url)
