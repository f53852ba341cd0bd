"""One transaction: every error of the driver's becomes one of ours."""

import pytest
from sqlalchemy import create_engine, text

from include.errors import StoreError, StoreUnavailable
from include.store.transaction import Transaction, translated


@pytest.fixture
def transaction(postgres):
    """Give a transaction on the test database that is shown as `shown`."""
    with postgres.engine.connect() as connection:
        yield Transaction(connection, url="shown")


def test_statement_that_takes_too_long_is_unavailable(transaction):
    """A hung statement is worth another try."""
    transaction.write(text("SET LOCAL statement_timeout = '20ms'"))
    with pytest.raises(StoreUnavailable, match="database shown did not answer: canceling"):
        transaction.scalar(text("SELECT pg_sleep(5)"))


def test_refused_statement_names_the_database_and_the_fault(transaction):
    """What is neither a lost connection nor a conflict stays wrong, and says why."""
    with pytest.raises(StoreError, match="database shown refused a statement: division by zero"):
        transaction.scalar(text("SELECT 1 / 0"))


def test_copy_that_postgres_refuses_is_translated(transaction):
    """The COPY path goes past SQLAlchemy, and its errors are ours all the same."""
    transaction.write(text("CREATE TEMPORARY TABLE numbers (n bigint) ON COMMIT DROP"))
    with pytest.raises(StoreError, match="COPY file signature not recognized"):
        transaction.copy_in("numbers", b"nonsense that is long enough")


def test_exhausted_pool_is_unavailable(postgres):
    """Too many units of work at once are told apart from a fault in the caller."""
    url = postgres.engine.url
    engine = create_engine(url, pool_size=1, max_overflow=0, pool_timeout=0.01)
    held = engine.connect()
    with pytest.raises(StoreUnavailable, match="QueuePool limit"), translated("shown"):
        engine.connect()
    held.close()
    engine.dispose()


def test_error_that_is_not_the_stores_passes_through():
    """Only the driver's errors are translated."""
    with pytest.raises(KeyError, match="mine"), translated("shown"):
        raise KeyError("mine")
