"""Where the words go: results on stdout, progress on stderr, JSON once."""

import json
import sys
from collections.abc import Mapping


def say(line: str) -> None:
    """Print a line of progress on stderr, at once."""
    print(line, file=sys.stderr, flush=True)


def show(text: str) -> None:
    """Print a result on stdout, at once."""
    print(text, flush=True)


def show_json(values: Mapping[str, object]) -> None:
    """Print the one JSON object of a verb on stdout."""
    show(json.dumps(values, default=str))
