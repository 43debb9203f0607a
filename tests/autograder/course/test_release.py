"""The release: from text to notebooks, byte for byte the same, and in agreement with the exercises.

Tests `release.py`, `builds.py`, `solved.py`.
"""

import importlib.metadata
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbgrader.api import Gradebook

import course_lib
from autograder.course.colab import BADGE, INSTALL
from autograder.course.course import Course
from autograder.course.looking_back import RECALL, without_reasons
from autograder.course.release import Role, check_release, release
from autograder.course.store.builds import changed_lessons, remember, solution_lessons
from autograder.errors import BadInput
from course_lib import exercises
from course_lib.checking.notebook import IMPORTED_CHECK
from course_lib.exercises.catalogue import Catalogue
from course_lib.judging.errors import UnusableExercises
from course_lib.judging.exercise import Case, Exercise
from course_lib.learner import recall

REPOSITORY = Path(__file__).parents[3]

CONFIG = """
c = get_config()
c.Katze.repository = "someone/their-course"
c.CourseDirectory.course_id = "toy"
c.CourseDirectory.source_directory = "build/source"
c.CourseDirectory.release_directory = "notebooks"
"""

LESSON = '''\
# ---
# jupyter:
#   kernelspec:
#     display_name: Something
#     language: python
#     name: something
# ---

# %% [markdown]
# # Doubling
#
# Twice is more than once: $2x$.

# %%
from course_lib.checking import check

# %% tags=["demo"]
1 + 1

# %% nbgrader={"grade_id": "toy-double-answer"}
def double(x):
    """Twice x."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% nbgrader={"grade_id": "toy-double-check"}
check("toy.double")
### BEGIN HIDDEN TESTS
check("toy.double", hidden=True)
### END HIDDEN TESTS

# %%
1 + 1

# %% [markdown] nbgrader={"grade_id": "toy-why_double-written", "points": 2}
# Because two is more than one.
'''


def toy(name: str = "double") -> Exercise:
    return Exercise(
        id=f"toy.{name}",
        lesson="01_toy",
        name=name,
        title="Twice",
        statement="Return twice the argument.",
        points=3,
        minutes=1,
        section="Doubling",
        source="S0",
        reference=lambda x: 2 * x,
        cases=lambda generator, hidden: [Case("one", (1,))],
        misconceptions=(),
        correct=(),
    )


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    (tmp_path / "nbgrader_config.py").write_text(CONFIG)
    write_lesson(tmp_path, LESSON)
    monkeypatch.setattr(Catalogue, "all", lambda _catalogue: [toy()])
    return Course.find(tmp_path)


def write_lesson(root: Path, text: str, lesson: str = "01_toy") -> None:
    path = root / "solutions" / lesson / f"{lesson}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def released(course: Course) -> NotebookNode:
    (path,) = release(course)
    return nbformat.read(path, as_version=4)


def by_grade_id(notebook: NotebookNode) -> dict[str, NotebookNode]:
    return {cell.metadata.nbgrader.grade_id: cell for cell in notebook.cells if "nbgrader" in cell.metadata}


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# ---- what students get


ASIDES = """\
# %% [markdown] tags=["slides"]
# S1 prints *three* times.

# %% tags=["slides", "demo"]
1 + 2

# %% [markdown]
# ### Exercise 1 · Twice
# `toy.double` · 3 points · about 1 minutes
#
# Return it.

# %% [markdown] tags=["fine-print"]
# Any number will do.

"""
"""Cells that most readers may skip, around the task of the exercise."""


@pytest.fixture
def course_with_asides(course: Course, monkeypatch: pytest.MonkeyPatch) -> Course:
    write_lesson(course.root, LESSON.replace("# %% nbgrader", f"{ASIDES}# %% nbgrader", 1))
    monkeypatch.setattr(Catalogue, "all", lambda _catalogue: [replace(toy(), difficulty=2, importance=5)])
    return course


def test_asides_are_folded_and_a_task_says_how_hard_it_is(course_with_asides: Course) -> None:
    sources = [cell.source for cell in released(course_with_asides).cells]
    folded = "<details><summary>{}</summary>\n\n{}\n\n</details>"
    assert folded.format("On the slides", "S1 prints *three* times.") in sources
    assert folded.format("Fine print", "Any number will do.") in sources
    assert "1 + 2" in sources
    line = "`toy.double` · 3 points · about 1 minutes · difficulty 2/5 · importance 5/5"
    assert f"### Exercise 1 · Twice\n{line}\n\nReturn it." in sources


