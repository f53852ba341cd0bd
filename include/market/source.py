"""Ports of market data: what the rest of Tradewind may ask, whoever answers.

Adapters: `market.alpaca` (bars and quotes), `market.calendar` (sessions). Whether an answer is
good enough to trade on is decided in `market.quality`, never here.
"""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Protocol

from include.domain.bars import BarSeries, Timeframe
from include.domain.quotes import Quote
from include.domain.sessions import Session


class BarSource(Protocol):
    """Gives bars of the past."""

    def fetch_bars(
        self, symbols: Sequence[str], timeframe: Timeframe, start: datetime, end: datetime
    ) -> dict[str, BarSeries]:
        """Return the bars that start in [start, end), one series for every symbol asked for.

        A symbol without bars has an empty series. Classes may be mixed. The bar that is still
        forming may be among them: `BarSeries.closed_by` drops it.
        """
        ...


class QuoteSource(Protocol):
    """Gives the newest quotes."""

    def latest_quotes(self, symbols: Sequence[str]) -> dict[str, Quote]:
        """Return the newest quote of each symbol that has a readable one."""
        ...


class CalendarSource(Protocol):
    """Gives the sessions of the equity market."""

    def sessions_between(self, start: date, end: date) -> list[Session]:
        """Return the sessions with a date in [start, end), oldest first."""
        ...
