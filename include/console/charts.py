"""Geometry of the page's inline SVG: points and positions, no markup and no colour.

Coordinates are in the units of the SVG's viewBox, y downwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from include.pipeline.desk_values import EquityPoint, SymbolRow

SMALLEST_SCALE_FRACTION = 0.002  # a quiet universe must not blow noise up to full width
LARGEST_SCALE_FRACTION = 0.05  # one outlier must not flatten every other band


@dataclass(frozen=True, kw_only=True)
class EquityLine:
    """The equity line: `points` for an SVG polyline, with its extremes in USD."""

    points: str
    lowest_usd: float
    highest_usd: float
    first: EquityPoint
    last: EquityPoint


@dataclass(frozen=True, kw_only=True)
class BandMarks:
    """A symbol's band around its price: x of low, high, close, and of the close's 10-90 % band."""

    low: float
    high: float
    close: float | None
    band: tuple[float, float] | None


def equity_line(curve: Sequence[EquityPoint], *, width: float, height: float) -> EquityLine | None:
    """Return the curve over time in a box; None with fewer than two points."""
    if len(curve) < 2:  # a line has two ends
        return None
    began, ended = curve[0].at.timestamp(), curve[-1].at.timestamp()
    equities = [point.equity_usd for point in curve]
    lowest, highest = min(equities), max(equities)
    points = " ".join(
        f"{_along(point.at.timestamp(), began, ended) * width:.1f},"
        f"{(1 - _along(point.equity_usd, lowest, highest)) * height:.1f}"
        for point in curve
    )
    return EquityLine(
        points=points, lowest_usd=lowest, highest_usd=highest, first=curve[0], last=curve[-1]
    )


def band_scale_fraction(rows: Sequence[SymbolRow]) -> float:
    """Return the largest distance of a band from its price, as a fraction: one scale for all.

    Between 0.2 % and 5 %; what lies beyond ends at the edge.
    """
    distances = [
        abs(level / row.price - 1.0)
        for row in rows
        if row.price
        for level in (row.forecast_low, row.forecast_high, *(row.close_band or ()))
        if level is not None
    ]
    farthest: float = max(distances, default=0.0)
    return min(max(farthest, SMALLEST_SCALE_FRACTION), LARGEST_SCALE_FRACTION)


def band_marks(row: SymbolRow, *, scale_fraction: float, width: float) -> BandMarks | None:
    """Return the symbol's band on the common scale, its price in the middle; None without one."""
    if not row.price or row.forecast_low is None or row.forecast_high is None:
        return None
    reference: float = row.price

    def across(level: float) -> float:
        share = (1.0 + (level / reference - 1.0) / scale_fraction) / 2
        x: float = round(min(max(share, 0.0), 1.0) * width, 1)
        return x

    return BandMarks(
        low=across(row.forecast_low),
        high=across(row.forecast_high),
        close=None if row.forecast_close is None else across(row.forecast_close),
        band=None
        if row.close_band is None
        else (across(row.close_band[0]), across(row.close_band[1])),
    )


def _along(value: float, start: float, end: float) -> float:
    """Return where a value lies between start and end, in [0, 1]; the middle where they meet."""
    return 0.5 if end <= start else (value - start) / (end - start)
