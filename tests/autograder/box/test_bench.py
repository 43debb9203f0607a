"""Which exercises share a bench."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autograder.box.bench import CELLS, Bench, assign_benches, own_bench
from course_lib import exercises
from course_lib.checking.ready_made import COSINE, DROPOUT, SOFTMAX
from tests.course_lib.checking.samples import SCALE

ONE = replace(SCALE, id="one", forbidden=(SOFTMAX,))
OTHER = replace(SCALE, id="other", forbidden=(DROPOUT,))
FREE = replace(SCALE, id="free", forbidden=())


def test_exercises_share_a_bench_unless_one_needs_what_another_forbids() -> None:
    shared = Bench(("dropout", "softmax"))
    assert assign_benches([ONE, FREE, OTHER], False) == {"one": shared, "free": CELLS, "other": shared}
    needy = replace(OTHER, needs=(SOFTMAX,))
    assert assign_benches([ONE, needy], False) == {"one": Bench(("softmax",)), "other": Bench(("dropout",))}
    assert assign_benches([needy, ONE], False)["one"] == Bench(("softmax",))
    third = replace(SCALE, id="third", forbidden=(COSINE,))
    assert len(set(assign_benches([ONE, needy, third], False).values())) == 2


def test_where_a_lesson_shows_packages_no_answer_is_judged_with_them() -> None:
    assert assign_benches([FREE], True) == {"free": Bench((), True)}
    assert own_bench(ONE, True) == Bench(("softmax",), True)
    assert own_bench(ONE, False) == Bench(("softmax",))


@pytest.mark.parametrize("lesson", exercises.LESSONS)
def test_no_bench_lacks_what_one_of_its_exercises_needs(lesson: str) -> None:
    found = exercises.of_lesson(lesson)
    benches = assign_benches(found, lesson in exercises.PACKAGES)
    assert len(set(benches.values()) - {CELLS}) <= 2
    for exercise in found:
        lacking = set(benches[exercise.id].families)
        assert {family.id for family in exercise.forbidden} <= lacking
        assert not lacking & {family.id for family in exercise.needs}
