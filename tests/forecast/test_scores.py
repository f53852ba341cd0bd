"""Tests of the scores against closed forms."""

from statistics import NormalDist

import numpy as np
import pytest

from include.forecast.scores import coverage_fraction, crps_from_samples, pinball_loss


def test_crps_of_a_gaussian_equals_its_closed_form():
    """Samples at N(0, 1)'s quantiles score as the Gaussian does (Gneiting and Raftery, 5.3)."""
    normal, count = NormalDist(), 4_000
    samples = np.array([normal.inv_cdf((rank + 0.5) / count) for rank in range(count)])
    for y in (-1.5, 0.0, 0.7):
        closed = y * (2 * normal.cdf(y) - 1) + 2 * normal.pdf(y) - 1 / np.sqrt(np.pi)
        found = crps_from_samples(samples[:, None], np.array([y]))[0]
        assert found == pytest.approx(closed, abs=1e-3)


def test_crps_of_one_sample_is_the_absolute_error():
    """A point forecast scores its distance, and the order of samples does not count."""
    assert crps_from_samples(np.array([[3.0]]), np.array([5.0])) == pytest.approx([2.0])
    samples = np.random.default_rng(0).random((9, 2, 3))
    realised = np.full((2, 3), 0.4)
    np.testing.assert_allclose(
        crps_from_samples(samples, realised), crps_from_samples(samples[::-1], realised)
    )


def test_crps_of_two_samples_is_that_of_the_definition():
    """Samples 0 and 1 against 0.5: mean distance 0.5 less half the mean spread 0.5."""
    assert crps_from_samples(np.array([[0.0], [1.0]]), np.array([0.5])) == pytest.approx([0.25])


def test_pinball_loss_weighs_sides_by_level():
    """At level 0.9 a value above costs nine times one below, and the median half the distance."""
    quantiles = np.full((2, 2), 10.0)
    found = pinball_loss(quantiles, np.array([12.0, 8.0]), levels=(0.9, 0.5))
    np.testing.assert_allclose(found, [[1.8, 0.2], [1.0, 1.0]])


def test_coverage_counts_ends_and_leaves_out_nan():
    """Values at the ends are inside; NaN is left out; nothing known gives NaN."""
    lower, upper = np.zeros(4), np.ones(4)
    realised = np.array([0.0, 1.0, 2.0, np.nan])
    assert coverage_fraction(lower, upper, realised) == pytest.approx(2 / 3)
    assert np.isnan(coverage_fraction(lower[:1], upper[:1], np.array([np.nan])))


def test_nan_realised_gives_nan_scores():
    """Elements without a realised value stay visibly unscored."""
    assert np.isnan(crps_from_samples(np.ones((3, 1)), np.array([np.nan]))).all()
    assert np.isnan(pinball_loss(np.ones((1, 1)), np.array([np.nan]), levels=(0.5,))).all()