def test_a_course_without_slides_leaves_out_what_is_on_them(course_with_asides: Course) -> None:
    config = course_with_asides.root / "nbgrader_config.py"
    config.write_text(f"{config.read_text()}c.Katze.slides = False\n")
    text = "\n".join(cell.source for cell in released(Course.find(course_with_asides.root)).cells)
    assert "Any number will do." in text
    assert not [word for word in ("slides", "three", "1 + 2") if word in text]


def test_code_about_slides_must_be_a_demo(course_with_asides: Course) -> None:
    path = course_with_asides.solutions / "01_toy" / "01_toy.py"
    path.write_text(path.read_text().replace('["slides", "demo"]', '["slides"]'))
    with pytest.raises(BadInput, match="the code '1 \\+ 2' has the tag 'slides': give it the tag 'demo', too"):
        release(course_with_asides)


def test_students_get_stubs_and_visible_checks_with_markers_first(course: Course) -> None:
    cells = by_grade_id(released(course))
    assert cells["toy-double-answer"].source == (
        '# katze: toy.double answer\ndef double(x):\n    """Twice x."""\n'
        "    # YOUR CODE HERE\n    raise NotImplementedError()"
    )
    check = cells["toy-double-check"].source
    assert check == f'# katze: toy.double check\n{IMPORTED_CHECK}\ncheck("toy.double")'
    assert cells["toy-why_double-written"].source == "<!-- katze: toy.why_double written -->\n\nYOUR ANSWER HERE"


def test_graded_cells_get_nbgraders_whole_metadata(course: Course) -> None:
    flags = {
        kind: {name: cell.metadata.nbgrader[name] for name in ("grade", "solution", "locked", "task", "schema_version")}
        | {"points": cell.metadata.nbgrader.get("points"), "editable": cell.metadata.get("editable", True)}
        for name, cell in by_grade_id(released(course)).items()
        for kind in [name.rpartition("-")[2]]
    }
    always = {"task": False, "schema_version": 3}
    assert flags == {
        "answer": {"grade": False, "solution": True, "locked": False, "points": None, "editable": True, **always},
        "check": {"grade": True, "solution": False, "locked": True, "points": 3, "editable": False, **always},
        "written": {"grade": True, "solution": True, "locked": False, "points": 2, "editable": True, **always},
    }
    text = LESSON.replace('double-check"', 'double-check", "grade": true, "locked": true, "points": 3, "task": false')
    before = snapshot(course.release)
    write_lesson(course.root, text)  # all of it written out, as nbgrader's own editor does
    release(course)
    assert snapshot(course.release) == before


