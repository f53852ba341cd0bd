"""`./tradewind test`: format, lint, types, layers, then pytest; all of them, whatever fails."""

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from include.cli.browser import ensure_browser
from include.cli.output import say, show
from include.settings import project_root

BIN = Path(sys.executable).parent
FAST = "not e2e and not browser"


@dataclass(frozen=True, kw_only=True)
class Check:
    """One check: its name and the command that makes it."""

    name: str
    command: Sequence[str]


def run(arguments: argparse.Namespace) -> int:
    """Run every check, pytest last, and return the exit code of the first that failed."""
    if arguments.full:
        ensure_browser(say=say)
    codes = [(check.name, _run(check)) for check in checks(is_full=arguments.full)]
    failed = [(name, code) for name, code in codes if code != 0]
    if failed:
        say(f"Failed: {', '.join(name for name, _ in failed)}.")
        return failed[0][1]
    say(f"All {len(codes)} checks passed.")
    return 0


def checks(*, is_full: bool) -> list[Check]:
    """Return the checks in their order, the cheapest first and pytest last."""
    python = str(BIN / "python")
    marks = [] if is_full else ["-m", FAST]
    return [
        Check(name="ruff check", command=[python, "-m", "ruff", "check", "."]),
        Check(name="ruff format", command=[python, "-m", "ruff", "format", "--check", "."]),
        Check(name="mypy", command=[python, "-m", "mypy"]),
        Check(name="lint-imports", command=[str(BIN / "lint-imports")]),
        Check(name="pytest", command=[python, "-m", "pytest", "-q", *marks]),
    ]


def _run(check: Check) -> int:
    program = Path(check.command[0]).name
    show(f"{check.name}: {' '.join((program, *check.command[1:]))}")
    began = time.monotonic()
    code = subprocess.run(list(check.command), cwd=project_root(), check=False).returncode
    verdict = "ok" if code == 0 else f"failed with {code}"
    say(f"{check.name}: {verdict}, {time.monotonic() - began:.1f} s")
    return code
