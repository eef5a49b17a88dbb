"""Arrays, series, data frames and tables as arguments."""

import array
import copy
import datetime
import decimal
import pickle
import time
from pathlib import Path

import bsoap
import bsoap.codec
import pytest

numpy = pytest.importorskip("numpy")

ROOT = Path(__file__).resolve().parents[2]
MESH = bsoap.Wsdl(ROOT / "examples/mesh/mesh.wsdl")
SURVEY = bsoap.Wsdl(ROOT / "examples/survey/survey.wsdl")


def echo(operation, values):
    """What the service would read."""
    member = "objects" if operation == "echoMesh" else "values"
    text = bsoap.codec.encode(MESH, operation, {member: {"item": values}})
    return bsoap.codec.decode_request(MESH, text).value[member].item.tolist()


def survey(samples):
    text = bsoap.codec.encode(SURVEY, "survey", {"sample": samples})
    return [sample.to_dict() for sample in bsoap.codec.decode_request(SURVEY, text).value.sample]


def series(values, dtype):
    """The same numbers in each form that is installed."""
    plain = numpy.array(values, dtype=dtype)
    yield plain
    yield plain[::-1][::-1]
    yield plain.astype(plain.dtype.newbyteorder(">"))
    yield memoryview(plain) if plain.dtype != "uint8" else plain.astype("i4")
    yield tuple(values)
    yield iter(values)
    pandas = pytest.importorskip("pandas")
    yield pandas.Series(plain)
    yield pandas.Series(values, dtype={"i": "Int64", "f": "Float64", "u": "Int64"}[plain.dtype.kind])
    yield pandas.Index(plain)
    pyarrow = pytest.importorskip("pyarrow")
    yield pyarrow.array(plain)
    yield pyarrow.chunked_array([plain[:1], plain[1:]])
    polars = pytest.importorskip("polars")
    yield polars.Series("values", plain)
    yield bsoap.table(plain)["value"] if plain.dtype.itemsize == 8 else plain


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "i2", "u2", "u4"])
def test_each_form_of_numbers_is_an_array(dtype):
    values = [1, 2, 3]
    for given in series(values, dtype):
        kind = "echoDoubles" if dtype.startswith("f") else "echoInts"
        assert echo(kind, given) == values, type(given)


def test_arrays_of_the_standard_library():
    assert echo("echoDoubles", array.array("d", [1.5, 2.5])) == [1.5, 2.5]
    assert echo("echoInts", array.array("i", [1, 2])) == [1, 2]
    assert echo("echoInts", array.array("h", [-1, 2])) == [-1, 2]
    assert echo("echoDoubles", []) == []


ROWS = [(1, 2, 0.5), (3, 4, -1.5)]


def frames():
    rows = numpy.array(ROWS, dtype=[("x", "<i4"), ("y", "<i8"), ("value", "<f8")])
    yield rows
    yield rows[::-1][::-1]
    columns = {"x": [1, 3], "y": [2, 4], "value": [0.5, -1.5]}
    pandas = pytest.importorskip("pandas")
    yield pandas.DataFrame(columns)
    yield pandas.DataFrame(columns).convert_dtypes()
    yield pandas.DataFrame(columns).iloc[::-1].iloc[::-1]
    pyarrow = pytest.importorskip("pyarrow")
    yield pyarrow.table(columns)
    yield pyarrow.RecordBatch.from_pydict(columns)
    polars = pytest.importorskip("polars")
    yield polars.DataFrame(columns)
    yield bsoap.table(rows.astype([("x", "<i8"), ("y", "<i8"), ("value", "<f8")]))
    yield [dict(zip(columns, row, strict=True)) for row in ROWS]


def test_each_form_of_rows_is_an_array_of_structs():
    for given in frames():
        assert echo("echoMesh", given) == ROWS, type(given)


def test_small_integers_in_rows_are_numbers():
    rows = numpy.array([(1, 2, 3)], dtype=[("x", "u1"), ("y", "i1"), ("value", "f4")])
    assert echo("echoMesh", rows) == [(1, 2, 3.0)]


def test_what_is_missing_is_absent():
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    columns = {"id": [1, 2], "note": ["a", None], "small": [0.5, None], "count": [None, 7]}
    expected = [{"id": 1, "note": "a", "small": 0.5}, {"id": 2, "count": 7}]
    assert survey(polars.DataFrame(columns)) == expected
    assert survey(polars.DataFrame(columns).to_arrow()) == expected
    assert survey(pandas.DataFrame(columns).convert_dtypes()) == expected


def test_dates_of_data_frames():
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    naive = [datetime.datetime(2024, 5, 1, 12, 30), datetime.datetime(2024, 5, 1, 12, 30, 0, 500000)]
    zoned = [moment.replace(tzinfo=datetime.UTC) for moment in naive]
    for moments in (naive, zoned):
        frame = pandas.DataFrame({"id": [1, 2], "at": moments})
        for given in (frame, polars.DataFrame({"id": [1, 2], "at": moments})):
            assert [sample["at"] for sample in survey(given)] == moments, type(given)
    frame["at"] = frame["at"].dt.tz_convert("Europe/Berlin")
    assert [sample["at"] for sample in survey(frame)] == zoned
    frame = pandas.DataFrame({"id": [1, 2], "at": [naive[0], None]})
    assert [sample.get("at") for sample in survey(frame)] == [naive[0], None]
    days = numpy.array([(1, "2024-05-01")], dtype=[("id", "i8"), ("day", "M8[D]")])
    assert survey(days) == [{"id": 1, "day": datetime.date(2024, 5, 1)}]
    spans = numpy.array([(1, 90_000_000_000)], dtype=[("id", "i8"), ("lasted", "m8[ns]")])
    assert survey(spans) == [{"id": 1, "lasted": datetime.timedelta(seconds=90)}]
    assert survey([{"id": 1, "at": numpy.datetime64("2024-05-01T12:30:00")}])[0]["at"] == naive[0]


