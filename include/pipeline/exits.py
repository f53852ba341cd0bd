"""Exits: what closes our holdings, and when. Caps never block them."""

import math
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from include.domain.cycles import Cycle
from include.domain.instruments import AssetClass, Instrument
from include.domain.money import decimal_of
from include.domain.orders import DesiredOrder, Leg, Side, TimeInForce
from include.pipeline.holdings import Holding
from include.pipeline.situation import Situation

CROSSING_FRACTION = Decimal("0.001")  # a marketable limit reaches this far past the quote
FLATTEN_BEFORE_END = {  # the last decision instant of a window: trading.md 8.4, at our interval
    AssetClass.EQUITY: timedelta(minutes=30),
    AssetClass.CRYPTO: timedelta(hours=1),
}


def exit_order(
    holding: Holding, situation: Situation, cycle: Cycle, *, take_profit: Decimal | None
) -> DesiredOrder | None:
    """Return the order that should close a holding now; None where it is held to the close.

    In its window a holding rests at its take-profit, if its policy has one. From the last
    decision instant of the window on, and ever after, it is flattened by a marketable limit.
    Without a readable quote or an open market nothing is sent, and the holding stays.
    """
    instrument, quote = situation.instrument, situation.quote
    if instrument is None or quote is None or situation.window is None:
        return None
    if not 0 < quote.bid <= quote.ask < math.inf:
        return None
    quantity = instrument.round_quantity(abs(holding.quantity))
    resting = _closing_order(holding, situation, cycle, quantity, take_profit)
    if quantity == 0:
        return None
    ends_at = holding.entry.window_ends_at
    if cycle.as_of < ends_at - FLATTEN_BEFORE_END[situation.asset_class]:
        return None if take_profit is None else resting
    far_side = decimal_of(quote.bid if holding.closing_side is Side.SELL else quote.ask)
    return replace(
        resting,
        leg=Leg.FLATTEN,
        limit_price=_crossing(far_side, holding.closing_side, instrument),
        reason=f"the window ends {ends_at:%Y-%m-%d %H:%M} UTC; no position stays open past it",
    )


def _closing_order(
    holding: Holding,
    situation: Situation,
    cycle: Cycle,
    quantity: Decimal,
    take_profit: Decimal | None,
) -> DesiredOrder:
    is_crypto = situation.asset_class is AssetClass.CRYPTO
    return DesiredOrder(
        cycle_id=cycle.cycle_id,
        symbol=holding.symbol,
        leg=Leg.EXIT,
        side=holding.closing_side,
        quantity=quantity,
        limit_price=take_profit,
        time_in_force=TimeInForce.GTC if is_crypto else TimeInForce.DAY,
        window_opens_at=holding.entry.window_opens_at,
        window_ends_at=holding.entry.window_ends_at,
        standing=holding.entry.standing,
        strategy=holding.entry.strategy,
        reason=f"take-profit of the entry at {holding.entry.limit_price}",
    )


def _crossing(price: Decimal, side: Side, instrument: Instrument) -> Decimal:
    """Return a limit that the quote fills at once, rounded so that it stays marketable."""
    if side is Side.BUY:
        return instrument.round_sell_price(price * (1 + CROSSING_FRACTION))
    return instrument.round_buy_price(price * (1 - CROSSING_FRACTION))
