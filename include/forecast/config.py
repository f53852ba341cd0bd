"""What a caller may choose about decoding, torch-free, so that planning needs no model.

Defaults that change a number stand here and enter the content key through `as_mapping`. The seed
has none: it is the caller's. Engines: engine.py.
"""

from collections.abc import Collection
from dataclasses import asdict, dataclass

from include.domain.forecasts import OptionValue
from include.errors import ConfigurationError

LARGEST_SAMPLE = 4096
# Gives Gaussian random-walk marginals the same mean highest close over 13 steps as the walk itself
# has (tests/forecast/test_copula.py); over 24 steps 0.96 does.
DEFAULT_STEP_CORRELATION = 0.93


@dataclass(frozen=True, kw_only=True)
class DecodeOptions:
    """How sample paths are drawn.

    Parameters
    ----------
    n_samples
        Paths per request, in [2, 4096].
    seed
        Non-negative; mixed with symbol and context end, so that requests differ.
    step_correlation
        Of the Gaussian AR(1) across steps, in [0, 1); read by models that give quantiles alone.
    """

    n_samples: int
    seed: int
    step_correlation: float = DEFAULT_STEP_CORRELATION

    def __post_init__(self) -> None:
        """Refuse all contradictions at once."""
        faults = []
        if not 2 <= self.n_samples <= LARGEST_SAMPLE:
            faults.append(f"n_samples was {self.n_samples}, must be in [2, {LARGEST_SAMPLE}]")
        if self.seed < 0:
            faults.append(f"seed was {self.seed}, must not be negative")
        if not 0.0 <= self.step_correlation < 1.0:
            faults.append(f"step_correlation was {self.step_correlation}, must be in [0, 1)")
        if faults:
            message = f"Decode options can't be used: {'; '.join(faults)}."
            raise ConfigurationError(message)

    def as_mapping(self, used: Collection[str] | None = None) -> dict[str, OptionValue]:
        """Return the options for the content key; `used` names those that the engine reads."""
        options: dict[str, OptionValue] = asdict(self)
        return {name: options[name] for name in sorted(options) if used is None or name in used}
