"""Cycle reports, as plain values and as markdown."""

from typing import Any

from sqlalchemy import select

from include.store.rows import upsert
from include.store.schema import cycles, reports
from include.store.transaction import Transaction


class ReportRepository:
    """One report a cycle; reporting again replaces it."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def save(self, cycle_id: str, report: dict[str, Any], markdown: str) -> None:
        """Store a report in place of what is stored of the cycle."""
        row = {"cycle_id": cycle_id, "report": report, "markdown": markdown}
        upsert(self._transaction, reports, [row])

    def by_cycle(self, cycle_id: str) -> tuple[dict[str, Any], str] | None:
        """Return a cycle's report and its markdown, or None."""
        statement = select(reports.c.report, reports.c.markdown).where(
            reports.c.cycle_id == cycle_id
        )
        row = self._transaction.first(statement)
        return None if row is None else (row["report"], row["markdown"])

    def latest(self, count: int) -> list[tuple[dict[str, Any], str]]:
        """Return the reports of the newest cycles that have one, newest first."""
        statement = (
            select(reports.c.report, reports.c.markdown)
            .join(cycles, cycles.c.cycle_id == reports.c.cycle_id)
            .order_by(cycles.c.as_of.desc(), cycles.c.cycle_number.desc())
            .limit(count)
        )
        return [(row["report"], row["markdown"]) for row in self._transaction.rows(statement)]
