"""Mutants are what they should be, a check with holes lets them through, and explanations fit what exists."""

import ast
import dataclasses
from collections import Counter
from importlib import import_module

import pytest

from benchmarks.mutants import Mutant, mutants
from benchmarks.mutation import Explanation, read_explanations, run, tally
from benchmarks.wrong_ways import wrong_ways
from course_lib import exercises
from course_lib.judging.answer_key import AnswerKey
from course_lib.judging.exercise import Exercise

EXPLANATIONS = read_explanations()

SAMPLE = '''
def weights(scores: Float[Tensor, "a b"], mask, size=3):
    """Doc."""
    if mask.ndim != 2:
        raise ValueError("wrong")
    require_boolean(mask, "x")
    scores = scores.masked_fill(~mask, -1.5)
    for row in range(size - 1):
        scores += torch.zeros_like(scores, dtype=scores.dtype)
    return torch.softmax(scores, dim=-1) * mask if size > 0 else scores
'''


def definition(code: str) -> ast.FunctionDef:
    (found,) = ast.parse(code).body
    assert isinstance(found, ast.FunctionDef)
    return found


def changes(code: str) -> set[tuple[str, str]]:
    return {(mutant.old, mutant.new) for mutant in mutants(definition(code))}


class TestMutants:
    def test_axes_masks_calls_and_statements_change(self) -> None:
        found = changes(SAMPLE)
        fill = "scores = scores.masked_fill(~mask, -1.5)"
        result = "return torch.softmax(scores, dim=-1) * mask if size > 0 else scores"
        assert {
            (fill, "scores = scores.masked_fill(mask, -1.5)"),
            (fill, "scores = scores"),
            (fill, "scores = scores.masked_fill(~mask, 0.0)"),
            (fill, "scores = scores.masked_fill(~mask, 1.5)"),
            (fill, "pass"),
            (result, "return torch.softmax(scores, dim=-2) * mask if size > 0 else scores"),
            (result, "return torch.softmax(scores, dim=0) * mask if size > 0 else scores"),
            (result, "return torch.softmax(scores, dim=1) * mask if size > 0 else scores"),
            (result, "return torch.softmax(scores) * mask if size > 0 else scores"),
            (result, "return torch.log_softmax(scores, dim=-1) * mask if size > 0 else scores"),
            (result, "return torch.softmax(scores, dim=-1) if size > 0 else scores"),
            (result, "return torch.softmax(scores, dim=-1) * mask if size >= 0 else scores"),
            (result, "return scores"),
            ("for row in range(size - 1):", "for row in range(size + 1):"),
        } <= found
        dropped = "for row in range(size - 1):\nscores += torch.zeros_like(scores, dtype=scores.dtype)"
        assert (dropped, "pass") in found

    def test_refusals_texts_annotations_and_defaults_stay(self) -> None:
        for mutant in mutants(definition(SAMPLE)):
            kept = ast.unparse(definition(mutant.source).body[1:3])
            assert kept == "if mask.ndim != 2:\n    raise ValueError('wrong')\nrequire_boolean(mask, 'x')"
            assert mutant.source.splitlines()[0] == "def weights(scores: Float[Tensor, 'a b'], mask, size=3):"

    def test_each_is_a_definition_and_there_is_only_one_of_each(self) -> None:
        sources = [mutant.source for mutant in mutants(definition(SAMPLE))]
        assert len(set(sources)) == len(sources) > 30
        assert all(definition(source).name == "weights" for source in sources)

    def test_only_the_lines_asked_for_change(self) -> None:
        code = "def f(x):\n    y = x + 1\n    return y * 2\n"
        assert {mutant.old for mutant in mutants(definition(code), {3})} == {"return y * 2"}

    @pytest.mark.parametrize(
        ("code", "old", "new"),
        [
            ("a[:n] < b", "return a[:n] < b", "return a[:] < b"),
            ("[x for x in y if x]", "return [x for x in y if x]", "return [x for x in y]"),
            ("p and not q", "return p and (not q)", "return p or not q"),
            ("a @ b", "return a @ b", "return b @ a"),
            ("f(a, b)", "return f(a, b)", "return f(b, a)"),
            ("math.exp(x)", "return math.exp(x)", "return x"),
        ],
    )
    def test_one_of_each_kind(self, code: str, old: str, new: str) -> None:
        assert (old, new) in changes(f"def f():\n    return {code}\n")


