"""Orders: what decisions ask for, what is written before the call, what the venue acknowledged."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from uuid import UUID, uuid5

ORDER_NAMESPACE = UUID(
    "6f1d1b5e-7d5a-5c53-9a39-3d8c6a0e4b11"
)  # fixed for ever: ids derive from it


class Side(StrEnum):
    """Buy or sell."""

    BUY = "buy"
    SELL = "sell"

    @property
    def opposite(self) -> "Side":
        """The other side."""
        return Side.SELL if self is Side.BUY else Side.BUY


class Leg(StrEnum):
    """What an order is for: opening a long, opening a short, or closing a position."""

    ENTRY_LONG = "entry_long"
    ENTRY_SHORT = "entry_short"
    EXIT = "exit"
    FLATTEN = "flatten"

    @property
    def is_entry(self) -> bool:
        """Tell whether the leg adds exposure."""
        return self in (Leg.ENTRY_LONG, Leg.ENTRY_SHORT)


class OrderType(StrEnum):
    """Types that Tradewind sends."""

    LIMIT = "limit"
    MARKET = "market"


class TimeInForce(StrEnum):
    """How long an order works."""

    DAY = "day"
    GTC = "gtc"
    IOC = "ioc"


class Standing(StrEnum):
    """Whether a symbol's strategy has earned its size: proven, or a labelled probe."""

    PROVEN = "proven"
    PROBE = "probe"


class IntentState(StrEnum):
    """States of a journal row; the venue's own word is kept beside it (trading.md 8.2)."""

    PLANNED = "planned"
    SENT = "sent"
    UNKNOWN = "unknown"
    ACKED = "acked"
    REJECTED = "rejected"
    TERMINAL = "terminal"


TERMINAL_STATUSES = frozenset({"filled", "canceled", "expired", "rejected", "replaced"})


@dataclass(frozen=True, kw_only=True)
class DesiredOrder:
    """An order that the decisions of a cycle ask for; quantity in shares or coins, prices USD."""

    cycle_id: str
    symbol: str
    leg: Leg
    side: Side
    quantity: Decimal
    limit_price: Decimal | None
    time_in_force: TimeInForce
    window_opens_at: datetime
    window_ends_at: datetime
    standing: Standing
    strategy: str
    reason: str
    take_profit_price: Decimal | None = None

    @property
    def order_type(self) -> OrderType:
        """Limit wherever a price is given."""
        return OrderType.MARKET if self.limit_price is None else OrderType.LIMIT


@dataclass(frozen=True, kw_only=True)
class OrderIntent:
    """The journal row that is committed before the call; its id is a function of the rest."""

    client_order_id: str
    cycle_id: str
    account_id: str
    symbol: str
    leg: Leg
    side: Side
    quantity: Decimal
    limit_price: Decimal | None
    time_in_force: TimeInForce
    window_opens_at: datetime
    window_ends_at: datetime
    revision: int
    standing: Standing
    strategy: str
    state: IntentState = IntentState.PLANNED
    venue_order_id: str | None = None
    venue_status: str | None = None
    filled_quantity: Decimal = Decimal(0)
    filled_average_price: Decimal | None = None
    planned_at: datetime | None = None
    sent_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Order:
    """An order as the venue reports it; unknown words of the venue are kept as text."""

    venue_order_id: str
    client_order_id: str
    symbol: str
    side: Side
    order_type: str
    time_in_force: str
    status: str
    quantity: Decimal | None
    filled_quantity: Decimal
    filled_average_price: Decimal | None
    limit_price: Decimal | None
    submitted_at: datetime
    updated_at: datetime

    @property
    def is_terminal(self) -> bool:
        """Tell whether nothing more can happen to it."""
        return self.status in TERMINAL_STATUSES


@dataclass(frozen=True, kw_only=True)
class Fill:
    """One execution: quantity in shares or coins, price USD."""

    fill_id: str
    venue_order_id: str
    symbol: str
    side: Side
    quantity: Decimal
    price: Decimal
    filled_at: datetime


def client_order_id(
    *, account_id: str, window_opens_at: datetime, symbol: str, leg: Leg, revision: int
) -> str:
    """Return the UUIDv5 (36 characters) that names an order for ever.

    A pure function of account, window, symbol, leg and revision: a task that runs twice derives
    the same id, and the venue refuses it the second time (design section 8).
    """
    name = f"{account_id}|{window_opens_at.isoformat()}|{symbol}|{leg.value}|{revision}"
    return str(uuid5(ORDER_NAMESPACE, name))
