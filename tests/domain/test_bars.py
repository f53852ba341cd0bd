"""Bar series: choosing bars, joining parts, the end of the newest."""

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from include.domain.bars import CLOSE, Timeframe, empty_series, joined
from include.domain.instants import epoch_seconds
from tests.support.builders import AS_OF, a_bar_series


def test_a_bar_counts_from_the_instant_it_ended():
    """`closed_by` includes the bar that ends at the instant, never the forming one."""
    series = a_bar_series(n=10)
    assert len(series.closed_by(AS_OF)) == 10
    assert len(series.closed_by(AS_OF - timedelta(seconds=1))) == 9
    assert series.last_end == AS_OF


def test_between_is_half_open():
    """Bars that start in [start, end): the start belongs to it, the end does not."""
    series = a_bar_series(n=10)
    start = AS_OF - timedelta(minutes=90)
    found = series.between(start, AS_OF - timedelta(minutes=30))
    assert found.starts.tolist() == [epoch_seconds(start), epoch_seconds(start) + 1800]


@pytest.mark.parametrize(("count", "length"), [(0, 0), (3, 3), (10, 10), (99, 10)])
def test_last_is_at_most_what_there_is(count, length):
    """The newest bars, fewer where there are fewer."""
    series = a_bar_series(n=10)
    found = series.last(count)
    assert len(found) == length
    np.testing.assert_array_equal(found.column(CLOSE), series.column(CLOSE)[10 - length :])


@given(cut=st.integers(0, 20), is_swapped=st.booleans())
def test_joining_parts_restores_the_series(cut, is_swapped):
    """Whatever the cut and the order of the parts, joined bars are oldest first again."""
    series = a_bar_series(n=20)
    parts = [series.take(slice(0, cut)), series.take(slice(cut, 20))]
    whole = joined(parts[::-1] if is_swapped else parts)
    np.testing.assert_array_equal(whole.starts, series.starts)
    np.testing.assert_array_equal(whole.ends, series.ends)
    np.testing.assert_array_equal(whole.values, series.values)


def test_an_empty_series_has_all_columns():
    """No bars, and still the shape that a reader expects; joined to bars it changes nothing."""
    empty = empty_series("AAPL", Timeframe.MINUTE_30)
    assert len(empty) == 0
    assert empty.values.shape == (0, 6)
    assert len(joined([empty, a_bar_series(n=4)])) == 4


def test_every_timeframe_has_a_length():
    """The venue's spellings are known and rise in length."""
    durations = [timeframe.duration for timeframe in Timeframe]
    assert durations == sorted(durations)
    assert Timeframe("30Min").duration == timedelta(minutes=30)
