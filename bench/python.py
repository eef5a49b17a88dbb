"""The benchmark `python`: what the Python package costs, beside zeep and lxml, in one run.

    python bench/python.py [--case GLOB] [--quick] [--bsoap PROGRAM]

needs the packages bsoap, numpy, zeep and lxml; PROGRAM is the command `bsoap`, which serves the calls and is the Rust client that they
are compared with. A line of JSON for each case and engine, as the other benchmarks write them. The engines of a case take turns, every
answer is checked before the times are taken, and `vs` are ratios of medians. Times of loading are those of a new process.
"""

import argparse
import decimal
import fnmatch
import json
import random
import re
import statistics
import subprocess
import sys
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import bsoap
import bsoap.codec
import numpy as np

HERE = Path(__file__).resolve().parent
WSDL = HERE / "bench.wsdl"
BINDING = "{urn:bsoap:bench}Bench"
ROUNDS = 11
QUICK = 2


def doubles(count):
    """Doubles over all finite exponents: `dhard`."""
    bits = np.random.default_rng(7).integers(0, 2**63, count * 2, dtype=np.uint64)
    values = bits.view("f8")
    return values[np.isfinite(values)][:count].copy()


class Messages:
    """The messages of the cases, by the WSDL of all benchmarks."""

    def __init__(self):
        self.wsdl = bsoap.Wsdl(WSDL)

    def text(self, operation, value):
        return bsoap.codec.encode(self.wsdl, operation, value)


def zeep_client():
    import zeep

    return zeep.Client(str(WSDL))


def zeep_decode(client, operation, text):
    """What zeep does with an answer whose text is there."""
    from lxml import etree

    output = client.wsdl.bindings[BINDING].get(operation).output
    document = etree.fromstring(text, etree.XMLParser(huge_tree=True, remove_blank_text=True))
    return output.deserialize(document)


def zeep_encode(client, operation, values):
    from lxml import etree

    return etree.tostring(client.create_message(client.service, operation, **values))


def lxml_numbers(text):
    from lxml import etree

    root = etree.fromstring(text, etree.XMLParser(huge_tree=True))
    return np.fromiter((float(item.text) for item in root.iter("item")), "f8")


def accessor(cls, wsdl):
    """A function that reads every field of an order, as a program would write it: `value.customer.name`."""
    source = ["def read(value):", "    fields = 0"]

    def read(cls, name, indent):
        nested = []
        for attribute in cls._attributes:
            source.append(f"{indent}{name}.{attribute[1:]}")
        simple = [field for field in cls._fields.values() if field.type in SIMPLE and not field.repeats]
        source.extend(f"{indent}{name}.{field.name}" for field in simple)
        source.append(f"{indent}fields += {len(simple) + len(cls._attributes)}")
        nested = [field for field in cls._fields.values() if field.type not in SIMPLE]
        for field in nested:
            inner = f"{field.name}_"
            if field.repeats:
                source.append(f"{indent}for {inner} in {name}.{field.name}:")
                read(wsdl.get_type(field.type), inner, indent + "    ")
            else:
                source.append(f"{indent}{inner} = {name}.{field.name}")
                read(wsdl.get_type(field.type), inner, indent)

    read(cls, "value", "    ")
    source.append("    return fields")
    names = {}
    exec("\n".join(source), names)
    return names["read"]


SIMPLE = ("str", "int", "float", "bool", "Decimal", "datetime", "date", "time", "timedelta", "bytes")


