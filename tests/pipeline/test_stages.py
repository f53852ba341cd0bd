"""Stages: start, end and details of a step, kept when its body ended well."""

from include.pipeline.stages import recorded_stage
from tests.support.builders_pipeline import World


def test_stage_keeps_the_details_that_its_body_gave(world: World):
    """What the body writes into the details is stored with the stage's seconds."""
    cycle = world.begin()
    with recorded_stage(world.database, cycle_id=cycle.cycle_id, stage="fetch") as detail:
        detail["new"] = 7
    with world.database.unit_of_work() as uow:
        (stage,) = uow.cycles.stages(cycle.cycle_id)
    assert (stage.stage, stage.part, stage.detail) == ("fetch", "", {"new": 7})
    assert stage.seconds >= 0


def test_parts_of_a_stage_are_kept_apart_and_a_repeat_replaces_its_own(world: World):
    """Mapped parts have a row each; running a part again replaces that part's row alone."""
    cycle = world.begin()
    for part, count in (("00", 1), ("01", 2), ("00", 3)):
        with recorded_stage(
            world.database, cycle_id=cycle.cycle_id, stage="forecast", part=part
        ) as detail:
            detail["computed"] = count
    with world.database.unit_of_work() as uow:
        stages = uow.cycles.stages(cycle.cycle_id)
    assert {each.part: each.detail["computed"] for each in stages} == {"00": 3, "01": 2}
