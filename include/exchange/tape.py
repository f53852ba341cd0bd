"""What has happened at an instant: the minutes of each symbol up to it, and never one beyond.

All that a client can learn about prices passes through here. A minute's price, volume and quote
exist from the minute's first instant.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import lru_cache

from include.exchange.assets import Asset, AssetCatalogue
from include.exchange.calendar import ReplayCalendar
from include.exchange.instants import DAY, MINUTE, Instant, at_utc_midnight
from include.exchange.path import FloatArray, IntArray, minute_path
from include.exchange.quotes import QuoteTrack, Spreads, quote_track, tick_size
from include.exchange.sources import DailyBars

_DAYS_KEPT = 16_384


@dataclass(frozen=True, kw_only=True)
class TapeDay:
    """The minutes of one symbol on one day; arrays of shape (n_minutes,)."""

    session_date: date
    start: Instant
    prices: FloatArray
    volumes: IntArray
    quotes: QuoteTrack

    @property
    def n_minutes(self) -> int:
        """Return how many minutes the day has."""
        return len(self.prices)

    def instant(self, minute: int) -> Instant:
        """Return the first instant of a minute."""
        return self.start + minute * MINUTE

    def n_visible(self, now: Instant) -> int:
        """Return how many minutes have begun at an instant."""
        return max(0, min(self.n_minutes, (now - self.start) // MINUTE + 1))

    def price(self, minute: int) -> Decimal:
        """Return the last trade's price in a minute, USD."""
        return Decimal(str(float(self.prices[minute])))


@dataclass(frozen=True, kw_only=True)
class TapeMinute:
    """One minute of one symbol."""

    day: TapeDay
    minute: int

    @property
    def instant(self) -> Instant:
        """Return the minute's first instant."""
        return self.day.instant(self.minute)

    @property
    def price(self) -> Decimal:
        """Return the last trade's price, USD."""
        return self.day.price(self.minute)

    @property
    def bid(self) -> Decimal:
        """Return what a seller gets, USD."""
        return self.day.quotes.bid(self.minute)

    @property
    def ask(self) -> Decimal:
        """Return what a buyer pays, USD."""
        return self.day.quotes.ask(self.minute)


class Tape:
    """Give the minutes of any symbol; safe to use from several threads."""

    def __init__(
        self,
        *,
        assets: AssetCatalogue,
        daily: DailyBars,
        calendar: ReplayCalendar,
        seed: int,
        spreads: Spreads,
    ) -> None:
        self._assets, self._daily, self._calendar = assets, daily, calendar
        self._seed, self._spreads = seed, spreads
        self._dates: Mapping[str, list[date]] = {
            symbol: list(bars) for symbol, bars in daily.items()
        }
        self._starts: Mapping[str, list[Instant]] = {
            symbol: [self._first_instant(assets[symbol], day) for day in days]
            for symbol, days in self._dates.items()
        }
        self._day = lru_cache(maxsize=_DAYS_KEPT)(self._built_day)

    def days_between(self, symbol: str, first: Instant, last: Instant) -> Iterator[TapeDay]:
        """Yield the days that begin within two instants, both inclusive, oldest first."""
        for index in self.day_indices(symbol, first, last):
            yield self._day(symbol, index)

    def day_indices(self, symbol: str, first: Instant, last: Instant) -> range:
        """Return the positions of the days that begin within two instants, both inclusive."""
        starts = self._starts.get(symbol, [])
        return range(bisect_right(starts, first - 1), bisect_right(starts, last))

    def day(self, symbol: str, index: int) -> TapeDay:
        """Return the day at a position."""
        return self._day(symbol, index)

    def session_date(self, symbol: str, index: int) -> date:
        """Return the date of the day at a position."""
        return self._dates[symbol][index]

    def latest(self, symbol: str, now: Instant) -> TapeMinute | None:
        """Return the newest minute that has begun, None before the first."""
        index = bisect_right(self._starts.get(symbol, []), now) - 1
        if index < 0:
            return None
        day = self._day(symbol, index)
        return TapeMinute(day=day, minute=day.n_visible(now) - 1)

    def begun_between(
        self, symbol: str, after: Instant, until: Instant
    ) -> Iterator[tuple[TapeDay, range]]:
        """Yield, day by day, the minutes that begin after one instant and at or before another."""
        for day in self.days_between(symbol, after - DAY, until):
            minutes = range(day.n_visible(after), day.n_visible(until))
            if minutes:
                yield day, minutes

    def _first_instant(self, asset: Asset, day: date) -> Instant:
        session = None if asset.is_crypto else self._calendar.session_on(day)
        return at_utc_midnight(day) if session is None else session.open

    def _built_day(self, symbol: str, index: int) -> TapeDay:
        asset, session_date = self._assets[symbol], self._dates[symbol][index]
        bar = self._daily[symbol][session_date]
        session = None if asset.is_crypto else self._calendar.session_on(session_date)
        tick = tick_size(asset, bar.low)
        path = minute_path(
            bar,
            n_minutes=DAY // MINUTE if session is None else session.n_minutes,
            decimals=-int(tick.as_tuple().exponent),
            seed=self._seed,
            symbol=symbol,
        )
        spread_bps = self._spreads.by_class[asset.asset_class]
        return TapeDay(
            session_date=session_date,
            start=self._starts[symbol][index],
            prices=path.prices,
            volumes=path.volumes,
            quotes=quote_track(path.prices, tick=tick, spread_bps=spread_bps),
        )
