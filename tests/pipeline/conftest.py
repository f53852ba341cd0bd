"""Fixtures of the pipeline's tests: settings out of a clean environment, and a small world."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from include.pipeline.wiring.store import open_database
from include.settings import Settings, load_settings
from include.store.unit_of_work import Database
from tests.support.builders_pipeline import ENVIRONMENT, World, a_world

MakeSettings = Callable[..., Settings]


@pytest.fixture
def make_settings(
    database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[MakeSettings]:
    """Give a function that sets the environment and loads the settings from it."""
    monkeypatch.chdir(tmp_path)

    def make(**changes: str) -> Settings:
        changed = {f"TRADEWIND_{name}": value for name, value in changes.items()}
        database = {"TRADEWIND_DATABASE_URL": database_url}
        for name, value in (ENVIRONMENT | database | changed).items():
            monkeypatch.setenv(name, value)
        return load_settings()

    yield make
    open_database(make()).dispose()


@pytest.fixture
def settings(make_settings: MakeSettings) -> Settings:
    """Give settings under which a cycle takes a moment: the control is the model."""
    return make_settings()


@pytest.fixture
def world(database: Database, settings: Settings) -> World:
    """Give a world at the first cycle's instant, with an empty store."""
    return a_world(database, settings)
