"""Writes the tables of recorded runs.

python3 bench/tables.py [FOLDER…] writes README.md in each folder of bench/record (all, if none is named) from its
files `*.jsonl` and the description of the machine in `machine.md`. A table has a row for each case and a column for
each engine.
"""

import sys
from pathlib import Path

import records

RECORD = Path(__file__).parent / "record"

HOW_TO_READ = """\
Made by `bench/tables.py` from the files beside this page; do not edit. Times are medians for one message, or for all
messages of a case. The factor behind a time compares it with the first column that has one: 2.0× takes twice as long.
Those of `rpc` are the server's processor time for one call. Where only a ratio was recorded, the engine it refers to
is named. What a benchmark measures is in `bench/definitions/`; the engines are listed in
[bench/README.md](../../README.md).
"""


def duration(ns):
    for unit, size in (("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}" if ns < 1000 * size else f"{ns / size:.0f} {unit}"
    return f"{ns:.3g} ns"


def cell(line, reference):
    """The time of an engine and its ratio to the reference engine's."""
    if line is None:
        return "–"
    if "ns" not in line:
        if "over" in line:
            return f"{line['over'] / 1e6:.1f} MB beyond text and values"
        return ", ".join(f"{ratio:.2f} × `{engine}`" for engine, ratio in line["vs"].items())
    if "server_ns" in line:
        time, ratio = duration(line["server_ns"]), line["server_ns"] / max(reference["server_ns"], 1)
        return time if reference is line else f"{time} ({factor(ratio)}×)"
    time = duration(line["ns"])
    if reference is None or reference is line:
        return time
    ratio = line["vs"].get(reference["engine"]) or line["ns"] / max(reference["ns"], 1)
    return f"{time} ({factor(ratio)}×)"


def factor(ratio):
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.2g}"


def table(cases):
    """The lines of cases with the same engines: `cases` are names and lines by engine."""
    engines = list(cases[0][1])
    heads = ["case", *(f"`{engine}`" for engine in engines)]
    out = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for name, lines in cases:
        reference = next((line for line in lines.values() if "ns" in line), None)
        cells = [f"`{name}`", *(cell(lines[engine], reference) for engine in engines)]
        out.append(f"| {' | '.join(cells)} |")
    return "\n".join(out)


def section(file):
    """The tables of one file, a heading for each benchmark."""
    benchmarks = {}
    for line in records.lines([file]):
        benchmarks.setdefault(line["bench"], {}).setdefault(line["case"], {})[line["engine"]] = line
    out = []
    for benchmark, cases in benchmarks.items():
        title = benchmark if file.stem in (benchmark, "ds-fig") else f"{benchmark} ({file.stem})"
        out.append(f"## {title}")
        group = []
        for name, lines in cases.items():
            if group and list(group[0][1]) != list(lines):
                out.append(table(group))
                group = []
            group.append((name, lines))
        out.append(table(group))
    return out


def main(folders):
    for folder in map(Path, folders or sorted(RECORD.iterdir())):
        machine = (folder / "machine.md").read_text()
        sections = [part for file in sorted(folder.glob("*.jsonl")) for part in section(file)]
        text = "\n\n".join([f"# Recorded run {folder.name}", machine.strip(), HOW_TO_READ.strip(), *sections])
        (folder / "README.md").write_text(text + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
