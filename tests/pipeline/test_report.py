"""Report: counts that add up, seconds of every stage, and what went wrong in a sentence."""

from datetime import timedelta

import pytest

from include.domain.decisions import Decision, ForecastDecision, Outcome, Reason
from include.errors import UnknownRow
from include.pipeline import report, views
from include.pipeline.report import as_markdown, decision_counts, note_failure, stage_seconds
from include.pipeline.stages import recorded_stage
from include.store.records import StageRecord
from tests.support.builders import AS_OF
from tests.support.builders_pipeline import SYMBOLS, World


def a_stage(name: str, start: float, end: float, part: str = "") -> StageRecord:
    """Return a stage that ran between two seconds after `AS_OF`."""
    return StageRecord(
        stage=name,
        part=part,
        started_at=AS_OF + timedelta(seconds=start),
        ended_at=AS_OF + timedelta(seconds=end),
        detail={},
    )


def a_decision(symbol: str, decision: Decision, reason: Reason, **changes) -> ForecastDecision:
    """Return a decision of a symbol."""
    return ForecastDecision(symbol=symbol, decision=decision, reason=reason, **changes)


def test_counts_add_up_to_the_decisions():
    """Predicted, reused and blocked are all decisions; so are the counts by reason."""
    decisions = [
        a_decision("A", Decision.PREDICT, Reason.AGED, old_key="1", outcome=Outcome.COMPUTED),
        a_decision("B", Decision.KEEP, Reason.FRESH, old_key="2"),
        a_decision("C", Decision.KEEP, Reason.WITHIN_THRESHOLD, old_key="3"),
        a_decision("D", Decision.PREDICT, Reason.FIRST, outcome=Outcome.COMPUTED),
        a_decision("E", Decision.NONE, Reason.BLOCKED_DATA, old_key="4"),
    ]
    counts = decision_counts(decisions)
    assert counts["predicted"] + counts["reused"] + counts["blocked"] == counts["symbols"] == 5
    assert sum(counts["reasons"].values()) == sum(counts["outcomes"].values()) == 5
    assert counts["reuse_rate"] == pytest.approx(2 / 3)


def test_reuse_rate_without_a_forecast_in_force_is_no_number():
    """Where there was nothing to reuse, the rate is absent and not zero."""
    first = a_decision("A", Decision.PREDICT, Reason.FIRST)
    assert decision_counts([first])["reuse_rate"] is None
    assert decision_counts([])["reuse_rate"] is None


def test_stage_of_mapped_parts_spans_them():
    """A stage in parts lasts from its first start to its last end, in order of start."""
    stages = [
        a_stage("trade", 9, 10),
        a_stage("forecast", 3, 8, part="01"),
        a_stage("forecast", 2, 4, part="00"),
    ]
    assert stage_seconds(stages) == {"forecast": 6.0, "trade": 1.0}
    assert list(stage_seconds(stages)) == ["forecast", "trade"]


def test_failure_is_no_part_of_a_stages_seconds():
    """The instant at which a failure was noted does not stretch the stage."""
    failed = a_stage("trade", 100, 100, part=report.FAILURE_PART)
    assert stage_seconds([a_stage("trade", 9, 10), failed]) == {"trade": 1.0}


def test_report_of_a_cycle_says_what_it_did(world: World):
    """Counts, stages, orders with reasons and equity are those of the rows."""
    cycle = world.run_cycle()
    told = views.cycle_report(cycle.cycle_id)
    assert told["state"] == "success"
    assert (told["symbols"], told["predicted"]) == (len(SYMBOLS), len(SYMBOLS))
    assert told["orders_placed"] == len(told["orders"]) == 3
    assert told["equity_usd"] == "100000"
    assert all(order["reason"] for order in told["orders"])
    assert {"fetch", "plan_forecasts", "forecast", "optimise", "trade", "report"} <= set(
        told["stage_seconds"]
    )
    assert told["cycle_seconds"] >= max(told["stage_seconds"].values())


def test_report_of_a_quiet_cycle_counts_what_was_kept(world: World):
    """Kept orders come from the trade step's own count."""
    world.run_cycle()
    world.move_to(AS_OF + timedelta(minutes=10))
    told = views.cycle_report(world.run_cycle("run-2").cycle_id)
    assert (told["orders_kept"], told["orders_placed"], told["reuse_rate"]) == (3, 0, 1.0)


def test_report_is_stored_as_values_and_as_markdown(world: World):
    """What is stored is the report with a line for every symbol and stage."""
    cycle = world.run_cycle()
    with world.database.unit_of_work() as uow:
        stored = uow.reports.by_cycle(cycle.cycle_id)
    assert stored is not None
    values, markdown = stored
    assert markdown == as_markdown(values)
    assert "3 symbols: 3 predicted, 0 reused, 0 blocked." in markdown
    for symbol in SYMBOLS:
        assert f"| {symbol} | predict | first | computed |" in markdown


def test_failure_is_noted_with_its_stage_and_sentence(world: World):
    """A failed step marks the cycle and leaves its sentence in the report."""
    cycle = world.begin()
    note_failure(run_id=cycle.cycle_id, stage="fetch", sentence="The venue gave no answer.")
    told = views.cycle_report(cycle.cycle_id)
    assert told["state"] == "failed"
    assert told["errors"] == [{"stage": "fetch", "error": "The venue gave no answer."}]


def test_failure_before_the_cycle_began_is_no_error_of_its_own(world: World):
    """A run that failed before it had a row leaves none."""
    note_failure(run_id="never", stage="reconcile", sentence="No answer.")
    assert views.latest_cycle_id() is None


def test_report_of_an_unknown_run_is_refused(world: World):
    """A run that never began has no report, and is named."""
    with pytest.raises(UnknownRow, match="never"):
        views.cycle_report("never")
    assert world.broker.submissions == []


def test_repaired_cycle_ends_in_success_and_keeps_its_failure(world: World):
    """A cleared step that then succeeds ends the cycle well, and the failure stays told."""
    cycle = world.plan_cycle()
    note_failure(run_id=cycle.cycle_id, stage="trade", sentence="No answer.")
    world.trade(cycle)
    report.run(run_id=cycle.cycle_id)
    told = views.cycle_report(cycle.cycle_id)
    assert told["state"] == "success"
    assert [each["stage"] for each in told["errors"]] == ["trade"]


def test_stage_that_failed_is_not_recorded_as_done(world: World):
    """Only a body that ended without an error leaves its seconds."""
    cycle = world.begin()
    with (
        pytest.raises(UnknownRow),
        recorded_stage(world.database, cycle_id=cycle.cycle_id, stage="trade"),
    ):
        raise UnknownRow(kind="plan", key="run")
    with world.database.unit_of_work() as uow:
        assert uow.cycles.stages(cycle.cycle_id) == []
