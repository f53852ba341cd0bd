"""What a stack is brought up with, from the user's settings."""

import pytest
from pydantic import SecretStr

from include.errors import ConfigurationError
from include.settings import Settings
from include.stack.origins import flat, origin, read_toml
from include.stack.plan import chosen_settings, plan_for
from include.stack.state import StateFolder


def a_plan(tmp_path, verb="cycle", *, user=None, **settings):
    """Return the plan of a verb for settings as given, from an empty project folder."""
    return plan_for(
        verb,
        project=tmp_path,
        state=StateFolder(root=tmp_path),
        settings=Settings(**settings),
        user=user or {},
    )


KEYS = {"key_id": SecretStr("PKX"), "secret_key": SecretStr("planted")}


def test_a_cycle_is_its_own_schedule(tmp_path):
    """No other run starts beside a cycle, whatever the user's schedule is."""
    plan = a_plan(tmp_path, user={"TRADEWIND_SCHEDULE__KIND": "market_hours"})
    assert chosen_settings(plan)["TRADEWIND_SCHEDULE__KIND"] == "manual"


def test_up_runs_every_minute_in_simulated_time_and_in_market_hours_with_alpaca(tmp_path):
    """The venue decides the schedule unless the user does."""
    kind = "TRADEWIND_SCHEDULE__KIND"
    assert chosen_settings(a_plan(tmp_path, "up"))[kind] == "every_minute"
    assert chosen_settings(a_plan(tmp_path, "up", **KEYS))[kind] == "market_hours"
    assert kind not in chosen_settings(a_plan(tmp_path, "up", user={kind: "manual"}))


def test_only_a_simulated_account_probes_unproven_strategies(tmp_path):
    """The user's own value stays, from the environment or tradewind.toml, and so does Alpaca's."""
    probe = "TRADEWIND_PORTFOLIO__UNPROVEN"
    assert chosen_settings(a_plan(tmp_path))[probe] == "probe"
    assert probe not in chosen_settings(a_plan(tmp_path, user={probe: "off"}))
    assert probe not in chosen_settings(a_plan(tmp_path, **KEYS))
    (tmp_path / "tradewind.toml").write_text('[portfolio]\nunproven = "off"\n')
    assert probe not in chosen_settings(a_plan(tmp_path))


def test_half_a_pair_of_keys_is_refused(tmp_path):
    """The sentence names both variables."""
    with pytest.raises(ConfigurationError, match="Set both for an Alpaca paper account"):
        a_plan(tmp_path, key_id=SecretStr("PKX"))


@pytest.mark.parametrize(
    ("name", "environment", "toml", "expected"),
    [
        ("venue.feed", {}, {}, "default"),
        ("venue.feed", {}, {"venue": {"feed": "sip"}}, "tradewind.toml"),
        ("venue.feed", {"TRADEWIND_VENUE__FEED": "sip"}, {}, "TRADEWIND_VENUE__FEED"),
        ("venue.feed", {"TRADEWIND_VENUE": "{}"}, {}, "TRADEWIND_VENUE"),
        ("key_id", {"ALPACA_API_KEY": "x"}, {}, "ALPACA_API_KEY"),
        ("venue.trading_url", {"APCA_API_BASE_URL": "x"}, {}, "APCA_API_BASE_URL"),
        (
            "venue.feed",
            {"TRADEWIND_VENUE__FEED": "sip"},
            {"venue": {"feed": "iex"}},
            "TRADEWIND_VENUE__FEED",
        ),
    ],
)
def test_names_where_a_setting_comes_from(name, environment, toml, expected):
    """The environment goes before tradewind.toml, and that before the default."""
    assert origin(name, environment=environment, toml=toml) == expected


def test_flat_names_every_setting():
    """Nested groups become dotted names in their order."""
    assert list(flat({"a": {"b": 1, "c": [2]}, "d": None})) == [
        ("a.b", 1),
        ("a.c", [2]),
        ("d", None),
    ]


def test_a_malformed_toml_is_a_sentence(tmp_path):
    """The sentence names the file; without a file there is nothing set."""
    assert read_toml(tmp_path) == {}
    (tmp_path / "tradewind.toml").write_text("[portfolio\n")
    with pytest.raises(ConfigurationError, match=r"tradewind\.toml can't be read"):
        read_toml(tmp_path)
