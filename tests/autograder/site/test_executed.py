"""A lesson's run is kept, and made anew once something has changed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import pytest

import course_lib
from autograder.course.course import Course
from autograder.errors import BadInput
from autograder.site import executed
from autograder.site.executed import executed_solution, reached_files, read_solution
from tests.autograder.site.small_course import CONFIG

pytestmark = pytest.mark.usefixtures("processes")


ROOT = Path(__file__).parents[3]
LIBRARY = Path(course_lib.__file__).parent
CELL = "# %%\nimport os, uuid\nprint(uuid.uuid4(), os.environ['KATZE_WORK'] != {work!r})\n"


@pytest.fixture
def course(tmp_path: Path) -> Course:
    (tmp_path / "nbgrader_config.py").write_text(CONFIG)
    (tmp_path / "solutions" / "01_one").mkdir(parents=True)
    return Course.find(tmp_path)


def write(course: Course, text: str) -> None:
    (course.solutions / "01_one" / "01_one.py").write_text(text)


def printed(course: Course) -> str:
    return executed_solution(course, "01_one").cells[0].outputs[0].text


def test_a_run_is_kept_until_the_lesson_or_the_library_changes(
    course: Course, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KATZE_WORK", "/of/a/learner")
    write(course, CELL.format(work="/of/a/learner"))
    first = printed(course)
    assert first.endswith("True\n"), "the learner's own progress is not written to"
    assert printed(course) == first
    write(course, CELL.format(work="/of/a/learner") + "\n# changed\n")
    second = printed(course)
    assert second != first
    library = reached_files(course, "01_one", read_solution(course, "01_one"))
    (tmp_path / "more.py").touch()
    monkeypatch.setattr(executed, "reached_files", lambda *_: {*library, tmp_path / "more.py"})
    assert printed(course) not in (first, second)
    [kept] = (course.root / "build" / "executed").glob("*.ipynb")
    nbformat.validate(nbformat.read(kept, as_version=4))


def test_two_that_ask_at_once_have_one_run(course: Course) -> None:
    write(course, CELL.format(work=""))
    with ThreadPoolExecutor(3) as threads:
        assert len(set(threads.map(printed, [course] * 3))) == 1


def test_a_cell_that_fails_stops_it_and_keeps_nothing(course: Course) -> None:
    write(course, "# %%\n1 / 0\n")
    with pytest.raises(BadInput, match="(?s)a cell of 01_one.*ZeroDivisionError"):
        executed_solution(course, "01_one")
    assert not list(course.root.glob("build/executed/*.ipynb"))


@pytest.mark.parametrize(
    ("lesson", "inside", "outside"),
    [
        ("02_masking", "masking.py exercises/masking/causal_mask.py judging/judge.py", "recurrent.py"),
        ("07_gpt", "models.py blocks.py exercises/gpt/shared.py", "exercises/bert/shared.py recurrent.py"),
        ("08_subwords", "text/subwords.py text/shakespeare.txt", "exercises/masking/causal_mask.py recurrent.py"),
    ],
)
def test_a_lesson_runs_anew_for_what_it_reaches_alone(lesson: str, inside: str, outside: str) -> None:
    ours = Course.find(ROOT)
    found = reached_files(ours, lesson, read_solution(ours, lesson))
    names = {str(path.relative_to(LIBRARY)) for path in found}
    assert {"exercises/__init__.py", "show/scripts/clocks.js", *inside.split()} <= names
    assert not names & {*outside.split()}
    assert not [name for name in names if name.startswith("learner/solved/")]
