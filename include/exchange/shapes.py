"""The JSON of the trading side: orders, positions, account, assets, clock, calendar.

Decimals go out as strings without trailing zeros, stamps as RFC 3339. Every key that the venue
sends stands here, null where this exchange has nothing to say.
"""

from decimal import Decimal

from include.exchange.accounts import Position
from include.exchange.assets import QUANTITY_INCREMENT, Asset
from include.exchange.calendar import ReplayCalendar, Session
from include.exchange.instants import NEW_YORK, Instant, format_instant, moment_of
from include.exchange.margin import MULTIPLIER, held_for_orders
from include.exchange.orders import Order, OrderStatus
from include.exchange.seeds import stable_id
from include.exchange.venue import Venue

Json = dict[str, object]


def plain(value: Decimal) -> str:
    """Return a decimal as the venue writes it: positional, without trailing zeros."""
    return f"{value.normalize() + 0:f}"


def _price(value: Decimal | None) -> str | None:
    if value is None:
        return None
    exponent = int(value.as_tuple().exponent)
    return plain(value.quantize(QUANTITY_INCREMENT) if exponent < -9 else value)


def _stamp(instant: Instant | None) -> str | None:
    return None if instant is None else format_instant(instant)


def _ratio(part: Decimal, whole: Decimal) -> str:
    return plain((part / whole).quantize(Decimal("0.0000000001"))) if whole else "0"


def order_json(order: Order, asset: Asset, *, status: OrderStatus | None = None) -> Json:
    """Return an order; `status` overrides the one it has, for the answer to its submission."""
    return {
        "id": str(order.order_id),
        "client_order_id": order.client_order_id,
        "created_at": _stamp(order.submitted_at),
        "updated_at": _stamp(order.updated_at),
        "submitted_at": _stamp(order.submitted_at),
        "filled_at": _stamp(order.filled_at) if order.status is OrderStatus.FILLED else None,
        "expired_at": _stamp(order.expired_at),
        "expires_at": _stamp(order.expires_at),
        "canceled_at": _stamp(order.canceled_at),
        "failed_at": None,
        "replaced_at": None,
        "replaced_by": None,
        "replaces": None,
        "asset_id": str(asset.asset_id),
        "symbol": order.symbol,
        "asset_class": asset.asset_class.value,
        "notional": None if order.notional_usd is None else plain(order.notional_usd),
        "qty": _quantity(order),
        "filled_qty": plain(order.filled_quantity),
        "filled_avg_price": _price(order.filled_average_price),
        "order_class": "",
        "order_type": order.order_type.value,
        "type": order.order_type.value,
        "side": order.side.value,
        "position_intent": order.position_intent,
        "time_in_force": order.time_in_force.value,
        "limit_price": _price(order.limit_price),
        "stop_price": None,
        "status": (status or order.status).value,
        "extended_hours": order.extended_hours,
        "legs": None,
        "trail_percent": None,
        "trail_price": None,
        "hwm": None,
        "subtag": None,
        "source": None,
    }


def _quantity(order: Order) -> str | None:
    """Return the quantity asked for; an order by notional has one only once it is filled."""
    if order.quantity is not None:
        return plain(order.quantity)
    return plain(order.filled_quantity) if order.status is OrderStatus.FILLED else None


def position_json(venue: Venue, position: Position) -> Json:
    """Return a position at the latest price; intraday runs from the latest session close."""
    asset = venue.replay.assets[position.symbol]
    current = venue.price(position.symbol)
    session = venue.replay.calendar.latest_close(venue.now)
    before = current if session is None else venue.price(position.symbol, session.close)
    value = position.quantity * current
    held_back = held_for_orders(position.symbol, position.quantity, venue.book.working())
    unrealised = value - position.cost_usd
    intraday = value - position.session_basis_usd
    available = abs(position.quantity) - held_back
    return {
        "asset_id": str(asset.asset_id),
        "symbol": asset.plain_symbol,
        "exchange": asset.exchange,
        "asset_class": asset.asset_class.value,
        "asset_marginable": not asset.is_crypto,
        "qty": plain(position.quantity),
        "avg_entry_price": _price(position.average_entry_price),
        "side": "long" if position.quantity > 0 else "short",
        "market_value": plain(value),
        "cost_basis": plain(position.cost_usd),
        "unrealized_pl": plain(unrealised),
        "unrealized_plpc": _ratio(unrealised, abs(position.cost_usd)),
        "unrealized_intraday_pl": plain(intraday),
        "unrealized_intraday_plpc": _ratio(intraday, abs(position.session_basis_usd)),
        "current_price": plain(current),
        "lastday_price": plain(before),
        "change_today": _ratio(current - before, before),
        "qty_available": plain(max(Decimal(0), available).copy_sign(position.quantity)),
    }


