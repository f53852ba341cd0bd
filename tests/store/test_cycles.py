"""Cycles, their stages, and which one is the newest."""

from dataclasses import replace
from datetime import timedelta

import pytest

from include.domain.cycles import Cycle, CycleRequest, CycleState
from include.errors import UnknownRow
from tests.support.builders import AS_OF

CYCLE = Cycle(
    cycle_id="first",
    as_of=AS_OF,
    account_id="A",
    settings_hash="hash",
    request=CycleRequest(symbols=("AAPL", "BTC/USD"), is_forced=True, is_dry_run=True),
    symbols=("BTC/USD", "AAPL"),
)
LATER = AS_OF + timedelta(minutes=30)


def test_cycle_comes_back_as_it_was(uow):
    """Request and symbols, in their order, survive the round trip."""
    plain = Cycle(cycle_id="plain", as_of=LATER, account_id="B", settings_hash="hash")
    uow.cycles.save(CYCLE)
    uow.cycles.save(plain)
    assert uow.cycles.by_id("first") == CYCLE
    assert uow.cycles.require("plain") == plain


def test_saving_an_id_twice_keeps_the_first(uow):
    """A retried task reads the clock again; the first instant stays."""
    uow.cycles.save(CYCLE)
    uow.cycles.save(replace(CYCLE, as_of=LATER))
    assert uow.cycles.by_id("first") == CYCLE


def test_unknown_cycle_is_none_or_refused(uow):
    """Looking may find nothing; requiring may not."""
    assert uow.cycles.by_id("none") is None
    assert uow.cycles.latest() is None
    for use in (
        lambda: uow.cycles.require("none"),
        lambda: uow.cycles.is_newest("none"),
        lambda: uow.cycles.set_symbols("none", []),
        lambda: uow.cycles.finish("none", CycleState.FAILED),
    ):
        with pytest.raises(UnknownRow, match="No cycle has the key none"):
            use()


def test_newest_cycle_is_by_instant_then_by_beginning_per_account(uow):
    """A cycle that is begun later for an earlier instant is not the newest."""
    uow.cycles.save(replace(CYCLE, cycle_id="new", as_of=LATER))
    uow.cycles.save(replace(CYCLE, cycle_id="old"))
    uow.cycles.save(replace(CYCLE, cycle_id="new again", as_of=LATER))
    uow.cycles.save(replace(CYCLE, cycle_id="other", account_id="B"))
    assert uow.cycles.latest_ids(3) == ["new again", "new", "other"]
    latest = uow.cycles.latest("B")
    assert latest is not None
    assert latest.cycle_id == "other"
    newest = [name for name in ("new", "old", "new again", "other") if uow.cycles.is_newest(name)]
    assert newest == ["new again", "other"]


def test_symbols_and_state_are_replaced(uow):
    """A cycle learns its symbols while it runs, and its state when it ends."""
    uow.cycles.save(CYCLE)
    uow.cycles.set_symbols("first", ["C", "A"])
    uow.cycles.finish("first", CycleState.SUCCESS)
    changed = replace(CYCLE, symbols=("C", "A"), state=CycleState.SUCCESS)
    assert uow.cycles.by_id("first") == changed


def test_stage_that_runs_again_replaces_its_record_and_parts_stay_apart(uow):
    """Mapped batches of a stage each have a record, in the order of their starts."""
    uow.cycles.save(CYCLE)
    later, last = AS_OF + timedelta(seconds=1.5), AS_OF + timedelta(seconds=4)
    uow.cycles.record_stage("first", "forecast", later, last, {"symbols": 3}, part="1")
    uow.cycles.record_stage("first", "forecast", AS_OF, last, {}, part="0")
    uow.cycles.record_stage("first", "forecast", AS_OF, later, {"b": 1, "a": [None]}, part="0")
    stages = uow.cycles.stages("first")
    found = [(stage.stage, stage.part, stage.seconds, stage.detail) for stage in stages]
    assert found == [
        ("forecast", "0", 1.5, {"b": 1, "a": [None]}),
        ("forecast", "1", 2.5, {"symbols": 3}),
    ]


def test_detail_that_json_can_not_hold_is_refused(uow):
    """NaN is no JSON; the mistake is named where it is made."""
    uow.cycles.save(CYCLE)
    with pytest.raises(ValueError, match="Out of range float values are not JSON compliant"):
        uow.cycles.record_stage("first", "fetch", AS_OF, LATER, {"rate": float("nan")})
