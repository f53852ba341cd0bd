"""What a trade costs by default: fees, spread, slippage, fill buffer, each with its source."""

from include.domain.instruments import AssetClass
from include.domain.money import BPS_PER_UNIT
from include.domain.strategies import TradeCosts

# SEC section 31 and FINRA TAF on sales of equities, as Alpaca passes them on (trading.md 4.2);
# the rates change yearly
EQUITY_SELL_FEE_BPS = 0.278
CRYPTO_MAKER_FEE_BPS = 15.0  # Alpaca crypto, tier 1 (alpaca.md 6.5)
CRYPTO_TAKER_FEE_BPS = 25.0
FILL_BUFFER_BPS = 5.0  # touching is not filling (trading.md 4.2)
# half spreads where fewer quotes are stored than a median needs (trading.md 4.2)
EQUITY_HALF_SPREAD_BPS = 3.0
CRYPTO_HALF_SPREAD_BPS = 10.0
EQUITY_SLIPPAGE_BPS = 5.0  # marketable exits (trading.md 4.2)
CRYPTO_SLIPPAGE_BPS = 10.0

# an entry must expect to earn its costs and this much more, and never less than the floor
# (edge gate, trading.md 7.2)
EDGE_MARGIN_BPS = 10.0
EQUITY_EDGE_FLOOR_BPS = 15.0
CRYPTO_EDGE_FLOOR_BPS = 40.0
PAIR_MARGIN_BPS = 3.0  # pair invariant (trading.md 4.2)


def trade_costs(asset_class: AssetClass, median_spread_bps: float | None = None) -> TradeCosts:
    """Return the costs of a symbol; without a median spread the class's fallback counts."""
    is_crypto = asset_class is AssetClass.CRYPTO
    fallback_bps = CRYPTO_HALF_SPREAD_BPS if is_crypto else EQUITY_HALF_SPREAD_BPS
    half_spread_bps = fallback_bps if median_spread_bps is None else median_spread_bps / 2
    return TradeCosts(
        maker_fee=CRYPTO_MAKER_FEE_BPS / BPS_PER_UNIT if is_crypto else 0.0,
        taker_fee=CRYPTO_TAKER_FEE_BPS / BPS_PER_UNIT if is_crypto else 0.0,
        half_spread=half_spread_bps / BPS_PER_UNIT,
        slippage=(CRYPTO_SLIPPAGE_BPS if is_crypto else EQUITY_SLIPPAGE_BPS) / BPS_PER_UNIT,
        fill_buffer=FILL_BUFFER_BPS / BPS_PER_UNIT,
        sell_fee=0.0 if is_crypto else EQUITY_SELL_FEE_BPS / BPS_PER_UNIT,
    )


def minimum_edge_fraction(costs: TradeCosts, asset_class: AssetClass) -> float:
    """Return the least expected move, entry to exit, for which an entry is worth its costs."""
    is_crypto = asset_class is AssetClass.CRYPTO
    floor_bps = CRYPTO_EDGE_FLOOR_BPS if is_crypto else EQUITY_EDGE_FLOOR_BPS
    return max(costs.round_trip + EDGE_MARGIN_BPS / BPS_PER_UNIT, floor_bps / BPS_PER_UNIT)


def minimum_pair_fraction(costs: TradeCosts) -> float:
    """Return the least S / B - 1 of a plan with take-profit: round-trip costs and a margin."""
    return costs.round_trip + PAIR_MARGIN_BPS / BPS_PER_UNIT
