"""The paper account's adapter against a scripted server that sets every trap of the wire."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial

import pytest

from include.broker.alpaca import AlpacaBroker
from include.domain.orders import Side, TimeInForce
from include.errors import (
    BrokerRefused,
    BrokerUnavailable,
    LiveTradingForbidden,
    OrderRejected,
    OrderStateUnknown,
)
from tests.support.fakes_broker import an_intent
from tests.support.scripted_server import Reply, ScriptedServer, Seen, scripted_server

POST, LOOKUP = "POST /v2/orders", "GET /v2/orders:by_client_order_id"
ORDERS, ACCOUNT = "GET /v2/orders", "GET /v2/account"
PAPER = "https://paper-api.alpaca.markets"
ABSENT = Reply(status=404, body={"code": 40410000, "message": "order not found"})
DUPLICATE = Reply(status=422, body={"code": 40010001, "message": "client_order_id must be unique"})
TRAPS_THAT_SETTLE_NOTHING = {
    "504": Reply(status=504, text=""),
    "503": Reply(status=503, body={"code": 50310000, "message": "try later"}),
    "html502": Reply(status=502, text="<html>bad gateway</html>"),
    "429 without code": Reply(status=429, body={"message": "too many requests."}),
    "408": Reply(status=408, text=""),
    "empty200": Reply(status=200, text=""),
    "html200": Reply(status=200, text="<html>hello</html>"),
    "list": Reply(status=200, body=[]),
    "no order": Reply(status=200, body={"status": "fine"}),
    "redirect": Reply(status=302, text="", headers={"Location": "/v2/elsewhere"}),
    "reset": Reply(hangs_up=True),
    "half": Reply(body={"id": "1"}, claims_more=True),
    "html403": Reply(status=403, text="<html>forbidden</html>"),
}


@pytest.fixture
def server():
    """A server of its own for each test."""
    with scripted_server() as running:
        yield running


def a_broker(server: ScriptedServer, waits: list[float] | None = None, read_seconds: float = 5.0):
    """Return the adapter pointed at the server, its waits recorded."""
    return AlpacaBroker(
        key_id="PKTEST",
        secret_key="secret",
        trading_url=server.url,
        connect_timeout_seconds=1.0,
        read_timeout_seconds=read_seconds,
        pause=(waits if waits is not None else []).append,
    )


def a_raw_order(number: int = 1, **changes: object) -> dict[str, object]:
    """Return an order as the venue writes it; keywords override."""
    stamp = datetime(2026, 11, 20, 15, tzinfo=UTC) + timedelta(seconds=number)
    raw = {
        "id": f"venue-{number}",
        "client_order_id": f"client-{number}",
        "created_at": f"{stamp:%Y-%m-%dT%H:%M:%S}.123456789Z",
        "submitted_at": f"{stamp:%Y-%m-%dT%H:%M:%S}.123456789Z",
        "updated_at": f"{stamp:%Y-%m-%dT%H:%M:%S}.987654321Z",
        "symbol": "AAPL",
        "asset_class": "us_equity",
        "qty": "10",
        "filled_qty": "0",
        "filled_avg_price": None,
        "order_class": "",
        "type": "limit",
        "side": "buy",
        "time_in_force": "day",
        "limit_price": "99",
        "status": "new",
        "field_of_next_year": {"anything": 1},
    }
    return raw | changes


def echo_order(seen: Seen) -> Reply:
    """Accept the order that came."""
    body = seen.body
    return Reply(
        body=a_raw_order(
            client_order_id=body["client_order_id"],
            qty=body["qty"],
            limit_price=body.get("limit_price"),
            status="pending_new",
        )
    )


def test_sends_an_order_exactly_as_decided(server):
    """Every field goes out once, decimals as exact text, and the venue's order comes back."""
    server.script(POST, echo_order)
    intent = an_intent(
        symbol="BTC/USD",
        quantity=Decimal("0.000000120"),
        limit_price=Decimal("101.10"),
        time_in_force=TimeInForce.GTC,
    )
    order = a_broker(server).submit(intent)
    assert server.seen[0].body == {
        "symbol": "BTC/USD",
        "qty": "0.000000120",
        "side": "buy",
        "type": "limit",
        "time_in_force": "gtc",
        "client_order_id": intent.client_order_id,
        "limit_price": "101.10",
    }
    assert order.venue_order_id == "venue-1"
    assert order.quantity == Decimal("0.000000120")
    assert server.seen[0].headers["APCA-API-KEY-ID"] == "PKTEST"


