"""Market data through the unmodified alpaca-py: shapes, paging, and nothing later than now."""

from dataclasses import replace
from datetime import date

import pytest
from alpaca.common.exceptions import APIError
from alpaca.data.enums import DataFeed
from alpaca.data.requests import (
    CryptoBarsRequest,
    CryptoLatestQuoteRequest,
    CryptoSnapshotRequest,
    StockBarsRequest,
    StockLatestBarRequest,
    StockLatestQuoteRequest,
    StockLatestTradeRequest,
    StockSnapshotRequest,
)
from alpaca.data.timeframe import TimeFrame, TimeFrameUnit

from include.exchange.quotes import Spreads
from include.exchange.replay import replay_of
from include.exchange.sources import load_packaged_equities
from tests.exchange.conftest import SEED, a_venue, utc

STOCK_ROUTES = ["/bars", "/quotes/latest", "/trades/latest", "/bars/latest", "/snapshots"]
CRYPTO_ROUTES = ["/bars", "/latest/quotes", "/latest/trades", "/latest/bars", "/snapshots"]


def stock_bars(exchange, symbols, timeframe, start, end=None):
    """Bars as alpaca-py parses them."""
    asked = StockBarsRequest(
        symbol_or_symbols=symbols, timeframe=timeframe, start=start, end=end, feed=DataFeed.IEX
    )
    return exchange.stocks.get_stock_bars(asked).data


@pytest.mark.parametrize(
    ("timeframe", "n_bars", "first_hour"),
    [
        (TimeFrame(30, TimeFrameUnit.Minute), 13, (14, 30)),
        (TimeFrame.Minute, 390, (14, 30)),
        (TimeFrame(15, TimeFrameUnit.Minute), 26, (14, 30)),
        (TimeFrame.Hour, 7, (14, 0)),
        (TimeFrame.Day, 1, (5, 0)),
    ],
)
def test_every_timeframe_aggregates_to_the_day(exchange, timeframe, n_bars, first_hour):
    """Bars of a past session have the day's open, high, low, close and volume between them."""
    day = load_packaged_equities()["JPM"][date(2010, 3, 5)]
    bars = stock_bars(exchange, "JPM", timeframe, utc(2010, 3, 5), utc(2010, 3, 5, 23))["JPM"]
    assert len(bars) == n_bars
    assert (bars[0].timestamp.hour, bars[0].timestamp.minute) == first_hour
    assert (bars[0].open, bars[-1].close) == (day.open, day.close)
    assert (max(b.high for b in bars), min(b.low for b in bars)) == (day.high, day.low)
    assert sum(b.volume for b in bars) == day.volume


def test_weeks_and_months_hold_their_days(exchange):
    """A week starts on its Monday, a month on its first, and both sum their days."""
    days = stock_bars(exchange, "T", TimeFrame.Day, utc(2010, 2, 1), utc(2010, 2, 28))["T"]
    month = stock_bars(exchange, "T", TimeFrame.Month, utc(2010, 2, 1), utc(2010, 2, 28))["T"]
    weeks = stock_bars(exchange, "T", TimeFrame.Week, utc(2010, 2, 1), utc(2010, 2, 28))["T"]
    assert month[0].timestamp == utc(2010, 2, 1, 5)
    assert len(weeks) == 4
    assert sum(d.volume for d in days) == sum(w.volume for w in weeks) == month[0].volume


def test_crypto_day_is_a_utc_day_and_needs_no_keys(exchange):
    """A coin's daily bar starts at UTC midnight; the client sends no key at all."""
    asked = CryptoBarsRequest(
        symbol_or_symbols=["BTC/USD"], timeframe=TimeFrame.Day, start=utc(2010, 3, 6)
    )
    bars = exchange.crypto.get_crypto_bars(asked).data["BTC/USD"]
    assert [bar.timestamp for bar in bars] == [utc(2010, 3, day) for day in (6, 7, 8)]
    assert (
        bars[-1].close
        == exchange.crypto.get_crypto_snapshot(CryptoSnapshotRequest(symbol_or_symbols="BTC/USD"))[
            "BTC/USD"
        ].latest_trade.price
    )


def test_forming_bar_holds_what_has_happened(exchange):
    """Ten minutes into the session the day's bar is made of eleven minutes, the last one now."""
    exchange.step(minutes=10)
    minutes = stock_bars(exchange, "C", TimeFrame.Minute, utc(2010, 3, 8))["C"]
    day = stock_bars(exchange, "C", TimeFrame.Day, utc(2010, 3, 8))["C"][-1]
    assert len(minutes) == 11
    assert minutes[-1].timestamp == utc(2010, 3, 8, 14, 40)
    assert day.close == minutes[-1].close
    assert day.volume == sum(bar.volume for bar in minutes)


