"""Values of strategies: costs add up, windows can be chosen, edges have a sign."""

import numpy as np
import pytest

from tests.support.builders import a_history, a_scored_strategy, some_costs, some_levels


def test_a_round_trip_pays_every_part_once():
    """Maker, taker and sell fee, half spread and slippage; the buffer is no cost."""
    costs = some_costs()
    assert costs.round_trip == pytest.approx(0.0003 + 0.0005 + 0.0001 + 0.0002 + 0.0004)
    assert costs.through == pytest.approx(0.0005 + 0.0002)


def test_taking_windows_takes_every_array():
    """All arrays are cut alike; the history itself stays as it was."""
    history = a_history(n=10)
    taken = history.take(slice(2, 5))
    assert (len(taken), len(history)) == (3, 10)
    for name in history.__dataclass_fields__:
        whole = getattr(history, name)
        if isinstance(whole, np.ndarray):
            np.testing.assert_array_equal(getattr(taken, name), whole[2:5])


@pytest.mark.parametrize(
    ("levels", "edge"),
    [
        (some_levels(entry=100.0, expected_exit=102.0), 0.02),
        (some_levels(side=-1, entry=100.0, expected_exit=98.0), 0.02),
        (some_levels(side=-1, entry=100.0, expected_exit=102.0), -0.02),
        (some_levels(side=0), 0.0),
    ],
)
def test_an_edge_is_a_gain_on_the_plans_own_side(levels, edge):
    """Positive where the expected exit lies in the direction of the trade."""
    assert levels.edge_fraction == pytest.approx(edge)


def test_the_mean_of_nothing_is_unknown():
    """Without scored windows there is no mean."""
    assert np.isnan(a_scored_strategy(returns=np.empty(0)).mean_return)