def account_json(venue: Venue) -> Json:
    """Return the account at the latest prices, without the fields that Alpaca dropped in 2026."""
    account, now = venue.account, venue.balances()
    account_id = stable_id(venue.replay.seed, "account", 1)
    session = venue.replay.calendar.latest_close(venue.now)
    as_of = moment_of(venue.created_at).date() if session is None else session.session_date
    return {
        "id": str(account_id),
        "account_number": f"PA{account_id.hex[:10].upper()}",
        "status": "ACTIVE",
        "crypto_status": "ACTIVE",
        "currency": "USD",
        "cash": plain(account.cash_usd),
        "equity": plain(now.equity),
        "portfolio_value": plain(now.equity),
        "last_equity": plain(account.last_equity_usd),
        "buying_power": plain(now.buying_power),
        "regt_buying_power": plain(now.buying_power),
        "effective_buying_power": plain(now.buying_power),
        "non_marginable_buying_power": plain(now.non_marginable_buying_power),
        "options_buying_power": "0",
        "options_approved_level": 0,
        "options_trading_level": 0,
        "multiplier": str(MULTIPLIER),
        "long_market_value": plain(now.long_market_value),
        "short_market_value": plain(now.short_market_value),
        "initial_margin": plain(now.initial_margin),
        "maintenance_margin": plain(now.maintenance_margin),
        "last_maintenance_margin": plain(account.last_maintenance_usd),
        "sma": "0",
        "accrued_fees": "0",
        "pending_reg_taf_fees": "0",
        "intraday_adjustments": "0",
        "balance_asof": as_of.isoformat(),
        "created_at": format_instant(venue.created_at),
        "shorting_enabled": True,
        "trading_blocked": False,
        "transfers_blocked": False,
        "account_blocked": False,
        "trade_suspended_by_user": False,
    }


def asset_json(asset: Asset) -> Json:
    """Return an asset; a synthetic one says so in its name, as attributes are a closed list."""
    shared: Json = {
        "id": str(asset.asset_id),
        "class": asset.asset_class.value,
        "exchange": asset.exchange,
        "symbol": asset.symbol,
        "name": asset.name,
        "status": "active",
        "tradable": True,
        "marginable": not asset.is_crypto,
        "shortable": not asset.is_crypto,
        "easy_to_borrow": not asset.is_crypto,
        "fractionable": True,
        "attributes": [],
    }
    if asset.is_crypto:
        return shared | {
            "min_order_size": plain(QUANTITY_INCREMENT),
            "min_trade_increment": plain(QUANTITY_INCREMENT),
            "price_increment": plain(asset.price_increment),
        }
    return shared | {
        "borrow_status": "easy_to_borrow",
        "margin_requirement_long": "30",
        "margin_requirement_short": "30",
    }


def clock_json(calendar: ReplayCalendar, now: Instant) -> Json:
    """Return the market clock; its stamps carry New York's offset."""
    return {
        "timestamp": format_instant(now, NEW_YORK),
        "is_open": calendar.session_at(now) is not None,
        "next_open": format_instant(calendar.next_open(now), NEW_YORK),
        "next_close": format_instant(calendar.next_close(now), NEW_YORK),
    }


def session_json(calendar: ReplayCalendar, session: Session) -> Json:
    """Return a calendar day in New York wall-clock times."""
    opened = format_instant(session.open, NEW_YORK)
    closed = format_instant(session.close, NEW_YORK)
    return {
        "date": session.session_date.isoformat(),
        "open": opened[11:16],
        "close": closed[11:16],
        "session_open": "0400",
        "session_close": "2000",
        "settlement_date": calendar.next_session_date(session.session_date).isoformat(),
    }
