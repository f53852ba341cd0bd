"""A cycle: one run of `trading_cycle`, one `as_of`."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class CycleState(StrEnum):
    """Where a cycle stands."""

    RUNNING = "running"
    SUCCESS = "success"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class CycleRequest:
    """What a person or the schedule asked of a cycle."""

    symbols: tuple[str, ...] = ()
    is_forced: bool = False
    is_dry_run: bool = False


@dataclass(frozen=True, kw_only=True)
class Cycle:
    """One cycle: its id is the run's id, its `as_of` the venue's clock when it began."""

    cycle_id: str
    as_of: datetime
    account_id: str
    settings_hash: str
    request: CycleRequest = field(default_factory=CycleRequest)
    state: CycleState = CycleState.RUNNING
    symbols: tuple[str, ...] = ()
