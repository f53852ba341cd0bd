"""The record of a stack that runs: who owns it, where its parts listen, which processes it has."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from include.stack.processes import ProcessRecord
from include.stack.state import StateFolder, read_json, write_private


@dataclass(frozen=True, kw_only=True)
class Venue:
    """The simulated exchange of a stack, with its generated keys; keys are absent from `repr`."""

    trading_url: str
    data_url: str
    key_id: str = field(repr=False)
    secret_key: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class StackRecord:
    """A stack as another process finds it; written anew after each part has started."""

    verb: str
    marker: str
    owner: ProcessRecord
    parts: tuple[ProcessRecord, ...] = ()
    airflow_url: str = ""
    database_url: str = field(default="", repr=False)
    venue: Venue | None = None  # None where a stack trades an Alpaca paper account
    ready: bool = False

    def with_part(self, part: ProcessRecord) -> "StackRecord":
        """Return the record with one more part."""
        return replace(self, parts=(*self.parts, part))


def write_record(state: StateFolder, record: StackRecord) -> None:
    """Write what runs now."""
    write_private(state.record_file, asdict(record))


def read_record(state: StateFolder) -> StackRecord | None:
    """Return what was written last; None where nothing was, or where it can't be read."""
    values = read_json(state.record_file)
    if not values:
        return None
    try:
        return _record(values)
    except (KeyError, TypeError):
        return None


def remove_record(state: StateFolder) -> None:
    """Say that nothing runs."""
    state.record_file.unlink(missing_ok=True)


def _record(values: Mapping[str, Any]) -> StackRecord:
    venue = values["venue"]
    parts = tuple(ProcessRecord.from_json(part) for part in values["parts"])
    return StackRecord(
        **{
            **values,
            "owner": ProcessRecord.from_json(values["owner"]),
            "parts": parts,
            "venue": Venue(**venue) if venue else None,
        }
    )
