"""Quotes and data refusals of a cycle."""

from tests.support.builders import a_quote


def test_quotes_come_back_by_symbol_and_the_first_stays(uow, cycle_id):
    """What a cycle saw is what its decisions are replayed from."""
    first, other = a_quote(), a_quote(symbol="BTC/USD", bid=0.1 + 0.2)
    uow.quotes.save_all(cycle_id, [first])
    uow.quotes.save_all(cycle_id, [a_quote(bid=1.0), other])
    assert uow.quotes.by_cycle(cycle_id) == {"AAPL": first, "BTC/USD": other}
    assert uow.quotes.by_cycle("other") == {}


def test_refusals_come_back_by_symbol_and_the_first_stays(uow, cycle_id):
    """The reason for which a symbol was first refused is kept."""
    uow.refusals.save_all(cycle_id, {"BA": "stale"})
    uow.refusals.save_all(cycle_id, {"BA": "gap", "AAPL": "no quote"})
    uow.refusals.save_all(cycle_id, {})
    assert uow.refusals.by_cycle(cycle_id) == {"AAPL": "no quote", "BA": "stale"}
