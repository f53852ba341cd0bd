"""Tests of the copula that turns quantiles into paths."""

from statistics import NormalDist

import numpy as np
import pytest

from include.forecast.config import DEFAULT_STEP_CORRELATION
from include.forecast.copula import ar1_normals, values_at_scores

LEVELS = tuple(round(0.1 * index, 1) for index in range(1, 10))


def test_scores_are_standard_normal_with_the_stated_correlation():
    """Every step is N(0, 1), and the steps beside it correlate as asked."""
    scores = ar1_normals(
        np.random.default_rng(0), n_samples=50_000, horizon=6, step_correlation=0.8
    )
    np.testing.assert_allclose(scores.std(axis=0), 1.0, atol=0.02)
    correlation = np.atleast_2d(np.corrcoef(scores.T))
    assert correlation[0, 1] == pytest.approx(0.8, abs=0.01)
    assert correlation[0, 2] == pytest.approx(0.64, abs=0.015)


def test_a_larger_sample_begins_with_the_smaller():
    """The first 8 of 32 paths are those that 8 would have been."""
    small, large = (
        ar1_normals(np.random.default_rng(1), n_samples=n, horizon=5, step_correlation=0.9)
        for n in (8, 32)
    )
    np.testing.assert_array_equal(small, large[:8])


def test_gaussian_quantiles_give_back_their_gaussian_with_tails():
    """Nine deciles of N(5, 2) map any score to 5 + 2 score, far tails included."""
    knots = np.array([NormalDist(5, 2).inv_cdf(level) for level in LEVELS])
    scores = np.linspace(-4, 4, 101)[:, None]
    values = values_at_scores(knots[None, None], levels=LEVELS, scores=scores)
    np.testing.assert_allclose(values[0], 5 + 2 * scores, atol=1e-12)


def test_keys_share_their_noise():
    """Keys with ordered quantiles keep their order on every path: the noise is comonotone."""
    close = np.sort(np.random.default_rng(2).standard_normal((1, 7, 9)), axis=-1)
    scores = ar1_normals(np.random.default_rng(3), n_samples=200, horizon=7, step_correlation=0.9)
    high, low = values_at_scores(
        np.concatenate([close + 0.5, close - 0.5]), levels=LEVELS, scores=scores
    )
    np.testing.assert_allclose(high - low, 1.0)


def test_default_correlation_reproduces_the_highest_close_of_a_random_walk():
    """With random-walk marginals over 13 steps the mean maximum is the walk's within 3 %."""
    generator = np.random.default_rng(5)
    walks = np.cumsum(generator.standard_normal((60_000, 13)), axis=1)
    scores = ar1_normals(
        generator, n_samples=60_000, horizon=13, step_correlation=DEFAULT_STEP_CORRELATION
    )
    paths = scores * np.sqrt(np.arange(1, 14))
    assert paths.max(axis=1).mean() == pytest.approx(walks.max(axis=1).mean(), rel=0.03)
