"""What the account allows: buying power, reservations, shares available, shorts, wash trades.

A margin account of multiplier 2: initial margin is 50 % of equities and all of crypto, maintenance
30 % (Alpaca, "Margin and Short Selling"). Open orders reserve at once; open sells free nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal

from include.exchange.accounts import Account
from include.exchange.assets import QUANTITY_INCREMENT, AssetCatalogue
from include.exchange.orders import ZERO, Order, OrderSide, OrderType
from include.exchange.refusals import Refusal, forbidden, unprocessable
from include.exchange.tape import TapeMinute
from include.exchange.validation import MINIMUM_CRYPTO_USD, OrderTicket, minimum_crypto_size

MULTIPLIER = 2
_INITIAL = Decimal("0.5")
_MAINTENANCE = Decimal("0.3")
_SHORT_RESERVE = Decimal("1.03")
_MINIMUM_SHORTING_EQUITY_USD = Decimal(2_000)


@dataclass(frozen=True, kw_only=True)
class Balances:
    """An account at given prices, USD throughout."""

    equity: Decimal
    long_market_value: Decimal
    short_market_value: Decimal
    initial_margin: Decimal
    maintenance_margin: Decimal
    buying_power: Decimal
    non_marginable_buying_power: Decimal


def balances(
    account: Account,
    prices: Mapping[str, Decimal],
    working: Iterable[Order],
    assets: AssetCatalogue,
) -> Balances:
    """Return values, margins and what may still be spent after open orders' reservations."""
    values = {p.symbol: p.quantity * prices[p.symbol] for p in account.positions.values()}
    crypto = sum((v for s, v in values.items() if assets[s].is_crypto), start=ZERO)
    equities = sum((abs(v) for s, v in values.items() if not assets[s].is_crypto), start=ZERO)
    reserved = _reserved(working, assets)
    equity = account.equity_usd(prices)
    initial = _INITIAL * equities + crypto
    free = max(ZERO, equity - initial - _INITIAL * reserved.equities - reserved.crypto)
    cash_left = account.cash_usd - reserved.equities - reserved.crypto
    return Balances(
        equity=equity,
        long_market_value=sum((v for v in values.values() if v > 0), start=ZERO),
        short_market_value=sum((v for v in values.values() if v < 0), start=ZERO),
        initial_margin=initial,
        maintenance_margin=_MAINTENANCE * equities + crypto,
        buying_power=MULTIPLIER * free,
        non_marginable_buying_power=max(ZERO, min(free, cash_left)),
    )


@dataclass(frozen=True, kw_only=True)
class _Reserved:
    equities: Decimal
    crypto: Decimal


def _reserved(working: Iterable[Order], assets: AssetCatalogue) -> _Reserved:
    crypto = equities = ZERO
    for order in working:
        if assets[order.symbol].is_crypto:
            crypto += order.reserved_usd
        else:
            equities += order.reserved_usd
    return _Reserved(equities=equities, crypto=crypto)


def held_for_orders(symbol: str, quantity: Decimal, working: Iterable[Order]) -> Decimal:
    """Return how much of a position open closing orders keep."""
    closing = OrderSide.SELL if quantity > 0 else OrderSide.BUY
    orders = (o for o in working if o.symbol == symbol and o.side is closing)
    return sum((order.reserved_quantity for order in orders), start=ZERO)


