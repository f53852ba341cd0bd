"""What doctor looks at."""

from datetime import UTC, datetime, timedelta

import pytest

from include.stack.checks import (
    Verdict,
    check_disk,
    check_python,
    check_requirements,
    check_skew,
)

NOW = datetime(2026, 11, 20, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("version", "verdict"),
    [((3, 10), Verdict.FAULT), ((3, 11), Verdict.OK), ((3, 14), Verdict.FAULT)],
)
def test_python_is_one_of_the_tested(version, verdict):
    """Other versions are a fault with the cure."""
    check = check_python(version)
    assert check.verdict is verdict
    assert (check.cure == "") is (verdict is Verdict.OK)


def test_another_version_of_a_requirement_is_a_fault():
    """The differing packages are named, absent ones too."""
    pins = [("pytest", "0.0.1"), ("no-such-package-anywhere", "1.0")]
    check = check_requirements(pins)
    assert check.verdict is Verdict.FAULT
    assert "2 differ" in check.found
    assert "no-such-package-anywhere absent" in check.found
    assert check_requirements([]).verdict is Verdict.OK


def test_free_disk_is_looked_up_where_the_folder_will_be(tmp_path):
    """A folder that does not exist yet has the disk of its nearest parent."""
    assert "GB free" in check_disk(tmp_path / "not" / "yet").found


@pytest.mark.parametrize(
    ("seconds", "verdict"), [(0, Verdict.OK), (-5, Verdict.OK), (6, Verdict.FAULT)]
)
def test_a_clock_apart_from_the_venues_is_a_fault(seconds, verdict):
    """Five seconds either way are allowed."""
    assert check_skew(NOW + timedelta(seconds=seconds), NOW).verdict is verdict
