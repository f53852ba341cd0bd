"""Report: what a cycle did, how long each stage took, and why; as values and as markdown."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from include.domain.cycles import Cycle, CycleState
from include.domain.decisions import Decision, ForecastDecision
from include.domain.orders import IntentState, OrderIntent
from include.domain.strategies import Denied
from include.pipeline.wiring.store import open_database
from include.store.records import StageRecord
from include.store.unit_of_work import UnitOfWork

PLACED_STATES = (IntentState.ACKED, IntentState.TERMINAL)
FAILURE_PART = "failed"


def cycle_report(uow: UnitOfWork, cycle: Cycle) -> dict[str, Any]:
    """Return the report of a cycle as plain values, finished or not."""
    decisions = list(uow.decisions.by_cycle(cycle.cycle_id).values())
    intents = uow.orders.by_cycle(cycle.cycle_id)
    denials = uow.strategies.denials(cycle.cycle_id)
    stages = uow.cycles.stages(cycle.cycle_id)
    snapshot = uow.accounts.snapshot(cycle.cycle_id)
    return {
        "cycle_id": cycle.cycle_id,
        "as_of": cycle.as_of.isoformat(),
        "state": cycle.state.value,
        "is_dry_run": cycle.request.is_dry_run,
        "stage_seconds": stage_seconds(stages),
        "cycle_seconds": _cycle_seconds(stages),
        **decision_counts(decisions),
        "orders_placed": sum(intent.state in PLACED_STATES for intent in intents),
        "orders_kept": _detail(stages, "trade", "kept"),
        "orders_cancelled": _detail(stages, "trade", "cancelled"),
        "denied": len(denials),
        "equity_usd": str(snapshot[0].equity_usd) if snapshot else None,
        "decisions": [_decision_row(decision) for decision in decisions],
        "orders": _order_rows(uow, cycle, intents),
        "denials": [_denial_row(denial) for denial in denials],
        "choices": _choice_rows(uow, cycle),
        "calendar_differences": _detail(stages, "fetch", "calendar_differences") or [],
        "errors": [
            {"stage": stage.stage, "error": stage.detail.get("error", "")}
            for stage in stages
            if stage.part == FAILURE_PART
        ],
    }


def decision_counts(decisions: Iterable[ForecastDecision]) -> dict[str, Any]:
    """Return how many symbols were predicted, reused and blocked, by reason and as a rate.

    Reuse rate is kept / (kept + predicted) over symbols that had a forecast in force
    (trading.md 3.6); None where none had.
    """
    rows = list(decisions)
    kept = sum(row.decision is Decision.KEEP for row in rows)
    predicted = sum(row.decision is Decision.PREDICT for row in rows)
    had_one = [row for row in rows if row.old_key and row.decision is not Decision.NONE]
    return {
        "symbols": len(rows),
        "predicted": predicted,
        "reused": kept,
        "blocked": sum(row.decision is Decision.NONE for row in rows),
        "reasons": dict(Counter(row.reason.value for row in rows)),
        "outcomes": dict(Counter(row.outcome.value for row in rows)),
        "reuse_rate": kept / len(had_one) if had_one else None,
        "engine_seconds": round(sum(row.engine_seconds for row in rows), 3),
    }


def stage_seconds(stages: Iterable[StageRecord]) -> dict[str, float]:
    """Return each stage's seconds from its first start to its last end, in order of start."""
    spans: dict[str, tuple[datetime, datetime]] = {}
    for stage in sorted(stages, key=lambda record: record.started_at):
        if stage.part == FAILURE_PART:
            continue
        start, end = spans.get(stage.stage, (stage.started_at, stage.ended_at))
        spans[stage.stage] = (min(start, stage.started_at), max(end, stage.ended_at))
    return {name: round((end - start).total_seconds(), 3) for name, (start, end) in spans.items()}


