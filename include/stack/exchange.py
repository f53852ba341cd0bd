"""The simulated exchange as a part of the stack, and the calls that move its clock.

The exchange itself is `include/exchange/`, which only the command line starts; here it is a
process with an address.
"""

import json
import select
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import requests

from include.errors import PartFailed, ReplayOver
from include.stack.processes import Command, Part
from include.stack.record import Venue

PART = "exchange"
TIMEOUT_SECONDS = (5.0, 120.0)  # a step replays all bars up to its instant


@dataclass(frozen=True, kw_only=True)
class VenueClock:
    """What the simulated exchange says about its time; all instants aware UTC.

    `next_open` and `next_close` are None where the replay has no further session.
    """

    now: datetime
    next_open: datetime | None
    next_close: datetime | None
    replay_end: datetime
    exhausted: bool
    speed: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether a session is under way: it closes before the next one opens."""
        if self.next_close is None:
            return False
        return self.next_open is None or self.next_close < self.next_open

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "VenueClock":
        """Return the clock of the exchange's answer."""
        return cls(
            now=_required(values["now"]),
            next_open=_instant(values.get("next_open")),
            next_close=_instant(values.get("next_close")),
            replay_end=_required(values["replay_end"]),
            exhausted=bool(values["exhausted"]),
            speed=values.get("speed"),
        )


def exchange_command(state: Path) -> Command:
    """Return the command of a simulated exchange with a stepped clock, on a free loopback port."""
    arguments = (
        *(sys.executable, "-m", "include.cli", "exchange", "--port", "0"),
        *("--clock", "stepped", "--state", str(state), "--json"),
    )
    return Command(part=PART, arguments=arguments, word="include.cli", announces=True)


def announced_venue(part: Part, *, seconds: float) -> Venue:
    """Return the address and keys that the exchange prints as its first line."""
    line = _first_line(part, deadline=time.monotonic() + seconds)
    try:
        values = json.loads(line)
        return Venue(**{name: values[name] for name in _ANNOUNCED})
    except (ValueError, KeyError, TypeError) as error:
        found = "announced itself with what is no address"
        raise PartFailed(part=PART, found=found, log=part.record.log) from error


_ANNOUNCED = ("trading_url", "data_url", "key_id", "secret_key")


def _first_line(part: Part, *, deadline: float) -> bytes:
    stream = part.process.stdout
    found = b""
    while stream is not None and not found.endswith(b"\n"):
        ready, _, _ = select.select([stream], [], [], 0.1)
        if ready and not (chunk := stream.read1(4096)):  # type: ignore[attr-defined]  # BufferedReader
            part.process.wait(timeout=10)
        found += chunk if ready else b""
        part.require_alive()
        if time.monotonic() > deadline:
            raise PartFailed(part=PART, found="did not announce itself", log=part.record.log)
    return found.splitlines()[0]


class ExchangeClock:
    """The clock of a running simulated exchange."""

    def __init__(self, venue: Venue, *, log: str) -> None:
        self._url = f"{venue.trading_url}/admin/clock"
        self._log = log
        self._headers = {
            "APCA-API-KEY-ID": venue.key_id,
            "APCA-API-SECRET-KEY": venue.secret_key,
        }

    def read(self) -> VenueClock:
        """Return the clock as it stands."""
        return VenueClock.from_json(self._ask("GET", ""))

    def step_to(self, instant: datetime) -> VenueClock:
        """Move the clock to an instant that is not before its own; raise ReplayOver at the end.

        A running clock stands still for the step and then runs on at its speed.
        """
        before = self.read()
        if instant > before.replay_end:
            raise ReplayOver(last=before.replay_end)
        body = {"to": instant.astimezone(UTC).isoformat().replace("+00:00", "Z")}
        if not before.speed:
            return VenueClock.from_json(self._ask("POST", "/step", body))
        self.set_speed(None)
        try:
            return VenueClock.from_json(self._ask("POST", "/step", body))
        finally:
            self.set_speed(before.speed)

    def set_speed(self, speed: float | None) -> None:
        """Let the clock run so many times faster than real time; None stops it."""
        self._ask("POST", "/speed", {"speed": speed})

    def _ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
    ) -> dict[str, Any]:
        try:
            with requests.Session() as http:
                http.trust_env = False
                answer = http.request(
                    method,
                    f"{self._url}{path}",
                    json=body,
                    headers=self._headers,
                    timeout=TIMEOUT_SECONDS,
                )
        except requests.RequestException as error:
            found = f"did not answer {method} {self._url}{path} ({type(error).__name__})"
            raise PartFailed(part=PART, found=found, log=self._log) from error
        if not answer.ok:
            found = f"answered {answer.status_code} to {method} {path}: {answer.text[:200]}"
            raise PartFailed(part=PART, found=found, log=self._log)
        return dict(answer.json())


def _instant(text: str | None) -> datetime | None:
    return None if text is None else _required(text)


def _required(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
