"""Fetch: closed bars since the newest stored one, and quotes; bad data is refused."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import numpy as np

from include.broker.ports import Broker
from include.domain.bars import BarSeries, Timeframe, empty_series
from include.domain.cycles import Cycle
from include.domain.instruments import AssetClass, asset_class_of
from include.domain.quotes import Quote
from include.domain.sessions import Session, Window, bar_grid
from include.market.calendar import calendar_differences, windows_before
from include.market.quality import QualityLimits, check_quote, check_series
from include.market.regular_hours import regular_bars
from include.market.source import BarSource, CalendarSource, QuoteSource
from include.pipeline.situation import open_window
from include.pipeline.stages import recorded_stage
from include.pipeline.universe import grouped_by_timeframe, timeframe_of
from include.pipeline.wiring.broker import open_broker
from include.pipeline.wiring.market import open_calendar, open_market_data
from include.pipeline.wiring.store import open_database
from include.settings import Settings, load_settings
from include.store.unit_of_work import Database, UnitOfWork

REREAD = {  # late and corrected trades (alpaca.md 9): two sessions over the longest weekend
    AssetClass.EQUITY: timedelta(days=5),
    AssetClass.CRYPTO: timedelta(hours=26),
}
CALENDAR_AHEAD = timedelta(days=7)


def fetch_sessions(
    *, cycle: Cycle, broker: Broker, calendar: CalendarSource, database: Database, first: datetime
) -> tuple[list[Session], list[str]]:
    """Store the venue's sessions from `first` to a week ahead; return them and what differs.

    The venue's calendar is the last word; ours says where it disagrees.
    """
    start, end = first.date(), (cycle.as_of + CALENDAR_AHEAD).date()
    sessions = broker.sessions_between(start, end)
    differences = calendar_differences(calendar.sessions_between(start, end), sessions)
    with database.unit_of_work() as uow:
        uow.calendar.save_sessions(sessions, seen_at=cycle.as_of)
        uow.commit()
    return sessions, differences


def fetch_bars(
    *,
    cycle: Cycle,
    source: BarSource,
    sessions: Sequence[Session],
    database: Database,
    settings: Settings,
) -> dict[str, int]:
    """Store the closed bars of every symbol since its newest stored one; return counts."""
    counts = {"new": 0, "revised": 0, "unchanged": 0}
    for (asset_class, timeframe), symbols in grouped_by_timeframe(cycle.symbols, settings).items():
        with database.unit_of_work() as uow:
            newest = uow.bars.newest_starts(symbols, timeframe)
        series: list[BarSeries] = []
        for start, members in _by_start(symbols, newest, timeframe, cycle, settings).items():
            found = source.fetch_bars(members, timeframe, start, cycle.as_of)
            series += [_closed(bars, asset_class, sessions, cycle) for bars in found.values()]
        with database.unit_of_work() as uow:
            saved = uow.bars.save_all(series, recorded_at=cycle.as_of)
            uow.commit()
        for name in counts:
            counts[name] += getattr(saved, name)
    return counts


def fetch_quotes(*, cycle: Cycle, source: QuoteSource, database: Database) -> dict[str, Quote]:
    """Store the latest quotes once per cycle; a second run keeps the first's."""
    with database.unit_of_work() as uow:
        stored = uow.quotes.by_cycle(cycle.cycle_id)
    if stored:
        return stored
    quotes = source.latest_quotes(cycle.symbols)
    with database.unit_of_work() as uow:
        uow.quotes.save_all(cycle.cycle_id, list(quotes.values()))
        uow.commit()
    return quotes


def check_symbols(
    *,
    cycle: Cycle,
    uow: UnitOfWork,
    quotes: Mapping[str, Quote],
    sessions: Sequence[Session],
    settings: Settings,
) -> dict[str, str]:
    """Return, per symbol that must not be traded, the reason why."""
    refusals: dict[str, str] = {}
    for (asset_class, timeframe), symbols in grouped_by_timeframe(cycle.symbols, settings).items():
        stored = uow.bars.load_all(symbols, timeframe, cycle.as_of, settings.data.context_bars)
        for symbol in symbols:
            series = stored.get(symbol, empty_series(symbol, timeframe))
            reason = (
                _closed_market(cycle, asset_class, sessions)
                or _bars_reason(series, asset_class, cycle, sessions, settings)
                or check_quote(
                    quotes.get(symbol),
                    as_of=cycle.as_of,
                    asset_class=asset_class,
                    limits=quality_limits(asset_class, settings),
                )
            )
            if reason is not None:
                refusals[symbol] = reason
    return refusals


