"""The report of a cycle for people."""

from include.cli.report import render_report, table

REPORT = {
    "cycle_id": "cycle-20100308T143000Z-a1b2c3",
    "as_of": "2010-03-08T14:30:00+00:00",
    "state": "success",
    "is_dry_run": False,
    "stage_seconds": {"reconcile": 0.213, "fetch": 1.5},
    "symbols": 3,
    "predicted": 2,
    "reused": 1,
    "blocked": 0,
    "reuse_rate": 0.333,
    "orders_placed": 1,
    "orders_kept": 0,
    "orders_cancelled": 0,
    "denied": 1,
    "equity_usd": "100000.5",
    "decisions": [
        {"symbol": "BA", "decision": "predict", "reason": "first", "outcome": "computed"},
        {"symbol": "KO", "decision": "predict", "reason": "first", "outcome": "computed"},
        {"symbol": "GE", "decision": "keep", "reason": "fresh", "outcome": "none"},
    ],
    "orders": [
        {
            "symbol": "BA",
            "leg": "entry",
            "side": "buy",
            "quantity": "4",
            "limit_price": "67.11",
            "status": "new",
            "standing": "probe",
        },
        {
            "symbol": "KO",
            "leg": "exit",
            "side": "sell",
            "quantity": "12",
            "limit_price": None,
            "status": "filled",
            "standing": "proven",
        },
    ],
    "denials": [{"symbol": "GE", "reason": "gross_cap", "found": "1.02", "bound": "1.0"}],
}

EXPECTED = """\
Cycle cycle-20100308T143000Z-a1b2c3
  as of    2010-03-08 14:30:00 UTC, Mon 09:30 in New York
  state    success

Stages
  stage      seconds
  reconcile     0.21
  fetch         1.50

Forecasts: 3 symbols, 2 predicted, 1 reused, 0 blocked; reuse rate 33%
  decision  reason  outcome   symbols
  predict   first   computed        2
  keep      fresh   none            1

Orders: 1 placed, 0 kept, 0 cancelled, 1 denied
  symbol  leg    side  quantity  limit_price  status  standing
  BA      entry  buy          4        67.11  new     probe
  KO      exit   sell        12            -  filled  proven

Denied
  symbol  reason     found  bound
  GE      gross_cap  1.02   1.0

Equity 100,000.50 USD

Next: './tradewind cycle' runs the next one; './tradewind up' shows account and runs in a \
browser."""


def test_shows_a_whole_cycle():
    """Header, stages, decisions by reason, orders, denials, equity and the next step."""
    assert render_report(REPORT) == EXPECTED


def test_a_cycle_that_failed_early_shows_what_there_is():
    """Sections without values are left out, and the reader is told where to look."""
    text = render_report({"cycle_id": "c", "state": "failed"})
    assert text.splitlines() == [
        "Cycle c",
        "  state    failed",
        "",
        "Where to look: './tradewind doctor' checks every part; logs are in .tradewind/logs.",
    ]


def test_a_dry_run_says_so():
    """Nobody takes its orders for sent ones."""
    assert "dry run: no order was sent" in render_report({**REPORT, "is_dry_run": True})


def test_without_forecasts_before_there_is_no_reuse_rate():
    """A first cycle has nothing to reuse, which is not a rate of zero."""
    text = render_report({**REPORT, "reuse_rate": None})
    assert "no forecast was in force before" in text


def test_a_table_is_as_wide_as_its_widest_cells():
    """Columns are aligned, without blanks at the ends of lines."""
    assert table(("a", "seconds"), [("long", 1), (None, 22)]) == (
        "  a     seconds\n  long        1\n  -          22"
    )
