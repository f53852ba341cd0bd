"""Tests of the projection onto valid bars."""

import numpy as np

from include.forecast.repair import valid_bars


def test_moves_high_and_low_outwards_and_counts_bars():
    """A high below its close and a low above its open are moved; a valid bar is not."""
    prices = np.array([[10.0, 9.0, 8.0, 11.0], [10.0, 12.0, 10.5, 11.0], [10.0, 12.0, 9.0, 11.0]])
    projection = valid_bars(prices)
    expected = [[10.0, 11.0, 8.0, 11.0], [10.0, 12.0, 10.0, 11.0], [10.0, 12.0, 9.0, 11.0]]
    np.testing.assert_array_equal(projection.prices, expected)
    assert projection.moved_bars == 2
    assert prices[0, 1] == 9.0


def test_projecting_twice_changes_nothing():
    """Valid bars are left alone."""
    once = valid_bars(np.random.default_rng(0).random((5, 7, 4)))
    twice = valid_bars(once.prices)
    np.testing.assert_array_equal(once.prices, twice.prices)
    assert once.moved_bars > 0
    assert twice.moved_bars == 0
