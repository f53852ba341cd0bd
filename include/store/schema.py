"""Every table of the Postgres schema `tradewind`, as SQLAlchemy Core tables.

Column names are the field names of the domain values, so that a row and a value differ by nothing.
The tables are made by `migrations/`; a test holds both together. Column types are in `columns.py`,
queries in the repositories.
"""

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Column,
    Date,
    Double,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.dialects.postgresql import JSON, JSONB

from include.domain.bars import COLUMNS, Timeframe
from include.domain.cycles import CycleState
from include.domain.decisions import Decision, Outcome, Reason
from include.domain.halts import HaltState
from include.domain.instruments import AssetClass
from include.domain.orders import IntentState, Leg, Side, Standing, TimeInForce
from include.store.columns import (
    METADATA,
    SCHEMA,
    Instant,
    Word,
    columns,
    decimals,
    flags,
    floats,
    instants,
    key,
    of_cycle,
    row_number,
    saved_at,
    texts,
)

settings_versions = Table(
    "settings_versions", METADATA, key("settings_hash"), *columns(JSON, "settings"), saved_at()
)
cycles = Table(
    "cycles",
    METADATA,
    key("cycle_id"),
    row_number("cycle_number"),
    *instants("as_of"),
    *texts("account_id", "settings_hash"),
    *columns(JSONB, "request"),
    *columns(Word(CycleState), "state"),
    *columns(ARRAY(Text), "symbols"),
    Index("cycles_as_of", "as_of", "cycle_number"),
    Index("cycles_account", "account_id", "as_of", "cycle_number"),
)
cycle_stages = Table(
    "cycle_stages",
    METADATA,
    of_cycle(),
    key("stage"),
    key("part"),
    *instants("started_at", "ended_at"),
    *columns(JSON, "detail"),
)
reports = Table(
    "reports", METADATA, of_cycle(), *columns(JSON, "report"), *texts("markdown"), saved_at()
)

instruments = Table(
    "instruments",
    METADATA,
    key(),
    *columns(Word(AssetClass), "asset_class"),
    *texts("name"),
    *flags("is_tradable", "is_shortable", "is_fractionable"),
    *decimals("quantity_increment", "minimum_quantity"),
    *decimals("price_increment_usd", nullable=True),
    *instants("seen_at"),
)
sessions = Table(
    "sessions",
    METADATA,
    key("session_date", Date),
    *instants("opens_at", "closes_at", "seen_at"),
)
bars = Table(
    "bars",
    METADATA,
    key(),
    key("timeframe", Word(Timeframe)),
    key("start", Instant),
    key("revision", Integer),
    *instants("recorded_at", "bar_end"),
    *floats(*COLUMNS),
)
quotes = Table("quotes", METADATA, of_cycle(), key(), *floats("bid", "ask"), *instants("at"))
data_refusals = Table("data_refusals", METADATA, of_cycle(), key(), *texts("reason"))

model_versions = Table(
    "model_versions",
    METADATA,
    Column("model_version_id", Integer, Identity(always=True), primary_key=True),
    *texts("model", "checkpoint_hash", "engine_version", "transform_version"),
    UniqueConstraint("model", "checkpoint_hash", "engine_version", "transform_version"),
)
forecasts = Table(
    "forecasts",
    METADATA,
    key("content_key"),
    *texts("symbol"),
    Column(
        "model_version_id",
        Integer,
        ForeignKey(f"{SCHEMA}.model_versions.model_version_id"),
        nullable=False,
    ),
    *instants("origin", "window_opens_at", "window_ends_at"),
    *columns(ARRAY(BigInteger), "step_ends"),
    *columns(Integer, "n_samples", "horizon"),
    *columns(LargeBinary, "quantiles", "paths_sha256"),
    *floats("engine_seconds"),
    *columns(JSONB, "options"),
    *instants("first_issued_at"),
    *floats("open", "high", "low", "close", "close_low", "close_high"),
    Index("forecasts_symbol_origin", "symbol", "origin"),
)
forecast_paths = Table(
    "forecast_paths",
    METADATA,
    Column("content_key", Text, ForeignKey(f"{SCHEMA}.forecasts.content_key"), primary_key=True),
    *columns(LargeBinary, "paths"),
)
forecast_decisions = Table(
    "forecast_decisions",
    METADATA,
    of_cycle(),
    key(),
    *columns(Word(Decision), "decision"),
    *columns(Word(Reason), "reason"),
    *floats("price_at_issue", "mid", "move_fraction", "threshold_fraction", nullable=True),
    *floats("age_seconds", "max_age_seconds", nullable=True),
    *texts("detail"),
    *texts("old_key", "new_key", nullable=True),
    *columns(Word(Outcome), "outcome"),
    *floats("engine_seconds"),
    *texts("model_label"),
)
issued_forecasts = Table(
    "issued_forecasts",
    METADATA,
    of_cycle(),
    key(),
    row_number("issue_number"),
    *texts("content_key"),
    *texts("control_key", nullable=True),
    *texts("model_label", "config_hash"),
    *instants("window_opens_at", "window_ends_at", "origin"),
    *floats("price_at_issue"),
    *instants("issued_at"),
    Index("issued_forecasts_newest", "symbol", "issued_at", "issue_number"),
)

