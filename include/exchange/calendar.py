"""The trading calendar of a replay: its sessions are the dates for which there are bars.

A date that the data lacks is a venue closure. Regular hours are 09:30 to 16:00 New York; early
closes are those that the New York Stock Exchange had.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, time, timedelta

from include.exchange.instants import MINUTE, Instant, at_new_york, new_york_date

OPEN_TIME = time(9, 30)
CLOSE_TIME = time(16, 0)
EARLY_CLOSE_TIME = time(13, 0)
NEW_YORK_MIDNIGHT = time()
_WEDNESDAY, _FRIDAY, _SATURDAY = 2, 4, 5


@dataclass(frozen=True, kw_only=True)
class Session:
    """One trading day of the venue: open inclusive, close exclusive."""

    session_date: date
    open: Instant
    close: Instant

    @property
    def n_minutes(self) -> int:
        """Return how many minutes the session lasts."""
        return (self.close - self.open) // MINUTE


def session_of(day: date) -> Session:
    """Return the session that the venue has on a date on which it is open."""
    close_time = EARLY_CLOSE_TIME if closes_early(day) else CLOSE_TIME
    return Session(
        session_date=day, open=at_new_york(day, OPEN_TIME), close=at_new_york(day, close_time)
    )


def closes_early(day: date) -> bool:
    """Say whether the New York Stock Exchange, if open on a date since 2004, closes at 13:00.

    Notes
    -----
    The day after Thanksgiving; 24 December from Monday to Thursday; 3 July on a Monday, Tuesday or
    Thursday, since 2013 also on a Wednesday, before that 5 July on a Friday instead (NYSE,
    "Holidays and Trading Hours", and its notices of those years).
    """
    if day.month == 11:
        return day.weekday() == _FRIDAY and 23 <= day.day <= 29
    if (day.month, day.day) == (12, 24):
        return day.weekday() < _FRIDAY
    if (day.month, day.day) == (7, 3):
        return day.weekday() < _FRIDAY and (day.weekday() != _WEDNESDAY or day.year >= 2013)
    return (day.month, day.day) == (7, 5) and day.weekday() == _FRIDAY and day.year < 2013


class ReplayCalendar:
    """Answer which session an instant belongs to, and when the next one opens and closes."""

    def __init__(self, dates: Iterable[date]) -> None:
        self.sessions = tuple(session_of(day) for day in sorted(dates))
        self._opens = [session.open for session in self.sessions]
        self._closes = [session.close for session in self.sessions]
        self._by_date = {session.session_date: session for session in self.sessions}

    def session_on(self, day: date) -> Session | None:
        """Return the session of a date, None on a closure."""
        return self._by_date.get(day)

    def session_at(self, instant: Instant) -> Session | None:
        """Return the session that is open at an instant."""
        latest = self.latest_session(instant)
        return latest if latest is not None and instant < latest.close else None

    def latest_session(self, instant: Instant) -> Session | None:
        """Return the newest session that has opened at or before an instant."""
        position = bisect_right(self._opens, instant)
        return self.sessions[position - 1] if position else None

    def latest_close(self, instant: Instant) -> Session | None:
        """Return the newest session that has closed at or before an instant."""
        position = bisect_right(self._closes, instant)
        return self.sessions[position - 1] if position else None

    def next_open(self, instant: Instant) -> Instant:
        """Return the first opening after an instant; past the data, that of the next weekday."""
        position = bisect_right(self._opens, instant)
        if position < len(self._opens):
            return self._opens[position]
        return self._weekday_after(instant).open

    def next_close(self, instant: Instant) -> Instant:
        """Return the first close after an instant; past the data, that of the next weekday."""
        position = bisect_right(self._closes, instant)
        if position < len(self._closes):
            return self._closes[position]
        return self._weekday_after(instant).close

    def between(self, first: date, last: date) -> list[Session]:
        """Return the sessions of a range of dates, both ends inclusive."""
        return [session for session in self.sessions if first <= session.session_date <= last]

    def closing_in(self, after: Instant, until: Instant) -> tuple[Session, ...]:
        """Return the sessions that close after one instant and at or before another."""
        first = bisect_right(self._closes, after)
        return self.sessions[first : bisect_right(self._closes, until)]

    def next_session_date(self, day: date) -> date:
        """Return the first session date after a date; past the data, the next weekday."""
        position = bisect_left(list(self._by_date), day + timedelta(days=1))
        if position < len(self.sessions):
            return self.sessions[position].session_date
        return _weekday_from(day + timedelta(days=1))

    def _weekday_after(self, instant: Instant) -> Session:
        day = max(new_york_date(instant), self.sessions[-1].session_date)
        return session_of(_weekday_from(day + timedelta(days=1)))


def _weekday_from(day: date) -> date:
    return day + timedelta(days=7 - day.weekday() if day.weekday() >= _SATURDAY else 0)
