"""Values in words for the page: money, instants, durations, and the reason of each decision.

Pure functions, registered as template filters by `app.py`. Absent values read as a dash, so that
a template never branches on None.
"""

from datetime import UTC, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from include.domain.decisions import Outcome, Reason
from include.pipeline.desk_values import DenialRow, OrderRow, SymbolRow

NEW_YORK = ZoneInfo("America/New_York")
ABSENT = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"
MINUTE_SECONDS = 60
HOUR_SECONDS = 3600
OUTCOMES = {
    Outcome.PENDING: "not yet computed",
    Outcome.COMPUTED: "computed",
    Outcome.STORE_HIT: "found in the ledger",
    Outcome.REANCHORED: "same forecast, new quote",
    Outcome.FAILED: "the engine failed",
    Outcome.NONE: "",
}
LEGS = {
    "entry_long": "enter long",
    "entry_short": "enter short",
    "exit": "exit",
    "flatten": "flatten",
}


def usd(amount: Decimal | float | None) -> str:
    """Return an amount in USD with cents and thousands: 100,000.00."""
    return ABSENT if amount is None else _signless(f"{amount:,.2f}")


def signed_usd(amount: Decimal | float | None) -> str:
    """Return a gain or loss in USD with its sign; zero has none."""
    if amount is None:
        return ABSENT
    text = f"{amount:+,.2f}"
    return text[1:] if float(text.replace(",", "")) == 0 else _signless(text)


def price(value: Decimal | float | None) -> str:
    """Return a price in USD with 2 decimals from 10 up and 4 below."""
    if value is None:
        return ABSENT
    return _signless(f"{value:,.2f}" if abs(float(value)) >= 10 else f"{value:,.4f}")


def quantity(value: Decimal | None) -> str:
    """Return shares or coins without trailing zeros."""
    return ABSENT if value is None else _signless(f"{value.normalize():,f}")


def fraction(value: float | None, decimals: int = 1) -> str:
    """Return a fraction in per cent: 0.013 reads 1.3 %."""
    return ABSENT if value is None else _signless(f"{value * 100:.{decimals}f} %")


def seconds(value: float | None) -> str:
    """Return measured seconds with one decimal."""
    return ABSENT if value is None else f"{value:,.1f}"


def age(value: float | None) -> str:
    """Return an age as the largest two units that say something: 42 s, 12 min, 3 h 20 min."""
    if value is None:
        return ABSENT
    whole = round(value)
    if whole < MINUTE_SECONDS:
        return f"{whole} s"
    if whole < HOUR_SECONDS:
        return f"{whole // MINUTE_SECONDS} min"
    return f"{whole // HOUR_SECONDS} h {whole % HOUR_SECONDS // MINUTE_SECONDS:02d} min"


def instant_utc(at: datetime | None) -> str:
    """Return an instant in UTC, to the minute."""
    return ABSENT if at is None else f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def instant_new_york(at: datetime | None) -> str:
    """Return an instant in New York time, to the minute."""
    return ABSENT if at is None else f"{at.astimezone(NEW_YORK):%a %H:%M %Z}"


def decision_words(row: SymbolRow) -> str:
    """Return why the symbol was or was not predicted again, with the numbers that led to it."""
    if row.reason is None:
        return "no decision yet"
    return _reason_words(row.reason, row)


def outcome_words(row: SymbolRow) -> str:
    """Return what came of the decision; empty where nothing was to be done."""
    return "" if row.outcome is None else OUTCOMES[row.outcome]


def order_words(order: OrderRow) -> str:
    """Return an order as a trader would say it: buy 12 at 182.40, enter long."""
    where = "at the market" if order.limit_price is None else f"at {price(order.limit_price)}"
    leg = LEGS.get(order.leg, order.leg)
    return f"{order.side} {quantity(order.quantity)} {where}, {leg}"


def order_state_words(order: OrderRow) -> str:
    """Return where an order stands: our journal's state, and the venue's own word in brackets."""
    words = [order.state]
    if order.venue_status and order.venue_status != order.state:
        words = [f"{order.state} ({order.venue_status})"]
    if order.filled_quantity:
        words.append(f"filled {quantity(order.filled_quantity)}")
    words.append(order.standing)
    return " · ".join(words)


def denial_words(denial: DenialRow) -> str:
    """Return our own no, with the value and the bound."""
    reason = denial.reason.replace("_", " ")
    return f"denied: {reason} ({denial.found}; bound {denial.bound})"


def _reason_words(reason: Reason, row: SymbolRow) -> str:
    moved, bound = fraction(row.move_fraction), fraction(row.threshold_fraction)
    words = {
        Reason.BLOCKED_DATA: _refusal_words(row.detail),
        Reason.FORCED: "predicted: asked for by hand",
        Reason.FIRST: "predicted: no forecast before",
        Reason.MODEL_CHANGED: "predicted: the model changed",
        Reason.CONFIG_CHANGED: "predicted: the configuration changed",
        Reason.DATA_REVISED: "predicted: its bars were revised",
        Reason.TARGET_OVER: "predicted: the last window is over",
        Reason.FRESH: "kept: too young to ask again",
        Reason.PRICE_MOVED_URGENT: f"predicted: moved {moved}, far beyond {bound}",
        Reason.PRICE_MOVED: f"predicted: moved {moved}, threshold {bound}",
        Reason.AGED: f"predicted: older than {age(row.max_age_seconds)}",
        Reason.WITHIN_THRESHOLD: f"kept: moved {moved} of {bound}",
    }
    return words[reason]


def _refusal_words(detail: str) -> str:
    """Return why a symbol is refused; a closed market is no fault of its data."""
    code, _, sentence = detail.partition(": ")
    return sentence if code == "closed" else f"refused: {detail or 'no usable quote'}"


def _signless(text: str) -> str:
    """Return the number with the typographic minus, which is as wide as a digit."""
    return text.replace("-", MINUS)
