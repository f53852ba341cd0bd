"""The venue's calendar: its sessions as last seen."""

from collections.abc import Sequence
from datetime import date, datetime

from include.domain.sessions import Session
from include.store.rows import row_of, select_fields, upsert, values_of
from include.store.schema import sessions
from include.store.transaction import Transaction


class CalendarRepository:
    """Sessions of the venue by date."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def save_sessions(self, seen: Sequence[Session], seen_at: datetime) -> None:
        """Store sessions; what is stored of a date is replaced."""
        unique = {session.session_date: session for session in seen}
        rows = [row_of(session, seen_at=seen_at) for session in unique.values()]
        upsert(self._transaction, sessions, rows)

    def sessions_between(self, start: date, end: date) -> list[Session]:
        """Return the sessions of [start, end), oldest first."""
        statement = (
            select_fields(sessions, Session)
            .where(sessions.c.session_date >= start, sessions.c.session_date < end)
            .order_by(sessions.c.session_date)
        )
        return values_of(self._transaction, statement, Session)
