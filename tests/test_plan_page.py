"""docs/plan.md: its homework adds up to what the lessons say, and class writes what class has taught."""

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "plan.md").read_text()
WEEK = re.compile(r"^\| \d+ \| (\d\d) \| ([^|]+) \| ([\d, ]+) · (\d+) min \| ([\d, ]+) · (\d+) min \|$", re.M)
MINUTES = re.compile(r"^# \| (\d+) \| [^|]+ \| \d+ \| (\d+) \|$", re.M)
WEEKS = [match.groups() for match in WEEK.finditer(PAGE)]


def minutes(lesson: str) -> dict[int, int]:
    """The minutes of each exercise, as the table at a lesson's top has them."""
    [source] = (ROOT / "solutions").glob(f"{lesson}_*/{lesson}_*.py")
    return {int(number): int(spent) for number, spent in MINUTES.findall(source.read_text())}


def section_of(lesson: str) -> dict[int, int]:
    """The section in which each exercise of a lesson stands."""
    [source] = (ROOT / "solutions").glob(f"{lesson}_*/{lesson}_*.py")
    found, section = {}, 0
    for heading, number in re.findall(r"^# (##|### Exercise) (\d+)\b", source.read_text(), re.M):
        if heading == "##":
            section = int(number)
        else:
            found[int(number)] = section
    return found


def named_sections(taught: str) -> set[int]:
    """The sections of which a week's row says that they are taught: `sections 1 to 4`, or `sections 1, 4 and 6`."""
    match = re.match(r"sections (\d+) to (\d+)\b", taught)
    if match is not None:
        return set(range(int(match[1]), int(match[2]) + 1))
    match = re.match(r"sections ((?:\d+, )*\d+ and \d+)\b", taught)
    assert match is not None, taught
    return {int(number) for number in re.findall(r"\d+", match[1])}


@pytest.mark.parametrize(("lesson", "taught", "in_class", "spent", "at_home", "homework"), WEEKS)
def test_a_week_states_the_minutes_of_its_exercises(lesson, taught, in_class, spent, at_home, homework):
    assert {section_of(lesson)[int(number)] for number in in_class.split(",")} <= named_sections(taught)
    per_exercise = minutes(lesson)
    for numbers, stated in ((in_class, spent), (at_home, homework)):
        assert sum(per_exercise[int(number)] for number in numbers.split(",")) == int(stated)


def test_fourteen_weeks_set_every_exercise_once():
    assert len(WEEKS) == 14
    set_once = Counter((week[0], int(number)) for week in WEEKS for part in week[2::2] for number in part.split(","))
    assert set_once <= Counter((week, number) for week in {week[0] for week in WEEKS} for number in minutes(week))
    assert set_once.total() >= 119, "an exercise that a fork adds may be set in no week"
