"""Forecasts: the content key changes with all that can change a number, and nothing else."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from include.domain.bars import CLOSE, HIGH, LOW, OPEN, Timeframe
from include.domain.forecasts import (
    QUANTILE_LEVELS,
    SamplePaths,
    content_key,
    outlook,
    path_seed,
    step_quantiles,
)
from tests.support.builders import AS_OF, a_bar_series, a_forecast_request, a_model_version

OPTIONS = {"samples": 32, "seed": 7, "temperature": 1.0, "top_k": None}


def key(request=None, version=None, options=None):
    """Return the content key of a question."""
    return content_key(
        request or a_forecast_request(),
        model_version=version or a_model_version(),
        options=options or OPTIONS,
    )


def with_value(row, column):
    """Return a question in whose context one value differs in its last bit."""
    values = a_bar_series().values.copy()
    values[row, column] = np.nextafter(values[row, column], np.inf)
    return a_forecast_request(context=a_bar_series(values=values))


def test_the_key_is_a_sha256_of_the_question():
    """The same question has the same key, however often and in which order it is put."""
    assert len(key()) == 64
    assert key() == key(options=dict(reversed(OPTIONS.items())))


@given(row=st.integers(0, 39), column=st.integers(0, 5))
def test_the_last_bit_of_any_bar_changes_the_key(row, column):
    """Every value of the context counts, to the last bit."""
    assert key(with_value(row, column)) != key()


@pytest.mark.parametrize(
    "request_",
    [
        a_forecast_request(context=a_bar_series(symbol="MSFT")),
        a_forecast_request(context=a_bar_series(timeframe=Timeframe.HOUR)),
        a_forecast_request(context=a_bar_series(end=AS_OF - timedelta(minutes=30))),
        a_forecast_request(context=a_bar_series().last(39)),
        a_forecast_request(horizon=11),
        replace(a_forecast_request(), step_ends=a_forecast_request().step_ends + 1),
        replace(
            a_forecast_request(),
            context=a_bar_series(ends=a_bar_series().ends - np.eye(1, 40, 3, dtype=np.int64)[0]),
        ),
    ],
)
def test_symbol_stamps_and_horizon_change_the_key(request_):
    """Another symbol, timeframe, context, horizon or bar time is another question."""
    assert key(request_) != key()


@pytest.mark.parametrize(
    "name", ["model", "checkpoint_hash", "engine_version", "transform_version"]
)
def test_every_part_of_the_version_changes_the_key(name):
    """Weights, engine and transform are part of the identity."""
    assert key(version=a_model_version(**{name: "other"})) != key()


@pytest.mark.parametrize(
    "options", [{**OPTIONS, "seed": 8}, {**OPTIONS, "top_k": 0}, {**OPTIONS, "top_p": None}]
)
def test_every_option_changes_the_key(options):
    """Also one that is added with no value."""
    assert key(options=options) != key()


def test_the_windows_name_does_not_change_the_key():
    """The key asks about bars; a window with the same remaining bars has the same answer."""
    request = a_forecast_request()
    earlier = replace(request.window, opens_at=request.window.opens_at - timedelta(hours=1))
    assert key(replace(request, window=earlier)) == key(request)


def test_seeds_differ_by_symbol_and_context_end_alone():
    """No other symbol of a batch, and no other bar, moves a symbol's seed."""
    seed = path_seed(a_forecast_request(), seed=1)
    assert seed == path_seed(with_value(3, CLOSE), seed=1)
    assert seed != path_seed(a_forecast_request(), seed=2)
    assert seed != path_seed(a_forecast_request(context=a_bar_series(symbol="MSFT")), seed=1)
    earlier = a_bar_series(end=AS_OF - timedelta(minutes=30))
    assert seed != path_seed(a_forecast_request(context=earlier), seed=1)
    assert all(0 <= word < 2**64 for word in seed)


def some_paths(n_samples=9, horizon=4, seed=3):
    """Return random paths whose bars are valid."""
    rng = np.random.default_rng(seed)
    values = np.zeros((n_samples, horizon, 6), dtype=np.float32)
    prices = 100 + np.sort(rng.normal(0, 1, (n_samples, horizon, 4)), axis=-1)
    values[..., LOW], values[..., OPEN] = prices[..., 0], prices[..., 1]
    values[..., CLOSE], values[..., HIGH] = prices[..., 2], prices[..., 3]
    return SamplePaths(values=values)


def test_an_outlook_is_the_median_of_each_paths_extremes():
    """Highest high and lowest low of each path first, the median over paths then."""
    paths = some_paths()
    found = outlook(paths)
    assert found.high == np.median(paths.values[:, :, HIGH].max(axis=1))
    assert found.low == np.median(paths.values[:, :, LOW].min(axis=1))
    assert found.close == np.median(paths.values[:, -1, CLOSE])
    assert found.open == np.median(paths.values[:, 0, OPEN])


@given(seed=st.integers(0, 1000), n_samples=st.integers(1, 20), horizon=st.integers(1, 6))
def test_an_outlook_is_a_valid_bar(seed, n_samples, horizon):
    """Low <= close <= high and an ordered band, for all paths that are valid themselves."""
    found = outlook(some_paths(n_samples, horizon, seed))
    assert found.low <= found.close <= found.high
    assert found.low <= found.open <= found.high
    assert found.close_band[0] <= found.close <= found.close_band[1]


def test_quantiles_rise_with_their_levels():
    """Shape (levels, horizon, 6), float32, never falling from one level to the next."""
    quantiles = step_quantiles(some_paths())
    assert quantiles.shape == (len(QUANTILE_LEVELS), 4, 6)
    assert quantiles.dtype == np.float32
    assert (np.diff(quantiles, axis=0) >= 0).all()
