"""Choices: proven by rank, probes when asked for, everything else flat with the reason."""

import numpy as np
import pytest

from include.domain.orders import Standing
from include.strategy.choose import Candidate, ChoiceOptions, choose, rank_score
from include.strategy.levels import NO_LEVELS
from include.strategy.sizing import SizingLimits
from tests.support.builders import a_scored_strategy, some_levels

OPTIONS = ChoiceOptions(sizing=SizingLimits(max_positions=2))
PROBING = ChoiceOptions(sizing=SizingLimits(max_positions=2), is_probing=True, max_probes=1)


def a_candidate(symbol="AAPL", *, mean=0.001, eligible=True, levels=None, **scored):
    """Return a candidate with 20 scored windows of a mean."""
    returns = mean + np.array([0.001, -0.001] * 10)
    return Candidate(
        scored=a_scored_strategy(symbol=symbol, returns=returns, is_eligible=eligible, **scored),
        levels=levels or some_levels(),
        annual_volatility=0.5,
    )


def test_proven_symbols_take_the_places_by_rank():
    """The two highest scores of three are proven; the third is flat and says why."""
    means = {"AAA": 0.001, "BBB": 0.003, "CCC": 0.002}
    choices = choose([a_candidate(symbol, mean=mean) for symbol, mean in means.items()], OPTIONS)
    assert [choice.symbol for choice in choices] == ["BBB", "CCC", "AAA"]
    assert [choice.standing for choice in choices] == [Standing.PROVEN, Standing.PROVEN, None]
    assert "all 2 positions" in choices[2].reason
    assert choices[0].weight_fraction == pytest.approx(0.1 / np.sqrt(2) / 0.5, abs=0.05)


def test_a_choice_carries_the_levels():
    """Side, entry and take-profit come from the levels; no take-profit is None."""
    held = some_levels(take_profit=float("nan"))
    first, second = choose([a_candidate("A"), a_candidate("B", levels=held)], OPTIONS)
    assert (first.side, first.entry_price, first.take_profit_price) == (1, 99.0, 102.0)
    assert second.take_profit_price is None


def test_unproven_symbols_are_flat_by_default():
    """Without probing an ineligible strategy does not trade, and the evidence is the reason."""
    (choice,) = choose([a_candidate(eligible=False)], OPTIONS)
    assert (choice.side, choice.standing, choice.weight_fraction) == (0, None, 0.0)
    assert choice.reason.startswith("unproven: scored mean 10.0 bps over 20 windows")


def test_probes_are_labelled_and_limited():
    """With probing on the best unproven symbol trades as a probe, without a weight."""
    candidates = [a_candidate(s, mean=m, eligible=False) for s, m in (("A", 0.0), ("B", 0.001))]
    probe, flat = choose(candidates, PROBING)
    assert (probe.symbol, probe.standing, probe.weight_fraction) == ("B", Standing.PROBE, 0.0)
    assert (flat.standing, flat.side) == (None, 0)


def test_no_side_takes_no_place():
    """A proven symbol without a side this window leaves its place to the next."""
    candidates = [a_candidate(s, mean=m) for s, m in (("A", 0.003), ("B", 0.002), ("C", 0.001))]
    idle = a_candidate("A", mean=0.003, levels=NO_LEVELS)
    choices = choose([idle, *candidates[1:]], OPTIONS)
    assert [choice.symbol for choice in choices] == ["B", "C", "A"]
    assert choices[2].reason.startswith("no side")


def test_one_choice_per_symbol():
    """Of a symbol's strategies the eligible one with the highest score is chosen."""
    candidates = [
        a_candidate(mean=0.005, eligible=False, strategy="lucky"),
        a_candidate(mean=0.001, strategy="steady"),
    ]
    (choice,) = choose(candidates, PROBING)
    assert choice.strategy == "steady"


def test_the_order_of_candidates_does_not_matter():
    """Choices are a function of the set of candidates."""
    candidates = [a_candidate(s, eligible=s < "C") for s in "DBAC"]
    assert choose(candidates, PROBING) == choose(candidates[::-1], PROBING)


def test_a_still_series_has_no_rank():
    """Returns without spread, or none at all, score 0."""
    assert rank_score(a_scored_strategy(returns=np.zeros(20))) == 0.0
    assert rank_score(a_scored_strategy(returns=np.empty(0))) == 0.0
    nothing = a_candidate(eligible=False)
    nothing = Candidate(
        scored=a_scored_strategy(returns=np.empty(0), fitted_on_windows=0),
        levels=nothing.levels,
        annual_volatility=0.5,
    )
    assert choose([nothing], OPTIONS)[0].reason == "unproven: no scored windows, 0 fitted"
