"""The stationary bootstrap: how sure a mean is when neighbouring windows resemble each other."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

MEAN_BLOCK_WINDOWS = 10  # trading.md 6.3
RESAMPLES = 2_000


def lower_bound_of_mean(values: FloatArray, *, confidence_fraction: float, seed: int) -> float:
    """Return the one-sided lower confidence bound of the mean; NaN for no values.

    Parameters
    ----------
    values
        Shape (n,), in the order of time, never NaN.
    confidence_fraction
        In (0, 1): 0.9 gives the 10 % quantile of the resampled means.

    Notes
    -----
    Politis and Romano, The Stationary Bootstrap, JASA 89 (1994): blocks of geometric length,
    mean 10, wrapped around the end. Same seed, same bound.
    """
    if not len(values):
        return float("nan")
    means = values[resampled_indices(len(values), seed=seed)].mean(axis=1)
    return float(np.quantile(means, 1.0 - confidence_fraction))


def resampled_indices(n: int, *, seed: int) -> NDArray[np.int64]:
    """Return indices of the resamples, shape (2000, n): runs of neighbours, wrapped around."""
    rng = np.random.default_rng(seed)
    starts = rng.integers(0, n, size=(RESAMPLES, n))
    begins = rng.random((RESAMPLES, n)) < 1.0 / MEAN_BLOCK_WINDOWS
    begins[:, 0] = True
    positions = np.arange(n)
    block_begin = np.maximum.accumulate(np.where(begins, positions, 0), axis=1)
    first = np.take_along_axis(starts, block_begin, axis=1)
    return ((first + positions - block_begin) % n).astype(np.int64)
