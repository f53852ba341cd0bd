"""The desk: what the page shows, as one read-only view of the store.

Nothing is decided or written here, and no number is made up: what the store does not hold is
None. The values stand in `desk_values.py`; `include/console/` turns them into HTML and JSON.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar
from urllib.parse import urlsplit

import numpy as np

from include.domain.bars import CLOSE
from include.domain.choices import Choice
from include.domain.cycles import Cycle, CycleState
from include.domain.decisions import ForecastDecision, IssuedForecast
from include.domain.forecasts import QUANTILE_LEVELS, Forecast, Outlook, step_quantiles
from include.domain.instants import instant_at
from include.domain.instruments import position_symbol
from include.domain.orders import OrderIntent
from include.domain.positions import Account, Position
from include.domain.quotes import Quote
from include.domain.sessions import Window
from include.domain.strategies import Denied
from include.pipeline import report
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
from include.pipeline.wiring.store import open_database
from include.settings import LOOPBACK_HOSTS, load_settings
from include.store.records import StageRecord
from include.store.unit_of_work import UnitOfWork

Item = TypeVar("Item", OrderIntent, Denied)

RECENT_CYCLES = 12
EQUITY_POINTS = 500


@dataclass(frozen=True, kw_only=True)
class _Found:
    """What the store holds of a cycle, by symbol."""

    as_of: datetime
    quotes: Mapping[str, Quote]
    decisions: Mapping[str, ForecastDecision]
    issued: Mapping[str, IssuedForecast]
    outlooks: Mapping[str, Outlook]
    positions: Mapping[str, Position]
    orders: Mapping[str, Sequence[OrderIntent]]
    denials: Mapping[str, Sequence[Denied]]
    choices: Mapping[str, Choice]


def desk_view(
    uow: UnitOfWork, *, venue_is_simulated: bool, cycle_id: str | None = None
) -> DeskView:
    """Return the desk at one cycle, by default the latest that has decided; empty without any.

    A later cycle that still works is named in `running_cycle_id`: its rows are not complete.
    """
    newest = uow.cycles.latest()
    cycle = _latest_decided(uow) if cycle_id is None else uow.cycles.by_id(cycle_id)
    if cycle is None:
        return DeskView(venue_is_simulated=venue_is_simulated, cycles=_recent_cycles(uow))
    account, positions = uow.accounts.snapshot(cycle.cycle_id) or (None, [])
    working = uow.orders.open_intents(cycle.account_id)
    halt = uow.halts.state(cycle.account_id)
    view = DeskView(
        venue_is_simulated=venue_is_simulated,
        as_of=cycle.as_of,
        cycle_id=cycle.cycle_id,
        cycle_state=cycle.state.value,
        running_cycle_id=_running_beside(cycle, newest),
        equity_curve=_equity_curve(uow, cycle.account_id),
        cycles=_recent_cycles(uow),
        symbols=_symbol_rows(cycle, _found(uow, cycle, positions, working)),
        working_orders=tuple(_order_row(intent) for intent in working),
        halt_state=halt.state.value,
        halt_reason=halt.reason,
    )
    return view if account is None else _with_account(view, account)


def _latest_decided(uow: UnitOfWork) -> Cycle | None:
    """Return the newest cycle with a complete plan, or the newest at all."""
    for cycle_id in uow.cycles.latest_ids(RECENT_CYCLES):
        if uow.strategies.is_planned(cycle_id):
            return uow.cycles.by_id(cycle_id)
    return uow.cycles.latest()


def _running_beside(shown: Cycle, newest: Cycle | None) -> str | None:
    if newest is None or newest.cycle_id == shown.cycle_id:
        return None
    return newest.cycle_id if newest.state is CycleState.RUNNING else None


def forecast_fan(uow: UnitOfWork, symbol: str) -> ForecastFan | None:
    """Return the fan of the symbol's forecast in force at the latest cycle; None without one."""
    cycle = uow.cycles.latest()
    if cycle is None:
        return None
    issued = uow.decisions.in_force([symbol], cycle.as_of).get(symbol)
    if issued is None:
        return None
    forecast = uow.forecasts.load([issued.content_key]).get(issued.content_key)
    return None if forecast is None else _fan(forecast, issued)


def load_desk(cycle_id: str | None = None) -> DeskView:
    """Return the desk of this installation's store at a cycle, by default the latest."""
    settings = load_settings()
    host = urlsplit(settings.venue.trading_url).hostname
    with open_database(settings).unit_of_work() as uow:
        return desk_view(uow, venue_is_simulated=host in LOOPBACK_HOSTS, cycle_id=cycle_id)


def load_fan(symbol: str) -> ForecastFan | None:
    """Return the symbol's fan from this installation's store; None without a forecast."""
    with open_database().unit_of_work() as uow:
        return forecast_fan(uow, symbol)


def _found(
    uow: UnitOfWork, cycle: Cycle, positions: Sequence[Position], working: Sequence[OrderIntent]
) -> _Found:
    issued = uow.decisions.in_force(cycle.symbols, cycle.as_of)
    by_id = {
        intent.client_order_id: intent
        for intent in [*uow.orders.by_cycle(cycle.cycle_id), *working]
    }
    return _Found(
        as_of=cycle.as_of,
        quotes=uow.quotes.by_cycle(cycle.cycle_id),
        decisions=uow.decisions.by_cycle(cycle.cycle_id),
        issued=issued,
        outlooks=uow.forecasts.outlooks([forecast.content_key for forecast in issued.values()]),
        positions={position_symbol(position.symbol): position for position in positions},
        orders=_by_symbol(by_id.values()),
        denials=_by_symbol(uow.strategies.denials(cycle.cycle_id)),
        choices={choice.symbol: choice for choice in uow.strategies.choices(cycle.cycle_id)},
    )


