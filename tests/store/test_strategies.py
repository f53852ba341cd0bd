"""Scores, choices, desired orders and denials of a cycle."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import numpy as np

from include.domain.choices import Choice
from include.domain.orders import Leg, Standing
from include.domain.strategies import Denied
from tests.support.builders import AS_OF, a_desired_order, a_scored_strategy

FLAT = Choice(
    symbol="BA",
    strategy="flat",
    standing=None,
    side=0,
    entry_price=None,
    take_profit_price=None,
    reason="no proven strategy",
    weight_fraction=0.0,
)
LONG = Choice(
    symbol="AAPL",
    strategy="maxdiff",
    standing=Standing.PROVEN,
    side=1,
    entry_price=99.1,
    take_profit_price=102.0,
    reason="proven",
    weight_fraction=0.1,
)


def test_scores_come_back_with_their_returns_in_their_order(uow, cycle_id):
    """Returns keep every bit; NaN and an empty series of returns survive."""
    scores = [
        a_scored_strategy(symbol="Z", returns=np.array([0.1, -1e-17, np.nan])),
        a_scored_strategy(symbol="A", returns=np.empty(0), excess_low_fraction=float("nan")),
    ]
    uow.strategies.save_scores(cycle_id, scores)
    uow.strategies.save_scores(cycle_id, [replace(scores[0], n_trials=99)])
    found = uow.strategies.scores(cycle_id)
    assert [score.symbol for score in found] == ["Z", "A"]
    for score, expected in zip(found, scores, strict=True):
        assert score.returns.dtype == np.float64
        assert score.returns.tobytes() == expected.returns.tobytes()
    assert found[0].n_trials == 2
    assert np.isnan(found[1].excess_low_fraction)


def test_choices_come_back_in_their_order_and_the_first_stays(uow, cycle_id):
    """A flat choice has no prices and no standing."""
    uow.strategies.save_choices(cycle_id, [LONG, FLAT])
    uow.strategies.save_choices(cycle_id, [replace(LONG, reason="other")])
    assert uow.strategies.choices(cycle_id) == [LONG, FLAT]


def test_desired_orders_come_back_in_their_order_and_the_first_stays(uow, cycle_id):
    """One a symbol and leg; a market order has no price."""
    entry = a_desired_order()
    flatten = a_desired_order(leg=Leg.FLATTEN, limit_price=None, take_profit_price=None)
    uow.strategies.save_desired(cycle_id, [flatten, entry])
    uow.strategies.save_desired(cycle_id, [replace(entry, quantity=Decimal(1))])
    assert uow.strategies.desired(cycle_id) == [flatten, entry]


def test_no_orders_planned_differs_from_not_planned_yet(uow, cycle_id):
    """An empty list counts only once the plan is marked complete."""
    assert uow.strategies.desired(cycle_id) == []
    assert not uow.strategies.is_planned(cycle_id)
    uow.strategies.mark_planned(cycle_id)
    uow.strategies.mark_planned(cycle_id)
    assert uow.strategies.is_planned(cycle_id)


def test_denials_are_stored_once_a_symbol_and_reason(uow, cycle_id):
    """The same no in a repeated task is one row; another reason is another."""
    first = Denied(symbol="AAPL", reason="gross_cap", found="1.2", bound="1.0")
    second = Denied(
        symbol="AAPL",
        reason="price_band",
        found="120",
        bound="110",
        at=AS_OF + timedelta(microseconds=1),
        quantity=Decimal("10.50"),
    )
    uow.strategies.save_denials(cycle_id, [first])
    uow.strategies.save_denials(cycle_id, [replace(first, found="1.3"), second])
    assert uow.strategies.denials(cycle_id) == [first, second]
