"""The main job, as a user does it: real Airflow, real Postgres, the exchange over HTTP."""

import os
import signal
import subprocess
import time

import pytest

from include.stack.record import read_record
from include.stack.state import StateFolder
from tests.e2e.conftest import ROOT

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]
EXCHANGE = "exchange"


@pytest.fixture(scope="module")
def first_report(tradewind):
    """Return the report of the first cycle of a new account."""
    return tradewind.report()


@pytest.fixture(scope="module")
def second_report(tradewind, first_report):
    """Return the report of the cycle after the first."""
    return tradewind.report()


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


def test_dry_run_sends_nothing(tradewind, second_report):
    """A dry run decides, and sends no order."""
    assert tradewind.report("--dry-run")["orders_placed"] == 0


def test_unknown_symbol_is_refused_by_name(tradewind):
    """A symbol outside the universe is wrong use, and nothing is started for it."""
    done = tradewind.run("cycle", "--symbols", "NOPE")
    assert done.returncode == 2
    assert "NOPE" in done.stderr


@pytest.mark.parametrize(
    "variables",
    [
        {"APCA_API_BASE_URL": "https://api.alpaca.markets", "APCA_API_KEY_ID": "PKX"},
        {"APCA_API_KEY_ID": "AKLIVE"},
    ],
)
def test_live_account_is_refused(tradewind, variables):
    """A live address or a key that is not a paper key ends with 3, before any call."""
    done = tradewind.run("cycle", APCA_API_SECRET_KEY="secret", **variables)
    assert done.returncode == 3
    assert "paper" in done.stderr
    assert "secret" not in done.stderr


def test_cycle_survives_the_loss_of_its_venue(tradewind, second_report):
    """With the exchange killed in the middle a cycle fails with a sentence; the next succeeds."""
    running = subprocess.Popen(
        tradewind.command("cycle", "--json", "--force"),
        cwd=ROOT,
        env=tradewind.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    kill_exchange_when(running, tradewind, said="fetch: success")
    _, told = running.communicate(timeout=300)
    assert running.returncode == 1
    assert EXCHANGE in told
    assert tradewind.report()["state"] == "success"


def kill_exchange_when(running, tradewind, *, said):
    """Kill the simulated exchange as soon as a command has said something."""
    deadline = time.monotonic() + 300
    for line in running.stderr:
        if said in line or time.monotonic() > deadline:
            break
    record = read_record(StateFolder(root=tradewind.state_folder))
    assert record is not None
    exchange = next(part for part in record.parts if part.part == EXCHANGE)
    os.kill(exchange.pid, signal.SIGKILL)
