"""The ladder of a window: every way in which an entry can fill, and how far the price got after.

A buy fills in the first inner bar that trades below its trigger, so only bars that set a new low
can be that bar, and it fills at that bar's open only if the open itself was a new low. These few
rungs are all the thresholds that the order of inner bars adds to a search: between two of them
the entry's bar, and so the best price after it, is the same. Of 26 opens and lows about 6 are.
A sell's ladder is the mirror image: prices negated, highs and lows swapped.
"""

import numpy as np
from numpy.typing import NDArray

from include.strategy.compiled import compiled
from include.strategy.kernel import TAPE_HIGH, TAPE_LOW, TAPE_OPEN, Tape

# columns of a rung: the price that the trigger must lie beyond, the extreme on the exit's side
# from then on, and 1 where the order of the two is unknown
RUNG_LEVEL, RUNG_REACH, RUNG_UNDECIDED = range(3)


@compiled
def ladders(tape: Tape, sides: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return rungs (n, 2k + 2, 3) in the order of time, and how many each window has.

    The entry of a trigger is the first rung beyond whose level the trigger lies: level < trigger
    for a buy, level > trigger for a sell. Windows without a side have none.
    """
    n, k = tape.inner.shape[0], tape.inner.shape[1]
    rungs = np.empty((n, 2 * k + 2, 3))
    counts = np.zeros(n, dtype=np.int64)
    for i in range(n):
        if sides[i] != 0:
            sign = 1.0 if sides[i] > 0 else -1.0
            counts[i] = _fill_ladder(sign, tape.windows[i], tape.inner[i], rungs[i])
    return rungs, counts


@compiled
def _fill_ladder(
    sign: float,
    window: NDArray[np.float64],
    inner: NDArray[np.float64],
    rungs: NDArray[np.float64],
) -> int:
    enter, leave = (TAPE_LOW, TAPE_HIGH) if sign > 0 else (TAPE_HIGH, TAPE_LOW)
    reaches = _reaches(sign, inner[:, leave])
    count, extreme = 0, np.inf
    for j in range(inner.shape[0]):
        if sign * inner[j, enter] < extreme:
            opened, extreme_before = sign * inner[j, TAPE_OPEN], extreme
            extreme = sign * inner[j, enter]
            if opened < extreme_before:
                count = _add(rungs, count, sign * opened, reaches[j], 0.0)
            if extreme < opened or not opened < extreme_before:
                count = _add(rungs, count, sign * extreme, reaches[j + 1], 0.0)
    if sign * window[enter] < extreme:  # no inner bar shows how the window got there
        if sign * window[TAPE_OPEN] < extreme:
            count = _add(rungs, count, window[TAPE_OPEN], window[leave], 0.0)
        count = _add(rungs, count, window[enter], window[leave], 1.0)
    return count


@compiled
def _reaches(sign: float, exits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each bar the extreme on the exit's side from it on, shape (k + 1,)."""
    reaches = np.empty(len(exits) + 1)
    reaches[-1] = -sign * np.inf
    for j in range(len(exits) - 1, -1, -1):
        is_further = sign * exits[j] > sign * reaches[j + 1]
        reaches[j] = exits[j] if is_further else reaches[j + 1]
    return reaches


@compiled
def _add(
    rungs: NDArray[np.float64], count: int, level: float, reach: float, undecided: float
) -> int:
    rungs[count, RUNG_LEVEL] = level
    rungs[count, RUNG_REACH] = reach
    rungs[count, RUNG_UNDECIDED] = undecided
    return count + 1
