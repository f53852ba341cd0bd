"""Instants: aware or refused, and epochs that come back."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from include.domain.instants import epoch_array, epoch_seconds, instant_at, require_utc

EPOCHS = st.integers(0, 4_000_000_000)


@given(epoch=EPOCHS)
def test_epochs_come_back(epoch):
    """Epoch to instant to epoch is the identity."""
    assert epoch_seconds(instant_at(epoch)) == epoch


def test_other_zones_become_utc():
    """An aware instant of any zone is the same instant in UTC."""
    eastern = timezone(timedelta(hours=-5))
    found = require_utc(datetime(2026, 11, 20, 9, 30, tzinfo=eastern), name="as_of")
    assert found == datetime(2026, 11, 20, 14, 30, tzinfo=UTC)
    assert found.tzinfo is UTC


def test_a_naive_instant_is_refused_by_name():
    """The sentence names the argument and the value."""
    naive = datetime(2026, 11, 20, 9, 30)  # noqa: DTZ001  # what the test is about
    with pytest.raises(ValueError, match="as_of was 2026-11-20T09:30:00 without a time zone"):
        require_utc(naive, name="as_of")


def test_arrays_keep_their_order():
    """Epochs come in the order of the instants."""
    assert epoch_array([instant_at(5), instant_at(3)]).tolist() == [5, 3]