def test_nothing_of_a_run_is_in_a_release(course: Course) -> None:
    notebook = released(course)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert notebook.metadata == {
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None
        if INSTALL not in cell.metadata.get("tags", ()):  # which is folded
            assert set(cell.metadata) <= {"nbgrader", "tags", "editable", "deletable"}


def test_the_source_keeps_solutions_and_hidden_checks(course: Course) -> None:
    released(course)
    source = nbformat.read(course.source / "01_toy" / "01_toy.ipynb", as_version=4)
    cells = by_grade_id(source)
    assert "return 2 * x" in cells["toy-double-answer"].source
    assert "hidden=True" in cells["toy-double-check"].source
    assert "Because two is more than one." in cells["toy-why_double-written"].source


def test_the_link_to_colab_and_the_install_cell_follow_the_title_and_the_repository(course: Course) -> None:
    badge, install = released(course).cells[1:3]
    assert badge.metadata.tags == [badge.id] == [BADGE]
    assert badge.source == (
        "[Open in Colab](https://colab.research.google.com/github/someone/their-course/blob/"
        f"v{course_lib.__version__}/notebooks/01_toy/01_toy.ipynb)"
    )
    assert install.metadata.tags == [install.id] == [INSTALL]
    assert "git+https://github.com/someone/their-course" in install.source
    config = course.root / "nbgrader_config.py"
    config.write_text(config.read_text().replace("someone/their-course", "fork/other"))
    _title, badge, install, *_ = released(Course.find(course.root)).cells
    assert "fork/other" in badge.source
    assert "fork/other" in install.source
    assert "someone" not in badge.source + install.source


def test_questions_that_look_back_follow_what_opens_a_lesson(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    before = released(course)
    remember(course, ["01_toy"])
    monkeypatch.setattr(recall, "QUESTIONS", course.root / "asked")
    assert changed_lessons(course, ["01_toy"]) == []
    recall.QUESTIONS.mkdir()
    page = recall.QUESTIONS / "01_toy.md"
    page.write_text("## One\nHow many?\n\n- [x] `1`\n  One.\n- [ ] two\n  That is *more*.\n", encoding="utf-8")
    assert changed_lessons(course, ["01_toy"]) == ["01_toy"]
    after = released(course)
    asked, count = after.cells[3:5]
    assert [*after.cells[:3], *after.cells[5:]] == before.cells
    assert "<summary>a) <code>1</code></summary><p>✓ Right. One.</p>" in asked.source
    assert without_reasons(asked.source).endswith("How many?\n\n- a) `1`\n- b) two")
    assert 'recall("01_toy", "")' in count.source
    assert count.metadata.tags == [RECALL, "demo"], "no sandbox runs it"
    page.write_text("## One\nHow many?\n")
    with pytest.raises(UnusableExercises, match=r"01_toy.md, question 1 .*: it has 0 choices"):
        release(course)


def test_assets_of_a_lesson_are_released_with_it_and_the_instructors_page_is_not(course: Course) -> None:
    folder = course.solutions / "01_toy"
    (folder / "figures").mkdir()
    (folder / "figures" / "cat.svg").write_text("<svg/>")
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / "old.txt").write_text("old")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "x.pyc").write_bytes(b"x")
    (folder / "README.md").write_text("The answers, for instructors.")
    release(course)
    assert set(snapshot(course.release / "01_toy")) == {"01_toy.ipynb", "figures/cat.svg"}


# ---- ids


def test_ids_are_grade_ids_or_depend_on_content_alone(course: Course) -> None:
    before = released(course)
    ids = [cell.id for cell in before.cells]
    assert len(set(ids)) == len(ids)
    assert by_grade_id(before)["toy-double-answer"].id == "toy-double-answer"
    lines = LESSON.replace("# %%\nfrom", "# %% [markdown]\n# A new paragraph.\n\n# %%\nfrom")
    write_lesson(course.root, lines)
    after = [cell.id for cell in released(course).cells]
    assert [identity for identity in after if identity in ids] == ids
    assert len(after) == len(ids) + 1


def test_two_builds_give_the_same_bytes_and_touch_nothing(course: Course) -> None:
    course.gradebook.write_bytes(b"grades")
    (path,) = release(course)
    first = snapshot(course.root)
    os.utime(path, (0, 0))
    release(course)
    assert snapshot(course.root) == first
    assert path.stat().st_mtime == 0


# ---- what has changed


@pytest.fixture
def two_lessons(course: Course, own_library: Path) -> Course:
    """A course of its own exercises, and a lesson without any, both built just now."""
    write_lesson(course.root, "# %%\n1\n", "02_empty")
    (course.solutions / "02_empty" / "README.md").write_text("For instructors.")
    (course.root / "toy_points.py").write_text("POINTS = 3")
    (course.root / "toy_exercises.py").write_text("minutes=1")
    config = course.root / "nbgrader_config.py"
    config.write_text(f"{config.read_text()}c.Katze.exercises = {{'01_toy': 'toy_exercises'}}\n")
    course = Course.find(course.root)
    assert changed_lessons(course, BOTH) == BOTH
    release(course)
    remember(course, BOTH)
    return course


BOTH = ["01_toy", "02_empty"]


