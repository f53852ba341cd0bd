"""Ladders: the rung of a trigger says what a scan over the inner bars says."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from include.strategy.kernel import tape_of
from include.strategy.ladder import RUNG_LEVEL, RUNG_REACH, ladders
from tests.support.builders import a_history


def reach_by_scan(history, i, trigger):
    """Return the highest high that a buy filled below the trigger can still sell into."""
    lows, opens, highs = history.inner_low[i], history.inner_open[i], history.inner_high[i]
    entries = np.nonzero(lows < trigger)[0]
    if not len(entries):
        return None
    first = entries[0] if opens[entries[0]] < trigger else entries[0] + 1
    return highs[first:].max(initial=-np.inf)


@given(seed=st.integers(0, 500), n_inner=st.integers(1, 8))
@settings(deadline=None)
def test_the_rung_of_a_trigger_equals_a_scan(seed, n_inner):
    """For triggers at, above and below every price, entry and reach agree with a scan."""
    history = a_history(n=3, n_inner=n_inner, seed=seed, steps=3)
    rungs, counts = ladders(tape_of(history), np.ones(3, dtype=np.int64))
    for i in range(3):
        prices = np.concatenate((history.inner_open[i], history.inner_low[i]))
        for trigger in np.concatenate((prices, prices * 1.00001, prices * 0.99999)):
            mine = [rung for rung in rungs[i, : counts[i]] if rung[RUNG_LEVEL] < trigger]
            expected = reach_by_scan(history, i, trigger)
            assert (mine[0][RUNG_REACH] if mine else None) == expected


def test_thirteen_bars_have_few_rungs():
    """Only new lows and opens below them are rungs: on average fewer than seven of 26 prices."""
    history = a_history(n=500)
    _, counts = ladders(tape_of(history), np.ones(500, dtype=np.int64))
    assert counts.mean() < 7


def test_windows_without_a_side_have_none():
    """A side of 0 is not looked at."""
    _, counts = ladders(tape_of(a_history(n=4)), np.array([1, 0, -1, 0]))
    assert (counts > 0).tolist() == [True, False, True, False]
