"""The desk as it is read from a real store."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import numpy as np
import pytest

from include.domain.choices import Choice
from include.domain.cycles import Cycle, CycleState
from include.domain.decisions import Decision, ForecastDecision, Outcome, Reason
from include.domain.forecasts import Forecast, SamplePaths
from include.domain.halts import HaltState
from include.domain.instants import epoch_seconds
from include.domain.orders import IntentState, Leg, OrderIntent, Side, Standing, TimeInForce
from include.domain.strategies import Denied
from include.errors import UnknownRow
from include.pipeline.desk import desk_view, forecast_fan
from include.pipeline.desk_values import DeskView
from include.pipeline.halt import set_latch
from include.store.unit_of_work import UnitOfWork
from tests.support.builders import (
    AS_OF,
    WINDOW,
    a_model_version,
    a_position,
    a_quote,
    an_account,
    an_issued_forecast,
)

CYCLE = Cycle(
    cycle_id="cycle-1",
    as_of=AS_OF,
    account_id="account",
    settings_hash="settings",
    symbols=("AAPL", "BTC/USD"),
)


def save_cycle(uow: UnitOfWork, **changes) -> Cycle:
    """Store a cycle that has just begun."""
    cycle = replace(CYCLE, **changes)
    uow.settings_versions.save(cycle.settings_hash, {})
    uow.cycles.save(cycle)
    return cycle


def a_forecast(key: str = "key") -> Forecast:
    """Return two paths of three steps around 100 USD, one a dollar above the other."""
    lower = np.tile(np.array([100, 102, 98, 101, 0, 0], dtype=np.float32), (3, 1))
    raised = lower + np.array([1, 1, 1, 1, 0, 0], dtype=np.float32)
    return Forecast(
        content_key=key,
        symbol="AAPL",
        model_version=a_model_version(),
        origin=WINDOW.opens_at,
        window=WINDOW,
        step_ends=epoch_seconds(AS_OF) + 1800 * np.arange(1, 4, dtype=np.int64),
        paths=SamplePaths(values=np.stack([lower, raised])),
        engine_seconds=0.1,
    )


def an_intent(**changes) -> OrderIntent:
    """Return a planned entry of AAPL."""
    intent = OrderIntent(
        client_order_id="client-1",
        cycle_id=CYCLE.cycle_id,
        account_id=CYCLE.account_id,
        symbol="AAPL",
        leg=Leg.ENTRY_LONG,
        side=Side.BUY,
        quantity=Decimal(10),
        limit_price=Decimal("98.50"),
        time_in_force=TimeInForce.DAY,
        window_opens_at=WINDOW.opens_at,
        window_ends_at=WINDOW.ends_at,
        revision=0,
        standing=Standing.PROBE,
        strategy="maxdiff",
        planned_at=AS_OF,
    )
    return replace(intent, **changes)


def save_full_cycle(uow: UnitOfWork) -> None:
    """Store a cycle with everything that a desk shows of AAPL, and a position of BTC/USD."""
    cycle_id = save_cycle(uow).cycle_id
    uow.halts.ensure(CYCLE.account_id, AS_OF)
    positions = [a_position(), a_position(symbol="BTCUSD", quantity="0.5", price="90000")]
    uow.accounts.save_snapshot(cycle_id, an_account(), positions, AS_OF)
    uow.quotes.save_all(cycle_id, [a_quote()])
    uow.forecasts.save_all([a_forecast()], AS_OF, {})
    kept = ForecastDecision(
        symbol="AAPL",
        decision=Decision.KEEP,
        reason=Reason.WITHIN_THRESHOLD,
        move_fraction=0.002,
        threshold_fraction=0.01,
        old_key="key",
    )
    blocked = ForecastDecision(
        symbol="BTC/USD",
        decision=Decision.NONE,
        reason=Reason.BLOCKED_DATA,
        detail="absent: no quote",
    )
    uow.decisions.save_all(cycle_id, [kept, blocked])
    uow.decisions.issue_all(cycle_id, {"AAPL": an_issued_forecast()}, {})
    denied = Denied(symbol="BTC/USD", reason="stale_forecast", found="none", bound="any")
    uow.strategies.save_denials(cycle_id, [denied])
    flat = Choice(
        symbol="BTC/USD",
        strategy="maxdiff",
        standing=None,
        side=0,
        entry_price=None,
        take_profit_price=None,
        reason="flat: not proven",
        weight_fraction=0.0,
    )
    uow.strategies.save_choices(cycle_id, [flat])
    uow.orders.plan(an_intent())
    uow.cycles.record_stage(cycle_id, "fetch", AS_OF, AS_OF + timedelta(seconds=2), detail={})


def desk_of(uow: UnitOfWork, cycle_id: str | None = None) -> DeskView:
    """Return the desk on the simulated venue."""
    return desk_view(uow, venue_is_simulated=True, cycle_id=cycle_id)


def test_is_empty_before_the_first_cycle(uow):
    """A store without a cycle gives a desk without figures, and no error."""
    assert desk_of(uow) == DeskView(venue_is_simulated=True)


def test_shows_a_cycle_that_has_only_begun(uow):
    """Before its first task has ended there are symbols without figures; no latch is a halt."""
    save_cycle(uow)
    view = desk_of(uow)
    assert (view.cycle_state, view.equity_usd, view.halt_state) == ("running", None, "halted")
    assert [(row.symbol, row.price, row.reason) for row in view.symbols] == [
        ("AAPL", None, None),
        ("BTC/USD", None, None),
    ]


def test_shows_the_latest_decided_cycle_while_the_next_one_works(uow):
    """A cycle that still works is named beside the one before it, whose rows are complete."""
    save_cycle(uow)
    uow.strategies.mark_planned(CYCLE.cycle_id)
    save_cycle(uow, cycle_id="next", as_of=AS_OF + timedelta(minutes=30))
    view = desk_of(uow)
    assert (view.cycle_id, view.running_cycle_id) == (CYCLE.cycle_id, "next")
    assert desk_of(uow, "next").running_cycle_id is None


def test_shows_what_the_store_holds_of_a_symbol(uow):
    """Quote, forecast, decision, position and order of a symbol meet in one row."""
    save_full_cycle(uow)
    row = desk_of(uow).symbols[0]
    assert row.price == pytest.approx(100.0)
    assert (row.forecast_low, row.forecast_close, row.forecast_high) == (98.5, 101.5, 102.5)
    assert row.age_seconds == 600.0
    assert (row.decision, row.reason, row.outcome) == (
        Decision.KEEP,
        Reason.WITHIN_THRESHOLD,
        Outcome.NONE,
    )
    assert row.position_quantity == 10
    assert [(order.leg, order.state, order.standing) for order in row.orders] == [
        ("entry_long", "planned", "probe")
    ]
    assert row.forecast_window == WINDOW


def test_finds_a_position_by_the_venues_spelling(uow):
    """The venue writes BTCUSD in positions; the row of BTC/USD shows it, and no second row."""
    save_full_cycle(uow)
    view = desk_of(uow)
    assert [row.symbol for row in view.symbols] == ["AAPL", "BTC/USD"]
    assert view.symbols[1].position_quantity == Decimal("0.5")


def test_shows_a_position_outside_the_universe(uow):
    """What is held is shown, whether or not the cycle considered it."""
    save_cycle(uow)
    uow.accounts.save_snapshot("cycle-1", an_account(), [a_position(symbol="ZZZ")], AS_OF)
    assert [row.symbol for row in desk_of(uow).symbols] == ["AAPL", "BTC/USD", "ZZZ"]


def test_says_why_a_symbol_is_not_traded(uow):
    """Refused data, denials and the choice's own reason stand in the row."""
    save_full_cycle(uow)
    row = desk_of(uow).symbols[1]
    assert (row.detail, row.choice_reason) == ("absent: no quote", "flat: not proven")
    assert [denied.reason for denied in row.denials] == ["stale_forecast"]


