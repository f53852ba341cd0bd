"""Start processes that can be found and stopped again, and never anybody else's.

Every part leads a session of its own and carries the stack's marker in its environment. A part
is stopped by its session; whatever left the session is found by the marker.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]  # the wheel has no types; only this module uses it

from include.errors import PartFailed

MARKER_VARIABLE = "TRADEWIND_STACK_ID"
CLOCK_TOLERANCE_SECONDS = 1.0  # psutil derives a start time from the boot time, to about 0.01 s
POLL_SECONDS = 0.05
REAP_SECONDS = 10.0


@dataclass(frozen=True, kw_only=True)
class ProcessRecord:
    """A process as it was when it was started: enough to know it again."""

    part: str
    pid: int
    started: float
    word: str
    log: str

    def as_json(self) -> dict[str, Any]:
        """Return the plain values that `from_json` takes."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "ProcessRecord":
        """Return the record of plain values."""
        return cls(**values)


@dataclass(frozen=True, kw_only=True)
class Part:
    """A running part of the stack: its child process and the record of it."""

    process: subprocess.Popen[bytes]
    record: ProcessRecord

    def close(self) -> None:
        """Reap the ended process and close its pipe."""
        self.process.wait(timeout=REAP_SECONDS)
        if self.process.stdout is not None:
            self.process.stdout.close()

    def require_alive(self) -> None:
        """Raise PartFailed when the part has ended by itself."""
        code = self.process.poll()
        if code is not None:
            found = f"ended with {code}: {last_line(Path(self.record.log))}"
            raise PartFailed(part=self.record.part, found=found, log=self.record.log)


@dataclass(frozen=True, kw_only=True)
class Command:
    """What to start: the part's name, its arguments, a word that its command line will hold."""

    part: str
    arguments: Sequence[str]
    word: str
    announces: bool = False  # its standard output is read, and is not part of its log


def start(
    command: Command,
    *,
    environment: Mapping[str, str],
    log: Path,
    folder: Path,
) -> Part:
    """Start a command in a session of its own, its output appended to the log."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        process = subprocess.Popen(
            list(command.arguments),
            env=dict(environment),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if command.announces else output,
            stderr=output,
            start_new_session=True,
        )
    record = record_of(process.pid, part=command.part, word=command.word, log=log)
    return Part(process=process, record=record)


def record_of(pid: int, *, part: str, word: str, log: Path) -> ProcessRecord:
    """Return the record of a process that runs now; one that is gone already started at 0."""
    try:
        started = psutil.Process(pid).create_time()
    except psutil.Error:
        started = 0.0
    return ProcessRecord(part=part, pid=pid, started=started, word=word, log=str(log))


def own_record() -> ProcessRecord:
    """Return the record of this very process."""
    word = " ".join(psutil.Process().cmdline())
    return record_of(os.getpid(), part="owner", word=word, log=Path())


def is_named(pid: int, word: str) -> bool:
    """Return whether a process of this pid lives whose program's name holds the word."""
    try:
        process = psutil.Process(pid)
        return word in process.name() and bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def is_running(record: ProcessRecord) -> bool:
    """Return whether the very process of the record still runs: pid, start time, command line."""
    try:
        process = psutil.Process(record.pid)
        same = abs(process.create_time() - record.started) <= CLOCK_TOLERANCE_SECONDS
        named = record.word in " ".join(process.cmdline())
        return bool(same and named and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def stop_sessions(leaders: Iterable[ProcessRecord], *, grace_seconds: float) -> None:
    """End all processes of the leaders' sessions: SIGTERM, and SIGKILL after the grace.

    The leaders must be verified by `is_running`, or be own children that were not reaped.
    """
    sessions = {leader.pid for leader in leaders}
    for pid in sessions:
        _signal_group(pid, signal.SIGTERM)
    _wait_until(lambda: not _members(sessions), grace_seconds)
    for process in _members(sessions):
        _kill(process)
    _wait_until(lambda: not _members(sessions), grace_seconds)


def stop_marked(marker: str, *, grace_seconds: float) -> list[int]:
    """End every process that carries the marker in its environment; return the pids that did."""
    found = marked(marker)
    for process in found:
        _kill(process)
    _wait_until(lambda: not marked(marker), grace_seconds)
    return [process.pid for process in found]


def marked(marker: str) -> list[psutil.Process]:
    """Return the live processes, this one apart, that carry the marker in their environment."""
    return [
        process
        for process in psutil.process_iter()
        if process.pid != os.getpid() and _carries(process, marker)
    ]


def last_line(log: Path, *, default: str = "it wrote nothing") -> str:
    """Return the last line of a log that is not empty, without its line break."""
    try:
        text = log.read_bytes()[-4000:].decode("utf-8", errors="replace")
    except OSError:
        return default
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else default


def _carries(process: psutil.Process, marker: str) -> bool:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return bool(process.environ().get(MARKER_VARIABLE) == marker)
    except (psutil.Error, OSError):
        return False


def _members(sessions: set[int]) -> list[psutil.Process]:
    return [process for process in psutil.process_iter() if _is_member(process, sessions)]


def _is_member(process: psutil.Process, sessions: set[int]) -> bool:
    try:
        return os.getsid(process.pid) in sessions and process.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, OSError):
        return False


def _signal_group(pid: int, number: signal.Signals) -> None:
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _kill(process: psutil.Process) -> None:
    try:
        process.kill()
    except psutil.Error:
        return


def _wait_until(done: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not done() and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
