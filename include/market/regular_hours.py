"""Regular hours: from the venue's equity bars to the bars of its sessions.

Pure. Crypto needs none of this: its bars are what the venue says. Next: `market.quality`.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from include.domain.bars import BarSeries, Timeframe
from include.domain.instants import epoch_array
from include.domain.sessions import Session


def regular_bars(series: BarSeries, sessions: Sequence[Session]) -> BarSeries:
    """Return the bars of an equity that start inside a session, ending with it at the latest.

    An intraday bar that starts in [open, close) stays, and its end is clipped to the close, so
    that an early close shortens the last one. A daily bar, which the venue stamps at midnight in
    New York, becomes its session: start = open, end = close. `sessions` are in order and cover
    the series; bars of other days are dropped. Doing it twice changes nothing.
    """
    if not sessions or not len(series):
        return series.take(slice(0, 0))
    opens = epoch_array([session.opens_at for session in sessions])
    closes = epoch_array([session.closes_at for session in sessions])
    if series.timeframe is Timeframe.DAY:
        return _daily(series, opens, closes)
    return _intraday(series, opens, closes)


def _intraday(series: BarSeries, opens: NDArray[np.int64], closes: NDArray[np.int64]) -> BarSeries:
    session = np.searchsorted(opens, series.starts, side="right") - 1
    is_inside = (session >= 0) & (series.starts < closes[session])
    kept = series.take(is_inside)
    return replace(kept, ends=np.minimum(kept.ends, closes[session[is_inside]]))


def _daily(series: BarSeries, opens: NDArray[np.int64], closes: NDArray[np.int64]) -> BarSeries:
    day_seconds = int(Timeframe.DAY.duration.total_seconds())
    session = np.searchsorted(opens, series.starts, side="left")
    is_known = session < len(opens)
    is_known &= opens[np.minimum(session, len(opens) - 1)] < series.starts + day_seconds
    kept = series.take(is_known)
    return replace(kept, starts=opens[session[is_known]], ends=closes[session[is_known]])
