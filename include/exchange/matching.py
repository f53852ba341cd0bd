"""When and at what price a working order fills; pure functions of order and tape.

Orders are matched at the first instant of each minute that begins after they were placed, against
that minute's quote:

- a market order fills at the far side;
- a limit order fills when its limit reaches the far side. If it does so in the first minute that
  can match it (after it arrived, or at the open of a session), it takes the far side's price;
  later the market has come to it, and it fills at its limit, no better than the far side;
- size is not checked against the quote, and each fill is whole (Alpaca paper fills in parts too);
- an immediate-or-cancel order has its first minute alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_DOWN, Decimal
from typing import Protocol

from include.exchange.assets import QUANTITY_INCREMENT, Asset
from include.exchange.instants import MINUTE, Instant
from include.exchange.orders import ZERO, Order, OrderSide, OrderType, TimeInForce
from include.exchange.tape import TapeDay

TAKER_FEE_FRACTION = Decimal("0.0025")
MAKER_FEE_FRACTION = Decimal("0.0015")
_FEE_USD_INCREMENT = Decimal("0.01")


class MinuteSource(Protocol):
    """Gives the minutes of a symbol in a span; the tape is one."""

    def begun_between(
        self, symbol: str, after: Instant, until: Instant
    ) -> Iterator[tuple[TapeDay, range]]:
        """Yield, day by day, the minutes that begin after one instant and up to another."""
        ...


@dataclass(frozen=True, kw_only=True)
class Match:
    """The minute at which an order fills and its price in USD; without one it is cancelled."""

    instant: Instant
    price: Decimal | None
    takes_liquidity: bool = True


def first_match(
    order: Order, asset: Asset, tape: MinuteSource, *, after: Instant, until: Instant
) -> Match | None:
    """Return what first happens to an order in the minutes after one instant up to another."""
    for day, minutes in tape.begun_between(order.symbol, max(after, order.submitted_at), until):
        match = _match_in(order, asset, day, minutes)
        if match is not None:
            return match
    return None


def _match_in(order: Order, asset: Asset, day: TapeDay, minutes: range) -> Match | None:
    minute = _first_marketable(order, day, minutes)
    if order.time_in_force is TimeInForce.IOC and minute != minutes.start:
        return Match(instant=day.instant(minutes.start), price=None)
    if minute is None:
        return None
    far_side = day.quotes.ask(minute) if order.side is OrderSide.BUY else day.quotes.bid(minute)
    arrives = _is_first_chance(order, asset, day, minute)
    price = far_side if arrives or order.limit_price is None else order.limit_price
    return Match(instant=day.instant(minute), price=price, takes_liquidity=arrives)


def _first_marketable(order: Order, day: TapeDay, minutes: range) -> int | None:
    if order.order_type is OrderType.MARKET or order.limit_price is None:
        return minutes.start
    if order.side is OrderSide.BUY:
        marketable = day.quotes.minutes_with_ask_up_to(order.limit_price)
    else:
        marketable = day.quotes.minutes_with_bid_from(order.limit_price)
    position = int(marketable.searchsorted(minutes.start))
    if position == len(marketable) or int(marketable[position]) not in minutes:
        return None
    return int(marketable[position])


def _is_first_chance(order: Order, asset: Asset, day: TapeDay, minute: int) -> bool:
    arrived = day.instant(minute) - MINUTE <= order.submitted_at
    return arrived or (minute == 0 and not asset.is_crypto)


def quantity_filled(order: Order, price: Decimal, held: Decimal) -> Decimal:
    """Return the quantity of a whole fill; a sale by notional never exceeds what is held."""
    if order.notional_usd is None:
        return order.reserved_quantity
    quantity = ((order.notional_usd - order.filled_usd) / price).quantize(
        QUANTITY_INCREMENT, ROUND_DOWN
    )
    return min(quantity, held) if order.side is OrderSide.SELL else quantity


@dataclass(frozen=True, kw_only=True)
class Fee:
    """What a fill costs, taken from what is received: coins from a buyer, USD from a seller."""

    quantity: Decimal = ZERO
    usd: Decimal = ZERO


def fee_of(order: Order, asset: Asset, match: Match, quantity: Decimal) -> Fee:
    """Return the fee, rounded up: crypto 25 bps to take and 15 bps to make, equities none."""
    if not asset.is_crypto or match.price is None:
        return Fee()
    fraction = TAKER_FEE_FRACTION if match.takes_liquidity else MAKER_FEE_FRACTION
    if order.side is OrderSide.BUY:
        return Fee(quantity=(quantity * fraction).quantize(QUANTITY_INCREMENT, ROUND_CEILING))
    usd = (quantity * match.price * fraction).quantize(_FEE_USD_INCREMENT, ROUND_CEILING)
    return Fee(usd=usd)
