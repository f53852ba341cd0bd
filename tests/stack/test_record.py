"""The record of a running stack, and what the status says of it."""

import json
from dataclasses import replace

import pytest

from include.stack.processes import own_record
from include.stack.record import StackRecord, Venue, read_record, remove_record, write_record
from include.stack.state import StateFolder
from include.stack.status import stack_status


@pytest.fixture
def state(tmp_path):
    """Return an empty state folder."""
    return StateFolder(root=tmp_path)


def a_record():
    """Return the record of a stack whose only part is this process."""
    exchange = replace(own_record(), part="exchange")
    return StackRecord(
        verb="up",
        marker="m",
        owner=own_record(),
        parts=(exchange,),
        airflow_url="http://127.0.0.1:8080",
        database_url="postgresql://planted",
        venue=Venue(
            trading_url="http://127.0.0.1:9",
            data_url="http://127.0.0.1:9",
            key_id="PKX",
            secret_key="planted",
        ),
        ready=True,
    )


def test_what_is_written_comes_back(state):
    """Value to file to value is the identity, with and without a venue."""
    for record in (a_record(), replace(a_record(), venue=None)):
        write_record(state, record)
        assert read_record(state) == record


@pytest.mark.parametrize("text", ["{}", '{"verb": "up"}', '{"parts": 3, "owner": {}, "venue": 1}'])
def test_a_damaged_record_is_none(state, text):
    """What can't be read names nothing to stop."""
    state.record_file.write_text(text)
    assert read_record(state) is None


def test_status_says_what_runs_and_no_secret(state):
    """Parts, addresses and pids are told; keys and database address are not."""
    write_record(state, a_record())
    status = stack_status(state)
    assert status["ready"] is True
    assert [(part["part"], part["state"]) for part in status["parts"]] == [("exchange", "running")]
    assert status["exchange_url"] == "http://127.0.0.1:9"
    assert "planted" not in json.dumps(status)


def test_a_stack_whose_processes_are_gone_does_not_run(state):
    """A record that a killed run left behind is no running stack."""
    gone = replace(own_record(), started=1.0, part="exchange")
    write_record(state, replace(a_record(), parts=(gone,)))
    assert stack_status(state)["parts"] == []
    remove_record(state)
    assert stack_status(state)["verb"] is None
