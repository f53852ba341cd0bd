"""One trading cycle from outside: have a stack, move the venue's clock, trigger, watch, report.

The cycle itself is `dags/trading_cycle.py`; here it is a run of Airflow that is followed to its
end. Only the simulated exchange has a clock that can be moved.
"""

import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from include.errors import PartFailed, TradewindError, UnknownRow
from include.stack.decisions import next_decision_instant
from include.stack.environment import adopt, venue_variables
from include.stack.exchange import ExchangeClock
from include.stack.lock import Say, lock_or_running
from include.stack.plan import StackPlan
from include.stack.record import StackRecord
from include.stack.rest import AirflowApi, TaskState
from include.stack.stack import admin_api, running_stack
from include.stack.state import mark, read_json

DAG_ID = "trading_cycle"
LOCK_SECONDS = 1800.0
RUN_SECONDS = 3600.0
SHORTEST_POLL_SECONDS = 0.25
LONGEST_POLL_SECONDS = 1.0
FINISHED = ("success", "failed")
TOLD = ("running", "success", "failed", "up_for_retry", "skipped", "upstream_failed")


class AsOfRefused(TradewindError):
    """The decision instant that was asked for can't be had; a fault of the command line."""


@dataclass(frozen=True, kw_only=True)
class CycleRequest:
    """What a person asks of one cycle; no symbols means all, no instant the next one."""

    symbols: list[str] = field(default_factory=list)
    as_of: datetime | None = None
    is_forced: bool = False
    is_dry_run: bool = False

    def conf(self) -> dict[str, object]:
        """Return the parameters of the DAG run."""
        return {
            "symbols": self.symbols,
            "force": self.is_forced,
            "dry_run": self.is_dry_run,
        }


@dataclass(frozen=True, kw_only=True)
class CycleOutcome:
    """How a cycle ended: its report, and what failed where it did."""

    report: dict[str, Any]
    failure: str | None
    stack_seconds: dict[str, float]


class WatchedRun(Protocol):
    """What following a run asks of Airflow; `rest.AirflowApi` answers it."""

    def run_state(self, dag_id: str, run_id: str) -> str:
        """Return the state of the run."""

    def task_states(self, dag_id: str, run_id: str) -> list[TaskState]:
        """Return the task instances of the run."""

    def task_error(self, dag_id: str, run_id: str, task: TaskState) -> str | None:
        """Return the last error sentence of a task; None without one."""


@dataclass(frozen=True, kw_only=True)
class ReadyStack:
    """A stack that answers now, be it our own or that of a running `up`."""

    record: StackRecord
    seconds: dict[str, float]
    require_alive: Callable[[], None]
    is_own: bool


def run_cycle(plan: StackPlan, request: CycleRequest, *, say: Say) -> CycleOutcome:
    """Run one cycle through Airflow and return its outcome; a run that failed is one, too."""
    if request.as_of is not None and not plan.is_embedded:
        message = (
            "--as-of moves the simulated exchange's clock; with Alpaca keys time can't be chosen. "
            "Unset APCA_API_KEY_ID and APCA_API_SECRET_KEY, or leave --as-of out."
        )
        raise AsOfRefused(message)
    with ready_stack(plan, say=say) as stack:
        run_id = _run_id(_decide_instant(plan, stack, request, say=say))
        api = admin_api(plan, stack.record.airflow_url)
        try:
            _require_dag(api, plan)
            api.trigger(DAG_ID, run_id=run_id, conf=request.conf())
            state = follow(api, run_id, require_alive=stack.require_alive, say=say)
            failure = None if state == "success" else describe_failure(api, run_id)
        finally:
            api.close()
        return CycleOutcome(
            report=_read_report(stack.record, run_id, failure),
            failure=failure,
            stack_seconds=stack.seconds,
        )


@contextmanager
def ready_stack(plan: StackPlan, *, say: Say) -> Iterator[ReadyStack]:
    """Yield a running `up`, or a stack of our own that is stopped at the end."""
    got = lock_or_running(plan.state, say=say, bound_seconds=LOCK_SECONDS)
    if isinstance(got, StackRecord):
        say(f"Using the stack that runs at {got.airflow_url}")
        yield ReadyStack(record=got, seconds={}, require_alive=lambda: None, is_own=False)
        return
    try:
        with running_stack(plan, say=say) as stack:
            yield ReadyStack(
                record=stack.record,
                seconds=stack.seconds,
                require_alive=stack.require_alive,
                is_own=True,
            )
    finally:
        os.close(got)