def test_latest_values_agree_with_one_another(exchange):
    """Quote, trade, bar and snapshot of one instant tell one story; the quote encloses it."""
    exchange.step(minutes=33)
    symbols = ["JPM", "XOM"]
    quotes = exchange.stocks.get_stock_latest_quote(
        StockLatestQuoteRequest(symbol_or_symbols=symbols)
    )
    trades = exchange.stocks.get_stock_latest_trade(
        StockLatestTradeRequest(symbol_or_symbols=symbols)
    )
    bars = exchange.stocks.get_stock_latest_bar(StockLatestBarRequest(symbol_or_symbols=symbols))
    shots = exchange.stocks.get_stock_snapshot(StockSnapshotRequest(symbol_or_symbols=symbols))
    for symbol in symbols:
        assert quotes[symbol].bid_price <= trades[symbol].price <= quotes[symbol].ask_price
        assert quotes[symbol].bid_price < quotes[symbol].ask_price
        assert bars[symbol].close == trades[symbol].price == shots[symbol].daily_bar.close
        assert shots[symbol].latest_quote == quotes[symbol]
        assert quotes[symbol].timestamp == utc(2010, 3, 8, 15, 3)
        assert shots[symbol].previous_daily_bar.timestamp == utc(2010, 3, 5, 5)
    quote = exchange.crypto.get_crypto_latest_quote(
        CryptoLatestQuoteRequest(symbol_or_symbols="ETH/USD")
    )["ETH/USD"]
    assert 0 < quote.bid_price < quote.ask_price


def test_quote_outside_hours_is_the_sessions_last(exchange):
    """At night the quote is that of 15:59, with its stamp."""
    exchange.step_to("2010-03-09T02:00:00Z")
    quote = exchange.stocks.get_stock_latest_quote(
        StockLatestQuoteRequest(symbol_or_symbols="JPM")
    )["JPM"]
    assert quote.timestamp == utc(2010, 3, 8, 20, 59)


@pytest.mark.parametrize("sort", ["asc", "desc"])
def test_pages_make_up_the_whole(exchange, sort):
    """Pages of seven bars over three symbols join to the one large page, symbol by symbol."""
    question = {
        "symbols": "XOM,JPM,ABSENT,BA",
        "timeframe": "1Hour",
        "start": "2010-03-03",
        "end": "2010-03-05T23:00:00Z",
        "sort": sort,
    }
    whole = exchange.get("/v2/stocks/bars", limit=10_000, **question).json()
    joined: dict[str, list[dict[str, str]]] = {}
    token = None
    while True:
        extra: dict[str, str] = {"page_token": token} if token else {}
        page = exchange.get("/v2/stocks/bars", limit=7, **question, **extra).json()
        assert sum(map(len, page["bars"].values())) <= 7
        for symbol, bars in page["bars"].items():
            joined.setdefault(symbol, []).extend(bars)
        token = page["next_page_token"]
        if token is None:
            break
    assert joined == whole["bars"]
    assert list(joined) == ["BA", "JPM", "XOM"]
    stamps = [bar["t"] for bar in joined["JPM"]]
    assert stamps == sorted(stamps, reverse=sort == "desc")
    assert len(stamps) == 21


def test_start_and_end_are_inclusive(exchange):
    """Bars that start exactly at either end are in."""
    bars = stock_bars(
        exchange, "GE", TimeFrame.Minute, utc(2010, 3, 5, 15, 0), utc(2010, 3, 5, 15, 2)
    )["GE"]
    assert [bar.timestamp.minute for bar in bars] == [0, 1, 2]


def test_span_without_bars_is_empty(exchange):
    """A closure has no bars, and alpaca-py makes an empty frame of the answer."""
    asked = StockBarsRequest(
        symbol_or_symbols="JPM",
        timeframe=TimeFrame.Day,
        start=utc(2009, 10, 29, 5),
        end=utc(2009, 10, 31),
    )
    assert exchange.stocks.get_stock_bars(asked).df.empty


