"""Optimise: a plan from rows alone, with a reason for each symbol, kept once it is stored."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from include.domain.orders import Leg, Standing
from include.errors import UnknownRow
from include.pipeline import optimise as optimise_step
from include.pipeline.forecast import open_engines
from include.pipeline.optimise import choose_symbols, exit_orders, optimise
from tests.support.builders import AS_OF, a_scored_strategy
from tests.support.builders_pipeline import (
    SYMBOLS,
    a_cycle,
    a_holding,
    a_prospect,
    a_situation,
    a_world,
)


def test_plan_has_a_choice_with_a_reason_for_every_usable_symbol(world):
    """Each symbol with a forecast in force is chosen or flat, and says why."""
    world.quotes.quotes.pop("MSFT")
    stored = world.stored(world.plan_cycle())
    assert {each.symbol for each in stored["choices"]} == set(SYMBOLS) - {"MSFT"}
    assert all(each.reason for each in stored["choices"])
    assert all(each.reason for each in stored["desired"])


def test_optimising_writes_nothing(world, settings):
    """The use-case only reads: storing the plan is the step's own transaction."""
    cycle = world.begin()
    world.fetch(cycle)
    world.predict(cycle)
    with world.database.unit_of_work() as uow:
        plan = optimise(uow=uow, cycle=cycle, engines=open_engines(settings), settings=settings)
        uow.commit()
    assert plan.desired
    stored = world.stored(cycle)
    assert (stored["choices"], stored["desired"], stored["scores"]) == ([], [], [])


def test_stored_plan_is_kept(world):
    """A second run of the step returns the first plan's counts, though the rows have changed."""
    cycle = world.plan_cycle()
    before = world.stored(cycle)
    with world.database.unit_of_work() as uow:
        later = replace(cycle, cycle_id="run-2", as_of=AS_OF + timedelta(minutes=1))
        uow.cycles.save(later)
        uow.commit()
    assert optimise_step.run(run_id=cycle.cycle_id) == {"choices": 3, "desired": 3}
    assert world.stored(cycle) == before


def test_cycle_without_an_account_is_refused(world, settings):
    """Without the reconciled account there is nothing to size by."""
    cycle = world.begin()
    with (
        world.database.unit_of_work() as uow,
        pytest.raises(UnknownRow, match="account snapshot"),
    ):
        optimise(
            uow=uow,
            cycle=replace(cycle, cycle_id="another"),
            engines=open_engines(settings),
            settings=settings,
        )


def test_without_probing_unproven_symbols_stay_flat(database, make_settings):
    """Where nothing has earned its size and probing is off, cash is the position."""
    world = a_world(database, make_settings(PORTFOLIO__UNPROVEN="off"))
    stored = world.stored(world.plan_cycle())
    assert {each.side for each in stored["choices"]} == {0}
    assert all(each.reason.startswith("unproven") for each in stored["choices"])
    assert stored["desired"] == []


def test_symbol_with_an_obstacle_is_flat_and_says_which(settings):
    """A held symbol keeps its score and takes no second entry."""
    prospects = {"AAPL": a_prospect(holding=a_holding())}
    (choice,) = choose_symbols(prospects, a_cycle(), settings)
    assert (choice.side, choice.reason) == (0, "10 are held already")


def test_proven_symbol_is_chosen_with_its_standing(settings):
    """An eligible score makes an entry proven."""
    prospects = {"AAPL": a_prospect(scored=a_scored_strategy(is_eligible=True))}
    (choice,) = choose_symbols(prospects, a_cycle(), settings)
    assert (choice.standing, choice.side) == (Standing.PROVEN, 1)


def exits_of(prospect, settings):
    """Return the exits of one holding in front of a prospect."""
    return exit_orders(
        {"AAPL": a_situation()},
        {"AAPL": a_holding()},
        {"AAPL": prospect} if prospect else {},
        a_cycle(),
        settings,
    )


def test_exit_follows_the_forecast_in_force_on_the_same_side(settings):
    """While the forecast stays on the holding's side, its own level is the take-profit."""
    scored = a_scored_strategy(closes_at_eod=False)
    (order,) = exits_of(a_prospect(scored=scored), settings)
    assert (order.leg, order.limit_price) == (Leg.EXIT, Decimal("102.50"))


def test_exit_keeps_the_entrys_level_where_the_forecast_turned(settings):
    """A forecast of the other side, or none, leaves the level of the entry."""
    scored = a_scored_strategy(closes_at_eod=False)
    base = a_prospect(scored=scored)
    turned = replace(base, outlook=replace(base.outlook, high=100.5, low=97.0, close=98.0))
    for prospect in (turned, None):
        (order,) = exits_of(prospect, settings)
        assert order.limit_price == Decimal("102.00")


def test_holding_outside_of_the_cycles_symbols_is_left_alone(settings):
    """A cycle of some symbols closes nothing of the others."""
    assert exit_orders({}, {"AAPL": a_holding()}, {}, a_cycle(), settings) == []
