"""The unit of work: one transaction, and no error of the driver's leaves it."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

from include.domain.cycles import Cycle
from include.errors import StoreError, StoreUnavailable
from include.store.unit_of_work import UnitOfWork
from tests.support.builders import AS_OF, a_bar_series

CYCLE = Cycle(cycle_id="cycle", as_of=AS_OF, account_id="A", settings_hash="hash")


class Interruption(Exception):
    """Something that goes wrong in the middle of a block."""


def stored_cycle(database):
    """Return what another transaction sees of the cycle."""
    with database.unit_of_work() as uow:
        return uow.cycles.by_id("cycle")


def test_rolls_back_unless_committed(database):
    """A block that ends without a commit leaves nothing."""
    with database.unit_of_work() as uow:
        uow.cycles.save(CYCLE)
        uow.bars.save(a_bar_series(n=2), AS_OF)
        assert uow.cycles.by_id("cycle") == CYCLE
    assert stored_cycle(database) is None


def test_rolls_back_where_the_block_raises(database):
    """An exception undoes the block and goes on."""
    with pytest.raises(Interruption, match="half way"):
        _save_and_fail(database)
    assert stored_cycle(database) is None


def _save_and_fail(database):
    with database.unit_of_work() as uow:
        uow.cycles.save(CYCLE)
        message = "half way"
        raise Interruption(message)


def test_commit_keeps_what_was_before_it_and_nothing_after(database):
    """Each commit ends one transaction and begins the next."""
    with database.unit_of_work() as uow:
        uow.cycles.save(CYCLE)
        uow.commit()
        uow.cycles.set_symbols("cycle", ["AAPL"])
    assert stored_cycle(database) == CYCLE


def test_rows_of_a_copy_alone_are_committed(database):
    """A transaction whose first statement is a COPY ends like any other."""
    series = a_bar_series(n=3)
    with database.unit_of_work() as uow:
        uow.bars.load("AAPL", series.timeframe, AS_OF)
        uow.bars.save(series, AS_OF)
        uow.commit()
    with database.unit_of_work() as uow:
        assert len(uow.bars.load("AAPL", series.timeframe, AS_OF)) == 3


def test_rollback_undoes_within_the_block(database):
    """After a rollback the block goes on with a new transaction."""
    with database.unit_of_work() as uow:
        uow.cycles.save(CYCLE)
        uow.rollback()
        assert uow.cycles.by_id("cycle") is None


def test_lock_lets_one_holder_of_a_name_in_at_a_time(database):
    """The second waits for the end of the first; another name does not."""
    with ThreadPoolExecutor(1) as pool:
        with database.unit_of_work() as first, database.unit_of_work() as other:
            first.lock("trade A")
            other.lock("trade B")
            second = pool.submit(_lock_and_leave, database)
            with pytest.raises(TimeoutError):
                second.result(timeout=0.2)
        assert second.result(timeout=10) == "held"


def _lock_and_leave(database):
    with database.unit_of_work() as uow:
        uow.lock("trade A")
        return "held"


def _kill_open_transactions(postgres):
    """End the server's side of every open unit of work."""
    with postgres.engine.begin() as connection:
        connection.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = 'tradewind' AND state = 'idle in transaction'"
            )
        )


@pytest.mark.parametrize(
    "use",
    [
        lambda uow: uow.cycles.latest(),
        lambda uow: uow.bars.save(a_bar_series(n=2), AS_OF),
        lambda uow: uow.bars.load("AAPL", a_bar_series(n=1).timeframe, AS_OF),
        lambda uow: uow.commit(),
    ],
    ids=["query", "save", "copy", "commit"],
)
def test_lost_connection_is_store_unavailable_and_the_next_block_works(database, postgres, use):
    """Wherever the connection breaks, our own error says so, and the pool replaces it."""
    with database.unit_of_work() as uow:
        uow.cycles.save(CYCLE)
        _kill_open_transactions(postgres)
        with pytest.raises(StoreUnavailable, match=r"tradewind.* did not answer"):
            use(uow)
    assert stored_cycle(database) is None


def test_unit_of_work_outside_its_block_is_refused(database, postgres):
    """Commit and repositories need the open block."""
    with pytest.raises(RuntimeError, match="use it in a with block"):
        UnitOfWork(postgres.engine).commit()
    with database.unit_of_work() as uow:
        pass
    with pytest.raises(StoreError, match="This Connection is closed"):
        uow.cycles.latest()
