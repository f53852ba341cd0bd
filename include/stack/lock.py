"""One `cycle` or `up` at a time per state folder; the kernel frees a dead holder's lock."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from include.errors import StackBusy
from include.stack.record import StackRecord, read_record
from include.stack.state import StateFolder

Say = Callable[[str], None]
POLL_SECONDS = 0.2


def try_lock(state: StateFolder) -> int | None:
    """Return a descriptor that holds the lock until it is closed; None when another holds it."""
    state.create()
    descriptor = os.open(state.lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


@contextmanager
def hold_lock(state: StateFolder, *, asked: str) -> Iterator[None]:
    """Hold the lock in the block; raise StackBusy at once when another command has it."""
    descriptor = try_lock(state)
    if descriptor is None:
        raise StackBusy(holder=holder(state), asked=asked)
    try:
        yield
    finally:
        os.close(descriptor)


def lock_or_running(state: StateFolder, *, say: Say, bound_seconds: float) -> int | StackRecord:
    """Return the lock, or the record of a ready stack under `up` that can be used as it is.

    Waits while another `cycle` runs, or while an `up` still starts; raises StackBusy at the bound.
    """
    deadline = time.monotonic() + bound_seconds
    told = False
    while True:
        descriptor = try_lock(state)
        if descriptor is not None:
            return descriptor
        record = read_record(state)
        if record is not None and record.verb == "up" and record.ready:
            return record
        if not told:
            say(f"Waiting: {holder(state)} …")
            told = True
        if time.monotonic() > deadline:
            raise StackBusy(holder=holder(state), asked="cycle")
        time.sleep(POLL_SECONDS)


def holder(state: StateFolder) -> str:
    """Return who holds the lock, in words."""
    record = read_record(state)
    if record is None:
        return "another command holds the stack"
    return f"'./tradewind {record.verb}' (pid {record.owner.pid}) holds the stack"
