"""Bars of any timeframe, aggregated from the minutes that an instant may know of.

Minute and hour bars sit on UTC multiples within a day, an equity's day on New York midnight, a
coin's on UTC midnight. The bar still forming is the part of it that has happened.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum
from itertools import groupby
from typing import TypeAlias

import numpy as np

from include.exchange.assets import Asset
from include.exchange.calendar import NEW_YORK_MIDNIGHT
from include.exchange.instants import DAY, MINUTE, Instant, at_new_york, at_utc_midnight
from include.exchange.path import FloatArray, IntArray
from include.exchange.replay import Replay
from include.exchange.tape import TapeDay

BarJson: TypeAlias = dict[str, float | int | str]


class TimeframeUnit(Enum):
    """What a timeframe counts, as the venue writes it."""

    MINUTE = "Min"
    HOUR = "Hour"
    DAY = "Day"
    WEEK = "Week"
    MONTH = "Month"


_SPELLINGS = {"T": "Min", "H": "Hour", "D": "Day", "W": "Week", "M": "Month"}
_AMOUNTS: dict[TimeframeUnit, frozenset[int]] = {
    TimeframeUnit.MINUTE: frozenset(range(1, 60)),
    TimeframeUnit.HOUR: frozenset(range(1, 24)),
    TimeframeUnit.DAY: frozenset({1}),
    TimeframeUnit.WEEK: frozenset({1}),
    TimeframeUnit.MONTH: frozenset({1, 2, 3, 4, 6, 12}),
}
_LONG_UNITS = frozenset({TimeframeUnit.WEEK, TimeframeUnit.MONTH})
_LONGEST_BUCKET = 367 * DAY
_USD_PER_TRADE = 10_000.0


@dataclass(frozen=True, kw_only=True)
class Timeframe:
    """The length of a bar."""

    amount: int
    unit: TimeframeUnit

    @property
    def minutes(self) -> int | None:
        """Return the length in minutes, None from one day up."""
        if self.unit is TimeframeUnit.MINUTE:
            return self.amount
        return 60 * self.amount if self.unit is TimeframeUnit.HOUR else None


MINUTE_BARS = Timeframe(amount=1, unit=TimeframeUnit.MINUTE)
DAY_BARS = Timeframe(amount=1, unit=TimeframeUnit.DAY)


def parse_timeframe(text: str) -> Timeframe | None:
    """Read 30Min, 1Hour, 1Day or their short forms; None when the venue has no such timeframe."""
    match = re.fullmatch(r"(\d{1,2})(Min|Hour|Day|Week|Month|[THDWM])", text)
    if match is None:
        return None
    unit = TimeframeUnit(_SPELLINGS.get(match[2], match[2]))
    amount = int(match[1])
    return Timeframe(amount=amount, unit=unit) if amount in _AMOUNTS[unit] else None


@dataclass(frozen=True, kw_only=True)
class BarSpan:
    """Which bars are wanted: first and last start, both inclusive, as known at `now`."""

    start: Instant
    end: Instant
    now: Instant
    descending: bool = False


def bars_of(
    replay: Replay, symbol: str, timeframe: Timeframe, span: BarSpan
) -> Iterator[tuple[Instant, BarJson]]:
    """Yield each bar's start and its JSON in the order asked for; nothing is later than `now`."""
    asset = replay.assets[symbol]
    for indices in _groups(replay, asset, timeframe, span):
        days = [replay.tape.day(symbol, index) for index in indices]
        table = _bars_of_days(asset, timeframe, days, span)
        yield from reversed(table) if span.descending else table


def _groups(
    replay: Replay, asset: Asset, timeframe: Timeframe, span: BarSpan
) -> Iterator[list[int]]:
    """Yield the positions of days whose minutes share bars, a day by itself below one week."""
    margin = DAY if timeframe.unit not in _LONG_UNITS else _LONGEST_BUCKET
    last = min(span.end + margin, span.now)
    indices = replay.tape.day_indices(asset.symbol, span.start - margin, last)

    def bucket(index: int) -> date:
        return _bucket_date(replay.tape.session_date(asset.symbol, index), timeframe)

    groups = [list(group) for _, group in groupby(indices, key=bucket)]
    return iter(groups[::-1] if span.descending else groups)


