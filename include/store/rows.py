"""Domain values to rows and back, by field name; the column types do the rest.

Used by every repository whose table has the fields of a dataclass as columns.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar, Protocol, TypeVar

from sqlalchemy import (
    ARRAY,
    CollectionAggregate,
    Column,
    Double,
    Select,
    Table,
    Text,
    any_,
    literal,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import insert

from include.errors import UnknownRow
from include.store.copying import Field, encode_rows
from include.store.transaction import Transaction


class Fielded(Protocol):
    """Any dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


V = TypeVar("V", bound=Fielded)


def row_of(value: Fielded, **others: object) -> dict[str, Any]:
    """Return the value's fields by name, with other columns beside them or in their place."""
    return {field.name: getattr(value, field.name) for field in fields(value)} | others


def field_columns(table: Table, kind: type[Fielded]) -> list[Column[Any]]:
    """Return the columns that hold the fields of a dataclass."""
    return [table.c[field.name] for field in fields(kind)]


def select_fields(table: Table, kind: type[Fielded]) -> Select[Any]:
    """Return a select of the columns that hold the fields of a dataclass."""
    return select(*field_columns(table, kind))


def values_of(transaction: Transaction, statement: Select[Any], kind: type[V]) -> list[V]:
    """Return the rows as values; the statement selects exactly the fields."""
    return [kind(**row) for row in transaction.rows(statement)]


def any_of(words: Iterable[str]) -> CollectionAggregate[Any]:
    """Return the right side of `column ==` for any of the words: one bound array, however many."""
    return any_(literal(list(words), ARRAY(Text)))


def insert_new(transaction: Transaction, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert the rows; one whose key is stored already changes nothing."""
    transaction.write_all(insert(table).on_conflict_do_nothing(), rows)


def copy_new(transaction: Transaction, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert thousands of rows by COPY; one whose key is stored already changes nothing.

    For tables of text, words, double precision and instants.
    """
    if not rows:
        return
    names, incoming = list(rows[0]), f"incoming_{table.name}"
    listed = ", ".join(names)
    transaction.write(
        text(
            f"CREATE TEMPORARY TABLE IF NOT EXISTS {incoming} ON COMMIT DELETE ROWS"
            f" AS SELECT {listed} FROM {table.fullname} WITH NO DATA"
        )
    )
    transaction.write(text(f"TRUNCATE {incoming}"))
    casts = [float if isinstance(table.c[name].type, Double) else None for name in names]
    transaction.copy_in(f"{incoming} ({listed})", encode_rows(_fields_of(rows, casts)))
    transaction.write(
        text(
            f"INSERT INTO {table.fullname} ({listed}) SELECT {listed} FROM {incoming}"
            " ON CONFLICT DO NOTHING"
        )
    )


def upsert(transaction: Transaction, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert the rows; one whose key is stored already takes the place of the stored one."""
    if not rows:
        return
    statement = insert(table)
    keys = [column.name for column in table.primary_key]
    replaced = {name: statement.excluded[name] for name in rows[0] if name not in keys}
    statement = statement.on_conflict_do_update(index_elements=keys, set_=replaced)
    transaction.write_all(statement, rows)


def require_written(count: int, *, expected: int, kind: str, key: str) -> None:
    """Raise UnknownRow unless as many rows were changed as were meant."""
    if count != expected:
        raise UnknownRow(kind=kind, key=key)


def keyed(values: Iterable[V], field_name: str) -> dict[str, V]:
    """Return the values by one of their fields."""
    return {getattr(value, field_name): value for value in values}


def _fields_of(
    rows: Iterable[Mapping[str, Any]], casts: Sequence[type[float] | None]
) -> Iterator[list[Field]]:
    """Return each row's fields, floats where the column holds them: an int has other bytes."""
    for row in rows:
        yield [
            value if cast is None or value is None else cast(value)
            for value, cast in zip(row.values(), casts, strict=True)
        ]
