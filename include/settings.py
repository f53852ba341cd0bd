"""Settings: where, whether and how much, read once from the environment and `tradewind.toml`.

`load_settings` is called in `pipeline/wiring/`, `cli` and `stack` only. Names are prefixed
TRADEWIND_ and nested by `__`; the venue's keys keep the venue's names. Nothing else in `include/`
reads the environment.
"""

import hashlib
import json
import os
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from tomllib import TOMLDecodeError
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from include.errors import ConfigurationError, LiveTradingForbidden

PAPER_URL = "https://paper-api.alpaca.markets"
DATA_URL = "https://data.alpaca.markets"
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")
KEY_ALIASES = {
    "APCA_API_KEY_ID": ("ALPACA_API_KEY",),
    "APCA_API_SECRET_KEY": ("ALPACA_SECRET_KEY", "ALPACA_API_SECRET"),
    "APCA_API_BASE_URL": (),
}
# fmt: off
EQUITIES = [
    "BA", "BAC", "C", "CAT", "CVX", "DIS", "GE", "HD", "HPQ", "IBM", "JNJ", "JPM",
    "KO", "MCD", "MMM", "MRK", "PEP", "PFE", "PG", "T", "TXN", "VZ", "WMT", "XOM",
]
# fmt: on
CRYPTO = ["BTC/USD", "ETH/USD", "LINK/USD", "UNI/USD"]

Fraction = Annotated[float, Field(gt=0, le=1)]
PositiveUsd = Annotated[Decimal, Field(gt=0)]


class Unproven(StrEnum):
    """What happens to a symbol whose strategy has not earned its size."""

    OFF = "off"
    PROBE = "probe"


class ScheduleKind(StrEnum):
    """When `trading_cycle` runs by itself."""

    MARKET_HOURS = "market_hours"
    EVERY_MINUTE = "every_minute"
    MANUAL = "manual"


class Group(BaseModel):
    """A nested group of settings: frozen, and unknown names are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class VenueSettings(Group):
    """Where orders and market data are; only paper or loopback."""

    trading_url: str = PAPER_URL
    data_url: str = DATA_URL
    feed: Literal["iex", "sip"] = "iex"
    connect_timeout_seconds: Annotated[float, Field(gt=0, le=60)] = 5.0
    read_timeout_seconds: Annotated[float, Field(gt=0, le=120)] = 15.0


class UniverseSettings(Group):
    """Which symbols are considered; crypto carries its slash."""

    symbols: Annotated[tuple[str, ...], NoDecode] = (*EQUITIES, *CRYPTO)

    @model_validator(mode="before")
    @classmethod
    def _split(cls, values: dict[str, Any]) -> dict[str, Any]:
        symbols = values.get("symbols")
        if isinstance(symbols, str):
            symbols = [part.strip().upper() for part in symbols.split(",") if part.strip()]
        if symbols is not None and not symbols:
            message = "universe was empty; name at least one symbol, for example AAPL,BTC/USD"
            raise ValueError(message)
        return values if symbols is None else {**values, "symbols": tuple(symbols)}


class DataSettings(Group):
    """Timeframes and how much history is kept and asked for."""

    equity_timeframe: Literal["30Min", "1Day"] = "30Min"
    crypto_timeframe: Literal["30Min", "1Hour", "1Day"] = "1Hour"
    context_bars: Annotated[int, Field(ge=32, le=2048)] = 512
    history_windows: Annotated[int, Field(ge=30, le=500)] = 60
    max_equity_spread_bps: Annotated[float, Field(gt=0)] = 25.0
    max_crypto_spread_bps: Annotated[float, Field(gt=0)] = 60.0
    max_equity_jump_fraction: Fraction = 0.30
    max_crypto_jump_fraction: Fraction = 0.50
    equity_finality_seconds: Annotated[float, Field(ge=0)] = 0.0
    crypto_finality_seconds: Annotated[float, Field(ge=0)] = 0.0


class ForecastSettings(Group):
    """Which model, and how it is decoded."""

    model: str = "fracast"
    samples: Annotated[int, Field(ge=8, le=1024)] = 32
    seed: Annotated[int, Field(ge=0)] = 20261121
    batch_symbols: Annotated[int, Field(ge=1, le=512)] = 14
    step_correlation: Annotated[float, Field(ge=0, lt=1)] = 0.93


class RepredictSettings(Group):
    """The gate of differential re-prediction (design section 6)."""

    threshold_equity: Fraction = 0.01
    threshold_crypto: Fraction = 0.02
    max_age_seconds: Annotated[float, Field(gt=0)] = 1800.0
    min_interval_seconds: Annotated[float, Field(ge=0)] = 300.0


class StrategySettings(Group):
    """Which strategies are fitted, and on how many windows."""

    enabled: tuple[Literal["maxdiff"], ...] = ("maxdiff",)
    fit_windows: Annotated[int, Field(ge=10, le=250)] = 40
    minimum_scored_windows: Annotated[int, Field(ge=10)] = 20
    allow_short: bool = True


class PortfolioSettings(Group):
    """Sizes and caps; fractions of equity."""

    unproven: Unproven = Unproven.OFF
    probe_notional_usd: PositiveUsd = Decimal(300)
    max_positions: Annotated[int, Field(ge=1, le=500)] = 10
    target_volatility_fraction: Fraction = 0.10
    symbol_cap_fraction: Fraction = 0.10
    gross_cap_fraction: Annotated[float, Field(gt=0, le=2)] = 1.0
    order_cap_fraction: Fraction = 0.10
    max_orders_per_cycle: Annotated[int, Field(ge=1, le=1000)] = 40
    daily_loss_fraction: Fraction = 0.03
    price_band_fraction: Fraction = 0.10
    level_tolerance_bps: Annotated[float, Field(ge=0, le=100)] = 5.0


class ScheduleSettings(Group):
    """When cycles run by themselves."""

    kind: ScheduleKind = ScheduleKind.MARKET_HOURS
    every_minutes: Annotated[int, Field(ge=1, le=390)] = 30


class Settings(BaseSettings):
    """Every setting of Tradewind; frozen, validated at once."""

    model_config = SettingsConfigDict(
        env_prefix="TRADEWIND_",
        env_nested_delimiter="__",
        toml_file="tradewind.toml",
        frozen=True,
        extra="forbid",
    )

    database_url: SecretStr | None = None
    key_id: SecretStr | None = None
    secret_key: SecretStr | None = None
    venue: VenueSettings = VenueSettings()
    universe: UniverseSettings = UniverseSettings()
    data: DataSettings = DataSettings()
    forecast: ForecastSettings = ForecastSettings()
    repredict: RepredictSettings = RepredictSettings()
    strategy: StrategySettings = StrategySettings()
    portfolio: PortfolioSettings = PortfolioSettings()
    schedule: ScheduleSettings = ScheduleSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Order the sources: arguments, environment, `tradewind.toml`."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)


def load_settings() -> Settings:
    """Return the settings of this process; raise ConfigurationError naming variable and bound.

    Refuses a trading address that is neither Alpaca's paper service nor loopback, and a key that
    is not a paper key there, before anything can be called.
    """
    keys = {
        "key_id": _venue_variable("APCA_API_KEY_ID"),
        "secret_key": _venue_variable("APCA_API_SECRET_KEY"),
    }
    given = {name: SecretStr(value) for name, value in keys.items() if value}
    try:
        settings = Settings(**given)  # type: ignore[arg-type]  # SecretStr values by field name
    except ValidationError as error:
        raise ConfigurationError(_sentence(error)) from error
    except TOMLDecodeError as error:
        message = f"tradewind.toml could not be read: {error}. Correct its syntax."
        raise ConfigurationError(message) from error
    settings = _with_base_url(settings, _venue_variable("APCA_API_BASE_URL"))
    require_paper(settings)
    return settings


def require_paper(settings: Settings) -> None:
    """Raise LiveTradingForbidden unless the venue is Alpaca's paper service or loopback."""
    for name in ("trading_url", "data_url"):
        _require_paper_url(name, getattr(settings.venue, name))
    key_id = settings.key_id.get_secret_value() if settings.key_id else ""
    host = urlsplit(settings.venue.trading_url).hostname
    if host not in LOOPBACK_HOSTS and key_id and not key_id.startswith("PK"):
        raise LiveTradingForbidden(
            what="The key APCA_API_KEY_ID", found=f"one that begins with {key_id[:2]}"
        )


