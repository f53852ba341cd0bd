"""Settings versions: what a cycle's settings hash stands for."""

from typing import Any

from sqlalchemy import select

from include.store.rows import insert_new
from include.store.schema import settings_versions
from include.store.transaction import Transaction


class SettingsVersionRepository:
    """Settings by their hash; insert-only, secrets are masked by the caller."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def save(self, settings_hash: str, settings: dict[str, Any]) -> None:
        """Store a version; nothing changes where the hash is stored already."""
        row = {"settings_hash": settings_hash, "settings": settings}
        insert_new(self._transaction, settings_versions, [row])

    def by_hash(self, settings_hash: str) -> dict[str, Any] | None:
        """Return the settings of a hash, or None."""
        statement = select(settings_versions.c.settings).where(
            settings_versions.c.settings_hash == settings_hash
        )
        found: dict[str, Any] | None = self._transaction.scalar(statement)
        return found
