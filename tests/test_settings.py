"""Settings: what is refused, in whose name, and that secrets stay secret."""

from pathlib import Path

import pytest

from include.errors import ConfigurationError, LiveTradingForbidden
from include.settings import PAPER_URL, Settings, load_settings, settings_hash, shown

SECRETS = ("PKVERYSECRETKEY", "a-secret-of-the-venue", "a-password")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an empty working folder, in which a `tradewind.toml` may be laid."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_any_variable_the_defaults_are_paper(folder):
    """An empty environment trades 28 symbols on the paper service, and has no keys."""
    settings = load_settings()
    assert settings.venue.trading_url == PAPER_URL
    assert len(settings.universe.symbols) == 28
    assert (settings.key_id, settings.secret_key, settings.database_url) == (None, None, None)


@pytest.mark.parametrize(
    "url",
    [
        "https://api.alpaca.markets",
        "https://paper-api.alpaca.markets.example.com",
        "https://paper-api.alpaca.markets@example.com",
        "http://paper-api.alpaca.markets",
        "https://127.0.0.1.example.com",
        "ftp://127.0.0.1",
    ],
)
@pytest.mark.parametrize("name", ["TRADEWIND_VENUE__TRADING_URL", "APCA_API_BASE_URL"])
def test_address_that_is_neither_paper_nor_loopback_is_refused(monkeypatch, name, url):
    """Only Alpaca's paper service and this machine may get orders, whoever names the address."""
    monkeypatch.setenv(name, url)
    with pytest.raises(LiveTradingForbidden, match="TRADEWIND_VENUE__TRADING_URL"):
        load_settings()


def test_data_address_of_another_service_is_refused(monkeypatch):
    """Keys are not shown to a host that is not the venue's."""
    monkeypatch.setenv("TRADEWIND_VENUE__DATA_URL", "https://data.example.com")
    with pytest.raises(LiveTradingForbidden, match="TRADEWIND_VENUE__DATA_URL"):
        load_settings()


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8321", "http://localhost:8321", "http://[::1]:8321"]
)
def test_loopback_needs_no_paper_key(monkeypatch, url):
    """The simulated exchange takes any key."""
    monkeypatch.setenv("TRADEWIND_VENUE__TRADING_URL", url)
    monkeypatch.setenv("APCA_API_KEY_ID", "AKLIVE")
    assert load_settings().venue.trading_url == url


def test_base_url_of_the_venue_loses_its_version(monkeypatch):
    """Alpaca's own variable may end in /v2, which the client adds itself."""
    monkeypatch.setenv("APCA_API_BASE_URL", "http://127.0.0.1:8321/v2")
    assert load_settings().venue.trading_url == "http://127.0.0.1:8321"


def test_key_of_a_live_account_is_refused_for_the_paper_service(monkeypatch):
    """A key that does not begin with PK is refused without being shown."""
    monkeypatch.setenv("APCA_API_KEY_ID", "AKLIVEKEY")
    with pytest.raises(LiveTradingForbidden, match="APCA_API_KEY_ID") as refused:
        load_settings()
    assert "AKLIVEKEY" not in str(refused.value)


def test_aliases_that_contradict_one_another_are_refused(monkeypatch):
    """Two names of one key with two values are both named, and neither value is shown."""
    monkeypatch.setenv("APCA_API_KEY_ID", "PKONE")
    monkeypatch.setenv("ALPACA_API_KEY", "PKTWO")
    with pytest.raises(ConfigurationError, match="APCA_API_KEY_ID and ALPACA_API_KEY") as refused:
        load_settings()
    assert "PKONE" not in str(refused.value)


@pytest.mark.parametrize(
    "alias", ["APCA_API_SECRET_KEY", "ALPACA_SECRET_KEY", "ALPACA_API_SECRET"]
)
def test_each_alias_names_the_same_secret(monkeypatch, alias):
    """Every spelling that Alpaca's tools use is read."""
    monkeypatch.setenv(alias, "secret")
    secret = load_settings().secret_key
    assert secret is not None
    assert secret.get_secret_value() == "secret"


