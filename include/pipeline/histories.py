"""A symbol's past windows, each with the forecast that was issued at its opening."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from include.domain.bars import CLOSE, HIGH, LOW, OPEN, BarSeries
from include.domain.forecasts import ForecastRequest, Outlook
from include.domain.instants import epoch_seconds
from include.domain.strategies import WindowHistory
from include.pipeline.forecast_work import KeyedRequest
from include.pipeline.situation import Situation

FloatArray = NDArray[np.float64]


def window_history(
    situation: Situation, openings: Sequence[KeyedRequest], outlooks: Mapping[str, Outlook]
) -> WindowHistory:
    """Return the windows that have ended, have all their bars and a stored opening forecast.

    Oldest first. The reference close is the last close of the opening's context.
    """
    usable = [
        (opening.request, outlooks[opening.key], bars)
        for opening in openings
        if opening.key in outlooks
        and opening.request.window in situation.past_windows
        and len(bars := bars_of_window(situation.series, opening.request))
        == opening.request.horizon
    ]
    widest = max((len(bars) for _, _, bars in usable), default=0)
    forecasts = [outlook for _, outlook, _ in usable]
    tapes = [bars for _, _, bars in usable]
    return WindowHistory(
        symbol=situation.symbol,
        opens_at=np.array(
            [epoch_seconds(request.window.opens_at) for request, _, _ in usable], dtype=np.int64
        ),
        reference_close=_floats(request.context.column(CLOSE)[-1] for request, _, _ in usable),
        open=_floats(bars.column(OPEN)[0] for bars in tapes),
        high=_floats(bars.column(HIGH).max() for bars in tapes),
        low=_floats(bars.column(LOW).min() for bars in tapes),
        close=_floats(bars.column(CLOSE)[-1] for bars in tapes),
        forecast_high=_floats(outlook.high for outlook in forecasts),
        forecast_low=_floats(outlook.low for outlook in forecasts),
        forecast_close=_floats(outlook.close for outlook in forecasts),
        inner_open=_padded(tapes, OPEN, widest),
        inner_high=_padded(tapes, HIGH, widest),
        inner_low=_padded(tapes, LOW, widest),
    )


def bars_of_window(series: BarSeries, request: ForecastRequest) -> BarSeries:
    """Return the closed bars of the window that a request asked for."""
    first, last = np.searchsorted(
        series.starts, [request.step_starts[0], request.step_ends[-1]], side="left"
    )
    return series.take(slice(int(first), int(last)))


def reference_close(situation: Situation) -> float | None:
    """Return the close before the open window, USD; None without a window or a bar before it."""
    if situation.window is None:
        return None
    before = situation.series.closed_by(situation.window.opens_at)
    return float(before.column(CLOSE)[-1]) if len(before) else None


def _floats(values: Iterable[float]) -> FloatArray:
    return np.fromiter(values, dtype=np.float64)


def _padded(tapes: Sequence[BarSeries], column: int, width: int) -> FloatArray:
    """Stack one column of windows of unequal length, NaN past a short one's end."""
    padded = np.full((len(tapes), width), np.nan)
    for row, bars in enumerate(tapes):
        padded[row, : len(bars)] = bars.column(column)
    return padded
