"""The data gate refuses every planted fault and passes what is sound."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from include.domain.bars import CLOSE, HIGH, LOW, OPEN, VOLUME, BarSeries
from include.domain.instruments import AssetClass
from include.market.quality import QualityLimits, check_quote, check_series
from tests.support.builders import AS_OF, a_bar_series, a_quote

LIMITS = QualityLimits(minimum_bars=32, context_bars=64)
BARS = 80


def reason_of(series: BarSeries, limits: QualityLimits = LIMITS, expected=None) -> str | None:
    """Return the gate's sentence, against the full grid unless told."""
    grid = a_bar_series(n=BARS).starts if expected is None else expected
    return check_series(series, as_of=AS_OF, expected_starts=grid, limits=limits)


def code_of(series: BarSeries, limits: QualityLimits = LIMITS) -> str:
    """Return the gate's code, empty for fine."""
    reason = reason_of(series, limits)
    return "" if reason is None else reason.split(":")[0]


def planted(column: int | slice, index: int, value: float) -> BarSeries:
    """Return sound bars with one cell changed."""
    series = a_bar_series(n=BARS)
    values = series.values.copy()
    values[index, column] = value
    return replace(series, values=values)


@given(seed=st.integers(0, 10_000))
def test_passes_sound_bars(seed):
    """A walk without faults is fine, whatever its path."""
    assert reason_of(a_bar_series(n=BARS, seed=seed)) is None


@given(
    column=st.integers(0, 5),
    index=st.integers(0, BARS - 1),
    value=st.sampled_from([float("nan"), float("inf"), float("-inf")]),
)
def test_refuses_what_is_not_finite_anywhere(column, index, value):
    """NaN or infinity in any cell is refused as nan."""
    assert code_of(planted(column, index, value)) == "nan"


@given(
    column=st.sampled_from([OPEN, HIGH, LOW, CLOSE]),
    index=st.integers(0, BARS - 1),
    price=st.floats(-1e6, 0),
)
def test_refuses_prices_that_are_not_positive(column, index, price):
    """Zero or a negative price in any cell is refused."""
    assert code_of(planted(column, index, price)) == "non_positive"


def test_refuses_negative_volume():
    """Volume below zero is refused, zero is not by itself."""
    assert code_of(planted(VOLUME, 5, -1.0)) == "non_positive"
    assert code_of(planted(VOLUME, 5, 0.0)) == ""


@given(index=st.integers(0, BARS - 1), excess=st.floats(1e-4, 0.02))
def test_refuses_a_high_below_or_a_low_above_the_body(index, excess):
    """Any contradiction beyond float noise is refused, not repaired."""
    values = a_bar_series(n=BARS).values[index]
    top, bottom = max(values[OPEN], values[CLOSE]), min(values[OPEN], values[CLOSE])
    assert code_of(planted(HIGH, index, top * (1 - excess))) == "high_low"
    assert code_of(planted(LOW, index, bottom * (1 + excess))) == "high_low"


def test_passes_float_noise_in_the_body():
    """A high below the close by less than the stated tolerance is noise."""
    series = a_bar_series(n=BARS)
    values = series.values.copy()
    values[:, HIGH] = np.maximum(values[:, OPEN], values[:, CLOSE]) * (1 - 1e-7)
    assert reason_of(replace(series, values=values)) is None


@given(index=st.integers(1, BARS - 1), back=st.integers(0, 5))
def test_refuses_starts_that_do_not_rise(index, back):
    """A repeated bar, or one out of order, is refused as duplicate."""
    series = a_bar_series(n=BARS)
    starts = series.starts.copy()
    starts[index] = starts[index - 1] - 1800 * back
    assert code_of(replace(series, starts=starts)) == "duplicate"


@given(index=st.integers(20, BARS - 1), factor=st.sampled_from([0.5, 0.1, 0.69, 1.31, 2.0, 10.0]))
def test_refuses_a_split_like_jump_within_the_context(index, factor):
    """A level that changes by more than the limit within the context is refused."""
    series = a_bar_series(n=BARS)
    values = series.values.copy()
    values[index:, : CLOSE + 1] *= factor
    wide = replace(LIMITS, context_bars=BARS - 20)
    assert code_of(replace(series, values=values), wide) == "jump"