def test_sends_a_market_order_without_a_price(server):
    """No limit price makes a market order."""
    server.script(POST, echo_order)
    a_broker(server).submit(an_intent(limit_price=None))
    assert server.seen[0].body["type"] == "market"
    assert "limit_price" not in server.seen[0].body


@pytest.mark.parametrize("trap", TRAPS_THAT_SETTLE_NOTHING)
def test_an_answer_that_settles_nothing_is_unknown_and_the_order_is_sent_once(server, trap):
    """Whatever is no definite answer makes the state unknown; the POST is never repeated."""
    server.script(POST, TRAPS_THAT_SETTLE_NOTHING[trap])
    with pytest.raises(OrderStateUnknown, match="whether the venue has it is unknown"):
        a_broker(server).submit(an_intent())
    assert server.count(POST) == 1


def test_a_504_after_acceptance_is_found_by_its_client_id(server):
    """The order of a lost answer is there when asked for by id, and was sent once."""
    accepted: list[dict[str, object]] = []

    def accept_and_lose(seen: Seen) -> Reply:
        accepted.append(a_raw_order(client_order_id=seen.body["client_order_id"]))
        return Reply(status=504, text="")

    server.script(POST, accept_and_lose)
    server.script(LOOKUP, lambda seen: Reply(body=accepted[0]))
    broker, intent = a_broker(server), an_intent()
    with pytest.raises(OrderStateUnknown):
        broker.submit(intent)
    found = broker.order_by_client_id(intent.client_order_id)
    assert found is not None
    assert found.client_order_id == intent.client_order_id
    assert server.count(POST) == 1


def test_a_mute_venue_ends_in_the_read_timeout_as_unknown(server):
    """A venue that never answers an order leaves its state unknown after the timeout."""
    server.script(POST, Reply(stays_mute=True))
    with pytest.raises(OrderStateUnknown, match="ReadTimeout"):
        a_broker(server, read_seconds=0.2).submit(an_intent())
    assert server.count(POST) == 1


def test_a_venue_that_is_not_there_leaves_the_state_unknown():
    """Even a refused connection is unknown: it is looked up, not guessed."""
    with scripted_server() as gone:
        broker = a_broker(gone)
    with pytest.raises(OrderStateUnknown, match="ConnectionError"):
        broker.submit(an_intent())


def test_adopts_the_order_whose_id_is_taken(server):
    """422 'must be unique' is success: the order of that id is returned."""
    server.script(POST, DUPLICATE)
    server.script(LOOKUP, Reply(body=a_raw_order(7, client_order_id="mine")))
    order = a_broker(server).submit(an_intent(client_order_id="mine"))
    assert order.venue_order_id == "venue-7"
    assert server.seen[-1].query == {"client_order_id": "mine"}


@pytest.mark.parametrize("lookup", [ABSENT, Reply(status=500, text=""), Reply(hangs_up=True)])
def test_a_taken_id_that_cannot_be_looked_up_yet_is_unknown(server, lookup):
    """A read that lags behind the duplicate leaves the state unknown, not rejected."""
    server.script(POST, DUPLICATE)
    server.script(LOOKUP, lookup)
    with pytest.raises(OrderStateUnknown, match="looked up by this id"):
        a_broker(server).submit(an_intent())
    assert server.count(POST) == 1


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (403, {"code": 40310000, "message": "insufficient buying power"}, 40310000),
        (422, {"code": 42210000, "message": "sub-penny increment"}, 42210000),
        (422, {"code": 40010001, "message": "qty must be > 0"}, 40010001),
        (401, {"message": "unauthorized."}, None),
        (404, {"code": "text", "message": "asset not found"}, None),
    ],
)
def test_a_definite_no_is_a_rejection_in_the_venues_words(server, status, body, code):
    """A 4xx with the venue's own body rejects the order, with or without a code."""
    server.script(POST, Reply(status=status, body=body))
    with pytest.raises(OrderRejected, match=body["message"].replace(".", r"\.")) as rejection:
        a_broker(server).submit(an_intent())
    assert (rejection.value.status, rejection.value.code) == (status, code)
    assert server.count(POST) == 1


