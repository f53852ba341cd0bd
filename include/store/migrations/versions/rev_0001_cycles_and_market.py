"""Cycles, settings versions, reports and market data."""

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

UP = """
CREATE TABLE tradewind.settings_versions (
    settings_hash text NOT NULL, settings json NOT NULL,
    saved_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT settings_versions_pkey PRIMARY KEY (settings_hash)
);
CREATE TABLE tradewind.cycles (
    cycle_id text NOT NULL, cycle_number bigint GENERATED ALWAYS AS IDENTITY,
    as_of timestamptz NOT NULL, account_id text NOT NULL, settings_hash text NOT NULL,
    request jsonb NOT NULL, state text NOT NULL, symbols text[] NOT NULL,
    CONSTRAINT cycles_pkey PRIMARY KEY (cycle_id)
);
CREATE INDEX cycles_account ON tradewind.cycles (account_id, as_of, cycle_number);
CREATE INDEX cycles_as_of ON tradewind.cycles (as_of, cycle_number);
CREATE TABLE tradewind.cycle_stages (
    cycle_id text NOT NULL, stage text NOT NULL, part text NOT NULL,
    started_at timestamptz NOT NULL, ended_at timestamptz NOT NULL, detail json NOT NULL,
    CONSTRAINT cycle_stages_pkey PRIMARY KEY (cycle_id, stage, part),
    CONSTRAINT cycle_stages_cycle_id_fkey
        FOREIGN KEY (cycle_id) REFERENCES tradewind.cycles (cycle_id)
);
CREATE TABLE tradewind.reports (
    cycle_id text NOT NULL, report json NOT NULL, markdown text NOT NULL,
    saved_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT reports_pkey PRIMARY KEY (cycle_id),
    CONSTRAINT reports_cycle_id_fkey
        FOREIGN KEY (cycle_id) REFERENCES tradewind.cycles (cycle_id)
);
CREATE TABLE tradewind.instruments (
    symbol text NOT NULL, asset_class text NOT NULL, name text NOT NULL,
    is_tradable boolean NOT NULL, is_shortable boolean NOT NULL,
    is_fractionable boolean NOT NULL, quantity_increment numeric NOT NULL,
    minimum_quantity numeric NOT NULL, price_increment_usd numeric,
    seen_at timestamptz NOT NULL,
    CONSTRAINT instruments_pkey PRIMARY KEY (symbol)
);
CREATE TABLE tradewind.sessions (
    session_date date NOT NULL, opens_at timestamptz NOT NULL,
    closes_at timestamptz NOT NULL, seen_at timestamptz NOT NULL,
    CONSTRAINT sessions_pkey PRIMARY KEY (session_date)
);
CREATE TABLE tradewind.bars (
    symbol text NOT NULL, timeframe text NOT NULL, start timestamptz NOT NULL,
    revision integer NOT NULL, recorded_at timestamptz NOT NULL,
    bar_end timestamptz NOT NULL, open float8 NOT NULL, high float8 NOT NULL,
    low float8 NOT NULL, close float8 NOT NULL, volume float8 NOT NULL,
    amount float8 NOT NULL,
    CONSTRAINT bars_pkey PRIMARY KEY (symbol, timeframe, start, revision)
);
CREATE TABLE tradewind.quotes (
    cycle_id text NOT NULL, symbol text NOT NULL, bid float8 NOT NULL, ask float8 NOT NULL,
    at timestamptz NOT NULL,
    CONSTRAINT quotes_pkey PRIMARY KEY (cycle_id, symbol),
    CONSTRAINT quotes_cycle_id_fkey
        FOREIGN KEY (cycle_id) REFERENCES tradewind.cycles (cycle_id)
);
CREATE TABLE tradewind.data_refusals (
    cycle_id text NOT NULL, symbol text NOT NULL, reason text NOT NULL,
    CONSTRAINT data_refusals_pkey PRIMARY KEY (cycle_id, symbol),
    CONSTRAINT data_refusals_cycle_id_fkey
        FOREIGN KEY (cycle_id) REFERENCES tradewind.cycles (cycle_id)
);

CREATE FUNCTION tradewind.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME;
END
$$;
CREATE TRIGGER bars_insert_only BEFORE UPDATE ON tradewind.bars
    FOR EACH STATEMENT EXECUTE FUNCTION tradewind.refuse_change();
"""
DOWN = """
DROP TABLE tradewind.data_refusals, tradewind.quotes, tradewind.bars, tradewind.sessions,
    tradewind.instruments, tradewind.reports, tradewind.cycle_stages, tradewind.cycles,
    tradewind.settings_versions;
DROP FUNCTION tradewind.refuse_change;
"""


def upgrade() -> None:
    """Create the tables."""
    op.execute(UP)


def downgrade() -> None:
    """Drop the tables with everything in them."""
    op.execute(DOWN)
