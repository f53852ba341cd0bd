"""Which strategy each symbol trades in a cycle: proven, a labelled probe, or flat, and why.

There is no least number of positions: cash is one, and whatever has not earned its size is flat.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from include.domain.choices import Choice
from include.domain.money import BPS_PER_UNIT
from include.domain.orders import Standing
from include.domain.returns import MIN_DEVIATION, shrunk_mean
from include.domain.strategies import Levels, ScoredStrategy
from include.strategy.sizing import SizingLimits, proven_weight_fraction


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A symbol's strategy with its score and its levels for the window at hand.

    `annual_volatility` is that of the symbol's own window returns, a fraction per year.
    """

    scored: ScoredStrategy
    levels: Levels
    annual_volatility: float

    @property
    def symbol(self) -> str:
        """Symbol that was scored."""
        return self.scored.symbol


@dataclass(frozen=True, kw_only=True)
class ChoiceOptions:
    """How sizes are derived, and whether unproven symbols trade as probes, and how many."""

    sizing: SizingLimits
    is_probing: bool = False
    max_probes: int = 10


def choose(candidates: Sequence[Candidate], options: ChoiceOptions) -> list[Choice]:
    """Return one choice per symbol: proven ones by rank, then probes, then flat ones by symbol.

    A symbol's best strategy is the eligible one with the highest rank score. Proven symbols take
    up to `max_positions` places; with probing on, up to `max_probes` others trade labelled.
    """
    best = [_best(list(group)) for _, group in groupby(sorted(candidates, key=_symbol), _symbol)]
    ready = sorted((c for c in best if c.levels.side != 0), key=_precedence)
    proven = [c for c in ready if c.scored.is_eligible][: options.sizing.max_positions]
    probes = [c for c in ready if not c.scored.is_eligible]
    probes = probes[: options.max_probes] if options.is_probing else []
    chosen = {c.symbol for c in (*proven, *probes)}
    flat = [c for c in best if c.symbol not in chosen]
    return [
        *(_proven(c, options) for c in proven),
        *(_probe(c) for c in probes),
        *(_flat(c, options) for c in flat),
    ]


def rank_score(scored: ScoredStrategy) -> float:
    """Return shrunk scored mean over volatility, both per window; 0 for a still series.

    Mean x T / (T + 60) / sample deviation (trading.md 7.1); scored windows only.
    """
    deviation = float(np.std(scored.returns, ddof=1)) if len(scored.returns) > 1 else 0.0
    return shrunk_mean(scored.returns) / deviation if deviation > MIN_DEVIATION else 0.0


def _symbol(candidate: Candidate) -> str:
    return candidate.symbol


def _precedence(candidate: Candidate) -> tuple[bool, float, str, str]:
    scored = candidate.scored
    return (not scored.is_eligible, -rank_score(scored), scored.symbol, scored.strategy)


def _best(candidates: list[Candidate]) -> Candidate:
    return min(candidates, key=_precedence)


def _proven(candidate: Candidate, options: ChoiceOptions) -> Choice:
    weight = proven_weight_fraction(candidate.annual_volatility, options.sizing)
    return _choice(candidate, Standing.PROVEN, _evidence(candidate.scored), weight)


def _probe(candidate: Candidate) -> Choice:
    return _choice(candidate, Standing.PROBE, f"unproven: {_evidence(candidate.scored)}", 0.0)


def _choice(
    candidate: Candidate, standing: Standing, reason: str, weight_fraction: float
) -> Choice:
    levels = candidate.levels
    has_take_profit = bool(np.isfinite(levels.take_profit))
    return Choice(
        symbol=candidate.symbol,
        strategy=candidate.scored.strategy,
        standing=standing,
        side=levels.side,
        entry_price=levels.entry,
        take_profit_price=levels.take_profit if has_take_profit else None,
        expected_exit_price=levels.expected_exit,
        reason=reason,
        weight_fraction=weight_fraction,
    )


def _flat(candidate: Candidate, options: ChoiceOptions) -> Choice:
    return Choice(
        symbol=candidate.symbol,
        strategy=candidate.scored.strategy,
        standing=None,
        side=0,
        entry_price=None,
        take_profit_price=None,
        reason=_why_flat(candidate, options),
        weight_fraction=0.0,
    )


def _why_flat(candidate: Candidate, options: ChoiceOptions) -> str:
    scored = candidate.scored
    if candidate.levels.side == 0:
        return "no side: the forecast is invalid, tied, or short where shorts are not allowed"
    if scored.is_eligible:
        return f"all {options.sizing.max_positions} positions went to higher scores"
    if options.is_probing:
        return f"all {options.max_probes} probes are taken; unproven: {_evidence(scored)}"
    return f"unproven: {_evidence(scored)}"


def _evidence(scored: ScoredStrategy) -> str:
    windows = len(scored.returns)
    if not windows:
        return f"no scored windows, {scored.fitted_on_windows} fitted"
    mean_bps = scored.mean_return * BPS_PER_UNIT
    low_bps = scored.excess_low_fraction * BPS_PER_UNIT
    return (
        f"scored mean {mean_bps:.1f} bps over {windows} windows, "
        f"lower bound {low_bps:.1f} bps over {scored.control}"
    )