@pytest.mark.parametrize(
    ("path", "old", "new", "changed"),
    [
        ("solutions/01_toy/01_toy.py", "Twice is more", "Twice is less", ["01_toy"]),
        ("solutions/02_empty/02_empty.py", "1", "2", ["02_empty"]),
        ("solutions/02_empty/table.csv", "", "a,b", ["02_empty"]),
        ("solutions/02_empty/README.md", "For", "Only for", []),
        ("toy_exercises.py", "minutes=1", "minutes=2", BOTH),
        ("toy_points.py", "POINTS = 3", "POINTS = 4", BOTH),
        ("nbgrader_config.py", "someone/", "fork/", BOTH),
        ("notebooks/01_toy/01_toy.ipynb", "Twice is more", "Twice is less", ["01_toy"]),
        ("build/source/02_empty/02_empty.ipynb", None, None, ["02_empty"]),
        ("course_lib/learner/solved/toy.double.md", "return 2", "return 3", ["01_toy"]),
        ("course_lib/learner/reference_list.py", "REFERENCES", "OTHERS", BOTH),
        ("course_lib/learner/reference_list.py", None, None, BOTH),
        (".katze/builds.json", "{", "[", BOTH),
        (".katze/builds.json", None, None, BOTH),
        ("gradebook.db", "", "grades", []),
    ],
)
def test_a_lesson_is_built_again_when_anything_has_changed(
    two_lessons: Course, path: str, old: str | None, new: str | None, changed: list[str]
) -> None:
    place = two_lessons.root / path
    assert changed_lessons(two_lessons, BOTH) == []
    if old is None or new is None:
        place.unlink()
    else:
        text = place.read_text() if place.exists() else ""
        assert old in text
        place.write_text(text.replace(old, new, 1) if old else new)
    assert changed_lessons(Course.find(two_lessons.root), BOTH) == changed


