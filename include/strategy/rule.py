"""What a strategy is: from forecasts to a side and two levels per window, and nothing else.

A strategy is handed `WindowForecasts`, which hold no outcome, so that it can't look ahead. The
search turns its offsets, the kernel says what its levels returned.
"""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from include.domain.forecasts import Outlook
from include.domain.strategies import WindowHistory

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# a forecast whose high or low has to be moved by more than this share of the reference close to
# hold its own close is no forecast (trading.md 4.1)
MAX_PROJECTION_FRACTION = 0.01


@dataclass(frozen=True, kw_only=True, eq=False)
class WindowForecasts:
    """Forecasts issued at windows' openings with the close before each, USD, shape (n,)."""

    reference_close: FloatArray
    high: FloatArray
    low: FloatArray
    close: FloatArray

    def __len__(self) -> int:
        """Return the number of windows."""
        return len(self.reference_close)


class Strategy(Protocol):
    """A rule whose levels move with two offsets."""

    @property
    def name(self) -> str:
        """Name in settings, rows and reports."""

    def sides(self, forecasts: WindowForecasts, *, allow_short: bool) -> IntArray:
        """Return +1 long, -1 short, 0 none, shape (n,); 0 wherever a forecast is invalid."""

    def levels(
        self, forecasts: WindowForecasts, *, buy_offset: float, sell_offset: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return buy and sell levels, USD, shape (n,)."""


def forecasts_of(history: WindowHistory) -> WindowForecasts:
    """Return a history's forecasts, projected onto valid bars, without its outcomes."""
    return projected(
        WindowForecasts(
            reference_close=history.reference_close,
            high=history.forecast_high,
            low=history.forecast_low,
            close=history.forecast_close,
        )
    )


def forecast_of(outlook: Outlook, *, reference_close: float) -> WindowForecasts:
    """Return an outlook as the only window of a series, projected like those of a history."""
    return projected(
        WindowForecasts(
            reference_close=np.array([reference_close], dtype=np.float64),
            high=np.array([outlook.high], dtype=np.float64),
            low=np.array([outlook.low], dtype=np.float64),
            close=np.array([outlook.close], dtype=np.float64),
        )
    )


def projected(forecasts: WindowForecasts) -> WindowForecasts:
    """Return forecasts whose high and low hold their close; NaN where that moves them too far."""
    high = np.maximum.reduce([forecasts.high, forecasts.close, forecasts.low])
    low = np.minimum.reduce([forecasts.low, forecasts.close, forecasts.high])
    moved = np.maximum(high - forecasts.high, forecasts.low - low)
    is_broken = moved > MAX_PROJECTION_FRACTION * forecasts.reference_close
    return replace(
        forecasts, high=np.where(is_broken, np.nan, high), low=np.where(is_broken, np.nan, low)
    )


def with_forecasts(history: WindowHistory, forecasts: WindowForecasts) -> WindowHistory:
    """Return the history with these forecasts in place of its own."""
    return replace(
        history,
        forecast_high=forecasts.high,
        forecast_low=forecasts.low,
        forecast_close=forecasts.close,
    )


def is_valid(forecasts: WindowForecasts) -> NDArray[np.bool_]:
    """Tell which forecasts can be traded: finite, positive, and a high above the low."""
    prices = np.stack((forecasts.reference_close, forecasts.high, forecasts.low, forecasts.close))
    usable = np.isfinite(prices).all(axis=0) & (np.nan_to_num(prices) > 0).all(axis=0)
    return usable & (forecasts.high > forecasts.low)
