"""Account snapshots: equity and positions as a cycle or the watch saw them."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from include.domain.positions import Account, Position
from include.store.rows import insert_new, row_of, select_fields, values_of
from include.store.schema import account_snapshots, snapshot_positions
from include.store.transaction import Transaction


class AccountRepository:
    """One snapshot a cycle; the first one stays."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def save_snapshot(
        self, cycle_id: str, account: Account, positions: Sequence[Position], at: datetime
    ) -> None:
        """Store the account with its positions; nothing changes where the cycle has a snapshot."""
        row = row_of(account, cycle_id=cycle_id, at=at)
        statement = insert(account_snapshots).on_conflict_do_nothing()
        if self._transaction.write(statement, row):
            rows = [row_of(position, cycle_id=cycle_id) for position in positions]
            insert_new(self._transaction, snapshot_positions, rows)

    def snapshot(self, cycle_id: str) -> tuple[Account, list[Position]] | None:
        """Return a cycle's account and its positions by symbol, or None."""
        statement = select_fields(account_snapshots, Account).where(
            account_snapshots.c.cycle_id == cycle_id
        )
        accounts = values_of(self._transaction, statement, Account)
        return (accounts[0], self._positions(cycle_id)) if accounts else None

    def equity_curve(
        self, limit: int, account_id: str | None = None
    ) -> list[tuple[datetime, Decimal]]:
        """Return instants and equity in USD of the newest snapshots, oldest first."""
        statement = (
            select(account_snapshots.c.at, account_snapshots.c.equity_usd)
            .order_by(account_snapshots.c.at.desc())
            .limit(limit)
        )
        if account_id is not None:
            statement = statement.where(account_snapshots.c.account_id == account_id)
        rows = self._transaction.rows(statement)
        return [(row["at"], row["equity_usd"]) for row in reversed(rows)]

    def day_start_equity(self, account_id: str, since: datetime) -> Decimal | None:
        """Return the equity in USD of the first snapshot at or after an instant, or None."""
        statement = (
            select(account_snapshots.c.equity_usd)
            .where(account_snapshots.c.account_id == account_id)
            .where(account_snapshots.c.at >= since)
            .order_by(account_snapshots.c.at)
            .limit(1)
        )
        equity_usd: Decimal | None = self._transaction.scalar(statement)
        return equity_usd

    def _positions(self, cycle_id: str) -> list[Position]:
        statement = (
            select_fields(snapshot_positions, Position)
            .where(snapshot_positions.c.cycle_id == cycle_id)
            .order_by(snapshot_positions.c.symbol)
        )
        return values_of(self._transaction, statement, Position)
