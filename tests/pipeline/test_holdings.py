"""Holdings: our part of what the venue holds, and the entry behind it."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from include.domain.orders import IntentState, Leg, Side
from include.pipeline.holdings import load_holdings, ours
from include.store.unit_of_work import UnitOfWork
from tests.support.builders import AS_OF, a_desired_order, a_position
from tests.support.builders_pipeline import a_cycle, a_holding
from tests.support.fakes_broker import an_intent

QUANTITIES = st.decimals(min_value=-1000, max_value=1000, places=4)


def filled(uow: UnitOfWork, filled_quantity: str, **changes) -> None:
    """Journal a filled order of the cycle, with its plan."""
    order = a_desired_order(**changes)
    intent = an_intent(order, state=IntentState.TERMINAL, filled_quantity=Decimal(filled_quantity))
    uow.orders.plan(intent)
    uow.strategies.save_desired(order.cycle_id, [order])


@given(position=QUANTITIES, net=QUANTITIES)
def test_our_part_is_never_more_than_either_and_never_on_the_other_side(position, net):
    """It is bounded by the venue's position and by our fills, and has their common sign."""
    part = ours(position, net)
    assert abs(part) == (min(abs(position), abs(net)) if position * net > 0 else 0)
    assert part * position >= 0


def test_fee_in_coins_leaves_less_than_was_filled(uow):
    """The venue's quantity counts where a fee has taken some of the coins."""
    uow.cycles.save(a_cycle())
    filled(uow, "3", symbol="BTC/USD", quantity=Decimal(3))
    position = a_position(symbol="BTC/USD", quantity="2.9925")
    holding = load_holdings(uow, a_cycle(), [position])["BTC/USD"]
    assert holding.quantity == Decimal("2.9925")


def test_shares_that_a_person_added_are_not_ours(uow):
    """Of a larger position only what our journal filled is ours to close."""
    uow.cycles.save(a_cycle())
    filled(uow, "10")
    holding = load_holdings(uow, a_cycle(), [a_position(quantity="25")])["AAPL"]
    assert holding.quantity == 10
    assert holding.take_profit_price == Decimal("102.00")


@pytest.mark.parametrize("quantity", ["25", "-25"])
def test_foreign_position_is_no_holding(uow, quantity):
    """A position that no entry of ours explains is nobody's to close."""
    uow.cycles.save(a_cycle())
    assert load_holdings(uow, a_cycle(), [a_position(quantity=quantity)]) == {}


def test_closed_trade_leaves_no_claim_on_a_foreign_position(uow):
    """After our exit has filled, a position that is still there belongs to another."""
    uow.cycles.save(a_cycle())
    filled(uow, "10")
    filled(uow, "10", leg=Leg.EXIT, side=Side.SELL)
    assert load_holdings(uow, a_cycle(), [a_position(quantity="10")]) == {}


def test_short_is_closed_by_a_buy():
    """The closing side is opposite to the position."""
    assert a_holding(quantity=Decimal(-3)).closing_side is Side.BUY
    assert a_holding(quantity=Decimal(3)).closing_side is Side.SELL


def test_take_profit_is_that_of_the_entrys_own_plan(uow):
    """A later cycle reads the level from the cycle that planned the entry."""
    uow.cycles.save(a_cycle())
    filled(uow, "10", take_profit_price=None)
    later = a_cycle(cycle_id="later", as_of=AS_OF)
    uow.cycles.save(later)
    assert load_holdings(uow, later, [a_position()])["AAPL"].take_profit_price is None
