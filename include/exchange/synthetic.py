"""Daily crypto bars from a seeded generator: regimes of volatility, fat tails, no real market.

The figures are round and plausible, not estimated. Equities never come from here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
import numpy.typing as npt

from include.exchange.assets import Asset
from include.exchange.seeds import generator
from include.exchange.sources import DailyBar

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Level:
    """Where a synthetic series starts: USD a coin, and USD traded on a usual day."""

    price_usd: float
    turnover_usd: float


LEVELS = {
    "BTC/USD": Level(price_usd=30_000.0, turnover_usd=40_000_000.0),
    "ETH/USD": Level(price_usd=2_000.0, turnover_usd=20_000_000.0),
    "LINK/USD": Level(price_usd=8.0, turnover_usd=2_000_000.0),
    "UNI/USD": Level(price_usd=6.0, turnover_usd=1_000_000.0),
}

_CALM_VOLATILITY, _WILD_VOLATILITY = 0.018, 0.045
_STAY_CALM, _STAY_WILD = 0.97, 0.90
_TAIL_DEGREES_OF_FREEDOM = 4.0
_REVERSION = 0.01


def synthetic_bars(asset: Asset, days: Sequence[date], *, seed: int) -> dict[date, DailyBar]:
    """Return one bar a UTC day, each opening where the one before closed.

    Notes
    -----
    Log prices follow a two-state Markov chain of volatility with Student-t shocks of unit variance
    and a weak pull to the starting level; high and low lie beyond open and close by half-normal
    shares of the day's volatility.
    """
    rng = generator(seed, "synthetic", asset.symbol)
    level = LEVELS[asset.symbol]
    volatility = _volatilities(rng, len(days))
    closes = level.price_usd * np.exp(_log_path(rng, volatility))
    opens = np.concatenate(([level.price_usd], closes[:-1]))
    reach = np.abs(rng.normal(size=(2, len(days)))) * volatility * 0.6
    highs = np.maximum(opens, closes) * np.exp(reach[0])
    lows = np.minimum(opens, closes) * np.exp(-reach[1])
    activity = np.exp(rng.normal(scale=0.35, size=len(days))) * volatility / _CALM_VOLATILITY
    coins = level.turnover_usd * activity / closes
    prices = _rounded(asset, opens, highs, lows, closes)
    units = np.rint(coins / float(asset.volume_unit)).astype(np.int64)
    return {
        day: DailyBar(
            session_date=day, open=row[0], high=row[1], low=row[2], close=row[3], volume=volume
        )
        for day, row, volume in zip(days, prices.tolist(), units.tolist(), strict=True)
    }


def _volatilities(rng: np.random.Generator, n_days: int) -> FloatArray:
    draws = rng.random(n_days)
    wild = np.zeros(n_days, dtype=bool)
    for day in range(1, n_days):
        wild[day] = draws[day] < _STAY_WILD if wild[day - 1] else draws[day] >= _STAY_CALM
    volatilities: FloatArray = np.array((_CALM_VOLATILITY, _WILD_VOLATILITY))[
        wild.astype(np.int64)
    ]
    return volatilities


def _log_path(rng: np.random.Generator, volatility: FloatArray) -> FloatArray:
    scale = np.sqrt((_TAIL_DEGREES_OF_FREEDOM - 2) / _TAIL_DEGREES_OF_FREEDOM)
    shocks = rng.standard_t(_TAIL_DEGREES_OF_FREEDOM, size=len(volatility)) * scale * volatility
    path = np.empty(len(volatility))
    level = 0.0
    for day, shock in enumerate(np.clip(shocks, -0.3, 0.3)):
        level += shock - _REVERSION * level
        path[day] = level
    return path


def _rounded(asset: Asset, *columns: FloatArray) -> FloatArray:
    decimals = -int(asset.price_increment.as_tuple().exponent)
    prices: FloatArray = np.stack(columns, axis=1).round(decimals)
    return prices