def as_markdown(report: Mapping[str, Any]) -> str:
    """Return the report as markdown, for the task log and the store."""
    lines = [
        f"# Cycle {report['cycle_id']}",
        f"As of {report['as_of']}, state {report['state']}, equity {report['equity_usd']} USD.",
        f"{report['symbols']} symbols: {report['predicted']} predicted, "
        f"{report['reused']} reused, {report['blocked']} blocked.",
        f"Orders: {report['orders_placed']} placed, {report['orders_kept']} kept, "
        f"{report['orders_cancelled']} cancelled, {report['denied']} denied.",
        "",
        "| stage | seconds |",
        "|---|---|",
        *[f"| {name} | {seconds} |" for name, seconds in report["stage_seconds"].items()],
        "",
        "| symbol | decision | reason | outcome |",
        "|---|---|---|---|",
        *[
            f"| {row['symbol']} | {row['decision']} | {row['reason']} | {row['outcome']} |"
            for row in report["decisions"]
        ],
    ]
    return "\n".join(lines) + "\n"


def run(*, run_id: str) -> dict[str, int]:
    """Finish a cycle and store its report; return the counts that matter most."""
    database = open_database()
    started_at = datetime.now(UTC)
    with database.unit_of_work() as uow:
        uow.cycles.require(run_id)
        uow.cycles.finish(run_id, CycleState.SUCCESS)
        uow.cycles.record_stage(
            run_id, "report", started_at=started_at, ended_at=datetime.now(UTC), detail={}
        )
        report = cycle_report(uow, uow.cycles.require(run_id))
        uow.reports.save(run_id, report, as_markdown(report))
        uow.commit()
    names = ("symbols", "predicted", "reused", "blocked", "orders_placed", "denied")
    return {name: int(report[name]) for name in names}


def note_failure(*, run_id: str, stage: str, sentence: str) -> None:
    """Mark a cycle failed and keep which stage failed with which sentence."""
    now = datetime.now(UTC)
    with open_database().unit_of_work() as uow:
        if uow.cycles.by_id(run_id) is None:
            return
        uow.cycles.finish(run_id, CycleState.FAILED)
        uow.cycles.record_stage(
            run_id,
            stage,
            started_at=now,
            ended_at=now,
            detail={"error": sentence},
            part=FAILURE_PART,
        )
        uow.commit()


def _cycle_seconds(stages: list[StageRecord]) -> float:
    if not stages:
        return 0.0
    first = min(stage.started_at for stage in stages)
    return round((max(stage.ended_at for stage in stages) - first).total_seconds(), 3)


def _detail(stages: Iterable[StageRecord], name: str, key: str) -> Any:  # noqa: ANN401  # JSON
    found = [stage.detail.get(key) for stage in stages if stage.stage == name]
    return next((value for value in found if value is not None), 0)


def _decision_row(decision: ForecastDecision) -> dict[str, Any]:
    return {
        "symbol": decision.symbol,
        "decision": decision.decision.value,
        "reason": decision.reason.value,
        "outcome": decision.outcome.value,
        "age_seconds": decision.age_seconds,
        "move_fraction": decision.move_fraction,
        "detail": decision.detail,
    }


def _order_rows(
    uow: UnitOfWork, cycle: Cycle, intents: Iterable[OrderIntent]
) -> list[dict[str, Any]]:
    desired = uow.strategies.desired(cycle.cycle_id)
    reasons = {(order.symbol, order.leg): order.reason for order in desired}
    return [
        {
            "symbol": intent.symbol,
            "leg": intent.leg.value,
            "side": intent.side.value,
            "quantity": str(intent.quantity),
            "limit_price": str(intent.limit_price) if intent.limit_price is not None else None,
            "status": intent.venue_status or intent.state.value,
            "standing": intent.standing.value,
            "client_order_id": intent.client_order_id,
            "reason": reasons.get((intent.symbol, intent.leg), ""),
        }
        for intent in intents
    ]


def _denial_row(denial: Denied) -> dict[str, str]:
    return {
        "symbol": denial.symbol,
        "reason": denial.reason,
        "found": denial.found,
        "bound": denial.bound,
    }


def _choice_rows(uow: UnitOfWork, cycle: Cycle) -> list[dict[str, Any]]:
    return [
        {
            "symbol": choice.symbol,
            "strategy": choice.strategy,
            "standing": choice.standing.value if choice.standing else None,
            "side": choice.side,
            "reason": choice.reason,
        }
        for choice in uow.strategies.choices(cycle.cycle_id)
    ]
