"""Orders through the unmodified alpaca-py: life cycle, refusals, reservations, expiry."""

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest
import requests
from alpaca.common.exceptions import APIError
from alpaca.trading.enums import (
    AssetExchange,
    OrderSide,
    OrderStatus,
    QueryOrderStatus,
    TimeInForce,
)
from alpaca.trading.requests import (
    GetAssetsRequest,
    GetOrdersRequest,
    LimitOrderRequest,
    MarketOrderRequest,
)

from tests.exchange.conftest import HEADERS, a_venue, utc

BUY, SELL = OrderSide.BUY, OrderSide.SELL


def market(symbol="JPM", side=BUY, time_in_force=TimeInForce.DAY, **fields):
    """A market order."""
    return MarketOrderRequest(symbol=symbol, side=side, time_in_force=time_in_force, **fields)


def limit(price, symbol="JPM", side=BUY, time_in_force=TimeInForce.DAY, **fields):
    """A limit order."""
    return LimitOrderRequest(
        symbol=symbol, side=side, time_in_force=time_in_force, limit_price=price, **fields
    )


def crypto(side=BUY, symbol="BTC/USD", **fields):
    """A market order for coins."""
    return market(symbol, side, TimeInForce.GTC, **fields)


def quote_of(exchange, symbol="JPM"):
    """The latest quote in decimals."""
    minute = exchange.venue.replay.tape.latest(symbol, exchange.venue.now)
    return minute.bid, minute.ask


def refusal_of(exchange, order):
    """What the venue answers to an order that it does not take."""
    with pytest.raises(APIError) as caught:
        exchange.trading.submit_order(order)
    return caught.value.status_code, caught.value.code, caught.value.message


def test_market_order_fills_at_the_ask_of_the_next_minute(exchange):
    """pending_new, then new, then filled at the far side once the clock reaches a minute."""
    placed = exchange.trading.submit_order(market(qty=10, client_order_id="first"))
    assert placed.status is OrderStatus.PENDING_NEW
    assert exchange.trading.get_order_by_id(placed.id).status is OrderStatus.NEW
    exchange.step()
    _, ask = quote_of(exchange)
    filled = exchange.trading.get_order_by_client_id("first")
    assert filled.status is OrderStatus.FILLED
    assert Decimal(filled.filled_avg_price) == ask
    assert filled.filled_at == utc(2010, 3, 8, 14, 31)
    position = exchange.trading.get_open_position("JPM")
    assert (position.qty, position.qty_available, position.side.value) == ("10", "10", "long")
    account = exchange.trading.get_account()
    assert Decimal(account.cash) == 100_000 - 10 * ask


def test_resting_limit_waits_and_fills_at_its_price(exchange):
    """A buy limit below the market rests until the ask comes to it, then fills at the limit."""
    bid, _ = quote_of(exchange)
    price = float(bid - Decimal("0.10"))
    order = exchange.trading.submit_order(limit(price, qty=5))
    for _ in range(390):
        exchange.step()
        _, ask = quote_of(exchange)
        seen = exchange.trading.get_order_by_id(order.id)
        if seen.status is OrderStatus.FILLED:
            break
        assert float(ask) > price
    assert seen.status is OrderStatus.FILLED
    assert float(seen.filled_avg_price) == price
    assert float(ask) <= price


def test_arriving_marketable_limit_takes_the_far_side(exchange):
    """A generous limit pays the ask, not its limit."""
    order = exchange.trading.submit_order(limit(60, qty=5))
    exchange.step()
    _, ask = quote_of(exchange)
    assert Decimal(exchange.trading.get_order_by_id(order.id).filled_avg_price) == ask


def test_one_long_step_equals_many_short_ones(exchange, replay):
    """The walk visits every minute, however far the clock is moved at once."""
    bid, ask = quote_of(exchange)
    prices = [round(float(bid) - below, 2) for below in (0.05, 0.3)]
    orders = [*(limit(price, qty=3) for price in prices), market("T", qty=4)]

    def outcome(steps):
        exchange.serve(a_venue(replay))
        for order in orders:
            exchange.trading.submit_order(order)
        for minutes in steps:
            exchange.step(minutes=minutes)
        return exchange.get("/v2/orders", status="all").content

    assert ask > bid
    assert outcome([400]) == outcome([1] * 20 + [7] * 20 + [240])


