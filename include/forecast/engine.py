"""The protocol of all forecast models, and what every engine checks at its border.

One call takes many symbols and origins; contexts and horizons may differ in length. Which engine
belongs to a name: catalogue.py. Engines know no ledger, no database and no clock.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from include.domain.bars import AMOUNT, CLOSE, OPEN, VOLUME
from include.domain.forecasts import (
    Forecast,
    ForecastRequest,
    ModelVersion,
    OptionValue,
    SamplePaths,
    content_key,
)
from include.errors import ContextTooShort, ForecastError, NonFiniteForecast
from include.forecast.config import DecodeOptions


class ForecastEngine(Protocol):
    """A model that turns contexts into sample paths."""

    @property
    def model_version(self) -> ModelVersion:
        """Everything of the model that can change a number."""
        ...

    @property
    def minimum_context_bars(self) -> int:
        """Fewest bars that a context may have."""
        ...

    def forecast(
        self, requests: Sequence[ForecastRequest], options: DecodeOptions
    ) -> list[Forecast]:
        """Return one forecast per request, in their order; no path depends on the batch."""
        ...

    def options_used(self, options: DecodeOptions) -> dict[str, OptionValue]:
        """Return the options that this engine reads: those of its content keys."""
        ...


def require_answerable(request: ForecastRequest, *, minimum_bars: int) -> None:
    """Raise where no honest answer exists: short, non-finite or non-positive context, no step."""
    if len(request.context) < minimum_bars:
        raise ContextTooShort(
            symbol=request.symbol, found=len(request.context), needed=minimum_bars
        )
    if request.horizon < 1:
        message = (
            f"Forecast of {request.symbol} was asked for 0 steps; at least 1 is needed. Ask "
            "before the window ends."
        )
        raise ForecastError(message)
    values = request.context.values
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
        _refuse_row(request, row=row, fault="NaN or infinity", bound="finite values")
    prices = values[:, OPEN : CLOSE + 1]
    if (prices <= 0).any():
        row = int(np.flatnonzero((prices <= 0).any(axis=1))[0])
        _refuse_row(request, row=row, fault="a price of 0 or less", bound="positive prices")


def _refuse_row(request: ForecastRequest, *, row: int, fault: str, bound: str) -> None:
    """Raise ForecastError that names the first bar at fault."""
    message = (
        f"Context of {request.symbol} held {fault} in the bar that starts at epoch "
        f"{request.context.starts[row]}; a context must hold {bound}. Check the bars' quality "
        "gate."
    )
    raise ForecastError(message)


def finished_forecast(
    request: ForecastRequest,
    prices: NDArray[np.float64],
    *,
    model_version: ModelVersion,
    options: Mapping[str, OptionValue],
    engine_seconds: float,
) -> Forecast:
    """Return the forecast of price paths, shape (n_samples, horizon, 4), USD; refuse NaN.

    Paths are stored as float32 with volume and amount 0.
    """
    values = np.zeros((*prices.shape[:2], AMOUNT + 1), dtype=np.float32)
    with np.errstate(over="ignore"):
        values[:, :, :VOLUME] = prices
    if not np.isfinite(values).all():
        raise NonFiniteForecast(symbol=request.symbol, model=model_version.label)
    return Forecast(
        content_key=content_key(request, model_version=model_version, options=options),
        symbol=request.symbol,
        model_version=model_version,
        origin=request.context.last_end,
        window=request.window,
        step_ends=request.step_ends,
        paths=SamplePaths(values=values),
        engine_seconds=engine_seconds,
    )
