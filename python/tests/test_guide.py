"""The examples of docs/guide/python, and those in Python of other pages, run, from the root of the repository, block by block.

A comment before a block says what it needs, as ``<!-- needs: ray -->``, or what it shows, as ``<!-- raises: bsoap.EncodeError -->``, or
that it does not run: ``<!-- not run -->``. The address ``http://localhost:8080/mesh`` is that of an echo service of examples/mesh.
"""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import bsoap
import pytest
from conftest import ROOT, corpus

FOLDER = ROOT / "docs/guide/python"
BLOCK = re.compile(r"(?:<!-- (.+?) -->\n)?```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# In test_zeep_guide.py, test_generated.py, test_service.py.
TESTED_ELSEWHERE = {"from-zeep.md", "generated.md", "service.md"}
SERVICE = "http://localhost:8080/mesh"


# Pages for all languages that have examples in Python.
SHARED = {"../addressing.md", "../transports.md"}


@pytest.mark.parametrize("page", sorted({path.name for path in FOLDER.glob("*.md")} - TESTED_ELSEWHERE | SHARED))
def test_the_examples_of_a_page_run(page, request, monkeypatch, tmp_path):
    text = (FOLDER / page).read_text()
    if "corpus" in text:
        monkeypatch.setenv("BSOAP_CORPUS", str(corpus("")))
    url = request.getfixturevalue("echo").url if SERVICE in text else SERVICE
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.syspath_prepend(str(ROOT / "examples/python"))
    names = {"__name__": "guide", "OUT": tmp_path}
    for found in BLOCK.finditer(text):
        comment, code = found[1] or "", found[2].replace(SERVICE, url)
        code = code.replace('"/tmp/', f'"{tmp_path}/')
        needed = re.match(r"needs: (.+)", comment)
        if comment == "not run":
            continue
        if needed and not all(importlib.util.find_spec(name.strip()) for name in needed[1].split(",")):
            continue
        # So that messages name the line of the page.
        line = text[: found.start(2)].count("\n")
        compiled = compile("\n" * line + code, str(FOLDER / page), "exec")
        raised = re.match(r"raises: (.+)", comment)
        if raised:
            with pytest.raises(eval(raised[1], {"bsoap": bsoap})):  # noqa: S307
                exec(compiled, names)
        else:
            exec(compiled, names)


def test_links_lead_somewhere():
    for page in FOLDER.glob("*.md"):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
    assert os.path.isdir(FOLDER)
    assert Path(FOLDER / "README.md").exists()


def test_the_reference_is_up_to_date():
    tool = ROOT / "python/tools/reference.py"
    done = subprocess.run([sys.executable, tool, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
