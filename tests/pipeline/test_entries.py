"""Entries: what stops one, and what a choice becomes on the venue's ticks and increments."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import numpy as np
import pytest

from include.domain.choices import Choice
from include.domain.instruments import AssetClass
from include.domain.orders import DesiredOrder, IntentState, Leg, Side, Standing, TimeInForce
from include.domain.strategies import Denied
from include.pipeline.entries import (
    candidate_of,
    entry_order,
    explained,
    obstacle,
    prospect_levels,
    sizing_limits,
    take_profit_price,
)
from tests.support.builders import (
    AS_OF,
    WINDOW,
    a_bar_series,
    a_coin,
    a_desired_order,
    a_quote,
    a_scored_strategy,
    an_instrument,
    an_issued_forecast,
    some_levels,
)
from tests.support.builders_pipeline import a_cycle, a_holding, a_prospect, a_situation
from tests.support.fakes_broker import an_intent

LAST_BAR = WINDOW.ends_at - timedelta(minutes=30)
LONG = Choice(
    symbol="AAPL", strategy="maxdiff", standing=Standing.PROBE, side=1, entry_price=98.567,
    take_profit_price=102.431, reason="unproven", weight_fraction=0.0, expected_exit_price=102.4,
)  # fmt: skip


def wanted(choice: Choice, prospect=None, *, settings) -> DesiredOrder | Denied | None:
    """Return what a choice becomes with 100,000 USD of equity."""
    return entry_order(
        choice,
        prospect or a_prospect(),
        a_cycle(),
        equity_usd=Decimal(100_000),
        settings=settings,
    )


def entry_of(choice: Choice, prospect=None, *, settings) -> DesiredOrder:
    """Return the order of a choice that can be sized."""
    order = wanted(choice, prospect, settings=settings)
    assert isinstance(order, DesiredOrder)
    return order


def test_prospect_of_the_open_window_has_no_obstacle(settings):
    """With a forecast of the open window, nothing held and nothing traded, an entry may start."""
    assert obstacle(a_prospect(), a_cycle(), settings) is None


@pytest.mark.parametrize(
    ("prospect", "words"),
    [
        (a_prospect(situation=a_situation(window=None)), "no forecast of the open window"),
        (
            a_prospect(
                issued=an_issued_forecast(window_opens_at=WINDOW.opens_at - timedelta(days=1))
            ),
            "no forecast of the open window",
        ),
        (a_prospect(holding=a_holding()), "10 are held already"),
        (
            a_prospect(window_intents=(an_intent(filled_quantity=Decimal(1)),)),
            "the window's one entry has been traded",
        ),
        (
            a_prospect(situation=a_situation(quote=a_quote(bid=101.99, ask=102.01))),
            "the price has moved 2.00% since the forecast was issued; at most 2.00%",
        ),
        (
            a_prospect(situation=a_situation(quote=a_quote(bid=97.99, ask=98.01))),
            "the price has moved 2.00%",
        ),
    ],
)
def test_obstacle_says_in_words_why_no_entry_may_start(settings, prospect, words):
    """One entry per window and symbol, on a forecast that the market has not run away from."""
    found = obstacle(prospect, a_cycle(), settings)
    assert found is not None
    assert found.startswith(words)


def test_no_entry_starts_in_the_last_bar(settings):
    """Up to the beginning of the window's last bar an entry may start, and not from then on."""
    before = a_cycle(as_of=LAST_BAR - timedelta(seconds=1))
    assert obstacle(a_prospect(), before, settings) is None
    found = obstacle(a_prospect(), a_cycle(as_of=LAST_BAR), settings)
    assert found == "the window's last bar has begun"


def test_unfilled_entry_does_not_use_up_the_window(settings):
    """An entry that was cancelled without a fill may be followed by another."""
    cancelled = an_intent(state=IntentState.TERMINAL)
    assert obstacle(a_prospect(window_intents=(cancelled,)), a_cycle(), settings) is None


def test_levels_are_those_of_the_outlook_from_the_close_before_the_window(settings):
    """The wider side of the outlook around the reference close is the side of the levels."""
    levels = prospect_levels(a_prospect(), settings)
    assert (levels.side, levels.entry) == (1, 98.5)
    assert np.isnan(levels.take_profit)


def test_without_a_close_before_the_window_there_are_no_levels(settings):
    """A symbol with no bar before its window has no side."""
    situation = a_situation(series=a_bar_series(n=1))
    assert prospect_levels(a_prospect(situation=situation), settings).side == 0


def test_buy_is_rounded_down_and_its_take_profit_up(settings):
    """Neither price is worse than the level that was scored."""
    order = entry_of(LONG, settings=settings)
    assert (order.leg, order.side) == (Leg.ENTRY_LONG, Side.BUY)
    assert (order.limit_price, order.take_profit_price) == (Decimal("98.56"), Decimal("102.44"))
    assert order.quantity == 3  # 300 USD in whole shares


