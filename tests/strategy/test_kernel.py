"""The trade kernel: equal to the slow reference, and every rule of fills by itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from include.domain.strategies import WindowHistory
from include.strategy.kernel import window_returns
from tests.strategy.reference_kernel import reference_return
from tests.support.builders import a_history, free_costs, some_costs

PRICES = st.integers(min_value=94, max_value=106)


def history_of(ticks: list[list[list[float]]], *, shows_inner: bool = True) -> WindowHistory:
    """Return windows whose bars hold the given ticks; a short window's missing bars are NaN."""
    widest = max(len(window) for window in ticks)
    inner = np.full((3, len(ticks), widest), np.nan)
    whole = []
    for i, window in enumerate(ticks):
        for j, bar in enumerate(window):
            inner[:, i, j] = bar[0], max(bar), min(bar)
        every = [tick for bar in window for tick in bar]
        whole.append((every[0], max(every), min(every), every[-1]))
    n, first = len(ticks), np.array(whole, dtype=float)
    shown = inner if shows_inner else inner[:, :, :0]
    return WindowHistory(
        symbol="AAPL", opens_at=np.arange(n), reference_close=np.full(n, 100.0),
        open=first[:, 0], high=first[:, 1], low=first[:, 2], close=first[:, 3],
        forecast_high=np.full(n, 103.0), forecast_low=np.full(n, 98.0),
        forecast_close=np.full(n, 101.0),
        inner_open=shown[0], inner_high=shown[1], inner_low=shown[2],
    )  # fmt: skip


def one_return(ticks, *, side=1, buy=99.0, sell=101.0, closes_at_eod=False, shows_inner=True):
    """Return what one window of ticks returns, free of costs."""
    history = history_of([ticks], shows_inner=shows_inner)
    return window_returns(
        history, np.array([side]), np.array([buy]), np.array([sell]), free_costs(),
        closes_at_eod=closes_at_eod,
    )[0]  # fmt: skip


bars = st.lists(st.lists(PRICES, min_size=1, max_size=4), min_size=1, max_size=5)


@given(
    ticks=st.lists(bars, min_size=1, max_size=5),
    side=st.sampled_from([-1, 0, 1]),
    levels=st.tuples(PRICES, PRICES).map(sorted),
    is_free=st.booleans(),
    closes_at_eod=st.booleans(),
    shows_inner=st.booleans(),
)
@settings(deadline=None)
def test_equals_the_slow_reference(ticks, side, levels, is_free, closes_at_eod, shows_inner):
    """The compiled kernel equals plain Python to 1e-12, exact touches included."""
    history = history_of(ticks, shows_inner=shows_inner)
    costs = free_costs() if is_free else some_costs()
    buy, sell = (float(level) for level in levels)
    n = len(history)
    found = window_returns(
        history, np.full(n, side), np.full(n, buy), np.full(n, sell), costs,
        closes_at_eod=closes_at_eod,
    )  # fmt: skip
    expected = [
        reference_return(
            history, i, side=side, buy=buy, sell=sell, costs=costs, closes_at_eod=closes_at_eod
        )
        for i in range(n)
    ]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_inner", [0, 1, 13])
def test_equals_the_slow_reference_on_random_walks(n_inner):
    """Realistic prices agree as well, for both sides and both exit policies."""
    history, costs = a_history(n=300, n_inner=n_inner), some_costs()
    sides = np.where(np.arange(300) % 2, 1, -1)
    buys, sells = history.reference_close * 0.995, history.reference_close * 1.005
    for closes_at_eod in (True, False):
        found = window_returns(history, sides, buys, sells, costs, closes_at_eod=closes_at_eod)
        expected = [
            reference_return(
                history, i, side=sides[i], buy=buys[i], sell=sells[i], costs=costs,
                closes_at_eod=closes_at_eod,
            )
            for i in range(300)
        ]  # fmt: skip
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
        assert np.count_nonzero(found) > 100


def test_touching_is_not_filling():
    """A low exactly at the buy level leaves the window without a trade and without a fee."""
    assert one_return([[100, 99, 102]]) == 0.0


def test_fills_at_the_limit_even_where_the_open_gapped_through_it():
    """No improvement is credited: entry at 99 although the window opened at 95."""
    assert one_return([[95, 96]], closes_at_eod=True) == pytest.approx(96 / 99 - 1)


@pytest.mark.parametrize(
    ("ticks", "exit_price"),
    [
        ([[100, 98], [100, 102], [100, 100]], 101.0),  # entry first, take-profit later
        ([[100, 102], [100, 98], [100, 100]], 100.0),  # take-profit's price came too early
        ([[100, 98, 102], [100, 100]], 100.0),  # the bar of the entry does not count
        ([[98, 102], [100, 100]], 101.0),  # unless the entry filled at its open
    ],
)
def test_inner_bars_decide_the_order(ticks, exit_price):
    """The take-profit counts after the entry's bar, and in it only from a fill at its open."""
    assert one_return(ticks) == pytest.approx(exit_price / 99 - 1)


@pytest.mark.parametrize(("close", "exit_price"), [(100, 100.0), (104, 101.0)])
def test_counts_the_worse_exit_where_no_inner_bar_decides(close, exit_price):
    """Without inner bars a window that holds both levels exits at the worse of the two."""
    ticks = [[100, 98, 105, close]]
    assert one_return(ticks, shows_inner=False) == pytest.approx(exit_price / 99 - 1)


def test_a_short_is_the_mirror_image():
    """A short enters at the sell level and takes profit at the buy level, on entry notional."""
    found = one_return([[100, 102], [100, 98], [100, 100]], side=-1)
    assert found == pytest.approx(1 - 99 / 101)


def test_charges_both_sides():
    """Fees, spread and slippage are paid as trading.md 4.2 writes them."""
    costs, history = some_costs(), history_of([[[100, 98, 100]]])
    found = window_returns(
        history, np.array([1]), np.array([99.0]), np.array([101.0]), costs, closes_at_eod=True
    )
    sold = 100 * (1 - costs.half_spread - costs.slippage) * (1 - costs.taker_fee - costs.sell_fee)
    assert found[0] == pytest.approx(sold / 99 - (1 + costs.maker_fee), abs=1e-15)


def test_rows_of_candidates_are_independent():
    """Levels of shape (c, n) give what c calls give."""
    history, costs = a_history(n=40), some_costs()
    sides = np.ones(40, dtype=np.int64)
    buys = history.reference_close * np.array([[0.99], [0.995], [1.0]])
    sells = history.reference_close * np.array([[1.01], [1.005], [1.002]])
    together = window_returns(history, sides, buys, sells, costs, closes_at_eod=False)
    for row, buy, sell in zip(together, buys, sells, strict=True):
        alone = window_returns(history, sides, buy, sell, costs, closes_at_eod=False)
        np.testing.assert_array_equal(row, alone)


def test_nothing_is_traded_on_missing_levels():
    """NaN levels never fill, whatever the side."""
    history = a_history(n=10)
    nothing = np.full(10, np.nan)
    for side in (-1, 1):
        returns = window_returns(
            history, np.full(10, side), nothing, nothing, some_costs(), closes_at_eod=False
        )
        assert not returns.any()
