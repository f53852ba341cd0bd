"""The REST client of Airflow, against a server that answers as told."""

import json
import threading
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest

from include.errors import PartFailed
from include.stack.airflow import API_SERVER, SCHEDULER, is_healthy
from include.stack.rest import AirflowApi, TaskState

NOW = datetime(2026, 11, 20, 15, tzinfo=UTC)
RUN = "cycle-20261120T150000Z-abc"
RUNS = "/api/v2/dags/trading_cycle/dagRuns"


class ToldServer(ThreadingHTTPServer):
    """A server with its prepared answers by path, and what it was asked."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Told)
        self.asked: list[tuple[str, str, object]] = []
        self.answers: dict[str, list[tuple[int, object]]] = {
            "/auth/token": [(201, {"access_token": "t"})]
        }


class Told(BaseHTTPRequestHandler):
    """Answers a path with the next of its prepared answers; the last one stays."""

    server: ToldServer

    def answer(self):
        """Answer one request and remember it."""
        path = urlsplit(self.path).path
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length) or b"null")
        self.server.asked.append((self.command, path, body))
        answers = self.server.answers.get(path, [(404, {})])
        status, values = answers.pop(0) if len(answers) > 1 else answers[0]
        payload = json.dumps(values).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    do_GET = do_POST = do_PATCH = answer  # noqa: N815  # the names that http.server prescribes

    def log_message(self, *_):
        """Keep quiet."""


@pytest.fixture
def server():
    """Return a server on loopback that knows the login and nothing else."""
    with ToldServer() as told:
        thread = threading.Thread(target=told.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield told
        told.shutdown()
        thread.join()


@pytest.fixture
def api(server):
    """Return a client of that server."""
    client = AirflowApi(
        url=f"http://127.0.0.1:{server.server_port}", user="admin", password="p", log="the.log"
    )
    yield client
    client.close()


def test_triggers_without_a_logical_date(server, api):
    """Airflow requires the field, and null is what a cycle has."""
    server.answers[RUNS] = [(200, {})]
    api.trigger("trading_cycle", run_id=RUN, conf={"force": True})
    expected = {"dag_run_id": RUN, "logical_date": None, "conf": {"force": True}}
    assert server.asked[-1] == ("POST", RUNS, expected)


def test_a_run_that_is_there_already_was_triggered(server, api):
    """A conflict on the run's own id is the success of an earlier, unanswered trigger."""
    server.answers[RUNS] = [(409, {"detail": "exists"})]
    api.trigger("trading_cycle", run_id=RUN, conf={})


def test_logs_in_again_when_the_token_is_refused(server, api):
    """An expired token costs one login."""
    server.answers[f"{RUNS}/{RUN}"] = [(401, {}), (200, {"state": "running"})]
    assert api.run_state("trading_cycle", RUN) == "running"
    assert [path for _, path, _ in server.asked].count("/auth/token") == 2


def test_what_airflow_refuses_is_a_sentence(server, api):
    """The sentence names status, question and log."""
    server.answers[RUNS] = [(422, {"detail": "bad conf"})]
    sentence = r"answered 422 to POST .*bad conf.* Its log is the\.log"
    with pytest.raises(PartFailed, match=sentence):
        api.trigger("trading_cycle", run_id=RUN, conf={})


def test_fails_only_runs_that_an_earlier_stack_left(server, api):
    """A run that this stack queued is left alone."""
    rows = [
        {"dag_id": "trading_cycle", "dag_run_id": "old", "queued_at": "2026-11-20T14:00:00Z"},
        {"dag_id": "trading_cycle", "dag_run_id": "new", "queued_at": "2026-11-20T16:00:00Z"},
    ]
    server.answers["/api/v2/dags/~/dagRuns"] = [(200, {"dag_runs": rows})]
    server.answers[f"{RUNS}/old"] = [(200, {})]
    assert api.fail_runs_before(NOW) == ["old"]
    assert server.asked[-1] == ("PATCH", f"{RUNS}/old", {"state": "failed"})


def test_reads_tasks_and_the_error_of_a_log(server, api):
    """States come as values; of chained exceptions, the one that was raised last counts."""
    path = f"{RUNS}/{RUN}/taskInstances"
    row = {"task_id": "trade", "map_index": -1, "try_number": 2, "state": None}
    server.answers[path] = [(200, {"task_instances": [row]})]
    raised = {"exc_type": "OrderRejected", "exc_value": "Order 7 was rejected."}
    cause = {"exc_type": "HTTPError", "exc_value": "422"}
    failed = {"event": "Task failed", "error_detail": [raised, cause]}
    entries = [{"event": "began"}, failed, {"event": "ended", "error_detail": None}, "text"]
    server.answers[f"{path}/trade/logs/2"] = [(200, {"content": entries})]
    (task,) = api.task_states("trading_cycle", RUN)
    assert task == TaskState(task_id="trade", map_index=-1, try_number=2, state="none")
    assert api.task_error("trading_cycle", RUN, task) == "Order 7 was rejected."


def test_no_answer_is_no_health():
    """While nothing listens the health is empty, and that is no error."""
    api = AirflowApi(url="http://127.0.0.1:1", user="admin", password="p", log="the.log")
    assert api.health() == {}
    api.close()


@pytest.mark.parametrize(
    ("status", "heartbeat", "expected"),
    [
        ("healthy", "2026-11-20T15:00:01+00:00", True),
        ("healthy", "2026-11-20T14:59:59+00:00", False),
        ("unhealthy", "2026-11-20T15:00:01+00:00", False),
        ("healthy", None, False),
    ],
)
def test_only_a_heartbeat_of_this_start_is_health(status, heartbeat, expected):
    """The heartbeat of the scheduler before this one doesn't count."""
    health = {"scheduler": {"status": status, "latest_scheduler_heartbeat": heartbeat}}
    assert is_healthy(health, SCHEDULER, since=NOW) is expected
    assert is_healthy(health, API_SERVER, since=NOW)
