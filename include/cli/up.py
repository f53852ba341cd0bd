"""`./tradewind up`: the stack in the foreground, until Ctrl-C."""

import argparse
import time

from include.cli.exits import Exit
from include.cli.output import say, show
from include.settings import load_settings, project_root
from include.stack.environment import user_environment
from include.stack.exchange import ExchangeClock
from include.stack.lock import hold_lock
from include.stack.plan import plan_for
from include.stack.secrets import load_or_create
from include.stack.stack import Stack, running_stack
from include.stack.state import find_state

SPEED = 30.0
WATCH_SECONDS = 1.0


def run(_arguments: argparse.Namespace) -> int:
    """Run the stack until it is interrupted, which is its normal end; raise when a part dies."""
    plan = plan_for(
        "up",
        project=project_root(),
        state=find_state(),
        settings=load_settings(),
        user=user_environment(),
    )
    with hold_lock(plan.state, asked="up"):
        try:
            with running_stack(plan, say=say) as stack:
                _introduce(stack)
                while True:
                    stack.require_alive()
                    time.sleep(WATCH_SECONDS)
        except KeyboardInterrupt:
            say("The stack is stopped; nothing of it runs any more.")
    return Exit.DONE


def _introduce(stack: Stack) -> None:
    plan, venue = stack.plan, stack.record.venue
    password = load_or_create(plan.state).admin_password
    show(f"Airflow    {stack.record.airflow_url}   user admin, password {password}")
    if venue is None:
        show(f"Venue      {plan.settings.venue.trading_url} (Alpaca paper)")
    else:
        ExchangeClock(venue, log=str(plan.state.log("exchange"))).set_speed(SPEED)
        show(f"Exchange   {venue.trading_url}   simulated; its clock runs {SPEED:.0f}x")
    show(f"Logs       {plan.state.logs}")
    show("Ctrl-C stops everything.")