def test_a_check_that_looks_closely_catches_all() -> None:
    exercise = exercises.find("evaluation.corpus_or_sentence")
    results = list(run(exercise, [], 4))
    assert len(results) > 10
    assert all(result.ending == "caught" for result in results)
    assert tally(results) == dict.fromkeys((exercise.id, "all"), Counter(caught=len(results)))


def test_a_check_with_a_hole_lets_a_mutant_through() -> None:
    exercise = exercises.find("evaluation.corpus_bleu")
    same = dataclasses.replace(exercise, cases=lambda generator, hidden: exercise.visible_cases()[4:5])
    results = list(run(same, [], 0, alone=True))
    survived = {result.mutant.new for result in results if result.ending == "unexplained"}
    assert "return mean" in survived, "that case has no penalty"
    assert tally(results)["all"]["unexplained"] > 0


def test_what_only_hidden_cases_catch_is_told_apart() -> None:
    exercise = exercises.find("die_katze.plan_run")
    blind = dataclasses.replace(
        exercise,
        cases=lambda generator, hidden: [
            case for case in exercise.cases(generator, hidden) if hidden or "three quarters" not in case.name
        ][: None if hidden else 2],
    )
    assert any(result.ending == "hidden only" for result in run(blind, [], 0, alone=True))


@pytest.mark.usefixtures("thorough")
@pytest.mark.parametrize("exercise", exercises.all(), ids=lambda exercise: exercise.id)
def test_the_notebook_sees_every_change_of_a_reference_and_every_corruption(exercise: Exercise) -> None:
    """What shows in hidden cases alone is green, and then red; what shows nowhere has its reason."""
    results = run(exercise, EXPLANATIONS, 0, alone=True)
    assert not [(one.mutant, one.ending) for one in results if one.ending in ("hidden only", "unexplained")]


@pytest.mark.parametrize(
    ("id", "more"),
    [
        ("heads_and_blocks.feed_forward", {"squeezed", "detached", "half precision", "float32", "overwriting"}),
        ("encoder_decoder.shift_right", {"squeezed", "overwriting"}),
        ("evaluation.corpus_bleu", {"half precision", "the last entry 1% off", "overwriting"}),
        ("subwords.decode_bytes", {"overwriting"}),
    ],
)
def test_a_reference_is_corrupted_in_every_way_that_can_show(id: str, more: set[str]) -> None:
    kinds = {kind for kind, _answer in wrong_ways(AnswerKey(exercises.find(id)))}
    assert {"the first result forever", "right for 1 calls", "right for 3 calls"} | more <= kinds
    floats = {"half precision", "the last entry 1% off"}
    assert kinds & floats == (floats if "half precision" in more else set())
    assert ("overwriting" in kinds) == ("overwriting" in more)


def test_what_a_reference_calls_is_changed_too_and_the_library_is_not() -> None:
    exercise = exercises.find("masking.masked_weights")
    before = vars(import_module("course_lib.attention")).copy()
    changed = {result.function for result in run(exercise, [], 0)}
    assert {"course_lib.masking.masked_weights", "course_lib.attention.mask_scores"} <= changed
    assert vars(import_module("course_lib.attention")) == before


def test_an_explanation_holds_for_its_function_changes_and_exercises() -> None:
    mutant = Mutant("kind", "source", "a", "b")
    assert Explanation("m.f", "why").explains("x.y", "m.f", mutant)
    assert not Explanation("m.g", "why").explains("x.y", "m.f", mutant)
    assert Explanation("m.f", "why", [["a", "b"]], ["x.y"]).explains("x.y", "m.f", mutant)
    assert not Explanation("m.f", "why", [["a", "c"]]).explains("x.y", "m.f", mutant)
    assert not Explanation("m.f", "why", exercises=["x.z"]).explains("x.y", "m.f", mutant)
