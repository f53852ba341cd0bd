"""`./tradewind doctor`: what is wrong with this installation, and what cures it."""

import argparse

from include.cli.exits import Exit
from include.cli.output import show, show_json
from include.cli.report import table
from include.settings import project_root
from include.stack.checks import Check, Verdict, run_checks
from include.stack.state import find_state


def run(arguments: argparse.Namespace) -> int:
    """Print every check and the cures; 1 when there is a fault."""
    checks = run_checks(project=project_root(), state=find_state())
    faults = [check for check in checks if check.verdict is Verdict.FAULT]
    rows = [_row(check) for check in checks]
    if arguments.json:
        show_json({"state": "fault" if faults else "ok", "checks": rows})
    else:
        show(table(("check", "verdict", "found"), [list(row.values())[:3] for row in rows]))
        for check in faults:
            show(f"Cure for {check.name}: {check.cure}")
    return Exit.FAILED if faults else Exit.DONE


def _row(check: Check) -> dict[str, str]:
    return {
        "check": check.name,
        "verdict": check.verdict.value,
        "found": check.found,
        "cure": check.cure,
    }