def _bucket_date(day: date, timeframe: Timeframe) -> date:
    if timeframe.unit is TimeframeUnit.WEEK:
        return day - timedelta(days=day.weekday())
    if timeframe.unit is TimeframeUnit.MONTH:
        return day.replace(month=day.month - (day.month - 1) % timeframe.amount, day=1)
    return day


def _bars_of_days(
    asset: Asset, timeframe: Timeframe, days: list[TapeDay], span: BarSpan
) -> list[tuple[Instant, BarJson]]:
    seen = [day.n_visible(span.now) for day in days]
    prices = np.concatenate([day.prices[:n] for day, n in zip(days, seen, strict=True)])
    volumes = np.concatenate([day.volumes[:n] for day, n in zip(days, seen, strict=True)])
    if not len(prices):
        return []
    starts = _bar_starts(asset, timeframe, days[0], len(prices))
    firsts = np.flatnonzero(np.diff(starts, prepend=starts[0] - 1))
    wanted = (starts[firsts] >= span.start) & (starts[firsts] <= span.end)
    if not wanted.any():
        return []
    rows = _aggregated(prices, volumes, firsts, asset.volume_unit)
    stamps = np.datetime_as_string(starts[firsts].astype("datetime64[ns]"), unit="s")
    keyed = zip(starts[firsts].tolist(), stamps.tolist(), rows, wanted.tolist(), strict=True)
    return [(start, {"t": f"{stamp}Z", **row}) for start, stamp, row, keep in keyed if keep]


def _bar_starts(asset: Asset, timeframe: Timeframe, day: TapeDay, n_minutes: int) -> IntArray:
    """Return the start of the bar that each minute belongs to."""
    if timeframe.minutes is None:
        return np.full(n_minutes, _calendar_start(asset, timeframe, day.session_date))
    instants = day.start + np.arange(n_minutes, dtype=np.int64) * MINUTE
    midnight = day.start - day.start % DAY
    length = timeframe.minutes * MINUTE
    starts: IntArray = midnight + (instants - midnight) // length * length
    return starts


def _calendar_start(asset: Asset, timeframe: Timeframe, day: date) -> Instant:
    first = _bucket_date(day, timeframe)
    return at_utc_midnight(first) if asset.is_crypto else at_new_york(first, NEW_YORK_MIDNIGHT)


def _aggregated(
    prices: FloatArray, volumes: IntArray, firsts: IntArray, volume_unit: Decimal
) -> list[BarJson]:
    lasts = np.append(firsts[1:], len(prices)) - 1
    volume = np.add.reduceat(volumes, firsts)
    spent = np.add.reduceat(prices * volumes, firsts)
    mean = np.add.reduceat(prices, firsts) / (lasts - firsts + 1)
    vwap = np.where(volume > 0, spent / np.maximum(volume, 1), mean)
    whole = volume_unit == 1
    traded = volume.tolist() if whole else (volume / float(1 / volume_unit)).tolist()
    highs, lows = np.maximum.reduceat(prices, firsts), np.minimum.reduceat(prices, firsts)
    columns = (
        prices[lasts].tolist(),
        highs.tolist(),
        lows.tolist(),
        np.add.reduceat(trade_counts(prices, volumes, volume_unit), firsts).tolist(),
        prices[firsts].tolist(),
        traded,
        np.clip(np.round(vwap, 6), lows, highs).tolist(),
    )
    return [
        {"c": c, "h": h, "l": low, "n": n, "o": o, "v": v, "vw": vw}
        for c, h, low, n, o, v, vw in zip(*columns, strict=True)
    ]


def trade_counts(prices: FloatArray, volumes: IntArray, volume_unit: Decimal) -> IntArray:
    """Return how many trades made up each minute's volume: one, and another per 10,000 USD."""
    spent_usd = prices * volumes * float(volume_unit)
    return 1 + (spent_usd / _USD_PER_TRADE).astype(np.int64)
