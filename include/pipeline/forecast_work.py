"""Which questions a cycle asks of a model: the live one, and the opening of every past window.

Both are built by the same function of bars and an instant, so a walk-forward forecast is what the
live code would have issued at that opening.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from include.domain.decisions import IssuedForecast
from include.domain.forecasts import ForecastRequest, content_key
from include.domain.sessions import Window
from include.forecast.config import DecodeOptions
from include.forecast.engine import ForecastEngine
from include.forecast.walk_forward import live_request, opening_requests
from include.pipeline.situation import Situation
from include.settings import Settings


@dataclass(frozen=True, kw_only=True, eq=False)
class KeyedRequest:
    """A question with the key of its answer."""

    key: str
    request: ForecastRequest


def request_key(request: ForecastRequest, engine: ForecastEngine, options: DecodeOptions) -> str:
    """Return the content key that the engine's answer to the request has."""
    return content_key(
        request, model_version=engine.model_version, options=engine.options_used(options)
    )


def live_question(
    situation: Situation, as_of: datetime, settings: Settings
) -> ForecastRequest | None:
    """Return the question for the bars that remain in the open window; None outside of one."""
    if situation.window is None or not len(situation.series):
        return None
    return live_request(
        situation.series,
        situation.window,
        as_of,
        context_bars=settings.data.context_bars,
    )


def opening_questions(situation: Situation, settings: Settings) -> list[ForecastRequest]:
    """Return the question of every past window's opening that has a whole context, oldest first.

    The open window's own opening is among them: it becomes history when the window ends.
    """
    windows = list(situation.past_windows)
    if situation.window is not None:
        windows.append(situation.window)
    return opening_requests(
        situation.series,
        windows,
        context_bars=settings.data.context_bars,
        minimum_bars=settings.data.context_bars,
    )


def keyed(
    requests: Sequence[ForecastRequest], engine: ForecastEngine, options: DecodeOptions
) -> list[KeyedRequest]:
    """Return the requests with their keys, in the same order."""
    return [
        KeyedRequest(key=request_key(request, engine, options), request=request)
        for request in requests
    ]


def key_of_issued_origin(
    situation: Situation,
    issued: IssuedForecast | None,
    engine: ForecastEngine,
    options: DecodeOptions,
    settings: Settings,
) -> str | None:
    """Return the key that the forecast in force would have from today's bars; None without one.

    It differs from the stored key only where a bar of its context was revised since.
    """
    if issued is None:
        return None
    window = Window(opens_at=issued.window_opens_at, ends_at=issued.window_ends_at)
    request = live_request(
        situation.series, window, issued.origin, context_bars=settings.data.context_bars
    )
    return request_key(request, engine, options)


def config_hash(engine: ForecastEngine, options: DecodeOptions, settings: Settings) -> str:
    """Return the sha256 of every choice beside model and data that changes a forecast."""
    choices = {
        "options": dict(engine.options_used(options)),
        "context_bars": settings.data.context_bars,
        "timeframes": [settings.data.equity_timeframe, settings.data.crypto_timeframe],
    }
    return hashlib.sha256(json.dumps(choices, sort_keys=True).encode()).hexdigest()
