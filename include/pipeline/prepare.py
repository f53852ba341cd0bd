"""Prepares the database: brings the schema `tradewind` to its newest revision."""

import sys

from include.pipeline.wiring.store import database_url
from include.settings import load_settings
from include.store.engine import migrate


def run() -> str:
    """Migrate the schema and return its revision; running twice changes nothing."""
    return migrate(database_url(load_settings()))


if __name__ == "__main__":
    sys.stderr.write(f"Schema tradewind is at revision {run()}.\n")
