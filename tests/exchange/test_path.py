from datetime import date, timedelta

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from include.exchange.path import minute_path
from include.exchange.sources import DailyBar

PRICES = st.floats(min_value=0.01, max_value=50_000, allow_nan=False)
DAY = date(2010, 3, 8)


@st.composite
def daily_bars(draw):
    """Any bar whose high and low enclose open and close, with any number of decimals."""
    low, opening, close, high = (draw(PRICES) for _ in range(4))
    return DailyBar(
        session_date=DAY + timedelta(days=draw(st.integers(0, 400))),
        open=opening,
        close=close,
        high=max(low, opening, close, high),
        low=min(low, opening, close, high),
        volume=draw(st.integers(0, 10**10)),
    )


@settings(deadline=None, max_examples=150)
@given(
    bar=daily_bars(),
    n_minutes=st.sampled_from([4, 210, 390, 1440]),
    decimals=st.sampled_from([2, 3, 4]),
    seed=st.integers(0, 2**40),
)
def test_minutes_aggregate_to_the_daily_bar_exactly(bar, n_minutes, decimals, seed):
    """First is open, last is close, extremes are high and low, volumes sum: to the last bit."""
    path = minute_path(bar, n_minutes=n_minutes, decimals=decimals, seed=seed, symbol="ABC")
    assert len(path.prices) == len(path.volumes) == n_minutes
    assert (path.prices[0], path.prices[-1]) == (bar.open, bar.close)
    assert (path.prices.max(), path.prices.min()) == (bar.high, bar.low)
    assert int(path.volumes.sum()) == bar.volume
    assert int(path.volumes.min()) >= 0


def test_path_depends_on_seed_symbol_and_date_alone():
    """The same three give the same minutes; each of them changes them."""
    bar = DailyBar(session_date=DAY, open=10.0, high=11.0, low=9.0, close=10.5, volume=10_000)
    tomorrow = DailyBar(
        session_date=DAY + timedelta(days=1), open=10.0, high=11.0, low=9.0, close=10.5, volume=1
    )

    def prices(of, *, seed=1, symbol="ABC"):
        return minute_path(of, n_minutes=390, decimals=2, seed=seed, symbol=symbol).prices

    first = prices(bar)
    assert np.array_equal(first, prices(bar))
    for other in (prices(bar, seed=2), prices(bar, symbol="ABD"), prices(tomorrow)):
        assert not np.array_equal(first, other)


def test_path_wanders_over_the_whole_range():
    """The day is more than its four prices: many distinct levels, and no jump across the range."""
    bar = DailyBar(session_date=DAY, open=40.0, high=41.0, low=39.0, close=40.5, volume=10**6)
    prices = minute_path(bar, n_minutes=390, decimals=2, seed=5, symbol="ABC").prices
    assert len(np.unique(prices)) > 60
    assert np.abs(np.diff(prices)).max() < 0.5
