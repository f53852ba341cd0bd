"""The market-data adapter against a scripted server that sets every trap of the wire."""

from datetime import UTC, datetime

import numpy as np
import pytest

from include.domain.bars import AMOUNT, Timeframe
from include.errors import MalformedBars, MarketDataRefused, MarketDataUnavailable
from include.market.alpaca import AlpacaMarketData, parse_bars, parse_quote
from tests.support.scripted_server import Reply, ScriptedServer, scripted_server

START, END = datetime(2026, 11, 20, 14, 30, tzinfo=UTC), datetime(2026, 11, 20, 21, tzinfo=UTC)
STOCKS, CRYPTO = "GET /v2/stocks/bars", "GET /v1beta3/crypto/us/bars"


@pytest.fixture
def server():
    """A server of its own for each test."""
    with scripted_server() as running:
        yield running


def a_source(server: ScriptedServer, waits: list[float] | None = None, read_seconds: float = 5.0):
    """Return the adapter pointed at the server, its waits recorded."""
    waits = waits if waits is not None else []
    return AlpacaMarketData(
        key_id="key",
        secret_key="secret",
        data_url=server.url,
        feed="iex",
        connect_timeout_seconds=1.0,
        read_timeout_seconds=read_seconds,
        pause=waits.append,
    )


def a_bar(minute: int = 30, **changes: object) -> dict[str, object]:
    """Return a raw bar of 2026-11-20; keywords override."""
    stamp = f"2026-11-20T14:{minute:02d}:00Z"
    return {"t": stamp, "o": 10, "h": 12, "l": 9, "c": 11, "v": 100, "n": 7, "vw": 10.8} | changes


def a_page(token: str | None = None, **bars: object) -> Reply:
    """Return one page of raw bars."""
    return Reply(body={"bars": bars, "next_page_token": token})


def test_splits_classes_and_asks_for_split_adjusted_bars_of_the_feed(server):
    """Equities and pairs go to their own routes, with the keys, and only equities name a feed."""
    server.script(STOCKS, a_page(AAPL=[a_bar()]))
    server.script(CRYPTO, Reply(body={"bars": {"BTC/USD": [a_bar()]}, "next_page_token": None}))
    symbols = ["AAPL", "BTC/USD"]
    found = a_source(server).fetch_bars(symbols, Timeframe.MINUTE_30, START, END)
    stocks, crypto = server.seen
    assert [len(found[symbol]) for symbol in symbols] == [1, 1]
    assert stocks.query == {
        "symbols": "AAPL",
        "timeframe": "30Min",
        "start": "2026-11-20T14:30:00Z",
        "end": "2026-11-20T21:00:00Z",
        "limit": "10000",
        "sort": "asc",
        "adjustment": "split",
        "feed": "iex",
    }
    assert stocks.headers["APCA-API-KEY-ID"] == "key"
    assert crypto.query["symbols"] == "BTC/USD"
    assert "feed" not in crypto.query
    assert "adjustment" not in crypto.query


def test_follows_pages_and_joins_them(server):
    """Pages are followed by their token until it is null."""
    server.script(
        STOCKS,
        a_page("p2", AAPL=[a_bar(30)]),
        a_page("p3"),
        a_page(None, AAPL=[a_bar(45)], MSFT=[a_bar(30)]),
    )
    found = a_source(server).fetch_bars(["AAPL", "MSFT"], Timeframe.MINUTE_15, START, END)
    assert (len(found["AAPL"]), len(found["MSFT"])) == (2, 1)
    assert [seen.query.get("page_token") for seen in server.seen] == [None, "p2", "p3"]


def test_stops_at_a_token_that_repeats(server):
    """A token loop ends in an error rather than never."""
    server.script(STOCKS, a_page("again", AAPL=[a_bar()]))
    with pytest.raises(MarketDataUnavailable, match="page token again twice"):
        a_source(server).fetch_bars(["AAPL"], Timeframe.MINUTE_30, START, END)


def test_gives_an_empty_series_for_a_symbol_without_bars(server):
    """A symbol that the answer lacks, or a null of bars, is an empty series."""
    server.script(STOCKS, Reply(body={"bars": None, "next_page_token": None}))
    found = a_source(server).fetch_bars(["AAPL"], Timeframe.MINUTE_30, START, END)
    assert len(found["AAPL"]) == 0
    assert found["AAPL"].values.shape == (0, 6)


def test_leaves_out_bars_outside_the_half_open_range(server):
    """The service's inclusive end is made exclusive."""
    late = a_bar(t="2026-11-20T21:00:00Z")
    server.script(STOCKS, a_page(AAPL=[a_bar(), late]))
    found = a_source(server).fetch_bars(["AAPL"], Timeframe.MINUTE_30, START, END)
    assert len(found["AAPL"]) == 1


def test_asks_for_many_symbols_in_calls_of_fair_length(server):
    """No call names more than a hundred symbols."""
    server.script(STOCKS, a_page())
    symbols = [f"S{index}" for index in range(250)]
    found = a_source(server).fetch_bars(symbols, Timeframe.MINUTE_30, START, END)
    assert [seen.query["symbols"].count(",") + 1 for seen in server.seen] == [100, 100, 50]
    assert list(found) == symbols