def test_an_order_appears_once(uow):
    """An order of this cycle that is still open is not doubled; an older open one joins."""
    save_full_cycle(uow)
    earlier = save_cycle(uow, cycle_id="cycle-0", as_of=AS_OF - timedelta(minutes=30))
    uow.orders.plan(an_intent(client_order_id="client-0", cycle_id=earlier.cycle_id, revision=1))
    view = desk_of(uow)
    assert len(view.symbols[0].orders) == len(view.working_orders) == 2


def test_an_order_that_is_over_leaves_the_working_ones(uow):
    """The journal's open rows are those to which something may still happen."""
    save_full_cycle(uow)
    for state in (IntentState.SENT, IntentState.TERMINAL):
        uow.orders.transition("client-1", to=state, at=AS_OF, venue_status="filled")
    view = desk_of(uow)
    assert view.working_orders == ()
    assert view.symbols[0].orders[0].venue_status == "filled"


def test_shows_recent_cycles_with_the_figures_of_their_reports(uow):
    """Seconds by stage, the reuse rate, and the sentence with which a stage failed."""
    save_full_cycle(uow)
    uow.cycles.finish("cycle-1", CycleState.FAILED)
    uow.cycles.record_stage(
        "cycle-1", "trade", AS_OF, AS_OF, detail={"error": "The venue is away."}, part="failed"
    )
    (row,) = desk_of(uow).cycles
    assert (row.state, row.seconds, row.stage_seconds) == ("failed", 2.0, {"fetch": 2.0})
    assert (row.reuse_rate_fraction, row.faults) == (1.0, ("trade: The venue is away.",))


