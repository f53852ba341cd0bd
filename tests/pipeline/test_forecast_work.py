"""The questions of a cycle: built from closed bars alone, with keys that name them for ever."""

from dataclasses import replace
from datetime import timedelta

import pytest

from include.domain.sessions import Window
from include.forecast.baselines import NaiveEngine
from include.pipeline.forecast_work import (
    config_hash,
    key_of_issued_origin,
    live_question,
    opening_questions,
    request_key,
)
from include.pipeline.wiring.forecast import decode_options
from tests.support.builders import AS_OF, WINDOW, a_bar_series, an_issued_forecast
from tests.support.builders_pipeline import a_situation

ENGINE = NaiveEngine()


def test_live_question_covers_what_remains_of_the_window(settings):
    """At 15:00 of a session until 21:00, twelve half hours remain."""
    question = live_question(a_situation(), AS_OF, settings)
    assert question is not None
    assert question.horizon == 12
    assert len(question.context) == settings.data.context_bars
    assert question.context.last_end == AS_OF


@pytest.mark.parametrize(
    "situation",
    [a_situation(window=None), a_situation(series=a_bar_series().take(slice(0, 0)))],
)
def test_without_window_or_bars_nothing_is_asked(settings, situation):
    """Outside of a window, and without a bar, there is no live question."""
    assert live_question(situation, AS_OF, settings) is None


def test_bar_that_ends_later_is_not_in_the_question(settings):
    """Whatever the series holds beyond `as_of`, the question does not change."""
    longer = a_bar_series(n=61, end=AS_OF + timedelta(minutes=30))
    cut = replace(a_situation(), series=longer.closed_by(AS_OF))
    whole = replace(a_situation(), series=longer)
    options = decode_options(settings)
    keys = {
        request_key(question, ENGINE, options)
        for situation in (cut, whole)
        if (question := live_question(situation, AS_OF, settings)) is not None
    }
    assert len(keys) == 1


def test_openings_are_asked_where_a_whole_context_precedes_them(settings):
    """A window with too few bars before it is left out; the open window is among the rest."""
    too_early = Window(opens_at=AS_OF - timedelta(hours=29), ends_at=AS_OF - timedelta(hours=28))
    questions = opening_questions(a_situation(past_windows=(too_early,)), settings)
    assert [question.window for question in questions] == [WINDOW]


def test_key_of_the_issued_origin_is_that_of_its_own_live_question(settings):
    """Without a revision, today's bars lead to the key that was issued then."""
    options = decode_options(settings)
    opening = live_question(a_situation(), WINDOW.opens_at, settings)
    assert opening is not None
    found = key_of_issued_origin(a_situation(), an_issued_forecast(), ENGINE, options, settings)
    assert found == request_key(opening, ENGINE, options)


def test_nothing_in_force_has_no_key(settings):
    """A symbol without a forecast in force has no origin to compare."""
    options = decode_options(settings)
    assert key_of_issued_origin(a_situation(), None, ENGINE, options, settings) is None


def test_configuration_names_what_changes_a_forecast_and_nothing_else(make_settings):
    """Context and samples change the hash; sizes and thresholds don't."""
    hashes = [
        config_hash(ENGINE, decode_options(settings), settings)
        for settings in (
            make_settings(),
            make_settings(DATA__CONTEXT_BARS="33"),
            make_settings(DATA__CONTEXT_BARS="32", FORECAST__SAMPLES="17"),
            make_settings(FORECAST__SAMPLES="16", PORTFOLIO__MAX_POSITIONS="3"),
        )
    ]
    assert hashes[3] == hashes[0]
    assert len(set(hashes)) == 3
