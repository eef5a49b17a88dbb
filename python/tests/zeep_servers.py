"""`bsoap serve` for tests of bsoap.zeep, and where its inputs are."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import subprocess
import tempfile
from collections.abc import Iterator
from typing import Any

import conftest

ROOT = pathlib.Path(__file__).parents[2]


def corpus() -> pathlib.Path:
    found: pathlib.Path = conftest.corpus(".")
    return found


@contextlib.contextmanager
def serve(wsdl: str | os.PathLike[str], answers: dict[str, Any] | None = None, *options: str) -> Iterator[str]:
    """Serves a WSDL, and yields the address of its first port."""
    with tempfile.TemporaryDirectory() as folder:
        for name, answer in (answers or {}).items():
            pathlib.Path(folder, f"{name}.json").write_text(json.dumps(answer))
        more = ["--answers", folder] if answers else []
        arguments = [conftest.program(), "serve", str(wsdl), "--listen", "127.0.0.1:0", *more, *options]
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert process.stdout is not None
        try:
            seen = ""
            for line in process.stdout:
                seen += line
                found = re.search(r"http://127\.0\.0\.1:\d+\S*", line)
                if found:
                    yield found[0]
                    break
            else:
                raise RuntimeError(f"bsoap serve ended: {seen}")
        finally:
            process.terminate()
            process.stdout.close()
            process.wait(10)
