"""Column types of the store, and short makers of columns for `schema.py`.

Here it is decided what a value looks like in Postgres: instants are timestamptz in UTC, enums
their own words, money NUMERIC, market numbers double precision. Columns are NOT NULL unless said.
"""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    TIMESTAMP,
    BigInteger,
    Boolean,
    Column,
    Dialect,
    Double,
    ForeignKey,
    Identity,
    MetaData,
    Numeric,
    Text,
    TypeDecorator,
    func,
)
from sqlalchemy.types import TypeEngine

from include.domain.instants import require_utc

SCHEMA = "tradewind"
METADATA = MetaData(
    schema=SCHEMA,
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "fk": "%(table_name)s_%(column_0_name)s_fkey",
        "uq": "%(table_name)s_%(column_0_name)s_key",
    },
)
ColumnKind = TypeEngine[Any] | type[TypeEngine[Any]]


class Instant(TypeDecorator[datetime]):
    """An aware instant: a naive one is refused, and what comes back is in UTC."""

    impl = TIMESTAMP(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the instant in UTC; raise ValueError for a naive one."""
        return None if value is None else require_utc(value, name="instant")

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the instant in UTC."""
        return None if value is None else value.astimezone(UTC)


class Word(TypeDecorator[StrEnum]):
    """A member of an enum, stored as its value; a word that the enum lacks is refused."""

    impl = Text
    cache_ok = True

    def __init__(self, words: type[StrEnum]) -> None:
        super().__init__()
        self.words = words

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Return the member's value."""
        return None if value is None else self.words(value).value

    def process_result_value(self, value: str | None, dialect: Dialect) -> StrEnum | None:
        """Return the member."""
        return None if value is None else self.words(value)


def columns(kind: ColumnKind, *names: str, nullable: bool = False) -> list[Column[Any]]:
    """Return one column a name, all of a kind."""
    return [Column(name, kind, nullable=nullable) for name in names]


def texts(*names: str, nullable: bool = False) -> list[Column[Any]]:
    """Return text columns."""
    return columns(Text, *names, nullable=nullable)


def floats(*names: str, nullable: bool = False) -> list[Column[Any]]:
    """Return double precision columns: every float64 comes back bit for bit."""
    return columns(Double, *names, nullable=nullable)


def decimals(*names: str, nullable: bool = False) -> list[Column[Any]]:
    """Return NUMERIC columns without a bound: every Decimal comes back with its digits."""
    return columns(Numeric, *names, nullable=nullable)


def instants(*names: str, nullable: bool = False) -> list[Column[Any]]:
    """Return columns of aware instants."""
    return columns(Instant, *names, nullable=nullable)


def flags(*names: str) -> list[Column[Any]]:
    """Return boolean columns."""
    return columns(Boolean, *names)


def key(name: str = "symbol", kind: ColumnKind = Text) -> Column[Any]:
    """Return a column of the primary key."""
    return Column(name, kind, primary_key=True, autoincrement=False)


def of_cycle() -> Column[Any]:
    """Return the key column of rows that only a stored cycle may have."""
    return Column("cycle_id", Text, ForeignKey(f"{SCHEMA}.cycles.cycle_id"), primary_key=True)


def saved_at() -> Column[Any]:
    """Return the database's own time of writing: for people, never for a decision."""
    return Column("saved_at", Instant, nullable=False, server_default=func.now())


def row_number(name: str) -> Column[Any]:
    """Return a number that the database counts up: the order in which rows were written."""
    return Column(name, BigInteger, Identity(always=True), nullable=False)
