"""Read-only answers for people: the report of a cycle, and which cycle was the last."""

from typing import Any

from include.pipeline.report import cycle_report as build_report
from include.pipeline.wiring.store import open_database


def cycle_report(run_id: str) -> dict[str, Any]:
    """Return the report of a run; raise UnknownRow for a run that never began a cycle.

    Built from the rows, so that a failed or running cycle has one too.
    """
    with open_database().unit_of_work() as uow:
        return build_report(uow, uow.cycles.require(run_id))


def latest_cycle_id() -> str | None:
    """Return the id of the newest cycle; None before the first."""
    with open_database().unit_of_work() as uow:
        cycle = uow.cycles.latest()
    return cycle.cycle_id if cycle else None
