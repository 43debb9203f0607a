"""docs/plan.md: its homework adds up to what the lessons say, and leaves out no exercise."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "plan.md").read_text()
WEEK = re.compile(r"^\| \d+ \| (\d\d) \| [^|]+ \| ([\d, ]+) · (\d+) min \| ([\d, ]+) · (\d+) min \|$", re.M)
MINUTES = re.compile(r"^# \| (\d+) \| [^|]+ \| \d+ \| (\d+) \|$", re.M)
WEEKS = [match.groups() for match in WEEK.finditer(PAGE)]


def minutes(lesson: str) -> dict[int, int]:
    """The minutes of each exercise, as the table at a lesson's top has them."""
    [source] = (ROOT / "solutions").glob(f"{lesson}_*/{lesson}_*.py")
    return {int(number): int(spent) for number, spent in MINUTES.findall(source.read_text())}


@pytest.mark.parametrize(("lesson", "in_class", "spent", "at_home", "homework"), WEEKS)
def test_a_week_states_the_minutes_of_its_exercises(lesson, in_class, spent, at_home, homework):
    per_exercise = minutes(lesson)
    for numbers, stated in ((in_class, spent), (at_home, homework)):
        assert sum(per_exercise[int(number)] for number in numbers.split(",")) == int(stated)


def test_fourteen_weeks_set_every_exercise_once():
    assert len(WEEKS) == 14
    set_once = Counter((week[0], int(number)) for week in WEEKS for part in week[1::2] for number in part.split(","))
    assert set_once == Counter((week, number) for week in {week[0] for week in WEEKS} for number in minutes(week))
