"""Every shortcut that was found by machine is barred, or is among what its exercise allows."""

from __future__ import annotations

import re
import tomllib

import pytest

from benchmarks.fuzz.shortcuts import FILE
from course_lib import exercises

FOUND = tomllib.loads(FILE.read_text())


@pytest.mark.parametrize("exercise_id", FOUND)
def test_what_is_not_barred_is_allowed(exercise_id: str) -> None:
    allowed = exercises.find(exercise_id).allowed
    for shortcut in FOUND[exercise_id].get("shortcuts", ()):
        if shortcut["points"] and not shortcut["barred"]:
            names = set(re.findall(r"\w+", shortcut["call"]))
            assert names & set(allowed), f"{exercise_id}: {shortcut['call']}"
