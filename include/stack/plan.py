"""What to bring up, and what the user's settings mean for it; values and pure functions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from include.errors import ConfigurationError
from include.settings import ScheduleKind, Settings, Unproven
from include.stack.origins import origin, read_toml
from include.stack.state import StateFolder

SCHEDULE_VARIABLE = "TRADEWIND_SCHEDULE__KIND"
UNPROVEN_VARIABLE = "TRADEWIND_PORTFOLIO__UNPROVEN"


@dataclass(frozen=True, kw_only=True)
class StackPlan:
    """What to bring up: for which verb, from which folders, with whose settings."""

    verb: str
    project: Path
    state: StateFolder
    settings: Settings
    user: Mapping[str, str] = field(repr=False)
    dags: Path

    @property
    def is_watched(self) -> bool:
        """Whether the stack stays up: it then has a dag-processor, a triggerer and a schedule."""
        return self.verb == "up"

    @property
    def is_embedded(self) -> bool:
        """Whether the venue is the simulated exchange: no keys are set."""
        return self.settings.key_id is None


def plan_for(
    verb: str, *, project: Path, state: StateFolder, settings: Settings, user: Mapping[str, str]
) -> StackPlan:
    """Return the plan of `cycle` or `up` for these settings; refuse half a pair of keys."""
    if (settings.key_id is None) != (settings.secret_key is None):
        message = (
            "Only one of APCA_API_KEY_ID and APCA_API_SECRET_KEY is set. Set both for an Alpaca "
            "paper account, or neither for the simulated exchange."
        )
        raise ConfigurationError(message)
    return StackPlan(
        verb=verb,
        project=project,
        state=state,
        settings=settings,
        user=user,
        dags=project / "dags",
    )


def chosen_settings(plan: StackPlan) -> dict[str, str]:
    """Return the settings that the stack chooses: what the user set stays, but for `cycle`.

    A cycle is its own schedule: no run of another may start beside it. Without keys the account
    is simulated, so strategies that have not earned their size may probe.
    """
    toml = read_toml(plan.project)
    chosen: dict[str, str] = {}
    if not plan.is_watched:
        chosen[SCHEDULE_VARIABLE] = ScheduleKind.MANUAL
    elif origin("schedule.kind", environment=plan.user, toml=toml) == "default":
        kind = ScheduleKind.EVERY_MINUTE if plan.is_embedded else ScheduleKind.MARKET_HOURS
        chosen[SCHEDULE_VARIABLE] = kind
    unproven = origin("portfolio.unproven", environment=plan.user, toml=toml)
    if plan.is_embedded and unproven == "default":
        chosen[UNPROVEN_VARIABLE] = Unproven.PROBE
    return {name: str(value) for name, value in chosen.items()}
