"""Risk: the limits that an order passes in the transaction that writes its journal row."""

from collections.abc import Sequence

from include.domain.choices import Choice
from include.domain.cycles import Cycle
from include.domain.instruments import Instrument, asset_class_of
from include.domain.orders import DesiredOrder
from include.domain.quotes import Quote
from include.domain.strategies import Denied, Levels
from include.errors import UnknownRow
from include.settings import Settings
from include.store.unit_of_work import UnitOfWork
from include.strategy.costs import trade_costs
from include.strategy.levels import NO_LEVELS
from include.strategy.limits import RiskContext, RiskLimits, SymbolFacts, allow_orders


def allowed_orders(
    uow: UnitOfWork, cycle: Cycle, orders: Sequence[DesiredOrder], settings: Settings
) -> tuple[list[DesiredOrder], list[Denied]]:
    """Return the orders that latch and limits allow, and a denial for each of the others.

    Reads latch, account, positions and working orders in the caller's transaction.
    """
    snapshot = uow.accounts.snapshot(cycle.cycle_id)
    if snapshot is None:
        raise UnknownRow(kind="account snapshot", key=cycle.cycle_id)
    account, positions = snapshot
    working = uow.orders.working_orders()
    held = [position.symbol for position in positions] + [order.symbol for order in working]
    symbols = sorted({order.symbol for order in orders}.union(held))
    context = RiskContext(
        as_of=cycle.as_of,
        halt=uow.halts.state(cycle.account_id).state,
        account=account,
        positions=positions,
        working_orders=working,
        facts=_facts(uow, cycle, symbols),  # of what is held too: caps are by class
    )
    return allow_orders(orders, context, risk_limits(settings))


def risk_limits(settings: Settings) -> RiskLimits:
    """Return the bounds of the settings."""
    portfolio, data = settings.portfolio, settings.data
    return RiskLimits(
        order_cap_fraction=portfolio.order_cap_fraction,
        symbol_cap_fraction=portfolio.symbol_cap_fraction,
        gross_cap_fraction=portfolio.gross_cap_fraction,
        price_band_fraction=portfolio.price_band_fraction,
        daily_loss_fraction=portfolio.daily_loss_fraction,
        max_orders_per_cycle=portfolio.max_orders_per_cycle,
        max_equity_spread_bps=data.max_equity_spread_bps,
        max_crypto_spread_bps=data.max_crypto_spread_bps,
    )


def _facts(uow: UnitOfWork, cycle: Cycle, symbols: Sequence[str]) -> dict[str, SymbolFacts]:
    instruments = uow.instruments.by_symbols(symbols)
    quotes = uow.quotes.by_cycle(cycle.cycle_id)
    choices = {choice.symbol: choice for choice in uow.strategies.choices(cycle.cycle_id)}
    ranks = {symbol: rank for rank, symbol in enumerate(choices)}
    return {
        symbol: _symbol_facts(
            instrument, quotes.get(symbol), choices.get(symbol), ranks.get(symbol, 0)
        )
        for symbol, instrument in instruments.items()
    }


def _symbol_facts(
    instrument: Instrument, quote: Quote | None, choice: Choice | None, rank: int
) -> SymbolFacts:
    return SymbolFacts(
        instrument=instrument,
        quote=quote,
        costs=trade_costs(asset_class_of(instrument.symbol)),
        levels=_levels(choice),
        rank=rank,
    )


def _levels(choice: Choice | None) -> Levels:
    if choice is None or choice.entry_price is None or choice.expected_exit_price is None:
        return NO_LEVELS
    return Levels(
        side=choice.side,
        entry=choice.entry_price,
        take_profit=choice.take_profit_price or float("nan"),
        expected_exit=choice.expected_exit_price,
    )
