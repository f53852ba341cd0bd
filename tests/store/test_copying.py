"""The binary COPY format: what Postgres reads is what was written."""

from datetime import UTC, datetime

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from include.store.copying import (
    blank_rows,
    decode_array,
    encode_array,
    encode_rows,
    row_dtype,
)
from include.store.transaction import Transaction

INT8 = st.integers(-(2**63), 2**63 - 1)
ROW = st.tuples(
    st.none() | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    st.none() | INT8,
    st.none() | st.floats(allow_nan=False),
    st.none() | st.binary(),
    st.none() | st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001  # bounds are naive by contract
    st.lists(INT8, max_size=4),
)


def test_fixed_width_rows_come_back_as_they_were():
    """Decoding undoes encoding."""
    dtype = row_dtype([("count", ">i8"), ("price", ">f8")])
    rows = blank_rows(3, dtype)
    rows["count"], rows["price"] = [1, 2, 3], [0.1, -0.0, 1e300]
    np.testing.assert_array_equal(decode_array(encode_array(rows), dtype), rows)


@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],  # the table is emptied each time
)
@given(rows=st.lists(ROW, max_size=5))
def test_postgres_reads_every_kind_of_field(postgres, rows):
    """Text, bigint, double, bytea, timestamptz, bigint[] and NULL arrive unchanged."""
    with postgres.engine.connect() as connection:
        transaction = Transaction(connection, url="")
        transaction.write(
            text(
                "CREATE TEMPORARY TABLE kinds (a text, b bigint, c float8, d bytea,"
                " e timestamptz, f bigint[]) ON COMMIT DROP"
            )
        )
        payload = encode_rows([(*row[:5], np.array(row[5], dtype=np.int64)) for row in rows])
        transaction.copy_in("kinds", payload)
        found = transaction.rows(text("SELECT * FROM kinds"))
    plain = [{**row, "d": None if row["d"] is None else bytes(row["d"])} for row in found]
    assert [tuple(row.values()) for row in plain] == rows