def test_another_version_builds_everything_again(two_lessons: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    for package, name in ((course_lib, "__version__"), (importlib.metadata, "version")):
        with monkeypatch.context() as patch:
            patch.setattr(package, name, "99" if name.startswith("_") else lambda _package: "99")
            assert changed_lessons(two_lessons, BOTH) == BOTH
    assert changed_lessons(two_lessons, BOTH) == []


# ---- drift


def test_drift_is_named_and_nothing_is_written(course: Course) -> None:
    assert check_release(course) == ["notebooks/01_toy/01_toy.ipynb is missing: run `katze release`"]
    assert not course.release.exists()
    (path,) = release(course)
    assert check_release(course) == []
    path.write_text(path.read_text().replace("Twice is more", "Twice is less"))
    (path.parent / "old.svg").write_text("")
    shutil.copytree(path.parent, course.release / "00_gone")
    (course.release / "00_gone" / "01_toy.ipynb").rename(course.release / "00_gone" / "00_gone.ipynb")
    before = snapshot(course.root)
    assert check_release(course) == [
        "notebooks/01_toy/01_toy.ipynb differs from what its solutions give: run `katze release`",
        "notebooks/01_toy/old.svg is left over: the solutions have no such file; remove it",
        "notebooks/00_gone is left over: no solutions give it; remove it",
    ]
    assert check_release(course, ["01_toy"]) == check_release(course)[:2]
    assert snapshot(course.root) == before


def test_answers_in_a_release_are_told_with_the_way_out(course: Course) -> None:
    (path,) = release(course)
    path.write_text(path.read_text().replace("raise NotImplementedError()", "return x + x"))
    assert check_release(course)[-1] == (
        "notebooks/01_toy/01_toy.ipynb holds answers (toy-double-answer): `katze learn --move-answers 01_toy` moves "
        "them to work/ and restores the file"
    )


# ---- solutions


REASON = '''\
# %% [markdown] tags=["reason"]
# Doubling is adding a number to itself.

# %% nbgrader={"grade_id": "toy-double-check"'''


@pytest.fixture
def own_library(course: Course) -> Path:
    """A course with a `course_lib` of its own: where its solutions go."""
    write_lesson(course.root, LESSON.replace('# %% nbgrader={"grade_id": "toy-double-check"', REASON))
    learner = course.root / "course_lib" / "learner"
    learner.mkdir(parents=True)
    return learner / "solved"


def test_a_solution_goes_into_one_page_with_its_reason_and_into_no_notebook(course: Course, own_library: Path) -> None:
    release(course)
    assert snapshot(own_library) == {
        "toy.double.md": b"Doubling is adding a number to itself.\n\n"
        b'```python\ndef double(x):\n    """Twice x."""\n    return 2 * x\n```\n',
        "toy.why_double.md": b"Because two is more than one.\n",
    }
    for folder in (course.release, course.source):
        assert not [path for path, text in snapshot(folder).items() if b"adding a number" in text]


def test_pages_of_solutions_can_drift(course: Course, own_library: Path) -> None:
    page = "course_lib/learner/solved/toy.double.md"
    release(course)
    assert check_release(course) == []
    (own_library / "toy.double.md").write_text("return 3 * x")
    (own_library / "toy.gone.md").write_text("return 4 * x")
    assert check_release(course) == [
        f"{page} differs from what its solutions give: run `katze release`",
        "course_lib/learner/solved/toy.gone.md is left over: the solutions have no such file; remove it",
    ]
    assert len(check_release(course, ["01_toy"])) == 1, "others may be another lesson's"
    (own_library / "toy.double.md").unlink()
    assert check_release(course, ["01_toy"]) == [f"{page} is missing: run `katze release`"]


def test_a_course_that_turns_solutions_off_has_none(course: Course, own_library: Path) -> None:
    release(course)
    config = course.root / "nbgrader_config.py"
    config.write_text(f"{config.read_text()}c.Katze.solutions = False\n")
    silent = Course.find(course.root)
    told = check_release(silent)
    assert [line.partition(" is ")[0] for line in told] == [
        f"course_lib/learner/solved/toy.{name}.md" for name in ("double", "why_double")
    ]
    release(silent)
    assert snapshot(own_library) == {}
    assert check_release(silent) == []


def test_a_course_with_somebody_elses_library_keeps_its_solutions(course: Course) -> None:
    assert course.solved is None
    release(course)
    assert not (course.root / "course_lib").exists()


# ---- bad input


SECOND_ANSWER = """\
# %% nbgrader={"grade_id": "toy-double-answer"}
def double(x):
    ### BEGIN SOLUTION
    return x + x
    ### END SOLUTION

# %% [markdown] nbg"""

WHOLE_ANSWER = '    """Twice x."""\n    ### BEGIN SOLUTION\n'


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"toy-double-answer"', '"Double"', "grade_id 'Double' must read"),
        ('"toy-double-answer"', '"../x-answer"', "grade_id '../x-answer' must read"),
        ('"grade_id": "toy-double-answer"', "", "grade_id '' must read"),
        ("toy-double-answer", f"toy-{'x' * 60}-answer", "must read"),
        ('double-answer"', 'double-answer", "grade": true', "answer must be a code cell; .*grade false, solution true"),
        ('double-check"', 'double-check", "locked": false', "check must be a code cell; .* locked true"),
        ("toy-why_double-written", "toy-double-check", "check must be a code cell; if it has flags, with grade true"),
        ("# %% [markdown] nbg", SECOND_ANSWER, "'toy-double-answer' is on 2 cells"),
        ('tags=["demo"]', 'tags="demo"', "is not a notebook: 'demo' is not of type 'array'"),
        ('double-check"', 'double-check", "points": 1', "double-check gives 1 point, but the exercise has 3: delete"),
        ('double-check"', 'double-check", "points": "3"', "toy-double-check gives '3' points, but the exercise has 3"),
        ("toy-double-check", "toy-triple-check", "this lesson.s exercises have no toy.triple"),
        (
            'nbgrader={"grade_id": "toy-double-check"',
            'tags=["x"] o={"a": 1',
            "no cell with grade_id 'toy-double-check'",
        ),
        ('check("toy.double")\n', 'check("toy.other")\n', r'must call check\("toy.double"\) and check nothing else'),
        ('check("toy.double")\n', "check(name)\n", "must call .* and check nothing else"),
        ('check("toy.double")\n', 'check("toy.double"\n', "toy-double-check is not Python"),
        ("### BEGIN SOLUTION", "# begin", "toy-double-answer needs a region"),
        ('tags=["demo"]', 'tags=["reason"]', "the reason '1 \\+ 1' must be markdown, right below an answer's cell"),
        ("    ### END SOLUTION\n", "", "nbgrader cannot build it: .*no end solution"),
        ("# %%\nfrom", "# %%\n### BEGIN SOLUTION\n### END SOLUTION\nfrom", "nbgrader cannot build it: .*non-solution"),
        ("def double(x)", "def twice(x)", "must leave the student a definition of double"),
        ("def double(x):\n" + WHOLE_ANSWER, "### BEGIN SOLUTION\ndef double(x):\n", "must leave .* a definition"),
    ],
)
def test_a_lesson_that_disagrees_is_bad_input_and_nothing_is_written(
    course: Course, old: str, new: str, message: str
) -> None:
    assert old in LESSON
    write_lesson(course.root, LESSON.replace(old, new))
    before = snapshot(course.root)
    with pytest.raises(BadInput, match=f"^01_toy: .*{message}") as caught:
        release(course)
    assert "\n" not in str(caught.value)
    assert snapshot(course.root) == before


