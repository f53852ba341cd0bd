"""From Alpaca's raw answers to domain values: tolerant of new words, strict about numbers.

Unknown words (a new status, type or class) are kept as text and logged; fields that we don't read
may come and go. What can't be read raises one of `UNREADABLE`, which `broker.alpaca` translates.
Shapes: section 4 of the Alpaca reference.
"""

import logging
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from include.domain.instants import require_utc
from include.domain.instruments import AssetClass, Instrument
from include.domain.orders import TERMINAL_STATUSES, Fill, Order, OrderIntent, Side
from include.domain.positions import Account, Position, VenueClock
from include.domain.sessions import Session

Raw = Mapping[str, Any]

UNREADABLE = (KeyError, TypeError, ValueError, ArithmeticError, AttributeError)
NEW_YORK = ZoneInfo("America/New_York")
QUOTE_CURRENCIES = ("USDT", "USDC", "USD", "BTC")  # in which the venue quotes pairs
SHORTEST_PAIR = 6  # letters without the slash; equities have at most five
# fmt: off
WORKING_STATUSES = frozenset({
    "new", "partially_filled", "done_for_day", "accepted", "pending_new", "accepted_for_bidding",
    "held", "stopped", "suspended", "calculated", "pending_cancel", "pending_replace",
    "pending_review",
})
# fmt: on

logger = logging.getLogger(__name__)


def parse_clock(raw: Raw) -> VenueClock:
    """Return the venue's clock; its New York offsets become UTC."""
    return VenueClock(
        now=parse_instant(raw["timestamp"]),
        is_open=bool(raw["is_open"]),
        next_open=parse_instant(raw["next_open"]),
        next_close=parse_instant(raw["next_close"]),
    )


def parse_account(raw: Raw) -> Account:
    """Return the account; only identity and the money that sizes orders must be present."""
    equity_usd = parse_decimal(raw["equity"])
    flags = ("trading_blocked", "account_blocked", "trade_suspended_by_user")
    return Account(
        account_id=str(raw["id"]),
        account_number=str(raw.get("account_number") or ""),
        status=str(raw.get("status") or ""),
        equity_usd=equity_usd,
        last_equity_usd=_decimal_or(raw.get("last_equity"), equity_usd),
        cash_usd=parse_decimal(raw["cash"]),
        buying_power_usd=parse_decimal(raw["buying_power"]),
        is_blocked=any(bool(raw.get(flag)) for flag in flags),
    )


def parse_position(raw: Raw) -> Position:
    """Return the position, a short with negative quantities, its symbol spelt as in orders."""
    sign = -1 if raw.get("side") == "short" else 1
    quantity = sign * abs(parse_decimal(raw["qty"]))
    entry_price = parse_decimal(raw["avg_entry_price"])
    price = _decimal_or(raw.get("current_price"), entry_price)
    return Position(
        symbol=canonical_symbol(raw["symbol"], raw.get("asset_class")),
        quantity=quantity,
        available_quantity=sign * abs(_decimal_or(raw.get("qty_available"), quantity)),
        average_entry_price=entry_price,
        current_price=price,
        market_value_usd=_decimal_or(raw.get("market_value"), quantity * price),
        unrealised_pnl_usd=_decimal_or(raw.get("unrealized_pl"), Decimal(0)),
    )


def parse_instrument(symbol: str, raw: Raw) -> Instrument:
    """Return the instrument under the symbol asked for; equities trade in whole shares."""
    if raw.get("class") == AssetClass.CRYPTO.value:
        increment = parse_decimal(raw["min_trade_increment"])
        return Instrument(
            symbol=symbol,
            asset_class=AssetClass.CRYPTO,
            name=str(raw.get("name") or ""),
            is_tradable=_is_tradable(raw),
            is_fractionable=True,
            quantity_increment=increment,
            minimum_quantity=_decimal_or(raw.get("min_order_size"), increment),
            price_increment_usd=parse_decimal(raw["price_increment"]),
        )
    return Instrument(
        symbol=symbol,
        asset_class=AssetClass(raw["class"]),
        name=str(raw.get("name") or ""),
        is_tradable=_is_tradable(raw),
        is_shortable=bool(raw.get("shortable")) and _is_easy_to_borrow(raw),
        is_fractionable=bool(raw.get("fractionable")),
    )


def parse_session(raw: Raw) -> Session:
    """Return a calendar day; the venue's naive New York times become UTC."""
    day = date.fromisoformat(raw["date"])
    return Session(
        session_date=day,
        opens_at=_new_york(day, raw["open"]),
        closes_at=_new_york(day, raw["close"]),
    )


