"""Builds the broker out of settings."""

from include.broker.alpaca import AlpacaBroker
from include.broker.ports import Broker
from include.errors import ConfigurationError
from include.settings import Settings


def open_broker(settings: Settings) -> Broker:
    """Return the paper account of the settings; raise ConfigurationError without keys."""
    key_id, secret_key = venue_keys(settings)
    return AlpacaBroker(
        key_id=key_id,
        secret_key=secret_key,
        trading_url=settings.venue.trading_url,
        connect_timeout_seconds=settings.venue.connect_timeout_seconds,
        read_timeout_seconds=settings.venue.read_timeout_seconds,
    )


def venue_keys(settings: Settings) -> tuple[str, str]:
    """Return key id and secret; raise ConfigurationError naming the absent variable."""
    if settings.key_id is None or settings.secret_key is None:
        absent = "APCA_API_KEY_ID" if settings.key_id is None else "APCA_API_SECRET_KEY"
        message = f"{absent} was not set; the venue {settings.venue.trading_url} wants both keys."
        raise ConfigurationError(message)
    return settings.key_id.get_secret_value(), settings.secret_key.get_secret_value()
