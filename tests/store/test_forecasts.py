"""The forecast ledger: insert-only, same key same paths."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from sqlalchemy import text

from include.domain.forecasts import Forecast, SamplePaths, outlook, step_quantiles
from include.errors import ConflictingWrite
from tests.support.builders import AS_OF, WINDOW, a_model_version

OPTIONS = {"seed": 7, "temperature": 0.9, "top_k": None, "parity": False}


def a_forecast(*, key: str = "key", symbol: str = "AAPL", seed: int = 1, **overrides) -> Forecast:
    """Return a forecast of 8 paths and 5 steps."""
    values = np.random.default_rng(seed).normal(100, 1, (8, 5, 6)).astype(np.float32)
    forecast = Forecast(
        content_key=key,
        symbol=symbol,
        model_version=a_model_version(),
        origin=AS_OF,
        window=WINDOW,
        step_ends=np.arange(1, 6, dtype=np.int64) * 1800,
        paths=SamplePaths(values=values),
        engine_seconds=0.25,
    )
    return replace(forecast, **overrides)


def assert_same_forecast(found: Forecast, expected: Forecast) -> None:
    """Compare two forecasts field by field, arrays bit for bit."""
    for name in ("content_key", "symbol", "model_version", "origin", "window", "engine_seconds"):
        assert getattr(found, name) == getattr(expected, name)
    np.testing.assert_array_equal(found.step_ends, expected.step_ends)
    assert found.paths.values.dtype == np.float32
    assert found.paths.values.tobytes() == expected.paths.values.tobytes()


def test_saved_forecasts_load_bit_for_bit(uow):
    """Forecasts of several models come back with their own versions and paths."""
    other = a_model_version(model="kronos", checkpoint_hash="1" * 64)
    many = [a_forecast(key="a"), a_forecast(key="b", seed=2, model_version=other)]
    uow.forecasts.save_all(many, AS_OF, OPTIONS)
    found = uow.forecasts.load(["b", "a", "unknown"])
    assert set(found) == {"a", "b"}
    for forecast in many:
        assert_same_forecast(found[forecast.content_key], forecast)
    assert uow.forecasts.by_key("unknown") is None


def test_existing_names_the_stored_keys_only(uow):
    """A key that is stored need not be computed."""
    uow.forecasts.save_all([a_forecast(key="a")], AS_OF, OPTIONS)
    assert uow.forecasts.existing(["a", "b"]) == {"a"}
    assert uow.forecasts.existing([]) == set()


def test_outlooks_equal_those_of_the_paths(uow):
    """The stored outlook is the one that the paths give, bit for bit."""
    many = [a_forecast(key=str(seed), seed=seed) for seed in range(5)]
    uow.forecasts.save_all(many, AS_OF, OPTIONS)
    found = uow.forecasts.outlooks([forecast.content_key for forecast in many])
    assert found == {forecast.content_key: outlook(forecast.paths) for forecast in many}


def test_same_key_with_same_paths_writes_nothing(uow):
    """The first issue stays, whoever computes it again."""
    uow.forecasts.save_all([a_forecast()], AS_OF, OPTIONS)
    uow.forecasts.save_all([a_forecast(engine_seconds=9.0)], AS_OF, OPTIONS)
    uow.forecasts.save_all([a_forecast(key="b", seed=3), a_forecast(key="b", seed=3)], AS_OF, {})
    found = uow.forecasts.by_key("key")
    assert found is not None
    assert found.engine_seconds == 0.25


def test_same_key_with_other_paths_is_refused_by_name(uow):
    """Non-determinism is an error that names the key, and the stored paths stay."""
    first = a_forecast()
    uow.forecasts.save_all([first], AS_OF, OPTIONS)
    with pytest.raises(ConflictingWrite, match=r"Forecast key is stored already .* paths differ"):
        uow.forecasts.save_all([a_forecast(key="new"), a_forecast(seed=2)], AS_OF, OPTIONS)
    found = uow.forecasts.by_key("key")
    assert found is not None
    assert_same_forecast(found, first)
    assert uow.forecasts.existing(["new"]) == set()


def test_two_forecasts_of_one_key_in_one_save_must_agree(uow):
    """A batch that contradicts itself is refused before anything is written."""
    with pytest.raises(ConflictingWrite, match="Forecast key"):
        uow.forecasts.save_all([a_forecast(), a_forecast(seed=2)], AS_OF, OPTIONS)
    assert uow.forecasts.existing(["key"]) == set()


def test_conflict_is_found_when_another_process_was_faster(database):
    """A key that another transaction commits meanwhile is compared as well."""
    with ThreadPoolExecutor(1) as pool, database.unit_of_work() as first:
        first.forecasts.save_all([a_forecast()], AS_OF, OPTIONS)
        slower = pool.submit(_save_alone, database, a_forecast(seed=2))
        with pytest.raises(TimeoutError):
            slower.result(timeout=0.2)
        first.commit()
        with pytest.raises(ConflictingWrite, match="Forecast key"):
            slower.result(timeout=10)


def _save_alone(database, forecast):
    with database.unit_of_work() as uow:
        uow.forecasts.save_all([forecast], AS_OF, OPTIONS)
        uow.commit()


def test_quantiles_options_and_issue_stand_beside_the_paths(database, postgres):
    """Provenance is stored with the forecast: options, quantiles, the instant of first issue."""
    forecast = a_forecast()
    with database.unit_of_work() as uow:
        uow.forecasts.save_all([forecast], AS_OF, OPTIONS)
        uow.commit()
    with postgres.engine.connect() as connection:
        statement = text("SELECT options, quantiles, first_issued_at FROM tradewind.forecasts")
        row = connection.execute(statement).one()
    assert row.options == OPTIONS
    assert bytes(row.quantiles) == step_quantiles(forecast.paths).tobytes()
    assert row.first_issued_at == AS_OF
