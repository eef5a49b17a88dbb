"""Plots a recorded WaterML answer: decodes it by its WSDL, makes a time series of pandas, and saves a picture.

    python examples/python/waterml.py ../shared/corpus/waterml/usgs/nwis/site_07335390_instantaneous.xml lake.png

Needs pandas and matplotlib.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import bsoap
import bsoap.codec
import matplotlib.dates as dates
import matplotlib.pyplot as plt
import pandas

WSDL = Path(__file__).resolve().parents[1] / "waterml/waterml.wsdl"

INK, LINE, FILL, FAINT = "#1b2a3a", "#1f6f8b", "#bfe0e8", "#8a97a3"


def envelope(document: bytes) -> bytes:
    """The answer of the service around a document that was saved from it."""
    document = re.sub(rb"^\s*<\?xml[^>]*\?>", b"", document)
    return (
        b'<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>'
        b'<GetValuesObjectResponse xmlns="http://www.cuahsi.org/his/1.1/ws/">'
        + document
        + b"</GetValuesObjectResponse>"
        b"</s:Body></s:Envelope>"
    )


def read(path: str | Path) -> tuple[Any, pandas.Series]:
    """The longest series of a recorded answer: what it is, and its values by time."""
    decoder = bsoap.codec.Decoder(WSDL)
    answer = decoder.answer("GetValuesObject", envelope(Path(path).read_bytes()))
    assert answer is not None
    all_series = answer.value.timeSeriesResponse.timeSeries
    lengths = [sum(len(values.value) for values in series["values"]) for series in all_series]
    longest = lengths.index(max(lengths))
    series = all_series[longest]

    # The rows go from the message to Arrow in one step; no Python object is made of each.
    table = answer.table(f"timeSeriesResponse.timeSeries[{longest}].values.value")
    values = pandas.Series(
        table["#text"].to_numpy().astype(float), index=pandas.DatetimeIndex(table["@dateTime"].to_numpy())
    )
    values = values[~values.index.duplicated()].sort_index()
    return series, values.where(values != series.variable.noDataValue)


def plot(series: Any, values: pandas.Series, path: str | Path) -> None:
    unit = series.variable.unit
    unit_name = (unit.unitAbbreviation or unit.unitCode or unit.unitName) if unit else ""
    unit_name = {"degC": "°C", "degF": "°F"}.get(unit_name, unit_name)
    # A gap in the records is a gap in the line.
    step = values.index.to_series().diff().median()
    if pandas.Timedelta(0) < step < pandas.Timedelta("2D"):
        regular = values.resample(step).mean()
    else:
        ends = values.index[:-1][values.index.to_series().diff().iloc[1:].to_numpy() > 8 * step]
        regular = pandas.concat([values, pandas.Series(float("nan"), index=ends + step)]).sort_index()
    mean = regular.rolling("24h", min_periods=1, center=True).mean() if step < pandas.Timedelta("6h") else None

    plt.rcParams.update({"font.family": "DejaVu Sans", "text.color": INK, "axes.labelcolor": INK})
    figure, (axes, lower) = plt.subplots(
        2, 1, figsize=(11, 6.2), dpi=150, sharex=True, gridspec_kw={"height_ratios": [3.4, 1], "hspace": 0.09}
    )
    low, high = values.min(), values.max()
    base = low - 0.12 * (high - low or 1)
    axes.fill_between(regular.index, regular, base, color=FILL, alpha=0.55, linewidth=0)
    axes.plot(
        regular.index, regular, color=LINE, linewidth=1.5, marker="o" if len(values) < 200 else None, markersize=3
    )
    axes.set_ylim(base, high + 0.16 * (high - low or 1))
    axes.set_ylabel(unit_name)
    for when, text, offset, side in (
        (values.idxmax(), "highest", 10, "bottom"),
        (values.idxmin(), "lowest", -10, "top"),
    ):
        axes.plot([when], [values[when]], "o", color=INK, markersize=4.5, zorder=5)
        near_end = (when - values.index[0]) > 0.85 * (values.index[-1] - values.index[0])
        axes.annotate(
            f"{text} {values[when]:,.2f} {unit_name}, {when:%-d %b %Y}",
            (when, values[when]),
            xytext=(-6 if near_end else 6, offset),
            textcoords="offset points",
            ha="right" if near_end else "left",
            va=side,
            fontsize=8.5,
        )

    # How fast it rises and falls.
    change = (mean if mean is not None else regular).diff() / (step / pandas.Timedelta("1D"))
    change = change.resample("1D").mean() if step < pandas.Timedelta("12h") else change
    width = (change.index.to_series().diff().median() / pandas.Timedelta("1D")) * 0.9
    lower.bar(change.index, change.clip(lower=0), width=width, color=LINE, linewidth=0)
    lower.bar(change.index, change.clip(upper=0), width=width, color="#c8553d", linewidth=0)
    lower.axhline(0, color=FAINT, linewidth=0.6)
    lower.set_ylabel(f"{unit_name} a day", fontsize=8.5)
    locator = dates.AutoDateLocator(minticks=4, maxticks=9)
    lower.xaxis.set_major_locator(locator)
    lower.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))
    for each in (axes, lower):
        each.spines[["top", "right"]].set_visible(False)
        each.spines[["left", "bottom"]].set_color(FAINT)
        each.tick_params(colors=INK, labelsize=8.5)
        each.grid(axis="y", color="#e4e9ed", linewidth=0.7)
        each.set_axisbelow(True)
        each.margins(x=0.01)

    site = series.sourceInfo
    name = " ".join(site.siteName.split())
    where = site.geoLocation.geogLocation if site.geoLocation else None
    place = f"{where.latitude:.3f}°, {where.longitude:.3f}°" if where else ""
    code = site.siteCode[0]
    period = f"{values.index[0]:%-d %b %Y} – {values.index[-1]:%-d %b %Y}"
    details = [f"{code.network} {code.text}", place, f"{len(values):,} values", period]
    figure.subplots_adjust(left=0.075, right=0.975, top=0.87, bottom=0.08)
    figure.text(0.075, 0.945, name, fontsize=14.5, fontweight="bold")
    figure.text(
        0.075,
        0.905,
        f"{series.variable.variableName}   ·   " + "   ·   ".join(filter(None, details)),
        fontsize=9,
        color="#52616e",
    )
    figure.savefig(path)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recorded", help="a saved WaterML 1.1 document")
    parser.add_argument("picture", help="where the PNG goes")
    options = parser.parse_args()
    series, values = read(options.recorded)
    print(f"{series.sourceInfo.siteName}: {len(values)} values, mean {values.mean():.2f}")
    plot(series, values, options.picture)


if __name__ == "__main__":
    main()
