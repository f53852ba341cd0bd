"""The data gate: rather refuse a symbol, with a reason, than trade it on bad data.

Pure. Nothing is repaired, filled or dropped here. A refusal is a sentence that begins with a
stable code and a colon, stored as it is; None means fine. What to do with it is the pipeline's.
"""

import math
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from include.domain.bars import AMOUNT, CLOSE, COLUMNS, HIGH, LOW, OPEN, VOLUME, BarSeries
from include.domain.instants import epoch_seconds, instant_at
from include.domain.instruments import AssetClass
from include.domain.quotes import Quote


@dataclass(frozen=True, kw_only=True)
class QualityLimits:
    """Bounds of the data gate for one class of instruments; the defaults are for equities.

    A value equal to its bound passes.
    """

    minimum_bars: int = 64
    context_bars: int = 512
    max_missing_fraction: float = 0.02
    recent_bars: int = 3
    max_jump_fraction: float = 0.30
    max_zero_volume_fraction: float = 0.50
    ohlc_tolerance_fraction: float = 1e-6
    max_spread_bps: float = 25.0
    max_quote_age_seconds: float = 60.0
    max_quote_lead_seconds: float = 900.0


def check_series(
    series: BarSeries,
    *,
    as_of: datetime,
    expected_starts: NDArray[np.int64],
    limits: QualityLimits,
) -> str | None:
    """Return why the bars can't be used at `as_of`, or None; the first rule that fails speaks.

    Rules in the order tried, each over the whole series unless said otherwise:

    - absent: no bars at all
    - duplicate: starts that don't rise strictly (repeats, or bars out of order)
    - partial: a bar that ends after `as_of`
    - nan: NaN or infinity in any column
    - non_positive: a price <= 0, or volume or amount < 0
    - high_low: high below open, close or low, or low above open or close, by more than
      `ohlc_tolerance_fraction` of the price (float noise alone passes; nothing is repaired)
    - too_short: fewer than `minimum_bars` bars
    - stale: the newest bar is older than the newest expected one
    - gap: any of the last `recent_bars` expected bars missing, or more than
      `max_missing_fraction` of all expected ones
    - jump: open, high, low or close of one of the last `context_bars` bars further than
      `max_jump_fraction` from the close before it (a split, a bad print, or real news)
    - zero_volume: more than `max_zero_volume_fraction` of the last `context_bars` bars

    Parameters
    ----------
    expected_starts
        Starts of the bars that the calendar says have ended by `as_of`, epoch seconds, rising,
        shape (n,): the grid of the windows that matter. Empty where nothing is expected.
    """
    if not len(series):
        return f"absent: no bars of {series.symbol} by {_instant(as_of)}"
    return (
        _duplicate(series)
        or _partial(series, as_of)
        or _nan(series)
        or _non_positive(series)
        or _high_low(series, limits)
        or _too_short(series, limits)
        or _stale(series, expected_starts)
        or _gap(series, expected_starts, limits)
        or _jump(series.last(limits.context_bars + 1), limits)
        or _zero_volume(series.last(limits.context_bars), limits)
    )


def check_quote(
    quote: Quote | None, *, as_of: datetime, asset_class: AssetClass, limits: QualityLimits
) -> str | None:
    """Return why the quote can't be used at `as_of`, or None; the first rule that fails speaks.

    Rules in the order tried: quote_missing (none, or a side that is NaN, infinite or <= 0),
    quote_crossed (bid above ask; equal is fine), quote_old (stamped more than
    `max_quote_age_seconds` before `as_of`), quote_ahead (more than `max_quote_lead_seconds` after
    it: clocks disagree), spread (more than `max_spread_bps` of the mid).
    """
    if quote is None:
        return f"quote_missing: no quote at {_instant(as_of)}"
    return (
        _one_sided(quote)
        or _out_of_time(quote, as_of, limits)
        or _wide(quote, asset_class, limits)
    )


def _one_sided(quote: Quote) -> str | None:
    if not all(math.isfinite(side) and side > 0 for side in (quote.bid, quote.ask)):
        return f"quote_missing: bid was {quote.bid:g}, ask {quote.ask:g}; both sides are needed"
    if quote.bid > quote.ask:
        return f"quote_crossed: bid {quote.bid:g} was above ask {quote.ask:g}"
    return None


def _out_of_time(quote: Quote, as_of: datetime, limits: QualityLimits) -> str | None:
    age_seconds = (as_of - quote.at).total_seconds()
    if age_seconds > limits.max_quote_age_seconds:
        found = f"the quote of {_instant(quote.at)} was {age_seconds:.0f} s old"
        return f"quote_old: {found}; at most {limits.max_quote_age_seconds:g} s"
    if -age_seconds > limits.max_quote_lead_seconds:
        found = f"the quote was stamped {-age_seconds:.0f} s after {_instant(as_of)}"
        return f"quote_ahead: {found}; at most {limits.max_quote_lead_seconds:g} s"
    return None


