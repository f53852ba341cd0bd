"""From the venue's equity bars to those of its sessions."""

from datetime import UTC, date, datetime, timedelta

import numpy as np

from include.domain.bars import BarSeries, Timeframe
from include.domain.instants import epoch_seconds
from include.domain.sessions import Session, bar_grid, session_window
from include.market.regular_hours import regular_bars

FULL = Session(
    session_date=date(2026, 11, 25),
    opens_at=datetime(2026, 11, 25, 14, 30, tzinfo=UTC),
    closes_at=datetime(2026, 11, 25, 21, tzinfo=UTC),
)
HALF = Session(
    session_date=date(2026, 11, 27),
    opens_at=datetime(2026, 11, 27, 14, 30, tzinfo=UTC),
    closes_at=datetime(2026, 11, 27, 18, tzinfo=UTC),
)


def bars_at(timeframe: Timeframe, *starts: datetime) -> BarSeries:
    """Return numbered bars at the starts given."""
    epochs = np.array([epoch_seconds(start) for start in starts], dtype=np.int64)
    return BarSeries(
        symbol="AAPL",
        timeframe=timeframe,
        starts=epochs,
        ends=epochs + int(timeframe.duration.total_seconds()),
        values=np.arange(6.0 * len(starts)).reshape(-1, 6),
    )


def round_the_clock(timeframe: Timeframe) -> BarSeries:
    """Return four days of bars without a pause."""
    first, step = datetime(2026, 11, 25, tzinfo=UTC), timeframe.duration
    return bars_at(timeframe, *(first + k * step for k in range(4 * timedelta(days=1) // step)))


def test_keeps_exactly_the_grid_of_the_sessions():
    """Of bars round the clock those of the sessions' grids stay, holiday and nights go."""
    found = regular_bars(round_the_clock(Timeframe.MINUTE_30), [FULL, HALF])
    grids = [bar_grid(session_window(each), Timeframe.MINUTE_30) for each in (FULL, HALF)]
    np.testing.assert_array_equal(found.starts, np.concatenate([grid[0] for grid in grids]))
    np.testing.assert_array_equal(found.ends, np.concatenate([grid[1] for grid in grids]))


def test_clips_the_last_bar_to_an_early_close():
    """A bar that would reach past the close ends with it."""
    early = Session(
        session_date=HALF.session_date,
        opens_at=HALF.opens_at,
        closes_at=HALF.opens_at + timedelta(minutes=40),
    )
    found = regular_bars(round_the_clock(Timeframe.MINUTE_30), [early])
    assert found.ends[-1] == epoch_seconds(early.closes_at)


def test_a_daily_bar_becomes_its_session():
    """The bar stamped at midnight in New York takes its session's open and close."""
    midnights = [datetime(2026, 11, day, 5, tzinfo=UTC) for day in (25, 26, 27)]
    found = regular_bars(bars_at(Timeframe.DAY, *midnights), [FULL, HALF])
    assert found.starts.tolist() == [epoch_seconds(each.opens_at) for each in (FULL, HALF)]
    assert found.ends.tolist() == [epoch_seconds(each.closes_at) for each in (FULL, HALF)]
    assert found.values[:, 0].tolist() == [0.0, 12.0]


def test_doing_it_twice_changes_nothing():
    """The bars of sessions are their own regular bars, daily and intraday."""
    for timeframe in (Timeframe.DAY, Timeframe.MINUTE_30):
        once = regular_bars(round_the_clock(timeframe), [FULL, HALF])
        twice = regular_bars(once, [FULL, HALF])
        np.testing.assert_array_equal(once.starts, twice.starts)
        np.testing.assert_array_equal(once.ends, twice.ends)


def test_without_sessions_nothing_is_regular():
    """No session, no bars; no bars, no bars."""
    assert len(regular_bars(round_the_clock(Timeframe.HOUR), [])) == 0
    assert len(regular_bars(bars_at(Timeframe.HOUR), [FULL])) == 0


def test_does_not_change_the_bars_handed_in():
    """The caller's series keeps its ends."""
    series = round_the_clock(Timeframe.MINUTE_30)
    before = series.ends.copy()
    regular_bars(series, [FULL, HALF])
    np.testing.assert_array_equal(series.ends, before)
