"""The no-skill control: a random walk whose volatility is remembered from past ranges.

Runs beside every model, torch-free. What it leaves out on purpose: drift, volatility by time of
day, fat tails. A model that can't beat it says nothing about the future.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from include.domain.bars import CLOSE, HIGH, LOW, OPEN, BarSeries
from include.domain.forecasts import (
    Forecast,
    ForecastRequest,
    ModelVersion,
    OptionValue,
    path_seed,
)
from include.forecast.config import DecodeOptions
from include.forecast.engine import finished_forecast, require_answerable

DECAY = 0.94  # RiskMetrics Technical Document (1996), 4th edition, section 5.3
MINIMUM_CONTEXT_BARS = 20  # the weights of older bars sum to 0.94**20 = 0.29
OPTIONS_USED = ("n_samples", "seed")


@dataclass(frozen=True, kw_only=True)
class BarVariance:
    """Variances of log price: over one bar, and over a break between bars."""

    bar: float
    gap: float


def ewma(values: NDArray[np.float64], *, decay: float = DECAY) -> float:
    """Return the exponentially weighted mean, newest value last; 0 for no values, NaN for NaN."""
    if len(values) == 0:
        return 0.0
    weights = decay ** np.arange(len(values) - 1, -1, -1.0)
    return float(weights @ values / weights.sum())


def bar_variance(context: BarSeries) -> BarVariance:
    """Return variances of log price, dimensionless, remembered from the context alone.

    Within bars by the range: ln(high / low)^2 / (4 ln 2), Parkinson (1980), "The extreme value
    method for estimating the variance of the rate of return", Journal of Business 53(1). Ranges
    don't see a break, so breaks have their own: the squared log return from the last close
    before to the open after, over bars that start later than the previous one ended.
    """
    ranges = np.log(context.column(HIGH) / context.column(LOW))
    breaks = np.flatnonzero(context.starts[1:] > context.ends[:-1]) + 1
    gaps = np.log(context.column(OPEN)[breaks] / context.column(CLOSE)[breaks - 1])
    return BarVariance(bar=ewma(ranges**2) / (4.0 * np.log(2.0)), gap=ewma(gaps**2))


def step_deviations(request: ForecastRequest) -> NDArray[np.float64]:
    """Return the standard deviation of log price per step, shape (horizon,), breaks included.

    A step that starts later than what lies before it ended, as the first of a session does,
    carries the break's variance as well.
    """
    variance = bar_variance(request.context)
    before = np.concatenate([request.context.ends[-1:], request.step_ends[:-1]])
    variances = variance.bar + variance.gap * (request.step_starts > before)
    deviations: NDArray[np.float64] = np.sqrt(variances)
    return deviations


def random_walk_prices(
    generator: np.random.Generator,
    *,
    last_close: float,
    deviations: NDArray[np.float64],
    n_samples: int,
) -> NDArray[np.float64]:
    """Return price paths, shape (n_samples, horizon, 4), in the unit of `last_close`.

    Log closes walk without drift. A bar opens at the previous close, the first at `last_close`:
    an overnight move is part of its bar. High and low are drawn from the maximum of a Brownian
    bridge between open and close (Glasserman 2003, Monte Carlo Methods in Financial Engineering,
    section 6.4), one draw each: each is exact alone, their dependence is not modelled.
    """
    noise = generator.standard_normal((n_samples, len(deviations)))
    draws = generator.random((2, n_samples, len(deviations)))
    closes = np.cumsum(noise * deviations, axis=1)
    opens = np.concatenate([np.zeros((n_samples, 1)), closes[:, :-1]], axis=1)
    reach = np.sqrt((closes - opens) ** 2 - 2.0 * deviations**2 * np.log1p(-draws))
    highs, lows = (opens + closes + reach[0]) / 2, (opens + closes - reach[1]) / 2
    body_tops, body_bottoms = np.maximum(opens, closes), np.minimum(opens, closes)
    highs, lows = np.maximum(highs, body_tops), np.minimum(lows, body_bottoms)  # rounding alone
    prices: NDArray[np.float64] = last_close * np.exp(
        np.stack([opens, highs, lows, closes], axis=-1)
    )
    return prices


class NaiveEngine:
    """Random walk with remembered volatility; the control that every model is scored beside."""

    model_version = ModelVersion(
        model="naive",
        checkpoint_hash="none",
        engine_version="1",
        transform_version="log-price-1",
    )
    minimum_context_bars = MINIMUM_CONTEXT_BARS

    def options_used(self, options: DecodeOptions) -> dict[str, OptionValue]:
        """Return number of samples and seed: nothing else changes a path."""
        return options.as_mapping(OPTIONS_USED)

    def forecast(
        self, requests: Sequence[ForecastRequest], options: DecodeOptions
    ) -> list[Forecast]:
        """Return one forecast per request, in their order, each from its own generator."""
        for request in requests:
            require_answerable(request, minimum_bars=self.minimum_context_bars)
        return [self._forecast(request, options) for request in requests]

    def _forecast(self, request: ForecastRequest, options: DecodeOptions) -> Forecast:
        began = time.perf_counter()
        seeds = np.random.SeedSequence(path_seed(request, seed=options.seed))
        prices = random_walk_prices(
            np.random.Generator(np.random.PCG64(seeds)),
            last_close=float(request.context.values[-1, CLOSE]),
            deviations=step_deviations(request),
            n_samples=options.n_samples,
        )
        return finished_forecast(
            request,
            prices,
            model_version=self.model_version,
            options=self.options_used(options),
            engine_seconds=time.perf_counter() - began,
        )
