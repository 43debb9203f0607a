"""Both editions judge alike: a sample of exercises of every kind; `katze publish DIR --check` compares all of them.

Tests `verdicts.py`, `recording.py`.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder.course.course import Course
from autograder.course.notebook_definitions import released_stubs
from autograder.edition.recording import same_inputs, write_lesson
from autograder.edition.verdicts import Compared, compare, compare_lesson, known_answers, summary
from benchmarks.answers import ANSWERS, answer, blocks
from course_lib import exercises
from course_lib.exercises.catalogue import Catalogue
from course_lib.judging.exercise import Callback, Case, Exercise
from course_lib.judging.recorded.reading import RecordedExercise, read_exercises
from course_lib.judging.recorded.stand_ins import StandIn
from tests.autograder.conftest import Katze

ROOT = Path(__file__).parents[3]
SAMPLE = {
    "words_in_a_bag.same_vector": "a prediction",
    "attention.weights": "a function, with gradients, and two mistakes at once",
    "masking.attention_pooling": "a class, with the gradients of its weights",
    "heads_and_blocks.dropout": "random numbers",
    "decoding.greedy": "a callback that stands for a model",
    "heads_and_blocks.add_and_norm": "modules that are passed in",
    "evaluation.word_error_rate": "a callback of plain data",
    "evaluation.precision_recall_f1": "plain data",
    "since_2017.pre_norm": "callbacks that are recorded",
}
"""One of each kind."""

PAIRS, PAIRS_IF_THOROUGH = 100, 25
"""Of the answers that make two mistakes at once, each hundredth is judged here, and each 25th with `--thorough`."""


@pytest.fixture(scope="module")
def stubs() -> dict[str, str]:
    course = Course.find(ROOT)
    return released_stubs(course.release_notebook(lesson) for lesson in course.lessons())


def sampled(exercise: Exercise, stub: str, every: int) -> list[tuple[str, Callable[..., Any]]]:
    answers = list(known_answers(exercise, stub))
    pairs = [name for name, _answer in answers if "+" in name]
    return [(name, answer) for name, answer in answers if name not in pairs or name in pairs[::every]]


@pytest.mark.parametrize("name", SAMPLE)
def test_every_verdict_is_the_same(
    name: str, stubs: dict[str, str], tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    exercise = exercises.find(name)
    (written,) = write_lesson([exercise], tmp_path)
    (recorded,) = read_exercises(tmp_path)
    every = PAIRS_IF_THOROUGH if pytestconfig.getoption("thorough") else PAIRS
    answers = sampled(exercise, stubs[name], every)
    assert len(answers) > len(exercise.misconceptions)
    assert compare(exercise, recorded, answers) == Compared(name, len(answers), (), ())
    assert written.left_out == ()
    file = ANSWERS / f"{name}.py"  # what nobody thought of when it was recorded; a case may be left to the full course
    outside = [(block.told, answer(exercise, block.code)) for block in (blocks(file) if file.is_file() else [])]
    assert compare(exercise, recorded, outside).other == ()
    assert recorded.pairs == () or {one.id for one in recorded.pairs} == {one.id for one in exercise.pairs}


def test_no_hidden_case_of_any_exercise_is_the_same_for_every_seed() -> None:
    """Else it could not confirm a mistake without being given away."""
    seeds = range(2**64, 2**64 + 3)
    for exercise in exercises.all():
        shown, drawn = exercise.visible_cases(), [exercise.hidden_cases(seed) for seed in seeds]
        for case in drawn[0]:
            fixed = all(any(same_inputs(case, other) for other in cases) for cases in drawn[1:])
            assert not fixed or any(same_inputs(case, one) for one in shown), f"{exercise.id}: {case.name}"


def test_the_page_names_the_exercises_of_which_only_calls_are_known() -> None:
    page = (ROOT / "docs" / "class_edition.md").read_text()
    sentence = page.partition("known answers made, up to rounding: in ")[2].partition("Any other call")[0]
    recorded = {
        exercise.id
        for exercise in exercises.all()
        for case in (*exercise.visible_cases(), *exercise.hidden_cases(1))
        if any(not isinstance(one.function, StandIn) for one in _callbacks([case.args, case.kwargs]))
    }
    assert set(re.findall(r"`(\w+\.\w+)`", sentence)) == recorded


def _callbacks(value: Any) -> Iterator[Callback]:
    if isinstance(value, Callback):
        yield value
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    for item in inside:
        yield from _callbacks(item)


def small() -> Exercise:
    return exercises.find("attention.scale")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> RecordedExercise:
    folder = tmp_path_factory.mktemp("recorded")
    write_lesson([small()], folder)
    return read_exercises(folder)[0]


def test_what_differs_is_told(recorded: RecordedExercise) -> None:
    def cases(generator: torch.Generator, hidden: bool) -> list[Case]:
        return small().hidden_cases(3) if hidden else small().visible_cases()

    other = replace(small(), reference=lambda scores, d_head: scores / d_head, cases=cases)
    told = compare(other, recorded, [("half", lambda scores, d_head: scores / d_head)])
    assert told.left_open == ()
    assert "half: passed is False here and True in the full course" in told.other
    first, *others = small().misconceptions
    other = replace(small(), misconceptions=(replace(first, message="Otherwise."), *others))
    (sentence,) = compare(other, recorded, [(first.id, first.answer)]).other
    assert "the verdict reads" in sentence


def test_a_lesson_is_compared_by_what_both_have(recorded: RecordedExercise, tmp_path: Path) -> None:
    package = tmp_path / "course_lib" / "exercises" / "attention"
    package.mkdir(parents=True)
    write_lesson([replace(small(), id="attention.gone"), small()], package)
    gone, scale, *lacking = compare_lesson(tmp_path, exercises.COURSE, "01_attention", {})
    assert "no such exercise" in gone.other[0]
    assert scale.exercise == "attention.scale"
    assert scale.other == ()
    assert {one.exercise for one in lacking} == {
        one.id for one in exercises.of_lesson("01_attention") if one.id != "attention.scale"
    }


def test_what_came_of_it_in_lines() -> None:
    lines = summary(
        [Compared("a.b", 5, ("one", "two"), ()), Compared("a.c", 4, (), ("right answer 1: passed is ...",))]
    )
    assert lines == [
        "a.c: right answer 1: passed is ...",
        "a.b: 2 of 5 answers are left to the full course in at least one case: one, two",
        "2 exercises, 9 answers: 6 verdicts are the same, 2 are left to the full course, 1 differ",
    ]


def test_the_command_compares_and_searches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, katze: Katze) -> None:
    edition = {"lessons": ["01_attention"], "closed": []}
    monkeypatch.setattr("autograder.edition.publish.manifest_of", lambda folder: edition)
    scale = small()
    monkeypatch.setattr(Catalogue, "of_lesson", lambda catalogue, lesson: [scale])
    package = tmp_path / "course_lib" / "exercises" / "attention"
    package.mkdir(parents=True)
    write_lesson([scale], package)
    told = katze("publish", tmp_path, "--check", "--course", ROOT)
    assert "0 are left to the full course, 0 differ" in told
    assert "searched for answers, solutions and hidden cases: 0 findings" in told
    (package / "told.py").write_text((ROOT / "course_lib" / "exercises" / "attention" / "scale.py").read_text())
    told = katze("publish", tmp_path, "--check", "--course", ROOT, status=1)
    assert "told.py holds an answer to attention.scale" in told


def test_cases_are_the_same_by_all_that_they_pass_in() -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    case = Case("a", (x, {"b": (1, None)}), {"c": 2.0})
    assert same_inputs(case, replace(case, name="other"))
    assert not same_inputs(case, replace(case, args=(x, {"b": (2, None)})))
    assert not same_inputs(case, replace(case, args=(x + 1e-6, {"b": (1, None)})))
    assert not same_inputs(case, replace(case, args=(x.T.contiguous().T, {"b": (1, None)})))
    assert not same_inputs(case, replace(case, kwargs={}))
    step = Callback("step", lambda words: words)
    assert same_inputs(replace(case, args=(step,)), replace(case, args=(step,)))
