"""The page: what it shows, that nothing absent breaks it, and that no endpoint is unguarded."""

import re
from dataclasses import fields, replace
from decimal import Decimal
from typing import Any

import pytest
from fastapi import Depends, HTTPException
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from include.console.app import FOLDER, Desk, create_app
from include.errors import StoreUnavailable
from include.pipeline.desk_values import DeskView, SymbolRow
from tests.console.desk_samples import a_cycle, a_desk, a_fan, a_row, an_empty_desk


class FakeLatch:
    """Remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def __call__(self, **asked) -> str:
        self.asked.append(asked)
        return "halted" if asked["is_halted"] else "active"


def client_of(view: DeskView | None = None, *, read=(), write=(), **served) -> TestClient:
    """Return a client of the page that shows a view."""
    shown = {
        "load": lambda _run_id: view or a_desk(),
        "load_fan": lambda symbol: a_fan(symbol),
        "set_latch": FakeLatch(),
        **served,
    }
    return TestClient(create_app(read=read, write=write, served=Desk(**shown)))


def page_of(view: DeskView) -> str:
    """Return the page's HTML."""
    answer = client_of(view).get("/")
    assert answer.status_code == 200
    return answer.text


def refuse() -> None:
    """Refuse everybody."""
    raise HTTPException(401)


def every_request(app) -> list[tuple[str, str]]:
    """Return method and a concrete path of each route of the application."""
    assert all(isinstance(route, APIRoute) for route in app.routes), "a route without guards"
    return [
        (method, re.sub(r"\{[^}]+\}", "KO", route.path))
        for route in app.routes
        for method in sorted(route.methods)
    ]


def test_every_endpoint_is_guarded_by_the_read_dependency():
    """Who may not read gets nothing at all: page, data, files and latch alike."""
    client = client_of(read=[Depends(refuse)])
    requests = every_request(client.app)
    assert len(requests) == 6
    for method, path in requests:
        assert client.request(method, path, json={}).status_code == 401, path


def test_whatever_changes_something_is_guarded_by_the_write_dependency():
    """A reader who may not write sees everything and changes nothing."""
    latch = FakeLatch()
    client = client_of(write=[Depends(refuse)], set_latch=latch)
    asked = {"is_halted": True, "reason": "odd fills", "actor": "Ada"}
    for method, path in every_request(client.app):
        wanted = 200 if method == "GET" else 401
        assert client.request(method, path, json=asked).status_code == wanted, path
    assert latch.asked == []


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/openapi.json", "/static/../app.py"])
def test_shows_no_documentation_and_no_other_file(path):
    """Nothing is served beyond the routes that are listed."""
    assert client_of().get(path).status_code == 404


def test_shows_each_symbol_with_price_band_reason_position_and_orders():
    """A trader reads off one row what is held, what is expected and what works."""
    page = page_of(a_desk())
    for text in (
        "71.55",
        "kept: moved 0.3 % of 1.0 %",
        "predicted: moved 2.4 %, threshold 2.0 %",
        "refused: stale: the newest bar",
        "buy 12 at 71.23, enter long",
        "acked (new) · probe",
        "denied: order notional (1224.35; bound 1000.00)",
        "\N{MINUS SIGN}12.40",
        "0.01342",
    ):
        assert text in page, text


def test_says_that_venue_and_crypto_are_simulated():
    """Nobody can take the simulation for a market; on the paper service the notice is absent."""
    notice = "crypto prices are synthetic"
    assert notice in page_of(a_desk())
    assert notice not in page_of(a_desk(venue_is_simulated=False))


def test_shows_as_of_in_utc_and_in_new_york():
    """The decision's instant reads in both clocks that a trader thinks in."""
    page = page_of(a_desk())
    assert "2026-11-20 15:30 UTC" in page
    assert "Fri 10:30 EST" in page


def test_says_how_to_run_a_cycle_before_the_first_one():
    """The empty desk tells what to do."""
    assert "./tradewind cycle" in page_of(an_empty_desk())


def test_says_that_a_run_has_no_cycle_yet():
    """The tab of a run that has not begun names that run, its plus signs intact."""
    client = client_of(load=lambda _run_id: an_empty_desk())
    page = client.get("/?run_id=manual__2026-11-20T15:30:00+00:00").text
    assert "manual__2026-11-20T15:30:00+00:00" in page.replace("&#43;", "+")


def test_asks_for_the_cycle_of_the_run():
    """The tab of a run shows that run's cycle."""
    asked: list[str | None] = []

    def load(run_id: str | None) -> DeskView:
        asked.append(run_id)
        return a_desk()

    client = client_of(load=load)
    client.get("/", params={"run_id": "manual__1+1"})
    client.get("/")
    assert asked == ["manual__1+1", None]


@pytest.mark.parametrize(
    "field", [field.name for field in fields(SymbolRow) if field.default is None]
)
def test_shows_a_symbol_of_which_something_is_absent(field):
    """Any one value of a symbol may be missing."""
    absent: dict[str, Any] = {field: None}
    assert "KO" in page_of(a_desk(symbols=(replace(a_row(), **absent),)))


@pytest.mark.parametrize(
    "changes",
    [
        {"equity_usd": None, "last_equity_usd": None, "cash_usd": None, "account_number": None},
        {"equity_curve": ()},
        {"symbols": ()},
        {"symbols": (SymbolRow(symbol="KO"),)},
        {"cycles": (a_cycle(seconds=None, stage_seconds={}, reuse_rate_fraction=None),)},
        {"cycles": (), "working_orders": (), "halt_state": None},
    ],
    ids=lambda changes: "+".join(changes),
)
def test_shows_a_desk_of_which_parts_are_absent(changes):
    """A cycle that failed early has no prices, no equity or no stages: the page still stands."""
    assert "Tradewind" in page_of(a_desk(**changes))


