"""Forecast: one call for all questions of a batch, and none for those already answered."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from include.domain.decisions import Outcome
from include.domain.forecasts import Forecast, ForecastRequest
from include.errors import NonFiniteForecast
from include.forecast.baselines import NaiveEngine
from include.forecast.config import DecodeOptions
from include.pipeline import forecast as forecast_step
from include.pipeline import plan_forecasts
from include.pipeline.forecast import Engines, answer, forecast, open_engines
from include.pipeline.forecast_work import live_question
from include.pipeline.situation import load_situations
from tests.support.builders import AS_OF, a_forecast_request
from tests.support.builders_pipeline import World


class CountingEngine(NaiveEngine):
    """Counts its calls and the questions of each."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def forecast(
        self, requests: Sequence[ForecastRequest], options: DecodeOptions
    ) -> list[Forecast]:
        """Answer as the naive model does."""
        self.calls.append(len(requests))
        return super().forecast(requests, options)


class FailingEngine(CountingEngine):
    """Answers nothing."""

    def forecast(
        self, requests: Sequence[ForecastRequest], options: DecodeOptions
    ) -> list[Forecast]:
        """Say that the first answer was not finite."""
        raise NonFiniteForecast(symbol=requests[0].symbol, model="failing")


def planned(world: World):
    """Return a cycle with decisions, and its situations."""
    cycle = world.begin()
    world.fetch(cycle)
    plan_forecasts.run(run_id=cycle.cycle_id)
    with world.database.unit_of_work() as uow:
        situations = load_situations(uow, cycle, world.settings)
    return cycle, list(situations.values())


def engines_with(world: World, engine: NaiveEngine) -> Engines:
    """Return the settings' engines with another model."""
    return replace(open_engines(world.settings), model=engine)


def run_forecast(world: World, cycle, situations, engines: Engines) -> dict[str, int]:
    """Forecast all situations of a cycle in one batch."""
    return forecast(
        cycle=cycle,
        situations=situations,
        engines=engines,
        database=world.database,
        settings=world.settings,
    )


def test_model_is_called_once_for_a_whole_batch(world):
    """Live and past questions of every symbol go to the engine together."""
    cycle, situations = planned(world)
    engine = CountingEngine()
    counts = run_forecast(world, cycle, situations, engines_with(world, engine))
    assert engine.calls == [counts["computed"]]
    assert counts["issued"] == 3
    assert counts["computed"] >= 3 * 30


def test_questions_with_an_answer_are_not_asked_again(world):
    """A second run asks the engine nothing and issues nothing."""
    cycle, situations = planned(world)
    run_forecast(world, cycle, situations, open_engines(world.settings))
    engine = CountingEngine()
    counts = run_forecast(world, cycle, situations, engines_with(world, engine))
    assert engine.calls == []
    assert (counts["computed"], counts["issued"]) == (0, 0)


def test_engine_that_fails_leaves_the_decision_pending_for_the_retry(world):
    """Nothing is in force after a failure, and a retry completes what was decided."""
    cycle, situations = planned(world)
    with pytest.raises(NonFiniteForecast, match="failing"):
        run_forecast(world, cycle, situations, engines_with(world, FailingEngine()))
    stored = world.stored(cycle)
    assert {each.outcome for each in stored["decisions"].values()} == {Outcome.PENDING}
    assert stored["issued"] == {}
    run_forecast(world, cycle, situations, open_engines(world.settings))
    assert {each.outcome for each in world.stored(cycle)["decisions"].values()} == {
        Outcome.COMPUTED
    }


def test_answer_that_another_cycle_computed_is_a_hit(world):
    """A question that the ledger answers is issued without the engine."""
    cycle, situations = planned(world)
    engines = open_engines(world.settings)
    live = [live_question(each, cycle.as_of, world.settings) for each in situations]
    questions = [each for each in live if each is not None]
    answer(questions, engines.model, engines.options, cycle, world.database)
    run_forecast(world, cycle, situations, engines)
    decisions = world.stored(cycle)["decisions"]
    assert {each.outcome for each in decisions.values()} == {Outcome.STORE_HIT}
    assert {each.engine_seconds for each in decisions.values()} == {0.0}


def test_equal_questions_are_asked_once(world):
    """Two questions with one key are one question to the engine."""
    engine, request = CountingEngine(), a_forecast_request()
    found = answer(
        [request, request],
        engine,
        open_engines(world.settings).options,
        world.begin(),
        world.database,
    )
    assert engine.calls == [1]
    assert len(found) == 1


def test_window_that_ended_while_the_cycle_ran_completes_as_failed(world):
    """A decision whose window is no longer open is completed with the reason, not left behind."""
    cycle, situations = planned(world)
    closed = [replace(each, window=None) for each in situations]
    counts = run_forecast(world, cycle, closed, open_engines(world.settings))
    assert counts["issued"] == 0
    decisions = world.stored(cycle)["decisions"].values()
    assert {(each.outcome, each.detail) for each in decisions} == {
        (Outcome.FAILED, "no open window")
    }


def test_control_of_each_forecast_in_force_is_named(world):
    """Beside every forecast in force stands the key of the control's answer."""
    cycle = world.plan_cycle()
    with world.database.unit_of_work() as uow:
        controls = uow.decisions.control_key_in_force(cycle.symbols, cycle.as_of)
        assert set(controls) == set(cycle.symbols)
        assert uow.forecasts.existing(list(controls.values())) == set(controls.values())


def test_batch_completes_its_own_symbols_alone(world):
    """A mapped task leaves the decisions of other batches pending."""
    cycle, _ = planned(world)
    forecast_step.run(run_id=cycle.cycle_id, symbols=["MSFT"], label="00")
    outcomes = {symbol: each.outcome for symbol, each in world.stored(cycle)["decisions"].items()}
    assert outcomes == {
        "AAPL": Outcome.PENDING,
        "BTC/USD": Outcome.PENDING,
        "MSFT": Outcome.COMPUTED,
    }


def test_kept_symbol_keeps_its_issue(world):
    """A batch that only completes a kept symbol's history issues no forecast of it."""
    first = world.plan_cycle()
    world.move_to(AS_OF + timedelta(minutes=10))
    cycle = world.begin("run-2")
    world.fetch(cycle)
    plan_forecasts.run(run_id=cycle.cycle_id)
    forecast_step.run(run_id=cycle.cycle_id, symbols=["AAPL"], label="00")
    assert world.stored(cycle)["issued"] == world.stored(first)["issued"]
