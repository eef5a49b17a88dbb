"""Renews the tables of BENCHMARKS.md from what `bsoap-bench --json` wrote.

python3 bench/tables.py RESULTS.jsonl… fills in the tables whose rows are cases, the figures of the paper on
serialization and table 1 of the paper on checkpoints. What there are no lines for stays as it is; of two lines
for the same case and engine the last counts. `BSOAP_KERNEL=portable` leaves no mark in a line, so that a file of what
was measured with it is named as `crates=RESULTS.jsonl`.
"""

import re
import sys
from pathlib import Path

import records

BENCHMARKS = Path(__file__).parent.parent / "BENCHMARKS.md"

# The benchmark whose cases a section lists, by how its heading begins.
SECTIONS = {
    "Whole messages to text": "encode",
    "Whole messages to values": "decode",
    "Numbers (": "numbers",
    "SendTime, nothing": "send",
    "Until ready": "ready",
    "Values that change": "ready",
    "Structure, documents": "ready",
    "Overlay": "send",
    "Size of chunks": "send",
}

# What stands under a heading that is not an engine's name: a ratio of times.
RATIOS = {
    "bsoap / baseline": ("bsoap", "baseline"),
    "/ `baseline`": ("bsoap", "baseline"),
    "/ `bsoap:off`": ("bsoap", "bsoap:off"),
    "/ `writev`": ("bsoap", "writev"),
    "bsoap / off": ("bsoap", "bsoap:off"),
    "store / off": ("bsoap:store", "bsoap:off"),
    "bsoap / no-shift": ("bsoap", "bsoap:no-shift"),
    "stuff-max / off": ("bsoap:stuff-max", "bsoap:off"),
    "content match / `writev`": ("bsoap", "writev"),
    "store / `writev`": ("bsoap:store", "writev"),
}

# The same, the other way round: so many times as fast.
GAINS = {
    "faster than gSOAP": ("bsoap", "gsoap"),
    "than gSOAP": ("bsoap", "gsoap"),
    "faster than quick-xml's events": ("bsoap", "quick-xml"),
    "off: faster than `gsoap:best`": ("bsoap:off", "gsoap:best"),
    "content match: faster than `gsoap:best`": ("bsoap", "gsoap:best"),
    "content match: faster than full": ("bsoap", "bsoap:off"),
    "than `gsoap:best`": ("bsoap", "gsoap:best"),
}

# The figures of the paper on serialization: what a column holds, as scenario and engine; two of those for a ratio.
FULL = ("content", "bsoap:off")
SAME = ("content", "bsoap")
MATCH = [SAME, FULL, ("content", "gsoap:best"), ("content", "gsoap"), (FULL, SAME), (("content", "gsoap:best"), SAME)]
DIRTY = ["content", "dirty25", "dirty50", "dirty75", "dirty100"]
SHARES = [*(((share, "bsoap"), (share, "bsoap:off")) for share in DIRTY), ("dirty100", "bsoap:off")]
GROWN = [*(((f"grow/{chunk}", "bsoap"), (f"grow/{chunk}", "bsoap:no-shift")) for chunk in ("8k", "32k"))]
PARTLY = [
    *(((f"grow{p}/mid/32k", "bsoap"), (f"grow{p}/mid/32k", "bsoap:no-shift")) for p in (25, 50, 75, 100)),
    ("grow100/mid/32k", "bsoap:no-shift"),
]
WIDEST, TIGHT = ("ones", "bsoap:stuff-max"), ("ones", "bsoap")
MOVED, PADDED = ("shrink", "bsoap:stuff-tag"), ("shrink", "bsoap:stuff-max")
STUFFED = [WIDEST, ("ones", "bsoap:stuff-mid"), TIGHT, MOVED, PADDED, (WIDEST, TIGHT), (MOVED, TIGHT), (PADDED, TIGHT)]
LAID, HELD = ("overlay", "bsoap:overlay"), ("overlay", "bsoap:chunk32k")
LAID_OVER = [LAID, HELD, (LAID, HELD)]
FIGURES = {
    1: [("mio", MATCH)],
    2: [("dhard", MATCH)],
    3: [("int", MATCH)],
    4: [("mio", SHARES)],
    5: [("dhard", SHARES)],
    6: [("mio", [*GROWN, ("grow/32k", "bsoap:no-shift")])],
    7: [("dhard", [*GROWN, ("grow/32k", "bsoap:no-shift")])],
    8: [("mio", PARTLY)],
    9: [("dhard", PARTLY)],
    10: [("mio", STUFFED)],
    11: [("dhard", STUFFED)],
    12: [("mio", LAID_OVER), ("dhard", LAID_OVER)],
}

# What a cell of table 1 lists behind the paper's figure.
CHECKPOINTERS = ["bsoap:lcp-keyed/512", "bsoap:lcp/512", "bsoap:exact"]


class Results:
    """The lines by benchmark and case, then by engine."""

    def __init__(self, files):
        self.cases = {}
        for it in records.lines(files):
            self.cases.setdefault((it["bench"], it["case"]), {})[it["engine"]] = it

    def of(self, bench, case):
        return self.cases.get((bench, case)) or self.cases.get((bench, f"{case}/content"), {})


def ratio(row, one, other):
    """The time of an engine by that of another: taken round by round where both ran in turns."""
    if one not in row or other not in row:
        return None
    return row[one].get("vs", {}).get(other) or row[one]["ns"] / row[other]["ns"]


def duration(ns):
    if ns < 1000:
        return f"{ns:.0f} ns"
    if ns < 1e6:
        return f"{ns / 1e3:.2f} µs" if ns < 1e4 else f"{ns / 1e3:.1f} µs"
    return f"{ns / 1e6:.2f} ms"