def test_shows_the_halt_and_how_to_lift_it():
    """A set latch can't be overlooked, and the form offers the way back."""
    page = page_of(a_desk(halt_state="halted", halt_reason="daily loss beyond 3 %"))
    assert "No order is sent." in page
    assert "daily loss beyond 3 %" in page
    assert "Resume sending" in page
    assert "Resume sending" not in page_of(a_desk())


def test_sets_the_latch_with_reason_and_name():
    """The form's request reaches the pipeline with who and why, trimmed."""
    latch = FakeLatch()
    answer = client_of(set_latch=latch).post(
        "/api/halt", json={"is_halted": True, "reason": " odd fills ", "actor": "Ada"}
    )
    assert answer.json() == {"state": "halted"}
    (asked,) = latch.asked
    assert (asked["is_halted"], asked["reason"], asked["actor"]) == (True, "odd fills", "Ada")
    assert asked["at"].tzinfo is not None


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"is_halted": False, "reason": "", "actor": "Ada"},
        {"is_halted": False, "reason": "  ", "actor": "Ada"},
        {"is_halted": False, "reason": "calm again", "actor": "A" * 201},
    ],
)
def test_refuses_a_latch_without_reason_or_name(body):
    """Nobody halts or resumes anonymously or without saying why."""
    latch = FakeLatch()
    assert client_of(set_latch=latch).post("/api/halt", json=body).status_code == 422
    assert latch.asked == []


def test_refuses_a_latch_that_comes_as_a_form():
    """A form on another site can't set the latch with a reader's cookie: only JSON is taken."""
    form = {"is_halted": "false", "reason": "forged", "actor": "nobody"}
    assert client_of().post("/api/halt", data=form).status_code == 422


def test_escapes_text_that_others_wrote():
    """Text from venue and data can't become markup."""
    hostile = "<script>alert(1)</script>"
    row = a_row(symbol=hostile, reason=None, model_label=hostile)
    page = page_of(
        a_desk(
            symbols=(row,),
            account_number=hostile,
            halt_state="halted",
            halt_reason=hostile,
            cycles=(a_cycle(faults=(hostile,)),),
        )
    )
    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page


def test_uses_relative_addresses_and_nothing_from_elsewhere():
    """The page works below any path, inside an iframe, and without internet."""
    page = page_of(a_desk())
    addresses = re.findall(r'(?:href|src|action)="([^"]*)"', page)
    assert addresses == ["static/desk.css", "static/desk.js"]
    script = (FOLDER / "static" / "desk.js").read_text(encoding="utf-8")
    style = (FOLDER / "static" / "desk.css").read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[^\"'\s)]+", script + style)) == {
        "http://www.w3.org/2000/svg"
    }
    assert not re.findall(r"ask\([\"'`]/", script)


def test_allows_the_browser_no_other_source():
    """The policy forbids inline script, other hosts, and being framed by them."""
    policy = client_of().get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy
    assert "frame-ancestors 'self'" in policy
    assert "style=" not in page_of(a_desk())


def test_every_table_has_a_caption_and_scoped_headers():
    """A screen reader can tell what each figure belongs to."""
    page = page_of(a_desk())
    assert page.count("<table>") == page.count("<caption") == 3
    assert not re.findall(r"<th(?![^>]*scope=)[ >]", page)
    assert not re.findall(r"<svg(?![^>]*aria-label=)", page)


def test_data_is_the_same_view_as_json():
    """Money is text, instants are aware, and absent values are null."""
    data = client_of().get("/api/desk").json()
    assert data["equity_usd"] == "100412.55"
    assert data["as_of"] == "2026-11-20T15:30:00Z"
    assert data["symbols"][2]["price"] is None
    assert data["symbols"][0]["reason"] == "price_moved"


def test_fan_of_a_symbol_with_a_slash():
    """A crypto symbol is found, whether its slash comes quoted or plain."""
    for path in ("BTC/USD", "BTC%2FUSD"):
        fan = client_of().get(f"/api/symbols/{path}/forecast").json()
        assert fan["symbol"] == "BTC/USD"
        assert len(fan["steps"][0]["close_quantiles"]) == len(fan["levels"])


def test_fan_of_a_symbol_without_a_forecast_is_not_found():
    """Nothing in force is a 404 with a sentence."""
    answer = client_of(load_fan=lambda _symbol: None).get("/api/symbols/GE/forecast")
    assert (answer.status_code, answer.json()["detail"]) == (
        404,
        "No forecast of GE with its sample paths is in force.",
    )


def test_says_why_the_desk_cannot_be_shown():
    """A database that is down is a sentence, on the page and in JSON, and no traceback."""

    def fail(_run_id: str | None) -> DeskView:
        raise StoreUnavailable(url="postgresql://db", found="connection refused")

    client = client_of(load=fail)
    page, data = client.get("/"), client.get("/api/desk")
    assert page.status_code == data.status_code == 503
    assert "did not answer: connection refused" in page.text
    assert "did not answer: connection refused" in data.json()["detail"]


def test_parts_that_refresh_have_names_of_their_own():
    """The script swaps parts by name: each name stands once, whatever is shown."""
    for view in (a_desk(), an_empty_desk(), replace(a_desk(), equity_usd=Decimal(1))):
        names = re.findall(r'data-part="([^"]+)"', page_of(view))
        assert len(names) == len(set(names))