@pytest.mark.parametrize(
    "trap",
    [
        Reply(status=429, body={"message": "too many requests."}),
        Reply(status=504, text=""),
        Reply(status=502, text="<html>bad gateway</html>"),
        Reply(status=200, text="<html>hello</html>"),
        Reply(status=200, text=""),
        Reply(status=200, body=[1]),
        Reply(status=302, text="", headers={"Location": "/elsewhere"}),
        Reply(hangs_up=True),
        Reply(body={"bars": {}}, claims_more=True),
    ],
    ids=["429", "504", "html502", "html200", "empty200", "list", "redirect", "reset", "half"],
)
def test_asks_twice_more_with_growing_waits_then_says_unavailable(server, trap):
    """Whatever may pass is asked three times in all, waits growing, then is transient."""
    waits: list[float] = []
    server.script(STOCKS, trap)
    with pytest.raises(MarketDataUnavailable, match="30Min bars of AAPL"):
        a_source(server, waits).fetch_bars(["AAPL"], Timeframe.MINUTE_30, START, END)
    assert server.count(STOCKS) == 3
    assert waits == sorted(waits)
    assert len(set(waits)) == 2


def test_recovers_in_the_middle_of_the_pages(server):
    """A 429 on the second page loses nothing of the first."""
    limited = Reply(status=429, body={"message": "too many requests."})
    pages = a_page("p2", AAPL=[a_bar(30)]), limited, a_page(None, AAPL=[a_bar(45)])
    server.script(STOCKS, *pages)
    found = a_source(server).fetch_bars(["AAPL"], Timeframe.MINUTE_15, START, END)
    assert len(found["AAPL"]) == 2


@pytest.mark.parametrize("status", [401, 403, 404, 422])
def test_a_definite_no_is_permanent_and_not_repeated(server, status):
    """A 4xx other than a rate limit is refused at once with the service's words."""
    body = {"message": "subscription does not permit querying recent SIP data"}
    server.script(STOCKS, Reply(status=status, body=body))
    with pytest.raises(MarketDataRefused, match=f"{status}.*recent SIP"):
        a_source(server).fetch_bars(["AAPL"], Timeframe.MINUTE_30, START, END)
    assert server.count(STOCKS) == 1


def test_a_mute_server_ends_in_the_read_timeout(server):
    """A server that never answers is given up after the read timeout."""
    server.script(STOCKS, Reply(stays_mute=True))
    with pytest.raises(MarketDataUnavailable, match="ReadTimeout"):
        a_source(server, read_seconds=0.1).fetch_bars(["AAPL"], Timeframe.MINUTE_30, START, END)


def test_the_clients_own_repeating_is_off(server):
    """The private switch of alpaca-py that stops it from repeating is where we think it is."""
    source = a_source(server)
    assert [client._retry for client in (source._stocks, source._crypto)] == [0, 0]


def test_does_not_show_the_keys(server):
    """Neither key nor secret is in the repr."""
    assert "secret" not in repr(a_source(server)).replace("secret_key", "")


def test_amount_is_volume_times_vwap_or_the_mean_price():
    """Amount uses the service's vwap, and the mean of the four prices where there is none."""
    rows = [a_bar(), a_bar(45, vw=None), a_bar(46, vw=0)]
    amounts = parse_bars("AAPL", Timeframe.MINUTE_1, rows).column(AMOUNT)
    np.testing.assert_allclose(amounts, [1080.0, 1050.0, 1050.0])


def test_ends_are_starts_plus_timeframe():
    """A bar's stamp is its start."""
    series = parse_bars("BTC/USD", Timeframe.HOUR, [a_bar(0)])
    assert series.ends[0] - series.starts[0] == 3600


def test_numbers_that_are_no_numbers_become_nan():
    """A null or a word among the numbers is NaN, so that the gate refuses this symbol alone."""
    series = parse_bars("AAPL", Timeframe.MINUTE_1, [a_bar(o=None), a_bar(31, h="n/a")])
    assert np.isnan(series.values[0, 0])
    assert np.isnan(series.values[1, 1])


@pytest.mark.parametrize("row", [{}, {"t": 5}, {"t": "yesterday"}, {"t": "2026-11-20T14:30"}, 7])
def test_a_bar_without_a_readable_start_is_malformed(row):
    """A bar whose start can't be read is an error that names the symbol."""
    with pytest.raises(MalformedBars, match="Bars of AAPL"):
        parse_bars("AAPL", Timeframe.MINUTE_1, [row])


def test_reads_latest_quotes_of_both_classes_in_the_order_asked(server):
    """Quotes come from both routes; a symbol without one is absent."""
    quote = {"t": "2026-11-20T15:00:00.123456789Z", "bp": 99.5, "bs": 1, "ap": 100.5, "as": 2}
    server.script("GET /v2/stocks/quotes/latest", Reply(body={"quotes": {"AAPL": quote}}))
    crypto = Reply(body={"quotes": {"BTC/USD": quote}})
    server.script("GET /v1beta3/crypto/us/latest/quotes", crypto)
    found = a_source(server).latest_quotes(["BTC/USD", "AAPL", "MSFT"])
    assert list(found) == ["BTC/USD", "AAPL"]
    assert found["AAPL"].mid == pytest.approx(100.0)
    assert found["AAPL"].at == datetime(2026, 11, 20, 15, 0, 0, 123456, tzinfo=UTC)
    assert server.seen[0].query == {"symbols": "AAPL,MSFT", "feed": "iex"}


@pytest.mark.parametrize("raw", [None, {}, {"t": "soon", "bp": 1, "ap": 2}, [], {"t": None}])
def test_an_unreadable_quote_is_none(raw):
    """A quote that is absent or has no readable stamp is none."""
    assert parse_quote("AAPL", raw) is None


def test_answers_depend_on_the_symbols_asked_alone(server):
    """Bars of a symbol that nobody asked for are ignored."""
    server.script(STOCKS, a_page(AAPL=[a_bar()], XYZ=[a_bar()]))
    found = a_source(server).fetch_bars(["AAPL"], Timeframe.MINUTE_30, START, END)
    assert list(found) == ["AAPL"]
