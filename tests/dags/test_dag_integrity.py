"""Every DAG file loads without a database, keeps its documented shape, and survives storage."""

from typing import Any

import pytest

from tests.plugins.airflow_process import ROOT, run_in_airflow

LOAD = """
import json, os, sys
from airflow.dag_processing.dagbag import DagBag
from airflow.serialization.serialized_objects import DagSerialization
from airflow.utils.dag_version_inflation_checker import check_dag_file_stability

folder = os.environ["AIRFLOW__CORE__DAGS_FOLDER"]
bag = DagBag(dag_folder=folder)

def facts(dag):
    stored = DagSerialization.from_dict(DagSerialization.to_dict(dag))
    return {
        "tasks": {task.task_id: sorted(task.downstream_task_ids) for task in dag.tasks},
        "retries": {task.task_id: task.retries for task in dag.tasks},
        "policies": {task.task_id: [[rule.exception, rule.action.value] for rule in
                     getattr(task.retry_policy, "rules", [])] for task in dag.tasks},
        "trigger_rules": {task.task_id: task.trigger_rule.value for task in dag.tasks},
        "mapped": [task.task_id for task in dag.tasks if task.is_mapped],
        "start_date": str(dag.start_date.in_timezone(dag.timezone)),
        "timetable": type(stored.timetable).__name__,
        "stored_tasks": sorted(stored.task_ids),
        "tags": sorted(dag.tags),
        "doc_md": dag.doc_md or "",
        "catchup": dag.catchup,
        "max_active_runs": dag.max_active_runs,
        "params": {name: dag.params.get_param(name).value for name in dag.params},
    }

dags = {dag_id: facts(dag) for dag_id, dag in bag.dags.items()}
stability = {
    name: check_dag_file_stability(os.path.join(folder, name)).format_warnings()
    for name in os.listdir(folder) if name.endswith(".py")
}
print(json.dumps({
    "errors": bag.import_errors,
    "dags": dags,
    "stability": stability,
    "seconds": [stat.duration.total_seconds() for stat in bag.dagbag_stats],
    "heavy": [name for name in ("torch", "pandas", "numba", "alpaca", "fracast")
              if name in sys.modules],
}))
"""
CYCLE_TASKS = ["reconcile", "fetch", "plan_forecasts", "forecast", "optimise", "trade", "report"]
KNOWN_TAGS = {"trading", "evaluation", "research"}


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> dict[str, Any]:
    """What Airflow finds in `dags/`."""
    facts: dict[str, Any] = run_in_airflow(LOAD, tmp_path_factory.mktemp("airflow"))
    return facts


@pytest.fixture(scope="module")
def cycle(found) -> dict[str, Any]:
    """The DAG of the trading cycle."""
    facts: dict[str, Any] = found["dags"]["trading_cycle"]
    return facts


def test_every_file_loads(found):
    """No DAG file fails to import, and each holds the DAG of its own name."""
    stems = {path.stem for path in (ROOT / "dags").glob("*.py")}
    assert found["errors"] == {}
    assert set(found["dags"]) == stems


def test_no_file_changes_from_parse_to_parse(found):
    """Nothing varies at module level, or each parse would make a new version of the DAG."""
    assert set(found["stability"].values()) == {None}


def test_parsing_loads_no_model_and_no_data_library(found):
    """Files are parsed every half minute and again by each task: they stay light."""
    assert found["heavy"] == []


def test_every_dag_survives_storage(found):
    """The stored form has the same tasks, and knows the timetable."""
    for dag in found["dags"].values():
        assert dag["stored_tasks"] == sorted(dag["tasks"])


def test_every_dag_says_what_it_does(found):
    """Each has documentation, and tags from the list."""
    for dag in found["dags"].values():
        assert len(dag["doc_md"]) > 40
        assert set(dag["tags"]) <= KNOWN_TAGS


def test_every_start_date_is_fixed(found):
    """A start date is a written midnight in the DAG's own time zone."""
    for dag in found["dags"].values():
        assert dag["start_date"][10:19] in ("T00:00:00", " 00:00:00")


def test_the_cycle_is_a_chain_of_its_documented_tasks(cycle):
    """Seven tasks, each followed by the next."""
    followers = [[task] for task in CYCLE_TASKS[1:]]
    assert cycle["tasks"] == dict(zip(CYCLE_TASKS, [*followers, []], strict=True))


def test_each_task_is_a_module_of_the_pipeline(cycle):
    """A task id names the module that does its work."""
    for task in cycle["tasks"]:
        assert (ROOT / "include" / "pipeline" / f"{task}.py").is_file(), task


def test_forecast_is_mapped_and_optimise_runs_without_batches(cycle):
    """When nothing is to be predicted again the mapped task is skipped, and the cycle goes on."""
    assert cycle["mapped"] == ["forecast"]
    assert cycle["trigger_rules"]["optimise"] == "none_failed"


def test_retries_what_is_transient_and_nothing_that_is_permanent(cycle):
    """Our two marker classes decide, on every task; the permanent one is asked first."""
    for task in CYCLE_TASKS:
        assert cycle["retries"][task] >= 1
        assert cycle["policies"][task] == [
            ["include.errors.Permanent", "fail"],
            ["include.errors.Transient", "retry"],
        ]


def test_the_cycle_never_overlaps_itself_and_makes_nothing_up(cycle):
    """One run at a time, at the decision instants of the timetable, without catching up."""
    assert cycle["max_active_runs"] == 1
    assert cycle["catchup"] is False
    assert cycle["timetable"] == "MarketHoursTimetable"


def test_the_cycle_trades_by_default_and_forces_nothing(cycle):
    """A scheduled run is a whole cycle of every symbol, predicted again only where needed."""
    assert cycle["params"] == {"symbols": [], "force": False, "dry_run": False}
