"""The venue: one account, its orders and the clock, changed under one lock and saved at once.

`turn()` is the only way in: it brings the venue up to the clock, lets the caller look and act, and
saves what changed before the answer goes out. HTTP stands in the route modules.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import time, timedelta
from decimal import Decimal
from threading import RLock
from uuid import UUID

from include.errors import ExchangeError
from include.exchange.accounts import apply_fill, new_account
from include.exchange.calendar import Session
from include.exchange.clock import VirtualClock
from include.exchange.instants import Instant, at_new_york, new_york_date
from include.exchange.margin import (
    Balances,
    Standing,
    balances,
    check_account,
    expected_quantity,
    reserve_price,
)
from include.exchange.matching import Match, fee_of, first_match, quantity_filled
from include.exchange.orders import (
    ZERO,
    Fill,
    Order,
    OrderBook,
    OrderSide,
    OrderStatus,
    TimeInForce,
)
from include.exchange.refusals import Refusal, invalid, not_found, unprocessable
from include.exchange.replay import Replay
from include.exchange.seeds import stable_id
from include.exchange.state import Changes, SavedState, StateFile
from include.exchange.validation import OrderTicket

_GTC_DAYS = 90
_GTC_CANCEL_TIME = time(16, 15)


class Venue:
    """Keep the account's books and carry its orders through the replay."""

    def __init__(self, *, replay: Replay, clock: VirtualClock, state: StateFile) -> None:
        self.replay, self.clock = replay, clock
        self._state = state
        self._lock = RLock()
        self.book = OrderBook()
        self.fills: list[Fill] = []
        self.closes: list[tuple[Instant, Decimal]] = []
        self.account = new_account()
        self.now = self.created_at = clock.now()
        self._restore(state.load())
        self._saved = self._size()

    @contextmanager
    def turn(self) -> Iterator["Venue"]:
        """Hold the venue at the present instant; save what the caller changed, then let go."""
        with self._lock:
            self._advance(self.clock.now())
            yield self
            self._save()

    def close(self) -> None:
        """Save the clock's position and close the state's file."""
        with self._lock:
            self._advance(self.clock.now())
            self._save()
            self._state.close()

    def step_to(self, instant: Instant) -> None:
        """Move a stepped clock, and the orders with it."""
        self.clock.step_to(instant)
        self._advance(self.clock.now())

    @property
    def is_exhausted(self) -> bool:
        """Say whether the replay has nothing more to show."""
        return self.now >= self.replay.end

    def prices(self, now: Instant | None = None) -> dict[str, Decimal]:
        """Return the latest price of each symbol held, USD."""
        return {symbol: self.price(symbol, now) for symbol in self.account.positions}

    def price(self, symbol: str, now: Instant | None = None) -> Decimal:
        """Return the latest price of a symbol at an instant, USD."""
        latest = self.replay.tape.latest(symbol, self.now if now is None else now)
        if latest is None:
            message = f"{symbol} has no price yet at the clock's instant; it can't be valued."
            raise ExchangeError(message)
        return latest.price

    def balances(self, now: Instant | None = None) -> Balances:
        """Return the account's values and margins at the latest prices."""
        return balances(self.account, self.prices(now), self.book.working(), self.replay.assets)

    def submit(self, ticket: OrderTicket) -> Order | Refusal:
        """Place an order, or say why not; the same client order id is taken once, for ever."""
        client_order_id = ticket.client_order_id
        if client_order_id and self.book.by_client_id(client_order_id) is not None:
            return invalid("client_order_id must be unique")
        market = self.replay.tape.latest(ticket.asset.symbol, self.now)
        if market is None:
            return unprocessable(f"asset {ticket.asset.symbol} is not tradable yet")
        standing = Standing(
            account=self.account,
            balances=self.balances(),
            working=self.book.working(),
            market=market,
        )
        refusal = check_account(ticket, standing)
        if refusal is not None:
            return refusal
        order = self._new_order(ticket, standing)
        self.book.put(order)
        return order

    def cancel(self, order_id: UUID) -> Refusal | None:
        """Cancel an order that still works, or say why not."""
        order = self.book.by_id(order_id)
        if order is None:
            return not_found(f"order not found for {order_id}")
        if order.status.is_terminal:
            return unprocessable("order is not cancelable")
        self.book.put(order.canceled(self.now))
        return None

    def _new_order(self, ticket: OrderTicket, standing: Standing) -> Order:
        sequence = len(self.book) + 1
        seed, asset = self.replay.seed, ticket.asset
        default_client_id = str(stable_id(seed, "client-order", sequence))
        is_open = asset.is_crypto or self.replay.calendar.session_at(self.now) is not None
        return Order(
            sequence=sequence,
            order_id=stable_id(seed, "order", sequence),
            client_order_id=ticket.client_order_id or default_client_id,
            symbol=asset.symbol,
            side=ticket.side,
            order_type=ticket.order_type,
            time_in_force=ticket.time_in_force,
            quantity=ticket.quantity,
            notional_usd=ticket.notional_usd,
            limit_price=ticket.limit_price,
            extended_hours=ticket.extended_hours,
            position_intent=ticket.position_intent or self._intent(ticket),
            expected_quantity=expected_quantity(ticket, standing.market),
            reserve_price_usd=reserve_price(ticket, self.account, standing.market),
            status=OrderStatus.NEW if is_open else OrderStatus.ACCEPTED,
            submitted_at=self.now,
            updated_at=self.now,
            expires_at=self._expiry(ticket),
        )

    def _intent(self, ticket: OrderTicket) -> str:
        held = self.account.quantity(ticket.asset.symbol)
        closes = held < 0 if ticket.side is OrderSide.BUY else held > 0
        return f"{ticket.side.value}_to_{'close' if closes else 'open'}"

    def _expiry(self, ticket: OrderTicket) -> Instant:
        if ticket.time_in_force is TimeInForce.DAY:
            return self.replay.calendar.next_close(self.now)
        last_day = new_york_date(self.now) + timedelta(days=_GTC_DAYS)
        return at_new_york(last_day, _GTC_CANCEL_TIME)

    def _advance(self, until: Instant) -> None:
        """Walk to an instant: fills up to each session's close, then what the close brings."""
        if until <= self.now:
            return
        for session in self.replay.calendar.closing_in(self.now, until):
            self._match_until(session.close)
            self._close_session(session)
        self._match_until(until)
        self._expire_until(until)
        self._acknowledge()

    def _match_until(self, until: Instant) -> None:
        """Fill what fills between now and an instant, in the order of time, then of arrival."""
        matches: list[tuple[Instant, int, Order, Match]] = []
        for order in self.book.working():
            last = min(until, order.expires_at)
            asset = self.replay.assets[order.symbol]
            match = first_match(order, asset, self.replay.tape, after=self.now, until=last)
            if match is not None:
                matches.append((match.instant, order.sequence, order, match))
        for _, _, order, match in sorted(matches, key=lambda found: found[:2]):
            self._execute(order, match)
        self.now = until

    def _execute(self, order: Order, match: Match) -> None:
        held = self.account.quantity(order.symbol)
        quantity = ZERO if match.price is None else quantity_filled(order, match.price, held)
        if match.price is None or quantity <= 0:
            self.book.put(order.canceled(match.instant))
            return
        fill = self._new_fill(order, match, quantity=quantity, price=match.price)
        self.fills.append(fill)
        self.account = apply_fill(self.account, fill)
        self.book.put(order.with_fill(fill))

    def _new_fill(self, order: Order, match: Match, *, quantity: Decimal, price: Decimal) -> Fill:
        sequence = len(self.fills) + 1
        fee = fee_of(order, self.replay.assets[order.symbol], match, quantity)
        is_by_notional = order.notional_usd is not None
        return Fill(
            sequence=sequence,
            fill_id=stable_id(self.replay.seed, "fill", sequence),
            order_id=order.order_id,
            symbol=order.symbol,
            side=order.side,
            quantity=quantity,
            price=price,
            fee_quantity=fee.quantity,
            fee_usd=fee.usd,
            cumulative_quantity=order.filled_quantity + quantity,
            leaves_quantity=ZERO if is_by_notional else order.reserved_quantity - quantity,
            instant=match.instant,
        )

    def _close_session(self, session: Session) -> None:
        """Let day orders expire and take the account's value at the close."""
        self._expire_until(session.close)
        prices = self.prices(session.close)
        maintenance = self.balances(session.close).maintenance_margin
        self.account = self.account.with_session_closed(prices, maintenance_usd=maintenance)
        self.closes.append((session.close, self.account.last_equity_usd))

    def _expire_until(self, instant: Instant) -> None:
        for order in self.book.working():
            if order.expires_at > instant:
                continue
            if order.time_in_force is TimeInForce.DAY:
                self.book.put(order.expired(order.expires_at))
            else:
                self.book.put(order.canceled(order.expires_at))

    def _acknowledge(self) -> None:
        """Turn orders accepted outside hours into new ones once their session is open."""
        session = self.replay.calendar.session_at(self.now)
        if session is None:
            return
        for order in self.book.working():
            if order.status is OrderStatus.ACCEPTED:
                opened = max(session.open, order.submitted_at)
                self.book.put(replace(order, status=OrderStatus.NEW, updated_at=opened))

    def _restore(self, saved: SavedState | None) -> None:
        if saved is None:
            self._state.begin(
                fingerprint=self.replay.fingerprint, created_at=self.now, account=self.account
            )
            return
        if saved.fingerprint != self.replay.fingerprint:
            self._state.close()
            message = (
                "The state folder belongs to a replay with another seed or other bars. "
                "Give the seed and the bars that it was begun with, or another folder."
            )
            raise ExchangeError(message)
        self.account, self.created_at = saved.account, saved.created_at
        self.fills = list(saved.fills)
        self.closes = [(instant, Decimal(equity)) for instant, equity in saved.closes]
        for order in saved.orders:
            self.book.put(order)
        self.book.changed.clear()
        self.now = saved.now
        self.clock.resume_at(saved.now)

    def _size(self) -> tuple[Instant, int, int]:
        return self.now, len(self.fills), len(self.closes)

    def _save(self) -> None:
        """Write what changed since the last save; nothing when nothing did."""
        if not self.book.changed and self._saved == self._size():
            return
        _, n_fills, n_closes = self._saved
        orders = (self.book.by_id(order_id) for order_id in self.book.changed)
        self._state.save(
            Changes(
                now=self.now,
                account=self.account,
                orders=[order for order in orders if order is not None],
                fills=self.fills[n_fills:],
                closes=[(instant, str(equity)) for instant, equity in self.closes[n_closes:]],
            )
        )
        self.book.changed.clear()
        self._saved = self._size()