def test_a_jump_before_the_context_passes():
    """Only the last bars count: an old split no longer matters."""
    series = a_bar_series(n=BARS)
    values = series.values.copy()
    values[:10, : CLOSE + 1] *= 2.0
    assert reason_of(replace(series, values=values)) is None


def test_refuses_one_bad_print():
    """A high far beyond the close before it is a jump, even if the close is sound."""
    assert code_of(planted(HIGH, 60, 1000.0)) == "jump"


def test_refuses_absent_and_short_series():
    """No bars are absent; fewer than the minimum are too short."""
    assert code_of(a_bar_series(n=BARS).take(slice(0, 0))) == "absent"
    assert code_of(a_bar_series(n=31)) == "too_short"


@given(missing=st.integers(1, 20))
def test_refuses_a_series_that_ends_too_early(missing):
    """A newest bar older than the calendar expects is stale, and the sentence says both."""
    reason = reason_of(a_bar_series(n=BARS).take(slice(0, BARS - missing)))
    assert reason is not None
    assert reason.startswith("stale: newest bar ends 2026-11-")
    assert "expected one that starts 2026-11-20 14:30 UTC" in reason


@given(index=st.integers(BARS - 3, BARS - 2))
def test_refuses_any_hole_among_the_last_bars(index):
    """One of the last few missing is a gap, whatever the share."""
    series = a_bar_series(n=BARS)
    loose = replace(LIMITS, max_missing_fraction=1.0)
    assert code_of(series.take(np.arange(BARS) != index), loose) == "gap"


@given(first=st.integers(0, 60), holes=st.integers(1, 10))
def test_refuses_more_holes_than_the_share(first, holes):
    """Older holes are refused when their share is above the limit, and only then."""
    series = a_bar_series(n=BARS)
    index = np.arange(BARS)
    holed = series.take((index < first) | (index >= first + holes))
    assert code_of(holed) == ("gap" if holes / BARS > LIMITS.max_missing_fraction else "")


def test_expects_nothing_of_an_empty_grid():
    """Where the calendar expects no bar, neither staleness nor gaps are judged."""
    nothing = np.empty(0, dtype=np.int64)
    assert reason_of(a_bar_series(n=BARS), expected=nothing) is None


def test_refuses_a_bar_that_is_still_forming():
    """A bar that ends after as_of never passes."""
    late = a_bar_series(n=BARS, end=AS_OF + timedelta(minutes=30))
    assert code_of(late) == "partial"


@given(empty=st.integers(0, 64))
def test_refuses_too_many_bars_without_volume(empty):
    """More empty bars in the context than the limit are refused, and only then."""
    series = a_bar_series(n=BARS)
    values = series.values.copy()
    values[BARS - 64 : BARS - 64 + empty, VOLUME] = 0.0
    assert code_of(replace(series, values=values)) == ("zero_volume" if empty > 32 else "")


def test_does_not_change_the_bars():
    """The gate reads and repairs nothing."""
    series = a_bar_series(n=BARS)
    before = series.values.copy()
    reason_of(series)
    np.testing.assert_array_equal(series.values, before)


@pytest.mark.parametrize(
    ("quote", "code"),
    [
        (None, "quote_missing"),
        (a_quote(bid=0.0), "quote_missing"),
        (a_quote(ask=float("nan")), "quote_missing"),
        (a_quote(bid=100.02), "quote_crossed"),
        (a_quote(at=AS_OF - timedelta(seconds=61)), "quote_old"),
        (a_quote(at=AS_OF + timedelta(seconds=901)), "quote_ahead"),
        (a_quote(bid=99.0, ask=101.0), "spread"),
        (a_quote(), None),
        (a_quote(bid=100.0, ask=100.0), None),
        (a_quote(at=AS_OF - timedelta(seconds=60)), None),
        (a_quote(at=AS_OF + timedelta(seconds=5)), None),
    ],
)
def test_judges_a_quote_by_the_first_rule_that_fails(quote, code):
    """Each fault of a quote has its code; a two-sided fresh one passes."""
    reason = check_quote(quote, as_of=AS_OF, asset_class=AssetClass.EQUITY, limits=QualityLimits())
    assert (reason and reason.split(":")[0]) == code
