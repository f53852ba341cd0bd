"""Money: multiples of a step on the stated side, decimals without binary tails."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from include.domain.money import decimal_of, difference_bps, round_down_to, round_up_to

STEPS = st.sampled_from([Decimal("0.0001"), Decimal("0.01"), Decimal("0.05"), Decimal(1)])
VALUES = st.decimals("0.0001", "100000", places=6)


@given(value=VALUES, step=STEPS)
def test_rounding_gives_the_neighbouring_multiples(value, step):
    """Down is at most the value, up at least, both multiples, less than a step away."""
    down, up = round_down_to(value, step), round_up_to(value, step)
    assert down <= value <= up
    assert value - down < step
    assert up - value < step
    assert down % step == up % step == 0


@given(value=VALUES, step=STEPS)
def test_a_multiple_stays_what_it_is(value, step):
    """Rounding twice is rounding once."""
    rounded = round_down_to(value, step)
    assert round_down_to(rounded, step) == round_up_to(rounded, step) == rounded


@given(value=st.floats(-1e9, 1e9))
def test_decimals_read_back_as_the_float(value):
    """The shortest decimal, not the float's binary tail."""
    assert float(decimal_of(value)) == value


def test_decimals_have_no_binary_tail():
    """0.1 is 0.1."""
    assert decimal_of(0.1) == Decimal("0.1")


@pytest.mark.parametrize(("value", "bps"), [("100.5", "50"), ("99", "-100"), ("100", "0")])
def test_difference_is_relative_to_the_reference(value, bps):
    """(value - reference) / reference x 10,000."""
    assert difference_bps(Decimal(value), Decimal(100)) == Decimal(bps)
