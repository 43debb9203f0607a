"""What is counted of a sandbox's time, with a clock and readings that are made up."""

import pytest

from autograder.box import clocks
from autograder.box.clocks import Clock, Spent, Stopwatch
from autograder.box.processes import Doing, Reading
from autograder.limits import Limits

CELL = Clock.of(Limits(), "cell_seconds")


class Machine:
    """A sandbox as a stopwatch sees it: ten looks a second, each of which says what it has done since the last."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, computed: float = 0.0) -> None:
        self.now = 1000.0
        self.reading: Reading | None = Reading(computed, Doing.WAITS)
        monkeypatch.setattr(clocks.time, "monotonic", lambda: self.now)
        self.watch = Stopwatch(lambda: self.reading, 0.1)

    def ask(self) -> None:
        """Ask the sandbox something; it begins with the first look."""
        self.watch.begin()
        self.watch.look(lambda: True)

    def goes_on(
        self, seconds: float, rate: float, doing: Doing = Doing.COMPUTES, silent: bool = True, every: float = 0.1
    ) -> tuple[str, str] | None:
        """Let the sandbox compute at a rate; what is exceeded then."""
        for _ in range(round(seconds / every)):
            with self.watch.awaiting():
                self.now += every
            if self.reading is not None:
                self.reading = Reading(self.reading.computed + rate * every, doing)
            self.watch.look(lambda: silent)
        return CELL.exceeded(self.watch.lap, silent)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(monkeypatch, computed=5.0)
    made.ask()
    return made


def test_a_box_that_computes_is_ended_by_what_it_computes(machine: Machine) -> None:
    assert machine.goes_on(9.9, rate=1.0) is None
    assert machine.goes_on(0.2, rate=1.0) == ("it used more than 10 s of processor time", "cell_seconds")
    assert not machine.watch.lap.starved


def test_a_box_that_gets_a_tenth_of_the_machine_has_ten_times_as_long(machine: Machine) -> None:
    assert machine.goes_on(99.0, rate=0.1) is None
    assert machine.watch.total.waited == 0


def test_one_that_gets_less_is_ended_by_the_clock_on_the_wall_and_called_starved(machine: Machine) -> None:
    assert machine.goes_on(101.0, rate=0.01) == ("it was not finished after 100 s", "wall_factor")
    assert machine.watch.lap.starved


def test_one_that_waits_is_ended_by_its_waiting_and_is_not_starved(machine: Machine) -> None:
    assert machine.goes_on(9.9, rate=0.0, doing=Doing.WAITS) is None
    assert machine.goes_on(0.2, rate=0.0, doing=Doing.WAITS) == (
        "it waited for more than 10 s without computing",
        "cell_seconds",
    )
    assert not machine.watch.lap.starved


def test_one_that_is_awake_now_and_then_waits_for_the_rest(machine: Machine) -> None:
    machine.goes_on(5.0, rate=0.25, doing=Doing.WAITS)
    assert machine.watch.lap.waited == pytest.approx(3.75)
    assert machine.watch.lap.computed == pytest.approx(1.25)


def test_one_whose_answer_is_there_waits_for_the_grader(machine: Machine) -> None:
    assert machine.goes_on(200.0, rate=0.0, doing=Doing.WAITS, silent=False) is None
    assert machine.watch.lap.waited == 0


def test_a_grader_that_comes_late_does_not_know_what_kept_the_box(machine: Machine) -> None:
    machine.goes_on(30.0, rate=0.0, doing=Doing.WAITS, every=30.0)
    assert machine.watch.lap.waited == pytest.approx(0.2)


def test_only_time_in_which_it_is_awaited_passes(machine: Machine) -> None:
    machine.now += 500.0
    machine.goes_on(1.0, rate=1.0)
    assert machine.watch.total.passed == pytest.approx(1.0)


def test_each_request_has_its_own_time_and_all_together_that_of_the_submission(machine: Machine) -> None:
    for _ in range(3):
        assert machine.goes_on(9.0, rate=1.0) is None
        machine.ask()
        assert machine.watch.lap == Spent()
    assert machine.watch.total.computed == pytest.approx(27.0)
    until = Clock.of(Limits(), "submission_seconds").with_left(20.0)
    assert until.wall == 200
    assert until.exceeded(machine.watch.total, silent=True) == (
        "the time limit for the whole submission ran out",
        "submission_seconds",
    )


def test_what_nobody_can_read_leaves_the_clock_on_the_wall(machine: Machine) -> None:
    machine.reading = None
    assert machine.goes_on(99.0, rate=0.0) is None
    assert machine.goes_on(2.0, rate=0.0) == ("it was not finished after 100 s", "wall_factor")


def test_a_sum_never_falls(machine: Machine) -> None:
    machine.goes_on(3.0, rate=1.0)
    machine.reading = Reading(6.0, Doing.COMPUTES)  # a child has gone, and nobody has asked what it had computed
    machine.watch.refresh()
    assert machine.watch.total.computed == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("spent", "share"), [(Spent(4.0, 1.0, 30.0), 4.0), (Spent(1.0, 5.0, 7.0), 5.0), (Spent(1.0, 1.0, 200.0), 20.0)]
)
def test_the_share_of_a_box_is_what_it_has_most_of(spent: Spent, share: float) -> None:
    assert Clock.of(Limits(), "submission_seconds").share(spent) == share


def test_a_minute_on_the_wall_is_the_least() -> None:
    clock = Clock.of(Limits(call_seconds=2.0), "call_seconds")
    assert (clock.wall, clock.wall_setting) == (60, "wall_seconds")
