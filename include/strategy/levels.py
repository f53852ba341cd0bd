"""Levels of a window: what history and the window at hand have in common, and what may be traded.

Scoring and live trading form levels and refuse thin plans by the same functions, so that a score
speaks of the trades that would have been made.
"""

from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from include.domain.bars import Timeframe
from include.domain.forecasts import Outlook
from include.domain.instants import epoch_seconds
from include.domain.sessions import Window, bar_grid
from include.domain.strategies import Levels, ScoredStrategy
from include.strategy.rule import FloatArray, IntArray, Strategy, WindowForecasts, forecast_of

NO_LEVELS = Levels(
    side=0, entry=float("nan"), take_profit=float("nan"), expected_exit=float("nan")
)


def live_levels(
    scored: ScoredStrategy,
    strategy: Strategy,
    outlook: Outlook,
    *,
    reference_close: float,
    allow_short: bool,
) -> Levels:
    """Return the levels of the window at hand, formed as those of every scored window.

    Mid-window the outlook covers the bars that remain; the offsets stay those fitted on opening
    forecasts, and `reference_close` stays the close before the window.
    """
    forecast = forecast_of(outlook, reference_close=reference_close)
    side = int(strategy.sides(forecast, allow_short=allow_short)[0])
    if side == 0:
        return NO_LEVELS
    buys, sells = strategy.levels(
        forecast, buy_offset=scored.buy_offset, sell_offset=scored.sell_offset
    )
    entry, opposite = (buys[0], sells[0]) if side > 0 else (sells[0], buys[0])
    return Levels(
        side=side,
        entry=float(entry),
        take_profit=float("nan") if scored.closes_at_eod else float(opposite),
        expected_exit=float(forecast.close[0] if scored.closes_at_eod else opposite),
    )


def worthwhile_sides(
    sides: IntArray,
    levels: tuple[FloatArray, FloatArray],
    forecasts: WindowForecasts,
    *,
    closes_at_eod: bool,
    minimum_edge_fraction: float,
    minimum_pair_fraction: float,
) -> IntArray:
    """Return the sides with 0 where the plan is too thin to be traded (edge gate, pair invariant).

    The expected exit is the take-profit, or the forecast close where positions are held to the
    close. Levels are buy and sell, USD, shape (n,); uses forecasts alone, no outcome.
    """
    buys, sells = levels
    entries, opposites = np.where(sides > 0, buys, sells), np.where(sides > 0, sells, buys)
    exits = forecasts.close if closes_at_eod else opposites
    is_worth = has_edge(sides, entries, exits, minimum_edge_fraction=minimum_edge_fraction)
    if not closes_at_eod:
        is_worth &= keeps_apart(buys, sells, minimum_pair_fraction=minimum_pair_fraction)
    return np.where(is_worth, sides, 0).astype(np.int64)


def has_edge(
    sides: IntArray | int,
    entries: FloatArray | float,
    exits: FloatArray | float,
    *,
    minimum_edge_fraction: float,
) -> NDArray[np.bool_]:
    """Tell where the move from entry to expected exit is at least the minimum; NaN never is."""
    gained = np.asarray(sides) * (np.asarray(exits) - np.asarray(entries))
    return np.asarray(gained >= minimum_edge_fraction * np.asarray(entries))


def keeps_apart(
    buys: FloatArray | float, sells: FloatArray | float, *, minimum_pair_fraction: float
) -> NDArray[np.bool_]:
    """Tell where the sell level is above the buy level by at least the minimum; NaN never is."""
    return np.asarray(
        np.asarray(sells) - np.asarray(buys) >= minimum_pair_fraction * np.asarray(buys)
    )


def may_enter(window: Window, as_of: datetime, timeframe: Timeframe) -> bool:
    """Tell whether an entry may still start: before the window's last bar begins.

    The only bar of a one-bar window is entered by orders that stand when it opens, so there the
    opening is the last instant (trading.md 2.3).
    """
    starts, _ = bar_grid(window, timeframe)
    last_start = int(starts[-1])
    if len(starts) == 1:
        return epoch_seconds(as_of) <= last_start
    return epoch_seconds(as_of) < last_start
