"""Arrays of messages as tables of Arrow."""

import datetime
import decimal
import pickle
from pathlib import Path

import bsoap
import bsoap.codec
import pytest

numpy = pytest.importorskip("numpy")
pyarrow = pytest.importorskip("pyarrow")

ROOT = Path(__file__).resolve().parents[2]
SURVEY = bsoap.Wsdl(ROOT / "examples/survey/survey.wsdl")
MESH = bsoap.Wsdl(ROOT / "examples/mesh/mesh.wsdl")
UTC = datetime.UTC

FULL = {
    "@site": "north",
    "id": 1,
    "big": 2**63 + 1,
    "value": 1.5,
    "small": 0.25,
    "valid": True,
    "note": "é & <x>",
    "quality": "good",
    "at": datetime.datetime(2024, 5, 1, 12, 30, 0, 250000, tzinfo=UTC),
    "day": datetime.date(2024, 5, 1),
    "lasted": datetime.timedelta(minutes=90),
    "amount": decimal.Decimal("10.50"),
    "count": 7,
    "raw": b"\x00\xff",
    "price": {"@currency": "EUR", "#text": decimal.Decimal("2.5")},
    "place": {"x": 0.5, "y": 1.5},
    "tag": ["a", "b"],
    "reading": [1.0, 2.0],
    "part": [{"id": 1}],
}


def decoded(samples, wsdl=SURVEY, operation="survey", **more):
    text = bsoap.codec.encode(wsdl, operation, {"sample": samples, **more})
    return bsoap.codec.decode_request(wsdl, text)


def test_each_type_has_its_own_in_arrow():
    table = decoded([FULL, {"id": 2}]).table("sample")
    assert len(table) == 2
    assert table.schema == {
        "@site": "text",
        "id": "int64",
        "big": "uint64",
        "value": "double",
        "small": "float",
        "valid": "bool",
        "note": "text",
        "quality": "text",
        "at": "timestamp[us, UTC]",
        "day": "date",
        "lasted": "duration[us]",
        "amount": "decimal[2]",
        "count": "int64",
        "raw": "binary",
        "price.@currency": "text",
        "price.#text": "decimal[1]",
        "place.@type": "text",
        "place.x": "double",
        "place.y": "double",
        "place.name": "text",
        "tag": "list[text]",
        "reading": "list[double]",
    }
    assert table.notes == ["part has no column: it is an array of structs, a table of its own"]
    arrow = table.to_arrow()
    arrow.validate(full=True)
    first, second = arrow.to_pylist()
    for key in ("id", "big", "value", "small", "valid", "note", "at", "day", "lasted", "amount", "count", "raw", "tag"):
        assert first[key] == FULL[key], key
    assert (first["price.#text"], first["place.y"]) == (decimal.Decimal("2.5"), 1.5)
    assert {key for key, value in second.items() if value is not None} == {"id", "tag", "reading"}
    assert (second["tag"], second["reading"]) == ([], [])
    assert table.to_dict() == arrow.to_pydict()


def test_objects_give_the_same_table_as_the_record():
    message = decoded([FULL, {"id": 2, "value": None}])
    direct, objects = message.table("sample"), bsoap.table(message.value.sample)
    assert objects.notes == direct.notes
    for name in objects:
        assert objects[name].to_list() == direct[name].to_list() or not any(objects[name].to_list()), name


def test_dates_without_a_zone_are_naive_and_mixed_ones_too():
    for texts, kind in [
        (["2024-05-01T10:00:00", "2024-05-02T10:00:00"], "timestamp[us]"),
        (["2024-05-01T10:00:00+02:00", "2024-05-02T10:00:00Z"], "timestamp[us, UTC]"),
        (["2024-05-01T10:00:00+02:00", "2024-05-02T10:00:00"], "timestamp[us]"),
    ]:
        table = decoded([{"id": 1, "at": text} for text in texts]).table("sample")
        assert table.schema["at"] == kind
    assert table["at"].to_list()[0] == datetime.datetime(2024, 5, 1, 8)


@pytest.mark.parametrize(
    "text",
    ["0001-01-01T00:00:00Z", "1969-12-31T23:59:59.999999Z", "2000-02-29T24:00:00Z", "9999-12-31T23:59:59Z"],
)
def test_dates_agree_with_python(text):
    message = decoded([{"id": 1, "at": text}])
    expected = message.value.sample[0].at
    assert message.table("sample")["at"][0] == datetime.datetime.fromisoformat(expected.isoformat())


def test_decimals_that_do_not_fit_stay_texts():
    long = "9" * 30 + "." + "1" * 12
    table = decoded([{"id": 1, "amount": "1.5"}, {"id": 2, "amount": long}]).table("sample")
    assert table["amount"].to_list() == ["1.5", long]
    table = decoded([{"id": 1, "count": 1}, {"id": 2, "count": 10**25}]).table("sample")
    assert table.schema["count"] == "decimal[0]" and table["count"].to_list() == [1, 10**25]


