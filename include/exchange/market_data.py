"""The market-data API's routes for stocks and crypto: bars, latest quotes and trades, snapshots.

Whatever they answer comes through the tape at the venue's instant, so nothing later leaks.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import JSONResponse, Response

from include.exchange.access import require_keys
from include.exchange.assets import Asset, AssetClass
from include.exchange.bars import (
    DAY_BARS,
    MINUTE_BARS,
    BarJson,
    BarSpan,
    Timeframe,
    bars_of,
    parse_timeframe,
    trade_counts,
)
from include.exchange.instants import DAY, Instant, format_instant
from include.exchange.queries import (
    BarsQuery,
    Refused,
    ServedVenue,
    choice_in,
    instant_in,
    integer_in,
    symbols_in,
)
from include.exchange.refusals import bad_request
from include.exchange.replay import Replay
from include.exchange.shapes import Json
from include.exchange.tape import TapeMinute
from include.exchange.venue import Venue

stocks = APIRouter(prefix="/v2/stocks", dependencies=[Depends(require_keys)])
crypto = APIRouter(prefix="/v1beta3/crypto/us")

_LOTS = 100
_LONGEST_PAUSE = 14 * DAY


@stocks.get("/bars")
def get_stock_bars(venue: ServedVenue, query: Annotated[BarsQuery, Query()]) -> Response:
    """Answer with a page of equity bars."""
    return JSONResponse(_bars_page(venue, query, AssetClass.US_EQUITY) | {"currency": "USD"})


@crypto.get("/bars")
def get_crypto_bars(venue: ServedVenue, query: Annotated[BarsQuery, Query()]) -> Response:
    """Answer with a page of crypto bars."""
    return JSONResponse(_bars_page(venue, query, AssetClass.CRYPTO))


@stocks.get("/quotes/latest")
def get_stock_quotes(venue: ServedVenue, symbols: str | None = None) -> Response:
    """Answer with the latest quote of each equity."""
    return JSONResponse({"quotes": _latest(venue, symbols, AssetClass.US_EQUITY, quote_json)})


@crypto.get("/latest/quotes")
def get_crypto_quotes(venue: ServedVenue, symbols: str | None = None) -> Response:
    """Answer with the latest quote of each pair."""
    return JSONResponse({"quotes": _latest(venue, symbols, AssetClass.CRYPTO, quote_json)})


@stocks.get("/trades/latest")
def get_stock_trades(venue: ServedVenue, symbols: str | None = None) -> Response:
    """Answer with the latest trade of each equity."""
    return JSONResponse({"trades": _latest(venue, symbols, AssetClass.US_EQUITY, trade_json)})


@crypto.get("/latest/trades")
def get_crypto_trades(venue: ServedVenue, symbols: str | None = None) -> Response:
    """Answer with the latest trade of each pair."""
    return JSONResponse({"trades": _latest(venue, symbols, AssetClass.CRYPTO, trade_json)})


@stocks.get("/bars/latest")
def get_stock_latest_bars(venue: ServedVenue, symbols: str | None = None) -> Response:
    """Answer with the latest minute bar of each equity."""
    return JSONResponse({"bars": _latest_bars(venue, symbols, AssetClass.US_EQUITY)})


@crypto.get("/latest/bars")
def get_crypto_latest_bars(venue: ServedVenue, symbols: str | None = None) -> Response:
    """Answer with the latest minute bar of each pair."""
    return JSONResponse({"bars": _latest_bars(venue, symbols, AssetClass.CRYPTO)})


@stocks.get("/snapshots")
def get_stock_snapshots(venue: ServedVenue, symbols: str | None = None) -> Response:
    """Answer with the snapshot of each equity, keyed by symbol at the top."""
    return JSONResponse(_snapshots(venue, symbols, AssetClass.US_EQUITY))


@crypto.get("/snapshots")
def get_crypto_snapshots(venue: ServedVenue, symbols: str | None = None) -> Response:
    """Answer with the snapshot of each pair."""
    return JSONResponse({"snapshots": _snapshots(venue, symbols, AssetClass.CRYPTO)})


@dataclass(frozen=True, kw_only=True)
class PageStart:
    """Where a page begins: its first bar's symbol and start."""

    symbol: str
    start: Instant

    def as_token(self) -> str:
        """Return the token that names this place."""
        return urlsafe_b64encode(f"{self.symbol}|{self.start}".encode()).decode()


def _page_start(token: str | None) -> PageStart | None:
    if not token:
        return None
    try:
        symbol, _, start = urlsafe_b64decode(token.encode()).decode().partition("|")
        return PageStart(symbol=symbol, start=int(start))
    except ValueError as error:
        raise Refused(bad_request(f"invalid page token: {token}")) from error


def _bars_page(venue: Venue, query: BarsQuery, asset_class: AssetClass) -> Json:
    now = _now(venue)
    symbols = _symbols(venue.replay, query.symbols, asset_class)
    timeframe = parse_timeframe(query.timeframe or "")
    if timeframe is None:
        raise Refused(bad_request(f"invalid timeframe: {query.timeframe}"))
    limit = integer_in("limit", query.limit, smallest=1, largest=10_000)
    start, end = instant_in("start", query.start), instant_in("end", query.end)
    span = BarSpan(
        start=now - now % DAY if start is None else start,
        end=now if end is None else end,
        now=now,
        descending=choice_in("sort", query.sort, "asc", "desc") == "desc",
    )
    if span.start > span.end and start is not None and end is not None:
        raise Refused(bad_request("end should not be before start"))
    page = _Page(limit=limit, bars={})
    token = _fill_page(page, venue.replay, symbols, timeframe, span, _page_start(query.page_token))
    return {"bars": page.bars, "next_page_token": token}


