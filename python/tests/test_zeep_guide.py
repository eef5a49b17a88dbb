"""The snippets of *From zeep* run."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from zeep_servers import ROOT, serve

pytest.importorskip("lxml")
pytest.importorskip("requests")

PAGE = ROOT / "docs/guide/python/from-zeep.md"
SNIPPETS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def mesh() -> Iterator[str]:
    with serve(ROOT / "examples/mesh/mesh.wsdl", None, "--echo") as url:
        yield url


@pytest.mark.parametrize("snippet", SNIPPETS, ids=range(len(SNIPPETS)))
def test_a_snippet_runs(snippet: str, mesh: str) -> None:
    if "numpy" in snippet:
        pytest.importorskip("numpy")
    code = snippet.replace("https://example.org/mesh", mesh)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=ROOT / "python")
    assert done.returncode == 0, done.stderr


def test_links_lead_to_pages() -> None:
    for target in re.findall(r"\]\(([^)#]+)", PAGE.read_text(encoding="utf-8")):
        assert (PAGE.parent / target).exists(), target
