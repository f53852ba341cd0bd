"""What is read from a run of Airflow."""

import pytest

from include.errors import PartFailed
from include.stack.cycle import CycleRequest, describe_failure, follow, poll_seconds
from include.stack.rest import TaskState


class FakeAirflow:
    """A run whose states are given poll by poll; the last poll stays."""

    def __init__(self, polls, error=None):
        self.polls = list(polls)
        self.error = error

    def run_state(self, dag_id, run_id):
        """Return the run's state at this poll."""
        return self.polls[0][0]

    def task_states(self, dag_id, run_id):
        """Return the tasks at this poll, and go on to the next."""
        poll = self.polls.pop(0) if len(self.polls) > 1 else self.polls[0]
        return poll[1]

    def task_error(self, dag_id, run_id, task):
        """Return the prepared error of a task that failed."""
        return self.error if task.state == "failed" else None


def a_task(state, task_id="fetch", map_index=-1):
    """Return a task in a state."""
    return TaskState(task_id=task_id, map_index=map_index, try_number=1, state=state)


def test_tells_each_change_of_a_task_once():
    """What stays the same is not told again; states before running aren't told."""
    polls = [
        ("running", [a_task("queued")]),
        ("running", [a_task("running")]),
        ("running", [a_task("running")]),
        ("success", [a_task("success"), a_task("success", "forecast", 1)]),
    ]
    told: list[str] = []
    state = follow(FakeAirflow(polls), "run", require_alive=lambda: None, say=told.append)
    assert state == "success"
    assert [line.split("s  ")[1] for line in told] == [
        "fetch: running",
        "fetch: success",
        "forecast[1]: success",
    ]


def test_a_part_that_dies_ends_the_waiting():
    """A run is not waited for when its scheduler is gone."""

    def require_alive():
        raise PartFailed(part="airflow-scheduler", found="ended with 1", log="x.log")

    with pytest.raises(PartFailed, match="airflow-scheduler ended with 1"):
        follow(FakeAirflow([("running", [])]), "run", require_alive=require_alive, say=print)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("Journal and venue disagree.", "Task trade failed: Journal and venue disagree."),
        (None, "Task trade failed: its log names no error"),
    ],
)
def test_names_the_failed_task_and_its_sentence(error, expected):
    """The task that failed is named with the last error of its log."""
    polls = [("failed", [a_task("success"), a_task("failed", "trade")])]
    assert describe_failure(FakeAirflow(polls, error), "run") == expected


def test_a_long_run_is_asked_less_often():
    """Short runs are told at once; long ones don't keep the API server busy."""
    waits = [poll_seconds(elapsed) for elapsed in (0, 10, 20, 60, 3600)]
    assert waits == [0.25, 0.25, 0.5, 1.0, 1.0]


def test_the_request_becomes_the_runs_parameters():
    """The parameter names are those of the DAG."""
    request = CycleRequest(symbols=["AAPL"], is_forced=True, is_dry_run=True)
    assert request.conf() == {"symbols": ["AAPL"], "force": True, "dry_run": True}