def test_day_order_expires_at_the_close(exchange):
    """A day order that never filled is expired at 16:00 and no longer open."""
    order = exchange.trading.submit_order(limit(1.0, qty=5))
    exchange.step_to("2010-03-08T21:00:00Z")
    seen = exchange.trading.get_order_by_id(order.id)
    assert seen.status is OrderStatus.EXPIRED
    assert seen.expired_at == seen.expires_at == utc(2010, 3, 8, 21)
    assert exchange.trading.get_orders() == []
    assert exchange.trading.get_account().buying_power == "200000"


def test_order_outside_hours_waits_for_the_open(exchange):
    """Accepted after the close, an order fills in the next session's first minute."""
    exchange.step_to("2010-03-08T22:00:00Z")
    order = exchange.trading.submit_order(market(qty=5))
    assert order.status is OrderStatus.ACCEPTED
    assert order.expires_at == utc(2010, 3, 9, 21)
    exchange.step_to("2010-03-09T14:29:00Z")
    assert exchange.trading.get_order_by_id(order.id).status is OrderStatus.ACCEPTED
    exchange.step_to("2010-03-09T14:30:00Z")
    assert exchange.trading.get_order_by_id(order.id).filled_at == utc(2010, 3, 9, 14, 30)


def test_waiting_order_becomes_new_at_the_open(exchange):
    """A limit away from the market turns from accepted to new when its session opens."""
    exchange.step_to("2010-03-08T22:00:00Z")
    order = exchange.trading.submit_order(limit(1.0, qty=5))
    exchange.step_to("2010-03-09T14:30:00Z")
    seen = exchange.trading.get_order_by_id(order.id)
    assert (seen.status, seen.updated_at) == (OrderStatus.NEW, utc(2010, 3, 9, 14, 30))


def test_good_till_cancelled_survives_the_close_and_ioc_does_not_wait(exchange):
    """A gtc order is open for 90 days; an ioc order away from the market has one minute."""
    kept = exchange.trading.submit_order(limit(1.0, qty=5, time_in_force=TimeInForce.GTC))
    brief = exchange.trading.submit_order(limit(1.0, qty=5, time_in_force=TimeInForce.IOC))
    exchange.step()
    assert exchange.trading.get_order_by_id(brief.id).status is OrderStatus.CANCELED
    exchange.step_to("2010-03-10T15:00:00Z")
    assert exchange.trading.get_order_by_id(kept.id).status is OrderStatus.NEW
    exchange.step_to("2010-06-08T15:00:00Z")
    assert exchange.trading.get_order_by_id(kept.id).status is OrderStatus.CANCELED


def test_cancel_is_final_and_said_so(exchange):
    """204 once, 422 afterwards, 404 for an order that never was."""
    order = exchange.trading.submit_order(limit(1.0, qty=5))
    assert exchange.trading.cancel_order_by_id(order.id) is None
    assert exchange.trading.get_order_by_id(order.id).status is OrderStatus.CANCELED
    with pytest.raises(APIError, match="order is not cancelable") as caught:
        exchange.trading.cancel_order_by_id(order.id)
    assert (caught.value.status_code, caught.value.code) == (422, 42210000)
    with pytest.raises(APIError, match="order not found") as caught:
        exchange.trading.cancel_order_by_id("3f1c2b7e-8d4a-4c6e-9f2a-5b7d1e0c9a84")
    assert (caught.value.status_code, caught.value.code) == (404, 40410000)


def test_cancel_all_answers_for_each_order(exchange):
    """Cancelling everything answers 207 with one entry an order."""
    ids = {exchange.trading.submit_order(limit(1.0 + n, qty=1)).id for n in range(3)}
    answers = exchange.trading.cancel_orders()
    assert {answer.id for answer in answers} == ids
    assert {answer.status for answer in answers} == {200}


def test_client_order_id_is_taken_for_ever(exchange):
    """A second order with the same id is refused, also after the first was cancelled."""
    order = exchange.trading.submit_order(limit(1.0, qty=1, client_order_id="mine"))
    expected = (422, 40010001, "client_order_id must be unique")
    assert refusal_of(exchange, market(qty=1, client_order_id="mine")) == expected
    exchange.trading.cancel_order_by_id(order.id)
    assert refusal_of(exchange, market(qty=1, client_order_id="mine")) == expected
    with pytest.raises(APIError, match="order not found"):
        exchange.trading.get_order_by_client_id("another")


