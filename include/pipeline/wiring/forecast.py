"""Builds forecast engines and decode options out of settings."""

from functools import lru_cache

from include.forecast.catalogue import engine_by_name
from include.forecast.config import DecodeOptions
from include.forecast.engine import ForecastEngine
from include.settings import Settings

CONTROL_MODEL = "naive"


@lru_cache(maxsize=4)
def open_engine(model: str) -> ForecastEngine:
    """Return the engine of a model, loaded once per process."""
    return engine_by_name(model)


def decode_options(settings: Settings) -> DecodeOptions:
    """Return how the settings want paths to be drawn."""
    return DecodeOptions(
        n_samples=settings.forecast.samples,
        seed=settings.forecast.seed,
        step_correlation=settings.forecast.step_correlation,
    )
