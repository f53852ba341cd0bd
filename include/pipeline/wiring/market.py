"""Builds market data and the calendar out of settings."""

from functools import lru_cache

from include.market.alpaca import AlpacaMarketData
from include.market.calendar import MarketCalendar
from include.pipeline.wiring.broker import venue_keys
from include.settings import Settings


def open_market_data(settings: Settings) -> AlpacaMarketData:
    """Return the source of bars and quotes of the settings."""
    key_id, secret_key = venue_keys(settings)
    return AlpacaMarketData(
        key_id=key_id,
        secret_key=secret_key,
        data_url=settings.venue.data_url,
        feed=settings.venue.feed,
        connect_timeout_seconds=settings.venue.connect_timeout_seconds,
        read_timeout_seconds=settings.venue.read_timeout_seconds,
    )


@lru_cache(maxsize=1)
def open_calendar() -> MarketCalendar:
    """Return the calendar of the NYSE, built once per process."""
    return MarketCalendar()