def test_simultaneous_twins_make_one_order(exchange):
    """Eight identical requests at once: one is taken, seven are told of it."""
    body = {"symbol": "T", "qty": "1", "side": "buy", "type": "market", "time_in_force": "day"}

    def send(_):
        answer = requests.post(
            exchange.url + "/v2/orders",
            json=body | {"client_order_id": "twin"},
            headers=HEADERS,
            timeout=20,
        )
        return answer.status_code

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(send, range(8))) == [200] + [422] * 7
    assert len(exchange.trading.get_orders()) == 1


@pytest.mark.parametrize(
    ("order", "status", "code", "text"),
    [
        (market(qty=-1), 422, 40010001, "qty must be > 0"),
        (market(notional=0.5), 422, 40010001, "notional must be >= 1.00"),
        (market(notional=10.123), 422, 42210000, "limited to 2 decimal places"),
        (market(qty=0.0123456789012), 422, 42210000, "limited to 9 decimal places"),
        (market(qty=0.5, time_in_force=TimeInForce.GTC), 422, 42210000, "must be DAY orders"),
        (market(qty=1, time_in_force=TimeInForce.OPG), 422, 40010001, "invalid time_in_force"),
        (crypto(symbol="NOPE", qty=1), 404, 40410000, "asset not found for NOPE"),
        (market("BTC/USD", qty=1), 422, 42210000, "invalid crypto time_in_force"),
        (limit(40.123, qty=1), 422, 42210000, "invalid limit_price 40.123. sub-penny"),
        (market(qty=1, client_order_id="x" * 129), 422, 40010001, "no more than 128"),
        (crypto(notional=9.99), 403, 40310000, "minimal amount of order 10"),
        (crypto(qty=0.0001), 403, 40310000, "minimal amount of order 10"),
        (crypto(SELL, qty=1), 403, 40310000, "insufficient balance for BTC"),
        (crypto(qty=10), 403, 40310000, "insufficient balance for USD"),
        (market(qty=100_000), 403, 40310000, "insufficient buying power"),
        (market(side=SELL, qty=0.5), 422, 42210000, "fractional orders cannot be sold short"),
        (
            limit(40, qty=1, time_in_force=TimeInForce.IOC, extended_hours=True),
            422,
            42210000,
            "extended hours order must be DAY or GTC limit orders",
        ),
    ],
)
def test_refusal_has_the_venues_code_and_text(exchange, order, status, code, text):
    """Each rule of orders answers with its status, code and words, and no order is made."""
    found = refusal_of(exchange, order)
    assert found[:2] == (status, code)
    assert text in found[2]
    assert exchange.trading.get_orders(GetOrdersRequest(status=QueryOrderStatus.ALL)) == []


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({}, "symbol is required"),
        ({"symbol": "JPM", "type": "stop"}, "invalid order type"),
        ({"symbol": "JPM", "type": "market", "side": "long"}, "invalid side"),
        ({"order_class": "bracket"}, "invalid order_class"),
        ({"qty": "ten"}, "qty is not a number"),
        ({"qty": "1", "notional": "5"}, "only one of qty or notional"),
        ({"type": "limit", "qty": "1"}, "limit orders require limit price"),
        ({"qty": "1", "limit_price": "4"}, "market orders require no stop or limit price"),
        ({"qty": None}, "qty or notional is required"),
    ],
)
def test_malformed_order_is_refused(exchange, body, text):
    """What alpaca-py would not even send is refused too."""
    whole = {"symbol": "JPM", "type": "market", "side": "buy", "time_in_force": "day"}
    answer = exchange.post("/v2/orders", body if body.keys() <= {"symbol"} else whole | body)
    assert answer.status_code == 422
    assert text in answer.json()["message"]


def test_decimal_strings_and_both_spellings_of_true_are_taken(exchange):
    """Numbers may come as strings, and booleans as Python writes them."""
    body = {"symbol": "JPM", "side": "buy", "type": "limit", "time_in_force": "day"}
    for spelling in ("True", "true", True):
        answer = exchange.post(
            "/v2/orders", body | {"qty": "2.5", "limit_price": "30.10", "extended_hours": spelling}
        )
        assert (answer.status_code, answer.json()["extended_hours"]) == (200, True)
        assert (answer.json()["qty"], answer.json()["limit_price"]) == ("2.5", "30.1")
    assert exchange.post("/v2/orders", ["not", "an", "order"]).status_code == 400


