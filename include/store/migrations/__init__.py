"""Alembic's migrations of the schema `tradewind`; run by `include.store.engine.migrate`."""