@dataclass(frozen=True, kw_only=True)
class _Page:
    limit: int
    bars: dict[str, list[BarJson]]

    @property
    def room(self) -> int:
        return self.limit - sum(len(of_symbol) for of_symbol in self.bars.values())


def _fill_page(
    page: _Page,
    replay: Replay,
    symbols: list[str],
    timeframe: Timeframe,
    span: BarSpan,
    first: PageStart | None,
) -> str | None:
    """Fill a page symbol by symbol; return the token of the first bar that found no room."""
    for symbol in symbols:
        if first is not None and symbol < first.symbol:
            continue
        resumed = first is not None and symbol == first.symbol
        bars = bars_of(replay, symbol, timeframe, _resumed(span, first) if resumed else span)
        taken = [bar for _, bar in islice(bars, page.room)]
        if taken:
            page.bars[symbol] = taken
        left = next(bars, None)
        if left is not None:
            return PageStart(symbol=symbol, start=left[0]).as_token()
    return None


def _resumed(span: BarSpan, first: PageStart | None) -> BarSpan:
    if first is None:
        return span
    if span.descending:
        return BarSpan(start=span.start, end=first.start, now=span.now, descending=True)
    return BarSpan(start=first.start, end=span.end, now=span.now)


def _now(venue: Venue) -> Instant:
    with venue.turn():
        return venue.now


def _symbols(replay: Replay, text: str | None, asset_class: AssetClass) -> list[str]:
    """Return the symbols asked for that exist; one of the other class is a wrong question."""
    symbols = symbols_in(text)
    for symbol in symbols:
        if ("/" in symbol) is not (asset_class is AssetClass.CRYPTO):
            raise Refused(bad_request(f"invalid symbol: {symbol}"))
    return [symbol for symbol in symbols if symbol in replay.assets.by_symbol]


def _latest(
    venue: Venue,
    symbols: str | None,
    asset_class: AssetClass,
    shape: Callable[[Asset, TapeMinute], Json],
) -> dict[str, Json]:
    now, replay = _now(venue), venue.replay
    wanted = _symbols(replay, symbols, asset_class)
    newest = {symbol: replay.tape.latest(symbol, now) for symbol in wanted}
    return {s: shape(replay.assets[s], minute) for s, minute in newest.items() if minute}


def _latest_bars(venue: Venue, symbols: str | None, asset_class: AssetClass) -> Json:
    now = _now(venue)
    wanted = _symbols(venue.replay, symbols, asset_class)
    newest = {symbol: _newest_bar(venue.replay, symbol, MINUTE_BARS, now) for symbol in wanted}
    return {symbol: bar for symbol, bar in newest.items() if bar is not None}


def _newest_bar(
    replay: Replay, symbol: str, timeframe: Timeframe, now: Instant, *, skip: int = 0
) -> BarJson | None:
    span = BarSpan(start=now - _LONGEST_PAUSE, end=now, now=now, descending=True)
    found = next(islice(bars_of(replay, symbol, timeframe, span), skip, None), None)
    return None if found is None else found[1]


def _snapshots(venue: Venue, symbols: str | None, asset_class: AssetClass) -> dict[str, Json]:
    now, replay = _now(venue), venue.replay

    def snapshot(asset: Asset, minute: TapeMinute) -> Json:
        return {
            "latestTrade": trade_json(asset, minute),
            "latestQuote": quote_json(asset, minute),
            "minuteBar": _newest_bar(replay, asset.symbol, MINUTE_BARS, minute.instant),
            "dailyBar": _newest_bar(replay, asset.symbol, DAY_BARS, now),
            "prevDailyBar": _newest_bar(replay, asset.symbol, DAY_BARS, now, skip=1),
        }

    wanted = _symbols(replay, symbols, asset_class)
    newest = {symbol: replay.tape.latest(symbol, now) for symbol in wanted}
    return {s: snapshot(replay.assets[s], minute) for s, minute in newest.items() if minute}


def quote_json(asset: Asset, minute: TapeMinute) -> Json:
    """Return the quote of a minute; sizes are the minute's volume, round lots for equities."""
    prices: Json = {
        "t": format_instant(minute.instant),
        "bp": float(minute.bid),
        "ap": float(minute.ask),
    }
    units = int(minute.day.volumes[minute.minute])
    if asset.is_crypto:
        coins = float(units * asset.volume_unit)
        return prices | {"bs": coins, "as": coins}
    lots = max(1, units // _LOTS)
    return prices | {"bs": lots, "as": lots, "bx": "N", "ax": "N", "c": ["R"], "z": "A"}


def trade_json(asset: Asset, minute: TapeMinute) -> Json:
    """Return the last trade of a minute; it numbers the trades of its day."""
    volumes = minute.day.volumes[: minute.minute + 1]
    prices = minute.day.prices[: minute.minute + 1]
    counts = trade_counts(prices, volumes, asset.volume_unit)
    units = int(volumes[-1]) // int(counts[-1])
    trade: Json = {
        "t": format_instant(minute.instant),
        "p": float(minute.price),
        "i": int(counts.sum()),
    }
    if asset.is_crypto:
        return trade | {"s": float(units * asset.volume_unit), "tks": "B"}
    return trade | {"s": max(1, units), "x": "N", "c": ["@"], "z": "A"}
