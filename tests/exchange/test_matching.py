"""The rule of fills on a day whose minutes are known: far side on arrival, limit afterwards."""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from uuid import UUID

import numpy as np
import pytest

from include.exchange.assets import crypto, equity
from include.exchange.instants import MINUTE
from include.exchange.matching import Match, fee_of, first_match
from include.exchange.orders import ZERO, Order, OrderSide, OrderStatus, OrderType, TimeInForce
from include.exchange.quotes import quote_track
from include.exchange.tape import TapeDay, TapeMinute

STOCK = equity("ABC", "Abc")
COIN = crypto("BTC/USD", "Bitcoin / US Dollar", price_increment="0.01")
OPEN = 1_000 * MINUTE
PRICES = np.array([10.00, 9.90, 9.80, 9.70, 10.30])


class OneDay:
    """A tape of one day of five minutes, with quotes of one tick: bid at the price, ask above."""

    def __init__(self) -> None:
        self.day = TapeDay(
            session_date=date(2010, 3, 8),
            start=OPEN,
            prices=PRICES,
            volumes=np.full(5, 100),
            quotes=quote_track(PRICES, tick=Decimal("0.01"), spread_bps=0),
        )

    def begun_between(self, symbol, after, until):
        """The minutes of the day in a span."""
        minutes = range(self.day.n_visible(after), self.day.n_visible(until))
        return iter([(self.day, minutes)] if minutes else [])


def an_order(**changes):
    """A day limit to buy one share at 9.85, placed in the first minute."""
    order = Order(
        sequence=1,
        order_id=UUID(int=1),
        client_order_id="x",
        symbol="ABC",
        side=OrderSide.BUY,
        order_type=OrderType.LIMIT,
        time_in_force=TimeInForce.DAY,
        quantity=Decimal(1),
        notional_usd=None,
        limit_price=Decimal("9.85"),
        extended_hours=False,
        position_intent="buy_to_open",
        expected_quantity=Decimal(1),
        reserve_price_usd=Decimal("9.85"),
        status=OrderStatus.NEW,
        submitted_at=OPEN,
        updated_at=OPEN,
        expires_at=OPEN + 390 * MINUTE,
    )
    return replace(order, **changes)


def match_of(order, asset=STOCK):
    """Where and at what price the order fills."""
    until = OPEN + 10 * MINUTE
    return first_match(order, asset, OneDay(), after=order.submitted_at, until=until)


def minute_and_price(match):
    """The minute of the day and the price of a match."""
    return (match.instant - OPEN) // MINUTE, str(match.price)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, (2, "9.85")),
        ({"limit_price": Decimal("9.95")}, (1, "9.91")),
        ({"submitted_at": OPEN + 30}, (2, "9.85")),
        ({"submitted_at": OPEN + MINUTE}, (2, "9.81")),
        ({"order_type": OrderType.MARKET, "limit_price": None}, (1, "9.91")),
        ({"side": OrderSide.SELL, "limit_price": Decimal("10.2")}, (4, "10.2")),
        ({"side": OrderSide.SELL, "limit_price": Decimal("9.9")}, (1, "9.90")),
    ],
)
def test_far_side_on_arrival_and_limit_afterwards(changes, expected):
    """An order marketable in its first minute takes the quote; a resting one gets its limit."""
    assert minute_and_price(match_of(an_order(**changes))) == expected


def test_gap_at_the_open_is_taken_at_the_quote():
    """A buy that rested overnight above the opening ask pays that ask, not its limit."""
    overnight = an_order(limit_price=Decimal(12), submitted_at=OPEN - 900 * MINUTE)
    assert minute_and_price(match_of(overnight)) == (0, "10.01")


def test_immediate_order_has_one_minute():
    """Not marketable in its first minute, it is cancelled there."""
    match = match_of(an_order(time_in_force=TimeInForce.IOC))
    assert (match.instant, match.price) == (OPEN + MINUTE, None)


def test_limit_never_reached_does_not_match():
    """Without a marketable minute nothing happens."""
    assert match_of(an_order(limit_price=Decimal(9))) is None


def test_maker_pays_less_than_taker_and_equities_nothing():
    """15 bps to make, 25 bps to take, in coins for a buyer and USD for a seller."""
    taken = Match(instant=OPEN, price=Decimal(1_000))
    made = replace(taken, takes_liquidity=False)
    coins, seller = an_order(symbol="BTC/USD"), an_order(side=OrderSide.SELL)
    assert fee_of(coins, COIN, taken, Decimal(1)).quantity == Decimal("0.0025")
    assert fee_of(coins, COIN, made, Decimal(1)).quantity == Decimal("0.0015")
    assert fee_of(seller, COIN, taken, Decimal(1)).usd == Decimal("2.50")
    assert fee_of(coins, STOCK, taken, Decimal(1)).quantity == ZERO


def test_minute_shows_the_quote_that_fills():
    """What a client is shown of a minute is what an order pays in it."""
    minute = TapeMinute(day=OneDay().day, minute=1)
    assert (minute.bid, minute.ask, minute.price) == (
        Decimal("9.90"),
        Decimal("9.91"),
        Decimal("9.9"),
    )
