"""What the desk page shows, as frozen values: None wherever the store holds nothing.

`desk.py` fills them from the store; `include/console/` turns them into HTML and JSON.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from include.domain.decisions import Decision, Outcome, Reason
from include.domain.sessions import Window


@dataclass(frozen=True, kw_only=True)
class OrderRow:
    """A journal row: quantities in shares or coins, prices in USD."""

    symbol: str
    leg: str
    side: str
    quantity: Decimal
    limit_price: Decimal | None
    state: str
    venue_status: str | None
    standing: str
    filled_quantity: Decimal


@dataclass(frozen=True, kw_only=True)
class DenialRow:
    """An order that our own limits refused, with the value and the bound."""

    reason: str
    found: str
    bound: str


@dataclass(frozen=True, kw_only=True)
class SymbolRow:
    """One symbol at the cycle's `as_of`: prices in USD, moves as fractions of the price at issue.

    `forecast_low`, `_close` and `_high` are medians over paths of the window's remaining lowest
    low, last close and highest high; `close_band` is the 10 % and 90 % quantile of the last close.
    """

    symbol: str
    price: float | None = None
    forecast_low: float | None = None
    forecast_close: float | None = None
    forecast_high: float | None = None
    close_band: tuple[float, float] | None = None
    age_seconds: float | None = None
    decision: Decision | None = None
    reason: Reason | None = None
    outcome: Outcome | None = None
    move_fraction: float | None = None
    threshold_fraction: float | None = None
    max_age_seconds: float | None = None
    detail: str = ""
    position_quantity: Decimal | None = None
    position_pnl_usd: Decimal | None = None
    orders: tuple[OrderRow, ...] = ()
    denials: tuple[DenialRow, ...] = ()
    choice_reason: str = ""
    model_label: str | None = None
    forecast_window: Window | None = None


@dataclass(frozen=True, kw_only=True)
class CycleRow:
    """A recent cycle: `seconds` from the first stage's start to the last one's end.

    The figures are those of the cycle's report. `reuse_rate_fraction` is None where no symbol had
    a forecast before; `faults` say which stage failed and why.
    """

    cycle_id: str
    as_of: datetime
    state: str
    seconds: float | None
    stage_seconds: dict[str, float]
    reuse_rate_fraction: float | None
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class EquityPoint:
    """Equity of the account at an instant of the venue's clock."""

    at: datetime
    equity_usd: float


@dataclass(frozen=True, kw_only=True)
class DeskView:
    """Everything that the page shows, at one cycle's `as_of`; None where nothing is stored."""

    venue_is_simulated: bool
    as_of: datetime | None = None
    cycle_id: str | None = None
    cycle_state: str | None = None
    running_cycle_id: str | None = None
    account_number: str | None = None
    equity_usd: Decimal | None = None
    last_equity_usd: Decimal | None = None
    cash_usd: Decimal | None = None
    equity_curve: tuple[EquityPoint, ...] = ()
    cycles: tuple[CycleRow, ...] = ()
    symbols: tuple[SymbolRow, ...] = ()
    working_orders: tuple[OrderRow, ...] = ()
    halt_state: str | None = None
    halt_reason: str = ""


@dataclass(frozen=True, kw_only=True)
class FanStep:
    """One future bar: its end, and the close's quantiles at the fan's levels, USD."""

    ends_at: datetime
    close_quantiles: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class ForecastFan:
    """A symbol's forecast in force, as quantiles of the close over its sample paths."""

    symbol: str
    model_label: str
    origin: datetime
    window: Window
    samples: int
    levels: tuple[float, ...]
    steps: tuple[FanStep, ...]
    price_at_issue: float | None
