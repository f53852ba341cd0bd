"""One open transaction, as the repositories use it: statements in, plain rows out.

Every error of SQLAlchemy and of the driver is translated here, at the store's border; none of
theirs leaves it. Who opens and commits a transaction is decided in `unit_of_work.py`.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import Any, cast

import psycopg2  # type: ignore[import-untyped]  # ships no types
from psycopg2 import errors as postgres
from sqlalchemy import Connection, Executable
from sqlalchemy.exc import DBAPIError, SQLAlchemyError, StatementError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from include.errors import (
    ConflictingWrite,
    InstallationFault,
    StoreError,
    StoreUnavailable,
    UnknownRow,
)

Row = Mapping[str, Any]


@contextmanager
def translated(url: str) -> Iterator[None]:
    """Raise our own errors for those of SQLAlchemy and psycopg2; `url` has no password."""
    try:
        yield
    except StatementError as error:
        if not isinstance(error, DBAPIError) and isinstance(error.orig, ValueError | TypeError):
            raise error.orig from error  # a value that no column takes: the caller's mistake
        raise _our_error(error.orig or error, url) from error
    except (SQLAlchemyError, psycopg2.Error) as error:
        raise _our_error(error, url) from error


class Transaction:
    """Runs statements on one connection; never commits."""

    def __init__(self, connection: Connection, *, url: str) -> None:
        self._connection = connection
        self._url = url

    def rows(self, statement: Executable, values: Mapping[str, Any] | None = None) -> list[Row]:
        """Return every row of the answer."""
        with translated(self._url):
            return cast("list[Row]", self._connection.execute(statement, values).mappings().all())

    def first(self, statement: Executable, values: Mapping[str, Any] | None = None) -> Row | None:
        """Return the first row of the answer, or None."""
        with translated(self._url):
            return cast(
                "Row | None", self._connection.execute(statement, values).mappings().first()
            )

    def column(self, statement: Executable, values: Mapping[str, Any] | None = None) -> list[Any]:
        """Return the first column of the answer."""
        with translated(self._url):
            return list(self._connection.execute(statement, values).scalars())

    def scalar(self, statement: Executable, values: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401  # whatever the column holds
        """Return the first column of the first row, or None."""
        with translated(self._url):
            return self._connection.execute(statement, values).scalar()

    def write(self, statement: Executable, values: Mapping[str, Any] | None = None) -> int:
        """Run a statement that changes rows; return how many."""
        with translated(self._url):
            return self._connection.execute(statement, values).rowcount

    def write_all(self, statement: Executable, rows: Sequence[Row]) -> None:
        """Run an insert for many rows, a thousand to a statement; nothing for no rows."""
        if rows:
            with translated(self._url):
                self._connection.execute(statement, rows)

    def copy_in(self, target: str, payload: bytes) -> None:
        """Send rows of the binary COPY format; `target` names a table and its columns."""
        with translated(self._url), self._cursor() as cursor:
            cursor.copy_expert(f"COPY {target} FROM STDIN (FORMAT binary)", BytesIO(payload))

    def copy_out(self, query: str, values: Sequence[Any]) -> bytes:
        """Return a query's rows in the binary COPY format; `query` has %s for each value."""
        answer = BytesIO()
        with translated(self._url), self._cursor() as cursor:
            bound = cursor.mogrify(query, values).decode()
            cursor.copy_expert(f"COPY ({bound}) TO STDOUT (FORMAT binary)", answer)
        return answer.getvalue()

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        """Give the driver's own cursor, of which SQLAlchemy has to be told what it can't see."""
        if not self._connection.in_transaction():
            self._connection.begin()
        try:
            raw: Any = self._connection.connection.cursor()
            with raw as cursor:
                yield cursor
        except psycopg2.Error as error:
            if _is_connection_fault(error):
                self._connection.invalidate(error)
            raise


def _our_error(error: BaseException, url: str) -> Exception:
    found = _first_line(error)
    if _is_connection_fault(error):
        return StoreUnavailable(url=url, found=found)
    if isinstance(error, postgres.ForeignKeyViolation):
        return UnknownRow(kind=_table_of(error), key=error.diag.message_detail or found)
    if isinstance(error, psycopg2.IntegrityError):
        return ConflictingWrite(
            kind=error.diag.table_name or "row",
            key=error.diag.constraint_name or "",
            difference=error.diag.message_detail or found,
        )
    if isinstance(
        error, postgres.UndefinedTable | postgres.InvalidSchemaName | postgres.UndefinedColumn
    ):
        return InstallationFault(
            part=f"The database {url}",
            found=f"{found}",
            cure="Run './tradewind doctor': it brings the schema tradewind up to date.",
        )
    return StoreError(f"The database {url} refused a statement: {found}.")


def _is_connection_fault(error: BaseException) -> bool:
    """Tell whether asking again may help: no answer, a lost connection, a timeout, a deadlock."""
    if isinstance(error, psycopg2.OperationalError | psycopg2.InterfaceError | PoolTimeout):
        return True
    is_plain = type(error) is psycopg2.DatabaseError  # a connection lost in the middle of a COPY
    return is_plain and getattr(error, "pgcode", None) is None


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


def _table_of(error: postgres.ForeignKeyViolation) -> str:
    """Return the table that lacks the row: the one that the constraint refers to."""
    detail = error.diag.message_detail or ""
    return detail.rsplit('table "', 1)[-1].split('"', 1)[0] or "row"
