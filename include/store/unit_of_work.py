"""The unit of work: one transaction with a repository for each aggregate.

`with database.unit_of_work() as uow:` opens it; what is not committed is rolled back. Repositories
never commit, and neither they nor their rows outlive the block.
"""

from types import TracebackType
from typing import Self

from sqlalchemy import Connection, Engine, text

from include.store.accounts import AccountRepository
from include.store.bars import BarRepository
from include.store.calendar import CalendarRepository
from include.store.cycles import CycleRepository
from include.store.decisions import DecisionRepository
from include.store.engine import make_engine, shown_url
from include.store.forecasts import ForecastRepository
from include.store.halts import HaltRepository
from include.store.instruments import InstrumentRepository
from include.store.orders import OrderRepository
from include.store.quotes import QuoteRepository, RefusalRepository
from include.store.reports import ReportRepository
from include.store.settings_versions import SettingsVersionRepository
from include.store.strategies import StrategyRepository
from include.store.transaction import Transaction, translated


class UnitOfWork:
    """One transaction: rolls back unless committed.

    Raises StoreUnavailable where the database does not answer; nothing of SQLAlchemy's leaves it.
    """

    accounts: AccountRepository
    bars: BarRepository
    calendar: CalendarRepository
    cycles: CycleRepository
    decisions: DecisionRepository
    forecasts: ForecastRepository
    halts: HaltRepository
    instruments: InstrumentRepository
    orders: OrderRepository
    quotes: QuoteRepository
    refusals: RefusalRepository
    reports: ReportRepository
    settings_versions: SettingsVersionRepository
    strategies: StrategyRepository

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._url = shown_url(engine.url)
        self._connection: Connection | None = None

    def __enter__(self) -> Self:
        """Take a connection and build the repositories on it."""
        with translated(self._url):
            self._connection = self._engine.connect()
        self._transaction = Transaction(self._connection, url=self._url)
        self._build_repositories(self._transaction)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Roll back what was not committed, and give the connection back."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with translated(self._url):
                connection.close()

    def commit(self) -> None:
        """Make everything since the last commit last; what follows is a new transaction."""
        with translated(self._url):
            self._open_connection().commit()

    def rollback(self) -> None:
        """Undo everything since the last commit."""
        with translated(self._url):
            self._open_connection().rollback()

    def lock(self, name: str) -> None:
        """Wait until no other transaction holds the name; held until commit or rollback."""
        statement = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")
        self._transaction.scalar(statement, {"name": name})

    def _open_connection(self) -> Connection:
        if self._connection is None:
            message = "The unit of work is not open; use it in a with block."
            raise RuntimeError(message)
        return self._connection

    def _build_repositories(self, transaction: Transaction) -> None:
        self.accounts = AccountRepository(transaction)
        self.bars = BarRepository(transaction)
        self.calendar = CalendarRepository(transaction)
        self.cycles = CycleRepository(transaction)
        self.decisions = DecisionRepository(transaction)
        self.forecasts = ForecastRepository(transaction)
        self.halts = HaltRepository(transaction)
        self.instruments = InstrumentRepository(transaction)
        self.orders = OrderRepository(transaction)
        self.quotes = QuoteRepository(transaction)
        self.refusals = RefusalRepository(transaction)
        self.reports = ReportRepository(transaction)
        self.settings_versions = SettingsVersionRepository(transaction)
        self.strategies = StrategyRepository(transaction)


class Database:
    """The database of a process: one pool of connections, one unit of work a transaction."""

    def __init__(self, url: str) -> None:
        self._engine = make_engine(url)

    def __repr__(self) -> str:
        """Return the address without its password."""
        return f"Database({shown_url(self._engine.url)!r})"

    def unit_of_work(self) -> UnitOfWork:
        """Return a new unit of work; enter it with `with`."""
        return UnitOfWork(self._engine)

    def dispose(self) -> None:
        """Close the pool's connections; a later unit of work opens new ones."""
        self._engine.dispose()
