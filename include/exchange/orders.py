"""Orders and fills as the exchange keeps them, with its own states; and the book that holds them.

Whether an order may be placed is decided in validation.py and margin.py, when it fills in
matching.py.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum
from uuid import UUID

from include.exchange.instants import Instant

ZERO = Decimal(0)


class OrderSide(Enum):
    """Which way the quantity moves."""

    BUY = "buy"
    SELL = "sell"

    @property
    def opposite(self) -> "OrderSide":
        """Return the other side."""
        return OrderSide.SELL if self is OrderSide.BUY else OrderSide.BUY


class OrderType(Enum):
    """How the price is set."""

    MARKET = "market"
    LIMIT = "limit"


class TimeInForce(Enum):
    """How long an order works: its session, until cancelled, or one attempt."""

    DAY = "day"
    GTC = "gtc"
    IOC = "ioc"


class OrderStatus(Enum):
    """Where an order is in its life, as the venue spells it."""

    ACCEPTED = "accepted"
    PENDING_NEW = "pending_new"
    NEW = "new"
    PARTIALLY_FILLED = "partially_filled"
    FILLED = "filled"
    CANCELED = "canceled"
    EXPIRED = "expired"

    @property
    def is_terminal(self) -> bool:
        """Say whether nothing can happen to the order any more."""
        return self in _TERMINAL


_TERMINAL = frozenset({OrderStatus.FILLED, OrderStatus.CANCELED, OrderStatus.EXPIRED})


@dataclass(frozen=True, kw_only=True)
class Order:
    """One order, simple class; several fills average into `filled_average_price`.

    `expected_quantity` is the quantity, for an order by notional an estimate at its submission;
    `reserve_price_usd` is what each open unit keeps from the buying power.
    """

    sequence: int
    order_id: UUID
    client_order_id: str
    symbol: str
    side: OrderSide
    order_type: OrderType
    time_in_force: TimeInForce
    quantity: Decimal | None
    notional_usd: Decimal | None
    limit_price: Decimal | None
    extended_hours: bool
    position_intent: str
    expected_quantity: Decimal
    reserve_price_usd: Decimal
    status: OrderStatus
    submitted_at: Instant
    updated_at: Instant
    expires_at: Instant
    filled_quantity: Decimal = ZERO
    filled_usd: Decimal = ZERO
    filled_at: Instant | None = None
    canceled_at: Instant | None = None
    expired_at: Instant | None = None

    @property
    def filled_average_price(self) -> Decimal | None:
        """Return the mean price over all fills, weighted by quantity; None before the first."""
        return self.filled_usd / self.filled_quantity if self.filled_quantity else None

    @property
    def reserved_usd(self) -> Decimal:
        """Return what the order keeps from the buying power."""
        if not self.reserve_price_usd:
            return ZERO
        if self.notional_usd is not None:
            return self.notional_usd - self.filled_usd
        return self.reserved_quantity * self.reserve_price_usd

    @property
    def reserved_quantity(self) -> Decimal:
        """Return what the order, if it closes, keeps from the position's available quantity."""
        return max(ZERO, self.expected_quantity - self.filled_quantity)

    def with_fill(self, fill: "Fill") -> "Order":
        """Return the order after one more fill."""
        return replace(
            self,
            filled_quantity=fill.cumulative_quantity,
            filled_usd=self.filled_usd + fill.quantity * fill.price,
            filled_at=fill.instant,
            updated_at=fill.instant,
            status=OrderStatus.PARTIALLY_FILLED if fill.leaves_quantity else OrderStatus.FILLED,
        )

    def canceled(self, instant: Instant) -> "Order":
        """Return the order after it was cancelled."""
        return replace(self, status=OrderStatus.CANCELED, canceled_at=instant, updated_at=instant)

    def expired(self, instant: Instant) -> "Order":
        """Return the order after its time in force ran out."""
        return replace(self, status=OrderStatus.EXPIRED, expired_at=instant, updated_at=instant)


@dataclass(frozen=True, kw_only=True)
class Fill:
    """One execution; a buyer of crypto pays the fee in coins, a seller in USD."""

    sequence: int
    fill_id: UUID
    order_id: UUID
    symbol: str
    side: OrderSide
    quantity: Decimal
    price: Decimal
    fee_quantity: Decimal
    fee_usd: Decimal
    cumulative_quantity: Decimal
    leaves_quantity: Decimal
    instant: Instant


class OrderBook:
    """All orders ever placed, by id and by client order id; remembers which ones changed."""

    def __init__(self) -> None:
        self._by_id: dict[UUID, Order] = {}
        self._by_client_id: dict[str, UUID] = {}
        self._working: dict[UUID, None] = {}
        self.changed: set[UUID] = set()

    def __len__(self) -> int:
        """Return how many orders were ever placed."""
        return len(self._by_id)

    def __iter__(self) -> Iterator[Order]:
        """Iterate over all orders, oldest first."""
        return iter(self._by_id.values())

    def put(self, order: Order) -> None:
        """Add an order or replace it by its newer state."""
        self._by_id[order.order_id] = order
        self._by_client_id[order.client_order_id] = order.order_id
        self.changed.add(order.order_id)
        if order.status.is_terminal:
            self._working.pop(order.order_id, None)
        else:
            self._working[order.order_id] = None

    def by_id(self, order_id: UUID) -> Order | None:
        """Return the order with an id."""
        return self._by_id.get(order_id)

    def by_client_id(self, client_order_id: str) -> Order | None:
        """Return the order with a client order id, whatever became of it."""
        order_id = self._by_client_id.get(client_order_id)
        return None if order_id is None else self._by_id[order_id]

    def working(self) -> list[Order]:
        """Return the orders that can still fill, oldest first."""
        return [self._by_id[order_id] for order_id in self._working]
