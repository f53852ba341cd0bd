"""The stationary bootstrap: blocks, seeds, and bounds that mean what they say."""

import numpy as np

from include.strategy.bootstrap import (
    MEAN_BLOCK_WINDOWS,
    lower_bound_of_mean,
    resampled_indices,
)


def bound(values, *, confidence_fraction=0.9, seed=5):
    """Return a lower bound, by default that of 90 % confidence."""
    return lower_bound_of_mean(values, confidence_fraction=confidence_fraction, seed=seed)


def test_same_seed_same_bound():
    """The bound is a function of values and seed."""
    values = np.random.default_rng(1).normal(0.1, 1.0, 60)
    assert bound(values) == bound(values)
    assert bound(values) != bound(values, seed=6)


def test_blocks_have_the_stated_mean_length():
    """Neighbours stay neighbours nine times out of ten."""
    indices = resampled_indices(200, seed=3)
    continued = np.mean((indices[:, 1:] - indices[:, :-1]) % 200 == 1)
    assert abs(continued - (1 - 1 / MEAN_BLOCK_WINDOWS)) < 0.01
    assert indices.min() >= 0
    assert indices.max() < 200


def test_more_confidence_is_a_lower_bound():
    """The bound falls as confidence rises and lies below the mean."""
    values = np.random.default_rng(2).normal(0.0, 1.0, 100)
    low, lower = bound(values), bound(values, confidence_fraction=0.99)
    assert lower < low < values.mean()


def test_a_constant_is_known_exactly():
    """No spread, no doubt; no values, no bound."""
    assert bound(np.full(25, 0.5)) == 0.5
    assert np.isnan(bound(np.empty(0)))


def test_covers_about_as_often_as_it_says():
    """Over noise with mean 0 a 90 % bound lies above 0 in 5 to 17 % of long samples."""
    rng = np.random.default_rng(4)
    above = [bound(rng.normal(0, 1, 100), seed=i) > 0 for i in range(100)]
    assert 0.05 < np.mean(above) < 0.17
