"""The local Airflow as parts of the stack: migrated once, its DAGs stored, its processes watched.

Only processes and addresses: nothing here imports Airflow.
"""

import hashlib
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from include.errors import PartFailed
from include.stack.environment import AirflowPlan
from include.stack.processes import Command, Part, last_line
from include.stack.rest import AirflowApi
from include.stack.state import write_private

API_SERVER = "airflow-api-server"
SCHEDULER = "airflow-scheduler"
DAG_PROCESSOR = "airflow-dag-processor"
TRIGGERER = "airflow-triggerer"
COMPONENTS = {SCHEDULER: "scheduler", DAG_PROCESSOR: "dag_processor", TRIGGERER: "triggerer"}
POLL_SECONDS = 0.2


def command(part: str, *arguments: str) -> Command:
    """Return the command of an Airflow process."""
    words = (sys.executable, "-m", "airflow", *arguments)
    return Command(part=part, arguments=words, word="airflow")


def component_command(part: str) -> Command:
    """Return the command of one of Airflow's long-running components."""
    return command(part, part.removeprefix("airflow-"))


def write_passwords(plan: AirflowPlan) -> None:
    """Write the admin's password where Airflow's simple auth manager reads it."""
    write_private(plan.home / "passwords.json", {"admin": plan.secrets.admin_password})


def migration_key(database_id: str) -> str:
    """Return what must be unchanged for a migrated database to need no migration."""
    return f"{version('apache-airflow')} {database_id}"


def dags_key(plan: AirflowPlan, environment: Mapping[str, str], database_id: str) -> str:
    """Return the hash of all that the stored DAGs depend on: files, paths, schedule, versions."""
    digest = hashlib.sha256(migration_key(database_id).encode())
    for folder in (plan.dags, plan.plugins):
        for path in sorted(folder.glob("**/*.py")):
            digest.update(str(path).encode() + path.read_bytes())
    schedule = sorted(pair for pair in environment.items() if "TRADEWIND_SCHEDULE" in pair[0])
    digest.update(repr(schedule).encode())
    toml = Path(environment["PYTHONPATH"]) / "tradewind.toml"
    digest.update(toml.read_bytes() if toml.exists() else b"")
    return digest.hexdigest()


def finish(part: Part, *, seconds: float) -> None:
    """Wait until a part that is to end by itself has; raise PartFailed unless it ended with 0."""
    log = Path(part.record.log)
    try:
        code = part.process.wait(timeout=seconds)
    except subprocess.TimeoutExpired as error:
        found = f"did not end within {seconds:.0f} s"
        raise PartFailed(part=part.record.part, found=found, log=str(log)) from error
    if code != 0:
        found = f"ended with {code}: {last_line(log)}"
        raise PartFailed(part=part.record.part, found=found, log=str(log))


def wait_healthy(
    api: AirflowApi,
    parts: list[str],
    *,
    since: datetime,
    seconds: float,
    require_alive: Callable[[], None],
) -> None:
    """Wait until each of the named components reported itself healthy after an instant."""
    deadline = time.monotonic() + seconds
    waiting = parts
    while waiting:
        require_alive()
        if time.monotonic() > deadline:
            raise PartFailed(
                part=waiting[0], found=f"was not healthy within {seconds:.0f} s", log="below logs/"
            )
        time.sleep(POLL_SECONDS)
        health = api.health()
        waiting = [part for part in parts if not is_healthy(health, part, since=since)]


def is_healthy(health: Mapping[str, Any], part: str, *, since: datetime) -> bool:
    """Return whether the health page shows a component healthy, by a heartbeat since then.

    The API server has no entry: that it answered is its health.
    """
    if part == API_SERVER:
        return bool(health)
    component = COMPONENTS[part]
    entry = health.get(component) or {}
    heartbeat = entry.get(f"latest_{component}_heartbeat")
    if entry.get("status") != "healthy" or heartbeat is None:
        return False
    return datetime.fromisoformat(heartbeat).astimezone(UTC) >= since
