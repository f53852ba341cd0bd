"""What a Kronos checkpoint says of itself, and what a caller may choose; torch-free.

Field names of the two configurations are those of the checkpoints' config.json (upstream
constructor arguments); everything else uses this project's words. Loading: checkpoint.py.
"""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from enum import StrEnum
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from include.domain.forecasts import OptionValue
from include.errors import ConfigurationError
from include.forecast.config import DecodeOptions

COLUMN_COUNT = 6
DECODE_OPTIONS_USED = ("n_samples", "seed")
LONG_CONTEXT_GROUP_SIZE, LONG_CONTEXT, CONTEXT = 5, 2048, 512  # Tokenizer-2k; Tokenizer-base


class Precision(StrEnum):
    """Number format of the trunk; the tokenizer, norms, rotary angles and logits stay float32."""

    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"


@dataclass(frozen=True, kw_only=True)
class TrunkConfig:
    """Shapes of a model checkpoint, under upstream's names."""

    s1_bits: int
    s2_bits: int
    n_layers: int
    d_model: int
    n_heads: int
    ff_dim: int


@dataclass(frozen=True, kw_only=True)
class TokenizerConfig:
    """Shapes of a tokenizer checkpoint, under upstream's names.

    Upstream builds one block fewer than `n_enc_layers` and `n_dec_layers` say.
    """

    d_in: int
    d_model: int
    n_heads: int
    ff_dim: int
    n_enc_layers: int
    n_dec_layers: int
    s1_bits: int
    s2_bits: int
    group_size: int

    @property
    def max_context(self) -> int:
        """Longest window that models of this tokenizer were trained on, in bars."""
        return LONG_CONTEXT if self.group_size == LONG_CONTEXT_GROUP_SIZE else CONTEXT


@dataclass(frozen=True, kw_only=True)
class SamplingRule:
    """How one token is drawn from logits, as upstream applies it.

    Parameters
    ----------
    temperature
        Divides the logits; above 0.
    top_k
        Keeps the k largest logits, ties kept; 0 switches it off. Above 0 it ignores `top_p`.
    top_p
        Keeps tokens up to the first at which the cumulative probability exceeds it, in (0, 1].
        Below 1 every path is narrower: probabilities over paths need 1.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0


@dataclass(frozen=True, kw_only=True)
class KronosOptions:
    """What a caller may choose besides `DecodeOptions`; all of it enters the content key.

    Parameters
    ----------
    rule
        How tokens are drawn.
    parity
        Reproduces upstream's arithmetic: float32 statistics, no pre-scaling, no repair.
    precision
        Of the trunk.
    max_context
        Longest window of the trunk in bars; None takes the tokenizer's own.
    stamp_zone
        Time zone whose clock the bars' starts are read on: "UTC", or an exchange's own such as
        "America/New_York".
    """

    rule: SamplingRule = SamplingRule()
    parity: bool = False
    precision: Precision = Precision.FLOAT32
    max_context: int | None = None
    stamp_zone: str = "UTC"

    def __post_init__(self) -> None:
        """Refuse all contradictions at once."""
        faults = [
            *_rule_faults(self.rule),
            *_bound_fault("max_context", self.max_context),
            *_zone_fault(self.stamp_zone),
        ]
        if faults:
            message = f"Kronos options can't be used: {'; '.join(faults)}."
            raise ConfigurationError(message)

    def as_mapping(self, *, max_context: int) -> dict[str, OptionValue]:
        """Return the options for the content key, with the window that is really used."""
        return {
            **asdict(self.rule),
            "parity": self.parity,
            "dtype": self.precision.value,
            "max_context": max_context,
            "stamp_zone": self.stamp_zone,
        }


def options_mapping(
    decode: DecodeOptions, kronos: KronosOptions, *, max_context: int
) -> dict[str, OptionValue]:
    """Return everything a caller chose that changes a path: the options of the content key."""
    used: Collection[str] = DECODE_OPTIONS_USED
    return decode.as_mapping(used) | kronos.as_mapping(max_context=max_context)


def _rule_faults(rule: SamplingRule) -> list[str]:
    faults = []
    if not 0.0 < rule.temperature < float("inf"):
        faults.append(f"temperature was {rule.temperature}, must be above 0 and finite")
    if rule.top_k < 0:
        faults.append(f"top_k was {rule.top_k}, must not be negative")
    if not 0.0 < rule.top_p <= 1.0:
        faults.append(f"top_p was {rule.top_p}, must be in (0, 1]")
    return faults


def _bound_fault(name: str, value: int | None) -> list[str]:
    if value is None or value >= 1:
        return []
    return [f"{name} was {value}, must be at least 1"]


def _zone_fault(stamp_zone: str) -> list[str]:
    try:
        ZoneInfo(stamp_zone)
    except (ZoneInfoNotFoundError, ValueError):
        return [f"stamp_zone was {stamp_zone!r}, which is no time zone such as America/New_York"]
    return []
