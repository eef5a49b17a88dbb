"""The programs of examples/python run."""

import subprocess
import sys

import pytest
from conftest import ROOT, corpus

FOLDER = ROOT / "examples/python"


def run(name, *arguments):
    done = subprocess.run(
        [sys.executable, FOLDER / name, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "path",
    [
        "waterml/usgs/nwis/site_07335390_instantaneous.xml",
        "waterml/cuahsi/wof/get_values_1_1_ipswich_MMB_ipswich_Temp.xml",
    ],
)
def test_waterml_draws_a_picture(path, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    picture = tmp_path / "series.png"
    out = run("waterml.py", corpus(path), picture)
    assert "values, mean" in out
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size > 20_000


def test_onvif_asks_all_cameras():
    out = run("onvif.py", "--demo", 12, "--wsdl", corpus("onvif/devicemgmt.wsdl"))
    assert "11 of 13 cameras" in out
    assert "Example Dome 112" in out and "SN00003  clock -3600 s" in out.replace("-3601", "-3600")
    assert "refused: " in out and "not reachable" in out


def test_bulk_writes_parquet(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    target = tmp_path / "messages.parquet"
    assert "3000 rows" in run("bulk.py", "--demo", 3000, target)
    table = parquet.read_table(target)
    assert table.column_names == ["source", "index", "reading", "mean"]
    assert table["index"].to_pylist() == list(range(3000))
