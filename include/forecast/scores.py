"""Proper scores of forecasts against what came: pure numpy, any model, any unit.

Scores carry the unit of the values; divide by a price before averaging over symbols. Which
forecasts are scored, and beside what, is decided elsewhere.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def crps_from_samples(
    samples: NDArray[np.float64], realised: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the continuous ranked probability score of each element, lower is better.

    Parameters
    ----------
    samples
        Shape (n_samples, ...), any unit; order does not count.
    realised
        Shape (...), the same unit. NaN in either gives NaN for that element.

    Notes
    -----
    Of the samples' empirical distribution: E|X - y| - E|X - X'| / 2, Gneiting and Raftery (2007),
    Strictly Proper Scoring Rules, equation 21. Its bias falls as 1 / n_samples: compare models
    at equal n_samples. One sample gives the absolute error.
    """
    count = samples.shape[0]
    ordered = np.sort(samples.astype(np.float64), axis=0)
    ranks = 2.0 * np.arange(1, count + 1) - count - 1
    half_spread = np.tensordot(ranks, ordered, axes=1) / count**2
    score: NDArray[np.float64] = np.abs(ordered - realised).mean(axis=0) - half_spread
    return score


def pinball_loss(
    quantiles: NDArray[np.float64], realised: NDArray[np.float64], *, levels: Sequence[float]
) -> NDArray[np.float64]:
    """Return the quantile loss per level and element, shape (levels, ...), lower is better.

    `quantiles` has shape (levels, ...), `realised` (...), in the same unit; NaN gives NaN. Loss
    of Koenker and Bassett (1978), Regression Quantiles: (y - q) (level - 1[y < q]).
    """
    errors = realised.astype(np.float64) - quantiles
    shape = (len(levels),) + (1,) * (errors.ndim - 1)
    above = np.asarray(levels, dtype=np.float64).reshape(shape)
    loss: NDArray[np.float64] = np.maximum(above * errors, (above - 1.0) * errors)
    return loss


def coverage_fraction(
    lower: NDArray[np.float64], upper: NDArray[np.float64], realised: NDArray[np.float64]
) -> float:
    """Return the share of realised values in [lower, upper], both ends inside, all one shape.

    Elements with NaN in any of the three are left out; NaN where none is left. To be shown with
    the number of elements and the nominal share.
    """
    known = np.isfinite(lower) & np.isfinite(upper) & np.isfinite(realised)
    if not known.any():
        return float("nan")
    inside = (lower[known] <= realised[known]) & (realised[known] <= upper[known])
    return float(inside.mean())
