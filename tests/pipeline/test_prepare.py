"""Prepare: the schema of this installation's database, and the wiring behind every step."""

import pytest

from include.errors import ConfigurationError
from include.pipeline import prepare
from include.pipeline.wiring.broker import open_broker
from include.pipeline.wiring.forecast import decode_options, open_engine
from include.pipeline.wiring.store import open_database


def test_preparing_twice_ends_at_the_same_revision(settings):
    """A migrated database is left as it is."""
    assert settings.database_url is not None
    assert prepare.run() == prepare.run()


def test_database_without_an_address_is_refused_by_the_variables_name(make_settings):
    """The sentence names the variable and the form of its value."""
    settings = make_settings().model_copy(update={"database_url": None})
    with pytest.raises(ConfigurationError, match="TRADEWIND_DATABASE_URL was not set"):
        open_database(settings)


@pytest.mark.parametrize("absent", ["APCA_API_KEY_ID", "APCA_API_SECRET_KEY"])
def test_broker_without_a_key_is_refused_by_the_variables_name(make_settings, monkeypatch, absent):
    """The first absent key is named, before anything is called."""
    monkeypatch.setenv("APCA_API_KEY_ID", "PKTEST")
    monkeypatch.setenv("APCA_API_SECRET_KEY", "secret")
    monkeypatch.delenv(absent)
    with pytest.raises(ConfigurationError, match=f"{absent} was not set"):
        open_broker(make_settings())


def test_engines_are_loaded_once_and_databases_have_one_pool(settings):
    """A process has one engine per model and one pool per address."""
    assert open_engine("naive") is open_engine("naive")
    assert open_database(settings) is open_database(settings)


def test_decode_options_are_those_of_the_settings(make_settings):
    """Samples and seed reach the engine as they were set."""
    options = decode_options(make_settings(FORECAST__SAMPLES="9", FORECAST__SEED="3"))
    assert (options.n_samples, options.seed) == (9, 3)
