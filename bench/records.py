"""Reads results: lines of JSON as `bsoap-bench --json` writes them."""

import json
from pathlib import Path


def lines(files):
    """The results in these files, in order."""
    for file in files:
        yield from parse(Path(file).read_text().splitlines())


def parse(texts):
    """The results in these lines. Records from before the engine `floor` was renamed say `baseline` too."""
    for text in texts:
        if text.startswith("{"):
            line = json.loads(text)
            line["engine"] = renamed(line["engine"])
            line["vs"] = {renamed(engine): ratio for engine, ratio in line.get("vs", {}).items()}
            yield line


def renamed(engine):
    return "baseline" + engine.removeprefix("floor") if engine.split(":")[0] == "floor" else engine
