"""What a killed command left behind: found by its record, verified, and stopped."""

import os
import signal
import time

from include.stack.lock import Say, try_lock
from include.stack.postgres import postmaster_pid, start_postgres
from include.stack.processes import is_running, stop_marked, stop_sessions
from include.stack.record import read_record, remove_record
from include.stack.state import StateFolder

GRACE_SECONDS = 12.0
OWNER_SECONDS = 60.0
POLL_SECONDS = 0.1


def stop_leftovers(state: StateFolder, *, say: Say) -> list[str]:
    """Stop what an earlier stack left running and return the parts; the caller holds the lock.

    Only processes that the record names and that are verified as the same, or that carry the
    stack's marker. The database is left to who starts next: it recovers by itself.
    """
    record = read_record(state)
    if record is None:
        return []
    found = [part for part in record.parts if part.part != "postgres" and is_running(part)]
    if found:
        say(f"Stopping what an earlier run left: {', '.join(part.part for part in found)}")
    stop_sessions(found, grace_seconds=GRACE_SECONDS)
    strays = stop_marked(record.marker, grace_seconds=GRACE_SECONDS)
    remove_record(state)
    return [part.part for part in found] + [f"process {pid}" for pid in strays]


def stop_database(state: StateFolder) -> bool:
    """Stop the embedded database of this state folder; return whether it ran."""
    if postmaster_pid(state.postgres) is None:
        return False
    start_postgres(state.postgres).stop()
    return True


def stop_everything(state: StateFolder, *, say: Say) -> list[str]:
    """Stop the stack of this state folder, whoever started it; return what was stopped."""
    if not state.root.exists():
        return []
    stopped = _stop_owner(state, say=say)
    descriptor = try_lock(state)
    if descriptor is None:
        return stopped
    try:
        stopped += stop_leftovers(state, say=say)
        return stopped + (["postgres"] if stop_database(state) else [])
    finally:
        os.close(descriptor)


def _stop_owner(state: StateFolder, *, say: Say) -> list[str]:
    """Ask the command that owns the stack to end and wait for it; kill it when it does not."""
    record = read_record(state)
    if record is None or not is_running(record.owner):
        return []
    say(f"Stopping './tradewind {record.verb}' (pid {record.owner.pid}) …")
    os.kill(record.owner.pid, signal.SIGTERM)
    deadline = time.monotonic() + OWNER_SECONDS
    while is_running(record.owner) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    if is_running(record.owner):
        os.kill(record.owner.pid, signal.SIGKILL)
        time.sleep(POLL_SECONDS)
    return [f"./tradewind {record.verb}"]
