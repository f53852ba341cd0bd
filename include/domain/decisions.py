"""Differential re-prediction: per symbol and cycle, predict, keep or none, and the reason why."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from include.domain.instruments import AssetClass


class Decision(StrEnum):
    """What happens to a symbol's forecast in a cycle."""

    PREDICT = "predict"
    KEEP = "keep"
    NONE = "none"


class Reason(StrEnum):
    """Why; the order of the members is the order in which they are tried."""

    BLOCKED_DATA = "blocked_data"
    FORCED = "forced"
    FIRST = "first"
    MODEL_CHANGED = "model_changed"
    CONFIG_CHANGED = "config_changed"
    DATA_REVISED = "data_revised"
    TARGET_OVER = "target_over"
    FRESH = "fresh"
    PRICE_MOVED_URGENT = "price_moved_urgent"
    PRICE_MOVED = "price_moved"
    AGED = "aged"
    WITHIN_THRESHOLD = "within_threshold"


class Outcome(StrEnum):
    """What came of the decision."""

    PENDING = "pending"
    COMPUTED = "computed"
    STORE_HIT = "store_hit"
    REANCHORED = "reanchored"
    FAILED = "failed"
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class GateLimits:
    """Bounds of the gate: moves as fractions of the price at issue, ages in seconds."""

    threshold_equity_fraction: float = 0.01
    threshold_crypto_fraction: float = 0.02
    max_age_seconds: float = 1800.0
    min_interval_seconds: float = 300.0
    urgent_multiple: float = 2.0

    def threshold_fraction(self, asset_class: AssetClass) -> float:
        """Return the move at which a symbol of the class is predicted again."""
        if asset_class is AssetClass.CRYPTO:
            return self.threshold_crypto_fraction
        return self.threshold_equity_fraction


@dataclass(frozen=True, kw_only=True)
class IssuedForecast:
    """What the gate must know of the forecast in force: identity, price and instant of issue."""

    content_key: str
    model_label: str
    config_hash: str
    window_opens_at: datetime
    window_ends_at: datetime
    origin: datetime
    price_at_issue: float
    issued_at: datetime


@dataclass(frozen=True, kw_only=True)
class GateInput:
    """One symbol in front of the gate; `mid` is the quote's, NaN never.

    `newest_key` is the content key that a prediction of the *same origin* would have today: where
    it differs from the one in force, history was revised.
    """

    symbol: str
    asset_class: AssetClass
    as_of: datetime
    mid: float | None
    refusal: str | None
    is_forced: bool
    model_label: str
    config_hash: str
    issued: IssuedForecast | None
    key_of_issued_origin: str | None


@dataclass(frozen=True, kw_only=True)
class ForecastDecision:
    """One row per symbol and cycle: what was decided, why, and the numbers that led to it."""

    symbol: str
    decision: Decision
    reason: Reason
    price_at_issue: float | None = None
    mid: float | None = None
    move_fraction: float | None = None
    threshold_fraction: float | None = None
    age_seconds: float | None = None
    max_age_seconds: float | None = None
    detail: str = ""
    old_key: str | None = None
    new_key: str | None = None
    outcome: Outcome = Outcome.NONE
    engine_seconds: float = 0.0


def decide_forecast(gate: GateInput, limits: GateLimits) -> ForecastDecision:
    """Return the decision of the first reason that matches, in the order of `Reason`.

    Threshold is inclusive, age is strict (trading.md 3.2). Pure: uses the input alone.
    """
    reason = _first_reason(gate, limits)
    age_seconds, move_fraction = _age_and_move(gate)
    return ForecastDecision(
        symbol=gate.symbol,
        decision=_DECISION_OF[reason],
        reason=reason,
        price_at_issue=gate.issued.price_at_issue if gate.issued else None,
        mid=gate.mid,
        move_fraction=move_fraction,
        threshold_fraction=limits.threshold_fraction(gate.asset_class),
        age_seconds=age_seconds,
        max_age_seconds=limits.max_age_seconds,
        detail=gate.refusal or "",
        old_key=gate.issued.content_key if gate.issued else None,
        outcome=Outcome.PENDING if _DECISION_OF[reason] is Decision.PREDICT else Outcome.NONE,
    )


_KEEPING = {Reason.FRESH, Reason.WITHIN_THRESHOLD}
_DECISION_OF = {
    reason: Decision.NONE
    if reason is Reason.BLOCKED_DATA
    else Decision.KEEP
    if reason in _KEEPING
    else Decision.PREDICT
    for reason in Reason
}


def _first_reason(gate: GateInput, limits: GateLimits) -> Reason:
    if gate.refusal is not None or gate.mid is None:
        return Reason.BLOCKED_DATA
    if gate.is_forced:
        return Reason.FORCED
    if gate.issued is None:
        return Reason.FIRST
    return _identity_reason(gate, gate.issued) or _market_reason(gate, limits)


def _identity_reason(gate: GateInput, issued: IssuedForecast) -> Reason | None:
    if issued.model_label != gate.model_label:
        return Reason.MODEL_CHANGED
    if issued.config_hash != gate.config_hash:
        return Reason.CONFIG_CHANGED
    if gate.as_of >= issued.window_ends_at:
        return Reason.TARGET_OVER
    if gate.key_of_issued_origin not in (None, issued.content_key):
        return Reason.DATA_REVISED
    return None


def _market_reason(gate: GateInput, limits: GateLimits) -> Reason:
    age_seconds, move_fraction = _age_and_move(gate)
    threshold = limits.threshold_fraction(gate.asset_class)
    if age_seconds is None or move_fraction is None:
        return Reason.FIRST
    if age_seconds < limits.min_interval_seconds:
        return Reason.FRESH
    if move_fraction >= limits.urgent_multiple * threshold:
        return Reason.PRICE_MOVED_URGENT
    if move_fraction >= threshold:
        return Reason.PRICE_MOVED
    return Reason.AGED if age_seconds > limits.max_age_seconds else Reason.WITHIN_THRESHOLD


def _age_and_move(gate: GateInput) -> tuple[float | None, float | None]:
    if gate.issued is None or gate.mid is None:
        return None, None
    age_seconds = (gate.as_of - gate.issued.issued_at).total_seconds()
    return age_seconds, abs(gate.mid / gate.issued.price_at_issue - 1.0)
