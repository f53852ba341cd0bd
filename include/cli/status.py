"""`./tradewind status`: what runs and where."""

import argparse

from include.cli.exits import Exit
from include.cli.output import show, show_json
from include.cli.report import table
from include.stack.state import find_state
from include.stack.status import stack_status


def run(arguments: argparse.Namespace) -> int:
    """Print the parts of the stack, their addresses and process ids."""
    status = stack_status(find_state())
    if arguments.json:
        show_json(status)
        return Exit.DONE
    parts = status["parts"]
    if not parts:
        show(f"Nothing runs. State is in {status['state_folder']}.")
        return Exit.DONE
    columns = ("part", "state", "pid", "address", "log")
    show(table(columns, [[part[name] for name in columns] for part in parts]))
    return Exit.DONE
