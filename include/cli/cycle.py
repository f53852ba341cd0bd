"""`./tradewind cycle`: one trading cycle through Airflow, then its report."""

import argparse
import time

from include.cli.exits import Exit, WrongUse
from include.cli.output import say, show, show_json
from include.cli.report import render_report
from include.errors import UnknownParameter
from include.pipeline.universe import symbols_of
from include.settings import Settings, load_settings, project_root
from include.stack.cycle import AsOfRefused, CycleRequest, run_cycle
from include.stack.environment import user_environment
from include.stack.plan import plan_for
from include.stack.state import find_state


def run(arguments: argparse.Namespace) -> int:
    """Run one cycle and print its report; 1 when it failed."""
    began = time.monotonic()
    settings = load_settings()
    _require_known(arguments.symbols or [], settings)
    plan = plan_for(
        "cycle",
        project=project_root(),
        state=find_state(),
        settings=settings,
        user=user_environment(),
    )
    request = CycleRequest(
        symbols=arguments.symbols or [],
        as_of=arguments.as_of,
        is_forced=arguments.force,
        is_dry_run=arguments.dry_run,
    )
    try:
        outcome = run_cycle(plan, request, say=say)
    except AsOfRefused as error:
        raise WrongUse(str(error)) from error
    if arguments.json:
        show_json(outcome.report)
    else:
        show(render_report(outcome.report))
    if outcome.failure is not None:
        say(outcome.failure)
        return Exit.FAILED
    say(f"Done in {time.monotonic() - began:.1f} s.")
    return Exit.DONE


def _require_known(symbols: list[str], settings: Settings) -> None:
    """Refuse a symbol outside the universe before anything is started."""
    try:
        symbols_of(symbols, settings)
    except UnknownParameter as error:
        raise WrongUse(str(error)) from error
