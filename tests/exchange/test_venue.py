"""Properties of the whole venue: determinism, conservation, fills within their bars."""

import json
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from include.exchange.accounts import STARTING_CASH_USD
from include.exchange.app import create_app
from include.exchange.orders import ZERO, OrderSide
from tests.exchange.conftest import HEADERS, KEYS, a_venue

SYMBOLS = ("JPM", "C", "BTC/USD")
SEEN = ("/v2/account", "/v2/positions", "/v2/orders?status=all")


@st.composite
def moves(draw):
    """Orders of every kind, cancellations of everything, and steps of minutes to days."""
    kind = draw(st.sampled_from(["order", "order", "order", "step", "cancel"]))
    if kind == "step":
        return ("/admin/clock/step", {"seconds": draw(st.sampled_from([60, 600, 7200, 90_000]))})
    if kind == "cancel":
        return ("cancel", None)
    symbol = draw(st.sampled_from(SYMBOLS))
    body = {
        "symbol": symbol,
        "side": draw(st.sampled_from(["buy", "sell"])),
        "time_in_force": "gtc" if "/" in symbol else "day",
        "type": "market",
    }
    if draw(st.booleans()):
        body["qty"] = draw(st.sampled_from(["1", "10", "0.05", "250"]))
    else:
        body["notional"] = draw(st.sampled_from(["15", "999.99"]))
    if draw(st.booleans()):
        level = {"JPM": 42.8, "C": 3.5, "BTC/USD": 24_250}[symbol]
        factor = draw(st.sampled_from([0.98, 0.999, 1.0, 1.001, 1.02]))
        body |= {"type": "limit", "limit_price": round(level * factor, 2)}
    return ("/v2/orders", body)


def play(replay, script):
    """Every answer to a script of moves, and the venue after it."""
    venue = a_venue(replay)
    answers = []
    with TestClient(create_app(venue=venue, keys=KEYS), headers=HEADERS) as client:
        for path, body in script:
            if path == "cancel":
                answers.append(client.delete("/v2/orders").content)
            else:
                answers.append(client.post(path, json=body).content)
            answers += [client.get(seen).content for seen in SEEN]
    return answers, venue


@settings(max_examples=15, deadline=None)
@given(script=st.lists(moves(), max_size=12))
def test_books_balance_after_any_script(replay, script):
    """Value is conserved, fills make positions and obey limits, nothing is over-reserved."""
    answers, venue = play(replay, script)
    account, prices = venue.account, venue.prices()
    held = account.positions.values()
    unrealised = sum((p.quantity * prices[p.symbol] - p.cost_usd for p in held), start=ZERO)
    expected = STARTING_CASH_USD + account.realised_pnl_usd + unrealised - account.fees_usd
    assert abs(account.equity_usd(prices) - expected) < Decimal("1e-9")
    for symbol in SYMBOLS:
        fills = [fill for fill in venue.fills if fill.symbol == symbol]
        moved = sum((f.quantity * _sign(f) - f.fee_quantity for f in fills), start=ZERO)
        assert moved == account.quantity(symbol)
    for fill in venue.fills:
        _check_fill(venue, fill)
    for position in json.loads(answers[-2]) if answers else []:
        assert Decimal(position["qty_available"]) * Decimal(position["qty"]) >= 0
    venue.close()


@settings(max_examples=5, deadline=None)
@given(script=st.lists(moves(), max_size=10))
def test_same_requests_and_steps_give_the_same_bytes(replay, script):
    """Two venues that hear the same answer the same, ids and stamps included."""
    first, one = play(replay, script)
    second, other = play(replay, script)
    assert first == second
    one.close()
    other.close()


def _sign(fill):
    return 1 if fill.side is OrderSide.BUY else -1


def _check_fill(venue, fill):
    order = venue.book.by_id(fill.order_id)
    minute = venue.replay.tape.latest(fill.symbol, fill.instant)
    if fill.side is OrderSide.BUY:
        assert fill.price >= minute.ask
        assert order.limit_price is None or fill.price <= order.limit_price
    else:
        assert fill.price <= minute.bid
        assert order.limit_price is None or fill.price >= order.limit_price
    assert minute.instant == fill.instant
    assert order.submitted_at < fill.instant <= order.expires_at
