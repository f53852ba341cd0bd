"""When cycles run by themselves: a pure function of settings and calendar, for the timetable."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

from include.domain.instruments import AssetClass, asset_class_of
from include.settings import ScheduleKind, Settings, load_settings


def next_decision_instant(after: datetime) -> datetime | None:
    """Return the first scheduled instant later than `after`; None where nothing is scheduled.

    Market hours: every `schedule.every_minutes` from the open while the NYSE is open, and every
    full hour where the universe holds crypto. Reads the settings once per process.
    """
    return next_instant(after, _settings())


def next_instant(after: datetime, settings: Settings) -> datetime | None:
    """Return the first instant later than `after` at which the settings want a cycle."""
    kind = settings.schedule.kind
    if kind is ScheduleKind.MANUAL:
        return None
    if kind is ScheduleKind.EVERY_MINUTE:
        return after.astimezone(UTC).replace(second=0, microsecond=0) + timedelta(minutes=1)
    return _next_in_market_hours(after, settings)


def description(settings: Settings) -> str:
    """Return the schedule in a few words, for Airflow's pages."""
    kind = settings.schedule.kind
    if kind is ScheduleKind.MANUAL:
        return "by hand"
    if kind is ScheduleKind.EVERY_MINUTE:
        return "every minute"
    return f"NYSE/{settings.schedule.every_minutes}m"


def _next_in_market_hours(after: datetime, settings: Settings) -> datetime:
    from include.market import calendar  # pandas: only where market hours count
    from include.pipeline.wiring.market import open_calendar

    last_day = after.date() + timedelta(days=10)
    sessions = open_calendar().sessions_between(after.date() - timedelta(days=1), last_day)
    has_crypto = any(
        asset_class_of(symbol) is AssetClass.CRYPTO for symbol in settings.universe.symbols
    )
    return calendar.next_decision_instant(
        after,
        settings.schedule.every_minutes,
        sessions=sessions,
        include_crypto_hours=has_crypto,
    )


@lru_cache(maxsize=1)
def _settings() -> Settings:
    return load_settings()
