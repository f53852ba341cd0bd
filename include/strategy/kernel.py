"""The trade kernel: what a window returns, given side, entry and exit levels, bars and costs.

The one place that knows how limits fill and what a trade costs (trading.md 4.2); the search,
the evaluation and any backtest call it. `tests/strategy/reference_kernel.py` says the same in
slow, plain Python. Levels come from a strategy; nothing here reads a forecast.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from include.domain.strategies import TradeCosts, WindowHistory
from include.strategy.compiled import compiled

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# columns of `Tape.windows` and of the last axis of `Tape.inner`, which has no close
TAPE_OPEN, TAPE_HIGH, TAPE_LOW, TAPE_CLOSE = range(4)


class Tape(NamedTuple):
    """What happened: windows (n, 4) and their inner bars (n, k, 3), NaN past a short one's end."""

    windows: FloatArray
    inner: FloatArray


class Rates(NamedTuple):
    """Costs as factors of a price: what is paid per unit bought, what is kept per unit sold."""

    through: float
    buy_at_limit: float
    sell_at_limit: float
    buy_at_close: float
    sell_at_close: float


def tape_of(history: WindowHistory) -> Tape:
    """Return the outcomes of a history, without its forecasts."""
    windows = np.column_stack((history.open, history.high, history.low, history.close))
    inner = np.stack((history.inner_open, history.inner_high, history.inner_low), axis=-1)
    return Tape(windows.astype(np.float64), inner.astype(np.float64))


def rates_of(costs: TradeCosts) -> Rates:
    """Return costs as factors; a marketable exit crosses half the spread and slips."""
    crossing = costs.half_spread + costs.slippage
    return Rates(
        through=costs.through,
        buy_at_limit=1.0 + costs.maker_fee,
        sell_at_limit=1.0 - costs.maker_fee - costs.sell_fee,
        buy_at_close=(1.0 + crossing) * (1.0 + costs.taker_fee),
        sell_at_close=(1.0 - crossing) * (1.0 - costs.taker_fee - costs.sell_fee),
    )


def window_returns(
    history: WindowHistory,
    sides: IntArray,
    buy_levels: FloatArray,
    sell_levels: FloatArray,
    costs: TradeCosts,
    *,
    closes_at_eod: bool,
) -> FloatArray:
    """Return each window's net return on entry notional; 0 where no entry filled.

    Parameters
    ----------
    sides
        +1 long, -1 short, 0 none, shape (n,).
    buy_levels, sell_levels
        USD, shape (..., n): one row per candidate. A long enters at the buy level and takes
        profit at the sell level, a short the other way round. NaN never fills.
    closes_at_eod
        True holds to the window's close; False rests the opposite level as take-profit from the
        entry on and closes what is left at the window's close.

    Returns
    -------
    array
        Shape of the levels, fractions, never NaN for finite bars.

    Notes
    -----
    A limit fills where the price trades through it by more than `costs.through`, at the limit
    and never better. When entry and take-profit lie in one window, the inner bars decide: the
    take-profit counts in every bar after the entry's, and in that bar only if the entry filled
    at its open. Where inner bars can't decide, the worse exit counts (trading.md 4.2).
    """
    n, rows = len(history), math.prod(np.shape(buy_levels)[:-1])
    buys = np.asarray(buy_levels, dtype=np.float64)
    sells = np.asarray(sell_levels, dtype=np.float64)
    entries, targets = np.where(sides > 0, buys, sells), np.where(sides > 0, sells, buys)
    if closes_at_eod:
        targets = np.full_like(targets, np.nan)
    returns = batch_returns(
        tape_of(history),
        sides.astype(np.int64),
        entries.reshape(rows, n),
        targets.reshape(rows, n),
        rates_of(costs),
    )
    return returns.reshape(buys.shape)


@compiled
def batch_returns(
    tape: Tape, sides: IntArray, entries: FloatArray, targets: FloatArray, rates: Rates
) -> FloatArray:
    """Return window returns for candidates x windows, shape (c, n); a NaN target is none."""
    returns = np.zeros(entries.shape)
    for candidate in range(entries.shape[0]):
        for i in range(entries.shape[1]):
            entry, target = entries[candidate, i], targets[candidate, i]
            if sides[i] > 0:
                returns[candidate, i] = _long_return(
                    entry, target, tape.windows[i], tape.inner[i], rates
                )
            elif sides[i] < 0:
                returns[candidate, i] = _short_return(
                    entry, target, tape.windows[i], tape.inner[i], rates
                )
    return returns


@compiled
def _long_return(
    buy: float, sell: float, window: FloatArray, inner: FloatArray, rates: Rates
) -> float:
    trigger, target = buy * (1.0 - rates.through), sell * (1.0 + rates.through)
    if not window[TAPE_LOW] < trigger:
        return 0.0
    proceeds: float = window[TAPE_CLOSE] * rates.sell_at_close
    reached = _take_profit_reached(1.0, trigger, target, window, inner)
    if reached == _YES:
        proceeds = sell * rates.sell_at_limit
    elif reached == _UNDECIDED:
        proceeds = min(proceeds, sell * rates.sell_at_limit)
    return proceeds / buy - rates.buy_at_limit


@compiled
def _short_return(
    sell: float, buy: float, window: FloatArray, inner: FloatArray, rates: Rates
) -> float:
    trigger, target = sell * (1.0 + rates.through), buy * (1.0 - rates.through)
    if not window[TAPE_HIGH] > trigger:
        return 0.0
    outlay: float = window[TAPE_CLOSE] * rates.buy_at_close
    reached = _take_profit_reached(-1.0, trigger, target, window, inner)
    if reached == _YES:
        outlay = buy * rates.buy_at_limit
    elif reached == _UNDECIDED:
        outlay = max(outlay, buy * rates.buy_at_limit)
    return rates.sell_at_limit - outlay / sell


_NO, _YES, _UNDECIDED = range(3)


@compiled
def _take_profit_reached(
    sign: float, trigger: float, target: float, window: FloatArray, inner: FloatArray
) -> int:
    """Tell whether a filled entry's take-profit was reached, in the order of trading.md 4.2.

    `sign` is -1 for a short: the mirror image, with prices negated and highs and lows swapped.
    """
    entry_column, exit_column = (TAPE_LOW, TAPE_HIGH) if sign > 0 else (TAPE_HIGH, TAPE_LOW)
    for j in range(inner.shape[0]):
        if sign * inner[j, entry_column] < sign * trigger:
            first = j if sign * inner[j, TAPE_OPEN] < sign * trigger else j + 1
            for later in range(first, inner.shape[0]):
                if sign * inner[later, exit_column] > sign * target:
                    return _YES
            return _NO
    if not sign * window[exit_column] > sign * target:
        return _NO
    return _YES if sign * window[TAPE_OPEN] < sign * trigger else _UNDECIDED
