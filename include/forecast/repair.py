"""The one projection of forecast prices onto valid bars; counted, never silent."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from include.domain.bars import CLOSE, HIGH, LOW, OPEN


@dataclass(frozen=True, kw_only=True, eq=False)
class Projection:
    """Valid prices, and how many bars had to be moved to become so."""

    prices: NDArray[np.float64]
    moved_bars: int


def valid_bars(prices: NDArray[np.float64]) -> Projection:
    """Return bars with low <= open, close <= high; only high and low move, never inwards.

    `prices` has shape (..., 4), columns open, high, low, close, in any price unit. The input is
    not changed; NaN stays NaN.
    """
    columns = (OPEN, HIGH, LOW, CLOSE)
    high = prices[..., columns].max(axis=-1)
    low = prices[..., columns].min(axis=-1)
    moved = (high != prices[..., HIGH]) | (low != prices[..., LOW])
    projected = prices.copy()
    projected[..., HIGH], projected[..., LOW] = high, low
    return Projection(prices=projected, moved_bars=int(moved.sum()))
