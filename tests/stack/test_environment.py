"""The environment of the stack's processes: nothing of the user's that breaks it, no leak."""

from pathlib import Path

from include.stack.environment import (
    AirflowPlan,
    TradingPlan,
    airflow_variables,
    inherited,
    trading_variables,
    with_marker,
    without_venue,
)
from include.stack.record import Venue
from include.stack.secrets import generate

SECRETS = generate()
VENUE = Venue(
    trading_url="http://127.0.0.1:9",
    data_url="http://127.0.0.1:9",
    key_id="PKPLANTEDKEY",
    secret_key="planted-secret",
)
PLAN = AirflowPlan(
    home=Path("/s/airflow"),
    dags=Path("/p/dags"),
    plugins=Path("/p/plugins"),
    port=8123,
    log_ports=(8124, 8125),
    database_url="postgresql+psycopg2://postgres:planted-password@/airflow",
    secrets=SECRETS,
)


def an_environment(**user):
    """Return what processes inherit from a user's environment."""
    return inherited(user, project=Path("/p"), state=Path("/s"))


def test_drops_airflows_variables_of_the_users_shell():
    """A shell set up for another Airflow changes nothing."""
    found = an_environment(
        AIRFLOW__CORE__EXECUTOR="Nonsense", AIRFLOW_HOME="/other", AIRFLOW_CONN_X="kept"
    )
    assert [name for name in found if name.startswith("AIRFLOW")] == ["AIRFLOW_CONN_X"]


def test_no_proxy_stands_between_this_machine_and_itself():
    """Loopback is added to what the user exempted, in both spellings."""
    found = an_environment(HTTPS_PROXY="http://proxy:3128", NO_PROXY="intranet")
    assert found["NO_PROXY"] == found["no_proxy"] == "intranet,127.0.0.1,localhost,::1"
    assert found["HTTPS_PROXY"] == "http://proxy:3128"


def test_children_find_the_project_and_the_state():
    """PYTHONPATH is the project alone, whatever the user's was; the programs are .venv's."""
    found = an_environment(PYTHONPATH="/elsewhere", PATH="/usr/bin")
    assert found["PYTHONPATH"] == "/p"
    assert found["TRADEWIND_STATE_DIR"] == "/s"
    assert found["PATH"].endswith(":/usr/bin")


def test_threads_are_the_users_choice_before_the_machines():
    """One thread a process unless OMP_NUM_THREADS was given: batches run side by side."""
    assert an_environment()["OMP_NUM_THREADS"] == "1"
    assert an_environment(OMP_NUM_THREADS="3")["OMP_NUM_THREADS"] == "3"


def test_everything_of_airflow_listens_on_loopback():
    """Host and addresses are 127.0.0.1 with the plan's own port."""
    found = airflow_variables(PLAN)
    assert found["AIRFLOW__API__HOST"] == "127.0.0.1"
    assert found["AIRFLOW__API__BASE_URL"] == "http://127.0.0.1:8123"
    assert found["AIRFLOW__CORE__EXECUTION_API_SERVER_URL"] == "http://127.0.0.1:8123/execution/"
    assert not [value for value in found.values() if "0.0.0.0" in value or "localhost" in value]


def test_tasks_get_database_and_venue():
    """The simulated venue's address and keys are given; the user's own venue is left alone."""
    given = trading_variables(TradingPlan(database_url="db", venue=VENUE, chosen={"A": "1"}))
    assert given["APCA_API_KEY_ID"] == "PKPLANTEDKEY"
    assert given["TRADEWIND_VENUE__TRADING_URL"] == "http://127.0.0.1:9"
    assert given["A"] == "1"
    own = trading_variables(TradingPlan(database_url="db", venue=None, chosen={}))
    assert own == {"TRADEWIND_DATABASE_URL": "db"}


def test_no_other_venue_reaches_the_simulated_one():
    """Keys, aliases and base address of another venue are taken out, everything else stays."""
    user = {
        "APCA_API_BASE_URL": "https://paper-api.alpaca.markets",
        "ALPACA_API_KEY": "x",
        "ALPACA_SECRET_KEY": "y",
        "LANG": "C",
    }
    assert without_venue(user) == {"LANG": "C"}


def test_the_callers_environment_is_not_changed():
    """Each function returns a new environment."""
    user = {"APCA_API_KEY_ID": "x", "AIRFLOW_HOME": "/other"}
    inherited(user, project=Path("/p"), state=Path("/s"))
    without_venue(user)
    with_marker(user, "m")
    assert user == {"APCA_API_KEY_ID": "x", "AIRFLOW_HOME": "/other"}


def test_no_secret_shows_in_a_repr():
    """Plans, venue and secrets can be logged."""
    trading = TradingPlan(database_url="planted-url", venue=VENUE, chosen={})
    words = f"{PLAN!r} {VENUE!r} {SECRETS!r} {trading!r}"
    planted = (
        "planted",
        "PKPLANTEDKEY",
        SECRETS.fernet_key,
        SECRETS.jwt_secret,
        SECRETS.api_secret_key,
        SECRETS.admin_password,
    )
    assert not [secret for secret in planted if secret in words]
