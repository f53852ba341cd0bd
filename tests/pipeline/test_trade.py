"""Trade: journal first, each order once, and nothing where nothing may be sent."""

import threading
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from typing import TypeVar

import pytest

from include.domain.bars import Timeframe
from include.domain.cycles import Cycle, CycleRequest
from include.domain.halts import HaltState
from include.domain.orders import IntentState, Leg, Order, OrderIntent, Side
from include.errors import UnknownRow
from include.pipeline.trade import TradeSummary
from include.store.unit_of_work import Database
from tests.support.builders import AS_OF, a_working_order
from tests.support.builders_pipeline import World, a_world
from tests.support.fakes_broker import FakeBroker, Fault

B = TypeVar("B", bound=FakeBroker)
LATER = AS_OF + timedelta(minutes=90)


class PowerCut(BaseException):
    """The process is gone: nothing of ours may catch it."""


@dataclass(kw_only=True)
class WatchfulBroker(FakeBroker):
    """Looks into the journal when an order arrives."""

    database: Database
    states: list[IntentState | None] = field(default_factory=list)

    def submit(self, intent: OrderIntent) -> Order:
        """Note the committed state of the order's row, then accept it."""
        with self.database.unit_of_work() as uow:
            row = uow.orders.by_client_order_id(intent.client_order_id)
        self.states.append(row.state if row else None)
        return super().submit(intent)


@dataclass(kw_only=True)
class DyingBroker(FakeBroker):
    """Cuts the power at the order of a number, before or after the venue has accepted it."""

    at_order: int = 1
    is_accepted: bool = False

    def submit(self, intent: OrderIntent) -> Order:
        """Accept orders until the power is cut."""
        if len(self.submissions) + 1 != self.at_order:
            return super().submit(intent)
        if self.is_accepted:
            super().submit(intent)
        self.at_order = 0
        raise PowerCut


@dataclass(kw_only=True)
class SlowBroker(FakeBroker):
    """Takes its time to end an order."""

    def cancel(self, venue_order_id: str) -> bool:
        """Say pending_cancel, and no more."""
        self.cancels.append(venue_order_id)
        for order in self.open_orders():
            if order.venue_order_id == venue_order_id:
                self.set_status(order.client_order_id, "pending_cancel")
        return True


def with_broker(world: World, kind: type[B], **changes) -> B:
    """Replace the world's broker by one of another kind in the same state."""
    broker = kind(**vars(world.broker), **changes)
    world.broker = broker
    return broker


def intents_of(world: World, cycle: Cycle) -> list[OrderIntent]:
    """Return the journal rows that a cycle planned."""
    with world.database.unit_of_work() as uow:
        return uow.orders.by_cycle(cycle.cycle_id)


def denials_of(world: World, cycle: Cycle) -> dict[str, str]:
    """Return the reasons of a cycle's denials by symbol."""
    with world.database.unit_of_work() as uow:
        return {each.symbol: each.reason for each in uow.strategies.denials(cycle.cycle_id)}


def halt(world: World, cycle: Cycle) -> None:
    """Set the latch of the cycle's account."""
    with world.database.unit_of_work() as uow:
        uow.halts.set(cycle.account_id, HaltState.HALTED, "by hand", "tester", cycle.as_of)
        uow.commit()


def test_journal_row_is_committed_before_the_order_leaves(world):
    """When an order reaches the venue, its row stands in the store as sent."""
    broker = with_broker(world, WatchfulBroker, database=world.database)
    world.trade(world.plan_orders())
    assert broker.states == [IntentState.SENT] * 3


def test_lost_answer_is_found_by_id(world):
    """An order whose answer was lost after acceptance is found, and is at the venue once."""
    cycle = world.plan_orders()
    world.broker.faults.append(Fault.LOST_ANSWER)
    assert world.trade(cycle) == TradeSummary(placed=3)
    assert len(world.broker.orders) == len(world.broker.submissions) == 3
    assert {each.state for each in intents_of(world, cycle)} == {IntentState.ACKED}


def test_lost_order_stays_unknown_and_is_sent_again_with_its_id(world):
    """A retry of the cycle sends an order that never arrived once more, under the same id."""
    cycle = world.plan_orders()
    world.broker.faults.append(Fault.LOST_ORDER)
    assert world.trade(cycle) == TradeSummary(placed=2, unknown=1)
    lost = world.broker.submissions[0]
    states = {each.client_order_id: each.state for each in intents_of(world, cycle)}
    assert states[lost] is IntentState.UNKNOWN
    world.trade(cycle)
    world.trade(cycle)
    assert world.broker.submissions.count(lost) == 2
    assert len(world.broker.submissions) == 4
    assert set(world.broker.orders) == set(states)


def test_rejection_is_stored_with_the_words_of_the_venue(world):
    """A definite no ends the row, keeps the venue's text, and is not tried again."""
    cycle = world.plan_orders()
    world.broker.faults.append(Fault.REJECTED)
    assert world.trade(cycle) == TradeSummary(placed=2, rejected=1)
    world.trade(cycle)
    assert len(world.broker.submissions) == 3
    with world.database.unit_of_work() as uow:
        last = uow.orders.events(world.broker.submissions[0])[-1]
    assert last.to_state is IntentState.REJECTED
    assert "insufficient buying power" in last.detail


