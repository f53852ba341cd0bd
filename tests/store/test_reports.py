"""Cycle reports."""

from datetime import timedelta

from include.domain.cycles import Cycle
from tests.support.builders import AS_OF

REPORT = {"z": 1, "a": [1.5, None, True], "m": {"name": "ÄÖ €"}}


def test_report_comes_back_in_its_own_order(uow, cycle_id):
    """Keys keep the order in which the report names them."""
    uow.reports.save(cycle_id, REPORT, "# Report")
    found = uow.reports.by_cycle(cycle_id)
    assert found == (REPORT, "# Report")
    assert list(found[0]) == ["z", "a", "m"]
    assert uow.reports.by_cycle("none") is None


def test_second_report_replaces_the_first(uow, cycle_id):
    """A report task that runs again has the last word."""
    uow.reports.save(cycle_id, REPORT, "first")
    uow.reports.save(cycle_id, {}, "second")
    assert uow.reports.by_cycle(cycle_id) == ({}, "second")


def test_latest_reports_are_those_of_the_newest_cycles(uow, cycle_id):
    """Newest first; a cycle without a report is left out."""
    for place in (2, 1, 3):
        at = AS_OF + timedelta(minutes=place)
        name = f"c{place}"
        uow.cycles.save(Cycle(cycle_id=name, as_of=at, account_id="A", settings_hash="hash"))
        if place != 3:
            uow.reports.save(name, {"cycle_id": name}, name)
    uow.reports.save(cycle_id, {}, "oldest")
    assert [markdown for _, markdown in uow.reports.latest(2)] == ["c2", "c1"]
