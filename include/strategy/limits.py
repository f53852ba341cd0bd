"""Which desired orders may be sent: every cap and gate of an entry, as pure checks.

A refusal is a `Denied` value with what was found and the bound. Exits pass every cap: only a
halted account, or a quantity beyond the position, stops them. `exposure.py` keeps count of what
positions, working and allowed orders add up to.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from include.domain.halts import HaltState
from include.domain.instruments import AssetClass, Instrument, position_symbol
from include.domain.money import decimal_of
from include.domain.orders import DesiredOrder, Order, Side, Standing
from include.domain.positions import Account, Position
from include.domain.quotes import Quote
from include.domain.strategies import Denied, Levels, TradeCosts
from include.strategy.costs import minimum_edge_fraction, minimum_pair_fraction
from include.strategy.denials import DenialReason
from include.strategy.exposure import Exposure, notional_usd, opening_exposure, reserved_usd
from include.strategy.levels import has_edge, keeps_apart


@dataclass(frozen=True, kw_only=True)
class RiskLimits:
    """Bounds of entries; fractions of equity unless the name says otherwise (trading.md 7.3)."""

    order_cap_fraction: float = 0.10
    symbol_cap_fraction: float = 0.10
    gross_cap_fraction: float = 1.0
    short_cap_fraction: float = 0.30
    crypto_cap_fraction: float = 0.30
    price_band_fraction: float = 0.10
    daily_loss_fraction: float = 0.03
    max_orders_per_cycle: int = 40
    max_equity_spread_bps: float = 25.0
    max_crypto_spread_bps: float = 60.0
    max_equity_quote_age_seconds: float = 60.0
    max_crypto_quote_age_seconds: float = 120.0

    def max_spread_bps(self, asset_class: AssetClass) -> float:
        """Return the widest spread in which an entry of the class may be sent."""
        is_crypto = asset_class is AssetClass.CRYPTO
        return self.max_crypto_spread_bps if is_crypto else self.max_equity_spread_bps

    def max_quote_age_seconds(self, asset_class: AssetClass) -> float:
        """Return the age up to which a quote of the class speaks for the market."""
        is_crypto = asset_class is AssetClass.CRYPTO
        return (
            self.max_crypto_quote_age_seconds if is_crypto else self.max_equity_quote_age_seconds
        )


@dataclass(frozen=True, kw_only=True)
class SymbolFacts:
    """What the checks must know of a symbol; `rank` orders entries, 0 first."""

    instrument: Instrument
    quote: Quote | None
    costs: TradeCosts
    levels: Levels
    rank: int = 0


@dataclass(frozen=True, kw_only=True)
class RiskContext:
    """The account at `as_of`, as the venue reported it, and the symbols' facts by symbol."""

    as_of: datetime
    halt: HaltState
    account: Account
    positions: Sequence[Position] = ()
    working_orders: Sequence[Order] = ()
    facts: Mapping[str, SymbolFacts] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Application:
    """An order in front of the checks, with everything that those of an exit may look at."""

    order: DesiredOrder
    context: RiskContext
    limits: RiskLimits
    exposure: Exposure

    def denied(self, reason: DenialReason, found: object, bound: object) -> Denied:
        """Return the refusal of this order."""
        return Denied(
            symbol=self.order.symbol,
            reason=reason,
            found=str(found),
            bound=str(bound),
            at=self.context.as_of,
            quantity=self.order.quantity,
        )


@dataclass(frozen=True, kw_only=True)
class EntryApplication(Application):
    """An entry in front of the checks, with the facts of its symbol."""

    facts: SymbolFacts

    @property
    def asset_class(self) -> AssetClass:
        """Class of the order's instrument."""
        return self.facts.instrument.asset_class


def allow_orders(
    candidates: Sequence[DesiredOrder], context: RiskContext, limits: RiskLimits
) -> tuple[list[DesiredOrder], list[Denied]]:
    """Return the orders that may be sent, and a denial for each of the others.

    Taken in this order, whatever the order of the input: exits, then proven entries, then
    probes; within each by the symbol's rank, symbol and leg. An entry's exposure counts from the
    moment it is allowed, so that no set of allowed orders exceeds a cap together.
    """
    allowed: list[DesiredOrder] = []
    denied: list[Denied] = []
    exposure = opening_exposure(
        candidates, context.positions, context.working_orders, _crypto_symbols(context)
    )
    for order in sorted(candidates, key=lambda order: _precedence(order, context)):
        refusal = refusal_of(order, context, limits, exposure)
        if refusal is not None:
            denied.append(refusal)
            continue
        allowed.append(order)
        exposure = exposure.plus(order)
    return allowed, denied


