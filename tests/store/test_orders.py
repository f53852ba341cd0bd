"""The order journal, and orders and fills as the venue reports them."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from include.domain.orders import (
    Fill,
    IntentState,
    Leg,
    OrderIntent,
    Side,
    Standing,
    TimeInForce,
)
from include.errors import ConflictingWrite, UnknownRow
from include.store.records import OrderEvent
from tests.support.builders import AS_OF, WINDOW, a_working_order

LATER = AS_OF + timedelta(minutes=1)
OPENS = WINDOW.opens_at


def an_intent(**overrides) -> OrderIntent:
    """Return the planned entry of 10 shares at 99 USD."""
    intent = OrderIntent(
        client_order_id="client-1",
        cycle_id="cycle",
        account_id="A",
        symbol="AAPL",
        leg=Leg.ENTRY_LONG,
        side=Side.BUY,
        quantity=Decimal(10),
        limit_price=Decimal("99.00"),
        time_in_force=TimeInForce.DAY,
        window_opens_at=WINDOW.opens_at,
        window_ends_at=WINDOW.ends_at,
        revision=0,
        standing=Standing.PROVEN,
        strategy="maxdiff",
        planned_at=AS_OF,
    )
    return replace(intent, **overrides)


def a_fill(**overrides) -> Fill:
    """Return a buy of 4 shares at 99 USD."""
    fill = Fill(
        fill_id="fill-1",
        venue_order_id="venue-1",
        symbol="AAPL",
        side=Side.BUY,
        quantity=Decimal(4),
        price=Decimal("98.995"),
        filled_at=AS_OF,
    )
    return replace(fill, **overrides)


MONEY = st.decimals(allow_nan=False, allow_infinity=False, min_value=0, max_value=10**9, places=9)


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],  # each example rolls back
)
@given(
    quantity=MONEY,
    limit_price=st.none() | MONEY,
    filled_average_price=st.none() | MONEY,
    leg=st.sampled_from(Leg),
    side=st.sampled_from(Side),
    state=st.sampled_from(IntentState),
    sent_at=st.none() | st.just(LATER),
)
def test_any_intent_comes_back_as_it_was(database, **fields):
    """Money keeps its digits, words their enums and instants their microseconds."""
    intent = an_intent(**fields)
    with database.unit_of_work() as uow:
        assert uow.orders.plan(intent) is intent
        found = uow.orders.by_client_order_id("client-1")
    assert found == intent
    assert found.quantity.as_tuple().exponent == intent.quantity.as_tuple().exponent


def test_planning_an_id_twice_gives_the_stored_row(uow):
    """A task that runs twice derives the same id and finds what it wrote."""
    uow.orders.plan(an_intent())
    uow.orders.transition("client-1", to=IntentState.SENT, at=AS_OF)
    stored = uow.orders.plan(an_intent(quantity=Decimal(99)))
    assert stored == an_intent(state=IntentState.SENT, sent_at=AS_OF)
    assert len(uow.orders.by_cycle("cycle")) == 1


def test_one_leg_and_revision_has_one_id(uow):
    """Two ids for the same account, window, symbol, leg and revision are refused."""
    uow.orders.plan(an_intent())
    with pytest.raises(ConflictingWrite, match=r"order_intents .*account_id"):
        uow.orders.plan(an_intent(client_order_id="client-2"))


def test_revisions_count_the_rows_of_a_leg_in_its_window(uow):
    """Another window, symbol, leg or account begins at zero."""
    uow.orders.plan(an_intent())
    uow.orders.plan(an_intent(client_order_id="client-2", revision=1))
    assert uow.orders.next_revision("A", OPENS, "AAPL", Leg.ENTRY_LONG) == 2
    assert uow.orders.next_revision("A", OPENS, "AAPL", Leg.EXIT) == 0
    assert uow.orders.next_revision("A", OPENS, "BA", Leg.ENTRY_LONG) == 0
    assert uow.orders.next_revision("A", WINDOW.ends_at, "AAPL", Leg.ENTRY_LONG) == 0
    assert uow.orders.next_revision("B", OPENS, "AAPL", Leg.ENTRY_LONG) == 0


def test_intents_are_found_by_cycle_window_and_desired_order(uow):
    """Rows come in the order of planning; for a desired order the newest counts."""
    first, second = an_intent(), an_intent(client_order_id="client-2", revision=1)
    other = an_intent(client_order_id="client-3", cycle_id="next", symbol="BA")
    for intent in (first, second, other):
        uow.orders.plan(intent)
    assert uow.orders.by_cycle("cycle") == [first, second]
    assert uow.orders.for_desired("cycle", "AAPL", Leg.ENTRY_LONG) == second
    assert uow.orders.for_desired("cycle", "AAPL", Leg.EXIT) is None
    assert uow.orders.intents_of_window("A", OPENS, "AAPL") == [first, second]
    assert uow.orders.by_client_order_id("none") is None


def test_open_intents_leave_out_what_has_ended(uow):
    """Planned, sent, unknown and acknowledged rows are open; rejected and terminal are not."""
    for place, state in enumerate(IntentState):
        uow.orders.plan(an_intent(client_order_id=state.value, revision=place, state=state))
    uow.orders.plan(an_intent(client_order_id="B", account_id="B"))
    found = [intent.client_order_id for intent in uow.orders.open_intents("A")]
    assert found == ["planned", "sent", "unknown", "acked"]


def test_net_filled_is_bought_less_sold_per_symbol(uow):
    """What the journal booked of our own orders, whatever state they are in."""
    filled = (("client-1", Side.BUY, 10), ("client-2", Side.SELL, 4), ("client-3", Side.BUY, 0))
    for place, (name, side, quantity) in enumerate(filled):
        intent = an_intent(client_order_id=name, revision=place, side=side)
        uow.orders.plan(replace(intent, filled_quantity=Decimal(quantity)))
    uow.orders.plan(an_intent(client_order_id="B", account_id="B", filled_quantity=Decimal(99)))
    assert uow.orders.net_filled("A", ["AAPL", "BA"]) == {"AAPL": Decimal(6)}


def test_newest_filled_entry_of_a_symbol_is_the_last_planned_with_a_fill(uow):
    """Exits and entries of which nothing was filled do not count."""
    for place, (leg, quantity) in enumerate(
        [(Leg.ENTRY_LONG, 5), (Leg.ENTRY_SHORT, 3), (Leg.ENTRY_LONG, 0), (Leg.EXIT, 3)]
    ):
        intent = an_intent(client_order_id=f"client-{place}", leg=leg, revision=place)
        uow.orders.plan(replace(intent, filled_quantity=Decimal(quantity)))
    found = uow.orders.newest_filled_entries("A", ["AAPL", "BA"])
    assert {symbol: intent.client_order_id for symbol, intent in found.items()} == {
        "AAPL": "client-1"
    }


def test_transitions_change_the_row_and_leave_an_event_each(uow):
    """The journal tells when each state was reached and what the venue said."""
    uow.orders.plan(an_intent())
    uow.orders.transition("client-1", to=IntentState.SENT, at=AS_OF)
    uow.orders.transition("client-1", to=IntentState.UNKNOWN, at=LATER, detail="timed out")
    after = uow.orders.transition(
        "client-1",
        to=IntentState.ACKED,
        at=LATER,
        venue_order_id="venue-1",
        venue_status="partially_filled",
        filled_quantity=Decimal(4),
        filled_average_price=Decimal("98.995"),
    )
    assert after == an_intent(
        state=IntentState.ACKED,
        venue_order_id="venue-1",
        venue_status="partially_filled",
        filled_quantity=Decimal(4),
        filled_average_price=Decimal("98.995"),
        sent_at=AS_OF,
    )
    assert uow.orders.by_client_order_id("client-1") == after
    states = [(event.from_state, event.to_state) for event in uow.orders.events("client-1")]
    assert states == [("planned", "sent"), ("sent", "unknown"), ("unknown", "acked")]
    assert uow.orders.events("client-1")[1] == OrderEvent(
        client_order_id="client-1",
        at=LATER,
        from_state=IntentState.SENT,
        to_state=IntentState.UNKNOWN,
        venue_status=None,
        detail="timed out",
    )


def test_report_without_news_leaves_no_event(uow):
    """Reconciling twice is reconciling once."""
    uow.orders.plan(an_intent())
    uow.orders.transition("client-1", to=IntentState.SENT, at=AS_OF)
    for at in (AS_OF, LATER):
        uow.orders.transition("client-1", to=IntentState.ACKED, at=at, venue_status="new")
    assert len(uow.orders.events("client-1")) == 2


def test_illegal_transition_is_refused_and_changes_nothing(uow):
    """A row that was never sent can't be acknowledged."""
    uow.orders.plan(an_intent())
    with pytest.raises(
        ConflictingWrite, match=r"Order intent client-1 .*planned can't become ack"
    ):
        uow.orders.transition("client-1", to=IntentState.ACKED, at=LATER)
    assert uow.orders.by_client_order_id("client-1") == an_intent()
    assert uow.orders.events("client-1") == []


