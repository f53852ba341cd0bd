"""No bit of a decision depends on anything that ended, or was recorded, after its `as_of`."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest

from include.domain.bars import BarSeries, Timeframe
from include.domain.cycles import Cycle
from include.forecast.walk_forward import live_request
from include.pipeline.forecast import open_engines
from include.pipeline.forecast_work import keyed, live_question, opening_questions
from include.pipeline.optimise import optimise
from include.pipeline.plan_forecasts import plan_forecasts
from include.pipeline.situation import load_situations
from include.settings import Settings
from include.store.bars import BarRepository
from include.store.unit_of_work import UnitOfWork
from tests.support.builders import AS_OF
from tests.support.builders_pipeline import World, a_world, with_values
from tests.support.postgres import EmbeddedPostgres

SEEDS = range(2)
LATER = AS_OF + timedelta(hours=3)


class LeakyBars:
    """The planted leak: a loader that takes whatever is stored by a later instant."""

    def __init__(self, bars: BarRepository, *, sees_until: datetime) -> None:
        self._bars = bars
        self._sees_until = sees_until

    def load_all(
        self,
        symbols: Sequence[str],
        timeframe: Timeframe,
        as_of: datetime,
        limit: int | None = None,
    ) -> dict[str, BarSeries]:
        """Return bars as they are known later than `as_of`."""
        return self._bars.load_all(symbols, timeframe, self._sees_until, limit)


def decided(uow: UnitOfWork, cycle: Cycle, settings: Settings) -> str:
    """Return every bit that a cycle decides from what the store holds now."""
    engines = open_engines(settings)
    situations = load_situations(uow, cycle, settings)
    decisions = plan_forecasts(
        cycle=cycle,
        situations=situations,
        in_force=uow.decisions.in_force(cycle.symbols, cycle.as_of),
        engine=engines.model,
        options=engines.options,
        settings=settings,
    )
    questions = [
        question
        for situation in situations.values()
        for question in (
            *opening_questions(situation, settings),
            live_question(situation, cycle.as_of, settings),
        )
        if question is not None
    ]
    keys = [each.key for each in keyed(questions, engines.model, engines.options)]
    plan = optimise(uow=uow, cycle=cycle, engines=engines, settings=settings)
    returns = [each.returns.tobytes().hex() for each in plan.scores]
    return repr((decisions, keys, returns, plan.choices, plan.desired, plan.denials))


def tampered(series: BarSeries, as_of: datetime, *, seed: int) -> BarSeries:
    """Return the series with the bars that end after the instant changed, shuffled or removed."""
    rng = np.random.default_rng(seed)
    is_later = series.ends > int(as_of.timestamp())
    changed = with_values(series, is_later, float(rng.uniform(0.7, 1.4)))
    order = np.flatnonzero(is_later)
    values = changed.values.copy()
    values[order] = values[rng.permutation(order)]
    is_kept = ~is_later | (rng.random(len(series)) < 0.7)
    return replace(changed, values=values).take(is_kept)


def fingerprint(world: World, cycle: Cycle) -> dict[str, Any]:
    """Return what a cycle stored, but for the seconds that an engine took."""
    stored = world.stored(cycle)
    stored["decisions"] = [
        replace(each, engine_seconds=0.0) for each in stored["decisions"].values()
    ]
    return stored


@pytest.mark.parametrize("seed", SEEDS)
def test_other_future_at_the_source_gives_the_same_cycles(
    world: World, settings: Settings, postgres: EmbeddedPostgres, seed: int
):
    """Two cycles store the same bits whatever the source holds beyond their instants."""
    second_at = AS_OF + timedelta(minutes=90)
    first = fingerprint(world, world.plan_cycle("run-1"))
    world.move_to(second_at)
    second = fingerprint(world, world.plan_cycle("run-2"))
    postgres.empty_tables()
    other = a_world(world.database, settings)
    for series in list(other.bars.series.values()):
        other.bars.add(tampered(series, AS_OF, seed=seed))
    assert fingerprint(other, other.plan_cycle("run-1")) == first
    for series in world.bars.series.values():
        other.bars.add(tampered(series, second_at, seed=seed))
    other.move_to(second_at)
    assert fingerprint(other, other.plan_cycle("run-2")) == second


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_of_the_future_change_no_bit(world: World, settings: Settings, seed: int):
    """Later bars, later revisions of past bars and later quotes leave a stored cycle as it is."""
    cycle = world.plan_cycle()
    with world.database.unit_of_work() as uow:
        before = decided(uow, cycle, settings)
    spoil_the_future(world, cycle, seed=seed)
    with world.database.unit_of_work() as uow:
        assert decided(uow, cycle, settings) == before


@pytest.mark.parametrize("seed", SEEDS)
def test_planted_leak_is_found(world: World, settings: Settings, seed: int):
    """The same comparison tells a loader that ignores `as_of` from one that does not."""
    cycle = world.plan_cycle()
    with world.database.unit_of_work() as uow:
        before = decided(uow, cycle, settings)
    spoil_the_future(world, cycle, seed=seed)
    with world.database.unit_of_work() as uow:
        uow.bars = LeakyBars(uow.bars, sees_until=LATER)  # type: ignore[assignment]  # the leak
        assert decided(uow, cycle, settings) != before


def spoil_the_future(world: World, cycle: Cycle, *, seed: int) -> None:
    """Store other bars after `as_of`, revisions recorded later, and a later cycle's quotes."""
    rng = np.random.default_rng(seed)
    with world.database.unit_of_work() as uow:
        for series in world.bars.series.values():
            uow.bars.save(tampered(series, cycle.as_of, seed=seed).last(60), LATER)
            past = series.closed_by(cycle.as_of).last(20)
            revised = with_values(past, np.ones(len(past), dtype=bool), float(rng.uniform(0.8, 1)))
            uow.bars.save(revised, recorded_at=LATER)
        uow.cycles.save(replace(cycle, cycle_id="later", as_of=LATER))
        quotes = uow.quotes.by_cycle(cycle.cycle_id).values()
        uow.quotes.save_all("later", [replace(each, bid=1.0, at=LATER) for each in quotes])
        uow.commit()


def test_opening_question_of_history_is_what_was_asked_live(world: World, settings: Settings):
    """The walk-forward key of a window's opening is the key of a cycle begun at that opening."""
    opening = AS_OF - timedelta(minutes=30)
    world.move_to(opening)
    cycle = world.plan_cycle()
    issued = world.stored(cycle)["issued"]["AAPL"]
    world.move_to(AS_OF)
    later = world.plan_cycle("run-2")
    engines = open_engines(settings)
    with world.database.unit_of_work() as uow:
        situation = load_situations(uow, later, settings)["AAPL"]
    asked = opening_questions(situation, settings)[-1]
    assert keyed([asked], engines.model, engines.options)[0].key == issued.content_key
    again = live_request(situation.series, asked.window, opening, context_bars=32)
    assert keyed([again], engines.model, engines.options)[0].key == issued.content_key
