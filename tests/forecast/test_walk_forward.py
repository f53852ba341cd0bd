"""Tests of the requests: one code path, and nothing later than the decision."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from include.domain.bars import BarSeries
from include.domain.forecasts import ForecastRequest, content_key
from include.domain.sessions import utc_day_window
from include.errors import ContextTooShort, ForecastError
from include.forecast.baselines import NaiveEngine
from include.forecast.fracast import bundled_fracast_engine
from include.forecast.walk_forward import live_request, opening_requests
from tests.support.builders_forecast import (
    SESSION_BARS,
    decode_options,
    hourly_series,
    session_series,
    session_windows,
)

SERIES = session_series(12)
WINDOWS = session_windows(13)


def key(request: ForecastRequest) -> str:
    """Return the naive engine's content key of a request."""
    return content_key(request, model_version=NaiveEngine().model_version, options={"seed": 7})


def changed_future(series: BarSeries, *, closed: int, seed: int, how: str) -> BarSeries:
    """Return the series with the bars after the first `closed` spoilt in one of four ways."""
    generator = np.random.default_rng(seed)
    later = np.arange(closed, len(series))
    if how == "deleted":
        return series.take(slice(0, closed))
    if how == "thinned":
        kept = later[generator.random(len(later)) < 0.5]
        return series.take(np.concatenate([np.arange(closed), kept]))
    values = series.values.copy()
    if how == "shuffled":
        values[later] = values[generator.permutation(later)]
    else:
        values[later] *= generator.random((len(later), 1)) * 100
    return replace(series, values=values)


@given(
    as_of_minutes=st.integers(min_value=0, max_value=389),
    day=st.integers(min_value=5, max_value=11),
    seed=st.integers(min_value=0, max_value=2**16),
    how=st.sampled_from(["deleted", "thinned", "shuffled", "changed"]),
)
def test_bars_after_as_of_change_no_bit(as_of_minutes: int, day: int, seed: int, how: str):
    """However the future is spoilt, request, key and paths are the same to the bit."""
    window = WINDOWS[day]
    as_of = window.opens_at + timedelta(minutes=as_of_minutes)
    closed = len(SERIES.closed_by(as_of))
    spoilt = changed_future(SERIES, closed=closed, seed=seed, how=how)
    before = live_request(SERIES, window, as_of, context_bars=40)
    after = live_request(spoilt, window, as_of, context_bars=40)
    assert key(before) == key(after)
    one, other = NaiveEngine().forecast([before, after], decode_options())
    np.testing.assert_array_equal(one.paths.values, other.paths.values)


@pytest.mark.parametrize("how", ["deleted", "shuffled", "changed"])
def test_bars_after_as_of_change_no_bit_of_fracast(how: str):
    """The model that normalises by the context sees nothing of the future either."""
    window, engine = WINDOWS[8], bundled_fracast_engine()
    as_of = window.opens_at + timedelta(minutes=95)
    closed = len(SERIES.closed_by(as_of))
    spoilt = changed_future(SERIES, closed=closed, seed=1, how=how)
    requests = [live_request(s, window, as_of, context_bars=64) for s in (SERIES, spoilt)]
    one, other = engine.forecast(requests, decode_options())
    assert one.content_key == other.content_key
    np.testing.assert_array_equal(one.paths.values, other.paths.values)


def test_a_planted_leak_would_be_seen():
    """A context that holds the forming bar has another key: the property test can fail."""
    window = WINDOWS[8]
    honest = live_request(SERIES, window, window.opens_at, context_bars=40)
    leaky = live_request(SERIES, window, window.opens_at + timedelta(minutes=30), context_bars=40)
    assert key(honest) != key(leaky)


def test_opening_request_equals_the_live_one_at_the_opening():
    """Walk-forward and live share one path: same key for every window."""
    found = opening_requests(SERIES, WINDOWS, context_bars=60)
    live = [
        live_request(SERIES, request.window, request.window.opens_at, context_bars=60)
        for request in found
    ]
    assert [key(request) for request in found] == [key(request) for request in live]
    assert [request.horizon for request in found] == [SESSION_BARS] * len(found)


def test_newer_bars_change_no_old_key():
    """Tomorrow's bars leave every key of today's walk-forward set as it was."""
    today = opening_requests(SERIES.take(slice(0, 9 * SESSION_BARS)), WINDOWS[:9], context_bars=60)
    tomorrow = opening_requests(SERIES, WINDOWS, context_bars=60)
    assert [key(r) for r in today] == [key(r) for r in tomorrow[: len(today)]]
    assert len(tomorrow) > len(today) > 0


def test_windows_without_enough_context_are_left_out():
    """Only windows with whole contexts are asked for, fewer bars only where it is allowed."""
    whole = opening_requests(SERIES, WINDOWS, context_bars=60)
    assert whole[0].window == WINDOWS[5]
    shorter = opening_requests(SERIES, WINDOWS, context_bars=60, minimum_bars=20)
    assert shorter[0].window == WINDOWS[2]
    assert [len(request.context) for request in shorter[:4]] == [26, 39, 52, 60]
    assert opening_requests(SERIES, WINDOWS[:1], context_bars=60, minimum_bars=0) == []


def test_steps_are_the_bars_that_have_not_closed():
    """Within a bar the forming one is asked for; at its end it is not; context is all closed."""
    window = WINDOWS[8]
    for minutes, horizon in ((0, 13), (29, 13), (30, 12), (45, 12), (389, 1)):
        as_of = window.opens_at + timedelta(minutes=minutes)
        request = live_request(SERIES, window, as_of, context_bars=40)
        assert request.horizon == horizon
        assert request.context.last_end <= as_of
        assert request.step_ends[-1] == int(window.ends_at.timestamp())


def test_an_hourly_day_has_24_steps():
    """A UTC day of crypto opens with 24 steps from bars that ended at midnight."""
    series = hourly_series(6)
    window = utc_day_window((series.last_end - timedelta(days=1)).date())
    request = live_request(series, window, window.opens_at, context_bars=48)
    assert request.horizon == 24
    assert request.context.last_end == window.opens_at


def test_refuses_a_window_that_is_over():
    """Once the last bar has closed there is nothing to forecast."""
    with pytest.raises(ForecastError, match="no bar of it remains"):
        live_request(SERIES, WINDOWS[3], WINDOWS[3].ends_at, context_bars=40)


def test_refuses_an_instant_before_all_bars():
    """Without a closed bar there is no context."""
    with pytest.raises(ContextTooShort, match="was 0 bars; at least 1"):
        live_request(SERIES, WINDOWS[0], WINDOWS[0].opens_at, context_bars=40)
