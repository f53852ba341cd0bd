"""What an order request must look like: type, time in force, increments, then the asset.

The order of the checks and their texts are Alpaca's as far as they are documented or were observed
by third parties. Money and shares of the account are margin.py's matter.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import Enum
from typing import TypeVar

from include.exchange.assets import Asset, AssetCatalogue
from include.exchange.orders import OrderSide, OrderType, TimeInForce
from include.exchange.refusals import Refusal, forbidden, invalid, not_found, unprocessable

MAX_CLIENT_ID_LENGTH = 128
MINIMUM_CRYPTO_USD = Decimal(10)
_QUANTITY_PLACES, _NOTIONAL_PLACES = 9, 2
_POSITION_INTENTS = frozenset({"buy_to_open", "buy_to_close", "sell_to_open", "sell_to_close"})
_Choice = TypeVar("_Choice", bound=Enum)


@dataclass(frozen=True, kw_only=True)
class OrderTicket:
    """A request that is well formed and obeys the asset's rules."""

    asset: Asset
    side: OrderSide
    order_type: OrderType
    time_in_force: TimeInForce
    quantity: Decimal | None
    notional_usd: Decimal | None
    limit_price: Decimal | None
    extended_hours: bool
    client_order_id: str | None
    position_intent: str | None

    @property
    def is_fractional(self) -> bool:
        """Say whether the order is not for whole shares."""
        return self.quantity is None or self.quantity != self.quantity.to_integral_value()


def parse_ticket(body: Mapping[str, object], assets: AssetCatalogue) -> OrderTicket | Refusal:
    """Return the ticket of a request body, or the first rule that it breaks.

    Numbers may be JSON numbers or decimal strings; a JSON number means its shortest decimal form.
    """
    asset = assets.find(str(body.get("symbol") or ""))
    ticket = _ticket(body, asset)
    if isinstance(ticket, Refusal):
        return ticket
    for check in (_check_type, _check_time_in_force, _check_increments, _check_asset):
        refusal = check(ticket)
        if refusal is not None:
            return refusal
    return ticket


def _ticket(body: Mapping[str, object], asset: Asset | None) -> OrderTicket | Refusal:
    numbers = _numbers(body)
    if isinstance(numbers, Refusal):
        return numbers
    choices = _choices(body, asset)
    if isinstance(choices, Refusal):
        return choices
    order_type, side, time_in_force = choices
    if asset is None:
        return not_found(f"asset not found for {body['symbol']}")
    client_order_id = body.get("client_order_id") or None
    intent = body.get("position_intent") or None
    return OrderTicket(
        asset=asset,
        side=side,
        order_type=order_type,
        time_in_force=time_in_force,
        quantity=numbers["qty"],
        notional_usd=numbers["notional"],
        limit_price=numbers["limit_price"],
        extended_hours=str(body.get("extended_hours", False)).lower() == "true",
        client_order_id=None if client_order_id is None else str(client_order_id),
        position_intent=None if intent is None else str(intent),
    )


def _choices(
    body: Mapping[str, object], asset: Asset | None
) -> tuple[OrderType, OrderSide, TimeInForce] | Refusal:
    """Return type, side and time in force; an unknown asset is found out after them."""
    order_type = _choice(OrderType, body.get("type"))
    side = _choice(OrderSide, body.get("side"))
    time_in_force = _choice(TimeInForce, body.get("time_in_force"))
    fault = _first_missing(body, order_type, side)
    if fault is not None:
        return fault
    if time_in_force is None and asset is not None and asset.is_crypto:
        return unprocessable("invalid crypto time_in_force")
    if order_type is None or side is None or time_in_force is None:
        return invalid("invalid time_in_force")
    return order_type, side, time_in_force


def _first_missing(
    body: Mapping[str, object], order_type: OrderType | None, side: OrderSide | None
) -> Refusal | None:
    if not body.get("symbol"):
        return invalid("symbol is required")
    if order_type is None:
        return invalid("invalid order type")
    if side is None:
        return invalid("invalid side")
    if body.get("order_class") not in (None, "", "simple"):
        return invalid("invalid order_class")
    return None


def _choice(choices: type[_Choice], text: object) -> _Choice | None:
    return next((choice for choice in choices if choice.value == text), None)


