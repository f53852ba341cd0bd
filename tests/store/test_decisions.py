"""Forecast decisions and the forecast in force."""

from dataclasses import replace
from datetime import timedelta

import pytest

from include.domain.cycles import Cycle
from include.domain.decisions import Decision, ForecastDecision, Outcome, Reason
from include.errors import UnknownRow
from tests.support.builders import AS_OF, an_issued_forecast

KEPT = ForecastDecision(
    symbol="AAPL",
    decision=Decision.KEEP,
    reason=Reason.WITHIN_THRESHOLD,
    price_at_issue=100.0,
    mid=100.1,
    move_fraction=0.001,
    threshold_fraction=0.01,
    age_seconds=600.0,
    max_age_seconds=1800.0,
    detail="why",
    old_key="old",
)
ASKED = ForecastDecision(
    symbol="BA", decision=Decision.PREDICT, reason=Reason.FIRST, outcome=Outcome.PENDING
)


def test_decisions_come_back_as_they_were(uow, cycle_id):
    """Every field, None included, survives the round trip."""
    uow.decisions.save_all(cycle_id, [ASKED, KEPT])
    assert uow.decisions.by_cycle(cycle_id) == {"AAPL": KEPT, "BA": ASKED}
    assert uow.decisions.by_cycle("other") == {}


def test_second_decision_of_a_symbol_changes_nothing(uow, cycle_id):
    """A task that runs twice leaves the first decision."""
    uow.decisions.save_all(cycle_id, [KEPT])
    uow.decisions.save_all(cycle_id, [replace(KEPT, reason=Reason.FRESH), ASKED])
    assert uow.decisions.by_cycle(cycle_id) == {"AAPL": KEPT, "BA": ASKED}


def test_whole_numbers_are_stored_as_floats(uow, cycle_id):
    """An int in a float field is the same number in the row."""
    uow.decisions.save_all(cycle_id, [replace(KEPT, mid=100, age_seconds=600)])
    assert uow.decisions.by_cycle(cycle_id) == {"AAPL": replace(KEPT, mid=100.0)}


def test_completion_changes_the_outcome_alone(uow, cycle_id):
    """What was decided stays; what came of it is added."""
    uow.decisions.save_all(cycle_id, [ASKED])
    uow.decisions.complete(
        cycle_id, "BA", outcome=Outcome.COMPUTED, new_key="new", engine_seconds=2
    )
    done = replace(ASKED, outcome=Outcome.COMPUTED, new_key="new", engine_seconds=2.0)
    assert uow.decisions.by_cycle(cycle_id) == {"BA": done}


def test_many_completions_write_outcome_key_seconds_and_detail_only(uow, cycle_id):
    """A changed reason in a completion is not taken over."""
    uow.decisions.save_all(cycle_id, [ASKED, KEPT])
    done = replace(
        ASKED, outcome=Outcome.FAILED, new_key=None, engine_seconds=1.5, detail="NaN came out"
    )
    uow.decisions.complete_all(cycle_id, [replace(done, reason=Reason.AGED)])
    uow.decisions.complete_all(cycle_id, [])
    assert uow.decisions.by_cycle(cycle_id) == {"AAPL": KEPT, "BA": done}


def test_completing_what_was_never_decided_is_refused(uow, cycle_id):
    """An outcome without its decision names the cycle and the symbol."""
    with pytest.raises(UnknownRow, match="No forecast decision has the key cycle, BA"):
        uow.decisions.complete(
            cycle_id, "BA", outcome=Outcome.FAILED, new_key=None, engine_seconds=0.0
        )


def test_decision_of_an_unknown_cycle_is_refused(uow):
    """Rows of a cycle need the cycle."""
    with pytest.raises(UnknownRow, match=r"No cycles has the key .*\(nowhere\)"):
        uow.decisions.save_all("nowhere", [KEPT])


def test_forecast_in_force_is_the_newest_issued_by_the_instant(uow, cycle_id):
    """What is issued later is not in force yet; what was issued earlier is over."""
    later = AS_OF + timedelta(minutes=30)
    second = Cycle(cycle_id="second", as_of=later, account_id="A", settings_hash="hash")
    uow.cycles.save(second)
    early = an_issued_forecast(content_key="early", issued_at=AS_OF)
    late = an_issued_forecast(content_key="late", issued_at=later, price_at_issue=101.5)
    uow.decisions.issue_all(cycle_id, {"AAPL": early, "BA": early}, {"AAPL": "naive early"})
    uow.decisions.issue_all("second", {"AAPL": late}, {"AAPL": "naive late"})
    symbols = ["AAPL", "BA", "NONE"]
    assert uow.decisions.in_force(symbols, AS_OF) == {"AAPL": early, "BA": early}
    assert uow.decisions.in_force(symbols, later) == {"AAPL": late, "BA": early}
    assert uow.decisions.in_force(symbols, AS_OF - timedelta(seconds=1)) == {}
    assert uow.decisions.control_key_in_force(symbols, AS_OF) == {"AAPL": "naive early"}
    assert uow.decisions.control_key_in_force(symbols, later) == {"AAPL": "naive late"}


def test_issuing_twice_in_a_cycle_changes_nothing(uow, cycle_id):
    """The first issue of a cycle and symbol stays."""
    first = an_issued_forecast(issued_at=AS_OF)
    uow.decisions.issue_all(cycle_id, {"AAPL": first}, {})
    uow.decisions.issue_all(cycle_id, {"AAPL": replace(first, content_key="other")}, {})
    assert uow.decisions.in_force(["AAPL"], AS_OF) == {"AAPL": first}
