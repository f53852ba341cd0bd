"""The embedded database starts, stops, and survives a killed run."""

import os
import signal
import subprocess
import sys

import pytest

from include.errors import InstallationFault
from include.stack.postgres import postmaster_pid, start_postgres

pytestmark = pytest.mark.postgres

START = """
import sys, time
from pathlib import Path
from include.stack.postgres import start_postgres
start_postgres(Path(sys.argv[1]))
print("up", flush=True)
time.sleep(60)
"""


def test_starts_stops_and_starts_again_with_its_rows(tmp_path):
    """Both databases are made once, and a restart in the same process is a real one."""
    folder = tmp_path / "postgres"
    first = start_postgres(folder)
    first.server.psql("CREATE TABLE kept (n int);")
    identifier = first.identifier()
    assert first.url("airflow").startswith("postgresql+psycopg2://")
    first.stop()
    assert postmaster_pid(folder) is None
    second = start_postgres(folder)
    try:
        assert "kept" in second.server.psql(r"\dt")
        assert second.identifier() == identifier
        assert second.record().pid == postmaster_pid(folder)
    finally:
        second.stop()
    assert postmaster_pid(folder) is None


def test_takes_over_what_a_killed_run_left_and_stops_it(tmp_path):
    """The postmaster of a killed process is used, and ends with its new owner."""
    folder = tmp_path / "postgres"
    command = [sys.executable, "-c", START, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        process.kill()
    left = postmaster_pid(folder)
    assert left is not None
    taken_over = start_postgres(folder)
    assert postmaster_pid(folder) == left
    taken_over.stop()
    assert postmaster_pid(folder) is None


def test_recovers_from_a_killed_postmaster(tmp_path):
    """A pid file whose process is gone, or is another program's by now, stops nobody."""
    folder = tmp_path / "postgres"
    first = start_postgres(folder)
    first.server.psql("CREATE TABLE kept (n int);")
    os.kill(first.record().pid, signal.SIGKILL)
    pid_file = folder / "postmaster.pid"
    lines = pid_file.read_text().splitlines()
    pid_file.write_text("\n".join([str(os.getpid()), *lines[1:]]))
    second = start_postgres(folder)
    try:
        assert "kept" in second.server.psql(r"\dt")
    finally:
        second.stop()


def test_a_long_path_has_its_socket_elsewhere(tmp_path):
    """A path beyond what a Unix socket may have works; the address says where it is."""
    folder = tmp_path / ("long" * 30) / "postgres"
    postgres = start_postgres(folder)
    try:
        assert str(folder) not in postgres.url("airflow")
        assert postgres.identifier().isdigit()
    finally:
        postgres.stop()


def test_a_path_with_spaces_is_a_sentence(tmp_path):
    """The sentence names the variable that moves the folder."""
    with pytest.raises(InstallationFault, match=r"space in its path.*TRADEWIND_STATE_DIR"):
        start_postgres(tmp_path / "two words" / "postgres")
