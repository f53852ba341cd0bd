"""The price of each minute inside a daily bar: seeded, and aggregating back to that bar exactly.

What may be seen of it at an instant is decided in tape.py, never here.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from include.exchange.seeds import generator
from include.exchange.sources import DailyBar

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class MinutePath:
    """Prices in USD and volumes in units, both of shape (n_minutes,), never NaN."""

    prices: FloatArray
    volumes: IntArray


def minute_path(
    bar: DailyBar, *, n_minutes: int, decimals: int, seed: int, symbol: str
) -> MinutePath:
    """Return one price and one volume a minute whose aggregate is the daily bar, to the last bit.

    Parameters
    ----------
    n_minutes
        Minutes of the day; at least 4, so that open, high, low and close find room.
    decimals
        Decimal places of a price; open, high, low and close keep what they have beyond it.

    Notes
    -----
    A Brownian bridge from open to close whose excursions above and below the straight line are
    scaled until they touch high and low. Activity is U-shaped over the day. Depends on seed,
    symbol and date alone, so that the order in which days are asked for changes nothing.
    """
    rng = generator(seed, "path", symbol, bar.session_date.isoformat())
    activity = _activity(n_minutes)
    prices = _bridge(bar, activity, rng)
    return MinutePath(
        prices=_pinned(bar, np.round(prices, decimals)),
        volumes=_spread_out(bar.volume, activity * np.exp(rng.normal(scale=0.5, size=n_minutes))),
    )


@lru_cache(maxsize=8)
def _activity(n_minutes: int) -> FloatArray:
    """Return the share of a usual day's activity that falls on each minute, high at both ends."""
    x = np.linspace(-1.0, 1.0, n_minutes)
    shape = 0.6 + 1.4 * x**2
    shares: FloatArray = shape / shape.sum()
    shares.setflags(write=False)
    return shares


def _bridge(bar: DailyBar, activity: FloatArray, rng: np.random.Generator) -> FloatArray:
    elapsed = np.concatenate(([0.0], np.cumsum(activity[1:])))
    elapsed /= elapsed[-1]
    walk = np.cumsum(rng.normal(size=len(activity)) * np.sqrt(activity))
    walk -= walk[0]
    excursion = walk - elapsed * walk[-1]
    line = bar.open + (bar.close - bar.open) * elapsed
    upward = _largest_scale(bar.high - line, excursion)
    downward = _largest_scale(line - bar.low, -excursion)
    prices: FloatArray = line + excursion * np.where(excursion > 0, upward, downward)
    return prices


def _largest_scale(room: FloatArray, excursion: FloatArray) -> float:
    """Return the largest factor that keeps each positive excursion within its room."""
    inside = excursion > 1e-12
    return float(np.min(room[inside] / excursion[inside])) if inside.any() else 0.0


def _pinned(bar: DailyBar, prices: FloatArray) -> FloatArray:
    """Return the prices within the bar, with its open, high, low and close each met exactly."""
    pinned: FloatArray = np.clip(prices, bar.low, bar.high)
    pinned[0], pinned[-1] = bar.open, bar.close
    if pinned.max() < bar.high:
        pinned[1 + int(np.argmax(pinned[1:-1]))] = bar.high
    if pinned.min() > bar.low:
        pinned[1 + int(np.argmin(pinned[1:-1]))] = bar.low
    pinned.setflags(write=False)
    return pinned


def _spread_out(volume: int, weights: FloatArray) -> IntArray:
    """Return whole volumes in proportion to the weights whose sum is the volume."""
    reached = np.floor(np.cumsum(weights) / weights.sum() * volume).astype(np.int64)
    reached[-1] = volume
    volumes: IntArray = np.diff(reached, prepend=np.int64(0))
    volumes.setflags(write=False)
    return volumes