def test_shows_the_cycle_that_is_asked_for(uow):
    """The tab of a run shows that run's cycle, or none, but never another one."""
    save_full_cycle(uow)
    save_cycle(uow, cycle_id="cycle-2", as_of=AS_OF + timedelta(minutes=30))
    assert desk_of(uow).cycle_id == "cycle-2"
    assert desk_of(uow, "cycle-1").as_of == AS_OF
    assert desk_of(uow, "absent").cycle_id is None


def test_equity_curve_is_the_accounts_own_and_rises_in_time(uow):
    """Snapshots of another account are left out."""
    save_full_cycle(uow)
    other = save_cycle(uow, cycle_id="other", account_id="other", as_of=AS_OF - timedelta(days=1))
    uow.accounts.save_snapshot("other", an_account(account_id="other"), [], other.as_of)
    assert [(point.at, point.equity_usd) for point in desk_of(uow).equity_curve] == [
        (AS_OF, 100_000.0)
    ]


def test_fan_gives_quantiles_of_the_close_for_each_step(uow):
    """The fan holds each level at each future bar's end, in order."""
    save_full_cycle(uow)
    fan = forecast_fan(uow, "AAPL")
    assert fan is not None
    assert (fan.samples, len(fan.steps), len(fan.levels)) == (2, 3, 5)
    assert fan.steps[0].ends_at == AS_OF + timedelta(minutes=30)
    assert fan.steps[0].close_quantiles == pytest.approx((101.1, 101.25, 101.5, 101.75, 101.9))


@pytest.mark.parametrize("symbol", ["BTC/USD", "absent"])
def test_fan_of_a_symbol_without_a_forecast_is_none(uow, symbol):
    """Neither a known nor an unknown symbol without a forecast is an error."""
    assert forecast_fan(uow, symbol) is None
    save_full_cycle(uow)
    assert forecast_fan(uow, symbol) is None


def test_latch_is_set_and_lifted_with_its_reason(uow):
    """What a person sets on the desk is what the desk then shows."""
    save_full_cycle(uow)
    set_latch(uow, HaltState.HALTED, reason="odd fills", actor="Ada", at=AS_OF)
    assert (desk_of(uow).halt_state, desk_of(uow).halt_reason) == ("halted", "odd fills")
    assert set_latch(uow, HaltState.ACTIVE, reason="calm", actor="Ada", at=AS_OF) == "active"


def test_latch_needs_an_account(uow):
    """Before the first cycle there is no account to halt."""
    with pytest.raises(UnknownRow, match="No account has the key"):
        set_latch(uow, HaltState.HALTED, reason="odd", actor="Ada", at=AS_OF)