def test_short_is_rounded_up_and_its_take_profit_down(settings):
    """A sell never takes less, and its buy-back never pays more."""
    short = replace(LONG, side=-1, entry_price=102.431, take_profit_price=98.567)
    order = entry_of(short, settings=settings)
    assert (order.leg, order.side) == (Leg.ENTRY_SHORT, Side.SELL)
    assert (order.limit_price, order.take_profit_price) == (Decimal("102.44"), Decimal("98.56"))


def test_reason_of_an_order_is_what_was_forecast_and_what_was_proven(settings):
    """The order carries the outlook's levels and the choice's evidence."""
    reason = entry_of(LONG, settings=settings).reason
    assert reason == "forecast high 102.50, low 98.50, close 101.00; unproven"


def test_coins_are_sized_in_their_increments_and_work_until_cancelled(settings):
    """A coin's entry has fractions and no end of its own."""
    situation = a_situation(symbol="BTC/USD", asset_class=AssetClass.CRYPTO, instrument=a_coin())
    order = entry_of(
        replace(LONG, symbol="BTC/USD"), a_prospect(situation=situation), settings=settings
    )
    assert (order.quantity, order.time_in_force) == (Decimal("3.0438"), TimeInForce.GTC)


@pytest.mark.parametrize(
    ("choice", "situation"),
    [
        (replace(LONG, standing=None, side=0, entry_price=None), a_situation()),
        (LONG, a_situation(instrument=None)),
    ],
)
def test_flat_choice_or_unknown_instrument_wants_nothing(settings, choice, situation):
    """Neither an order nor a denial comes of a symbol that is flat or not listed."""
    assert wanted(choice, a_prospect(situation=situation), settings=settings) is None


def test_entry_that_rounds_to_nothing_is_a_denial(settings):
    """A probe of 300 USD buys no share of 400 USD."""
    denied = wanted(replace(LONG, entry_price=400.0), settings=settings)
    assert isinstance(denied, Denied)
    assert denied.reason == "size_below_minimum"


def test_working_entry_keeps_its_quantity(settings):
    """A level within the tolerance must not become another order by its rounding."""
    working = an_intent(
        a_desired_order(quantity=Decimal(7), standing=Standing.PROBE), venue_order_id="venue-1"
    )
    prospect = a_prospect(window_intents=(working,))
    assert entry_of(LONG, prospect, settings=settings).quantity == 7


def test_entry_that_no_longer_works_does_not_size_the_next(settings):
    """The quantity of a cancelled order says nothing of the one that is sized now."""
    ended = an_intent(
        a_desired_order(quantity=Decimal(7), standing=Standing.PROBE),
        venue_order_id="venue-1",
        state=IntentState.TERMINAL,
    )
    prospect = a_prospect(window_intents=(ended,))
    assert entry_of(LONG, prospect, settings=settings).quantity == 3


@pytest.mark.parametrize("price", [None, float("nan")])
def test_absent_take_profit_stays_absent(price):
    """A policy without a level has none on the venue's ticks either."""
    assert take_profit_price(price, 1, an_instrument()) is None


def test_obstacle_is_the_reason_of_a_flat_choice():
    """Where an obstacle kept a symbol flat, the choice says so in its words."""
    other = replace(LONG, symbol="MSFT")
    told = explained([LONG, other], {"AAPL": "10 are held already"})
    assert [each.reason for each in told] == ["10 are held already", "unproven"]


def test_candidate_has_the_volatility_of_its_windows_closes():
    """Fewer than three window ends give no volatility, and so no proven size."""
    assert np.isnan(candidate_of(a_prospect(), some_levels()).annual_volatility)


def test_candidate_carries_score_and_levels():
    """What the choice ranks is the prospect's own score."""
    scored = a_scored_strategy(is_eligible=True)
    candidate = candidate_of(a_prospect(scored=scored), some_levels())
    assert candidate.scored is scored
    assert candidate.levels == some_levels()


def test_sizes_derive_from_the_settings(make_settings):
    """Places and the notional of a probe are the settings' own."""
    settings = make_settings(PORTFOLIO__MAX_POSITIONS="4", PORTFOLIO__PROBE_NOTIONAL_USD="120")
    limits = sizing_limits(settings)
    assert (limits.max_positions, limits.probe_notional_usd) == (4, Decimal(120))


def test_move_is_measured_at_the_cycles_quote_not_at_the_clock(settings):
    """Without a quote the price at issue stands in, and no move is seen."""
    prospect = a_prospect(situation=a_situation(quote=None))
    assert obstacle(prospect, a_cycle(as_of=AS_OF), settings) is None
