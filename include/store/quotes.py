"""What a cycle saw of each symbol besides bars: its quote, or why its data was refused."""

from collections.abc import Mapping, Sequence

from sqlalchemy import select

from include.domain.quotes import Quote
from include.store.rows import insert_new, keyed, row_of, select_fields, values_of
from include.store.schema import data_refusals, quotes
from include.store.transaction import Transaction


class QuoteRepository:
    """One quote per cycle and symbol; the first one stays."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def save_all(self, cycle_id: str, seen: Sequence[Quote]) -> None:
        """Store quotes; nothing changes where the cycle has one of the symbol."""
        rows = [row_of(quote, cycle_id=cycle_id) for quote in seen]
        insert_new(self._transaction, quotes, rows)

    def by_cycle(self, cycle_id: str) -> dict[str, Quote]:
        """Return a cycle's quotes by symbol."""
        statement = (
            select_fields(quotes, Quote)
            .where(quotes.c.cycle_id == cycle_id)
            .order_by(quotes.c.symbol)
        )
        return keyed(values_of(self._transaction, statement, Quote), "symbol")


class RefusalRepository:
    """Why a cycle refused a symbol's data; the first reason stays."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def save_all(self, cycle_id: str, reasons: Mapping[str, str]) -> None:
        """Store reasons by symbol; nothing changes where the cycle has one of the symbol."""
        rows = [
            {"cycle_id": cycle_id, "symbol": symbol, "reason": reason}
            for symbol, reason in reasons.items()
        ]
        insert_new(self._transaction, data_refusals, rows)

    def by_cycle(self, cycle_id: str) -> dict[str, str]:
        """Return a cycle's refusals: reasons by symbol."""
        statement = (
            select(data_refusals.c.symbol, data_refusals.c.reason)
            .where(data_refusals.c.cycle_id == cycle_id)
            .order_by(data_refusals.c.symbol)
        )
        return {row["symbol"]: row["reason"] for row in self._transaction.rows(statement)}
