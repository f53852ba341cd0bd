"""The environment of every process that the stack starts: pure functions of plans and settings.

The user's shell is inherited without what would break or leak: Airflow's own variables, proxies
for loopback, keys of another venue. Nothing here reads `os.environ` but `user_environment`.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from include.settings import KEY_ALIASES
from include.stack.processes import MARKER_VARIABLE
from include.stack.record import Venue
from include.stack.secrets import StackSecrets
from include.stack.state import STATE_VARIABLE

STEPS = ("reconcile", "fetch", "plan_forecasts", "forecast", "optimise", "trade", "report")
PRELOAD = ",".join(
    # imports then cost a task nothing (torch alone is 1.2 s and more)
    (
        "torch",
        "fracast",
        "airflow.sdk.execution_time.task_runner",
        "airflow.sdk.execution_time.supervisor",
        *(f"include.pipeline.{step}" for step in STEPS),
    )
)
DROPPED = ("AIRFLOW_HOME", "AIRFLOW_CONFIG", "PYTHONHOME", "PYTHONSTARTUP", "VIRTUAL_ENV")
LOOPBACK_NAMES = "127.0.0.1,localhost,::1"


@dataclass(frozen=True, kw_only=True)
class AirflowPlan:
    """Where the local Airflow keeps its files, which ports it takes, and its secrets."""

    home: Path
    dags: Path
    plugins: Path
    port: int
    log_ports: tuple[int, int]
    database_url: str = field(repr=False)
    secrets: StackSecrets = field(repr=False)

    @property
    def url(self) -> str:
        """Airflow's address."""
        return f"http://127.0.0.1:{self.port}"


@dataclass(frozen=True, kw_only=True)
class TradingPlan:
    """What tasks must know of this machine; `venue` is None where the user's own settings hold."""

    database_url: str = field(repr=False)
    venue: Venue | None
    chosen: Mapping[str, str]


def user_environment() -> dict[str, str]:
    """Return the environment that this command was started with."""
    return dict(os.environ)  # noqa: TID251  # the environment of children starts from it


def adopt(environment: Mapping[str, str]) -> None:
    """Make this process one of the stack's: settings read from here on are the stack's."""
    os.environ.update(environment)  # noqa: TID251  # the report is read as a task would read it


def inherited(user: Mapping[str, str], *, project: Path, state: Path) -> dict[str, str]:
    """Return the user's environment without what would break the stack, and with our paths."""
    kept = {
        name: value
        for name, value in user.items()
        if not name.startswith("AIRFLOW__") and name not in DROPPED
    }
    no_proxy = ",".join(filter(None, (user.get("NO_PROXY"), user.get("no_proxy"), LOOPBACK_NAMES)))
    return kept | {
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), user.get("PATH", os.defpath))),
        "PYTHONPATH": str(project),
        "PYTHONUNBUFFERED": "1",
        "NO_PROXY": no_proxy,
        "no_proxy": no_proxy,
        "SPT_NOENV": "1",  # process titles leave the environment readable: the marker is in it
        # batches run side by side, a process each: more threads would wait for one another
        "OMP_NUM_THREADS": user.get("OMP_NUM_THREADS", "1"),
        STATE_VARIABLE: str(state),
    }


def airflow_variables(plan: AirflowPlan) -> dict[str, str]:
    """Return the configuration of the local Airflow; every name was checked on 3.3.2."""
    worker_log_port, trigger_log_port = plan.log_ports
    return {
        "AIRFLOW_HOME": str(plan.home),
        "AIRFLOW__API__BASE_URL": plan.url,
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": str(plan.port),
        "AIRFLOW__API__SECRET_KEY": plan.secrets.api_secret_key,
        "AIRFLOW__API_AUTH__JWT_SECRET": plan.secrets.jwt_secret,
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
        "AIRFLOW__CORE__DAGS_FOLDER": str(plan.dags),
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{plan.url}/execution/",
        "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
        "AIRFLOW__CORE__FERNET_KEY": plan.secrets.fernet_key,
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__MP_FORKSERVER_PRELOAD": PRELOAD,
        "AIRFLOW__CORE__PARALLELISM": "4",
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(plan.plugins),
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(plan.home / "passwords.json"),
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": "admin:admin",
        "AIRFLOW__DAG_PROCESSOR__DAG_VERSION_INFLATION_CHECK_LEVEL": "error",
        "AIRFLOW__DAG_PROCESSOR__PARSING_PROCESSES": "1",
        "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "30",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": plan.database_url,
        "AIRFLOW__EXECUTION_API__JWT_EXPIRATION_TIME": "86400",
        "AIRFLOW__LOGGING__TRIGGER_LOG_SERVER_PORT": str(trigger_log_port),
        "AIRFLOW__LOGGING__WORKER_LOG_SERVER_PORT": str(worker_log_port),
        "AIRFLOW__SCHEDULER__MP_START_METHOD": "forkserver",
        "AIRFLOW__SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": "0.1",
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
        "AIRFLOW__WORKERS__EXECUTION_API_TIMEOUT": "15",
        "AIRFLOW__WORKERS__MAX_FAILED_HEARTBEATS": "20",
        "AIRFLOW__WORKERS__MIN_HEARTBEAT_INTERVAL": "1",
    }


def trading_variables(plan: TradingPlan) -> dict[str, str]:
    """Return the settings that tasks get over the inherited ones: database, venue, chosen."""
    venue = {} if plan.venue is None else venue_variables(plan.venue)
    return {"TRADEWIND_DATABASE_URL": plan.database_url, **venue, **plan.chosen}


def venue_variables(venue: Venue) -> dict[str, str]:
    """Return the variables by which a process finds a venue."""
    return {
        "TRADEWIND_VENUE__TRADING_URL": venue.trading_url,
        "TRADEWIND_VENUE__DATA_URL": venue.data_url,
        "APCA_API_KEY_ID": venue.key_id,
        "APCA_API_SECRET_KEY": venue.secret_key,
    }


def without_venue(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without any variable that names a venue or its keys."""
    names = {name for pair in KEY_ALIASES.items() for name in (pair[0], *pair[1])}
    return {name: value for name, value in environment.items() if name not in names}


def with_marker(environment: Mapping[str, str], marker: str) -> dict[str, str]:
    """Return the environment with the stack's marker, by which its processes are found."""
    return {**environment, MARKER_VARIABLE: marker}
