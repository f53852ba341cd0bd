"""What `optimise` leaves behind: scores, choices, desired orders and denials of a cycle.

Each list comes back in the order in which it was saved; the first save of a row stays.
"""

from collections.abc import Sequence

import numpy as np
from sqlalchemy import Table, select

from include.domain.choices import Choice
from include.domain.orders import DesiredOrder
from include.domain.strategies import Denied, ScoredStrategy
from include.store.rows import V, insert_new, row_of, select_fields, values_of
from include.store.schema import choices, denials, desired_orders, order_plans, strategy_scores
from include.store.transaction import Transaction


class StrategyRepository:
    """Scores, choices, desired orders and denials by cycle."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def save_scores(self, cycle_id: str, scores: Sequence[ScoredStrategy]) -> None:
        """Store scores with their returns; one a symbol and strategy."""
        rows = [
            row_of(score, cycle_id=cycle_id, returns=score.returns.tolist()) for score in scores
        ]
        insert_new(self._transaction, strategy_scores, rows)

    def scores(self, cycle_id: str) -> list[ScoredStrategy]:
        """Return a cycle's scores."""
        statement = (
            select_fields(strategy_scores, ScoredStrategy)
            .where(strategy_scores.c.cycle_id == cycle_id)
            .order_by(strategy_scores.c.entry_number)
        )
        return [
            ScoredStrategy(**{**row, "returns": np.array(row["returns"], dtype=np.float64)})
            for row in self._transaction.rows(statement)
        ]

    def save_choices(self, cycle_id: str, chosen: Sequence[Choice]) -> None:
        """Store choices; one a symbol."""
        self._save(choices, cycle_id, chosen)

    def choices(self, cycle_id: str) -> list[Choice]:
        """Return a cycle's choices."""
        return self._of_cycle(choices, cycle_id, Choice)

    def save_desired(self, cycle_id: str, desired: Sequence[DesiredOrder]) -> None:
        """Store desired orders; one a symbol and leg, whatever cycle the values name."""
        self._save(desired_orders, cycle_id, desired)

    def desired(self, cycle_id: str) -> list[DesiredOrder]:
        """Return a cycle's desired orders; see `is_planned` for an empty list."""
        return self._of_cycle(desired_orders, cycle_id, DesiredOrder)

    def mark_planned(self, cycle_id: str) -> None:
        """Store that the desired orders of a cycle are complete, even where there are none."""
        insert_new(self._transaction, order_plans, [{"cycle_id": cycle_id}])

    def is_planned(self, cycle_id: str) -> bool:
        """Tell whether the desired orders of a cycle are complete."""
        statement = select(order_plans.c.cycle_id).where(order_plans.c.cycle_id == cycle_id)
        return self._transaction.first(statement) is not None

    def save_denials(self, cycle_id: str, denied: Sequence[Denied]) -> None:
        """Store denials; one a symbol and reason."""
        self._save(denials, cycle_id, denied)

    def denials(self, cycle_id: str) -> list[Denied]:
        """Return a cycle's denials."""
        return self._of_cycle(denials, cycle_id, Denied)

    def _save(
        self, table: Table, cycle_id: str, values: Sequence[Choice | DesiredOrder | Denied]
    ) -> None:
        rows = [row_of(value, cycle_id=cycle_id) for value in values]
        insert_new(self._transaction, table, rows)

    def _of_cycle(self, table: Table, cycle_id: str, kind: type[V]) -> list[V]:
        statement = (
            select_fields(table, kind)
            .where(table.c.cycle_id == cycle_id)
            .order_by(table.c.entry_number)
        )
        return values_of(self._transaction, statement, kind)
