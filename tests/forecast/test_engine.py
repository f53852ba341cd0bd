"""Tests of what every engine promises at its border, run for each engine by name."""

from dataclasses import replace

import numpy as np
import pytest

from include.domain.bars import CLOSE, HIGH, LOW, OPEN, BarSeries
from include.domain.forecasts import ForecastRequest, content_key
from include.errors import ContextTooShort, ForecastError, NonFiniteForecast
from include.forecast.catalogue import ENGINE_NAMES, engine_by_name
from include.forecast.engine import ForecastEngine, finished_forecast
from tests.support.builders_forecast import crypto_request, decode_options, session_request


@pytest.fixture(scope="module", params=ENGINE_NAMES)
def engine(request: pytest.FixtureRequest) -> ForecastEngine:
    """Return each engine in turn."""
    return engine_by_name(request.param)


def with_values(request: ForecastRequest, values: np.ndarray) -> ForecastRequest:
    """Return the request with other bars in its context."""
    context = request.context
    series = BarSeries(
        symbol=context.symbol,
        timeframe=context.timeframe,
        starts=context.starts,
        ends=context.ends,
        values=values,
    )
    return replace(request, context=series)


def test_batch_order_and_company_change_no_bit(engine: ForecastEngine):
    """A symbol alone, among 28 and in reverse order has the same paths to the bit."""
    requests = [
        session_request(symbol=f"S{index}", seed=index, context_bars=(64, 100, 512)[index % 3])
        for index in range(27)
    ]
    requests.append(crypto_request())
    together = engine.forecast(requests, decode_options())
    reverse = engine.forecast(requests[::-1], decode_options())[::-1]
    assert [forecast.symbol for forecast in together] == [item.symbol for item in requests]
    for index in (0, 1, 2, 13, 27):
        alone = engine.forecast([requests[index]], decode_options())[0]
        for other in (together[index], reverse[index]):
            assert alone.content_key == other.content_key
            np.testing.assert_array_equal(alone.paths.values, other.paths.values)


def test_paths_are_valid_bars_of_the_asked_shape(engine: ForecastEngine):
    """Paths are float32 of (samples, horizon, 6), low <= open, close <= high, volume 0."""
    for request in (session_request(), crypto_request()):
        values = engine.forecast([request], decode_options(n_samples=64))[0].paths.values
        assert values.dtype == np.float32
        assert values.shape == (64, request.horizon, 6)
        body = values[..., [OPEN, CLOSE]]
        assert (values[..., LOW] <= body.min(axis=-1)).all()
        assert (values[..., HIGH] >= body.max(axis=-1)).all()
        assert (values[..., 4:] == 0).all()
        assert (values[..., LOW] > 0).all()


def test_key_is_that_of_the_options_the_engine_reads(engine: ForecastEngine):
    """The content key can be known before the forecast is made, from the options used."""
    request, options = session_request(), decode_options()
    forecast = engine.forecast([request], options)[0]
    known = content_key(
        request, model_version=engine.model_version, options=engine.options_used(options)
    )
    assert forecast.content_key == known
    assert forecast.origin == request.context.last_end


def test_another_seed_gives_other_paths_and_another_key(engine: ForecastEngine):
    """The seed changes what is drawn, and the key says so."""
    request = session_request()
    first, second = (engine.forecast([request], decode_options(seed=s))[0] for s in (1, 2))
    assert first.content_key != second.content_key
    assert (first.paths.values[..., CLOSE] != second.paths.values[..., CLOSE]).any()


def test_refuses_a_short_context(engine: ForecastEngine):
    """One bar fewer than the minimum is refused with both numbers."""
    needed = engine.minimum_context_bars
    request = session_request(context_bars=needed - 1)
    with pytest.raises(ContextTooShort, match=f"was {needed - 1} bars; at least {needed}"):
        engine.forecast([request], decode_options())


@pytest.mark.parametrize(("value", "fault"), [(np.nan, "NaN"), (np.inf, "infinity"), (0.0, "0")])
def test_refuses_contexts_that_no_price_can_have(engine: ForecastEngine, value: float, fault: str):
    """NaN, infinity and prices of zero are refused with the bar where they stand."""
    request = session_request()
    values = request.context.values.copy()
    values[5, HIGH] = value
    match = f"AAPL held .*{fault}.* epoch {request.context.starts[5]};"
    with pytest.raises(ForecastError, match=match):
        engine.forecast([with_values(request, values)], decode_options())


def test_refuses_a_request_without_steps(engine: ForecastEngine):
    """A horizon of zero is refused."""
    nothing = np.empty(0, dtype=np.int64)
    request = replace(session_request(), step_starts=nothing, step_ends=nothing)
    with pytest.raises(ForecastError, match="asked for 0 steps; at least 1"):
        engine.forecast([request], decode_options())


def test_answers_a_context_without_any_movement(engine: ForecastEngine):
    """A price that never moved gives finite paths near it."""
    request = session_request()
    flat = with_values(request, np.full_like(request.context.values, 50.0))
    values = engine.forecast([flat], decode_options())[0].paths.values
    np.testing.assert_allclose(values[..., :4], 50.0, rtol=1e-3)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e39])
def test_non_finite_paths_never_leave_an_engine(value: float):
    """NaN, infinity and what float32 can't hold raise with symbol and model."""
    engine = engine_by_name("naive")
    with pytest.raises(NonFiniteForecast, match="AAPL by naive@none/1 held NaN or infinity"):
        finished_forecast(
            session_request(),
            np.full((2, 13, 4), value),
            model_version=engine.model_version,
            options={},
            engine_seconds=0.0,
        )
