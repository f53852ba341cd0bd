"""The virtual clock: the exchange's only source of time, and the only reader of the machine's.

It stands still until it is stepped, or runs at a multiple of real time. It never goes back and
never passes the end of the replay. What happens while it moves is venue.py's matter.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from include.exchange.instants import Instant


class ClockMode(Enum):
    """How the clock moves: by steps, with real time, or at a multiple of it."""

    STEPPED = "stepped"
    REAL = "real"
    SCALED = "scaled"


@dataclass(frozen=True, kw_only=True)
class Anchor:
    """Where the clock stood when the machine's monotonic clock showed `monotonic` nanoseconds."""

    instant: Instant
    monotonic: int


class VirtualClock:
    """Tell the replay's time; not thread-safe by itself, the venue's lock guards it."""

    def __init__(
        self,
        *,
        start: Instant,
        end: Instant,
        speed: float | None,
        monotonic: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._monotonic = monotonic
        self._anchor = Anchor(instant=min(start, end), monotonic=monotonic())
        self.end = end
        self.speed = speed or None

    @property
    def mode(self) -> ClockMode:
        """Return how the clock moves at present."""
        if self.speed is None:
            return ClockMode.STEPPED
        return ClockMode.REAL if self.speed == 1 else ClockMode.SCALED

    def now(self) -> Instant:
        """Return the present instant; a running clock stops at the end of the replay."""
        if self.speed is None:
            return self._anchor.instant
        elapsed = (self._monotonic() - self._anchor.monotonic) * self.speed
        return min(self._anchor.instant + int(elapsed), self.end)

    def step_to(self, instant: Instant) -> None:
        """Move the clock forward, to the replay's end at most; an earlier instant is ignored."""
        self._anchor_at(max(self.now(), min(instant, self.end)))

    def run_at(self, speed: float | None) -> None:
        """Change the speed from now on; None or 0 stops the clock until it is stepped."""
        self._anchor_at(self.now())
        self.speed = speed or None

    def resume_at(self, instant: Instant) -> None:
        """Set the clock to where a former run of the exchange left it."""
        self._anchor_at(min(instant, self.end))

    def _anchor_at(self, instant: Instant) -> None:
        self._anchor = Anchor(instant=instant, monotonic=self._monotonic())
