"""When the next cycle of the embedded venue decides: a pure function of the venue's clock."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from include.errors import ReplayOver
from include.stack.exchange import VenueClock

NEW_YORK = ZoneInfo("America/New_York")
SESSION_OPEN = time(9, 30)  # the NYSE's core trading session begins at 9:30 a.m. Eastern time


def next_decision_instant(
    clock: VenueClock, *, every_minutes: int, last: datetime | None
) -> datetime:
    """Return the first instant, from now on and after the last one, at which a cycle decides.

    Decisions stand at a session's open and every so many minutes after it, before its close. An
    instant that is now and was not yet decided is used as it is.

    Parameters
    ----------
    clock
        The venue's clock.
    every_minutes
        Minutes between two decisions of a session, at least 1.
    last
        The last instant that a cycle decided at, aware; None before the first cycle. One that
        is later than now belongs to an earlier replay and is ignored.

    Raises
    ------
    ReplayOver
        When the replay holds no such instant.
    """
    if clock.exhausted:
        raise ReplayOver(last=clock.replay_end)
    decided = clock.now if last == clock.now else None
    marks = (mark for mark in _marks_left(clock, every_minutes) if mark != decided)
    found = next(marks, clock.next_open)
    if found is None or found > clock.replay_end:
        raise ReplayOver(last=clock.replay_end)
    return found


def _marks_left(clock: VenueClock, every_minutes: int) -> list[datetime]:
    """Return the marks of the session under way that are not before now; empty when closed."""
    if not clock.is_open or clock.next_close is None:
        return []
    day = clock.next_close.astimezone(NEW_YORK).date()
    opened = datetime.combine(day, SESSION_OPEN, tzinfo=NEW_YORK).astimezone(UTC)
    step = timedelta(minutes=every_minutes)
    count = -((opened - clock.next_close) // step)
    marks = (opened + step * index for index in range(max(count, 0)))
    return [mark for mark in marks if clock.now <= mark < clock.next_close]
