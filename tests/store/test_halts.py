"""The halt latch: missing is halted, and nobody sets it under a reader's feet."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import text

from include.domain.halts import HaltState
from include.store.records import HaltRow
from tests.support.builders import AS_OF

LATER = AS_OF + timedelta(minutes=1)


def test_account_without_a_row_is_halted(uow):
    """Nothing trades on an account that nobody set up."""
    found = uow.halts.state("A")
    assert (found.state, found.reason) == (HaltState.HALTED, "the account has no halt row")


def test_new_account_begins_active_and_a_set_latch_stays(uow):
    """Setting an account up again never clears its latch."""
    uow.halts.ensure("A", AS_OF)
    assert uow.halts.state("A").state == "active"
    uow.halts.set("A", "halted", "drawdown of 15 %", "trigger", LATER)
    uow.halts.ensure("A", LATER)
    assert uow.halts.state("A") == HaltRow(
        state=HaltState.HALTED, reason="drawdown of 15 %", actor="trigger", at=LATER
    )
    assert uow.halts.state("B").state is HaltState.HALTED


def test_unknown_state_is_refused(uow):
    """A latch has three states."""
    with pytest.raises(ValueError, match="'paused' is not a valid HaltState"):
        uow.halts.set("A", "paused", "", "", AS_OF)


def test_each_setting_leaves_an_event(database, postgres):
    """Who set the latch, when and why, can be read later."""
    with database.unit_of_work() as uow:
        uow.halts.ensure("A", AS_OF)
        uow.halts.set("A", HaltState.REDUCING, "look", "anna", AS_OF)
        uow.halts.set("A", HaltState.ACTIVE, "fine", "anna", LATER)
        uow.commit()
    with postgres.engine.connect() as connection:
        statement = text("SELECT state, reason, actor, at FROM tradewind.halt_events ORDER BY at")
        events = connection.execute(statement).all()
    assert [tuple(event) for event in events] == [
        ("reducing", "look", "anna", AS_OF),
        ("active", "fine", "anna", LATER),
    ]


def test_latch_can_not_be_set_between_a_look_and_its_commit(database):
    """Whoever read an active latch commits before it can be set."""
    with database.unit_of_work() as uow:
        uow.halts.ensure("A", AS_OF)
        uow.commit()
    with ThreadPoolExecutor(1) as pool, database.unit_of_work() as reader:
        assert reader.halts.state("A").state is HaltState.ACTIVE
        setting = pool.submit(_halt, database)
        with pytest.raises(TimeoutError):
            setting.result(timeout=0.2)
        reader.commit()
        setting.result(timeout=10)
        assert reader.halts.state("A").state is HaltState.HALTED


def _halt(database):
    with database.unit_of_work() as uow:
        uow.halts.set("A", HaltState.HALTED, "stop", "anna", LATER)
        uow.commit()