@pytest.mark.parametrize(
    "url",
    [
        "https://api.alpaca.markets",
        "http://paper-api.alpaca.markets",
        "https://paper-api.alpaca.markets.evil.example",
        "https://paper-api.alpaca.markets@api.alpaca.markets",
        "https://api.alpaca.markets/https://paper-api.alpaca.markets",
        "https://paper-api.alpaca.markets:8443",
        "http://192.168.0.1:8000",
        "ftp://paper-api.alpaca.markets",
        "",
    ],
)
def test_refuses_any_address_but_paper_and_loopback_before_a_call(url):
    """Building the adapter with another address raises; there is nothing to call then."""
    with pytest.raises(LiveTradingForbidden, match="only Alpaca's paper service"):
        AlpacaBroker(
            key_id="PKTEST",
            secret_key="secret",
            trading_url=url,
            connect_timeout_seconds=1.0,
            read_timeout_seconds=1.0,
        )


def test_refuses_a_live_key_at_the_paper_service():
    """A key that does not look like a paper key is refused, and not shown."""
    with pytest.raises(LiveTradingForbidden, match=r"key id was AK\.\.\.;"):
        AlpacaBroker(
            key_id="AKLIVE123",
            secret_key="secret",
            trading_url=PAPER,
            connect_timeout_seconds=1.0,
            read_timeout_seconds=1.0,
        )


def test_accepts_the_paper_service_with_a_paper_key():
    """The paper host over https with a PK key is built, without a call."""
    broker = AlpacaBroker(
        key_id="PKTEST",
        secret_key="hidden-away",
        trading_url=f"{PAPER}/",
        connect_timeout_seconds=1.0,
        read_timeout_seconds=1.0,
    )
    assert broker._client._base_url == PAPER
    assert "hidden-away" not in repr(broker)


def test_the_clients_own_repeating_is_off(server):
    """The private switch of alpaca-py that stops it from repeating is where we think it is."""
    assert a_broker(server)._client._retry == 0


@pytest.mark.parametrize("trap", [name for name in TRAPS_THAT_SETTLE_NOTHING if name != "html403"])
def test_a_question_is_asked_three_times_then_unavailable(server, trap):
    """A GET is repeated twice with growing waits, then is transient."""
    waits: list[float] = []
    server.script(ACCOUNT, TRAPS_THAT_SETTLE_NOTHING[trap])
    with pytest.raises(BrokerUnavailable, match="asked for the account"):
        a_broker(server, waits).account()
    is_read = trap in ("list", "no order")
    assert server.count(ACCOUNT) == (1 if is_read else 3)
    assert waits == ([] if is_read else sorted(set(waits)))


def test_a_question_refused_is_permanent(server):
    """A 401 without a code says so in the venue's words, at once."""
    server.script(ACCOUNT, Reply(status=401, body={"message": "unauthorized."}))
    with pytest.raises(BrokerRefused, match=r"401.*unauthorized"):
        a_broker(server).account()
    assert server.count(ACCOUNT) == 1


def test_an_order_that_the_venue_has_not_is_none(server):
    """404 with the venue's code is an answer."""
    server.script(LOOKUP, ABSENT)
    assert a_broker(server).order_by_client_id("nobody's") is None


@pytest.mark.parametrize("page", ["<html>not here</html>", '{"message": "no such route"}'])
def test_a_404_without_the_venues_code_is_not_an_absent_order(server, page):
    """A proxy's 404 must never be read as 'not sent'."""
    server.script(LOOKUP, Reply(status=404, text=page))
    with pytest.raises(BrokerRefused, match="404"):
        a_broker(server).order_by_client_id("mine")


@pytest.mark.parametrize(
    ("reply", "is_ending"),
    [
        (Reply(status=204), True),
        (Reply(status=422, body={"code": 42210000, "message": "not cancelable"}), False),
        (ABSENT, False),
    ],
)
def test_cancel_tells_whether_the_order_is_ending(server, reply, is_ending):
    """204 is asked, 422 and 404 are too late."""
    server.script("DELETE /v2/orders/venue-1", reply)
    assert a_broker(server).cancel("venue-1") is is_ending


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=504, text=""),
        Reply(status=302, text="", headers={"Location": "/"}),
        Reply(hangs_up=True),
        Reply(status=429, body={"message": "too many requests."}),
    ],
)
def test_cancel_without_an_answer_is_unavailable_and_asked_once(server, reply):
    """A redirect, which alpaca-py reports as success, is none."""
    route = "DELETE /v2/orders/venue-1"
    server.script(route, reply)
    with pytest.raises(BrokerUnavailable, match="the end of order venue-1"):
        a_broker(server).cancel("venue-1")
    assert server.count(route) == 1


