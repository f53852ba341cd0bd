"""Every answer against the venue's own OpenAPI description, as its maker publishes it."""

import json
import re
from datetime import timedelta
from importlib.resources import files
from importlib.util import find_spec

import pytest
from jsonschema import (  # type: ignore[import-untyped]  # its stubs are a package of their own
    Draft202012Validator,
    FormatChecker,
)
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from tests.exchange.conftest import Exchange

needs_specs = pytest.mark.skipif(
    find_spec("alpaca_mcp_server") is None,
    reason="the venue's OpenAPI files come with alpaca-mcp-server, which is not installed",
)
ORDER_KEYS = set(
    re.findall(
        r"\w+",
        """
    id client_order_id created_at updated_at submitted_at filled_at expired_at expires_at
    canceled_at failed_at replaced_at replaced_by replaces asset_id symbol asset_class notional
    qty filled_qty filled_avg_price order_class order_type type side time_in_force limit_price
    stop_price status extended_hours legs trail_percent trail_price hwm position_intent source
    subtag
""",
    )
)


class Description:
    """One of the two published files."""

    def __init__(self, name: str) -> None:
        path = files("alpaca_mcp_server") / "specs" / f"{name}.json"
        contents = json.loads(path.read_text())
        resource = DRAFT202012.create_resource(contents)
        self._urn = f"urn:{name}"
        self._registry = Registry().with_resource(self._urn, resource)

    def faults(self, method: str, path: str, status: int, body: object) -> list[str]:
        """What the description of an operation's answer finds wrong with a body."""
        escaped = path.replace("~", "~0").replace("/", "~1")
        pointer = f"/paths/{escaped}/{method}/responses/{status}/content/application~1json/schema"
        validator = Draft202012Validator(
            {"$ref": f"{self._urn}#{pointer}"},
            registry=self._registry,
            format_checker=FormatChecker(),
        )
        return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(body)]


@pytest.fixture(scope="module")
def trading_api():
    """The description of the trading API."""
    return Description("trading-api")


@pytest.fixture(scope="module")
def data_api():
    """The description of the market-data API."""
    return Description("market-data-api")


@pytest.fixture
def busy(exchange: Exchange) -> Exchange:
    """An exchange with fills, positions of each kind, open orders and closed ones."""
    orders = [
        {"symbol": "JPM", "qty": "10", "side": "buy", "type": "market", "time_in_force": "day"},
        {"symbol": "T", "qty": "10", "side": "sell", "type": "market", "time_in_force": "day"},
        {"symbol": "BTC/USD", "qty": 0.1, "side": "buy", "type": "market", "time_in_force": "gtc"},
        {"symbol": "BA", "notional": 99, "side": "buy", "type": "market", "time_in_force": "day"},
    ]
    resting = {"side": "buy", "type": "limit", "time_in_force": "day", "limit_price": "2.5"}
    for order in [*orders, resting | {"symbol": "C", "qty": "3"}]:
        assert exchange.post("/v2/orders", order).status_code == 200
    exchange.step_to("2010-03-09T17:12:30Z")
    gtc = resting | {"symbol": "GE", "qty": "3", "time_in_force": "gtc"}
    assert exchange.post("/v2/orders", gtc).status_code == 200
    return exchange


