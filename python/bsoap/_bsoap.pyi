"""The private binary module."""

import asyncio
import io
import os
from collections.abc import Callable, Sequence
from typing import Any, final

from ._addressing import Addressing
from ._table import Table as PublicTable
from ._values import Object

__all__ = [
    "Answer",
    "Attachment",
    "Bulk",
    "Client",
    "Column",
    "Context",
    "Decoded",
    "Decoder",
    "Definitions",
    "Reply",
    "Running",
    "Service",
    "Template",
    "__version__",
    "Rows",
    "Series",
    "Table",
    "run_command",
]

__version__: str

@final
class Definitions:
    def __new__(
        cls,
        source: str | os.PathLike[str] | bytes | Sequence[tuple[str, str]],
        *,
        fetch: bool = False,
        allow_imports_from: Sequence[str | os.PathLike[str]] = ...,
        map: Sequence[tuple[str, str | os.PathLike[str]]] = ...,
        load_limits: dict[str, int] | None = None,
        options: dict[str, Any] | None = None,
    ) -> Definitions: ...
    def services(self) -> list[tuple[str, str | None, list[tuple[str, str, str | None, str, list[str]]]]]: ...
    def notes(self) -> list[str]: ...
    def operation(self, port: str, name: str) -> dict[str, Any] | None: ...
    def get_type(self, name: str) -> type[Object] | None: ...
    def get_element(self, namespace: str, name: str) -> type[Object] | None: ...
    def types(self) -> list[tuple[str, str]]: ...
    def elements(self) -> list[tuple[str, str]]: ...
    def documents(self) -> list[tuple[str, str]]: ...

@final
class Client:
    def __new__(cls, definitions: Definitions, options: dict[str, Any]) -> Client: ...
    def call(self, operation: str, arguments: Any, options: dict[str, Any] | None = None) -> Answer: ...
    def call_async(
        self,
        event_loop: asyncio.AbstractEventLoop,
        operation: str,
        arguments: Any,
        options: dict[str, Any] | None = None,
    ) -> asyncio.Future[Answer]: ...
    def message(
        self, operation: str, arguments: Any, options: dict[str, Any] | None = None
    ) -> tuple[bytes, dict[str, str]]: ...
    def read_answer(self, operation: str, body: bytes, content_type: str | None = None) -> Answer: ...
    @property
    def endpoint(self) -> str: ...
    @property
    def port(self) -> tuple[str, str, str]: ...
    def statistics(self) -> tuple[str, str]: ...

