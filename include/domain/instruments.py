"""Instruments: what a symbol is, and the increments in which the venue trades it."""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from include.domain.money import round_down_to, round_up_to

EQUITY_TICK_USD = Decimal("0.01")  # Alpaca: 2 decimals from 1 USD up
EQUITY_SUB_DOLLAR_TICK_USD = Decimal("0.0001")  # and 4 below it


class AssetClass(StrEnum):
    """Class of an instrument, as the venue spells it."""

    EQUITY = "us_equity"
    CRYPTO = "crypto"


@dataclass(frozen=True, kw_only=True)
class Instrument:
    """A tradable symbol with its increments; quantities in shares or coins, prices in USD."""

    symbol: str
    asset_class: AssetClass
    name: str = ""
    is_tradable: bool = True
    is_shortable: bool = False
    is_fractionable: bool = False
    quantity_increment: Decimal = Decimal(1)
    minimum_quantity: Decimal = Decimal(1)
    price_increment_usd: Decimal | None = None

    def tick_usd(self, price_usd: Decimal) -> Decimal:
        """Return the smallest price step at a price."""
        if self.price_increment_usd is not None:
            return self.price_increment_usd
        return EQUITY_TICK_USD if price_usd >= 1 else EQUITY_SUB_DOLLAR_TICK_USD

    def round_buy_price(self, price_usd: Decimal) -> Decimal:
        """Return the price rounded down to the tick, so that a buy never pays more."""
        return round_down_to(price_usd, self.tick_usd(price_usd))

    def round_sell_price(self, price_usd: Decimal) -> Decimal:
        """Return the price rounded up to the tick, so that a sell never takes less."""
        return round_up_to(price_usd, self.tick_usd(price_usd))

    def round_quantity(self, quantity: Decimal) -> Decimal:
        """Return the quantity rounded down to the increment; zero if below the minimum."""
        rounded = round_down_to(quantity, self.quantity_increment)
        return rounded if rounded >= self.minimum_quantity else Decimal(0)


def position_symbol(symbol: str) -> str:
    """Return the spelling that the venue uses in positions: BTC/USD is BTCUSD there."""
    return symbol.replace("/", "")


def asset_class_of(symbol: str) -> AssetClass:
    """Return the class that a symbol's spelling says: crypto pairs carry a slash."""
    return AssetClass.CRYPTO if "/" in symbol else AssetClass.EQUITY
