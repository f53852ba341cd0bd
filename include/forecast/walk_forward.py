"""Requests from bars and windows: the one code path of live cycles, walk-forward and backtest.

Pure functions of bars that ended by an instant; nothing here knows a model. The context's length
is fixed per model: a start date that moves would change every key every day.
"""

from collections.abc import Sequence
from datetime import datetime

from include.domain.bars import BarSeries
from include.domain.forecasts import ForecastRequest
from include.domain.instants import epoch_seconds
from include.domain.sessions import Window, bar_grid
from include.errors import ContextTooShort, ForecastError


def live_request(
    series: BarSeries, window: Window, as_of: datetime, *, context_bars: int
) -> ForecastRequest:
    """Return the request for what remains of the window, from bars that ended by `as_of`.

    Steps are the window's bars that end after the context does, the one that is forming
    included. Raises ContextTooShort where no bar had ended, ForecastError where no step remains.
    """
    context = series.closed_by(as_of).last(context_bars)
    if len(context) == 0:
        raise ContextTooShort(symbol=series.symbol, found=0, needed=1)
    starts, ends = bar_grid(window, series.timeframe)
    remaining = ends > context.ends[-1]
    if not remaining.any():
        message = (
            f"Forecast of {series.symbol} was asked at {as_of.isoformat()} for the window that "
            f"ended {window.ends_at.isoformat()}; no bar of it remains. Ask for the next window."
        )
        raise ForecastError(message)
    return ForecastRequest(
        context=context,
        window=window,
        step_starts=starts[remaining],
        step_ends=ends[remaining],
    )


def opening_requests(
    series: BarSeries,
    windows: Sequence[Window],
    *,
    context_bars: int,
    minimum_bars: int | None = None,
) -> list[ForecastRequest]:
    """Return the walk-forward set: one request per window, as it was at the window's opening.

    Windows with fewer than `minimum_bars` closed bars before them are left out; by default only
    whole contexts count, since a shorter one changes its key as soon as older bars arrive.
    """
    needed = context_bars if minimum_bars is None else max(minimum_bars, 1)
    return [
        live_request(series, window, window.opens_at, context_bars=context_bars)
        for window in windows
        if int((series.ends <= epoch_seconds(window.opens_at)).sum()) >= needed
    ]
