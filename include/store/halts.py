"""The halt latch: one row an account, and every change of it as an event.

A row that is missing counts as halted, so that nothing trades on an account that nobody set up.
"""

from datetime import datetime

from sqlalchemy import insert

from include.domain.halts import HaltState
from include.store.records import HaltRow
from include.store.rows import insert_new, row_of, select_fields, upsert
from include.store.schema import halt_events, halts
from include.store.transaction import Transaction

_NO_ROW = HaltRow(
    state=HaltState.HALTED, reason="the account has no halt row", actor="store", at=None
)


class HaltRepository:
    """The latch of each account."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def state(self, account_id: str) -> HaltRow:
        """Return the latch; halted where there is no row.

        The row is locked for sharing until the transaction ends, so that nobody sets the latch
        between this look and the commit of the journal row that relies on it.
        """
        statement = (
            select_fields(halts, HaltRow)
            .where(halts.c.account_id == account_id)
            .with_for_update(read=True)
        )
        row = self._transaction.first(statement)
        return _NO_ROW if row is None else HaltRow(**row)

    def ensure(self, account_id: str, at: datetime) -> None:
        """Create the latch of a new account, active; a stored one stays as it is."""
        first = HaltRow(state=HaltState.ACTIVE, reason="new account", actor="store", at=at)
        insert_new(self._transaction, halts, [row_of(first, account_id=account_id)])

    def set(  # one row with these columns
        self, account_id: str, state: HaltState | str, reason: str, actor: str, at: datetime
    ) -> None:
        """Set the latch and append the event; who may loosen it is the caller's to decide."""
        row = HaltRow(state=HaltState(state), reason=reason, actor=actor, at=at)
        upsert(self._transaction, halts, [row_of(row, account_id=account_id)])
        self._transaction.write(insert(halt_events), row_of(row, account_id=account_id))
