from decimal import Decimal

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from include.exchange.quotes import quote_track

PRICES = st.lists(st.floats(min_value=0.02, max_value=60_000), min_size=1, max_size=50)


@given(PRICES, st.sampled_from(["0.01", "0.0001", "0.001"]), st.floats(0, 50))
def test_quotes_enclose_the_price_by_at_least_a_tick(prices, tick, spread_bps):
    """Bid is at most the price, ask at least, and they never touch."""
    track = quote_track(np.array(prices), tick=Decimal(tick), spread_bps=spread_bps)
    for minute, price in enumerate(prices):
        slack = float(tick) * 0.01
        assert float(track.bid(minute)) <= price + slack
        assert float(track.ask(minute)) >= price - slack
        assert track.ask(minute) - track.bid(minute) >= Decimal(tick)


@given(PRICES, st.decimals(min_value="0.02", max_value="60000", places=4))
def test_marketable_minutes_are_those_that_decimals_find(prices, limit):
    """Whole ticks decide as exact decimals would."""
    track = quote_track(np.array(prices), tick=Decimal("0.01"), spread_bps=2)
    minutes = range(len(prices))
    assert track.minutes_with_ask_up_to(limit).tolist() == [
        m for m in minutes if track.ask(m) <= limit
    ]
    assert track.minutes_with_bid_from(limit).tolist() == [
        m for m in minutes if track.bid(m) >= limit
    ]
