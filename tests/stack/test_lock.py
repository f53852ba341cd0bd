"""One stack at a time per state folder, across processes."""

import os
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

from include.errors import StackBusy
from include.stack.lock import hold_lock, lock_or_running, try_lock
from include.stack.processes import own_record
from include.stack.record import StackRecord, remove_record, write_record
from include.stack.state import StateFolder

HOLD = """
import sys
from pathlib import Path
from include.stack.lock import try_lock
from include.stack.state import StateFolder
lock = try_lock(StateFolder(root=Path(sys.argv[1])))
print("held" if lock is not None else "busy", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def state(tmp_path):
    """Return an empty state folder."""
    return StateFolder(root=tmp_path)


@pytest.fixture
def other_process(state):
    """Return another process that holds the lock; it is ended with the test."""
    command = [sys.executable, "-c", HOLD, str(state.root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process
        process.kill()


def a_record(**changes):
    """Return the record of an `up` of this process."""
    return replace(StackRecord(verb="up", marker="m", owner=own_record()), **changes)


def test_another_process_has_the_lock(state, other_process):
    """It can't be had while the other holds it, and the sentence says who does."""
    write_record(state, a_record(verb="cycle"))
    assert try_lock(state) is None
    sentence = r"up has to wait: './tradewind cycle' \(pid \d+\) holds"
    with pytest.raises(StackBusy, match=sentence), hold_lock(state, asked="up"):
        pass


def test_the_lock_of_a_killed_process_is_free(state, other_process):
    """The kernel frees it, whatever the holder left behind."""
    other_process.kill()
    other_process.wait()
    descriptor = try_lock(state)
    assert descriptor is not None
    os.close(descriptor)


def test_a_cycle_uses_a_ready_stack_under_up(state, other_process):
    """Nothing is waited for when `up` is ready."""
    write_record(state, a_record(ready=True))
    got = lock_or_running(state, say=lambda _: None, bound_seconds=0)
    assert got == a_record(ready=True)


@pytest.mark.parametrize("record", [a_record(verb="cycle", ready=True), a_record(ready=False)])
def test_a_cycle_waits_for_another_up_to_the_bound(state, other_process, record):
    """Another cycle's stack isn't shared, nor one that still starts; the waiting is told once."""
    write_record(state, record)
    told: list[str] = []
    with pytest.raises(StackBusy, match="cycle has to wait"):
        lock_or_running(state, say=told.append, bound_seconds=0.5)
    assert len(told) == 1
    assert "Waiting" in told[0]


def test_a_waiting_cycle_goes_on_when_the_lock_is_free(state, other_process):
    """The end of the other process is noticed."""
    remove_record(state)
    threading.Timer(0.4, other_process.kill).start()
    began = time.monotonic()
    got = lock_or_running(state, say=lambda _: None, bound_seconds=20)
    assert isinstance(got, int)
    os.close(got)
    assert time.monotonic() - began < 10
