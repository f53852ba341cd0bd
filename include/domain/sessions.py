"""Sessions of the venue, and windows: the stretches that a strategy trades in."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from include.domain.bars import Timeframe
from include.domain.instants import epoch_seconds


@dataclass(frozen=True, kw_only=True)
class Session:
    """One trading day of the venue: [opens_at, closes_at), aware UTC; half days close early."""

    session_date: date
    opens_at: datetime
    closes_at: datetime


@dataclass(frozen=True, kw_only=True, order=True)
class Window:
    """The stretch [opens_at, ends_at) that a strategy trades in: one session, or one UTC day."""

    opens_at: datetime
    ends_at: datetime

    def contains(self, instant: datetime) -> bool:
        """Tell whether the instant lies in [opens_at, ends_at)."""
        return self.opens_at <= instant < self.ends_at


def session_window(session: Session) -> Window:
    """Return the window of one regular session."""
    return Window(opens_at=session.opens_at, ends_at=session.closes_at)


def utc_day_window(day: date) -> Window:
    """Return the window of one UTC day, in which crypto is traded."""
    opens_at = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return Window(opens_at=opens_at, ends_at=opens_at + timedelta(days=1))


def bar_grid(window: Window, timeframe: Timeframe) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return starts and ends of the window's bars in epoch seconds.

    The last bar ends with the window, so that an early close shortens it; a daily timeframe gives
    one bar that is the window.
    """
    first, last = epoch_seconds(window.opens_at), epoch_seconds(window.ends_at)
    starts = np.arange(first, last, int(timeframe.duration.total_seconds()), dtype=np.int64)
    ends = np.minimum(starts + int(timeframe.duration.total_seconds()), last)
    return starts, ends.astype(np.int64)
