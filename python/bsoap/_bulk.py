"""Archives of recorded messages, decoded on all cores."""

from __future__ import annotations

import glob
import os
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias, overload

from . import _bsoap
from ._client import Wsdl, WsdlSource, _limits, _mode
from ._errors import DecodeError, Error, LimitError
from ._table import Failure, Table

Message: TypeAlias = "str | os.PathLike[str] | bytes | bytearray | memoryview | tuple[str, bytes]"
Progress: TypeAlias = "bool | Callable[[int, int | None], object] | None"

_JOB_MESSAGES = 64
_JOB_BYTES = 4 << 20
_TAR = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")


class Batches:
    """Tables of about ``batch_rows`` rows each, decoded as they are asked for. It can be read once.

    It has the Arrow C stream interface: ``pyarrow.RecordBatchReader.from_stream(batches)`` reads it with a few batches in memory.
    """

    def __init__(self, tables: Iterator[Table]) -> None:
        self._tables = tables
        self._first: Table | None = None
        self._is_read = False
        self.failures: list[Failure] = []

    def __iter__(self) -> Iterator[Table]:
        return self

    def __next__(self) -> Table:
        if self._first is not None:
            table, self._first = self._first, None
        else:
            table = next(self._tables)
        self.failures += table.failures
        return table

    @property
    def schema(self) -> dict[str, str]:
        """The types of the columns by name, which the first batch decides."""
        if self._first is None:
            self._first = next(self._tables)
        return self._first.schema

    def to_arrow_batches(self) -> Any:
        """A ``pyarrow.RecordBatchReader``."""
        import pyarrow

        if self._first is None:
            self._first = next(self._tables)
        schema = pyarrow.schema(self._first)
        batches = (batch for table in self for batch in pyarrow.table(table).to_batches())
        return pyarrow.RecordBatchReader.from_batches(schema, batches)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow_batches().__arrow_c_stream__(requested_schema)


@overload
def read_messages(
    paths: Message | Iterable[Message],
    wsdl: WsdlSource,
    *,
    rows: str | None = None,
    operation: str | None = None,
    direction: Literal["answer", "request"] = "answer",
    on_error: Literal["raise", "skip", "collect"] = "raise",
    progress: Progress = None,
    threads: int | None = None,
    batch_rows: None = None,
    port: str | None = None,
    mode: str | Iterable[str] = "default",
    limits: Mapping[str, int] | None = None,
) -> Table: ...


@overload
def read_messages(
    paths: Message | Iterable[Message],
    wsdl: WsdlSource,
    *,
    batch_rows: int,
    rows: str | None = None,
    operation: str | None = None,
    direction: Literal["answer", "request"] = "answer",
    on_error: Literal["raise", "skip", "collect"] = "raise",
    progress: Progress = None,
    threads: int | None = None,
    port: str | None = None,
    mode: str | Iterable[str] = "default",
    limits: Mapping[str, int] | None = None,
) -> Batches: ...


def read_messages(
    paths: Message | Iterable[Message],
    wsdl: WsdlSource,
    *,
    rows: str | None = None,
    operation: str | None = None,
    direction: Literal["answer", "request"] = "answer",
    on_error: Literal["raise", "skip", "collect"] = "raise",
    progress: Progress = None,
    threads: int | None = None,
    batch_rows: int | None = None,
    port: str | None = None,
    mode: str | Iterable[str] = "default",
    limits: Mapping[str, int] | None = None,
) -> Table | Batches:
    """Decodes recorded messages of one operation into a table, on all cores and without the interpreter's lock.

    The table has one row per message, or with ``rows`` one per element that the path leads to. Its first columns are ``source``, the
    name of the file or ``archive/member``, and ``index``, the number of the message. Rows are in the order of the messages.

    Args:
        paths: files, patterns such as ``"day*/*.xml"``, folders, archives (``.tar``, ``.tar.gz``, ``.zip``), files compressed with gzip,
            messages as bytes, or pairs of a name and bytes.
        wsdl: a WSDL, or where it is.
        rows: the path of an array, such as ``"series.values.value"``.
        operation: its name; by default that of the first message.
        direction: whether the messages are answers or requests.
        on_error: what is done about a message that cannot be read: ``"raise"`` an error, ``"skip"`` it, or ``"collect"`` it in ``failures``
            of the table.
        progress: True shows a bar on standard error, None does so if that is a terminal, and a function gets the number of messages
            that are done and of all, which is None until it is known.
        threads: how many; by default as many as there are cores.
        batch_rows: returns :class:`Batches` of about that number of rows, which are decoded while they are read.
        port, mode, limits: as for :class:`bsoap.codec.Decoder`.
    """
    if direction not in ("answer", "request"):
        raise ValueError(f"direction is 'answer' or 'request', not {direction!r}")
    if on_error not in ("raise", "skip", "collect"):
        raise ValueError(f"on_error is 'raise', 'skip' or 'collect', not {on_error!r}")
    if batch_rows is not None and batch_rows < 1:
        raise ValueError("batch_rows is at least 1")
    sources = _Sources(paths)
    jobs = _jobs(sources)
    first = next(jobs, None)
    bulk = _bsoap.Bulk(
        Wsdl.of(wsdl)._definitions,
        operation=operation,
        sample=first[0][1] if first else None,
        path=rows,
        is_request=direction == "request",
        port=port,
        reading=(_mode(mode), _limits(limits, "limits")),
        threads=threads,
    )
    tables = _tables(bulk, first, jobs, sources, _shown(progress), on_error, batch_rows)
    return Batches(tables) if batch_rows is not None else next(tables)


_Job: TypeAlias = "list[tuple[str, Any]]"


