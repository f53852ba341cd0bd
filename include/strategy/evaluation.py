"""Honest scores: nested walk-forward, paired against controls, and the rule of eligibility.

Outer: a plan made on the `fit_windows` before window d is scored on d, then everything rolls by
one. Inner: the first two thirds fit offsets, the last third chooses exit policy and shrinkage,
then the offsets are fitted on all and shrunk (trading.md 6.1). Nothing scored was fitted on.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from include.domain.strategies import ScoredStrategy, TradeCosts, WindowHistory
from include.strategy.bootstrap import lower_bound_of_mean
from include.strategy.buy_hold import buy_hold_returns
from include.strategy.costs import minimum_pair_fraction
from include.strategy.kernel import window_returns
from include.strategy.levels import worthwhile_sides
from include.strategy.maxdiff import MAXDIFF
from include.strategy.rule import (
    FloatArray,
    IntArray,
    Strategy,
    WindowForecasts,
    forecasts_of,
    with_forecasts,
)
from include.strategy.search import fit_exact

SHRINKAGES = (0.0, 0.25, 0.5, 1.0)
POLICIES = (True, False)  # closes_at_eod; the simpler one first, so that it wins ties
SAME = 1e-12
CONFIDENCE_FRACTION = 0.9
NAIVE, FLAT = "naive", "flat"


@dataclass(frozen=True, kw_only=True)
class EvaluationOptions:
    """How a strategy is scored; everything that a score depends on besides data and costs.

    `n_trials` counts every configuration (strategies x policies x models) whose scored series on
    these windows was ever looked at; `minimum_edge_fraction` is the edge gate's.
    """

    allow_short: bool
    n_trials: int
    seed: int
    minimum_edge_fraction: float
    strategy: Strategy = MAXDIFF
    fit_windows: int = 40
    minimum_scored_windows: int = 20


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is fixed before a window: offsets after shrinkage, exit policy, windows fitted on."""

    buy_offset: float = 0.0
    sell_offset: float = 0.0
    closes_at_eod: bool = True
    fitted_on_windows: int = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class Sample:
    """Windows with what a strategy made of their forecasts; sides have shape (n,)."""

    history: WindowHistory
    forecasts: WindowForecasts
    sides: IntArray

    def __len__(self) -> int:
        """Return the number of windows."""
        return len(self.history)

    def take(self, first: int, last: int) -> "Sample":
        """Return windows [first, last)."""
        chosen = slice(first, last)
        forecasts = WindowForecasts(
            reference_close=self.forecasts.reference_close[chosen],
            high=self.forecasts.high[chosen],
            low=self.forecasts.low[chosen],
            close=self.forecasts.close[chosen],
        )
        history = self.history.take(chosen)
        return Sample(history=history, forecasts=forecasts, sides=self.sides[chosen])


@dataclass(frozen=True, kw_only=True, eq=False)
class WalkForward:
    """Scored windows with the plan that each was scored with, oldest first, shape (T,)."""

    opens_at: NDArray[np.int64]
    returns: FloatArray
    zero_offset_returns: FloatArray
    plans: tuple[Plan, ...]


PlanMaker = Callable[[Sample, TradeCosts, EvaluationOptions], Plan]


def evaluate(
    history: WindowHistory,
    control_history: WindowHistory,
    costs: TradeCosts,
    options: EvaluationOptions,
) -> ScoredStrategy:
    """Return the plan for the next window with the score that the same procedure has earned.

    `control_history` holds the same windows with the forecasts of the naive model; it goes
    through the same procedure. Eligible is a strategy with enough scored windows whose excess
    over that control and over flat, paired by window, has a lower bound above 0 (trading.md 6.3).
    """
    sample = sample_of(history, options)
    walk = walk_forward(sample, costs, options)
    control = walk_forward(sample_of(control_history, options), costs, options)
    returns, control_returns = _paired(walk, control)
    plan = live_plan(sample, costs, options)
    fitted = sample.take(len(sample) - plan.fitted_on_windows, len(sample))
    scored = history.take(slice(len(history) - len(walk.returns), len(history)))
    low, binding = _excess_low(returns, control_returns, seed=options.seed)
    return ScoredStrategy(
        symbol=history.symbol,
        strategy=options.strategy.name,
        buy_offset=plan.buy_offset,
        sell_offset=plan.sell_offset,
        closes_at_eod=plan.closes_at_eod,
        returns=walk.returns,
        in_sample_mean=_mean(scored_returns(fitted, plan, costs, options)),
        excess_low_fraction=low,
        n_trials=options.n_trials,
        fitted_on_windows=plan.fitted_on_windows,
        control=binding,
        is_eligible=len(returns) >= options.minimum_scored_windows and low > 0,
        control_mean=_mean(control_returns),
        zero_offset_mean=_mean(walk.zero_offset_returns),
        buy_hold_mean=_mean(buy_hold_returns(scored, costs)),
    )


