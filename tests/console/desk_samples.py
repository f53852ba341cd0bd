"""Views of the desk for the tests of the page: complete ones, empty ones, and hostile text."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from include.domain.decisions import Decision, Outcome, Reason
from include.domain.sessions import Window
from include.pipeline.desk_values import (
    CycleRow,
    DenialRow,
    DeskView,
    EquityPoint,
    FanStep,
    ForecastFan,
    OrderRow,
    SymbolRow,
)

AS_OF = datetime(2026, 11, 20, 15, 30, tzinfo=UTC)
WINDOW = Window(
    opens_at=datetime(2026, 11, 20, 14, 30, tzinfo=UTC),
    ends_at=datetime(2026, 11, 20, 21, 0, tzinfo=UTC),
)
STAGES = {"reconcile": 0.2, "fetch": 0.9, "plan_forecasts": 0.1, "forecast": 3.4, "trade": 0.3}


def an_order(**changes) -> OrderRow:
    """Return a working entry of KO."""
    order = OrderRow(
        symbol="KO",
        leg="entry_long",
        side="buy",
        quantity=Decimal("12.000000000"),
        limit_price=Decimal("71.23"),
        state="acked",
        venue_status="new",
        standing="probe",
        filled_quantity=Decimal(0),
    )
    return replace(order, **changes)


def a_row(symbol: str = "KO", **changes) -> SymbolRow:
    """Return a symbol with forecast, position and order."""
    row = SymbolRow(
        symbol=symbol,
        price=71.55,
        forecast_low=71.1,
        forecast_close=71.7,
        forecast_high=72.2,
        close_band=(71.2, 72.1),
        age_seconds=1260.0,
        decision=Decision.KEEP,
        reason=Reason.WITHIN_THRESHOLD,
        outcome=Outcome.NONE,
        move_fraction=0.0031,
        threshold_fraction=0.01,
        max_age_seconds=1800.0,
        position_quantity=Decimal(30),
        position_pnl_usd=Decimal("-12.40"),
        orders=(an_order(symbol=symbol),),
        model_label="fracast@1a2b3c4d/1",
        forecast_window=WINDOW,
    )
    return replace(row, **changes)


def a_cycle(number: int = 0, **changes) -> CycleRow:
    """Return a finished cycle, `number` half hours before the newest."""
    as_of = AS_OF - number * timedelta(minutes=30)
    row = CycleRow(
        cycle_id=f"scheduled__{as_of.isoformat()}",
        as_of=as_of,
        state="success",
        seconds=5.1 + number,
        stage_seconds=STAGES,
        reuse_rate_fraction=0.82,
    )
    return replace(row, **changes)


def a_desk(**changes) -> DeskView:
    """Return a desk with every kind of row."""
    blocked = SymbolRow(
        symbol="GE",
        price=None,
        decision=Decision.NONE,
        reason=Reason.BLOCKED_DATA,
        outcome=Outcome.NONE,
        detail="stale: the newest bar ends 2026-11-19 21:00 UTC",
    )
    crypto = a_row(
        "BTC/USD",
        price=91234.5,
        forecast_low=90102.0,
        forecast_close=91010.0,
        forecast_high=92480.0,
        close_band=(90350.0, 92100.0),
        age_seconds=0.0,
        decision=Decision.PREDICT,
        reason=Reason.PRICE_MOVED,
        outcome=Outcome.COMPUTED,
        move_fraction=0.024,
        threshold_fraction=0.02,
        position_quantity=Decimal("0.01342"),
        position_pnl_usd=Decimal("3.10"),
        orders=(),
        denials=(DenialRow(reason="order_notional", found="1224.35", bound="1000.00"),),
    )
    view = DeskView(
        venue_is_simulated=True,
        as_of=AS_OF,
        cycle_id=f"scheduled__{AS_OF.isoformat()}",
        cycle_state="success",
        account_number="PA3SIMULATED",
        equity_usd=Decimal("100412.55"),
        last_equity_usd=Decimal("100120.05"),
        cash_usd=Decimal("88210.11"),
        equity_curve=tuple(
            EquityPoint(
                at=AS_OF - timedelta(minutes=30 * (40 - step)),
                equity_usd=100_000 + 10 * step + 60 * (step % 7),
            )
            for step in range(41)
        ),
        cycles=tuple(a_cycle(number) for number in range(6)),
        symbols=(
            crypto,
            a_row(),
            blocked,
            a_row("T", price=17.2, forecast_low=None, forecast_high=None, close_band=None),
        ),
        working_orders=(an_order(),),
        halt_state="active",
    )
    return replace(view, **changes)


def an_empty_desk() -> DeskView:
    """Return the desk before the first cycle."""
    return DeskView(venue_is_simulated=True)


def a_fan(symbol: str = "KO", steps: int = 11) -> ForecastFan:
    """Return a fan that widens with each step."""
    spreads = (-1.3, -0.7, 0.0, 0.7, 1.3)
    return ForecastFan(
        symbol=symbol,
        model_label="fracast@1a2b3c4d/1",
        origin=AS_OF,
        window=WINDOW,
        samples=32,
        levels=(0.1, 0.25, 0.5, 0.75, 0.9),
        steps=tuple(
            FanStep(
                ends_at=AS_OF + timedelta(minutes=30 * (step + 1)),
                close_quantiles=tuple(
                    71.5 + 0.1 * spread * (step + 1) ** 0.5 for spread in spreads
                ),
            )
            for step in range(steps)
        ),
        price_at_issue=71.55,
    )
