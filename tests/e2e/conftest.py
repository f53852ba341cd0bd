"""One state folder for the whole folder of tests: an account that lives through them in order."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from include.stack.environment import user_environment

ROOT = Path(__file__).resolve().parents[2]


class Tradewind:
    """The command line on a state folder of its own, without keys of the shell's."""

    def __init__(self, state_folder: Path) -> None:
        self.state_folder = state_folder

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of a command."""
        user = user_environment()
        kept = {name: user[name] for name in ("PATH", "HOME") if name in user}
        return kept | {"TRADEWIND_STATE_DIR": str(self.state_folder), "PYTHONPATH": str(ROOT)}

    def command(self, *words: str) -> list[str]:
        """Return the words of a command."""
        return [sys.executable, "-m", "include.cli", *words]

    def run(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a verb to its end."""
        return subprocess.run(
            self.command(*words),
            cwd=ROOT,
            env=self.environment | variables,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    def report(self, *words: str) -> dict[str, Any]:
        """Run a cycle and return its report."""
        done = self.run("cycle", "--json", *words)
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout))


@pytest.fixture(scope="session")
def tradewind(tmp_path_factory):
    """Return the command line on the state folder that these tests share."""
    tradewind = Tradewind(tmp_path_factory.mktemp("state"))
    yield tradewind
    tradewind.run("down")
