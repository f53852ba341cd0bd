"""Bars with their revision trail: a corrected bar is a new row and never replaces one.

What an `as_of` sees is decided by `recorded_at`: of each bar the newest revision that was
recorded by then. Whole arrays go in and out through the binary COPY format (`copying.py`).
"""

from collections.abc import Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ARRAY, Text, bindparam, text

from include.domain.bars import COLUMNS, BarSeries, Timeframe, empty_series
from include.domain.instants import require_utc
from include.store.columns import Instant
from include.store.copying import (
    EPOCH_SHIFT_SECONDS,
    MICROSECONDS,
    blank_rows,
    decode_array,
    encode_array,
    row_dtype,
)
from include.store.records import SavedBars
from include.store.transaction import Transaction

# `series` is the place of a row's series among those given, so that every row has one width.
BAR_ROW = row_dtype(
    [("series", ">i8"), ("start", ">i8"), ("bar_end", ">i8"), *((name, ">f8") for name in COLUMNS)]
)
_VALUES = ", ".join(COLUMNS)

_INCOMING = """
CREATE TEMPORARY TABLE IF NOT EXISTS incoming_bars (
    series bigint, start timestamptz, bar_end timestamptz,
    open float8, high float8, low float8, close float8, volume float8, amount float8
) ON COMMIT DELETE ROWS
"""
_SAVE = f"""
WITH written AS (
    INSERT INTO tradewind.bars
        (symbol, timeframe, start, revision, recorded_at, bar_end, {_VALUES})
    SELECT named.symbol, named.timeframe, incoming.start, coalesce(newest.revision + 1, 0),
           greatest(:recorded_at, newest.recorded_at), incoming.bar_end,
           {", ".join(f"incoming.{name}" for name in COLUMNS)}
    FROM incoming_bars AS incoming
    JOIN unnest(:symbols, :timeframes) WITH ORDINALITY AS named (symbol, timeframe, series)
        USING (series)
    LEFT JOIN LATERAL (
        SELECT * FROM tradewind.bars AS stored
        WHERE stored.symbol = named.symbol AND stored.timeframe = named.timeframe
            AND stored.start = incoming.start
        ORDER BY stored.revision DESC LIMIT 1
    ) AS newest ON true
    WHERE newest.revision IS NULL
        OR (newest.bar_end, {", ".join(f"newest.{name}" for name in COLUMNS)})
            IS DISTINCT FROM
            (incoming.bar_end, {", ".join(f"incoming.{name}" for name in COLUMNS)})
    RETURNING revision
)
SELECT count(*) FILTER (WHERE revision = 0) AS new, count(*) FILTER (WHERE revision > 0) AS revised
FROM written
"""  # the names are constants of this module
_LOAD = f"""
SELECT wanted.series, seen.start, seen.bar_end, {", ".join(f"seen.{name}" for name in COLUMNS)}
FROM unnest(%s::text[]) WITH ORDINALITY AS wanted (symbol, series)
CROSS JOIN LATERAL (
    SELECT DISTINCT ON (start) start, bar_end, {_VALUES}
    FROM tradewind.bars
    WHERE symbol = wanted.symbol AND timeframe = %s AND bar_end <= %s AND recorded_at <= %s
    ORDER BY start DESC, revision DESC
    LIMIT %s
) AS seen
ORDER BY wanted.series, seen.start
"""  # the names are constants of this module
_NEWEST_STARTS = """
SELECT wanted.symbol, newest.start
FROM unnest(:symbols) AS wanted (symbol)
CROSS JOIN LATERAL (
    SELECT start FROM tradewind.bars
    WHERE symbol = wanted.symbol AND timeframe = :timeframe
    ORDER BY start DESC LIMIT 1
) AS newest
"""


