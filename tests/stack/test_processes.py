"""Processes are found again, stopped with all their children, and never confused with others."""

import os
import subprocess
import sys
import time
import uuid
from dataclasses import replace

import pytest

from include.errors import PartFailed
from include.stack.processes import (
    MARKER_VARIABLE,
    Command,
    is_running,
    last_line,
    marked,
    own_record,
    start,
    stop_marked,
    stop_sessions,
)

FAMILY = "import subprocess, sys, time; {before}; subprocess.Popen({child!r}{own}); time.sleep(60)"
SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"


def a_part(tmp_path, script, **environment):
    """Start a Python script as a part."""
    command = Command(part="part", arguments=[sys.executable, "-c", script], word="-c")
    variables = {"PATH": os.defpath, **environment}
    return start(command, environment=variables, log=tmp_path / "part.log", folder=tmp_path)


def family(before="pass", own=""):
    """Return a script that starts a child and sleeps."""
    return FAMILY.format(before=before, child=SLEEP, own=own)


def wait_for_children(marker, count):
    """Wait until so many processes carry the marker."""
    deadline = time.monotonic() + 10
    while len(marked(marker)) < count and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(marked(marker)) == count


@pytest.fixture
def marker():
    """Return a marker that no other process has; what carries it is ended with the test."""
    value = uuid.uuid4().hex
    yield value
    stop_marked(value, grace_seconds=5)


@pytest.mark.parametrize("before", ["pass", DEAF])
def test_a_part_ends_with_its_children(tmp_path, marker, before):
    """SIGTERM ends the whole session, and SIGKILL what does not listen."""
    part = a_part(tmp_path, family(before), **{MARKER_VARIABLE: marker})
    wait_for_children(marker, 2)
    stop_sessions([part.record], grace_seconds=0.5)
    part.close()
    assert marked(marker) == []
    assert not is_running(part.record)


def test_a_child_that_left_the_session_is_found_by_the_marker(tmp_path, marker):
    """The marker in the environment finds what a session does not."""
    part = a_part(tmp_path, family(own=", start_new_session=True"), **{MARKER_VARIABLE: marker})
    wait_for_children(marker, 2)
    stop_sessions([part.record], grace_seconds=2)
    part.close()
    assert len(marked(marker)) == 1
    assert len(stop_marked(marker, grace_seconds=2)) == 1
    assert marked(marker) == []


@pytest.mark.parametrize(
    "change", [{"started": 1.0}, {"word": "nobody-is-called-so"}, {"pid": 2**22 + 1}]
)
def test_a_process_is_known_by_pid_start_and_command(change):
    """One that differs in any of the three is not ours."""
    record = own_record()
    assert is_running(record)
    assert not is_running(replace(record, **change))


def test_a_zombie_does_not_run():
    """A child that ended and was not reaped is not running."""
    process = subprocess.Popen([sys.executable, "-c", "pass"], stdin=subprocess.DEVNULL)
    record = replace(own_record(), pid=process.pid)
    time.sleep(0.3)
    assert not is_running(record)
    process.wait()


def test_a_part_that_ended_is_a_sentence_with_its_last_words(tmp_path):
    """The sentence names part, exit code, last line and log."""
    part = a_part(tmp_path, "import sys; sys.exit('no such port')")
    part.process.wait(timeout=10)
    with pytest.raises(
        PartFailed, match=r"part ended with 1: no such port\. Its log is .*part\.log"
    ):
        part.require_alive()


def test_last_line_of_a_log(tmp_path):
    """Empty lines at the end are skipped; an absent log has its default."""
    log = tmp_path / "log"
    assert last_line(log) == "it wrote nothing"
    log.write_text("first\nlast words\n\n")
    assert last_line(log) == "last words"
