"""The trading API's routes below /v2: account, orders, positions, clock, calendar, assets.

Each route takes its turn at the venue and writes the answer down while it holds it. Rules stand in
validation.py, margin.py and matching.py.
"""

from typing import Annotated

from fastapi import APIRouter, Body, Depends, Query, Request
from fastapi.responses import JSONResponse, Response

from include.exchange.access import require_keys
from include.exchange.activities import activities_json
from include.exchange.assets import Asset
from include.exchange.history import history_json
from include.exchange.orders import Order, OrderStatus
from include.exchange.queries import (
    ActivitiesQuery,
    HistoryQuery,
    OrdersQuery,
    Refused,
    ServedVenue,
    choice_in,
    date_in,
    identity_in,
    instant_in,
    integer_in,
)
from include.exchange.refusals import Refusal, not_found
from include.exchange.shapes import (
    account_json,
    asset_json,
    clock_json,
    order_json,
    position_json,
    session_json,
)
from include.exchange.validation import parse_ticket
from include.exchange.venue import Venue

_SLASHES_OF_A_LOOKUP = "/v2/assets/KEY".count("/")

router = APIRouter(prefix="/v2", dependencies=[Depends(require_keys)])


@router.get("/account")
def get_account(venue: ServedVenue) -> Response:
    """Answer with the account at the latest prices."""
    with venue.turn():
        return JSONResponse(account_json(venue))


@router.get("/clock")
def get_clock(venue: ServedVenue) -> Response:
    """Answer with the market clock."""
    with venue.turn():
        return JSONResponse(clock_json(venue.replay.calendar, venue.now))


@router.get("/calendar")
def get_calendar(venue: ServedVenue, start: str | None = None, end: str | None = None) -> Response:
    """Answer with the sessions of a range of dates, both ends inclusive."""
    calendar = venue.replay.calendar
    first = date_in("start", start, calendar.sessions[0].session_date)
    last = date_in("end", end, calendar.sessions[-1].session_date)
    return JSONResponse([session_json(calendar, day) for day in calendar.between(first, last)])


@router.get("/assets")
def get_assets(
    venue: ServedVenue,
    status: str | None = None,
    asset_class: str | None = None,
    exchange: str | None = None,
) -> Response:
    """Answer with the assets that pass the filters; all are active."""
    assets = [
        asset
        for asset in venue.replay.assets.by_symbol.values()
        if status in (None, "", "active", "all")
        and asset_class in (None, "", asset.asset_class.value)
        and exchange in (None, "", asset.exchange)
    ]
    return JSONResponse([asset_json(asset) for asset in assets])


@router.get("/assets/{key:path}")
def get_asset(venue: ServedVenue, request: Request, key: str) -> Response:
    """Answer with one asset, by symbol or id; a slash in a symbol must be escaped."""
    return JSONResponse(asset_json(_asset(venue, request, key)))


@router.post("/orders")
def post_order(venue: ServedVenue, body: Annotated[dict[str, object], Body()]) -> Response:
    """Place an order; 200 means accepted, and during market hours reads pending_new."""
    with venue.turn():
        ticket = parse_ticket(body, venue.replay.assets)
        order = ticket if isinstance(ticket, Refusal) else venue.submit(ticket)
        if isinstance(order, Refusal):
            raise Refused(order)
        asset = venue.replay.assets[order.symbol]
        pending = order.status is OrderStatus.NEW
        status = OrderStatus.PENDING_NEW if pending else order.status
        return JSONResponse(order_json(order, asset, status=status))


@router.get("/orders")
def get_orders(venue: ServedVenue, query: Annotated[OrdersQuery, Query()]) -> Response:
    """Answer with the orders that pass the filters; after and until are exclusive."""
    choice_in("status", query.status, "open", "closed", "all")
    newest_first = choice_in("direction", query.direction, "asc", "desc") == "desc"
    limit = integer_in("limit", query.limit, smallest=1, largest=500)
    with venue.turn():
        orders = [order for order in venue.book if _passes(order, query, venue)]
        if newest_first:
            orders.reverse()
        assets = venue.replay.assets
        return JSONResponse([order_json(o, assets[o.symbol]) for o in orders[:limit]])


