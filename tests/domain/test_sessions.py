"""Windows and their bars: half-open, shortened by an early close."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest

from include.domain.bars import Timeframe
from include.domain.instants import epoch_seconds
from include.domain.sessions import Session, bar_grid, session_window, utc_day_window
from tests.support.builders import WINDOW


def test_a_window_holds_its_opening_but_not_its_end():
    """[opens_at, ends_at)."""
    assert WINDOW.contains(WINDOW.opens_at)
    assert not WINDOW.contains(WINDOW.ends_at)


def test_a_session_is_a_window():
    """The window of a session is its regular hours."""
    session = Session(
        session_date=date(2026, 11, 20), opens_at=WINDOW.opens_at, closes_at=WINDOW.ends_at
    )
    assert session_window(session) == WINDOW


def test_a_crypto_window_is_a_utc_day():
    """From midnight to midnight, UTC."""
    window = utc_day_window(date(2026, 3, 29))
    assert window.opens_at == datetime(2026, 3, 29, tzinfo=UTC)
    assert window.ends_at - window.opens_at == timedelta(days=1)


@pytest.mark.parametrize(
    ("hours", "timeframe", "count"),
    [(6.5, Timeframe.MINUTE_30, 13), (3.5, Timeframe.MINUTE_30, 7), (6.5, Timeframe.HOUR, 7),
     (6.5, Timeframe.DAY, 1)],
)  # fmt: skip
def test_the_grid_covers_the_window_exactly(hours, timeframe, count):
    """Bars touch, the first starts with the window and the last ends with it."""
    window = replace(WINDOW, ends_at=WINDOW.opens_at + timedelta(hours=hours))
    starts, ends = bar_grid(window, timeframe)
    assert len(starts) == count
    np.testing.assert_array_equal(starts[1:], ends[:-1])
    assert (starts[0], ends[-1]) == (
        epoch_seconds(window.opens_at), epoch_seconds(window.ends_at)
    )  # fmt: skip
