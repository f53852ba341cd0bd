"""Tests of the decode options."""

import pytest

from include.errors import ConfigurationError
from include.forecast.config import DecodeOptions


def test_names_all_contradictions_at_once():
    """Three wrong options give one sentence that names all three with their bounds."""
    with pytest.raises(ConfigurationError, match=r"n_samples was 1.*seed was -1.*1\.0, must be"):
        DecodeOptions(n_samples=1, seed=-1, step_correlation=1.0)


def test_mapping_holds_every_option_that_can_change_a_path():
    """The content key sees all options, and only the named ones where an engine reads fewer."""
    options = DecodeOptions(n_samples=32, seed=5, step_correlation=0.5)
    assert options.as_mapping() == {"n_samples": 32, "seed": 5, "step_correlation": 0.5}
    assert options.as_mapping(("seed",)) == {"seed": 5}
