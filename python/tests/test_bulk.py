"""Archives of messages as tables."""

import gzip
import io
import os
import tarfile
import threading
import time
import zipfile
from pathlib import Path

import bsoap
import bsoap.codec
import pytest

pytest.importorskip("numpy")
pyarrow = pytest.importorskip("pyarrow")

ROOT = Path(__file__).resolve().parents[2]
SURVEY = bsoap.Wsdl(ROOT / "examples/survey/survey.wsdl")
ENVELOPE = '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>{}</s:Body></s:Envelope>'


def answer(title, samples):
    rows = "".join(
        f"<sample><id>{sample}</id><value>{sample / 2}</value><at>2024-05-01T00:00:{sample % 60:02}Z</at></sample>"
        for sample in samples
    )
    body = f'<surveyResponse xmlns="urn:survey"><title>{title}</title>{rows}</surveyResponse>'
    return ENVELOPE.format(body).encode()


MESSAGES = [answer(f"m{number}", range(number, number + 3)) for number in range(300)]
FAULT = ENVELOPE.format(
    "<s:Fault><faultcode>s:Server</faultcode><faultstring>too busy</faultstring></s:Fault>"
).encode()


def test_a_row_for_each_message():
    table = bsoap.read_messages(MESSAGES, SURVEY)
    assert table.schema == {"source": "text", "index": "int64", "title": "text"}
    assert table["title"].to_list() == [f"m{number}" for number in range(300)]
    assert table["index"].to_list() == list(range(300))


@pytest.mark.parametrize("threads", [1, 4])
def test_a_row_for_each_element_in_the_order_of_the_messages(threads):
    table = bsoap.read_messages(MESSAGES, SURVEY, rows="sample", threads=threads)
    assert len(table) == 900
    expected = [number + offset for number in range(300) for offset in range(3)]
    assert table["id"].to_list() == expected
    assert table["value"].to_list() == [number / 2 for number in expected]
    assert table["index"].to_list() == [number for number in range(300) for _ in range(3)]
    assert table.schema["at"] == "timestamp[us, UTC]"


def test_the_rows_are_those_of_single_messages():
    table = bsoap.read_messages(MESSAGES[:5], SURVEY, rows="sample").to_arrow().drop_columns(["source", "index"])
    decoder = bsoap.codec.Decoder(SURVEY)
    single = [decoder.answer("survey", text).table("sample").to_arrow() for text in MESSAGES[:5]]
    assert table.combine_chunks() == pyarrow.concat_tables(single).combine_chunks()


def test_files_folders_patterns_and_archives(tmp_path):
    folder = tmp_path / "day"
    folder.mkdir()
    (folder / "a.xml").write_bytes(MESSAGES[0])
    (folder / "b.xml.gz").write_bytes(gzip.compress(MESSAGES[1]))
    with tarfile.open(folder / "c.tar.gz", "w:gz") as archive:
        for number in (2, 3):
            info = tarfile.TarInfo(f"in/{number}.xml")
            info.size = len(MESSAGES[number])
            archive.addfile(info, io.BytesIO(MESSAGES[number]))
    with zipfile.ZipFile(folder / "d.zip", "w") as archive:
        archive.writestr("4.xml", MESSAGES[4])
    expected = [f"m{number}" for number in range(5)]
    for paths in (folder, str(folder), [folder / name for name in ("a.xml", "b.xml.gz", "c.tar.gz", "d.zip")]):
        table = bsoap.read_messages(paths, SURVEY)
        assert table["title"].to_list() == expected
    assert table["source"].to_list()[2:4] == [f"{folder}/c.tar.gz/in/{number}.xml" for number in (2, 3)]
    assert bsoap.read_messages(str(tmp_path / "**/*.xml"), SURVEY)["title"].to_list() == ["m0"]
    named = bsoap.read_messages([("first", MESSAGES[0])], SURVEY)
    assert named["source"].to_list() == ["first"]
    with pytest.raises(FileNotFoundError, match="no file matches"):
        bsoap.read_messages(str(tmp_path / "*.none"), SURVEY)
    with pytest.raises(FileNotFoundError, match="none.xml"):
        bsoap.read_messages(tmp_path / "none.xml", SURVEY)


