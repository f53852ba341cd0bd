"""Orders: ids that never change, sides, legs, and when an order is over."""

from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from include.domain.orders import Leg, OrderType, Side, client_order_id
from tests.support.builders import a_desired_order, a_working_order

OPENS_AT = datetime(2026, 11, 20, 14, 30, tzinfo=UTC)
PARTS = st.fixed_dictionaries(
    {
        "account_id": st.sampled_from(["a", "b"]),
        "window_opens_at": st.datetimes(timezones=st.just(UTC)),
        "symbol": st.sampled_from(["AAPL", "BTC/USD", "BTCUSD"]),
        "leg": st.sampled_from(Leg),
        "revision": st.integers(0, 50),
    }
)


def test_the_id_is_fixed_for_ever():
    """A stored id must be found again by every later version."""
    found = client_order_id(
        account_id="account", window_opens_at=OPENS_AT, symbol="AAPL", leg=Leg.ENTRY_LONG,
        revision=0,
    )  # fmt: skip
    assert found == "be33418b-4be4-5766-8f89-c425265442ef"


@given(first=PARTS, second=PARTS)
def test_the_same_order_has_the_same_id_and_no_other_has(first, second):
    """Account, window, symbol, leg and revision are the identity, all of it."""
    assert (client_order_id(**first) == client_order_id(**second)) == (first == second)


@given(parts=PARTS)
def test_ids_fit_the_venue(parts):
    """A UUIDv5 of 36 characters."""
    found = client_order_id(**parts)
    assert len(found) == 36
    assert UUID(found).version == 5


@pytest.mark.parametrize("side", Side)
def test_opposites_are_mutual(side):
    """The opposite of the opposite is the side."""
    assert side.opposite is not side
    assert side.opposite.opposite is side


def test_only_entries_add_exposure():
    """Exits and flattening do not."""
    assert {leg for leg in Leg if leg.is_entry} == {Leg.ENTRY_LONG, Leg.ENTRY_SHORT}


def test_a_price_makes_a_limit():
    """No price, a market order."""
    assert a_desired_order(limit_price=Decimal(1)).order_type is OrderType.LIMIT
    assert a_desired_order(limit_price=None).order_type is OrderType.MARKET


@pytest.mark.parametrize(
    ("status", "is_terminal"),
    [("filled", True), ("canceled", True), ("expired", True), ("rejected", True),
     ("replaced", True), ("new", False), ("partially_filled", False), ("pending_cancel", False),
     ("a word of tomorrow", False)],
)  # fmt: skip
def test_five_words_end_an_order(status, is_terminal):
    """Anything else still works, words that nobody knows included."""
    assert a_working_order(status=status).is_terminal is is_terminal
