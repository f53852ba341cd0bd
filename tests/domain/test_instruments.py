"""Instruments: prices and quantities rounded on the safe side."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from include.domain.instruments import position_symbol
from tests.support.builders import a_coin, an_instrument

PRICES = st.decimals("0.01", "100000", places=6)
QUANTITIES = st.decimals("0", "10000", places=6)


@pytest.mark.parametrize(("price", "tick"), [("1", "0.01"), ("0.9999", "0.0001"), ("250", "0.01")])
def test_the_tick_depends_on_the_price(price, tick):
    """Two decimals from 1 USD up, four below it."""
    assert an_instrument().tick_usd(Decimal(price)) == Decimal(tick)


def test_a_stated_increment_wins():
    """Crypto pairs trade in their own price increment."""
    coin = a_coin(price_increment_usd=Decimal("0.5"))
    assert coin.round_buy_price(Decimal("100.9")) == Decimal("100.5")
    assert coin.round_sell_price(Decimal("100.1")) == Decimal("100.5")


@given(price=PRICES)
def test_prices_are_multiples_of_the_tick_on_the_safe_side(price):
    """A buy never pays more than asked for, a sell never takes less."""
    for instrument in (an_instrument(), a_coin()):
        tick = instrument.tick_usd(price)
        buy, sell = instrument.round_buy_price(price), instrument.round_sell_price(price)
        assert buy <= price <= sell
        assert sell - buy <= tick
        assert buy % tick == sell % tick == 0


@given(quantity=QUANTITIES)
def test_quantities_are_never_rounded_up(quantity):
    """A multiple of the increment, at most what was asked for, 0 below the minimum."""
    coin = a_coin(minimum_quantity=Decimal("0.01"))
    rounded = coin.round_quantity(quantity)
    assert rounded <= quantity
    assert rounded == 0 or rounded >= coin.minimum_quantity
    assert rounded % coin.quantity_increment == 0


def test_positions_lose_the_slash():
    """BTC/USD is BTCUSD in positions; equities are spelt alike."""
    assert position_symbol("BTC/USD") == "BTCUSD"
    assert position_symbol("AAPL") == "AAPL"
