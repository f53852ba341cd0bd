"""The account's activities: one for each fill, newest first, page by page."""

from collections.abc import Iterable

from include.exchange.instants import NEW_YORK, SECOND, format_instant, moment_of, new_york_date
from include.exchange.orders import Fill
from include.exchange.queries import (
    ActivitiesQuery,
    Refused,
    choice_in,
    date_in,
    instant_in,
    integer_in,
)
from include.exchange.refusals import invalid
from include.exchange.shapes import Json, plain

FILL = "FILL"


def activity_id(fill: Fill) -> str:
    """Return the id that orders activities by time and pages them."""
    local = moment_of(fill.instant).astimezone(NEW_YORK)
    milliseconds = fill.instant % SECOND // 1_000_000
    return f"{local:%Y%m%d%H%M%S}{milliseconds:03d}::{fill.fill_id}"


def activities_json(fills: Iterable[Fill], query: ActivitiesQuery) -> list[Json]:
    """Return one page of the activities that pass the filters."""
    page_size = integer_in("page_size", query.page_size, smallest=1, largest=100)
    newest_first = choice_in("direction", query.direction, "asc", "desc") == "desc"
    if query.activity_types and query.category:
        raise Refused(invalid("category cannot be used with activity_types"))
    kept = [fill for fill in fills if _passes(fill, query)] if _wants_fills(query) else []
    if newest_first:
        kept.reverse()
    first = 0
    if query.page_token:
        ids = [activity_id(fill) for fill in kept]
        if query.page_token not in ids:
            raise Refused(invalid(f"invalid page_token: {query.page_token}"))
        first = ids.index(query.page_token) + 1
    return [fill_json(fill) for fill in kept[first : first + page_size]]


def fill_json(fill: Fill) -> Json:
    """Return the activity of a fill."""
    partial = fill.leaves_quantity > 0
    return {
        "id": activity_id(fill),
        "activity_type": FILL,
        "transaction_time": format_instant(fill.instant),
        "type": "partial_fill" if partial else "fill",
        "price": plain(fill.price),
        "qty": plain(fill.quantity),
        "side": fill.side.value,
        "symbol": fill.symbol,
        "leaves_qty": plain(fill.leaves_quantity),
        "order_id": str(fill.order_id),
        "cum_qty": plain(fill.cumulative_quantity),
        "order_status": "partially_filled" if partial else "filled",
    }


def _wants_fills(query: ActivitiesQuery) -> bool:
    if query.activity_types:
        return FILL in query.activity_types.split(",")
    return query.category in (None, "", "trade_activity")


def _passes(fill: Fill, query: ActivitiesQuery) -> bool:
    after, until = instant_in("after", query.after), instant_in("until", query.until)
    day = new_york_date(fill.instant)
    return (
        (after is None or fill.instant > after)
        and (until is None or fill.instant < until)
        and date_in("date", query.date, day) == day
        and query.order_id in (None, str(fill.order_id))
    )
