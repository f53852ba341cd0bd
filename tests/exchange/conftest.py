"""A running exchange on loopback, driven by the unmodified alpaca-py; a fresh venue a test."""

import socket
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Thread

import pytest
import requests
import uvicorn
from alpaca.data.historical import CryptoHistoricalDataClient, StockHistoricalDataClient
from alpaca.trading.client import TradingClient
from fastapi import FastAPI

from include.exchange.access import Keys
from include.exchange.app import create_app
from include.exchange.clock import VirtualClock
from include.exchange.instants import instant_of
from include.exchange.replay import Replay, build_replay
from include.exchange.state import StateFile
from include.exchange.venue import Venue

KEYS = Keys(key_id="PKTESTKEY", secret_key="a-secret-of-the-tests")
HEADERS = {"APCA-API-KEY-ID": KEYS.key_id, "APCA-API-SECRET-KEY": KEYS.secret_key}
SEED = 20100820


@pytest.fixture(scope="session")
def replay() -> Replay:
    """The packaged replay, built once: nothing in it changes."""
    return build_replay(seed=SEED)


def a_venue(replay: Replay, *, start: datetime | None = None) -> Venue:
    """A venue in memory with a stepped clock."""
    instant = replay.default_start if start is None else instant_of(start)
    clock = VirtualClock(start=instant, end=replay.end, speed=None)
    return Venue(replay=replay, clock=clock, state=StateFile(None))


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """One test's view of the server: alpaca-py's clients and plain requests."""

    url: str
    app: FastAPI
    trading: TradingClient
    stocks: StockHistoricalDataClient
    crypto: CryptoHistoricalDataClient
    plain: requests.Session

    @property
    def venue(self) -> Venue:
        """The venue that is served."""
        venue: Venue = self.app.state.venue
        return venue

    def serve(self, venue: Venue) -> None:
        """Serve another venue from now on."""
        self.app.state.venue = venue

    def get(self, path: str, **params):
        """GET a path with the right keys."""
        return self.plain.get(self.url + path, params=params, headers=HEADERS, timeout=20)

    def post(self, path: str, body: object):
        """POST a JSON body with the right keys."""
        return self.plain.post(self.url + path, json=body, headers=HEADERS, timeout=20)

    def step(self, *, minutes: int = 1):
        """Move the clock by minutes."""
        return self.post("/admin/clock/step", {"seconds": 60 * minutes}).json()

    def step_to(self, stamp: str):
        """Move the clock to an instant."""
        return self.post("/admin/clock/step", {"to": stamp}).json()


@pytest.fixture(scope="session")
def server(replay: Replay) -> Iterator[tuple[str, FastAPI]]:
    """A real uvicorn on a free port, in a thread."""
    app = create_app(venue=a_venue(replay), keys=KEYS)
    config = uvicorn.Config(app, log_level="warning", lifespan="off", ws="none")
    running = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=running.run, args=([listener],))
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", app
        running.should_exit = True
        thread.join(timeout=10)


@pytest.fixture
def exchange(server: tuple[str, FastAPI], replay: Replay) -> Iterator[Exchange]:
    """The server with a fresh venue at the default start, a session's open."""
    url, app = server
    stocks = StockHistoricalDataClient(KEYS.key_id, KEYS.secret_key, url_override=url)
    trading = TradingClient(KEYS.key_id, KEYS.secret_key, url_override=url)
    crypto = CryptoHistoricalDataClient(url_override=url)
    with requests.Session() as plain:
        running = Exchange(
            url=url, app=app, trading=trading, stocks=stocks, crypto=crypto, plain=plain
        )
        running.serve(a_venue(replay))
        yield running
        running.venue.close()
    for client in (trading, stocks, crypto):
        client._session.close()


def utc(year: int, month: int, day: int, hour: int = 0, minute: int = 0) -> datetime:
    """An aware UTC datetime."""
    return datetime(year, month, day, hour, minute, tzinfo=UTC)
