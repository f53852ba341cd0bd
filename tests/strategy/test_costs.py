"""Default costs: each class's fees, and the spread that was measured in place of the fallback."""

import pytest

from include.domain.instruments import AssetClass
from include.strategy.costs import minimum_edge_fraction, minimum_pair_fraction, trade_costs


def test_equities_pay_no_commission_but_the_levy_on_sales():
    """Commission is 0 on both sides; 0.278 bps are taken from every sale."""
    costs = trade_costs(AssetClass.EQUITY)
    assert (costs.maker_fee, costs.taker_fee) == (0.0, 0.0)
    assert costs.sell_fee == pytest.approx(0.278e-4)
    assert (costs.half_spread, costs.slippage, costs.fill_buffer) == (3e-4, 5e-4, 5e-4)


def test_crypto_pays_maker_and_taker():
    """15 bps resting, 25 bps marketable, wider spread and slippage."""
    costs = trade_costs(AssetClass.CRYPTO)
    assert (costs.maker_fee, costs.taker_fee, costs.sell_fee) == (15e-4, 25e-4, 0.0)
    assert (costs.half_spread, costs.slippage) == (10e-4, 10e-4)
    assert costs.round_trip == pytest.approx(60e-4)


def test_a_measured_spread_replaces_the_fallback():
    """Half of the median spread counts, also when it is 0."""
    assert trade_costs(AssetClass.EQUITY, 4.0).half_spread == pytest.approx(2e-4)
    assert trade_costs(AssetClass.EQUITY, 0.0).half_spread == 0.0


def test_the_edge_must_cover_costs_and_a_margin_or_the_floor():
    """Cheap equities are held to their floor of 15 bps, crypto to its costs plus 10 bps."""
    equity = trade_costs(AssetClass.EQUITY, 1.0)
    assert minimum_edge_fraction(equity, AssetClass.EQUITY) == pytest.approx(
        max(15e-4, equity.round_trip + 10e-4)
    )
    crypto = trade_costs(AssetClass.CRYPTO)
    assert minimum_edge_fraction(crypto, AssetClass.CRYPTO) == pytest.approx(70e-4)
    assert minimum_pair_fraction(crypto) == pytest.approx(63e-4)
