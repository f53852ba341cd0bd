"""A small client of Airflow's REST API: log in, trigger, watch, read what went wrong.

Every call has a timeout; a question is asked again when no answer came, and so is a trigger,
because the run's id makes it idempotent.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NoReturn
from urllib.parse import quote

import requests

from include.errors import PartFailed

TIMEOUT_SECONDS = (5.0, 30.0)
ATTEMPTS = 4
PAUSE_SECONDS = 0.5
CONFLICT = 409
UNAUTHORISED = 401


@dataclass(frozen=True, kw_only=True)
class TaskState:
    """One task instance of a run."""

    task_id: str
    map_index: int
    try_number: int
    state: str


class AirflowApi:
    """Airflow at one address, asked as one user."""

    def __init__(self, *, url: str, user: str, password: str, log: str) -> None:
        self._url = url
        self._login = {"username": user, "password": password}
        self._log = log
        self._http = requests.Session()
        self._http.trust_env = False  # no proxy stands between this machine and itself

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def health(self) -> dict[str, Any]:
        """Return the state of each component; empty while the API server does not answer."""
        try:
            answer = self._http.get(f"{self._url}/api/v2/monitor/health", timeout=TIMEOUT_SECONDS)
            return dict(answer.json()) if answer.ok else {}
        except (requests.RequestException, ValueError):
            return {}

    def warm_execution_api(self) -> None:
        """Make the API server build its execution API now rather than for the first task."""
        self._ask("GET", "/execution/health")

    def trigger(self, dag_id: str, *, run_id: str, conf: Mapping[str, object]) -> None:
        """Start a run under this id; a run that is there already is left as it is."""
        body = {"dag_run_id": run_id, "logical_date": None, "conf": dict(conf)}
        self._ask("POST", f"/api/v2/dags/{dag_id}/dagRuns", body=body, accepted=(CONFLICT,))

    def run_state(self, dag_id: str, run_id: str) -> str:
        """Return the state of a run: queued, running, success or failed."""
        return str(self._ask("GET", _run_path(dag_id, run_id))["state"])

    def task_states(self, dag_id: str, run_id: str) -> list[TaskState]:
        """Return the task instances of a run; those not yet looked at have the state `none`."""
        path = f"{_run_path(dag_id, run_id)}/taskInstances?limit=500"
        return [
            TaskState(
                task_id=row["task_id"],
                map_index=int(row["map_index"]),
                try_number=int(row["try_number"]),
                state=row["state"] or "none",
            )
            for row in self._ask("GET", path)["task_instances"]
        ]

    def task_error(self, dag_id: str, run_id: str, task: TaskState) -> str | None:
        """Return the last error sentence in the log of a task's last try; None without one."""
        path = (
            f"{_run_path(dag_id, run_id)}/taskInstances/{quote(task.task_id, safe='')}"
            f"/logs/{task.try_number}?map_index={task.map_index}&full_content=true"
        )
        entries = self._ask("GET", path).get("content", [])
        sentences = [sentence for entry in entries if (sentence := _error(entry))]
        return sentences[-1] if sentences else None

    def fail_runs_before(self, instant: datetime) -> list[str]:
        """Mark runs failed that an earlier stack left unfinished; return their ids."""
        path = "/api/v2/dags/~/dagRuns?state=running&state=queued&limit=100"
        left = [
            (row["dag_id"], row["dag_run_id"])
            for row in self._ask("GET", path)["dag_runs"]
            if _is_before(row.get("queued_at") or row.get("run_after"), instant)
        ]
        for dag_id, run_id in left:
            self._ask("PATCH", _run_path(dag_id, run_id), body={"state": "failed"})
        return [run_id for _, run_id in left]

    def import_errors(self) -> list[str]:
        """Return what is wrong with DAG files, a line each."""
        rows = self._ask("GET", "/api/v2/importErrors")["import_errors"]
        return [f"{row['filename']}: {row['stack_trace'].strip()[-300:]}" for row in rows]

    def has_dag(self, dag_id: str) -> bool:
        """Return whether Airflow knows this DAG."""
        rows = self._ask("GET", f"/api/v2/dags?dag_id_pattern={quote(dag_id)}")["dags"]
        return any(row["dag_id"] == dag_id for row in rows)

    def _ask(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, object] | None = None,
        accepted: tuple[int, ...] = (),
    ) -> dict[str, Any]:
        answer = self._answer(method, path, body)
        if not answer.ok and answer.status_code not in accepted:
            self._fail(f"answered {answer.status_code} to {method} {path}: {answer.text[:300]}")
        try:
            values = answer.json()
        except ValueError:
            self._fail(f"answered {method} {path} with what is no JSON")
        return values if isinstance(values, dict) else {"value": values}

    def _answer(
        self, method: str, path: str, body: Mapping[str, object] | None
    ) -> requests.Response:
        found = ""
        for attempt in range(ATTEMPTS):
            try:
                if "Authorization" not in self._http.headers:
                    self._log_in()
                answer = self._http.request(
                    method, f"{self._url}{path}", json=body, timeout=TIMEOUT_SECONDS
                )
            except requests.RequestException as error:
                found = f"did not answer {method} {path} ({type(error).__name__})"
            else:
                if answer.status_code != UNAUTHORISED:
                    return answer
                self._http.headers.pop("Authorization", None)
                found = f"refused the login for {method} {path}"
            time.sleep(PAUSE_SECONDS * (attempt + 1))
        return self._fail(found)

    def _log_in(self) -> None:
        answer = self._http.post(
            f"{self._url}/auth/token", json=self._login, timeout=TIMEOUT_SECONDS
        )
        answer.raise_for_status()
        self._http.headers["Authorization"] = f"Bearer {answer.json()['access_token']}"

    def _fail(self, found: str) -> NoReturn:
        raise PartFailed(part="airflow-api-server", found=found, log=self._log)


def _run_path(dag_id: str, run_id: str) -> str:
    return f"/api/v2/dags/{dag_id}/dagRuns/{quote(run_id, safe='')}"


def _is_before(text: str | None, instant: datetime) -> bool:
    return text is not None and datetime.fromisoformat(text) < instant


def _error(entry: object) -> str | None:
    """Return what the exception of a log entry says: the one raised, not those behind it."""
    details = entry.get("error_detail") if isinstance(entry, dict) else None
    return str(details[0].get("exc_value")) if details else None
