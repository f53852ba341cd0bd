"""Figures of returns: by formula, by bounds, and silent where they would mislead."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from include.domain.returns import (
    annual_volatility,
    cumulative_return,
    max_drawdown_fraction,
    sharpe_ratio,
    shrunk_mean,
)

RETURNS = arrays(np.float64, st.integers(0, 60), elements=st.floats(-0.5, 0.5))


def test_agrees_with_the_formula():
    """Mean over sample deviation times sqrt(252), ddof 1."""
    returns = np.random.default_rng(1).normal(0.001, 0.01, 100)
    deviation = np.sqrt(((returns - returns.mean()) ** 2).sum() / 99)
    sharpe = sharpe_ratio(returns, periods_per_year=252)
    assert sharpe == pytest.approx(returns.mean() / deviation * 252**0.5)
    assert annual_volatility(returns, periods_per_year=252) == pytest.approx(deviation * 252**0.5)


@pytest.mark.parametrize("returns", [np.full(19, 0.1), np.zeros(50), np.full(50, 0.01)])
def test_no_sharpe_of_a_short_or_still_series(returns):
    """Fewer than 20 returns, or no spread, have no Sharpe ratio."""
    assert np.isnan(sharpe_ratio(returns, periods_per_year=252))


def test_a_single_return_has_no_volatility():
    """A sample deviation needs two."""
    assert np.isnan(annual_volatility(np.array([0.1]), periods_per_year=365))


@given(returns=RETURNS)
def test_drawdown_is_a_fraction_below_the_peak(returns):
    """Between -1 and 0, and never above what the whole series lost."""
    drawdown = max_drawdown_fraction(returns)
    assert -1.0 <= drawdown <= 0.0
    assert drawdown <= min(cumulative_return(returns), 0.0) + 1e-12


def test_drawdown_counts_from_the_start():
    """A series that only falls has fallen from 1."""
    assert max_drawdown_fraction(np.array([-0.1, -0.1])) == pytest.approx(-0.19)
    assert max_drawdown_fraction(np.array([0.1, 0.1])) == 0.0


def test_short_histories_are_believed_less():
    """60 windows keep half of their mean, 20 a quarter, none nothing."""
    assert shrunk_mean(np.full(60, 0.02)) == pytest.approx(0.01)
    assert shrunk_mean(np.full(20, 0.02)) == pytest.approx(0.005)
    assert shrunk_mean(np.empty(0)) == 0.0