def refusal_of(
    order: DesiredOrder, context: RiskContext, limits: RiskLimits, exposure: Exposure
) -> Denied | None:
    """Return the first refusal of an order, in the order of the checks below; None allows it."""
    application = Application(order=order, context=context, limits=limits, exposure=exposure)
    if not order.leg.is_entry:
        return _first(check(application) for check in EXIT_CHECKS)
    facts = context.facts.get(order.symbol)
    if facts is None:
        return application.denied(DenialReason.NOT_TRADABLE, "no facts", "instrument and levels")
    entry = EntryApplication(
        order=order, context=context, limits=limits, exposure=exposure, facts=facts
    )
    return _first(check(entry) for check in ENTRY_CHECKS)


def _first(refusals: Iterable[Denied | None]) -> Denied | None:
    return next((refusal for refusal in refusals if refusal is not None), None)


def _precedence(order: DesiredOrder, context: RiskContext) -> tuple[object, ...]:
    facts = context.facts.get(order.symbol)
    is_probe = order.standing is Standing.PROBE
    rank = facts.rank if facts else 0
    return (order.leg.is_entry, order.leg.is_entry and is_probe, rank, order.symbol, order.leg)


def _crypto_symbols(context: RiskContext) -> frozenset[str]:
    return frozenset(
        position_symbol(symbol)
        for symbol, facts in context.facts.items()
        if facts.instrument.asset_class is AssetClass.CRYPTO
    )


def check_halt(application: Application) -> Denied | None:
    """Refuse everything while halted, and entries while only reductions are allowed."""
    halt = HaltState(application.context.halt)
    allows = halt is HaltState.ACTIVE or (
        halt is HaltState.REDUCING and not application.order.leg.is_entry
    )
    return None if allows else application.denied(DenialReason.HALTED, halt, HaltState.ACTIVE)


def check_account(application: Application) -> Denied | None:
    """Refuse entries of an account that the venue blocked."""
    account = application.context.account
    if account.is_blocked:
        return application.denied(DenialReason.ACCOUNT_BLOCKED, account.status, "ACTIVE")
    return None


def check_daily_loss(application: Application) -> Denied | None:
    """Refuse entries once equity, open positions included, has lost the daily fraction."""
    account = application.context.account
    loss_fraction = 1 - account.equity_usd / account.last_equity_usd
    bound = decimal_of(application.limits.daily_loss_fraction)
    if loss_fraction >= bound:
        return application.denied(DenialReason.DAILY_LOSS, f"{loss_fraction:.4f}", bound)
    return None


def check_instrument(application: EntryApplication) -> Denied | None:
    """Refuse what the venue does not trade, and shorts of what it does not lend."""
    instrument = application.facts.instrument
    if not instrument.is_tradable:
        return application.denied(DenialReason.NOT_TRADABLE, "not tradable", "tradable")
    if application.order.side is Side.SELL and not instrument.is_shortable:
        return application.denied(DenialReason.NOT_TRADABLE, "not shortable", "shortable")
    return None


def check_quote(application: EntryApplication) -> Denied | None:
    """Refuse entries without a two-sided quote, fresh and narrow enough."""
    quote, asset_class = application.facts.quote, application.asset_class
    if quote is None or not 0 < quote.bid <= quote.ask:
        found = "none" if quote is None else f"bid {quote.bid}, ask {quote.ask}"
        return application.denied(DenialReason.NO_QUOTE, found, "0 < bid <= ask")
    age_seconds = (application.context.as_of - quote.at).total_seconds()
    max_age_seconds = application.limits.max_quote_age_seconds(asset_class)
    if age_seconds > max_age_seconds:
        return application.denied(DenialReason.STALE_QUOTE, age_seconds, max_age_seconds)
    max_spread_bps = application.limits.max_spread_bps(asset_class)
    if quote.spread_bps > max_spread_bps:
        return application.denied(
            DenialReason.SPREAD, f"{quote.spread_bps:.2f} bps", f"{max_spread_bps} bps"
        )
    return None


def check_price_band(application: EntryApplication) -> Denied | None:
    """Refuse entries without a limit, or with one too far from the quote's mid."""
    price, quote = application.order.limit_price, application.facts.quote
    if price is None:
        return application.denied(DenialReason.NO_LIMIT_PRICE, "market", "limit")
    mid = decimal_of(quote.mid) if quote else price
    bound = decimal_of(application.limits.price_band_fraction)
    if abs(price - mid) > bound * mid:
        return application.denied(
            DenialReason.PRICE_BAND, f"{price} at a mid of {mid}", f"{bound} of the mid"
        )
    return None


def check_pair(application: EntryApplication) -> Denied | None:
    """Refuse a take-profit closer to the entry than its costs (trading.md 4.2)."""
    order = application.order
    if order.take_profit_price is None or order.limit_price is None:
        return None
    prices = (float(order.limit_price), float(order.take_profit_price))
    buy, sell = prices if order.side is Side.BUY else (prices[1], prices[0])
    bound = minimum_pair_fraction(application.facts.costs)
    if not keeps_apart(buy, sell, minimum_pair_fraction=bound):
        return application.denied(
            DenialReason.PAIR_TOO_CLOSE, f"{sell / buy - 1:.6f}", f"{bound:.6f}"
        )
    return None


