"""How much: a weight from risk, a quantity from the weight, down to what the venue trades.

Money is Decimal from here on. A size that rounds to nothing is a `Denied` value.
"""

import math
from dataclasses import dataclass
from decimal import Decimal

from include.domain.choices import Choice
from include.domain.instruments import AssetClass, Instrument
from include.domain.money import decimal_of, round_down_to
from include.domain.orders import Standing
from include.domain.strategies import Denied
from include.strategy.denials import DenialReason

CRYPTO_MINIMUM_NOTIONAL_USD = Decimal(10)  # alpaca.md, crypto orders; trading.md 8.6


@dataclass(frozen=True, kw_only=True)
class SizingLimits:
    """What sizes derive from; fractions of equity, volatility per year (trading.md 7.1)."""

    target_volatility_fraction: float = 0.10
    max_positions: int = 10
    symbol_cap_fraction: float = 0.10
    probe_notional_usd: Decimal = Decimal(300)


def proven_weight_fraction(annual_volatility: float, limits: SizingLimits) -> float:
    """Return the share of equity that a proven symbol gets; 0 where its volatility is unknown.

    min(symbol cap, (target volatility / sqrt(max positions)) / volatility): as many independent
    positions together have the target volatility (trading.md 7.1).
    """
    if not annual_volatility > 0 or math.isinf(annual_volatility):
        return 0.0
    risk_share = limits.target_volatility_fraction / math.sqrt(limits.max_positions)
    return min(limits.symbol_cap_fraction, risk_share / annual_volatility)


def entry_quantity(
    choice: Choice,
    instrument: Instrument,
    *,
    price_usd: Decimal,
    equity_usd: Decimal,
    limits: SizingLimits,
) -> Decimal | Denied:
    """Return the quantity of an entry, rounded down to the increment; too little is a denial.

    `price_usd` is the entry's limit after rounding to the tick. A probe gets its fixed notional,
    never more than the symbol cap; a short is whole shares.
    """
    notional_usd = _notional_usd(choice, equity_usd=equity_usd, limits=limits)
    quantity = instrument.round_quantity(notional_usd / price_usd)
    if choice.side < 0:
        quantity = round_down_to(quantity, Decimal(1))
    minimum_usd = Decimal(0)
    if instrument.asset_class is AssetClass.CRYPTO:
        minimum_usd = CRYPTO_MINIMUM_NOTIONAL_USD
    if quantity > 0 and quantity * price_usd >= minimum_usd:
        return quantity
    return Denied(
        symbol=choice.symbol,
        reason=DenialReason.SIZE_BELOW_MINIMUM,
        found=f"{notional_usd:.2f} USD at {price_usd} USD",
        bound=f"{instrument.minimum_quantity} in steps of {instrument.quantity_increment}, "
        f"{minimum_usd} USD",
    )


def _notional_usd(choice: Choice, *, equity_usd: Decimal, limits: SizingLimits) -> Decimal:
    cap_usd = decimal_of(limits.symbol_cap_fraction) * equity_usd
    if choice.standing is Standing.PROBE:
        return min(limits.probe_notional_usd, cap_usd)
    return min(decimal_of(choice.weight_fraction) * equity_usd, cap_usd)