def _wide(quote: Quote, asset_class: AssetClass, limits: QualityLimits) -> str | None:
    if quote.spread_bps <= limits.max_spread_bps:
        return None
    bound = f"at most {limits.max_spread_bps:g} bps for {asset_class.value}"
    return f"spread: spread was {quote.spread_bps:.1f} bps; {bound}"


def _duplicate(series: BarSeries) -> str | None:
    index = _first(np.diff(series.starts) <= 0)
    if index is None:
        return None
    return f"duplicate: the bar after {_at(series, index)} starts at {_at(series, index + 1)}"


def _partial(series: BarSeries, as_of: datetime) -> str | None:
    index = _first(series.ends > epoch_seconds(as_of))
    if index is None:
        return None
    ends = _instant(instant_at(series.ends[index]))
    return f"partial: the bar of {_at(series, index)} ends {ends}, after {_instant(as_of)}"


def _nan(series: BarSeries) -> str | None:
    is_bad = ~np.isfinite(series.values)
    index = _first(is_bad.any(axis=1))
    if index is None:
        return None
    column = int(np.argmax(is_bad[index]))
    found = f"{COLUMNS[column]} was {series.values[index, column]}"
    return f"nan: {found} at {_at(series, index)}"


def _non_positive(series: BarSeries) -> str | None:
    prices = series.values[:, OPEN : CLOSE + 1]
    amounts = series.values[:, VOLUME : AMOUNT + 1]
    index = _first((prices <= 0).any(axis=1) | (amounts < 0).any(axis=1))
    if index is None:
        return None
    lowest, least = prices[index].min(), amounts[index].min()
    return f"non_positive: lowest price was {lowest:g}, volume {least:g} at {_at(series, index)}"


def _high_low(series: BarSeries, limits: QualityLimits) -> str | None:
    values, tolerance = series.values, limits.ohlc_tolerance_fraction
    body_top = np.maximum(values[:, OPEN], values[:, CLOSE])
    body_bottom = np.minimum(values[:, OPEN], values[:, CLOSE])
    high, low = values[:, HIGH] * (1 + tolerance), values[:, LOW] * (1 - tolerance)
    index = _first((high < body_top) | (low > body_bottom) | (high < low))
    if index is None:
        return None
    found = ", ".join(f"{name} {values[index, i]:g}" for i, name in enumerate(COLUMNS[:4]))
    return f"high_low: {found} contradict one another at {_at(series, index)}"


def _too_short(series: BarSeries, limits: QualityLimits) -> str | None:
    if len(series) >= limits.minimum_bars:
        return None
    return f"too_short: {len(series)} bars; at least {limits.minimum_bars} are needed"


def _stale(series: BarSeries, expected_starts: NDArray[np.int64]) -> str | None:
    if not len(expected_starts) or series.starts[-1] >= expected_starts[-1]:
        return None
    newest, expected = _instant(series.last_end), _instant(instant_at(expected_starts[-1]))
    return f"stale: newest bar ends {newest}, expected one that starts {expected}"


def _gap(
    series: BarSeries, expected_starts: NDArray[np.int64], limits: QualityLimits
) -> str | None:
    is_missing = ~np.isin(expected_starts, series.starts)
    missing, expected = int(is_missing.sum()), len(expected_starts)
    recent = is_missing[-limits.recent_bars :] if limits.recent_bars else is_missing[:0]
    if not recent.any() and missing <= limits.max_missing_fraction * expected:
        return None
    newest = _instant(instant_at(expected_starts[is_missing][-1]))
    bound = f"at most {limits.max_missing_fraction:.1%}, none of the last {limits.recent_bars}"
    return f"gap: {missing} of {expected} bars missing, the newest at {newest}; {bound}"


def _jump(series: BarSeries, limits: QualityLimits) -> str | None:
    before = series.column(CLOSE)[:-1, np.newaxis]
    moves = np.abs(series.values[1:, OPEN : CLOSE + 1] / before - 1.0)
    index = _first((moves > limits.max_jump_fraction).any(axis=1))
    if index is None:
        return None
    largest, bound = moves[index].max(), f"at most {limits.max_jump_fraction:.0%}"
    return f"jump: moved {largest:.1%} from the close before at {_at(series, index + 1)}; {bound}"


def _zero_volume(series: BarSeries, limits: QualityLimits) -> str | None:
    empty, bars = int((series.column(VOLUME) == 0).sum()), len(series)
    if empty <= limits.max_zero_volume_fraction * bars:
        return None
    bound = f"at most {limits.max_zero_volume_fraction:.0%}"
    return f"zero_volume: {empty} of the last {bars} bars without volume; {bound}"


def _first(is_bad: NDArray[np.bool_] | np.bool_) -> int | None:
    return int(np.argmax(is_bad)) if is_bad.any() else None


def _at(series: BarSeries, index: int) -> str:
    return _instant(instant_at(series.starts[index]))


def _instant(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M} UTC"