def test_names_with_dots_are_members_of_nested_structs():
    polars = pytest.importorskip("polars")
    columns = {"id": [1, 2], "place.x": [0.5, None], "place.y": [1.5, None], "price.@currency": ["EUR", "USD"]}
    columns["price.#text"] = [decimal.Decimal("2.5"), decimal.Decimal("3.5")]
    columns["tag"] = [["a", "b"], []]
    first, second = survey(polars.DataFrame(columns))
    assert first["place"] == {"x": 0.5, "y": 1.5} and first["tag"] == ["a", "b"]
    assert second == {"id": 2, "price": {"@currency": "USD", "#text": decimal.Decimal("3.5")}}


def test_a_table_of_an_answer_can_be_sent():
    rows = [{"id": 1, "@site": "n", "value": 1.5, "tag": ["a"], "place": {"x": 1.0}}, {"id": 2, "note": "b"}]
    text = bsoap.codec.encode(SURVEY, "survey", {"sample": rows})
    table = bsoap.codec.decode_request(SURVEY, text).table("sample")
    # Null is nil where that is allowed, and otherwise absent.
    assert survey(table) == [rows[0], {**rows[1], "value": None}]


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="2 values"):
        echo("echoMesh", _Ragged())


class _Ragged:
    column_names = ("x", "y")

    def to_pylist(self):
        raise AssertionError

    def column(self, name):
        return [1, 2] if name == "x" else [1]


def test_many_rows_are_not_taken_one_by_one():
    rows = numpy.zeros(100_000, dtype=[("x", "<i8"), ("y", "<i8"), ("value", "<f8")])
    rows["value"] = numpy.random.default_rng(1).random(len(rows))
    template = bsoap.codec.Template(MESH, "echoMesh", differential=False)
    best = min(_timed(template, rows) for _ in range(3))
    # About 25 ms on one core; by dictionaries it takes ten times as long.
    assert best < 0.15, f"{best * 1000:.0f} ms"


def _timed(template, rows):
    began = time.perf_counter()
    template.encode({"objects": {"item": rows}})
    return time.perf_counter() - began


def test_what_is_missing_in_pandas_and_masked_arrays_is_not_sent_as_a_value():
    from bsoap._values import plain

    numpy = pytest.importorskip("numpy")
    masked = numpy.ma.MaskedArray([1.5, 2.5], mask=[False, True])
    with pytest.raises(bsoap.EncodeError, match="item"):
        bsoap.codec.encode(MESH, "sumDoubles", {"values": {"item": masked}})
    long = numpy.array([1.5, 2.5], dtype="longdouble")
    assert b">2.5<" in bsoap.codec.encode(MESH, "sumDoubles", {"values": {"item": long}})
    pandas = pytest.importorskip("pandas")
    assert plain(pandas.NaT) is None and plain(pandas.NA) is None
    assert plain(pandas.Timestamp("2024-01-02T03:04:05.123456789")) == "2024-01-02T03:04:05.123456789"


def test_computed_dates_can_be_copied_and_sent():
    from bsoap._values import exact_date, exact_datetime, plain

    day = datetime.timedelta(days=1)
    later = exact_datetime("2024-01-01T00:00:00.123456789Z") + day
    assert plain(later) == copy.copy(later).text == "2024-01-02T00:00:00.123456+00:00"
    assert pickle.loads(pickle.dumps(later)) == later
    date = exact_date("2024-01-01+02:00") + day
    assert plain(date) == "2024-01-02" and pickle.loads(pickle.dumps(date)) == date


def test_objects_have_the_methods_of_mappings():
    order = bsoap.Object({"id": 7, "note": "a"})
    assert order.pop("note") == "a" and order.pop("note", None) is None
    order.update({"id": 8}, more=1)
    assert order.setdefault("id", 1) == 8 and dict(order) == {"id": 8, "more": 1}
    order.clear()
    assert len(order) == 0


def test_options_that_do_not_exist_and_values_given_twice_are_refused():
    with pytest.raises(TypeError, match="no option 'fetsch': did you mean 'fetch'"):
        bsoap.Wsdl("mesh.wsdl", fetsch=True)
    with pytest.raises(TypeError, match="a path, a URL or a text"):
        bsoap.Wsdl(None)
    text = (ROOT / "examples/mesh/mesh.wsdl").read_text()
    assert bsoap.Wsdl(text).services == MESH.services
    client = bsoap.Client(MESH)
    with pytest.raises(TypeError, match="not both"):
        client.create_message("sumInts", {"values": {"item": [1]}}, values={"item": [2]})
    as_with_zeep = client.create_message(client.service, "sumInts", values={"item": [2]})
    assert as_with_zeep == client.create_message("sumInts", values={"item": [2]})
    block = "<a xmlns='urn:a'/>"
    assert block.encode() in client.create_message("sumInts", values={"item": [2]}, _soapheaders=block)
    assert "sumInts" in bsoap.AsyncClient(MESH).bind("MeshService", "MeshSoap12")
    with pytest.raises(ValueError, match="max_handlers"):
        bsoap.Service(MESH, max_handlers=0)
