"""Honest scores: no look-ahead, gates inside, controls paired, noise refused."""

from dataclasses import replace

import numpy as np
import pytest

from include.domain.instruments import AssetClass
from include.strategy.costs import minimum_edge_fraction, trade_costs
from include.strategy.evaluation import (
    SHRINKAGES,
    EvaluationOptions,
    Plan,
    evaluate,
    live_plan,
    make_plan,
    sample_of,
    scored_returns,
    walk_forward,
)
from include.strategy.maxdiff import MAXDIFF
from include.strategy.search import fit_exact
from tests.support.builders import a_history

COSTS = trade_costs(AssetClass.EQUITY, 2.0)
OPTIONS = EvaluationOptions(
    allow_short=True,
    n_trials=2,
    seed=11,
    minimum_edge_fraction=minimum_edge_fraction(COSTS, AssetClass.EQUITY),
)


def other_future(history, after: int):
    """Return the history with windows from `after` on taken from another walk."""
    other = a_history(n=len(history), seed=991)
    is_past = np.arange(len(history)) < after
    changed = {}
    for name in history.__dataclass_fields__:
        own = getattr(history, name)
        if isinstance(own, np.ndarray) and name != "opens_at":
            mask = is_past if own.ndim == 1 else is_past[:, None]
            changed[name] = np.where(mask, own, getattr(other, name))
    return replace(history, **changed)


def with_outcome_of(history, other, window):
    """Return the history in which one window ended otherwise, its forecast unchanged."""
    changed = {}
    for name in ("open", "high", "low", "close", "inner_open", "inner_high", "inner_low"):
        values = getattr(history, name).copy()
        values[window] = getattr(other, name)[window]
        changed[name] = values
    return replace(history, **changed)


def honest(_whole):
    """Return the planner that sees what it is given alone."""
    return make_plan


def future_changes_the_past(history, *, options=OPTIONS, planner_of=honest) -> bool:
    """Tell whether windows after d change a score or plan up to d: the sign of a leak."""

    def walk_over(whole):
        sample = sample_of(whole, options)
        return walk_forward(sample, COSTS, options, planner_of(sample))

    walk = walk_over(history)
    for after in (45, 50, 55):
        again, scored = walk_over(other_future(history, after)), after - options.fit_windows
        if not np.array_equal(walk.returns[:scored], again.returns[:scored]):
            return True
        if walk.plans[: scored + 1] != again.plans[: scored + 1]:
            return True
    return False


def peeking(whole):
    """Return a planner that fits on the window to be scored and four more after it."""

    def plan(sample, costs, options):
        last = int(np.searchsorted(whole.history.opens_at, sample.history.opens_at[-1])) + 6
        return make_plan(whole.take(last - options.fit_windows, last), costs, options)

    return plan


class Clairvoyant:
    """A strategy that knows tomorrow's forecast."""

    name = "clairvoyant"

    def sides(self, forecasts, *, allow_short):
        tomorrow = np.append(forecasts.close[1:] > forecasts.close[:-1], [True])
        return np.where(tomorrow, 1, -1)

    def levels(self, forecasts, *, buy_offset, sell_offset):
        return MAXDIFF.levels(forecasts, buy_offset=buy_offset, sell_offset=sell_offset)


def test_windows_after_d_change_nothing_up_to_d():
    """Scores up to d and plans up to d + 1 are bit-equal whatever comes after d."""
    assert not future_changes_the_past(a_history(seed=3, skill=0.2))


@pytest.mark.parametrize(
    "planted", [{"planner_of": peeking}, {"options": replace(OPTIONS, strategy=Clairvoyant())}]
)
def test_a_planted_leak_is_found(planted):
    """A planner that fits on what it scores, and a strategy that knows tomorrow, are caught."""
    assert future_changes_the_past(a_history(seed=3, skill=0.2), **planted)


def test_a_windows_own_outcome_does_not_change_its_plan():
    """The plan that scores window d is fixed before d: another d has the same plan."""
    history = a_history(seed=4, skill=0.2)
    walk = walk_forward(sample_of(history, OPTIONS), COSTS, OPTIONS)
    other = with_outcome_of(history, a_history(n=60, seed=992), 47)
    again = walk_forward(sample_of(other, OPTIONS), COSTS, OPTIONS)
    assert walk.plans[:8] == again.plans[:8]


def test_scores_every_window_after_the_first_forty():
    """60 windows give 20 scored ones, each on the 40 before it; returns stay in order."""
    scored = evaluate(a_history(), a_history(seed=8), COSTS, OPTIONS)
    assert len(scored.returns) == 20
    assert scored.fitted_on_windows == 40
    assert scored.n_trials == 2
    assert np.isfinite(
        [scored.control_mean, scored.zero_offset_mean, scored.buy_hold_mean, scored.mean_return]
    ).all()


