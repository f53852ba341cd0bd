"""The trade kernel in slow, plain Python: one window at a time, straight from the rules.

Written apart from `include/strategy/kernel.py`, for comparison alone.
"""

import math
from dataclasses import dataclass

from include.domain.strategies import TradeCosts, WindowHistory


@dataclass(frozen=True)
class Bar:
    open: float
    high: float
    low: float


def reference_return(
    history: WindowHistory,
    i: int,
    *,
    side: int,
    buy: float,
    sell: float,
    costs: TradeCosts,
    closes_at_eod: bool,
) -> float:
    """Return one window's net return on entry notional."""
    bars = [
        Bar(o, h, low)
        for o, h, low in zip(
            history.inner_open[i], history.inner_high[i], history.inner_low[i], strict=True
        )
        if not math.isnan(low)
    ]
    whole = Bar(history.open[i], history.high[i], history.low[i])
    k = costs.fill_buffer + costs.half_spread
    if side == 1:
        return float(_long(whole, bars, history.close[i], buy, sell, costs, k, closes_at_eod))
    if side == -1:
        return float(_short(whole, bars, history.close[i], buy, sell, costs, k, closes_at_eod))
    return 0.0


def _long(whole, bars, close, buy, sell, costs, k, closes_at_eod):
    def fills(price):
        return price < buy * (1 - k)

    def takes_profit(price):
        return price > sell * (1 + k)

    def net(price, fee):
        return price * (1 - fee - costs.sell_fee) / buy - (1 + costs.maker_fee)

    at_close = net(close * (1 - costs.half_spread - costs.slippage), costs.taker_fee)
    at_limit = net(sell, costs.maker_fee)
    if not fills(whole.low):
        return 0.0
    if closes_at_eod:
        return at_close
    entry_bars = [j for j, bar in enumerate(bars) if fills(bar.low)]
    if entry_bars:
        j = entry_bars[0]
        after = bars[j:] if fills(bars[j].open) else bars[j + 1 :]
        return at_limit if any(takes_profit(bar.high) for bar in after) else at_close
    if not takes_profit(whole.high):
        return at_close
    return at_limit if fills(whole.open) else min(at_limit, at_close)


def _short(whole, bars, close, buy, sell, costs, k, closes_at_eod):
    def fills(price):
        return price > sell * (1 + k)

    def takes_profit(price):
        return price < buy * (1 - k)

    def net(price, fee):
        return (1 - costs.maker_fee - costs.sell_fee) - price * (1 + fee) / sell

    at_close = net(close * (1 + costs.half_spread + costs.slippage), costs.taker_fee)
    at_limit = net(buy, costs.maker_fee)
    if not fills(whole.high):
        return 0.0
    if closes_at_eod:
        return at_close
    entry_bars = [j for j, bar in enumerate(bars) if fills(bar.high)]
    if entry_bars:
        j = entry_bars[0]
        after = bars[j:] if fills(bars[j].open) else bars[j + 1 :]
        return at_limit if any(takes_profit(bar.low) for bar in after) else at_close
    if not takes_profit(whole.low):
        return at_close
    return at_limit if fills(whole.open) else min(at_limit, at_close)
