"""The captions in parts."""

import pytest

from course_lib.scenes.sample import BY_HAND, HELD_OUT, SceneParts, everyday_scenes
from course_lib.text.texts import read_pairs


@pytest.fixture(scope="module")
def parts() -> SceneParts:
    return everyday_scenes()


def test_there_are_thousands_of_pairs_and_none_is_in_two_parts(parts: SceneParts) -> None:
    assert len(parts.training) == 6000 + len(read_pairs(BY_HAND)) // 2
    assert len(parts.validation) == len(parts.test) == HELD_OUT
    assert len(parts.by_hand) > 90
    all_of_them = [*parts.training, *parts.validation, *parts.test, *parts.by_hand]
    assert len({pair.source for pair in all_of_them}) == len(all_of_them)


def test_those_by_hand_have_words_that_nothing_else_has(parts: SceneParts) -> None:
    known = {word for pair in parts.training for word in pair.source.lower().split()}
    strangers = {word for pair in parts.by_hand for word in pair.source.lower().split()} - known
    assert len(strangers) > 100
    assert {word for pair in parts.test for word in pair.source.lower().split()} <= known


def test_nothing_was_taken_from_elsewhere() -> None:
    first, *_ = BY_HAND.read_text(encoding="utf-8").splitlines()
    assert first.startswith("# Captions written by hand for this course")
