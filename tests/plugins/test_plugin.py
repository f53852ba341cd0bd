"""The page inside Airflow's own application: each role against each endpoint."""

import json
from typing import Any

import pytest

from tests.plugins.airflow_process import run_in_airflow

PASSWORDS = {"admin": "a-password", "trader": "b-password", "watcher": "c-password"}
ROLES = """
import json, re, sys
from airflow.utils.db import initdb
initdb()  # a login is looked up among the revoked ones
from airflow import plugins_manager
from airflow.api_fastapi.app import create_app
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

app = create_app(apps="core")
client = TestClient(app, base_url="http://localhost", raise_server_exceptions=False)
passwords = json.load(open("passwords.json"))
mount = next(route for route in app.routes if getattr(route, "path", "") == "/tradewind")
page = mount.app
requests = [
    (method, "/tradewind" + re.sub(r"\\{[^}]+\\}", "KO", route.path))
    for route in page.routes
    for method in sorted(getattr(route, "methods", ["GET"]))
]
headers = {"anonymous": {}}
for user, password in passwords.items():
    answer = client.post("/auth/token", json={"username": user, "password": password})
    headers[user] = {"Authorization": "Bearer " + answer.json()["access_token"]}
body = {"is_halted": True, "reason": "a test", "actor": "a test"}

def ask(role, method, path):
    content = {} if method == "GET" else {"json": body}
    return client.request(method, path, headers=headers[role], **content)

print(json.dumps({
    "all_routes_are_plain": all(isinstance(route, APIRoute) for route in page.routes),
    "status": {
        role: {f"{method} {path}": ask(role, method, path).status_code
               for method, path in requests}
        for role in headers
    },
    "page": ask("watcher", "GET", "/tradewind/").text,
    "hidden": [ask("admin", "GET", f"/tradewind/{name}").status_code
               for name in ("docs", "redoc", "openapi.json")],
    "views": [view for plugin in plugins_manager.get_plugin_info(["name", "external_views"])
              if plugin["name"] == "tradewind" for view in plugin["external_views"]],
    "import_errors": dict(plugins_manager.get_import_errors()),
    "torch": "torch" in sys.modules,
}))
"""
READS = {
    "GET /tradewind/",
    "GET /tradewind/api/desk",
    "GET /tradewind/static/desk.css",
    "GET /tradewind/static/desk.js",
}
FAN = "GET /tradewind/api/symbols/KO/forecast"
LATCH = "POST /tradewind/api/halt"


@pytest.fixture(scope="module")
def found(tmp_path_factory, postgres) -> dict[str, Any]:
    """What every role is answered by every endpoint, on an empty store."""
    home = tmp_path_factory.mktemp("airflow")
    (home / "passwords.json").write_text(json.dumps(PASSWORDS), encoding="utf-8")
    answers: dict[str, Any] = run_in_airflow(
        ROLES,
        home,
        TRADEWIND_DATABASE_URL=postgres.url,
        AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS="admin:admin,trader:user,watcher:viewer",
        AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE=str(home / "passwords.json"),
        AIRFLOW__API_AUTH__JWT_SECRET="s" * 64,
    )
    return answers


def test_knows_every_endpoint(found):
    """The lists of this test are complete: a new endpoint must be placed in one of them."""
    assert found["all_routes_are_plain"]
    assert set(found["status"]["anonymous"]) == {*READS, FAN, LATCH}


def test_refuses_everything_without_a_login(found):
    """Page, data, files and latch alike answer 401 to whoever is not logged in."""
    assert set(found["status"]["anonymous"].values()) == {401}


@pytest.mark.parametrize("role", ["watcher", "trader", "admin"])
def test_lets_every_login_read(found, role):
    """A viewer sees the whole desk; what is absent is not found, not forbidden."""
    status = found["status"][role]
    assert {status[endpoint] for endpoint in READS} == {200}
    assert status[FAN] == 404


def test_lets_only_those_who_may_run_the_dag_set_the_latch(found):
    """A viewer is refused; others get as far as the store, which has no account yet."""
    assert found["status"]["watcher"][LATCH] == 403
    assert found["status"]["trader"][LATCH] == found["status"]["admin"][LATCH] == 503


def test_shows_the_desk_and_not_airflows_own_page(found):
    """A refused prefix would answer 200 with Airflow's own HTML: the content tells."""
    assert "No cycle yet" in found["page"]
    assert "Tradewind desk" in found["page"]


def test_hides_the_documentation_of_its_interface(found):
    """Neither a list of endpoints nor a console for them is served."""
    assert found["hidden"] == [404, 404, 404]


def test_adds_a_menu_item_and_a_tab_to_a_run(found):
    """Both views survive Airflow's checks, which drop a whole plugin for one bad entry."""
    views = {view["destination"]: view for view in found["views"]}
    assert views["nav"]["href"] == "tradewind/"
    assert views["dag_run"]["href"] == "tradewind/?run_id={RUN_ID}"
    assert len({view["url_route"] for view in found["views"]}) == 2
    assert found["import_errors"] == {}


def test_keeps_the_api_server_light(found):
    """Serving the page loads no model."""
    assert found["torch"] is False
