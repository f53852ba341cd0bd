"""Plan forecasts: the gate through real rows, one reason per symbol, and the batches."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from include.domain.bars import Timeframe
from include.domain.cycles import Cycle, CycleRequest
from include.domain.decisions import Decision, ForecastDecision, Outcome, Reason
from include.domain.instants import epoch_seconds
from include.pipeline import plan_forecasts
from include.pipeline.plan_forecasts import batches_of, gate_limits, lacking_openings
from include.pipeline.situation import load_situations
from include.pipeline.wiring.forecast import decode_options, open_engine
from tests.support.builders import AS_OF
from tests.support.builders_pipeline import SYMBOLS, World, a_world, with_values

SOON = AS_OF + timedelta(minutes=10)


def second_cycle(world: World, request: CycleRequest | None = None) -> Cycle:
    """Fetch and predict a second cycle at the world's instant."""
    cycle = world.begin("run-2", request)
    world.fetch(cycle)
    world.predict(cycle)
    return cycle


def decisions_of(world: World, cycle: Cycle) -> Mapping[str, ForecastDecision]:
    """Return the stored decisions of a cycle."""
    with world.database.unit_of_work() as uow:
        return uow.decisions.by_cycle(cycle.cycle_id)


def test_second_cycle_within_thresholds_keeps_every_forecast(world):
    """Where nothing has moved, no symbol is predicted and no engine is asked."""
    first = world.plan_cycle()
    world.move_to(SOON)
    cycle = world.begin("run-2")
    world.fetch(cycle)
    assert world.predict(cycle) == []
    decisions = decisions_of(world, cycle)
    assert {each.reason for each in decisions.values()} == {Reason.WITHIN_THRESHOLD}
    assert world.stored(cycle)["issued"] == world.stored(first)["issued"]


def test_price_move_predicts_the_symbols_that_moved(world):
    """Shares are predicted again from 1 % on, either way, coins from 2 %, and nobody else is."""
    world.plan_cycle()
    moves = {"AAPL": 0.009, "MSFT": -0.012, "BTC/USD": 0.041}
    world.move_to(SOON, moves=moves)
    decisions = decisions_of(world, second_cycle(world))
    assert {symbol: each.reason for symbol, each in decisions.items()} == {
        "AAPL": Reason.WITHIN_THRESHOLD,
        "MSFT": Reason.PRICE_MOVED,
        "BTC/USD": Reason.PRICE_MOVED_URGENT,
    }
    for symbol, move in moves.items():
        assert decisions[symbol].move_fraction == pytest.approx(abs(move))


def test_forecast_younger_than_the_interval_is_kept_whatever_moved(world):
    """Within 300 seconds a forecast is fresh, and the numbers are stored beside the reason."""
    world.plan_cycle()
    world.move_to(AS_OF + timedelta(seconds=299), moves={"AAPL": 0.05})
    decision = decisions_of(world, second_cycle(world))["AAPL"]
    assert (decision.reason, decision.age_seconds) == (Reason.FRESH, 299)


def test_forced_symbol_without_a_new_bar_is_reanchored(world):
    """The answer is in the ledger already: the same key, issued at the new price."""
    first = world.plan_cycle()
    world.move_to(SOON, moves={"AAPL": 0.005})
    cycle = second_cycle(world, CycleRequest(is_forced=True))
    decision = decisions_of(world, cycle)["AAPL"]
    assert (decision.reason, decision.outcome) == (Reason.FORCED, Outcome.REANCHORED)
    old, new = (world.stored(each)["issued"]["AAPL"] for each in (first, cycle))
    assert new.content_key == old.content_key == decision.new_key
    assert new.price_at_issue == pytest.approx(old.price_at_issue * 1.005)


