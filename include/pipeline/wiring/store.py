"""Builds the store out of settings."""

from functools import lru_cache

from include.errors import ConfigurationError
from include.settings import Settings, load_settings
from include.store.unit_of_work import Database


def open_database(settings: Settings | None = None) -> Database:
    """Return the database of the settings, one pool per process and address."""
    return _database(database_url(settings or load_settings()))


def database_url(settings: Settings) -> str:
    """Return the address with its password; raise ConfigurationError without one."""
    if settings.database_url is None:
        message = (
            "TRADEWIND_DATABASE_URL was not set; give postgresql+psycopg2://user:password@host/name"
            ", or use './tradewind', which starts an embedded database."
        )
        raise ConfigurationError(message)
    return settings.database_url.get_secret_value()


@lru_cache(maxsize=4)
def _database(url: str) -> Database:
    return Database(url)