def cases(quick):
    count = 1000 if quick else 100_000
    messages = Messages()
    numbers = doubles(count)
    codec = bsoap.codec
    text = messages.text("doubles", {"item": numbers})
    reader = codec.Decoder(messages.wsdl, differential=False)
    writer = codec.Template(messages.wsdl, "doubles", differential=False)
    client = zeep_client()
    listed = numbers.tolist()

    def same(array):
        return np.array_equal(np.asarray(array, "f8"), numbers)

    yield (
        f"decode/dhard/{count}",
        len(text),
        count,
        {
            "bsoap": lambda: reader.answer("doubles", text).value.item,
            "zeep": lambda: zeep_decode(client, "doubles", text),
            "lxml": lambda: lxml_numbers(text),
        },
        same,
    )

    def reread(encoded):
        return np.array_equal(reader.answer("doubles", encoded).value.item, numbers)

    yield (
        f"encode/dhard/{count}",
        len(text),
        count,
        {
            "bsoap": lambda: writer.encode({"item": numbers}),
            "zeep": lambda: zeep_encode(client, "doubles", {"item": listed}),
        },
        reread,
    )

    rows = np.zeros(count, [("x", "i8"), ("y", "i8"), ("value", "f8")])
    rows["x"], rows["y"], rows["value"] = np.arange(count), np.arange(count) * 3, numbers
    mesh = messages.text("mesh", {"item": rows})

    def same_rows(found):
        if isinstance(found, np.ndarray):
            return all(np.array_equal(found[name], rows[name]) for name in rows.dtype.names)
        return len(found) == count and (found[-1].x, found[-1].y, found[-1].value) == rows[-1].item()

    yield (
        f"decode/mio/{count}",
        len(mesh),
        3 * count,
        {
            "bsoap": lambda: reader.answer("mesh", mesh).value.item,
            "zeep": lambda: zeep_decode(client, "mesh", mesh),
        },
        same_rows,
    )

    same_again = codec.Decoder(messages.wsdl)
    same_again.answer("doubles", text)
    yield (
        f"decode/dhard/{count}/identical",
        len(text),
        count,
        {
            "bsoap": lambda: same_again.answer("doubles", text).value.item,
        },
        same,
    )

    arguments = order_arguments()
    order_text = messages.text("order", arguments)
    read = accessor(messages.wsdl.get_element("order"), messages.wsdl)
    fields = read(reader.answer("order", order_text).value)
    order_writer = codec.Template(messages.wsdl, "order", differential=False)
    zeep_arguments = strip(arguments)
    yield (
        "decode/order/1",
        len(order_text),
        fields,
        {
            "bsoap": lambda: read(reader.answer("order", order_text).value),
            "zeep": lambda: read(zeep_decode(client, "order", order_text)),
        },
        lambda found: found == fields > 80,
    )

    def is_order(encoded):
        return reader.answer("order", encoded).value == reader.answer("order", order_text).value

    yield (
        "encode/order/1",
        len(order_text),
        fields,
        {
            "bsoap": lambda: order_writer.encode(arguments),
            "zeep": lambda: zeep_encode(client, "order", zeep_arguments),
        },
        is_order,
    )


def order_arguments():
    """An order in the form of the package: attributes begin with @."""
    numbers = random.Random(7)

    values = {
        "str": lambda: "text & more",
        "int": lambda: numbers.randrange(1, 1000),
        "float": lambda: numbers.random() * 100,
        "bool": lambda: True,
        "Decimal": lambda: decimal.Decimal(numbers.randrange(100, 99999)) / 100,
        "datetime": lambda: datetime(2026, 11, 26, 12, 30, 15, tzinfo=UTC),
        "date": lambda: date(2026, 11, 26),
        "timedelta": lambda: timedelta(days=3),
        "bytes": lambda: b"\x00\x01\x02signature",
    }
    wsdl = bsoap.Wsdl(WSDL)

    def fill(cls):
        made = {key: values.get(kind, values["str"])() for key, kind, _ in cls._attributes.values()}
        if cls._text is not None:
            made["#text"] = values.get(cls._text, values["str"])()
        for field in cls._fields.values():
            one = values.get(field.type)
            if one is None:
                nested = wsdl.get_type(field.type)
                one = lambda nested=nested: fill(nested)  # noqa: E731
            made[field.name] = [one() for _ in range(10)] if field.repeats else one()
        return made

    return fill(wsdl.get_element("order"))


