"""Buy and hold, and flat: the references beside every score."""

import numpy as np
import pytest

from include.strategy.buy_hold import buy_hold_returns, flat_returns
from tests.support.builders import a_history, free_costs, some_costs


def test_compounds_to_last_close_over_first_open():
    """Without costs the windows' returns multiply to what holding a share returned."""
    history = a_history(n=30)
    grown = np.prod(1 + buy_hold_returns(history, free_costs()))
    assert grown == pytest.approx(history.close[-1] / history.open[0])


def test_pays_for_its_two_trades_only():
    """Costs fall on the first window and the last; those between have none."""
    history = a_history(n=30)
    free, paid = (buy_hold_returns(history, costs) for costs in (free_costs(), some_costs()))
    assert paid[0] < free[0]
    assert paid[-1] < free[-1]
    np.testing.assert_array_equal(paid[1:-1], free[1:-1])


def test_flat_returns_nothing():
    """Flat is 0 per window; both references of no windows are empty."""
    nothing = a_history(n=3).take(slice(0, 0))
    assert not flat_returns(a_history(n=3)).any()
    assert len(buy_hold_returns(nothing, some_costs())) == len(flat_returns(nothing)) == 0
