"""What a lesson's cells can see of the library, and that nothing else changes a grade."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import course_lib
from autograder.course.course import Course
from autograder.grading.assignment import Assignment
from autograder.grading.digests.reach import LIBRARY, Library, mentioned
from tests.autograder.small_class import LESSON, make_course


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("from course_lib import show, text", {"course_lib.show", "course_lib.text"}),
        ("from course_lib.text.texts import SentencePair as S", {"course_lib.text.texts.SentencePair"}),
        ("import course_lib.masking as m", {"course_lib.masking"}),
        ("import course_lib\ncourse_lib.show.bars([1])", {"course_lib.show.bars"}),
        ("from course_lib.show import *", {"course_lib.show"}),
        ("import course_lib as c\nc.models", {LIBRARY}),
        ("import course_lib\ngetattr(course_lib, 'mo' + 'dels')", {LIBRARY}),
        ("import importlib\nimportlib.import_module('course_' + 'lib.models')", {LIBRARY}),
        ("__import__('x')", {LIBRARY}),
        ("import sys\nsys.modules['a']", {LIBRARY}),
        ("exec('from course_lib import models')", {LIBRARY}),
        ("%time from course_lib import models", {LIBRARY}),
        ("from course_lib import (", {LIBRARY}),
        ("import importlib.util\nimportlib.util.find_spec('course_lib')", set()),
    ],
)
def test_what_code_mentions(source: str, names: set[str]) -> None:
    assert mentioned([source]) == names


def test_a_module_is_reached_with_all_that_it_imports_and_a_package_with_all_that_is_in_it() -> None:
    library = Library(())
    assert {"course_lib.masking", "course_lib.attention", LIBRARY} <= library.reached(
        ["course_lib.masking.causal_mask"]
    )
    assert "course_lib.models" not in library.reached(["course_lib.masking.causal_mask"])
    assert "course_lib.text.packing" in library.reached(["course_lib.text"])
    assert "course_lib.text.packing" not in library.reached(["course_lib.text.texts.SentencePair"])
    assert library.reached([LIBRARY]) == set(library.modules)
    assert library.reached(["course_lib.nothing"]) == set(library.modules)  # an unknown name may mean anything
    without = Library(["course_lib.attention"]).reached(["course_lib.masking", "course_lib.show"])
    assert not {"course_lib.attention", "course_lib.masking"} & without


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the library, which digests are made of."""
    copy = tmp_path / "lib" / "course_lib"
    shutil.copytree(Path(course_lib.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__", "exercises"))
    monkeypatch.setattr(course_lib, "__file__", str(copy / "__init__.py"))
    return copy


def library_of(course: Course, sources: list[str]) -> tuple[str, dict[str, str]]:
    lesson = Assignment.load(course, LESSON, skip_demos=True, feedback=True)
    return lesson.conditions.versions["library"], lesson.imports_of(sources)


def test_only_what_a_lesson_or_its_student_can_see_changes_a_fingerprint(elsewhere: Path, tmp_path: Path) -> None:
    course = make_course(tmp_path)
    own = ["from course_lib.bags import something", "import course_lib.text.packing as later"]
    before = library_of(course, own)
    (elsewhere / "unheard_of.py").write_text("x = 1\n")
    (elsewhere / "__init__.py").write_text(
        (elsewhere / "__init__.py").read_text().replace('__version__ = "', '__version__ = "9.')
    )
    assert library_of(course, own) == before
    (elsewhere / "text" / "packing.py").write_text("y = 1\n")  # no sandbox of this lesson holds it
    assert library_of(course, own) == before
    (elsewhere / "bags.py").write_text("y = 1\n")
    lesson, imports = library_of(course, own)
    assert lesson == before[0]
    assert imports.keys() == before[1].keys()
    assert imports != before[1]
    (elsewhere / "show" / "figures.py").write_text("y = 1\n")
    assert library_of(course, own)[0] != before[0]