def quality_limits(asset_class: AssetClass, settings: Settings) -> QualityLimits:
    """Return the data gate's bounds for a class."""
    is_crypto = asset_class is AssetClass.CRYPTO
    data = settings.data
    return QualityLimits(
        minimum_bars=min(data.context_bars, 64),
        max_jump_fraction=data.max_crypto_jump_fraction
        if is_crypto
        else data.max_equity_jump_fraction,
        max_spread_bps=data.max_crypto_spread_bps if is_crypto else data.max_equity_spread_bps,
        max_quote_age_seconds=120.0 if is_crypto else 60.0,
    )


def run(*, run_id: str) -> dict[str, int]:
    """Fetch sessions, bars and quotes of a cycle and store what is refused; return counts."""
    settings, database = load_settings(), open_database()
    with database.unit_of_work() as uow:
        cycle = uow.cycles.require(run_id)
    data, broker = open_market_data(settings), open_broker(settings)
    with recorded_stage(database, cycle_id=run_id, stage="fetch") as detail:
        sessions, differences = fetch_sessions(
            cycle=cycle,
            broker=broker,
            calendar=open_calendar(),
            database=database,
            first=history_start(cycle.as_of, Timeframe(settings.data.equity_timeframe), settings),
        )
        detail.update(
            fetch_bars(
                cycle=cycle,
                source=data,
                sessions=sessions,
                database=database,
                settings=settings,
            )
        )
        quotes = fetch_quotes(cycle=cycle, source=data, database=database)
        instruments = broker.instruments(cycle.symbols)
        with database.unit_of_work() as uow:
            uow.instruments.save_all(instruments, seen_at=cycle.as_of)
            refusals = check_symbols(
                cycle=cycle, uow=uow, quotes=quotes, sessions=sessions, settings=settings
            )
            uow.refusals.save_all(cycle.cycle_id, refusals)
            uow.commit()
        detail["quotes"], detail["refused"] = len(quotes), len(refusals)
        detail["calendar_differences"] = differences
    return {name: value for name, value in detail.items() if isinstance(value, int)}


def history_start(as_of: datetime, timeframe: Timeframe, settings: Settings) -> datetime:
    """Return the instant from which history is asked for the first time.

    Enough calendar days for `history_windows` windows and one context before the oldest, a
    quarter more for holidays.
    """
    bars_a_day = 24 if timeframe is Timeframe.HOUR else 13
    context_days = settings.data.context_bars / (1 if timeframe is Timeframe.DAY else bars_a_day)
    return as_of - timedelta(days=(settings.data.history_windows + context_days) * 7 / 5 * 1.25)


def _by_start(
    symbols: Sequence[str],
    newest: Mapping[str, datetime],
    timeframe: Timeframe,
    cycle: Cycle,
    settings: Settings,
) -> dict[datetime, list[str]]:
    """Group symbols by the instant from which they are fetched, so that one call serves many."""
    groups: dict[datetime, list[str]] = {}
    for symbol in symbols:
        start = history_start(cycle.as_of, timeframe, settings)
        if symbol in newest:
            start = newest[symbol] - REREAD[asset_class_of(symbol)]
        groups.setdefault(start, []).append(symbol)
    return groups


def _closed(
    series: BarSeries, asset_class: AssetClass, sessions: Sequence[Session], cycle: Cycle
) -> BarSeries:
    regular = regular_bars(series, sessions) if asset_class is AssetClass.EQUITY else series
    return regular.closed_by(cycle.as_of)


def _closed_market(
    cycle: Cycle, asset_class: AssetClass, sessions: Sequence[Session]
) -> str | None:
    if open_window(cycle.as_of, asset_class, sessions) is not None:
        return None
    later = [session.opens_at for session in sessions if session.opens_at > cycle.as_of]
    opens = f"opens {min(later):%Y-%m-%d %H:%M} UTC" if later else "no session is left"
    return f"closed: the market is closed, {opens}"


def _bars_reason(
    series: BarSeries,
    asset_class: AssetClass,
    cycle: Cycle,
    sessions: Sequence[Session],
    settings: Settings,
) -> str | None:
    expected = _expected_bars(cycle.as_of, asset_class, sessions, settings)
    return check_series(
        series,
        as_of=cycle.as_of,
        expected_starts=expected,
        limits=quality_limits(asset_class, settings),
    )


def _expected_bars(
    as_of: datetime, asset_class: AssetClass, sessions: Sequence[Session], settings: Settings
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the starts that the calendar expects closed by `as_of`, for one context."""
    timeframe = timeframe_of(asset_class, settings)
    windows = windows_before(as_of, settings.data.history_windows, sessions, asset_class)
    present = open_window(as_of, asset_class, sessions)
    grids = [_grid_closed_by(window, timeframe, as_of) for window in [*windows, present] if window]
    starts = np.concatenate(grids) if grids else np.empty(0, dtype=np.int64)
    return starts[-settings.data.context_bars :]


def _grid_closed_by(
    window: Window, timeframe: Timeframe, as_of: datetime
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    starts, ends = bar_grid(window, timeframe)
    return starts[ends <= int(as_of.timestamp())]
