"""What can be traded: the assets of the replay, with their increments and their identities.

Equities are real companies' shares; the four crypto pairs are synthetic and say so in their
names. Rules on how they may be traded stand in validation.py.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from uuid import NAMESPACE_URL, UUID, uuid5


class AssetClass(Enum):
    """The two classes that the exchange trades, as the venue spells them."""

    US_EQUITY = "us_equity"
    CRYPTO = "crypto"


@dataclass(frozen=True, kw_only=True)
class Asset:
    """One tradable instrument; `volume_unit` is what one unit of replayed volume stands for."""

    symbol: str
    name: str
    asset_class: AssetClass
    exchange: str
    price_increment: Decimal
    volume_unit: Decimal

    @property
    def is_crypto(self) -> bool:
        """Say whether the asset trades around the clock, long only, for cash."""
        return self.asset_class is AssetClass.CRYPTO

    @property
    def plain_symbol(self) -> str:
        """Return the symbol as positions spell it: BTCUSD for BTC/USD."""
        return self.symbol.replace("/", "")

    @property
    def base(self) -> str:
        """Return what is bought: BTC of BTC/USD, the symbol itself for an equity."""
        return self.symbol.partition("/")[0]

    @property
    def asset_id(self) -> UUID:
        """Return the identity, a pure function of class and symbol."""
        return uuid5(NAMESPACE_URL, f"exchange/asset/{self.asset_class.value}/{self.symbol}")


QUANTITY_INCREMENT = Decimal("0.000000001")
CRYPTO_VOLUME_UNIT = Decimal("0.000001")


def equity(symbol: str, name: str) -> Asset:
    """Return an equity; its price increment is the one from 1 USD up."""
    return Asset(
        symbol=symbol,
        name=name,
        asset_class=AssetClass.US_EQUITY,
        exchange="NYSE",
        price_increment=Decimal("0.01"),
        volume_unit=Decimal(1),
    )


def crypto(symbol: str, name: str, *, price_increment: str) -> Asset:
    """Return a crypto pair against USD whose prices a generator made."""
    return Asset(
        symbol=symbol,
        name=f"{name} (synthetic)",
        asset_class=AssetClass.CRYPTO,
        exchange="CRYPTO",
        price_increment=Decimal(price_increment),
        volume_unit=CRYPTO_VOLUME_UNIT,
    )


CRYPTO_ASSETS = (
    crypto("BTC/USD", "Bitcoin / US Dollar", price_increment="0.01"),
    crypto("ETH/USD", "Ethereum / US Dollar", price_increment="0.01"),
    crypto("LINK/USD", "Chainlink / US Dollar", price_increment="0.001"),
    crypto("UNI/USD", "Uniswap / US Dollar", price_increment="0.001"),
)


class AssetCatalogue:
    """Find an asset by symbol, by symbol without the slash, or by identity."""

    def __init__(self, assets: Iterable[Asset]) -> None:
        ordered = sorted(assets, key=lambda asset: asset.symbol)
        self.by_symbol: Mapping[str, Asset] = {asset.symbol: asset for asset in ordered}
        self._by_any = {
            key: asset
            for asset in ordered
            for key in (asset.symbol, asset.plain_symbol, str(asset.asset_id))
        }

    def __getitem__(self, symbol: str) -> Asset:
        """Return the asset of a symbol that is known to exist."""
        return self.by_symbol[symbol]

    def find(self, key: str) -> Asset | None:
        """Return the asset that any of its three spellings names, None when nothing has it."""
        return self._by_any.get(key) or self._by_any.get(key.upper())
