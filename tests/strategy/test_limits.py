"""Limits: every refusal by itself, and that no set of allowed orders exceeds a cap."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from include.domain.halts import HaltState
from include.domain.instruments import AssetClass
from include.domain.orders import Leg, Side, Standing
from include.strategy.costs import trade_costs
from include.strategy.denials import DenialReason
from include.strategy.limits import RiskContext, RiskLimits, SymbolFacts, allow_orders
from tests.support.builders import (
    AS_OF,
    a_coin,
    a_desired_order,
    a_position,
    a_quote,
    a_working_order,
    an_account,
    an_instrument,
    some_levels,
)

LIMITS = RiskLimits()


def facts_of(symbol="AAPL", **overrides):
    """Return what the checks know of a liquid equity."""
    facts = SymbolFacts(
        instrument=an_instrument(symbol=symbol),
        quote=a_quote(symbol=symbol),
        costs=trade_costs(AssetClass.EQUITY, 2.0),
        levels=some_levels(),
    )
    return replace(facts, **overrides)


def a_context(**overrides):
    """Return an account without positions that knows AAPL."""
    context = RiskContext(
        as_of=AS_OF, halt=HaltState.ACTIVE, account=an_account(), facts={"AAPL": facts_of()}
    )
    return replace(context, **overrides)


def refusal(order, context=None, limits=LIMITS):
    """Return the reason of the only candidate's denial, None when it is allowed."""
    allowed, denied = allow_orders([order], context or a_context(), limits)
    assert len(allowed) + len(denied) == 1
    return denied[0].reason if denied else None


def an_exit(**overrides):
    """Return an exit of 10 shares at 102 USD."""
    order = a_desired_order(leg=Leg.EXIT, side=Side.SELL, limit_price=Decimal("102.00"))
    return replace(order, **overrides)


def a_short(**overrides):
    """Return a short entry at 102 USD with a take-profit at 99."""
    order = a_desired_order(
        leg=Leg.ENTRY_SHORT, side=Side.SELL, limit_price=Decimal("102.00"),
        take_profit_price=Decimal("99.00"),
    )  # fmt: skip
    return replace(order, **overrides)


SHORT_LEVELS = some_levels(side=-1, entry=102.0, take_profit=99.0, expected_exit=99.0)


def test_allows_an_entry_within_all_limits():
    """Long and short entries that break nothing pass."""
    assert refusal(a_desired_order()) is None
    context = a_context(facts={"AAPL": facts_of(levels=SHORT_LEVELS)})
    assert refusal(a_short(), context) is None


@pytest.mark.parametrize(
    ("reason", "context"),
    [
        ("halted", {"halt": HaltState.REDUCING}),
        ("halted", {"halt": HaltState.HALTED}),
        ("account_blocked", {"account": an_account(is_blocked=True)}),
        ("daily_loss", {"account": an_account(equity_usd=Decimal(97_000))}),
        ("not_tradable", {"facts": {}}),
        (
            "not_tradable",
            {"facts": {"AAPL": facts_of(instrument=an_instrument(is_tradable=False))}},
        ),
        ("no_quote", {"facts": {"AAPL": facts_of(quote=None)}}),
        ("no_quote", {"facts": {"AAPL": facts_of(quote=a_quote(bid=100.0, ask=99.9))}}),
        ("no_quote", {"facts": {"AAPL": facts_of(quote=a_quote(bid=0.0))}}),
        (
            "stale_quote",
            {"facts": {"AAPL": facts_of(quote=a_quote(at=AS_OF - timedelta(seconds=61)))}},
        ),
        ("spread", {"facts": {"AAPL": facts_of(quote=a_quote(bid=99.8, ask=100.2))}}),
        ("price_band", {"facts": {"AAPL": facts_of(quote=a_quote(bid=110.9, ask=111.0))}}),
        ("edge", {"facts": {"AAPL": facts_of(levels=some_levels(expected_exit=99.1))}}),
        ("wash_trade", {"working_orders": [
            a_working_order(side=Side.SELL, limit_price=Decimal("98.50"))]}),
        ("wash_trade", {"working_orders": [a_working_order(side=Side.SELL, limit_price=None)]}),
        ("symbol_cap", {"positions": [a_position(quantity="91")]}),
        ("gross_cap", {"positions": [a_position(symbol="MSFT", quantity="-991")]}),
        ("buying_power", {"account": an_account(buying_power_usd=Decimal(989))}),
    ],
)  # fmt: skip
def test_denies_an_entry_that_breaks_one_limit(reason, context):
    """Each limit refuses by itself, with its own code, and lets exits pass unless halted."""
    context = a_context(**context)
    assert refusal(a_desired_order(), context) == reason
    held = replace(context, positions=[*context.positions, a_position(symbol="IBM")])
    leaving = an_exit(symbol="IBM", limit_price=None)
    expected = "halted" if context.halt is HaltState.HALTED else None
    assert refusal(leaving, held) == expected


