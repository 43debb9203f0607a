"""A lesson's new version around what somebody has written."""

import copy

import nbformat
from nbformat import NotebookNode

from autograder.course.looking_back import COUNT
from autograder.learn.newer import renewed

STUB = "def f():\n    raise NotImplementedError()"


def code(source: str, identity: str, answer: bool = False) -> NotebookNode:
    flags = {"nbgrader": {"grade_id": identity, "solution": True, "grade": False, "locked": False}} if answer else {}
    cell: NotebookNode = nbformat.v4.new_code_cell(source, id=identity, metadata=flags)
    return cell


def notebook(*cells: NotebookNode) -> NotebookNode:
    made: NotebookNode = nbformat.v4.new_notebook(cells=copy.deepcopy(list(cells)))
    return made


INTRO, FIRST, DEMO = code("intro", "intro"), code(STUB, "a-f-answer", answer=True), code("demo(1)", "demo")
OLD = notebook(INTRO, FIRST, DEMO)


def sources(made: NotebookNode) -> list[str]:
    return [cell.source for cell in made.cells]


def test_an_untouched_lesson_becomes_the_new_one() -> None:
    new = notebook(code("new intro", "intro-2"), FIRST, DEMO)
    assert renewed(OLD, OLD, new) == new


def test_answers_go_into_their_cells_with_what_they_printed() -> None:
    mine = copy.deepcopy(OLD)
    mine.cells[1].source = "def f():\n    return 1"
    mine.cells[1].outputs = [nbformat.v4.new_output("stream", text="hello")]
    made = renewed(mine, OLD, notebook(code("new intro", "intro"), FIRST, DEMO))
    assert sources(made) == ["new intro", "def f():\n    return 1", "demo(1)"]
    assert made.cells[1].outputs[0].text == "hello"
    assert made.cells[1].metadata.nbgrader.solution
    empty, letters = code('recall("01", "")', COUNT), code('recall("01", "abcda")', COUNT)
    made = renewed(notebook(letters, FIRST), notebook(empty, FIRST), notebook(INTRO, empty, FIRST))
    assert sources(made) == ["intro", letters.source, STUB], "what somebody has chosen stays chosen"


def test_own_cells_follow_the_cell_that_they_followed() -> None:
    mine = copy.deepcopy(OLD)
    mine.cells.insert(0, code("first of all", "x"))
    mine.cells.insert(3, code("try_it(f)", "y"))
    mine.cells.insert(4, code("", "z"))
    made = renewed(mine, OLD, notebook(INTRO, code("one more", "more"), FIRST, DEMO))
    assert sources(made) == ["first of all", "intro", "one more", STUB, "try_it(f)", "demo(1)"]


def test_a_changed_cell_of_the_lesson_stays_beside_it() -> None:
    mine = copy.deepcopy(OLD)
    mine.cells[2].source = "demo(2)"
    made = renewed(mine, OLD, notebook(INTRO, FIRST, code("demo(3)", "demo")))
    assert sources(made) == ["intro", STUB, "demo(3)", "demo(2)"]
    assert len({cell.id for cell in made.cells}) == 4


def test_what_the_new_version_has_no_place_for_is_at_its_end() -> None:
    mine = copy.deepcopy(OLD)
    mine.cells[1].source = "def f():\n    return 1"
    mine.cells.append(code("after the demo", "x"))
    made = renewed(mine, OLD, notebook(INTRO))
    assert sources(made) == ["intro", "def f():\n    return 1", "after the demo"]
    assert "nbgrader" not in made.cells[1].metadata


def test_ids_may_have_been_lost() -> None:
    mine = copy.deepcopy(OLD)
    for number, cell in enumerate(mine.cells):
        cell.id = f"other-{number}"
    mine.cells.append(code("own", "x"))
    made = renewed(mine, OLD, notebook(INTRO, FIRST, DEMO))
    assert sources(made) == ["intro", STUB, "demo(1)", "own"]
    nbformat.validate(made)
