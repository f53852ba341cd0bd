"""Bid and ask around the price of a minute, in whole ticks, so that limits compare exactly.

The same quotes are shown to clients and used to fill their orders.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

import numpy as np

from include.exchange.assets import Asset, AssetClass
from include.exchange.path import FloatArray, IntArray

SUB_DOLLAR_INCREMENT = Decimal("0.0001")


@dataclass(frozen=True, kw_only=True)
class Spreads:
    """The distance from bid to ask of each asset class, in bps of the price; one tick at least."""

    by_class: Mapping[AssetClass, float] = field(
        default_factory=lambda: {AssetClass.US_EQUITY: 2.0, AssetClass.CRYPTO: 6.0}
    )


@dataclass(frozen=True, kw_only=True)
class QuoteTrack:
    """Bid and ask of each minute of a day, whole ticks of shape (n_minutes,)."""

    tick: Decimal
    bids: IntArray
    asks: IntArray

    def bid(self, minute: int) -> Decimal:
        """Return what a seller gets, USD."""
        return int(self.bids[minute]) * self.tick

    def ask(self, minute: int) -> Decimal:
        """Return what a buyer pays, USD."""
        return int(self.asks[minute]) * self.tick

    def minutes_with_ask_up_to(self, limit: Decimal) -> IntArray:
        """Return the minutes in which a buy limit is marketable, ascending."""
        ticks = int((limit / self.tick).to_integral_value(ROUND_FLOOR))
        return np.flatnonzero(self.asks <= ticks)

    def minutes_with_bid_from(self, limit: Decimal) -> IntArray:
        """Return the minutes in which a sell limit is marketable, ascending."""
        ticks = int((limit / self.tick).to_integral_value(ROUND_CEILING))
        return np.flatnonzero(self.bids >= ticks)


def tick_size(asset: Asset, lowest_usd: float) -> Decimal:
    """Return the price increment: an equity's is 0.01 USD from 1 USD up and 0.0001 below."""
    if not asset.is_crypto and lowest_usd < 1:
        return SUB_DOLLAR_INCREMENT
    return asset.price_increment


def quote_track(prices: FloatArray, *, tick: Decimal, spread_bps: float) -> QuoteTrack:
    """Return quotes that enclose each price; bid is at least one tick above zero."""
    in_ticks = prices / float(tick)
    width = np.maximum(np.rint(in_ticks * spread_bps / 10_000), 1).astype(np.int64)
    bids = np.floor(in_ticks - (width - 1) / 2 + 1e-6).astype(np.int64)
    bids = np.maximum(bids, 1)
    return QuoteTrack(tick=tick, bids=bids, asks=bids + width)