def told(value, form):
    return "–" if value is None else form(value)


def plain(value):
    return told(value, "{:.2f}".format)


def times(value):
    return told(value, lambda it: f"{it:.1f}×")


def column(results, bench, case, head, was):
    """The cell under a heading in the row of a case."""
    row = results.of(bench, case)
    if head in RATIOS:
        by_other = ratio(row, *RATIOS[head])
        return was if by_other is None else plain(by_other)
    if head in GAINS:
        by_other = ratio(row, *GAINS[head])
        return was if by_other is None else times(1 / by_other)
    if head == "SendTime / `bsoap:off`":
        sent = results.of("send", case)
        return plain(ratio(sent, "bsoap", "bsoap:off")) if sent else was
    engine = next((it for it in re.findall("`([^`]+)`", head) if it in row), None)
    if engine is None:
        return was
    return f"{row[engine]['ns_per_value']:.1f}" if bench == "numbers" else duration(row[engine]["ns"])


def resident(results, case, cells):
    """The row of one engine, with the memory that came to be resident."""
    row, engine = results.of("send", case), cells[1].strip("`")
    if engine not in row:
        return cells
    by_full = "–" if engine == "bsoap:off" else plain(ratio(row, engine, "bsoap:off"))
    kib = row[engine].get("resident_bytes", 0) // 1024
    return [cells[0], cells[1], duration(row[engine]["ns"]), by_full, f"+{kib} KiB"]


def figure(results, number, values, was):
    """The row of a figure of the paper on serialization. What was not measured is as it was."""
    cells = []
    for shape, columns in FIGURES[number]:

        def time(scenario, engine, shape=shape):
            row = results.of(f"ds-fig{number:02}", f"{shape}/{values}/{scenario}")
            return row[engine]["ns"] if engine in row else None

        for one, other in columns:
            if isinstance(one, str):
                cells.append(told(time(one, other), duration))
                continue
            above, below = time(*one), time(*other)
            by = None if above is None or below is None else above / below
            cells.append(times(by) if number <= 3 else plain(by))
    return [str(values), *(old if cell == "–" else cell for cell, old in zip(cells, was, strict=True))]


def table1(full, compared, share, array, cells):
    """A row of table 1: `cells` begin with the paper's figure; those not below it are made bold."""
    out = []
    for partitions, cell in zip((1, 100, 200, 500), cells, strict=True):
        case = f"dhard/{array}000/P{share}/T{partitions}"
        base, row = full.of("dds-table1", case), compared.of("dds-table1", case)
        if "bsoap:off" not in base or not all(engine in row for engine in CHECKPOINTERS):
            return None
        paper = int(cell.split(":")[0])
        gains = [gain(base, row, engine, is_one_run=full is compared) for engine in CHECKPOINTERS]
        out.append(f"{paper}: " + ", ".join(f"**{it}**" if it >= paper else f"{it}" for it in gains))
    return [f"{share} %", f"{array} K", *out]


def gain(base, row, engine, is_one_run):
    """How much faster than a full reading, in percent."""
    by_full = ratio(row, engine, "bsoap:off") if is_one_run else row[engine]["ns"] / base["bsoap:off"]["ns"]
    return round((1 / by_full - 1) * 100)


class Renewed:
    """The text, line by line, with the tables renewed."""

    def __init__(self, results, crates):
        self.results, self.crates = results, crates
        self.bench, self.figure, self.heads, self.tables = None, None, [], 0

    def line(self, line):
        if line.startswith("#"):
            title = line.lstrip("# ")
            self.bench = next((bench for start, bench in SECTIONS.items() if title.startswith(start)), None)
            self.figure, self.tables = None, 0
        elif found := re.match(r"\*\*Figure (\d+)\*\*", line):
            self.figure = int(found[1])
        elif line.startswith("| "):
            return self.row([cell.strip() for cell in line.strip().strip("|").split("|")], line)
        return line

    def row(self, cells, line):
        if cells[0] in ("case", "N", "P"):
            self.heads = cells
            self.tables += 1
            return line
        renewed = self.renewed(cells)
        return line if renewed is None else f"| {' | '.join(renewed)} |"

    def renewed(self, cells):
        if self.figure and cells[0].isdigit():
            return figure(self.results, self.figure, int(cells[0]), cells[1:])
        if self.heads[:1] == ["P"] and cells[0].endswith(" %"):
            return self.share(cells)
        case = cells[0].strip("`")
        if self.bench is None or not self.results.of(self.bench, case):
            return None
        if "engine" in self.heads:
            return resident(self.results, case, cells)
        heads = zip(self.heads[1:], cells[1:], strict=True)
        return [cells[0], *(column(self.results, self.bench, case, head, was) for head, was in heads)]

    def share(self, cells):
        """Three tables: by the kernels, by the crates, and what the kernels gain over a full reading by the crates."""
        sides = {
            1: (self.results, self.results),
            2: (self.crates, self.crates),
            3: (self.crates, self.results),
        }
        return table1(*sides[self.tables], cells[0].split()[0], cells[1].split()[0], cells[2:])


def main(arguments):
    marked = [it.removeprefix("crates=") for it in arguments if it.startswith("crates=")]
    results = Results(it for it in arguments if not it.startswith("crates="))
    renewed = Renewed(results, Results(marked))
    BENCHMARKS.write_text("\n".join(map(renewed.line, BENCHMARKS.read_text().split("\n"))))


if __name__ == "__main__":
    main(sys.argv[1:])
