"""A public name means one thing, wherever it stands: nobody has to look which of two `score` is meant."""

from __future__ import annotations

import ast
from collections import defaultdict

from course_lib import exercises
from tests.test_imports import module_name, python_files

SAME_MEANING = {
    "answers_in": "what a notebook answers, of our lessons, and in `plain` of an assignment of a plain course",
    "add": "a command to `katze`, in the module of each",
    "main": "where a command begins",
    "progress_bar": "a bar in the terminal, of training steps or of submissions",
    "race": "what is measured, and `show`'s picture of it",
    "Tolerance": "how far a number may be off, as a course sets it and as an exercise does",
    **dict.fromkeys(
        (
            *("discard", "judge", "make_plan", "overwritten", "read_recorded", "rewrite_feedback", "save"),
            *("write_feedback", "write_graded", "written_files"),
        ),
        "of one of our lessons, and in `plain` of an assignment of a plain course",
    ),
}
"""Names that several modules have because they mean the same, and what that is."""

NEVER_SIDE_BY_SIDE = {
    "Kind": "`checking` knows kinds of differences, `exercises.common` kinds of inputs; neither leaves its room",
    "Plan": "what to grade, and what to publish",
    "Recorded": "what an earlier run has left, and what a class edition holds of an exercise",
    "StandIn": "for a package that a box lacks, and for a reference that a class edition lacks",
    "look_up": "a word's vector, a word's synonyms",
}
"""Names of two meanings in rooms that nobody enters together."""


def public_names() -> dict[str, set[str]]:
    """Each public function or class at the top of a module, with the modules that define it."""
    found = defaultdict(set)
    for path in (*python_files("course_lib"), *python_files("autograder")):
        if "answers" not in path.parts and path.parent.parent.name != "exercises":  # nobody else uses a lesson's own
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
                    found[node.name].add(module_name(path))
    return found


def from_scratch(module: str) -> bool:
    return module.startswith("course_lib.from_scratch.")


def test_no_two_public_names_of_different_meaning_are_alike() -> None:
    shared = {name for name, modules in public_names().items() if sum(not from_scratch(m) for m in modules) > 1}
    assert shared == {*SAME_MEANING, *NEVER_SIDE_BY_SIDE}


def test_what_is_built_from_scratch_is_called_like_the_library_s_only_where_a_lesson_calls_it_so() -> None:
    shared = {name for name, modules in public_names().items() if len(modules) > 1 and any(map(from_scratch, modules))}
    assert shared <= {exercise.name for exercise in exercises.all()}