@router.delete("/orders")
def delete_orders(venue: ServedVenue) -> Response:
    """Cancel every working order; the answer says how each fared."""
    with venue.turn():
        working = venue.book.working()
        for order in working:
            venue.cancel(order.order_id)
        answers = [{"id": str(order.order_id), "status": 200} for order in working]
        return JSONResponse(answers, status_code=207)


@router.get("/orders:by_client_order_id")
def get_order_by_client_id(venue: ServedVenue, client_order_id: str = "") -> Response:
    """Answer with the order of a client order id."""
    with venue.turn():
        order = venue.book.by_client_id(client_order_id)
        if order is None:
            raise Refused(not_found(f"order not found for {client_order_id}"))
        return JSONResponse(order_json(order, venue.replay.assets[order.symbol]))


@router.get("/orders/{order_id}")
def get_order(venue: ServedVenue, order_id: str) -> Response:
    """Answer with one order."""
    with venue.turn():
        identity = identity_in(order_id)
        order = None if identity is None else venue.book.by_id(identity)
        if order is None:
            raise Refused(not_found(f"order not found for {order_id}"))
        return JSONResponse(order_json(order, venue.replay.assets[order.symbol]))


@router.delete("/orders/{order_id}")
def delete_order(venue: ServedVenue, order_id: str) -> Response:
    """Cancel one order: 204, or 422 when it works no more."""
    identity = identity_in(order_id)
    if identity is None:
        raise Refused(not_found(f"order not found for {order_id}"))
    with venue.turn():
        refusal = venue.cancel(identity)
    if refusal is not None:
        raise Refused(refusal)
    return Response(status_code=204)


@router.get("/positions")
def get_positions(venue: ServedVenue) -> Response:
    """Answer with every open position."""
    with venue.turn():
        held = venue.account.positions.values()
        return JSONResponse([position_json(venue, position) for position in held])


@router.get("/positions/{key:path}")
def get_position(venue: ServedVenue, request: Request, key: str) -> Response:
    """Answer with one position, by symbol or asset id; 404 when flat."""
    with venue.turn():
        asset = _asset(venue, request, key)
        position = venue.account.positions.get(asset.symbol)
        if position is None:
            raise Refused(not_found("position does not exist"))
        return JSONResponse(position_json(venue, position))


@router.get("/account/activities")
def get_activities(venue: ServedVenue, query: Annotated[ActivitiesQuery, Query()]) -> Response:
    """Answer with a page of activities."""
    with venue.turn():
        return JSONResponse(activities_json(venue.fills, query))


@router.get("/account/activities/{activity_type}")
def get_activities_of_type(
    venue: ServedVenue, activity_type: str, query: Annotated[ActivitiesQuery, Query()]
) -> Response:
    """Answer with a page of activities of one type."""
    of_type = query.model_copy(update={"activity_types": activity_type})
    with venue.turn():
        return JSONResponse(activities_json(venue.fills, of_type))


@router.get("/account/portfolio/history")
def get_history(venue: ServedVenue, query: Annotated[HistoryQuery, Query()]) -> Response:
    """Answer with the account's value over time."""
    with venue.turn():
        return JSONResponse(history_json(venue, query))


def _asset(venue: Venue, request: Request, key: str) -> Asset:
    """Return the asset that a path names; a bare slash makes it another path, as at the venue."""
    raw: bytes = request.scope.get("raw_path", b"")
    asset = venue.replay.assets.find(key)
    if asset is None or raw.count(b"/") > _SLASHES_OF_A_LOOKUP:
        raise Refused(not_found(f"asset not found for {key}"))
    return asset


def _passes(order: Order, query: OrdersQuery, venue: Venue) -> bool:
    after, until = instant_in("after", query.after), instant_in("until", query.until)
    asset = venue.replay.assets[order.symbol]
    symbols = {symbol.replace("/", "") for symbol in (query.symbols or "").split(",") if symbol}
    return (
        (query.status == "all" or order.status.is_terminal == (query.status == "closed"))
        and (after is None or order.submitted_at > after)
        and (until is None or order.submitted_at < until)
        and (not symbols or asset.plain_symbol in symbols)
        and query.side in (None, "", order.side.value)
        and query.asset_class in (None, "", "all", asset.asset_class.value)
    )
