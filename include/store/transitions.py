"""Which changes a journal row allows: a pure function from a row and a report to the next row.

The states are those of `domain.orders.IntentState` (trading.md 8.2). Writing is in `orders.py`.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from include.domain.orders import IntentState, OrderIntent
from include.errors import ConflictingWrite

# planned -> terminal is an order that was given up before it was ever sent.
ALLOWED = {
    IntentState.PLANNED: {IntentState.SENT, IntentState.TERMINAL},
    IntentState.SENT: {
        IntentState.ACKED,
        IntentState.UNKNOWN,
        IntentState.REJECTED,
        IntentState.TERMINAL,
    },
    IntentState.UNKNOWN: {
        IntentState.ACKED,
        IntentState.REJECTED,
        IntentState.TERMINAL,
        IntentState.SENT,
    },
    IntentState.ACKED: {IntentState.ACKED, IntentState.TERMINAL, IntentState.REJECTED},
    IntentState.REJECTED: set[IntentState](),
    IntentState.TERMINAL: {IntentState.TERMINAL},
}


@dataclass(frozen=True, kw_only=True)
class Report:
    """What is known of an intent at an instant; None leaves the stored value as it is."""

    to: IntentState
    at: datetime
    venue_order_id: str | None = None
    venue_status: str | None = None
    filled_quantity: Decimal | None = None
    filled_average_price: Decimal | None = None


def transitioned(intent: OrderIntent, report: Report) -> OrderIntent:
    """Return the intent after a report; the intent itself where the report says nothing new.

    Raises ConflictingWrite for a transition that is not allowed, a filled quantity that shrinks,
    and a change of a terminal row that is not a growing filled quantity.
    """
    after = _reported(intent, report)
    if after == intent:
        return intent
    if report.to not in ALLOWED[intent.state]:
        raise _refusal(intent, f"{intent.state.value} can't become {report.to.value}")
    if after.filled_quantity < intent.filled_quantity:
        fell = (
            f"filled quantity would fall from {intent.filled_quantity} to {after.filled_quantity}"
        )
        raise _refusal(intent, fell)
    is_grown = after.filled_quantity > intent.filled_quantity
    if intent.state is IntentState.TERMINAL and not is_grown:
        raise _refusal(intent, "a terminal row changes only when more was filled")
    if report.to is IntentState.SENT and after.sent_at is None:
        return replace(after, sent_at=report.at)
    return after


def _reported(intent: OrderIntent, report: Report) -> OrderIntent:
    return replace(
        intent,
        state=report.to,
        venue_order_id=_newer(report.venue_order_id, intent.venue_order_id),
        venue_status=_newer(report.venue_status, intent.venue_status),
        filled_quantity=intent.filled_quantity
        if report.filled_quantity is None
        else report.filled_quantity,
        filled_average_price=intent.filled_average_price
        if report.filled_average_price is None
        else report.filled_average_price,
    )


def _newer(reported: str | None, stored: str | None) -> str | None:
    return stored if reported is None else reported


def _refusal(intent: OrderIntent, difference: str) -> ConflictingWrite:
    return ConflictingWrite(kind="Order intent", key=intent.client_order_id, difference=difference)
