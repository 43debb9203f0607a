"""Every exercise has its cells, once, with the metadata that nbgrader and the grader need."""

import ast
import copy
import re
from collections import Counter

import nbformat
import pytest
from nbformat import NotebookNode

from autograder.course.colab import BADGE, INSTALL
from autograder.course.folding import TITLE, fold_aside, shown_cells
from autograder.course.looking_back import RECALL
from autograder.course.reading_time import tell_rating
from autograder.course.solved import is_reason
from course_lib import exercises
from course_lib.checking.notebook import IMPORTED_CHECK
from tests.solutions.reading import ROOT, without_times

STUB = "raise NotImplementedError()"
"""What nbgrader leaves where an answer was."""


def written(prose: str) -> dict[str, int]:
    """Questions that a person reads, as the text announces them: their ids and points."""
    line = r"`([\w.]+)` · (\d+) points?, read by a person · about \d+ minutes"
    return {name: int(points) for name, points in re.findall(line, prose)}


def graded(notebook: NotebookNode) -> dict[str, NotebookNode]:
    cells = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
    ids = Counter(cell.metadata.nbgrader.grade_id for cell in cells)
    assert set(ids.values()) == {1}, ids
    return {cell.metadata.nbgrader.grade_id: cell for cell in cells}


def test_each_exercise_has_its_answer_and_its_check(lesson: str, notebook: NotebookNode, prose: str) -> None:
    cells = graded(notebook)
    expected = {
        f"{exercise.id.replace('.', '-')}-{kind}"
        for exercise in exercises.of_lesson(lesson)
        for kind in ("answer", "check")
    }
    expected |= {f"{name.replace('.', '-')}-written" for name in written(prose)}
    assert set(cells) == expected


def test_written_questions_have_the_points_and_the_solution_that_the_text_announces(
    notebook: NotebookNode, prose: str
) -> None:
    cells = graded(notebook)
    for question, points in written(prose).items():
        assert f'`solution("{question}")` in a new cell shows one good answer' in prose
        assert cells[f"{question.replace('.', '-')}-written"].metadata.nbgrader.points == points


def test_an_answer_cell_defines_the_name_and_only_its_body_is_the_solution(lesson: str, notebook: NotebookNode) -> None:
    cells = graded(notebook)
    for exercise in exercises.of_lesson(lesson):
        source = cells[f"{exercise.id.replace('.', '-')}-answer"].source
        (definition,) = ast.parse(source).body
        assert isinstance(definition, (ast.FunctionDef, ast.ClassDef))
        assert definition.name == exercise.name
        docstring = ast.get_docstring(definition)
        assert docstring
        assert source.count("### BEGIN SOLUTION") == source.count("### END SOLUTION") == 1
        kept = re.sub(r"[ ]*### BEGIN SOLUTION.*?### END SOLUTION", "", source, flags=re.S)
        assert f"{exercise.name}" in kept
        assert docstring.splitlines()[0] in kept
        called = next((n for n in ast.walk(definition) if getattr(n, "name", "") == "forward"), definition)
        assert isinstance(called, ast.FunctionDef)
        names = [argument.arg for argument in called.args.args if argument.arg != "self"]
        assert names == exercise.parameters[: len(names)], "a verdict names arguments as the reference does"


def test_a_check_cell_checks_its_exercise(lesson: str, notebook: NotebookNode) -> None:
    cells = graded(notebook)
    for exercise in exercises.of_lesson(lesson):
        assert cells[f"{exercise.id.replace('.', '-')}-check"].source == (
            f'check("{exercise.id}")\n### BEGIN HIDDEN TESTS\ncheck("{exercise.id}", hidden=True)\n### END HIDDEN TESTS'
        )


def test_the_text_names_points_minutes_and_section_as_the_exercise_does(
    lesson: str, notebook: NotebookNode, prose: str
) -> None:
    headings = re.findall(r"^#+ (?:[\d.]+ )?(.*)$", prose, flags=re.M)
    for exercise in exercises.of_lesson(lesson):
        assert exercise.section in headings, f"{exercise.id}: no heading is its section"
        title = rf"^### Exercise \d+ · {re.escape(exercise.title)}$"
        assert re.search(title, prose, flags=re.M), f"{exercise.id}: no heading like {title}"
        plural = "" if exercise.points == 1 else "s"
        points = rf"{exercise.points} point{plural}( \(.*\))?"
        line = rf"`{re.escape(exercise.id)}` · {points} · about {exercise.minutes} minutes"
        assert len(re.findall(line, prose)) == 1, f"{exercise.id}: exactly one line must be like {line}"


