"""The whole stack of this machine, up and down: Postgres, the simulated exchange, Airflow.

What can start at the same time does. Each part is in the record before the next one starts, so
that a killed run leaves nothing that can't be found. Everything listens on 127.0.0.1 alone.
"""

import signal
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

from include.stack.airflow import (
    API_SERVER,
    DAG_PROCESSOR,
    SCHEDULER,
    TRIGGERER,
    command,
    component_command,
    dags_key,
    finish,
    migration_key,
    wait_healthy,
    write_passwords,
)
from include.stack.environment import (
    AirflowPlan,
    TradingPlan,
    airflow_variables,
    inherited,
    trading_variables,
    with_marker,
    without_venue,
)
from include.stack.exchange import announced_venue, exchange_command
from include.stack.leftovers import GRACE_SECONDS, stop_leftovers
from include.stack.lock import Say
from include.stack.plan import StackPlan, chosen_settings
from include.stack.ports import free_ports, preferred_port
from include.stack.postgres import Postgres, start_postgres
from include.stack.processes import (
    Command,
    Part,
    ProcessRecord,
    own_record,
    start,
    stop_marked,
    stop_sessions,
)
from include.stack.record import StackRecord, remove_record, write_record
from include.stack.rest import AirflowApi
from include.stack.secrets import load_or_create
from include.stack.state import mark, read_json