def _tables(
    bulk: _bsoap.Bulk,
    first: _Job | None,
    jobs: Iterator[_Job],
    sources: _Sources,
    progress: Callable[[int, int | None], object],
    on_error: str,
    batch_rows: int | None,
) -> Iterator[Table]:
    """Keeps the threads busy, and makes a table whenever there are enough rows."""
    ahead = 4 * (os.cpu_count() or 1)
    collected: list[_bsoap.Rows] = []
    failures: list[Failure] = []
    count = done = 0
    like: _bsoap.Table | None = None
    next_job = first
    try:
        while True:
            while next_job is not None and bulk.pending < ahead:
                bulk.push(next_job)
                next_job = next(jobs, None)
            pulled = bulk.pull()
            if pulled is None:
                break
            made, failed, messages = pulled
            done += messages
            for source, index, kind, problem in failed:
                if on_error == "raise":
                    raise _raised(kind, f"{source}, message {index}: {problem}")
                if on_error == "collect":
                    failures.append(Failure(source, index, problem))
            progress(done, sources.count if next_job is None else None)
            collected.append(made)
            count += len(made)
            if batch_rows is not None and count >= batch_rows:
                table = _finished(bulk, collected, like, failures)
                like = like or table._table
                collected, failures, count = [], [], 0
                yield table
        if collected or like is None:
            yield _finished(bulk, collected, like, failures)
    finally:
        bulk.close()
        progress(-1, None)


def _finished(bulk: _bsoap.Bulk, rows: list[_bsoap.Rows], like: _bsoap.Table | None, failures: list[Failure]) -> Table:
    table: Table = bulk.table(rows, like)
    table.failures = failures
    return table


def _raised(kind: str, message: str) -> Error:
    classes: dict[str, type[Error]] = {"DecodeError": DecodeError, "LimitError": LimitError}
    return classes.get(kind, Error)(message)


class _Sources:
    """The messages that paths mean, in their order."""

    def __init__(self, paths: Message | Iterable[Message]) -> None:
        self.count = 0
        single = isinstance(paths, (str, os.PathLike, bytes, bytearray, memoryview)) or _is_named(paths)
        self._paths: Iterable[Any] = [paths] if single else paths  # type: ignore[assignment]

    def __iter__(self) -> Iterator[tuple[str, Any, int]]:
        for number, path in enumerate(self._paths):
            for source in self._of(path, number):
                self.count += 1
                yield source

    def _of(self, path: Any, number: int) -> Iterator[tuple[str, Any, int]]:
        if isinstance(path, (bytes, bytearray, memoryview)):
            yield f"message {number}", bytes(path), len(path)
        elif _is_named(path):
            yield path[0], bytes(path[1]), len(path[1])
        else:
            yield from _files(os.fspath(path))


def _is_named(path: Any) -> bool:
    return (
        isinstance(path, tuple)
        and len(path) == 2
        and isinstance(path[0], str)
        and not isinstance(path[1], (str, os.PathLike))
    )


def _files(path: str) -> Iterator[tuple[str, Any, int]]:
    if os.path.isdir(path):
        for folder, folders, names in os.walk(path):
            folders.sort()
            for name in sorted(names):
                if not name.startswith("."):
                    yield from _file(os.path.join(folder, name))
    elif os.path.exists(path):
        yield from _file(path)
    elif glob.has_magic(path):
        found = sorted(glob.glob(path, recursive=True))
        if not found:
            raise FileNotFoundError(f"no file matches {path!r}")
        for file in found:
            yield from _files(file)
    else:
        raise FileNotFoundError(f"there is no file {path!r}")


def _file(path: str) -> Iterator[tuple[str, Any, int]]:
    name = path.lower()
    if name.endswith(_TAR):
        with tarfile.open(path) as archive:
            for member in archive:
                file = archive.extractfile(member) if member.isfile() else None
                if file is not None:
                    yield f"{path}/{member.name}", file.read(), member.size
    elif name.endswith(".zip"):
        with zipfile.ZipFile(path) as zipped:
            for info in zipped.infolist():
                if not info.is_dir():
                    yield f"{path}/{info.filename}", zipped.read(info), info.file_size
    else:
        # The threads read it.
        yield path, path, os.path.getsize(path)


def _jobs(sources: _Sources) -> Iterator[_Job]:
    """Consecutive messages that one thread decodes."""
    job: _Job = []
    size = 0
    for name, source, length in sources:
        job.append((name, source))
        size += length
        if len(job) >= _JOB_MESSAGES or size >= _JOB_BYTES:
            yield job
            job, size = [], 0
    if job:
        yield job


def _shown(progress: Progress) -> Callable[[int, int | None], object]:
    if callable(progress):
        shown = progress
        return lambda done, count: shown(done, count) if done >= 0 else None
    if progress or (progress is None and sys.stderr is not None and sys.stderr.isatty()):
        return _Bar()
    return lambda done, count: None


class _Bar:
    """A line on standard error, at most ten times a second."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._last = 0.0
        self._width = 0

    def __call__(self, done: int, count: int | None) -> None:
        if done < 0:
            if self._width:
                print(file=sys.stderr)
            return
        now = time.monotonic()
        if now - self._last < 0.1 and done != count:
            return
        self._last = now
        rate = done / max(now - self._began, 1e-9)
        text = f"{done:,} messages, {rate:,.0f}/s"
        if count:
            filled = 30 * done // count
            text = f"[{'#' * filled}{'.' * (30 - filled)}] {done:,} of {count:,} messages, {rate:,.0f}/s"
        print("\r" + text.ljust(self._width), end="", file=sys.stderr, flush=True)
        self._width = max(self._width, len(text))
