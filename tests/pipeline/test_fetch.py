"""Fetch: closed bars only, quotes once a cycle, and a reason for every symbol that is refused."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from include.domain.bars import Timeframe
from include.domain.cycles import Cycle, CycleRequest
from include.domain.instants import epoch_seconds
from include.domain.instruments import AssetClass
from include.errors import MarketDataUnavailable
from include.pipeline.fetch import (
    fetch_bars,
    fetch_quotes,
    fetch_sessions,
    history_start,
    quality_limits,
)
from tests.support.builders import AS_OF
from tests.support.builders_pipeline import World, weekday_sessions, with_values


def fetched(world: World, cycle: Cycle) -> dict[str, int]:
    """Fetch the bars of a cycle."""
    return fetch_bars(
        cycle=cycle,
        source=world.bars,
        sessions=weekday_sessions(),
        database=world.database,
        settings=world.settings,
    )


def test_only_bars_that_have_closed_are_stored(world):
    """The bar that is forming at `as_of` is left for the next cycle."""
    world.move_to(AS_OF + timedelta(minutes=10))
    cycle = world.begin()
    fetched(world, cycle)
    with world.database.unit_of_work() as uow:
        coins = uow.bars.load("BTC/USD", Timeframe.HOUR, cycle.as_of + timedelta(days=1))
        shares = uow.bars.load("AAPL", Timeframe.MINUTE_30, cycle.as_of + timedelta(days=1))
    assert coins.last_end == shares.last_end == AS_OF


def test_bars_outside_of_sessions_are_dropped(world):
    """Half hours before the open are no bars of the strategy's window."""
    series = world.bars.series["AAPL", Timeframe.MINUTE_30].closed_by(AS_OF).last(13)
    starts = series.starts - 8 * 3600
    world.bars.add(replace(series, starts=starts, ends=starts + 1800))
    cycle = world.begin(request=CycleRequest(symbols=("AAPL",)))
    assert fetched(world, cycle) == {"new": 0, "revised": 0, "unchanged": 0}


def test_second_cycle_asks_only_for_what_may_have_changed(world):
    """Bars are asked for from before the newest stored one, where trades still come late."""
    fetched(world, world.begin())
    world.bars.calls.clear()
    world.move_to(AS_OF + timedelta(minutes=30))
    assert fetched(world, world.begin("run-2"))["new"] == 2
    starts = {timeframe: start for _, timeframe, start, _ in world.bars.calls}
    assert starts[Timeframe.HOUR] == AS_OF - timedelta(hours=1 + 26)
    two_sessions_ago = weekday_sessions(last=AS_OF.date())[-3].opens_at
    assert AS_OF - timedelta(days=6) < starts[Timeframe.MINUTE_30] <= two_sessions_ago


def test_corrected_bar_is_a_revision_recorded_at_the_cycle(world):
    """A correction is counted, and the bar as it was stays visible at the earlier instant."""
    fetched(world, world.begin())
    series = world.bars.series["AAPL", Timeframe.MINUTE_30]
    is_last = series.ends == epoch_seconds(AS_OF)
    world.bars.add(with_values(series, is_last, 1.01))
    world.move_to(AS_OF + timedelta(minutes=10))
    assert fetched(world, world.begin("run-2"))["revised"] == 1
    with world.database.unit_of_work() as uow:
        before = uow.bars.load("AAPL", Timeframe.MINUTE_30, AS_OF)
        after = uow.bars.load("AAPL", Timeframe.MINUTE_30, AS_OF + timedelta(minutes=10))
    assert after.values[-1, 0] == pytest.approx(before.values[-1, 0] * 1.01)


def test_quotes_of_a_cycle_are_read_once(world):
    """A second run keeps the quotes of the first, though the market has moved."""
    cycle = world.begin()
    first = fetch_quotes(cycle=cycle, source=world.quotes, database=world.database)
    world.move_to(AS_OF + timedelta(minutes=5), moves={"AAPL": 0.05})
    again = fetch_quotes(cycle=cycle, source=world.quotes, database=world.database)
    assert again == first
    assert len(world.quotes.calls) == 1


def test_source_that_is_down_stores_nothing(world):
    """No bar is stored where the source does not answer, and the error is one to retry."""
    world.bars.is_down = True
    cycle = world.begin()
    with pytest.raises(MarketDataUnavailable, match="bars of AAPL"):
        fetched(world, cycle)
    with world.database.unit_of_work() as uow:
        assert uow.bars.newest_starts(["AAPL"], Timeframe.MINUTE_30) == {}


def test_venue_has_the_last_word_on_sessions(world):
    """The venue's sessions are stored, and ours that differ are named."""
    holiday = AS_OF.date() + timedelta(days=3)
    world.broker.calendar = [
        each for each in world.broker.calendar if each.session_date != holiday
    ]
    sessions, differences = fetch_sessions(
        cycle=world.begin(),
        broker=world.broker,
        calendar=world.calendar,
        database=world.database,
        first=AS_OF,
    )
    assert differences == [f"The venue lacks the session of {holiday} that XNYS has."]
    assert holiday not in {each.session_date for each in sessions}


