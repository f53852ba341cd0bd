"""Every pair of offset thresholds evaluated: the compiled inside of `search.py`.

For one buy offset each window's return is, in the sell offset d, piecewise a + b (1 + d) +
c / (1 + d), with pieces that begin and end at candidates. A row of the plane is therefore a few
additions per window into three difference arrays and one running sum over the candidates:
O(candidates x (n + candidates)) in all, instead of O(n x candidates squared).

`bands` has columns forecast low, forecast high, reference close, USD.
"""

import numpy as np
from numpy.typing import NDArray

from include.strategy.compiled import compiled
from include.strategy.kernel import TAPE_CLOSE, TAPE_HIGH, TAPE_LOW, Rates, Tape
from include.strategy.ladder import RUNG_LEVEL, RUNG_REACH, RUNG_UNDECIDED, ladders

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Best = tuple[float, float, float, int]

BAND_LOW, BAND_HIGH, BAND_CLOSE = range(3)
STRICT = 1e-10  # fills are strict: a threshold is crossed, not touched
SAME = 1e-12  # totals this close are equal; what is left of a running sum's rounding


@compiled
def best_hold(
    tape: Tape, bands: FloatArray, sides: IntArray, rates: Rates, bound: float
) -> Best:
    """Return buy offset, sell offset, total and candidates for positions held to the close.

    Longs depend on the buy offset alone and shorts on the sell offset alone.
    """
    windows = tape.windows
    buys = _candidates(windows[:, TAPE_LOW], sides > 0, bands, rates, bound, 1.0)
    sells = _candidates(windows[:, TAPE_HIGH], sides < 0, bands, rates, bound, -1.0)
    buy_totals, sell_totals = np.zeros(len(buys)), np.zeros(len(sells))
    for i in range(len(sides)):
        low, high, reference = bands[i]
        if sides[i] > 0:
            at_close = windows[i, TAPE_CLOSE] * rates.sell_at_close
            for c in range(len(buys)):
                buy = min(low * (1.0 + buys[c]), reference)
                if windows[i, TAPE_LOW] < buy * (1.0 - rates.through):
                    buy_totals[c] += at_close / buy - rates.buy_at_limit
        elif sides[i] < 0:
            at_close = windows[i, TAPE_CLOSE] * rates.buy_at_close
            for c in range(len(sells)):
                sell = max(high * (1.0 + sells[c]), reference)
                if windows[i, TAPE_HIGH] > sell * (1.0 + rates.through):
                    sell_totals[c] += rates.sell_at_limit - at_close / sell
    b, s = _best_index(buy_totals, buys), _best_index(sell_totals, sells)
    return buys[b], sells[s], buy_totals[b] + sell_totals[s], len(buys) + len(sells)


@compiled
def best_take_profit(
    tape: Tape, bands: FloatArray, sides: IntArray, rates: Rates, bound: float
) -> Best:
    """Return buy offset, sell offset, total and candidates for positions with take-profit."""
    rungs, counts = ladders(tape, sides)
    buy_prices, sell_prices, is_buy, is_sell, owners = _threshold_prices(rungs, counts, sides)
    owner_bands = bands[owners]
    buys = _candidates(buy_prices, is_buy, owner_bands, rates, bound, 1.0)
    sells = _candidates(sell_prices, is_sell, owner_bands, rates, bound, -1.0)
    prefixes, clamps = _sell_prefixes(tape, bands, sides, rates, rungs, counts, sells)
    totals = np.empty((len(buys), len(sells)))
    for c in range(len(buys)):
        parts = np.zeros((3, len(sells) + 1))
        for i in range(len(sides)):
            buy = min(bands[i, BAND_LOW] * (1.0 + buys[c]), bands[i, BAND_CLOSE])
            if sides[i] > 0:
                _add_long(parts, buy, tape.windows[i], bands[i], rates, rungs[i, : counts[i]],
                          prefixes[i], clamps[i])  # fmt: skip
            elif sides[i] < 0:
                _add_short(parts, buy, tape.windows[i], bands[i], rates, rungs[i, : counts[i]],
                           prefixes[i], clamps[i])  # fmt: skip
        _sum_row(parts, sells, totals[c])
    b, s = _best_pair(totals, buys, sells)
    return buys[b], sells[s], totals[b, s], totals.size
