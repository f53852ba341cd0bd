"""What a venue's order means for its journal row."""

import pytest

from include.broker.settle import settled
from include.domain.orders import TERMINAL_STATUSES, IntentState
from tests.support.builders import a_working_order


@pytest.mark.parametrize("status", sorted(TERMINAL_STATUSES - {"rejected"}))
def test_terminal_words_end_the_row(status):
    """Filled, cancelled, expired and replaced orders are over."""
    assert settled(a_working_order(status=status)) is IntentState.TERMINAL


def test_a_late_rejection_rejects_the_row():
    """A rejection that comes after the 200 is a rejection."""
    assert settled(a_working_order(status="rejected")) is IntentState.REJECTED


@pytest.mark.parametrize(
    "status",
    ["new", "accepted", "pending_new", "partially_filled", "pending_cancel", "done_for_day",
     "held", "levitating"],
)  # fmt: skip
def test_every_other_word_means_that_the_order_works(status):
    """Pending cancels and unknown words are never read as the end."""
    assert settled(a_working_order(status=status)) is IntentState.ACKED
