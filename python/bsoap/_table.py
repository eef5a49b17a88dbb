"""Tables of Arrow: what is in messages as columns."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from . import _bsoap
from ._values import Duration, Object, duration_text

if TYPE_CHECKING:
    import numpy
    import pandas
    import polars
    import pyarrow


@dataclasses.dataclass(frozen=True, slots=True)
class Failure:
    """A message that could not be read: where it is, its number, and why."""

    source: str
    index: int
    error: str


class TableColumn:
    """A column of a :class:`Table`. It has the Arrow C data interface: ``polars.Series(column)``, ``pyarrow.array(column)``."""

    def __init__(self, series: _bsoap.Series) -> None:
        self._series = series

    @property
    def name(self) -> str:
        return self._series.name

    @property
    def type(self) -> str:
        """The type, such as ``double``, ``text``, ``timestamp[us, UTC]``."""
        return self._series.type

    @property
    def null_count(self) -> int:
        """How many values are null: absent or nil."""
        return self._series.null_count

    def to_list(self) -> list[Any]:
        """The values as Python objects; null as None."""
        return self._series.to_list()

    def to_numpy(self) -> numpy.ndarray[Any, Any]:
        """The values as an array. Null is NaN or NaT; integers with nulls become doubles, and what numpy has no type for, objects."""
        import numpy

        memory = self._series.memory()
        if memory is None:
            values = self.to_list()
            if self.type == "bool" and None not in values:
                return numpy.array(values, dtype=bool)
            array = numpy.empty(len(values), dtype=object)
            array[:] = values
            return array
        data, dtype, nulls = memory
        array = numpy.frombuffer(data, dtype)
        if self.type == "date":
            array = array.astype("<M8[D]")
        if nulls:
            array = array.astype("<f8") if array.dtype.kind in "iu" else array.copy()
            array[nulls] = numpy.array("NaT", array.dtype) if array.dtype.kind in "Mm" else numpy.nan
        return array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray[Any, Any]:
        array = self.to_numpy()
        return array if dtype is None else array.astype(dtype)

    def __len__(self) -> int:
        return len(self._series)

    def __getitem__(self, index: int) -> Any:
        return self._series[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_list())

    def __arrow_c_schema__(self) -> object:
        return self._series.__arrow_c_schema__()

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        return self._series.__arrow_c_array__(requested_schema)

    def __repr__(self) -> str:
        shown = ", ".join(repr(self[index]) for index in range(min(6, len(self))))
        more = ", …" if len(self) > 6 else ""
        return f"<bsoap.TableColumn {self.name}: {self.type}, {len(self)} rows: {shown}{more}>"


class Table:
    """Rows with named columns in the memory layout of Arrow.

    ``polars.DataFrame(table)``, ``pyarrow.table(table)``, ``duckdb.sql("select … from table")`` and others take it without a copy, by the
    Arrow C data interface. ``table["name"]`` is a column. The columns have the names of the values in messages: ``id``, ``@currency``,
    ``price.#text``.

    Attributes:
        notes: what of the messages has no column, and why.
        failures: the messages that :func:`read_messages` could not read, with ``on_error="collect"``.
    """

    def __init__(self, table: _bsoap.Table) -> None:
        self._table = table
        self.notes: list[str] = table.notes
        self.failures: list[Failure] = []

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._table.names

    @property
    def schema(self) -> dict[str, str]:
        """The types of the columns by name."""
        return dict(zip(self._table.names, self._table.types, strict=True))

    @property
    def nbytes(self) -> int:
        """The number of bytes of memory that the values take."""
        return self._table.nbytes

    def slice(self, offset: int = 0, length: int | None = None) -> Table:
        """Some of the rows, without a copy."""
        return Table(self._table.slice(offset, len(self) if length is None else length))

    def to_arrow(self) -> pyarrow.Table:
        """As a table of pyarrow, which shares the memory."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> polars.DataFrame:
        """As a data frame of polars, which shares the memory."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> pandas.DataFrame:
        """As a data frame of pandas."""
        try:
            import pyarrow
        except ImportError:
            import pandas

            return pandas.DataFrame({name: self[name].to_numpy() for name in self.columns})
        frame: pandas.DataFrame = pyarrow.table(self).to_pandas()
        return frame

    def to_dict(self) -> dict[str, list[Any]]:
        """Lists of Python objects by column."""
        return {name: self[name].to_list() for name in self.columns}

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, name: str) -> TableColumn:
        try:
            return TableColumn(self._table.column(name))
        except KeyError:
            raise KeyError(f"{name!r}; the columns are {', '.join(self.columns)}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._table.names

    def __iter__(self) -> Iterator[str]:
        return iter(self._table.names)

    def __arrow_c_schema__(self) -> object:
        return self._table.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        return self._table.__arrow_c_array__(requested_schema)

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a bsoap.Table cannot be pickled: send table.to_arrow() to the other process")

    def __repr__(self) -> str:
        shown = self._table.slice(0, 5)
        lines = [f"<bsoap.Table {len(self)} rows, {len(self.columns)} columns"]
        for name, kind in list(self.schema.items())[:20]:
            values = ", ".join(_short(value) for value in shown.column(name).to_list())
            more = ", …" if len(self) > 5 else ""
            lines.append(f"  {name}: {kind} = {values}{more}")
        if len(self.columns) > 20:
            lines.append(f"  … {len(self.columns)} columns")
        return "\n".join(lines) + ">"


def _short(value: Any) -> str:
    text = "null" if value is None else str(value)
    return text if len(text) <= 30 else text[:28] + "…"


def table(value: Any, name: str = "value") -> Table:
    """The rows of an array in a message as a :class:`Table`.

    ``value`` is an array of a decoded message: structs (a structured array of numpy, or a list of :class:`Object`) or single values, whose
    column gets a ``name``. ``answer.table(path)`` makes a table of a message without Python objects between, and is faster.

    >>> table([{"id": 1, "place": {"x": 0.5}}, {"id": 2}]).to_dict()
    {'id': [1, 2], 'place.x': [0.5, None]}
    """
    names = getattr(getattr(value, "dtype", None), "names", None)
    if names:
        return _made([(column, *_numbers(value[column])) for column in names])
    if hasattr(value, "dtype") or type(value) is _bsoap.Column:
        return _made([(name, *_numbers(value))])
    if isinstance(value, (Mapping, Object)) or not hasattr(value, "__iter__"):
        raise TypeError(f"a table is made of an array of a message, not of {type(value).__name__}")
    rows = list(value)
    if not any(isinstance(row, (Object, Mapping)) for row in rows):
        return _made([_column(name, rows, "text", False)])
    notes: dict[str, None] = {}
    flat = [_flat(row, "", notes) if isinstance(row, (Object, Mapping)) else {} for row in rows]
    columns: dict[str, tuple[str, bool]] = {}
    for row in rows:
        if isinstance(row, Object):
            for key, known in _known(row).items():
                columns.setdefault(key, known)
    for cells in flat:
        for key, cell in cells.items():
            columns.setdefault(key, ("", isinstance(cell, list)))
    made = [_column(key, [cells.get(key) for cells in flat], kind, is_list) for key, (kind, is_list) in columns.items()]
    return _made(made, list(notes))


def _made(columns: list[tuple[str, str, Any]], notes: list[str] | None = None) -> Table:
    return Table(_bsoap.Table.of_columns(columns, notes or []))


def _numbers(array: Any) -> tuple[str, Any]:
    """The kind of a column and its values, of an array of numbers."""
    if type(array) is _bsoap.Column:
        values = array.tolist()
        return {"?": "?", "f8": "f8"}.get(_kind(values), "i8"), values
    import numpy

    kind = array.dtype.kind
    if kind == "f" and array.dtype.itemsize == 8:
        return "f8", numpy.ascontiguousarray(array)
    if kind == "f":
        return "f4", array.tolist()
    if kind == "b":
        return "?", array.tolist()
    if kind == "u" and array.dtype.itemsize == 8:
        return "u8", array.tolist()
    if kind in "iu":
        return "i8", numpy.ascontiguousarray(array, "<i8")
    raise TypeError(f"an array of {array.dtype} is none of a message")


def _flat(row: Any, prefix: str, notes: dict[str, None]) -> dict[str, Any]:
    """The members of a row with dotted names."""
    cells: dict[str, Any] = {}
    for key, value in row.items():
        name = f"{prefix}{key}"
        if isinstance(value, (Object, Mapping)):
            cells |= _flat(value, f"{name}.", notes)
        elif isinstance(value, list) and any(isinstance(item, (Object, Mapping)) for item in value):
            notes[f"{name} has no column: it is an array of structs, a table of its own"] = None
        elif hasattr(value, "dtype") and hasattr(value, "tolist"):
            if getattr(value.dtype, "names", None):
                notes[f"{name} has no column: it is an array of structs, a table of its own"] = None
            else:
                cells[name] = value.tolist()
        elif type(value) is _bsoap.Column:
            cells[name] = value.tolist()
        else:
            cells[name] = value
    return cells


_KINDS = {
    "float": "f8",
    "int": "integer",
    "bool": "?",
    "bytes": "binary",
    "datetime": "datetime",
    "date": "date",
    "time": "time",
    "timedelta": "duration",
    "Decimal": "decimal",
    "str": "text",
}


def _known(row: Object) -> dict[str, tuple[str, bool]]:
    """The simple members of a class of a WSDL: their kinds, and whether they repeat."""
    known = {}
    for attribute in row._attributes.values():
        if attribute.type in _KINDS:
            known[attribute.name] = (_KINDS[attribute.type], False)
    for field in row._fields.values():
        if field.type in _KINDS and not isinstance(row.get(field.name), Object):
            known[field.name] = (_KINDS[field.type], field.repeats)
    return known


def _column(name: str, values: list[Any], kind: str, is_list: bool) -> tuple[str, str, Any]:
    """A column of Python objects; its kind is that of the schema if the values agree with it."""
    items = [item for value in values if value is not None for item in value] if is_list else values
    items = [item for item in items if item is not None]
    kind = _kind(items) or kind or "text"
    convert = _to_text if kind in _TEXTS else _unchanged
    if is_list:
        values = [None if value is None else [convert(item) for item in value] for value in values]
        return name, f"list:{kind}", values
    return name, kind, [convert(value) for value in values]


def _kind(items: list[Any]) -> str:
    """The kind of column that holds all values; none if there are no values."""
    kinds = {_kind_of(item) for item in items}
    if kinds == {"integer", "f8"}:
        return "f8"
    if kinds == {"integer", "decimal"}:
        return "decimal"
    return kinds.pop() if len(kinds) == 1 else "text" if kinds else ""


def _kind_of(value: Any) -> str:
    for kind, name in _PYTHON_KINDS:
        if isinstance(value, kind):
            return name
    return "text"


_PYTHON_KINDS: list[tuple[Any, str]] = [
    (enum.Enum, "text"),
    (bool, "?"),
    (int, "integer"),
    (float, "f8"),
    (bytes, "binary"),
    (decimal.Decimal, "decimal"),
    (datetime.datetime, "datetime"),
    (datetime.date, "date"),
    (datetime.time, "time"),
    (datetime.timedelta, "duration"),
    (Duration, "duration"),
]
_TEXTS = {"text", "integer", "decimal", "datetime", "date", "time", "duration"}


def _unchanged(value: Any) -> Any:
    return value


def _to_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, enum.Enum):
        return str(value.value)
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        text = getattr(value, "text", None)
        return text if isinstance(text, str) else value.isoformat()
    if isinstance(value, datetime.timedelta):
        return duration_text(value)
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