def test_cancel_of_a_page_that_is_not_the_venues_is_refused(server):
    """An HTML 404 says nothing of the order."""
    server.script("DELETE /v2/orders/venue-1", Reply(status=404, text="<html></html>"))
    with pytest.raises(BrokerRefused, match="404"):
        a_broker(server).cancel("venue-1")


def test_follows_pages_of_orders_without_loss_or_repeat(server):
    """Each page begins just before the last order's stamp, and repeats are dropped."""
    raws = [a_raw_order(number) for number in range(1, 1151)]
    server.script(ORDERS, partial(_page_of, raws))
    after = datetime(2026, 11, 20, 14, tzinfo=UTC)
    orders = a_broker(server).orders_since(after)
    assert [order.venue_order_id for order in orders] == [raw["id"] for raw in raws]
    assert [seen.query["after"] for seen in server.seen][:2] == [
        "2026-11-20T14:00:00Z",
        "2026-11-20T15:08:20.123455Z",
    ]
    assert server.seen[0].query["status"] == "all"
    assert server.seen[0].query["limit"] == "500"


def test_a_last_page_that_only_repeats_is_the_end(server):
    """Exactly one full page of orders ends at the second, which adds nothing."""
    raws = [a_raw_order(number) for number in range(1, 501)]
    server.script(ORDERS, partial(_page_of, raws))
    assert len(a_broker(server).open_orders()) == 500
    assert server.seen[0].query["status"] == "open"


def test_pages_that_never_advance_are_an_error(server):
    """A full page that adds nothing ends in an error rather than never."""
    server.script(ORDERS, Reply(body=[a_raw_order(number) for number in range(500)]))
    with pytest.raises(BrokerUnavailable, match="a full page that adds nothing"):
        a_broker(server).open_orders()


def test_reads_orders_with_words_of_tomorrow(server, caplog):
    """An unknown status or type is kept as text and logged; nothing breaks."""
    raw = a_raw_order(status="levitating", type="quantum", side="sell", qty=None, notional="50")
    server.script(ORDERS, Reply(body=[raw]))
    [order] = a_broker(server).open_orders()
    assert (order.status, order.order_type, order.side) == ("levitating", "quantum", Side.SELL)
    assert order.quantity is None
    assert not order.is_terminal
    assert "unknown status 'levitating'" in caplog.text


def test_leaves_out_an_order_of_several_legs_with_a_warning(server, caplog):
    """A multi-leg parent has no symbol and no side; the rest is still read."""
    parent = a_raw_order(1, symbol=None, side="", order_class="mleg")
    server.script(ORDERS, Reply(body=[parent, a_raw_order(2)]))
    orders = a_broker(server).open_orders()
    assert [order.venue_order_id for order in orders] == ["venue-2"]
    assert "venue-1 has no symbol or no side" in caplog.text


def test_follows_pages_of_fills_by_their_last_id(server):
    """Activities are paged by the id of the last one."""
    raws = [
        {
            "id": f"fill-{number:03d}",
            "activity_type": "FILL",
            "transaction_time": f"2026-11-20T15:{number % 60:02d}:00.5Z",
            "price": "99.5",
            "qty": "1",
            "side": "sell_short",
            "symbol": "BTCUSD",
            "order_id": "venue-1",
        }
        for number in range(150)
    ]
    server.script("GET /v2/account/activities", Reply(body=raws[:100]), Reply(body=raws[100:]))
    fills = a_broker(server).fills_since(datetime(2026, 11, 20, tzinfo=UTC))
    assert len(fills) == 150
    assert [seen.query.get("page_token") for seen in server.seen] == [None, "fill-099"]
    assert (fills[0].symbol, fills[0].side, fills[0].price) == (
        "BTC/USD",
        Side.SELL,
        Decimal("99.5"),
    )


