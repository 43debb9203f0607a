"""How late a submission is and what that costs, at the edges: to the second, across clocks, with and without points."""

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
BOUND = Late("linear", per_day=10, at_most=50)
CAP = Late("cap", cap=80)
GRACE = Late("linear", timedelta(minutes=15), per_day=10)
DAY = 86400


@pytest.mark.parametrize(
    ("policy", "seconds", "points", "penalty", "is_late"),
    [
        (LINEAR, -DAY, 20, 0, False),
        (LINEAR, 0, 20, 0, False),
        (LINEAR, 0.5, 20, 2, True),
        (LINEAR, DAY, 20, 2, True),
        (LINEAR, DAY + 1, 20, 4, True),
        (LINEAR, 9 * DAY + 1, 20, 20, True),
        (LINEAR, 1000 * DAY, 20, 20, True),
        (LINEAR, DAY + 1, 3.5, 3.5, True),  # no more than there is
        (LINEAR, DAY + 1, 0.0, 0, True),
        (LINEAR, DAY + 1, None, 0, True),
        (BOUND, 30 * DAY, 20, 10, True),
        (Late("linear", per_day=10 / 3), 1, 20, 0.67, True),
        (CAP, 1, 20, 4, True),
        (CAP, 1, 16, 0, True),
        (CAP, 1, 22.5, 6.5, True),
        (CAP, 0, 20, 0, False),
        (GRACE, 900, 20, 0, False),
        (GRACE, 901, 20, 2, True),  # then the due date counts
        (GRACE, DAY + 1, 20, 4, True),
        (Late("none"), DAY + 1, 20, 0, True),
    ],
)
def test_what_being_late_costs(
    policy: Late, seconds: float, points: float | None, penalty: float, is_late: bool
) -> None:
    found = late(policy, seconds, points)
    assert (found.penalty, found.is_late, found.seconds) == (penalty, is_late, max(0, seconds))


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