def test_transition_of_an_unknown_id_is_refused(uow):
    """An order that the journal never planned has no row to change."""
    with pytest.raises(UnknownRow, match="No order intent has the key none"):
        uow.orders.transition("none", to=IntentState.SENT, at=AS_OF)


def test_two_reports_of_one_order_are_applied_one_after_the_other(database):
    """The second waits for the first to commit and sees what it wrote."""
    with database.unit_of_work() as uow:
        uow.orders.plan(an_intent(state=IntentState.ACKED))
        uow.commit()
    with ThreadPoolExecutor(1) as pool, database.unit_of_work() as first:
        first.orders.transition(
            "client-1", to=IntentState.ACKED, at=AS_OF, filled_quantity=Decimal(5)
        )
        stale = pool.submit(_report_fill, database, Decimal(3))
        with pytest.raises(TimeoutError):
            stale.result(timeout=0.2)
        first.commit()
        with pytest.raises(ConflictingWrite, match="would fall from 5 to 3"):
            stale.result(timeout=10)


def _report_fill(database, quantity):
    with database.unit_of_work() as uow:
        uow.orders.transition("client-1", to=IntentState.ACKED, at=LATER, filled_quantity=quantity)
        uow.commit()


def test_orders_are_replaced_by_newer_reports_only(uow):
    """A report that was overtaken never takes the place of a newer one."""
    order = a_working_order()
    filled = replace(order, status="filled", filled_quantity=Decimal(10), updated_at=LATER)
    uow.orders.save_orders([order, a_working_order(venue_order_id="venue-2", symbol="BA")], AS_OF)
    assert [found.venue_order_id for found in uow.orders.working_orders()] == [
        "venue-1",
        "venue-2",
    ]
    assert uow.orders.working_orders(["AAPL"]) == [order]
    uow.orders.save_orders([filled], LATER)
    uow.orders.save_orders([order], LATER)
    assert uow.orders.working_orders(["AAPL"]) == []


def test_order_with_unknown_words_comes_back_as_it_was(uow):
    """The venue's own words are kept, whatever they are, and a missing quantity stays missing."""
    odd = a_working_order(order_type="trailing_stop", status="held", quantity=None)
    uow.orders.save_orders([odd], AS_OF)
    assert uow.orders.working_orders() == [odd]


def test_fills_are_stored_once(uow):
    """Overlapping pages of fills count each one once."""
    first, second = a_fill(), a_fill(fill_id="fill-2", filled_at=LATER)
    assert uow.orders.newest_fill_at() is None
    assert uow.orders.save_fills([first]) == 1
    assert uow.orders.save_fills([first, second, second]) == 1
    assert uow.orders.save_fills([]) == 0
    assert uow.orders.fills(AS_OF) == [first, second]
    assert uow.orders.fills(LATER) == [second]
    assert uow.orders.newest_fill_at() == LATER