def _numbers(body: Mapping[str, object]) -> dict[str, Decimal | None] | Refusal:
    values: dict[str, Decimal | None] = {}
    for name in ("qty", "notional", "limit_price"):
        try:
            value = body.get(name)
            number = None if value is None or value == "" else Decimal(str(value))
        except InvalidOperation:
            return invalid(f"{name} is not a number")
        if number is not None and not number.is_finite():
            return invalid(f"{name} is not a number")
        values[name] = number
    if any(body.get(name) not in (None, "") for name in _UNSUPPORTED_PRICES):
        return invalid("invalid order type")
    return values


_UNSUPPORTED_PRICES = ("stop_price", "trail_price", "trail_percent")


def _check_type(ticket: OrderTicket) -> Refusal | None:
    if ticket.client_order_id and len(ticket.client_order_id) > MAX_CLIENT_ID_LENGTH:
        return invalid(f"client_order_id must be no more than {MAX_CLIENT_ID_LENGTH} characters")
    if ticket.position_intent is not None and ticket.position_intent not in _POSITION_INTENTS:
        return invalid("invalid position_intent")
    if ticket.order_type is OrderType.LIMIT and ticket.limit_price is None:
        return invalid("limit orders require limit price")
    if ticket.order_type is OrderType.MARKET and ticket.limit_price is not None:
        return invalid("market orders require no stop or limit price")
    return _check_size(ticket)


def _check_size(ticket: OrderTicket) -> Refusal | None:
    quantity, notional = ticket.quantity, ticket.notional_usd
    if quantity is None and notional is None:
        return invalid("qty or notional is required")
    if quantity is not None and notional is not None:
        return invalid("only one of qty or notional is accepted")
    if quantity is not None and quantity <= 0:
        return invalid("qty must be > 0")
    if notional is not None and notional < 1:
        return invalid("notional must be >= 1.00")
    if ticket.limit_price is not None and ticket.limit_price <= 0:
        return invalid("limit price must be > 0")
    return None


def _check_time_in_force(ticket: OrderTicket) -> Refusal | None:
    if ticket.asset.is_crypto:
        if ticket.time_in_force is TimeInForce.DAY:
            return unprocessable("invalid crypto time_in_force")
        return None
    if ticket.is_fractional and ticket.time_in_force is not TimeInForce.DAY:
        return unprocessable("fractional orders must be DAY orders")
    return None


def _check_increments(ticket: OrderTicket) -> Refusal | None:
    if _places(ticket.quantity) > _QUANTITY_PLACES:
        return unprocessable(f"qty must be limited to {_QUANTITY_PLACES} decimal places")
    if _places(ticket.notional_usd) > _NOTIONAL_PLACES:
        return unprocessable("notional value must be limited to 2 decimal places")
    price = ticket.limit_price
    if price is not None and price % _price_increment(ticket.asset, price):
        return unprocessable(
            f"invalid limit_price {_plain(price)}. "
            "sub-penny increment does not fulfill minimum pricing criteria"
        )
    return None


def _check_asset(ticket: OrderTicket) -> Refusal | None:
    if ticket.extended_hours and (
        ticket.order_type is not OrderType.LIMIT or ticket.time_in_force is TimeInForce.IOC
    ):
        return unprocessable("extended hours order must be DAY or GTC limit orders")
    notional = ticket.notional_usd
    if ticket.asset.is_crypto and ticket.limit_price is not None and notional is None:
        notional = (ticket.quantity or Decimal(0)) * ticket.limit_price
    if ticket.asset.is_crypto and notional is not None and notional < MINIMUM_CRYPTO_USD:
        return minimum_crypto_size(notional)
    return None


def minimum_crypto_size(cost_usd: Decimal) -> Refusal:
    """Return the refusal of a crypto order below 10 USD."""
    return forbidden(
        f"cost basis must be >= minimal amount of order {MINIMUM_CRYPTO_USD}",
        cost_basis=_plain(cost_usd),
    )


def _price_increment(asset: Asset, price: Decimal) -> Decimal:
    if asset.is_crypto:
        return asset.price_increment
    return Decimal("0.01") if price >= 1 else Decimal("0.0001")


def _places(value: Decimal | None) -> int:
    if value is None:
        return 0
    exponent = value.normalize().as_tuple().exponent
    return max(0, -int(exponent))


def _plain(value: Decimal) -> str:
    return f"{value.normalize():f}"
