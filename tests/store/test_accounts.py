"""Account snapshots, the equity curve, and the day's first equity."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from tests.support.builders import AS_OF, a_position, an_account

HOUR = timedelta(hours=1)


def test_snapshot_comes_back_with_its_positions_by_symbol(uow):
    """A short position keeps its sign; the first snapshot of a cycle stays."""
    account = an_account(equity_usd=Decimal("99999.90"))
    positions = [a_position(symbol="T", quantity="-3"), a_position(symbol="BA")]
    uow.accounts.save_snapshot("cycle", account, positions, AS_OF)
    uow.accounts.save_snapshot("cycle", an_account(), [a_position(symbol="C")], AS_OF + HOUR)
    assert uow.accounts.snapshot("cycle") == (account, positions[::-1])


def test_cycle_without_a_snapshot_has_none(uow):
    """Nothing is made up for a cycle that never reached its account."""
    assert uow.accounts.snapshot("none") is None


def test_account_without_positions_has_an_empty_list(uow):
    """Cash alone is a snapshot too."""
    uow.accounts.save_snapshot("cycle", an_account(), [], AS_OF)
    assert uow.accounts.snapshot("cycle") == (an_account(), [])


def test_equity_curve_is_the_newest_points_oldest_first(uow):
    """The limit cuts the oldest; an account can be asked for alone."""
    for place in range(4):
        account = replace(an_account(), equity_usd=Decimal(100 + place))
        uow.accounts.save_snapshot(f"c{place}", account, [], AS_OF + place * HOUR)
    uow.accounts.save_snapshot("b", an_account(account_id="B"), [], AS_OF + 9 * HOUR)
    last = (AS_OF + 9 * HOUR, Decimal(100_000))
    own = [(AS_OF + place * HOUR, Decimal(100 + place)) for place in (2, 3)]
    assert uow.accounts.equity_curve(3) == [*own, last]
    assert uow.accounts.equity_curve(2, "account") == own


def test_day_start_equity_is_the_first_at_or_after_the_instant(uow):
    """A day without a snapshot yet has none."""
    for place in range(3):
        account = replace(an_account(), equity_usd=Decimal(100 + place))
        uow.accounts.save_snapshot(f"c{place}", account, [], AS_OF + place * HOUR)
    assert uow.accounts.day_start_equity("account", AS_OF) == 100
    assert uow.accounts.day_start_equity("account", AS_OF + timedelta(seconds=1)) == 101
    assert uow.accounts.day_start_equity("account", AS_OF + 3 * HOUR) is None
    assert uow.accounts.day_start_equity("B", AS_OF) is None
