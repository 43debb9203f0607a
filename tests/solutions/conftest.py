"""The lessons as fixtures: as text, one after the other, and run, for the class that names one."""

import pytest
from nbformat import NotebookNode

from autograder.site.executed import executed_solution
from course_lib import exercises
from tests.solutions.executing import printed
from tests.solutions.reading import read_lesson
from tests.solutions.short import course_to_run


@pytest.fixture(params=exercises.LESSONS)
def lesson(request: pytest.FixtureRequest) -> str:
    """The folder of one lesson after the other."""
    return str(request.param)


@pytest.fixture
def notebook(lesson: str) -> NotebookNode:
    """That lesson's source."""
    return read_lesson(lesson)


@pytest.fixture
def prose(notebook: NotebookNode) -> str:
    """All that the lesson says in words."""
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """What a model has learned in a whole training is to hold on four seeds."""
    if {"solved", "thorough"} <= {*metafunc.fixturenames}:
        metafunc.parametrize("seed", range(4), scope="class")


@pytest.fixture(scope="class")
def seed() -> int:
    """What is added to the seeds of a lesson's trainings."""
    return 0


@pytest.fixture(scope="class")
def solved(
    request: pytest.FixtureRequest, seed: int, processes: None, tmp_path_factory: pytest.TempPathFactory
) -> NotebookNode:
    """The lesson that a class names, run once with its solutions."""
    assert request.cls is not None
    return executed_solution(course_to_run(request.config, tmp_path_factory, seed), request.cls.lesson)


@pytest.fixture(scope="class")
def output(processes: None, solved: NotebookNode) -> str:
    """All that this lesson prints."""
    return "\n".join(printed(cell) for cell in solved.cells)
