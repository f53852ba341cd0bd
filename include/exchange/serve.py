"""Run the exchange as a process: bind to loopback, announce where, serve until told to stop."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from signal import SIGINT, SIGTERM, signal
from threading import current_thread, main_thread

import uvicorn
from fastapi import FastAPI

from include.errors import ExchangeError, ReplayExhausted
from include.exchange.access import keys_in
from include.exchange.app import create_app
from include.exchange.clock import VirtualClock
from include.exchange.instants import Instant, instant_of, moment_of
from include.exchange.replay import Replay, build_replay
from include.exchange.state import StateFile
from include.exchange.venue import Venue

_GRACE_SECONDS = 2
_KEEP_ALIVE_SECONDS = 75


@dataclass(frozen=True, kw_only=True)
class ExchangeOptions:
    """How to run the exchange: `speed` None is stepped, 1.0 real time; port 0 is a free one."""

    port: int
    state_folder: Path | None
    bars_file: Path | None
    speed: float | None
    seed: int = 20100820
    start: datetime | None = None
    key_id: str | None = None
    secret_key: str | None = field(default=None, repr=False)
    host: str = field(default="127.0.0.1", init=False)


def serve(options: ExchangeOptions, *, announce: Callable[[dict[str, str]], None]) -> None:
    """Serve until SIGINT or SIGTERM; `announce` is called once, when requests are answered.

    A restart with the same state folder goes on where the clock, the account and the orders were.
    """
    listener = _bound(options.host, options.port)
    with listener:
        if options.state_folder is not None:
            options.state_folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        keys = keys_in(options.state_folder, key_id=options.key_id, secret_key=options.secret_key)
        venue = build_venue(options)
        url = f"http://{options.host}:{listener.getsockname()[1]}"
        facts = {"trading_url": url, "data_url": url}
        secrets = {"key_id": keys.key_id, "secret_key": keys.secret_key}
        app = create_app(venue=venue, keys=keys)
        try:
            _Server(_config(app), started=lambda: announce(facts | secrets)).run([listener])
        finally:
            venue.close()


def build_venue(options: ExchangeOptions) -> Venue:
    """Return the venue of the options, with what its state folder remembers."""
    replay = build_replay(seed=options.seed, bars_file=options.bars_file)
    clock = VirtualClock(start=_start(options, replay), end=replay.end, speed=options.speed)
    return Venue(replay=replay, clock=clock, state=StateFile(options.state_folder))


def _start(options: ExchangeOptions, replay: Replay) -> Instant:
    if options.start is None:
        return replay.default_start
    start = instant_of(options.start)
    if start >= replay.end:
        raise ReplayExhausted(asked=options.start, last=moment_of(replay.end))
    return max(start, replay.calendar.sessions[0].open)


def _bound(host: str, port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()
    except OSError as error:
        listener.close()
        message = (
            f"The exchange can't listen on {host}:{port}: {error.strerror}. Stop what uses the "
            "port, or choose another; 0 takes a free one."
        )
        raise ExchangeError(message) from error
    return listener


def _config(app: FastAPI) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )


class _Server(uvicorn.Server):
    """uvicorn, but it says when it has started, and a signal ends it, not the process."""

    def __init__(self, config: uvicorn.Config, *, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then announce it."""
        await super().startup(sockets)
        self._announce()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Turn SIGINT and SIGTERM into a clean end; uvicorn itself would raise them once more."""
        if current_thread() is not main_thread():
            yield
            return
        former = {number: signal(number, self.handle_exit) for number in (SIGINT, SIGTERM)}
        try:
            yield
        finally:
            for number, action in former.items():
                signal(number, action)
