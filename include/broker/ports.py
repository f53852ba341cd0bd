"""The port of the venue's trading side: everything that Tradewind may ask of an account.

Adapter: `broker.alpaca`. Symbols are spelt as in orders (BTC/USD), instants are aware UTC, money
is Decimal. There is no "close position" and no "cancel all": each order is named.
"""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Protocol

from include.domain.instruments import Instrument
from include.domain.orders import Fill, Order, OrderIntent
from include.domain.positions import Account, Position, VenueClock
from include.domain.sessions import Session


class Broker(Protocol):
    """One paper account. Questions raise BrokerUnavailable or BrokerRefused."""

    def clock(self) -> VenueClock:
        """Return the venue's own time, the only source of `as_of`."""
        ...

    def account(self) -> Account:
        """Return the account as it stands."""
        ...

    def positions(self) -> list[Position]:
        """Return what is held; a flat symbol is absent, a short is negative."""
        ...

    def instruments(self, symbols: Sequence[str]) -> list[Instrument]:
        """Return the instruments of those symbols that the venue lists, in the order asked."""
        ...

    def sessions_between(self, start: date, end: date) -> list[Session]:
        """Return the venue's sessions with a date in [start, end), oldest first."""
        ...

    def open_orders(self) -> list[Order]:
        """Return every order that still works, oldest first."""
        ...

    def orders_since(self, after: datetime) -> list[Order]:
        """Return every order submitted later than the instant, of any status, oldest first."""
        ...

    def order_by_client_id(self, client_order_id: str) -> Order | None:
        """Return the order of a client order id; None where the venue says it has none."""
        ...

    def fills_since(self, after: datetime) -> list[Fill]:
        """Return every execution later than the instant, oldest first."""
        ...

    def submit(self, intent: OrderIntent) -> Order:
        """Send the order once and return what the venue has under its client order id.

        An id that the venue has already is success: the order it names is returned. Raise
        OrderRejected on a definite no, OrderStateUnknown wherever the answer settles nothing;
        look up by id then, and send again only with the same id.
        """
        ...

    def cancel(self, venue_order_id: str) -> bool:
        """Ask for an order's end; False where the venue says that it can't be cancelled any more.

        True means asked, not ended: the order may still fill. Raise BrokerUnavailable where the
        answer settles nothing.
        """
        ...
