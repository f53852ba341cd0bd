"""Forecast engines by name; a model's module is imported only when that model is asked for."""

from collections.abc import Callable

from include.errors import UnknownParameter
from include.forecast.engine import ForecastEngine


def _naive() -> ForecastEngine:
    from include.forecast.baselines import NaiveEngine

    return NaiveEngine()


def _fracast() -> ForecastEngine:
    from include.forecast.fracast import bundled_fracast_engine

    return bundled_fracast_engine()


_BUILDERS: dict[str, Callable[[], ForecastEngine]] = {"naive": _naive, "fracast": _fracast}
ENGINE_NAMES = tuple(sorted(_BUILDERS))


def engine_by_name(name: str) -> ForecastEngine:
    """Return a loaded engine; an unknown name raises UnknownParameter with the nearest one."""
    if name not in _BUILDERS:
        raise UnknownParameter(kind="Forecast model", name=name, known=_BUILDERS)
    return _BUILDERS[name]()
