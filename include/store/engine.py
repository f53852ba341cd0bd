"""The engine and the migrations: how a process reaches Postgres, and brings its schema up to date.

Nothing here happens at import. Transactions are in `unit_of_work.py`, tables in `schema.py`.
"""

import json
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from include.errors import ConfigurationError, InstallationFault
from include.store.columns import SCHEMA
from include.store.transaction import translated

CONNECT_TIMEOUT_SECONDS = 5
STATEMENT_TIMEOUT_SECONDS = (
    120  # a hung statement becomes StoreUnavailable, and the task is retried
)
DRIVER = "postgresql+psycopg2"
SECRET_QUERY_KEYS = ("password", "sslpassword")


def make_engine(url: str) -> Engine:
    """Return an engine for a Postgres URL; it connects on first use.

    Accepts `postgresql://` and `postgresql+psycopg2://`; raises ConfigurationError for another.
    """
    return create_engine(
        _driver_url(url),
        pool_pre_ping=True,
        pool_size=5,
        max_overflow=5,
        json_serializer=partial(json.dumps, allow_nan=False),
        connect_args={
            "connect_timeout": CONNECT_TIMEOUT_SECONDS,
            "application_name": "tradewind",
            "options": f"-c timezone=UTC -c statement_timeout={STATEMENT_TIMEOUT_SECONDS}s",
        },
    )


def shown_url(url: URL) -> str:
    """Return the URL as it may be shown: stars for a password, none in its query."""
    return url.difference_update_query(SECRET_QUERY_KEYS).render_as_string(hide_password=True)


def migrate(url: str) -> str:
    """Bring the schema up to date and return its revision; a schema that is stays untouched.

    One transaction under an advisory lock: of two processes the second finds nothing to do, and a
    failing migration leaves the schema as it was.
    """
    engine = make_engine(url)
    try:
        with translated(shown_url(engine.url)), engine.begin() as connection:
            connection.execute(
                text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))"),
                {"name": f"{SCHEMA} migrations"},
            )
            connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}"))
            _upgrade(connection)
            return _revision(connection) or ""
    finally:
        engine.dispose()


def current_revision(url: str) -> str | None:
    """Return the revision of the stored schema, or None where there is none."""
    engine = make_engine(url)
    try:
        with translated(shown_url(engine.url)), engine.connect() as connection:
            return _revision(connection)
    finally:
        engine.dispose()


def _driver_url(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        message = (
            "TRADEWIND_DATABASE_URL is no URL; give postgresql://user:password@host/database."
        )
        raise ConfigurationError(message) from error
    if parsed.drivername not in ("postgresql", "postgres", DRIVER):
        shown = shown_url(parsed)
        message = f"TRADEWIND_DATABASE_URL was {shown}; give a postgresql:// or {DRIVER}:// URL."
        raise ConfigurationError(message)
    return parsed.set(drivername=DRIVER)


def _upgrade(connection: Connection) -> None:
    from alembic import command  # 0.1 s that only migrating processes need
    from alembic.config import Config
    from alembic.util.exc import CommandError

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        cure = "Install the version that made it, or give another database."
        raise InstallationFault(
            part="The schema tradewind", found=str(error), cure=cure
        ) from error


def _revision(connection: Connection) -> str | None:
    from alembic.runtime.migration import MigrationContext

    context = MigrationContext.configure(connection, opts={"version_table_schema": SCHEMA})
    return context.get_current_revision()