def parse_order(raw: Raw) -> Order:
    """Return the order; a status that nobody knows yet is kept as text and logged."""
    status = str(raw["status"])
    if status not in WORKING_STATUSES | TERMINAL_STATUSES:
        logger.warning("Order %s has the unknown status %r; read as working.", raw["id"], status)
    submitted_at = parse_instant(raw.get("submitted_at") or raw["created_at"])
    updated_at = raw.get("updated_at")
    return Order(
        venue_order_id=_text(raw["id"]),
        client_order_id=_text(raw["client_order_id"]),
        symbol=canonical_symbol(raw["symbol"], raw.get("asset_class")),
        side=parse_side(raw["side"]),
        order_type=str(raw.get("type") or raw.get("order_type") or ""),
        time_in_force=str(raw.get("time_in_force") or ""),
        status=status,
        quantity=_decimal_or_none(raw.get("qty")),
        filled_quantity=_decimal_or(raw.get("filled_qty"), Decimal(0)),
        filled_average_price=_decimal_or_none(raw.get("filled_avg_price")),
        limit_price=_decimal_or_none(raw.get("limit_price")),
        submitted_at=submitted_at,
        updated_at=parse_instant(updated_at) if updated_at else submitted_at,
    )


def parse_fill(raw: Raw) -> Fill:
    """Return one execution from a FILL activity."""
    return Fill(
        fill_id=_text(raw["id"]),
        venue_order_id=_text(raw["order_id"]),
        symbol=canonical_symbol(raw["symbol"], raw.get("asset_class")),
        side=parse_side(raw["side"]),
        quantity=abs(parse_decimal(raw["qty"])),
        price=parse_decimal(raw["price"]),
        filled_at=parse_instant(raw["transaction_time"]),
    )


def order_body(intent: OrderIntent) -> dict[str, str]:
    """Return the body of POST /v2/orders; decimals as plain text, so that no float cuts them."""
    body = {
        "symbol": intent.symbol,
        "qty": format(intent.quantity, "f"),
        "side": intent.side.value,
        "type": "market" if intent.limit_price is None else "limit",
        "time_in_force": intent.time_in_force.value,
        "client_order_id": intent.client_order_id,
    }
    if intent.limit_price is not None:
        body["limit_price"] = format(intent.limit_price, "f")
    return body


def canonical_symbol(symbol: str, asset_class: str | None = None) -> str:
    """Return the spelling of orders and data: the venue's BTCUSD of positions is BTC/USD.

    A text without a slash is a pair where its class says so or, the class being absent, where it
    has at least six letters and ends in a quote currency: no equity does.
    """
    symbol = _text(symbol)
    is_pair = asset_class == AssetClass.CRYPTO.value or (
        asset_class is None and len(symbol) >= SHORTEST_PAIR and symbol.isalpha()
    )
    if "/" in symbol or not is_pair:
        return symbol
    for currency in QUOTE_CURRENCIES:
        base = symbol.removesuffix(currency)
        if base not in ("", symbol):
            return f"{base}/{currency}"
    return symbol


def parse_side(word: str) -> Side:
    """Return buy or sell; Alpaca's activities also say sell_short and buy_to_cover."""
    if word.startswith("buy"):
        return Side.BUY
    if word.startswith("sell"):
        return Side.SELL
    message = f"side was {word!r}; buy or sell was expected"
    raise ValueError(message)


def parse_instant(text: str) -> datetime:
    """Return an RFC 3339 stamp in UTC; nanoseconds are cut to microseconds."""
    return require_utc(datetime.fromisoformat(text), name="stamp")


def parse_decimal(value: object) -> Decimal:
    """Return a finite number, given as text or as a JSON number."""
    if isinstance(value, bool):
        message = f"number was {value}"
        raise TypeError(message)
    number = Decimal(str(value))
    if not number.is_finite():
        message = f"number was {value}; a finite one was expected"
        raise ValueError(message)
    return number


def _decimal_or_none(value: object) -> Decimal | None:
    return None if value in (None, "") else parse_decimal(value)


def _decimal_or(value: object, default: Decimal) -> Decimal:
    return default if value in (None, "") else parse_decimal(value)


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        message = f"text was {value!r}"
        raise ValueError(message)
    return value


def _is_tradable(raw: Raw) -> bool:
    return bool(raw.get("tradable")) and raw.get("status", "active") == "active"


def _is_easy_to_borrow(raw: Raw) -> bool:
    if "borrow_status" in raw:
        return bool(raw["borrow_status"] == "easy_to_borrow")
    return bool(raw.get("easy_to_borrow", False))


def _new_york(day: date, clock_time: str) -> datetime:
    naive_time = time.fromisoformat(clock_time)
    return datetime.combine(day, naive_time, tzinfo=NEW_YORK).astimezone(UTC)
