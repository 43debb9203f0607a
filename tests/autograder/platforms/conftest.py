"""A course that downloads are collected into."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from autograder.course.course import Course
from autograder.delivery.collect import Collection, collect
from tests.autograder.platforms.downloads import make_course, put, zipped


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return make_course(tmp_path)


@pytest.fixture
def take(course: Course, tmp_path: Path) -> Callable[..., Collection]:
    """Collects these files, zipped, into the course."""

    def taken(files: Mapping[str, bytes], **options: Any) -> Collection:
        return collect(course, put(tmp_path / "d.zip", zipped(files)), **options)

    return taken
