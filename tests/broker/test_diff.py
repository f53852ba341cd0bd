"""The difference between desired and working orders."""

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from include.broker.diff import OrderDiff, diff_orders
from include.domain.orders import (
    DesiredOrder,
    IntentState,
    Leg,
    OrderIntent,
    Side,
    TimeInForce,
)
from tests.support.builders import a_desired_order
from tests.support.fakes_broker import an_intent

FIVE_BPS = Decimal(5)

desired_orders = st.builds(
    a_desired_order,
    symbol=st.sampled_from(["AAPL", "MSFT", "BTC/USD"]),
    leg=st.sampled_from(list(Leg)),
    side=st.sampled_from(list(Side)),
    quantity=st.sampled_from([Decimal(5), Decimal(10)]),
    limit_price=st.sampled_from([None, Decimal("99.00"), Decimal("99.04"), Decimal("99.20")]),
    time_in_force=st.sampled_from(list(TimeInForce)),
)
working_states = st.sampled_from(list(IntentState))


@st.composite
def working_orders(draw, states=working_states):
    """Draw journal rows with distinct ids, part filled or not."""
    orders = draw(st.lists(desired_orders, max_size=6))
    return [
        an_intent(
            order,
            client_order_id=f"id-{index}",
            state=draw(states),
            filled_quantity=draw(st.sampled_from([Decimal(0), Decimal(5)])),
            quantity=order.quantity + 5,
            venue_status=draw(st.sampled_from([None, "new", "pending_cancel"])),
        )
        for index, order in enumerate(orders)
    ]


def diff(desired, working, **keywords) -> OrderDiff:
    """Diff with five basis points of tolerance."""
    return diff_orders(desired, working, tolerance_bps=FIVE_BPS, **keywords)


def applied(found: OrderDiff) -> list[OrderIntent]:
    """Return what works once the diff is done: the kept rows, and a fresh one per placed order."""
    kept = [intent for _, intent in found.keep]
    return kept + [
        an_intent(order, client_order_id=f"new-{index}") for index, order in enumerate(found.place)
    ]


@given(desired=st.lists(desired_orders, max_size=6), working=working_orders())
def test_nothing_is_both_kept_and_cancelled_and_nothing_is_lost(desired, working):
    """Each row is kept or cancelled at most once; each desired order is answered exactly once."""
    found = diff(desired, working)
    rows = [row.client_order_id for _, row in found.keep]
    rows += [row.client_order_id for row in found.cancel]
    assert len(rows) == len(set(rows))
    answered = [order for order, _ in found.keep] + list(found.place) + list(found.wait)
    assert sorted(map(id, answered)) == sorted(map(id, desired))


@given(desired=st.lists(desired_orders, max_size=6), working=working_orders())
def test_only_settled_working_rows_are_touched(desired, working):
    """Ended rows and rows in between are neither kept nor cancelled."""
    found = diff(desired, working)
    for row in [*found.cancel, *(row for _, row in found.keep)]:
        assert row.state is IntentState.ACKED
        assert row.venue_status != "pending_cancel"


@given(
    desired=st.lists(desired_orders, max_size=6),
    working=working_orders(st.just(IntentState.ACKED)),
)
def test_the_difference_of_the_reached_state_is_empty(desired, working):
    """Once done, a second diff keeps everything and does nothing."""
    settled = [replace(row, venue_status="new") for row in working]
    reached = applied(diff(desired, settled))
    again = diff(desired, reached)
    assert len(again.keep) == len(desired)
    assert (again.cancel, again.place, again.wait) == ((), (), ())


@given(desired=st.lists(desired_orders, max_size=6), working=working_orders())
def test_without_a_plan_nothing_is_touched(desired, working):
    """Symbols without a plan are neither cancelled nor placed."""
    found = diff(desired, working, untouched=frozenset({"AAPL", "MSFT", "BTC/USD"}))
    assert found == OrderDiff(keep=(), cancel=(), place=())


@given(desired=st.lists(desired_orders, max_size=6), working=working_orders())
def test_nothing_is_placed_beside_an_order_in_between(desired, working):
    """No order of a symbol and leg is placed while one of them has an unknown fate."""
    found = diff(desired, working)
    unknown = {
        (row.symbol, row.leg)
        for row in working
        if row.state in (IntentState.PLANNED, IntentState.SENT, IntentState.UNKNOWN)
    }
    assert not unknown & {(order.symbol, order.leg) for order in found.place}


@pytest.mark.parametrize(
    ("price", "is_kept"),
    [("100.00", True), ("100.05", True), ("99.95", True), ("100.06", False), ("99.94", False)],
)
def test_keeps_a_level_within_the_tolerance_inclusive(price, is_kept):
    """Five basis points of 100 USD are five cents."""
    working = an_intent(limit_price=Decimal("100.00"))
    found = diff([a_desired_order(limit_price=Decimal(price))], [working])
    assert (len(found.keep), len(found.cancel), len(found.place)) == (
        (1, 0, 0) if is_kept else (0, 1, 1)
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"symbol": "MSFT"},
        {"leg": Leg.EXIT},
        {"side": Side.SELL},
        {"quantity": Decimal(11)},
        {"limit_price": None},
        {"time_in_force": TimeInForce.IOC},
    ],
)
def test_any_other_difference_replaces_the_order(changes):
    """Symbol, leg, side, quantity, type and time in force must be the same to be kept."""
    wanted: DesiredOrder = replace(a_desired_order(), **changes)
    found = diff([wanted], [an_intent()])
    assert found.keep == ()
    assert len(found.cancel) == 1
    assert found.place == (wanted,)


def test_compares_with_what_remains_of_a_part_filled_order():
    """Ten with four filled serve a wish for six."""
    working = an_intent(filled_quantity=Decimal(4), venue_status="partially_filled")
    found = diff([a_desired_order(quantity=Decimal(6))], [working])
    assert found.keep == ((a_desired_order(quantity=Decimal(6)), working),)


def test_cancels_a_working_order_that_nobody_desires():
    """Of two equal working orders one is kept and the other cancelled."""
    first, second = an_intent(client_order_id="a"), an_intent(client_order_id="b")
    found = diff([a_desired_order()], [first, second])
    assert found.keep == ((a_desired_order(), first),)
    assert found.cancel == (second,)


@pytest.mark.parametrize(
    "in_between",
    [
        {"state": IntentState.UNKNOWN},
        {"state": IntentState.SENT},
        {"venue_status": "pending_cancel"},
    ],
)
def test_waits_for_an_order_in_between(in_between):
    """A wish for the same symbol and leg waits; another leg does not."""
    exit_order = a_desired_order(leg=Leg.EXIT, side=Side.SELL)
    found = diff([a_desired_order(), exit_order], [an_intent(**in_between)])
    assert found.wait == (a_desired_order(),)
    assert found.place == (exit_order,)
    assert found.cancel == ()
