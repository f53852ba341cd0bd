from alpaca.trading.requests import MarketOrderRequest

SYMBOLS = ("BA", "C", "GE", "JPM", "T")


def buy_some(exchange):
    """One fill a minute, for five symbols."""
    for symbol in SYMBOLS:
        exchange.trading.submit_order(
            MarketOrderRequest(symbol=symbol, qty=1, side="buy", time_in_force="day")
        )
        exchange.step()


def test_activities_page_by_the_last_id(exchange):
    """Pages of two, newest first, meet every fill once and in order."""
    buy_some(exchange)
    seen, token = [], None
    while page := exchange.trading.get(
        "/account/activities", {"page_size": 2, **({"page_token": token} if token else {})}
    ):
        assert len(page) <= 2
        seen += [entry["symbol"] for entry in page]
        token = page[-1]["id"]
    assert seen == list(reversed(SYMBOLS))


def test_activities_are_filtered(exchange):
    """Type, order, day, after and until each narrow the list; other types have none."""
    buy_some(exchange)
    path = "/v2/account/activities"
    oldest = exchange.get(path, direction="asc", page_size=1).json()[0]
    assert oldest["symbol"] == "BA"
    assert exchange.get(path, order_id=oldest["order_id"]).json() == [oldest]
    assert len(exchange.get(path + "/FILL", date="2010-03-08").json()) == 5
    assert exchange.get(path, activity_types="FILL", date="2010-03-09").json() == []
    assert len(exchange.get(path, after=oldest["transaction_time"]).json()) == 4
    assert exchange.get(path, until=oldest["transaction_time"]).json() == []
    assert exchange.get(path + "/DIV").json() == []
    assert exchange.get(path, page_size=101).status_code == 422
    assert exchange.get(path, page_token="x").status_code == 422