@pytest.mark.parametrize(
    ("reason", "order"),
    [
        ("no_limit_price", {"limit_price": None}),
        ("pair_too_close", {"take_profit_price": Decimal("99.05")}),
        ("order_notional", {"quantity": Decimal(102)}),
    ],
)
def test_denies_an_order_that_is_wrong_by_itself(reason, order):
    """No limit, a take-profit within the costs, or too large an order."""
    assert refusal(a_desired_order(**order)) == reason


def test_bounds_are_inclusive():
    """Exactly the cap, the quote's maximal age and the last order of a cycle are allowed."""
    context = a_context(
        facts={"AAPL": facts_of(quote=a_quote(at=AS_OF - timedelta(seconds=60)))},
        account=an_account(buying_power_usd=Decimal(9900)),
    )
    limits = RiskLimits(
        order_cap_fraction=0.099, symbol_cap_fraction=0.099, max_orders_per_cycle=1
    )
    assert refusal(a_desired_order(quantity=Decimal(100)), context, limits) is None


def test_a_denial_names_value_and_bound():
    """What was found, what is allowed, when, and how much was asked for."""
    _, (denied,) = allow_orders([a_desired_order(quantity=Decimal(102))], a_context(), LIMITS)
    assert (denied.found, denied.bound) == ("10098.00 USD", "10000.00 USD")
    assert (denied.symbol, denied.at, denied.quantity) == ("AAPL", AS_OF, Decimal(102))


def test_shorts_need_a_symbol_that_the_venue_lends():
    """An entry that sells is refused where the instrument is not shortable."""
    instrument = an_instrument(is_shortable=False)
    context = a_context(facts={"AAPL": facts_of(instrument=instrument, levels=SHORT_LEVELS)})
    assert refusal(a_short(), context) == DenialReason.NOT_TRADABLE


def test_shorts_and_crypto_have_caps_of_their_own():
    """30 % of equity may be short, 30 % in crypto, whatever the gross cap leaves."""
    short = a_context(
        positions=[a_position(symbol="MSFT", quantity="-295")],
        facts={"AAPL": facts_of(levels=SHORT_LEVELS)},
    )
    assert refusal(a_short(), short) == DenialReason.SHORT_CAP
    coin, quote = a_coin(), a_quote(symbol="BTC/USD")
    costs = trade_costs(AssetClass.CRYPTO, 2.0)
    facts = facts_of(instrument=coin, quote=quote, costs=costs)
    eth = facts_of(instrument=a_coin(symbol="ETH/USD"))
    crypto = a_context(
        positions=[a_position(symbol="ETHUSD", quantity="295")],
        facts={"BTC/USD": facts, "ETH/USD": eth},
    )
    assert refusal(a_desired_order(symbol="BTC/USD"), crypto) == DenialReason.CRYPTO_CAP


def test_crypto_is_paid_in_cash():
    """Margin buys no crypto."""
    facts = facts_of(instrument=a_coin(), costs=trade_costs(AssetClass.CRYPTO, 2.0))
    context = a_context(facts={"BTC/USD": facts}, account=an_account(cash_usd=Decimal(500)))
    assert refusal(a_desired_order(symbol="BTC/USD"), context) == DenialReason.BUYING_POWER


def test_an_exit_never_exceeds_the_position():
    """Exits close what is held, on its own side, once."""
    context = a_context(positions=[a_position(quantity="10")])
    assert refusal(an_exit(), context) is None
    assert refusal(an_exit(quantity=Decimal(11)), context) == DenialReason.EXIT_EXCEEDS_POSITION
    assert refusal(an_exit(side=Side.BUY), context) == DenialReason.EXIT_EXCEEDS_POSITION
    assert refusal(an_exit()) == DenialReason.EXIT_EXCEEDS_POSITION
    allowed, denied = allow_orders([an_exit(), an_exit(leg=Leg.FLATTEN)], context, LIMITS)
    assert (len(allowed), len(denied)) == (1, 1)


