"""Histories: ended windows with all their bars and the forecast issued at their opening."""

from datetime import timedelta

import numpy as np
import pytest

from include.domain.bars import CLOSE, HIGH, LOW, OPEN
from include.domain.forecasts import Outlook
from include.forecast.walk_forward import opening_requests
from include.pipeline.forecast_work import KeyedRequest
from include.pipeline.histories import bars_of_window, reference_close, window_history
from tests.support.builders import WINDOW
from tests.support.builders_forecast import session_series, session_windows
from tests.support.builders_pipeline import a_situation

SERIES, WINDOWS = session_series(8), tuple(session_windows(8))
OUTLOOK = Outlook(open=100.0, high=103.0, low=98.0, close=101.0, close_band=(99.0, 102.0))


def openings_of(series) -> list[KeyedRequest]:
    """Return the keyed openings of all windows that a context of 26 bars precedes."""
    requests = opening_requests(series, WINDOWS, context_bars=26)
    return [KeyedRequest(key=str(n), request=request) for n, request in enumerate(requests)]


def history_of(series, *, keys: str = "012345"):
    """Return the history of a series whose openings with these keys were forecast."""
    situation = a_situation(series=series, past_windows=WINDOWS)
    return window_history(situation, openings_of(series), dict.fromkeys(keys, OUTLOOK))


def test_history_has_one_row_per_forecast_window_oldest_first():
    """Extremes, closes and reference are those of each window's own bars."""
    history = history_of(SERIES)
    values = SERIES.values.reshape(8, 13, 6)[2:]
    assert len(history) == 6
    assert (np.diff(history.opens_at) > 0).all()
    np.testing.assert_array_equal(history.open, values[:, 0, OPEN])
    np.testing.assert_array_equal(history.high, values[:, :, HIGH].max(axis=1))
    np.testing.assert_array_equal(history.low, values[:, :, LOW].min(axis=1))
    np.testing.assert_array_equal(history.close, values[:, -1, CLOSE])
    np.testing.assert_array_equal(
        history.reference_close, SERIES.values.reshape(8, 13, 6)[1:-1, -1, CLOSE]
    )
    assert set(history.forecast_high) == {103.0}


def test_window_without_a_stored_forecast_is_left_out():
    """Only openings that were answered are history."""
    assert len(history_of(SERIES, keys="024")) == 3


def test_window_that_lacks_a_bar_is_left_out():
    """A hole in a window makes its outcome unknown, so that it is not scored."""
    is_kept = np.ones(len(SERIES), dtype=bool)
    is_kept[5 * 13 + 4] = False
    history = history_of(SERIES.take(is_kept))
    assert len(history) == 5


def test_window_that_is_still_open_is_no_history():
    """The opening of a window that has not ended is left for later."""
    situation = a_situation(series=SERIES, past_windows=WINDOWS[:-1])
    history = window_history(situation, openings_of(SERIES), dict.fromkeys("012345", OUTLOOK))
    assert len(history) == 5


def test_short_window_is_padded_with_nan():
    """A half day's inner bars end in NaN, and its extremes are of the bars that it has."""
    (opening,) = openings_of(SERIES)[-1:]
    request = opening.request
    half = KeyedRequest(
        key="half",
        request=type(request)(
            context=request.context,
            window=request.window,
            step_starts=request.step_starts[:7],
            step_ends=request.step_ends[:7],
        ),
    )
    situation = a_situation(series=SERIES, past_windows=WINDOWS)
    history = window_history(
        situation, [openings_of(SERIES)[0], half], {"0": OUTLOOK, "half": OUTLOOK}
    )
    assert history.inner_high.shape == (2, 13)
    assert np.isnan(history.inner_high[1, 7:]).all()
    assert history.high[1] == np.nanmax(history.inner_high[1])


def test_no_usable_window_is_an_empty_history():
    """Without a forecast there is a history of no windows, not an error."""
    assert len(history_of(SERIES, keys="")) == 0


def test_bars_of_a_window_are_those_of_its_steps():
    """From the first step's start until the last step's end."""
    request = openings_of(SERIES)[0].request
    bars = bars_of_window(SERIES, request)
    np.testing.assert_array_equal(bars.starts, request.step_starts)


@pytest.mark.parametrize("minutes", [0, 30])
def test_reference_is_the_close_before_the_open_window(minutes):
    """Bars inside the window do not move the reference."""
    situation = a_situation()
    cut = situation.series.closed_by(WINDOW.opens_at + timedelta(minutes=minutes))
    assert reference_close(a_situation(series=cut)) == pytest.approx(100.0)


def test_without_an_open_window_there_is_no_reference():
    """No window, no level."""
    assert reference_close(a_situation(window=None)) is None
