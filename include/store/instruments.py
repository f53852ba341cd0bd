"""Instruments as the venue last described them."""

from collections.abc import Sequence
from datetime import datetime

from include.domain.instruments import Instrument
from include.store.rows import any_of, keyed, row_of, select_fields, upsert, values_of
from include.store.schema import instruments
from include.store.transaction import Transaction


class InstrumentRepository:
    """Instruments by symbol."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def save_all(self, seen: Sequence[Instrument], seen_at: datetime) -> None:
        """Store instruments; what is stored of a symbol is replaced."""
        unique = keyed(seen, "symbol")
        rows = [row_of(instrument, seen_at=seen_at) for instrument in unique.values()]
        upsert(self._transaction, instruments, rows)

    def by_symbols(self, symbols: Sequence[str]) -> dict[str, Instrument]:
        """Return the instruments that are stored of the symbols."""
        statement = select_fields(instruments, Instrument).where(
            instruments.c.symbol == any_of(symbols)
        )
        return keyed(values_of(self._transaction, statement, Instrument), "symbol")