def test_derived_types_have_their_members():
    place = {"@type": "NamedPlace", "x": 1.0, "name": "here"}
    table = decoded([{"id": 1, "place": place}, {"id": 2, "place": {"x": 2.0}}]).table("sample")
    assert table["place.name"].to_list() == ["here", None]
    assert table["place.@type"].to_list() == ["NamedPlace", None]


def test_numbers_share_the_memory_of_the_message():
    numbers = numpy.random.default_rng(1).random(1000)
    text = bsoap.codec.encode(MESH, "sumDoubles", {"values": {"item": numbers}})
    message = bsoap.codec.decode_request(MESH, text)
    table = message.table("values.item")
    arrow = table.to_arrow()["item"].chunk(0)
    assert arrow.buffers()[1].address == message.value.values.item.__array_interface__["data"][0]
    del message, table
    assert arrow.to_numpy().tolist() == numbers.tolist()


def test_rows_of_numbers_become_columns():
    rows = numpy.zeros(500, dtype=[("x", "<i8"), ("y", "<i8"), ("value", "<f8")])
    rows["x"], rows["value"] = numpy.arange(500), numpy.linspace(0, 1, 500)
    text = bsoap.codec.encode(MESH, "echoMesh", {"objects": {"item": rows}})
    message = bsoap.codec.decode_request(MESH, text)
    for table in (message.table("objects.item"), bsoap.table(message.value.objects.item)):
        assert table.schema == {"x": "int64", "y": "int64", "value": "double"}
        assert table["value"].to_numpy().tolist() == rows["value"].tolist()
        assert table.to_arrow().to_pylist()[499] == {"x": 499, "y": 0, "value": 1.0}


def test_a_path_chooses_and_says_what_it_misses():
    message = decoded([FULL, {"id": 2, "reading": [3.0]}])
    assert message.table("sample.reading")["reading"].to_list() == [1.0, 2.0, 3.0]
    assert message.table("sample[1].reading")["reading"].to_list() == [3.0]
    assert len(message.table("sample[7]")) == 0
    whole = message.table()
    assert (len(whole), whole.columns) == (1, ["title", "source", "email", "phone"])
    with pytest.raises(ValueError, match='did you mean "sample"'):
        message.table("sampel")
    with pytest.raises(ValueError, match="no path"):
        message.table("sample..id")


def test_other_libraries_take_a_table():
    table = decoded([FULL, {"id": 2}]).table("sample")
    frame = table.to_pandas()
    assert frame["id"].tolist() == [1, 2] and str(frame["at"].dtype).startswith("datetime64")
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(table)["note"].to_list() == ["é & <x>", None]
    assert table.to_polars().shape == (2, len(table.columns))
    assert polars.Series(table["value"]).to_list() == [1.5, None]
    assert pyarrow.array(table["id"]).to_pylist() == [1, 2]
    assert pyarrow.record_batch(table).num_rows == 2
    assert pyarrow.schema(table).names == table.columns


def test_a_column_is_an_array():
    table = decoded([FULL, {"id": 2}]).table("sample")
    assert table["id"].to_numpy().dtype == "int64"
    assert numpy.isnan(table["value"].to_numpy()[1]) and numpy.isnat(table["at"].to_numpy()[1])
    assert table["day"].to_numpy()[0] == numpy.datetime64("2024-05-01")
    assert numpy.asarray(table["note"]).tolist() == ["é & <x>", None]
    assert table["id"][-1] == 2 and list(table["id"]) == [1, 2] and table["value"].null_count == 1
    with pytest.raises(IndexError):
        table["id"][2]
    with pytest.raises(KeyError, match="the columns are"):
        table["none"]


def test_a_table_says_what_it_is():
    table = decoded([FULL, {"id": 2}] * 4).table("sample")
    assert "8 rows, 22 columns" in repr(table) and "id: int64 = 1, 2, 1, 2, 1, …" in repr(table)
    assert "id: int64, 8 rows" in repr(table["id"])
    assert "id" in table and list(table)[:2] == ["@site", "id"]
    assert len(table.slice(2, 3)) == 3 and table.slice(7)["id"].to_list() == [2]
    with pytest.raises(TypeError, match="to_arrow"):
        pickle.dumps(table)


def test_arrays_and_lists_of_values_become_one_column():
    assert bsoap.table(numpy.array([1.5, 2.5])).to_dict() == {"value": [1.5, 2.5]}
    assert bsoap.table(["a", None], name="tag").to_dict() == {"tag": ["a", None]}
    assert bsoap.table([decimal.Decimal("1.5"), 2]).to_dict() == {
        "value": [decimal.Decimal("1.5"), decimal.Decimal("2.0")]
    }
    assert len(bsoap.table([])) == 0
    with pytest.raises(TypeError, match="an array of a message"):
        bsoap.table({"id": 1})