def test_errors_name_the_file_and_the_place(tmp_path):
    for number, text in enumerate(
        [MESSAGES[0], MESSAGES[1].replace(b"<id>1</id>", b"<id>one</id>"), FAULT, MESSAGES[2][:200]]
    ):
        (tmp_path / f"{number}.xml").write_bytes(text)
    with pytest.raises(bsoap.DecodeError, match=r"1\.xml, message 1: .*\"one\".*/surveyResponse/sample"):
        bsoap.read_messages(tmp_path, SURVEY)
    assert bsoap.read_messages(tmp_path, SURVEY, on_error="skip")["title"].to_list() == ["m0"]
    table = bsoap.read_messages(tmp_path, SURVEY, rows="sample", on_error="collect")
    assert len(table) == 3
    assert [(os.path.basename(failure.source), failure.index) for failure in table.failures] == [
        ("1.xml", 1),
        ("2.xml", 2),
        ("3.xml", 3),
    ]
    assert "too busy" in table.failures[1].error


def test_batches_are_decoded_while_they_are_read():
    seen = []

    def messages():
        for number in range(5000):
            seen.append(number)
            yield MESSAGES[number % 300]

    batches = bsoap.read_messages(messages(), SURVEY, rows="sample", batch_rows=1000)
    first = next(batches)
    assert len(first) >= 1000 and len(seen) < 5000
    assert len(first) + sum(map(len, batches)) == 15_000
    batches = bsoap.read_messages(MESSAGES, SURVEY, rows="sample", batch_rows=500)
    assert batches.schema["id"] == "int64"
    reader = pyarrow.RecordBatchReader.from_stream(batches)
    assert reader.read_all()["id"].to_pylist() == [number + offset for number in range(300) for offset in range(3)]


def test_a_later_batch_that_does_not_fit_the_first_says_so():
    naive = [text.replace(b"Z</at>", b"</at>") for text in MESSAGES]
    batches = bsoap.read_messages(MESSAGES + naive, SURVEY, rows="sample", batch_rows=100)
    with pytest.raises(bsoap.DecodeError, match='does not fit column "at"'):
        list(batches)
    assert bsoap.read_messages(MESSAGES + naive, SURVEY, rows="sample").schema["at"] == "timestamp[us]"


def test_requests_and_a_member_with_the_name_of_a_column():
    texts = [
        bsoap.codec.encode(SURVEY, "survey", {"title": "t", "source": f"s{n}", "sample": [{"id": n}]}) for n in range(3)
    ]
    table = bsoap.read_messages(texts, SURVEY, direction="request")
    assert table["source_"].to_list() == ["s0", "s1", "s2"]
    assert any("source_" in note for note in table.notes)
    with pytest.raises(bsoap.DecodeError, match="no operation"):
        bsoap.read_messages(texts, SURVEY)


def test_nothing_is_an_empty_table():
    table = bsoap.read_messages([], SURVEY, operation="survey", rows="sample")
    assert len(table) == 0 and table.schema["id"] == "int64"
    assert table.to_arrow().num_rows == 0
    with pytest.raises(bsoap.Error, match="give the operation"):
        bsoap.read_messages([], SURVEY)
    with pytest.raises(bsoap.Error, match="did you mean"):
        bsoap.read_messages(MESSAGES, SURVEY, rows="sampel")


def test_progress(capsys):
    calls = []
    bsoap.read_messages(MESSAGES, SURVEY, progress=lambda done, count: calls.append((done, count)))
    assert calls[-1] == (300, 300) and [done for done, _ in calls] == sorted(done for done, _ in calls)
    bsoap.read_messages(MESSAGES, SURVEY)
    assert capsys.readouterr().err == ""
    bsoap.read_messages(MESSAGES, SURVEY, progress=True)
    assert "300 of 300 messages" in capsys.readouterr().err


def test_other_threads_run_meanwhile():
    ticks = 0
    done = False

    def count():
        nonlocal ticks
        while not done:
            ticks += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    large = [answer("large", range(20_000))] * 20
    began = time.perf_counter()
    table = bsoap.read_messages(large, SURVEY, rows="sample", threads=1)
    took = time.perf_counter() - began
    done = True
    counter.join()
    assert len(table) == 400_000
    assert ticks > took * 50


def test_threads_end_when_reading_is_given_up():
    before = threading.active_count()
    tasks = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else None
    for _ in range(5):
        batches = bsoap.read_messages(MESSAGES * 20, SURVEY, batch_rows=10, threads=4)
        next(batches)
        del batches
    time.sleep(0.3)
    assert threading.active_count() == before
    if tasks is not None:
        assert len(os.listdir("/proc/self/task")) <= tasks + 4


def partition(names):
    """What a worker of Dask or Ray does: a table of pyarrow for some files."""
    return bsoap.read_messages(names, SURVEY, rows="sample", threads=1, progress=False).to_pandas()


@pytest.fixture
def archive(tmp_path):
    for number, text in enumerate(MESSAGES[:20]):
        (tmp_path / f"{number:03}.xml").write_bytes(text)
    return sorted(map(str, tmp_path.glob("*.xml")))
