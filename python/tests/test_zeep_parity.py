"""zeep's scenarios run through zeep and through bsoap.zeep; see zeep_parity.py for the table."""

from __future__ import annotations

import logging

import pytest

pytest.importorskip("zeep")
pytest.importorskip("bsoap.zeep")

import zeep_parity
from zeep_parity import CASES, Case, both, is_same


@pytest.mark.parametrize("case", CASES, ids=[f"{case.group}: {case.name}" for case in CASES])
def test_a_case_is_as_the_table_says(case: Case, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    one, other = both(case)
    if case.verdict == "same":
        assert (other.request, other.value, other.more) == (one.request, one.value, one.more)
    else:
        assert not is_same(one, other)
        assert case.why


def test_the_page_is_up_to_date() -> None:
    written = zeep_parity.PAGE.read_text(encoding="utf-8")
    assert written == zeep_parity.table(), "run python/tests/zeep_parity.py --write"
