from __future__ import annotations

import pytest

from autograder.box import Level, Limits, choose_level, describe, landlock, selftest
from autograder.errors import BadInput


def test_a_level_is_described_in_one_line() -> None:
    assert describe(Level.L2, Limits()) == (
        "boxes at level L2: Landlock, seccomp; no network, no processes, 2 GB, 60 s"
    )
    for level in Level:
        assert "\n" not in describe(level, Limits())


def test_the_strongest_level_that_holds_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "self_test", lambda: [])
    assert choose_level(Level.L2) is Level.L2
    assert choose_level(Level.L0) is Level.L2


def test_below_the_minimum_nothing_is_graded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "self_test", lambda: ["it can fork"])
    assert choose_level(Level.L1) is Level.L1
    with pytest.raises(BadInput, match="it can fork") as caught:
        choose_level(Level.L2)
    assert "\n" not in str(caught.value)


def test_the_self_test_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "abi", lambda: 0)
    assert selftest.self_test() == ["no Landlock"]


@pytest.mark.skipif(landlock.abi() < 1, reason="this kernel has no Landlock")
def test_the_self_test_finds_what_confinement_leaves_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without confinement everything that the self-test tries is possible, so each of its tries can fail."""
    assert selftest.self_test() == []
    original = selftest.copy_library

    def with_a_hole(target: object, withheld: tuple[str, ...]) -> list[str]:
        modules = original(target, withheld)  # type: ignore[arg-type]
        with open(f"{target}/autograder/box/levels.py", "a") as file:
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
    ]
