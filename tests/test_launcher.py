"""The launcher: what it installs, when it does not, and what it says."""

import shutil
import subprocess
import sys
import threading
import time
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def load_launcher():
    """Return the launcher as a module; its file has no suffix."""
    loader = SourceFileLoader("tradewind_launcher", str(ROOT / "tradewind"))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


launcher = load_launcher()


class FakeRun:
    """Stands for pip and venv: remembers the commands and leaves what they would."""

    def __init__(self, *, code=0, seconds=0.0, interrupted=False):
        self.commands = []
        self.code = code
        self.seconds = seconds
        self.interrupted = interrupted

    def __call__(self, command, words):
        self.commands.append(list(command))
        time.sleep(self.seconds)
        if "venv" in command:
            self._make(Path(command[-1]))
            return 0
        if self.interrupted:
            raise KeyboardInterrupt
        return self.code

    def installs(self):
        return [command for command in self.commands if "install" in command]

    def _make(self, venv):
        version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        (venv / "lib" / version).mkdir(parents=True)
        (venv / "bin").mkdir()
        (venv / "bin" / "python").write_text("#!/bin/sh\nexit 0\n")
        (venv / "bin" / "python").chmod(0o755)


@pytest.fixture
def root(tmp_path):
    """Return a project folder that holds nothing but requirement files."""
    (tmp_path / "requirements.txt").write_text("# pins\nalpha==1.0\nbeta==2.0\n")
    (tmp_path / "requirements-dev.txt").write_text("-r requirements.txt\ngamma==3.0\n")
    (tmp_path / "requirements-reference.txt").write_text("delta==4.0  # a reference\n")
    return tmp_path


def test_installs_once_and_then_starts_at_once(root):
    """A complete environment is used as it is."""
    first, second = FakeRun(), FakeRun()
    python = launcher.ensure_environment(root, launcher.USE, run=first)
    assert python == root / ".venv" / "bin" / "python"
    assert len(first.installs()) == 1
    launcher.ensure_environment(root, launcher.USE, run=second)
    assert second.commands == []


def test_installs_again_when_the_requirements_changed(root):
    """The hash of the file decides, not its date."""
    launcher.ensure_environment(root, launcher.USE, run=FakeRun())
    (root / "requirements.txt").touch()
    untouched = FakeRun()
    launcher.ensure_environment(root, launcher.USE, run=untouched)
    assert untouched.commands == []
    (root / "requirements.txt").write_text("alpha==1.1\n")
    changed = FakeRun()
    launcher.ensure_environment(root, launcher.USE, run=changed)
    assert len(changed.commands) == 1  # the environment itself is kept


def test_goes_on_after_an_interrupted_installation(root):
    """What was interrupted is not marked complete, so that the next call runs pip again."""
    with pytest.raises(KeyboardInterrupt):
        launcher.ensure_environment(root, launcher.USE, run=FakeRun(interrupted=True))
    after = FakeRun()
    launcher.ensure_environment(root, launcher.USE, run=after)
    assert len(after.installs()) == 1


def test_says_which_file_pip_could_not_install(root):
    """A failed installation is a sentence and is not marked complete."""
    with pytest.raises(launcher.SetupFailed, match=r"pip could not install requirements\.txt"):
        launcher.ensure_environment(root, launcher.USE, run=FakeRun(code=1))
    assert list((root / ".venv").glob(".complete-*")) == []


def test_installs_references_without_their_dependencies(root):
    """The references of the tests come with --no-deps, after the development set."""
    run = FakeRun()
    launcher.ensure_environment(root, launcher.DEVELOP, run=run)
    develop, reference = run.installs()
    assert develop[-1].endswith("requirements-dev.txt")
    assert "--no-deps" not in develop
    assert reference[-1].endswith("requirements-reference.txt")
    assert "--no-deps" in reference


def test_development_set_includes_the_other(root):
    """After the tests were installed for, a cycle needs no installation."""
    launcher.ensure_environment(root, launcher.DEVELOP, run=FakeRun())
    run = FakeRun()
    launcher.ensure_environment(root, launcher.USE, run=run)
    assert run.commands == []


def test_two_at_once_install_once(root):
    """The second waits for the first and finds its work done."""
    runs = [FakeRun(seconds=0.2), FakeRun(seconds=0.2)]
    threads = [
        threading.Thread(
            target=launcher.ensure_environment, args=(root, launcher.USE), kwargs={"run": run}
        )
        for run in runs
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(len(run.installs()) for run in runs) == [0, 1]


def test_makes_the_environment_anew_for_another_python(root):
    """An environment of another Python version is replaced."""
    (root / ".venv" / "lib" / "python3.9").mkdir(parents=True)
    (root / ".venv" / "bin").mkdir()
    (root / ".venv" / "bin" / "python").write_text("")
    run = FakeRun()
    launcher.ensure_environment(root, launcher.USE, run=run)
    assert "venv" in run.commands[0]
    assert not (root / ".venv" / "lib" / "python3.9").exists()


def test_counts_the_packages_that_it_installs(root):
    """The progress line counts pins, included ones too, and no comments."""
    assert launcher.count_packages(root, "requirements.txt") == 2
    assert launcher.count_packages(root, "requirements-dev.txt") == 3


@pytest.mark.parametrize(
    ("version", "is_fine"), [((3, 10), False), ((3, 11), True), ((3, 13), True), ((3, 14), False)]
)
def test_names_the_pythons_that_it_runs_on(version, is_fine):
    """Another version gets a sentence that names the found and the allowed ones."""
    fault = launcher.version_fault(version)
    assert (fault == "") is is_fine
    assert is_fine or f"this is {version[0]}.{version[1]}" in fault


@pytest.fixture
def bare_copy(tmp_path):
    """Return a copy of the launcher with what it reads before it installs."""
    for name in ("tradewind", "include/__init__.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "include" / "cli", tmp_path / "include" / "cli")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--help"], 0, "run one trading cycle"),
        ([], 0, "run one trading cycle"),
        (["cycle", "--help"], 0, "--symbols"),
        (["cycel"], 2, "invalid choice"),
        (["cycle", "--as-of", "noon"], 2, "no instant"),
    ],
)
def test_answers_help_and_wrong_use_before_it_installs(bare_copy, arguments, code, words):
    """Neither help nor a mistake makes .venv, and both need nothing installed."""
    command = [sys.executable, "-I", "-S", str(bare_copy / "tradewind"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == code
    assert words in done.stdout + done.stderr
    assert not (bare_copy / ".venv").exists()
