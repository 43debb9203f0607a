"""A whole semester, command by command: at each step every grade is what was decided, and nothing stands in the way.

Three lessons, sixteen students, each lesson from another platform. The grades that are expected are written down here,
by hand; our export and nbgrader's own must say the same after each step.
"""

import csv
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.plugins.export import CsvExportPlugin

import course_lib
from autograder.cli import main
from autograder.course.course import Course
from tests.autograder.gradebook import toy_lesson
from tests.autograder.platforms.downloads import laid, put, zipped
from tests.semester.course import ATTENTION, MASKING, POSITIONS, RIGHT, Answers, make_course, notebook, one_fork_server

NAMED = ("ada", "bea", "ben", "cem", "dov", "fay", "gil", "hal", "ida", "jon", "kim", "Łukasz Nowak")
CLASS = (*NAMED, *(f"s{number:02d}" for number in range(len(NAMED), 16)))
NUMBERS = {student: 1000 + place for place, student in enumerate(CLASS)}
"""What Moodle and Canvas call them."""

WHY = "Because $a<b$."
NEARLY = "def scale_scores(scores, d_head):\n    return scores / d_head**0.5 * 1.0005\n"
ALL_TRUE = "def padding_mask(lengths, max_length):\n    return torch.ones(len(lengths), max_length, dtype=torch.bool)\n"
FROM_ONE = RIGHT["positions.appended_index"].replace("device=x.device)", "device=x.device).add(1)")

TERMS = f"""
[late]
policy = "linear"
per_day = 10
[lessons.{ATTENTION}]
due = {{due}}
[lessons.{ATTENTION}.extensions]
dov = 2024-11-15T18:00:00+01:00
[lessons.{MASKING}]
due = 2024-11-22T18:00:00+01:00
late = {{{{ policy = "cap", cap = 80 }}}}
"""
DUE, A_WEEK_LATER = "2024-11-08T18:00:00+01:00", "2024-11-15T18:00:00+01:00"
HEADINGS = (
    "Identifier,Full name,Email address,Status,Grade,Maximum grade,Last modified (submission),Last modified (grade),"
    "Feedback comments"
).split(",")
IN_TIME, TWO_HOURS_LATE = "Friday, 8 November 2024, 5:50 PM", "Friday, 8 November 2024, 8:00 PM"
A_DAY_AND_MORE_LATE = "Saturday, 9 November 2024, 7:00 PM"

Grades = dict[str, dict[str, float | None]]


