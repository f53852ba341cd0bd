"""A small world for tests of the pipeline: invented sessions and bars, fakes, a real store.

Steps that need no venue (plan_forecasts, forecast, optimise, report) go through their own `run`,
so that what runs is what a task runs; the others get the fakes by hand.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

from include.domain.bars import CLOSE, BarSeries, Timeframe
from include.domain.choices import Choice
from include.domain.cycles import Cycle, CycleRequest
from include.domain.forecasts import Outlook
from include.domain.instruments import AssetClass, Instrument, asset_class_of
from include.domain.orders import DesiredOrder, IntentState
from include.domain.quotes import Quote
from include.domain.sessions import Session
from include.pipeline import forecast, optimise, plan_forecasts, report
from include.pipeline.entries import Prospect
from include.pipeline.fetch import (
    check_symbols,
    fetch_bars,
    fetch_quotes,
    fetch_sessions,
    history_start,
)
from include.pipeline.holdings import Holding
from include.pipeline.reconcile import begin_cycle, reconcile
from include.pipeline.situation import Situation
from include.pipeline.stages import recorded_stage
from include.pipeline.trade import TradeSummary, trade
from include.settings import Settings
from include.store.unit_of_work import Database
from tests.support.builders import (
    AS_OF,
    WINDOW,
    a_bar_series,
    a_desired_order,
    a_quote,
    a_scored_strategy,
    an_instrument,
    an_issued_forecast,
)
from tests.support.fakes_broker import FakeBroker, an_intent
from tests.support.fakes_market import FakeBarSource, FakeCalendarSource, FakeQuoteSource

SYMBOLS = ("AAPL", "MSFT", "BTC/USD")
FIRST_DAY, LAST_DAY = date(2026, 9, 21), date(2026, 12, 4)
HALF_HOUR, HOUR = timedelta(minutes=30), timedelta(hours=1)
ENVIRONMENT = {
    "TRADEWIND_UNIVERSE__SYMBOLS": ",".join(SYMBOLS),
    "TRADEWIND_FORECAST__MODEL": "naive",
    "TRADEWIND_FORECAST__SAMPLES": "16",
    "TRADEWIND_DATA__CONTEXT_BARS": "32",
    "TRADEWIND_DATA__HISTORY_WINDOWS": "30",
    "TRADEWIND_STRATEGY__FIT_WINDOWS": "20",
    "TRADEWIND_STRATEGY__MINIMUM_SCORED_WINDOWS": "10",
    "TRADEWIND_PORTFOLIO__UNPROVEN": "probe",
    "TRADEWIND_SCHEDULE__KIND": "manual",
}


def weekday_sessions(first: date = FIRST_DAY, last: date = LAST_DAY) -> list[Session]:
    """Return a session from 14:30 to 21:00 UTC for every weekday of the stretch, both included."""
    days = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    return [
        Session(
            session_date=day,
            opens_at=datetime.combine(day, time(14, 30), tzinfo=UTC),
            closes_at=datetime.combine(day, time(21, 0), tzinfo=UTC),
        )
        for day in days
        if day.weekday() < 5
    ]


def market_bars(symbol: str, *, seed: int = 7, deviation: float = 0.004) -> BarSeries:
    """Return a random walk near 100 USD over the whole stretch: sessions, or every hour."""
    if asset_class_of(symbol) is AssetClass.CRYPTO:
        timeframe, step = Timeframe.HOUR, 3600
        first = int(datetime.combine(FIRST_DAY, time(0), tzinfo=UTC).timestamp())
        last = int(datetime.combine(LAST_DAY, time(0), tzinfo=UTC).timestamp())
        starts = np.arange(first, last, step, dtype=np.int64)
    else:
        timeframe, step = Timeframe.MINUTE_30, 1800
        opens = [int(each.opens_at.timestamp()) for each in weekday_sessions()]
        starts = (np.array(opens, dtype=np.int64)[:, None] + step * np.arange(13)).ravel()
    rng = np.random.default_rng([seed, *symbol.encode()])
    closes = 100.0 * np.exp(np.cumsum(rng.normal(0, deviation, len(starts))))
    opens_at = np.concatenate(([100.0], closes[:-1]))
    wicks = np.abs(rng.normal(0, deviation / 2, (2, len(starts))))
    highs = np.maximum(opens_at, closes) * (1 + wicks[0])
    lows = np.minimum(opens_at, closes) * (1 - wicks[1])
    volumes = np.full(len(starts), 1000.0)
    return BarSeries(
        symbol=symbol,
        timeframe=timeframe,
        starts=starts,
        ends=starts + step,
        values=np.column_stack((opens_at, highs, lows, closes, volumes, volumes * closes)),
    )


def listed_instrument(symbol: str) -> Instrument:
    """Return a shortable share, or a coin in steps of 0.0001."""
    if asset_class_of(symbol) is AssetClass.EQUITY:
        return Instrument(symbol=symbol, asset_class=AssetClass.EQUITY, is_shortable=True)
    return Instrument(
        symbol=symbol,
        asset_class=AssetClass.CRYPTO,
        is_fractionable=True,
        quantity_increment=Decimal("0.0001"),
        minimum_quantity=Decimal("0.0001"),
        price_increment_usd=Decimal("0.01"),
    )


@dataclass(kw_only=True)
class World:
    """A venue, a market and a store that cycles run in; a test moves its clock."""

    database: Database
    settings: Settings
    broker: FakeBroker
    bars: FakeBarSource
    quotes: FakeQuoteSource
    calendar: FakeCalendarSource = field(default_factory=FakeCalendarSource)

    def move_to(self, now: datetime, *, moves: Mapping[str, float] | None = None) -> None:
        """Set the venue's clock, and quotes at the last closes, moved by fractions."""
        self.broker.now = now
        for (symbol, _), series in self.bars.series.items():
            mid = float(series.closed_by(now).column(CLOSE)[-1])
            self.quote(symbol, mid * (1 + (moves or {}).get(symbol, 0.0)))

    def quote(self, symbol: str, mid: float, *, spread_bps: float = 2.0) -> None:
        """Serve a quote of the present instant."""
        half = mid * spread_bps / 20_000
        self.quotes.add(Quote(symbol=symbol, bid=mid - half, ask=mid + half, at=self.broker.now))

    def begin(self, run_id: str = "run-1", request: CycleRequest | None = None) -> Cycle:
        """Begin a cycle at the venue's present instant and reconcile its account."""
        cycle = begin_cycle(
            run_id=run_id,
            request=request or CycleRequest(),
            broker=self.broker,
            database=self.database,
            settings=self.settings,
        )
        reconcile(cycle=cycle, broker=self.broker, database=self.database)
        return cycle

    def fetch(self, cycle: Cycle) -> dict[str, str]:
        """Fetch as the task does; return the refusals."""
        with recorded_stage(self.database, cycle_id=cycle.cycle_id, stage="fetch") as detail:
            sessions, differences = fetch_sessions(
                cycle=cycle,
                broker=self.broker,
                calendar=self.calendar,
                database=self.database,
                first=history_start(cycle.as_of, Timeframe.MINUTE_30, self.settings),
            )
            fetch_bars(
                cycle=cycle,
                source=self.bars,
                sessions=sessions,
                database=self.database,
                settings=self.settings,
            )
            quotes = fetch_quotes(cycle=cycle, source=self.quotes, database=self.database)
            with self.database.unit_of_work() as uow:
                uow.instruments.save_all(
                    self.broker.instruments(cycle.symbols), seen_at=cycle.as_of
                )
                refusals = check_symbols(
                    cycle=cycle, uow=uow, quotes=quotes, sessions=sessions, settings=self.settings
                )
                uow.refusals.save_all(cycle.cycle_id, refusals)
                uow.commit()
            detail["calendar_differences"] = differences
        return refusals

    def predict(self, cycle: Cycle) -> list[plan_forecasts.Batch]:
        """Plan and make the cycle's forecasts; return the batches."""
        batches = plan_forecasts.run(run_id=cycle.cycle_id)
        for batch in batches:
            forecast.run(run_id=cycle.cycle_id, **batch)
        return batches

    def trade(self, cycle: Cycle) -> TradeSummary:
        """Trade as the task does."""
        with recorded_stage(self.database, cycle_id=cycle.cycle_id, stage="trade") as detail:
            summary = trade(
                cycle=cycle, broker=self.broker, database=self.database, settings=self.settings
            )
            detail.update(vars(summary))
        return summary

    def plan_cycle(self, run_id: str = "run-1", request: CycleRequest | None = None) -> Cycle:
        """Run a cycle up to and with `optimise`."""
        cycle = self.begin(run_id, request)
        self.fetch(cycle)
        self.predict(cycle)
        optimise.run(run_id=cycle.cycle_id)
        return cycle

    def plan_orders(self, run_id: str = "run-1") -> Cycle:
        """Begin a cycle that wants to buy three of every symbol, without asking a model."""
        cycle = self.begin(run_id)
        self.fetch(cycle)
        desired = [wanted_order(cycle, quote) for quote in self.quotes.quotes.values()]
        choices = [chosen_for(order) for order in desired]
        with self.database.unit_of_work() as uow:
            uow.strategies.save_choices(cycle.cycle_id, choices)
            uow.strategies.save_desired(cycle.cycle_id, desired)
            uow.strategies.mark_planned(cycle.cycle_id)
            uow.commit()
        return cycle

    def run_cycle(self, run_id: str = "run-1", request: CycleRequest | None = None) -> Cycle:
        """Run a whole cycle."""
        cycle = self.plan_cycle(run_id, request)
        self.trade(cycle)
        report.run(run_id=cycle.cycle_id)
        return cycle

    def stored(self, cycle: Cycle) -> dict[str, Any]:
        """Return everything that a cycle decided, as it is stored."""
        with self.database.unit_of_work() as uow:
            issued = uow.decisions.in_force(cycle.symbols, cycle.as_of)
            scores = uow.strategies.scores(cycle.cycle_id)
            return {
                "decisions": uow.decisions.by_cycle(cycle.cycle_id),
                "issued": issued,
                "scores": [(each.symbol, each.returns.tobytes()) for each in scores],
                "choices": uow.strategies.choices(cycle.cycle_id),
                "desired": uow.strategies.desired(cycle.cycle_id),
                "denials": uow.strategies.denials(cycle.cycle_id),
                "intents": uow.orders.by_cycle(cycle.cycle_id),
            }