@final
class Attachment(io.BufferedIOBase):
    """Octets beside a message, with their media type and content id: a binary file that is read, as ``io.BufferedIOBase`` says.

    ``content`` is bytes, a ``pathlib.Path``, a file that is open in binary mode, or another attachment. Files are read while the message
    is sent. As a value of ``xs:base64Binary`` it is sent beside the message with MTOM, and as base64 text without it.
    """

    def __new__(cls, content: Any, content_type: str | None = None, content_id: str | None = None) -> Attachment: ...
    @property
    def content_type(self) -> str | None:
        """The media type, such as ``image/png``."""
    @property
    def content_id(self) -> str | None:
        """The content id, without ``<`` and ``>``. None if it is made when the message is sent."""
    @property
    def size(self) -> int | None:
        """The number of octets. None if that is known only at the end."""
    def read(self, size: int | None = None, /) -> bytes:
        """The next ``size`` octets, or all that are left; fewer at the end."""
    def read1(self, size: int = ..., /) -> bytes:
        """The same as ``read``; without a size, some octets."""
    def readinto(self, buffer: Any, /) -> int:
        """Reads into a bytearray, or another object whose memory can be written to. Returns the number of octets; fewer at the end."""
    def readinto1(self, buffer: Any, /) -> int:
        """The same as ``readinto``."""
    def readline(self, size: int | None = ..., /) -> bytes:
        """The octets up to the end of the line, with it; at most ``size``."""
    def readlines(self, hint: int | None = ..., /) -> list[bytes]:
        """The lines that are left; no more after ``hint`` octets."""
    def __iter__(self) -> Attachment: ...
    def __next__(self) -> bytes: ...
    def tell(self) -> int:
        """Where the next octet is read."""
    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Sets where the next octet is read: from the beginning, or as ``whence`` says for files. Octets before it are read again."""
    def readable(self) -> bool: ...
    def seekable(self) -> bool: ...
    def writable(self) -> bool: ...
    def isatty(self) -> bool: ...
    def close(self) -> None:
        """Ends reading: a file that is open for it is closed. The octets stay: ``bytes(…)``, ``save`` and sending are possible."""
    @property
    def closed(self) -> bool:
        """Whether it was closed."""
    def flush(self) -> None: ...
    def write(self, _buffer: Any, /) -> int: ...
    def writelines(self, _lines: Any, /) -> None: ...
    def truncate(self, _size: int | None = None, /) -> int: ...
    def fileno(self) -> int: ...
    def detach(self) -> Any: ...
    def __enter__(self) -> Attachment: ...
    def __exit__(self, *_exception: object) -> None: ...
    def save(self, path: str | os.PathLike[str]) -> int:
        """Writes all octets to a file, which is replaced if it exists. Returns their number."""
    def __bytes__(self) -> bytes: ...
    def __copy__(self) -> Attachment: ...
    def __deepcopy__(self, _memo: Any) -> Attachment: ...

@final
class Answer:
    """The answer to a call: the value, header blocks, HTTP status and headers, changes."""

    @property
    def value(self) -> Any:
        """The result: the object of the wrapper element, or of the only part. None for a one-way operation."""
    @property
    def blocks(self) -> list[dict[str, Any]]:
        """The names and SOAP attributes of the header blocks: ``name``, ``role``, ``must_understand``, ``relay``; and ``xml`` of
        blocks that are addressed to other nodes, which are in ``headers`` under no name."""

    @property
    def headers(self) -> Object:
        """The SOAP header blocks: declared ones by the names of their parts, others as XML under ``#any``."""
    @property
    def http_status(self) -> int:
        """The HTTP status."""
    @property
    def http_headers(self) -> dict[str, str]:
        """The HTTP headers by their names in lower case; those sent several times are joined by commas."""
    @property
    def sent(self) -> bytes | None:
        """The text of the request, if it was kept."""
    @property
    def received(self) -> bytes | None:
        """The text of the answer, if it was kept."""
    @property
    def attachments(self) -> list[Attachment]:
        """What came beside the answer: what binary values refer to, and all others."""
    def attachment(self, id: str) -> Attachment | None:
        """The attachment with a content id, that a ``cid:`` URI names, or that is the part of this name. None if there is none."""
    @property
    def warnings(self) -> list[str]:
        """The deviations from the WSDL that were accepted."""
    @property
    def addressing(self) -> Addressing | None:
        """What the header blocks of WS-Addressing say. None if the answer has none, or if it is not used."""
    @property
    def message_id(self) -> str | None:
        """The ``MessageID`` of the request. None if it has none."""
    def wrong_identities(self, most: int = 100) -> list[tuple[str, str]]:
        """What is wrong with the identifiers (``xs:ID``) and references (``xs:IDREF``) of the answer: ``(path, problem)``, the first
        ``most`` ones. It is not checked otherwise."""
    def changes(self) -> list[tuple[str, int | None, int | None]] | None:
        """The places that changed since the last similar answer: ``(path, first, end)``. None if all is new."""
    def table(self, path: str | None = None) -> PublicTable:
        """The elements that a path such as ``series.values.value`` leads to; without a path the whole answer as one row."""

@final
class Decoded:
    """A decoded message."""

    @property
    def operation(self) -> str: ...
    @property
    def value(self) -> Any: ...
    @property
    def headers(self) -> Object: ...
    @property
    def warnings(self) -> list[str]: ...
    def wrong_identities(self, most: int = 100) -> list[tuple[str, str]]: ...
    def changes(self) -> list[tuple[str, int | None, int | None]] | None: ...
    def table(self, path: str | None = None) -> PublicTable: ...

@final
class Template:
    def __new__(
        cls, definitions: Definitions, operation: str, *, port: str | None = None, differential: bool = True
    ) -> Template: ...
    def encode(self, value: Any, soap_headers: Any = None) -> bytes: ...
    def sample(self) -> bytes: ...
    @property
    def http_headers(self) -> dict[str, str]: ...

@final
class Decoder:
    def __new__(
        cls,
        definitions: Definitions,
        *,
        mode: str | Sequence[str],
        port: str | None = None,
        differential: bool = True,
        limits: dict[str, int] | None = None,
    ) -> Decoder: ...
    def answer(
        self, operation: str, text: bytes, *, status: int = 200, content_type: str | None = None
    ) -> Decoded | None: ...
    def request(self, text: bytes, *, content_type: str | None = None, soap_action: str | None = None) -> Decoded: ...

@final
class Column:
    def __len__(self) -> int: ...
    def __getitem__(self, key: int, /) -> Any: ...
    def tolist(self) -> list[Any]: ...

# --- services and the command ---

def run_command(arguments: list[str]) -> int: ...

