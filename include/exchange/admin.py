"""Routes outside the venue's API: health, and the virtual clock, to step it or let it run."""

import math
from typing import Annotated

from fastapi import APIRouter, Body, Depends
from fastapi.responses import JSONResponse, Response

from include.exchange.access import require_keys
from include.exchange.clock import ClockMode
from include.exchange.instants import SECOND, Instant, format_instant, parse_instant
from include.exchange.queries import Refused, ServedVenue
from include.exchange.refusals import Refusal, invalid
from include.exchange.shapes import Json
from include.exchange.venue import Venue

router = APIRouter(prefix="/admin", dependencies=[Depends(require_keys)])
_FASTEST = 1_000_000.0


@router.get("/health")
def get_health(venue: ServedVenue) -> Response:
    """Answer that the exchange works: it could bring itself up to the clock and save."""
    with venue.turn():
        return JSONResponse({"status": "ok", "now": format_instant(venue.now)})


@router.get("/clock")
def get_clock(venue: ServedVenue) -> Response:
    """Answer with the virtual clock's position, speed and bounds."""
    with venue.turn():
        return JSONResponse(_clock_json(venue))


@router.post("/clock/step")
def step_clock(venue: ServedVenue, body: Annotated[dict[str, object], Body()]) -> Response:
    """Move a stepped clock to an instant or by seconds; past the replay's end it stops there."""
    with venue.turn():
        target = _target(venue, body)
        if isinstance(target, Refusal):
            raise Refused(target)
        venue.step_to(target)
        return JSONResponse(_clock_json(venue))


@router.post("/clock/speed")
def set_speed(venue: ServedVenue, body: Annotated[dict[str, object], Body()]) -> Response:
    """Let the clock run at a multiple of real time; 0 or null stops it until it is stepped."""
    speed = _number(body.get("speed") or 0)
    if "speed" not in body or speed is None or not 0 <= speed <= _FASTEST:
        message = f"speed must be a number from 0 to {_FASTEST:.0f}, or null."
        raise Refused(invalid(message))
    with venue.turn():
        venue.clock.run_at(speed)
        return JSONResponse(_clock_json(venue))


def _target(venue: Venue, body: dict[str, object]) -> Instant | Refusal:
    """Return the instant that a step asks for, never one before the present."""
    if venue.clock.mode is not ClockMode.STEPPED:
        return invalid("The clock is running; set its speed to 0 before stepping it.")
    if ("to" in body) == ("seconds" in body):
        return invalid("A step has either 'to', an RFC 3339 instant, or 'seconds'.")
    if "seconds" in body:
        seconds = _number(body["seconds"])
        target = None if seconds is None else venue.now + round(seconds * SECOND)
    else:
        target = parse_instant(str(body["to"]))
    if target is None:
        return invalid("'to' must be an RFC 3339 instant and 'seconds' a number.")
    if target < venue.now:
        present, asked = format_instant(venue.now), format_instant(target)
        return invalid(
            f"The clock stands at {present} and never goes back; {asked} was asked for."
        )
    return target


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _clock_json(venue: Venue) -> Json:
    calendar = venue.replay.calendar
    return {
        "now": format_instant(venue.now),
        "mode": venue.clock.mode.value,
        "speed": venue.clock.speed,
        "replay_start": format_instant(venue.replay.start),
        "replay_end": format_instant(venue.replay.end),
        "exhausted": venue.is_exhausted,
        "is_open": calendar.session_at(venue.now) is not None,
        "next_open": format_instant(calendar.next_open(venue.now)),
        "next_close": format_instant(calendar.next_close(venue.now)),
    }
