"""Sessions of the NYSE, windows, and when cycles are due."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from include.domain.instruments import AssetClass
from include.domain.sessions import Session, Window
from include.market.calendar import (
    MarketCalendar,
    calendar_differences,
    next_decision_instant,
    window_at,
    windows_before,
)

EQUITY, CRYPTO = AssetClass.EQUITY, AssetClass.CRYPTO


def utc(year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0):
    """Return an instant in UTC."""
    return datetime(year, month, day, hour, minute, second, tzinfo=UTC)


def a_session(day: int, closes_hour: int = 21) -> Session:
    """Return the session of a day in November 2026."""
    return Session(
        session_date=date(2026, 11, day),
        opens_at=utc(2026, 11, day, 14, 30),
        closes_at=utc(2026, 11, day, closes_hour),
    )


SESSIONS = [a_session(19), a_session(20), a_session(23)]


def test_sessions_are_half_open_by_date():
    """The end date is not included, the start date is."""
    found = MarketCalendar().sessions_between(date(2026, 11, 19), date(2026, 11, 23))
    assert found == [a_session(19), a_session(20)]


@pytest.mark.parametrize("year", [2009, 2026, 2035])
def test_knows_early_closes_and_holidays_in_any_year(year):
    """Thanksgiving is closed and the day after ends at 13:00 in New York, past or future."""
    calendar = MarketCalendar()
    november = calendar.sessions_between(date(year, 11, 20), date(year, 12, 1))
    first = date(year, 11, 1)
    thanksgiving = first + timedelta(days=(3 - first.weekday()) % 7 + 21)
    by_day = {session.session_date: session for session in november}
    assert thanksgiving not in by_day
    assert by_day[thanksgiving + timedelta(days=1)].closes_at.hour == 18


def test_grows_over_years_that_lie_apart():
    """One calendar answers for 2009 and then for 2026."""
    calendar = MarketCalendar()
    assert len(calendar.sessions_between(date(2009, 1, 1), date(2010, 1, 1))) == 252
    assert len(calendar.sessions_between(date(2025, 1, 1), date(2026, 1, 1))) == 250
    assert len(calendar.sessions_between(date(2009, 1, 1), date(2010, 1, 1))) == 252


def test_an_empty_range_has_no_sessions():
    """A range that ends where it starts is empty and builds nothing."""
    assert MarketCalendar().sessions_between(date(2026, 11, 20), date(2026, 11, 20)) == []


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (utc(2026, 11, 20, 14, 29, 59), utc(2026, 11, 20, 14, 30)),
        (utc(2026, 11, 20, 14, 30), utc(2026, 11, 20, 14, 45)),
        (utc(2026, 11, 20, 14, 44, 59), utc(2026, 11, 20, 14, 45)),
        (utc(2026, 11, 20, 20, 45), utc(2026, 11, 23, 14, 30)),
        (utc(2026, 11, 21, 12), utc(2026, 11, 23, 14, 30)),
    ],
)
def test_next_decision_is_a_multiple_from_the_open_inside_the_session(after, expected):
    """Due instants count from the open, the close is not one, weekends have none."""
    assert next_decision_instant(after, 15, sessions=SESSIONS) == expected


def test_crypto_adds_every_full_hour():
    """With crypto a full UTC hour is due also while the NYSE is closed."""
    found = next_decision_instant(
        utc(2026, 11, 21, 12, 0), 15, sessions=SESSIONS, include_crypto_hours=True
    )
    assert found == utc(2026, 11, 21, 13, 0)


def test_says_so_where_the_sessions_end_too_early():
    """No due instant in the sessions handed in is an error, not a silence."""
    with pytest.raises(ValueError, match="sessions that reach on"):
        next_decision_instant(utc(2026, 11, 24), 15, sessions=SESSIONS)


def test_refuses_a_step_of_nothing():
    """A step below a minute is refused."""
    with pytest.raises(ValueError, match="at least 1"):
        next_decision_instant(utc(2026, 11, 20), 0, sessions=SESSIONS)


@given(
    minutes=st.integers(0, 7589),
    seconds=st.integers(0, 59),
    every_minutes=st.integers(1, 500),
    with_crypto=st.booleans(),
)
def test_the_next_decision_is_later_due_and_the_first(
    minutes, seconds, every_minutes, with_crypto
):
    """The result is strictly later, is due, and nothing due lies between."""
    instant = utc(2026, 11, 18, 8) + timedelta(minutes=minutes, seconds=seconds)
    found = next_decision_instant(
        instant, every_minutes, sessions=SESSIONS, include_crypto_hours=with_crypto
    )
    step = timedelta(minutes=every_minutes)
    due = {
        session.opens_at + k * step
        for session in SESSIONS
        for k in range((session.closes_at - session.opens_at) // step + 1)
        if session.opens_at + k * step < session.closes_at
    }
    if with_crypto:
        due |= {utc(2026, 11, 18) + timedelta(hours=k) for k in range(24 * 6)}
    assert found == min(each for each in due if each > instant)


def test_window_at_is_the_session_or_the_utc_day():
    """Equities have a window inside a session alone, crypto always."""
    open_instant, closed_instant = utc(2026, 11, 20, 14, 30), utc(2026, 11, 20, 21)
    session_window = Window(opens_at=open_instant, ends_at=closed_instant)
    assert window_at(open_instant, SESSIONS, EQUITY) == session_window
    assert window_at(closed_instant, SESSIONS, EQUITY) is None
    day = Window(opens_at=utc(2026, 11, 20), ends_at=utc(2026, 11, 21))
    assert window_at(closed_instant, SESSIONS, CRYPTO) == day


def test_windows_before_end_at_or_before_the_instant_oldest_first():
    """The window that is still open is never among the past ones."""
    at_close = windows_before(utc(2026, 11, 20, 21), 2, SESSIONS, EQUITY)
    assert [window.opens_at.day for window in at_close] == [19, 20]
    inside = windows_before(utc(2026, 11, 20, 20, 59), 2, SESSIONS, EQUITY)
    assert [window.opens_at.day for window in inside] == [19]
    assert windows_before(utc(2026, 11, 20), 0, SESSIONS, EQUITY) == []


def test_crypto_windows_before_are_whole_utc_days():
    """At midnight the day that has just ended counts."""
    windows = windows_before(utc(2026, 11, 20), 3, [], CRYPTO)
    assert [window.opens_at.day for window in windows] == [17, 18, 19]
    assert windows[-1].ends_at == utc(2026, 11, 20)


def test_differences_name_what_the_venue_adds_moves_and_lacks():
    """Each difference is one sentence, in order of dates; agreement has none."""
    moved = replace(a_session(20), closes_at=utc(2026, 11, 20, 18))
    extra = a_session(21)
    sentences = calendar_differences(SESSIONS, [moved, extra, a_session(23)])
    assert [sentence.split(" the ")[0].split(" a ")[0] for sentence in sentences] == [
        "The venue lacks",
        "The venue moves",
        "The venue adds",
    ]
    assert "2026-11-20 to 14:30-18:00 UTC; XNYS has 14:30-21:00 UTC" in sentences[1]
    assert calendar_differences(SESSIONS, SESSIONS) == []
