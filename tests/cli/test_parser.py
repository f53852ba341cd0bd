"""The command line's verbs and options."""

from datetime import UTC, datetime
from importlib import import_module

import pytest

from include.cli.parser import VERBS, build_parser


def parse(*words):
    """Return the parsed command line."""
    return build_parser().parse_args(words)


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_every_verb_has_a_line_a_text_and_a_module_that_runs(verb):
    """What the help promises can be called."""
    assert verb.line[0].islower()
    assert verb.text.endswith(".")
    assert callable(import_module(verb.module).run)


@pytest.mark.parametrize(
    ("text", "hour"), [("2026-11-20T15:00:00Z", 15), ("2026-11-20T10:00:00-05:00", 15)]
)
def test_as_of_is_an_aware_instant(text, hour):
    """Any offset is an instant."""
    expected = datetime(2026, 11, 20, hour, tzinfo=UTC)
    assert parse("cycle", "--as-of", text).as_of == expected


def test_symbols_are_upper_case_and_each_once():
    """Spaces, case and repetition don't count."""
    assert parse("cycle", "--symbols", "aapl, BTC/USD,AAPL,brk.b").symbols == [
        "AAPL",
        "BTC/USD",
        "BRK.B",
    ]


@pytest.mark.parametrize(
    ("text", "speed"), [("real", 1.0), ("stepped", None), ("30", 30.0), ("0.5", 0.5)]
)
def test_the_clock_is_real_stepped_or_a_speed(text, speed):
    """Each way to run the simulated exchange's clock has its value."""
    assert parse("exchange", "--clock", text).clock == speed


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["cycle", "--as-of", "2026-11-20T15:00:00"], "has no time zone"),
        (["cycle", "--as-of", "noon"], "is no instant; write it as"),
        (["cycle", "--symbols", ","], "names no symbols"),
        (["cycle", "--symbols", "AAPL;DROP"], "names no symbols"),
        (["cycle", "--sym", "AAPL"], "unrecognized arguments"),
        (["exchange", "--clock", "-3"], "is no clock"),
        (["exchange", "--clock", "nan"], "is no clock"),
        (["exchange", "--port", "65536"], "is no port"),
        (["nonsense"], "invalid choice"),
        ([], "VERB"),
    ],
)
def test_wrong_use_ends_with_2_and_a_sentence(capsys, words, sentence):
    """The sentence says what was wrong and what is right, on stderr."""
    with pytest.raises(SystemExit, match="2"):
        parse(*words)
    captured = capsys.readouterr()
    assert sentence in captured.err
    assert captured.out == ""
