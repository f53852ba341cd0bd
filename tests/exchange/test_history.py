from alpaca.trading.requests import GetPortfolioHistoryRequest

from tests.exchange.test_activities import buy_some


def test_history_ends_with_the_present_equity(exchange):
    """Daily and intraday histories end at the account's equity, and never beyond now."""
    buy_some(exchange)
    exchange.step_to("2010-03-10T18:00:00Z")
    equity = round(float(exchange.trading.get_account().equity), 2)
    daily = exchange.trading.get_portfolio_history(GetPortfolioHistoryRequest(timeframe="1D"))
    hourly = exchange.trading.get_portfolio_history(
        GetPortfolioHistoryRequest(timeframe="1H", period="1W")
    )
    assert len(daily.equity) == 3
    assert daily.equity[-1] == hourly.equity[-1] == equity
    assert daily.base_value == 100_000
    assert max(hourly.timestamp) <= exchange.venue.now // 1_000_000_000
    assert round(daily.equity[-1] - daily.profit_loss[-1], 2) == 100_000


def test_history_asks_sensibly(exchange):
    """A fine timeframe over a long span, and words that mean nothing, are refused."""
    path = "/v2/account/portfolio/history"
    exchange.step_to("2010-05-10T18:00:00Z")
    assert exchange.get(path, period="3M", timeframe="1H").status_code == 422
    assert exchange.get(path, period="3M", timeframe="1D").status_code == 200
    for wrong in ({"period": "x"}, {"timeframe": "2H"}, {"intraday_reporting": "never"}):
        assert exchange.get(path, **({"period": "5D"} | wrong)).status_code == 422


def test_history_around_the_clock_and_without_reset(exchange):
    """Continuous windows cover the night; without reset profits count from the first close."""
    buy_some(exchange)
    exchange.step_to("2010-03-10T18:00:00Z")
    path = "/v2/account/portfolio/history"
    open_hours = exchange.get(path, period="5D", timeframe="1H").json()
    always = exchange.get(
        path, period="5D", timeframe="1H", intraday_reporting="continuous", pnl_reset="no_reset"
    ).json()
    assert len(always["timestamp"]) > 2 * len(open_hours["timestamp"])
    assert always["equity"][-1] == open_hours["equity"][-1]
    gained = round(always["equity"][-1] - always["base_value"], 2)
    assert always["profit_loss"][-1] == gained
