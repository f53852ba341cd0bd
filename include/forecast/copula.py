"""From quantiles per step to sample paths, for models that give no paths of their own.

The stated copula: one Gaussian AR(1) across steps, and the same noise for every key of a step
(comonotone). Marginals are the model's; dependence is ours, and is an option. Torch-free.
"""

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray


def ar1_normals(
    generator: np.random.Generator, *, n_samples: int, horizon: int, step_correlation: float
) -> NDArray[np.float64]:
    """Return standard normal scores, shape (n_samples, horizon), AR(1) across steps.

    Drawn sample by sample: the first paths of a larger sample are those of a smaller one.
    """
    noise = generator.standard_normal((n_samples, horizon))
    scores = np.empty_like(noise)
    scores[:, 0] = noise[:, 0]
    innovation = np.sqrt(1.0 - step_correlation**2)
    for step in range(1, horizon):
        scores[:, step] = step_correlation * scores[:, step - 1] + innovation * noise[:, step]
    return scores


def values_at_scores(
    quantiles: NDArray[np.float64],
    *,
    levels: Sequence[float],
    scores: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the value of every key and step at normal scores, shape (keys, n_samples, horizon).

    Parameters
    ----------
    quantiles
        Shape (keys, horizon, levels), rising along levels, in any unit.
    levels
        Rising, inside (0, 1), at least two.
    scores
        Standard normal, shape (n_samples, horizon); the same for all keys.

    Notes
    -----
    Linear in the normal score between levels, and beyond the outermost levels with the slope of
    the outermost spacing: Gaussian quantiles give back their Gaussian, tails included. NaN in,
    NaN out.
    """
    knots = np.array([NormalDist().inv_cdf(level) for level in levels])
    left = np.clip(np.searchsorted(knots, scores) - 1, 0, len(knots) - 2)
    steps = np.arange(quantiles.shape[1])
    lower, upper = quantiles[:, steps, left], quantiles[:, steps, left + 1]
    shares = (scores - knots[left]) / (knots[left + 1] - knots[left])
    values: NDArray[np.float64] = lower + shares * (upper - lower)
    return values