@needs_specs
@pytest.mark.parametrize(
    ("path", "operation", "params"),
    [
        ("/v2/account", "/v2/account", {}),
        ("/v2/clock", "/v2/clock", {}),
        ("/v2/calendar", "/v2/calendar", {"start": "2009-11-20", "end": "2009-12-31"}),
        ("/v2/assets", "/v2/assets", {}),
        ("/v2/assets/BTCUSD", "/v2/assets/{symbol_or_asset_id}", {}),
        ("/v2/orders", "/v2/orders", {"status": "all"}),
        ("/v2/positions", "/v2/positions", {}),
        ("/v2/positions/BTCUSD", "/v2/positions/{symbol_or_asset_id}", {}),
        ("/v2/account/activities", "/v2/account/activities", {}),
        ("/v2/account/activities/FILL", "/v2/account/activities", {}),
        ("/v2/account/portfolio/history", "/v2/account/portfolio/history", {}),
        ("/v2/account/portfolio/history", "/v2/account/portfolio/history", {"timeframe": "1D"}),
    ],
)
def test_trading_answers_conform(busy, trading_api, path, operation, params):
    """Each GET of the trading side is what the published description says."""
    answer = busy.get(path, **params)
    assert answer.status_code == 200
    assert answer.json()
    assert trading_api.faults("get", operation, 200, answer.json()) == []


@needs_specs
@pytest.mark.parametrize(
    ("path", "operation"),
    [
        ("/v2/stocks/bars", "/v2/stocks/bars"),
        ("/v2/stocks/bars/latest", "/v2/stocks/bars/latest"),
        ("/v2/stocks/quotes/latest", "/v2/stocks/quotes/latest"),
        ("/v2/stocks/trades/latest", "/v2/stocks/trades/latest"),
        ("/v2/stocks/snapshots", "/v2/stocks/snapshots"),
        ("/v1beta3/crypto/us/bars", "/v1beta3/crypto/{loc}/bars"),
        ("/v1beta3/crypto/us/latest/bars", "/v1beta3/crypto/{loc}/latest/bars"),
        ("/v1beta3/crypto/us/latest/quotes", "/v1beta3/crypto/{loc}/latest/quotes"),
        ("/v1beta3/crypto/us/latest/trades", "/v1beta3/crypto/{loc}/latest/trades"),
        ("/v1beta3/crypto/us/snapshots", "/v1beta3/crypto/{loc}/snapshots"),
    ],
)
def test_data_answers_conform(busy, data_api, path, operation):
    """Each GET of the data side is what the published description says."""
    symbols = "BTC/USD,UNI/USD" if "crypto" in path else "JPM,T"
    answer = busy.get(path, symbols=symbols, timeframe="1Hour", start="2010-03-08", limit=9)
    assert answer.status_code == 200
    assert data_api.faults("get", operation, 200, answer.json()) == []


@needs_specs
def test_order_answers_conform_and_have_every_key(busy, trading_api):
    """Placing, both look-ups and cancelling answer as described, with every key of an order."""
    body = {"symbol": "T", "qty": "1", "side": "sell", "type": "limit", "time_in_force": "day"}
    placed = busy.post("/v2/orders", body | {"limit_price": "90", "client_order_id": "mine"})
    by_id = busy.get(f"/v2/orders/{placed.json()['id']}")
    by_client_id = busy.get("/v2/orders:by_client_order_id", client_order_id="mine")
    for method, path, answer in (
        ("post", "/v2/orders", placed),
        ("get", "/v2/orders/{order_id}", by_id),
        ("get", "/v2/orders:by_client_order_id", by_client_id),
    ):
        assert trading_api.faults(method, path, 200, answer.json()) == []
        assert set(answer.json()) == ORDER_KEYS
    headers = busy.trading._get_auth_headers()
    cancelled = busy.plain.delete(busy.url + "/v2/orders", headers=headers, timeout=10)
    assert cancelled.status_code == 207
    assert trading_api.faults("delete", "/v2/orders", 207, cancelled.json()) == []


def test_typed_models_parse_every_answer(busy):
    """alpaca-py's strict models take each object without a complaint, raw data or not."""
    assert len(busy.trading.get_all_positions()) == 4
    assert busy.trading.get_account().crypto_status.value == "ACTIVE"
    assert len(busy.trading.get_all_assets()) == 28
    assert busy.trading.get_portfolio_history().timeframe == "1Min"
    step = busy.trading.get_clock().next_close - busy.trading.get_clock().timestamp
    assert timedelta(0) < step < timedelta(days=1)
