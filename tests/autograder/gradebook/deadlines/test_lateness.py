"""How late a submission is and what that costs, at the edges: to the second, across clocks, with and without points."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from autograder.course.semester import Late, LessonTerms
from autograder.gradebook.deadlines.lateness import NOTHING_DUE, Lateness, lateness_of

DUE = datetime.fromisoformat("2026-11-20T18:00:00+01:00")
DUE_IN_UTC = datetime(2026, 11, 20, 17)
MOST = 20.0


def no_plugin(student: str, points: float, seconds: float) -> float:
    raise AssertionError("the plugin is not asked")


def late(policy: Late, seconds: float, points: float | None = 20.0) -> Lateness:
    handed_in = DUE_IN_UTC + timedelta(seconds=seconds)
    return lateness_of(LessonTerms(DUE, late=policy), "ada", handed_in, points, MOST, no_plugin)


LINEAR = Late("linear", per_day=10)


@pytest.mark.parametrize(
    ("seconds", "penalty"),
    [
        (-86400, 0),
        (0, 0),
        (0.5, 2),
        (1, 2),
        (86400, 2),
        (86401, 4),
        (9 * 86400 + 1, 20),
        (1000 * 86400, 20),
    ],
)
def test_linear_costs_something_for_each_day_begun(seconds: float, penalty: float) -> None:
    found = late(LINEAR, seconds)
    assert (found.penalty, found.is_late) == (penalty, seconds > 0)


def test_linear_has_a_bound_and_takes_no_more_than_there_is() -> None:
    assert late(Late("linear", per_day=10, at_most=50), 30 * 86400).penalty == 10
    assert late(LINEAR, 86401, points=3.5).penalty == 3.5
    assert late(LINEAR, 86401, points=0.0).penalty == 0


def test_a_cap_takes_what_is_above_it() -> None:
    cap = Late("cap", cap=80)
    assert late(cap, 1, points=20).penalty == 4
    assert late(cap, 1, points=16).penalty == 0
    assert late(cap, 1, points=22.5).penalty == 6.5
    assert late(cap, 0, points=20).penalty == 0


def test_a_penalty_is_rounded_to_hundredths() -> None:
    terms = LessonTerms(DUE, late=Late("linear", per_day=10 / 3))
    handed_in = DUE_IN_UTC + timedelta(seconds=1)
    assert lateness_of(terms, "ada", handed_in, 21, 21, no_plugin).penalty == 0.7


def test_within_the_grace_nothing_is_late_and_after_it_the_due_date_counts() -> None:
    policy = Late("linear", timedelta(minutes=15), per_day=10)
    assert (late(policy, 900).penalty, late(policy, 900).is_late, late(policy, 900).seconds) == (0, False, 900)
    assert (late(policy, 901).penalty, late(policy, 901).is_late) == (2, True)
    assert late(policy, 86400 + 1).penalty == 4


def test_none_costs_nothing_and_says_how_late() -> None:
    found = late(Late("none"), 86401)
    assert (found.penalty, found.is_late, found.rule) == (0, True, "")


def test_no_score_loses_nothing() -> None:
    assert late(LINEAR, 86401, points=None).penalty == 0


def test_the_plugin_is_asked_about_what_is_late_and_only_that() -> None:
    asked = []

    def plugin(student: str, points: float, seconds: float) -> float:
        asked.append((student, points, seconds))
        return 1000 if points > 10 else -1

    terms = LessonTerms(DUE, late=Late("nbgrader", timedelta(minutes=1)))
    minute, hour = DUE_IN_UTC + timedelta(minutes=1), DUE_IN_UTC + timedelta(hours=1)
    assert lateness_of(terms, "ada", minute, 17.0, MOST, plugin).penalty == 0
    assert lateness_of(terms, "ben", hour, 17.0, MOST, plugin).penalty == 17
    assert lateness_of(terms, "cem", hour, 9.0, MOST, plugin).penalty == 0
    assert asked == [("ben", 17.0, 3600), ("cem", 9.0, 3600)]


def test_an_extension_counts_in_place_of_the_due_date() -> None:
    terms = LessonTerms(DUE, late=LINEAR, extensions={"ada": datetime.fromisoformat("2026-11-27T12:00:00-05:00")})
    handed_in = datetime(2026, 11, 27, 17, 0, 1)
    ada, ben = (lateness_of(terms, who, handed_in, 20.0, MOST, no_plugin) for who in ("ada", "ben"))
    assert (ada.extended, ada.seconds, ada.penalty) == (True, 1, 2)
    assert (ben.extended, ben.penalty) == (False, 16)
    assert ada.handed_in is not None
    assert ada.handed_in.isoformat() == "2026-11-27T12:00:01-05:00"


def test_nobody_knows_is_not_late_and_nothing_due_is_nothing() -> None:
    unknown = lateness_of(LessonTerms(DUE, late=LINEAR), "ada", None, 20.0, MOST, no_plugin)
    assert (unknown.is_unknown, unknown.is_late, unknown.penalty) == (True, False, 0)
    assert lateness_of(LessonTerms(late=LINEAR), "ada", DUE_IN_UTC, 20.0, MOST, no_plugin) == NOTHING_DUE
    assert not NOTHING_DUE.is_unknown


@pytest.mark.parametrize(
    ("policy", "rule"),
    [
        (LINEAR, "each day begun costs 10 % of the lesson's 20 points"),
        (Late("linear", per_day=5, at_most=50), "each day begun costs 5 % of the lesson's 20 points, 50 % at most"),
        (Late("cap", cap=80), "what is late can reach 80 % of the lesson's 20 points"),
    ],
)
def test_the_rule_is_told(policy: Late, rule: str) -> None:
    assert late(policy, 1).rule == rule
    assert late(policy, 0).rule == ""