def sample_of(history: WindowHistory, options: EvaluationOptions) -> Sample:
    """Return windows with their projected forecasts and the strategy's sides."""
    forecasts = forecasts_of(history)
    return Sample(
        history=with_forecasts(history, forecasts),
        forecasts=forecasts,
        sides=options.strategy.sides(forecasts, allow_short=options.allow_short),
    )


def make_plan(sample: Sample, costs: TradeCosts, options: EvaluationOptions) -> Plan:
    """Return the plan that the sample's windows alone lead to.

    Of plans that the last third scores alike, the smaller shrinkage and then the simpler exit
    policy wins.
    """
    split = 2 * len(sample) // 3
    fitted, held_out = sample.take(0, split), sample.take(split, len(sample))
    fits = {policy: _fit(fitted, costs, closes_at_eod=policy) for policy in POLICIES}
    best, best_policy, best_total = 0.0, POLICIES[0], -np.inf
    for shrinkage in SHRINKAGES:
        for policy in POLICIES:
            plan = _shrunk(fits[policy], shrinkage)
            total = float(scored_returns(held_out, plan, costs, options).sum())
            if total > best_total + SAME:
                best, best_policy, best_total = shrinkage, policy, total
    if best == 0.0:
        return Plan(closes_at_eod=best_policy, fitted_on_windows=len(sample))
    return _shrunk(_fit(sample, costs, closes_at_eod=best_policy), best)


def live_plan(sample: Sample, costs: TradeCosts, options: EvaluationOptions) -> Plan:
    """Return the plan for the window after the sample; offsets of 0 while windows are too few."""
    if len(sample) < options.fit_windows:
        return Plan()
    return make_plan(sample.take(len(sample) - options.fit_windows, len(sample)), costs, options)


def walk_forward(
    sample: Sample,
    costs: TradeCosts,
    options: EvaluationOptions,
    planner: PlanMaker = make_plan,
) -> WalkForward:
    """Return every window after the first `fit_windows`, scored with a plan made before it."""
    width, n = options.fit_windows, len(sample)
    plans = [planner(sample.take(d - width, d), costs, options) for d in range(width, n)]
    returns = np.zeros(len(plans))
    zero_offset_returns = np.zeros(len(plans))
    for t, plan in enumerate(plans):
        window = sample.take(width + t, width + t + 1)
        returns[t] = scored_returns(window, plan, costs, options)[0]
        unfitted = replace(plan, buy_offset=0.0, sell_offset=0.0)
        zero_offset_returns[t] = scored_returns(window, unfitted, costs, options)[0]
    return WalkForward(
        opens_at=sample.history.opens_at[width:],
        returns=returns,
        zero_offset_returns=zero_offset_returns,
        plans=tuple(plans),
    )


def scored_returns(
    sample: Sample, plan: Plan, costs: TradeCosts, options: EvaluationOptions
) -> FloatArray:
    """Return net returns of the windows under a plan, gates applied, shape (n,)."""
    levels = options.strategy.levels(
        sample.forecasts, buy_offset=plan.buy_offset, sell_offset=plan.sell_offset
    )
    sides = worthwhile_sides(
        sample.sides,
        levels,
        sample.forecasts,
        closes_at_eod=plan.closes_at_eod,
        minimum_edge_fraction=options.minimum_edge_fraction,
        minimum_pair_fraction=minimum_pair_fraction(costs),
    )
    return window_returns(sample.history, sides, *levels, costs, closes_at_eod=plan.closes_at_eod)


def _fit(sample: Sample, costs: TradeCosts, *, closes_at_eod: bool) -> Plan:
    fit = fit_exact(sample.history, sample.sides, costs, closes_at_eod=closes_at_eod)
    return Plan(
        buy_offset=fit.buy_offset,
        sell_offset=fit.sell_offset,
        closes_at_eod=closes_at_eod,
        fitted_on_windows=len(sample),
    )


def _shrunk(plan: Plan, shrinkage: float) -> Plan:
    return replace(
        plan,
        buy_offset=shrinkage * plan.buy_offset,
        sell_offset=shrinkage * plan.sell_offset,
    )


def _paired(walk: WalkForward, control: WalkForward) -> tuple[FloatArray, FloatArray]:
    """Return scored returns of both on the windows that both have."""
    _, own, theirs = np.intersect1d(
        walk.opens_at, control.opens_at, assume_unique=True, return_indices=True
    )
    return walk.returns[own], control.returns[theirs]


def _excess_low(
    returns: FloatArray, control_returns: FloatArray, *, seed: int
) -> tuple[float, str]:
    """Return the lower bound over the control that is harder to beat, and which that is."""
    over = {
        NAIVE: returns - control_returns,
        FLAT: returns,
    }
    lows = {
        name: lower_bound_of_mean(excess, confidence_fraction=CONFIDENCE_FRACTION, seed=seed)
        for name, excess in over.items()
    }
    binding = min(lows, key=lambda name: lows[name])
    return lows[binding], binding


def _mean(returns: FloatArray) -> float:
    return float(np.mean(returns)) if len(returns) else float("nan")