def settings_hash(settings: Settings) -> str:
    """Return the sha256 of every setting that is not a secret: the version that a cycle used."""
    public = settings.model_dump(mode="json", exclude={"database_url", "key_id", "secret_key"})
    return hashlib.sha256(json.dumps(public, sort_keys=True).encode()).hexdigest()


def shown(settings: Settings) -> dict[str, Any]:
    """Return the settings as plain values with secrets masked."""
    return settings.model_dump(mode="json")


def _require_paper_url(name: str, url: str) -> None:
    parts = urlsplit(url)
    if parts.hostname in LOOPBACK_HOSTS and parts.scheme in ("http", "https"):
        return
    allowed = PAPER_URL if name == "trading_url" else DATA_URL
    if url.rstrip("/") != allowed:
        raise LiveTradingForbidden(what=f"TRADEWIND_VENUE__{name.upper()}", found=url)


def _venue_variable(name: str) -> str | None:
    """Return the value of one of the venue's variables or its aliases; refuse two that differ."""
    found = {
        alias: value
        for alias in (name, *KEY_ALIASES[name])
        if (value := os.environ.get(alias))  # noqa: TID251  # the one place that reads it
    }
    if len(set(found.values())) > 1:
        message = f"{' and '.join(found)} are both set and differ; unset all but {name}."
        raise ConfigurationError(message)
    return next(iter(found.values()), None)


def _with_base_url(settings: Settings, base_url: str | None) -> Settings:
    if base_url is None:
        return settings
    venue = settings.venue.model_copy(update={"trading_url": base_url.removesuffix("/v2")})
    return settings.model_copy(update={"venue": venue})


def _sentence(error: ValidationError) -> str:
    faults = []
    for fault in error.errors():
        name = "TRADEWIND_" + "__".join(str(part).upper() for part in fault["loc"])
        faults.append(f"{name} was {fault['input']!r}: {fault['msg']}")
    return "; ".join(faults) + ". Correct the variable or tradewind.toml."


def project_root() -> Path:
    """Return the folder that holds `include/`."""
    return Path(__file__).resolve().parent.parent
