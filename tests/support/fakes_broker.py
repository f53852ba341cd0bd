"""FakeBroker: a paper account in memory that keeps the port's promises and can lose answers."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from include.domain.instruments import Instrument
from include.domain.orders import DesiredOrder, Fill, IntentState, Order, OrderIntent, Side
from include.domain.positions import Account, Position, VenueClock
from include.domain.sessions import Session
from include.errors import BrokerUnavailable, OrderRejected, OrderStateUnknown
from tests.support.builders import AS_OF, a_desired_order, an_account


class Fault(StrEnum):
    """What goes wrong with the next order."""

    LOST_ANSWER = "accepted, and the answer lost"
    LOST_ORDER = "never arrived"
    REJECTED = "insufficient buying power"


def an_intent(order: DesiredOrder | None = None, **overrides) -> OrderIntent:
    """Return the acknowledged journal row of a desired order; keywords override."""
    wanted = order or a_desired_order()
    intent = OrderIntent(
        client_order_id=f"{wanted.symbol}-{wanted.leg.value}",
        cycle_id=wanted.cycle_id,
        account_id="account",
        symbol=wanted.symbol,
        leg=wanted.leg,
        side=wanted.side,
        quantity=wanted.quantity,
        limit_price=wanted.limit_price,
        time_in_force=wanted.time_in_force,
        window_opens_at=wanted.window_opens_at,
        window_ends_at=wanted.window_ends_at,
        revision=0,
        standing=wanted.standing,
        strategy=wanted.strategy,
        state=IntentState.ACKED,
    )
    return replace(intent, **overrides)


@dataclass(kw_only=True)
class FakeBroker:
    """One account; tests move its clock, fill its orders and plant faults.

    `submissions` and `cancels` record every call that reached it, in order.
    """

    now: datetime = AS_OF
    venue_account: Account = field(default_factory=an_account)
    held: dict[str, Position] = field(default_factory=dict)
    listed: dict[str, Instrument] = field(default_factory=dict)
    calendar: list[Session] = field(default_factory=list)
    orders: dict[str, Order] = field(default_factory=dict)
    fills: list[Fill] = field(default_factory=list)
    faults: deque[Fault] = field(default_factory=deque)
    submissions: list[str] = field(default_factory=list)
    cancels: list[str] = field(default_factory=list)
    is_down: bool = False

    def clock(self) -> VenueClock:
        """Return the fake's time; open inside a session of its calendar."""
        self._require_up("the clock")
        opens = [each.opens_at for each in self.calendar if each.opens_at > self.now]
        closes = [each.closes_at for each in self.calendar if each.closes_at > self.now]
        return VenueClock(
            now=self.now,
            is_open=any(each.opens_at <= self.now < each.closes_at for each in self.calendar),
            next_open=min(opens, default=self.now + timedelta(days=1)),
            next_close=min(closes, default=self.now + timedelta(days=1)),
        )

    def account(self) -> Account:
        """Return the account."""
        self._require_up("the account")
        return self.venue_account

    def positions(self) -> list[Position]:
        """Return what is held."""
        self._require_up("the positions")
        return list(self.held.values())

    def instruments(self, symbols: Sequence[str]) -> list[Instrument]:
        """Return the listed ones of the symbols."""
        self._require_up("the assets")
        return [self.listed[symbol] for symbol in symbols if symbol in self.listed]

    def sessions_between(self, start: date, end: date) -> list[Session]:
        """Return the sessions with a date in [start, end)."""
        self._require_up("the calendar")
        return [each for each in self.calendar if start <= each.session_date < end]

    def open_orders(self) -> list[Order]:
        """Return the orders that still work."""
        self._require_up("the open orders")
        return [order for order in self.orders.values() if not order.is_terminal]

    def orders_since(self, after: datetime) -> list[Order]:
        """Return every order submitted later than the instant."""
        self._require_up("the orders")
        return [order for order in self.orders.values() if order.submitted_at > after]

    def order_by_client_id(self, client_order_id: str) -> Order | None:
        """Return the order of a client order id, or None."""
        self._require_up(f"order {client_order_id}")
        return self.orders.get(client_order_id)

    def fills_since(self, after: datetime) -> list[Fill]:
        """Return every execution later than the instant."""
        self._require_up("the fills")
        return [fill for fill in self.fills if fill.filled_at > after]

    def submit(self, intent: OrderIntent) -> Order:
        """Accept the order, or adopt the one that has its id; then the next planted fault acts."""
        self.submissions.append(intent.client_order_id)
        fault = self.faults.popleft() if self.faults else None
        if fault is Fault.LOST_ORDER or self.is_down:
            raise OrderStateUnknown(client_order_id=intent.client_order_id, found="no answer")
        if fault is Fault.REJECTED:
            raise OrderRejected(
                client_order_id=intent.client_order_id, status=403, code=40310000, text=fault.value
            )
        order = self.orders.setdefault(intent.client_order_id, self._accepted(intent))
        if fault is Fault.LOST_ANSWER:
            raise OrderStateUnknown(client_order_id=intent.client_order_id, found="no answer")
        return order

    def cancel(self, venue_order_id: str) -> bool:
        """End a working order at once; False for any other."""
        self._require_up(f"the end of {venue_order_id}")
        self.cancels.append(venue_order_id)
        for order in self.open_orders():
            if order.venue_order_id == venue_order_id:
                self.set_status(order.client_order_id, "canceled")
                return True
        return False

    def set_status(self, client_order_id: str, status: str) -> Order:
        """Give an order another word of the venue's."""
        order = replace(self.orders[client_order_id], status=status, updated_at=self.now)
        self.orders[client_order_id] = order
        return order

    def fill(
        self, client_order_id: str, quantity: Decimal | None = None, price: Decimal | None = None
    ) -> Order:
        """Execute an order, all that remains unless a quantity is given; book the position."""
        order = self.orders[client_order_id]
        done = quantity or (order.quantity or Decimal(0)) - order.filled_quantity
        at_price = price or order.limit_price or Decimal(100)
        filled = order.filled_quantity + done
        cost = (order.filled_average_price or Decimal(0)) * order.filled_quantity + at_price * done
        self.orders[client_order_id] = replace(
            order,
            status="filled" if filled == order.quantity else "partially_filled",
            filled_quantity=filled,
            filled_average_price=cost / filled,
            updated_at=self.now,
        )
        self.fills.append(
            Fill(
                fill_id=f"fill-{len(self.fills) + 1}",
                venue_order_id=order.venue_order_id,
                symbol=order.symbol,
                side=order.side,
                quantity=done,
                price=at_price,
                filled_at=self.now,
            )
        )
        self._book(order.symbol, done if order.side is Side.BUY else -done, at_price)
        return self.orders[client_order_id]

    def _book(self, symbol: str, change: Decimal, price: Decimal) -> None:
        before = self.held.get(symbol)
        quantity = (before.quantity if before else Decimal(0)) + change
        if not quantity:
            self.held.pop(symbol, None)
            return
        self.held[symbol] = Position(
            symbol=symbol,
            quantity=quantity,
            available_quantity=quantity,
            average_entry_price=before.average_entry_price if before else price,
            current_price=price,
            market_value_usd=quantity * price,
            unrealised_pnl_usd=Decimal(0),
        )

    def _accepted(self, intent: OrderIntent) -> Order:
        return Order(
            venue_order_id=f"venue-{len(self.orders) + 1}",
            client_order_id=intent.client_order_id,
            symbol=intent.symbol,
            side=intent.side,
            order_type="market" if intent.limit_price is None else "limit",
            time_in_force=intent.time_in_force.value,
            status="new",
            quantity=intent.quantity,
            filled_quantity=Decimal(0),
            filled_average_price=None,
            limit_price=intent.limit_price,
            submitted_at=self.now,
            updated_at=self.now,
        )

    def _require_up(self, asked: str) -> None:
        if self.is_down:
            raise BrokerUnavailable(asked=asked, found="no answer")
