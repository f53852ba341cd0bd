"""Builders of bars, windows and requests for tests of the forecast layer."""

from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from include.domain.bars import BarSeries, Timeframe
from include.domain.forecasts import ForecastRequest
from include.domain.sessions import Window, utc_day_window
from include.forecast.config import DecodeOptions
from include.forecast.walk_forward import live_request

FIRST_SESSION_OPENS = datetime(2026, 3, 2, 14, 30, tzinfo=UTC)
SESSION_BARS = 13


def random_prices(count: int, *, seed: int = 0, last_close: float = 100.0) -> NDArray[np.float64]:
    """Return valid bars of a random walk with a break every 13 bars, shape (count, 6)."""
    generator = np.random.default_rng(seed)
    moves = generator.standard_normal(count) * 0.002
    moves[::SESSION_BARS] *= 4.0
    close = np.exp(np.cumsum(moves))
    open_ = np.concatenate([[1.0], close[:-1]]) * np.exp(generator.standard_normal(count) * 1e-4)
    high = np.maximum(open_, close) * np.exp(np.abs(generator.standard_normal(count)) * 0.001)
    low = np.minimum(open_, close) * np.exp(-np.abs(generator.standard_normal(count)) * 0.001)
    prices = np.stack([open_, high, low, close], axis=1) * (last_close / close[-1])
    volume = generator.integers(100, 10_000, count).astype(np.float64)
    return np.column_stack([prices, volume, volume * prices[:, 3]])


def session_windows(count: int) -> list[Window]:
    """Return so many windows of 13 half hours each, a day apart."""
    opens = [FIRST_SESSION_OPENS + timedelta(days=day) for day in range(count)]
    return [Window(opens_at=at, ends_at=at + timedelta(hours=6, minutes=30)) for at in opens]


def session_series(
    sessions: int, *, symbol: str = "AAPL", seed: int = 0, last_close: float = 100.0
) -> BarSeries:
    """Return half-hour bars that fill so many windows of `session_windows`."""
    first = int(FIRST_SESSION_OPENS.timestamp())
    days = np.arange(sessions)[:, None] * 86_400
    starts = (first + days + np.arange(SESSION_BARS) * 1_800).ravel()
    return BarSeries(
        symbol=symbol,
        timeframe=Timeframe.MINUTE_30,
        starts=starts,
        ends=starts + 1_800,
        values=random_prices(len(starts), seed=seed, last_close=last_close),
    )


def hourly_series(days: int, *, symbol: str = "BTC/USD", seed: int = 0) -> BarSeries:
    """Return hourly bars of so many UTC days from 1 March 2026, around the clock."""
    first = int(datetime(2026, 3, 1, tzinfo=UTC).timestamp())
    starts = first + np.arange(days * 24) * 3_600
    return BarSeries(
        symbol=symbol,
        timeframe=Timeframe.HOUR,
        starts=starts,
        ends=starts + 3_600,
        values=random_prices(len(starts), seed=seed, last_close=60_000.0),
    )


def session_request(
    *, symbol: str = "AAPL", seed: int = 0, context_bars: int = 128, last_close: float = 100.0
) -> ForecastRequest:
    """Return a request at a session's opening: 13 steps, at most 520 bars of context."""
    series = session_series(40, symbol=symbol, seed=seed, last_close=last_close)
    window = session_windows(41)[-1]
    return live_request(series, window, window.opens_at, context_bars=context_bars)


def crypto_request(
    *, symbol: str = "BTC/USD", seed: int = 0, context_bars: int = 128
) -> ForecastRequest:
    """Return a request at the opening of a UTC day: 24 steps."""
    series = hourly_series(10, symbol=symbol, seed=seed)
    window = utc_day_window(series.last_end.date())
    return live_request(series, window, window.opens_at, context_bars=context_bars)


def decode_options(
    *, n_samples: int = 8, seed: int = 7, step_correlation: float = 0.9
) -> DecodeOptions:
    """Return options of few samples."""
    return DecodeOptions(n_samples=n_samples, seed=seed, step_correlation=step_correlation)
