"""Forecasts: contexts in, sample paths out, and the content key that names a forecast for ever."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from include.domain.bars import CLOSE, COLUMNS, HIGH, LOW, OPEN, BarSeries
from include.domain.instants import epoch_seconds
from include.domain.sessions import Window

QUANTILE_LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)
OptionValue = str | int | float | bool | None


@dataclass(frozen=True, kw_only=True)
class ModelVersion:
    """Which model made a forecast: everything of it that can change a number."""

    model: str
    checkpoint_hash: str
    engine_version: str
    transform_version: str

    @property
    def label(self) -> str:
        """Short name for rows, logs and the page."""
        return f"{self.model}@{self.checkpoint_hash[:8]}/{self.engine_version}"


@dataclass(frozen=True, kw_only=True, eq=False)
class ForecastRequest:
    """One question to a model: the context of a symbol, and the future bars asked for.

    `context` ended at or before the decision; `step_starts` and `step_ends` are epochs in
    seconds, shape (horizon,), the bars that remain in `window`.
    """

    context: BarSeries
    window: Window
    step_starts: NDArray[np.int64]
    step_ends: NDArray[np.int64]

    @property
    def symbol(self) -> str:
        """Symbol of the context."""
        return self.context.symbol

    @property
    def horizon(self) -> int:
        """Number of bars asked for."""
        return len(self.step_starts)


@dataclass(frozen=True, kw_only=True, eq=False)
class SamplePaths:
    """Simulated futures: float32, shape (n_samples, horizon, 6), columns as `bars.COLUMNS`.

    USD per share; volume and amount are 0 where the model does not forecast them. Never NaN.
    """

    values: NDArray[np.float32]

    @property
    def n_samples(self) -> int:
        """Number of paths."""
        return int(self.values.shape[0])

    @property
    def horizon(self) -> int:
        """Number of steps of each path."""
        return int(self.values.shape[1])


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """What sample paths say of a window's remaining bars, USD: medians over paths, and a band.

    `high` is the median over paths of each path's highest high, `low` of its lowest low, `close`
    of its last close; `close_band` is the 10 % and 90 % quantile of the last close.
    """

    open: float
    high: float
    low: float
    close: float
    close_band: tuple[float, float]


@dataclass(frozen=True, kw_only=True, eq=False)
class Forecast:
    """Sample paths with their origin: who made them, from what, for which window."""

    content_key: str
    symbol: str
    model_version: ModelVersion
    origin: datetime
    window: Window
    step_ends: NDArray[np.int64]
    paths: SamplePaths
    engine_seconds: float


def outlook(paths: SamplePaths) -> Outlook:
    """Return the window's levels in USD: medians over paths of high, low and last close."""
    values = paths.values.astype(np.float64)
    closes = values[:, -1, CLOSE]
    low_band, high_band = np.quantile(closes, [0.1, 0.9])
    return Outlook(
        open=float(np.median(values[:, 0, OPEN])),
        high=float(np.median(values[:, :, HIGH].max(axis=1))),
        low=float(np.median(values[:, :, LOW].min(axis=1))),
        close=float(np.median(closes)),
        close_band=(float(low_band), float(high_band)),
    )


def step_quantiles(paths: SamplePaths) -> NDArray[np.float32]:
    """Return quantiles over paths at `QUANTILE_LEVELS`, shape (levels, horizon, 6)."""
    return np.quantile(paths.values, QUANTILE_LEVELS, axis=0).astype(np.float32)


def content_key(
    request: ForecastRequest,
    *,
    model_version: ModelVersion,
    options: Mapping[str, OptionValue],
) -> str:
    """Return the sha256 of everything that can change a forecast.

    Model version, options (seed included), symbol, timeframe, the context's bars and stamps
    (little-endian int64 and float64) and the stamps asked for. Not in it: clocks, hosts, batch
    composition. Same key, same paths (trading.md 3.4).
    """
    digest = hashlib.sha256()
    head = {
        "columns": COLUMNS,
        "model": [
            model_version.model,
            model_version.checkpoint_hash,
            model_version.engine_version,
            model_version.transform_version,
        ],
        "options": dict(sorted(options.items())),
        "symbol": request.symbol,
        "timeframe": request.context.timeframe.value,
    }
    digest.update(json.dumps(head, sort_keys=True).encode())
    for epochs in (request.context.starts, request.context.ends):
        digest.update(epochs.astype("<i8").tobytes())
    digest.update(request.context.values.astype("<f8").tobytes())
    for epochs in (request.step_starts, request.step_ends):
        digest.update(epochs.astype("<i8").tobytes())
    return digest.hexdigest()


def path_seed(request: ForecastRequest, *, seed: int) -> tuple[int, int]:
    """Return a 128-bit seed per (symbol, context end), as two words.

    Derived, so that no path depends on which symbols share its batch (design section 5).
    """
    origin = epoch_seconds(request.context.last_end)
    digest = hashlib.sha256(f"{seed}|{request.symbol}|{origin}".encode()).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:16], "little")
