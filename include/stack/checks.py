"""What `./tradewind doctor` looks at: each check is a value, and what does not run is no fault.

The checks of venue and database go through `pipeline`'s wiring, as the tasks do.
"""

import shutil
import sys
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from include.errors import TradewindError
from include.settings import Settings, load_settings
from include.stack.environment import adopt, venue_variables
from include.stack.ports import is_free
from include.stack.processes import is_running
from include.stack.record import StackRecord, read_record
from include.stack.rest import AirflowApi
from include.stack.secrets import load_or_create
from include.stack.stack import UI_PORT
from include.stack.state import StateFolder

FREE_BYTES = 2 * 10**9  # a year of bars, forecasts and logs of the default universe stays below
SKEW = timedelta(seconds=5)
CALENDAR_DAYS = 20


class Verdict(StrEnum):
    """What a check found."""

    OK = "ok"
    IDLE = "not running"
    FAULT = "fault"


@dataclass(frozen=True, kw_only=True)
class Check:
    """One check: what was looked at, what was found, and what cures a fault."""

    name: str
    verdict: Verdict
    found: str
    cure: str = ""


def run_checks(*, project: Path, state: StateFolder) -> list[Check]:
    """Return all checks, each made even when an earlier one found a fault."""
    record = _running(state)
    if record is not None:
        database = {"TRADEWIND_DATABASE_URL": record.database_url} if record.database_url else {}
        adopt(database | (venue_variables(record.venue) if record.venue else {}))
    checks = [
        check_python(sys.version_info[:2]),
        check_requirements(_pins(project / "requirements.txt")),
        check_disk(state.root),
    ]
    try:
        settings = load_settings()
    except TradewindError as error:
        return [*checks, _fault("settings", error)]
    checks.append(Check(name="settings", verdict=Verdict.OK, found="valid, paper only"))
    checks.append(_keys(settings, record))
    checks += [_database(settings), *_venue(settings, record)]
    return [*checks, _airflow(state, record), _port(record)]


def check_python(found: tuple[int, int]) -> Check:
    """Return whether this Python is one that Tradewind was tested on."""
    words = ".".join(map(str, found))
    if (3, 11) <= found <= (3, 13):
        return Check(name="python", verdict=Verdict.OK, found=words)
    cure = "Install Python 3.11, 3.12 or 3.13."
    return Check(name="python", verdict=Verdict.FAULT, found=words, cure=cure)


def check_requirements(pins: Iterable[tuple[str, str]]) -> Check:
    """Return whether every pinned package is installed in its pinned version."""
    rows = list(pins)
    wrong = [f"{name} {found}" for name, pin in rows if (found := _installed(name)) != pin]
    if not wrong:
        found = f"{len(rows)} packages as pinned"
        return Check(name="requirements", verdict=Verdict.OK, found=found)
    return Check(
        name="requirements",
        verdict=Verdict.FAULT,
        found=f"{len(wrong)} differ from requirements.txt: {', '.join(wrong[:3])}",
        cure="Remove .venv; the next call of ./tradewind makes it anew.",
    )


def check_disk(folder: Path) -> Check:
    """Return whether the disk of the state folder has room."""
    near = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(near).free
    found = f"{free / 10**9:.1f} GB free for {folder}"
    if free >= FREE_BYTES:
        return Check(name="disk", verdict=Verdict.OK, found=found)
    cure = f"Free {FREE_BYTES / 10**9:.0f} GB, or set TRADEWIND_STATE_DIR to another disk."
    return Check(name="disk", verdict=Verdict.FAULT, found=found, cure=cure)


def check_skew(venue_now: datetime, own_now: datetime) -> Check:
    """Return whether this machine's clock agrees with the venue's."""
    skew = abs(venue_now - own_now)
    found = f"{skew.total_seconds():.1f} s apart from the venue"
    if skew <= SKEW:
        return Check(name="clock", verdict=Verdict.OK, found=found)
    cure = "Set this machine's clock by NTP: decisions are stamped by the venue's."
    return Check(name="clock", verdict=Verdict.FAULT, found=found, cure=cure)


def _keys(settings: Settings, record: StackRecord | None) -> Check:
    if settings.key_id is None and settings.secret_key is None:
        found = "none set: the simulated exchange is the venue"
        return Check(name="keys", verdict=Verdict.OK, found=found)
    if settings.key_id is None or settings.secret_key is None:
        cure = "Set both APCA_API_KEY_ID and APCA_API_SECRET_KEY, or neither."
        return Check(name="keys", verdict=Verdict.FAULT, found="one of two set", cure=cure)
    is_simulated = record is not None and record.venue is not None
    found = "generated for the simulated exchange" if is_simulated else "of a paper account"
    return Check(name="keys", verdict=Verdict.OK, found=found)


