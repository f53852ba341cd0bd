"""A whole cycle over fakes and a real store: what it leaves, and that repeating adds nothing."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta

import pytest

from include.domain.cycles import Cycle
from include.domain.decisions import Decision, Outcome, Reason
from include.domain.orders import IntentState
from include.pipeline import optimise, report
from include.pipeline.views import cycle_report
from tests.support.builders import AS_OF
from tests.support.builders_pipeline import SYMBOLS, World, a_world

STEPS: dict[str, Callable[[World, Cycle], object]] = {
    "reconcile": lambda world, cycle: world.begin(cycle.cycle_id),
    "fetch": lambda world, cycle: world.fetch(cycle),
    "predict": lambda world, cycle: world.predict(cycle),
    "optimise": lambda _, cycle: optimise.run(run_id=cycle.cycle_id),
    "trade": lambda world, cycle: world.trade(cycle),
    "report": lambda _, cycle: report.run(run_id=cycle.cycle_id),
}


def run_steps(world: World, cycle: Cycle, first: str) -> None:
    """Run a cycle's steps again, from one of them on."""
    names = list(STEPS)
    for name in names[names.index(first) :]:
        STEPS[name](world, cycle)


@pytest.fixture
def busy(world: World) -> tuple[World, Cycle]:
    """Give a world whose second cycle has predicted, cancelled, placed and denied."""
    world.run_cycle("run-1")
    world.move_to(AS_OF + timedelta(minutes=90))
    cycle = world.run_cycle("run-2")
    stored = world.stored(cycle)
    assert stored["denials"]
    assert stored["intents"]
    assert world.broker.cancels
    return world, cycle


def test_cycle_decides_once_per_symbol_and_says_why(world):
    """A first cycle has exactly one decision for each symbol, all of them first predictions."""
    cycle = world.run_cycle()
    decisions = world.stored(cycle)["decisions"]
    assert sorted(decisions) == sorted(SYMBOLS)
    assert {each.reason for each in decisions.values()} == {Reason.FIRST}
    assert {each.outcome for each in decisions.values()} == {Outcome.COMPUTED}


def test_cycle_stores_the_forecasts_that_it_puts_in_force(world):
    """Each forecast in force is in the ledger and is the one that the decision names."""
    cycle = world.run_cycle()
    stored = world.stored(cycle)
    keys = {symbol: issued.content_key for symbol, issued in stored["issued"].items()}
    assert keys == {symbol: each.new_key for symbol, each in stored["decisions"].items()}
    with world.database.unit_of_work() as uow:
        assert uow.forecasts.existing(list(keys.values())) == set(keys.values())


def test_cycle_places_the_orders_that_it_wants(world):
    """Every desired order is at the venue under the id of its journal row."""
    cycle = world.run_cycle()
    stored = world.stored(cycle)
    assert len(stored["desired"]) == len(stored["intents"]) == 3
    assert {each.state for each in stored["intents"]} == {IntentState.ACKED}
    assert {each.client_order_id for each in stored["intents"]} == set(world.broker.orders)


def test_counts_by_reason_add_up_to_the_universe(busy):
    """In a mixed cycle the report's reasons, and its decisions, each add up to the universe."""
    world, cycle = busy
    world.move_to(cycle.as_of + timedelta(minutes=1))
    world.quotes.quotes.pop("MSFT")
    cycle = world.run_cycle("run-3")
    told = cycle_report(cycle.cycle_id)
    assert told["reasons"] == {"fresh": 2, "blocked_data": 1}
    assert sum(told["reasons"].values()) == told["symbols"] == len(SYMBOLS)
    assert told["predicted"] + told["reused"] + told["blocked"] == len(SYMBOLS)
    assert Counter(each["decision"] for each in told["decisions"])[Decision.NONE] == 1


def test_running_again_from_any_step_changes_nothing(busy):
    """Repeating the chain from any step on changes no row and reaches the venue with no order."""
    world, cycle = busy
    before = world.stored(cycle)
    calls = (list(world.broker.submissions), list(world.broker.cancels))
    for first in STEPS:
        run_steps(world, cycle, first)
        assert world.stored(cycle) == before, f"changed by a run from {first} on"
    assert (world.broker.submissions, world.broker.cancels) == calls


def test_cycle_whose_every_step_ran_twice_is_the_same_cycle(world, postgres):
    """Steps that each run twice in a row leave what steps that run once leave."""
    once = world.stored(world.run_cycle())
    postgres.empty_tables()
    twice = a_world(world.database, world.settings)
    cycle = twice.begin()
    for step in STEPS.values():
        step(twice, cycle)
        step(twice, cycle)
    again = twice.stored(cycle)
    assert again["desired"] == once["desired"]
    assert again["intents"] == once["intents"]
    assert twice.broker.submissions == world.broker.submissions


def test_cycle_repeated_after_the_clock_moved_keeps_its_instant(busy):
    """A cycle repeated after the venue's clock has moved still speaks of its own `as_of`."""
    world, cycle = busy
    before = world.stored(cycle)
    world.move_to(cycle.as_of + timedelta(minutes=20))
    run_steps(world, cycle, "reconcile")
    assert world.stored(cycle) == before
