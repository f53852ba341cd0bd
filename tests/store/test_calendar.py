"""The venue's sessions as last seen."""

from dataclasses import replace
from datetime import UTC, date, datetime

from include.domain.sessions import Session
from tests.support.builders import AS_OF


def a_session(day: int) -> Session:
    """Return a full session of November 2026."""
    return Session(
        session_date=date(2026, 11, day),
        opens_at=datetime(2026, 11, day, 14, 30, tzinfo=UTC),
        closes_at=datetime(2026, 11, day, 21, 0, tzinfo=UTC),
    )


def test_sessions_between_are_half_open_and_as_last_seen(uow):
    """An early close that the venue announces later replaces the full session."""
    sessions = [a_session(day) for day in (27, 25, 24)]
    uow.calendar.save_sessions(sessions, AS_OF)
    early = replace(sessions[0], closes_at=datetime(2026, 11, 27, 18, 0, tzinfo=UTC))
    uow.calendar.save_sessions([early], AS_OF)
    found = uow.calendar.sessions_between(date(2026, 11, 25), date(2026, 11, 28))
    assert found == [a_session(25), early]
    assert uow.calendar.sessions_between(date(2026, 11, 25), date(2026, 11, 25)) == []
