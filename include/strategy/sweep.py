"""Every pair of offset thresholds evaluated: the compiled inside of `search.py`.

For one buy offset each window's return is, in the sell offset d, piecewise one of a constant, a
line in d and a line in d / (1 + d), with pieces that begin and end at candidates. A row of the
plane is therefore a few additions per window into three difference arrays and one running sum:
O(candidates x (n + candidates)) in all, instead of O(n x candidates squared).

`bands` has columns forecast low, forecast high, reference close, USD, one row per window.
"""

from typing import NamedTuple

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
SAME = 1e-12  # totals this close are equal: what rounding leaves of a running sum

# rows of the difference arrays: constants, factors of d, factors of d / (1 + d)
CONSTANT, LINEAR, RATIO = range(3)


class Plane(NamedTuple):
    """What a row of the plane needs: outcomes, ladders, and the sorted sell offsets.

    `prefixes[i, r]` counts the sell offsets, from the smallest, that rung r lets a long's
    take-profit, or a short's entry, fill; `clamps[i]` those that leave the sell level at P.
    """

    tape: Tape
    bands: FloatArray
    rates: Rates
    rungs: FloatArray
    counts: IntArray
    sells: FloatArray
    prefixes: IntArray
    clamps: IntArray


@compiled
def best_hold(tape: Tape, bands: FloatArray, sides: IntArray, rates: Rates, bound: float) -> Best:
    """Return buy offset, sell offset, total and candidates for positions held to the close.

    Longs depend on the buy offset alone and shorts on the sell offset alone.
    """
    longs, shorts = np.nonzero(sides > 0)[0], np.nonzero(sides < 0)[0]
    lows, highs = tape.windows[:, TAPE_LOW], tape.windows[:, TAPE_HIGH]
    buys = _buy_offsets(lows[longs], bands[longs], rates, bound)
    sells = _sell_offsets(highs[shorts], bands[shorts], rates, bound)
    buy_totals, sell_totals = np.zeros(len(buys)), np.zeros(len(sells))
    for i in longs:
        at_close = tape.windows[i, TAPE_CLOSE] * rates.sell_at_close
        for c in range(len(buys)):
            buy = _buy_level(bands[i], buys[c])
            if lows[i] < buy * (1.0 - rates.through):
                buy_totals[c] += at_close / buy - rates.buy_at_limit
    for i in shorts:
        at_close = tape.windows[i, TAPE_CLOSE] * rates.buy_at_close
        for c in range(len(sells)):
            sell = _sell_level(bands[i], sells[c])
            if highs[i] > sell * (1.0 + rates.through):
                sell_totals[c] += rates.sell_at_limit - at_close / sell
    b, _ = _best_pair(buy_totals.reshape(-1, 1), buys, np.zeros(1))
    _, s = _best_pair(sell_totals.reshape(1, -1), np.zeros(1), sells)
    return buys[b], sells[s], buy_totals[b] + sell_totals[s], len(buys) + len(sells)


@compiled
def best_take_profit(
    tape: Tape, bands: FloatArray, sides: IntArray, rates: Rates, bound: float
) -> Best:
    """Return buy offset, sell offset, total and candidates for positions with take-profit."""
    rungs, counts = ladders(tape, sides)
    owners, buy_prices, sell_prices = _thresholds(rungs, counts, sides)
    buys = _buy_offsets(buy_prices, bands[owners], rates, bound)
    sells = _sell_offsets(sell_prices, bands[owners], rates, bound)
    plane = _plane(Plane(
        tape, bands, rates, rungs, counts, sells,
        np.zeros(rungs.shape[:2], dtype=np.int64), np.zeros(len(sides), dtype=np.int64),
    ), sides)  # fmt: skip
    totals = _totals(plane, sides, buys)
    b, s = _best_pair(totals, buys, sells)
    return buys[b], sells[s], totals[b, s], totals.size


