"""The account's value over time, recomputed from its fills and the tape up to now."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import time
from decimal import Decimal

from include.exchange.accounts import STARTING_CASH_USD, apply_fill, new_account
from include.exchange.calendar import NEW_YORK_MIDNIGHT, Session
from include.exchange.instants import DAY, MINUTE, Instant, at_new_york, new_york_date
from include.exchange.queries import HistoryQuery, Refused, choice_in, instant_in
from include.exchange.refusals import invalid
from include.exchange.shapes import Json
from include.exchange.venue import Venue

_MINUTES = {"1Min": 1, "5Min": 5, "15Min": 15, "1H": 60}
_PERIOD_DAYS = {"D": 1, "W": 7, "M": 30, "A": 365}
_LONGEST_INTRADAY = 30 * DAY


@dataclass(frozen=True, kw_only=True)
class Window:
    """A stretch of time: labelled by its start, valued at its end."""

    start: Instant
    end: Instant


def history_json(venue: Venue, query: HistoryQuery) -> Json:
    """Return equity and profit at the end of each window since the account began."""
    first, last = _span(venue, query)
    timeframe = query.timeframe or _default_timeframe(last - first)
    choice_in("timeframe", timeframe, "1D", *_MINUTES)
    if timeframe != "1D" and last - first > _LONGEST_INTRADAY:
        raise Refused(invalid("only 1D timeframe is allowed for periods longer than 30 days"))
    windows = list(_windows(venue, timeframe, query.intraday_reporting, first, last))
    windows = windows or [Window(start=venue.now, end=venue.now)]
    equities = _equities(venue, [window.end for window in windows])
    base = _close_before(venue, windows[0].start)
    resets = timeframe != "1D" and query.pnl_reset == "per_day"
    bases = [_close_before(venue, w.start) if resets else base for w in windows]
    profits = [equity - basis for equity, basis in zip(equities, bases, strict=True)]
    return {
        "timestamp": [window.start // 1_000_000_000 for window in windows],
        "equity": [_cents(equity) for equity in equities],
        "profit_loss": [_cents(profit) for profit in profits],
        "profit_loss_pct": [
            round(float(p / b), 8) if b else 0.0 for p, b in zip(profits, bases, strict=True)
        ],
        "base_value": _cents(base),
        "base_value_asof": new_york_date(windows[0].start).isoformat(),
        "timeframe": timeframe,
        "cashflow": {},
    }


def _cents(value: Decimal) -> float:
    return round(float(value), 2)


def _span(venue: Venue, query: HistoryQuery) -> tuple[Instant, Instant]:
    start, end = instant_in("start", query.start), instant_in("end", query.end)
    if query.period and start is not None and end is not None:
        raise Refused(invalid("period cannot be used with both start and end"))
    match = re.fullmatch(r"([1-9]\d{0,3})([DWMA])", query.period or "1M")
    if match is None:
        raise Refused(invalid(f"invalid period: {query.period}"))
    length = int(match[1]) * _PERIOD_DAYS[match[2]] * DAY
    if end is None:
        end = venue.now if start is None or not query.period else start + length
    first = end - length if start is None else start
    return max(first, venue.created_at), min(end, venue.now)


def _default_timeframe(length: Instant) -> str:
    if length < 7 * DAY:
        return "1Min"
    return "15Min" if length < _LONGEST_INTRADAY else "1D"


def _windows(
    venue: Venue, timeframe: str, reporting: str, first: Instant, last: Instant
) -> Iterator[Window]:
    if timeframe == "1D":
        for session in _sessions(venue, first, last):
            label = at_new_york(session.session_date, NEW_YORK_MIDNIGHT)
            yield Window(start=label, end=min(session.close, last))
        return
    length = _MINUTES[timeframe] * MINUTE
    for opened, closed in _stretches(venue, reporting, first, last):
        for start in range(opened - opened % length, min(closed, last + 1), length):
            if start + length > first:
                yield Window(start=start, end=min(start + length, closed, last))


def _stretches(
    venue: Venue, reporting: str, first: Instant, last: Instant
) -> Iterator[tuple[Instant, Instant]]:
    reporting = choice_in(
        "intraday_reporting", reporting, "market_hours", "extended_hours", "continuous"
    )
    if reporting == "continuous":
        yield first, last
        return
    for session in _sessions(venue, first, last):
        if reporting == "market_hours":
            yield session.open, session.close
        else:
            day = session.session_date
            yield at_new_york(day, time(4)), at_new_york(day, time(20))


def _sessions(venue: Venue, first: Instant, last: Instant) -> list[Session]:
    sessions = venue.replay.calendar.sessions
    return [s for s in sessions if s.close > first and s.open <= last]


def _equities(venue: Venue, instants: Sequence[Instant]) -> list[Decimal]:
    """Return the equity at ascending instants, by folding the fills up to each."""
    account, position = new_account(), 0
    equities: list[Decimal] = []
    for instant in instants:
        while position < len(venue.fills) and venue.fills[position].instant <= instant:
            account = apply_fill(account, venue.fills[position])
            position += 1
        prices = {symbol: venue.price(symbol, instant) for symbol in account.positions}
        equities.append(account.equity_usd(prices))
    return equities


def _close_before(venue: Venue, instant: Instant) -> Decimal:
    earlier = [equity for close, equity in venue.closes if close <= instant]
    return earlier[-1] if earlier else STARTING_CASH_USD
