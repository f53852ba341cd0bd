"""The whole stack as processes: up, healthy, down, and nothing left, however it ends."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from include.settings import Settings
from include.stack.environment import user_environment
from include.stack.lock import hold_lock
from include.stack.plan import plan_for
from include.stack.postgres import postmaster_pid
from include.stack.processes import marked
from include.stack.record import read_record
from include.stack.stack import running_stack
from include.stack.state import StateFolder

ROOT = Path(__file__).resolve().parent.parent.parent
START_SECONDS = 240

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]


@pytest.fixture
def state(tmp_path):
    """Return a state folder; what still runs of it is stopped with the test."""
    folder = StateFolder(root=tmp_path / "state")
    yield folder
    run_verb(folder, "down")


def environment_of(state):
    """Return the environment of a command on this state folder, without a venue's keys."""
    user = user_environment()
    kept = {name: user[name] for name in ("PATH", "HOME") if name in user}
    return {**kept, "PYTHONPATH": str(ROOT), "TRADEWIND_STATE_DIR": str(state.root)}


def run_verb(state, *words):
    """Run a verb of the command line to its end."""
    return subprocess.run(
        [sys.executable, "-m", "include.cli", *words],
        env=environment_of(state),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=START_SECONDS,
        check=False,
    )


@contextmanager
def ready_up(state):
    """Run `up` until it says that Ctrl-C stops everything."""
    with subprocess.Popen(
        [sys.executable, "-m", "include.cli", "up"],
        env=environment_of(state),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        assert any("Ctrl-C" in line for line in lines), "up ended before it was ready"
        yield process
        process.kill()


def record_of(state):
    """Return the record of the stack that runs."""
    record = read_record(state)
    assert record is not None
    return record


def assert_nothing_is_left(state, record):
    """Check that no process of the stack lives and that nothing says so."""
    assert marked(record.marker) == []
    assert postmaster_pid(state.postgres) is None
    assert read_record(state) is None


def test_comes_up_healthy_and_goes_down_without_a_trace(state):
    """Airflow knows the DAG and shows no import error; a second start stores no DAGs again."""
    plan = plan_for(
        "cycle", project=ROOT, state=state, settings=Settings(), user=user_environment()
    )
    steps = []
    for _ in range(2):
        with hold_lock(state, asked="cycle"), running_stack(plan, say=print) as stack:
            api = stack.api()
            assert api.has_dag("trading_cycle")
            assert api.import_errors() == []
            assert api.health()["scheduler"]["status"] == "healthy"
            record = stack.record
            assert len(marked(record.marker)) >= 3
            api.close()
            steps.append(set(stack.seconds))
        assert_nothing_is_left(state, record)
    assert steps[0] - steps[1] == {"DAGs"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_up_ends_cleanly_when_it_is_asked_to(state, number):
    """Ctrl-C and SIGTERM end with 0 and leave no process behind."""
    with ready_up(state) as process:
        status = json.loads(run_verb(state, "status", "--json").stdout)
        assert status["ready"] is True
        assert {part["state"] for part in status["parts"]} == {"running"}
        doctor = run_verb(state, "doctor", "--json")
        verdicts = {row["check"]: row["verdict"] for row in json.loads(doctor.stdout)["checks"]}
        assert verdicts["airflow"] == verdicts["venue"] == verdicts["database"] == "ok"
        assert "has to wait" in run_verb(state, "clean").stderr
        record = record_of(state)
        process.send_signal(number)
        assert process.wait(timeout=90) == 0
    assert_nothing_is_left(state, record)


def test_down_stops_what_a_killed_up_left(state):
    """After kill -9 of the command, `down` finds every process and stops it."""
    with ready_up(state) as process:
        record = record_of(state)
        process.kill()
        process.wait()
        assert marked(record.marker) != []
        stopped = json.loads(run_verb(state, "down", "--json").stdout)["stopped"]
        assert {"exchange", "airflow-api-server", "airflow-scheduler", "postgres"} <= set(stopped)
    assert_nothing_is_left(state, record)


def test_a_part_that_dies_ends_up_with_its_name(state):
    """`up` says which part died and where its log is, stops the rest and ends with 1."""
    with ready_up(state) as process:
        record = record_of(state)
        exchange = next(part for part in record.parts if part.part == "exchange")
        os.kill(exchange.pid, signal.SIGKILL)
        began = time.monotonic()
        assert process.wait(timeout=90) == 1
        assert time.monotonic() - began < 60
    assert_nothing_is_left(state, record)
