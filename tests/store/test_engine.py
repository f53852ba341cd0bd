"""Engine and migrations: addresses, idempotence, two processes at once."""

import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url

from include.errors import ConfigurationError, InstallationFault, StoreUnavailable
from include.store.engine import current_revision, make_engine, migrate, shown_url
from include.store.unit_of_work import Database

HEAD = "0004"


@pytest.fixture
def empty_url(postgres):
    """Give the address of a database without any schema."""
    name = f"empty_{uuid.uuid4().hex}"
    with postgres.engine.connect() as connection:
        connection.execution_options(isolation_level="AUTOCOMMIT")
        connection.execute(text(f"CREATE DATABASE {name}"))
        yield make_url(postgres.url).set(database=name).render_as_string(hide_password=False)
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))


def test_migrating_twice_changes_nothing(empty_url):
    """The second migration finds the head and leaves it."""
    assert current_revision(empty_url) is None
    assert migrate(empty_url) == HEAD
    assert migrate(empty_url) == HEAD
    assert current_revision(empty_url) == HEAD


def test_processes_that_migrate_at_once_all_reach_the_head(empty_url):
    """The lock lets one of them work and the others find it done."""
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(migrate, [empty_url] * 4)) == [HEAD] * 4


def test_schema_of_a_newer_version_is_refused(empty_url):
    """A database that this version does not know is left alone, with what to do."""
    migrate(empty_url)
    engine = make_engine(empty_url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE tradewind.alembic_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(InstallationFault, match=r"'9999'.* Install the version that made it"):
        migrate(empty_url)


def test_missing_schema_is_named_with_its_cure(empty_url):
    """A query before any migration says what is missing and how it is made."""
    database = Database(empty_url)
    with (
        database.unit_of_work() as uow,
        pytest.raises(InstallationFault, match=r"tradewind.cycles.* doctor"),
    ):
        uow.cycles.latest()
    database.dispose()


def test_connections_name_the_application_and_speak_utc(postgres):
    """An operator sees in pg_stat_activity whose connection it is."""
    with postgres.engine.connect() as connection:
        row = connection.execute(
            text("SELECT current_setting('application_name'), current_setting('timezone')")
        ).one()
    assert tuple(row) == ("tradewind", "UTC")


@pytest.mark.parametrize("scheme", ["postgresql", "postgresql+psycopg2"])
def test_both_spellings_of_the_address_use_psycopg2(scheme):
    """A bare postgresql:// does not choose another driver."""
    engine = make_engine(f"{scheme}://trader@localhost/tradewind")
    assert engine.url.drivername == "postgresql+psycopg2"


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("sqlite:///x.db", "was sqlite:///x.db; give a postgresql://"),
        ("mysql://trader:hunter2@host/x", r"was mysql://trader:\*\*\*@host/x; give"),
        ("no address", "is no URL; give postgresql://user:password@host/database"),
    ],
)
def test_other_addresses_are_refused_without_their_password(url, sentence):
    """The sentence names the variable and shows no secret."""
    with pytest.raises(ConfigurationError, match=f"TRADEWIND_DATABASE_URL {sentence}"):
        make_engine(url)


def test_shown_url_has_no_password_in_any_place():
    """A password in the query is left out like one before the host."""
    url = make_url("postgresql://trader:hunter2@host/x?password=hunter3&sslmode=require")
    assert shown_url(url) == "postgresql://trader:***@host/x?sslmode=require"


def test_database_that_does_not_answer_is_unavailable_without_its_password():
    """The sentence says which database, and never shows the password."""
    url = "postgresql://trader:hunter2@127.0.0.1:1/tradewind"
    with pytest.raises(
        StoreUnavailable, match=r"trader:\*\*\*@127.0.0.1:1/tradewind did not"
    ) as caught:
        migrate(url)
    database = Database(url)
    with pytest.raises(StoreUnavailable, match="Connection refused"), database.unit_of_work():
        pass
    assert "hunter2" not in f"{caught.value} {database!r}"
