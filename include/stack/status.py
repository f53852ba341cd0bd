"""What runs now, as plain values for the command line."""

from typing import Any

from include.stack.airflow import API_SERVER
from include.stack.exchange import PART as EXCHANGE
from include.stack.processes import ProcessRecord, is_running
from include.stack.record import StackRecord, read_record
from include.stack.state import StateFolder


def stack_status(state: StateFolder) -> dict[str, Any]:
    """Return verb, readiness and parts of the stack of this state folder; never a secret."""
    record = read_record(state)
    found: dict[str, Any] = {
        "state_folder": str(state.root),
        "verb": None,
        "ready": False,
        "parts": [],
    }
    if record is None:
        return found
    rows = [_part(record, part) for part in record.parts if _is_lasting(part)]
    if not any(row["state"] == "running" for row in rows):
        return found
    is_owned = is_running(record.owner)
    return found | {
        "verb": record.verb,
        "owner_pid": record.owner.pid if is_owned else None,
        "ready": record.ready and is_owned,
        "airflow_url": record.airflow_url,
        "exchange_url": record.venue.trading_url if record.venue else None,
        "parts": rows,
    }


def _is_lasting(part: ProcessRecord) -> bool:
    """Return whether a part is one that stays, not a step of the start that has ended."""
    return part.part in (EXCHANGE, "postgres") or is_running(part)


def _part(record: StackRecord, part: ProcessRecord) -> dict[str, Any]:
    addresses = {
        API_SERVER: record.airflow_url,
        EXCHANGE: record.venue.trading_url if record.venue else "",
        "postgres": "a Unix socket",
    }
    return {
        "part": part.part,
        "state": "running" if is_running(part) else "ended",
        "pid": part.pid,
        "address": addresses.get(part.part) or None,
        "log": part.log,
    }
