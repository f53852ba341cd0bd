"""Optimise: score every strategy on windows it never saw, choose, and write the desired orders."""

from collections.abc import Sequence
from dataclasses import dataclass

from include.domain.choices import Choice
from include.domain.cycles import Cycle
from include.domain.orders import DesiredOrder
from include.domain.strategies import Denied, ScoredStrategy
from include.errors import UnknownRow
from include.pipeline.entries import (
    Prospect,
    candidate_of,
    entry_order,
    explained,
    obstacle,
    prospect_levels,
    sizing_limits,
    take_profit_price,
)
from include.pipeline.exits import exit_order
from include.pipeline.forecast import Engines, open_engines
from include.pipeline.holdings import Holding, load_holdings
from include.pipeline.scores import score_symbols
from include.pipeline.situation import Situation, load_situations
from include.pipeline.stages import recorded_stage
from include.pipeline.wiring.store import open_database
from include.settings import Settings, Unproven, load_settings
from include.store.unit_of_work import UnitOfWork
from include.strategy.choose import ChoiceOptions, choose
from include.strategy.levels import NO_LEVELS


@dataclass(frozen=True, kw_only=True)
class CyclePlan:
    """What a cycle wants: a choice per usable symbol, orders with reasons, and our own noes."""

    scores: tuple[ScoredStrategy, ...]
    choices: tuple[Choice, ...]
    desired: tuple[DesiredOrder, ...]
    denials: tuple[Denied, ...]


def optimise(*, uow: UnitOfWork, cycle: Cycle, engines: Engines, settings: Settings) -> CyclePlan:
    """Return the plan of a cycle from rows of the store alone; nothing is written.

    Symbols without a usable forecast get no choice, and so keep the orders that they have.
    """
    situations = load_situations(uow, cycle, settings)
    snapshot = uow.accounts.snapshot(cycle.cycle_id)
    if snapshot is None:
        raise UnknownRow(kind="account snapshot", key=cycle.cycle_id)
    account, positions = snapshot
    holdings = load_holdings(uow, cycle, positions)
    prospects = load_prospects(uow, cycle, situations, holdings, engines, settings)
    choices = choose_symbols(prospects, cycle, settings)
    entries = [
        order
        for choice in choices
        if (
            order := entry_order(
                choice,
                prospects[choice.symbol],
                cycle,
                equity_usd=account.equity_usd,
                settings=settings,
            )
        )
    ]
    exits = exit_orders(situations, holdings, prospects, cycle, settings)
    return CyclePlan(
        scores=tuple(prospect.scored for prospect in prospects.values()),
        choices=tuple(choices),
        desired=(*exits, *(order for order in entries if isinstance(order, DesiredOrder))),
        denials=tuple(order for order in entries if isinstance(order, Denied)),
    )


def load_prospects(
    uow: UnitOfWork,
    cycle: Cycle,
    situations: dict[str, Situation],
    holdings: dict[str, Holding],
    engines: Engines,
    settings: Settings,
) -> dict[str, Prospect]:
    """Return the symbols that passed the data gate and have a forecast in force, scored."""
    issued = uow.decisions.in_force(cycle.symbols, cycle.as_of)
    usable = [
        situation
        for symbol, situation in situations.items()
        if situation.refusal is None and symbol in issued
    ]
    outlooks = uow.forecasts.outlooks([issued[each.symbol].content_key for each in usable])
    scores = score_symbols(uow, usable, engines, settings)
    return {
        situation.symbol: Prospect(
            situation=situation,
            issued=issued[situation.symbol],
            outlook=outlooks[issued[situation.symbol].content_key],
            scored=scores[situation.symbol],
            holding=holdings.get(situation.symbol),
            window_intents=tuple(
                uow.orders.intents_of_window(
                    cycle.account_id, issued[situation.symbol].window_opens_at, situation.symbol
                )
            ),
        )
        for situation in usable
    }


def choose_symbols(
    prospects: dict[str, Prospect], cycle: Cycle, settings: Settings
) -> list[Choice]:
    """Return one choice per prospect; a symbol that may not enter now is flat, and says why."""
    obstacles = {
        symbol: reason
        for symbol, prospect in prospects.items()
        if (reason := obstacle(prospect, cycle, settings)) is not None
    }
    candidates = [
        candidate_of(
            prospect, NO_LEVELS if symbol in obstacles else prospect_levels(prospect, settings)
        )
        for symbol, prospect in prospects.items()
    ]
    options = ChoiceOptions(
        sizing=sizing_limits(settings),
        is_probing=settings.portfolio.unproven is Unproven.PROBE,
        max_probes=len(settings.universe.symbols),
    )
    return explained(choose(candidates, options), obstacles)


def exit_orders(
    situations: dict[str, Situation],
    holdings: dict[str, Holding],
    prospects: dict[str, Prospect],
    cycle: Cycle,
    settings: Settings,
) -> list[DesiredOrder]:
    """Return the orders that close our holdings, at levels of the forecast in force.

    Where the forecast has changed its side, or there is none, the entry's own level stays.
    """
    orders: list[DesiredOrder] = []
    for symbol, holding in holdings.items():
        situation = situations.get(symbol)
        if situation is None:
            continue
        take_profit = holding.take_profit_price
        prospect = prospects.get(symbol)
        if prospect is not None and take_profit is not None and situation.instrument:
            levels = prospect_levels(prospect, settings)
            if levels.side * holding.quantity > 0:
                take_profit = (
                    take_profit_price(levels.take_profit, levels.side, situation.instrument)
                    or take_profit
                )
        order = exit_order(holding, situation, cycle, take_profit=take_profit)
        orders += [order] if order is not None else []
    return orders


def save_plan(uow: UnitOfWork, cycle: Cycle, plan: CyclePlan) -> None:
    """Store a plan; the mark that it is complete is the last row of the transaction."""
    uow.strategies.save_scores(cycle.cycle_id, list(plan.scores))
    uow.strategies.save_choices(cycle.cycle_id, list(plan.choices))
    uow.strategies.save_desired(cycle.cycle_id, list(plan.desired))
    uow.strategies.save_denials(cycle.cycle_id, list(plan.denials))
    uow.strategies.mark_planned(cycle.cycle_id)


def run(*, run_id: str) -> dict[str, int]:
    """Plan a cycle; a second run keeps the stored plan. Return counts."""
    settings, database = load_settings(), open_database()
    with recorded_stage(database, cycle_id=run_id, stage="optimise") as detail:
        with database.unit_of_work() as uow:
            cycle = uow.cycles.require(run_id)
            if not uow.strategies.is_planned(run_id):
                plan = optimise(
                    uow=uow, cycle=cycle, engines=open_engines(settings), settings=settings
                )
                save_plan(uow, cycle, plan)
                uow.commit()
            choices, desired = uow.strategies.choices(run_id), uow.strategies.desired(run_id)
        detail["choices"], detail["desired"] = len(choices), len(desired)
        detail["standing"] = _standings(choices)
    return {"choices": len(choices), "desired": len(desired)}


def _standings(choices: Sequence[Choice]) -> dict[str, int]:
    words = [choice.standing.value if choice.standing else "flat" for choice in choices]
    return {word: words.count(word) for word in sorted(set(words))}
