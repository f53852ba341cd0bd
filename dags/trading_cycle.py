"""One trading cycle: one run, one decision instant.

`reconcile` brings the journal into agreement with the venue, `fetch` stores closed bars and
quotes, `plan_forecasts` decides per symbol whether it is predicted again, `forecast` answers one
batch of symbols per mapped task, `optimise` fits strategies and writes the desired orders, `trade`
brings the working orders to them, `report` says what happened.

Every task can run twice, be killed anywhere, or be cleared here, with the same outcome. Trigger by
hand with parameters: symbols, force (predict every symbol again), dry_run (decide, send nothing).
"""

from datetime import datetime, timedelta
from typing import Any, cast
from zoneinfo import ZoneInfo

from airflow.sdk import (
    ExceptionRetryPolicy,
    Param,
    RetryAction,
    RetryRule,
    chain,
    dag,
    get_current_context,
    task,
)
from tradewind_plugin import (  # type: ignore[import-not-found]  # Airflow's plugins folder
    MarketHoursTimetable,
)

RETRY_POLICY = ExceptionRetryPolicy(
    rules=[
        RetryRule(
            exception="include.errors.Permanent", action=RetryAction.FAIL, reason="permanent"
        ),
        RetryRule(exception="include.errors.Transient", action=RetryAction.RETRY),
    ]
)


def note_failure(context: dict[str, Any]) -> None:
    """Keep which task failed and why, for the cycle's report."""
    from include.pipeline.report import note_failure as note

    note(
        run_id=context["run_id"],
        stage=context["ti"].task_id,
        sentence=str(context.get("exception") or "ended without an exception"),
    )


@dag(
    schedule=MarketHoursTimetable(),
    start_date=datetime(2026, 11, 2, tzinfo=ZoneInfo("America/New_York")),
    catchup=False,
    max_active_runs=1,
    tags=["trading"],
    doc_md=__doc__,
    default_args={
        "retries": 2,
        "retry_delay": timedelta(seconds=5),
        "retry_policy": RETRY_POLICY,
        "on_failure_callback": note_failure,
    },
    params={
        "symbols": Param([], type="array", items={"type": "string"}, title="Symbols (all)"),
        "force": Param(False, type="boolean", title="Predict every symbol again"),
        "dry_run": Param(False, type="boolean", title="Decide, but send no order"),
    },
)
def trading_cycle() -> None:
    """Chain the tasks of a cycle; each calls the module of its own name."""

    @task
    def reconcile(
        run_id: str | None = None, params: dict[str, Any] | None = None
    ) -> dict[str, int]:
        from include.pipeline.reconcile import run

        asked = params or {}
        return run(
            run_id=str(run_id),
            symbols=asked["symbols"],
            is_forced=asked["force"],
            is_dry_run=asked["dry_run"],
        )

    @task
    def fetch(run_id: str | None = None) -> dict[str, int]:
        from include.pipeline.fetch import run

        return run(run_id=str(run_id))

    @task
    def plan_forecasts(run_id: str | None = None) -> list[dict[str, Any]]:
        from include.pipeline.plan_forecasts import run

        return [dict(batch) for batch in run(run_id=str(run_id))]

    @task(map_index_template="{{ batch_label }}")
    def forecast(batch: dict[str, Any], run_id: str | None = None) -> dict[str, int]:
        from include.pipeline.forecast import run

        context = cast("dict[str, Any]", get_current_context())
        context["batch_label"] = ", ".join(batch["symbols"])
        return run(run_id=str(run_id), symbols=batch["symbols"], label=batch["label"])

    @task(trigger_rule="none_failed")
    def optimise(run_id: str | None = None) -> dict[str, int]:
        from include.pipeline.optimise import run

        return run(run_id=str(run_id))

    @task
    def trade(run_id: str | None = None) -> dict[str, int]:
        from include.pipeline.trade import run

        return run(run_id=str(run_id))

    @task
    def report(run_id: str | None = None) -> dict[str, int]:
        from include.pipeline.report import run

        return run(run_id=str(run_id))

    batches = plan_forecasts()
    chain(
        reconcile(),
        fetch(),
        batches,
        forecast.expand(batch=batches),
        optimise(),
        trade(),
        report(),
    )


trading_cycle()
