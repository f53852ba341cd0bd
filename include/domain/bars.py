"""Bars: open, high, low, close, volume and amount over [start, end), as arrays per symbol."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from include.domain.instants import epoch_seconds, instant_at

COLUMNS = ("open", "high", "low", "close", "volume", "amount")
OPEN, HIGH, LOW, CLOSE, VOLUME, AMOUNT = range(6)


class Timeframe(StrEnum):
    """Length of a bar, in the venue's spelling."""

    MINUTE_1 = "1Min"
    MINUTE_5 = "5Min"
    MINUTE_15 = "15Min"
    MINUTE_30 = "30Min"
    HOUR = "1Hour"
    DAY = "1Day"

    @property
    def duration(self) -> timedelta:
        """Nominal length; a daily equity bar ends at its session's close instead."""
        return _DURATIONS[self]


_DURATIONS = {
    Timeframe.MINUTE_1: timedelta(minutes=1),
    Timeframe.MINUTE_5: timedelta(minutes=5),
    Timeframe.MINUTE_15: timedelta(minutes=15),
    Timeframe.MINUTE_30: timedelta(minutes=30),
    Timeframe.HOUR: timedelta(hours=1),
    Timeframe.DAY: timedelta(days=1),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class BarSeries:
    """Bars of one symbol and timeframe, oldest first.

    `starts` and `ends` are epochs in seconds, shape (n,), strictly rising; `values` has shape
    (n, 6), columns as `COLUMNS`, USD per share and shares (amount in USD). Never NaN once
    `market.quality` has passed them.
    """

    symbol: str
    timeframe: Timeframe
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    values: NDArray[np.float64]

    def __len__(self) -> int:
        """Return the number of bars."""
        return len(self.starts)

    def column(self, index: int) -> NDArray[np.float64]:
        """Return one column, shape (n,)."""
        return self.values[:, index]

    def take(self, chosen: slice | NDArray[np.bool_] | NDArray[np.int64]) -> "BarSeries":
        """Return the chosen bars."""
        return BarSeries(
            symbol=self.symbol,
            timeframe=self.timeframe,
            starts=self.starts[chosen],
            ends=self.ends[chosen],
            values=self.values[chosen],
        )

    def closed_by(self, as_of: datetime) -> "BarSeries":
        """Return the bars that ended at or before the instant."""
        return self.take(self.ends <= epoch_seconds(as_of))

    def between(self, start: datetime, end: datetime) -> "BarSeries":
        """Return the bars that start in [start, end)."""
        return self.take(
            (self.starts >= epoch_seconds(start)) & (self.starts < epoch_seconds(end))
        )

    def last(self, count: int) -> "BarSeries":
        """Return the newest bars, at most `count`."""
        return self.take(slice(max(len(self) - count, 0), len(self)))

    @property
    def last_end(self) -> datetime:
        """End of the newest bar; the series must not be empty."""
        return instant_at(self.ends[-1])


def empty_series(symbol: str, timeframe: Timeframe) -> BarSeries:
    """Return a series without bars."""
    no_epochs = np.empty(0, dtype=np.int64)
    values = np.empty((0, len(COLUMNS)))
    return BarSeries(
        symbol=symbol, timeframe=timeframe, starts=no_epochs, ends=no_epochs, values=values
    )


def joined(parts: Sequence[BarSeries]) -> BarSeries:
    """Return the parts of one symbol and timeframe as one series, oldest first."""
    starts = np.concatenate([part.starts for part in parts])
    order = np.argsort(starts, kind="stable")
    return BarSeries(
        symbol=parts[0].symbol,
        timeframe=parts[0].timeframe,
        starts=starts[order],
        ends=np.concatenate([part.ends for part in parts])[order],
        values=np.concatenate([part.values for part in parts])[order],
    )
