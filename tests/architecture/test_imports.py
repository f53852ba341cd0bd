"""The architecture as executable rules: layers, lone imports, who reads the environment."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
INCLUDE = ROOT / "include"
READERS = ("settings.py", "stack")
ENVIRONMENT_NAMES = {"environ", "environb", "getenv", "putenv"}
THIRD_PARTIES = (  # loaded once, so that a hundred modules of ours load in seconds
    "numpy", "pandas", "scipy.stats", "sqlalchemy", "alembic", "psycopg2", "fastapi", "uvicorn",
    "pydantic_settings", "requests", "exchange_calendars", "alpaca.data", "alpaca.trading.client",
    "numba", "torch", "fracast",
)  # fmt: skip
LONE_IMPORTS = """
import importlib, os, sys
root = os.environ["PYTHONPATH"] + os.sep
third_parties, modules = (names.split() for names in sys.argv[1:])
for name in third_parties:
    importlib.import_module(name)
for name in modules:
    for other in [other for other in sys.modules if other.split(".")[0] == "include"]:
        del sys.modules[other]  # nothing of ours is loaded yet
    try:
        importlib.import_module(name)
    except BaseException as error:
        print(f"{name}: {type(error).__name__}: {error}")
    for other, loaded in list(sys.modules.items()):
        file = getattr(loaded, "__file__", None) or ""
        if file.startswith(root + "include") and other.split(".")[0] != "include":
            print(f"{name}: loaded {file} as {other}")
"""


def modules() -> list[str]:
    """Return every module of `include` by its dotted name."""
    paths = (path.relative_to(ROOT).with_suffix("") for path in INCLUDE.rglob("*.py"))
    names = (".".join(path.parts).removesuffix(".__init__") for path in paths)
    return sorted(name for name in names if not name.endswith((".__main__", ".env")))


def environment() -> dict[str, str]:
    """Return an environment in which only PYTHONPATH leads to the project."""
    return {"PATH": os.defpath, "PYTHONPATH": str(ROOT)}


def test_layers_hold():
    """Every contract of pyproject.toml is kept: who may import whom, and who must not."""
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]


def test_every_module_imports_alone(tmp_path):
    """Each loads with nothing of ours loaded before, from anywhere, by PYTHONPATH alone."""
    done = subprocess.run(
        [sys.executable, "-c", LONE_IMPORTS, " ".join(THIRD_PARTIES), " ".join(modules())],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == [], "an import wrote a file"


def test_no_module_of_include_is_loaded_under_another_name():
    """One spelling: a module that is loaded twice would have two of each class."""
    twice = [
        name
        for name, module in list(sys.modules.items())
        if (getattr(module, "__file__", None) or "").startswith(f"{INCLUDE}{os.sep}")
        and not name.startswith("include")
    ]
    assert twice == []


@pytest.mark.parametrize("folder", ["include", "plugins", "dags"])
def test_only_settings_and_stack_read_the_environment(folder):
    """Whoever else wants a setting is given it."""
    readers = {
        path.relative_to(ROOT / folder).parts[0]
        for path in (ROOT / folder).rglob("*.py")
        if ENVIRONMENT_NAMES & set(_names(path))
    }
    assert readers <= set(READERS)


def test_every_package_holds_a_docstring_and_nothing_else():
    """Importing a package loads none of its modules."""
    for path in INCLUDE.rglob("__init__.py"):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        assert len(body) == 1, path
        assert isinstance(body[0], ast.Expr), path


def test_the_plugins_folder_holds_one_python_file():
    """Airflow executes each file below it under its bare name, which must not hide another's."""
    assert [path.name for path in (ROOT / "plugins").rglob("*.py")] == ["tradewind_plugin.py"]


def test_no_file_is_longer_than_400_lines():
    """A file can be read in one sitting."""
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for folder in ("include", "dags", "plugins")
        for path in (ROOT / folder).rglob("*.py")
    }
    assert {path: length for path, length in lengths.items() if length > 400} == {}


def _names(path: Path) -> list[str]:
    """Return the names of `os` that a file uses, by attribute or by import."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    used = [
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"
    ]
    imported = [
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "os"
        for alias in node.names
    ]
    return [*used, *imported]