@compiled
def _totals(plane: Plane, sides: IntArray, buys: FloatArray) -> FloatArray:
    """Return the total return of every pair, shape (buys, sells)."""
    n_sells = len(plane.sells)
    totals, parts = np.empty((len(buys), n_sells)), np.empty((3, n_sells + 1))
    for b in range(len(buys)):
        parts[:] = 0.0
        for i in range(len(sides)):
            low, reference = plane.bands[i, BAND_LOW], plane.bands[i, BAND_CLOSE]
            buy = min(low * (1.0 + buys[b]), reference)
            if sides[i] > 0:
                _add_long(parts, plane, i, buy)
            elif sides[i] < 0:
                _add_short(parts, plane, i, buy)
        _sum_row(parts, plane.sells, totals[b])
    return totals


@compiled
def _buy_level(band: FloatArray, offset: float) -> float:
    level: float = min(band[BAND_LOW] * (1.0 + offset), band[BAND_CLOSE])
    return level


@compiled
def _sell_level(band: FloatArray, offset: float) -> float:
    level: float = max(band[BAND_HIGH] * (1.0 + offset), band[BAND_CLOSE])
    return level


@compiled
def _thresholds(
    rungs: FloatArray, counts: IntArray, sides: IntArray
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return every rung's window, the price that a buy must exceed, and a sell undercut."""
    owners = np.empty(counts.sum(), dtype=np.int64)
    buy_prices, sell_prices = np.empty(len(owners)), np.empty(len(owners))
    at = 0
    for i in range(len(sides)):
        for r in range(counts[i]):
            owners[at] = i
            level, reach = rungs[i, r, RUNG_LEVEL], rungs[i, r, RUNG_REACH]
            buy_prices[at], sell_prices[at] = (level, reach) if sides[i] > 0 else (reach, level)
            at += 1
    return owners, buy_prices, sell_prices


@compiled
def _buy_offsets(prices: FloatArray, bands: FloatArray, rates: Rates, bound: float) -> FloatArray:
    """Return sorted candidates: lower bound, 0, and where a buy level just fills at a price."""
    offsets, count = np.empty(len(prices) + 2), 2
    offsets[0], offsets[1] = -bound, 0.0
    for i in range(len(prices)):
        if prices[i] < bands[i, BAND_CLOSE] * (1.0 - rates.through):  # else P itself never fills
            offset = prices[i] / ((1.0 - rates.through) * bands[i, BAND_LOW]) - 1.0 + STRICT
            if -bound < offset <= bound:
                offsets[count] = offset
                count += 1
    return _distinct(offsets[:count])


@compiled
def _sell_offsets(prices: FloatArray, bands: FloatArray, rates: Rates, bound: float) -> FloatArray:
    """Return sorted candidates: upper bound, 0, and where a sell level just fills at a price."""
    offsets, count = np.empty(len(prices) + 2), 2
    offsets[0], offsets[1] = bound, 0.0
    for i in range(len(prices)):
        if prices[i] > bands[i, BAND_CLOSE] * (1.0 + rates.through):
            offset = prices[i] / ((1.0 + rates.through) * bands[i, BAND_HIGH]) - 1.0 - STRICT
            if -bound <= offset < bound:
                offsets[count] = offset
                count += 1
    return _distinct(offsets[:count])


@compiled
def _distinct(offsets: FloatArray) -> FloatArray:
    """Return the offsets sorted, each once; numpy's own function takes seconds to compile."""
    ordered, count = np.sort(offsets), 1
    for offset in ordered[1:]:
        if offset > ordered[count - 1]:
            ordered[count] = offset
            count += 1
    return ordered[:count]


@compiled
def _plane(plane: Plane, sides: IntArray) -> Plane:
    """Fill prefixes and clamps, which no buy offset changes."""
    rates, sells = plane.rates, plane.sells
    for i in range(len(sides)):
        band = plane.bands[i]
        at_close = plane.tape.windows[i, TAPE_CLOSE] * rates.sell_at_close
        for r in range(plane.counts[i]):
            rung = plane.rungs[i, r]
            price = rung[RUNG_REACH] if sides[i] > 0 else rung[RUNG_LEVEL]
            prefix = _count_below(price, 1.0 + rates.through, band, sells)
            if sides[i] > 0 and rung[RUNG_UNDECIDED] > 0:  # the worse of take-profit and close
                prefix = min(prefix, _count_below(at_close, rates.sell_at_limit, band, sells))
            plane.prefixes[i, r] = prefix
        plane.clamps[i] = (sells < band[BAND_CLOSE] / band[BAND_HIGH] - 1.0).sum()
    return plane


@compiled
def _count_below(price: float, factor: float, band: FloatArray, sells: FloatArray) -> int:
    """Return how many sell offsets, from the smallest, put level x factor below the price."""
    first, last = 0, len(sells)
    while first < last:
        middle = (first + last) // 2
        if price > _sell_level(band, sells[middle]) * factor:
            first = middle + 1
        else:
            last = middle
    return first


@compiled
def _add_long(parts: FloatArray, plane: Plane, i: int, buy: float) -> None:
    rates, n_sells = plane.rates, len(plane.sells)
    trigger = buy * (1.0 - rates.through)
    for r in range(plane.counts[i]):
        if plane.rungs[i, r, RUNG_LEVEL] < trigger:
            hit = plane.prefixes[i, r]
            clamped = min(plane.clamps[i], hit)
            factor = rates.sell_at_limit / buy
            high = plane.bands[i, BAND_HIGH] * factor
            at_reference = plane.bands[i, BAND_CLOSE] * factor
            at_close = plane.tape.windows[i, TAPE_CLOSE] * rates.sell_at_close / buy
            _add(parts, CONSTANT, 0, clamped, at_reference - rates.buy_at_limit)
            _add(parts, CONSTANT, clamped, hit, high - rates.buy_at_limit)
            _add(parts, LINEAR, clamped, hit, high)
            _add(parts, CONSTANT, hit, n_sells, at_close - rates.buy_at_limit)
            return


@compiled
def _add_short(parts: FloatArray, plane: Plane, i: int, buy: float) -> None:
    rates, first = plane.rates, 0
    for r in range(plane.counts[i]):
        last = plane.prefixes[i, r]
        if last <= first:
            continue
        outlay = plane.tape.windows[i, TAPE_CLOSE] * rates.buy_at_close
        if plane.rungs[i, r, RUNG_REACH] < buy * (1.0 - rates.through):
            at_limit = buy * rates.buy_at_limit
            is_undecided = plane.rungs[i, r, RUNG_UNDECIDED] > 0
            outlay = max(outlay, at_limit) if is_undecided else at_limit
        clamped = min(max(plane.clamps[i], first), last)
        share = outlay / plane.bands[i, BAND_HIGH]
        at_reference = outlay / plane.bands[i, BAND_CLOSE]
        _add(parts, CONSTANT, first, clamped, rates.sell_at_limit - at_reference)
        _add(parts, CONSTANT, clamped, last, rates.sell_at_limit - share)
        _add(parts, RATIO, clamped, last, share)
        first = last


@compiled
def _add(parts: FloatArray, row: int, first: int, last: int, value: float) -> None:
    parts[row, first] += value
    parts[row, last] -= value


@compiled
def _sum_row(parts: FloatArray, sells: FloatArray, row: FloatArray) -> None:
    constant, linear, ratio = 0.0, 0.0, 0.0
    for m in range(len(sells)):
        constant += parts[CONSTANT, m]
        linear += parts[LINEAR, m]
        ratio += parts[RATIO, m]
        row[m] = constant + linear * sells[m] + ratio * sells[m] / (1.0 + sells[m])


@compiled
def _best_pair(totals: FloatArray, buys: FloatArray, sells: FloatArray) -> tuple[int, int]:
    """Return the indices of the best pair: of equal totals the smallest offsets."""
    threshold = totals.max() - SAME
    best, best_size = (0, 0), np.inf
    for b in range(len(buys)):  # ascending, so that the smaller buy offset comes first
        for s in range(len(sells)):
            size = abs(buys[b]) + abs(sells[s])
            if totals[b, s] >= threshold and size < best_size:
                best, best_size = (b, s), size
    return best