def _by_symbol(items: Iterable[Item]) -> dict[str, list[Item]]:
    grouped: dict[str, list[Item]] = {}
    for item in items:
        grouped.setdefault(item.symbol, []).append(item)
    return grouped


def _symbol_rows(cycle: Cycle, found: _Found) -> tuple[SymbolRow, ...]:
    held = {position_symbol(symbol) for symbol in cycle.symbols}
    others = [symbol for symbol in found.positions if symbol not in held]
    return tuple(_symbol_row(symbol, found) for symbol in [*cycle.symbols, *sorted(others)])


def _symbol_row(symbol: str, found: _Found) -> SymbolRow:
    quote, choice = found.quotes.get(symbol), found.choices.get(symbol)
    row = SymbolRow(
        symbol=symbol,
        price=_finite(quote.mid) if quote else None,
        orders=tuple(_order_row(intent) for intent in found.orders.get(symbol, ())),
        denials=tuple(
            DenialRow(reason=denied.reason, found=denied.found, bound=denied.bound)
            for denied in found.denials.get(symbol, ())
        ),
        choice_reason=choice.reason if choice else "",
    )
    row = _with_position(row, found)
    row = _with_decision(row, found.decisions.get(symbol))
    return _with_forecast(row, found.issued.get(symbol), found)


def _with_account(view: DeskView, account: Account) -> DeskView:
    return replace(
        view,
        account_number=account.account_number,
        equity_usd=account.equity_usd,
        last_equity_usd=account.last_equity_usd,
        cash_usd=account.cash_usd,
    )


def _with_position(row: SymbolRow, found: _Found) -> SymbolRow:
    position = found.positions.get(position_symbol(row.symbol))
    if position is None:
        return row
    return replace(
        row,
        position_quantity=position.quantity,
        position_pnl_usd=position.unrealised_pnl_usd,
    )


def _with_decision(row: SymbolRow, decision: ForecastDecision | None) -> SymbolRow:
    if decision is None:
        return row
    return replace(
        row,
        decision=decision.decision,
        reason=decision.reason,
        outcome=decision.outcome,
        move_fraction=_finite(decision.move_fraction),
        threshold_fraction=_finite(decision.threshold_fraction),
        max_age_seconds=_finite(decision.max_age_seconds),
        detail=decision.detail,
    )


def _with_forecast(row: SymbolRow, issued: IssuedForecast | None, found: _Found) -> SymbolRow:
    if issued is None:
        return row
    row = replace(
        row,
        age_seconds=(found.as_of - issued.issued_at).total_seconds(),
        model_label=issued.model_label,
        forecast_window=Window(opens_at=issued.window_opens_at, ends_at=issued.window_ends_at),
    )
    outlook = found.outlooks.get(issued.content_key)
    if outlook is None:
        return row
    low, high = (_finite(bound) for bound in outlook.close_band)
    return replace(
        row,
        forecast_low=_finite(outlook.low),
        forecast_close=_finite(outlook.close),
        forecast_high=_finite(outlook.high),
        close_band=None if low is None or high is None else (low, high),
    )


def _order_row(intent: OrderIntent) -> OrderRow:
    return OrderRow(
        symbol=intent.symbol,
        leg=intent.leg.value,
        side=intent.side.value,
        quantity=intent.quantity,
        limit_price=intent.limit_price,
        state=intent.state.value,
        venue_status=intent.venue_status,
        standing=intent.standing.value,
        filled_quantity=intent.filled_quantity,
    )


def _equity_curve(uow: UnitOfWork, account_id: str) -> tuple[EquityPoint, ...]:
    points = uow.accounts.equity_curve(EQUITY_POINTS, account_id)
    return tuple(EquityPoint(at=at, equity_usd=float(equity)) for at, equity in points)


def _recent_cycles(uow: UnitOfWork) -> tuple[CycleRow, ...]:
    found = (uow.cycles.by_id(cycle_id) for cycle_id in uow.cycles.latest_ids(RECENT_CYCLES))
    return tuple(_cycle_row(uow, cycle) for cycle in found if cycle is not None)


def _cycle_row(uow: UnitOfWork, cycle: Cycle) -> CycleRow:
    records = uow.cycles.stages(cycle.cycle_id)
    counts = report.decision_counts(uow.decisions.by_cycle(cycle.cycle_id).values())
    return CycleRow(
        cycle_id=cycle.cycle_id,
        as_of=cycle.as_of,
        state=cycle.state.value,
        seconds=_span_seconds(records),
        stage_seconds=report.stage_seconds(records),
        reuse_rate_fraction=counts["reuse_rate"],
        faults=tuple(
            f"{record.stage}: {record.detail.get('error', 'failed')}"
            for record in records
            if record.part == report.FAILURE_PART
        ),
    )


def _span_seconds(records: Sequence[StageRecord]) -> float | None:
    if not records:
        return None
    began = min(record.started_at for record in records)
    return (max(record.ended_at for record in records) - began).total_seconds()


def _fan(forecast: Forecast, issued: IssuedForecast) -> ForecastFan:
    closes = step_quantiles(forecast.paths)[:, :, CLOSE].astype(np.float64)
    return ForecastFan(
        symbol=forecast.symbol,
        model_label=forecast.model_version.label,
        origin=forecast.origin,
        window=forecast.window,
        samples=forecast.paths.n_samples,
        levels=QUANTILE_LEVELS,
        steps=tuple(
            FanStep(ends_at=instant_at(end), close_quantiles=tuple(closes[:, step].tolist()))
            for step, end in enumerate(forecast.step_ends)
        ),
        price_at_issue=_finite(issued.price_at_issue),
    )


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
