"""The gate: every reason, their order, which bounds are inclusive, and its limiting cases."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from include.domain.decisions import (
    Decision,
    GateLimits,
    Outcome,
    Reason,
    decide_forecast,
)
from include.domain.instruments import AssetClass
from tests.support.builders import AS_OF, WINDOW, a_gate_input, an_issued_forecast

LIMITS = GateLimits()
NEVER_KEEP = GateLimits(
    threshold_equity_fraction=0.0,
    threshold_crypto_fraction=0.0,
    max_age_seconds=0.0,
    min_interval_seconds=0.0,
)


def issued_ago(seconds, **overrides):
    """Return a forecast issued so many seconds before `AS_OF`."""
    return an_issued_forecast(issued_at=AS_OF - timedelta(seconds=seconds), **overrides)


# one input per reason, each also matching every reason below it as far as they can hold together
CASES: dict[Reason, dict[str, Any]] = {
    Reason.BLOCKED_DATA: {"refusal": "gap"},
    Reason.FORCED: {"is_forced": True},
    Reason.FIRST: {"issued": None},
    Reason.MODEL_CHANGED: {"model_label": "kronos@1/1"},
    Reason.CONFIG_CHANGED: {"config_hash": "other"},
    Reason.TARGET_OVER: {"issued": issued_ago(600, window_ends_at=AS_OF)},
    Reason.DATA_REVISED: {"key_of_issued_origin": "other"},
    Reason.FRESH: {"issued": issued_ago(299)},
    Reason.PRICE_MOVED_URGENT: {"mid": 102.0},
    Reason.PRICE_MOVED: {"mid": 101.0},
    Reason.AGED: {"issued": issued_ago(1801)},
    Reason.WITHIN_THRESHOLD: {},
}
ORDER = list(CASES)


def reason_of(limits=LIMITS, **overrides):
    """Return the reason that the gate gives for an input."""
    return decide_forecast(a_gate_input(**overrides), limits).reason


def test_every_reason_has_a_case():
    """The table of this test knows each member of the enumeration."""
    assert set(CASES) == set(Reason)


@pytest.mark.parametrize("reason", Reason)
def test_each_reason_is_given_for_its_own_cause(reason):
    """One change at a time leads to exactly its reason."""
    assert reason_of(**CASES[reason]) is reason


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (first, second)
        for i, first in enumerate(ORDER)
        for second in ORDER[i + 1 :]
        if not (set(CASES[first]) & set(CASES[second])) and first is not Reason.FIRST
    ],
)
def test_the_first_reason_that_matches_wins(first, second):
    """Two causes at once give the earlier reason, for every pair that can hold together."""
    assert reason_of(**CASES[second] | CASES[first]) is first


@pytest.mark.parametrize(
    ("reason", "decision", "outcome"),
    [
        (Reason.BLOCKED_DATA, Decision.NONE, Outcome.NONE),
        (Reason.FRESH, Decision.KEEP, Outcome.NONE),
        (Reason.WITHIN_THRESHOLD, Decision.KEEP, Outcome.NONE),
        (Reason.FIRST, Decision.PREDICT, Outcome.PENDING),
        (Reason.AGED, Decision.PREDICT, Outcome.PENDING),
        (Reason.PRICE_MOVED, Decision.PREDICT, Outcome.PENDING),
    ],
)
def test_reasons_decide(reason, decision, outcome):
    """Bad data decides nothing, two reasons keep, all others predict."""
    row = decide_forecast(a_gate_input(**CASES[reason]), LIMITS)
    assert (row.decision, row.outcome) == (decision, outcome)


def test_a_missing_quote_is_bad_data():
    """Without a mid there is nothing to compare; no entry this cycle."""
    assert reason_of(mid=None, is_forced=True) is Reason.BLOCKED_DATA


@pytest.mark.parametrize("direction", [-1, 1])
@pytest.mark.parametrize(
    ("asset_class", "threshold"), [(AssetClass.EQUITY, 0.01), (AssetClass.CRYPTO, 0.02)]
)
def test_the_threshold_is_inclusive_and_the_classes_own(asset_class, threshold, direction):
    """A move of the threshold predicts, one just below it does not, up or down."""
    limits = GateLimits(threshold_equity_fraction=0.015625, threshold_crypto_fraction=0.03125)
    exact = limits.threshold_fraction(asset_class)  # powers of two, exact in floats
    at = {"asset_class": asset_class, "issued": issued_ago(600, price_at_issue=64.0)}
    assert reason_of(limits, mid=64.0 * (1 + direction * exact), **at) is Reason.PRICE_MOVED
    below = 64.0 * (1 + direction * exact * 0.999)
    assert reason_of(limits, mid=below, **at) is Reason.WITHIN_THRESHOLD
    assert LIMITS.threshold_fraction(asset_class) == threshold


@pytest.mark.parametrize(
    ("age", "reason"),
    [
        (299.999, Reason.FRESH),
        (300.0, Reason.WITHIN_THRESHOLD),
        (1800.0, Reason.WITHIN_THRESHOLD),
        (1800.001, Reason.AGED),
    ],
)
def test_ages_are_strict(age, reason):
    """Younger than the interval is fresh; older than the maximum is aged; equal is neither."""
    assert reason_of(issued=issued_ago(age)) is reason


def test_a_fresh_forecast_is_kept_however_far_the_price_ran():
    """The debounce comes before the urgent move."""
    assert reason_of(issued=issued_ago(10), mid=150.0) is Reason.FRESH


def test_a_forecast_is_over_the_instant_its_window_ends():
    """The end of a window is exclusive."""
    still = AS_OF + timedelta(seconds=1)
    assert reason_of(issued=issued_ago(600, window_ends_at=AS_OF)) is Reason.TARGET_OVER
    assert reason_of(issued=issued_ago(600, window_ends_at=still)) is Reason.WITHIN_THRESHOLD


def test_the_row_holds_the_numbers_that_led_to_it():
    """Move, threshold, age and keys are stored beside the reason."""
    row = decide_forecast(a_gate_input(mid=101.0), LIMITS)
    assert row.move_fraction == pytest.approx(0.01)
    assert (row.threshold_fraction, row.age_seconds, row.max_age_seconds) == (0.01, 600.0, 1800.0)
    assert (row.price_at_issue, row.mid, row.old_key, row.new_key) == (100.0, 101.0, "key", None)
    blocked = decide_forecast(a_gate_input(refusal="gap at 14:00"), LIMITS)
    assert blocked.detail == "gap at 14:00"


gates = st.builds(
    a_gate_input,
    asset_class=st.sampled_from(AssetClass),
    mid=st.none() | st.floats(1.0, 200.0),
    refusal=st.none() | st.just("gap"),
    is_forced=st.booleans(),
    model_label=st.sampled_from(["naive@00000000/1", "other"]),
    config_hash=st.sampled_from(["config", "other"]),
    key_of_issued_origin=st.sampled_from([None, "key", "other"]),
    issued=st.none()
    | st.builds(
        an_issued_forecast,
        price_at_issue=st.floats(1.0, 200.0),
        issued_at=st.integers(0, 10_000).map(lambda s: AS_OF - timedelta(seconds=s)),
        window_ends_at=st.sampled_from([WINDOW.ends_at, AS_OF]),
    ),
)


@given(gate=gates)
def test_every_input_has_exactly_one_reason(gate):
    """One row with one reason and its decision, whatever comes; the same input, the same row."""
    row = decide_forecast(gate, LIMITS)
    assert row.reason in Reason
    assert (row.decision is Decision.NONE) == (gate.refusal is not None or gate.mid is None)
    assert row == decide_forecast(gate, LIMITS)


@given(gate=gates)
def test_threshold_zero_predicts_everything(gate):
    """With no threshold and no interval nothing usable is ever kept."""
    row = decide_forecast(gate, NEVER_KEEP)
    assert row.decision is not Decision.KEEP


@given(move=st.floats(-0.0099, 0.0099), age=st.integers(0, 1800))
def test_unchanged_data_is_never_predicted_again(move, age):
    """Within threshold and age the forecast is kept: a reuse rate of 100 %."""
    row = decide_forecast(a_gate_input(issued=issued_ago(age), mid=100.0 * (1 + move)), LIMITS)
    assert row.decision is Decision.KEEP
