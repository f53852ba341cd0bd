"""Fakes of the market ports: bars, quotes and sessions that a test lays down."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from include.domain.bars import BarSeries, Timeframe, empty_series
from include.domain.quotes import Quote
from include.domain.sessions import Session
from include.errors import MarketDataUnavailable


@dataclass(kw_only=True)
class FakeBarSource:
    """Serves the series given, cut to the asked range; counts calls; can be out of order."""

    series: dict[tuple[str, Timeframe], BarSeries] = field(default_factory=dict)
    calls: list[tuple[tuple[str, ...], Timeframe, datetime, datetime]] = field(
        default_factory=list
    )
    is_down: bool = False

    def add(self, series: BarSeries) -> None:
        """Serve this series from now on."""
        self.series[series.symbol, series.timeframe] = series

    def fetch_bars(
        self, symbols: Sequence[str], timeframe: Timeframe, start: datetime, end: datetime
    ) -> dict[str, BarSeries]:
        """Return the bars that start in [start, end), one series for every symbol asked for."""
        self.calls.append((tuple(symbols), timeframe, start, end))
        if self.is_down:
            raise MarketDataUnavailable(asked=f"bars of {symbols[0]}", found="nothing")
        return {
            symbol: self.series.get((symbol, timeframe), empty_series(symbol, timeframe)).between(
                start, end
            )
            for symbol in symbols
        }


@dataclass(kw_only=True)
class FakeQuoteSource:
    """Serves the quotes given."""

    quotes: dict[str, Quote] = field(default_factory=dict)
    calls: list[tuple[str, ...]] = field(default_factory=list)
    is_down: bool = False

    def add(self, quote: Quote) -> None:
        """Serve this quote from now on."""
        self.quotes[quote.symbol] = quote

    def latest_quotes(self, symbols: Sequence[str]) -> dict[str, Quote]:
        """Return the newest quote of each symbol that has one."""
        self.calls.append(tuple(symbols))
        if self.is_down:
            raise MarketDataUnavailable(asked=f"quotes of {symbols[0]}", found="nothing")
        return {symbol: self.quotes[symbol] for symbol in symbols if symbol in self.quotes}


@dataclass(kw_only=True)
class FakeCalendarSource:
    """Serves the sessions given."""

    sessions: list[Session] = field(default_factory=list)

    def sessions_between(self, start: date, end: date) -> list[Session]:
        """Return the sessions with a date in [start, end), oldest first."""
        return [each for each in self.sessions if start <= each.session_date < end]