def test_the_table_and_the_headings_count_the_exercises(lesson: str, notebook: NotebookNode, prose: str) -> None:
    """The written ones included, in the order of the text; what each is worth, the test above compares."""
    line = r"^### Exercise (\d+) · .*\n`[\w.]+` · (\d+) points?.* · about (\d+) minutes$"
    tasks = re.findall(line, prose, flags=re.M)
    assert len(tasks) == len(exercises.of_lesson(lesson)) + len(written(prose))
    numbers = [int(number) for number, _points, _minutes in tasks]
    assert numbers == [*range(1, len(tasks) + 1)], "renumber the headings `### Exercise N` in the order of the text"
    rows = re.findall(r"^\| (\d+) \| .* \| (\d+) \| (\d+) \|$", notebook.cells[0].source, flags=re.M)
    assert rows == tasks, "fix the table at the top: a row `| N | ... | points | minutes |` for each exercise"


def test_without_its_slides_a_lesson_is_whole(lesson: str, notebook: NotebookNode) -> None:
    """A course that is not held with the lectures reads nothing of them, and runs."""
    shown = shown_cells(notebook.cells, slides=False)
    read = [cell.source for cell in shown]
    for exercise in exercises.of_lesson(lesson):
        read += [exercise.title, exercise.statement, *(hint.text for hint in exercise.hints)]
        read += [mistake.message for mistake in exercise.misconceptions]
    assert [text for text in read if re.search(r"\bS[0-4]\b|\bslides?\b|\blecturer?s?\b", text)] == []
    left_out = [cell for cell in notebook.cells if cell not in shown and cell.cell_type == "code"]
    bound = {name for cell in left_out for name in names(cell.source)[0]}
    for cell in shown:
        if cell.cell_type == "code":
            nodes = list(ast.walk(ast.parse(cell.source)))
            own = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
            own |= {node.arg for node in nodes if isinstance(node, ast.arg)} | names(cell.source)[0]
            assert not bound & (names(cell.source)[1] - own)


def test_what_it_takes_from_earlier_lessons_is_an_exercise(notebook: NotebookNode) -> None:
    calls = (
        node
        for cell in notebook.cells
        if cell.cell_type == "code"
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "answer"
    )
    asked = {argument.value for call in calls for argument in call.args if isinstance(argument, ast.Constant)}
    assert asked <= {exercise.id for exercise in exercises.all()}


def test_marking_schemes_are_of_the_written_exercises(lesson: str, prose: str) -> None:
    page = (ROOT / "solutions" / lesson / "README.md").read_text(encoding="utf-8")
    schemes = re.findall(r"^\*\*Exercise (\d+), marking scheme\*\* \((\d+) points?\)", page, flags=re.M)
    line = r"^### Exercise (\d+) · .*\n`[\w.]+` · (\d+) points?, read by a person"
    asked = re.findall(line, prose, flags=re.M)
    assert schemes == asked, "fix `**Exercise N, marking scheme** (points)` in the instructors' page"


def test_the_answer_stands_before_its_check_and_before_what_shows_it(lesson: str, notebook: NotebookNode) -> None:
    """Otherwise a student who runs the notebook from the top meets a cell that uses what is not there yet."""
    cells = [cell for cell in notebook.cells if not is_reason(cell)]
    position = {cell.metadata.get("nbgrader", {}).get("grade_id"): i for i, cell in enumerate(cells)}
    for exercise in exercises.of_lesson(lesson):
        name = exercise.id.replace(".", "-")
        assert position[f"{name}-check"] == position[f"{name}-answer"] + 1
        uses = [
            i
            for i, cell in enumerate(cells)
            if cell.cell_type == "code" and i != position[f"{name}-answer"] and exercise.name in names(cell.source)[1]
        ]
        assert all(i > position[f"{name}-check"] for i in uses)


