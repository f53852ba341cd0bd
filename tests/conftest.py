"""Fixtures that several layers' tests share: a clean environment and a real, empty Postgres."""

import os
from collections.abc import Iterator

import pytest

from include.store.unit_of_work import Database, UnitOfWork
from tests.support.postgres import EmbeddedPostgres, embedded_postgres

CLEARED_PREFIXES = ("TRADEWIND_", "APCA_", "ALPACA_")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that uses the database with `postgres`."""
    for item in items:
        if "postgres" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.postgres)


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the caller's own settings and keys from every test."""
    for name in list(os.environ):  # noqa: TID251  # removed here so that no test can read them
        if name.startswith(CLEARED_PREFIXES):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def postgres() -> Iterator[EmbeddedPostgres]:
    """Run a fresh cluster with one migrated database, for all tests of the run."""
    with embedded_postgres() as server:
        yield server


@pytest.fixture
def database_url(postgres: EmbeddedPostgres) -> Iterator[str]:
    """Give the address of the migrated database; its tables are emptied afterwards."""
    yield postgres.url
    postgres.empty_tables()


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """Give the store on an empty database."""
    database = Database(database_url)
    yield database
    database.dispose()


@pytest.fixture
def uow(database: Database) -> Iterator[UnitOfWork]:
    """Give one open unit of work on an empty database; nothing is committed for the test."""
    with database.unit_of_work() as uow:
        yield uow
