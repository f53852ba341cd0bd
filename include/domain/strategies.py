"""What a strategy needs and gives: window outcomes in, levels and scores out."""

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class TradeCosts:
    """Costs of one symbol's trades, as fractions of notional (trading.md 4.2).

    `sell_fee` is charged on every sale on top of the maker or taker fee (a levy by law); a limit
    counts as filled only where the price traded through it by more than `through`.
    """

    maker_fee: float
    taker_fee: float
    half_spread: float
    slippage: float
    fill_buffer: float
    sell_fee: float = 0.0

    @property
    def round_trip(self) -> float:
        """Entry at a limit and marketable exit, fees, spread and slippage included."""
        fees = self.maker_fee + self.taker_fee + self.sell_fee
        return fees + self.half_spread + self.slippage

    @property
    def through(self) -> float:
        """Fill buffer plus half spread: k of trading.md 4.2."""
        return self.fill_buffer + self.half_spread


@dataclass(frozen=True, kw_only=True, eq=False)
class WindowHistory:
    """Past windows of a symbol with the forecasts issued at their openings, oldest first.

    Arrays have shape (n,), USD; `inner_*` hold each window's bars, shape (n, k), NaN past a short
    window's end. `reference_close` is the close before the window opened.
    """

    symbol: str
    opens_at: NDArray[np.int64]
    reference_close: NDArray[np.float64]
    open: NDArray[np.float64]
    high: NDArray[np.float64]
    low: NDArray[np.float64]
    close: NDArray[np.float64]
    forecast_high: NDArray[np.float64]
    forecast_low: NDArray[np.float64]
    forecast_close: NDArray[np.float64]
    inner_open: NDArray[np.float64]
    inner_high: NDArray[np.float64]
    inner_low: NDArray[np.float64]

    def __len__(self) -> int:
        """Return the number of windows."""
        return len(self.opens_at)

    def take(self, chosen: slice | NDArray[np.int64] | NDArray[np.bool_]) -> "WindowHistory":
        """Return the chosen windows."""
        arrays = {name: getattr(self, name)[chosen] for name in _WINDOW_ARRAYS}
        return replace(self, **arrays)


_WINDOW_ARRAYS = tuple(name for name in WindowHistory.__dataclass_fields__ if name != "symbol")


@dataclass(frozen=True, kw_only=True)
class Levels:
    """Where a strategy would trade a window, USD as floats, before rounding to ticks.

    `side` is +1 long, -1 short, 0 none; entry and take-profit are NaN for none, and so is the
    take-profit of a strategy that holds to the window's end.
    """

    side: int
    entry: float
    take_profit: float
    expected_exit: float

    @property
    def edge_fraction(self) -> float:
        """Expected move from entry to exit before costs, as a fraction of the entry."""
        return 0.0 if self.side == 0 else self.side * (self.expected_exit / self.entry - 1.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoredStrategy:
    """A strategy's fit and its scored windows: returns that no fit has seen.

    `returns` are per scored window on entry notional, net of costs; `excess_low_fraction` is the
    one-sided 90 % bootstrap lower bound of the mean paired excess over `control`, the one that
    is harder to beat. `in_sample_mean` is optimistic: the windows that it averages chose the
    offsets. Means are per window and NaN where nothing was scored.
    """

    symbol: str
    strategy: str
    buy_offset: float
    sell_offset: float
    closes_at_eod: bool
    returns: NDArray[np.float64]
    in_sample_mean: float
    excess_low_fraction: float
    n_trials: int
    fitted_on_windows: int
    control: str = ""
    is_eligible: bool = False
    control_mean: float = float("nan")
    zero_offset_mean: float = float("nan")
    buy_hold_mean: float = float("nan")

    @property
    def mean_return(self) -> float:
        """Mean scored return per window; NaN without scored windows."""
        return float(np.mean(self.returns)) if len(self.returns) else float("nan")


@dataclass(frozen=True, kw_only=True)
class Denied:
    """Our own no: an order that a limit or gate refused, with the value and the bound."""

    symbol: str
    reason: str
    found: str
    bound: str
    at: datetime | None = None
    quantity: Decimal | None = None
