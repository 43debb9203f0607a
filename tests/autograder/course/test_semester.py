"""What `course.toml` sets: all of it can be read back, and what cannot be used is refused in one line that helps."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from autograder.course.course import Course
from autograder.course.semester import ExerciseTerms, Late, LessonTerms, Semester, read_semester
from autograder.errors import BadInput

LESSONS = ("01_attention", "02_masking")
DUE = "due = 2026-11-20T18:00:00+01:00"
LESSON = f"[lessons.01_attention]\n{DUE}\n"
SCORES = '[exercises."attention.scores"]\n'
DIGEST = f"sha256:{'0f' * 32}"

WHOLE = f"""
drop_lowest = 1
[late]
grace = "15 minutes"
policy = "linear"
per_day = 10
at_most = 50
[lessons.01_attention]
{DUE}
weight = 2
late = {{ policy = "none" }}
[lessons.01_attention.extensions]
ada = 2026-11-27T18:00:00+01:00
"Łukasz, ben" = 2026-11-20T17:00:01Z
[lessons.01_attention.handed_in]
ben = 2026-11-21T09:30:00+01:00
[lessons.02_masking]
late = {{ at_most = 20, grace = "2 hours" }}
[exercises."attention.scores"]
drop = true
never_lower = true
[exercises."attention.scale"]
full_credit = true
extra_credit = true
accept = ["{DIGEST}", "accepted/scale.py"]
tolerance = {{ relative = 1e-3, absolute = 1e-5 }}
"""


def read(root: Path, text: str) -> Semester:
    (root / "course.toml").write_text(text, encoding="utf-8")
    return read_semester(root, LESSONS)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def test_everything_can_be_set(tmp_path: Path) -> None:
    (tmp_path / "accepted").mkdir()
    (tmp_path / "accepted" / "scale.py").write_text("")
    semester = read(tmp_path, WHOLE)
    linear = Late("linear", timedelta(minutes=15), per_day=10, at_most=50)
    assert (semester.drop_lowest, semester.late) == (1, linear)
    assert semester.lesson("01_attention") == LessonTerms(
        at("2026-11-20T18:00:00+01:00"),
        2,
        Late("none", timedelta(minutes=15)),
        semester.lesson("01_attention").extensions,
        {"ben": at("2026-11-21T09:30:00+01:00")},
    )
    assert semester.lesson("01_attention").extensions == {
        "ada": at("2026-11-27T18:00:00+01:00"),
        "Łukasz, ben": at("2026-11-20T18:00:01+01:00"),
    }
    assert semester.lesson("02_masking").late == Late("linear", timedelta(hours=2), per_day=10, at_most=20)
    assert semester.exercise("attention.scores") == ExerciseTerms(drop=True, never_lower=True)
    assert semester.exercise("attention.scale") == ExerciseTerms(
        full_credit=True,
        extra_credit=True,
        accept=(DIGEST, "accepted/scale.py"),
        tolerance={"relative": 1e-3, "absolute": 1e-5},
    )


def test_without_a_file_nothing_is_set_and_what_is_not_named_has_the_defaults(tmp_path: Path) -> None:
    assert read_semester(tmp_path, LESSONS) == read(tmp_path, "") == Semester()
    assert Semester().exercise("attention.scores") == ExerciseTerms()
    assert LessonTerms().due_for("ada") is None
    semester = read(tmp_path, '[late]\npolicy = "cap"\ncap = 80\n')
    assert semester.lesson("02_masking") == LessonTerms(late=Late("cap", cap=80))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("drop_lowst = 1", "there is no setting 'drop_lowst'; did you mean 'drop_lowest'?"),
        ("xyzzy = 1", "there is no setting 'xyzzy'; there are: drop_lowest, exercises, late, lessons"),
        ("drop_lowest = -1", "drop_lowest must be a whole number, 0 or more, not -1"),
        ("drop_lowest = true", "not True"),
        ("late = 5", "late must be a table, [late], not 5"),
        ("[late]\ngrce = '1 day'", "late: there is no setting 'grce'; did you mean 'grace'?"),
        ("[late]\ngrace = 15", 'late.grace must be such as "15 minutes", "2 hours" or "1 day", not 15'),
        ("[late]\ngrace = '-5 minutes'", "not '-5 minutes'"),
        ("[late]\npolicy = 'strict'", "late.policy must be one of 'none', 'linear', 'cap', 'nbgrader', not 'strict'"),
        ("[late]\npolicy = 'linear'", "'linear' needs per_day, in percent; add per_day = 10"),
        ("[late]\npolicy = 'cap'", "'cap' needs cap, in percent; add cap = 80"),
        ("[late]\npolicy = 'cap'\ncap = 80\nper_day = 5", "day is for the policy 'linear', but the policy is 'cap'"),
        ("[late]\npolicy = 'linear'\nper_day = -10", "late.per_day is in percent: a number from 0 to 100, not -10"),
        ("[late]\npolicy = 'linear'\nper_day = nan", "not nan"),
        ("[lessons.01_atention]", "lessons: there is no lesson '01_atention'; did you mean '01_attention'?"),
        ("[lessons.99_xyz]", "there is no lesson '99_xyz'; there are: 01_attention, 02_masking"),
        ("[lessons.01_attention]\ndue_date = 5", "there is no setting 'due_date'; did you mean 'due'?"),
        ("[lessons.01_attention]\ndue = 2026-11-20T18:00:00", "2026-11-20 18:00:00 has no time zone"),
        ("[lessons.01_attention]\ndue = 2026-11-20", "2026-11-20 has no time zone"),
        ("[lessons.01_attention]\ndue = 18:00:00", "must be a date and time"),
        ("[lessons.01_attention]\ndue = '2026-11-20T18:00:00Z'", "without quotes, not '2026-11-20T18:00:00Z'"),
        ("[lessons.01_attention]\ndue = 0001-01-01T00:00:00+05:00", "is in the year 1; write one from 2000 to 2199"),
        ("[lessons.01_attention]\nweight = -1", "lessons.01_attention.weight must be a number, 0 or more, not -1"),
        (f"{LESSON}[lessons.01_attention.extensions]\nada = 5", 'lessons.01_attention.extensions."ada" must be a date'),
        (
            f"{LESSON}[lessons.01_attention.extensions]\nada = 2026-11-19T18:00:00Z",
            '"ada" is before the due date, 2026-11-20T18:00:00+01:00',
        ),
        (
            "[lessons.01_attention.extensions]\nada = 2026-11-27T18:00:00Z",
            "has no effect, because the lesson has no due date; add lessons.01_attention.due",
        ),
        (
            "[exercises.attention.scores]\ndrop = true",
            'exercises.attention.scores needs quotes around the id: [exercises."attention.scores"]',
        ),
        (SCORES + "dropp = true", "there is no setting 'dropp'; did you mean 'drop'?"),
        (SCORES + "drop = 1", 'exercises."attention.scores".drop must be true or false, not 1'),
        (SCORES + "drop = true\nfull_credit = true", "drop and full_credit contradict each other"),
        (SCORES + 'accept = "a.py"', "accept must be a list of digests and files"),
        (SCORES + 'accept = ["sha256:…"]', "'sha256:…' is not a digest: write sha256: and 64 characters"),
        (SCORES + 'accept = ["absent.py"]', "there is no file 'absent.py' in the course's folder"),
        (SCORES + 'accept = ["/etc/passwd"]', "there is no file '/etc/passwd' in"),
        (SCORES + "tolerance = {}", "tolerance is empty; give relative, absolute or both"),
        ("due = ", "is not TOML: Invalid value (at end of document); fix that line"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadInput) as caught:
        read(tmp_path, text)
    assert said in str(caught.value)
    assert "course.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("drop_lowest = 1 # é".encode("latin-1"), "is not in UTF-8; save it as UTF-8"),
        (b"x = " + b"[" * 100_000, "is not TOML: "),
        (None, "cannot read .*course.toml: Is a directory"),
    ],
)
def test_what_is_no_text_is_refused_too(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "course.toml"
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(BadInput, match=said):
        read_semester(tmp_path, LESSONS)


def test_a_course_knows_its_own_lessons_and_exercises(tmp_path: Path) -> None:
    def course(text: str) -> Course:
        (tmp_path / "nbgrader_config.py").write_text('c = get_config()\nc.Katze.repository = "someone/their-course"\n')
        (tmp_path / "course.toml").write_text(text)
        return Course.find(tmp_path)

    with pytest.raises(BadInput, match="there is no lesson '13_surprise'"):
        course("[lessons.13_surprise]")
    own = tmp_path / "release" / "13_surprise" / "13_surprise.ipynb"
    own.parent.mkdir(parents=True)
    own.write_text("{}")
    semester = course(f"[lessons.13_surprise]\n{DUE}\n[lessons.02_masking]\nweight = 0").semester
    assert semester.lesson("13_surprise").due == at("2026-11-20T18:00:00+01:00")
    assert semester.lesson("02_masking").weight == 0
    course(f'{SCORES}drop = true\n[exercises."attention.why_scale"]\ndrop = true\n').require_exercises()
    with pytest.raises(BadInput, match=r"course.toml: exercises: .*'attention.score'.*attention.scores"):
        course('[exercises."attention.score"]\ndrop = true').require_exercises()
