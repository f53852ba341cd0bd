"""Schedule: the next instant of a cycle as the settings want it."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from include.pipeline.schedule import description, next_instant

FRIDAY_OPEN = datetime(2026, 11, 20, 14, 30, tzinfo=UTC)
MONDAY_OPEN = datetime(2026, 11, 23, 14, 30, tzinfo=UTC)


def test_manual_schedule_has_no_instant(make_settings):
    """Where cycles are begun by hand, nothing is due."""
    settings = make_settings(SCHEDULE__KIND="manual")
    assert next_instant(FRIDAY_OPEN, settings) is None
    assert description(settings) == "by hand"


@pytest.mark.parametrize("zone", [UTC, timezone(timedelta(hours=-5))])
def test_every_minute_is_the_next_full_minute(make_settings, zone):
    """The next minute begins later than the instant, whatever zone it is given in."""
    settings = make_settings(SCHEDULE__KIND="every_minute")
    after = (FRIDAY_OPEN + timedelta(seconds=12.5)).astimezone(zone)
    assert next_instant(after, settings) == FRIDAY_OPEN + timedelta(minutes=1)
    assert next_instant(FRIDAY_OPEN, settings) == FRIDAY_OPEN + timedelta(minutes=1)
    assert description(settings) == "every minute"


def test_market_hours_of_shares_skip_the_weekend(make_settings):
    """After a Friday's last instant comes Monday's opening."""
    settings = make_settings(SCHEDULE__KIND="market_hours", UNIVERSE__SYMBOLS="AAPL")
    assert next_instant(FRIDAY_OPEN, settings) == FRIDAY_OPEN + timedelta(minutes=30)
    last = datetime(2026, 11, 20, 20, 30, tzinfo=UTC)
    assert next_instant(last, settings) == MONDAY_OPEN
    assert description(settings) == "NYSE/30m"


def test_coins_are_due_at_every_full_hour_too(make_settings):
    """With a coin in the universe, weekends have a cycle an hour."""
    settings = make_settings(SCHEDULE__KIND="market_hours")
    saturday = datetime(2026, 11, 21, 3, 15, tzinfo=UTC)
    assert next_instant(saturday, settings) == datetime(2026, 11, 21, 4, tzinfo=UTC)
