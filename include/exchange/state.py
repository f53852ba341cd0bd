"""The venue's state on disk: one SQLite file, written before a change is answered.

Each save is one transaction with full synchronisation: after `kill -9` or a power cut the file
holds all that was answered, and nothing in half. The file is locked, so that two exchanges never
share it. Without a folder the state lives in memory alone.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from include.errors import ExchangeError
from include.exchange.accounts import Account
from include.exchange.instants import Instant
from include.exchange.orders import Fill, Order

_FILE_NAME = "exchange.sqlite3"
_LOCK_SECONDS = 1.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS orders (sequence INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS fills (sequence INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS closes (instant INTEGER PRIMARY KEY, equity TEXT NOT NULL) STRICT;
"""
_ORDER, _FILL, _ACCOUNT = TypeAdapter(Order), TypeAdapter(Fill), TypeAdapter(Account)


@dataclass(frozen=True, kw_only=True)
class SavedState:
    """All that a restart needs; `closes` holds the equity in USD at each session's close."""

    fingerprint: str
    created_at: Instant
    now: Instant
    account: Account
    orders: list[Order]
    fills: list[Fill]
    closes: list[tuple[Instant, str]]


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What one request changed."""

    now: Instant
    account: Account
    orders: Iterable[Order] = ()
    fills: Iterable[Fill] = ()
    closes: Iterable[tuple[Instant, str]] = ()


class StateFile:
    """Save and load the venue's state; used under the venue's lock only."""

    def __init__(self, folder: Path | None) -> None:
        self._source = ":memory:" if folder is None else str(folder / _FILE_NAME)
        try:
            self._connection = _opened(self._source)
        except sqlite3.Error as error:
            raise _unusable(self._source, error) from error

    def begin(self, *, fingerprint: str, created_at: Instant, account: Account) -> None:
        """Write what a new state starts with."""
        with self._transaction():
            self._write_facts({"fingerprint": fingerprint, "created_at": str(created_at)})
            self._write_facts(_moving_facts(created_at, account))

    def load(self) -> SavedState | None:
        """Return the saved state, None when there is none yet."""
        facts: dict[str, str] = dict(self._rows("SELECT name, value FROM facts"))
        if "account" not in facts:
            return None
        return SavedState(
            fingerprint=facts["fingerprint"],
            created_at=int(facts["created_at"]),
            now=int(facts["now"]),
            account=_ACCOUNT.validate_json(facts["account"]),
            orders=[_ORDER.validate_json(row[0]) for row in self._bodies("orders")],
            fills=[_FILL.validate_json(row[0]) for row in self._bodies("fills")],
            closes=self._rows("SELECT instant, equity FROM closes ORDER BY instant"),
        )

    def save(self, changes: Changes) -> None:
        """Write the changes in one transaction; returns when they are on the disk."""
        orders = [(order.sequence, _ORDER.dump_json(order).decode()) for order in changes.orders]
        fills = [(fill.sequence, _FILL.dump_json(fill).decode()) for fill in changes.fills]
        with self._transaction():
            self._write_facts(_moving_facts(changes.now, changes.account))
            self._put("orders", orders)
            self._put("fills", fills)
            self._put("closes", changes.closes)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            with self._connection:
                yield
        except sqlite3.Error as error:
            raise _unusable(self._source, error) from error

    def _write_facts(self, facts: dict[str, str]) -> None:
        self._put("facts", facts.items())

    def _put(self, table: str, rows: Iterable[tuple[int | str, str]]) -> None:
        self._connection.executemany(_INSERTS[table], rows)

    def _bodies(self, table: str) -> list[Any]:
        return self._rows(_SELECTS[table])

    def _rows(self, statement: str) -> list[Any]:
        try:
            with closing(self._connection.execute(statement)) as cursor:
                return cursor.fetchall()
        except sqlite3.Error as error:
            raise _unusable(self._source, error) from error


_INSERTS = {
    "facts": "INSERT OR REPLACE INTO facts VALUES (?, ?)",
    "orders": "INSERT OR REPLACE INTO orders VALUES (?, ?)",
    "fills": "INSERT OR REPLACE INTO fills VALUES (?, ?)",
    "closes": "INSERT OR REPLACE INTO closes VALUES (?, ?)",
}
_SELECTS = {
    "orders": "SELECT body FROM orders ORDER BY sequence",
    "fills": "SELECT body FROM fills ORDER BY sequence",
}


def _moving_facts(now: Instant, account: Account) -> dict[str, str]:
    return {"now": str(now), "account": _ACCOUNT.dump_json(account).decode()}


def _opened(source: str) -> sqlite3.Connection:
    connection = sqlite3.connect(source, timeout=_LOCK_SECONDS, check_same_thread=False)
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.executescript(_SCHEMA)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _unusable(source: str, error: sqlite3.Error) -> ExchangeError:
    message = f"The exchange's state {source} can't be used: {error}. Give another state folder."
    return ExchangeError(message)