@pytest.mark.parametrize(
    ("path", "params", "text"),
    [
        ("/v2/stocks/bars", {"timeframe": "1Day"}, "symbols is required"),
        ("/v2/stocks/bars", {"symbols": "JPM"}, "invalid timeframe"),
        ("/v2/stocks/bars", {"symbols": "JPM", "timeframe": "61Min"}, "invalid timeframe: 61Min"),
        ("/v2/stocks/bars", {"symbols": "BTC/USD", "timeframe": "1Day"}, "invalid symbol"),
        ("/v2/stocks/bars", {"symbols": "T", "timeframe": "1Day", "limit": 0}, "invalid limit"),
        ("/v2/stocks/bars", {"symbols": "T", "timeframe": "1Day", "start": "x"}, "invalid start"),
        ("/v2/stocks/bars", {"symbols": "T", "timeframe": "1Day", "sort": "up"}, "invalid sort"),
        (
            "/v2/stocks/bars",
            {"symbols": "T", "timeframe": "1Day", "page_token": "!"},
            "invalid page token",
        ),
        (
            "/v2/stocks/bars",
            {"symbols": "T", "timeframe": "1Day", "start": "2010-03-02", "end": "2010-03-01"},
            "end should not be before start",
        ),
        ("/v1beta3/crypto/us/latest/quotes", {"symbols": "JPM"}, "invalid symbol: JPM"),
    ],
)
def test_bad_question_is_refused_with_a_message(exchange, path, params, text):
    """Wrong parameters answer 400 or 422 and say what is wrong."""
    answer = exchange.get(path, **params)
    assert answer.status_code in (400, 422)
    assert text in answer.json()["message"]


def test_wrong_keys_are_unauthorised(exchange):
    """Trading, stock data and administration want the keys; alpaca-py sees a 401."""
    for path in ("/v2/account", "/v2/stocks/snapshots", "/admin/clock", "/admin/health"):
        answer = exchange.plain.get(exchange.url + path, timeout=10)
        assert (answer.status_code, answer.json()) == (401, {"message": "unauthorized."})
    wrong = exchange.plain.get(
        exchange.url + "/v2/account",
        headers={"APCA-API-KEY-ID": "PKTESTKEY", "APCA-API-SECRET-KEY": "é".encode()},
        timeout=10,
    )
    assert wrong.status_code == 401
    exchange.trading._secret_key = "another"
    with pytest.raises(APIError, match="unauthorized"):
        exchange.trading.get_account()


@pytest.fixture(scope="module")
def other_future():
    """The replay whose equities are ten times as dear from 9 March 2010 on."""
    changed = {
        symbol: {
            day: bar
            if day < date(2010, 3, 9)
            else replace(
                bar,
                open=bar.open * 10,
                high=bar.high * 10,
                low=bar.low * 10,
                close=bar.close * 10,
            )
            for day, bar in bars.items()
        }
        for symbol, bars in load_packaged_equities().items()
    }
    return replay_of(changed, seed=SEED, spreads=Spreads())


@pytest.mark.parametrize("stamp", ["2010-03-08T14:30:00Z", "2010-03-08T17:45:30Z"])
@pytest.mark.parametrize("route", STOCK_ROUTES)
def test_no_route_tells_of_later_days(exchange, replay, other_future, route, stamp):
    """Two replays that differ only after now answer alike, byte by byte."""
    answers = []
    for one in (replay, other_future):
        exchange.serve(a_venue(one))
        exchange.step_to(stamp)
        for timeframe in ("1Min", "1Hour", "1Day", "1Week", "1Month"):
            question = {"symbols": "JPM,T", "timeframe": timeframe, "end": "2010-08-01"}
            answer = exchange.get("/v2/stocks" + route, start="2010-03-01", **question)
            assert answer.status_code == 200
            answers.append(answer.content)
    assert answers[:5] == answers[5:]


@pytest.mark.parametrize(
    "route",
    [
        *(f"/v2/stocks{r}" for r in STOCK_ROUTES),
        *(f"/v1beta3/crypto/us{r}" for r in CRYPTO_ROUTES),
    ],
)
def test_no_stamp_is_later_than_now(exchange, route):
    """Asked for everything up to the replay's end, no route has a stamp after the clock's."""
    exchange.step_to("2010-03-08T17:45:30Z")
    symbols = "BTC/USD,UNI/USD" if "crypto" in route else "JPM,T"
    answer = exchange.get(
        route,
        symbols=symbols,
        timeframe="1Min",
        start="2010-03-08",
        end="2010-08-20",
        limit=10_000,
    )
    stamps = _stamps(answer.json())
    assert stamps
    assert max(stamps) <= "2010-03-08T17:45:00Z"


def test_what_was_seen_within_a_day_stays_so(exchange):
    """Minute bars seen at noon are the same when asked for after the close."""
    question = {"symbols": "JPM", "timeframe": "1Min", "start": "2010-03-08"}
    exchange.step_to("2010-03-08T17:00:00Z")
    noon = exchange.get("/v2/stocks/bars", **question).json()["bars"]["JPM"]
    exchange.step_to("2010-03-08T22:00:00Z")
    evening = exchange.get("/v2/stocks/bars", **question).json()["bars"]["JPM"]
    assert evening[: len(noon)] == noon
    assert len(evening) == 390


def _stamps(value):
    if isinstance(value, dict):
        own = [value["t"]] if isinstance(value.get("t"), str) else []
        return own + [stamp for part in value.values() for stamp in _stamps(part)]
    if isinstance(value, list):
        return [stamp for part in value for stamp in _stamps(part)]
    return []
