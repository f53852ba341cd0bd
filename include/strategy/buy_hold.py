"""Buy and hold, and flat: references that nothing was fitted for, shown beside every score."""

import numpy as np
from numpy.typing import NDArray

from include.domain.strategies import TradeCosts, WindowHistory
from include.strategy.kernel import rates_of


def buy_hold_returns(history: WindowHistory, costs: TradeCosts) -> NDArray[np.float64]:
    """Return per window what a share bought at the first open and sold at the last close returns.

    Shape (n,), fractions: the first window counts from its open, every later one from the close
    before it; both trades are marketable and pay spread, slippage and fees.
    """
    if not len(history):
        return np.empty(0)
    rates = rates_of(costs)
    before = np.concatenate((history.open[:1] * rates.buy_at_close, history.close[:-1]))
    after = np.concatenate((history.close[:-1], history.close[-1:] * rates.sell_at_close))
    return after / before - 1.0


def flat_returns(history: WindowHistory) -> NDArray[np.float64]:
    """Return what no trade returns: 0 per window, shape (n,)."""
    return np.zeros(len(history))
