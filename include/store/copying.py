"""The binary format of Postgres's COPY, both ways: whole arrays, and rows of mixed values.

Source of the format: PostgreSQL 18 documentation, COPY, "Binary Format". A file is a header, per
row a count of fields and each field with its length in bytes, and a trailer; all big-endian,
instants in microseconds since 2000-01-01 UTC.
"""

import struct
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from include.domain.instants import epoch_seconds, require_utc

HEADER = b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0)
TRAILER = struct.pack(">h", -1)
NULL = struct.pack(">i", -1)
POSTGRES_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
EPOCH_SHIFT_SECONDS = epoch_seconds(POSTGRES_EPOCH)
MICROSECONDS = 1_000_000
INT8_OID = 20

Field = str | int | float | bytes | datetime | NDArray[np.int64] | None


def row_dtype(columns: Sequence[tuple[str, str]]) -> np.dtype[np.void]:
    """Return the dtype of a row of fixed-width columns, given as (name, big-endian dtype)."""
    parts: list[tuple[str, str]] = [("field_count", ">i2")]
    for name, kind in columns:
        parts += [(f"{name}_size", ">i4"), (name, kind)]
    return np.dtype(parts)


def blank_rows(count: int, dtype: np.dtype[np.void]) -> NDArray[np.void]:
    """Return rows whose counts and sizes are set and whose values are to be filled in."""
    rows = np.zeros(count, dtype=dtype)
    names = dtype.names or ()
    rows["field_count"] = len(names) // 2
    for name in names[2::2]:
        rows[f"{name}_size"] = dtype[name].itemsize
    return rows


def encode_array(rows: NDArray[np.void]) -> bytes:
    """Return rows of fixed width as a file of the format."""
    return b"".join((HEADER, rows.tobytes(), TRAILER))


def decode_array(payload: bytes, dtype: np.dtype[np.void]) -> NDArray[np.void]:
    """Return the rows of a file whose every row is `dtype`: no NULL, no text."""
    body = payload[len(HEADER) : len(payload) - len(TRAILER)]
    return np.frombuffer(body, dtype=dtype)


def encode_rows(rows: Iterable[Sequence[Field]]) -> bytes:
    """Return rows of mixed values as a file of the format.

    str is text, int bigint, float double precision, bytes bytea, datetime timestamptz, an int64
    array bigint[]; the columns must have exactly these types.
    """
    parts = [HEADER]
    for row in rows:
        parts.append(struct.pack(">h", len(row)))
        parts.extend(_encoded(field) for field in row)
    parts.append(TRAILER)
    return b"".join(parts)


def _encoded(field: Field) -> bytes:
    if field is None:
        return NULL
    payload = _payload(field)
    return struct.pack(">i", len(payload)) + payload


def _payload(field: str | int | float | bytes | datetime | NDArray[np.int64]) -> bytes:
    match field:
        case str():
            return field.encode()
        case bytes():
            return field
        case int():
            return struct.pack(">q", field)
        case float():
            return struct.pack(">d", field)
        case datetime():
            instant = require_utc(field, name="instant")
            return struct.pack(">q", (instant - POSTGRES_EPOCH) // timedelta(microseconds=1))
        case _:
            return _array_payload(field)


def _array_payload(values: NDArray[np.int64]) -> bytes:
    head = struct.pack(">iiIii", 1, 0, INT8_OID, len(values), 1)
    return head + _elements(values)


def _elements(values: NDArray[np.int64]) -> bytes:
    elements = np.empty(len(values), dtype=[("size", ">i4"), ("value", ">i8")])
    elements["size"] = 8
    elements["value"] = values
    return elements.tobytes()
