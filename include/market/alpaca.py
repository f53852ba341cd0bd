"""Alpaca's market data as `BarSource` and `QuoteSource`, over the unmodified alpaca-py clients.

Raw answers only: the SDK's models break on values that they don't know. Pages are followed here,
because the SDK merges in memory and loses all of them when one fails. Facts of the wire: section
9 of the Alpaca reference. Which bars count is decided in `market.regular_hours` and `.quality`.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
from alpaca.common.rest import RESTClient
from alpaca.data.historical.crypto import CryptoHistoricalDataClient
from alpaca.data.historical.stock import StockHistoricalDataClient

from include.domain.bars import BarSeries, Timeframe, empty_series
from include.domain.instants import epoch_seconds, require_utc
from include.domain.instruments import AssetClass, asset_class_of
from include.domain.quotes import Quote
from include.errors import MalformedBars, MarketDataUnavailable
from include.market.transport import BoundedAdapter, ask, bound_client

BARS_A_PAGE = 10_000  # the service's maximum, a total over the symbols of a call
SYMBOLS_A_CALL = 100  # keeps the URL short
MAX_PAGES = 1_000  # ten million bars: beyond it the token does not end
STOCK_BARS, STOCK_QUOTES = "/stocks/bars", "/stocks/quotes/latest"
CRYPTO_BARS, CRYPTO_QUOTES = "/crypto/us/bars", "/crypto/us/latest/quotes"


@dataclass(kw_only=True, eq=False)
class AlpacaMarketData:
    """Bars and quotes of Alpaca; equities are split-adjusted and of one feed.

    `pause` waits that many seconds between tries. One instance per process: the underlying
    sessions are not safe to share between threads.
    """

    key_id: str = field(repr=False)
    secret_key: str = field(repr=False)
    data_url: str
    feed: str
    connect_timeout_seconds: float
    read_timeout_seconds: float
    pause: Callable[[float], None] = time.sleep
    _stocks: RESTClient = field(init=False, repr=False)
    _crypto: RESTClient = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Build both clients; no call is made."""
        url = self.data_url.rstrip("/")
        self._stocks = StockHistoricalDataClient(
            self.key_id, self.secret_key, raw_data=True, url_override=url
        )
        self._crypto = CryptoHistoricalDataClient(
            self.key_id, self.secret_key, raw_data=True, url_override=url
        )
        for client in (self._stocks, self._crypto):
            adapter = BoundedAdapter(
                connect_seconds=self.connect_timeout_seconds,
                read_seconds=self.read_timeout_seconds,
            )
            bound_client(client, url, adapter)

    def fetch_bars(
        self, symbols: Sequence[str], timeframe: Timeframe, start: datetime, end: datetime
    ) -> dict[str, BarSeries]:
        """Return the bars that start in [start, end), one series for every symbol asked for.

        Ends are start + timeframe. Amount is volume x vwap, or volume x mean of open, high, low
        and close where the service gives no vwap. A number that is absent or unreadable is NaN,
        so that the data gate refuses its symbol alone. A daily equity bar starts at midnight in
        New York until `regular_bars` has given it its session. The forming bar may be included.
        """
        window = {
            "timeframe": timeframe.value,
            "start": _rfc3339(start, name="start"),
            "end": _rfc3339(end, name="end"),
            "limit": str(BARS_A_PAGE),
            "sort": "asc",
        }
        equity_only = {"adjustment": "split", "feed": self.feed}
        series = {symbol: empty_series(symbol, timeframe) for symbol in symbols}
        for client, path, members in self._routes(symbols, STOCK_BARS, CRYPTO_BARS):
            params = window if client is self._crypto else window | equity_only
            rows = self._paged_bars(client, path, members, params)
            for symbol in members:
                found = parse_bars(symbol, timeframe, rows.get(symbol, []))
                series[symbol] = found.between(start, end)
        return series

    def latest_quotes(self, symbols: Sequence[str]) -> dict[str, Quote]:
        """Return the newest quote of each symbol that has a readable one, in the order asked."""
        found: dict[str, Quote] = {}
        for client, path, members in self._routes(symbols, STOCK_QUOTES, CRYPTO_QUOTES):
            params = {"symbols": ",".join(members)}
            if client is self._stocks:
                params["feed"] = self.feed
            asked = f"latest quotes of {_shown(members)}"
            answer = ask(client, path, params, asked=asked, pause=self.pause)
            raw_quotes = _mapping(answer.get("quotes"), asked=asked)
            quotes = {symbol: parse_quote(symbol, raw_quotes.get(symbol)) for symbol in members}
            found |= {symbol: quote for symbol, quote in quotes.items() if quote is not None}
        return {symbol: found[symbol] for symbol in symbols if symbol in found}

    def _routes(
        self, symbols: Sequence[str], stock_path: str, crypto_path: str
    ) -> list[tuple[RESTClient, str, list[str]]]:
        """Split symbols by class and into calls of a fair length."""
        is_crypto = {symbol: asset_class_of(symbol) is AssetClass.CRYPTO for symbol in symbols}
        classes = (
            (self._stocks, stock_path, [symbol for symbol in symbols if not is_crypto[symbol]]),
            (self._crypto, crypto_path, [symbol for symbol in symbols if is_crypto[symbol]]),
        )
        return [
            (client, path, members[first : first + SYMBOLS_A_CALL])
            for client, path, members in classes
            for first in range(0, len(members), SYMBOLS_A_CALL)
        ]

    def _paged_bars(
        self, client: RESTClient, path: str, symbols: Sequence[str], params: Mapping[str, str]
    ) -> dict[str, list[Any]]:
        """Return the raw bars of all pages by symbol; a token that repeats ends in an error."""
        asked = f"{params['timeframe']} bars of {_shown(symbols)} from {params['start']}"
        rows: dict[str, list[Any]] = {}
        page = {**params, "symbols": ",".join(symbols)}
        tokens: set[str] = set()
        while len(tokens) < MAX_PAGES:
            answer = ask(client, path, page, asked=asked, pause=self.pause)
            for symbol, bars in _mapping(answer.get("bars"), asked=asked).items():
                rows.setdefault(symbol, []).extend(bars or [])
            token = answer.get("next_page_token")
            if not token:
                return rows
            if token in tokens:
                raise MarketDataUnavailable(asked=asked, found=f"the page token {token} twice")
            tokens.add(token)
            page["page_token"] = token
        raise MarketDataUnavailable(asked=asked, found=f"more than {MAX_PAGES} pages")