def names(source: str) -> tuple[set[str], set[str]]:
    """The names that a cell binds at its top level, and those that it uses anywhere."""
    tree = ast.parse(source)
    bound: set[str] = set()
    for statement in tree.body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            bound.add(statement.name)
            continue
        local = {
            id(name) for node in ast.walk(statement) if isinstance(node, ast.comprehension) for name in ast.walk(node)
        }
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in local:
                bound.add(node.id)
            elif isinstance(node, ast.alias):
                bound.add((node.asname or node.name).split(".")[0])
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return bound, used


def test_nothing_that_is_graded_needs_a_demo_cell(notebook: NotebookNode) -> None:
    """Demo cells are not run when grading, and may not change what other cells have bound."""
    from_demo: set[str] = set()
    from_others: set[str] = set()
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        bound, used = names(cell.source)
        if "demo" in cell.metadata.get("tags", ()):
            assert bound & from_others == set(), "a demo cell overwrites what an ordinary cell has bound"
            from_demo |= bound
        else:
            assert not used & (from_demo - from_others - bound)
            from_others |= bound


def test_cells_that_show_something_are_demos(notebook: NotebookNode) -> None:
    """Pictures, widgets, training and clocks cost time that grading need not spend."""
    costly = re.compile(r"show\.(?!use_style)|plt\.(subplots|figure)|\.backward\(|perf_counter")
    for cell in notebook.cells:
        if cell.cell_type == "code" and "nbgrader" not in cell.metadata and costly.search(cell.source):
            assert "demo" in cell.metadata.get("tags", ()), cell.source[:80]


def test_the_first_code_cell_imports_what_the_lesson_needs(notebook: NotebookNode) -> None:
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    for line in (
        "import torch",
        "from course_lib import show",
        "from course_lib.checking import case, check, hint, progress, solution",
    ):
        assert line in first.source.splitlines()


@pytest.mark.parametrize(
    ("code", "bound", "used"),
    [
        ("x = 1\ny = x", {"x", "y"}, {"x"}),
        ("import a.b as c", {"c"}, set()),
        ("def f():\n    g = h\n", {"f"}, {"h"}),
        ("for i in r:\n    [j for j in i]", {"i"}, {"r", "i", "j"}),
    ],
)
def test_names_are_told_apart(code: str, bound: set[str], used: set[str]) -> None:
    assert names(code) == (bound, used)


def test_the_release_with_its_answers_filled_in_is_the_source(lesson: str, notebook: NotebookNode) -> None:
    """As text: what students open says what the solved notebook says, and only the answers are missing."""
    released = nbformat.read(ROOT / "notebooks" / lesson / f"{lesson}.ipynb", as_version=4)
    theirs = [cell for cell in released.cells if not set(cell.metadata.get("tags", ())) & {BADGE, INSTALL, RECALL}]
    ours = [cell for cell in notebook.cells if not is_reason(cell)]
    assert len(theirs) == len(ours)
    known = {exercise.id: exercise for exercise in exercises.of_lesson(lesson)}
    for cell, written in zip(theirs, ours, strict=True):
        solved = copy.deepcopy(written)
        fold_aside(lesson, solved)
        tell_rating(solved, known)
        assert cell.cell_type == solved.cell_type
        if "YOUR ANSWER HERE" in cell.source:  # a written question: a person's model answer stays with the instructor
            continue
        first, _, rest = cell.source.partition("\n")
        source = rest if first.startswith(TITLE) else without_times(cell.source)
        assert filled_in(source, solved.source) == plain(solved.source)


def filled_in(released: str, solved: str) -> str:
    """A released cell with the solution of its source in place of the stub."""
    solution = re.search(r"[ ]*### BEGIN SOLUTION\n(.*?)\s*### END SOLUTION", solved, flags=re.S)
    lines = released.splitlines()
    if solution:
        lines = [solution[1] if line.strip() == STUB else line for line in lines]
    return plain("\n".join(lines))


def plain(source: str) -> str:
    """A cell without what only the source, or only the release, has."""
    source = re.sub(r"### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS", "", source, flags=re.S)
    lines = [line.rstrip() for line in source.splitlines()]
    added = re.compile(rf" *(### (BEGIN|END) SOLUTION|# katze:|# YOUR CODE HERE)|{re.escape(IMPORTED_CHECK)}$")
    return "\n".join(line for line in lines if line and not added.match(line))
