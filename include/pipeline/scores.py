"""Scores: how each symbol's strategy did on windows that no fit has seen, beside the control."""

from collections.abc import Iterable

from include.domain.instruments import AssetClass
from include.domain.strategies import ScoredStrategy, TradeCosts
from include.pipeline.forecast import Engines
from include.pipeline.forecast_work import keyed, opening_questions
from include.pipeline.histories import window_history
from include.pipeline.situation import Situation
from include.settings import Settings
from include.store.unit_of_work import UnitOfWork
from include.strategy.costs import minimum_edge_fraction, trade_costs
from include.strategy.evaluation import EvaluationOptions, evaluate

N_MODELS = 1  # models whose scored series on these windows were looked at, the control apart


def score_symbols(
    uow: UnitOfWork, situations: Iterable[Situation], engines: Engines, settings: Settings
) -> dict[str, ScoredStrategy]:
    """Return each symbol's strategy with its scored windows, from forecasts in the ledger."""
    return {
        situation.symbol: score_symbol(uow, situation, engines, settings)
        for situation in situations
    }


def score_symbol(
    uow: UnitOfWork, situation: Situation, engines: Engines, settings: Settings
) -> ScoredStrategy:
    """Return one symbol's score; eligible only with enough scored windows and a real excess."""
    questions = opening_questions(situation, settings)
    histories = []
    for engine in (engines.model, engines.control):
        openings = keyed(questions, engine, engines.options)
        outlooks = uow.forecasts.outlooks([opening.key for opening in openings])
        histories.append(window_history(situation, openings, outlooks))
    costs = costs_of(situation)
    return evaluate(
        histories[0], histories[1], costs, evaluation_options(situation, costs, settings)
    )


def costs_of(situation: Situation) -> TradeCosts:
    """Return what a trade of the symbol costs, at its class's default spread."""
    return trade_costs(situation.asset_class)


def evaluation_options(
    situation: Situation, costs: TradeCosts, settings: Settings
) -> EvaluationOptions:
    """Return how the settings want a symbol scored."""
    return EvaluationOptions(
        allow_short=may_short(situation, settings),
        n_trials=len(settings.strategy.enabled) * 2 * N_MODELS,  # two exit policies each
        seed=settings.forecast.seed,
        minimum_edge_fraction=minimum_edge_fraction(costs, situation.asset_class),
        fit_windows=settings.strategy.fit_windows,
        minimum_scored_windows=settings.strategy.minimum_scored_windows,
    )


def may_short(situation: Situation, settings: Settings) -> bool:
    """Tell whether the symbol may be sold short: equities that the venue marks shortable."""
    return (
        situation.asset_class is AssetClass.EQUITY
        and settings.strategy.allow_short
        and situation.instrument is not None
        and situation.instrument.is_shortable
    )
