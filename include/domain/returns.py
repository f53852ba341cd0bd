"""Figures of simple returns: plain functions of a series, each with its formula (trading.md 6.4).

Returns are fractions per window, shape (n,), never NaN. Figures are NaN where a series is too
short or too still to have them; annual ones state the periods of their year.
"""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

EQUITY_PERIODS_PER_YEAR = 252
CRYPTO_PERIODS_PER_YEAR = 365
# no Sharpe is shown for fewer windows or a stiller series (trading.md 6.3)
MIN_SHARPE_WINDOWS = 20
MIN_DEVIATION = 1e-9
# windows of scored history at which half of a mean is believed (trading.md 7.1)
SHRINKAGE_WINDOWS = 60


def cumulative_return(returns: FloatArray) -> float:
    """Return prod(1 + r) - 1; 0 for no returns."""
    return float(np.prod(1.0 + returns) - 1.0)


def annual_volatility(returns: FloatArray, *, periods_per_year: int) -> float:
    """Return the sample deviation (ddof 1) times sqrt(periods); NaN for fewer than two."""
    if len(returns) < 2:  # what a sample deviation needs
        return float("nan")
    return float(np.std(returns, ddof=1) * np.sqrt(periods_per_year))


def sharpe_ratio(returns: FloatArray, *, periods_per_year: int) -> float:
    """Return mean / sample deviation x sqrt(periods); NaN below 20 returns or a still series."""
    if len(returns) < MIN_SHARPE_WINDOWS:
        return float("nan")
    deviation = float(np.std(returns, ddof=1))
    if deviation <= MIN_DEVIATION:
        return float("nan")
    return float(np.mean(returns)) / deviation * float(np.sqrt(periods_per_year))


def max_drawdown_fraction(returns: FloatArray) -> float:
    """Return the deepest fall below the running peak, at most 0; the start counts as a peak."""
    wealth = np.concatenate(([1.0], np.cumprod(1.0 + returns)))
    return float(np.min(wealth / np.maximum.accumulate(wealth) - 1.0))


def shrunk_mean(returns: FloatArray) -> float:
    """Return mean x T / (T + 60): a short history is believed less; 0 for no returns."""
    count = len(returns)
    return float(np.mean(returns)) * count / (count + SHRINKAGE_WINDOWS) if count else 0.0
