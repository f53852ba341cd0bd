"""Exits: at the take-profit inside the window, to the market at its end, never while closed."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from include.domain.instruments import AssetClass
from include.domain.orders import IntentState, Leg, Side, TimeInForce
from include.pipeline.exits import exit_order
from tests.support.builders import AS_OF, WINDOW, a_coin, a_quote
from tests.support.builders_pipeline import World, a_cycle, a_holding, a_situation

LEVEL = Decimal("102.00")
LAST_DECISION = WINDOW.ends_at - timedelta(minutes=30)


def order_at(instant, *, take_profit=LEVEL, holding=None, **changes):
    """Return the exit of a holding at an instant."""
    return exit_order(
        holding or a_holding(),
        a_situation(**changes),
        a_cycle(as_of=instant),
        take_profit=take_profit,
    )


def test_holding_rests_at_its_take_profit_inside_the_window():
    """Before the last decision of the window the exit is a limit for the day at the level."""
    order = order_at(LAST_DECISION - timedelta(seconds=1))
    assert order is not None
    assert (order.leg, order.side, order.quantity) == (Leg.EXIT, Side.SELL, 10)
    assert (order.limit_price, order.time_in_force) == (LEVEL, TimeInForce.DAY)


def test_holding_without_a_level_is_held_to_the_last_decision():
    """A policy that closes at the end sends nothing before it."""
    assert order_at(AS_OF, take_profit=None) is None
    order = order_at(LAST_DECISION, take_profit=None)
    assert order is not None
    assert order.leg is Leg.FLATTEN


@pytest.mark.parametrize("late", [timedelta(0), timedelta(minutes=29), timedelta(days=1)])
def test_holding_is_flattened_from_the_last_decision_on_and_ever_after(late):
    """At and after the last decision the limit reaches past the bid, so that it fills."""
    order = order_at(LAST_DECISION + late)
    assert order is not None
    assert (order.leg, order.limit_price) == (Leg.FLATTEN, Decimal("99.89"))


def test_short_is_bought_back_above_the_ask():
    """The marketable limit of a short lies above the ask, rounded up."""
    order = order_at(LAST_DECISION, holding=a_holding(quantity=Decimal(-10)))
    assert order is not None
    assert (order.side, order.quantity, order.limit_price) == (Side.BUY, 10, Decimal("100.12"))


@pytest.mark.parametrize(
    "changes",
    [
        {"window": None},
        {"quote": None},
        {"instrument": None},
        {"quote": a_quote(bid=0.0)},
        {"quote": a_quote(bid=float("nan"))},
        {"quote": a_quote(bid=101.0, ask=99.0)},
    ],
)
def test_nothing_is_sent_into_a_closed_market_or_without_a_readable_quote(changes):
    """Where the market is closed or the quote has no two sides in order, the holding stays."""
    assert order_at(LAST_DECISION, **changes) is None


def test_dust_below_the_smallest_quantity_stays():
    """What rounds to nothing is not sent."""
    coin = a_coin()
    holding = a_holding(symbol="BTC/USD", quantity=Decimal("0.00009"))
    assert order_at(LAST_DECISION, holding=holding, instrument=coin) is None


def test_coins_work_until_cancelled_and_leave_an_hour_before_the_day_ends():
    """Crypto exits are good till cancelled; their last decision is an hour before midnight."""
    coin = {"instrument": a_coin(), "asset_class": AssetClass.CRYPTO, "symbol": "BTC/USD"}
    holding = a_holding(symbol="BTC/USD", quantity=Decimal("2.99255"))
    hour_before = WINDOW.ends_at - timedelta(hours=1)
    resting = order_at(hour_before - timedelta(seconds=1), holding=holding, **coin)
    leaving = order_at(hour_before, holding=holding, **coin)
    assert resting is not None
    assert leaving is not None
    assert (resting.time_in_force, resting.quantity) == (TimeInForce.GTC, Decimal("2.9925"))
    assert leaving.leg is Leg.FLATTEN


def test_filled_entry_leads_to_an_exit_of_what_the_venue_holds(world: World):
    """The cycle after a fill rests an exit at the entry's level, for the venue's quantity."""
    first = world.run_cycle()
    entry = next(each for each in world.stored(first)["intents"] if each.symbol == "AAPL")
    desired = next(each for each in world.stored(first)["desired"] if each.symbol == "AAPL")
    world.broker.fill(entry.client_order_id)
    held = world.broker.held["AAPL"]
    world.broker.held["AAPL"] = replace(held, quantity=held.quantity - 1)
    world.move_to(AS_OF + timedelta(minutes=10))
    (exit_intent,) = world.stored(world.run_cycle("run-2"))["intents"]
    assert (exit_intent.leg, exit_intent.side) == (Leg.EXIT, Side.SELL)
    assert exit_intent.quantity == entry.quantity - 1
    assert exit_intent.limit_price == desired.take_profit_price
    assert exit_intent.state is IntentState.ACKED


def test_holding_of_an_ended_window_waits_for_the_open_and_leaves_then(world: World):
    """Overnight nothing is sent; the next session's first cycle flattens what was left."""
    entry = next(
        each for each in world.stored(world.run_cycle())["intents"] if each.symbol == "AAPL"
    )
    world.broker.fill(entry.client_order_id)
    world.move_to(entry.window_ends_at + timedelta(hours=1))
    night = world.stored(world.run_cycle("run-2"))["intents"]
    assert "AAPL" not in {each.symbol for each in night}
    world.move_to(AS_OF + timedelta(days=3))
    monday = world.stored(world.run_cycle("run-3"))["intents"]
    assert [each.leg for each in monday if each.symbol == "AAPL"] == [Leg.FLATTEN]
