"""Transports with requests and httpx."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import unquote, urlparse

import requests
from requests import Response

from .exceptions import TransportError
from .utils import get_version
from .wsdl.utils import etree_to_string

try:
    import httpx
except ImportError:
    httpx = None

try:
    from requests_file import FileAdapter
except ImportError:
    FileAdapter = None

__all__ = ["AsyncTransport", "Transport"]


def _user_agent() -> str:
    return f"Zeep/{get_version()} (bsoap)"


class Transport:
    """Loads documents and posts messages with a session of requests.

    If the session is plain and nothing is overridden, the client of bsoap posts instead, with the session's settings.
    """

    def __init__(
        self, cache: Any = None, timeout: Any = 300, operation_timeout: Any = None, session: Any = None
    ) -> None:
        self.cache = cache
        self.load_timeout = timeout
        self.operation_timeout = operation_timeout
        self.logger = logging.getLogger("zeep.transports")
        self._close_session = not session
        self.session = session or requests.Session()
        if FileAdapter is not None and hasattr(self.session, "mount"):
            self.session.mount("file://", FileAdapter())
        self.session.headers["User-Agent"] = _user_agent()

    def get(self, address: str, params: Any, headers: Any) -> Any:
        return self.session.get(address, params=params, headers=headers, timeout=self.operation_timeout)

    def post(self, address: str, message: Any, headers: Any) -> Any:
        if self.logger.isEnabledFor(logging.DEBUG):
            self.logger.debug(
                "HTTP Post to %s:\n%s", address, message.decode() if isinstance(message, bytes) else message
            )
        response = self.session.post(address, data=message, headers=headers, timeout=self.operation_timeout)
        if self.logger.isEnabledFor(logging.DEBUG):
            self.logger.debug("HTTP Response from %s (status: %d):\n%s", address, response.status_code, response.text)
        return response

    def post_xml(self, address: str, envelope: Any, headers: Any) -> Any:
        return self.post(address, etree_to_string(envelope), headers)

    def load(self, url: str) -> bytes:
        if not url:
            raise ValueError("No url given to load")
        if urlparse(url).scheme not in ("http", "https", "file"):
            with open(os.path.expanduser(url), "rb") as file:
                return file.read()
        if self.cache:
            found = self.cache.get(url)
            if found:
                return bytes(found)
        content = self._load_remote_data(url)
        if self.cache:
            self.cache.add(url, content)
        return content

    def _load_remote_data(self, url: str) -> bytes:
        if FileAdapter is None and url.startswith("file://"):
            with open(unquote(urlparse(url).path), "rb") as file:
                return file.read()
        response = self.session.get(url, timeout=self.load_timeout)
        with closing(response):
            response.raise_for_status()
            return bytes(response.content)

    @contextmanager
    def settings(self, timeout: Any = None) -> Iterator[None]:
        before = self.operation_timeout
        self.operation_timeout = timeout
        try:
            yield
        finally:
            self.operation_timeout = before

    def __del__(self) -> None:
        if self.__dict__.get("_close_session"):
            self.session.close()


class AsyncTransport(Transport):
    """Posts messages with httpx; documents are loaded without asyncio, as zeep does."""

    def __init__(
        self,
        client: Any = None,
        wsdl_client: Any = None,
        cache: Any = None,
        timeout: Any = 300,
        operation_timeout: Any = None,
        verify_ssl: Any = True,
        proxy: Any = None,
    ) -> None:
        if httpx is None:
            raise RuntimeError("To use AsyncTransport, install httpx; bsoap.AsyncClient needs no other package")
        self._close_session = False
        self.cache = cache
        self.load_timeout = timeout
        self.operation_timeout = operation_timeout
        self.wsdl_client = wsdl_client or httpx.Client(verify=verify_ssl, timeout=timeout, proxy=proxy)
        self.client = client or httpx.AsyncClient(verify=verify_ssl, timeout=operation_timeout, proxy=proxy)
        self.logger = logging.getLogger("zeep.transports")
        for made in (self.wsdl_client, self.client):
            made.headers["User-Agent"] = _user_agent()

    async def aclose(self) -> None:
        await self.client.aclose()

    def _load_remote_data(self, url: str) -> bytes:
        if url.startswith("file://"):
            with open(unquote(urlparse(url).path), "rb") as file:
                return file.read()
        response = self.wsdl_client.get(url)
        content = response.read()
        try:
            response.raise_for_status()
        except httpx.HTTPStatusError as error:
            raise TransportError(status_code=response.status_code) from error
        return bytes(content)

    async def post(self, address: str, message: Any, headers: Any) -> Any:
        self.logger.debug("HTTP Post to %s:\n%s", address, message)
        response = await self.client.post(address, content=message, headers=headers)
        self.logger.debug("HTTP Response from %s (status: %d):\n%s", address, response.status_code, response.read())
        return response

    async def post_xml(self, address: str, envelope: Any, headers: Any) -> Any:
        return self.new_response(await self.post(address, etree_to_string(envelope), headers))

    async def get(self, address: str, params: Any, headers: Any) -> Any:
        return self.new_response(await self.client.get(address, params=params, headers=headers))

    def new_response(self, response: Any) -> Response:
        """A response of httpx as one of requests."""
        new = Response()
        new._content = response.read()
        new.status_code = response.status_code
        new.headers = response.headers
        new.cookies = response.cookies
        new.encoding = response.encoding
        return new