@pytest.mark.parametrize(
    ("at_order", "is_accepted"), [(1, False), (1, True), (3, False), (3, True)]
)
def test_death_at_any_order_leaves_exactly_one_of_each(world, at_order, is_accepted):
    """A process that dies before the call or before its answer is repaired by trading again."""
    cycle = world.plan_orders()
    with_broker(world, DyingBroker, at_order=at_order, is_accepted=is_accepted)
    with pytest.raises(PowerCut):
        world.trade(cycle)
    world.trade(cycle)
    intents = intents_of(world, cycle)
    assert {each.client_order_id for each in intents} == set(world.broker.orders)
    assert [each.state for each in intents] == [IntentState.ACKED] * 3


@pytest.mark.parametrize("is_accepted", [False, True])
def test_death_is_repaired_by_the_next_cycle_too(world, is_accepted):
    """A cycle that nobody retries leaves at most one order of each leg once the next has run."""
    cycle = world.plan_cycle()
    with_broker(world, DyingBroker, at_order=2, is_accepted=is_accepted)
    with pytest.raises(PowerCut):
        world.trade(cycle)
    world.move_to(AS_OF + timedelta(minutes=10))
    world.run_cycle("run-2")
    working = [order.symbol for order in world.broker.open_orders()]
    assert len(working) == len(set(working))
    with world.database.unit_of_work() as uow:
        journal = uow.orders.open_intents(cycle.account_id)
    assert set(world.broker.orders) <= {each.client_order_id for each in journal}


def test_superseded_cycle_sends_nothing(world):
    """A cycle after which another has begun leaves trading to it."""
    cycle = world.plan_orders()
    world.move_to(AS_OF + timedelta(minutes=1))
    world.begin("run-2")
    assert world.trade(cycle) == TradeSummary(superseded=1)
    assert world.broker.submissions == []


def test_dry_run_sends_nothing(world):
    """A dry run plans orders, and neither journals nor sends one."""
    cycle = world.run_cycle(request=CycleRequest(is_dry_run=True))
    assert len(world.stored(cycle)["desired"]) == 3
    assert intents_of(world, cycle) == []
    assert world.broker.submissions == []


def test_halted_account_sends_nothing_and_says_so(world):
    """A set latch stores a denial for every order, and none is journalled."""
    cycle = world.plan_orders()
    halt(world, cycle)
    assert world.trade(cycle) == TradeSummary(denied=3)
    assert set(denials_of(world, cycle).values()) == {"halted"}
    assert (intents_of(world, cycle), world.broker.submissions) == ([], [])


def test_latch_that_is_being_set_is_waited_for(world):
    """Trading waits for a latch that another transaction is setting, and then obeys it."""
    cycle = world.plan_orders()
    trading = threading.Thread(target=world.trade, args=(cycle,))
    with world.database.unit_of_work() as uow:
        uow.halts.set(cycle.account_id, HaltState.HALTED, "by hand", "tester", cycle.as_of)
        trading.start()
        trading.join(timeout=0.3)
        assert trading.is_alive()
        uow.commit()
    trading.join()
    assert world.broker.submissions == []


def test_cycle_that_was_never_planned_is_refused(world):
    """Absence of a plan never trades: not even a cancel."""
    world.run_cycle()
    world.move_to(LATER)
    cycle = world.begin("run-2")
    with pytest.raises(UnknownRow, match="plan of desired orders"):
        world.trade(cycle)
    assert world.broker.cancels == []


def test_order_denied_by_a_cap_stays_denied_when_trade_runs_again(database, make_settings):
    """A retry does not send what the cap refused beside orders that have been sent since."""
    world = a_world(database, make_settings(PORTFOLIO__MAX_ORDERS_PER_CYCLE="2"))
    cycle = world.plan_orders()
    assert world.trade(cycle) == TradeSummary(placed=2, denied=1)
    denied = denials_of(world, cycle)
    assert list(denied.values()) == ["orders_per_cycle"]
    world.trade(cycle)
    assert len(world.broker.submissions) == 2
    assert denials_of(world, cycle) == denied


def test_orders_within_tolerance_are_left_alone(world):
    """A second cycle that wants the same orders keeps them and calls the venue for none."""
    world.run_cycle()
    world.move_to(AS_OF + timedelta(minutes=10))
    assert world.trade(world.plan_cycle("run-2")) == TradeSummary(kept=3)
    assert len(world.broker.submissions) == 3
    assert world.broker.cancels == []


def test_changed_level_is_a_cancel_and_a_new_revision(world):
    """An order at another level ends before its successor is sent under an id of its own."""
    first = world.run_cycle()
    world.move_to(LATER)
    second = world.run_cycle("run-2")
    old = {each.symbol: each for each in intents_of(world, first)}
    new = {each.symbol: each for each in intents_of(world, second)}
    assert (old["MSFT"].state, old["MSFT"].venue_status) == (IntentState.TERMINAL, "canceled")
    assert (old["MSFT"].revision, new["MSFT"].revision) == (0, 1)
    assert new["MSFT"].state is IntentState.ACKED


