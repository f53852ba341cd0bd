"""Quotes: mid and spread."""

import pytest

from tests.support.builders import a_quote


def test_spread_is_relative_to_the_mid():
    """(ask - bid) / mid, in basis points."""
    quote = a_quote(bid=99.0, ask=101.0)
    assert quote.mid == 100.0
    assert quote.spread_bps == pytest.approx(200.0)
