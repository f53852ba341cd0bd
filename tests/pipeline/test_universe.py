"""Universe: which symbols a cycle considers, and in which bars."""

import pytest

from include.domain.bars import Timeframe
from include.domain.instruments import AssetClass
from include.errors import UnknownParameter
from include.pipeline.universe import grouped_by_timeframe, symbols_of, timeframe_of
from tests.support.builders_pipeline import SYMBOLS


def test_cycle_without_named_symbols_considers_all(settings):
    """Nothing asked is everything."""
    assert symbols_of((), settings) == SYMBOLS


def test_named_symbols_are_considered_in_their_order(settings):
    """What was asked is what is considered."""
    assert symbols_of(["BTC/USD", "AAPL"], settings) == ("BTC/USD", "AAPL")


def test_symbol_outside_of_the_universe_is_refused_by_name(settings):
    """A typing error is named with what is known."""
    with pytest.raises(UnknownParameter, match="APPL"):
        symbols_of(["APPL"], settings)


def test_each_class_has_its_own_timeframe(make_settings):
    """Shares and coins are forecast in the bars that the settings give each."""
    settings = make_settings(DATA__EQUITY_TIMEFRAME="1Day")
    assert timeframe_of(AssetClass.EQUITY, settings) is Timeframe.DAY
    assert timeframe_of(AssetClass.CRYPTO, settings) is Timeframe.HOUR


def test_groups_hold_every_symbol_once(settings):
    """Symbols are grouped by class and timeframe, in their own order."""
    assert grouped_by_timeframe(SYMBOLS, settings) == {
        (AssetClass.EQUITY, Timeframe.MINUTE_30): ["AAPL", "MSFT"],
        (AssetClass.CRYPTO, Timeframe.HOUR): ["BTC/USD"],
    }
