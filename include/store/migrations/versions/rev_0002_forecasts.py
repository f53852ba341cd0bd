"""The forecast ledger, decisions and what was issued."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

UP = """
CREATE TABLE tradewind.model_versions (
    model_version_id integer GENERATED ALWAYS AS IDENTITY, model text NOT NULL,
    checkpoint_hash text NOT NULL, engine_version text NOT NULL,
    transform_version text NOT NULL,
    CONSTRAINT model_versions_pkey PRIMARY KEY (model_version_id),
    CONSTRAINT model_versions_model_key
        UNIQUE (model, checkpoint_hash, engine_version, transform_version)
);
CREATE TABLE tradewind.forecasts (
    content_key text NOT NULL, symbol text NOT NULL, model_version_id integer NOT NULL,
    origin timestamptz NOT NULL, window_opens_at timestamptz NOT NULL,
    window_ends_at timestamptz NOT NULL, step_ends bigint[] NOT NULL,
    n_samples integer NOT NULL, horizon integer NOT NULL, quantiles bytea NOT NULL,
    paths_sha256 bytea NOT NULL, engine_seconds float8 NOT NULL, options jsonb NOT NULL,
    first_issued_at timestamptz NOT NULL, open float8 NOT NULL, high float8 NOT NULL,
    low float8 NOT NULL, close float8 NOT NULL, close_low float8 NOT NULL,
    close_high float8 NOT NULL,
    CONSTRAINT forecasts_pkey PRIMARY KEY (content_key),
    CONSTRAINT forecasts_model_version_id_fkey
        FOREIGN KEY (model_version_id) REFERENCES tradewind.model_versions (model_version_id)
);
CREATE INDEX forecasts_symbol_origin ON tradewind.forecasts (symbol, origin);
CREATE TABLE tradewind.forecast_paths (
    content_key text NOT NULL, paths bytea NOT NULL,
    CONSTRAINT forecast_paths_pkey PRIMARY KEY (content_key),
    CONSTRAINT forecast_paths_content_key_fkey
        FOREIGN KEY (content_key) REFERENCES tradewind.forecasts (content_key)
);
CREATE TABLE tradewind.forecast_decisions (
    cycle_id text NOT NULL, symbol text NOT NULL, decision text NOT NULL,
    reason text NOT NULL, price_at_issue float8, mid float8, move_fraction float8,
    threshold_fraction float8, age_seconds float8, max_age_seconds float8,
    detail text NOT NULL, old_key text, new_key text, outcome text NOT NULL,
    engine_seconds float8 NOT NULL, model_label text NOT NULL,
    CONSTRAINT forecast_decisions_pkey PRIMARY KEY (cycle_id, symbol),
    CONSTRAINT forecast_decisions_cycle_id_fkey
        FOREIGN KEY (cycle_id) REFERENCES tradewind.cycles (cycle_id)
);
CREATE TABLE tradewind.issued_forecasts (
    cycle_id text NOT NULL, symbol text NOT NULL,
    issue_number bigint GENERATED ALWAYS AS IDENTITY, content_key text NOT NULL,
    control_key text, model_label text NOT NULL, config_hash text NOT NULL,
    window_opens_at timestamptz NOT NULL, window_ends_at timestamptz NOT NULL,
    origin timestamptz NOT NULL, price_at_issue float8 NOT NULL,
    issued_at timestamptz NOT NULL,
    CONSTRAINT issued_forecasts_pkey PRIMARY KEY (cycle_id, symbol),
    CONSTRAINT issued_forecasts_cycle_id_fkey
        FOREIGN KEY (cycle_id) REFERENCES tradewind.cycles (cycle_id)
);
CREATE INDEX issued_forecasts_newest
    ON tradewind.issued_forecasts (symbol, issued_at, issue_number);

-- float32 noise does not compress: store it out of line as it is
ALTER TABLE tradewind.forecast_paths ALTER COLUMN paths SET STORAGE EXTERNAL;
ALTER TABLE tradewind.forecasts ALTER COLUMN quantiles SET STORAGE EXTERNAL;
CREATE TRIGGER forecasts_insert_only BEFORE UPDATE OR DELETE ON tradewind.forecasts
    FOR EACH STATEMENT EXECUTE FUNCTION tradewind.refuse_change();
CREATE TRIGGER issued_forecasts_insert_only BEFORE UPDATE OR DELETE ON tradewind.issued_forecasts
    FOR EACH STATEMENT EXECUTE FUNCTION tradewind.refuse_change();
"""
DOWN = """
DROP TABLE tradewind.issued_forecasts, tradewind.forecast_decisions,
    tradewind.forecast_paths, tradewind.forecasts, tradewind.model_versions;
"""


def upgrade() -> None:
    """Create the tables."""
    op.execute(UP)


def downgrade() -> None:
    """Drop the tables with everything in them."""
    op.execute(DOWN)
