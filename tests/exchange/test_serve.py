"""The exchange as a process: announcement, restart after a kill, clean end, refused starts."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from include.errors import ExchangeError, ReplayExhausted
from include.exchange.access import keys_in
from include.exchange.serve import ExchangeOptions, build_venue, serve
from tests.exchange.conftest import utc

ROOT = Path(__file__).parents[2]
PROGRAM = """
import json, sys
from pathlib import Path
from include.exchange.serve import ExchangeOptions, serve
folder, speed = sys.argv[1], json.loads(sys.argv[2])
options = ExchangeOptions(port=0, state_folder=Path(folder), bars_file=None, speed=speed)
serve(options, announce=lambda facts: print(json.dumps(facts), flush=True))
"""


class Running:
    """A served exchange in another process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        self.facts = json.loads(process.stdout.readline())
        self.session = requests.Session()
        self.session.headers["APCA-API-KEY-ID"] = self.facts["key_id"]
        self.session.headers["APCA-API-SECRET-KEY"] = self.facts["secret_key"]

    def get(self, path):
        """The body of a GET."""
        return self.session.get(self.facts["trading_url"] + path, timeout=10).json()

    def post(self, path, body):
        """The body of a POST."""
        return self.session.post(self.facts["trading_url"] + path, json=body, timeout=10).json()


@contextmanager
def running(folder, speed=None):
    """An exchange process that is gone afterwards, however the test ends."""
    arguments = [sys.executable, "-c", PROGRAM, str(folder), json.dumps(speed)]
    with subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        served = Running(process)
        try:
            yield served
        finally:
            served.session.close()
            process.kill()


def options(**changes):
    """Options on a free port without a state folder."""
    usual = {"port": 0, "state_folder": None, "bars_file": None, "speed": None}
    return ExchangeOptions(**(usual | changes))


def everything(served):
    """All that a client can see of the account."""
    paths = ("/v2/account", "/v2/positions", "/v2/orders?status=all", "/v2/account/activities")
    return {path: served.get(path) for path in (*paths, "/v2/clock", "/admin/clock")}


def test_killed_exchange_goes_on_where_it_was(tmp_path):
    """After kill -9 account, orders, positions, fills, clock and keys are what was answered."""
    order = {"symbol": "JPM", "qty": "5", "side": "buy", "type": "market", "time_in_force": "day"}
    with running(tmp_path) as first:
        first.post("/v2/orders", order)
        first.post("/admin/clock/step", {"to": "2010-03-09T15:00:00Z"})
        resting = order | {"type": "limit", "limit_price": "20", "client_order_id": "resting"}
        first.post("/v2/orders", resting)
        before = everything(first)
        first.process.send_signal(signal.SIGKILL)
        first.process.wait()
    with running(tmp_path) as second:
        assert everything(second) == before
        assert second.facts["key_id"] == first.facts["key_id"]
        assert "unique" in second.post("/v2/orders", resting)["message"]
        second.post("/admin/clock/step", {"seconds": 86_400})
        orders = second.get("/v2/orders?status=closed")
        assert [order["status"] for order in orders] == ["expired", "filled"]
    assert (tmp_path / "keys.json").stat().st_mode & 0o777 == 0o600


def test_running_clock_does_not_go_back_over_a_kill(tmp_path):
    """At a thousandfold speed the restarted clock is not before any stamp that was answered."""
    with running(tmp_path, speed=1000) as first:
        earlier = first.get("/v2/clock")["timestamp"]
        seen = first.get("/v2/clock")["timestamp"]
        assert earlier < seen
        first.process.send_signal(signal.SIGKILL)
        first.process.wait()
    with running(tmp_path, speed=1000) as second:
        assert second.get("/v2/clock")["timestamp"] >= seen


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_it_cleanly_and_soon(tmp_path, number):
    """SIGINT and SIGTERM end the process with status 0 within two seconds, a client connected."""
    with running(tmp_path) as served:
        served.get("/v2/clock")
        started = time.monotonic()
        served.process.send_signal(number)
        assert served.process.wait(timeout=5) == 0
        assert time.monotonic() - started < 2


def test_taken_port_is_refused_with_a_sentence():
    """A port in use stops the start before anything is announced."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ExchangeError, match=rf"can't listen on 127.0.0.1:{port}.*0 takes"):
            serve(options(port=port), announce=lambda facts: pytest.fail(str(facts)))


def test_state_of_another_replay_is_refused(tmp_path):
    """A folder begun with one seed is not carried on with another."""
    build_venue(options(state_folder=tmp_path)).close()
    with pytest.raises(ExchangeError, match="another seed or other bars"):
        build_venue(options(state_folder=tmp_path, seed=1))


def test_state_folder_has_one_exchange_at_a_time(tmp_path):
    """A second exchange on the same folder is refused while the first one runs."""
    venue = build_venue(options(state_folder=tmp_path))
    with pytest.raises(ExchangeError, match="database is locked"):
        build_venue(options(state_folder=tmp_path))
    venue.close()


def test_start_can_be_chosen_within_the_replay():
    """The clock starts where it is told to; past the last bar it can't."""
    venue = build_venue(options(start=utc(2010, 6, 1, 13, 30)))
    assert venue.now == venue.created_at > venue.replay.default_start
    venue.close()
    with pytest.raises(ReplayExhausted, match="replay ends at 2010-08-21"):
        build_venue(options(start=utc(2012, 1, 1)))


def test_bars_of_a_file_replace_the_equities(tmp_path):
    """With a file the universe is its symbols and the four synthetic pairs."""
    path = tmp_path / "bars.csv"
    rows = [f"ABC,2012-05-{day:02d},10,11,9,10.5,1000" for day in (7, 8, 9, 10, 11)]
    path.write_text("symbol,timestamp,open,high,low,close,volume\n" + "\n".join(rows) + "\n")
    venue = build_venue(options(bars_file=path))
    assert list(venue.replay.assets.by_symbol) == [
        "ABC",
        "BTC/USD",
        "ETH/USD",
        "LINK/USD",
        "UNI/USD",
    ]
    assert venue.now == venue.replay.calendar.sessions[2].open
    venue.close()


def test_keys_are_given_kept_or_made(tmp_path):
    """Given keys win and are kept; without any, the folder's are used; one alone is refused."""
    given = keys_in(tmp_path, key_id="PKA", secret_key="s")
    assert keys_in(tmp_path, key_id=None, secret_key=None) == given
    made = keys_in(None, key_id=None, secret_key=None)
    assert made.key_id.startswith("PK")
    assert made.secret_key not in repr(made)
    with pytest.raises(ExchangeError, match="belong together"):
        keys_in(None, key_id="PKA", secret_key=None)
    (tmp_path / "keys.json").write_text("{}")
    with pytest.raises(ExchangeError, match="can't be read"):
        keys_in(tmp_path, key_id=None, secret_key=None)


def test_damaged_state_is_refused(tmp_path):
    """A file that is no database stops the start with its name."""
    (tmp_path / "exchange.sqlite3").write_bytes(os.urandom(4096))
    with pytest.raises(ExchangeError, match=r"exchange\.sqlite3 can't be used"):
        build_venue(options(state_folder=tmp_path))
