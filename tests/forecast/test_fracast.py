"""Tests of fracast's exact shortcut and of the paths made of its quantiles."""

import hashlib
import logging
import socket
from importlib.resources import files

import numpy as np
import pytest
from fracast import FracastModel

from include.domain.bars import CLOSE, OPEN
from include.forecast.fracast import FracastEngine, bundled_fracast_engine
from include.forecast.fracast_network import FracastNetwork
from tests.support.builders_forecast import (
    crypto_request,
    decode_options,
    random_prices,
    session_request,
)


@pytest.fixture(scope="module")
def model() -> FracastModel:
    """Return the package's own model with its float32 weights."""
    return FracastModel.from_pretrained(weights="fp32")


@pytest.fixture(scope="module")
def engine() -> FracastEngine:
    """Return the engine as the catalogue builds it."""
    return bundled_fracast_engine()


def random_contexts(length: int) -> np.ndarray:
    """Return high, low and close of one walk over its last close, shape (3, length)."""
    prices = random_prices(length, seed=length)
    contexts: np.ndarray = (prices[:, [1, 2, 3]].T / prices[-1, 3]).astype(np.float32)
    return contexts


def seasonal_contexts(length: int) -> np.ndarray:
    """Return three series with strong and different periods, shape (3, length)."""
    t = np.arange(length)
    return np.stack(
        [np.sin(t / 3) + 2, np.sin(t / 7) + np.cos(t / 2) + 3, t * 0.01 + np.sin(t / 4)]
    ).astype(np.float32)


@pytest.mark.parametrize("build", [random_contexts, seasonal_contexts])
@pytest.mark.parametrize(
    ("length", "horizon"),
    [
        (8, 3),
        (100, 48),
        (512, 1),
        (512, 13),
        (512, 24),
        (512, 60),
        (1500, 48),
        (2048, 7),
        (3000, 5),
    ],
)
def test_pruned_network_equals_the_package(model, build, length: int, horizon: int):
    """Quantiles agree with the package's own within 1e-5 of the context's span."""
    contexts = build(length)
    newest = contexts[:, -2048:]
    spans = (newest.max(axis=1) - newest.min(axis=1))[:, None, None]
    expected = model.forecast_batch(contexts, horizon=horizon)
    found = FracastNetwork(model).quantiles(contexts, horizon)
    assert found.shape == (3, horizon, 9)
    assert np.abs((found - expected) / spans).max() <= 1e-5


def test_kept_prefixes_change_no_bit(model):
    """A network that has answered other contexts before gives the same bits as a fresh one."""
    used = FracastNetwork(model)
    for seed in range(3):
        used.quantiles(seasonal_contexts(256 + 64 * seed), 13)
    contexts = random_contexts(256)
    once, again = used.quantiles(contexts, 13), used.quantiles(contexts, 13)
    np.testing.assert_array_equal(once, FracastNetwork(model).quantiles(contexts, 13))
    np.testing.assert_array_equal(once, again)


def test_checkpoint_hash_is_that_of_the_wheels_weights(engine):
    """The model version names the very bytes that were loaded."""
    weights = files("fracast").joinpath("weights/model.safetensors").read_bytes()
    assert engine.model_version.checkpoint_hash == hashlib.sha256(weights).hexdigest()


def test_loads_without_any_network(monkeypatch):
    """No socket is opened to load the weights or to forecast."""

    def refuse(*_args, **_kwargs):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    bundled_fracast_engine().forecast([session_request()], decode_options())


@pytest.mark.parametrize("last_close", [1e-5, 0.5, 60_000.0])
def test_price_level_changes_nothing_but_the_scale(engine, last_close: float):
    """A coin at 0.00001 USD has the same relative paths as a share at 100 USD."""
    reference = engine.forecast([session_request()], decode_options())[0].paths.values
    scaled = session_request(last_close=last_close)
    values = engine.forecast([scaled], decode_options())[0].paths.values
    np.testing.assert_allclose(values[..., :4] / last_close, reference[..., :4] / 100, rtol=1e-5)


def test_open_is_the_previous_close_of_the_path(engine):
    """Step 1 opens at the context's last close, later steps at the path's close before."""
    request = crypto_request()
    values = engine.forecast([request], decode_options())[0].paths.values
    assert (values[:, 0, OPEN] == np.float32(request.context.values[-1, CLOSE])).all()
    np.testing.assert_array_equal(values[:, 1:, OPEN], values[:, :-1, CLOSE])


def test_step_correlation_changes_paths_and_key(engine):
    """The copula's option is part of the forecast's identity, and of its numbers."""
    request = session_request()
    one = engine.forecast([request], decode_options(step_correlation=0.0))[0]
    other = engine.forecast([request], decode_options(step_correlation=0.9))[0]
    assert one.content_key != other.content_key
    moves = [np.abs(np.diff(f.paths.values[..., CLOSE])).mean() for f in (one, other)]
    assert moves[0] > moves[1]


def test_projected_bars_are_counted_in_the_log(engine, caplog):
    """One line a call says how many of the simulated bars were moved."""
    with caplog.at_level(logging.INFO, logger="include.forecast.fracast"):
        engine.forecast([session_request()], decode_options(n_samples=16))
    assert "of 208 simulated bars onto valid bars" in caplog.text
