"""The application: routes of trading, market data and administration over one venue."""

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from include.exchange import admin, market_data, trading
from include.exchange.access import Keys
from include.exchange.queries import Refused
from include.exchange.refusals import MALFORMED_REQUEST
from include.exchange.venue import Venue


def create_app(*, venue: Venue, keys: Keys) -> FastAPI:
    """Return the application that serves a venue to whoever has the keys."""
    app = FastAPI(title="Simulated exchange", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.venue, app.state.keys = venue, keys
    for router in (trading.router, market_data.stocks, market_data.crypto, admin.router):
        app.include_router(router)
    app.add_exception_handler(HTTPException, _answer_refusal)
    app.add_exception_handler(RequestValidationError, _answer_malformed)
    return app


async def _answer_refusal(_request: Request, error: Exception) -> Response:
    """Write a refusal as the venue does; an unknown path is one too."""
    if isinstance(error, Refused):
        return JSONResponse(error.refusal.as_json(), status_code=error.status_code)
    status = error.status_code if isinstance(error, HTTPException) else 500
    text = "endpoint not found." if status == 404 else str(getattr(error, "detail", error))
    return JSONResponse({"message": text}, status_code=status)


async def _answer_malformed(_request: Request, _error: Exception) -> Response:
    body = {"code": MALFORMED_REQUEST, "message": "request body format is invalid"}
    return JSONResponse(body, status_code=400)
