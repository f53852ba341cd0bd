"""Cycles and their stages.

The newest cycle is the one with the latest `as_of`; of equals, the one that was begun last.
"""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Select, select, tuple_, update

from include.domain.cycles import Cycle, CycleRequest, CycleState
from include.errors import UnknownRow
from include.store.records import StageRecord
from include.store.rows import (
    insert_new,
    require_written,
    row_of,
    select_fields,
    upsert,
    values_of,
)
from include.store.schema import cycle_stages, cycles
from include.store.transaction import Row, Transaction

_NEWEST_FIRST = (cycles.c.as_of.desc(), cycles.c.cycle_number.desc())


class CycleRepository:
    """Cycles by id, and how long each of their stages took."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def save(self, cycle: Cycle) -> None:
        """Store a cycle; nothing changes where its id is stored already."""
        row = row_of(cycle, request=asdict(cycle.request), symbols=list(cycle.symbols))
        insert_new(self._transaction, cycles, [row])

    def by_id(self, cycle_id: str) -> Cycle | None:
        """Return a cycle, or None."""
        return self._first(select_fields(cycles, Cycle).where(cycles.c.cycle_id == cycle_id))

    def require(self, cycle_id: str) -> Cycle:
        """Return a cycle; raise UnknownRow where there is none."""
        cycle = self.by_id(cycle_id)
        if cycle is None:
            raise UnknownRow(kind="cycle", key=cycle_id)
        return cycle

    def latest(self, account_id: str | None = None) -> Cycle | None:
        """Return the newest cycle, of an account where one is given."""
        statement = select_fields(cycles, Cycle).order_by(*_NEWEST_FIRST).limit(1)
        if account_id is not None:
            statement = statement.where(cycles.c.account_id == account_id)
        return self._first(statement)

    def latest_ids(self, count: int) -> list[str]:
        """Return the ids of the newest cycles, newest first."""
        statement = select(cycles.c.cycle_id).order_by(*_NEWEST_FIRST).limit(count)
        return self._transaction.column(statement)

    def is_newest(self, cycle_id: str) -> bool:
        """Tell whether no cycle of the same account is newer."""
        own = select(cycles).where(cycles.c.cycle_id == cycle_id).subquery()
        newer = (
            select(cycles.c.cycle_id)
            .where(cycles.c.account_id == own.c.account_id)
            .where(
                tuple_(cycles.c.as_of, cycles.c.cycle_number)
                > tuple_(own.c.as_of, own.c.cycle_number)
            )
        )
        self.require(cycle_id)
        return not self._transaction.scalar(select(newer.exists()))

    def set_symbols(self, cycle_id: str, symbols: Sequence[str]) -> None:
        """Store which symbols a cycle considers, in their order."""
        self._update(cycle_id, {"symbols": list(symbols)})

    def finish(self, cycle_id: str, state: CycleState) -> None:
        """Store how a cycle ended."""
        self._update(cycle_id, {"state": state})

    def record_stage(  # one row with these columns
        self,
        cycle_id: str,
        stage: str,
        started_at: datetime,
        ended_at: datetime,
        detail: dict[str, Any],
        *,
        part: str = "",
    ) -> None:
        """Store when a stage, or a part of it, ran; a repeated run replaces the first."""
        record = StageRecord(
            stage=stage, part=part, started_at=started_at, ended_at=ended_at, detail=detail
        )
        upsert(self._transaction, cycle_stages, [row_of(record, cycle_id=cycle_id)])

    def stages(self, cycle_id: str) -> list[StageRecord]:
        """Return the stages of a cycle in the order of their starts."""
        statement = (
            select_fields(cycle_stages, StageRecord)
            .where(cycle_stages.c.cycle_id == cycle_id)
            .order_by(cycle_stages.c.started_at, cycle_stages.c.stage, cycle_stages.c.part)
        )
        return values_of(self._transaction, statement, StageRecord)

    def _first(self, statement: Select[Any]) -> Cycle | None:
        row = self._transaction.first(statement)
        return None if row is None else _cycle_of(row)

    def _update(self, cycle_id: str, values: dict[str, Any]) -> None:
        statement = update(cycles).where(cycles.c.cycle_id == cycle_id).values(values)
        count = self._transaction.write(statement)
        require_written(count, expected=1, kind="cycle", key=cycle_id)


def _cycle_of(row: Row) -> Cycle:
    asked = row["request"]
    request = CycleRequest(
        symbols=tuple(asked["symbols"]),
        is_forced=asked["is_forced"],
        is_dry_run=asked["is_dry_run"],
    )
    return Cycle(**{**row, "request": request, "symbols": tuple(row["symbols"])})
