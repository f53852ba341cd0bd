"""The state folder: where database, account, logs, secrets and the record of what runs stay.

Everything below `.tradewind/` (or TRADEWIND_STATE_DIR) can be removed by `./tradewind clean`.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from include.errors import InstallationFault
from include.settings import project_root

STATE_VARIABLE = "TRADEWIND_STATE_DIR"


@dataclass(frozen=True, kw_only=True)
class StateFolder:
    """The paths below one state folder."""

    root: Path

    @property
    def postgres(self) -> Path:
        """The data folder of the embedded database."""
        return self.root / "postgres"

    @property
    def airflow(self) -> Path:
        """AIRFLOW_HOME of the stack."""
        return self.root / "airflow"

    @property
    def exchange(self) -> Path:
        """What the simulated exchange remembers: account, orders, clock."""
        return self.root / "exchange"

    @property
    def logs(self) -> Path:
        """One log a part."""
        return self.root / "logs"

    @property
    def secrets_file(self) -> Path:
        """The generated secrets, readable by their owner alone."""
        return self.root / "secrets.json"

    @property
    def record_file(self) -> Path:
        """What runs now, and where; readable by its owner alone."""
        return self.root / "stack.json"

    @property
    def lock_file(self) -> Path:
        """The lock that one `cycle` or `up` holds."""
        return self.root / "stack.lock"

    @property
    def marks_file(self) -> Path:
        """What need not be done again: migrated version, stored DAGs, last decision instant."""
        return self.root / "marks.json"

    def log(self, part: str) -> Path:
        """Return the log of a part."""
        return self.logs / f"{part}.log"

    def require_own(self) -> None:
        """Raise InstallationFault unless Tradewind made the folder, before it is removed."""
        if not self.lock_file.exists():
            raise InstallationFault(
                part=f"The state folder {self.root}",
                found=f"it has no {self.lock_file.name}, so Tradewind did not make it",
                cure=f"Nothing was removed. Check {STATE_VARIABLE}.",
            )

    def create(self) -> None:
        """Make the folder and those below it that must exist before any part starts."""
        try:
            for folder in (self.airflow, self.exchange, self.logs):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InstallationFault(
                part=f"The state folder {self.root}",
                found=f"it can't be made ({error.strerror})",
                cure=f"Set {STATE_VARIABLE} to a folder that can be written.",
            ) from error


def find_state() -> StateFolder:
    """Return the state folder of this machine; TRADEWIND_STATE_DIR moves it."""
    given = os.environ.get(STATE_VARIABLE)  # noqa: TID251  # stack builds the children's environment
    root = Path(given).expanduser() if given else project_root() / ".tradewind"
    return StateFolder(root=root.absolute())


def write_private(path: Path, values: object) -> None:
    """Write JSON that only its owner can read; a reader sees the old or the new, never a part."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(values, file, indent=1)
    fresh.replace(path)


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file; an absent or damaged one is empty."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}


def mark(state: StateFolder, **marks: str) -> None:
    """Remember that something is done, so that the next start can skip it."""
    write_private(state.marks_file, read_json(state.marks_file) | marks)
