"""`./tradewind down`: stop a running stack, or what a killed one left behind."""

import argparse

from include.cli.exits import Exit
from include.cli.output import say, show, show_json
from include.stack.leftovers import stop_everything
from include.stack.state import find_state


def run(arguments: argparse.Namespace) -> int:
    """Stop everything that is verified as ours and say what it was."""
    stopped = stop_everything(find_state(), say=say)
    if arguments.json:
        show_json({"stopped": stopped})
    else:
        show(f"Stopped: {', '.join(stopped)}." if stopped else "Nothing was running.")
    return Exit.DONE
