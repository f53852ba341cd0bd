"""`./tradewind exchange`: the simulated exchange alone, in the foreground."""

import argparse
import json
from pathlib import Path

from include.cli.exits import Exit, WrongUse
from include.cli.output import say, show
from include.exchange.serve import ExchangeOptions, serve


def run(arguments: argparse.Namespace) -> int:
    """Serve until Ctrl-C; the first line on stdout is JSON with address and keys."""
    bars = Path(arguments.bars) if arguments.bars else None
    if bars is not None and not bars.is_file():
        message = f"--bars was {bars}, which is no file. Give a CSV file of bars."
        raise WrongUse(message)
    options = ExchangeOptions(
        port=arguments.port,
        state_folder=Path(arguments.state) if arguments.state else None,
        bars_file=bars,
        speed=arguments.clock,
    )

    def announce(facts: dict[str, str]) -> None:
        show(json.dumps(facts))
        if not arguments.json:
            say(f"The simulated exchange answers at {facts['trading_url']}; Ctrl-C ends it.")

    try:
        serve(options, announce=announce)
    except KeyboardInterrupt:
        say("The simulated exchange is stopped.")
    return Exit.DONE
