"""Money as Decimal: rounding to ticks and the words for fractions and basis points."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

BPS_PER_UNIT = 10_000


def round_down_to(value: Decimal, step: Decimal) -> Decimal:
    """Return the largest multiple of step that is at most value."""
    return (value / step).to_integral_value(rounding=ROUND_FLOOR) * step


def round_up_to(value: Decimal, step: Decimal) -> Decimal:
    """Return the smallest multiple of step that is at least value."""
    return (value / step).to_integral_value(rounding=ROUND_CEILING) * step


def decimal_of(value: float) -> Decimal:
    """Return the shortest decimal that reads back as the float (no binary tail)."""
    return Decimal(repr(float(value)))


def difference_bps(value: Decimal, reference: Decimal) -> Decimal:
    """Return (value - reference) / reference in basis points; reference must not be zero."""
    return (value - reference) / reference * BPS_PER_UNIT
