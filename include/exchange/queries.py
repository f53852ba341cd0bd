"""What stands in a URL's query, read into values; a fault raises `Refused`."""

from datetime import date
from typing import Annotated
from uuid import UUID

from fastapi import Depends, HTTPException, Request
from pydantic import BaseModel

from include.exchange.instants import Instant, parse_instant, utc_date
from include.exchange.refusals import Refusal, bad_request, invalid
from include.exchange.venue import Venue


class Refused(HTTPException):
    """Carries a refusal to the answer; raised at the HTTP border only."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(status_code=refusal.status, detail=refusal.message)
        self.refusal = refusal


async def venue_of(request: Request) -> Venue:
    """Return the venue that the application serves."""
    venue: Venue = request.app.state.venue
    return venue


ServedVenue = Annotated[Venue, Depends(venue_of)]


class OrdersQuery(BaseModel):
    """The filters of GET /v2/orders."""

    status: str = "open"
    limit: str = "50"
    after: str | None = None
    until: str | None = None
    direction: str = "desc"
    symbols: str | None = None
    side: str | None = None
    asset_class: str | None = None


class ActivitiesQuery(BaseModel):
    """The filters and the page of GET /v2/account/activities."""

    activity_types: str | None = None
    category: str | None = None
    order_id: str | None = None
    date: str | None = None
    after: str | None = None
    until: str | None = None
    direction: str = "desc"
    page_size: str = "100"
    page_token: str | None = None


class HistoryQuery(BaseModel):
    """The span and resolution of GET /v2/account/portfolio/history."""

    period: str | None = None
    timeframe: str | None = None
    intraday_reporting: str = "market_hours"
    pnl_reset: str = "per_day"
    start: str | None = None
    end: str | None = None


class BarsQuery(BaseModel):
    """The question for bars; adjustment, feed and asof are accepted and change nothing."""

    symbols: str | None = None
    timeframe: str | None = None
    start: str | None = None
    end: str | None = None
    limit: str = "1000"
    sort: str = "asc"
    page_token: str | None = None


def instant_in(name: str, text: str | None) -> Instant | None:
    """Read an optional instant: RFC 3339, a date, or seconds since 1970."""
    if text is None or text == "":
        return None
    instant = int(text) * 1_000_000_000 if text.isdigit() else parse_instant(text)
    if instant is None:
        raise Refused(invalid(f"invalid {name}: {text}"))
    return instant


def date_in(name: str, text: str | None, default: date) -> date:
    """Read an optional date, of which an instant's time of day is cut off."""
    instant = instant_in(name, text)
    return default if instant is None else utc_date(instant)


def integer_in(name: str, text: str, *, smallest: int, largest: int) -> int:
    """Read a whole number within bounds, both inclusive."""
    if not text.isdigit() or not smallest <= int(text) <= largest:
        raise Refused(invalid(f"invalid {name}: it must be between {smallest} and {largest}"))
    return int(text)


def choice_in(name: str, text: str, *choices: str) -> str:
    """Read one of the given words."""
    if text not in choices:
        raise Refused(invalid(f"invalid {name}: {text}"))
    return text


def identity_in(text: str) -> UUID | None:
    """Read an identity; None when the text is none."""
    try:
        return UUID(text)
    except ValueError:
        return None


def symbols_in(text: str | None) -> list[str]:
    """Read a comma-separated list of symbols, sorted and each once, as the data service does."""
    symbols = sorted({symbol for symbol in (text or "").split(",") if symbol})
    if not symbols:
        raise Refused(bad_request("symbols is required"))
    return symbols
