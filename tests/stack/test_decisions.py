"""When the next cycle of the embedded venue decides."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from include.errors import ReplayOver
from include.stack.decisions import next_decision_instant
from include.stack.exchange import VenueClock

OPEN = datetime(2010, 3, 8, 14, 30, tzinfo=UTC)
CLOSE = datetime(2010, 3, 8, 21, 0, tzinfo=UTC)
TOMORROW = OPEN + timedelta(days=1)
END = datetime(2010, 8, 21, tzinfo=UTC)


def a_clock(now, **changes):
    """Return the venue's clock on 8 March 2010, a regular session, at an instant of that day."""
    is_before, is_after = now < OPEN, now >= CLOSE
    values = {
        "now": now,
        "next_open": OPEN if is_before else TOMORROW,
        "next_close": CLOSE + timedelta(days=1) if is_after else CLOSE,
        "replay_end": END,
        "exhausted": False,
    }
    return VenueClock(**{**values, **changes})


@pytest.mark.parametrize(
    ("now", "last", "expected"),
    [
        (OPEN, None, OPEN),
        (OPEN, OPEN, OPEN + timedelta(minutes=30)),
        (OPEN + timedelta(minutes=1), OPEN, OPEN + timedelta(minutes=30)),
        (CLOSE - timedelta(minutes=30), None, CLOSE - timedelta(minutes=30)),
        (CLOSE - timedelta(minutes=30), CLOSE - timedelta(minutes=30), TOMORROW),
        (CLOSE - timedelta(minutes=10), None, TOMORROW),
        (CLOSE, CLOSE - timedelta(minutes=30), TOMORROW),
        (OPEN - timedelta(hours=3), None, OPEN),
        (OPEN, END, OPEN),
    ],
)
def test_takes_the_next_mark_of_the_session_or_the_next_open(now, last, expected):
    """Marks stand at the open and each half-hour before the close; now counts until it decided."""
    assert next_decision_instant(a_clock(now), every_minutes=30, last=last) == expected


def test_early_close_has_fewer_marks():
    """On a half day the last mark stands before one o'clock in New York."""
    close = OPEN + timedelta(hours=3, minutes=30)
    clock = a_clock(close - timedelta(minutes=29), next_close=close)
    assert next_decision_instant(clock, every_minutes=30, last=None) == TOMORROW


def test_summer_time_moves_the_marks_with_new_york():
    """In July the session opens at 13:30 UTC, and so do the marks."""
    opened = datetime(2010, 7, 6, 13, 30, tzinfo=UTC)
    clock = VenueClock(
        now=opened + timedelta(minutes=5),
        next_open=opened + timedelta(days=1),
        next_close=opened + timedelta(hours=6, minutes=30),
        replay_end=END,
        exhausted=False,
    )
    found = next_decision_instant(clock, every_minutes=45, last=None)
    assert found == opened + timedelta(minutes=45)


@pytest.mark.parametrize(
    "changes",
    [{"exhausted": True}, {"replay_end": CLOSE}, {"next_open": None, "next_close": None}],
)
def test_says_that_the_replay_is_over(changes):
    """Without a further instant the sentence names the last bar and how to start over."""
    with pytest.raises(ReplayOver, match=r"replayed its last bar .* './tradewind clean'"):
        next_decision_instant(a_clock(CLOSE, **changes), every_minutes=30, last=None)


@given(
    minutes=st.integers(min_value=-600, max_value=900),
    every=st.integers(min_value=1, max_value=390),
)
def test_never_goes_back_and_never_decides_an_instant_twice(minutes, every):
    """From any instant, two decisions in a row move forward, inside a session's [open, close)."""
    first = next_decision_instant(
        a_clock(OPEN + timedelta(minutes=minutes)), every_minutes=every, last=None
    )
    assert first >= OPEN + timedelta(minutes=minutes)
    assert first == TOMORROW or (
        OPEN <= first < CLOSE and (first - OPEN) % timedelta(minutes=every) == timedelta(0)
    )
    if first < CLOSE:
        assert next_decision_instant(a_clock(first), every_minutes=every, last=first) > first


def test_reads_the_exchanges_answer():
    """The clock's answer becomes aware instants; a session is open when it closes first."""
    clock = VenueClock.from_json(
        {
            "now": "2010-03-08T14:30:00Z",
            "mode": "stepped",
            "speed": None,
            "replay_end": "2010-08-21T00:00:00Z",
            "exhausted": False,
            "next_open": "2010-03-09T14:30:00Z",
            "next_close": "2010-03-08T21:00:00Z",
        }
    )
    assert clock == a_clock(OPEN)
    assert clock.is_open
    assert not a_clock(CLOSE).is_open
