"""Risk: the facts that the limits see, read in the transaction that writes the journal."""

from dataclasses import replace
from decimal import Decimal

import pytest

from include.domain.choices import Choice
from include.domain.halts import HaltState
from include.domain.orders import DesiredOrder, Leg, Side, Standing
from include.errors import UnknownRow
from include.pipeline.risk import allowed_orders, risk_limits
from include.store.unit_of_work import UnitOfWork
from tests.support.builders import (
    AS_OF,
    a_coin,
    a_desired_order,
    a_position,
    a_quote,
    a_working_order,
    an_account,
    an_instrument,
)
from tests.support.builders_pipeline import a_cycle

CYCLE = a_cycle(symbols=("AAPL", "BTC/USD"))
COIN = a_desired_order(
    symbol="BTC/USD", quantity=Decimal(3), limit_price=Decimal("99.00"), take_profit_price=None
)
EXIT = a_desired_order(leg=Leg.EXIT, side=Side.SELL, limit_price=Decimal("102.00"))


def a_choice(order: DesiredOrder) -> Choice:
    """Return the choice behind an entry: three percent to gain."""
    return Choice(
        symbol=order.symbol,
        strategy="maxdiff",
        standing=Standing.PROVEN,
        side=1,
        entry_price=99.0,
        take_profit_price=None,
        expected_exit_price=102.0,
        reason="proven",
        weight_fraction=0.01,
    )


def prepared(
    uow: UnitOfWork, *positions, cash: int = 100_000, account_id: str = CYCLE.account_id
) -> None:
    """Store a cycle with account, positions, instruments, quotes and choices."""
    uow.cycles.save(CYCLE)
    account = an_account(cash_usd=Decimal(cash), buying_power_usd=Decimal(cash))
    uow.accounts.save_snapshot(CYCLE.cycle_id, account, list(positions), AS_OF)
    uow.halts.ensure(account_id, AS_OF)
    coins = [a_coin(), a_coin(symbol="ETH/USD")]
    uow.instruments.save_all([an_instrument(), *coins], seen_at=AS_OF)
    uow.quotes.save_all(CYCLE.cycle_id, [a_quote(), a_quote(symbol="BTC/USD")])
    uow.strategies.save_choices(CYCLE.cycle_id, [a_choice(a_desired_order()), a_choice(COIN)])


def reasons(uow: UnitOfWork, *orders: DesiredOrder, settings) -> list[str]:
    """Return why the orders are denied."""
    return [each.reason for each in allowed_orders(uow, CYCLE, orders, settings)[1]]


def test_orders_within_every_limit_are_allowed(uow, settings):
    """A sized entry of each class passes, with nothing denied."""
    prepared(uow)
    assert allowed_orders(uow, CYCLE, [a_desired_order(), COIN], settings)[1] == []


def test_account_that_was_never_reconciled_is_not_traded(uow, settings):
    """Without a snapshot of the cycle there is no exposure to speak of."""
    uow.cycles.save(CYCLE)
    with pytest.raises(UnknownRow, match="account snapshot"):
        allowed_orders(uow, CYCLE, [a_desired_order()], settings)


def test_account_without_a_latch_counts_as_halted(uow, settings):
    """Nothing trades on an account that nobody set up."""
    prepared(uow, account_id="another account")
    assert reasons(uow, a_desired_order(), settings=settings) == ["halted"]


def test_reducing_account_closes_and_does_not_open(uow, settings):
    """While only reductions are allowed, the exit passes and the entry does not."""
    prepared(uow, a_position())
    uow.halts.set(CYCLE.account_id, HaltState.REDUCING, "drawdown", "watch", AS_OF)
    allowed, denied = allowed_orders(uow, CYCLE, [EXIT, COIN], settings)
    assert allowed == [EXIT]
    assert [each.reason for each in denied] == ["halted"]


def test_coins_that_no_order_is_for_count_against_the_cap_of_coins(uow, settings):
    """A position of another coin uses up the share of equity that coins may have."""
    prepared(uow, a_position(symbol="ETH/USD", quantity="299", price="100"))
    assert reasons(uow, COIN, settings=settings) == ["crypto_cap"]


def test_orders_of_others_count_against_the_gross_cap(uow, make_settings):
    """A working order that we did not send takes room all the same."""
    prepared(uow)
    foreign = a_working_order(symbol="TSLA", quantity=Decimal(95), limit_price=Decimal(100))
    uow.orders.save_orders([foreign], seen_at=AS_OF)
    settings = make_settings(PORTFOLIO__GROSS_CAP_FRACTION="0.1")
    assert reasons(uow, a_desired_order(), settings=settings) == ["gross_cap"]


def test_caps_never_block_an_exit(uow, make_settings):
    """The order that closes a holding passes caps that would stop any entry."""
    prepared(uow, a_position(), cash=0)
    settings = make_settings(
        PORTFOLIO__GROSS_CAP_FRACTION="0.0001", PORTFOLIO__ORDER_CAP_FRACTION="0.0001"
    )
    assert allowed_orders(uow, CYCLE, [EXIT], settings) == ([EXIT], [])


def test_exit_beyond_the_position_is_denied(uow, settings):
    """An exit of more than the venue holds is refused with both quantities."""
    prepared(uow, a_position(quantity="4"))
    (denied,) = allowed_orders(uow, CYCLE, [EXIT], settings)[1]
    assert (denied.reason, denied.found, denied.bound) == ("exit_exceeds_position", "10", "4")


def test_thin_plan_is_denied_with_its_edge(uow, settings):
    """The expected exit of the stored choice decides whether an entry is worth its costs."""
    prepared(uow)
    thin = replace(a_choice(COIN), symbol="ETH/USD", expected_exit_price=99.1)
    uow.strategies.save_choices(CYCLE.cycle_id, [thin])
    uow.quotes.save_all(CYCLE.cycle_id, [a_quote(symbol="ETH/USD")])
    assert reasons(uow, replace(COIN, symbol="ETH/USD"), settings=settings) == ["edge"]


def test_bounds_are_those_of_the_settings(make_settings):
    """Caps, bands and spreads of the limits are the settings' own."""
    settings = make_settings(
        PORTFOLIO__PRICE_BAND_FRACTION="0.05", DATA__MAX_CRYPTO_SPREAD_BPS="44"
    )
    limits = risk_limits(settings)
    assert (limits.price_band_fraction, limits.max_crypto_spread_bps) == (0.05, 44)