strategy_scores = Table(
    "strategy_scores",
    METADATA,
    of_cycle(),
    key(),
    key("strategy"),
    row_number("entry_number"),
    *floats("buy_offset", "sell_offset"),
    *flags("closes_at_eod"),
    *columns(ARRAY(Double), "returns"),
    *floats("in_sample_mean", "excess_low_fraction"),
    *columns(Integer, "n_trials", "fitted_on_windows"),
    *texts("control"),
    *flags("is_eligible"),
    *floats("control_mean", "zero_offset_mean", "buy_hold_mean"),
)
choices = Table(
    "choices",
    METADATA,
    of_cycle(),
    key(),
    row_number("entry_number"),
    *texts("strategy"),
    *columns(Word(Standing), "standing", nullable=True),
    *columns(Integer, "side"),
    *floats("entry_price", "take_profit_price", "expected_exit_price", nullable=True),
    *texts("reason"),
    *floats("weight_fraction"),
)
order_plans = Table("order_plans", METADATA, of_cycle(), saved_at())
desired_orders = Table(
    "desired_orders",
    METADATA,
    of_cycle(),
    key(),
    key("leg", Word(Leg)),
    row_number("entry_number"),
    *columns(Word(Side), "side"),
    *decimals("quantity"),
    *decimals("limit_price", nullable=True),
    *columns(Word(TimeInForce), "time_in_force"),
    *instants("window_opens_at", "window_ends_at"),
    *columns(Word(Standing), "standing"),
    *texts("strategy", "reason"),
    *decimals("take_profit_price", nullable=True),
)
denials = Table(
    "denials",
    METADATA,
    of_cycle(),
    key(),
    key("reason"),
    row_number("entry_number"),
    *texts("found", "bound"),
    *instants("at", nullable=True),
    *decimals("quantity", nullable=True),
)

# The journal and the account's rows name no cycle by foreign key: the watch between cycles writes
# them too.
order_intents = Table(
    "order_intents",
    METADATA,
    key("client_order_id"),
    row_number("entry_number"),
    *texts("cycle_id", "account_id", "symbol"),
    *columns(Word(Leg), "leg"),
    *columns(Word(Side), "side"),
    *decimals("quantity"),
    *decimals("limit_price", nullable=True),
    *columns(Word(TimeInForce), "time_in_force"),
    *instants("window_opens_at", "window_ends_at"),
    *columns(Integer, "revision"),
    *columns(Word(Standing), "standing"),
    *texts("strategy"),
    *columns(Word(IntentState), "state"),
    *texts("venue_order_id", "venue_status", nullable=True),
    *decimals("filled_quantity"),
    *decimals("filled_average_price", nullable=True),
    *instants("planned_at", "sent_at", nullable=True),
    UniqueConstraint("account_id", "window_opens_at", "symbol", "leg", "revision"),
    Index("order_intents_cycle", "cycle_id"),
    Index("order_intents_symbol", "account_id", "symbol", "entry_number"),
)
Index(
    "order_intents_open",
    order_intents.c.account_id,
    postgresql_where=order_intents.c.state.not_in([IntentState.TERMINAL, IntentState.REJECTED]),
)
order_events = Table(
    "order_events",
    METADATA,
    Column("event_number", BigInteger, Identity(always=True), primary_key=True),
    Column(
        "client_order_id",
        Text,
        ForeignKey(f"{SCHEMA}.order_intents.client_order_id"),
        nullable=False,
    ),
    *instants("at"),
    *columns(Word(IntentState), "from_state", "to_state"),
    *texts("venue_status", nullable=True),
    *texts("detail"),
    Index("order_events_intent", "client_order_id", "event_number"),
)
orders = Table(
    "orders",
    METADATA,
    key("venue_order_id"),
    *texts("client_order_id", "symbol"),
    *columns(Word(Side), "side"),
    *texts("order_type", "time_in_force", "status"),
    *decimals("quantity", nullable=True),
    *decimals("filled_quantity"),
    *decimals("filled_average_price", "limit_price", nullable=True),
    *instants("submitted_at", "updated_at", "seen_at"),
    Index("orders_client_order_id", "client_order_id"),
    Index("orders_status", "status"),
)
fills = Table(
    "fills",
    METADATA,
    key("fill_id"),
    *texts("venue_order_id", "symbol"),
    *columns(Word(Side), "side"),
    *decimals("quantity", "price"),
    *instants("filled_at"),
    Index("fills_filled_at", "filled_at"),
)

account_snapshots = Table(
    "account_snapshots",
    METADATA,
    key("cycle_id"),
    *texts("account_id", "account_number", "status"),
    *decimals("equity_usd", "last_equity_usd", "cash_usd", "buying_power_usd"),
    *flags("is_blocked"),
    *instants("at"),
    Index("account_snapshots_account", "account_id", "at"),
    Index("account_snapshots_at", "at"),
)
snapshot_positions = Table(
    "snapshot_positions",
    METADATA,
    Column("cycle_id", Text, ForeignKey(f"{SCHEMA}.account_snapshots.cycle_id"), primary_key=True),
    key(),
    *decimals("quantity", "available_quantity", "average_entry_price", "current_price"),
    *decimals("market_value_usd", "unrealised_pnl_usd"),
)
halts = Table(
    "halts",
    METADATA,
    key("account_id"),
    *columns(Word(HaltState), "state"),
    *texts("reason", "actor"),
    *instants("at"),
)
halt_events = Table(
    "halt_events",
    METADATA,
    Column("event_number", BigInteger, Identity(always=True), primary_key=True),
    *texts("account_id"),
    *columns(Word(HaltState), "state"),
    *texts("reason", "actor"),
    *instants("at"),
)