def test_a_check_before_its_answer_is_bad_input(course: Course) -> None:
    head, answer, check, *rest = LESSON.split("# %% nbgrader")
    write_lesson(course.root, "# %% nbgrader".join([head, check, answer, *rest]))
    with pytest.raises(BadInput, match="toy-double-check comes before toy-double-answer"):
        release(course)


def test_every_exercise_of_the_lesson_must_be_there(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Catalogue, "all", lambda _catalogue: [toy(), toy("absent")])
    with pytest.raises(BadInput, match="the exercise toy.absent has no cell with grade_id 'toy-absent-answer'"):
        release(course)


def test_unknown_lessons_are_bad_input_and_known_ones_are_named(course: Course) -> None:
    for lesson in ("02_absent", "../solutions/01_toy", ""):
        with pytest.raises(BadInput, match="there are: 01_toy$"):
            release(course, ["01_toy", lesson])
    assert not course.release.exists()


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"# ---\n# jupyter:\n#   kernelspec: 3\n# ---\n\n# %%\n1\n"])
def test_a_file_that_is_no_notebook_is_bad_input(course: Course, content: bytes) -> None:
    (course.solutions / "01_toy" / "01_toy.py").write_bytes(content)
    with pytest.raises(BadInput, match="01_toy.py is not a notebook: ") as caught:
        release(course)
    assert "\n" not in str(caught.value)


def test_one_broken_lesson_keeps_all_from_being_written(course: Course) -> None:
    write_lesson(course.root, "# %%\nBEGIN SOLUTION\n", "02_broken")
    assert solution_lessons(course) == ["01_toy", "02_broken"]
    with pytest.raises(BadInput, match="02_broken: nbgrader cannot build it"):
        release(course)
    assert not course.release.exists()
    assert not course.source.exists()


# ---- nbgrader itself


def nbgrader(course: Course, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the plain command, as an instructor would with the environment active (nbgrader runs `alembic`)."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=course.root,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
    )


@pytest.mark.usefixtures("processes")
def test_plain_nbgrader_works_on_the_course(tmp_path: Path) -> None:
    """A lesson all the way with nbgrader's own commands: a student who submits the solution, and one who nothing."""
    lesson = "02_masking"
    shutil.copyfile(REPOSITORY / "nbgrader_config.py", tmp_path / "nbgrader_config.py")
    shutil.copytree(REPOSITORY / "solutions", tmp_path / "solutions")
    course = Course.find(tmp_path)
    (notebook,) = release(course, [lesson])
    shutil.copytree(course.source / lesson, course.submitted / "solution" / lesson)
    shutil.copytree(course.release / lesson, course.submitted / "untouched" / lesson)

    ours = snapshot(course.release)
    shutil.rmtree(course.release)
    for step in ("generate_assignment", "autograde", "generate_feedback"):
        done = nbgrader(course, step, lesson)
        assert done.returncode == 0, done.stderr
    assert snapshot(course.release) == ours

    with Gradebook(f"sqlite:///{course.gradebook}") as gradebook:
        scores = {
            (student, grade.name): grade.auto_score
            for student in ("solution", "untouched")
            for grade in gradebook.find_submission_notebook(lesson, lesson, student).grades
        }
    for exercise in exercises.of_lesson(lesson):
        check = Role(exercise.id, "check").grade_id
        assert scores["solution", check] == exercise.points
        assert scores["untouched", check] == 0
    page = (course.feedback / "solution" / lesson / f"{lesson}.html").read_text()
    assert 'class="katze-verdict katze-pass"' in page
    assert "&lt;style" not in page

    validated = nbgrader(course, "validate", str(course.submitted / "solution" / lesson / notebook.name))
    assert "Success" in validated.stdout + validated.stderr
