"""The order journal, orders, fills, account snapshots and the halt latch."""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

UP = """
CREATE TABLE tradewind.order_intents (
    client_order_id text NOT NULL, entry_number bigint GENERATED ALWAYS AS IDENTITY,
    cycle_id text NOT NULL, account_id text NOT NULL, symbol text NOT NULL,
    leg text NOT NULL, side text NOT NULL, quantity numeric NOT NULL, limit_price numeric,
    time_in_force text NOT NULL, window_opens_at timestamptz NOT NULL,
    window_ends_at timestamptz NOT NULL, revision integer NOT NULL, standing text NOT NULL,
    strategy text NOT NULL, state text NOT NULL, venue_order_id text, venue_status text,
    filled_quantity numeric NOT NULL, filled_average_price numeric, planned_at timestamptz,
    sent_at timestamptz,
    CONSTRAINT order_intents_pkey PRIMARY KEY (client_order_id),
    CONSTRAINT order_intents_account_id_key
        UNIQUE (account_id, window_opens_at, symbol, leg, revision)
);
CREATE INDEX order_intents_cycle ON tradewind.order_intents (cycle_id);
CREATE INDEX order_intents_symbol ON tradewind.order_intents (account_id, symbol, entry_number);
CREATE INDEX order_intents_open
    ON tradewind.order_intents (account_id)
    WHERE (state NOT IN ('terminal', 'rejected'));
CREATE TABLE tradewind.order_events (
    event_number bigint GENERATED ALWAYS AS IDENTITY, client_order_id text NOT NULL,
    at timestamptz NOT NULL, from_state text NOT NULL, to_state text NOT NULL,
    venue_status text, detail text NOT NULL,
    CONSTRAINT order_events_pkey PRIMARY KEY (event_number),
    CONSTRAINT order_events_client_order_id_fkey
        FOREIGN KEY (client_order_id) REFERENCES tradewind.order_intents (client_order_id)
);
CREATE INDEX order_events_intent ON tradewind.order_events (client_order_id, event_number);
CREATE TABLE tradewind.orders (
    venue_order_id text NOT NULL, client_order_id text NOT NULL, symbol text NOT NULL,
    side text NOT NULL, order_type text NOT NULL, time_in_force text NOT NULL,
    status text NOT NULL, quantity numeric, filled_quantity numeric NOT NULL,
    filled_average_price numeric, limit_price numeric, submitted_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL, seen_at timestamptz NOT NULL,
    CONSTRAINT orders_pkey PRIMARY KEY (venue_order_id)
);
CREATE INDEX orders_client_order_id ON tradewind.orders (client_order_id);
CREATE INDEX orders_status ON tradewind.orders (status);
CREATE TABLE tradewind.fills (
    fill_id text NOT NULL, venue_order_id text NOT NULL, symbol text NOT NULL,
    side text NOT NULL, quantity numeric NOT NULL, price numeric NOT NULL,
    filled_at timestamptz NOT NULL,
    CONSTRAINT fills_pkey PRIMARY KEY (fill_id)
);
CREATE INDEX fills_filled_at ON tradewind.fills (filled_at);
CREATE TABLE tradewind.account_snapshots (
    cycle_id text NOT NULL, account_id text NOT NULL, account_number text NOT NULL,
    status text NOT NULL, equity_usd numeric NOT NULL, last_equity_usd numeric NOT NULL,
    cash_usd numeric NOT NULL, buying_power_usd numeric NOT NULL,
    is_blocked boolean NOT NULL, at timestamptz NOT NULL,
    CONSTRAINT account_snapshots_pkey PRIMARY KEY (cycle_id)
);
CREATE INDEX account_snapshots_account ON tradewind.account_snapshots (account_id, at);
CREATE INDEX account_snapshots_at ON tradewind.account_snapshots (at);
CREATE TABLE tradewind.snapshot_positions (
    cycle_id text NOT NULL, symbol text NOT NULL, quantity numeric NOT NULL,
    available_quantity numeric NOT NULL, average_entry_price numeric NOT NULL,
    current_price numeric NOT NULL, market_value_usd numeric NOT NULL,
    unrealised_pnl_usd numeric NOT NULL,
    CONSTRAINT snapshot_positions_pkey PRIMARY KEY (cycle_id, symbol),
    CONSTRAINT snapshot_positions_cycle_id_fkey
        FOREIGN KEY (cycle_id) REFERENCES tradewind.account_snapshots (cycle_id)
);
CREATE TABLE tradewind.halts (
    account_id text NOT NULL, state text NOT NULL, reason text NOT NULL,
    actor text NOT NULL, at timestamptz NOT NULL,
    CONSTRAINT halts_pkey PRIMARY KEY (account_id)
);
CREATE TABLE tradewind.halt_events (
    event_number bigint GENERATED ALWAYS AS IDENTITY, account_id text NOT NULL,
    state text NOT NULL, reason text NOT NULL, actor text NOT NULL, at timestamptz NOT NULL,
    CONSTRAINT halt_events_pkey PRIMARY KEY (event_number)
);

CREATE TRIGGER order_events_insert_only BEFORE UPDATE OR DELETE ON tradewind.order_events
    FOR EACH STATEMENT EXECUTE FUNCTION tradewind.refuse_change();
CREATE TRIGGER halt_events_insert_only BEFORE UPDATE OR DELETE ON tradewind.halt_events
    FOR EACH STATEMENT EXECUTE FUNCTION tradewind.refuse_change();
CREATE TRIGGER order_intents_kept BEFORE DELETE ON tradewind.order_intents
    FOR EACH STATEMENT EXECUTE FUNCTION tradewind.refuse_change();
"""
DOWN = """
DROP TABLE tradewind.halt_events, tradewind.halts, tradewind.snapshot_positions,
    tradewind.account_snapshots, tradewind.fills, tradewind.orders,
    tradewind.order_events, tradewind.order_intents;
"""


def upgrade() -> None:
    """Create the tables."""
    op.execute(UP)


def downgrade() -> None:
    """Drop the tables with everything in them."""
    op.execute(DOWN)