def strip(value):
    """The arguments as zeep wants them: attributes without the sign."""
    if isinstance(value, dict):
        return {name.removeprefix("@").replace("#text", "_value_1"): strip(member) for name, member in value.items()}
    if isinstance(value, list):
        return list(map(strip, value))
    return value


def measure(engines, check, rounds):
    """The times of engines that take turns, each after its answer was checked."""
    times = {name: [] for name in engines}
    repeats = {}
    for name, run in engines.items():
        if not check(run()):
            raise SystemExit(f"{name} gives a wrong answer")
        start = time.perf_counter_ns()
        run()
        # Short ones several times, so that the clock's own time does not count.
        repeats[name] = max(1, min(100, 5_000_000 // (time.perf_counter_ns() - start)))
    for _ in range(rounds):
        for name, run in engines.items():
            start = time.perf_counter_ns()
            for _ in range(repeats[name]):
                run()
            times[name].append((time.perf_counter_ns() - start) / repeats[name])
    return times


def report(case, size, values, times):
    medians = {name: statistics.median(found) for name, found in times.items()}
    for name, found in times.items():
        ordered = sorted(found)
        spread = (ordered[int(len(ordered) * 0.9)] - ordered[int(len(ordered) * 0.1)]) / medians[name]
        line = {
            "bench": "python",
            "case": case,
            "engine": name,
            "ns": round(medians[name]),
            "bytes": size,
            "values": values,
            "vs": {other: round(medians[name] / median, 5) for other, median in medians.items() if other != name},
            "runs": len(found),
            "spread": round(spread, 3),
            "checked": True,
        }
        print(json.dumps(line), flush=True)


class Server:
    """`bsoap serve --echo` on a free port."""

    def __init__(self, program, wsdl):
        self.process = subprocess.Popen(
            [program, "serve", "--echo", "--listen", "127.0.0.1:0", str(wsdl)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for line in self.process.stdout:
            found = re.search(r"http://127\.0\.0\.1:\d+[^\s?]*", line)
            if found:
                self.url = found[0]
                return
        raise SystemExit("the server did not start")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def calls(program, rounds):
    """A call of 100 ints through one connection, by the package, by the Rust client and by zeep."""
    with Server(program, WSDL) as server:
        client = bsoap.Client(WSDL, endpoint=server.url)
        numbers = np.arange(100)
        zeeped = zeep_client().create_service(BINDING, server.url)
        listed = numbers.tolist()
        operation = client.service.ints
        if not np.array_equal(operation(item=numbers), numbers) or zeeped.ints(item=listed) != listed:
            raise SystemExit("a wrong answer")
        times = {"bsoap": [], "rust": [], "zeep": []}
        arguments = json.dumps({"item": listed})
        for _ in range(rounds):
            times["bsoap"].append(median(lambda: operation(item=numbers), 500))
            times["rust"].append(rust_call(program, server.url, arguments))
            times["zeep"].append(median(lambda: zeeped.ints(item=listed), 50))
        report("call/int/100", 0, 100, times)


def median(run, times):
    found = []
    for _ in range(times):
        start = time.perf_counter_ns()
        run()
        found.append(time.perf_counter_ns() - start)
    return statistics.median(found)


def rust_call(program, url, arguments):
    command = [program, "call", str(WSDL), "ints", "--endpoint", url, f"--json={arguments}", "--repeat", "500"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    said = done.stdout + done.stderr
    found = re.search(r'median[^\d]*([\d.]+) ms|"median_(ms|ns)":([\d.]+)', said)
    if not found:
        raise SystemExit(f"no median in {said!r}")
    if found[1]:
        return float(found[1]) * 1e6
    return float(found[3]) * (1e6 if found[2] == "ms" else 1)


def loads(program, corpus, rounds):
    """Importing the package, loading a WSDL and the first call, in a new process."""
    with Server(program, WSDL) as server:
        times = {"bsoap": [], "zeep": []}
        sources = {
            "bsoap": f"import bsoap; print(bsoap.Client({str(WSDL)!r}, endpoint={server.url!r}).service.strings(item=['a']))",
            "zeep": f"import zeep; print(zeep.Client({str(WSDL)!r}).create_service({BINDING!r}, {server.url!r}).strings(item=['a']))",
        }
        for _ in range(rounds):
            for name, source in sources.items():
                times[name].append(process(source, "a"))
        report("load/small", WSDL.stat().st_size, 1, times)
    device = corpus / "onvif" / "devicemgmt.wsdl"
    if not device.exists():
        print(f"load/onvif is left out: {device} is missing (BSOAP_CORPUS)", file=sys.stderr)
        return
    sources = {
        "bsoap": f"import bsoap; print(len(bsoap.Client({str(device)!r}, endpoint='http://127.0.0.1:1/',"
        f" allow_imports_from=[{str(corpus)!r}]).create_message('GetHostname')))",
        "zeep": f"import zeep, sys; from lxml import etree; client = zeep.Client({str(device)!r});"
        " print(len(etree.tostring(client.create_message(client.service, 'GetHostname'))))",
    }
    times = {name: [] for name in sources}
    for _ in range(rounds):
        for name, source in list(sources.items()):
            try:
                times[name].append(process(source, ""))
            except subprocess.CalledProcessError as error:
                print(f"load/onvif: {name} fails: {error.stderr.strip().splitlines()[-1]}", file=sys.stderr)
                del sources[name], times[name]
    report("load/onvif", device.stat().st_size, 1, times)


def process(source, expected):
    start = time.perf_counter_ns()
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    taken = time.perf_counter_ns() - start
    if expected not in done.stdout:
        raise SystemExit(f"a wrong answer: {done.stdout}")
    return taken


MEMORY = """
import re, bsoap, bsoap.codec, numpy
def peak():
    return int(re.search(r"VmHWM:\\s*(\\d+) kB", open("/proc/self/status").read())[1])
wsdl = bsoap.Wsdl({wsdl!r})
decoder = bsoap.codec.Decoder(wsdl, differential=False)
decoder.answer("doubles", bsoap.codec.encode(wsdl, "doubles", {{"item": [1.5, 2.5]}})).value.item
open("/proc/self/clear_refs", "w").write("5")  # from here on, the peak is that of the decoding
before = peak()
text = open({text!r}, "rb").read()
array = decoder.answer("doubles", text).value.item
print((peak() - before) * 1024, len(text), array.nbytes)
"""


def memory(folder):
    """The most memory that decoding takes, beyond the text and the array."""
    wsdl = bsoap.Wsdl(WSDL)
    path = folder / "doubles.xml"
    path.write_bytes(bsoap.codec.encode(wsdl, "doubles", {"item": doubles(100_000)}))
    source = MEMORY.format(wsdl=str(WSDL), text=str(path))
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    peak, text, array = map(int, done.stdout.split())
    line = {"bench": "python", "case": "memory/dhard/100000", "engine": "bsoap", "peak_bytes": peak}
    line |= {"bytes": text, "array_bytes": array, "over": peak - text - array, "checked": True}
    print(json.dumps(line), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", default="*")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--bsoap", default=str(HERE.parent / "target/release/bsoap"))
    parser.add_argument("--corpus", type=Path, default=HERE.parent.parent / "shared/corpus")
    options = parser.parse_args()
    rounds = QUICK if options.quick else ROUNDS

    def wanted(case):
        return fnmatch.fnmatch(case, options.case)

    for case, size, values, engines, check in cases(options.quick):
        if wanted(case):
            report(case, size, values, measure(engines, check, rounds))
    if wanted("call/int/100"):
        calls(options.bsoap, rounds)
    if wanted("load/small") or wanted("load/onvif"):
        loads(options.bsoap, options.corpus, rounds)
    if wanted("memory/dhard/100000"):
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            memory(Path(folder))


if __name__ == "__main__":
    main()
