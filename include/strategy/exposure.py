"""What positions, working orders and orders allowed so far add up to, in USD and by symbol.

A working order that the desired state replaces (same symbol and side as a wanted entry) is not
counted beside its replacement. A working order without a limit has no price here and counts
nothing: it is a position as soon as the venue has a quote.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from include.domain.instruments import position_symbol
from include.domain.orders import DesiredOrder, Order, Side
from include.domain.positions import Position

# the venue reserves 3 % more than the price for an open short (alpaca.md 6.3)
SHORT_RESERVE = Decimal("1.03")
ZERO = Decimal(0)

Resting = tuple[Side, Decimal | None]


@dataclass(frozen=True, kw_only=True)
class Exposure:
    """Sums over positions and orders; symbols are spelt as the venue spells them in positions.

    `released_usd` is what the venue reserves for orders that will be replaced; `reserved_usd`
    what it will reserve for the entries allowed so far.
    """

    crypto_symbols: frozenset[str] = frozenset()
    n_orders: int = 0
    gross_usd: Decimal = ZERO
    short_usd: Decimal = ZERO
    crypto_usd: Decimal = ZERO
    reserved_usd: Decimal = ZERO
    released_usd: Decimal = ZERO
    by_symbol_usd: Mapping[str, Decimal] = field(default_factory=dict)
    closable: Mapping[str, Decimal] = field(default_factory=dict)
    resting: tuple[tuple[str, Resting], ...] = ()

    def of_symbol_usd(self, symbol: str) -> Decimal:
        """Return what is at work in a symbol, either spelling, long and short added."""
        return self.by_symbol_usd.get(position_symbol(symbol), ZERO)

    def closable_quantity(self, symbol: str) -> Decimal:
        """Return the signed quantity that no allowed exit closes yet."""
        return self.closable.get(position_symbol(symbol), ZERO)

    def resting_of(self, symbol: str) -> list[Resting]:
        """Return side and limit of the symbol's working and allowed orders."""
        return [rest for name, rest in self.resting if name == position_symbol(symbol)]

    def plus(self, order: DesiredOrder) -> "Exposure":
        """Return the exposure with an allowed order."""
        symbol = position_symbol(order.symbol)
        counted = replace(
            self,
            n_orders=self.n_orders + 1,
            resting=(*self.resting, (symbol, (order.side, order.limit_price))),
        )
        if order.leg.is_entry:
            at_work = counted.with_at_work(symbol, order.side, notional_usd(order))
            return replace(at_work, reserved_usd=at_work.reserved_usd + reserved_usd(order))
        closed = order.quantity if order.side is Side.SELL else -order.quantity
        left = self.closable_quantity(symbol) - closed
        return replace(counted, closable={**self.closable, symbol: left})

    def with_at_work(self, symbol: str, side: Side, amount_usd: Decimal) -> "Exposure":
        """Return the exposure with so much more at work on a side of a symbol."""
        is_crypto = symbol in self.crypto_symbols
        return replace(
            self,
            gross_usd=self.gross_usd + amount_usd,
            short_usd=self.short_usd + (amount_usd if side is Side.SELL else ZERO),
            crypto_usd=self.crypto_usd + (amount_usd if is_crypto else ZERO),
            by_symbol_usd={
                **self.by_symbol_usd,
                symbol: self.of_symbol_usd(symbol) + amount_usd,
            },
        )


def opening_exposure(
    candidates: Sequence[DesiredOrder],
    positions: Iterable[Position],
    working_orders: Iterable[Order],
    crypto_symbols: frozenset[str],
) -> Exposure:
    """Return the exposure before any candidate is allowed."""
    exposure = Exposure(crypto_symbols=crypto_symbols)
    for position in positions:
        symbol = position_symbol(position.symbol)
        side = Side.BUY if position.quantity > 0 else Side.SELL
        exposure = exposure.with_at_work(symbol, side, abs(position.market_value_usd))
        held = exposure.closable_quantity(symbol) + position.quantity
        exposure = replace(exposure, closable={**exposure.closable, symbol: held})
    replaced = {(position_symbol(c.symbol), c.side) for c in candidates if c.leg.is_entry}
    for order in working_orders:
        if not order.is_terminal:
            exposure = _with_working(exposure, order, replaced)
    return exposure


def _with_working(exposure: Exposure, order: Order, replaced: set[tuple[str, Side]]) -> Exposure:
    symbol = position_symbol(order.symbol)
    left = (order.quantity or ZERO) - order.filled_quantity
    amount_usd = left * (order.limit_price or ZERO)
    held = exposure.closable_quantity(symbol)
    is_closing = held > 0 if order.side is Side.SELL else held < 0
    if (symbol, order.side) in replaced and not is_closing:
        return replace(exposure, released_usd=exposure.released_usd + amount_usd)
    rest = (symbol, (order.side, order.limit_price))
    exposure = replace(exposure, resting=(*exposure.resting, rest))
    return exposure if is_closing else exposure.with_at_work(symbol, order.side, amount_usd)


def notional_usd(order: DesiredOrder) -> Decimal:
    """Return quantity times limit; 0 for a market order, which only closes."""
    return order.quantity * (order.limit_price or ZERO)


def reserved_usd(order: DesiredOrder) -> Decimal:
    """Return the buying power that the venue reserves for an entry."""
    return notional_usd(order) * (SHORT_RESERVE if order.side is Side.SELL else 1)
