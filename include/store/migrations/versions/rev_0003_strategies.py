"""Scores, choices, desired orders and denials."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

UP = """
CREATE TABLE tradewind.strategy_scores (
    cycle_id text NOT NULL, symbol text NOT NULL, strategy text NOT NULL,
    entry_number bigint GENERATED ALWAYS AS IDENTITY, buy_offset float8 NOT NULL,
    sell_offset float8 NOT NULL, closes_at_eod boolean NOT NULL, returns float8[] NOT NULL,
    in_sample_mean float8 NOT NULL, excess_low_fraction float8 NOT NULL,
    n_trials integer NOT NULL, fitted_on_windows integer NOT NULL, control text NOT NULL,
    is_eligible boolean NOT NULL, control_mean float8 NOT NULL,
    zero_offset_mean float8 NOT NULL, buy_hold_mean float8 NOT NULL,
    CONSTRAINT strategy_scores_pkey PRIMARY KEY (cycle_id, symbol, strategy),
    CONSTRAINT strategy_scores_cycle_id_fkey
        FOREIGN KEY (cycle_id) REFERENCES tradewind.cycles (cycle_id)
);
CREATE TABLE tradewind.choices (
    cycle_id text NOT NULL, symbol text NOT NULL,
    entry_number bigint GENERATED ALWAYS AS IDENTITY, strategy text NOT NULL, standing text,
    side integer NOT NULL, entry_price float8, take_profit_price float8,
    expected_exit_price float8, reason text NOT NULL, weight_fraction float8 NOT NULL,
    CONSTRAINT choices_pkey PRIMARY KEY (cycle_id, symbol),
    CONSTRAINT choices_cycle_id_fkey
        FOREIGN KEY (cycle_id) REFERENCES tradewind.cycles (cycle_id)
);
CREATE TABLE tradewind.order_plans (
    cycle_id text NOT NULL, saved_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT order_plans_pkey PRIMARY KEY (cycle_id),
    CONSTRAINT order_plans_cycle_id_fkey
        FOREIGN KEY (cycle_id) REFERENCES tradewind.cycles (cycle_id)
);
CREATE TABLE tradewind.desired_orders (
    cycle_id text NOT NULL, symbol text NOT NULL, leg text NOT NULL,
    entry_number bigint GENERATED ALWAYS AS IDENTITY, side text NOT NULL,
    quantity numeric NOT NULL, limit_price numeric, time_in_force text NOT NULL,
    window_opens_at timestamptz NOT NULL, window_ends_at timestamptz NOT NULL,
    standing text NOT NULL, strategy text NOT NULL, reason text NOT NULL,
    take_profit_price numeric,
    CONSTRAINT desired_orders_pkey PRIMARY KEY (cycle_id, symbol, leg),
    CONSTRAINT desired_orders_cycle_id_fkey
        FOREIGN KEY (cycle_id) REFERENCES tradewind.cycles (cycle_id)
);
CREATE TABLE tradewind.denials (
    cycle_id text NOT NULL, symbol text NOT NULL, reason text NOT NULL,
    entry_number bigint GENERATED ALWAYS AS IDENTITY, found text NOT NULL,
    bound text NOT NULL, at timestamptz, quantity numeric,
    CONSTRAINT denials_pkey PRIMARY KEY (cycle_id, symbol, reason),
    CONSTRAINT denials_cycle_id_fkey
        FOREIGN KEY (cycle_id) REFERENCES tradewind.cycles (cycle_id)
);
"""
DOWN = """
DROP TABLE tradewind.denials, tradewind.desired_orders, tradewind.order_plans,
    tradewind.choices, tradewind.strategy_scores;
"""


def upgrade() -> None:
    """Create the tables."""
    op.execute(UP)


def downgrade() -> None:
    """Drop the tables with everything in them."""
    op.execute(DOWN)
