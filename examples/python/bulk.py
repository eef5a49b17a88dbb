"""Turns an archive of recorded messages into a Parquet file, on all cores and with bounded memory.

    python examples/python/bulk.py --demo 20000 messages.parquet
    python examples/python/bulk.py --wsdl service.wsdl --rows series.value 'recorded/**/*.xml.gz' values.parquet

Needs pyarrow. With ``--demo`` it first records that number of answers of stations, in a ``.tar`` file.
"""

from __future__ import annotations

import argparse
import io
import math
import tarfile
import tempfile
import time
from pathlib import Path

import bsoap
import pyarrow.parquet

ROOT = Path(__file__).resolve().parents[2]


def record(path: Path, count: int) -> None:
    """Answers of the operation `latest` of examples/telemetry, as a poller would have saved them."""
    with tarfile.open(path, "w") as archive:
        for number in range(count):
            reading = 20 + 5 * math.sin(number / 500)
            text = (
                '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><latestResponse xmlns="urn:telemetry">'
                f"<reading>{reading!r}</reading><mean>20.0</mean></latestResponse></s:Body></s:Envelope>"
            ).encode()
            info = tarfile.TarInfo(f"{number // 1000:03}/{number:06}.xml")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text))


def convert(source: str | Path, wsdl: str | Path, rows: str | None, target: Path, batch_rows: int = 100_000) -> int:
    """Writes the rows batch by batch; messages that cannot be read are reported and left out."""
    batches = bsoap.read_messages(source, wsdl, rows=rows, on_error="collect", batch_rows=batch_rows)
    writer: pyarrow.parquet.ParquetWriter | None = None
    count = 0
    for table in batches:
        arrow = table.to_arrow()
        writer = writer or pyarrow.parquet.ParquetWriter(target, arrow.schema)
        writer.write_table(arrow)
        count += len(table)
    if writer is not None:
        writer.close()
    for failure in batches.failures[:10]:
        print(f"left out: {failure.source}: {failure.error}")
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", nargs="?", help="files, folders or archives; patterns in quotes")
    parser.add_argument("target", type=Path)
    parser.add_argument("--wsdl", default=ROOT / "examples/telemetry/telemetry.wsdl")
    parser.add_argument("--rows", help="the path of an array, for a row per element")
    parser.add_argument("--demo", type=int, metavar="COUNT")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = options.source
        if options.demo:
            source = Path(folder) / "recorded.tar"
            record(source, options.demo)
        began = time.perf_counter()
        count = convert(source, options.wsdl, options.rows, options.target)
        print(f"{count} rows in {time.perf_counter() - began:.2f} s: {options.target}")


if __name__ == "__main__":
    main()
