"""Small frozen values that repositories give back and that no other layer makes.

Domain values live in `include.domain`; these describe the rows themselves.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from include.domain.halts import HaltState
from include.domain.orders import IntentState


@dataclass(frozen=True, kw_only=True)
class HaltRow:
    """The latch of an account; `at` is None where no row was found, which counts as halted."""

    state: HaltState
    reason: str
    actor: str
    at: datetime | None


@dataclass(frozen=True, kw_only=True)
class SavedBars:
    """How many bars a save found new, differing from the newest revision, and equal to it."""

    new: int
    revised: int
    unchanged: int


@dataclass(frozen=True, kw_only=True)
class StageRecord:
    """One stage of a cycle; `part` tells the mapped batches of a stage apart."""

    stage: str
    part: str
    started_at: datetime
    ended_at: datetime
    detail: dict[str, Any]

    @property
    def seconds(self) -> float:
        """Seconds from start to end."""
        return (self.ended_at - self.started_at).total_seconds()


@dataclass(frozen=True, kw_only=True)
class OrderEvent:
    """One transition of a journal row, at the instant of the report that caused it."""

    client_order_id: str
    at: datetime
    from_state: IntentState
    to_state: IntentState
    venue_status: str | None
    detail: str