class BarRepository:
    """Bars of each symbol and timeframe, as they were known at any instant."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def save(self, series: BarSeries, recorded_at: datetime) -> SavedBars:
        """Store a series; see `save_all`."""
        return self.save_all([series], recorded_at)

    def save_all(self, many: Sequence[BarSeries], recorded_at: datetime) -> SavedBars:
        """Store many series at once: a bar that differs from its newest revision becomes the next.

        A symbol's bar may stand in one of the series only. A revision is never recorded before
        the one that it follows, whatever `recorded_at` says.
        """
        count = sum(len(series) for series in many)
        if count == 0:
            return SavedBars(new=0, revised=0, unchanged=0)
        self._transaction.write(text(_INCOMING))
        self._transaction.write(text("TRUNCATE incoming_bars"))
        self._transaction.copy_in("incoming_bars", encode_array(_rows_of(many, count)))
        new, revised = self._merge(many, recorded_at)
        return SavedBars(new=new, revised=revised, unchanged=count - new - revised)

    def load(  # what identifies a view of the bars
        self,
        symbol: str,
        timeframe: Timeframe,
        as_of: datetime,
        limit: int | None = None,
        recorded_by: datetime | None = None,
    ) -> BarSeries:
        """Return the newest `limit` bars of a symbol that ended by `as_of`; see `load_all`."""
        loaded = self.load_all([symbol], timeframe, as_of, limit, recorded_by)
        return loaded[symbol]

    def load_all(  # what identifies a view of the bars
        self,
        symbols: Sequence[str],
        timeframe: Timeframe,
        as_of: datetime,
        limit: int | None = None,
        recorded_by: datetime | None = None,
    ) -> dict[str, BarSeries]:
        """Return for each symbol its newest `limit` bars that ended by `as_of`, oldest first.

        Of each bar the newest revision recorded by `recorded_by` (default: `as_of`) is seen; a
        symbol without bars has an empty series. One query, however many symbols.
        """
        names = list(dict.fromkeys(symbols))
        latest = require_utc(as_of, name="as_of")
        recorded = require_utc(recorded_by or as_of, name="recorded_by")
        values = (names, timeframe.value, latest, recorded, limit)
        rows = decode_array(self._transaction.copy_out(_LOAD, values), BAR_ROW)
        bounds = np.searchsorted(rows["series"], np.arange(1, len(names) + 2))
        return {
            name: _series_of(name, timeframe, rows[bounds[place] : bounds[place + 1]])
            for place, name in enumerate(names)
        }

    def newest_starts(self, symbols: Sequence[str], timeframe: Timeframe) -> dict[str, datetime]:
        """Return the start of the newest stored bar of each symbol that has one."""
        statement = (
            text(_NEWEST_STARTS)
            .bindparams(bindparam("symbols", list(symbols), ARRAY(Text)))
            .columns(start=Instant)
        )
        rows = self._transaction.rows(statement, {"timeframe": timeframe.value})
        return {row["symbol"]: row["start"] for row in rows}

    def _merge(self, many: Sequence[BarSeries], recorded_at: datetime) -> tuple[int, int]:
        """Write what is new or differs; one writer at a time, so that revisions stay in order."""
        self._transaction.scalar(
            text("SELECT pg_advisory_xact_lock(hashtextextended('tradewind bars', 0))")
        )
        statement = text(_SAVE).bindparams(
            bindparam("recorded_at", recorded_at, Instant),
            bindparam("symbols", [series.symbol for series in many], ARRAY(Text)),
            bindparam("timeframes", [series.timeframe.value for series in many], ARRAY(Text)),
        )
        row = self._transaction.rows(statement)[0]
        return row["new"], row["revised"]


def _rows_of(many: Sequence[BarSeries], count: int) -> NDArray[np.void]:
    rows = blank_rows(count, BAR_ROW)
    lengths = [len(series) for series in many]
    rows["series"] = np.repeat(np.arange(1, len(many) + 1), lengths)
    rows["start"] = _microseconds(np.concatenate([series.starts for series in many]))
    rows["bar_end"] = _microseconds(np.concatenate([series.ends for series in many]))
    values = np.concatenate([series.values for series in many])
    for place, name in enumerate(COLUMNS):
        rows[name] = values[:, place]
    return rows


def _series_of(symbol: str, timeframe: Timeframe, rows: NDArray[np.void]) -> BarSeries:
    if len(rows) == 0:
        return empty_series(symbol, timeframe)
    return BarSeries(
        symbol=symbol,
        timeframe=timeframe,
        starts=_epochs(rows["start"]),
        ends=_epochs(rows["bar_end"]),
        values=np.stack([rows[name] for name in COLUMNS], axis=1).astype(np.float64),
    )


def _microseconds(epochs: NDArray[np.int64]) -> NDArray[np.int64]:
    return (epochs - EPOCH_SHIFT_SECONDS) * MICROSECONDS


def _epochs(microseconds: NDArray[np.int64]) -> NDArray[np.int64]:
    return microseconds.astype(np.int64) // MICROSECONDS + EPOCH_SHIFT_SECONDS
