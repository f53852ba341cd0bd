"""`./tradewind clean`: remove the state folder; refused while the stack runs."""

import argparse
import shutil

from include.cli.exits import Exit
from include.cli.output import say, show, show_json
from include.stack.leftovers import stop_database, stop_leftovers
from include.stack.lock import hold_lock
from include.stack.state import find_state


def run(arguments: argparse.Namespace) -> int:
    """Remove the state folder and say what it held."""
    state = find_state()
    removed: list[str] = []
    if state.root.exists():
        state.require_own()
        with hold_lock(state, asked="clean"):
            stop_leftovers(state, say=say)
            stop_database(state)
            removed = sorted(path.name for path in state.root.iterdir())
            shutil.rmtree(state.root)
    if arguments.json:
        show_json({"folder": str(state.root), "removed": removed})
    elif removed:
        show(f"Removed {state.root}: {', '.join(removed)}.")
    else:
        show(f"Nothing to remove: {state.root} is empty or absent.")
    return Exit.DONE
