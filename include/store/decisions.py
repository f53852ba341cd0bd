"""Forecast decisions, one a symbol and cycle, and the forecasts in force.

A decision is written before the engine is asked and completed after it. What was issued is
append-only: the forecast in force at an instant is the newest that was issued by then.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ARRAY,
    Double,
    Text,
    bindparam,
    column,
    func,
    literal,
    select,
    text,
    true,
)

from include.domain.decisions import ForecastDecision, IssuedForecast, Outcome
from include.store.rows import (
    copy_new,
    keyed,
    require_written,
    row_of,
    select_fields,
    values_of,
)
from include.store.schema import forecast_decisions, issued_forecasts
from include.store.transaction import Row, Transaction

_COMPLETE = """
UPDATE tradewind.forecast_decisions AS decision
SET outcome = done.outcome, new_key = done.new_key, engine_seconds = done.engine_seconds,
    detail = coalesce(done.detail, decision.detail)
FROM unnest(:symbols, :outcomes, :new_keys, :engine_seconds, :details)
    AS done (symbol, outcome, new_key, engine_seconds, detail)
WHERE decision.cycle_id = :cycle_id AND decision.symbol = done.symbol
"""


class DecisionRepository:
    """Decisions by cycle and symbol, and what was issued for each symbol."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def save_all(
        self, cycle_id: str, decisions: Sequence[ForecastDecision], model_label: str = ""
    ) -> None:
        """Store decisions; nothing changes where the cycle has one of the symbol."""
        rows = [
            row_of(decision, cycle_id=cycle_id, model_label=model_label) for decision in decisions
        ]
        copy_new(self._transaction, forecast_decisions, rows)

    def complete(
        self,
        cycle_id: str,
        symbol: str,
        *,
        outcome: Outcome,
        new_key: str | None,
        engine_seconds: float,
    ) -> None:
        """Store what came of a decision; raise UnknownRow where there is none."""
        self._complete(cycle_id, [(symbol, outcome.value, new_key, float(engine_seconds), None)])

    def complete_all(self, cycle_id: str, decisions: Sequence[ForecastDecision]) -> None:
        """Store outcome, new key, engine seconds and detail of decisions; the rest stays."""
        self._complete(
            cycle_id,
            [
                (done.symbol, done.outcome.value, done.new_key, done.engine_seconds, done.detail)
                for done in decisions
            ],
        )

    def by_cycle(self, cycle_id: str) -> dict[str, ForecastDecision]:
        """Return a cycle's decisions by symbol."""
        statement = (
            select_fields(forecast_decisions, ForecastDecision)
            .where(forecast_decisions.c.cycle_id == cycle_id)
            .order_by(forecast_decisions.c.symbol)
        )
        return keyed(values_of(self._transaction, statement, ForecastDecision), "symbol")

    def issue_all(
        self,
        cycle_id: str,
        issued: Mapping[str, IssuedForecast],
        control_keys: Mapping[str, str],
    ) -> None:
        """Append the forecasts that a cycle puts in force, with the keys of their controls.

        Nothing changes where the cycle has issued one of the symbol.
        """
        rows = [
            row_of(
                forecast, cycle_id=cycle_id, symbol=symbol, control_key=control_keys.get(symbol)
            )
            for symbol, forecast in issued.items()
        ]
        copy_new(self._transaction, issued_forecasts, rows)

    def in_force(self, symbols: Sequence[str], as_of: datetime) -> dict[str, IssuedForecast]:
        """Return for each symbol the newest forecast that was issued by `as_of`, if any."""
        names = list(IssuedForecast.__dataclass_fields__)
        return {
            row["symbol"]: IssuedForecast(**{name: row[name] for name in names})
            for row in self._newest(symbols, as_of, names)
        }

    def control_key_in_force(self, symbols: Sequence[str], as_of: datetime) -> dict[str, str]:
        """Return for each symbol the control's content key beside the forecast in force."""
        rows = self._newest(symbols, as_of, ["control_key"])
        return {row["symbol"]: row["control_key"] for row in rows if row["control_key"]}

    def _newest(self, symbols: Sequence[str], as_of: datetime, names: Sequence[str]) -> list[Row]:
        """Return one row a symbol: an index lookup each, however long its history is."""
        wanted = (
            func.unnest(literal(list(symbols), ARRAY(Text)))
            .table_valued(column("symbol", Text))
            .render_derived(name="wanted")
        )
        newest = (
            select(*(issued_forecasts.c[name] for name in names))
            .where(issued_forecasts.c.symbol == wanted.c.symbol)
            .where(issued_forecasts.c.issued_at <= as_of)
            .order_by(issued_forecasts.c.issued_at.desc(), issued_forecasts.c.issue_number.desc())
            .limit(1)
            .lateral("newest")
        )
        statement = select(wanted.c.symbol, newest).join_from(wanted, newest, true())
        return self._transaction.rows(statement)

    def _complete(self, cycle_id: str, done: Sequence[tuple[Any, ...]]) -> None:
        if not done:
            return
        symbols, outcomes, new_keys, engine_seconds, details = (
            list(part) for part in zip(*done, strict=True)
        )
        statement = text(_COMPLETE).bindparams(
            bindparam("symbols", symbols, ARRAY(Text)),
            bindparam("outcomes", outcomes, ARRAY(Text)),
            bindparam("new_keys", new_keys, ARRAY(Text)),
            bindparam("engine_seconds", engine_seconds, ARRAY(Double)),
            bindparam("details", details, ARRAY(Text)),
        )
        count = self._transaction.write(statement, {"cycle_id": cycle_id})
        require_written(
            count, expected=len(done), kind="forecast decision", key=f"{cycle_id}, {symbols[0]}"
        )
