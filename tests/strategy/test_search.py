"""The exact search: never below any other pair, ties by rule, the candidates counted."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from include.strategy.kernel import window_returns
from include.strategy.maxdiff import MAXDIFF
from include.strategy.rule import forecasts_of
from include.strategy.search import OFFSET_BOUND, fit_exact
from tests.support.builders import a_history, free_costs, some_costs

STRICT = 1e-10


def total(history, sides, costs, *, buy_offsets, sell_offsets, closes_at_eod):
    """Return the total return of every pair of offsets, by the kernel alone."""
    forecasts = forecasts_of(history)
    pairs = [(b, s) for b in buy_offsets for s in sell_offsets]
    levels = [MAXDIFF.levels(forecasts, buy_offset=b, sell_offset=s) for b, s in pairs]
    buys, sells = (np.array([pair[k] for pair in levels]) for k in (0, 1))
    returns = window_returns(history, sides, buys, sells, costs, closes_at_eod=closes_at_eod)
    return returns.sum(axis=1)


def price_offsets(history, costs):
    """Return the offsets just beyond every price of every window, as buy and as sell."""
    prices = np.concatenate(
        [
            np.stack((history.open, history.high, history.low), axis=1),
            history.inner_open, history.inner_high, history.inner_low,
        ],
        axis=1,
    )  # fmt: skip
    k = costs.fill_buffer + costs.half_spread
    buys = (prices / ((1 - k) * history.forecast_low[:, None]) - 1 + STRICT).ravel()
    sells = (prices / ((1 + k) * history.forecast_high[:, None]) - 1 - STRICT).ravel()
    ends = np.array([-OFFSET_BOUND, 0.0, OFFSET_BOUND])
    return tuple(
        np.unique(np.concatenate((ends, found[np.abs(found) <= OFFSET_BOUND])))
        for found in (buys, sells)
    )


def sides_of(history, *, allow_short=True):
    """Return MaxDiff's sides of a history."""
    return MAXDIFF.sides(forecasts_of(history), allow_short=allow_short)


@pytest.mark.parametrize("closes_at_eod", [True, False])
@pytest.mark.parametrize(
    ("seed", "n", "n_inner"), [(1, 40, 13), (2, 60, 13), (3, 30, 0), (4, 25, 24), (5, 40, 1)]
)
def test_is_never_below_a_fine_grid(seed, n, n_inner, closes_at_eod):
    """No pair of a 201 x 201 grid over the bounds returns more than the fit."""
    history, costs = a_history(n=n, n_inner=n_inner, seed=seed, skill=0.2), some_costs()
    sides = sides_of(history)
    fit = fit_exact(history, sides, costs, closes_at_eod=closes_at_eod)
    grid = np.linspace(-OFFSET_BOUND, OFFSET_BOUND, 201)
    for part in np.array_split(grid, 20):
        totals = total(
            history, sides, costs, buy_offsets=part, sell_offsets=grid,
            closes_at_eod=closes_at_eod,
        )  # fmt: skip
        assert totals.max() <= fit.objective + 1e-9


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 6),
    n_inner=st.integers(0, 5),
    is_free=st.booleans(),
    closes_at_eod=st.booleans(),
    allow_short=st.booleans(),
)
@settings(max_examples=120, deadline=None)
def test_is_never_below_any_price_of_any_bar(
    seed, n, n_inner, is_free, closes_at_eod, allow_short
):
    """Offsets just beyond every open, high and low, in all pairs, return no more than the fit."""
    costs = free_costs() if is_free else some_costs()
    history = a_history(n=n, n_inner=n_inner, seed=seed, skill=0.3, steps=3)
    sides = sides_of(history, allow_short=allow_short)
    fit = fit_exact(history, sides, costs, closes_at_eod=closes_at_eod)
    buys, sells = price_offsets(history, costs)
    totals = total(
        history, sides, costs, buy_offsets=buys, sell_offsets=sells, closes_at_eod=closes_at_eod
    )
    assert totals.max() <= fit.objective + 1e-9


@given(seed=st.integers(0, 10_000), closes_at_eod=st.booleans(), n_inner=st.integers(0, 8))
@settings(max_examples=60, deadline=None)
def test_its_objective_is_the_kernels_total(seed, closes_at_eod, n_inner):
    """The running sums of the search add up to what the kernel says of the winner, to 1e-12."""
    history, costs = a_history(n=45, n_inner=n_inner, seed=seed, skill=0.2), some_costs()
    sides = sides_of(history)
    fit = fit_exact(history, sides, costs, closes_at_eod=closes_at_eod)
    (found,) = total(
        history, sides, costs, buy_offsets=[fit.buy_offset], sell_offsets=[fit.sell_offset],
        closes_at_eod=closes_at_eod,
    )  # fmt: skip
    assert found == pytest.approx(fit.objective, abs=1e-12)
    assert max(abs(fit.buy_offset), abs(fit.sell_offset)) <= OFFSET_BOUND


@pytest.mark.parametrize("closes_at_eod", [True, False])
def test_ties_go_to_the_smallest_offsets(closes_at_eod):
    """Where no pair changes anything the offsets stay 0."""
    history = a_history(n=20)
    fit = fit_exact(
        history, np.zeros(20, dtype=np.int64), some_costs(), closes_at_eod=closes_at_eod
    )
    assert (fit.buy_offset, fit.sell_offset, fit.objective) == (0.0, 0.0, 0.0)


def test_an_offset_that_no_window_depends_on_stays_zero():
    """Longs held to the close depend on the buy offset alone, so the sell offset is 0."""
    history = a_history(n=40, skill=0.3)
    sides = np.ones(40, dtype=np.int64)
    assert fit_exact(history, sides, some_costs(), closes_at_eod=True).sell_offset == 0.0


def test_counts_what_it_compared():
    """Held to the close the candidates add up, with take-profit every pair is one."""
    history = a_history(n=1, skill=0.5)
    sides = np.ones(1, dtype=np.int64)
    held = fit_exact(history, sides, free_costs(), closes_at_eod=True)
    paired = fit_exact(history, sides, free_costs(), closes_at_eod=False)
    assert 4 <= held.evaluations <= 5
    assert paired.evaluations >= 4


def test_windows_without_a_forecast_are_left_out():
    """NaN forecasts have side 0 and change nothing about the fit of the others."""
    history, costs = a_history(n=40, skill=0.2), some_costs()
    broken = np.arange(40) % 4 == 0
    with_gaps = replace(
        history,
        forecast_low=np.where(broken, np.nan, history.forecast_low),
        forecast_high=np.where(broken, np.nan, history.forecast_high),
    )
    for closes_at_eod in (True, False):
        gaps = fit_exact(with_gaps, sides_of(with_gaps), costs, closes_at_eod=closes_at_eod)
        kept = history.take(~broken)
        assert gaps == fit_exact(kept, sides_of(kept), costs, closes_at_eod=closes_at_eod)


def test_an_empty_history_has_offsets_of_zero():
    """No window, no candidates but the bounds and 0."""
    nothing = a_history(n=5).take(slice(0, 0))
    for closes_at_eod in (True, False):
        fit = fit_exact(
            nothing, np.empty(0, dtype=np.int64), some_costs(), closes_at_eod=closes_at_eod
        )
        assert (fit.buy_offset, fit.sell_offset) == (0.0, 0.0)
