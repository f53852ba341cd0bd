"""Tests of the no-skill control."""

import time

import numpy as np
import pytest

from include.domain.bars import CLOSE, HIGH, LOW, OPEN
from include.forecast.baselines import (
    NaiveEngine,
    bar_variance,
    ewma,
    random_walk_prices,
    step_deviations,
)
from tests.support.builders_forecast import (
    crypto_request,
    decode_options,
    session_request,
    session_series,
)


def test_ewma_weighs_the_newest_value_most():
    """Two values are weighted 1 and decay; no value gives 0."""
    assert ewma(np.array([1.0, 3.0]), decay=0.5) == pytest.approx((0.5 + 3.0) / 1.5)
    assert ewma(np.array([])) == 0.0


def test_constant_ranges_give_parkinsons_variance():
    """Bars that all range from 99 to 101 have the closed-form variance."""
    series = session_series(3)
    series.values[:, [OPEN, CLOSE]] = 100.0
    series.values[:, LOW], series.values[:, HIGH] = 99.0, 101.0
    variance = bar_variance(series)
    assert variance.bar == pytest.approx(np.log(101 / 99) ** 2 / (4 * np.log(2)))
    assert variance.gap == 0.0


def test_only_the_first_step_of_a_session_carries_the_break():
    """The overnight move widens step 1 of a session, and no step of an unbroken day."""
    session = step_deviations(session_request())
    assert session[0] > session[1]
    assert (session[1:] == session[1]).all()
    day = step_deviations(crypto_request())
    assert (day == day[0]).all()


def test_closes_are_a_driftless_walk_of_the_stated_deviation():
    """Log closes have mean 0 and variance that grows with the step."""
    deviations = np.full(9, 0.01)
    prices = random_walk_prices(
        np.random.default_rng(3), last_close=100.0, deviations=deviations, n_samples=40_000
    )
    logs = np.log(prices[:, :, CLOSE] / 100.0)
    assert np.abs(logs.mean(axis=0)).max() < 4 * 0.03 / np.sqrt(40_000)
    np.testing.assert_allclose(logs.std(axis=0), 0.01 * np.sqrt(np.arange(1, 10)), rtol=0.02)


def test_ranges_of_the_walk_give_back_its_volatility():
    """The bridge's high follows the reflection principle: mean maximum is s sqrt(2 / pi)."""
    prices = random_walk_prices(
        np.random.default_rng(4), last_close=1.0, deviations=np.array([0.01]), n_samples=40_000
    )
    highest = np.log(prices[:, 0, HIGH])
    lowest = np.log(prices[:, 0, LOW])
    assert highest.mean() == pytest.approx(0.01 * np.sqrt(2 / np.pi), rel=0.02)
    assert lowest.mean() == pytest.approx(-0.01 * np.sqrt(2 / np.pi), rel=0.02)


def test_paths_begin_at_the_last_close():
    """Step 1 opens at the context's last close, later steps at the close before."""
    request = session_request()
    values = NaiveEngine().forecast([request], decode_options())[0].paths.values
    assert (values[:, 0, OPEN] == np.float32(request.context.values[-1, CLOSE])).all()
    np.testing.assert_array_equal(values[:, 1:, OPEN], values[:, :-1, CLOSE])


def test_options_of_other_models_leave_the_key_alone():
    """The step correlation, which the walk doesn't read, changes no key."""
    request, engine = session_request(), NaiveEngine()
    one = engine.forecast([request], decode_options(step_correlation=0.1))[0]
    other = engine.forecast([request], decode_options(step_correlation=0.9))[0]
    assert one.content_key == other.content_key


def test_a_cold_cycle_of_baselines_takes_seconds():
    """1,700 requests of 32 paths and 24 steps stay far below ten seconds on any machine."""
    request = crypto_request(context_bars=240)
    began = time.perf_counter()
    NaiveEngine().forecast([request] * 1_700, decode_options(n_samples=32))
    assert time.perf_counter() - began < 10.0
