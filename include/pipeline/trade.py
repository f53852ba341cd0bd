"""Trade: bring the working orders to the desired ones. Journal row first, then the call.

Nothing else talks to the order endpoint. A second run of the same cycle sends nothing again: each
desired order has one journal row, and the row's id is a function of what it is for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from include.broker.diff import LEAVING_STATUSES, UNSETTLED_STATES, OrderDiff, diff_orders
from include.broker.ports import Broker
from include.domain.cycles import Cycle
from include.domain.orders import (
    DesiredOrder,
    IntentState,
    OrderIntent,
    client_order_id,
)
from include.domain.strategies import Denied
from include.errors import OrderRejected, OrderStateUnknown, UnknownRow
from include.pipeline.reconcile import settle_intent
from include.pipeline.risk import allowed_orders
from include.pipeline.stages import recorded_stage
from include.pipeline.wiring.broker import open_broker
from include.pipeline.wiring.store import open_database
from include.settings import Settings, load_settings
from include.store.unit_of_work import Database, UnitOfWork


@dataclass(frozen=True, kw_only=True)
class TradeSummary:
    """What a cycle's trade step did; counts of orders."""

    placed: int = 0
    kept: int = 0
    cancelled: int = 0
    denied: int = 0
    rejected: int = 0
    unknown: int = 0
    superseded: int = 0


def trade(*, cycle: Cycle, broker: Broker, database: Database, settings: Settings) -> TradeSummary:
    """Cancel, keep and place until the venue has what the cycle asked for.

    Order of work: cancels, exits, then entries. Raise UnknownRow where the cycle was never
    optimised: absence of a plan never trades.
    """
    with database.unit_of_work() as uow:
        if not uow.strategies.is_planned(cycle.cycle_id):
            raise UnknownRow(kind="plan of desired orders", key=cycle.cycle_id)
        if not uow.cycles.is_newest(cycle.cycle_id):
            return TradeSummary(superseded=1)
    if cycle.request.is_dry_run:
        return TradeSummary()
    diff = _difference(cycle, database, settings)
    cancelled, pending = _cancel(diff.cancel, cycle, broker, database)
    pending |= {order.symbol for order in diff.wait}
    intents, denials = _plan([*diff.place, *diff.wait], pending, cycle, database, settings)
    outcomes = [_send(intent, cycle, broker, database) for intent in intents]
    return TradeSummary(
        placed=sum(state in (IntentState.ACKED, IntentState.TERMINAL) for state in outcomes),
        kept=len(diff.keep),
        cancelled=cancelled,
        denied=len(denials),
        rejected=outcomes.count(IntentState.REJECTED),
        unknown=outcomes.count(IntentState.UNKNOWN),
    )


def run(*, run_id: str) -> dict[str, int]:
    """Trade a cycle; return counts."""
    settings, database = load_settings(), open_database()
    with database.unit_of_work() as uow:
        cycle = uow.cycles.require(run_id)
        done_before = [
            stage.detail for stage in uow.cycles.stages(run_id) if stage.stage == "trade"
        ]
    with recorded_stage(database, cycle_id=run_id, stage="trade") as detail:
        summary = trade(
            cycle=cycle, broker=open_broker(settings), database=database, settings=settings
        )
        detail.update(done_before[0] if done_before else vars(summary))
    return dict(vars(summary))


def _difference(cycle: Cycle, database: Database, settings: Settings) -> OrderDiff:
    """Compare desired with working orders; symbols that the cycle has no plan for stay as is.

    A plan is a choice, or an order: a holding is closed without a choice too. Orders of a window
    that has ended are cancelled whoever planned them. Rows that this cycle has begun and not
    settled are resumed, so they don't count as working.
    """
    with database.unit_of_work() as uow:
        desired = uow.strategies.desired(cycle.cycle_id)
        working = [
            intent
            for intent in uow.orders.open_intents(cycle.account_id)
            if intent.cycle_id != cycle.cycle_id or intent.state not in UNSETTLED_STATES
        ]
        choices = uow.strategies.choices(cycle.cycle_id)
    planned_symbols = {choice.symbol for choice in choices} | {each.symbol for each in desired}
    untouched = {
        intent.symbol
        for intent in working
        if intent.symbol not in planned_symbols and cycle.as_of < intent.window_ends_at
    }
    diff = diff_orders(
        desired,
        working,
        tolerance_bps=Decimal(str(settings.portfolio.level_tolerance_bps)),
        untouched=frozenset(untouched),
    )
    return _locked(diff, working)


def _locked(diff: OrderDiff, working: Sequence[OrderIntent]) -> OrderDiff:
    """Let entries wait for every order of their symbol whose fate is unknown, of any leg."""
    symbols = {
        intent.symbol
        for intent in working
        if intent.state in UNSETTLED_STATES or intent.venue_status in LEAVING_STATUSES
    }
    waiting = [order for order in diff.place if order.leg.is_entry and order.symbol in symbols]
    return replace(
        diff,
        place=tuple(order for order in diff.place if order not in waiting),
        wait=(*diff.wait, *waiting),
    )


