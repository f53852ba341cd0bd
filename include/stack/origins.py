"""Where each setting comes from: environment, `tradewind.toml` or default; pure functions."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from include.errors import ConfigurationError
from include.settings import KEY_ALIASES

TOML_FILE = "tradewind.toml"
KEY_FIELDS = {"key_id": "APCA_API_KEY_ID", "secret_key": "APCA_API_SECRET_KEY"}
BASE_URL = "APCA_API_BASE_URL"


def flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield dotted names and values of nested settings, in their order."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def origin(name: str, *, environment: Mapping[str, str], toml: Mapping[str, Any]) -> str:
    """Return the variable that sets a dotted name, else `tradewind.toml`, else `default`."""
    for variable in _variables(name):
        if variable in environment:
            return variable
    return TOML_FILE if name in dict(flat(toml)) else "default"


def read_toml(folder: Path) -> dict[str, Any]:
    """Return `tradewind.toml` of a folder; empty where there is none."""
    try:
        return tomllib.loads((folder / TOML_FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        message = f"{TOML_FILE} can't be read: {error}. Correct the file or remove it."
        raise ConfigurationError(message) from error


def _variables(name: str) -> list[str]:
    if name in KEY_FIELDS:
        return [KEY_FIELDS[name], *KEY_ALIASES[KEY_FIELDS[name]]]
    parts = name.upper().split(".")
    nested = ["TRADEWIND_" + "__".join(parts[:end]) for end in range(len(parts), 0, -1)]
    return [BASE_URL, *nested] if name == "venue.trading_url" else nested
