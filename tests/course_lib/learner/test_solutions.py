"""Solutions: shown after a try or on a second request, and nowhere else in the package."""

import json
import tomllib
from functools import cache
from pathlib import Path

import pytest

from course_lib import exercises
from course_lib.checking import check, progress, solution
from course_lib.judging.exercise import Exercise
from course_lib.learner import solutions
from course_lib.learner.ending import NEXT
from course_lib.learner.progress_file import progress_file
from course_lib.learner.recall import QUESTIONS
from course_lib.learner.solutions import SOLVED, Solution, solution_of

ROOT = Path(__file__).parents[3]
SCORES = exercises.find("attention.scores")


def test_after_a_try_it_is_shown_with_its_reason_and_marked_as_seen() -> None:
    check(SCORES.id, lambda q, k: q @ q.transpose(-2, -1))
    shown = str(solution(SCORES.id))
    for text in ("    return q @ k.transpose(-2, -1)", "matrix product", "write dot_product_scores yourself"):
        assert text in shown
    assert progress_file().of(SCORES.id).seen_solution
    assert "(not right yet, solution seen)" in str(progress())


def test_whoever_has_passed_is_asked_for_nothing_more() -> None:
    check(SCORES.id, lambda q, k: q @ k.transpose(-2, -1))
    assert "yourself" not in str(solution(SCORES.id))


def test_without_a_try_the_first_request_is_declined_in_one_sentence(said) -> None:
    assert solution(SCORES.id) is None
    assert said() == (
        "You have not checked an answer to attention.scores yet, and a solution teaches most after you have tried: "
        'write one, take a hint with hint("attention.scores"), or ask again and it is shown.'
    )
    assert None not in (solution(SCORES.id), solution(SCORES.id))
    assert said() == ""


def test_whoever_has_had_all_hints_is_offered_none(said) -> None:
    for given in SCORES.hints:
        progress_file().note_hint(SCORES.id, given.depth)
    assert solution(SCORES.id) is None
    assert "teaches most after you have tried: write one, or ask again" in said()


@pytest.mark.parametrize(("task", "points"), exercises.WRITTEN.items())
def test_an_answer_in_words_is_shown_with_what_earns_its_points_once_one_is_written(
    task: str, points: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert solution(task) is None
    assert capsys.readouterr().out.startswith(f"Have you written your own answer to {task}?")
    assert not progress_file().of(task).seen_solution
    shown = solution(task)
    answer, scheme = shown.sections
    assert len(answer.paragraphs) > 0
    assert len(scheme.steps) == points
    assert "point:" not in str(shown)
    assert "*(" not in str(shown)
    assert progress_file().of(task).seen_solution


def test_a_typing_slip_and_a_bad_name_show_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("attention.score", "../solved/attention.scores"):
        assert solution(name) is None
        assert capsys.readouterr().out.startswith(f"No solution is shown: no exercise '{name}'; ")
    assert progress_file().read() == {}


def test_a_course_without_solutions_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(solutions, "SOLVED", tmp_path)
    check(SCORES.id, lambda q, k: q)
    assert solution(SCORES.id) is None
    assert capsys.readouterr().out == "No solution is shown: this course has turned solutions off.\n"
    (tmp_path / "attention.scale.md").touch()
    assert solution(SCORES.id) is None
    assert capsys.readouterr().out == "No solution is shown: this course has none for attention.scores.\n"
    assert not progress_file().of(SCORES.id).seen_solution


def test_a_page_gives_back_what_was_written() -> None:
    for written in (Solution("Why.\n\nAnd `why`.", 'def f():\n    """```"""'), Solution("", "x = 1")):
        assert Solution.read(written.page()) == written


# ---- the pages


def test_each_exercise_has_a_page_and_there_are_no_others() -> None:
    assert {path.stem for path in SOLVED.iterdir()} == {*exercises.WRITTEN, *(each.id for each in exercises.all())}


@cache
def texts() -> dict[Path, str]:
    """Every other file of the package and of the release, in one line each; of notebooks what their cells say."""
    found = {}
    for folder in ("course_lib", "autograder", "notebooks"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".py", ".md", ".ipynb", ".html", ".js", ".j2", ".json"} and SOLVED not in path.parents:
                text = path.read_text(encoding="utf-8")
                if path.suffix == ".ipynb":
                    text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
                found[path] = squeezed(text)
    return found


def squeezed(text: str) -> str:
    """A text without its indents, comment marks and empty lines, in one line."""
    return " ".join(text.replace("#", " ").split())


def test_nothing_else_that_students_get_contains_a_solution() -> None:
    found = {exercise.id: places for exercise in exercises.all() if (places := with_solution(exercise))}
    assert found == {}


def with_solution(exercise: Exercise) -> list[Path]:
    """The files that hold a sentence of its reason, or its code: in a few lines there is one way to write it."""
    written = solution_of(exercise.id)
    sentences = [squeezed(sentence) for sentence in written.reason.split(". ") if len(sentence) > 40]
    assert sentences, exercise.id
    found = [path for path, text in texts().items() if any(sentence in text for sentence in sentences)]
    lines = written.code.rpartition('"""')[2].strip().splitlines()
    if len(lines) < 3:
        return found
    task = exercise.id.partition(".")[2]
    its_own = (f"{exercises.LESSONS[exercise.lesson]}.{task}", exercise.reference.__module__)
    known = {ROOT.joinpath(*name.split(".")).with_suffix(".py") for name in its_own}
    code = squeezed("\n".join(lines))
    return [*found, *(path for path, text in texts().items() if code in text and path not in known)]


def test_the_search_finds_what_there_is() -> None:
    stub = squeezed('def dot_product_scores(q, k):\n    """The dot product of every query with every key.')
    assert [path.name for path, text in texts().items() if stub in text] == ["01_attention.ipynb"]


def test_the_wheel_has_the_pages() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = settings["tool"]["setuptools"]["package-data"]["course_lib.learner"]
    found = {path for pattern in patterns for path in SOLVED.parent.glob(pattern)}
    assert found == {*SOLVED.iterdir(), *QUESTIONS.iterdir(), NEXT}
