from itertools import pairwise

import pytest

from include.errors import MalformedReplay
from include.exchange.sources import PACKAGED_NAMES, load_bars_file, load_packaged_equities

HEADER = "symbol,timestamp,open,high,low,close,volume\n"
GOOD = "ABC,2010-03-08,10,11,9,10.5,1000\n"


@pytest.fixture(scope="module")
def packaged():
    """The bars of the installed data package."""
    return load_packaged_equities()


def test_packaged_symbols_are_complete_and_free_of_splits(packaged):
    """24 symbols have all 245 dates, and no close moves by more than 40 %."""
    assert set(packaged) == set(PACKAGED_NAMES)
    assert len(packaged) == 24
    for bars in packaged.values():
        closes = [bar.close for bar in bars.values()]
        moves = [after / before - 1 for before, after in pairwise(closes)]
        assert len(closes) == 245
        assert max(abs(move) for move in moves) < 0.4


def test_packaged_volume_is_in_shares(packaged):
    """The package counts hundreds of shares; the replay counts shares."""
    assert next(iter(packaged["JPM"].values())).volume == 42_863_500


def write(tmp_path, text):
    """A file of bars."""
    path = tmp_path / "bars.csv"
    path.write_text(text)
    return path


def test_reads_dates_and_session_stamps(tmp_path):
    """A date, UTC midnight and New York midnight name the same session."""
    rows = (GOOD, GOOD.replace("ABC,2010-03-08", "ABD,2010-03-08T00:00:00Z"))
    stamped = GOOD.replace("ABC,2010-03-08", "ABE,2010-03-08T05:00:00Z")
    bars = load_bars_file(write(tmp_path, HEADER + "".join(rows) + stamped))
    assert {str(day) for days in bars.values() for day in days} == {"2010-03-08"}


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("ABC,2010-03-08,10,10.2,9,10.5,1000", r"row 3: high 10.2 and low 9.0 do not enclose"),
        ("ABC,2010-03-09,10,11,9,nan,1000", r"row 3: .*finite"),
        ("ABC,2010-03-09,0,11,0,10,1000", r"row 3: .*above zero"),
        ("ABC,2010-03-09,10,11,9,10,1.5", r"row 3: volume was 1.5"),
        ("ABC,2010-03-09,10,11,9,ten,1000", r"row 3: .*must be numbers"),
        ("ABC,yesterday,10,11,9,10,1000", r"row 3: timestamp was 'yesterday'"),
        ("BTC/USD,2010-03-09,10,11,9,10,1000", r"row 3: symbol was 'BTC/USD'"),
        ("ABC,2010-03-09,10,11,9", r"row 3: a row has 7 values"),
        ("ABC,2010-03-08,10,11,9,10,1000", r"row 3: ABC has a second bar on 2010-03-08"),
    ],
)
def test_malformed_row_is_named_with_its_fault(tmp_path, row, fault):
    """The refusal says which row and what is wrong with it; nothing is repaired."""
    with pytest.raises(MalformedReplay, match=fault):
        load_bars_file(write(tmp_path, HEADER + GOOD + row + "\n"))


@pytest.mark.parametrize(
    ("text", "fault"), [("", "header"), ("a,b\n1,2\n", "header"), (HEADER, "no bar below")]
)
def test_file_without_bars_is_refused(tmp_path, text, fault):
    """An empty file, another header and a header alone are refused."""
    with pytest.raises(MalformedReplay, match=fault):
        load_bars_file(write(tmp_path, text))


def test_missing_file_is_refused(tmp_path):
    """A file that isn't there is named."""
    with pytest.raises(MalformedReplay, match=r"absent\.csv.*unreadable"):
        load_bars_file(tmp_path / "absent.csv")
