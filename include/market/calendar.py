"""The NYSE's sessions, the windows that strategies trade in, and when cycles are due.

Only `MarketCalendar` needs exchange_calendars, and loads it (with pandas) on its first use; the
rest is pure functions of sessions that the caller hands in, so that the venue's own calendar can
take the place of ours. No clock is read here.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

from include.domain.instants import require_utc
from include.domain.instruments import AssetClass
from include.domain.sessions import Session, Window, session_window, utc_day_window

EXCHANGE = "XNYS"
ONE_HOUR = timedelta(hours=1)
ONE_DAY = timedelta(days=1)


@dataclass(kw_only=True, eq=False)
class MarketCalendar:
    """Sessions of the NYSE by exchange_calendars, for any years; grows as years are asked for."""

    _sessions: list[Session] = field(default_factory=list, init=False, repr=False)
    _years: tuple[int, int] | None = field(default=None, init=False)

    def sessions_between(self, start: date, end: date) -> list[Session]:
        """Return the sessions with a date in [start, end), oldest first, half days included.

        Exact for the past; for the future it is the rule as known to the installed release.
        """
        if end <= start:
            return []
        self._cover(start.year, end.year)
        return [session for session in self._sessions if start <= session.session_date < end]

    def _cover(self, first_year: int, last_year: int) -> None:
        known = self._years
        if known is not None:
            if known[0] <= first_year and last_year <= known[1]:
                return
            first_year, last_year = min(first_year, known[0]), max(last_year, known[1])
        self._sessions = _nyse_sessions(date(first_year, 1, 1), date(last_year, 12, 31))
        self._years = (first_year, last_year)


def next_decision_instant(
    after: datetime,
    every_minutes: int,
    *,
    sessions: Sequence[Session],
    include_crypto_hours: bool = False,
) -> datetime:
    """Return the first instant strictly later than `after` at which a cycle is due, UTC.

    Due are open + k x every_minutes inside [open, close) of each session, and every full UTC
    hour where `include_crypto_hours`. Raise ValueError where the sessions end too early to tell.
    """
    step = timedelta(minutes=every_minutes)
    if step <= timedelta(0):
        message = f"every_minutes was {every_minutes}; it must be at least 1."
        raise ValueError(message)
    present = require_utc(after, name="after")
    due = [_next_in_session(present, step, session) for session in sessions]
    if include_crypto_hours:
        due.append(present.replace(minute=0, second=0, microsecond=0) + ONE_HOUR)
    later = [instant for instant in due if instant is not None]
    if not later:
        message = f"No session opens after {present.isoformat()}; hand in sessions that reach on."
        raise ValueError(message)
    return min(later)


def window_at(
    as_of: datetime, sessions: Sequence[Session], asset_class: AssetClass
) -> Window | None:
    """Return the window that contains the instant; None while the class is not traded."""
    if asset_class is AssetClass.CRYPTO:
        return utc_day_window(require_utc(as_of, name="as_of").date())
    windows = (session_window(session) for session in sessions)
    return next((window for window in windows if window.contains(as_of)), None)


def windows_before(
    instant: datetime, count: int, sessions: Sequence[Session], asset_class: AssetClass
) -> list[Window]:
    """Return the last `count` windows that ended at or before the instant, oldest first.

    Fewer for equities where the sessions handed in don't reach back far enough.
    """
    if count <= 0:
        return []
    if asset_class is AssetClass.CRYPTO:
        today = require_utc(instant, name="instant").date()
        return [utc_day_window(today - ONE_DAY * back) for back in range(count, 0, -1)]
    ended = sorted(session_window(each) for each in sessions if each.closes_at <= instant)
    return ended[-count:]


def calendar_differences(ours: Sequence[Session], venue: Sequence[Session]) -> list[str]:
    """Return one sentence per session that the venue adds, lacks or moves, by date."""
    our_days = {session.session_date: session for session in ours}
    venue_days = {session.session_date: session for session in venue}
    sentences = []
    for day in sorted(our_days.keys() | venue_days.keys()):
        expected, found = our_days.get(day), venue_days.get(day)
        if found is None:
            sentences.append(f"The venue lacks the session of {day} that {EXCHANGE} has.")
        elif expected is None:
            sentences.append(f"The venue adds a session on {day}: {_hours(found)}.")
        elif (expected.opens_at, expected.closes_at) != (found.opens_at, found.closes_at):
            moved = f"to {_hours(found)}; {EXCHANGE} has {_hours(expected)}."
            sentences.append(f"The venue moves the session of {day} {moved}")
    return sentences


def _next_in_session(after: datetime, step: timedelta, session: Session) -> datetime | None:
    if after >= session.closes_at:
        return None
    if after < session.opens_at:
        return session.opens_at
    due = session.opens_at + ((after - session.opens_at) // step + 1) * step
    return due if due < session.closes_at else None


def _hours(session: Session) -> str:
    return f"{session.opens_at:%H:%M}-{session.closes_at:%H:%M} UTC"


def _nyse_sessions(first: date, last: date) -> list[Session]:
    from exchange_calendars import get_calendar  # pandas: a second to load, so on first use

    with warnings.catch_warnings():  # the release warns pandas about itself
        warnings.simplefilter("ignore", DeprecationWarning)
        table = get_calendar(EXCHANGE, start=first.isoformat(), end=last.isoformat()).schedule
    return [
        Session(
            session_date=day.date(),
            opens_at=opens_at.to_pydatetime().astimezone(UTC),
            closes_at=closes_at.to_pydatetime().astimezone(UTC),
        )
        for day, opens_at, closes_at in zip(
            table.index, table["open"], table["close"], strict=True
        )
    ]
