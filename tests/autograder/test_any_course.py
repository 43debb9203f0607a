"""The harness grades any course: outside the demo it names nothing of ours, no lesson, no exercise and no module."""

import re

from course_lib import exercises
from tests.test_imports import FLOORS, python_files

TOOLS = {"ground"}
"""Of the library's floors, that of tools, which belongs to no lesson."""


def names_of_ours() -> re.Pattern[str]:
    ids = [exercise.id for exercise in exercises.all()]
    modules = [f"course_lib.{floor}" for floor in FLOORS if floor.partition(".")[0] not in TOOLS]
    grade_ids = [f"{name.replace('.', '-')}-{kind}" for name in ids for kind in ("answer", "check")]
    names = [*exercises.LESSONS, *ids, *exercises.WRITTEN, *grade_ids, *modules, *exercises.LESSONS.values()]
    return re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, names))})(?!\w)")


OURS = names_of_ours()
OUTSIDE = [path for path in python_files("autograder") if "demo" not in (*path.parts, path.stem)]


def test_names_are_seen_where_there_are_some() -> None:
    assert OURS.search('lesson = "01_attention"')
    assert OURS.search("from course_lib.attention import dot_product_scores")
    assert not OURS.search("from course_lib.ground.files import put_in_place")


def test_the_harness_names_nothing_of_our_course() -> None:
    found = {str(path): OURS.findall(path.read_text(encoding="utf-8")) for path in OUTSIDE}
    assert {path: names for path, names in found.items() if names} == {}


def test_only_the_settings_and_a_clusters_worker_know_which_course_is_ours() -> None:
    asked = re.compile(
        r"^\s*from course_lib(?:\.exercises)? import .*\b(?:exercises|exercises_of|COURSE|LESSONS)\b", re.M
    )
    asking = {path for path in OUTSIDE if asked.search(path.read_text(encoding="utf-8"))}
    assert {path.parts[-2:] for path in asking} == {("course", "settings.py"), ("cluster", "lesson_on_worker.py")}
