"""The exact search: the two offsets with the highest total return on given windows.

For fixed fills a window's return can only fall when its buy level rises and only rise when its
sell level rises (buy lower, sell higher), for longs and shorts, clamps included. So in every cell
of the plane of offsets that is bounded by fill thresholds the best point is the corner with the
lowest buy and the highest sell offset, and the optimum is one of finitely many threshold pairs
(trading.md 5.1). `sweep.py` evaluates all pairs; `ladder.py` says which thresholds inner bars add.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from include.domain.strategies import TradeCosts, WindowHistory
from include.strategy.kernel import rates_of, tape_of
from include.strategy.sweep import best_hold, best_take_profit

OFFSET_BOUND = 0.03  # trading.md section 0


@dataclass(frozen=True, kw_only=True)
class Fit:
    """Offsets with the highest total return on the fitted windows: an in-sample figure.

    `objective` is that total, a sum of fractions; `evaluations` counts the candidates compared.
    """

    buy_offset: float
    sell_offset: float
    objective: float
    evaluations: int


def fit_exact(
    history: WindowHistory,
    sides: NDArray[np.int64],
    costs: TradeCosts,
    *,
    closes_at_eod: bool,
    bound: float = OFFSET_BOUND,
) -> Fit:
    """Return the best offsets within [-bound, bound] of levels formed as in `maxdiff.MaxDiff`.

    Parameters
    ----------
    history
        The fitted windows, all in the past of whatever the fit is used for.
    sides
        +1 long, -1 short, 0 none, shape (n,); they don't depend on the offsets.

    Notes
    -----
    Fills are strict, so a threshold is taken 1e-10 beyond the price that fills. Of offsets that
    return the same to 1e-12 the smallest |buy| + |sell| wins, then the smallest buy offset. No
    window with a side gives offsets of zero.
    """
    bands = np.column_stack((history.forecast_low, history.forecast_high, history.reference_close))
    search = best_hold if closes_at_eod else best_take_profit
    buy_offset, sell_offset, objective, evaluations = search(
        tape_of(history), bands, sides.astype(np.int64), rates_of(costs), bound
    )
    return Fit(
        buy_offset=float(buy_offset),
        sell_offset=float(sell_offset),
        objective=float(objective),
        evaluations=int(evaluations),
    )
