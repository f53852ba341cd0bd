"""Forecast: one engine call per batch of symbols, and only for questions without an answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from include.domain.cycles import Cycle
from include.domain.decisions import Decision, ForecastDecision, IssuedForecast, Outcome
from include.domain.forecasts import Forecast, ForecastRequest
from include.forecast.config import DecodeOptions
from include.forecast.engine import ForecastEngine
from include.pipeline.forecast_work import (
    KeyedRequest,
    config_hash,
    keyed,
    live_question,
    opening_questions,
    request_key,
)
from include.pipeline.situation import Situation, load_situations
from include.pipeline.stages import recorded_stage
from include.pipeline.wiring.forecast import CONTROL_MODEL, decode_options, open_engine
from include.pipeline.wiring.store import open_database
from include.settings import Settings, load_settings
from include.store.unit_of_work import Database, UnitOfWork


@dataclass(frozen=True, kw_only=True)
class Engines:
    """The chosen model, the control that always runs beside it, and how both are decoded.

    `configuration` is the hash of every choice that the gate compares (`config_hash`).
    """

    model: ForecastEngine
    control: ForecastEngine
    options: DecodeOptions
    configuration: str


def forecast(
    *,
    cycle: Cycle,
    situations: Sequence[Situation],
    engines: Engines,
    database: Database,
    settings: Settings,
) -> dict[str, int]:
    """Answer the batch's questions that the ledger can't, and complete its decisions.

    Both engines get one call each, with the contexts of every symbol and origin together.
    """
    live = {
        situation.symbol: question
        for situation in situations
        if (question := live_question(situation, cycle.as_of, settings)) is not None
    }
    requests = [*live.values()]
    for situation in situations:
        requests += opening_questions(situation, settings)
    computed = answer(requests, engines.model, engines.options, cycle, database)
    answer(requests, engines.control, engines.options, cycle, database)
    with database.unit_of_work() as uow:
        done = _complete(uow, cycle, situations, live, computed, engines)
        uow.commit()
    return {"asked": len(requests), "computed": len(computed), "issued": done}


def answer(
    requests: Sequence[ForecastRequest],
    engine: ForecastEngine,
    options: DecodeOptions,
    cycle: Cycle,
    database: Database,
) -> dict[str, Forecast]:
    """Compute and store the answers that the ledger lacks; return those computed, by key."""
    wanted = {item.key: item for item in keyed(requests, engine, options)}
    with database.unit_of_work() as uow:
        known = uow.forecasts.existing(list(wanted))
    lacking: list[KeyedRequest] = [item for key, item in wanted.items() if key not in known]
    if not lacking:
        return {}
    forecasts = engine.forecast([item.request for item in lacking], options)
    with database.unit_of_work() as uow:
        uow.forecasts.save_all(
            forecasts, issued=cycle.as_of, options=dict(engine.options_used(options))
        )
        uow.commit()
    return {forecast.content_key: forecast for forecast in forecasts}


def open_engines(settings: Settings) -> Engines:
    """Return the engines of the settings with the configuration that the gate compares."""
    model, options = open_engine(settings.forecast.model), decode_options(settings)
    return Engines(
        model=model,
        control=open_engine(CONTROL_MODEL),
        options=options,
        configuration=config_hash(model, options, settings),
    )


def run(*, run_id: str, symbols: Sequence[str], label: str) -> dict[str, int]:
    """Forecast one batch of a cycle; return counts. Answers already stored are kept."""
    settings, database = load_settings(), open_database()
    engines = open_engines(settings)
    with recorded_stage(database, cycle_id=run_id, stage="forecast", part=label) as detail:
        with database.unit_of_work() as uow:
            cycle = uow.cycles.require(run_id)
            situations = load_situations(uow, cycle, settings, symbols)
        counts = forecast(
            cycle=cycle,
            situations=list(situations.values()),
            engines=engines,
            database=database,
            settings=settings,
        )
        detail.update(counts)
    return counts


def _complete(
    uow: UnitOfWork,
    cycle: Cycle,
    situations: Sequence[Situation],
    live: dict[str, ForecastRequest],
    computed: dict[str, Forecast],
    engines: Engines,
) -> int:
    """Complete the pending decisions of the batch and put their forecasts in force."""
    decisions = uow.decisions.by_cycle(cycle.cycle_id)
    issued: dict[str, IssuedForecast] = {}
    controls: dict[str, str] = {}
    completed: list[ForecastDecision] = []
    for situation in situations:
        decision = decisions[situation.symbol]
        if decision.decision is not Decision.PREDICT or decision.outcome is not Outcome.PENDING:
            continue
        request = live.get(situation.symbol)
        if request is None or situation.mid is None or situation.window is None:
            completed.append(replace(decision, outcome=Outcome.FAILED, detail="no open window"))
            continue
        key = request_key(request, engines.model, engines.options)
        controls[situation.symbol] = request_key(request, engines.control, engines.options)
        completed.append(_completed(decision, key, computed.get(key)))
        issued[situation.symbol] = IssuedForecast(
            content_key=key,
            model_label=engines.model.model_version.label,
            config_hash=engines.configuration,
            window_opens_at=situation.window.opens_at,
            window_ends_at=situation.window.ends_at,
            origin=request.context.last_end,
            price_at_issue=situation.mid,
            issued_at=cycle.as_of,
        )
    uow.decisions.complete_all(cycle.cycle_id, completed)
    uow.decisions.issue_all(cycle.cycle_id, issued, controls)
    return len(issued)


def _completed(
    decision: ForecastDecision, key: str, computed: Forecast | None
) -> ForecastDecision:
    if computed is not None:
        outcome = Outcome.COMPUTED
    elif key == decision.old_key:
        outcome = Outcome.REANCHORED
    else:
        outcome = Outcome.STORE_HIT
    seconds = computed.engine_seconds if computed else 0.0
    return replace(decision, outcome=outcome, new_key=key, engine_seconds=seconds)
