"""Caches of documents."""

from __future__ import annotations

import base64
import contextlib
import datetime
import os
import sqlite3
import tempfile
import threading
from typing import Any


class Base:
    """The base class of caches: ``add`` keeps the content of a URL, ``get`` returns it or None."""

    def add(self, url: str, content: bytes) -> None:
        raise NotImplementedError

    def get(self, url: str) -> bytes | None:
        raise NotImplementedError


class VersionedCacheBase(Base):
    _version = "1"

    def _encode_data(self, data: bytes) -> bytes:
        return b"$ZEEP:" + self._version.encode() + b"$" + base64.b64encode(data)

    def _decode_data(self, data: bytes) -> bytes | None:
        prefix = b"$ZEEP:" + self._version.encode() + b"$"
        return base64.b64decode(data[len(prefix) :]) if data.startswith(prefix) else None


class InMemoryCache(Base):
    """A cache that all instances in a process share."""

    _cache: dict[str, tuple[datetime.datetime, bytes]] = {}

    def __init__(self, timeout: int | None = 3600) -> None:
        self._timeout = timeout

    def add(self, url: str, content: bytes) -> None:
        if not isinstance(content, (str, bytes)):
            raise TypeError(f"a str or bytes object is required, not {type(content).__name__}")
        self._cache[url] = (datetime.datetime.now(datetime.UTC), content)

    def get(self, url: str) -> bytes | None:
        found = self._cache.get(url)
        return found[1] if found and not _is_expired(found[0], self._timeout) else None


class SqliteCache(VersionedCacheBase):
    """A cache in a file, by default ``bsoap-zeep/cache.db`` in the user's folder of caches."""

    def __init__(self, path: str | None = None, timeout: int | None = 3600) -> None:
        if path == ":memory:":
            raise ValueError(
                "The SqliteCache doesn't support :memory: since it is not thread-safe. Please use zeep.cache.InMemoryCache()"
            )
        self._lock = threading.RLock()
        self._timeout = timeout
        self._db_path = path or _default_path()
        with self._connection() as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS request (created timestamp, url text, content text)")

    @contextlib.contextmanager
    def _connection(self) -> Any:
        with self._lock:
            connection = sqlite3.connect(self._db_path)
            try:
                with connection:
                    yield connection
            finally:
                connection.close()

    def add(self, url: str, content: bytes) -> None:
        now = datetime.datetime.now(datetime.UTC).isoformat()
        with self._connection() as connection:
            connection.execute("DELETE FROM request WHERE url = ?", (url,))
            connection.execute(
                "INSERT INTO request (created, url, content) VALUES (?, ?, ?)", (now, url, self._encode_data(content))
            )

    def get(self, url: str) -> bytes | None:
        with self._connection() as connection:
            row = connection.execute("SELECT created, content FROM request WHERE url = ?", (url,)).fetchone()
        if row is None or _is_expired(datetime.datetime.fromisoformat(row[0]), self._timeout):
            return None
        return self._decode_data(row[1])


def _is_expired(value: datetime.datetime, timeout: int | None) -> bool:
    if timeout is None:
        return False
    return datetime.datetime.now(datetime.UTC) > value + datetime.timedelta(seconds=timeout)


def _default_path() -> str:
    folder = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = os.path.join(folder, "bsoap-zeep")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError:
        folder = tempfile.mkdtemp(prefix="bsoap-zeep-")
    return os.path.join(folder, "cache.db")