def test_healthy_universe_has_no_refusals(world):
    """Complete bars and fresh quotes refuse nobody."""
    assert world.fetch(world.begin()) == {}


def spoil_gap(world: World) -> None:
    """Remove the newest bars of AAPL."""
    series = world.bars.series["AAPL", Timeframe.MINUTE_30]
    world.bars.add(series.take(series.ends < epoch_seconds(AS_OF)))


def spoil_nan(world: World) -> None:
    """Make a recent bar of AAPL unreadable."""
    series = world.bars.series["AAPL", Timeframe.MINUTE_30]
    world.bars.add(with_values(series, series.ends == epoch_seconds(AS_OF), np.nan))


def spoil_split(world: World) -> None:
    """Halve the price of AAPL from the newest bar on."""
    series = world.bars.series["AAPL", Timeframe.MINUTE_30]
    world.bars.add(with_values(series, series.ends >= epoch_seconds(AS_OF), 0.5))


def spoil_bars(world: World) -> None:
    """Take all bars of AAPL."""
    world.bars.series.pop(("AAPL", Timeframe.MINUTE_30))


def spoil_quote(world: World) -> None:
    """Take the quote of AAPL."""
    world.quotes.quotes.pop("AAPL")


def spoil_age(world: World) -> None:
    """Let the quote of AAPL grow old."""
    quote = world.quotes.quotes["AAPL"]
    world.quotes.add(replace(quote, at=AS_OF - timedelta(seconds=61)))


def spoil_spread(world: World) -> None:
    """Widen the quote of AAPL."""
    world.quote("AAPL", 100.0, spread_bps=30.0)


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (spoil_gap, "stale"),
        (spoil_nan, "nan"),
        (spoil_split, "jump"),
        (spoil_bars, "absent"),
        (spoil_quote, "quote_missing"),
        (spoil_age, "quote_old"),
        (spoil_spread, "spread"),
    ],
)
def test_bad_data_refuses_its_own_symbol_by_the_faults_code(world, spoil, code):
    """Each fault refuses the symbol that has it, and no other."""
    spoil(world)
    refusals = world.fetch(world.begin())
    assert {symbol: reason.split(":")[0] for symbol, reason in refusals.items()} == {"AAPL": code}


def test_nothing_is_traded_on_refused_data(world):
    """Of a refused symbol no order is wanted, and the reason is stored with the cycle."""
    spoil_split(world)
    cycle = world.plan_cycle()
    with world.database.unit_of_work() as uow:
        assert uow.refusals.by_cycle(cycle.cycle_id)["AAPL"].startswith("jump")
    assert {each.symbol for each in world.stored(cycle)["desired"]} == {"MSFT", "BTC/USD"}


def test_shares_are_refused_while_the_market_is_closed(world):
    """Outside of a session shares are refused with the next opening; coins trade on."""
    world.move_to(AS_OF.replace(hour=22))
    refusals = world.fetch(world.begin())
    assert set(refusals) == {"AAPL", "MSFT"}
    assert "opens 2026-11-23 14:30 UTC" in refusals["AAPL"]


def test_bounds_of_the_data_gate_are_those_of_the_settings(make_settings):
    """Shares and coins have bounds of their own, from the settings that name them."""
    settings = make_settings(
        DATA__MAX_CRYPTO_SPREAD_BPS="77", DATA__MAX_EQUITY_JUMP_FRACTION="0.2"
    )
    assert quality_limits(AssetClass.CRYPTO, settings).max_spread_bps == 77
    assert quality_limits(AssetClass.EQUITY, settings).max_jump_fraction == 0.2


@pytest.mark.parametrize(
    ("timeframe", "bars_a_session"), [(Timeframe.MINUTE_30, 13), (Timeframe.DAY, 1)]
)
def test_first_fetch_reaches_back_for_every_window_and_a_context(
    settings, timeframe, bars_a_session
):
    """The sessions since the start of history hold all past windows and a context before them."""
    start = history_start(AS_OF, timeframe, settings)
    sessions = weekday_sessions(start.date(), AS_OF.date())
    needed = settings.data.history_windows + settings.data.context_bars / bars_a_session
    assert len(sessions) >= needed


def test_instruments_are_stored_as_the_venue_lists_them(world):
    """After a fetch, increments and permissions of each listed symbol are in the store."""
    world.broker.listed.pop("MSFT")
    cycle = world.begin()
    world.fetch(cycle)
    with world.database.unit_of_work() as uow:
        assert uow.instruments.by_symbols(cycle.symbols) == world.broker.listed
