"""Fracast behind the engine's protocol: real pretrained weights that come with its wheel.

One univariate forecast each of high, low and close; the nine quantiles become paths through
copula.py. Nothing is downloaded. The network and its exact shortcut: fracast_network.py.
"""

import hashlib
import logging
import time
from collections.abc import Sequence
from importlib.metadata import version
from importlib.resources import as_file, files

import numpy as np
from fracast import FracastModel
from numpy.typing import NDArray

from include.domain.bars import CLOSE, HIGH, LOW
from include.domain.forecasts import (
    Forecast,
    ForecastRequest,
    ModelVersion,
    OptionValue,
    path_seed,
)
from include.errors import CheckpointMismatch
from include.forecast.config import DecodeOptions
from include.forecast.copula import ar1_normals, values_at_scores
from include.forecast.engine import finished_forecast, require_answerable
from include.forecast.fracast_network import FracastNetwork
from include.forecast.repair import valid_bars

KEYS = (HIGH, LOW, CLOSE)
MINIMUM_CONTEXT_BARS = 48  # one native block; the package itself accepts 8
# Divided by the last close: minimum and maximum normalise anyway, but the package's floor on
# their difference (1e-5) is in price units, which would flatten a coin quoted at 0.00001 USD.
TRANSFORM_VERSION = "close-relative-1"
ENGINE_REVISION = "exact-1"
LOWEST_RELATIVE_PRICE = 0.01  # quantiles below are raised to it, so that logarithms exist

logger = logging.getLogger(__name__)


class FracastEngine:
    """Quantiles of high, low and close from fracast, as sample paths of whole bars.

    A request is the unit of evaluation: its three series run through the network together and
    alone, so that no batch changes a bit of its paths. On another machine, torch version or
    number of threads the last bits of a float32 product may differ.
    """

    minimum_context_bars = MINIMUM_CONTEXT_BARS

    def __init__(self, network: FracastNetwork, *, model_version: ModelVersion) -> None:
        self._network = network
        self._model_version = model_version

    @property
    def model_version(self) -> ModelVersion:
        """Package version and the sha256 of the bundled weights."""
        return self._model_version

    def options_used(self, options: DecodeOptions) -> dict[str, OptionValue]:
        """Return all options: paths depend on each."""
        return options.as_mapping()

    def forecast(
        self, requests: Sequence[ForecastRequest], options: DecodeOptions
    ) -> list[Forecast]:
        """Return one forecast per request, in their order; log how many bars were projected."""
        for request in requests:
            require_answerable(request, minimum_bars=self.minimum_context_bars)
        answered = [self._forecast(request, options) for request in requests]
        moved = sum(moved_bars for _, moved_bars in answered)
        bars = sum(request.horizon for request in requests) * options.n_samples
        logger.info("Projected %d of %d simulated bars onto valid bars", moved, bars)
        return [forecast for forecast, _ in answered]

    def _forecast(self, request: ForecastRequest, options: DecodeOptions) -> tuple[Forecast, int]:
        """Return the forecast and how many of its bars were moved by the projection."""
        began = time.perf_counter()
        last_close = float(request.context.values[-1, CLOSE])
        quantiles = self._relative_quantiles(request, last_close=last_close)
        projection = valid_bars(self._relative_bars(request, quantiles, options) * last_close)
        forecast = finished_forecast(
            request,
            projection.prices,
            model_version=self.model_version,
            options=self.options_used(options),
            engine_seconds=time.perf_counter() - began,
        )
        return forecast, projection.moved_bars

    def _relative_quantiles(
        self, request: ForecastRequest, *, last_close: float
    ) -> NDArray[np.float64]:
        """Return quantiles over the last close, rising, shape (keys, horizon, levels)."""
        contexts = (request.context.values[:, KEYS].T / last_close).astype(np.float32)
        quantiles = self._network.quantiles(contexts, request.horizon)
        return np.sort(quantiles, axis=-1)  # they cross in 3-8 % of steps

    def _relative_bars(
        self,
        request: ForecastRequest,
        quantiles: NDArray[np.float64],
        options: DecodeOptions,
    ) -> NDArray[np.float64]:
        """Return open, high, low and close over the last close, (n_samples, horizon, 4).

        The open is the previous close of the path, the first the context's last close: a fourth
        series would cost a third more, and levels are made of high, low and close.
        """
        seeds = np.random.SeedSequence(path_seed(request, seed=options.seed))
        scores = ar1_normals(
            np.random.Generator(np.random.PCG64(seeds)),
            n_samples=options.n_samples,
            horizon=request.horizon,
            step_correlation=options.step_correlation,
        )
        logs = np.log(np.maximum(quantiles, LOWEST_RELATIVE_PRICE))
        high, low, close = np.exp(
            values_at_scores(logs, levels=self._network.levels, scores=scores)
        )
        first_open = np.ones((options.n_samples, 1))
        opens = np.concatenate([first_open, close[:, :-1]], axis=1)
        return np.stack([opens, high, low, close], axis=-1)


def bundled_fracast_engine() -> FracastEngine:
    """Return the engine with the float32 weights of the installed wheel; needs no network."""
    with as_file(files("fracast") / "weights") as folder:
        weights = (folder / "model.safetensors").read_bytes()
        try:
            model = FracastModel.from_pretrained(folder, weights="fp32")
        except (RuntimeError, KeyError, ValueError) as error:
            raise CheckpointMismatch(path="fracast/weights", fault=str(error)) from error
    return FracastEngine(
        FracastNetwork(model),
        model_version=ModelVersion(
            model="fracast",
            checkpoint_hash=hashlib.sha256(weights).hexdigest(),
            engine_version=f"{version('fracast')}+{ENGINE_REVISION}",
            transform_version=TRANSFORM_VERSION,
        ),
    )
