"""Scores: fitted and scored from the ledger alone, beside the control."""

import numpy as np
import pytest

from include.domain.instruments import AssetClass
from include.pipeline.forecast import open_engines
from include.pipeline.scores import costs_of, evaluation_options, may_short, score_symbols
from include.pipeline.situation import load_situations
from include.strategy.costs import trade_costs
from tests.support.builders import an_instrument
from tests.support.builders_pipeline import a_situation


def test_model_that_is_its_own_control_is_never_eligible(world, settings):
    """The naive model has no excess over itself, so that no symbol earns its size."""
    cycle = world.begin()
    world.fetch(cycle)
    world.predict(cycle)
    with world.database.unit_of_work() as uow:
        situations = load_situations(uow, cycle, settings).values()
        scores = score_symbols(uow, situations, open_engines(settings), settings)
    assert list(scores) == list(cycle.symbols)
    for scored in scores.values():
        assert len(scored.returns) == 10
        assert scored.fitted_on_windows == 20
        assert not scored.is_eligible


def test_symbol_without_stored_forecasts_has_no_scored_window(world, settings):
    """Before any forecast a score is of nothing, and says so."""
    cycle = world.begin()
    world.fetch(cycle)
    with world.database.unit_of_work() as uow:
        situations = load_situations(uow, cycle, settings).values()
        scores = score_symbols(uow, situations, open_engines(settings), settings)
    assert {len(each.returns) for each in scores.values()} == {0}
    assert not any(each.is_eligible for each in scores.values())
    assert np.isnan(scores["AAPL"].mean_return)


@pytest.mark.parametrize(
    ("situation", "is_allowed"),
    [
        (a_situation(), True),
        (a_situation(instrument=an_instrument(is_shortable=False)), False),
        (a_situation(instrument=None), False),
        (a_situation(asset_class=AssetClass.CRYPTO), False),
    ],
)
def test_shorts_are_for_shares_that_the_venue_lends(settings, situation, is_allowed):
    """Coins, unknown symbols and shares that are not lent are never sold short."""
    assert may_short(situation, settings) is is_allowed


def test_setting_forbids_every_short(make_settings):
    """Where the settings forbid shorts, even a shortable share has none."""
    assert not may_short(a_situation(), make_settings(STRATEGY__ALLOW_SHORT="false"))


def test_trials_count_both_exit_policies(settings):
    """A score says how many configurations were looked at, and which windows it may use."""
    situation = a_situation()
    options = evaluation_options(situation, costs_of(situation), settings)
    assert (options.n_trials, options.fit_windows, options.minimum_scored_windows) == (2, 20, 10)


def test_costs_are_those_of_the_class():
    """Coins cost fees that shares don't."""
    coin = a_situation(asset_class=AssetClass.CRYPTO)
    assert costs_of(coin) == trade_costs(AssetClass.CRYPTO)
    assert costs_of(coin).round_trip > costs_of(a_situation()).round_trip
