"""Halt and resume: the latch that stops all sending, set and lifted by a person with a reason.

`trade` reads the latch in the transaction that writes the journal, so no order passes a set one.
"""

from datetime import datetime

from include.domain.halts import HaltState
from include.errors import UnknownRow
from include.pipeline.wiring.store import open_database
from include.store.unit_of_work import UnitOfWork


def set_latch(
    uow: UnitOfWork, state: HaltState, *, reason: str, actor: str, at: datetime
) -> HaltState:
    """Set the latch of the latest cycle's account and return it; the caller commits.

    Raise UnknownRow where no cycle has named an account yet.
    """
    cycle = uow.cycles.latest()
    if cycle is None:
        raise UnknownRow(kind="account", key="the latest cycle's")
    uow.halts.set(cycle.account_id, state, reason, actor, at)
    return uow.halts.state(cycle.account_id).state


def run(*, is_halted: bool, reason: str, actor: str, at: datetime) -> str:
    """Halt or resume this installation's account; return the latch's state in a word."""
    wanted = HaltState.HALTED if is_halted else HaltState.ACTIVE
    with open_database().unit_of_work() as uow:
        state = set_latch(uow, wanted, reason=reason, actor=actor, at=at)
        uow.commit()
    return state.value