def reserve_price(ticket: OrderTicket, account: Account, market: TapeMinute) -> Decimal:
    """Return what each unit of a new order keeps from the buying power, 0 for a closing one."""
    held = account.quantity(ticket.asset.symbol)
    if ticket.side is OrderSide.BUY:
        return ZERO if held < 0 else (ticket.limit_price or market.ask)
    if held > 0 or ticket.asset.is_crypto:
        return ZERO
    return max(ticket.limit_price or ZERO, _SHORT_RESERVE * market.ask)


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What a new order is checked against."""

    account: Account
    balances: Balances
    working: list[Order]
    market: TapeMinute


def check_account(ticket: OrderTicket, standing: Standing) -> Refusal | None:
    """Return why the account does not allow an order, None when it does."""
    for check in (_check_minimum, _check_wash_trade, _check_closing, _check_buying_power):
        refusal = check(ticket, standing)
        if refusal is not None:
            return refusal
    return None


def _check_minimum(ticket: OrderTicket, standing: Standing) -> Refusal | None:
    cost = _cost(ticket, standing.market)
    if ticket.asset.is_crypto and cost < MINIMUM_CRYPTO_USD:
        return minimum_crypto_size(cost)
    return None


def _check_wash_trade(ticket: OrderTicket, standing: Standing) -> Refusal | None:
    for order in standing.working:
        if order.symbol != ticket.asset.symbol or order.side is ticket.side:
            continue
        if OrderType.MARKET in (order.order_type, ticket.order_type):
            reason = f"opposite side {OrderType.MARKET.value}/stop order exists"
        elif _crosses(ticket, order):
            reason = f"opposite side {OrderType.LIMIT.value} order exists"
        else:
            continue
        return forbidden(
            "potential wash trade detected. use complex orders",
            existing_order_id=str(order.order_id),
            reject_reason=reason,
        )
    return None


def _crosses(ticket: OrderTicket, order: Order) -> bool:
    if ticket.limit_price is None or order.limit_price is None:
        return True
    if ticket.side is OrderSide.BUY:
        return ticket.limit_price >= order.limit_price
    return ticket.limit_price <= order.limit_price


def _check_closing(ticket: OrderTicket, standing: Standing) -> Refusal | None:
    """Refuse to close more than is held and free; what opens a short is checked for being one."""
    symbol, held = ticket.asset.symbol, standing.account.quantity(ticket.asset.symbol)
    opens = held == 0 or (held > 0) == (ticket.side is OrderSide.BUY)
    if opens and (ticket.side is OrderSide.BUY or not ticket.asset.is_crypto):
        return _check_short(ticket, standing) if ticket.side is OrderSide.SELL else None
    held_back = held_for_orders(symbol, held, standing.working)
    available = max(ZERO, abs(held) - held_back)
    requested = expected_quantity(ticket, standing.market)
    if requested <= available:
        return None
    if ticket.asset.is_crypto:
        return forbidden(
            f"insufficient balance for {ticket.asset.base} "
            f"(requested: {requested.normalize():f}, available: {available.normalize():f})",
            symbol=ticket.asset.plain_symbol,
        )
    closing = [o for o in standing.working if o.symbol == symbol and o.side is ticket.side]
    return forbidden(
        f"insufficient qty available for order (requested: {requested.normalize():f}, "
        f"available: {available.normalize():f})",
        available=f"{available.normalize():f}",
        existing_qty=f"{held.normalize():f}",
        held_for_orders=f"{held_back.normalize():f}",
        related_orders=[str(order.order_id) for order in closing],
        symbol=symbol,
    )


def _check_short(ticket: OrderTicket, standing: Standing) -> Refusal | None:
    if ticket.is_fractional:
        return unprocessable("fractional orders cannot be sold short")
    if standing.balances.equity < _MINIMUM_SHORTING_EQUITY_USD:
        return forbidden("account is not allowed to short")
    return None


def _check_buying_power(ticket: OrderTicket, standing: Standing) -> Refusal | None:
    unit = reserve_price(ticket, standing.account, standing.market)
    if not unit:
        return None
    cost = ticket.notional_usd or unit * (ticket.quantity or ZERO)
    if ticket.asset.is_crypto:
        available = standing.balances.non_marginable_buying_power
        if cost <= available:
            return None
        return forbidden(
            f"insufficient balance for USD (requested: {cost.normalize():f}, "
            f"available: {available.normalize():f})"
        )
    if cost <= standing.balances.buying_power:
        return None
    return forbidden(
        "insufficient buying power",
        buying_power=f"{standing.balances.buying_power.normalize():f}",
        cost_basis=f"{cost.normalize():f}",
    )


def expected_quantity(ticket: OrderTicket, market: TapeMinute) -> Decimal:
    """Return the quantity asked for, an estimate at the present quote for an order by notional."""
    if ticket.quantity is not None:
        return ticket.quantity
    price = ticket.limit_price or _far_side(ticket, market)
    return ((ticket.notional_usd or ZERO) / price).quantize(QUANTITY_INCREMENT, ROUND_DOWN)


def _cost(ticket: OrderTicket, market: TapeMinute) -> Decimal:
    return ticket.notional_usd or expected_quantity(ticket, market) * _far_side(ticket, market)


def _far_side(ticket: OrderTicket, market: TapeMinute) -> Decimal:
    return market.ask if ticket.side is OrderSide.BUY else market.bid
