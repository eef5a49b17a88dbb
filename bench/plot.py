"""Draws the pictures of docs/guide/speed.md from what `bsoap-bench --json` wrote.

python3 bench/plot.py RESULTS.jsonl… writes docs/guide/pictures/*.svg. Needs lines of encode, decode, numbers, send,
ready, receive and hints; a picture whose lines are missing is left as it is, and named.
"""

import sys
from pathlib import Path
from xml.sax.saxutils import escape

import records

PICTURES = Path(__file__).parent.parent / "docs" / "guide" / "pictures"
WIDTH, LABEL, ROW, TOP = 860, 270, 26, 64
COLOURS = ["#4269d0", "#efb118", "#3ca951", "#ff725c", "#97bbf5"]
VALUES = 100_000


class Results:
    """Times in nanoseconds by benchmark, case and engine."""

    def __init__(self, files):
        self.times = {}
        for it in records.lines(files):
            if "ns" in it:
                self.times[it["bench"], it["case"], it["engine"]] = it["ns"]

    def __call__(self, bench, case, engine="bsoap"):
        return self.times[bench, case, engine]


def duration(ns):
    for unit, size in (("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"


def times(ratio):
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def bars(name, title, legend, rows, form, line=None):
    """Horizontal bars. `rows`: a label and the lengths of the parts of a bar."""
    largest = max(sum(parts) for _, parts in rows)
    scale = (WIDTH - LABEL - 110) / largest
    height = TOP + ROW * len(rows) + 14
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="12" y="22" font-size="16" font-weight="bold">{escape(title)}</text>',
    ]
    x = 12
    for colour, text in zip(COLOURS, legend, strict=False):
        out.append(f'<rect x="{x}" y="34" width="12" height="12" fill="{colour}"/>')
        out.append(f'<text x="{x + 17}" y="45">{escape(text)}</text>')
        x += 36 + 7 * len(text)
    for index, (label, parts) in enumerate(rows):
        y = TOP + ROW * index
        out.append(f'<text x="{LABEL - 8}" y="{y + 14}" text-anchor="end">{escape(label)}</text>')
        x = LABEL
        for colour, part in zip(COLOURS, parts, strict=False):
            out.append(f'<rect x="{x:.1f}" y="{y}" width="{part * scale:.1f}" height="18" fill="{colour}"/>')
            x += part * scale
        out.append(f'<text x="{x + 6:.1f}" y="{y + 14}">{form(sum(parts))}</text>')
    if line is not None:
        x = LABEL + line * scale
        out.append(
            f'<line x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{height - 8}" stroke="#888" stroke-dasharray="4 3"/>'
        )
    out.append("</svg>\n")
    PICTURES.mkdir(parents=True, exist_ok=True)
    (PICTURES / f"{name}.svg").write_text("\n".join(out))


def call(r):
    case = f"dhard/{VALUES}"
    wire = r("send", f"{case}/content", "writev")
    full = [
        ("the C library, bare loops", "libc", "libc"),
        ("the best crates, bare loops", "zmij", "fast-float2"),
        ("bsoap, nothing kept", "bsoap", "bsoap"),
    ]
    rows = [(label, [r("encode", case, out), wire, r("decode", case, back)]) for label, out, back in full]
    again = [("a quarter of it changed", "dirty25", "P25/T100"), ("all of it as before", "content", "identical")]
    rows += [
        (f"bsoap, {label}", [r("ready", f"{case}/{s}"), wire, r("receive", f"{case}/{t}")]) for label, s, t in again
    ]
    title = "Where the time of a message of 100 000 doubles goes"
    bars("call", title, ["write it", "hand it to the system", "read it"], rows, duration)


def share(r):
    case, small = f"dhard/{VALUES}", "dhard/10000"
    wire = r("send", f"{case}/content", "writev")
    rows = []
    engines = [
        ("the C library", "format", "parse", "libc", "libc"),
        ("the best crates", "format", "parse", "zmij", "fast-float2"),
        ("bsoap", "write", "read", "bsoap", "bsoap"),
    ]
    for label, write, read, out, back in engines:
        both = r("numbers", f"{small}/{write}", out) + r("numbers", f"{small}/{read}", back)
        conversion = both * VALUES / 10_000
        all_of_it = r("encode", case, out) + wire + r("decode", case, back)
        rows.append((label, [conversion / all_of_it * 100]))
    bars("share", "How much of that is conversion of numbers", [], rows, lambda it: f"{it:.0f} %")


SHAPES = [("dhard", "doubles"), ("int", "integers"), ("mio", "{int, int, double}"), ("string", "strings")]


def sending(r):
    rows = []
    for shape, label in SHAPES:
        for scenario, share in (("content", "nothing"), ("dirty25", "a quarter"), ("dirty100", "all")):
            it = f"{shape}/{VALUES}/{scenario}"
            rows.append((f"{label}: {share} changed", [r("ready", it) / r("ready", it, "bsoap:off")]))
    bars("sending", "Time until a message can be sent (1: writing all of it)", [], rows, times, line=1)


def receiving(r):
    rows = []
    for shape, label in SHAPES:
        for scenario, share in (("identical", "nothing"), ("P25/T100", "a quarter"), ("P25/scattered", "every fourth")):
            it = f"{shape}/{VALUES}/{scenario}"
            rows.append((f"{label}: {share} changed", [r("receive", it) / r("receive", it, "bsoap:off")]))
    bars("receiving", "Time until a message is read (1: reading all of it)", [], rows, times, line=1)


def hints(r):
    cases = {case for bench, case, _ in r.times if bench == "hints"}
    case = max(cases, key=lambda it: int(it.split("/")[1]))
    count = int(case.split("/")[1])
    found = [(engine, ns / count) for (bench, it, engine), ns in r.times.items() if bench == "hints" and it == case]
    rows = [(engine, [ns]) for engine, ns in sorted(found, key=lambda it: -it[1])]
    bars("hints", "A small document, all of whose values are new", [], rows, duration)


def main(files):
    results = Results(files)
    for picture in (call, share, sending, receiving, hints):
        try:
            picture(results)
        except (KeyError, ValueError) as missing:
            print(f"{picture.__name__}: no line for {missing}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