def test_crypto_fee_is_taken_from_what_is_received(exchange):
    """A taker's coins shrink by 25 bps, a seller's dollars too; equities pay nothing."""
    exchange.trading.submit_order(crypto(qty=0.1))
    exchange.step()
    position = exchange.trading.get_open_position("BTCUSD")
    assert (position.symbol, position.qty) == ("BTCUSD", "0.09975")
    cash = Decimal(exchange.trading.get_account().cash)
    exchange.trading.submit_order(crypto(SELL, qty=0.09975))
    exchange.step()
    bid, _ = quote_of(exchange, "BTC/USD")
    received = Decimal(exchange.trading.get_account().cash) - cash
    assert abs(received - Decimal("0.09975") * bid * Decimal("0.9975")) < Decimal("0.01")
    assert exchange.trading.get_all_positions() == []


def test_notional_order_has_its_quantity_once_filled(exchange):
    """An order for 100 USD buys the fraction of a share that 100 USD pay for."""
    order = exchange.trading.submit_order(market(notional=100))
    assert (order.qty, order.notional) == (None, "100")
    exchange.step()
    filled = exchange.trading.get_order_by_id(order.id)
    spent = Decimal(filled.filled_qty) * Decimal(filled.filled_avg_price)
    assert filled.qty == filled.filled_qty
    assert Decimal("99.99") < spent <= 100


def test_orders_are_listed_by_filter(exchange):
    """Status, symbols, side, direction, limit, after and until each narrow the list."""
    first = exchange.trading.submit_order(limit(1.0, qty=1))
    exchange.step()
    second = exchange.trading.submit_order(limit(1.0, "BTC/USD", time_in_force="gtc", qty=20))
    exchange.step()
    third = exchange.trading.submit_order(limit(9_000, "T", SELL, qty=1))
    exchange.trading.cancel_order_by_id(first.id)

    def ids(**filters):
        found = exchange.trading.get_orders(GetOrdersRequest(**filters))
        return [order.id for order in found]

    everything = QueryOrderStatus.ALL
    assert ids() == [third.id, second.id]
    assert ids(status=QueryOrderStatus.CLOSED) == [first.id]
    assert ids(status=everything, direction="asc") == [first.id, second.id, third.id]
    assert ids(status=everything, limit=1, nested=True) == [third.id]
    assert ids(symbols=["BTC/USD"]) == ids(symbols=["BTCUSD"]) == [second.id]
    assert ids(side=SELL) == [third.id]
    assert ids(status=everything, after=first.submitted_at) == [third.id, second.id]
    assert ids(status=everything, until=third.submitted_at) == [second.id, first.id]
    assert exchange.get("/v2/orders", limit=501).status_code == 422


def test_assets_are_found_by_each_spelling(exchange):
    """Symbol, symbol without slash, escaped slash and id find the pair; a bare slash does not."""
    asset = exchange.trading.get_asset("BTCUSD")
    assert exchange.trading.get_asset(str(asset.id)) == asset
    assert exchange.trading.get_asset("BTC%2FUSD") == asset
    with pytest.raises(APIError, match="asset not found"):
        exchange.trading.get_asset("BTC/USD")
    with pytest.raises(APIError, match="position does not exist"):
        exchange.trading.get_open_position("JPM")
    assert (
        len(exchange.trading.get_all_assets(GetAssetsRequest(exchange=AssetExchange.NYSE))) == 24
    )


def test_last_equity_rolls_at_the_close(exchange):
    """At the close today's equity becomes the last one, and intraday profit starts anew."""
    exchange.trading.submit_order(market(qty=100))
    exchange.step_to("2010-03-08T20:59:00Z")
    assert exchange.trading.get_account().last_equity == "100000"
    exchange.step_to("2010-03-08T21:00:00Z")
    account = exchange.trading.get_account()
    assert account.last_equity == account.equity != "100000"
    assert exchange.trading.get_open_position("JPM").unrealized_intraday_pl == "0"
    exchange.step_to("2010-03-09T15:00:00Z")
    position = exchange.trading.get_open_position("JPM")
    later = exchange.trading.get_account()
    gained = Decimal(later.equity) - Decimal(later.last_equity)
    assert gained == Decimal(position.unrealized_intraday_pl)
