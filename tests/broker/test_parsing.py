"""From raw answers to values: tolerant of words, strict about numbers."""

from decimal import Decimal

import pytest

from include.broker.parsing import (
    UNREADABLE,
    canonical_symbol,
    parse_account,
    parse_decimal,
    parse_instrument,
    parse_side,
)
from include.domain.instruments import AssetClass
from include.domain.orders import Side


@pytest.mark.parametrize(
    ("text", "asset_class", "expected"),
    [
        ("BTCUSD", "crypto", "BTC/USD"),
        ("BTC/USD", "crypto", "BTC/USD"),
        ("ETHBTC", "crypto", "ETH/BTC"),
        ("USDTUSD", "crypto", "USDT/USD"),
        ("BTCUSDT", "crypto", "BTC/USDT"),
        ("LINKUSD", None, "LINK/USD"),
        ("AAPL", None, "AAPL"),
        ("BRK.B", None, "BRK.B"),
        ("XUSD", "us_equity", "XUSD"),
        ("AAPL261218C00200000", "us_option", "AAPL261218C00200000"),
    ],
)
def test_spells_pairs_with_a_slash_and_leaves_the_rest(text, asset_class, expected):
    """Pairs get their slash back, by class or by their form; equities stay."""
    assert canonical_symbol(text, asset_class) == expected


@pytest.mark.parametrize("word", ["buy", "buy_to_cover"])
def test_reads_every_kind_of_buy(word):
    """Words that begin with buy are buys."""
    assert parse_side(word) is Side.BUY


def test_refuses_a_side_that_is_neither():
    """What is neither buy nor sell can't be read."""
    with pytest.raises(ValueError, match="buy or sell was expected"):
        parse_side("hold")


@pytest.mark.parametrize("value", [None, "", "NaN", "Infinity", "ten", True, [], {}])
def test_refuses_what_is_no_finite_number(value):
    """No word, null or infinity passes for a number."""
    with pytest.raises(UNREADABLE):
        parse_decimal(value)


@pytest.mark.parametrize(("value", "expected"), [("101.10", "101.10"), (101.1, "101.1"), (3, "3")])
def test_reads_text_and_json_numbers_exactly(value, expected):
    """Text keeps its digits, a JSON number its shortest form."""
    assert str(parse_decimal(value)) == expected


@pytest.mark.parametrize("flag", ["trading_blocked", "account_blocked", "trade_suspended_by_user"])
def test_any_block_blocks_the_account(flag):
    """One of the venue's three flags is enough."""
    raw = {"id": "a", "equity": "1", "cash": "1", "buying_power": "1", flag: True}
    assert parse_account(raw).is_blocked


def test_an_account_without_equity_is_unreadable():
    """Money that sizes orders is never defaulted."""
    with pytest.raises(KeyError, match="equity"):
        parse_account({"id": "a", "cash": "1", "buying_power": "1"})


@pytest.mark.parametrize(
    ("borrowing", "is_shortable"),
    [
        ({"borrow_status": "easy_to_borrow"}, True),
        ({"borrow_status": "hard_to_borrow"}, False),
        ({"easy_to_borrow": True}, True),
        ({"borrow_status": "hard_to_borrow", "easy_to_borrow": True}, False),
        ({}, False),
    ],
)
def test_shorts_only_what_is_easy_to_borrow(borrowing, is_shortable):
    """Old and new spelling of borrowing are read; absent means no."""
    raw = {"class": "us_equity", "status": "active", "tradable": True, "shortable": True}
    assert parse_instrument("AAPL", raw | borrowing).is_shortable is is_shortable


def test_an_inactive_asset_is_not_tradable():
    """Tradable needs the flag and the active status."""
    raw = {"class": "us_equity", "status": "inactive", "tradable": True}
    assert not parse_instrument("AAPL", raw).is_tradable


def test_a_pair_is_traded_in_its_own_increments():
    """Increments of a pair come from the venue; without a minimum the increment is one."""
    raw = {
        "class": "crypto",
        "tradable": True,
        "min_trade_increment": "0.001",
        "price_increment": "0.5",
    }
    pair = parse_instrument("BTC/USD", raw)
    assert pair.asset_class is AssetClass.CRYPTO
    assert (pair.minimum_quantity, pair.price_increment_usd) == (Decimal("0.001"), Decimal("0.5"))
