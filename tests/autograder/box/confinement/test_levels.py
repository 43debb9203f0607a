"""How strongly sandboxes are confined, and that the self-test finds every hole.

Tests `selftest.py`, `attempts.py` and `enclosure.py` as well.
"""

import pytest

from autograder.box.confinement import landlock, selftest
from autograder.box.confinement.enclosure import Enclosure
from autograder.box.confinement.levels import Level, describe
from autograder.box.confinement.selftest import choose_level, self_test
from autograder.errors import BadInput
from autograder.limits import Limits


def test_a_level_is_described_in_one_line() -> None:
    assert describe(Level.L2, Limits()) == (
        "sandboxes at level L2: Landlock, seccomp; no network, no processes, 2 GB, 60 s of processor time"
    )
    assert describe(Level.L3, Limits(memory_bytes=512 << 20, submission_seconds=90.5)) == (
        "sandboxes at level L3: bubblewrap, Landlock, seccomp; no network, no processes, 512 MB, "
        "90.5 s of processor time"
    )
    weaker = Limits(system_calls="deny-list")
    assert "no network, no processes, system calls by the deny-list, 2 GB" in describe(Level.L2, weaker)
    assert describe(Level.L1, weaker) == describe(Level.L1, Limits())
    for level in Level:
        assert "\n" not in describe(level, Limits())


def offer(monkeypatch: pytest.MonkeyPatch, *levels: Level) -> list[Level]:
    """Let the self-test say that only these levels hold; what it was asked for."""
    asked: list[Level] = []

    def self_test(level: Level = Level.L2) -> list[str]:
        asked.append(level)
        return [] if level in levels else [f"no {level.name} today"]

    monkeypatch.setattr(selftest, "self_test", self_test)
    return asked


def test_the_strongest_level_that_holds_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, Level.L2, Level.L3, Level.L4)
    assert choose_level() is choose_level(Level.L0) is choose_level(Level.L3) is Level.L3
    offer(monkeypatch, Level.L2)
    assert choose_level(Level.L2) is choose_level(Level.L0) is Level.L2
    offer(monkeypatch)
    assert choose_level(Level.L1) is choose_level(Level.L0) is Level.L1


def test_a_container_is_used_where_it_is_asked_for_only(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = offer(monkeypatch, Level.L2, Level.L4)
    assert choose_level() is Level.L2
    assert Level.L4 not in asked
    assert choose_level(Level.L4) is Level.L4


@pytest.mark.parametrize("minimum", [Level.L2, Level.L3, Level.L4])
def test_below_the_minimum_nothing_is_graded(monkeypatch: pytest.MonkeyPatch, minimum: Level) -> None:
    offer(monkeypatch, *(level for level in Level if level < minimum))
    with pytest.raises(BadInput, match=f"no {minimum.name} today") as caught:
        choose_level(minimum)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("processes")
def test_an_enclosure_that_lets_something_through_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is in no enclosure at all, tested as if it were at L3."""
    if self_test():
        pytest.skip("no sandboxes at level L2 here")
    monkeypatch.setattr(selftest.bubblewrap, "bwrap_path", lambda: "bwrap")
    monkeypatch.setattr(selftest, "enclosure_at", lambda level, limits, boxes: Enclosure())
    shared = [f"it shares the {kind} namespace" for kind in ("mnt", "pid", "net", "ipc", "uts")]
    assert self_test(Level.L3) == ["the enclosure lets it read files", "the enclosure lets it connect", *shared]


def test_the_self_test_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "abi", lambda: 0)
    assert selftest.self_test() == ["no Landlock"]


@pytest.mark.usefixtures("processes")
@pytest.mark.skipif(landlock.abi() < 1, reason="this kernel has no Landlock")
def test_the_self_test_finds_what_confinement_leaves_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without confinement everything that the self-test tries is possible, so each of its tries can fail."""
    assert selftest.self_test() == []
    original = selftest.copy_library

    def with_a_hole(target: object, withheld: tuple[str, ...]) -> list[str]:
        modules = original(target, withheld)  # type: ignore[arg-type]
        with open(f"{target}/autograder/box/confinement/levels.py", "a") as file:
            file.write("\n\ndef confine(*args):\n    pass\n")
        return modules

    monkeypatch.setattr(selftest, "copy_library", with_a_hole)
    assert selftest.self_test() == [
        "it can read files",
        "it can write files",
        "it can connect",
        "it can start programs",
        "it can fork",
        "it can signal its parent",
        "it can change modes",
        "it can lock files that all sandboxes read",
        "it can ask how full the disk is",
        "it can read others' clocks",
    ]
