"""Instruments as the venue last described them."""

from dataclasses import replace

from tests.support.builders import AS_OF, a_coin, an_instrument


def test_instruments_come_back_as_last_seen(uow):
    """A later description replaces an earlier one; symbols that nobody saw are left out."""
    stock, coin = an_instrument(), a_coin()
    uow.instruments.save_all([stock, coin], AS_OF)
    halted = replace(stock, is_tradable=False)
    uow.instruments.save_all([stock, halted], AS_OF)
    found = uow.instruments.by_symbols(["BTC/USD", "AAPL", "NONE"])
    assert found == {"AAPL": halted, "BTC/USD": coin}
    assert str(found["BTC/USD"].quantity_increment) == "0.0001"