def test_nothing_is_sent_beside_an_order_that_is_still_ending(world):
    """Where a cancel is not final yet, the successor is denied until a later cycle."""
    world.run_cycle()
    with_broker(world, SlowBroker)
    world.move_to(LATER)
    cycle = world.run_cycle("run-2")
    denied = denials_of(world, cycle)
    assert denied["MSFT"] == denied["AAPL"] == "order_unsettled"
    assert len(world.broker.submissions) == 3
    world.trade(cycle)
    assert len(world.broker.submissions) == 3


def test_unknown_order_locks_entries_on_either_side(world):
    """While an entry's fate is unknown, no other entry of its symbol is sent in its window."""
    first = world.plan_cycle()
    world.broker.faults.append(Fault.LOST_ORDER)
    world.trade(first)
    lost = world.broker.submissions[0]
    assert next(each for each in intents_of(world, first)).symbol == "AAPL"
    world.move_to(LATER)
    second = world.run_cycle("run-2")
    desired = next(each for each in world.stored(second)["desired"] if each.symbol == "AAPL")
    assert desired.leg is Leg.ENTRY_SHORT
    assert denials_of(world, second)["AAPL"] == "order_unsettled"
    assert lost not in world.broker.orders


def test_order_that_was_cancelled_for_it_does_not_block_the_other_side(world):
    """A buy that has just been ended is no wash trade for the sell that replaces it."""
    first = world.run_cycle()
    buy = next(each for each in intents_of(world, first) if each.symbol == "AAPL")
    world.move_to(LATER)
    second = world.plan_cycle("run-2")
    desired = next(each for each in world.stored(second)["desired"] if each.symbol == "AAPL")
    assert (buy.side, desired.side) == (Side.BUY, Side.SELL)
    rest = replace(
        world.broker.orders[buy.client_order_id], limit_price=desired.limit_price + Decimal("0.01")
    )
    with world.database.unit_of_work() as uow:
        uow.orders.save_orders([rest], seen_at=LATER)
        uow.commit()
    world.trade(second)
    assert "AAPL" not in denials_of(world, second)


def test_orders_of_others_are_never_cancelled(world):
    """An order that no journal row explains works on."""
    foreign = a_working_order(client_order_id="by-hand", venue_order_id="foreign")
    world.broker.orders["by-hand"] = foreign
    world.run_cycle()
    world.move_to(LATER)
    world.run_cycle("run-2")
    assert "foreign" not in world.broker.cancels
    assert world.broker.orders["by-hand"].status == "new"


def test_blocked_symbol_keeps_its_order_until_its_window_has_ended(world):
    """Bad data cancels nothing inside the window; after it, the order is cancelled."""
    first = world.run_cycle()
    order = next(each for each in intents_of(world, first) if each.symbol == "BTC/USD")
    world.move_to(LATER)
    world.quotes.quotes.pop("BTC/USD")
    world.run_cycle("run-2")
    assert order.venue_order_id not in world.broker.cancels
    world.move_to(order.window_ends_at)
    world.quotes.quotes.pop("BTC/USD")
    world.run_cycle("run-3")
    assert order.venue_order_id in world.broker.cancels


def test_blocked_symbol_is_flattened_in_place_of_its_resting_exit(world):
    """A holding whose bars are refused still leaves with its window: exits need no forecast."""
    first = world.run_cycle()
    entry = next(each for each in intents_of(world, first) if each.symbol == "AAPL")
    world.broker.fill(entry.client_order_id)
    world.move_to(AS_OF + timedelta(minutes=10))
    second = world.run_cycle("run-2")
    resting = intents_of(world, second)[0]
    assert resting.leg is Leg.EXIT
    world.bars.add(world.bars.series["AAPL", Timeframe.MINUTE_30].closed_by(second.as_of))
    world.move_to(entry.window_ends_at - timedelta(minutes=30))
    third = world.run_cycle("run-3")
    assert world.stored(third)["decisions"]["AAPL"].detail.startswith("stale")
    assert resting.venue_order_id in world.broker.cancels
    assert [each.leg for each in intents_of(world, third) if each.symbol == "AAPL"] == [
        Leg.FLATTEN
    ]


def test_exit_leaves_before_entries(world):
    """The order that closes a holding is sent ahead of every entry."""
    first = world.run_cycle()
    entry = next(each for each in intents_of(world, first) if each.symbol == "MSFT")
    world.broker.fill(entry.client_order_id)
    world.move_to(entry.window_ends_at - timedelta(minutes=30))
    sent = len(world.broker.submissions)
    third = world.run_cycle("run-2", CycleRequest(is_forced=True))
    legs = {each.client_order_id: each.leg for each in intents_of(world, third)}
    assert legs[world.broker.submissions[sent]] is Leg.FLATTEN