UI_PORT = 8080
PREPARE = "include.pipeline.prepare"
CYCLE_GRACE_SECONDS = 3.0  # its run is over, and the API server takes its time to end
PART_SECONDS = 180.0  # what has not started by then never will, on a busy machine too
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stack:
    """A stack that this process starts, watches and stops; see `running_stack`."""

    def __init__(self, plan: StackPlan, *, say: Say) -> None:
        self.plan = plan
        self.seconds: dict[str, float] = {}
        self._say = say
        self._parts: dict[str, Part] = {}
        self._postgres: Postgres | None = None
        self._record = _new_record(plan)

    @property
    def record(self) -> StackRecord:
        """What runs, as another process finds it."""
        return self._record

    def api(self) -> AirflowApi:
        """Return a client of this stack's Airflow, logged in as its admin."""
        return admin_api(self.plan, self._record.airflow_url)

    def require_alive(self) -> None:
        """Raise PartFailed when a part has ended by itself."""
        for part in self._parts.values():
            part.require_alive()

    def start(self) -> None:
        """Bring everything up; raise PartFailed with the part and its log."""
        began = time.monotonic()
        since = datetime.now(UTC)
        self.plan.state.create()
        stop_leftovers(self.plan.state, say=self._say)
        self._note()
        postgres = self._start_postgres()
        plan = self._airflow_plan(postgres)
        base = self._base_environment()
        if self.plan.is_embedded:
            self._start_part(exchange_command(self.plan.state.exchange), without_venue(base))
        self._prepare_databases(plan, base, postgres)
        environment = self._with_venue(plan, base, postgres)
        self._start_airflow(plan, environment, postgres.identifier(), since)
        self._record = replace(self._record, ready=True)
        self._note()
        self.seconds["total"] = time.monotonic() - began
        self._say(f"The stack is up at {plan.url} ({self.seconds['total']:.1f} s)")

    def stop(self) -> None:
        """Stop everything in reverse and check that nothing is left; further signals wait."""
        began = time.monotonic()
        handlers = {name: signal.signal(name, signal.SIG_IGN) for name in STOP_SIGNALS}
        try:
            self._stop_parts()
            self._say(f"The stack is stopped ({time.monotonic() - began:.1f} s)")
        finally:
            for name, handler in handlers.items():
                signal.signal(name, handler)

    def _stop_parts(self) -> None:
        grace = GRACE_SECONDS if self.plan.is_watched else CYCLE_GRACE_SECONDS
        exchange = self._parts.pop("exchange", None)
        stop_sessions([part.record for part in self._parts.values()], grace_seconds=grace)
        if exchange is not None:
            stop_sessions([exchange.record], grace_seconds=grace)
            self._parts["exchange"] = exchange
        stop_marked(self._record.marker, grace_seconds=grace)
        for part in self._parts.values():
            part.close()
        if self._postgres is not None:
            self._postgres.stop()
        remove_record(self.plan.state)

    def _start_postgres(self) -> Postgres:
        began = time.monotonic()
        self._postgres = start_postgres(self.plan.state.postgres)
        self._add(self._postgres.record())
        self._timed("PostgreSQL", began)
        return self._postgres

    def _airflow_plan(self, postgres: Postgres) -> AirflowPlan:
        port = preferred_port(UI_PORT)
        if port != UI_PORT and self.plan.is_watched:
            self._say(f"Port {UI_PORT} is taken; Airflow listens on {port}")
        worker_logs, trigger_logs = free_ports(2)
        plan = AirflowPlan(
            home=self.plan.state.airflow,
            dags=self.plan.dags,
            plugins=self.plan.project / "plugins",
            port=port,
            log_ports=(worker_logs, trigger_logs),
            database_url=postgres.url("airflow"),
            secrets=load_or_create(self.plan.state),
        )
        write_passwords(plan)
        self._record = replace(self._record, airflow_url=plan.url)
        return plan

    def _base_environment(self) -> dict[str, str]:
        clean = inherited(self.plan.user, project=self.plan.project, state=self.plan.state.root)
        return with_marker(clean, self._record.marker)

    def _prepare_databases(
        self, plan: AirflowPlan, base: dict[str, str], postgres: Postgres
    ) -> None:
        """Migrate both databases, at the same time; Airflow's only when it is not yet."""
        began = time.monotonic()
        key = migration_key(postgres.identifier())
        url = self._trading_url(postgres)
        if self.plan.settings.database_url is None:
            self._record = replace(self._record, database_url=url)
        prepare = Command(part="prepare", arguments=(sys.executable, "-m", PREPARE), word=PREPARE)
        jobs = [self._start_part(prepare, base | {"TRADEWIND_DATABASE_URL": url})]
        if read_json(self.plan.state.marks_file).get("migrated") != key:
            self._say("Migrating Airflow's database …")
            migrate = command("airflow-migrate", "db", "migrate")
            jobs.append(self._start_part(migrate, base | airflow_variables(plan)))
        self._finish(jobs)
        mark(self.plan.state, migrated=key)
        self._timed("databases", began)

    def _with_venue(
        self, plan: AirflowPlan, base: dict[str, str], postgres: Postgres
    ) -> dict[str, str]:
        """Return the environment of Airflow and its tasks, once the exchange is announced."""
        began = time.monotonic()
        if "exchange" in self._parts:
            venue = announced_venue(self._parts["exchange"], seconds=PART_SECONDS)
            self._record = replace(self._record, venue=venue)
            self._timed("exchange", began)
        trading = TradingPlan(
            database_url=self._trading_url(postgres),
            venue=self._record.venue,
            chosen=chosen_settings(self.plan),
        )
        clean = without_venue(base) if self.plan.is_embedded else base
        return clean | airflow_variables(plan) | trading_variables(trading)

    def _start_airflow(
        self, plan: AirflowPlan, environment: dict[str, str], identifier: str, since: datetime
    ) -> None:
        began = time.monotonic()
        parts = [API_SERVER, SCHEDULER]
        parts += [DAG_PROCESSOR, TRIGGERER] if self.plan.is_watched else []
        for part in parts:
            self._start_part(component_command(part), environment)
        self._store_dags(plan, environment, identifier)
        api = self.api()
        try:
            wait_healthy(
                api, parts, since=since, seconds=PART_SECONDS, require_alive=self.require_alive
            )
            api.warm_execution_api()
            left = api.fail_runs_before(since)
        finally:
            api.close()
        if left:
            self._say(f"Marked failed what an earlier run left unfinished: {', '.join(left)}")
        self._timed("Airflow", began)

    def _store_dags(self, plan: AirflowPlan, environment: dict[str, str], identifier: str) -> None:
        """Store the DAGs in Airflow's database where they or their schedule changed."""
        key = dags_key(plan, environment, identifier)
        if read_json(self.plan.state.marks_file).get("dags") == key:
            return
        began = time.monotonic()
        reserialize = command("airflow-reserialize", "dags", "reserialize")
        self._finish([self._start_part(reserialize, environment)])
        mark(self.plan.state, dags=key)
        self._timed("DAGs", began)

    def _trading_url(self, postgres: Postgres) -> str:
        given = self.plan.settings.database_url
        return given.get_secret_value() if given else postgres.url("tradewind")

    def _start_part(self, what: Command, environment: dict[str, str]) -> Part:
        part = start(
            what,
            environment=environment,
            log=self.plan.state.log(what.part),
            folder=self.plan.project,
        )
        self._parts[what.part] = part
        self._add(part.record)
        return part

    def _finish(self, jobs: list[Part]) -> None:
        for part in jobs:
            finish(part, seconds=PART_SECONDS)
            part.close()
            del self._parts[part.record.part]

    def _add(self, record: ProcessRecord) -> None:
        self._record = self._record.with_part(record)
        self._note()

    def _note(self) -> None:
        write_record(self.plan.state, self._record)

    def _timed(self, part: str, began: float) -> None:
        self.seconds[part] = time.monotonic() - began
        self._say(f"{part}: ready after {self.seconds[part]:.1f} s")


@contextmanager
def running_stack(plan: StackPlan, *, say: Say) -> Iterator[Stack]:
    """Run a stack around the block; whatever happens in it, everything is stopped at its end.

    The caller holds the lock of the state folder.
    """
    stack = Stack(plan, say=say)
    try:
        stack.start()
        yield stack
    finally:
        stack.stop()


def admin_api(plan: StackPlan, url: str) -> AirflowApi:
    """Return a client of the Airflow at this address, logged in as the admin of the state."""
    return AirflowApi(
        url=url,
        user="admin",
        password=load_or_create(plan.state).admin_password,
        log=str(plan.state.log(API_SERVER)),
    )


def _new_record(plan: StackPlan) -> StackRecord:
    """Return the record of a stack of this process of which nothing runs yet."""
    return StackRecord(verb=plan.verb, marker=uuid.uuid4().hex, owner=own_record())
