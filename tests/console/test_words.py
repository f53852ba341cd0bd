"""Words of the desk: a reason reads as a person would say it."""

import pytest

from include.console.words import decision_words
from include.domain.decisions import Decision, Reason
from tests.console.desk_samples import a_row


@pytest.mark.parametrize(
    ("detail", "words"),
    [
        (
            "closed: the market is closed, opens 2010-03-09 14:30 UTC",
            "the market is closed, opens",
        ),
        ("stale: the newest bar is old", "refused: stale: the newest bar is old"),
        ("", "refused: no usable quote"),
    ],
)
def test_closed_market_is_no_refusal_of_data(detail, words):
    """A closed market is said plainly; bad data is called refused."""
    row = a_row(decision=Decision.NONE, reason=Reason.BLOCKED_DATA, detail=detail)
    assert decision_words(row).startswith(words)
