"""The page as a FastAPI application: the desk in HTML and JSON, a symbol's fan, the halt latch.

It knows nothing of Airflow: who may read and write comes in as dependencies, from the plugin.
Every endpoint is an ordinary route, static files included, because an application's dependencies
don't cover mounted folders. Words and geometry are in `words.py` and `charts.py`.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Request, Response, params
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from pydantic import BaseModel, ConfigDict, StringConstraints

from include.console import charts, words
from include.errors import TradewindError
from include.pipeline import desk, halt
from include.pipeline.desk_values import DeskView, ForecastFan

FOLDER = Path(__file__).parent
EQUITY_WIDTH, EQUITY_HEIGHT, BAND_WIDTH = 600, 72, 120  # the viewBoxes in parts.html
UNAVAILABLE = 503
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
FILTERS = (
    words.age,
    words.decision_words,
    words.denial_words,
    words.fraction,
    words.instant_new_york,
    words.instant_utc,
    words.order_state_words,
    words.order_words,
    words.outcome_words,
    words.price,
    words.quantity,
    words.seconds,
    words.signed_usd,
    words.usd,
)

LoadDesk = Callable[[str | None], DeskView]
LoadFan = Callable[[str], ForecastFan | None]
SetLatch = Callable[..., str]
Sentence = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


@dataclass(frozen=True, kw_only=True)
class Desk:
    """What the page calls: two reads and one write; the defaults are this installation's."""

    load: LoadDesk = desk.load_desk
    load_fan: LoadFan = desk.load_fan
    set_latch: SetLatch = halt.run


class LatchRequest(BaseModel):
    """Who halts or resumes, and why."""

    model_config = ConfigDict(extra="forbid")

    is_halted: bool
    reason: Sentence
    actor: Sentence


def create_app(
    *,
    read: Sequence[params.Depends],
    write: Sequence[params.Depends],
    served: Desk | None = None,
) -> FastAPI:
    """Return the application: `read` guards every endpoint, `write` also those that change."""
    app = FastAPI(
        title="Tradewind",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        dependencies=list(read),
    )
    app.middleware("http")(_with_headers)
    templates = _templates()
    _explain_errors(app, templates)
    _add_page(app, templates, served or Desk())
    _add_data(app, served or Desk())
    _add_latch(app, served or Desk(), write)
    return app


def page_values(view: DeskView, asked_cycle_id: str | None) -> dict[str, Any]:
    """Return what the template needs beside the view: geometry, models, stages in order."""
    scale_fraction = charts.band_scale_fraction(view.symbols)
    return {
        "view": view,
        "asked_cycle_id": asked_cycle_id,
        "models": sorted({row.model_label for row in view.symbols if row.model_label}),
        "line": charts.equity_line(view.equity_curve, width=EQUITY_WIDTH, height=EQUITY_HEIGHT),
        "scale_fraction": scale_fraction,
        "marks": {
            row.symbol: charts.band_marks(row, scale_fraction=scale_fraction, width=BAND_WIDTH)
            for row in view.symbols
        },
        "stages": _stages(view),
    }


def _stages(view: DeskView) -> list[str]:
    """Return the stages of the recent cycles in the order in which a whole cycle runs them."""
    rows = sorted(view.cycles, key=lambda row: len(row.stage_seconds), reverse=True)
    return list(dict.fromkeys(name for row in rows for name in row.stage_seconds))


def as_run_id(text: str | None) -> str | None:
    """Return a run id from a query: Airflow's links leave its `+` bare, which reads as a space."""
    return text.replace(" ", "+") if text else None


def _add_page(app: FastAPI, templates: Environment, served: Desk) -> None:
    template = templates.get_template("desk.html")

    @app.get("/", response_class=HTMLResponse)
    def page(run_id: str | None = None) -> HTMLResponse:
        """Return the desk as a page, at a run's cycle where one is asked for."""
        asked = as_run_id(run_id)
        return HTMLResponse(template.render(page_values(served.load(asked), asked)))

    @app.get("/static/desk.css")
    def style() -> FileResponse:
        """Return the page's style."""
        return FileResponse(FOLDER / "static" / "desk.css", media_type="text/css")

    @app.get("/static/desk.js")
    def script() -> FileResponse:
        """Return the page's script."""
        return FileResponse(FOLDER / "static" / "desk.js", media_type="text/javascript")


def _add_data(app: FastAPI, served: Desk) -> None:
    @app.get("/api/desk")
    def data(run_id: str | None = None) -> DeskView:
        """Return the desk as JSON; money is text, instants are UTC."""
        return served.load(as_run_id(run_id))

    @app.get("/api/symbols/{symbol:path}/forecast")
    def forecast(symbol: str) -> ForecastFan:
        """Return the fan of a symbol's forecast in force; 404 where there is none."""
        fan = served.load_fan(symbol)
        if fan is None:
            raise HTTPException(404, f"No forecast of {symbol} with its sample paths is in force.")
        return fan


def _add_latch(app: FastAPI, served: Desk, write: Sequence[params.Depends]) -> None:
    @app.post("/api/halt", dependencies=list(write))
    def latch(asked: LatchRequest) -> dict[str, str]:
        """Set or lift the halt latch and return its state."""
        state = served.set_latch(
            is_halted=asked.is_halted,
            reason=asked.reason,
            actor=asked.actor,
            at=datetime.now(UTC),
        )
        return {"state": state}


def _explain_errors(app: FastAPI, templates: Environment) -> None:
    template = templates.get_template("fault.html")

    @app.exception_handler(TradewindError)
    def explain(request: Request, error: Exception) -> Response:
        """Answer with the error's own sentence, as a page or as JSON."""
        if "/api/" in request.url.path:
            return JSONResponse({"detail": str(error)}, status_code=UNAVAILABLE)
        return HTMLResponse(template.render(sentence=str(error)), status_code=UNAVAILABLE)


async def _with_headers(
    request: Request, call_next: Callable[[Request], Awaitable[Response]]
) -> Response:
    response = await call_next(request)
    response.headers.update(HEADERS)
    return response


def _templates() -> Environment:
    templates = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update({word.__name__: word for word in FILTERS})
    return templates
