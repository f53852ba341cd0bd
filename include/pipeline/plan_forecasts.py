"""Plan forecasts: for each symbol the reason why it is or is not predicted again, and batches."""

from collections.abc import Iterable, Sequence
from typing import TypedDict

from include.domain.cycles import Cycle
from include.domain.decisions import (
    Decision,
    ForecastDecision,
    GateInput,
    GateLimits,
    IssuedForecast,
    decide_forecast,
)
from include.forecast.config import DecodeOptions
from include.forecast.engine import ForecastEngine
from include.pipeline.forecast_work import (
    config_hash,
    key_of_issued_origin,
    keyed,
    opening_questions,
)
from include.pipeline.situation import Situation, load_situations
from include.pipeline.stages import recorded_stage
from include.pipeline.wiring.forecast import decode_options, open_engine
from include.pipeline.wiring.store import open_database
from include.settings import RepredictSettings, Settings, load_settings
from include.store.unit_of_work import UnitOfWork


class Batch(TypedDict):
    """One engine call: plain values, as they travel between tasks."""

    label: str
    symbols: list[str]


def gate_limits(settings: RepredictSettings) -> GateLimits:
    """Return the gate's bounds of the settings."""
    return GateLimits(
        threshold_equity_fraction=settings.threshold_equity,
        threshold_crypto_fraction=settings.threshold_crypto,
        max_age_seconds=settings.max_age_seconds,
        min_interval_seconds=settings.min_interval_seconds,
    )


def plan_forecasts(
    *,
    cycle: Cycle,
    situations: dict[str, Situation],
    in_force: dict[str, IssuedForecast],
    engine: ForecastEngine,
    options: DecodeOptions,
    settings: Settings,
) -> list[ForecastDecision]:
    """Return exactly one decision per symbol, with the first reason that matches."""
    limits = gate_limits(settings.repredict)
    configuration = config_hash(engine, options, settings)
    decisions = []
    for symbol, situation in situations.items():
        issued = in_force.get(symbol)
        gate = GateInput(
            symbol=symbol,
            asset_class=situation.asset_class,
            as_of=cycle.as_of,
            mid=situation.mid,
            refusal=situation.refusal,
            is_forced=cycle.request.is_forced,
            model_label=engine.model_version.label,
            config_hash=configuration,
            issued=issued,
            key_of_issued_origin=None
            if situation.refusal
            else key_of_issued_origin(situation, issued, engine, options, settings),
        )
        decisions.append(decide_forecast(gate, limits))
    return decisions


def batches_of(
    decisions: Iterable[ForecastDecision], lacking: Iterable[str], *, batch_symbols: int
) -> list[Batch]:
    """Return the symbols that need an engine, in batches; an empty list where none does.

    `lacking` are symbols whose past windows have no forecast yet.
    """
    wanted = {
        decision.symbol for decision in decisions if decision.decision is Decision.PREDICT
    } | set(lacking)
    symbols = sorted(wanted)
    return [
        Batch(
            label=f"{start // batch_symbols:02d}", symbols=symbols[start : start + batch_symbols]
        )
        for start in range(0, len(symbols), batch_symbols)
    ]


def lacking_openings(
    uow: UnitOfWork,
    situations: Sequence[Situation],
    engine: ForecastEngine,
    options: DecodeOptions,
    settings: Settings,
) -> list[str]:
    """Return the symbols with a past window whose opening forecast is not in the ledger."""
    keys = {
        situation.symbol: {
            item.key for item in keyed(opening_questions(situation, settings), engine, options)
        }
        for situation in situations
    }
    known = uow.forecasts.existing(sorted(set().union(*keys.values())))
    return [symbol for symbol, wanted in keys.items() if not wanted <= known]


def run(*, run_id: str) -> list[Batch]:
    """Store the decisions of a cycle and return the batches that need an engine.

    A second run keeps the stored decisions.
    """
    settings, database = load_settings(), open_database()
    engine, options = open_engine(settings.forecast.model), decode_options(settings)
    with (
        recorded_stage(database, cycle_id=run_id, stage="plan_forecasts") as detail,
        database.unit_of_work() as uow,
    ):
        cycle = uow.cycles.require(run_id)
        situations = load_situations(uow, cycle, settings)
        if not uow.decisions.by_cycle(run_id):
            in_force = uow.decisions.in_force(cycle.symbols, cycle.as_of)
            planned = plan_forecasts(
                cycle=cycle,
                situations=situations,
                in_force=in_force,
                engine=engine,
                options=options,
                settings=settings,
            )
            uow.decisions.save_all(run_id, planned)
        decisions = list(uow.decisions.by_cycle(run_id).values())
        usable = [
            situations[decision.symbol]
            for decision in decisions
            if decision.decision is not Decision.NONE
        ]
        lacking = lacking_openings(uow, usable, engine, options, settings)
        uow.commit()
        batches = batches_of(decisions, lacking, batch_symbols=settings.forecast.batch_symbols)
        detail["predict"] = sum(decision.decision is Decision.PREDICT for decision in decisions)
        detail["batches"] = len(batches)
    return batches
