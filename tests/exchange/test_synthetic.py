import numpy as np

from include.exchange.assets import CRYPTO_ASSETS
from include.exchange.synthetic import LEVELS


def test_synthetic_series_are_continuous_and_sensible(replay):
    """Each opens where the last closed, and stays within a factor of four of its level."""
    for asset in CRYPTO_ASSETS:
        days = list(replay.tape.days_between(asset.symbol, replay.start, replay.end))
        opens = np.array([day.prices[0] for day in days])
        closes = np.array([day.prices[-1] for day in days])
        assert len(days) == 365
        assert np.array_equal(opens[1:], closes[:-1])
        ratio = closes / LEVELS[asset.symbol].price_usd
        assert 0.25 < ratio.min() < ratio.max() < 4


def test_synthetic_returns_have_fat_tails(replay):
    """Pooled daily log returns have more kurtosis than a normal sample."""
    pooled = []
    for asset in CRYPTO_ASSETS:
        days = replay.tape.days_between(asset.symbol, replay.start, replay.end)
        closes = np.log([day.prices[-1] for day in days])
        returns = np.diff(closes)
        pooled.append((returns - returns.mean()) / returns.std())
    assert float(np.mean(np.concatenate(pooled) ** 4)) > 4


def test_synthetic_assets_say_so(exchange):
    """The name of each pair carries the word synthetic."""
    from alpaca.trading.enums import AssetClass
    from alpaca.trading.requests import GetAssetsRequest

    assets = exchange.trading.get_all_assets(GetAssetsRequest(asset_class=AssetClass.CRYPTO))
    assert {asset.symbol for asset in assets} == set(LEVELS)
    assert all("synthetic" in asset.name for asset in assets)
