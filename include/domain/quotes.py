"""Quotes: the best bid and ask at an instant."""

from dataclasses import dataclass
from datetime import datetime

from include.domain.money import BPS_PER_UNIT


@dataclass(frozen=True, kw_only=True)
class Quote:
    """Best bid and ask of a symbol, USD, at an aware UTC instant."""

    symbol: str
    bid: float
    ask: float
    at: datetime

    @property
    def mid(self) -> float:
        """(bid + ask) / 2."""
        return (self.bid + self.ask) / 2

    @property
    def spread_bps(self) -> float:
        """(ask - bid) / mid in basis points."""
        return (self.ask - self.bid) / self.mid * BPS_PER_UNIT
