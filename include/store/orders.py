"""The order journal, and orders and fills as the venue last reported them.

An intent's row is written before the call and never deleted; each change of its state is an event.
Which changes are allowed is in `transitions.py`.
"""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Select, case, func, select, update
from sqlalchemy.dialects.postgresql import distinct_on, insert

from include.domain.orders import (
    TERMINAL_STATUSES,
    Fill,
    IntentState,
    Leg,
    Order,
    OrderIntent,
    Side,
)
from include.errors import UnknownRow
from include.store.records import OrderEvent
from include.store.rows import any_of, keyed, row_of, select_fields, values_of
from include.store.schema import fills, order_events, order_intents, orders
from include.store.transaction import Transaction
from include.store.transitions import Report, transitioned

_CLOSED = (IntentState.TERMINAL, IntentState.REJECTED)


class OrderRepository:
    """The journal of an account's orders, and what the venue said of them."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def plan(self, intent: OrderIntent) -> OrderIntent:
        """Write the journal row of an order to be sent; return the stored row.

        Where the client order id is stored already, that row is returned and nothing changes.
        """
        statement = insert(order_intents).on_conflict_do_nothing(
            index_elements=["client_order_id"]
        )
        if not self._transaction.write(statement, row_of(intent)):
            return self._require(intent.client_order_id)
        return intent

    def by_client_order_id(self, client_order_id: str) -> OrderIntent | None:
        """Return a journal row, or None."""
        found = self._intents(_intents_where(order_intents.c.client_order_id == client_order_id))
        return found[0] if found else None

    def by_cycle(self, cycle_id: str) -> list[OrderIntent]:
        """Return the journal rows that a cycle planned, in the order of planning."""
        return self._intents(_intents_where(order_intents.c.cycle_id == cycle_id))

    def open_intents(self, account_id: str) -> list[OrderIntent]:
        """Return the journal rows of an account to which something may still happen."""
        return self._intents(
            _intents_where(
                order_intents.c.account_id == account_id,
                order_intents.c.state.not_in(_CLOSED),
            )
        )

    def next_revision(
        self, account_id: str, window_opens_at: datetime, symbol: str, leg: Leg
    ) -> int:
        """Return how many journal rows a leg has in a window: the next one's revision."""
        statement = select(func.count()).where(
            order_intents.c.account_id == account_id,
            order_intents.c.window_opens_at == window_opens_at,
            order_intents.c.symbol == symbol,
            order_intents.c.leg == leg,
        )
        return int(self._transaction.scalar(statement))

    def for_desired(self, cycle_id: str, symbol: str, leg: Leg) -> OrderIntent | None:
        """Return the newest journal row that a cycle planned for a desired order, or None."""
        found = self._intents(
            _intents_where(
                order_intents.c.cycle_id == cycle_id,
                order_intents.c.symbol == symbol,
                order_intents.c.leg == leg,
            )
        )
        return found[-1] if found else None

    def intents_of_window(
        self, account_id: str, window_opens_at: datetime, symbol: str
    ) -> list[OrderIntent]:
        """Return a symbol's journal rows of a window, in the order of planning."""
        return self._intents(
            _intents_where(
                order_intents.c.account_id == account_id,
                order_intents.c.window_opens_at == window_opens_at,
                order_intents.c.symbol == symbol,
            )
        )

    def net_filled(self, account_id: str, symbols: Sequence[str]) -> dict[str, Decimal]:
        """Return bought less sold of our own orders by symbol, as the journal booked it."""
        signed = case(
            (order_intents.c.side == Side.BUY, order_intents.c.filled_quantity),
            else_=-order_intents.c.filled_quantity,
        )
        statement = (
            select(order_intents.c.symbol, func.sum(signed).label("net"))
            .where(
                order_intents.c.account_id == account_id,
                order_intents.c.symbol == any_of(symbols),
            )
            .group_by(order_intents.c.symbol)
        )
        return {row["symbol"]: row["net"] for row in self._transaction.rows(statement)}

    def newest_filled_entries(
        self, account_id: str, symbols: Sequence[str]
    ) -> dict[str, OrderIntent]:
        """Return the newest entry of each symbol of which anything was filled."""
        statement = (
            select_fields(order_intents, OrderIntent)
            .ext(distinct_on(order_intents.c.symbol))
            .where(
                order_intents.c.account_id == account_id,
                order_intents.c.symbol == any_of(symbols),
                order_intents.c.leg.in_([leg for leg in Leg if leg.is_entry]),
                order_intents.c.filled_quantity > 0,
            )
            .order_by(order_intents.c.symbol, order_intents.c.entry_number.desc())
        )
        return keyed(self._intents(statement), "symbol")

    def transition(  # noqa: PLR0913  # what a venue says of an order
        self,
        client_order_id: str,
        *,
        to: IntentState,
        at: datetime,
        venue_order_id: str | None = None,
        venue_status: str | None = None,
        filled_quantity: Decimal | None = None,
        filled_average_price: Decimal | None = None,
        detail: str = "",
    ) -> OrderIntent:
        """Change a journal row and append the event; return the row as it then is.

        A report that says nothing new writes nothing. Raises UnknownRow for an unknown id and
        ConflictingWrite for a change that is not allowed (`transitions.transitioned`). The row is
        locked, so that two reports of one order are applied one after the other.
        """
        before = self._require(client_order_id, is_locked=True)
        report = Report(
            to=to,
            at=at,
            venue_order_id=venue_order_id,
            venue_status=venue_status,
            filled_quantity=filled_quantity,
            filled_average_price=filled_average_price,
        )
        after = transitioned(before, report)
        if after is not before:
            self._update(after)
            self._append_event(after, from_state=before.state, at=at, detail=detail)
        return after

    def events(self, client_order_id: str) -> list[OrderEvent]:
        """Return the events of a journal row, oldest first."""
        statement = (
            select_fields(order_events, OrderEvent)
            .where(order_events.c.client_order_id == client_order_id)
            .order_by(order_events.c.event_number)
        )
        return values_of(self._transaction, statement, OrderEvent)

    def save_orders(self, reported: Sequence[Order], seen_at: datetime) -> None:
        """Store orders as the venue reports them; an older report never replaces a newer one."""
        unique = {order.venue_order_id: order for order in reported}
        statement = insert(orders)
        replaced = {
            column.name: statement.excluded[column.name]
            for column in orders.c
            if not column.primary_key
        }
        statement = statement.on_conflict_do_update(
            index_elements=["venue_order_id"],
            set_=replaced,
            where=orders.c.updated_at <= statement.excluded.updated_at,
        )
        rows = [row_of(order, seen_at=seen_at) for order in unique.values()]
        self._transaction.write_all(statement, rows)

    def working_orders(self, symbols: Sequence[str] | None = None) -> list[Order]:
        """Return the venue's orders to which something may still happen, oldest first."""
        statement = (
            select_fields(orders, Order)
            .where(orders.c.status.not_in(sorted(TERMINAL_STATUSES)))
            .order_by(orders.c.submitted_at, orders.c.venue_order_id)
        )
        if symbols is not None:
            statement = statement.where(orders.c.symbol == any_of(symbols))
        return values_of(self._transaction, statement, Order)

    def save_fills(self, reported: Sequence[Fill]) -> int:
        """Store fills; return how many were new."""
        if not reported:
            return 0
        statement = (
            insert(fills).on_conflict_do_nothing().values([row_of(fill) for fill in reported])
        )
        return self._transaction.write(statement)

    def fills(self, since: datetime) -> list[Fill]:
        """Return the fills at or after an instant, oldest first."""
        statement = (
            select_fields(fills, Fill)
            .where(fills.c.filled_at >= since)
            .order_by(fills.c.filled_at, fills.c.fill_id)
        )
        return values_of(self._transaction, statement, Fill)

    def newest_fill_at(self) -> datetime | None:
        """Return the instant of the newest stored fill, or None."""
        newest: datetime | None = self._transaction.scalar(select(func.max(fills.c.filled_at)))
        return newest

    def _intents(self, statement: Select[Any]) -> list[OrderIntent]:
        return values_of(self._transaction, statement, OrderIntent)

    def _require(self, client_order_id: str, *, is_locked: bool = False) -> OrderIntent:
        statement = _intents_where(order_intents.c.client_order_id == client_order_id)
        found = self._intents(statement.with_for_update() if is_locked else statement)
        if not found:
            raise UnknownRow(kind="order intent", key=client_order_id)
        return found[0]

    def _update(self, intent: OrderIntent) -> None:
        statement = (
            update(order_intents)
            .where(order_intents.c.client_order_id == intent.client_order_id)
            .values(
                state=intent.state,
                venue_order_id=intent.venue_order_id,
                venue_status=intent.venue_status,
                filled_quantity=intent.filled_quantity,
                filled_average_price=intent.filled_average_price,
                sent_at=intent.sent_at,
            )
        )
        self._transaction.write(statement)

    def _append_event(
        self, intent: OrderIntent, *, from_state: IntentState, at: datetime, detail: str
    ) -> None:
        event = OrderEvent(
            client_order_id=intent.client_order_id,
            at=at,
            from_state=from_state,
            to_state=intent.state,
            venue_status=intent.venue_status,
            detail=detail,
        )
        self._transaction.write(insert(order_events), row_of(event))


def _intents_where(*conditions: Any) -> Select[Any]:  # noqa: ANN401  # SQLAlchemy's column expressions
    return (
        select_fields(order_intents, OrderIntent)
        .where(*conditions)
        .order_by(order_intents.c.entry_number)
    )
