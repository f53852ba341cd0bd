"""Views: the newest cycle, and its report, for people."""

from datetime import timedelta

from include.pipeline import views
from tests.support.builders import AS_OF
from tests.support.builders_pipeline import World


def test_before_the_first_cycle_there_is_none(world: World):
    """An empty store has no newest cycle."""
    assert world.broker.now == AS_OF
    assert views.latest_cycle_id() is None


def test_newest_cycle_is_the_one_with_the_latest_instant(world: World):
    """The cycle that began last by the venue's clock is the newest."""
    world.begin("run-1")
    world.move_to(AS_OF + timedelta(minutes=1))
    world.begin("run-2")
    assert views.latest_cycle_id() == "run-2"


def test_cycle_that_is_still_running_has_a_report(world: World):
    """The report is built from the rows that there are."""
    cycle = world.begin()
    told = views.cycle_report(cycle.cycle_id)
    assert (told["state"], told["symbols"], told["orders"]) == ("running", 0, [])
