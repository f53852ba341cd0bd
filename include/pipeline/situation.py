"""What is known of each symbol at a cycle's `as_of`: the one path by which decisions get data.

Live decisions, walk-forward and replay build their inputs here and nowhere else, so nothing that
ended after `as_of`, or was recorded after it, can reach a decision.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from include.domain.bars import BarSeries, empty_series
from include.domain.cycles import Cycle
from include.domain.instruments import AssetClass, Instrument, asset_class_of
from include.domain.quotes import Quote
from include.domain.sessions import Session, Window
from include.market.calendar import window_at, windows_before
from include.pipeline.universe import grouped_by_timeframe
from include.settings import Settings
from include.store.unit_of_work import UnitOfWork

CALENDAR_BACK = timedelta(days=400)
CALENDAR_AHEAD = timedelta(days=7)


@dataclass(frozen=True, kw_only=True, eq=False)
class Situation:
    """One symbol at `as_of`: closed bars, quote, window, past windows, and why it is refused."""

    symbol: str
    asset_class: AssetClass
    series: BarSeries
    quote: Quote | None
    refusal: str | None
    window: Window | None
    past_windows: tuple[Window, ...]
    instrument: Instrument | None

    @property
    def mid(self) -> float | None:
        """Mid of the cycle's quote, USD; None without one."""
        return self.quote.mid if self.quote else None


def load_situations(
    uow: UnitOfWork, cycle: Cycle, settings: Settings, symbols: Sequence[str] | None = None
) -> dict[str, Situation]:
    """Return every symbol's situation, from rows recorded at or before the cycle's `as_of`."""
    chosen = tuple(symbols if symbols is not None else cycle.symbols)
    sessions = uow.calendar.sessions_between(
        (cycle.as_of - CALENDAR_BACK).date(), (cycle.as_of + CALENDAR_AHEAD).date()
    )
    bars = _load_bars(uow, cycle, settings, chosen)
    quotes = uow.quotes.by_cycle(cycle.cycle_id)
    refusals = uow.refusals.by_cycle(cycle.cycle_id)
    instruments = uow.instruments.by_symbols(chosen)
    windows = {
        asset_class: past_windows(cycle.as_of, asset_class, sessions, settings)
        for asset_class in AssetClass
    }
    return {
        symbol: Situation(
            symbol=symbol,
            asset_class=asset_class_of(symbol),
            series=bars[symbol],
            quote=quotes.get(symbol),
            refusal=refusals.get(symbol) or _absent(symbol, instruments),
            window=open_window(cycle.as_of, asset_class_of(symbol), sessions),
            past_windows=windows[asset_class_of(symbol)],
            instrument=instruments.get(symbol),
        )
        for symbol in chosen
    }


def open_window(
    as_of: datetime, asset_class: AssetClass, sessions: Sequence[Session]
) -> Window | None:
    """Return the window that contains `as_of`; None while the class is not traded."""
    return window_at(as_of, sessions, asset_class)


def past_windows(
    as_of: datetime, asset_class: AssetClass, sessions: Sequence[Session], settings: Settings
) -> tuple[Window, ...]:
    """Return the last `history_windows` windows that ended at or before `as_of`, oldest first."""
    return tuple(windows_before(as_of, settings.data.history_windows, sessions, asset_class))


def _load_bars(
    uow: UnitOfWork, cycle: Cycle, settings: Settings, symbols: Sequence[str]
) -> dict[str, BarSeries]:
    found: dict[str, BarSeries] = {}
    for (_, timeframe), members in grouped_by_timeframe(symbols, settings).items():
        stored = uow.bars.load_all(members, timeframe, cycle.as_of, _history_bars(settings))
        for symbol in members:
            found[symbol] = stored.get(symbol, empty_series(symbol, timeframe))
    return found


def _history_bars(settings: Settings) -> int:
    """Bars that cover one context before the oldest window and every window since (24 a day)."""
    return settings.data.context_bars + (settings.data.history_windows + 2) * 24


def _absent(symbol: str, instruments: Mapping[str, Instrument]) -> str | None:
    instrument = instruments.get(symbol)
    if instrument is None:
        return "absent: the venue does not list this symbol"
    return None if instrument.is_tradable else "absent: the venue does not trade this symbol"
