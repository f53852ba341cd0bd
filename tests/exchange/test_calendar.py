from datetime import date

import pytest

from include.exchange.calendar import ReplayCalendar, closes_early
from include.exchange.instants import MINUTE, parse_instant
from tests.exchange.conftest import utc


def at(text):
    """The instant of a stamp that is certainly one."""
    instant = parse_instant(text)
    assert instant is not None
    return instant


def test_early_closes_are_those_of_the_exchange(replay):
    """The half days are the day after Thanksgiving and Christmas Eve, 210 minutes long."""
    short = {s.session_date: s.n_minutes for s in replay.calendar.sessions if s.n_minutes != 390}
    assert short == {date(2009, 11, 27): 210, date(2009, 12, 24): 210}


def test_dates_without_bars_are_closures(replay):
    """The seven trading dates that the data lacks have no session."""
    absent = [date(2009, 9, 8), date(2009, 10, 29), date(2009, 11, 4), date(2010, 8, 18)]
    assert all(replay.calendar.session_on(day) is None for day in absent)
    assert len(replay.calendar.sessions) == 245


def test_open_is_inclusive_and_close_exclusive(replay):
    """The venue is open at 09:30:00 sharp and closed at 16:00:00 sharp."""
    session = replay.calendar.session_on(date(2010, 3, 8))
    calendar = replay.calendar
    assert calendar.session_at(session.open) == session
    assert calendar.session_at(session.close) is None
    assert calendar.session_at(session.close - 1) == session
    assert calendar.next_open(session.open) > session.close
    assert calendar.next_close(session.open) == session.close


def test_beyond_the_data_comes_the_next_weekday():
    """After the last bar the next open is a weekday's, so that its stamp stays valid."""
    calendar = ReplayCalendar([date(2010, 8, 19), date(2010, 8, 20)])
    after = at("2010-08-20T20:00:00Z")
    assert calendar.next_open(after) == at("2010-08-23T13:30:00Z")
    assert calendar.next_close(after) == at("2010-08-23T20:00:00Z")
    assert calendar.next_session_date(date(2010, 8, 20)) == date(2010, 8, 23)


def test_sessions_that_close_in_a_span_include_its_end(replay):
    """A walk to the close itself meets that close once."""
    session = replay.calendar.session_on(date(2010, 3, 8))
    closing = replay.calendar.closing_in(session.open, session.close)
    assert closing == (session,)
    assert replay.calendar.closing_in(session.close, session.close + MINUTE) == ()


def test_calendar_route_speaks_to_alpaca_py(exchange):
    """alpaca-py reads open and close as New York times, the half day included."""
    from alpaca.trading.requests import GetCalendarRequest

    asked = GetCalendarRequest(start=date(2009, 11, 25), end=date(2009, 11, 30))
    days = exchange.trading.get_calendar(asked)
    assert [(d.date.day, d.close.hour) for d in days] == [(25, 16), (27, 13), (30, 16)]
    clock = exchange.trading.get_clock()
    assert clock.is_open
    assert clock.timestamp == utc(2010, 3, 8, 14, 30)
    assert clock.next_close == utc(2010, 3, 8, 21)


@pytest.mark.filterwarnings("ignore:Series.values:DeprecationWarning")
def test_early_closes_agree_with_an_independent_calendar():
    """On every session of 2004 to 2026 the rule says what exchange-calendars lists."""
    from exchange_calendars import get_calendar

    calendar = get_calendar("XNYS", start="2004-01-01", end="2026-12-31")
    listed = {stamp.date() for stamp in calendar.early_closes}
    sessions = {stamp.date() for stamp in calendar.sessions}
    assert {day for day in sessions if closes_early(day)} == listed
