"""What `./tradewind test` runs, and how it gets a browser."""

from include.cli.browser import install_browser
from include.cli.suite import checks


def test_pytest_runs_last_so_that_its_closing_line_ends_the_output():
    """Five checks, the cheapest first."""
    names = [check.name for check in checks(is_full=False)]
    assert names == ["ruff check", "ruff format", "mypy", "lint-imports", "pytest"]


def test_only_the_full_run_has_the_whole_stack_and_the_browser():
    """Without --full the markers e2e and browser are left out; with it nothing is."""
    assert checks(is_full=False)[-1].command[-2:] == ["-m", "not e2e and not browser"]
    assert "-m" not in checks(is_full=True)[-1].command[3:]


class FakeAptGet:
    """A package manager that has only some packages."""

    def __init__(self, *known):
        self.known = known
        self.calls = []

    def __call__(self, arguments):
        """Return 0 where the package is known."""
        self.calls.append(arguments)
        return 0 if arguments[0] == "update" or arguments[-1] in self.known else 100


def test_takes_the_first_browser_package_that_there_is():
    """A Debian without the small package gives the large one."""
    apt_get = FakeAptGet("chromium")
    assert install_browser(apt_get, say=lambda _: None)
    assert [call[-1] for call in apt_get.calls] == ["-qq", "chromium-headless-shell", "chromium"]


def test_says_so_when_there_is_no_browser_package():
    """Nothing is raised: the browser tests say themselves that they need one."""
    told: list[str] = []
    assert not install_browser(FakeAptGet(), say=told.append)
    assert "could not install" in told[-1]
