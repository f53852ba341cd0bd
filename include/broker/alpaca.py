"""Alpaca's paper account as `Broker`, over the unmodified alpaca-py client.

Raw answers, read by `broker.parsing`; calls bounded by `broker.transport`. An order is sent once:
what may have been accepted is never sent again here, but looked up by its client order id. No
decision is made here; next: `broker.diff` (what to send) and `broker.settle` (what came of it).
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import partial
from typing import TypeVar

from alpaca.trading.client import TradingClient

from include.broker.parsing import (
    UNREADABLE,
    Raw,
    order_body,
    parse_account,
    parse_clock,
    parse_fill,
    parse_instrument,
    parse_order,
    parse_position,
    parse_session,
)
from include.broker.transport import BoundedAdapter, Refusal, ask, paper_client, tell
from include.domain.instants import require_utc
from include.domain.instruments import Instrument, position_symbol
from include.domain.orders import Fill, Order, OrderIntent
from include.domain.positions import Account, Position, VenueClock
from include.domain.sessions import Session
from include.errors import BrokerRefused, BrokerUnavailable, OrderRejected, OrderStateUnknown

ORDERS_A_PAGE = 500  # the service's maxima
FILLS_A_PAGE = 100
NOT_FOUND = (404, 40410000)
DUPLICATE_TEXT = "client_order_id must be unique"  # its code is shared with other refusals

Value = TypeVar("Value")
logger = logging.getLogger(__name__)


@dataclass(kw_only=True, eq=False)
class AlpacaBroker:
    """One paper account of Alpaca, or of a venue on loopback that speaks as Alpaca does.

    Raise LiveTradingForbidden when built with any other address, or with a key that does not
    look like a paper key; no call has been made then. `pause` waits that many seconds between
    tries of a question. One instance per process: not safe to share between threads.
    """

    key_id: str = field(repr=False)
    secret_key: str = field(repr=False)
    trading_url: str
    connect_timeout_seconds: float
    read_timeout_seconds: float
    pause: Callable[[float], None] = time.sleep
    _client: TradingClient = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the address and the key, and build the client."""
        self._client = paper_client(
            key_id=self.key_id,
            secret_key=self.secret_key,
            trading_url=self.trading_url,
            adapter=BoundedAdapter(
                connect_seconds=self.connect_timeout_seconds,
                read_seconds=self.read_timeout_seconds,
            ),
        )

    def clock(self) -> VenueClock:
        """Return the venue's own time."""
        return self._one("the clock", "/clock", parse_clock)

    def account(self) -> Account:
        """Return the account as it stands."""
        return self._one("the account", "/account", parse_account)

    def positions(self) -> list[Position]:
        """Return what is held; a flat symbol is absent, a short is negative."""
        raws = self._many("the positions", "/positions")
        return [self._read(parse_position, raw, "the positions") for raw in raws]

    def instruments(self, symbols: Sequence[str]) -> list[Instrument]:
        """Return the instruments of those symbols that the venue lists, in the order asked.

        One call a symbol: the whole list is some ten thousand assets long.
        """
        found: list[Instrument] = []
        for symbol in symbols:
            asked = f"the asset {symbol}"
            answer = self._ask(asked, f"/assets/{position_symbol(symbol)}")
            if not _is_absent(answer):
                raw = _settled(answer, asked=asked)
                found.append(self._read(partial(parse_instrument, symbol), raw, asked))
        return found

    def sessions_between(self, start: date, end: date) -> list[Session]:
        """Return the venue's sessions with a date in [start, end), oldest first."""
        if end <= start:
            return []
        asked, last = f"the calendar from {start} to {end}", end - timedelta(days=1)
        params = {"start": start.isoformat(), "end": last.isoformat()}
        sessions = [
            self._read(parse_session, raw, asked) for raw in self._many(asked, "/calendar", params)
        ]
        return [session for session in sessions if start <= session.session_date < end]

    def open_orders(self) -> list[Order]:
        """Return every order that still works, oldest first."""
        return self._orders("the open orders", {"status": "open"})

    def orders_since(self, after: datetime) -> list[Order]:
        """Return every order submitted later than the instant, of any status, oldest first."""
        start = _stamp(after)
        return self._orders(f"orders since {start}", {"status": "all", "after": start})

    def order_by_client_id(self, client_order_id: str) -> Order | None:
        """Return the order of a client order id; None where the venue says it has none.

        A 404 without the venue's own code is no such answer: BrokerRefused.
        """
        asked = f"order {client_order_id}"
        params = {"client_order_id": client_order_id}
        answer = self._ask(asked, "/orders:by_client_order_id", params)
        if _is_absent(answer):
            return None
        return self._read(parse_order, _settled(answer, asked=asked), asked)

    def fills_since(self, after: datetime) -> list[Fill]:
        """Return every execution later than the instant, oldest first."""
        asked = f"fills since {_stamp(after)}"
        params = {
            "activity_types": "FILL",
            "after": _stamp(after),
            "direction": "asc",
            "page_size": str(FILLS_A_PAGE),
        }
        fills: dict[str, Fill] = {}
        while True:
            page = self._many(asked, "/account/activities", params)
            new = [self._read(parse_fill, raw, asked) for raw in page]
            known = len(fills)
            fills |= {fill.fill_id: fill for fill in new}
            if len(page) < FILLS_A_PAGE:
                return sorted(fills.values(), key=lambda fill: (fill.filled_at, fill.fill_id))
            _require_progress(known, len(fills), asked=asked)
            params["page_token"] = new[-1].fill_id

    def submit(self, intent: OrderIntent) -> Order:
        """Send the order once and return what the venue has under its client order id."""
        client_order_id, body = intent.client_order_id, order_body(intent)
        try:
            answer = tell(lambda: self._client.post("/orders", body), asked=client_order_id)
            if isinstance(answer, Refusal):
                return self._adopt_or_raise(client_order_id, answer)
            return self._read(parse_order, answer, client_order_id)
        except BrokerUnavailable as error:
            raise OrderStateUnknown(client_order_id=client_order_id, found=str(error)) from error

    def cancel(self, venue_order_id: str) -> bool:
        """Ask for an order's end, once; False where the venue says that it can't be cancelled."""
        asked = f"the end of order {venue_order_id}"
        answer = tell(lambda: self._client.delete(f"/orders/{venue_order_id}"), asked=asked)
        if isinstance(answer, Refusal) and answer.status in (404, 422) and answer.is_readable:
            return False
        _settled(answer, asked=asked)
        return True

    def _adopt_or_raise(self, client_order_id: str, refusal: Refusal) -> Order:
        if refusal.status == 422 and DUPLICATE_TEXT in refusal.text:
            order = self.order_by_client_id(client_order_id)
            if order is not None:
                return order
            found = "that this id is taken, and then that no order has it"
            raise OrderStateUnknown(client_order_id=client_order_id, found=found)
        if not refusal.is_readable:
            found = f"status {refusal.status} without a body of the venue's: {refusal.text}"
            raise OrderStateUnknown(client_order_id=client_order_id, found=found)
        raise OrderRejected(
            client_order_id=client_order_id,
            status=refusal.status,
            code=refusal.code,
            text=refusal.text,
        )

    def _orders(self, asked: str, params: Mapping[str, str]) -> list[Order]:
        """Follow pages by submission: each begins just before the last order of the one before.

        Stamps have nanoseconds and ours microseconds, so a page repeats its predecessor's end.
        """
        query = {**params, "direction": "asc", "limit": str(ORDERS_A_PAGE), "nested": "false"}
        orders: dict[str, Order] = {}
        while True:
            page = self._many(asked, "/orders", query)
            new = [order for raw in page if (order := self._order_or_none(raw, asked))]
            known = len(orders)
            orders |= {order.venue_order_id: order for order in new}
            if len(page) < ORDERS_A_PAGE:
                return sorted(orders.values(), key=lambda order: order.submitted_at)
            _require_progress(known, len(orders), asked=asked)
            query["after"] = _stamp(new[-1].submitted_at - timedelta(microseconds=1))

    def _order_or_none(self, raw: Raw, asked: str) -> Order | None:
        """Leave out what is no order of one symbol and side: a multi-leg parent of a person's."""
        if isinstance(raw, Mapping) and not (raw.get("symbol") and raw.get("side")):
            logger.warning("Order %s has no symbol or no side; left out.", raw.get("id"))
            return None
        return self._read(parse_order, raw, asked)

    def _ask(self, asked: str, path: str, params: Mapping[str, str] | None = None) -> object:
        return ask(self._client, path, params, asked=asked, pause=self.pause)

    def _one(self, asked: str, path: str, parse: Callable[[Raw], Value]) -> Value:
        return self._read(parse, _settled(self._ask(asked, path), asked=asked), asked)

    def _many(
        self, asked: str, path: str, params: Mapping[str, str] | None = None
    ) -> Sequence[Raw]:
        answer = _settled(self._ask(asked, path, params), asked=asked)
        if not isinstance(answer, list):
            raise BrokerUnavailable(asked=asked, found=f"a {type(answer).__name__}, not a list")
        return answer

    def _read(self, parse: Callable[[Raw], Value], raw: object, asked: str) -> Value:
        if not isinstance(raw, Mapping):
            found = f"a {type(raw).__name__}, not an object"
            raise BrokerUnavailable(asked=asked, found=found)
        try:
            return parse(raw)
        except UNREADABLE as error:
            found = f"unreadable ({type(error).__name__}: {error}) in {str(raw)[:200]}"
            raise BrokerUnavailable(asked=asked, found=found) from error


def _require_progress(known: int, found: int, *, asked: str) -> None:
    if found <= known:
        raise BrokerUnavailable(asked=asked, found="a full page that adds nothing")


def _settled(answer: object, *, asked: str) -> object:
    """Return the answer; raise BrokerRefused where it is a definite no."""
    if isinstance(answer, Refusal):
        raise BrokerRefused(asked=asked, status=answer.status, text=answer.text)
    return answer


def _is_absent(answer: object) -> bool:
    return isinstance(answer, Refusal) and (answer.status, answer.code) == NOT_FOUND


def _stamp(instant: datetime) -> str:
    return require_utc(instant, name="after").isoformat().replace("+00:00", "Z")
