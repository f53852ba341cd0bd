"""A choice: which strategy a symbol trades in a cycle, at which levels, and why."""

from dataclasses import dataclass

from include.domain.orders import Standing


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What a cycle chose for a symbol; prices USD before rounding to ticks, None for no trade.

    `side` is +1 long, -1 short, 0 flat; `weight_fraction` is the share of equity, 0 when flat.
    """

    symbol: str
    strategy: str
    standing: Standing | None
    side: int
    entry_price: float | None
    take_profit_price: float | None
    reason: str
    weight_fraction: float
    expected_exit_price: float | None = None
