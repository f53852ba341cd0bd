"""MaxDiff: buy below the forecast low or sell above the forecast high, on the wider side.

With reference close P, forecast high PH and low PL (trading.md 4.7):

    up = PH / P - 1        down = 1 - PL / P
    side = +1 where up > down, -1 where down > up, 0 on a tie or an invalid forecast
    B = min(PL (1 + buy_offset), P)        S = max(PH (1 + sell_offset), P)

A long enters at B and takes profit at S; a short enters at S and takes profit at B.

Example: P = 100, PH = 103, PL = 98. Up is 3 %, down 2 %, hence long. With offsets of 0.5 % and
-1 %, B = min(98 x 1.005, 100) = 98.49 and S = max(103 x 0.99, 100) = 101.97. A window that trades
98.20 and then 102.40 fills both: 101.97 / 98.49 - 1 = 3.53 % before costs.
"""

import numpy as np

from include.strategy.rule import FloatArray, IntArray, Strategy, WindowForecasts, is_valid


class MaxDiff:
    """The strategy of this module; it holds no state."""

    name = "maxdiff"

    def sides(self, forecasts: WindowForecasts, *, allow_short: bool) -> IntArray:
        """Return +1 where the forecast reaches further up than down, -1 the other way, else 0."""
        # both times P, which leaves their order as it is and needs no division
        up = forecasts.high - forecasts.reference_close
        down = forecasts.reference_close - forecasts.low
        wider = np.where(up > down, 1, np.where(down > up, -1, 0))
        sides = np.where(is_valid(forecasts), wider, 0).astype(np.int64)
        return sides if allow_short else np.maximum(sides, 0)

    def levels(
        self, forecasts: WindowForecasts, *, buy_offset: float, sell_offset: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return B and S in USD; neither lies on the wrong side of the reference close."""
        buys = np.minimum(forecasts.low * (1.0 + buy_offset), forecasts.reference_close)
        sells = np.maximum(forecasts.high * (1.0 + sell_offset), forecasts.reference_close)
        return buys, sells


MAXDIFF: Strategy = MaxDiff()
