"""A course of its own for the bundled class, with the repository's lessons released in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.course.course import Course
from autograder.course.release import release
from autograder.demo.run import make_course

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    made = make_course(tmp_path_factory.mktemp("demo"), Course.find(REPOSITORY))
    release(made)
    return made
