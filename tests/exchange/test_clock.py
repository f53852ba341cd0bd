from hypothesis import given
from hypothesis import strategies as st

from include.exchange.clock import ClockMode, VirtualClock


class Machine:
    """A monotonic clock that the test turns."""

    def __init__(self) -> None:
        self.nanoseconds = 0

    def __call__(self) -> int:
        return self.nanoseconds


MOVES = st.one_of(
    st.tuples(st.just("wait"), st.integers(0, 10_000)),
    st.tuples(st.just("step"), st.integers(-5_000, 10_000)),
    st.tuples(st.just("speed"), st.sampled_from([None, 0, 0.5, 1, 7.5, 1000])),
)


@given(st.lists(MOVES))
def test_clock_never_goes_back_and_never_passes_the_end(moves):
    """Whatever steps, speeds and waits follow one another, time only grows, up to the end."""
    machine = Machine()
    clock = VirtualClock(start=100, end=50_000, speed=None, monotonic=machine)
    seen = clock.now()
    for move, value in moves:
        if move == "wait":
            machine.nanoseconds += value
        elif move == "step":
            clock.step_to(seen + value)
        else:
            clock.run_at(value)
        assert seen <= clock.now() <= 50_000
        seen = clock.now()


def test_running_clock_multiplies_real_time():
    """At speed 60 one real second is one replayed minute; at speed 0 it stands."""
    machine = Machine()
    clock = VirtualClock(start=0, end=10**12, speed=60, monotonic=machine)
    machine.nanoseconds = 1_000
    assert (clock.now(), clock.mode) == (60_000, ClockMode.SCALED)
    clock.run_at(0)
    machine.nanoseconds = 5_000
    assert (clock.now(), clock.mode) == (60_000, ClockMode.STEPPED)
    clock.run_at(1.0)
    assert clock.mode is ClockMode.REAL