def a_world(database: Database, settings: Settings, symbols: Sequence[str] = SYMBOLS) -> World:
    """Return a world at `AS_OF`, half an hour into a session."""
    sessions = weekday_sessions()
    world = World(
        database=database,
        settings=settings,
        broker=FakeBroker(
            calendar=sessions, listed={symbol: listed_instrument(symbol) for symbol in symbols}
        ),
        bars=FakeBarSource(),
        quotes=FakeQuoteSource(),
        calendar=FakeCalendarSource(sessions=sessions),
    )
    for symbol in symbols:
        world.bars.add(market_bars(symbol))
    world.move_to(AS_OF)
    return world


def wanted_order(cycle: Cycle, quote: Quote) -> DesiredOrder:
    """Return an entry of three a hundredth below the mid."""
    return a_desired_order(
        cycle_id=cycle.cycle_id,
        symbol=quote.symbol,
        quantity=Decimal(3),
        limit_price=round(Decimal(quote.mid) * Decimal("0.99"), 2),
        take_profit_price=None,
    )


def chosen_for(order: DesiredOrder) -> Choice:
    """Return the choice behind an entry that expects to gain two hundredths."""
    price = float(order.limit_price or 0)
    return Choice(
        symbol=order.symbol,
        strategy=order.strategy,
        standing=order.standing,
        side=1,
        entry_price=price,
        take_profit_price=None,
        expected_exit_price=price * 1.02,
        reason=order.reason,
        weight_fraction=0.01,
    )


