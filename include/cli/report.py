"""The report of a cycle for people: aligned tables of plain text, from the values of the JSON.

Pure functions; what a report lacks (a cycle that failed early) is left out.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

NEW_YORK = ZoneInfo("America/New_York")
ORDER_COLUMNS = ("symbol", "leg", "side", "quantity", "limit_price", "status", "standing")
NUMBER_COLUMNS = {"quantity", "limit_price", "seconds", "symbols"}


def render_report(report: Mapping[str, Any]) -> str:
    """Return the report of a cycle as text, without a line break at its end."""
    sections = [
        _header(report),
        _stages(report.get("stage_seconds") or {}),
        _forecasts(report),
        _orders(report),
        _denials(report.get("denials") or []),
        _account(report),
        _next_steps(report),
    ]
    return "\n\n".join(section for section in sections if section)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return rows under their columns' names, aligned; columns of numbers to the right."""
    cells = [list(columns), *[[_cell(value) for value in row] for row in rows]]
    widths = [max(len(row[index]) for row in cells) for index in range(len(columns))]
    right = [name in NUMBER_COLUMNS for name in columns]
    lines = [
        "  ".join(
            value.rjust(width) if is_right else value.ljust(width)
            for value, width, is_right in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in cells
    ]
    return "\n".join(f"  {line}" for line in lines)


def _header(report: Mapping[str, Any]) -> str:
    lines = [f"Cycle {report['cycle_id']}"]
    if report.get("as_of"):
        as_of = datetime.fromisoformat(str(report["as_of"])).astimezone(UTC)
        local = as_of.astimezone(NEW_YORK)
        lines.append(f"  as of    {as_of:%Y-%m-%d %H:%M:%S} UTC, {local:%a %H:%M} in New York")
    lines.append(f"  state    {report.get('state', 'unknown')}{_dry(report)}")
    return "\n".join(lines)


def _dry(report: Mapping[str, Any]) -> str:
    return " (dry run: no order was sent)" if report.get("is_dry_run") else ""


def _stages(seconds: Mapping[str, float]) -> str:
    if not seconds:
        return ""
    rows = [(name, f"{value:.2f}") for name, value in seconds.items()]
    return "Stages\n" + table(("stage", "seconds"), rows)


def _forecasts(report: Mapping[str, Any]) -> str:
    decisions = report.get("decisions") or []
    if not decisions:
        return ""
    counted = Counter((row["decision"], row["reason"], row["outcome"]) for row in decisions)
    rows = [(*key, count) for key, count in sorted(counted.items(), key=lambda pair: -pair[1])]
    rate = report.get("reuse_rate")
    reuse = "no forecast was in force before" if rate is None else f"reuse rate {rate:.0%}"
    head = (
        f"Forecasts: {report['symbols']} symbols, {report['predicted']} predicted, "
        f"{report['reused']} reused, {report['blocked']} blocked; {reuse}"
    )
    return f"{head}\n" + table(("decision", "reason", "outcome", "symbols"), rows)


def _orders(report: Mapping[str, Any]) -> str:
    if "orders_placed" not in report:
        return ""
    head = (
        f"Orders: {report['orders_placed']} placed, {report['orders_kept']} kept, "
        f"{report['orders_cancelled']} cancelled, {report['denied']} denied"
    )
    orders = report.get("orders") or []
    if not orders:
        return head
    rows = [[order.get(name) for name in ORDER_COLUMNS] for order in orders]
    return f"{head}\n" + table(ORDER_COLUMNS, rows)


def _denials(denials: Sequence[Mapping[str, Any]]) -> str:
    if not denials:
        return ""
    columns = ("symbol", "reason", "found", "bound")
    return "Denied\n" + table(columns, [[row.get(name) for name in columns] for row in denials])


def _account(report: Mapping[str, Any]) -> str:
    if report.get("equity_usd") is None:
        return ""
    return f"Equity {float(report['equity_usd']):,.2f} USD"


def _next_steps(report: Mapping[str, Any]) -> str:
    if report.get("state") == "failed":
        return (
            "Where to look: './tradewind doctor' checks every part; logs are in .tradewind/logs."
        )
    return (
        "Next: './tradewind cycle' runs the next one; './tradewind up' shows account and runs "
        "in a browser."
    )


def _cell(value: object) -> str:
    return "-" if value is None else str(value)
