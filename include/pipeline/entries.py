"""Entries: from score and forecast in force to a candidate, from a choice to an order."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from include.domain.bars import CLOSE
from include.domain.choices import Choice
from include.domain.cycles import Cycle
from include.domain.decisions import IssuedForecast
from include.domain.forecasts import Outlook
from include.domain.instruments import AssetClass, Instrument
from include.domain.money import decimal_of
from include.domain.orders import (
    DesiredOrder,
    IntentState,
    Leg,
    OrderIntent,
    Side,
    Standing,
    TimeInForce,
)
from include.domain.returns import (
    CRYPTO_PERIODS_PER_YEAR,
    EQUITY_PERIODS_PER_YEAR,
    annual_volatility,
)
from include.domain.strategies import Denied, Levels, ScoredStrategy
from include.pipeline.histories import reference_close
from include.pipeline.holdings import Holding
from include.pipeline.plan_forecasts import gate_limits
from include.pipeline.scores import may_short
from include.pipeline.situation import Situation
from include.pipeline.universe import timeframe_of
from include.settings import Settings
from include.strategy.choose import Candidate
from include.strategy.levels import NO_LEVELS, live_levels, may_enter
from include.strategy.maxdiff import MAXDIFF
from include.strategy.sizing import SizingLimits, entry_quantity


@dataclass(frozen=True, kw_only=True, eq=False)
class Prospect:
    """A symbol in front of the choice: what is known, forecast, scored, held and ordered."""

    situation: Situation
    issued: IssuedForecast
    outlook: Outlook
    scored: ScoredStrategy
    holding: Holding | None
    window_intents: tuple[OrderIntent, ...]

    @property
    def symbol(self) -> str:
        """Symbol of the situation."""
        return self.situation.symbol


def prospect_levels(prospect: Prospect, settings: Settings) -> Levels:
    """Return the strategy's levels for what remains of the window; no side where it has none."""
    close = reference_close(prospect.situation)
    if close is None:
        return NO_LEVELS
    return live_levels(
        prospect.scored,
        MAXDIFF,
        prospect.outlook,
        reference_close=close,
        allow_short=may_short(prospect.situation, settings),
    )


def obstacle(prospect: Prospect, cycle: Cycle, settings: Settings) -> str | None:
    """Return why no entry may start now, or None; exits are not asked.

    One entry per symbol and window, as the kernel scores it; none on a forecast that the market
    has run away from (trading.md 3.5), none in the window's last bar.
    """
    situation, issued = prospect.situation, prospect.issued
    if situation.window is None or issued.window_opens_at != situation.window.opens_at:
        return "no forecast of the open window is in force"
    if prospect.holding is not None:
        quantity = prospect.holding.quantity
        held = "held" if quantity > 0 else "held short"
        return f"{abs(quantity).normalize():f} are {held} already"
    if any(intent.filled_quantity > 0 for intent in prospect.window_intents):
        return "the window's one entry has been traded"
    timeframe = timeframe_of(situation.asset_class, settings)
    if not may_enter(situation.window, cycle.as_of, timeframe):
        return "the window's last bar has begun"
    return _moved_away(situation, issued, settings)


def candidate_of(prospect: Prospect, levels: Levels) -> Candidate:
    """Return the symbol's candidate with the volatility of its own past windows, per year."""
    return Candidate(
        scored=prospect.scored, levels=levels, annual_volatility=_volatility(prospect.situation)
    )


