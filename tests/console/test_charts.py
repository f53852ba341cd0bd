"""Geometry: within its box, on one scale, and absent where there is nothing to draw."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from include.console.charts import band_marks, band_scale_fraction, equity_line
from include.pipeline.desk_values import EquityPoint, SymbolRow
from tests.console.desk_samples import AS_OF, a_row


def points_of(equities: list[float]) -> list[EquityPoint]:
    """Return equities an hour apart."""
    return [
        EquityPoint(at=AS_OF + timedelta(hours=hour), equity_usd=equity)
        for hour, equity in enumerate(equities)
    ]


@given(st.lists(st.floats(min_value=-1e9, max_value=1e9), min_size=2, max_size=30))
def test_the_equity_line_stays_in_its_box(equities):
    """Whatever the equities, no point lies outside, and time runs to the right."""
    line = equity_line(points_of(equities), width=600, height=72)
    assert line is not None
    xs, ys = zip(*(map(float, point.split(",")) for point in line.points.split()), strict=True)
    assert list(xs) == sorted(xs)
    assert (min(xs), max(xs)) == (0.0, 600.0)
    assert all(0 <= y <= 72 for y in ys)


def test_the_highest_equity_is_at_the_top():
    """SVG counts downwards; a rising account must not look like a falling one."""
    line = equity_line(points_of([100.0, 300.0]), width=10, height=10)
    assert line is not None
    assert line.points == "0.0,10.0 10.0,0.0"


@pytest.mark.parametrize("count", [0, 1])
def test_a_line_needs_two_points(count):
    """With one snapshot there is no line to draw."""
    assert equity_line(points_of([1.0] * count), width=10, height=10) is None


def test_bands_share_one_scale_around_the_price():
    """The same relative move is equally long for every symbol, and the price is in the middle."""
    dear = a_row("A", price=1000.0, forecast_low=990.0, forecast_high=1020.0, close_band=None)
    cheap = a_row("B", price=10.0, forecast_low=9.9, forecast_high=10.2, close_band=None)
    scale_fraction = band_scale_fraction([dear, cheap])
    assert scale_fraction == pytest.approx(0.02)
    first, second = (
        band_marks(row, scale_fraction=scale_fraction, width=120) for row in (dear, cheap)
    )
    assert first is not None
    assert second is not None
    assert (first.low, first.high) == (second.low, second.high) == (30.0, 120.0)


def test_an_outlier_ends_at_the_edge_and_flattens_nobody():
    """A forecast that the price has run away from does not set everybody's scale."""
    outlier = a_row(price=10.0)
    scale_fraction = band_scale_fraction([outlier, a_row()])
    assert scale_fraction == 0.05
    marks = band_marks(outlier, scale_fraction=scale_fraction, width=120)
    assert marks is not None
    assert marks.low == marks.high == 120.0


@pytest.mark.parametrize("row", [SymbolRow(symbol="A"), a_row(price=None), a_row(price=0.0)])
def test_no_band_without_price_and_forecast(row):
    """Absent values draw nothing, and a scale exists all the same."""
    assert band_scale_fraction([row]) > 0
    assert band_marks(row, scale_fraction=0.01, width=120) is None
