"""Which positions are ours to close: what the journal filled, bounded by what the venue holds."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from include.domain.cycles import Cycle
from include.domain.orders import OrderIntent, Side
from include.domain.positions import Position
from include.store.unit_of_work import UnitOfWork


@dataclass(frozen=True, kw_only=True)
class Holding:
    """Our part of a position: signed quantity, and the entry that opened it.

    The quantity is the venue's where both agree on the side: crypto fees leave less than was
    filled, and what a person added by hand is not ours to close.
    """

    symbol: str
    quantity: Decimal
    entry: OrderIntent
    take_profit_price: Decimal | None

    @property
    def closing_side(self) -> Side:
        """Side of the order that closes it."""
        return Side.SELL if self.quantity > 0 else Side.BUY


def load_holdings(
    uow: UnitOfWork, cycle: Cycle, positions: Iterable[Position]
) -> dict[str, Holding]:
    """Return our holdings by symbol, as of the cycle's reconciled account."""
    held = {position.symbol: position.quantity for position in positions}
    net = uow.orders.net_filled(cycle.account_id, list(held))
    entries = uow.orders.newest_filled_entries(cycle.account_id, list(held))
    return {
        symbol: Holding(
            symbol=symbol,
            quantity=quantity,
            entry=entries[symbol],
            take_profit_price=_take_profit(uow, entries[symbol]),
        )
        for symbol in held
        if symbol in entries and (quantity := ours(held[symbol], net.get(symbol, Decimal(0))))
    }


def ours(position: Decimal, net_filled: Decimal) -> Decimal:
    """Return the part of a position that our fills explain; zero where sides differ."""
    if position * net_filled <= 0:
        return Decimal(0)
    size = min(abs(position), abs(net_filled))
    return size if position > 0 else -size


def _take_profit(uow: UnitOfWork, entry: OrderIntent) -> Decimal | None:
    """Return the level that the entry was planned with; None where its policy has none."""
    for order in uow.strategies.desired(entry.cycle_id):
        if order.symbol == entry.symbol and order.leg is entry.leg:
            return order.take_profit_price
    return None