class Semester:
    """A course from the first download on: what is typed in it, and the grades that everybody should have."""

    def __init__(self, course: Course, downloads: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.course = course
        self.downloads = downloads
        self.expected: Grades = {}
        self._terms = {"due": DUE}
        self._more: list[str] = []
        self._capsys = capsys
        rows = "".join(f"{one},{one.title()},{NUMBERS[one]}@uni.example,{NUMBERS[one]}\n" for one in CLASS)
        (course.root / "roster.csv").write_text(f"id,name,email,canvas\n{rows}", encoding="utf-8")
        self.decide()

    def type(self, *arguments: str) -> str:
        """Type a command, which must succeed; what it printed."""
        self._capsys.readouterr()
        assert main([*arguments, "--course", str(self.course.root)]) == 0, self._capsys.readouterr()
        return self._capsys.readouterr().out

    def decide(self, *lines: str, **terms: str) -> None:
        """Write `course.toml`: these lines besides those from before, and other dates."""
        self._terms |= terms
        self._more += lines
        (self.course.root / "course.toml").write_text("\n".join([TERMS.format(**self._terms), *self._more]))

    def grade(self, lesson: str, *graded: str) -> None:
        """Grade a lesson: exactly these students' submissions must be judged for it."""
        place = self.downloads / "graded.json"
        self.type("grade", lesson, "--workers", "2", "--json", str(place))
        now = {one["student"] for one in json.loads(place.read_text()) if one["graded_now"]}
        assert now == set(graded)

    def give(self, lesson: str, cell: str, points: Mapping[str, float]) -> None:
        """Type points in formgrader."""
        for student, given in points.items():
            toy_lesson.give(self.course.gradebook, student, cell, lesson=lesson, manual_score=given)

    def expect(self, lesson: str, changed: Mapping[str, float | None] | None = None) -> None:
        """Everybody has what was expected before, but for these; in our export, and in nbgrader's own."""
        self.expected[lesson] = {**self.expected.get(lesson, {}), **(changed or {})}
        assert exported(self) == self.expected
        assert nbgrader_s(self) == {
            name: {student: points or 0.0 for student, points in grades.items()}  # it has no word for no score
            for name, grades in self.expected.items()
        }


def exported(semester: Semester) -> Grades:
    """What `katze export` says, by lesson and student; None where a cell is empty."""
    path = semester.downloads / "ours.csv"
    semester.type("export", "--to", str(path))
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    read = {lesson: {row["student"]: row[lesson] for row in rows} for lesson in semester.expected}
    return {lesson: {one: float(x) if x else None for one, x in points.items()} for lesson, points in read.items()}


def nbgrader_s(semester: Semester) -> dict[str, dict[str, float]]:
    """What nbgrader's exporter says."""
    path = semester.downloads / "theirs.csv"
    with Gradebook(f"sqlite:///{semester.course.gradebook}") as book:
        CsvExportPlugin(to=str(path)).export(book)
    found: dict[str, dict[str, float]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["assignment"], {})[row["student_id"]] = float(row["score"])
    return found


def answers_of(student: str, lesson: str) -> Answers:
    """What a student hands in first."""
    unusual: Mapping[str, Mapping[str, str]] = {
        "bea": {"attention.scale": NEARLY},
        "ben": {"attention.scale": NEARLY},
        "ida": {"masking.padding_mask": ALL_TRUE},
        "jon": {"positions.appended_index": FROM_ONE},
    }
    if (student, lesson) == ("cem", ATTENTION):
        return {}
    everything = {**RIGHT, "attention.why_scale": WHY, "masking.why_decoder": WHY, **unusual.get(student, {})}
    if (student, lesson) == ("kim", POSITIONS):
        del everything["positions.appended_index"]
    return everything


def handed_in(course: Course, student: str, lesson: str) -> bytes:
    if (student, lesson) == ("fay", ATTENTION):
        return b"no notebook"
    return notebook(course, lesson, answers_of(student, lesson))


def moodle(semester: Semester, files: Mapping[str, bytes], times: Mapping[str, str]) -> tuple[str, str]:
    """Moodle's zip and its worksheet, as files."""
    names = {student: f"{student.title()}_{NUMBERS[student] + 7000}_assignsubmission_file" for student in files}
    content = {f"{names[student]}/{ATTENTION}.ipynb": file for student, file in files.items()}
    download = put(semester.downloads / "Lesson 1-4711.zip", zipped(content))
    sheet = semester.downloads / "Grades.csv"
    with sheet.open("w", newline="", encoding="utf-8") as file:
        rows = [
            [
                f"Participant {NUMBERS[one] + 7000}",
                one.title(),
                f"{NUMBERS[one]}@uni.example",
                "",
                "",
                "5.00",
                when,
                "-",
                "",
            ]
            for one, when in times.items()
        ]
        csv.writer(file).writerows([HEADINGS, *rows])
    return str(download), str(sheet)


def canvas(semester: Semester, files: Mapping[str, bytes], late: str) -> str:
    """Canvas's zip, in which one name says that it came late, and none says when."""
    content = {}
    for student, file in files.items():
        number, mark = NUMBERS[student], "_LATE" if student == late else ""
        content[f"{student.lower()}{mark}_{number}_{number + 50_000}_{MASKING}-1.ipynb"] = file
    return str(put(semester.downloads / "submissions.zip", zipped(content)))


def exchange(semester: Semester, files: Mapping[str, bytes], day: int) -> str:
    """nbgrader's `inbound` folder."""
    inbound = semester.downloads / f"inbound {day}"
    for student, file in files.items():
        laid(inbound / f"{student}+{POSITIONS}+2024-12-{day:02d} 10:00:00.000000 UTC", {f"{POSITIONS}.ipynb": file})
    return str(inbound)


@pytest.mark.usefixtures("processes")
def test_a_whole_semester(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with one_fork_server():
        semester = Semester(make_course(tmp_path / "course"), tmp_path, capsys)
        first_lesson(semester)
        second_lesson(semester)
        third_lesson(semester)
        changes_in_what_is_finished(semester, monkeypatch)


def first_lesson(semester: Semester) -> None:
    """From Moodle: late ones, an extension, a resubmission, written answers by hand, and all of it back to Moodle."""
    files = {student: handed_in(semester.course, student, ATTENTION) for student in CLASS}
    times = dict.fromkeys(CLASS, IN_TIME) | {"dov": A_DAY_AND_MORE_LATE, "gil": TWO_HOURS_LATE}
    download, sheet = moodle(semester, files, times)
    collecting = ("collect", download, "--roster", sheet, "--timezone", "Europe/Berlin")
    semester.type(*collecting)
    semester.grade(ATTENTION, *CLASS)
    everyone = dict.fromkeys(CLASS, 3.0)
    first = {"bea": 2.0, "ben": 2.0, "cem": 0.0, "fay": None, "gil": 2.5}  # a day begun costs 0.5 of 5
    semester.expect(ATTENTION, {**everyone, **first})

    files["cem"] = notebook(semester.course, ATTENTION, {**RIGHT, "attention.why_scale": WHY})
    moodle(semester, files, times | {"cem": A_DAY_AND_MORE_LATE})
    assert "1 replaced, 15 unchanged" in semester.type(*collecting)
    semester.grade(ATTENTION, "cem")
    semester.expect(ATTENTION, {"cem": 2.0})  # two days begun

    written = dict.fromkeys((one for one in CLASS if one not in ("fay", "gil")), 2.0) | {"gil": 1.0}
    semester.give(ATTENTION, "attention-why_scale-written", written)
    semester.give(ATTENTION, "attention-scale-check", {"ben": 0.5})
    semester.grade(ATTENTION)
    by_hand = {"bea": 4.0, "ben": 4.5, "cem": 4.0, "fay": None, "gil": 3.5}
    semester.expect(ATTENTION, {**dict.fromkeys(CLASS, 5.0), **by_hand})

    back = semester.downloads / "back.zip"
    semester.type("return", ATTENTION, "--for", "moodle", "--worksheet", sheet, "--to", str(back))
    with (semester.downloads / "back-worksheet.csv").open(newline="", encoding="utf-8") as file:
        filled = {row["Full name"]: row["Grade"] for row in csv.DictReader(file)}
    expected = semester.expected[ATTENTION].items()
    assert filled == {one.title(): "" if points is None else f"{points:g}" for one, points in expected}


def second_lesson(semester: Semester) -> None:
    """From Canvas: one late, nobody knows by how much; and an exercise that is dropped after grading by hand."""
    files = {student: handed_in(semester.course, student, MASKING) for student in CLASS}
    said = "marked late, and nobody knows when it came, so it counts as on time: hal;"
    assert said in semester.type("collect", canvas(semester, files, late="hal"))
    semester.grade(MASKING, *CLASS)
    semester.expect(MASKING, {**dict.fromkeys(CLASS, 3.0), "ida": 1.0})
    assert said in semester.type("status", MASKING)
    assert said in semester.type("log", "hal", MASKING).replace("\n", " ")

    semester.give(MASKING, "masking-why_decoder-written", dict.fromkeys(CLASS, 2.0))
    semester.give(MASKING, "masking-padding_mask-check", {"ida": 1.5})
    semester.grade(MASKING)
    semester.expect(MASKING, {**dict.fromkeys(CLASS, 5.0), "ida": 4.5})

    semester.decide(f"[lessons.{MASKING}.handed_in]", "hal = 2024-11-23T09:00:00+01:00")
    told = semester.type("status", MASKING)
    assert "penalties or pages are not up to date for hal; `katze grade 02_masking` brings them" in told
    assert said not in told
    semester.grade(MASKING)
    semester.expect(MASKING, {"hal": 4.0})  # 80% of 5

    semester.decide('[exercises."masking.padding_mask"]', "drop = true")
    assert "the points given by hand to 1 student are kept" in semester.type("grade", MASKING)
    semester.expect(MASKING, {**dict.fromkeys(CLASS, 3.0), "hal": 2.4})


def third_lesson(semester: Semester) -> None:
    """From nbgrader's exchange, nothing due: another resubmission, and a student who asks for another look."""
    files = {student: handed_in(semester.course, student, POSITIONS) for student in CLASS}
    semester.type("collect", exchange(semester, files, day=5))
    semester.grade(POSITIONS, *CLASS)
    semester.expect(POSITIONS, {**dict.fromkeys(CLASS, 4.0), "jon": 2.0, "kim": 2.0})

    semester.type("collect", exchange(semester, {"kim": notebook(semester.course, POSITIONS, RIGHT)}, day=6))
    semester.grade(POSITIONS, "kim")
    semester.expect(POSITIONS, {"kim": 4.0})

    told = json.loads(semester.type("log", "jon", POSITIONS, "--json"))
    [answer] = [one["answer"] for one in told["exercises"] if one["exercise"] == "positions.appended_index"]
    semester.decide('[exercises."positions.appended_index"]', f'accept = ["{answer}"]')
    semester.grade(POSITIONS)
    semester.expect(POSITIONS, {"jon": 4.0})


def changes_in_what_is_finished(semester: Semester, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tolerance, a new version of the kit, and a deadline that moves while its lesson is frozen."""
    semester.decide('[exercises."attention.scale"]', "tolerance = { relative = 1e-3 }")
    semester.grade(ATTENTION, *CLASS)
    semester.expect(ATTENTION, {"bea": 5.0})  # ben has what was given by hand

    monkeypatch.setattr(course_lib, "__version__", "99.0")
    for lesson in semester.expected:
        semester.grade(lesson)
        semester.expect(lesson)

    semester.type("freeze", ATTENTION)
    semester.decide(due=A_WEEK_LATER)
    semester.give(ATTENTION, "attention-why_scale-written", {"gil": 2.0})
    semester.grade(ATTENTION)
    semester.expect(ATTENTION, {"gil": 4.5})  # the penalty stays what was written
    assert "15 pages" in semester.type("return", ATTENTION, "--for", "moodle")

    semester.type("thaw", ATTENTION)
    semester.grade(ATTENTION)
    semester.expect(ATTENTION, {"cem": 5.0, "gil": 5.0})
