"""The timetable against the real calendar: daylight saving, early closes, holidays, storage."""

from typing import Any

import pytest

from tests.plugins.airflow_process import run_in_airflow

INSTANTS = """
import json, os, sys
sys.path.append(os.environ["AIRFLOW__CORE__PLUGINS_FOLDER"])
import pendulum
from airflow.serialization.encoders import encode_timetable
from airflow.serialization.decoders import decode_timetable
from airflow.timetables.base import DataInterval, TimeRestriction
from tradewind_plugin import MarketHoursTimetable, due_or_next

def between(start, end):
    # every decision instant in (start, end], in New York time
    start, end, found = pendulum.parse(start), pendulum.parse(end), []
    after = due_or_next(start, start)
    while after is not None and after <= end:
        found.append(after.in_timezone("America/New_York").strftime("%a %H:%M %z"))
        after = due_or_next(after, after)
    return found

def info(last=None, earliest=None, latest=None, catchup=False):
    interval = None if last is None else DataInterval.exact(pendulum.parse(last))
    limits = TimeRestriction(*[i and pendulum.parse(i) for i in (earliest, latest)], catchup)
    found = MarketHoursTimetable().next_dagrun_info(
        last_automated_data_interval=interval, restriction=limits
    )
    return None if found is None else found.run_after.isoformat()

now = pendulum.now("UTC")
soon = now.add(days=3).isoformat()
stored = decode_timetable(encode_timetable(MarketHoursTimetable()))
ask = lambda after, now: str(due_or_next(pendulum.parse(after), pendulum.parse(now)))
print(json.dumps({
    "spring": between("2025-03-07T20:30:00Z", "2025-03-10T14:00:00Z"),
    "autumn": between("2025-10-31T19:30:00Z", "2025-11-03T15:00:00Z"),
    "thanksgiving": between("2025-11-26T20:30:00Z", "2025-12-01T14:30:00Z"),
    "due": ask("2025-06-03T15:28:00Z", "2025-06-03T15:30:01Z"),
    "next": ask("2025-06-03T15:30:00Z", "2025-06-03T15:30:01Z"),
    "late": ask("2025-06-03T15:33:00Z", "2025-06-03T15:35:00Z"),
    "first_is_ahead": info() > now.subtract(minutes=2).isoformat(),
    "later_than_last": info(last=soon) > soon,
    "later_than_start": info(earliest=soon) >= soon,
    "same_answer": info(last=soon) == info(last=soon, catchup=True),
    "beyond_latest": info(latest="2020-01-01T00:00:00Z"),
    "stored": [type(stored).__name__, stored.summary, stored.serialize()],
    "manual": str(stored.infer_manual_data_interval(run_after=pendulum.datetime(2025, 6, 3)).end),
    "torch": "torch" in sys.modules,
}))
"""
NOTHING_SCHEDULED = """
import json, os, sys
sys.path.append(os.environ["AIRFLOW__CORE__PLUGINS_FOLDER"])
from airflow.timetables.base import TimeRestriction
from tradewind_plugin import MarketHoursTimetable
found = MarketHoursTimetable().next_dagrun_info(
    last_automated_data_interval=None, restriction=TimeRestriction(None, None, False)
)
print(json.dumps([found, MarketHoursTimetable().summary]))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> dict[str, Any]:
    """What the timetable answers in market hours, for equities alone."""
    answers: dict[str, Any] = run_in_airflow(
        INSTANTS,
        tmp_path_factory.mktemp("airflow"),
        TRADEWIND_UNIVERSE__SYMBOLS="AAPL",
        TRADEWIND_SCHEDULE__KIND="market_hours",
        TRADEWIND_SCHEDULE__EVERY_MINUTES="60",
    )
    return answers


def test_keeps_new_yorks_hours_when_daylight_saving_begins_and_ends(found):
    """The first instant of a day has the same local time on both sides of a change."""
    firsts = {
        name: next(text for text in found[name] if text.startswith("Mon"))
        for name in ("spring", "autumn")
    }
    assert firsts["spring"].endswith("-0400")
    assert firsts["autumn"].endswith("-0500")
    assert firsts["spring"][:9] == firsts["autumn"][:9]


def test_is_silent_on_a_holiday_and_after_an_early_close(found):
    """Thanksgiving has no instant, and the Friday after it none later than 13:00."""
    days = {text[:3] for text in found["thanksgiving"]}
    fridays = [text[4:9] for text in found["thanksgiving"] if text.startswith("Fri")]
    assert "Thu" not in days
    assert "Sat" not in days
    assert fridays
    assert max(fridays) <= "13:00"


def test_a_due_instant_is_not_lost_between_two_looks(found):
    """Just after an instant it is still the answer, once it has run the next one is."""
    assert found["due"] == "2025-06-03 15:30:00+00:00"
    assert found["next"] == found["late"] == "2025-06-03 16:30:00+00:00"


def test_never_repeats_and_never_looks_back(found):
    """The answer lies ahead, after the last run, after the start date, whatever catchup says."""
    assert found["first_is_ahead"]
    assert found["later_than_last"]
    assert found["later_than_start"]
    assert found["same_answer"]
    assert found["beyond_latest"] is None


def test_survives_being_stored(found):
    """Airflow's stored form comes back as the same class, which needs no arguments."""
    assert found["stored"] == ["MarketHoursTimetable", "NYSE/60m", {}]
    assert found["manual"].startswith("2025-06-03")


def test_loads_no_model(found):
    """The scheduler asks it without loading torch."""
    assert found["torch"] is False


def test_schedules_nothing_when_cycles_are_started_by_hand(tmp_path):
    """With the schedule `manual` no run starts by itself."""
    assert run_in_airflow(
        NOTHING_SCHEDULED,
        tmp_path,
        TRADEWIND_SCHEDULE__KIND="manual",
    ) == [None, "by hand"]
