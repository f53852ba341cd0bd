"""MaxDiff: the worked example, the side, and the levels' places."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from include.domain.forecasts import Outlook
from include.strategy.maxdiff import MAXDIFF
from include.strategy.rule import forecast_of, forecasts_of, is_valid
from tests.support.builders import a_history


def forecast(high=103.0, low=98.0, close=101.0, reference_close=100.0):
    """Return the forecast of one window."""
    outlook = Outlook(open=100.0, high=high, low=low, close=close, close_band=(low, high))
    return forecast_of(outlook, reference_close=reference_close)


def test_the_worked_example_of_its_docstring():
    """P 100, PH 103, PL 98 with offsets of 0.5 % and -1 % is a long from 98.49 to 101.97."""
    given_forecast = forecast()
    assert MAXDIFF.sides(given_forecast, allow_short=True)[0] == 1
    buys, sells = MAXDIFF.levels(given_forecast, buy_offset=0.005, sell_offset=-0.01)
    assert (buys[0], sells[0]) == (pytest.approx(98.49), pytest.approx(101.97))


@pytest.mark.parametrize(
    ("high", "low", "allow_short", "side"),
    [(103, 98, True, 1), (102, 97, True, -1), (102, 97, False, 0), (102, 98, True, 0)],
)
def test_takes_the_wider_side(high, low, allow_short, side):
    """Up beats down: long; down beats up: short where allowed; a tie: nothing."""
    sides = MAXDIFF.sides(forecast(high=high, low=low, close=100), allow_short=allow_short)
    assert sides[0] == side


@pytest.mark.parametrize(
    "broken",
    [
        {"high": float("nan")},
        {"low": 0.0},
        {"high": 100.0, "low": 100.0, "close": 100.0},
        {"high": 101.0, "close": 103.0},  # its own close is 2 % above its high
        {"low": 104.5, "close": 104.5},
    ],
)
def test_an_invalid_forecast_has_no_side(broken):
    """NaN, non-positive, zero band, or a projection of more than 1 % of P: side 0."""
    assert MAXDIFF.sides(forecast(**broken), allow_short=True)[0] == 0


def test_a_small_contradiction_is_projected():
    """A close slightly above the high becomes the high, and the forecast stays usable."""
    projected = forecast(high=102.0, close=102.5)
    assert projected.high[0] == 102.5
    assert is_valid(projected)[0]


@given(buy=st.floats(-0.03, 0.03), sell=st.floats(-0.03, 0.03), seed=st.integers(0, 50))
def test_levels_lie_on_their_sides_of_the_reference_close(buy, sell, seed):
    """B is never above P and S never below it."""
    forecasts = forecasts_of(a_history(n=10, n_inner=1, seed=seed))
    buys, sells = MAXDIFF.levels(forecasts, buy_offset=buy, sell_offset=sell)
    assert (buys <= forecasts.reference_close).all()
    assert (sells >= forecasts.reference_close).all()


def test_does_not_change_the_forecasts_it_is_given():
    """Sides and levels leave their input as it was."""
    history = a_history(n=5, n_inner=1)
    before = history.forecast_high.copy()
    MAXDIFF.levels(forecasts_of(history), buy_offset=0.01, sell_offset=0.01)
    np.testing.assert_array_equal(history.forecast_high, before)