def _cancel(
    intents: Sequence[OrderIntent], cycle: Cycle, broker: Broker, database: Database
) -> tuple[int, set[str]]:
    """Cancel and settle; return how many ended, and the symbols whose cancel is not final."""
    ended, pending = 0, set()
    for intent in intents:
        if intent.venue_order_id is not None:
            broker.cancel(intent.venue_order_id)
        order = broker.order_by_client_id(intent.client_order_id)
        if order is None:
            pending.add(intent.symbol)
            continue
        with database.unit_of_work() as uow:
            settle_intent(uow, intent, order, at=cycle.as_of)
            uow.orders.save_orders([order], seen_at=cycle.as_of)  # the limits look there
            uow.commit()
        if order.is_terminal:
            ended += 1
        else:
            pending.add(intent.symbol)
    return ended, pending


def _plan(
    desired: Sequence[DesiredOrder],
    pending: set[str],
    cycle: Cycle,
    database: Database,
    settings: Settings,
) -> tuple[list[OrderIntent], list[Denied]]:
    """Write the journal rows of the orders that the limits allow, in one transaction.

    Latch, limits and rows are one transaction: no order can pass a latch that was set before it.
    An entry that this cycle has denied stays denied: a second run no longer sees the orders
    beside which it was too much.
    """
    with database.unit_of_work() as uow:
        uow.lock(f"orders:{cycle.account_id}")
        begun = [order for order in desired if _stored(uow, order) is not None]
        denied = {denial.symbol for denial in uow.strategies.denials(cycle.cycle_id)}
        desired = [
            order
            for order in desired
            if order in begun or not (order.leg.is_entry and order.symbol in denied)
        ]
        waiting = [order for order in desired if order.symbol in pending and order not in begun]
        fresh = [order for order in desired if order not in begun and order not in waiting]
        allowed, denials = allowed_orders(uow, cycle, fresh, settings)
        denials += [
            Denied(
                symbol=order.symbol,
                reason="order_unsettled",
                found="an older order whose end is not known yet",
                bound="nothing is sent beside it",
                at=cycle.as_of,
            )
            for order in waiting
        ]
        uow.strategies.save_denials(cycle.cycle_id, denials)
        intents = [uow.orders.plan(_intent(uow, order, cycle)) for order in allowed]
        uow.commit()
        intents += [stored for order in begun if (stored := _stored(uow, order))]
    unsent = [intent for intent in intents if intent.state in UNSETTLED_STATES]
    return sorted(unsent, key=lambda intent: (intent.leg.is_entry, intent.symbol)), denials


def _stored(uow: UnitOfWork, order: DesiredOrder) -> OrderIntent | None:
    return uow.orders.for_desired(order.cycle_id, order.symbol, order.leg)


def _intent(uow: UnitOfWork, order: DesiredOrder, cycle: Cycle) -> OrderIntent:
    revision = uow.orders.next_revision(
        cycle.account_id, order.window_opens_at, order.symbol, order.leg
    )
    return OrderIntent(
        client_order_id=client_order_id(
            account_id=cycle.account_id,
            window_opens_at=order.window_opens_at,
            symbol=order.symbol,
            leg=order.leg,
            revision=revision,
        ),
        cycle_id=cycle.cycle_id,
        account_id=cycle.account_id,
        symbol=order.symbol,
        leg=order.leg,
        side=order.side,
        quantity=order.quantity,
        limit_price=order.limit_price,
        time_in_force=order.time_in_force,
        window_opens_at=order.window_opens_at,
        window_ends_at=order.window_ends_at,
        revision=revision,
        standing=order.standing,
        strategy=order.strategy,
        planned_at=cycle.as_of,
    )


def _send(intent: OrderIntent, cycle: Cycle, broker: Broker, database: Database) -> IntentState:
    """Send one order and settle its row; the same id whatever happened before.

    A row that was sent already is looked up first. The venue refuses a used id, so a second call
    with the same id can't make a second order.
    """
    if intent.state is not IntentState.PLANNED:
        known = broker.order_by_client_id(intent.client_order_id)
        if known is not None:
            with database.unit_of_work() as uow:
                state = settle_intent(uow, intent, known, at=cycle.as_of).state
                uow.commit()
            return state
    _transition(database, intent, IntentState.SENT, cycle)
    try:
        order = broker.submit(intent)
    except OrderRejected as refusal:
        return _transition(database, intent, IntentState.REJECTED, cycle, detail=str(refusal))
    except OrderStateUnknown as silence:
        _transition(database, intent, IntentState.UNKNOWN, cycle, detail=str(silence))
        found = broker.order_by_client_id(intent.client_order_id)
        if found is None:
            return IntentState.UNKNOWN
        order = found
    with database.unit_of_work() as uow:
        state = settle_intent(uow, intent, order, at=cycle.as_of).state
        uow.commit()
    return state


def _transition(
    database: Database, intent: OrderIntent, to: IntentState, cycle: Cycle, detail: str = ""
) -> IntentState:
    with database.unit_of_work() as uow:
        stored = uow.orders.transition(
            intent.client_order_id, to=to, at=cycle.as_of, detail=detail
        )
        uow.commit()
    return stored.state
