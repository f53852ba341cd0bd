"""The main job, as a user does it: real Airflow, real Postgres, the exchange over HTTP."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]


def run_tradewind(state_folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a verb with a state folder of its own and no keys of the shell's."""
    environment = {
        name: value
        for name, value in os.environ.items()  # noqa: TID251  # the environment of a child
        if not name.startswith(("APCA_", "ALPACA_", "TRADEWIND_", "AIRFLOW"))
    }
    environment |= {"TRADEWIND_STATE_DIR": str(state_folder), "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", "include.cli", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.fixture(scope="module")
def state_folder(tmp_path_factory):
    """Return a state folder that the tests of this module share, in their order."""
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def first_report(state_folder):
    """Return the report of the first cycle of a new account."""
    done = run_tradewind(state_folder, "cycle", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def second_report(state_folder, first_report):
    """Return the report of the cycle after the first."""
    done = run_tradewind(state_folder, "cycle", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_first_cycle_predicts_or_blocks_every_symbol_and_places_orders(first_report):
    """A new account's first cycle decides on all 28 symbols and places at least one order."""
    assert first_report["state"] == "success"
    assert first_report["symbols"] == 28
    assert first_report["predicted"] + first_report["blocked"] == 28
    assert all(row["reason"] for row in first_report["decisions"])
    assert first_report["orders_placed"] >= 1


def test_second_cycle_reuses_forecasts(first_report, second_report):
    """Half an hour later symbols within their thresholds keep the forecast that is in force."""
    assert second_report["state"] == "success"
    assert second_report["as_of"] > first_report["as_of"]
    assert second_report["reused"] > 0


def test_dry_run_sends_nothing(state_folder, second_report):
    """A dry run decides, and sends no order."""
    done = run_tradewind(state_folder, "cycle", "--json", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["orders_placed"] == 0


def test_unknown_symbol_is_refused_by_name(state_folder, second_report):
    """A symbol outside the universe ends the command with a sentence that names it."""
    done = run_tradewind(state_folder, "cycle", "--symbols", "NOPE")
    assert done.returncode in (1, 2)
    assert "NOPE" in done.stderr
