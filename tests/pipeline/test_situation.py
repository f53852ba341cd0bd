"""Situations: the one path by which decisions get data, cut at `as_of` in every direction."""

from datetime import timedelta

import pytest

from include.domain.bars import Timeframe
from include.domain.instruments import AssetClass
from include.pipeline.situation import load_situations, open_window, past_windows
from tests.support.builders import AS_OF, WINDOW, an_instrument
from tests.support.builders_pipeline import World, weekday_sessions


def situations(world: World, cycle):
    """Load the situations of a cycle."""
    with world.database.unit_of_work() as uow:
        return load_situations(uow, cycle, world.settings)


def test_every_symbol_of_a_cycle_has_a_situation(world):
    """Bars, quote, window and past windows of each symbol are those of its class."""
    cycle = world.begin()
    world.fetch(cycle)
    found = situations(world, cycle)
    assert list(found) == list(cycle.symbols)
    share, coin = found["AAPL"], found["BTC/USD"]
    assert (share.series.timeframe, coin.series.timeframe) == (
        Timeframe.MINUTE_30,
        Timeframe.HOUR,
    )
    assert share.window == WINDOW
    assert coin.window is not None
    assert coin.window.ends_at - coin.window.opens_at == timedelta(days=1)
    assert len(share.past_windows) == len(coin.past_windows) == 30
    assert share.mid == pytest.approx(share.series.values[-1, 3])
    assert share.refusal is None


def test_no_bar_ends_after_the_cycles_instant(world):
    """A situation loaded later holds the bars that the cycle could know."""
    cycle = world.begin()
    world.fetch(cycle)
    world.move_to(AS_OF + timedelta(hours=2))
    world.fetch(world.begin("run-2"))
    assert situations(world, cycle)["AAPL"].series.last_end == AS_OF


def test_bars_reach_back_a_context_before_the_oldest_window(world, settings):
    """The opening of the oldest past window has its whole context."""
    cycle = world.begin()
    world.fetch(cycle)
    for situation in situations(world, cycle).values():
        before = situation.series.closed_by(situation.past_windows[0].opens_at)
        assert len(before) >= settings.data.context_bars


def test_symbol_that_the_venue_lacks_or_does_not_trade_is_refused(world):
    """What is not listed, or not tradable, is refused in words whatever its bars say."""
    world.broker.listed.pop("MSFT")
    world.broker.listed["AAPL"] = an_instrument(is_tradable=False)
    cycle = world.begin()
    world.fetch(cycle)
    found = situations(world, cycle)
    assert found["MSFT"].refusal == "absent: the venue does not list this symbol"
    assert found["AAPL"].refusal == "absent: the venue does not trade this symbol"


def test_symbol_without_bars_has_an_empty_series(world):
    """Absence is an empty series and a refusal, not a missing key."""
    cycle = world.begin()
    found = situations(world, cycle)["AAPL"]
    assert len(found.series) == 0
    assert found.mid is None


@pytest.mark.parametrize(
    ("instant", "is_open"),
    [
        (WINDOW.opens_at - timedelta(seconds=1), False),
        (WINDOW.opens_at, True),
        (WINDOW.ends_at - timedelta(seconds=1), True),
        (WINDOW.ends_at, False),
    ],
)
def test_session_is_open_from_its_opening_until_before_its_close(instant, is_open):
    """Shares have a window inside a session alone, coins at any instant."""
    sessions = weekday_sessions()
    assert (open_window(instant, AssetClass.EQUITY, sessions) is not None) is is_open
    assert open_window(instant, AssetClass.CRYPTO, sessions) is not None


def test_window_that_is_open_is_not_past(settings):
    """Past windows have all ended, oldest first."""
    windows = past_windows(AS_OF, AssetClass.EQUITY, weekday_sessions(), settings)
    assert list(windows) == sorted(windows)
    assert windows[-1].ends_at < WINDOW.opens_at
    after = past_windows(WINDOW.ends_at, AssetClass.EQUITY, weekday_sessions(), settings)
    assert after[-1] == WINDOW
