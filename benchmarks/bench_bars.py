"""Bars into Postgres: the store's bulk path against row-by-row inserts, equality checked first.

Run: python -m benchmarks.bench_bars [ROWS]
"""

import statistics
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np
from sqlalchemy import Engine, insert, text

from include.domain.bars import COLUMNS, BarSeries, Timeframe
from include.domain.instants import instant_at
from include.store import schema
from include.store.unit_of_work import UnitOfWork
from tests.support.postgres import embedded_postgres

SYMBOLS = 28
REPEATS = 5
AS_OF = datetime(2026, 11, 20, 21, 0, tzinfo=UTC)


def bars_of(symbol: str, count: int) -> BarSeries:
    """Return half-hour bars of a random walk that end at `AS_OF`."""
    rng = np.random.default_rng(sum(symbol.encode()))
    ends = int(AS_OF.timestamp()) - 1800 * np.arange(count - 1, -1, -1, dtype=np.int64)
    values = 100.0 + rng.normal(0, 1, (count, len(COLUMNS)))
    return BarSeries(
        symbol=symbol, timeframe=Timeframe.MINUTE_30, starts=ends - 1800, ends=ends, values=values
    )


def save_in_bulk(engine: Engine, many: list[BarSeries]) -> None:
    """Save by the store: binary COPY, then one merge."""
    with UnitOfWork(engine) as uow:
        uow.bars.save_all(many, AS_OF)
        uow.commit()


def save_row_by_row(engine: Engine, many: list[BarSeries]) -> None:
    """Save by one INSERT a bar, all in one transaction."""
    with engine.begin() as connection:
        for series in many:
            for place in range(len(series)):
                row = dict(zip(COLUMNS, series.values[place].tolist(), strict=True))
                key = {"symbol": series.symbol, "timeframe": series.timeframe, "revision": 0}
                times = {
                    "start": instant_at(series.starts[place]),
                    "bar_end": instant_at(series.ends[place]),
                    "recorded_at": AS_OF,
                }
                connection.execute(insert(schema.bars), key | times | row)


def load(engine: Engine, symbols: list[str]) -> dict[str, BarSeries]:
    """Load every bar by the store."""
    with UnitOfWork(engine) as uow:
        return uow.bars.load_all(symbols, Timeframe.MINUTE_30, AS_OF)


def empty(engine: Engine) -> None:
    """Remove every bar."""
    with engine.begin() as connection:
        connection.execute(text("TRUNCATE tradewind.bars"))


def check_equality(engine: Engine, many: list[BarSeries]) -> None:
    """Stop unless both ways store the same bars, and exactly those given."""
    symbols = [series.symbol for series in many]
    for save in (save_in_bulk, save_row_by_row):
        empty(engine)
        save(engine, many)
        loaded = load(engine, symbols)
        for series in many:
            same = loaded[series.symbol]
            pairs = ((same.starts, series.starts), (same.ends, series.ends))
            if not all(np.array_equal(a, b) for a, b in (*pairs, (same.values, series.values))):
                sys.exit(f"{save.__name__} stored other bars of {series.symbol} than were given.")


def median_seconds(run: Callable[[], object], prepare: Callable[[], object], count: int) -> float:
    """Return the median seconds of a run, each after a preparation that is not timed."""
    seconds = []
    for _ in range(count):
        prepare()
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def main() -> None:
    """Print rows per second of both ways, their ratio, and the time of one load."""
    total = int(sys.argv[1]) if len(sys.argv) > 1 else SYMBOLS * 1300
    many = [bars_of(f"S{number:02d}", total // SYMBOLS) for number in range(SYMBOLS)]
    rows = sum(len(series) for series in many)
    symbols = [series.symbol for series in many]
    with embedded_postgres(durable=True) as server:
        engine = server.engine
        check_equality(engine, many)
        slow = median_seconds(lambda: save_row_by_row(engine, many), lambda: empty(engine), 1)
        fast = median_seconds(lambda: save_in_bulk(engine, many), lambda: empty(engine), REPEATS)
        again = median_seconds(lambda: save_in_bulk(engine, many), lambda: None, REPEATS)
        read = median_seconds(lambda: load(engine, symbols), lambda: None, REPEATS)
    print(f"{rows:,} bars of {SYMBOLS} symbols; both ways stored equal bars; medians")
    print("| way | seconds | rows/s |")
    print("|---|---|---|")
    for name, seconds in (
        ("row by row, one transaction", slow),
        ("store, new bars", fast),
        ("store, the same bars again", again),
        ("store, load of all", read),
    ):
        print(f"| {name} | {seconds:.3f} | {rows / seconds:,.0f} |")
    print(f"ratio row by row / store: {slow / fast:.1f}")


if __name__ == "__main__":
    main()
