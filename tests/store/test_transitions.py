"""Which changes a journal row allows."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from include.domain.orders import IntentState, OrderIntent
from include.errors import ConflictingWrite
from include.store.transitions import ALLOWED, Report, transitioned
from tests.support.builders import AS_OF, a_desired_order

DESIRED = a_desired_order()
INTENT = OrderIntent(
    client_order_id="client-1",
    cycle_id="cycle",
    account_id="A",
    symbol="AAPL",
    leg=DESIRED.leg,
    side=DESIRED.side,
    quantity=Decimal(10),
    limit_price=Decimal("99.00"),
    time_in_force=DESIRED.time_in_force,
    window_opens_at=DESIRED.window_opens_at,
    window_ends_at=DESIRED.window_ends_at,
    revision=0,
    standing=DESIRED.standing,
    strategy="maxdiff",
)
LATER = AS_OF + timedelta(seconds=5)
EXPECTED = {
    "planned": {"sent", "terminal"},
    "sent": {"acked", "unknown", "rejected", "terminal"},
    "unknown": {"acked", "rejected", "terminal", "sent"},
    "acked": {"acked", "terminal", "rejected"},
    "rejected": set(),
    "terminal": {"terminal"},
}
QUANTITIES = st.none() | st.integers(0, 10).map(Decimal)
REPORTS = st.builds(
    Report,
    to=st.sampled_from(IntentState),
    at=st.just(LATER),
    venue_status=st.none() | st.sampled_from(["new", "partially_filled", "filled"]),
    filled_quantity=QUANTITIES,
)


@pytest.mark.parametrize("to", IntentState)
@pytest.mark.parametrize("state", IntentState)
def test_only_the_listed_transitions_are_allowed(state, to):
    """Every pair of states is either in the list, or refused with both words."""
    before = replace(INTENT, state=state)
    report = Report(to=to, at=LATER, filled_quantity=Decimal(1))
    if to.value in EXPECTED[state.value]:
        assert transitioned(before, report).state is to
    else:
        with pytest.raises(ConflictingWrite, match=f"client-1 .*: {state} can't become {to}"):
            transitioned(before, report)


def test_report_that_says_nothing_new_gives_the_row_itself():
    """What was reported before changes nothing, in any state."""
    for state in IntentState:
        before = replace(INTENT, state=state, venue_status="new", filled_quantity=Decimal(3))
        assert transitioned(before, Report(to=state, at=LATER)) is before
        same = Report(to=state, at=LATER, venue_status="new", filled_quantity=Decimal("3.0"))
        assert transitioned(before, same) is before


def test_first_sending_is_stamped_and_a_second_one_keeps_the_stamp():
    """An order that is sent again after no answer keeps the instant of the first call."""
    sent = transitioned(INTENT, Report(to=IntentState.SENT, at=AS_OF))
    assert sent.sent_at == AS_OF
    unknown = transitioned(sent, Report(to=IntentState.UNKNOWN, at=LATER))
    assert transitioned(unknown, Report(to=IntentState.SENT, at=LATER)).sent_at == AS_OF


def test_terminal_row_takes_only_a_growing_filled_quantity():
    """A late fill is taken in; another word for the same end is not."""
    done = replace(
        INTENT, state=IntentState.TERMINAL, venue_status="canceled", filled_quantity=Decimal(3)
    )
    late = Report(to=IntentState.TERMINAL, at=LATER, filled_quantity=Decimal(4))
    assert transitioned(done, late).filled_quantity == 4
    with pytest.raises(ConflictingWrite, match="only when more was filled"):
        transitioned(done, Report(to=IntentState.TERMINAL, at=LATER, venue_status="expired"))


@given(st.lists(REPORTS, max_size=8))
def test_filled_quantity_never_falls_and_an_end_is_an_end(reports):
    """Whatever is reported in whatever order, fills only grow and no closed row opens again."""
    intent = INTENT
    for report in reports:
        try:
            after = transitioned(intent, report)
        except ConflictingWrite:
            continue
        assert after.filled_quantity >= intent.filled_quantity
        if intent.state in (IntentState.TERMINAL, IntentState.REJECTED):
            assert after.state is intent.state
        intent = after


def test_every_state_has_its_list():
    """A state that is added to the enum must be given its transitions."""
    assert set(ALLOWED) == set(IntentState)
