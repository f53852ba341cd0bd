"""The difference between the orders that should work and those that do. Pure.

Doing it (cancel, wait for the end, place) is `pipeline.trade`'s; how much may be placed at all is
the limits'. An order is never replaced in place: a change is a cancel and a new revision.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal

from include.domain.money import difference_bps
from include.domain.orders import DesiredOrder, IntentState, OrderIntent

ENDED_STATES = frozenset({IntentState.TERMINAL, IntentState.REJECTED})
UNSETTLED_STATES = frozenset({IntentState.PLANNED, IntentState.SENT, IntentState.UNKNOWN})
LEAVING_STATUSES = frozenset({"pending_cancel", "pending_replace"})


@dataclass(frozen=True, kw_only=True)
class OrderDiff:
    """What to leave, to end, to send, and what has to wait for an order that is in between."""

    keep: tuple[tuple[DesiredOrder, OrderIntent], ...]
    cancel: tuple[OrderIntent, ...]
    place: tuple[DesiredOrder, ...]
    wait: tuple[DesiredOrder, ...] = ()


def diff_orders(
    desired: Sequence[DesiredOrder],
    working: Sequence[OrderIntent],
    *,
    tolerance_bps: Decimal,
    untouched: Collection[str] = frozenset(),
) -> OrderDiff:
    """Return what turns the working orders into the desired ones.

    A working order is kept for a desired one of the same symbol, leg, side and time in force
    whose quantity equals what remains of it and whose level is within `tolerance_bps` of its own
    (inclusive; two market orders are equal). Each is matched at most once, in the order given.
    Every other working order is cancelled, every other desired one is placed.

    Symbols in `untouched` have no plan: neither cancelled nor placed. An order in between (not
    settled, or leaving) is left alone, and desired ones of its symbol and leg wait for it, so
    that nothing is sent beside an order whose fate is unknown. Ended ones are ignored.
    """
    present = [
        intent
        for intent in working
        if intent.state not in ENDED_STATES and intent.symbol not in untouched
    ]
    blocked = {(intent.symbol, intent.leg) for intent in present if _is_in_between(intent)}
    unmatched = [intent for intent in present if not _is_in_between(intent)]
    keep, place, wait = [], [], []
    for order in desired:
        if order.symbol in untouched:
            continue
        match = next((each for each in unmatched if _serves(each, order, tolerance_bps)), None)
        if match is not None:
            unmatched.remove(match)
            keep.append((order, match))
        elif (order.symbol, order.leg) in blocked:
            wait.append(order)
        else:
            place.append(order)
    return OrderDiff(
        keep=tuple(keep), cancel=tuple(unmatched), place=tuple(place), wait=tuple(wait)
    )


def _is_in_between(intent: OrderIntent) -> bool:
    return intent.state in UNSETTLED_STATES or intent.venue_status in LEAVING_STATUSES


def _serves(intent: OrderIntent, order: DesiredOrder, tolerance_bps: Decimal) -> bool:
    is_same_order = (intent.symbol, intent.leg, intent.side, intent.time_in_force) == (
        order.symbol,
        order.leg,
        order.side,
        order.time_in_force,
    )
    remaining = intent.quantity - intent.filled_quantity
    return (
        is_same_order
        and remaining == order.quantity
        and _is_same_level(intent.limit_price, order.limit_price, tolerance_bps)
    )


def _is_same_level(
    working: Decimal | None, desired: Decimal | None, tolerance_bps: Decimal
) -> bool:
    if working is None or desired is None:
        return working is desired
    return abs(difference_bps(desired, working)) <= tolerance_bps