@final
class Context:
    """A request besides its arguments: header blocks, HTTP headers, what changed, who sent it; and the header blocks of its answer."""

    @property
    def operation(self) -> str:
        """The name of the operation."""
    @property
    def blocks(self) -> list[dict[str, Any]]:
        """The names and SOAP attributes of the header blocks: ``name``, ``role``, ``must_understand``, ``relay``; and ``xml`` of
        blocks that are addressed to other nodes, which are in ``headers`` under no name."""

    @property
    def headers(self) -> Object:
        """The SOAP header blocks: declared ones by the names of their parts, others as XML under ``#any``."""
    @property
    def addressing(self) -> Addressing | None:
        """What the header blocks of WS-Addressing say. None if the request has none, or if it is not used."""
    def wrong_identities(self, most: int = 100) -> list[tuple[str, str]]:
        """What is wrong with the identifiers (``xs:ID``) and references (``xs:IDREF``) of the request: ``(path, problem)``, the first
        ``most`` ones. It is not checked otherwise."""
    @property
    def http_headers(self) -> dict[str, str]:
        """The HTTP headers by their names in lower case; those sent several times are joined by commas."""
    @property
    def peer(self) -> tuple[str, int] | None:
        """The address and the port of the client. None if the server around the service does not say it."""
    @property
    def principal(self) -> str | None:
        """Who sent the request, as the function ``principal`` of the service says."""
    @property
    def attachments(self) -> list[Attachment]:
        """What came beside the request: what binary values refer to, and all others."""
    def attachment(self, id: str) -> Attachment | None:
        """The attachment with a content id, that a ``cid:`` URI names, or that is the part of this name. None if there is none."""
    def attach(self, attachment: Attachment) -> None:
        """Sends an attachment beside the answer that no binary value of it refers to."""
    @property
    def warnings(self) -> list[str]:
        """The deviations from the WSDL that were accepted."""
    def changes(self) -> list[tuple[str, int | None, int | None]] | None:
        """What changed since the last similar request of the same client: ``(path, first, end)``. None if all is new."""
    def set_header(self, name: str, value: Any) -> None:
        """Sets a header block of the answer that the WSDL declares, by the name of its part."""
    def add_header(self, xml: str) -> None:
        """Adds a header block to the answer that the WSDL does not declare, as XML."""

@final
class Reply:
    def begin(self, cancel: Callable[[], Any]) -> bool: ...
    def finish(self, returned: Any) -> None: ...
    def fail(self, error: BaseException) -> None: ...

@final
class Running:
    @property
    def base(self) -> str: ...
    @property
    def urls(self) -> list[str]: ...
    def stop(self) -> None: ...
    def join(self, timeout: float | None = None) -> bool: ...

@final
class Service:
    def __new__(
        cls,
        definitions: Definitions,
        handlers: Sequence[Any],
        submit: Callable[..., Any],
        options: dict[str, Any],
    ) -> Service: ...
    @property
    def paths(self) -> list[str]: ...
    def serve(self, address: str, threads: int) -> Running: ...
    def answer(self, request: Any) -> tuple[int, list[tuple[str, str]], bytes]: ...
    def answer_async(
        self, event_loop: asyncio.AbstractEventLoop, request: Any
    ) -> asyncio.Future[tuple[int, list[tuple[str, str]], bytes]]: ...
    def finish(self) -> None: ...
# Tables of Arrow.

@final
class Table:
    @staticmethod
    def of_columns(columns: Sequence[tuple[str, str, Any]], notes: Sequence[str]) -> Table: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def types(self) -> list[str]: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def num_batches(self) -> int: ...
    def __len__(self) -> int: ...
    def column(self, name: str) -> Series: ...
    def slice(self, offset: int, length: int) -> Table: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

@final
class Series:
    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def null_count(self) -> int: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: int, /) -> Any: ...
    def to_list(self) -> list[Any]: ...
    def memory(self) -> tuple[bytes, str, list[int]] | None: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

@final
class Rows:
    def __len__(self) -> int: ...

@final
class Bulk:
    def __new__(
        cls,
        definitions: Definitions,
        *,
        operation: str | None,
        sample: str | bytes | None,
        path: str | None,
        is_request: bool,
        port: str | None,
        reading: tuple[str | Sequence[str], dict[str, int] | None],
        threads: int | None,
    ) -> Bulk: ...
    @property
    def operation(self) -> str: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def pending(self) -> int: ...
    def push(self, messages: Sequence[tuple[str, str | bytes]]) -> None: ...
    def pull(self) -> tuple[Rows, list[tuple[str, int, str, str]], int] | None: ...
    def table(self, rows: Sequence[Rows], like: Table | None = None) -> PublicTable: ...
    def close(self) -> None: ...
