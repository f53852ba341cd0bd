"""How long each stage of a cycle took, measured by the machine's clock and kept in the store."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from include.store.unit_of_work import Database


@contextmanager
def recorded_stage(
    database: Database, *, cycle_id: str, stage: str, part: str = ""
) -> Iterator[dict[str, Any]]:
    """Record a stage's start, end and details when its body ends without an error.

    The machine's clock is read for the measurement alone; decisions use the cycle's `as_of`.
    """
    started_at = datetime.now(UTC)
    detail: dict[str, Any] = {}
    yield detail
    with database.unit_of_work() as uow:
        uow.cycles.record_stage(
            cycle_id,
            stage,
            started_at=started_at,
            ended_at=datetime.now(UTC),
            detail=detail,
            part=part,
        )
        uow.commit()
