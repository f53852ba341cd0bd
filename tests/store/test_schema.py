"""The schema: migrations make exactly the tables, and ledgers refuse to be rewritten."""

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import InternalError

from include.domain.bars import COLUMNS
from include.domain.halts import HaltState
from include.store import schema
from include.store.columns import SCHEMA
from tests.support.builders import AS_OF

TIMES = dict.fromkeys(("start", "bar_end", "recorded_at"), AS_OF)
BAR = {"symbol": "AAPL", "timeframe": "1Day", "revision": 0} | TIMES | dict.fromkeys(COLUMNS, 1)
HALT = {"account_id": "A", "state": HaltState.HALTED, "reason": "r", "actor": "a", "at": AS_OF}


def test_migrations_make_exactly_the_tables_of_the_schema(postgres):
    """Alembic finds no difference between the migrated database and the tables in code."""
    with postgres.engine.connect() as connection:
        context = MigrationContext.configure(
            connection,
            opts={
                "version_table_schema": SCHEMA,
                "include_schemas": True,
                "include_name": lambda name, kind, _: kind != "schema" or name == SCHEMA,
            },
        )
        assert compare_metadata(context, schema.cycles.metadata) == []


@pytest.mark.parametrize(
    "change",
    [
        update(schema.bars).values(close=2),
        update(schema.forecasts).values(symbol="X"),
        delete(schema.forecasts),
        update(schema.issued_forecasts).values(symbol="X"),
        delete(schema.issued_forecasts),
        update(schema.order_events).values(detail="X"),
        delete(schema.order_events),
        update(schema.halt_events).values(reason="X"),
        delete(schema.halt_events),
        delete(schema.order_intents),
    ],
    ids=lambda change: f"{change.__visit_name__} {change.table.name}",
)
def test_database_itself_refuses_to_rewrite_a_ledger(postgres, change):
    """Whoever connects, rows of a ledger are inserted and never changed."""
    with (
        postgres.engine.connect() as connection,
        pytest.raises(InternalError, match=f"rows of {change.table.name} are never changed"),
    ):
        connection.execute(change)


def test_instants_come_back_in_utc(postgres):
    """Whatever zone the database server is in, an instant that is read is UTC."""
    with postgres.engine.connect() as connection:
        connection.exec_driver_sql("SET timezone = 'Asia/Tokyo'")
        connection.execute(insert(schema.bars), BAR)
        start = connection.execute(select(schema.bars.c.start)).scalar_one()
    assert start.isoformat() == AS_OF.isoformat() == "2026-11-20T15:00:00+00:00"


def test_word_that_an_enum_lacks_is_refused(postgres):
    """A typing mistake in a state never reaches a row."""
    with (
        postgres.engine.connect() as connection,
        pytest.raises(Exception, match="'haltd' is not a valid HaltState"),
    ):
        connection.execute(insert(schema.halts), HALT | {"state": "haltd"})