def parse_bars(symbol: str, timeframe: Timeframe, rows: Sequence[Mapping[str, Any]]) -> BarSeries:
    """Return raw bars as a series in the order given; numbers that are no numbers become NaN.

    Raise MalformedBars where a bar is no object or has no readable start.
    """
    starts = np.array([_start(symbol, row) for row in rows], dtype=np.int64)
    prices = np.array(
        [[_number(row.get(name)) for name in ("o", "h", "l", "c", "v", "vw")] for row in rows],
        dtype=np.float64,
    ).reshape(-1, 6)
    mean = prices[:, :4].mean(axis=1)
    vwap = np.where(prices[:, 5] > 0, prices[:, 5], mean)
    return BarSeries(
        symbol=symbol,
        timeframe=timeframe,
        starts=starts,
        ends=starts + int(timeframe.duration.total_seconds()),
        values=np.column_stack([prices[:, :5], prices[:, 4] * vwap]),
    )


def parse_quote(symbol: str, raw: object) -> Quote | None:
    """Return a raw quote as a value; None where it is absent or its stamp can't be read.

    A side that is absent is NaN, which the data gate refuses.
    """
    if not isinstance(raw, Mapping):
        return None
    try:
        at = require_utc(datetime.fromisoformat(raw["t"]), name="quote stamp")
    except (KeyError, TypeError, ValueError):
        return None
    return Quote(symbol=symbol, bid=_number(raw.get("bp")), ask=_number(raw.get("ap")), at=at)


def _start(symbol: str, row: Mapping[str, Any]) -> int:
    try:
        return epoch_seconds(datetime.fromisoformat(row["t"]))
    except (KeyError, TypeError, ValueError) as error:
        fault = f"a bar without a readable start ({type(error).__name__})"
        raise MalformedBars(symbol=symbol, fault=fault, at=str(row)[:120]) from error


def _number(value: object) -> float:
    try:
        return float(value) if isinstance(value, int | float | str) else math.nan
    except ValueError:
        return math.nan


def _mapping(value: object, *, asked: str) -> Mapping[str, Any]:
    """Return the value, nothing for null; what is neither can't be an answer."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise MarketDataUnavailable(asked=asked, found=f"a {type(value).__name__} of symbols")
    return value


def _rfc3339(instant: datetime, *, name: str) -> str:
    return require_utc(instant, name=name).astimezone(UTC).isoformat().replace("+00:00", "Z")


def _shown(symbols: Sequence[str]) -> str:
    rest = len(symbols) - 3
    return ", ".join(symbols[:3]) + (f" and {rest} more" if rest > 0 else "")
