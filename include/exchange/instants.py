"""Instants as whole nanoseconds, and the texts in which the venue writes and reads them.

Python's datetime stops at microseconds, the venue's stamps at nanoseconds: inside the exchange an
instant is an integer. Nothing here reads a clock; the only one is in clock.py.
"""

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import TypeAlias
from zoneinfo import ZoneInfo

Instant: TypeAlias = int
"""Nanoseconds since 1970-01-01T00:00:00Z."""

SECOND: Instant = 1_000_000_000
MINUTE: Instant = 60 * SECOND
DAY: Instant = 24 * 60 * MINUTE
NEW_YORK = ZoneInfo("America/New_York")

_STAMP = re.compile(
    r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2})?(?:\.(\d{1,9}))?([Zz]|[+\- ]\d{2}:?\d{2})?"
)


def instant_of(moment: datetime) -> Instant:
    """Return an aware datetime as an instant; microseconds are exact."""
    elapsed = moment.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return (elapsed.days * 86_400 + elapsed.seconds) * SECOND + elapsed.microseconds * 1_000


def moment_of(instant: Instant) -> datetime:
    """Return an instant as an aware UTC datetime, cut to microseconds."""
    seconds, rest = divmod(instant, SECOND)
    return datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=rest // 1_000)


def parse_instant(text: str) -> Instant | None:
    """Read RFC 3339 with up to nine decimals, or a date; None when it is neither.

    A date means midnight UTC and a stamp without an offset is UTC, as the venue reads them. A
    blank before the offset is a plus sign that some client did not escape.
    """
    try:
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
            return instant_of(datetime.combine(date.fromisoformat(text), time(), UTC))
        match = _STAMP.fullmatch(text)
        if match is None:
            return None
        day, minute, second, fraction, offset = match.groups()
        zone = (offset or "Z").upper().replace(" ", "+").replace("Z", "+00:00")
        whole = instant_of(datetime.fromisoformat(f"{day}T{minute}{second or ':00'}{zone}"))
    except ValueError:
        return None
    return whole + int((fraction or "0").ljust(9, "0"))


def format_instant(instant: Instant, zone: ZoneInfo | None = None) -> str:
    """Write an instant as RFC 3339 without trailing zeros, in UTC or with a zone's offset."""
    seconds, rest = divmod(instant, SECOND)
    moment = datetime.fromtimestamp(seconds, zone or UTC)
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    offset = moment.isoformat()[19:] if zone else "Z"
    return f"{moment:%Y-%m-%dT%H:%M:%S}{fraction}{offset}"


def new_york_date(instant: Instant) -> date:
    """Return the calendar date that New York has at an instant."""
    return datetime.fromtimestamp(instant // SECOND, NEW_YORK).date()


def utc_date(instant: Instant) -> date:
    """Return the calendar date in UTC at an instant."""
    return datetime.fromtimestamp(instant // SECOND, UTC).date()


def at_new_york(day: date, clock_time: time) -> Instant:
    """Return the instant of a wall-clock time in New York."""
    return instant_of(datetime.combine(day, clock_time, NEW_YORK))


def at_utc_midnight(day: date) -> Instant:
    """Return the first instant of a UTC day."""
    return instant_of(datetime.combine(day, time(), UTC))
