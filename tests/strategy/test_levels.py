"""Levels of the window at hand: formed like those of the history, refused by the same rules."""

from datetime import timedelta

import numpy as np
import pytest

from include.domain.bars import Timeframe
from include.domain.forecasts import Outlook
from include.strategy.levels import has_edge, live_levels, may_enter, worthwhile_sides
from include.strategy.maxdiff import MAXDIFF
from include.strategy.rule import forecasts_of
from tests.support.builders import WINDOW, a_history, a_scored_strategy


def outlook_of(history, i):
    """Return a window's forecast as the outlook that it was."""
    low, high = history.forecast_low[i], history.forecast_high[i]
    return Outlook(
        open=low, high=high, low=low, close=history.forecast_close[i], close_band=(low, high)
    )


@pytest.mark.parametrize("closes_at_eod", [True, False])
def test_live_levels_equal_those_of_the_history(closes_at_eod):
    """The same forecast gives bit-equal levels, whether it is scored or traded."""
    history = a_history(n=30)
    scored = a_scored_strategy(buy_offset=0.004, sell_offset=-0.006, closes_at_eod=closes_at_eod)
    forecasts = forecasts_of(history)
    sides = MAXDIFF.sides(forecasts, allow_short=True)
    buys, sells = MAXDIFF.levels(forecasts, buy_offset=0.004, sell_offset=-0.006)
    for i in range(30):
        live = live_levels(
            scored, MAXDIFF, outlook_of(history, i),
            reference_close=history.reference_close[i], allow_short=True,
        )  # fmt: skip
        entry, opposite = (buys[i], sells[i]) if sides[i] > 0 else (sells[i], buys[i])
        assert (live.side, live.entry) == (sides[i], entry)
        if closes_at_eod:
            assert np.isnan(live.take_profit)
            assert live.expected_exit == forecasts.close[i]
        else:
            assert live.take_profit == live.expected_exit == opposite


def test_no_side_has_no_levels():
    """A tie has side 0, NaN levels and an edge of 0."""
    tie = Outlook(open=100, high=102, low=98, close=100, close_band=(99, 101))
    levels = live_levels(
        a_scored_strategy(), MAXDIFF, tie, reference_close=100.0, allow_short=True
    )
    assert levels.side == 0
    assert np.isnan(levels.entry)
    assert levels.edge_fraction == 0.0


@pytest.mark.parametrize("closes_at_eod", [True, False])
def test_scoring_refuses_what_live_trading_refuses(closes_at_eod):
    """The edge gate over arrays agrees with the edge of each live plan."""
    history = a_history(n=200)
    forecasts = forecasts_of(history)
    sides = MAXDIFF.sides(forecasts, allow_short=True)
    levels = MAXDIFF.levels(forecasts, buy_offset=0.02, sell_offset=-0.02)
    kept = worthwhile_sides(
        sides, levels, forecasts, closes_at_eod=closes_at_eod,
        minimum_edge_fraction=0.01, minimum_pair_fraction=0.0,
    )  # fmt: skip
    scored = a_scored_strategy(buy_offset=0.02, sell_offset=-0.02, closes_at_eod=closes_at_eod)
    for i in range(200):
        live = live_levels(
            scored, MAXDIFF, outlook_of(history, i),
            reference_close=history.reference_close[i], allow_short=True,
        )  # fmt: skip
        is_worth = has_edge(live.side, live.entry, live.expected_exit, minimum_edge_fraction=0.01)
        assert (kept[i] != 0) == bool(is_worth and live.side != 0)
    assert 0 < np.count_nonzero(kept) < 200


def test_a_pair_too_close_is_dropped():
    """With take-profit S / B - 1 must reach the minimum; held to the close it need not."""
    history = a_history(n=50)
    forecasts = forecasts_of(history)
    sides = MAXDIFF.sides(forecasts, allow_short=True)
    levels = MAXDIFF.levels(forecasts, buy_offset=0.0, sell_offset=0.0)
    minimum = {"minimum_edge_fraction": -1.0, "minimum_pair_fraction": 0.04}
    kept = worthwhile_sides(sides, levels, forecasts, closes_at_eod=False, **minimum)
    np.testing.assert_array_equal(kept != 0, (levels[1] / levels[0] - 1 >= 0.04) & (sides != 0))
    held = worthwhile_sides(sides, levels, forecasts, closes_at_eod=True, **minimum)
    np.testing.assert_array_equal(held, sides)


def test_no_entry_starts_in_the_last_bar():
    """An entry may start until the last bar of the window begins, not at that instant."""
    last_bar = WINDOW.ends_at - timedelta(minutes=30)
    assert may_enter(WINDOW, last_bar - timedelta(seconds=1), Timeframe.MINUTE_30)
    assert not may_enter(WINDOW, last_bar, Timeframe.MINUTE_30)
    assert not may_enter(WINDOW, WINDOW.ends_at, Timeframe.MINUTE_30)


def test_a_window_of_one_bar_is_entered_at_its_opening():
    """In the daily system orders must stand when the window opens."""
    assert may_enter(WINDOW, WINDOW.opens_at, Timeframe.DAY)
    assert not may_enter(WINDOW, WINDOW.opens_at + timedelta(seconds=1), Timeframe.DAY)
