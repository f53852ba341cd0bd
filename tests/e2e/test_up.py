"""The stack that stays up: runs by REST and by hand, cleared tasks, the desk page, Ctrl-C."""

import signal
import subprocess
import time
from urllib.parse import quote

import pytest
import requests
from sqlalchemy import create_engine, text

from include.cli.browser import find_browser
from include.stack.processes import marked
from include.stack.record import read_record
from include.stack.secrets import load_or_create
from include.stack.state import StateFolder
from tests.e2e.conftest import ROOT

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]
DAG = "/api/v2/dags/trading_cycle"


class Airflow:
    """Airflow's REST API, asked as a user with a password."""

    def __init__(self, url: str, password: str) -> None:
        self.url, self.password = url, password
        login = {"username": "admin", "password": password}
        token = requests.post(f"{url}/auth/token", json=login, timeout=30).json()["access_token"]
        self._headers = {"Authorization": f"Bearer {token}"}

    def ask(self, method, path, body=None):
        """Return the JSON of an answer that must be a success."""
        answer = requests.request(
            method, f"{self.url}{path}", json=body, headers=self._headers, timeout=60
        )
        assert answer.ok, answer.text
        return answer.json()

    def trigger(self, **conf):
        """Start a run and return its id."""
        return self.ask("POST", f"{DAG}/dagRuns", {"logical_date": None, "conf": conf})[
            "dag_run_id"
        ]

    def wait(self, run_id):
        """Return the state in which a run ended."""
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            state = self.ask("GET", f"{DAG}/dagRuns/{quote(run_id, safe='')}")["state"]
            if state in ("success", "failed"):
                return state
            time.sleep(0.5)
        raise TimeoutError(run_id)

    def clear(self, run_id, *tasks):
        """Clear tasks of a run so that Airflow runs them again."""
        body = {"dry_run": False, "dag_run_id": run_id, "task_ids": list(tasks)}
        self.ask("POST", f"{DAG}/clearTaskInstances", body | {"only_failed": False})

    def latest_run(self):
        """Return the newest run."""
        return self.ask("GET", f"{DAG}/dagRuns?order_by=-run_after&limit=1")["dag_runs"][0]


@pytest.fixture(scope="module")
def stack(tradewind):
    """Bring the stack up for this module with cycles by hand alone; end it as Ctrl-C does."""
    with (tradewind.state_folder.parent / "up.log").open("w") as log:
        running = subprocess.Popen(
            tradewind.command("up"),
            cwd=ROOT,
            env=tradewind.environment | {"TRADEWIND_SCHEDULE__KIND": "manual"},
            stdout=log,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        yield running, _ready_record(StateFolder(root=tradewind.state_folder))
        if running.poll() is None:
            running.send_signal(signal.SIGINT)
            running.wait(timeout=60)


@pytest.fixture(scope="module")
def airflow(stack, tradewind):
    """Return a client of the running Airflow."""
    secrets = load_or_create(StateFolder(root=tradewind.state_folder))
    return Airflow(stack[1].airflow_url, secrets.admin_password)


@pytest.fixture(scope="module")
def finished_run(airflow):
    """Return the id of a run that was triggered through REST and has succeeded."""
    run_id = airflow.trigger()
    assert airflow.wait(run_id) == "success"
    return run_id


def rows_of(record, run_id):
    """Return everything that a cycle decided and sent, as the database has it."""
    queries = {
        "decisions": "SELECT * FROM tradewind.forecast_decisions WHERE cycle_id = :id",
        "desired": "SELECT * FROM tradewind.desired_orders WHERE cycle_id = :id",
        "intents": "SELECT client_order_id, cycle_id, quantity, limit_price, venue_order_id"
        " FROM tradewind.order_intents",
        "forecasts": "SELECT content_key, encode(paths_sha256, 'hex') FROM tradewind.forecasts",
    }
    engine = create_engine(record.database_url)
    try:
        with engine.connect() as connection:
            return {
                name: sorted(
                    map(
                        str,
                        connection.execute(text(query), {"id": run_id} if ":id" in query else {}),
                    )
                )
                for name, query in queries.items()
            }
    finally:
        engine.dispose()


def test_airflow_lists_the_dag_without_errors(airflow):
    """Airflow knows `trading_cycle`, and reports no import error, warning or plugin fault."""
    assert airflow.ask("GET", DAG)["dag_id"] == "trading_cycle"
    assert airflow.ask("GET", "/api/v2/importErrors")["total_entries"] == 0
    assert airflow.ask("GET", "/api/v2/dagWarnings")["total_entries"] == 0
    assert airflow.ask("GET", "/api/v2/plugins/importErrors")["total_entries"] == 0


def test_cleared_tasks_change_no_order_and_no_forecast(airflow, stack, finished_run):
    """Every task of a finished cycle, cleared and run again, leaves the rows as they were."""
    before = rows_of(stack[1], finished_run)
    for tasks in (("trade",), ("forecast", "optimise", "trade", "report"), ("reconcile",)):
        airflow.clear(finished_run, *tasks)
        assert airflow.wait(finished_run) == "success"
    assert rows_of(stack[1], finished_run) == before


@pytest.mark.browser
def test_person_triggers_a_run_and_sees_it_on_the_desk(airflow, finished_run):
    """A run that is triggered in Airflow's pages succeeds, and the desk page shows it."""
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = find_browser()
    if chromium is None:
        pytest.skip("no Chromium on PATH; './tradewind test --full' installs one where it can")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        page = browser.new_page(viewport={"width": 1500, "height": 1000})
        _log_in(page, airflow)
        run_id = _trigger_by_hand(page, airflow, finished_run)
        assert airflow.wait(run_id) == "success"
        page.goto(f"{airflow.url}/plugin/tradewind")
        frame = page.frame_locator("iframe")
        frame.get_by_text("Symbols", exact=True).first.wait_for()
        as_of = frame.locator("body").inner_text()
        assert "success" in as_of
        assert "BTC/USD" in as_of
        browser.close()


def test_desk_is_closed_without_login(airflow):
    """Nobody reads the desk without Airflow's login."""
    answer = requests.get(f"{airflow.url}/tradewind/api/desk", timeout=30)
    assert answer.status_code == 401


def test_ctrl_c_leaves_no_process(stack):
    """Ctrl-C ends every process that the stack has started."""
    running, record = stack
    running.send_signal(signal.SIGINT)
    assert running.wait(timeout=60) == 0
    assert marked(record.marker) == []


def _ready_record(state):
    """Return the record of the stack as soon as it says that it is ready."""
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        record = read_record(state)
        if record is not None and record.ready:
            return record
        time.sleep(0.5)
    raise TimeoutError("the stack did not come up")


def _log_in(page, airflow):
    page.goto(f"{airflow.url}/auth/login")
    page.wait_for_selector("input[name=username]")
    page.fill("input[name=username]", "admin")
    page.fill("input[name=password]", airflow.password)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "login" not in url)


def _trigger_by_hand(page, airflow, last_run_id):
    """Press Airflow's own trigger button and return the id of the run that it started."""
    page.goto(f"{airflow.url}/dags/trading_cycle")
    page.get_by_role("button", name="Trigger").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Trigger").click()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        run = airflow.latest_run()
        if run["dag_run_id"] != last_run_id:
            return run["dag_run_id"]
        time.sleep(0.5)
    raise TimeoutError("no run appeared")
