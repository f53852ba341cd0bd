from datetime import UTC, date, time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from include.exchange.instants import (
    NEW_YORK,
    at_new_york,
    format_instant,
    instant_of,
    moment_of,
    parse_instant,
)


@given(st.integers(min_value=0, max_value=4_000_000_000_000_000_000))
def test_written_instant_reads_back_to_the_nanosecond(instant):
    """What is written in UTC or New York time is read as the same nanosecond."""
    assert parse_instant(format_instant(instant)) == instant
    assert parse_instant(format_instant(instant, NEW_YORK)) == instant


@given(st.datetimes(timezones=st.just(UTC)))
def test_datetime_survives_as_an_instant(moment):
    """An aware datetime becomes an instant and comes back unchanged."""
    assert moment_of(instant_of(moment)) == moment


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2010-03-08", "2010-03-08T00:00:00Z"),
        ("2010-03-08T09:30:00-05:00", "2010-03-08T14:30:00Z"),
        ("2010-03-08T14:30:00 00:00", "2010-03-08T14:30:00Z"),
        ("2010-03-08T14:30:00.120000003Z", "2010-03-08T14:30:00.120000003Z"),
    ],
)
def test_reads_what_clients_send(text, expected):
    """Dates, offsets, an unescaped plus sign and nine decimals are understood."""
    instant = parse_instant(text)
    assert instant is not None
    assert format_instant(instant) == expected


@pytest.mark.parametrize("text", ["", "now", "2010-13-01", "2010-03-08T25:00:00Z", "08.03.2010"])
def test_reads_nothing_from_other_texts(text):
    """A text that is no stamp yields None rather than an exception."""
    assert parse_instant(text) is None


def test_new_york_follows_daylight_saving():
    """09:30 in New York is 14:30 UTC in winter and 13:30 in summer."""
    assert format_instant(at_new_york(date(2010, 3, 8), time(9, 30))).endswith("14:30:00Z")
    assert format_instant(at_new_york(date(2010, 3, 15), time(9, 30))).endswith("13:30:00Z")