def test_asks_for_instruments_by_the_spelling_of_positions(server):
    """A pair is asked for without its slash; what the venue doesn't list is left out."""
    equity = {"class": "us_equity", "symbol": "AAPL", "status": "active", "tradable": True}
    coin = {
        "class": "crypto",
        "symbol": "BTC/USD",
        "status": "active",
        "tradable": True,
        "min_order_size": "0.0001",
        "min_trade_increment": "0.00000001",
        "price_increment": "0.01",
    }
    server.script("GET /v2/assets/AAPL", Reply(body=equity))
    server.script("GET /v2/assets/BTCUSD", Reply(body=coin))
    server.script(
        "GET /v2/assets/NOPE", Reply(status=404, body={"code": 40410000, "message": "no"})
    )
    found = a_broker(server).instruments(["BTC/USD", "NOPE", "AAPL"])
    assert [instrument.symbol for instrument in found] == ["BTC/USD", "AAPL"]
    assert found[0].quantity_increment == Decimal("0.00000001")
    assert found[1].quantity_increment == 1


def test_reads_the_venues_calendar_half_open(server):
    """Dates go out inclusive, as the venue wants, and New York times come back in UTC."""
    days = [
        {"date": "2026-11-25", "open": "09:30", "close": "16:00"},
        {"date": "2026-11-27", "open": "09:30", "close": "13:00"},
    ]
    server.script("GET /v2/calendar", Reply(body=days))
    broker = a_broker(server)
    sessions = broker.sessions_between(date(2026, 11, 25), date(2026, 11, 28))
    assert server.seen[0].query == {"start": "2026-11-25", "end": "2026-11-27"}
    assert sessions[1].closes_at == datetime(2026, 11, 27, 18, tzinfo=UTC)
    assert broker.sessions_between(date(2026, 11, 25), date(2026, 11, 25)) == []


def test_reads_clock_account_and_positions(server):
    """The three readings of a cycle's beginning, in UTC and Decimal."""
    server.script("GET /v2/clock", Reply(body={
        "timestamp": "2026-11-20T10:00:00.123456789-05:00", "is_open": True,
        "next_open": "2026-11-23T09:30:00-05:00", "next_close": "2026-11-20T16:00:00-05:00",
    }))  # fmt: skip
    server.script(ACCOUNT, Reply(body={
        "id": "a-1", "equity": "100000.10", "cash": "5", "buying_power": "7",
        "trading_blocked": False,
    }))  # fmt: skip
    server.script("GET /v2/positions", Reply(body=[
        {"symbol": "BTCUSD", "asset_class": "crypto", "qty": "0.09975", "side": "long",
         "avg_entry_price": "90000", "qty_available": "0.05"},
        {"symbol": "AAPL", "asset_class": "us_equity", "qty": "-5", "side": "short",
         "avg_entry_price": "100", "current_price": "99", "market_value": "-495"},
    ]))  # fmt: skip
    broker = a_broker(server)
    assert broker.clock().now == datetime(2026, 11, 20, 15, 0, 0, 123456, tzinfo=UTC)
    account = broker.account()
    assert (account.equity_usd, account.is_blocked) == (Decimal("100000.10"), False)
    assert account.last_equity_usd == account.equity_usd
    coin, short = broker.positions()
    assert (coin.symbol, coin.available_quantity) == ("BTC/USD", Decimal("0.05"))
    assert (short.quantity, short.available_quantity) == (Decimal(-5), Decimal(-5))


def test_keeps_loopback_off_proxies(server, monkeypatch):
    """A proxy of the environment is not asked for an address of this machine."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    server.script(POST, echo_order)
    assert a_broker(server).submit(an_intent()).status == "pending_new"


def test_two_submissions_of_one_intent_make_one_order(server):
    """The second call meets the venue's refusal of the id and adopts the first's order."""
    orders: dict[str, dict[str, object]] = {}

    def accept_once(seen: Seen) -> Reply:
        client_order_id = seen.body["client_order_id"]
        if client_order_id in orders:
            return DUPLICATE
        orders[client_order_id] = a_raw_order(client_order_id=client_order_id)
        return Reply(body=orders[client_order_id])

    server.script(POST, accept_once)
    server.script(LOOKUP, lambda seen: Reply(body=orders[seen.query["client_order_id"]]))
    broker, intent = a_broker(server), an_intent()
    assert broker.submit(intent) == broker.submit(replace(intent, quantity=Decimal(11)))


def _page_of(raws: list[dict[str, object]], seen: Seen) -> Reply:
    after = seen.query.get("after", "")
    later = [raw for raw in raws if str(raw["submitted_at"]) > after]
    return Reply(body=later[: int(seen.query["limit"])])