def entry_order(
    choice: Choice,
    prospect: Prospect,
    cycle: Cycle,
    *,
    equity_usd: Decimal,
    settings: Settings,
) -> DesiredOrder | Denied | None:
    """Return the entry that a choice asks for, a denial where it can't be sized, None for flat.

    A working entry of the same leg and standing keeps its quantity, so that a level that moved
    less than the tolerance is left alone.
    """
    situation, instrument = prospect.situation, prospect.situation.instrument
    if choice.standing is None or choice.entry_price is None or instrument is None:
        return None
    leg = Leg.ENTRY_LONG if choice.side > 0 else Leg.ENTRY_SHORT
    price = _entry_price(choice, instrument)
    sized = _working_quantity(prospect, leg, choice.standing) or entry_quantity(
        choice,
        instrument,
        price_usd=price,
        equity_usd=equity_usd,
        limits=sizing_limits(settings),
    )
    if isinstance(sized, Denied):
        return sized
    is_crypto = situation.asset_class is AssetClass.CRYPTO
    return DesiredOrder(
        cycle_id=cycle.cycle_id,
        symbol=choice.symbol,
        leg=leg,
        side=Side.BUY if choice.side > 0 else Side.SELL,
        quantity=sized,
        limit_price=price,
        time_in_force=TimeInForce.GTC if is_crypto else TimeInForce.DAY,
        window_opens_at=prospect.issued.window_opens_at,
        window_ends_at=prospect.issued.window_ends_at,
        standing=choice.standing,
        strategy=choice.strategy,
        reason=f"{_outlook_words(prospect.outlook)}; {choice.reason}",
        take_profit_price=take_profit_price(choice.take_profit_price, choice.side, instrument),
    )


def take_profit_price(price: float | None, side: int, instrument: Instrument) -> Decimal | None:
    """Return the take-profit on the tick, on the safe side: a sell up, a buy down."""
    if price is None or not np.isfinite(price):
        return None
    exact = decimal_of(price)
    return instrument.round_sell_price(exact) if side > 0 else instrument.round_buy_price(exact)


def sizing_limits(settings: Settings) -> SizingLimits:
    """Return what sizes derive from in the settings."""
    portfolio = settings.portfolio
    return SizingLimits(
        target_volatility_fraction=portfolio.target_volatility_fraction,
        max_positions=portfolio.max_positions,
        symbol_cap_fraction=portfolio.symbol_cap_fraction,
        probe_notional_usd=portfolio.probe_notional_usd,
    )


def explained(choices: list[Choice], obstacles: Mapping[str, str]) -> list[Choice]:
    """Return the choices with the obstacle as the reason wherever one kept a symbol flat."""
    return [
        replace(choice, reason=obstacles[choice.symbol]) if choice.symbol in obstacles else choice
        for choice in choices
    ]


def _entry_price(choice: Choice, instrument: Instrument) -> Decimal:
    exact = decimal_of(choice.entry_price or 0.0)
    if choice.side > 0:
        return instrument.round_buy_price(exact)
    return instrument.round_sell_price(exact)


def _working_quantity(prospect: Prospect, leg: Leg, standing: Standing) -> Decimal | None:
    working = [
        intent.quantity
        for intent in prospect.window_intents
        if intent.leg is leg and intent.standing is standing and intent.state is IntentState.ACKED
    ]
    return working[-1] if working else None


def _moved_away(situation: Situation, issued: IssuedForecast, settings: Settings) -> str | None:
    limits = gate_limits(settings.repredict)
    bound = limits.urgent_multiple * limits.threshold_fraction(situation.asset_class)
    move = abs((situation.mid or issued.price_at_issue) / issued.price_at_issue - 1.0)
    if move < bound:
        return None
    return f"the price has moved {move:.2%} since the forecast was issued; at most {bound:.2%}"


def _volatility(situation: Situation) -> float:
    """Return the yearly deviation of closes at the ends of past windows; NaN for fewer than 3."""
    ends = [int(window.ends_at.timestamp()) for window in situation.past_windows]
    is_last = np.isin(situation.series.ends, ends)
    closes = situation.series.column(CLOSE)[is_last]
    is_crypto = situation.asset_class is AssetClass.CRYPTO
    periods = CRYPTO_PERIODS_PER_YEAR if is_crypto else EQUITY_PERIODS_PER_YEAR
    return annual_volatility(closes[1:] / closes[:-1] - 1.0, periods_per_year=periods)


def _outlook_words(outlook: Outlook) -> str:
    return f"forecast high {outlook.high:.2f}, low {outlook.low:.2f}, close {outlook.close:.2f}"