def with_values(series: BarSeries, chosen: np.ndarray, factor: float) -> BarSeries:
    """Return the series with the chosen bars' prices times a factor."""
    values = series.values.copy()
    values[chosen, :4] *= factor
    return replace(series, values=values)


def a_situation(**overrides) -> Situation:
    """Return AAPL half an hour into `WINDOW`, which it entered at 100 USD, nothing refused."""
    series = a_bar_series(n=60)
    close = float(series.closed_by(WINDOW.opens_at).column(CLOSE)[-1])
    situation = Situation(
        symbol="AAPL",
        asset_class=AssetClass.EQUITY,
        series=with_values(series, np.ones(60, dtype=bool), 100.0 / close),
        quote=a_quote(),
        refusal=None,
        window=WINDOW,
        past_windows=(),
        instrument=an_instrument(),
    )
    return replace(situation, **overrides)


def a_holding(**overrides) -> Holding:
    """Return 10 shares bought at 99 USD in `WINDOW`, with a take-profit at 102."""
    order = a_desired_order()
    entry = an_intent(order, filled_quantity=Decimal(10), state=IntentState.TERMINAL)
    holding = Holding(
        symbol="AAPL",
        quantity=Decimal(10),
        entry=entry,
        take_profit_price=order.take_profit_price,
    )
    return replace(holding, **overrides)


def a_prospect(**overrides) -> Prospect:
    """Return AAPL with a forecast from 98.50 to 102.50 USD of the open window, not held."""
    outlook = Outlook(open=100.0, close=101.0, high=102.5, low=98.5, close_band=(99.0, 102.0))
    prospect = Prospect(
        situation=a_situation(),
        issued=an_issued_forecast(),
        outlook=outlook,
        scored=a_scored_strategy(),
        holding=None,
        window_intents=(),
    )
    return replace(prospect, **overrides)


def a_cycle(**overrides) -> Cycle:
    """Return a cycle of AAPL at `AS_OF`."""
    cycle = Cycle(
        cycle_id="cycle",
        as_of=AS_OF,
        account_id="account",
        settings_hash="settings",
        symbols=("AAPL",),
    )
    return replace(cycle, **overrides)