def _database(settings: Settings) -> Check:
    if settings.database_url is None:
        found = "the embedded one is not running"
        return Check(name="database", verdict=Verdict.IDLE, found=found)

    def ask() -> str:
        from include.pipeline.views import latest_cycle_id

        return f"reachable and migrated; newest cycle: {latest_cycle_id() or 'none yet'}"

    return _asked("database", ask)


def _venue(settings: Settings, record: StackRecord | None) -> list[Check]:
    """Return venue, clock and calendar; the embedded venue's time is not this machine's."""
    if settings.key_id is None or settings.secret_key is None:
        found = "the simulated exchange is not running"
        return [Check(name="venue", verdict=Verdict.IDLE, found=found)]
    from include.pipeline.wiring.broker import open_broker
    from include.pipeline.wiring.market import open_calendar

    try:
        broker = open_broker(settings)
        now, account = broker.clock().now, broker.account()
        days = (now - timedelta(days=CALENDAR_DAYS)).date(), now.date()
        differing = set(broker.sessions_between(*days)) ^ set(
            open_calendar().sessions_between(*days)
        )
    except TradewindError as error:
        return [_fault("venue", error)]
    found = f"{settings.venue.trading_url} answers; equity {account.equity_usd:,.2f} USD"
    checks = [Check(name="venue", verdict=Verdict.OK, found=found), _calendar(differing)]
    if record is None or record.venue is None:
        checks.append(check_skew(now, datetime.now(UTC)))
    return checks


def _calendar(differing: Collection[object]) -> Check:
    if not differing:
        found = f"same sessions as the venue's over {CALENDAR_DAYS} days"
        return Check(name="calendar", verdict=Verdict.OK, found=found)
    found = f"{len(differing)} sessions differ over {CALENDAR_DAYS} days"
    cure = "Update exchange-calendars in requirements.in; the venue's own calendar decides."
    return Check(name="calendar", verdict=Verdict.FAULT, found=found, cure=cure)


def _airflow(state: StateFolder, record: StackRecord | None) -> Check:
    if record is None or not record.airflow_url:
        return Check(name="airflow", verdict=Verdict.IDLE, found="not running")
    api = AirflowApi(
        url=record.airflow_url,
        user="admin",
        password=load_or_create(state).admin_password,
        log=str(state.logs),
    )
    try:
        ill = _ill_components(api, record)
        faults = ill or api.import_errors()
    except TradewindError as error:
        return _fault("airflow", error)
    finally:
        api.close()
    if not faults:
        return Check(name="airflow", verdict=Verdict.OK, found=f"healthy at {record.airflow_url}")
    cure = f"Look into {state.logs}, then './tradewind down' and start again."
    return Check(name="airflow", verdict=Verdict.FAULT, found=faults[0], cure=cure)


def _ill_components(api: AirflowApi, record: StackRecord) -> list[str]:
    health = api.health()
    wanted = {"metadatabase", "scheduler"}
    wanted |= {"dag_processor", "triggerer"} if record.verb == "up" else set()
    return [
        f"{name} is {(health.get(name) or {}).get('status') or 'unknown'}"
        for name in sorted(wanted)
        if (health.get(name) or {}).get("status") != "healthy"
    ]


def _port(record: StackRecord | None) -> Check:
    if record is not None:
        return Check(name="ports", verdict=Verdict.OK, found=f"in use by {record.airflow_url}")
    if is_free(UI_PORT):
        return Check(name="ports", verdict=Verdict.OK, found=f"{UI_PORT} is free")
    found = f"{UI_PORT} is taken by another program; another port will be used"
    return Check(name="ports", verdict=Verdict.OK, found=found)


def _asked(name: str, ask: Callable[[], str]) -> Check:
    try:
        return Check(name=name, verdict=Verdict.OK, found=ask())
    except TradewindError as error:
        return _fault(name, error)


def _fault(name: str, error: TradewindError) -> Check:
    found, _, cure = str(error).partition(". ")
    return Check(name=name, verdict=Verdict.FAULT, found=found, cure=cure)


def _running(state: StateFolder) -> StackRecord | None:
    record = read_record(state)
    return record if record is not None and is_running(record.owner) else None


def _pins(path: Path) -> list[tuple[str, str]]:
    lines = (line.split("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    pairs = (line.partition(";")[0].partition("==") for line in lines if "==" in line)
    return [(name.partition("[")[0].strip(), pin.strip()) for name, _, pin in pairs]


def _installed(name: str) -> str:
    try:
        return version(name).partition("+")[
            0
        ]  # a build's label, such as +cpu, is no other version
    except PackageNotFoundError:
        return "absent"