def test_too_few_windows_are_not_fitted():
    """Below 40 windows offsets are 0, nothing is scored and nothing is eligible."""
    scored = evaluate(a_history(n=12), a_history(n=12, seed=8), COSTS, OPTIONS)
    assert (scored.buy_offset, scored.sell_offset) == (0.0, 0.0)
    assert (len(scored.returns), scored.fitted_on_windows) == (0, 0)
    assert not scored.is_eligible
    assert np.isnan(scored.mean_return)
    nothing = a_history(n=12).take(slice(0, 0))
    assert not evaluate(nothing, nothing, COSTS, OPTIONS).is_eligible


def test_skill_is_eligible():
    """Forecasts that know most of each window's surprise beat the control and flat."""
    scored = evaluate(a_history(skill=0.7), a_history(), COSTS, OPTIONS)
    assert scored.is_eligible
    assert scored.excess_low_fraction > 0
    assert scored.mean_return > scored.control_mean


def test_skill_that_the_control_has_too_is_not_eligible():
    """An excess of 0 over the control is no excess, however much it earns."""
    history = a_history(skill=0.7)
    scored = evaluate(history, history, COSTS, OPTIONS)
    assert scored.mean_return > 0
    assert scored.control == "naive"
    assert scored.excess_low_fraction == 0.0
    assert not scored.is_eligible


def test_too_few_scored_windows_are_not_eligible():
    """Skill on 19 scored windows is not yet believed."""
    short, control = (a_history(n=59, skill=skill) for skill in (0.7, 0.0))
    scored = evaluate(short, control, COSTS, OPTIONS)
    assert len(scored.returns) == 19
    assert scored.excess_low_fraction > 0
    assert not scored.is_eligible


def test_pairs_only_windows_that_both_have():
    """A control that lacks windows is compared on those it has, and they must be enough."""
    history, control = a_history(skill=0.7), a_history()
    late = control.take(slice(5, 60))
    scored = evaluate(history, late, COSTS, OPTIONS)
    assert len(scored.returns) == 20
    assert not scored.is_eligible


def test_random_walks_are_refused_at_the_stated_rate():
    """Of 100 symbols without skill at most the stated tenth is eligible (fixed seeds)."""
    eligible = 0
    for i in range(100):
        history = a_history(seed=i, n_inner=4)
        other = a_history(seed=50_000 + i, n_inner=4)
        scale = history.reference_close / other.reference_close
        control = replace(
            history,
            forecast_high=other.forecast_high * scale,
            forecast_low=other.forecast_low * scale,
            forecast_close=other.forecast_close * scale,
        )
        eligible += evaluate(history, control, COSTS, OPTIONS).is_eligible
    assert eligible / 100 <= 0.10


def test_a_plan_is_the_fit_times_its_shrinkage():
    """Offsets are those of a fit on all windows, times one of the stated shrinkages."""
    for seed in range(6):
        sample = sample_of(a_history(n=40, seed=seed, skill=0.2), OPTIONS)
        plan = make_plan(sample, COSTS, OPTIONS)
        fit = fit_exact(sample.history, sample.sides, COSTS, closes_at_eod=plan.closes_at_eod)
        assert any(
            (plan.buy_offset, plan.sell_offset)
            == (shrinkage * fit.buy_offset, shrinkage * fit.sell_offset)
            for shrinkage in SHRINKAGES
        )


def test_the_live_plan_continues_the_walk():
    """The plan for the next window is the one that scoring would use when that window comes."""
    history = a_history(n=61, seed=5, skill=0.2)
    walk = walk_forward(sample_of(history, OPTIONS), COSTS, OPTIONS)
    sample = sample_of(history.take(slice(0, 60)), OPTIONS)
    assert live_plan(sample, COSTS, OPTIONS) == walk.plans[-1]


def test_gates_are_applied_inside_scoring():
    """With an edge that no plan reaches nothing is traded and every score is 0."""
    options = replace(OPTIONS, minimum_edge_fraction=0.5)
    sample = sample_of(a_history(), options)
    assert not scored_returns(sample, Plan(), COSTS, options).any()
    assert scored_returns(sample, Plan(), COSTS, OPTIONS).any()


def test_the_same_seed_gives_the_same_score():
    """An evaluation is a function of its arguments."""
    first, second = (evaluate(a_history(skill=0.3), a_history(), COSTS, OPTIONS) for _ in range(2))
    assert first.excess_low_fraction == second.excess_low_fraction
    np.testing.assert_array_equal(first.returns, second.returns)


@pytest.mark.parametrize("width", [30, 40])
def test_the_width_of_the_fit_is_an_option(width):
    """The first scored window is the one after the first fit."""
    options = replace(OPTIONS, fit_windows=width)
    walk = walk_forward(sample_of(a_history(), options), COSTS, options)
    assert len(walk.returns) == 60 - width
