"""Fixtures of the store's tests: one stored cycle to hang rows on."""

import pytest

from include.domain.cycles import Cycle
from include.store.unit_of_work import UnitOfWork
from tests.support.builders import AS_OF


@pytest.fixture
def cycle_id(uow: UnitOfWork) -> str:
    """Give the id of a cycle that the open unit of work has saved."""
    uow.cycles.save(Cycle(cycle_id="cycle", as_of=AS_OF, account_id="A", settings_hash="hash"))
    return "cycle"
