"""Exposure: what positions, working orders and allowed orders add up to."""

from decimal import Decimal

from include.domain.orders import Leg, Side
from include.strategy.exposure import opening_exposure
from tests.support.builders import a_desired_order, a_position, a_working_order

NO_CRYPTO: frozenset[str] = frozenset()


def test_longs_and_shorts_add_up():
    """Gross counts both sides; short counts one; symbols are kept apart."""
    positions = [a_position(quantity="10"), a_position(symbol="MSFT", quantity="-5")]
    exposure = opening_exposure([], positions, [], NO_CRYPTO)
    assert (exposure.gross_usd, exposure.short_usd) == (Decimal(1500), Decimal(500))
    assert exposure.of_symbol_usd("MSFT") == Decimal(500)


def test_both_spellings_of_a_pair_are_one_symbol():
    """A position in BTCUSD and an order in BTC/USD are the same exposure."""
    exposure = opening_exposure(
        [], [a_position(symbol="BTCUSD")], [a_working_order(symbol="BTC/USD")],
        frozenset({"BTCUSD"}),
    )  # fmt: skip
    assert exposure.of_symbol_usd("BTC/USD") == exposure.crypto_usd == Decimal(1990)


def test_a_working_exit_is_no_exposure():
    """A sell against a long reduces; without the long it adds."""
    sell = a_working_order(side=Side.SELL)
    closing = opening_exposure([], [a_position()], [sell], NO_CRYPTO)
    opening = opening_exposure([], [], [sell], NO_CRYPTO)
    assert closing.gross_usd == Decimal(1000)
    assert opening.short_usd == Decimal(990)


def test_only_what_is_left_of_a_working_order_counts():
    """A partly filled order counts its rest; the filled part is a position."""
    exposure = opening_exposure([], [], [a_working_order(filled_quantity=Decimal(4))], NO_CRYPTO)
    assert exposure.gross_usd == Decimal(594)


def test_an_order_to_be_replaced_releases_its_buying_power():
    """It is not counted beside its replacement, and a working exit releases nothing."""
    entry = a_desired_order()
    replaced = opening_exposure([entry], [], [a_working_order()], NO_CRYPTO)
    assert (replaced.gross_usd, replaced.released_usd) == (Decimal(0), Decimal(990))
    short = a_desired_order(leg=Leg.ENTRY_SHORT, side=Side.SELL)
    held = opening_exposure([short], [a_position()], [a_working_order(side=Side.SELL)], NO_CRYPTO)
    assert held.released_usd == Decimal(0)


def test_adding_an_order_leaves_the_exposure_before_it_as_it_was():
    """`plus` returns another value; shorts reserve 3 % more than their price."""
    before = opening_exposure([], [], [], NO_CRYPTO)
    after = before.plus(a_desired_order(leg=Leg.ENTRY_SHORT, side=Side.SELL))
    assert (before.n_orders, before.gross_usd, dict(before.by_symbol_usd)) == (0, Decimal(0), {})
    assert (after.n_orders, after.gross_usd) == (1, Decimal(990))
    assert after.reserved_usd == Decimal("1019.70")