@pytest.mark.parametrize(
    ("name", "value", "bound"),
    [
        ("TRADEWIND_DATA__CONTEXT_BARS", "31", "greater than or equal to 32"),
        ("TRADEWIND_DATA__HISTORY_WINDOWS", "501", "less than or equal to 500"),
        ("TRADEWIND_FORECAST__STEP_CORRELATION", "1", "less than 1"),
        ("TRADEWIND_PORTFOLIO__SYMBOL_CAP_FRACTION", "1.5", "less than or equal to 1"),
        ("TRADEWIND_PORTFOLIO__PROBE_NOTIONAL_USD", "0", "greater than 0"),
        ("TRADEWIND_PORTFOLIO__UNPROVEN", "always", "'off' or 'probe'"),
        ("TRADEWIND_VENUE__FEED", "free", "'iex' or 'sip'"),
        ("TRADEWIND_SCHEDULE__EVERY_MINUTES", "often", "valid integer"),
    ],
)
def test_value_out_of_bounds_is_refused_with_variable_value_and_bound(
    monkeypatch, name, value, bound
):
    """The sentence says which variable had which value and what is allowed."""
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match=f"{name} was '{value}'.*{bound}"):
        load_settings()


def test_empty_universe_is_refused_with_an_example(monkeypatch):
    """A universe of no symbols is a fault, not a cycle of nothing."""
    monkeypatch.setenv("TRADEWIND_UNIVERSE__SYMBOLS", " , ")
    with pytest.raises(ConfigurationError, match="universe was empty"):
        load_settings()


def test_universe_is_a_list_with_commas_in_any_case(monkeypatch):
    """Blanks and small letters are read as they are meant."""
    monkeypatch.setenv("TRADEWIND_UNIVERSE__SYMBOLS", "aapl, btc/usd")
    assert load_settings().universe.symbols == ("AAPL", "BTC/USD")


def test_environment_comes_before_the_file(folder, monkeypatch):
    """A variable overrides `tradewind.toml`, and the file overrides the default."""
    (folder / "tradewind.toml").write_text("[data]\ncontext_bars = 128\nhistory_windows = 45\n")
    monkeypatch.setenv("TRADEWIND_DATA__CONTEXT_BARS", "256")
    data = load_settings().data
    assert (data.context_bars, data.history_windows) == (256, 45)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("[data]\ncontext_bar = 128\n", "TRADEWIND_DATA__CONTEXT_BAR "),
        ("[dtaa]\ncontext_bars = 128\n", "TRADEWIND_DTAA "),
        ("[universe]\nsymbol = ['AAPL']\n", "TRADEWIND_UNIVERSE__SYMBOL "),
    ],
)
def test_unknown_name_in_the_file_is_refused(folder, text, name):
    """A misspelt key is named instead of being ignored."""
    (folder / "tradewind.toml").write_text(text)
    with pytest.raises(ConfigurationError, match=name):
        load_settings()


def test_unreadable_file_is_refused_in_a_sentence(folder):
    """A file that is no TOML is a fault of the configuration, named by its file."""
    (folder / "tradewind.toml").write_text("[data\n")
    with pytest.raises(ConfigurationError, match=r"tradewind\.toml"):
        load_settings()


def with_secrets(monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Return settings that hold every secret."""
    key_id, secret, password = SECRETS
    monkeypatch.setenv("APCA_API_KEY_ID", key_id)
    monkeypatch.setenv("APCA_API_SECRET_KEY", secret)
    monkeypatch.setenv("TRADEWIND_DATABASE_URL", f"postgresql://user:{password}@host/name")
    return load_settings()


def test_secrets_are_masked_wherever_settings_are_shown(monkeypatch):
    """Neither the plain values nor the repr nor the text hold a key or a password."""
    settings = with_secrets(monkeypatch)
    for text in (str(shown(settings)), repr(settings), str(settings)):
        assert not [secret for secret in SECRETS if secret in text]


def test_hash_of_settings_ignores_secrets_alone(monkeypatch):
    """Other keys are the same version; another threshold is another one."""
    first = settings_hash(with_secrets(monkeypatch))
    monkeypatch.setenv("APCA_API_KEY_ID", "PKOTHER")
    assert settings_hash(load_settings()) == first
    monkeypatch.setenv("TRADEWIND_REPREDICT__MAX_AGE_SECONDS", "60")
    assert settings_hash(load_settings()) != first


def test_hash_of_settings_does_not_tell_whether_keys_are_there(monkeypatch):
    """A process without keys and one with them share the version of their settings."""
    without = settings_hash(load_settings())
    assert settings_hash(with_secrets(monkeypatch)) == without


def test_refused_secret_is_not_in_the_sentence(monkeypatch):
    """A fault beside a secret shows the fault alone."""
    monkeypatch.setenv("TRADEWIND_DATA__CONTEXT_BARS", "1")
    with pytest.raises(ConfigurationError) as refused:
        with_secrets(monkeypatch)
    assert not [secret for secret in SECRETS if secret in str(refused.value)]


def test_settings_cannot_be_changed():
    """Frozen all the way down."""
    settings = Settings()
    with pytest.raises(ValueError, match="frozen"):
        settings.data.context_bars = 64