def test_revised_bar_of_the_context_predicts_again(world):
    """A correction inside the context of the forecast in force is seen by its key."""
    world.plan_cycle()
    series = world.bars.series["AAPL", Timeframe.MINUTE_30]
    is_revised = series.ends == epoch_seconds(AS_OF) - 24 * 3600
    world.bars.add(with_values(series, is_revised, 1.001))
    world.move_to(SOON)
    decisions = decisions_of(world, second_cycle(world))
    assert decisions["AAPL"].reason is Reason.DATA_REVISED
    assert decisions["AAPL"].new_key != decisions["AAPL"].old_key
    assert decisions["MSFT"].reason is Reason.WITHIN_THRESHOLD


def test_forecast_of_a_window_that_has_ended_is_predicted_again(world):
    """In the next window every symbol asks anew."""
    world.plan_cycle()
    world.move_to(AS_OF + timedelta(days=3))
    decisions = decisions_of(world, second_cycle(world))
    assert {each.reason for each in decisions.values()} == {Reason.TARGET_OVER}


def test_refused_symbol_is_blocked_and_says_why(world):
    """Refused data is neither predicted nor reused, and the refusal is the detail."""
    world.quotes.quotes.pop("BTC/USD")
    cycle = world.plan_cycle()
    decision = decisions_of(world, cycle)["BTC/USD"]
    assert (decision.decision, decision.reason) == (Decision.NONE, Reason.BLOCKED_DATA)
    assert decision.detail.startswith("quote_missing")


def test_other_number_of_samples_changes_the_configuration(world, make_settings):
    """A setting that changes forecasts has every symbol predicted again."""
    world.plan_cycle()
    changed = a_world(world.database, make_settings(FORECAST__SAMPLES="24"))
    changed.broker = world.broker
    changed.move_to(SOON)
    decisions = decisions_of(world, second_cycle(changed))
    assert {each.reason for each in decisions.values()} == {Reason.CONFIG_CHANGED}


def test_planning_twice_keeps_the_first_decisions(world):
    """A second run of the step neither decides again nor forgets what is missing."""
    cycle = world.begin()
    world.fetch(cycle)
    batches = plan_forecasts.run(run_id=cycle.cycle_id)
    before = decisions_of(world, cycle)
    assert plan_forecasts.run(run_id=cycle.cycle_id) == batches
    assert decisions_of(world, cycle) == before


def test_symbols_without_a_history_of_forecasts_are_asked(world, settings):
    """A symbol lacks openings until the ledger has the forecast of every past window."""
    cycle = world.begin()
    world.fetch(cycle)
    engine, options = open_engine("naive"), decode_options(settings)
    with world.database.unit_of_work() as uow:
        situations = list(load_situations(uow, cycle, settings).values())
        assert lacking_openings(uow, situations, engine, options, settings) == list(SYMBOLS)
    world.predict(cycle)
    with world.database.unit_of_work() as uow:
        assert lacking_openings(uow, situations, engine, options, settings) == []


def test_batches_hold_each_symbol_once_in_order():
    """Predicted symbols and those that lack history share batches of the size that was set."""
    predicted = ForecastDecision(symbol="B", decision=Decision.PREDICT, reason=Reason.FIRST)
    kept = replace(predicted, symbol="C", decision=Decision.KEEP)
    batches = batches_of([predicted, kept], ["D", "B", "A"], batch_symbols=2)
    assert batches == [
        {"label": "00", "symbols": ["A", "B"]},
        {"label": "01", "symbols": ["D"]},
    ]


def test_nothing_to_predict_is_no_batch():
    """Without a predicted symbol or one that lacks history, no task is mapped."""
    assert batches_of([], [], batch_symbols=14) == []


def test_gate_has_the_bounds_of_the_settings(make_settings):
    """Thresholds and ages of the gate are the settings' own."""
    settings = make_settings(REPREDICT__THRESHOLD_EQUITY="0.03", REPREDICT__MAX_AGE_SECONDS="60")
    limits = gate_limits(settings.repredict)
    assert (limits.threshold_equity_fraction, limits.max_age_seconds) == (0.03, 60)
