"""Code that needs Airflow runs in a process of its own, with a home that is thrown away.

Airflow reads its configuration while it is imported, and writes files into its home: neither may
happen in the process of the tests.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent


def airflow_environment(home: Path, **settings: str) -> dict[str, str]:
    """Return the environment of an Airflow whose metadata is a SQLite file in its home."""
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": str(home),
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "dags"),
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(ROOT / "plugins"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__UNIT_TEST_MODE": "False",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home / 'airflow.db'}",
        "AIRFLOW__LOGGING__LOGGING_LEVEL": "ERROR",
        **settings,
    }


def run_in_airflow(code: str, home: Path, **settings: str) -> Any:
    """Run code that prints one line of JSON as its last, and return the value of that line."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=home,
        env=airflow_environment(home, **settings),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.strip().splitlines()[-1])
