"""What the account allows: reservations, wash trades, shorts."""

from decimal import Decimal

from alpaca.trading.enums import OrderSide, OrderStatus

from tests.exchange.test_trading import limit, market, refusal_of

SELL = OrderSide.SELL


def test_open_orders_reserve_buying_power_and_shares(exchange):
    """A buy reserves its value, a sell its shares, both at once and until cancelled."""
    exchange.trading.submit_order(market(qty=10))
    exchange.step()
    before = Decimal(exchange.trading.get_account().buying_power)
    buy = exchange.trading.submit_order(limit(10.0, "T", qty=100))
    assert Decimal(exchange.trading.get_account().buying_power) == before - 1_000
    exchange.trading.cancel_order_by_id(buy.id)
    sell = exchange.trading.submit_order(limit(99.0, side=SELL, qty=8))
    assert exchange.trading.get_open_position("JPM").qty_available == "2"
    answer = exchange.post(
        "/v2/orders",
        {"symbol": "JPM", "qty": 3, "side": "sell", "type": "market", "time_in_force": "day"},
    )
    body = answer.json()
    assert answer.status_code == 403
    assert body["message"].startswith("insufficient qty available for order (requested: 3, avail")
    assert (body["available"], body["existing_qty"], body["held_for_orders"]) == ("2", "10", "8")
    assert body["related_orders"] == [str(sell.id)]


def test_wash_trades_are_refused(exchange):
    """An opposite order is refused while a market order works or the limits cross."""
    exchange.trading.submit_order(market(qty=10))
    found = refusal_of(exchange, limit(99.0, side=SELL, qty=1))
    assert found == (403, 40310000, "potential wash trade detected. use complex orders")
    exchange.step()
    exchange.trading.submit_order(limit(99.0, side=SELL, qty=1))
    assert "wash trade" in refusal_of(exchange, limit(99.5, qty=1))[2]
    assert exchange.trading.submit_order(limit(40.0, qty=1)).status is OrderStatus.PENDING_NEW


def test_short_sale_opens_and_covers(exchange):
    """Whole shares can be sold short; the position is negative and can't be over-covered."""
    exchange.trading.submit_order(market(side=SELL, qty=10))
    exchange.step()
    position = exchange.trading.get_open_position("JPM")
    assert (position.side.value, position.qty) == ("short", "-10")
    assert Decimal(position.market_value) < 0
    assert "insufficient qty" in refusal_of(exchange, market(qty=11))[2]
    exchange.trading.submit_order(market(qty=10))
    exchange.step()
    assert exchange.trading.get_all_positions() == []