def follow(api: WatchedRun, run_id: str, *, require_alive: Callable[[], None], say: Say) -> str:
    """Wait until a run has ended, telling each change of a task; return the run's state."""
    told: dict[tuple[str, int], str] = {}
    began = time.monotonic()
    while time.monotonic() - began < RUN_SECONDS:
        require_alive()
        state = api.run_state(DAG_ID, run_id)
        for task in sorted(api.task_states(DAG_ID, run_id), key=lambda each: each.map_index):
            key = (task.task_id, task.map_index)
            if task.state in TOLD and told.get(key) != task.state:
                told[key] = task.state
                say(f"{time.monotonic() - began:6.1f} s  {_name(task)}: {task.state}")
        if state in FINISHED:
            return state
        time.sleep(poll_seconds(time.monotonic() - began))
    raise PartFailed(
        part=f"The run {run_id}",
        found=f"did not end within {RUN_SECONDS:.0f} s",
        log="in Airflow's pages",
    )


def poll_seconds(elapsed_seconds: float) -> float:
    """Return how long to wait before the next look: a long run is not asked as often."""
    return min(LONGEST_POLL_SECONDS, max(SHORTEST_POLL_SECONDS, elapsed_seconds / 40))


def describe_failure(api: WatchedRun, run_id: str) -> str:
    """Return the task that failed first and the last error sentence of its log."""
    tasks = api.task_states(DAG_ID, run_id)
    failed = [task for task in tasks if task.state == "failed"]
    if not failed:
        return f"The run {run_id} failed before any of its tasks did."
    sentence = api.task_error(DAG_ID, run_id, failed[0]) or "its log names no error"
    return f"Task {_name(failed[0])} failed: {sentence}"


def _decide_instant(
    plan: StackPlan, stack: ReadyStack, request: CycleRequest, *, say: Say
) -> datetime:
    """Return the instant to decide at; move the simulated exchange's clock there first.

    A clock that runs under `up` is left alone but for an instant that was asked for.
    """
    venue = stack.record.venue
    if venue is None:
        return datetime.now(UTC)
    exchange = ExchangeClock(venue, log=str(plan.state.log("exchange")))
    clock = exchange.read()
    if request.as_of is not None and request.as_of < clock.now:
        asked = request.as_of.astimezone(UTC)
        message = (
            f"--as-of was {asked:%Y-%m-%dT%H:%M:%SZ}; the exchange's clock stands at "
            f"{clock.now:%Y-%m-%dT%H:%M:%SZ} and never goes back. Ask for a later instant, or "
            "start over after './tradewind clean'."
        )
        raise AsOfRefused(message)
    if request.as_of is None and not stack.is_own:
        return clock.now
    last = read_json(plan.state.marks_file).get("decided")
    target = request.as_of or next_decision_instant(
        clock,
        every_minutes=plan.settings.schedule.every_minutes,
        last=None if last is None else datetime.fromisoformat(last),
    )
    say(f"The exchange's clock moves to {target:%Y-%m-%d %H:%M:%S} UTC …")
    exchange.step_to(target)
    mark(plan.state, decided=target.astimezone(UTC).isoformat())
    return target


def _require_dag(api: AirflowApi, plan: StackPlan) -> None:
    if api.has_dag(DAG_ID):
        return
    faults = api.import_errors()
    found = f"does not know the DAG {DAG_ID}" + (f": {faults[0]}" if faults else "")
    log = str(plan.state.log("airflow-reserialize"))
    mark(plan.state, dags="")
    raise PartFailed(part="Airflow", found=found, log=log)


def _read_report(record: StackRecord, run_id: str, failure: str | None) -> dict[str, Any]:
    """Return the cycle's report; one that failed before its first row has the bare minimum."""
    database = {"TRADEWIND_DATABASE_URL": record.database_url} if record.database_url else {}
    venue = venue_variables(record.venue) if record.venue else {}
    adopt(database | venue)
    from include.pipeline.views import cycle_report

    try:
        report = dict(cycle_report(run_id))
    except UnknownRow:
        report = {"cycle_id": run_id}
    return report if failure is None else {**report, "state": "failed", "error": failure}


def _run_id(as_of: datetime) -> str:
    return f"cycle-{as_of.astimezone(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"


def _name(task: TaskState) -> str:
    return task.task_id if task.map_index < 0 else f"{task.task_id}[{task.map_index}]"
