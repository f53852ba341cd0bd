"""Which symbols a cycle considers, of which class, in which timeframe."""

from collections.abc import Sequence

from include.domain.bars import Timeframe
from include.domain.instruments import AssetClass, asset_class_of
from include.errors import UnknownParameter
from include.settings import Settings


def timeframe_of(asset_class: AssetClass, settings: Settings) -> Timeframe:
    """Return the length of the bars that a class is forecast in."""
    if asset_class is AssetClass.CRYPTO:
        return Timeframe(settings.data.crypto_timeframe)
    return Timeframe(settings.data.equity_timeframe)


def symbols_of(requested: Sequence[str], settings: Settings) -> tuple[str, ...]:
    """Return the requested symbols, or the whole universe where none are named.

    Raise UnknownParameter for a symbol outside the universe.
    """
    universe = settings.universe.symbols
    for symbol in requested:
        if symbol not in universe:
            raise UnknownParameter(kind="Symbol", name=symbol, known=universe)
    return tuple(requested) or universe


def grouped_by_timeframe(
    symbols: Sequence[str], settings: Settings
) -> dict[tuple[AssetClass, Timeframe], list[str]]:
    """Return the symbols by class and timeframe, in their own order."""
    groups: dict[tuple[AssetClass, Timeframe], list[str]] = {}
    for symbol in symbols:
        asset_class = asset_class_of(symbol)
        groups.setdefault((asset_class, timeframe_of(asset_class, settings)), []).append(symbol)
    return groups
