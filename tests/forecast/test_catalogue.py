"""Tests of the engines by name."""

import subprocess
import sys

import pytest

from include.errors import UnknownParameter
from include.forecast.catalogue import engine_by_name


def test_unknown_name_is_answered_with_the_nearest():
    """A typing error raises with the name that was meant."""
    with pytest.raises(UnknownParameter, match=r"'fracat'.*Did you mean fracast\?"):
        engine_by_name("fracat")


def test_builds_each_engine_under_its_own_name():
    """The model version of an engine carries the name by which it was asked for."""
    assert engine_by_name("naive").model_version.model == "naive"
    assert engine_by_name("fracast").model_version.model == "fracast"


def test_naive_engine_needs_no_torch():
    """Asking for the baseline imports neither torch nor fracast."""
    code = (
        "import sys; from include.forecast.catalogue import engine_by_name; "
        "engine_by_name('naive'); sys.exit(len({'torch', 'fracast'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
