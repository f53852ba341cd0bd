"""The forecast ledger: insert-only rows by content key; nothing here updates or deletes one.

The same key always has the same paths: a save that says otherwise raises ConflictingWrite. What a
strategy needs of thousands of forecasts (`Outlook`) stands beside the paths, so that these are
read only where they are drawn. Encoding of a row is in `forecast_rows.py`.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, bindparam, select, text, tuple_
from sqlalchemy.dialects.postgresql import JSONB, insert

from include.domain.forecasts import Forecast, ModelVersion, OptionValue, Outlook
from include.errors import ConflictingWrite
from include.store.columns import Instant
from include.store.copying import encode_rows
from include.store.forecast_rows import (
    LEDGER_COLUMNS,
    forecast_of,
    ledger_row,
    outlook_of,
    paths_digest,
)
from include.store.rows import any_of, field_columns, row_of
from include.store.schema import forecast_paths, forecasts, model_versions
from include.store.transaction import Row, Transaction

_INCOMING = f"""
CREATE TEMPORARY TABLE IF NOT EXISTS incoming_forecasts ({
    ", ".join(f"{name} {kind}" for name, kind in LEDGER_COLUMNS.items())
}) ON COMMIT DELETE ROWS
"""
_KEEP_PATHS_PLAIN = "ALTER TABLE incoming_forecasts ALTER COLUMN paths SET STORAGE EXTERNAL"
_NAMES = ", ".join(name for name in LEDGER_COLUMNS if name != "paths")
_SAVE = f"""
INSERT INTO tradewind.forecasts ({_NAMES}, options, first_issued_at)
SELECT {_NAMES}, :options, :issued FROM incoming_forecasts ORDER BY content_key
ON CONFLICT (content_key) DO NOTHING
"""  # the names are constants of this module
_SAVE_PATHS = """
INSERT INTO tradewind.forecast_paths (content_key, paths)
SELECT content_key, paths FROM incoming_forecasts ORDER BY content_key
ON CONFLICT (content_key) DO NOTHING
"""
_CONFLICTS = """
SELECT content_key FROM incoming_forecasts AS incoming
JOIN tradewind.forecasts AS stored USING (content_key)
WHERE stored.paths_sha256 <> incoming.paths_sha256
ORDER BY content_key LIMIT 1
"""


class ForecastRepository:
    """Forecasts by content key."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def save_all(
        self,
        many: Sequence[Forecast],
        issued: datetime,
        options: Mapping[str, OptionValue],
    ) -> None:
        """Store forecasts; a key that is stored already with the same paths changes nothing.

        Raises ConflictingWrite naming the key where its paths differ from the stored ones, or
        where two of the given forecasts share a key and differ.
        """
        fresh = self._without_stored(_unique(many))
        if not fresh:
            return
        versions = self._version_ids({forecast.model_version for forecast in fresh})
        rows = (ledger_row(forecast, versions[forecast.model_version]) for forecast in fresh)
        for statement in (_INCOMING, _KEEP_PATHS_PLAIN, "TRUNCATE incoming_forecasts"):
            self._transaction.write(text(statement))
        self._transaction.copy_in("incoming_forecasts", encode_rows(rows))
        self._move_incoming(issued, options)

    def existing(self, keys: Sequence[str]) -> set[str]:
        """Return those of the keys that are stored."""
        statement = select(forecasts.c.content_key).where(forecasts.c.content_key == any_of(keys))
        return set(self._transaction.column(statement))

    def by_key(self, key: str) -> Forecast | None:
        """Return a forecast, or None."""
        return self.load([key]).get(key)

    def load(self, keys: Sequence[str]) -> dict[str, Forecast]:
        """Return the forecasts of those keys that are stored with their paths."""
        rows = self._transaction.rows(_forecasts_of(keys))
        return {row["content_key"]: forecast_of(row, _version_of(row)) for row in rows}

    def outlooks(self, keys: Sequence[str]) -> dict[str, Outlook]:
        """Return the outlooks of those keys that are stored; no paths are read."""
        names = ("content_key", "open", "high", "low", "close", "close_low", "close_high")
        statement = select(*(forecasts.c[name] for name in names)).where(
            forecasts.c.content_key == any_of(keys)
        )
        rows = self._transaction.rows(statement)
        return {row["content_key"]: outlook_of(row) for row in rows}

    def _without_stored(self, given: Mapping[str, tuple[Forecast, bytes]]) -> list[Forecast]:
        """Return what is not stored yet; raise ConflictingWrite where the stored paths differ."""
        statement = select(forecasts.c.content_key, forecasts.c.paths_sha256).where(
            forecasts.c.content_key == any_of(given)
        )
        stored = {
            row["content_key"]: bytes(row["paths_sha256"])
            for row in self._transaction.rows(statement)
        }
        for key, digest in stored.items():
            if given[key][1] != digest:
                raise _conflict(key)
        return [forecast for key, (forecast, _) in given.items() if key not in stored]

    def _move_incoming(self, issued: datetime, options: Mapping[str, OptionValue]) -> None:
        """Insert what came in; another process may have stored the same keys meanwhile."""
        statement = text(_SAVE).bindparams(
            bindparam("options", dict(options), JSONB), bindparam("issued", issued, Instant)
        )
        self._transaction.write(statement)
        key = self._transaction.scalar(text(_CONFLICTS))
        if key is not None:
            raise _conflict(key)
        self._transaction.write(text(_SAVE_PATHS))

    def _version_ids(self, versions: set[ModelVersion]) -> dict[ModelVersion, int]:
        """Return the row ids of model versions, storing those that are new."""
        columns = field_columns(model_versions, ModelVersion)
        ordered = sorted(versions, key=lambda version: tuple(row_of(version).values()))
        self._transaction.write_all(
            insert(model_versions).on_conflict_do_nothing(),
            [row_of(version) for version in ordered],
        )
        known = [tuple(row_of(version).values()) for version in ordered]
        rows = self._transaction.rows(select(model_versions).where(tuple_(*columns).in_(known)))
        return {_version_of(row): row["model_version_id"] for row in rows}


def _forecasts_of(keys: Sequence[str]) -> Select[Any]:
    return (
        select(forecasts, *field_columns(model_versions, ModelVersion), forecast_paths.c.paths)
        .join(model_versions)
        .join(forecast_paths)
        .where(forecasts.c.content_key == any_of(keys))
    )


def _version_of(row: Row) -> ModelVersion:
    return ModelVersion(
        model=row["model"],
        checkpoint_hash=row["checkpoint_hash"],
        engine_version=row["engine_version"],
        transform_version=row["transform_version"],
    )


def _unique(many: Sequence[Forecast]) -> dict[str, tuple[Forecast, bytes]]:
    """Return each key's forecast with the digest of its paths."""
    unique: dict[str, tuple[Forecast, bytes]] = {}
    for forecast in many:
        digest = paths_digest(forecast)
        if unique.setdefault(forecast.content_key, (forecast, digest))[1] != digest:
            raise _conflict(forecast.content_key)
    return unique


def _conflict(key: str) -> ConflictingWrite:
    return ConflictingWrite(
        kind="Forecast",
        key=key,
        difference="its sample paths differ; the model is not deterministic or the key incomplete",
    )
