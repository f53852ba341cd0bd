"""`./tradewind show-config`: every setting, secrets masked, with its origin."""

import argparse
from typing import Any

from include.cli.exits import Exit
from include.cli.output import show, show_json
from include.cli.report import table
from include.settings import load_settings, project_root, shown
from include.stack.environment import user_environment
from include.stack.origins import flat, origin, read_toml


def run(arguments: argparse.Namespace) -> int:
    """Print the settings that a cycle would use now."""
    values = shown(load_settings())
    environment, toml = user_environment(), read_toml(project_root())
    rows = [
        {"name": name, "value": value, "origin": origin(name, environment=environment, toml=toml)}
        for name, value in flat(values)
    ]
    if arguments.json:
        show_json({"settings": rows})
    else:
        columns = ("name", "origin", "value")
        show(table(columns, [(row["name"], row["origin"], _text(row["value"])) for row in rows]))
    return Exit.DONE


def _text(value: Any) -> str:  # noqa: ANN401  # a setting of any type
    if value is None:
        return "not set"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
