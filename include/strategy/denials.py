"""Why we say no to an order of our own; the venue's no is another thing (`OrderRejected`)."""

from enum import StrEnum


class DenialReason(StrEnum):
    """Codes of our own refusals, as they are stored; never renamed, only added."""

    HALTED = "halted"
    ACCOUNT_BLOCKED = "account_blocked"
    DAILY_LOSS = "daily_loss"
    NOT_TRADABLE = "not_tradable"
    NO_LIMIT_PRICE = "no_limit_price"
    NO_QUOTE = "no_quote"
    STALE_QUOTE = "stale_quote"
    SPREAD = "spread"
    PRICE_BAND = "price_band"
    PAIR_TOO_CLOSE = "pair_too_close"
    EDGE = "edge"
    WASH_TRADE = "wash_trade"
    ORDER_NOTIONAL = "order_notional"
    ORDERS_PER_CYCLE = "orders_per_cycle"
    SYMBOL_CAP = "symbol_cap"
    GROSS_CAP = "gross_cap"
    SHORT_CAP = "short_cap"
    CRYPTO_CAP = "crypto_cap"
    BUYING_POWER = "buying_power"
    EXIT_EXCEEDS_POSITION = "exit_exceeds_position"
    SIZE_BELOW_MINIMUM = "size_below_minimum"
