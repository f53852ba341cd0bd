"""Instants: aware UTC datetimes at every border, epoch seconds inside arrays."""

from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray


def require_utc(instant: datetime, *, name: str) -> datetime:
    """Return the instant in UTC; a naive one raises ValueError with its name and value."""
    if instant.tzinfo is None:
        message = f"{name} was {instant.isoformat()} without a time zone; give an aware instant."
        raise ValueError(message)
    return instant.astimezone(UTC)


def epoch_seconds(instant: datetime) -> int:
    """Return whole seconds since 1970-01-01 UTC."""
    return int(require_utc(instant, name="instant").timestamp())


def instant_at(epoch: int | np.int64) -> datetime:
    """Return the aware UTC instant of an epoch in seconds."""
    return datetime.fromtimestamp(int(epoch), tz=UTC)


def epoch_array(instants: list[datetime]) -> NDArray[np.int64]:
    """Return epochs in seconds, in the order given."""
    return np.array([epoch_seconds(instant) for instant in instants], dtype=np.int64)
