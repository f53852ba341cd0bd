"""Tradewind in Airflow: the timetable of `trading_cycle` and the desk page behind Airflow's login.

The only Python file here: Airflow executes every one below `plugins/`, in every process, under its
bare stem. So it stays thin and imports `include` and FastAPI inside methods alone.
"""

from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import pendulum
from airflow.plugins_manager import AirflowPlugin
from airflow.timetables.base import DagRunInfo, DataInterval, TimeRestriction, Timetable

# A DAG file that is parsed just after an instant must not lose the run that is due at it.
GRACE = pendulum.duration(minutes=2)


class MarketHoursTimetable(Timetable):
    """Run at Tradewind's decision instants, which settings and the NYSE's calendar fix.

    An instant that passed more than two minutes ago is not made up for: a decision is worth
    nothing later. `catchup` therefore changes nothing.
    """

    description = "Decision instants of the market-hours schedule, or as the settings say"

    @property
    def summary(self) -> str:
        from include.pipeline.schedule import description
        from include.settings import load_settings

        return description(load_settings())

    def serialize(self) -> dict[str, Any]:
        return {}

    @classmethod
    def deserialize(cls, data: dict[str, Any]) -> "MarketHoursTimetable":
        return cls()

    def infer_manual_data_interval(self, *, run_after: pendulum.DateTime) -> DataInterval:
        return DataInterval.exact(run_after)

    def next_dagrun_info(
        self, *, last_automated_data_interval: DataInterval | None, restriction: TimeRestriction
    ) -> DagRunInfo | None:
        now = pendulum.now("UTC")
        after = now - GRACE
        if restriction.earliest is not None:
            after = max(after, restriction.earliest.subtract(seconds=1))
        if last_automated_data_interval is not None:
            after = max(after, last_automated_data_interval.end)
        run_at = due_or_next(after, now)
        if run_at is None or (restriction.latest is not None and run_at > restriction.latest):
            return None
        return DagRunInfo.exact(run_at)


def due_or_next(after: datetime, now: datetime) -> pendulum.DateTime | None:
    """Return the latest decision instant in (after, now], else the first one later; UTC."""
    from include.pipeline.schedule import next_decision_instant

    found = next_decision_instant(_plain(after))
    while found is not None and found <= now:
        later = next_decision_instant(found)
        if later is None or later > now:
            break
        found = later
    return None if found is None else pendulum.instance(found).in_timezone("UTC")


def _plain(instant: datetime) -> datetime:
    """Return the instant as the standard library's: pendulum's differences don't divide."""
    return datetime.fromtimestamp(instant.timestamp(), tz=UTC)


class TradewindPlugin(AirflowPlugin):
    """The timetable, the menu item, the tab of a run, and the page they show."""

    name = "tradewind"
    timetables = [MarketHoursTimetable]
    external_views = [
        {
            "name": "Tradewind",
            "href": "tradewind/",
            "destination": "nav",
            "url_route": "tradewind",
            "nav_top_level": True,
        },
        {
            "name": "Tradewind",
            "href": "tradewind/?run_id={RUN_ID}",
            "destination": "dag_run",
            "url_route": "tradewind_run",
        },
    ]

    @cached_property
    def fastapi_apps(self) -> list[dict[str, Any]]:  # type: ignore[override]  # built where served
        """The page: every login may read it, whoever may run the DAG may set the halt latch."""
        from airflow.api_fastapi.core_api.security import get_user, requires_access_dag
        from fastapi import Depends

        from include.console.app import create_app

        writer = requires_access_dag("PUT", param_dag_id="trading_cycle")
        app = create_app(read=[Depends(get_user)], write=[Depends(writer)])
        return [{"app": app, "url_prefix": "/tradewind", "name": "Tradewind"}]
