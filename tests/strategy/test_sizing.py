"""Sizes: weight from risk, quantity from weight, nothing as a denial."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from include.domain.choices import Choice
from include.domain.orders import Standing
from include.domain.strategies import Denied
from include.strategy.denials import DenialReason
from include.strategy.sizing import SizingLimits, entry_quantity, proven_weight_fraction
from tests.support.builders import a_coin, an_instrument

LIMITS = SizingLimits()


def a_choice(*, standing=Standing.PROVEN, side=1, weight_fraction=0.05):
    """Return a proven long of 5 %."""
    return Choice(
        symbol="AAPL", strategy="maxdiff", standing=standing, side=side, entry_price=99.0,
        take_profit_price=None, reason="", weight_fraction=weight_fraction,
    )  # fmt: skip


def quantity(choice, instrument=None, *, price="99", equity="100000"):
    """Return the size of a choice in an account of 100,000 USD."""
    return entry_quantity(
        choice, instrument or an_instrument(), price_usd=Decimal(price),
        equity_usd=Decimal(equity), limits=LIMITS,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("annual_volatility", "weight"),
    [(0.10, 0.10), (0.50, 0.0632456), (float("nan"), 0.0), (0.0, 0.0), (float("inf"), 0.0)],
)
def test_weight_is_the_risk_share_up_to_the_cap(annual_volatility, weight):
    """10 % a year over sqrt(10) positions, capped; unknown volatility gets nothing."""
    assert proven_weight_fraction(annual_volatility, LIMITS) == pytest.approx(weight, abs=1e-6)


def test_rounds_down_to_whole_shares():
    """5 % of 100,000 USD at 99 USD buys 50 shares, not 50.5."""
    assert quantity(a_choice()) == Decimal(50)


def test_a_probe_has_its_own_notional():
    """300 USD at 99 USD are 3 shares, whatever the weight."""
    assert quantity(a_choice(standing=Standing.PROBE, weight_fraction=0.0)) == Decimal(3)


def test_a_probe_never_exceeds_the_symbol_cap():
    """On a small account the cap binds before the probe's notional."""
    probe = a_choice(standing=Standing.PROBE, weight_fraction=0.0)
    assert quantity(probe, equity="2000") == Decimal(2)


def test_shorts_are_whole_shares_even_of_fractionable_symbols():
    """Fractional quantities are never short."""
    fine = an_instrument(
        is_fractionable=True,
        quantity_increment=Decimal("0.001"),
        minimum_quantity=Decimal("0.001"),
    )
    assert quantity(a_choice(side=-1), fine) == Decimal(50)
    assert quantity(a_choice(side=1), fine) == Decimal("50.505")


@pytest.mark.parametrize(
    ("choice", "instrument", "price"),
    [
        (a_choice(), an_instrument(), "6000"),
        (a_choice(weight_fraction=0.0), an_instrument(), "99"),
        (a_choice(weight_fraction=0.00005), a_coin(), "100"),  # 5 USD of crypto
    ],
)
def test_too_little_is_a_denial(choice, instrument, price):
    """Less than the minimum quantity, or 10 USD of crypto, is denied with the bound."""
    found = quantity(choice, instrument, price=price)
    assert isinstance(found, Denied)
    assert found.reason == DenialReason.SIZE_BELOW_MINIMUM


@given(
    weight=st.floats(0.0, 0.5),
    price=st.decimals("0.5", "5000", places=2),
    side=st.sampled_from([-1, 1]),
)
def test_never_exceeds_weight_or_cap(weight, price, side):
    """Quantity times price stays within the weight and the symbol cap, on the increment."""
    found = quantity(a_choice(weight_fraction=weight, side=side), price=str(price))
    if not isinstance(found, Denied):
        assert found * price <= Decimal(repr(min(weight, 0.10))) * 100_000
        assert found == found.to_integral_value()
