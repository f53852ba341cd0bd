"""The state folder, its private files and its marks."""

import json
import stat

import pytest

from include.errors import InstallationFault
from include.stack.secrets import load_or_create
from include.stack.state import StateFolder, mark, read_json, write_private


@pytest.fixture
def state(tmp_path):
    """Return a state folder that was just made."""
    folder = StateFolder(root=tmp_path / "state")
    folder.create()
    return folder


def test_private_files_are_their_owners_alone(state):
    """Secrets and record are readable by nobody else, also when they replace an open file."""
    state.secrets_file.write_text("{}")
    state.secrets_file.chmod(0o644)
    write_private(state.secrets_file, {"a": 1})
    assert stat.S_IMODE(state.secrets_file.stat().st_mode) == 0o600
    assert read_json(state.secrets_file) == {"a": 1}


@pytest.mark.parametrize("text", ["", "{", "[1]"])
def test_a_damaged_file_reads_as_empty(state, text):
    """What can't be read is nothing, not a crash."""
    state.marks_file.write_text(text)
    assert read_json(state.marks_file) == {}


def test_marks_add_up(state):
    """A new mark leaves the others."""
    mark(state, dags="a")
    mark(state, migrated="b")
    assert read_json(state.marks_file) == {"dags": "a", "migrated": "b"}


def test_secrets_are_generated_once(state):
    """The second call reads what the first one made."""
    assert load_or_create(state) == load_or_create(state)


def test_secrets_of_two_folders_differ(state, tmp_path):
    """No secret is built in."""
    other = StateFolder(root=tmp_path / "other")
    other.create()
    mine, theirs = load_or_create(state), load_or_create(other)
    assert mine.jwt_secret != theirs.jwt_secret
    assert len(mine.jwt_secret.encode()) >= 64


def test_damaged_secrets_are_a_sentence(state):
    """The sentence names the file and the cure."""
    state.secrets_file.write_text(json.dumps({"fernet_key": "x"}))
    with pytest.raises(InstallationFault, match=r"secrets\.json: .* Remove the file"):
        load_or_create(state)


def test_a_folder_that_can_not_be_made_is_a_sentence(tmp_path):
    """The sentence names the variable that moves the folder."""
    (tmp_path / "file").write_text("")
    with pytest.raises(InstallationFault, match="Set TRADEWIND_STATE_DIR"):
        StateFolder(root=tmp_path / "file").create()


def test_only_a_folder_of_ours_may_be_removed(tmp_path, state):
    """A folder that Tradewind did not make is refused before anything is removed."""
    with pytest.raises(InstallationFault, match="Nothing was removed"):
        StateFolder(root=tmp_path).require_own()
    state.lock_file.touch()
    state.require_own()
