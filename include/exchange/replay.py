"""A whole replay: assets, calendar and tape, made of a seed and perhaps a file of bars.

Nothing in it changes while the exchange runs; what changes is the venue's.
"""

from dataclasses import dataclass, field
from datetime import date, timedelta
from hashlib import sha256
from pathlib import Path

from include.exchange.assets import CRYPTO_ASSETS, Asset, AssetCatalogue, equity
from include.exchange.calendar import ReplayCalendar
from include.exchange.instants import DAY, Instant, at_utc_midnight
from include.exchange.quotes import Spreads
from include.exchange.sources import (
    PACKAGED_NAMES,
    DailyBars,
    load_bars_file,
    load_packaged_equities,
)
from include.exchange.synthetic import synthetic_bars
from include.exchange.tape import Tape

_SESSIONS_BEFORE_START = 129


@dataclass(frozen=True, kw_only=True)
class Replay:
    """What is replayed, from `start` to `end`; `fingerprint` tells two replays apart."""

    seed: int
    assets: AssetCatalogue
    calendar: ReplayCalendar
    tape: Tape = field(repr=False)
    start: Instant
    end: Instant
    fingerprint: str

    @property
    def default_start(self) -> Instant:
        """Return the open of the 130th session, or of the middle one when there are too few."""
        sessions = self.calendar.sessions
        enough = len(sessions) > _SESSIONS_BEFORE_START
        return sessions[_SESSIONS_BEFORE_START if enough else len(sessions) // 2].open


def build_replay(
    *, seed: int, bars_file: Path | None = None, spreads: Spreads | None = None
) -> Replay:
    """Return the packaged replay or a file's, both with the four synthetic crypto pairs."""
    equities = load_packaged_equities() if bars_file is None else load_bars_file(bars_file)
    return replay_of(equities, seed=seed, spreads=spreads or Spreads())


def replay_of(equities: DailyBars, *, seed: int, spreads: Spreads) -> Replay:
    """Return the replay of given equities, with crypto on every UTC day of their span."""
    dates = sorted({day for bars in equities.values() for day in bars})
    calendar = ReplayCalendar(dates)
    days = _every_day(dates[0], dates[-1])
    coins = {asset.symbol: synthetic_bars(asset, days, seed=seed) for asset in CRYPTO_ASSETS}
    assets = AssetCatalogue([*(_named(symbol) for symbol in equities), *CRYPTO_ASSETS])
    daily: DailyBars = {**equities, **coins}
    return Replay(
        seed=seed,
        assets=assets,
        calendar=calendar,
        tape=Tape(assets=assets, daily=daily, calendar=calendar, seed=seed, spreads=spreads),
        start=at_utc_midnight(dates[0]),
        end=at_utc_midnight(dates[-1]) + DAY,
        fingerprint=_fingerprint(equities, seed),
    )


def _named(symbol: str) -> Asset:
    return equity(symbol, PACKAGED_NAMES.get(symbol, symbol))


def _every_day(first: date, last: date) -> list[date]:
    return [first + timedelta(days=offset) for offset in range((last - first).days + 1)]


def _fingerprint(equities: DailyBars, seed: int) -> str:
    digest = sha256(str(seed).encode())
    for symbol, bars in equities.items():
        for bar in bars.values():
            digest.update(f"{symbol}{bar}".encode())
    return digest.hexdigest()
