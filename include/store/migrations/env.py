"""Alembic's entry: runs the migrations on the connection that `engine.migrate` opened.

There is no `alembic.ini` and no address here: the caller holds the connection, the lock and the
transaction.
"""

from alembic import context

from include.store.columns import SCHEMA
from include.store.schema import cycles

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=cycles.metadata,
    version_table_schema=SCHEMA,
)
with context.begin_transaction():
    context.run_migrations()
