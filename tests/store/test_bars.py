"""Bars: round trip, revision trail, what an instant sees."""

from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from include.domain.bars import CLOSE, BarSeries, Timeframe, empty_series
from include.domain.instants import instant_at
from include.errors import ConflictingWrite
from include.store.records import SavedBars
from tests.support.builders import AS_OF, a_bar_series

LATER = AS_OF + timedelta(hours=1)
HALF_HOUR = Timeframe.MINUTE_30


def assert_same_bars(found: BarSeries, expected: BarSeries) -> None:
    """Compare two series bit for bit."""
    assert (found.symbol, found.timeframe) == (expected.symbol, expected.timeframe)
    np.testing.assert_array_equal(found.starts, expected.starts)
    np.testing.assert_array_equal(found.ends, expected.ends)
    assert found.values.tobytes() == expected.values.tobytes()


def revised(series: BarSeries, place: int, close: float) -> BarSeries:
    """Return the series with another close of one bar."""
    values = series.values.copy()
    values[place, CLOSE] = close
    return replace(series, values=values)


def test_saved_series_loads_bit_for_bit(uow):
    """What was saved comes back with the same stamps, values and dtypes."""
    series = a_bar_series(n=40)
    uow.bars.save(series, AS_OF)
    found = uow.bars.load("AAPL", HALF_HOUR, AS_OF)
    assert_same_bars(found, series)
    assert (found.starts.dtype, found.values.dtype) == (np.int64, np.float64)
    assert found.values.flags.writeable


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],  # each example rolls back
)
@given(
    values=hnp.arrays(
        np.float64,
        st.tuples(st.integers(1, 6), st.just(6)),
        elements=st.floats(allow_nan=False, allow_infinity=False),
    ),
    symbol=st.sampled_from(["AAPL", "BTC/USD", "BRK.B", "ÄÖ"]),
    timeframe=st.sampled_from(Timeframe),
)
def test_any_floats_and_symbols_survive_the_round_trip(database, values, symbol, timeframe):
    """Every finite float64, negative zero and subnormals included, comes back bit for bit."""
    seconds = int(timeframe.duration.total_seconds())
    starts = seconds * np.arange(len(values), dtype=np.int64)
    series = BarSeries(
        symbol=symbol, timeframe=timeframe, starts=starts, ends=starts + seconds, values=values
    )
    with database.unit_of_work() as uow:
        uow.bars.save(series, AS_OF)
        assert_same_bars(uow.bars.load(symbol, timeframe, AS_OF), series)


def test_saving_twice_is_one_row(uow):
    """The same bars again are counted as unchanged and write nothing."""
    series = a_bar_series(n=10)
    assert uow.bars.save(series, AS_OF) == SavedBars(new=10, revised=0, unchanged=0)
    assert uow.bars.save(series, LATER) == SavedBars(new=0, revised=0, unchanged=10)
    assert len(uow.bars.load("AAPL", HALF_HOUR, LATER)) == 10


def test_revised_bar_never_changes_what_an_earlier_instant_sees(uow):
    """A corrected bar is seen from the instant of its recording on, and by nobody before."""
    series = a_bar_series(n=5)
    uow.bars.save(series, AS_OF)
    corrected = revised(series, place=2, close=777.0)
    assert uow.bars.save(corrected, LATER) == SavedBars(new=0, revised=1, unchanged=4)
    assert_same_bars(uow.bars.load("AAPL", HALF_HOUR, AS_OF), series)
    assert_same_bars(uow.bars.load("AAPL", HALF_HOUR, LATER), corrected)
    assert_same_bars(uow.bars.load("AAPL", HALF_HOUR, AS_OF, recorded_by=LATER), corrected)


def test_bar_that_is_corrected_back_is_a_third_revision(uow):
    """The newest revision decides, not any earlier one with the same values."""
    series = a_bar_series(n=3)
    uow.bars.save(series, AS_OF)
    uow.bars.save(revised(series, 1, 777.0), LATER)
    last = LATER + timedelta(hours=1)
    assert uow.bars.save(series, last).revised == 1
    assert_same_bars(uow.bars.load("AAPL", HALF_HOUR, last), series)
    assert uow.bars.load("AAPL", HALF_HOUR, LATER).values[1, CLOSE] == 777.0