def test_exits_go_first_and_count_but_are_never_cut():
    """With one order a cycle both exits are sent and no entry."""
    context = a_context(
        positions=[a_position(), a_position(symbol="MSFT")],
        facts={"AAPL": facts_of(), "IBM": facts_of("IBM")},
    )
    orders = [a_desired_order(symbol="IBM"), an_exit(), an_exit(symbol="MSFT")]
    allowed, denied = allow_orders(orders, context, RiskLimits(max_orders_per_cycle=1))
    assert [order.leg for order in allowed] == [Leg.EXIT, Leg.EXIT]
    assert [no.reason for no in denied] == [DenialReason.ORDERS_PER_CYCLE]


def test_proven_entries_go_before_probes_and_by_rank():
    """When room is short it goes to proven symbols of higher rank."""
    facts = {s: facts_of(s, rank=rank) for s, rank in (("A", 2), ("B", 1), ("C", 0))}
    orders = [
        a_desired_order(symbol="A"),
        a_desired_order(symbol="B"),
        a_desired_order(symbol="C", standing=Standing.PROBE),
    ]
    allowed, _ = allow_orders(orders, a_context(facts=facts), LIMITS)
    assert [order.symbol for order in allowed] == ["B", "A", "C"]


def test_a_working_order_is_not_counted_beside_its_replacement():
    """The same entry in the next cycle is allowed although it works already."""
    working = a_working_order(quantity=Decimal(100))
    context = a_context(
        working_orders=[working], account=an_account(buying_power_usd=Decimal(100))
    )
    assert refusal(a_desired_order(quantity=Decimal(100)), context) is None
    elsewhere = replace(working, symbol="MSFT", quantity=Decimal(1005))
    assert refusal(a_desired_order(), a_context(working_orders=[elsewhere])) == "gross_cap"


def test_orders_that_are_done_count_for_nothing():
    """Terminal orders neither use caps nor block the other side."""
    done = a_working_order(
        side=Side.SELL, status="filled", limit_price=Decimal(90), quantity=Decimal(5000)
    )
    assert refusal(a_desired_order(), a_context(working_orders=[done])) is None


def cost_usd(orders):
    """Return what limit orders add up to."""
    return sum((order.quantity * (order.limit_price or 0) for order in orders), Decimal(0))


SYMBOLS = ("A", "B", "C", "D", "E")
entries = st.builds(
    lambda symbol, quantity, is_short, standing: (a_short if is_short else a_desired_order)(
        symbol=symbol, quantity=Decimal(quantity), standing=standing
    ),
    st.sampled_from(SYMBOLS),
    st.integers(1, 120),
    st.booleans(),
    st.sampled_from(Standing),
)


@given(
    orders=st.lists(entries, max_size=25),
    held=st.lists(st.integers(-60, 60).filter(bool), max_size=5),
    buying_power=st.integers(0, 120_000),
    random=st.randoms(use_true_random=False),
)
@settings(deadline=None)
def test_allowed_orders_never_exceed_the_limits_together(orders, held, buying_power, random):
    """Whatever is asked for, in any order, caps hold for the sum of what is allowed."""
    positions = [
        a_position(symbol=symbol, quantity=str(quantity))
        for symbol, quantity in zip(SYMBOLS, held, strict=False)
    ]
    facts = {
        order.symbol: facts_of(order.symbol, levels=SHORT_LEVELS if order.side is Side.SELL
                               else some_levels())
        for order in orders
    }  # fmt: skip
    context = a_context(
        positions=positions, facts=facts,
        account=an_account(buying_power_usd=Decimal(buying_power)),
    )  # fmt: skip
    limits = RiskLimits(max_orders_per_cycle=8, gross_cap_fraction=0.4, short_cap_fraction=0.2)
    allowed, denied = allow_orders(orders, context, limits)
    assert len(allowed) + len(denied) == len(orders)
    assert len(allowed) <= 8
    shorts = [order for order in allowed if order.side is Side.SELL]
    held_usd = sum(abs(p.market_value_usd) for p in positions)
    assert cost_usd(allowed) <= buying_power
    assert not allowed or cost_usd(allowed) + held_usd <= 40_000
    assert cost_usd(shorts) <= 20_000
    for symbol in SYMBOLS:
        mine = [order for order in allowed if order.symbol == symbol]
        was_usd = sum(abs(p.market_value_usd) for p in positions if p.symbol == symbol)
        assert not mine or cost_usd(mine) + was_usd <= 10_000
    shuffled = orders.copy()
    random.shuffle(shuffled)
    again, _ = allow_orders(shuffled, context, limits)
    assert cost_usd(again) <= buying_power
    if len({(o.symbol, o.leg) for o in orders}) == len(orders):
        assert again == allowed
