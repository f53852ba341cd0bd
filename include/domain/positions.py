"""Positions and the account, as the venue reports them; all money is Decimal USD."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal


@dataclass(frozen=True, kw_only=True)
class Position:
    """Signed quantity held of a symbol, short below zero, with its average entry price."""

    symbol: str
    quantity: Decimal
    available_quantity: Decimal
    average_entry_price: Decimal
    current_price: Decimal
    market_value_usd: Decimal
    unrealised_pnl_usd: Decimal


@dataclass(frozen=True, kw_only=True)
class Account:
    """The account at an instant of the venue's clock."""

    account_id: str
    account_number: str
    status: str
    equity_usd: Decimal
    last_equity_usd: Decimal
    cash_usd: Decimal
    buying_power_usd: Decimal
    is_blocked: bool


@dataclass(frozen=True, kw_only=True)
class VenueClock:
    """The venue's own time, the only source of `as_of`."""

    now: datetime
    is_open: bool
    next_open: datetime
    next_close: datetime
