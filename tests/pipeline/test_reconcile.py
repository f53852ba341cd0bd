"""Reconcile: the journal agrees with the venue afterwards, whatever happened in between."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from include.domain.cycles import Cycle, CycleRequest
from include.domain.orders import IntentState, OrderIntent
from include.errors import UnknownParameter, UnreconciledAccount
from include.pipeline.reconcile import begin_cycle, reconcile
from include.settings import settings_hash
from tests.support.builders import (
    AS_OF,
    WINDOW,
    a_desired_order,
    a_position,
    a_working_order,
    an_account,
)
from tests.support.builders_pipeline import SYMBOLS, World
from tests.support.fakes_broker import an_intent

LATER = AS_OF + timedelta(minutes=30)


def journalled(
    world: World, state: IntentState, *, is_at_venue: bool = True, cycle_id: str = "run-1"
) -> OrderIntent:
    """Begin a cycle and journal an order of it in a state, known to the venue or not."""
    cycle = world.begin(cycle_id)
    planned = an_intent(
        a_desired_order(cycle_id=cycle.cycle_id), state=IntentState.PLANNED, planned_at=AS_OF
    )
    order = world.broker.submit(planned) if is_at_venue else None
    with world.database.unit_of_work() as uow:
        stored = uow.orders.plan(planned)
        if state is not IntentState.PLANNED:
            stored = uow.orders.transition(planned.client_order_id, to=IntentState.SENT, at=AS_OF)
        if state not in (IntentState.PLANNED, IntentState.SENT):
            stored = uow.orders.transition(
                planned.client_order_id,
                to=state,
                at=AS_OF,
                venue_order_id=order.venue_order_id if order else None,
            )
        uow.commit()
    return stored


def row(world: World, intent: OrderIntent) -> OrderIntent:
    """Return the journal row as it now is."""
    with world.database.unit_of_work() as uow:
        found = uow.orders.by_client_order_id(intent.client_order_id)
    assert found is not None
    return found


def reconciled(world: World, cycle: Cycle) -> dict[str, int]:
    """Reconcile a cycle."""
    return reconcile(cycle=cycle, broker=world.broker, database=world.database)


def test_new_cycle_takes_its_instant_from_the_venue(world):
    """A cycle's `as_of` is the venue's clock, its symbols are the universe."""
    cycle = world.begin()
    assert (cycle.as_of, cycle.symbols) == (AS_OF, SYMBOLS)
    assert cycle.settings_hash == settings_hash(world.settings)
    with world.database.unit_of_work() as uow:
        assert uow.settings_versions.by_hash(cycle.settings_hash) is not None


def test_run_that_has_begun_keeps_its_first_instant(world):
    """The same run begun later is the stored cycle, not a new one."""
    first = world.begin()
    world.move_to(LATER)
    assert world.begin() == first


def test_symbol_outside_the_universe_begins_no_cycle(world):
    """An unknown symbol is refused by name, and no cycle is stored."""
    with pytest.raises(UnknownParameter, match="NVDA"):
        world.begin(request=CycleRequest(symbols=("NVDA",)))
    with world.database.unit_of_work() as uow:
        assert uow.cycles.latest() is None


@pytest.mark.parametrize("status", ["canceled", "expired"])
def test_order_that_ended_at_the_venue_ends_in_the_journal(world, status):
    """Cancels and expiries are booked with what had been filled before them."""
    intent = journalled(world, IntentState.ACKED)
    world.broker.fill(intent.client_order_id, Decimal(4))
    world.broker.set_status(intent.client_order_id, status)
    world.move_to(LATER)
    world.begin("run-2")
    stored = row(world, intent)
    assert (stored.state, stored.venue_status) == (IntentState.TERMINAL, status)
    assert stored.filled_quantity == 4


def test_fill_is_booked_with_its_position(world):
    """A filled order ends with quantity and price, and its fill and position are stored."""
    intent = journalled(world, IntentState.ACKED)
    world.broker.fill(intent.client_order_id, price=Decimal("98.90"))
    world.move_to(LATER)
    cycle = world.begin("run-2")
    stored = row(world, intent)
    assert (stored.state, stored.filled_average_price) == (IntentState.TERMINAL, Decimal("98.90"))
    with world.database.unit_of_work() as uow:
        assert [fill.quantity for fill in uow.orders.fills(AS_OF)] == [10]
        snapshot = uow.accounts.snapshot(cycle.cycle_id)
    assert snapshot is not None
    assert [(each.symbol, each.quantity) for each in snapshot[1]] == [("AAPL", 10)]


def test_reconciling_twice_changes_nothing(world):
    """The second run of a step finds no new fill and leaves row and events as they are."""
    intent = journalled(world, IntentState.ACKED)
    world.broker.fill(intent.client_order_id)
    cycle = world.begin("run-2")
    with world.database.unit_of_work() as uow:
        events = uow.orders.events(intent.client_order_id)
    assert reconciled(world, cycle)["fills"] == 0
    with world.database.unit_of_work() as uow:
        assert uow.orders.events(intent.client_order_id) == events


@pytest.mark.parametrize("state", [IntentState.SENT, IntentState.UNKNOWN])
def test_unanswered_order_that_the_venue_has_is_acknowledged(world, state):
    """An order whose answer never came is found by its id."""
    intent = journalled(world, state)
    world.begin("run-2")
    stored = row(world, intent)
    assert (stored.state, stored.venue_order_id) == (IntentState.ACKED, "venue-1")


def test_planned_row_of_an_older_cycle_was_never_sent(world):
    """A row that is only planned when another cycle begins is closed as never sent."""
    intent = journalled(world, IntentState.PLANNED, is_at_venue=False)
    world.move_to(LATER)
    world.begin("run-2")
    stored = row(world, intent)
    assert (stored.state, stored.venue_status) == (IntentState.TERMINAL, "never_sent")


def test_planned_row_of_the_same_cycle_waits_for_its_trade(world):
    """Reconciling a cycle again leaves the rows that its own trade step has begun."""
    intent = journalled(world, IntentState.PLANNED, is_at_venue=False)
    assert reconciled(world, world.begin())["unknown"] == 1
    assert row(world, intent).state is IntentState.PLANNED


@pytest.mark.parametrize("state", [IntentState.SENT, IntentState.UNKNOWN])
def test_sent_row_that_the_venue_lacks_is_unknown_until_its_window_ends(world, state):
    """It might still arrive: only the end of its window closes it, as absent."""
    intent = journalled(world, state, is_at_venue=False)
    world.move_to(WINDOW.ends_at - timedelta(minutes=1))
    world.begin("run-2")
    assert row(world, intent).state is IntentState.UNKNOWN
    world.move_to(WINDOW.ends_at)
    world.begin("run-3")
    stored = row(world, intent)
    assert (stored.state, stored.venue_status) == (IntentState.TERMINAL, "absent")


def test_foreign_orders_and_positions_are_stored_and_left_alone(world):
    """What others own is seen, and neither cancelled, nor closed, nor journalled."""
    world.broker.orders["by-hand"] = a_working_order(client_order_id="by-hand", symbol="TSLA")
    world.broker.held["TSLA"] = a_position(symbol="TSLA")
    cycle = world.run_cycle()
    with world.database.unit_of_work() as uow:
        assert "by-hand" in {each.client_order_id for each in uow.orders.working_orders()}
        assert uow.orders.by_client_order_id("by-hand") is None
        snapshot = uow.accounts.snapshot(cycle.cycle_id)
    assert snapshot is not None
    assert [each.symbol for each in snapshot[1]] == ["TSLA"]
    assert world.broker.cancels == []
    assert "TSLA" not in {each.symbol for each in world.stored(cycle)["desired"]}


def test_end_of_an_old_foreign_order_is_seen(world):
    """An order of long ago takes room while it works, and none once it has ended."""
    old = a_working_order(client_order_id="by-hand", submitted_at=AS_OF - timedelta(days=30))
    world.broker.orders["by-hand"] = old
    world.begin()
    assert working(world) == ["by-hand"]
    world.move_to(LATER)
    world.broker.set_status("by-hand", "canceled")
    world.begin("run-2")
    assert working(world) == []


def working(world: World) -> list[str]:
    """Return the client order ids of the stored orders that work."""
    with world.database.unit_of_work() as uow:
        return [each.client_order_id for each in uow.orders.working_orders()]


def test_blocked_account_stops_the_cycle_before_any_decision(world):
    """A blocked account is named with its status, and no snapshot is stored."""
    world.broker.venue_account = an_account(is_blocked=True, status="ACCOUNT_CLOSED")
    with pytest.raises(UnreconciledAccount, match=r"PA1.*ACCOUNT_CLOSED"):
        world.begin()
    with world.database.unit_of_work() as uow:
        assert uow.accounts.snapshot("run-1") is None


def test_new_account_starts_with_an_open_latch(world):
    """The first look at an account makes its latch, active; a set one stays set."""
    cycle = world.begin()
    with world.database.unit_of_work() as uow:
        assert uow.halts.state(cycle.account_id).state.value == "active"


def test_request_is_kept_with_its_cycle(world):
    """Symbols, force and dry run of a request are those of the stored cycle."""
    request = CycleRequest(symbols=("MSFT",), is_forced=True, is_dry_run=True)
    cycle = begin_cycle(
        run_id="asked",
        request=request,
        broker=world.broker,
        database=world.database,
        settings=world.settings,
    )
    with world.database.unit_of_work() as uow:
        assert uow.cycles.require("asked") == replace(cycle, request=request, symbols=("MSFT",))
