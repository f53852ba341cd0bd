import pytest


def test_clock_tells_where_it_stands(exchange):
    """Position, bounds and the next session's stamps; the keys are wanted."""
    clock = exchange.get("/admin/clock").json()
    assert clock == {
        "now": "2010-03-08T14:30:00Z",
        "mode": "stepped",
        "speed": None,
        "replay_start": "2009-08-21T00:00:00Z",
        "replay_end": "2010-08-21T00:00:00Z",
        "exhausted": False,
        "is_open": True,
        "next_open": "2010-03-09T14:30:00Z",
        "next_close": "2010-03-08T21:00:00Z",
    }
    assert exchange.get("/admin/health").json()["status"] == "ok"


def test_clock_steps_forward_to_the_nanosecond(exchange):
    """A step goes to an instant or by seconds, and every stamp follows it."""
    assert exchange.step_to("2010-03-08T14:30:00.000000007Z")["now"].endswith(".000000007Z")
    moved = exchange.post("/admin/clock/step", {"seconds": 1.5}).json()
    assert moved["now"] == "2010-03-08T14:30:01.500000007Z"
    stamp = exchange.get("/v2/clock").json()["timestamp"]
    assert stamp == "2010-03-08T09:30:01.500000007-05:00"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"to": "2010-03-08T14:29:59Z"}, "never goes back"),
        ({"seconds": -1}, "never goes back"),
        ({"to": "soon"}, "RFC 3339"),
        ({"seconds": "many"}, "a number"),
        ({"seconds": True}, "a number"),
        ({}, "either 'to'"),
        ({"to": "2010-03-09", "seconds": 1}, "either 'to'"),
    ],
)
def test_step_that_makes_no_sense_is_refused(exchange, body, text):
    """A refusal is a sentence, and the clock stays where it was."""
    answer = exchange.post("/admin/clock/step", body)
    assert answer.status_code == 422
    assert text in answer.json()["message"]
    assert exchange.get("/admin/clock").json()["now"] == "2010-03-08T14:30:00Z"


def test_running_clock_can_be_stopped_and_stepped(exchange):
    """One server changes from stepped to running and back; only a stepped clock is stepped."""
    running = exchange.post("/admin/clock/speed", {"speed": 3600}).json()
    assert (running["mode"], running["speed"]) == ("scaled", 3600)
    assert exchange.post("/admin/clock/step", {"seconds": 1}).status_code == 422
    seen = [exchange.get("/v2/clock").json()["timestamp"] for _ in range(5)]
    assert seen == sorted(seen)
    assert seen[0] < seen[-1]
    stopped = exchange.post("/admin/clock/speed", {"speed": None}).json()
    assert (stopped["mode"], stopped["now"] > running["now"]) == ("stepped", True)
    assert exchange.post("/admin/clock/step", {"seconds": 1}).status_code == 200
    assert exchange.post("/admin/clock/speed", {"speed": -1}).status_code == 422
    assert exchange.post("/admin/clock/speed", {}).status_code == 422


def test_replay_ends_closed_and_exhausted(exchange):
    """Past the last bar the clock stands at the end, the market is closed, stamps stay valid."""
    over = exchange.step_to("2011-01-01")
    assert (over["now"], over["exhausted"]) == ("2010-08-21T00:00:00Z", True)
    assert exchange.step(minutes=60)["now"] == over["now"]
    clock = exchange.trading.get_clock()
    assert not clock.is_open
    assert clock.timestamp < clock.next_open < clock.next_close
    body = {"symbol": "T", "qty": "1", "side": "buy", "type": "market", "time_in_force": "day"}
    assert exchange.post("/v2/orders", body).json()["status"] == "accepted"
    assert exchange.get("/v2/nothing").json() == {"message": "endpoint not found."}
