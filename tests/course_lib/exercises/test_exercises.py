"""The registry, and what every exercise must keep to. That the checks themselves are right: `test_certify.py`."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib import exercises
from course_lib.exercises import masking
from course_lib.judging.exercise import Exercise
from course_lib.judging.observation import observe
from course_lib.judging.wording.sizes import LEADING, named_sizes
from course_lib.learner.solutions import solution_of

ROOT = Path(__file__).parents[3]


LARGER = {
    "primer.distance_danced": {"beats": 2},
    "primer.split": {"examples": 2},
    "primer.train": {"classes": 2},
    "words_in_a_bag.analogy": {"vocab_size": 4},
    "words_in_a_bag.accuracy": {"classes": 2},
    "attention.dot_product_variance": {"samples": 2},
    "heads_and_blocks.encoder_block": {"d_model": 2},
    "encoder_decoder.shift_right": {"tokens": 2},
    "encoder_decoder.loss_and_perplexity": {"vocab_size": 2},
    "encoder_decoder.scheduled_sampling": {"tokens": 2, "d_model": 5},
    "encoder_decoder.decoder_block": {"d_model": 2},
    "encoder_decoder.training_loop": {"vocab_size": 2},
    "encoder_decoder.label_smoothing": {"vocab_size": 3},
    "decoding.attend_with_cache": {"tokens": 0},
    "decoding.speculative_step": {"vocab_size": 3, "drafted + 1": 2},
    "gpt.training_windows": {"tokens": 2},
    "gpt.fine_tuning_loss": {"vocab_size": 2, "classes": 2},
    "bert.pretraining_loss": {"vocab_size": 2},
    "bert.token_classifier": {"pieces": 3},
    "die_katze.bootstrap_interval": {"kinds": 5},
    "since_2017.rotary": {"d_head": 2},
}
"""Sizes that are not 1 in any case, since nothing would be left: a class of one, half a pair, no word to predict."""


class TestRegistry:
    def test_all_stand_in_lesson_order_under_different_ids(self) -> None:
        ids = [exercise.id for exercise in exercises.all()]
        assert ids[0] == "primer.last_words"
        assert len(set(ids)) == len(ids)
        lessons = [exercise.lesson for exercise in exercises.all()]
        assert lessons == sorted(lessons)

    def test_a_lesson_has_its_own(self) -> None:
        found = exercises.of_lesson("02_masking")
        assert [one.id for one in found] == [one.id for one in masking.EXERCISES]
        assert {one.lesson for one in found} == {"02_masking"}
        assert sum(len(exercises.of_lesson(lesson)) for lesson in exercises.LESSONS) == len(exercises.all())

    def test_find_by_id(self) -> None:
        assert exercises.find("masking.causal_mask").cases is masking.causal_mask.EXERCISE.cases

    def test_a_typing_slip_gets_a_suggestion(self) -> None:
        with pytest.raises(KeyError) as caught:
            exercises.find("attention.scaled_dotproduct")
        assert str(caught.value).startswith("no exercise 'attention.scaled_dotproduct'; did you mean attention.scaled")

    def test_an_unlike_name_gets_the_whole_list(self) -> None:
        told = f"no lesson 'x'; there are {', '.join(exercises.LESSONS)}."
        with pytest.raises(exercises.UnknownName, match=re.escape(told)):
            exercises.of_lesson("x")

    def test_tasks_that_a_person_reads_are_those_of_the_lessons(self) -> None:
        cell = re.compile(r'"grade_id": "(\w+)-(\w+)-written".*?"points": (\d+)')
        sources = (path.read_text() for path in sorted((ROOT / "solutions").glob("*/*.py")))
        found = {f"{lesson}.{task}": int(worth) for text in sources for lesson, task, worth in cell.findall(text)}
        assert found == exercises.WRITTEN

    @pytest.mark.usefixtures("processes")
    def test_importing_the_registry_imports_no_torch(self) -> None:
        code = "import sys, course_lib.exercises; sys.exit('torch' in sys.modules)"
        assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


PREDICTIONS = [
    exercise
    for exercise in exercises.all()
    if exercise.title.startswith("Predict") and exercise.id != "words_in_a_bag.same_vector"  # a "no" tells its all
]


@pytest.mark.parametrize("exercise", PREDICTIONS, ids=lambda exercise: exercise.id)
def test_what_is_to_be_predicted_is_not_told(exercise: Exercise) -> None:
    assert all(case.secret for case in [*exercise.visible_cases(), *exercise.hidden_cases(1)])


class TestEveryExercise:
    def test_no_hint_holds_what_the_solution_computes(self) -> None:
        for exercise in exercises.all():
            solved = solution_of(exercise.id)
            assert solved is not None
            nodes = [
                one for one in ast.walk(ast.parse(solved.code)) if isinstance(one, ast.Return | ast.Assign | ast.Call)
            ]
            computed = {ast.get_source_segment(solved.code, getattr(node, "value", None) or node) for node in nodes}
            long = {code for code in computed if code and len(code) >= 12}
            assert not [(exercise.id, code) for hint in exercise.hints for code in long if code in hint.text]

    def test_every_size_that_is_left_free_is_as_small_as_it_may_be_in_some_case(self) -> None:
        for exercise in exercises.all():
            found: dict[str, set[int]] = {}
            for case in exercise.visible_cases():
                for dimension, size in named_sizes(exercise, case).items():
                    if not dimension.isdigit():
                        found.setdefault(dimension, set()).add(size)
            least = {dimension: 0 if dimension == LEADING else 1 for dimension in found}
            least |= LARGER.get(exercise.id, {})
            assert {dimension: min(sizes) for dimension, sizes in found.items()} == least, exercise.id

    def test_its_cases_follow_from_the_seed_and_have_different_names(self) -> None:
        for exercise in exercises.all():
            visible, hidden = exercise.visible_cases(), exercise.hidden_cases(3)
            assert repr(hidden) == repr(exercise.hidden_cases(3)), exercise.id
            for cases in (visible, hidden):
                assert len({case.name for case in cases}) == len(cases), exercise.id

    def test_each_withholds_its_own_reference(self) -> None:
        assert [one.id for one in exercises.all() if one.reference.__module__ not in one.withheld] == []

    def test_no_right_answer_breaks_a_rule(self) -> None:
        adjusted = [exercise for exercise in exercises.all() if exercise.forbidden]
        assert len(adjusted) > 10
        for exercise in adjusted:
            for answer in exercise.correct:
                seen = observe(answer, exercise.visible_cases()[0], exercise.forbidden_names)
                assert seen.returned, (exercise.id, answer, seen.raised)


class TestMemorised:
    """What a table of the hidden inputs of 10,000 seeds would be worth."""

    @pytest.mark.sampled(1)
    @pytest.mark.parametrize(
        "exercise_id",
        ["heads_and_blocks.count_parameters", "evaluation.brevity_penalty"],
    )
    def test_a_few_numbers_are_drawn_from_too_many(self, exercise_id: str) -> None:
        exercise = exercises.find(exercise_id)
        known = {case.args for seed in range(10_000) for case in exercise.hidden_cases(seed)}
        fresh = [case.args for seed in range(1000) for case in exercise.hidden_cases(2**64 + seed)]
        assert sum(args in known for args in fresh) < len(fresh) / 1000
        assert not exercise.memorisable

    @pytest.mark.parametrize(
        ("exercise_id", "seeds", "tables"),
        [
            ("masking.causal_mask", 399, 180),
            ("positions.binary_counting", 399, 700),
            ("positions.sinusoidal_encoding", 399, 1000),
            ("positions.shift_matrix", 399, 1000),
        ],
    )
    def test_one_or_two_small_numbers_need_a_large_table(self, exercise_id: str, seeds: int, tables: int) -> None:
        exercise = exercises.find(exercise_id)
        known = {case.args for seed in range(seeds) for case in exercise.hidden_cases(seed)}
        assert len(known) >= tables
        assert exercise.memorisable
