"""A forecast as a row of the ledger and back.

Paths and quantiles are little-endian float32 in C order; their shapes follow from `n_samples`,
`horizon` and the six columns of `domain.bars.COLUMNS`. Queries are in `forecasts.py`.
"""

import hashlib

import numpy as np

from include.domain.bars import COLUMNS
from include.domain.forecasts import (
    Forecast,
    ModelVersion,
    Outlook,
    SamplePaths,
    outlook,
    step_quantiles,
)
from include.domain.sessions import Window
from include.store.copying import Field
from include.store.transaction import Row

LEDGER_COLUMNS = {
    "content_key": "text",
    "symbol": "text",
    "model_version_id": "bigint",
    "origin": "timestamptz",
    "window_opens_at": "timestamptz",
    "window_ends_at": "timestamptz",
    "step_ends": "bigint[]",
    "n_samples": "bigint",
    "horizon": "bigint",
    "quantiles": "bytea",
    "paths_sha256": "bytea",
    "engine_seconds": "float8",
    "open": "float8",
    "high": "float8",
    "low": "float8",
    "close": "float8",
    "close_low": "float8",
    "close_high": "float8",
    "paths": "bytea",
}


def ledger_row(forecast: Forecast, model_version_id: int) -> tuple[Field, ...]:
    """Return the fields of a forecast in the order of `LEDGER_COLUMNS`."""
    levels = outlook(forecast.paths)
    return (
        forecast.content_key,
        forecast.symbol,
        model_version_id,
        forecast.origin,
        forecast.window.opens_at,
        forecast.window.ends_at,
        forecast.step_ends,
        forecast.paths.n_samples,
        forecast.paths.horizon,
        step_quantiles(forecast.paths).astype("<f4").tobytes(),
        paths_digest(forecast),
        float(forecast.engine_seconds),
        levels.open,
        levels.high,
        levels.low,
        levels.close,
        *levels.close_band,
        _path_bytes(forecast),
    )


def paths_digest(forecast: Forecast) -> bytes:
    """Return the sha256 of the paths' bytes: it outlives the paths themselves."""
    return hashlib.sha256(_path_bytes(forecast)).digest()


def forecast_of(row: Row, model_version: ModelVersion) -> Forecast:
    """Return the forecast of a row that carries its paths."""
    shape = (row["n_samples"], row["horizon"], len(COLUMNS))
    values = np.frombuffer(row["paths"], dtype="<f4").reshape(shape)
    return Forecast(
        content_key=row["content_key"],
        symbol=row["symbol"],
        model_version=model_version,
        origin=row["origin"],
        window=Window(opens_at=row["window_opens_at"], ends_at=row["window_ends_at"]),
        step_ends=np.array(row["step_ends"], dtype=np.int64),
        paths=SamplePaths(values=values.astype(np.float32)),
        engine_seconds=row["engine_seconds"],
    )


def outlook_of(row: Row) -> Outlook:
    """Return the outlook that was stored beside the paths."""
    return Outlook(
        open=row["open"],
        high=row["high"],
        low=row["low"],
        close=row["close"],
        close_band=(row["close_low"], row["close_high"]),
    )


def _path_bytes(forecast: Forecast) -> bytes:
    return np.ascontiguousarray(forecast.paths.values, dtype="<f4").tobytes()