def check_edge(application: EntryApplication) -> Denied | None:
    """Refuse entries that don't expect to earn their costs and a margin (trading.md 7.2)."""
    levels = application.facts.levels
    bound = minimum_edge_fraction(application.facts.costs, application.asset_class)
    if not has_edge(levels.side, levels.entry, levels.expected_exit, minimum_edge_fraction=bound):
        return application.denied(DenialReason.EDGE, f"{levels.edge_fraction:.6f}", f"{bound:.6f}")
    return None


def check_wash_trade(application: Application) -> Denied | None:
    """Refuse an order that could meet an order of ours on the other side (alpaca.md 6.4)."""
    order = application.order
    for side, price in application.exposure.resting_of(order.symbol):
        buy, sell = (
            (order.limit_price, price) if order.side is Side.BUY else (price, order.limit_price)
        )
        if side is order.side.opposite and (buy is None or sell is None or buy >= sell):
            return application.denied(
                DenialReason.WASH_TRADE, f"{side} at {price or 'market'}", "no crossing order"
            )
    return None


def check_order_notional(application: Application) -> Denied | None:
    """Refuse an entry that is larger than one order may be."""
    bound = _cap_usd(application, application.limits.order_cap_fraction)
    return _over(application, DenialReason.ORDER_NOTIONAL, Decimal(0), bound)


def check_orders_per_cycle(application: Application) -> Denied | None:
    """Refuse entries beyond the number of orders of a cycle, exits counted."""
    count, bound = application.exposure.n_orders, application.limits.max_orders_per_cycle
    if count >= bound:
        return application.denied(DenialReason.ORDERS_PER_CYCLE, count + 1, bound)
    return None


def check_symbol_cap(application: Application) -> Denied | None:
    """Refuse entries that would put too much of the equity into one symbol."""
    held_usd = application.exposure.of_symbol_usd(application.order.symbol)
    bound = _cap_usd(application, application.limits.symbol_cap_fraction)
    return _over(application, DenialReason.SYMBOL_CAP, held_usd, bound)


def check_gross_cap(application: Application) -> Denied | None:
    """Refuse entries that would put too much of the equity to work."""
    bound = _cap_usd(application, application.limits.gross_cap_fraction)
    return _over(application, DenialReason.GROSS_CAP, application.exposure.gross_usd, bound)


def check_class_caps(application: EntryApplication) -> Denied | None:
    """Refuse entries beyond the caps of short positions and of crypto."""
    limits, exposure = application.limits, application.exposure
    if application.order.side is Side.SELL:
        bound = _cap_usd(application, limits.short_cap_fraction)
        return _over(application, DenialReason.SHORT_CAP, exposure.short_usd, bound)
    if application.asset_class is AssetClass.CRYPTO:
        bound = _cap_usd(application, limits.crypto_cap_fraction)
        return _over(application, DenialReason.CRYPTO_CAP, exposure.crypto_usd, bound)
    return None


def check_buying_power(application: EntryApplication) -> Denied | None:
    """Refuse entries that the account can't pay for; crypto is paid in cash (trading.md 8.6)."""
    account, exposure = application.context.account, application.exposure
    available_usd = account.buying_power_usd + exposure.released_usd
    if application.asset_class is AssetClass.CRYPTO:
        available_usd = min(available_usd, account.cash_usd)
    needed_usd = exposure.reserved_usd + reserved_usd(application.order)
    if needed_usd > available_usd:
        return application.denied(
            DenialReason.BUYING_POWER, f"{needed_usd:.2f} USD", f"{available_usd:.2f} USD"
        )
    return None


def check_exit_quantity(application: Application) -> Denied | None:
    """Refuse an exit that is larger than the position, or on its own side."""
    order = application.order
    signed = order.quantity if order.side is Side.SELL else -order.quantity
    held = application.exposure.closable_quantity(order.symbol)
    if signed * held > 0 and abs(signed) <= abs(held):
        return None
    return application.denied(DenialReason.EXIT_EXCEEDS_POSITION, signed, held)


def _cap_usd(application: Application, fraction: float) -> Decimal:
    return decimal_of(fraction) * application.context.account.equity_usd


def _over(
    application: Application, reason: DenialReason, held_usd: Decimal, bound_usd: Decimal
) -> Denied | None:
    total_usd = held_usd + notional_usd(application.order)
    if total_usd > bound_usd:
        return application.denied(reason, f"{total_usd:.2f} USD", f"{bound_usd:.2f} USD")
    return None


ENTRY_CHECKS: tuple[Callable[[EntryApplication], Denied | None], ...] = (
    check_halt,
    check_account,
    check_daily_loss,
    check_instrument,
    check_quote,
    check_price_band,
    check_pair,
    check_edge,
    check_wash_trade,
    check_order_notional,
    check_orders_per_cycle,
    check_symbol_cap,
    check_gross_cap,
    check_class_caps,
    check_buying_power,
)
EXIT_CHECKS: tuple[Callable[[Application], Denied | None], ...] = (
    check_halt,
    check_exit_quantity,
)
