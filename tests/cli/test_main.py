"""The border of the command line: exit codes, one sentence, one JSON object."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from include.cli.exits import Exit, exit_of
from include.errors import (
    LiveTradingForbidden,
    MalformedReplay,
    StackBusy,
    StoreUnavailable,
)

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def run(tmp_path):
    """Return a function that runs a verb in a process of its own, with an empty state folder."""

    def run(*words, **environment):
        variables = {
            "PATH": os.defpath,
            "PYTHONPATH": str(ROOT),
            "TRADEWIND_STATE_DIR": str(tmp_path / "state"),
            **environment,
        }
        return subprocess.run(
            [sys.executable, "-m", "include.cli", *words],
            capture_output=True,
            text=True,
            env=variables,
            cwd=tmp_path,
            timeout=60,
            check=False,
        )

    return run


LIVE = "https://api.alpaca.markets"


@pytest.mark.parametrize("verb", ["cycle", "up"])
@pytest.mark.parametrize(
    "environment",
    [
        {"APCA_API_KEY_ID": "PKX", "APCA_API_SECRET_KEY": "planted", "APCA_API_BASE_URL": LIVE},
        {"APCA_API_KEY_ID": "AKLIVEKEY", "APCA_API_SECRET_KEY": "planted"},
        {"APCA_API_BASE_URL": LIVE},
        {"TRADEWIND_VENUE__TRADING_URL": LIVE},
    ],
)
def test_live_trading_is_refused_before_anything_starts(run, tmp_path, verb, environment):
    """A live address or key ends with 3; no process was started and no file was made."""
    done = run(verb, **environment)
    assert done.returncode == Exit.REFUSED
    assert "paper accounts only; no call was made" in done.stderr
    assert "planted" not in done.stderr
    assert not (tmp_path / "state").exists()


def test_a_refusal_is_one_json_object_too(run):
    """With --json stdout holds one object, and the sentence is in it and on stderr."""
    done = run("cycle", "--json", APCA_API_BASE_URL=LIVE)
    assert json.loads(done.stdout)["state"] == "refused"
    assert json.loads(done.stdout)["error"] in done.stderr


def test_a_wrong_setting_names_variable_and_bound(run):
    """A setting out of its bounds ends with 1."""
    done = run("show-config", TRADEWIND_FORECAST__SAMPLES="3")
    assert done.returncode == Exit.FAILED
    assert "TRADEWIND_FORECAST__SAMPLES was '3'" in done.stderr


def test_settings_are_shown_with_their_origin_and_without_secrets(run):
    """Keys are masked; a variable that sets a value is named."""
    keys = {"APCA_API_KEY_ID": "PKPLANTED", "APCA_API_SECRET_KEY": "planted-secret"}
    done = run("show-config", "--json", TRADEWIND_VENUE__FEED="sip", **keys)
    rows = {row["name"]: row for row in json.loads(done.stdout)["settings"]}
    assert rows["venue.feed"] == {
        "name": "venue.feed",
        "value": "sip",
        "origin": "TRADEWIND_VENUE__FEED",
    }
    assert rows["key_id"]["origin"] == "APCA_API_KEY_ID"
    assert "PLANTED" not in done.stdout.upper()


def test_nothing_runs_nothing_is_stopped_nothing_is_removed(run):
    """Status, down and clean of a machine on which nothing ran are done at once."""
    assert json.loads(run("status", "--json").stdout)["parts"] == []
    assert json.loads(run("down", "--json").stdout) == {"stopped": []}
    assert json.loads(run("clean", "--json").stdout)["removed"] == []


def test_clean_removes_what_tradewind_made(run, tmp_path):
    """The state folder is gone afterwards, and what it held is told."""
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "stack.lock").touch()
    done = run("clean", "--json")
    assert "stack.lock" in json.loads(done.stdout)["removed"]
    assert not (tmp_path / "state").exists()


def test_clean_refuses_a_folder_that_is_not_ours(run, tmp_path):
    """A mistyped TRADEWIND_STATE_DIR costs nobody a folder."""
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "thesis.tex").write_text("")
    done = run("clean")
    assert done.returncode == Exit.FAILED
    assert "Nothing was removed" in done.stderr
    assert (tmp_path / "state" / "thesis.tex").exists()


def test_as_of_with_alpaca_keys_is_wrong_use(run, tmp_path):
    """Real time can't be chosen; nothing was started."""
    keys = {"APCA_API_KEY_ID": "PKX", "APCA_API_SECRET_KEY": "x"}
    done = run("cycle", "--as-of", "2026-11-20T15:00:00Z", **keys)
    assert done.returncode == Exit.WRONG_USE
    assert "time can't be chosen" in done.stderr
    assert not (tmp_path / "state").exists()


def test_bars_that_are_no_file_are_wrong_use(run):
    """The exchange names the path that it was given."""
    done = run("exchange", "--bars", "absent.csv")
    assert done.returncode == Exit.WRONG_USE
    assert "absent.csv, which is no file" in done.stderr


def test_doctor_finds_no_fault_where_nothing_runs(run):
    """What does not run is said, and is no fault."""
    done = run("doctor", "--json")
    verdicts = {row["check"]: row["verdict"] for row in json.loads(done.stdout)["checks"]}
    assert verdicts["database"] == verdicts["venue"] == verdicts["airflow"] == "not running"
    assert verdicts["settings"] == verdicts["keys"] == "ok"
    assert done.returncode == (Exit.FAILED if "fault" in verdicts.values() else Exit.DONE)


def test_doctor_names_fault_and_cure(run):
    """Half a pair of keys is a fault with its cure, and doctor ends with 1."""
    done = run("doctor", APCA_API_KEY_ID="PKX")
    assert done.returncode == Exit.FAILED
    assert "Cure for keys: Set both APCA_API_KEY_ID and APCA_API_SECRET_KEY" in done.stdout


def test_help_loads_nothing_heavy(run):
    """The parser is standard library only."""
    script = (
        "import sys; from include.cli.parser import build_parser; build_parser().format_help();"
        "print([m for m in ('pydantic', 'torch', 'sqlalchemy', 'psutil') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (LiveTradingForbidden(what="x", found="y"), Exit.REFUSED),
        (MalformedReplay(source="bars.csv", row=3, fault="high < low"), Exit.REFUSED),
        (StackBusy(holder="h", asked="up"), Exit.FAILED),
        (StoreUnavailable(url="u", found="f"), Exit.FAILED),
    ],
)
def test_guards_end_with_3_and_faults_with_1(error, code):
    """The class of the error decides the exit code."""
    assert exit_of(error) is code
