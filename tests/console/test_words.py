"""Values in words: signs, units, dashes for what is absent, and a sentence for every reason."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from include.console import words
from include.domain.decisions import Outcome, Reason
from tests.console.desk_samples import a_row, an_order

MINUS = words.MINUS


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (None, words.ABSENT),
        (Decimal("1234.5"), "+1,234.50"),
        (Decimal("-0.5"), f"{MINUS}0.50"),
        (Decimal(0), "0.00"),
        (Decimal("-0.001"), "0.00"),
    ],
)
def test_a_gain_has_its_sign_and_zero_has_none(amount, text):
    """A loss is told by its sign and not by colour alone."""
    assert words.signed_usd(amount) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, words.ABSENT),
        (91234.5, "91,234.50"),
        (10.0, "10.00"),
        (9.87654, "9.8765"),
        (Decimal("0.5"), "0.5000"),
    ],
)
def test_a_low_price_keeps_its_ticks(value, text):
    """Below 10 USD a cent is too coarse."""
    assert words.price(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Decimal("12.000000000"), "12"),
        (Decimal("0.0134"), "0.0134"),
        (Decimal(-3000), f"{MINUS}3,000"),
        (Decimal("1E+3"), "1,000"),
        (None, words.ABSENT),
    ],
)
def test_a_quantity_has_no_trailing_zeros(value, text):
    """Shares read as whole numbers, coins with the decimals they have."""
    assert words.quantity(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0 s"), (59.4, "59 s"), (60.0, "1 min"), (3599.0, "59 min"), (12_000.0, "3 h 20 min")],
)
def test_an_age_reads_in_units_that_say_something(value, text):
    """Seconds below a minute, minutes below an hour."""
    assert words.age(value) == text


def test_new_york_follows_daylight_saving():
    """The same UTC hour reads differently in June and in November."""
    summer, winter = (datetime(2026, month, 3, 15, 30, tzinfo=UTC) for month in (6, 11))
    assert words.instant_new_york(summer) == "Wed 11:30 EDT"
    assert words.instant_new_york(winter) == "Tue 10:30 EST"


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_is_a_sentence(reason):
    """No reason reaches a reader as a code, whatever numbers are absent."""
    bare = a_row(reason=reason, move_fraction=None, threshold_fraction=None, detail="")
    for row in (a_row(reason=reason), bare):
        text = words.decision_words(row)
        assert text.split(":")[0] in ("predicted", "kept", "refused")
        assert "None" not in text


@pytest.mark.parametrize("outcome", [*Outcome, None])
def test_every_outcome_has_words(outcome):
    """An outcome that is added must be given its words."""
    assert isinstance(words.outcome_words(a_row(outcome=outcome)), str)


def test_an_order_reads_as_a_trader_says_it():
    """Side, quantity, price and purpose; then where it stands, in our word and the venue's."""
    order = an_order(side="sell", leg="flatten", limit_price=None, filled_quantity=Decimal(4))
    assert words.order_words(order) == "sell 12 at the market, flatten"
    assert words.order_state_words(order) == "acked (new) · filled 4 · probe"
    assert words.order_words(an_order(leg="hedge")).endswith("hedge")
