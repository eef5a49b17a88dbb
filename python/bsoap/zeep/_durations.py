"""Durations: those of isodate, as zeep gives them, if it is installed; otherwise those of bsoap."""

from __future__ import annotations

import datetime
from typing import Any

from .. import _values

try:
    import isodate
except ImportError:
    isodate = None

duration_types: list[type] = [_values.Duration] + ([isodate.Duration] if isodate else [])


def duration_value(text: str) -> Any:
    made = _values.parse_duration(text)
    if isinstance(made, str):
        raise ValueError(f"{text!r} is no duration")
    return native_duration(made)


def native_duration(value: Any) -> Any:
    """A duration of bsoap as zeep gives it."""
    if isodate is not None and isinstance(value, _values.Duration):
        return isodate.parse_duration(value.text)
    return value


def duration_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, datetime.timedelta):
        return _values.duration_text(value)
    if isinstance(value, _values.Duration):
        return value.text
    return str(isodate.duration_isoformat(value))
