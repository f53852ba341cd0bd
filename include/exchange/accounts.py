"""Cash and positions in exact decimals, and what a fill does to them.

Nothing here is ever rounded but the share of a cost that a partial close takes along, and what is
taken there is what is realised, so that cash + market value is conserved to the last digit.
Buying power and what may be sold are margin.py's matter.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_EVEN, Decimal, localcontext

from include.exchange.orders import ZERO, Fill, OrderSide

STARTING_CASH_USD = Decimal(100_000)
_COST_INCREMENT = Decimal("0.000000000001")
_PRECISION = 60


@dataclass(frozen=True, kw_only=True)
class Position:
    """A holding: shares or coins, below zero when short, with its cost in USD of the same sign.

    `session_basis_usd` is its value at the latest session close, with what was traded since.
    """

    symbol: str
    quantity: Decimal
    cost_usd: Decimal
    session_basis_usd: Decimal

    @property
    def average_entry_price(self) -> Decimal:
        """Return the mean price paid, USD."""
        return self.cost_usd / self.quantity


@dataclass(frozen=True, kw_only=True)
class Account:
    """Everything that fills change; `last_equity_usd` is as of the latest session close."""

    cash_usd: Decimal = STARTING_CASH_USD
    last_equity_usd: Decimal = STARTING_CASH_USD
    last_maintenance_usd: Decimal = ZERO
    realised_pnl_usd: Decimal = ZERO
    fees_usd: Decimal = ZERO
    positions: dict[str, Position]

    def quantity(self, symbol: str) -> Decimal:
        """Return what is held of a symbol, 0 when flat."""
        position = self.positions.get(symbol)
        return ZERO if position is None else position.quantity

    def equity_usd(self, prices: Mapping[str, Decimal]) -> Decimal:
        """Return cash and market value at the given prices."""
        held = self.positions.values()
        return self.cash_usd + sum((p.quantity * prices[p.symbol] for p in held), start=ZERO)

    def with_session_closed(
        self, prices: Mapping[str, Decimal], *, maintenance_usd: Decimal
    ) -> "Account":
        """Return the account after a session's close at the given prices."""
        positions = {
            symbol: replace(position, session_basis_usd=position.quantity * prices[symbol])
            for symbol, position in self.positions.items()
        }
        return replace(
            self,
            positions=positions,
            last_equity_usd=self.equity_usd(prices),
            last_maintenance_usd=maintenance_usd,
        )


def new_account() -> Account:
    """Return the account that a new replay starts with."""
    return Account(positions={})


def apply_fill(account: Account, fill: Fill) -> Account:
    """Return the account after a fill; a fee is taken from what is received."""
    with localcontext(prec=_PRECISION):
        sign = 1 if fill.side is OrderSide.BUY else -1
        moved = sign * fill.quantity - fill.fee_quantity
        position, realised = _booked(account.positions.get(fill.symbol), moved, fill)
        others = {k: v for k, v in account.positions.items() if k != fill.symbol}
        kept = {fill.symbol: position} if position.quantity else {}
        return replace(
            account,
            cash_usd=account.cash_usd - sign * fill.quantity * fill.price - fill.fee_usd,
            realised_pnl_usd=account.realised_pnl_usd + realised,
            fees_usd=account.fees_usd + fill.fee_usd + fill.fee_quantity * fill.price,
            positions=dict(sorted({**others, **kept}.items())),
        )


def _booked(held: Position | None, moved: Decimal, fill: Fill) -> tuple[Position, Decimal]:
    """Return the position after a signed move of quantity, and the profit that it realised."""
    position = held or Position(
        symbol=fill.symbol, quantity=ZERO, cost_usd=ZERO, session_basis_usd=ZERO
    )
    closes = position.quantity * moved < 0
    closed = min(abs(moved), abs(position.quantity)).copy_sign(moved) if closes else ZERO
    cost = _share(position.cost_usd, -closed, position.quantity)
    basis = _share(position.session_basis_usd, -closed, position.quantity)
    opened_usd = (moved - closed) * fill.price
    booked = Position(
        symbol=fill.symbol,
        quantity=position.quantity + moved,
        cost_usd=position.cost_usd - cost + opened_usd,
        session_basis_usd=position.session_basis_usd - basis + opened_usd,
    )
    return booked, -closed * fill.price - cost


def _share(total: Decimal, part: Decimal, whole: Decimal) -> Decimal:
    """Return the part of a total that belongs to a part of a whole, the total itself for all."""
    if not part:
        return ZERO
    if part == whole:
        return total
    return (total * part / whole).quantize(_COST_INCREMENT, rounding=ROUND_HALF_EVEN)
