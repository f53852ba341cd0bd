"""Reconcile: ask the venue for the truth and bring the journal into agreement with it.

The first task of every cycle, and the only one that reads the venue's clock: its answer becomes
the cycle's `as_of`. The same code runs at a cold start, in every cycle and after a crash.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from include.broker.ports import Broker
from include.broker.settle import settled
from include.domain.cycles import Cycle, CycleRequest
from include.domain.orders import IntentState, Order, OrderIntent
from include.errors import UnreconciledAccount
from include.pipeline.stages import recorded_stage
from include.pipeline.universe import symbols_of
from include.pipeline.wiring.broker import open_broker
from include.pipeline.wiring.store import open_database
from include.settings import Settings, load_settings, settings_hash, shown
from include.store.unit_of_work import Database, UnitOfWork

LOOK_BACK_OVERLAP = timedelta(minutes=10)  # late reports: trading.md 8.1, point 1
FIRST_LOOK = timedelta(days=7)


def reconcile(*, cycle: Cycle, broker: Broker, database: Database) -> dict[str, int]:
    """Store the venue's orders, fills, positions and equity; settle every open intent.

    Raise UnreconciledAccount where the account can't be traded. Running twice changes nothing.
    """
    account, positions = broker.account(), broker.positions()
    if account.is_blocked:
        raise UnreconciledAccount(
            difference=f"the venue blocks account {account.account_number} ({account.status})"
        )
    with database.unit_of_work() as uow:
        since = _look_back_from(uow, cycle)
        orders = _venue_orders(uow, broker, since)
    fills = broker.fills_since(since)
    with database.unit_of_work() as uow:
        uow.lock(f"orders:{account.account_id}")
        uow.halts.ensure(account.account_id, cycle.as_of)
        settled_count, unknown_count = _settle_journal(uow, cycle, broker, orders)
        uow.orders.save_orders(orders, seen_at=cycle.as_of)
        new_fills = uow.orders.save_fills(fills)
        uow.accounts.save_snapshot(cycle.cycle_id, account, positions, cycle.as_of)
        uow.commit()
    return {
        "orders": len(orders),
        "fills": new_fills,
        "settled": settled_count,
        "unknown": unknown_count,
        "positions": len(positions),
    }


def begin_cycle(
    *,
    run_id: str,
    request: CycleRequest,
    broker: Broker,
    database: Database,
    settings: Settings,
) -> Cycle:
    """Return the cycle of a run: the stored one, or a new one at the venue's present instant."""
    with database.unit_of_work() as uow:
        stored = uow.cycles.by_id(run_id)
    if stored is not None:
        return stored
    clock = broker.clock()
    cycle = Cycle(
        cycle_id=run_id,
        as_of=clock.now,
        account_id=broker.account().account_id,
        settings_hash=settings_hash(settings),
        request=request,
        symbols=symbols_of(request.symbols, settings),
    )
    with database.unit_of_work() as uow:
        uow.settings_versions.save(cycle.settings_hash, shown(settings))
        uow.cycles.save(cycle)
        uow.commit()
    return cycle


def run(
    *,
    run_id: str,
    symbols: Sequence[str] = (),
    is_forced: bool = False,
    is_dry_run: bool = False,
) -> dict[str, int]:
    """Begin the cycle of a run and reconcile its account; return counts."""
    settings, database = load_settings(), open_database()
    broker = open_broker(settings)
    request = CycleRequest(symbols=tuple(symbols), is_forced=is_forced, is_dry_run=is_dry_run)
    cycle = begin_cycle(
        run_id=run_id, request=request, broker=broker, database=database, settings=settings
    )
    with recorded_stage(database, cycle_id=run_id, stage="reconcile") as detail:
        detail.update(reconcile(cycle=cycle, broker=broker, database=database))
    return {name: int(count) for name, count in detail.items()}


def _look_back_from(uow: UnitOfWork, cycle: Cycle) -> datetime:
    previous = [
        stored.as_of
        for cycle_id in uow.cycles.latest_ids(2)
        if (stored := uow.cycles.by_id(cycle_id)) and stored.cycle_id != cycle.cycle_id
    ]
    oldest_open = [
        intent.planned_at
        for intent in uow.orders.open_intents(cycle.account_id)
        if intent.planned_at
    ]
    return min([*previous[:1], *oldest_open, cycle.as_of], default=cycle.as_of) - (
        LOOK_BACK_OVERLAP if previous else FIRST_LOOK
    )


def _venue_orders(uow: UnitOfWork, broker: Broker, since: datetime) -> list[Order]:
    """Return the orders since an instant, every one that works, and those that no longer do.

    What a person sent may be older than any look back, and counts against the caps until we have
    seen its end.
    """
    recent = [*broker.orders_since(since), *broker.open_orders()]
    orders = {order.venue_order_id: order for order in recent}
    ended = [
        broker.order_by_client_id(order.client_order_id)
        for order in uow.orders.working_orders()
        if order.venue_order_id not in orders
    ]
    return [*orders.values(), *(order for order in ended if order is not None)]


def _settle_journal(
    uow: UnitOfWork, cycle: Cycle, broker: Broker, orders: Sequence[Order]
) -> tuple[int, int]:
    by_client_id = {order.client_order_id: order for order in orders}
    settled_count = unknown_count = 0
    for intent in uow.orders.open_intents(cycle.account_id):
        order = by_client_id.get(intent.client_order_id) or broker.order_by_client_id(
            intent.client_order_id
        )
        if order is not None:
            settle_intent(uow, intent, order, at=cycle.as_of)
            settled_count += 1
        elif not _close_absent(uow, intent, cycle):
            unknown_count += 1
    return settled_count, unknown_count


def settle_intent(
    uow: UnitOfWork, intent: OrderIntent, order: Order, *, at: datetime
) -> OrderIntent:
    """Bring one journal row to what the venue says of its order."""
    return uow.orders.transition(
        intent.client_order_id,
        to=settled(order),
        at=at,
        venue_order_id=order.venue_order_id,
        venue_status=order.status,
        filled_quantity=order.filled_quantity,
        filled_average_price=order.filled_average_price,
    )


def _close_absent(uow: UnitOfWork, intent: OrderIntent, cycle: Cycle) -> bool:
    """Close an intent that the venue does not have; tell whether it could be closed.

    A planned row was never sent: SENT is committed before the call. A sent one that the venue
    doesn't have stays unknown, and locks its symbol's entries, until its window has ended.
    """
    if intent.cycle_id == cycle.cycle_id:
        return False
    was_sent = intent.state is not IntentState.PLANNED
    if was_sent and cycle.as_of < intent.window_ends_at:
        if intent.state is IntentState.SENT:
            uow.orders.transition(intent.client_order_id, to=IntentState.UNKNOWN, at=cycle.as_of)
        return False
    uow.orders.transition(
        intent.client_order_id,
        to=IntentState.TERMINAL,
        at=cycle.as_of,
        venue_status="absent" if was_sent else "never_sent",
        detail="The venue does not have this order.",
    )
    return True
