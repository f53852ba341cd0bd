"""Values with defaults for tests: name what matters by keyword, leave the rest."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import numpy as np

from include.domain.bars import BarSeries, Timeframe
from include.domain.decisions import GateInput, IssuedForecast
from include.domain.forecasts import ForecastRequest, ModelVersion
from include.domain.instants import epoch_seconds
from include.domain.instruments import AssetClass, Instrument
from include.domain.orders import DesiredOrder, Leg, Order, Side, Standing, TimeInForce
from include.domain.positions import Account, Position
from include.domain.quotes import Quote
from include.domain.sessions import Window
from include.domain.strategies import Levels, ScoredStrategy, TradeCosts, WindowHistory

AS_OF = datetime(2026, 11, 20, 15, 0, tzinfo=UTC)
WINDOW = Window(
    opens_at=datetime(2026, 11, 20, 14, 30, tzinfo=UTC),
    ends_at=datetime(2026, 11, 20, 21, 0, tzinfo=UTC),
)
DAY_SECONDS = 86_400


def a_bar_series(
    *, n: int = 40, symbol: str = "AAPL", seed: int = 7, end: datetime = AS_OF, **overrides
) -> BarSeries:
    """Return half-hour bars of a random walk near 100 USD that end at `end`."""
    rng = np.random.default_rng(seed)
    closes = 100.0 * np.exp(np.cumsum(rng.normal(0, 0.002, n)))
    opens = np.concatenate(([100.0], closes[:-1]))
    wicks = np.abs(rng.normal(0, 0.001, (2, n)))
    highs = np.maximum(opens, closes) * (1 + wicks[0])
    lows = np.minimum(opens, closes) * (1 - wicks[1])
    volumes = np.full(n, 1000.0)
    ends = epoch_seconds(end) - 1800 * np.arange(n - 1, -1, -1, dtype=np.int64)
    series = BarSeries(
        symbol=symbol,
        timeframe=Timeframe.MINUTE_30,
        starts=ends - 1800,
        ends=ends,
        values=np.column_stack((opens, highs, lows, closes, volumes, volumes * closes)),
    )
    return replace(series, **overrides)


def a_model_version(**overrides) -> ModelVersion:
    """Return the version of some model."""
    version = ModelVersion(
        model="naive", checkpoint_hash="0" * 64, engine_version="1", transform_version="1"
    )
    return replace(version, **overrides)


def a_forecast_request(*, context: BarSeries | None = None, horizon: int = 12) -> ForecastRequest:
    """Return a question about the rest of `WINDOW` after `AS_OF`."""
    starts = epoch_seconds(AS_OF) + 1800 * np.arange(horizon, dtype=np.int64)
    return ForecastRequest(
        context=context or a_bar_series(), window=WINDOW, step_starts=starts,
        step_ends=starts + 1800,
    )  # fmt: skip


def an_issued_forecast(**overrides) -> IssuedForecast:
    """Return what the gate knows of a forecast issued ten minutes before `AS_OF` at 100 USD."""
    issued = IssuedForecast(
        content_key="key", model_label="naive@00000000/1", config_hash="config",
        window_opens_at=WINDOW.opens_at, window_ends_at=WINDOW.ends_at,
        origin=WINDOW.opens_at, price_at_issue=100.0, issued_at=AS_OF - timedelta(minutes=10),
    )  # fmt: skip
    return replace(issued, **overrides)


def a_gate_input(**overrides) -> GateInput:
    """Return a symbol in front of the gate for which nothing has changed."""
    gate = GateInput(
        symbol="AAPL", asset_class=AssetClass.EQUITY, as_of=AS_OF, mid=100.0, refusal=None,
        is_forced=False, model_label="naive@00000000/1", config_hash="config",
        issued=an_issued_forecast(), key_of_issued_origin="key",
    )  # fmt: skip
    return replace(gate, **overrides)


def an_instrument(**overrides) -> Instrument:
    """Return a shortable equity traded in whole shares."""
    instrument = Instrument(symbol="AAPL", asset_class=AssetClass.EQUITY, is_shortable=True)
    return replace(instrument, **overrides)


def a_coin(**overrides) -> Instrument:
    """Return a crypto pair with fine increments."""
    coin = Instrument(
        symbol="BTC/USD", asset_class=AssetClass.CRYPTO, is_fractionable=True,
        quantity_increment=Decimal("0.0001"), minimum_quantity=Decimal("0.0001"),
        price_increment_usd=Decimal("0.01"),
    )  # fmt: skip
    return replace(coin, **overrides)


def a_quote(**overrides) -> Quote:
    """Return a two-sided quote at `AS_OF`, mid 100 USD, 2 bps wide."""
    quote = Quote(symbol="AAPL", bid=99.99, ask=100.01, at=AS_OF)
    return replace(quote, **overrides)


def an_account(**overrides) -> Account:
    """Return an account of 100,000 USD without positions."""
    account = Account(
        account_id="account", account_number="PA1", status="ACTIVE",
        equity_usd=Decimal(100_000), last_equity_usd=Decimal(100_000), cash_usd=Decimal(100_000),
        buying_power_usd=Decimal(100_000), is_blocked=False,
    )  # fmt: skip
    return replace(account, **overrides)


def a_position(*, symbol: str = "AAPL", quantity: str = "10", price: str = "100") -> Position:
    """Return a position without profit or loss."""
    held, each = Decimal(quantity), Decimal(price)
    return Position(
        symbol=symbol, quantity=held, available_quantity=held, average_entry_price=each,
        current_price=each, market_value_usd=held * each, unrealised_pnl_usd=Decimal(0),
    )  # fmt: skip


def a_desired_order(**overrides) -> DesiredOrder:
    """Return a long entry of 10 shares at 99 USD with a take-profit at 102."""
    order = DesiredOrder(
        cycle_id="cycle", symbol="AAPL", leg=Leg.ENTRY_LONG, side=Side.BUY, quantity=Decimal(10),
        limit_price=Decimal("99.00"), time_in_force=TimeInForce.DAY,
        window_opens_at=WINDOW.opens_at, window_ends_at=WINDOW.ends_at,
        standing=Standing.PROVEN, strategy="maxdiff", reason="proven",
        take_profit_price=Decimal("102.00"),
    )  # fmt: skip
    return replace(order, **overrides)


def a_working_order(**overrides) -> Order:
    """Return a working buy of 10 shares at 99 USD."""
    order = Order(
        venue_order_id="venue-1", client_order_id="client-1", symbol="AAPL", side=Side.BUY,
        order_type="limit", time_in_force="day", status="new", quantity=Decimal(10),
        filled_quantity=Decimal(0), filled_average_price=None, limit_price=Decimal("99.00"),
        submitted_at=AS_OF, updated_at=AS_OF,
    )  # fmt: skip
    return replace(order, **overrides)


def some_costs(**overrides) -> TradeCosts:
    """Return costs in which every part is different from zero."""
    costs = TradeCosts(
        maker_fee=0.0003, taker_fee=0.0005, half_spread=0.0002, slippage=0.0004,
        fill_buffer=0.0005, sell_fee=0.0001,
    )  # fmt: skip
    return replace(costs, **overrides)


def free_costs() -> TradeCosts:
    """Return no costs at all: a limit fills where the price trades through it."""
    return TradeCosts(maker_fee=0.0, taker_fee=0.0, half_spread=0.0, slippage=0.0, fill_buffer=0.0)


def some_levels(**overrides) -> Levels:
    """Return a long from 99 to 102 USD."""
    return replace(Levels(side=1, entry=99.0, take_profit=102.0, expected_exit=102.0), **overrides)


def a_scored_strategy(**overrides) -> ScoredStrategy:
    """Return a strategy that has not earned its size."""
    scored = ScoredStrategy(
        symbol="AAPL", strategy="maxdiff", buy_offset=0.0, sell_offset=0.0, closes_at_eod=True,
        returns=np.array([0.001, -0.0005] * 10), in_sample_mean=0.002, excess_low_fraction=-0.001,
        n_trials=2, fitted_on_windows=40, control="flat",
    )  # fmt: skip
    return replace(scored, **overrides)


def a_history(
    *,
    n: int = 60,
    n_inner: int = 13,
    seed: int = 7,
    volatility: float = 0.015,
    skill: float = 0.0,
    steps: int = 8,
) -> WindowHistory:
    """Return windows of a random walk with gaps between them, and noisy forecasts.

    Each inner bar holds `steps` ticks, so that its open is its first and nothing is reached that
    a tick did not reach. `skill` is the share of a forecast's surprise that it knew (0: none).
    `n_inner=0` gives windows without inner bars.
    """
    rng = np.random.default_rng(seed)
    bars = max(n_inner, 1)
    ticks = rng.normal(0, volatility / np.sqrt(bars * steps), (n, bars * steps))
    ticks[:, 0] += rng.normal(0, volatility / 4, n)
    walk = 100.0 * np.exp(np.cumsum(ticks.ravel())).reshape(n, bars, steps)
    reference = np.concatenate(([100.0], walk[:-1, -1, -1]))
    close, high, low = walk[:, -1, -1], walk.max(axis=(1, 2)), walk.min(axis=(1, 2))
    usual = volatility * np.exp(rng.normal(0, 0.3, (2, n)))
    up = (1 - skill) * usual[0] + skill * (high / reference - 1)
    down = (1 - skill) * usual[1] + skill * (1 - low / reference)
    tilt = (1 - skill) * rng.normal(0, volatility / 2, n) + skill * (close / reference - 1)
    shown = walk[:, :n_inner] if n_inner else walk[:, :0]
    return WindowHistory(
        symbol="AAPL",
        opens_at=epoch_seconds(AS_OF) + DAY_SECONDS * np.arange(-n, 0, dtype=np.int64),
        reference_close=reference,
        open=walk[:, 0, 0], high=high, low=low, close=close,
        forecast_high=reference * (1 + np.maximum(up, tilt)),
        forecast_low=reference * (1 - np.maximum(down, -tilt)),
        forecast_close=reference * (1 + tilt),
        inner_open=shown[:, :, 0], inner_high=shown.max(axis=2), inner_low=shown.min(axis=2),
    )  # fmt: skip