def test_revision_is_never_recorded_before_the_one_it_follows(uow):
    """A late writer with an old instant can't slip a revision under a newer one."""
    series = a_bar_series(n=3)
    uow.bars.save(series, AS_OF)
    uow.bars.save(revised(series, 1, 777.0), LATER)
    uow.bars.save(revised(series, 1, 888.0), AS_OF)
    assert_same_bars(uow.bars.load("AAPL", HALF_HOUR, AS_OF), series)
    assert uow.bars.load("AAPL", HALF_HOUR, LATER).values[1, CLOSE] == 888.0


def test_load_sees_no_bar_that_ends_after_as_of(uow):
    """A bar that ends at the instant is seen, the next one is not."""
    series = a_bar_series(n=10)
    uow.bars.save(series, AS_OF)
    instant = instant_at(series.ends[4])
    assert_same_bars(
        uow.bars.load("AAPL", HALF_HOUR, instant, recorded_by=AS_OF), series.closed_by(instant)
    )


def test_limit_gives_the_newest_bars_oldest_first(uow):
    """The limit counts bars and not revisions."""
    series = a_bar_series(n=10)
    uow.bars.save(series, AS_OF)
    uow.bars.save(revised(series, 8, 777.0), AS_OF)
    found = uow.bars.load("AAPL", HALF_HOUR, AS_OF, limit=3)
    assert_same_bars(found, revised(series, 8, 777.0).last(3))


def test_many_symbols_load_in_one_query_with_empty_series_for_the_unknown(uow):
    """Each symbol gets its own bars, and one without bars an empty series."""
    many = [a_bar_series(n=5 + place, symbol=name) for place, name in enumerate("CAB")]
    saved = uow.bars.save_all([*many, empty_series("D", HALF_HOUR)], AS_OF)
    assert saved.new == 18
    found = uow.bars.load_all(["B", "NONE", "A", "C"], HALF_HOUR, AS_OF)
    assert list(found) == ["B", "NONE", "A", "C"]
    assert len(found["NONE"]) == 0
    for series in many:
        assert_same_bars(found[series.symbol], series)


def test_timeframes_of_a_symbol_are_kept_apart(uow):
    """Hourly bars are no revision of half-hourly ones that start with them."""
    half_hourly = a_bar_series(n=4)
    hourly = replace(half_hourly, timeframe=Timeframe.HOUR)
    assert uow.bars.save_all([half_hourly, hourly], AS_OF).new == 8
    assert_same_bars(uow.bars.load("AAPL", Timeframe.HOUR, AS_OF), hourly)


def test_newest_starts_name_only_symbols_with_bars(uow):
    """The next fetch begins where each symbol's bars end."""
    series = a_bar_series(n=4)
    uow.bars.save(series, AS_OF)
    newest = uow.bars.newest_starts(["AAPL", "NONE"], HALF_HOUR)
    assert newest == {"AAPL": instant_at(series.starts[-1])}


def test_nothing_to_save_and_nothing_to_load_are_fine(uow):
    """Empty lists give empty answers."""
    assert uow.bars.save_all([], AS_OF) == SavedBars(new=0, revised=0, unchanged=0)
    assert uow.bars.load_all([], HALF_HOUR, AS_OF) == {}
    assert uow.bars.newest_starts([], HALF_HOUR) == {}


def test_the_same_bar_twice_in_one_save_is_refused(uow):
    """Two series of one symbol that overlap are the caller's mistake, and nothing is stored."""
    series = a_bar_series(n=3)
    with pytest.raises(ConflictingWrite, match=r"bars bars_pkey .*AAPL"):
        uow.bars.save_all([series, revised(series, 1, 777.0)], AS_OF)


def test_instant_without_zone_is_refused(uow):
    """A naive as_of would be read in the server's zone; it is refused with its value."""
    with pytest.raises(ValueError, match="2026-11-20T15:00:00 without a time zone"):
        uow.bars.load("AAPL", HALF_HOUR, datetime(2026, 11, 20, 15))  # noqa: DTZ001  # the point
