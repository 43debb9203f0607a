"""Grades as CSV: what the cells say, what a roster keeps, and what is refused."""

import csv
import io
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from autograder.course.semester import LessonTerms, Semester
from autograder.errors import BadInput
from autograder.gradebook.deadlines.lateness import Lateness
from autograder.gradebook.record import HandGrade, Record
from autograder.pages.export import DEADLINE_COLUMNS, export
from autograder.platforms.roster import CsvTable, Person, Roster
from course_lib.judging.observation import Outcome
from tests.autograder.records import exercise_record, record

LESSON, NEXT = "01_attention", "02_masking"

CANVAS = """\
Student,ID,SIS Login ID,Homework 1 (98),Final Score
    Points Possible,,,19,(read only)
"Lovelace, Ada",1,ada,,
"Babbage, Ben",2, ben ,7,80
"Noether, Emmy",3,emmy,,
"""


def result(student: str, points: float | None, lesson: str = LESSON) -> Record:
    outcome = Outcome.UNREADABLE if points is None else Outcome.PASSED
    return record(student, lesson, (exercise_record("attention.scores", points, 19, outcome),))


GRADED = {LESSON: [result("ada", 17.5), result("ben", None), result("zoe", 0.0)]}


def rows(table: CsvTable) -> list[list[str]]:
    """What a program reads that is given the file."""
    text = table.content().decode("utf-8-sig")
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=table.delimiter))


def roster(folder: Path, content: str | bytes = CANVAS) -> Path:
    path = folder / "roster.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_no_score_is_an_empty_cell_and_zero_is_a_zero() -> None:
    made = export(GRADED)
    assert rows(made.table) == [["student", LESSON], ["ada", "17.5"], ["ben", ""], ["zoe", "0"]]
    assert made.remarks == [
        "01_attention: 3 graded, out of 19 points.",
        "01_attention: no score, so nothing is written: ben.",
    ]


def test_each_lesson_has_a_column_and_who_has_not_handed_it_in_an_empty_cell() -> None:
    made = export({**GRADED, NEXT: [result("eve", 3, NEXT)]}, headings={NEXT: "Homework, second"})
    assert rows(made.table)[0] == ["student", LESSON, "Homework, second"]
    assert rows(made.table)[3] == ["eve", "", "3"]


def test_points_by_hand_are_in_it_and_what_waits_is_told() -> None:
    written = HandGrade("attention-why-written", True, None, None, None, 2.0, waits=True)
    read = replace(written, points=1.5, waits=False)
    changed, lost = (
        replace(read, waits=True, is_changed=True),
        exercise_record("attention.scale", None, 2, Outcome.UNGRADED),
    )
    partly = replace(result("dov", 17), exercises=(*result("dov", 17).exercises, replace(lost, note="It uses gensim.")))
    by_hand = {"ada": read, "ben": written, "cem": changed}
    made = export({LESSON: [*(replace(result(name, 17), by_hand=(one,)) for name, one in by_hand.items()), partly]})
    assert rows(made.table)[1:] == [["ada", "18.5"], ["ben", "17"], ["cem", "18.5"], ["dov", "17"]]
    assert made.remarks == [
        "01_attention: 4 graded, out of 21 points.",
        "01_attention: 1 with a written answer that has not been read yet; its points are missing.",
        "01_attention: attention.scale has no score for dov. It uses gensim.",
        "01_attention: changed after a person gave points, which count until the answer is read again: cem.",
    ]


def test_a_roster_comes_back_with_the_points_and_all_else_as_it_was(tmp_path: Path) -> None:
    path = roster(tmp_path, b"\xef\xbb\xbf" + CANVAS.encode())
    made = export(GRADED, path, "SIS Login ID", {LESSON: "Homework 1 (98)"})
    assert made.table.content().startswith(b"\xef\xbb\xbf")
    before = list(csv.reader(io.StringIO(CANVAS)))
    after = rows(made.table)
    assert after[2] == ["Lovelace, Ada", "1", "ada", "17.5", ""]
    assert [row for place, row in enumerate(after) if place != 2] == [row for n, row in enumerate(before) if n != 2]
    assert made.remarks[-2:] == [
        "Not in the roster, and left out: zoe.",
        "In the roster, but nothing handed in: emmy.",
    ]


def test_a_roster_without_the_column_gets_one_more(tmp_path: Path) -> None:
    path = roster(tmp_path, "name;student\nAda;ada\n\nBen;ben\n")
    assert rows(export(GRADED, path, add_columns=True).table) == [
        ["name", "student", LESSON],
        ["Ada", "ada", "17.5"],
        ["Ben", "ben", ""],
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            CANVAS,
            r"has no column 'student' \(did you mean 'Student'\?\); choose one with --student-column: Student, ID",
        ),
        ("", "is empty"),
        ("student,a\nada,1,2\n", "row 2 of .* has 3 cells, but its first row has 2"),
        ("student\nada\nada\n", "has 'ada' in two rows"),
        (b"student\nJ\x81rg\n", "not in UTF-8"),
        (
            "student,01_atention\nada,\n",
            r"no column '01_attention' \(did you mean '01_atention'\?\); name one with --les",
        ),
        (
            "student,HW 01_Attention (9)\nada,\n",
            r"\(did you mean 'HW 01_Attention \(9\)'\?\).* or add it with --add-col",
        ),
        ("student,quiz\nada,\n", "no column '01_attention'; name one with --lesson-column '01_attention'=NAME"),
        (
            "student,01_attention\n,17\nada,\n",
            "the maximum for '01_attention' is 17 points in the roster .* and 19 in the lesson: set it to 19",
        ),
        (
            "student,01_attention,01_attention - Max Points\nada,,20\n",
            "is 20 points in the roster .* and 19 in the lesson",
        ),
        ('student\n"ada\n', "is not a CSV file"),
    ],
)
def test_a_roster_that_cannot_be_used_is_refused(tmp_path: Path, content: str | bytes, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        export(GRADED, roster(tmp_path, content))


@pytest.mark.parametrize(
    ("content", "heading", "lines"),
    [
        ("student,01_attention\n,\n,9.5\nada,\nzoe,\n", LESSON, ["8.75", "0"]),
        ("student;Total Score;Max Points\nada;;38\nzoe;1;\n", "Total Score", ["35", "0"]),
        ('student,Grade,Maximum grade\nada,-,10.00\nzoe,-,"19,00"\n', "Grade", ["9.21053", "0"]),
        ("student,01_attention\nada,4\n,17\nzoe,\n", LESSON, ["17.5", "0"]),  # a row of nobody's below says nothing
    ],
)
def test_the_same_share_is_written_where_a_platform_gives_other_points(
    tmp_path: Path, content: str, heading: str, lines: list[str]
) -> None:
    made = export(GRADED, roster(tmp_path, content), headings={LESSON: heading}, scale=True).table
    place = made.headings.index(heading)
    assert [row[place] for row in made.rows if row[0]] == lines


CP1252 = "student,name,01_attention\nada,Zoë Müller – “Z”,\n".encode("cp1252")
WITH_SEP = b"\xef\xbb\xbfsep=;\r\nstudent;name;01_attention\r\nada;Lovelace, Ada, again;\r\n"


@pytest.mark.parametrize(
    "content",
    [
        CP1252,
        WITH_SEP,
        b"SEP=,\nstudent,01_attention\nada,\n",
        b'"sep=|"\nstudent|name|01_attention\nada|a,b;c|\n',
        b"sep=\t\r\nstudent\t01_attention\r\nada\t\r\n",
        "sep=;\nstudent;01_attention\nada;\n".encode("utf-16"),
    ],
)
def test_excel_s_tables_come_back_as_they_were(tmp_path: Path, content: bytes) -> None:
    filled = export(GRADED, roster(tmp_path, content)).table.content()
    encoding = "utf-16" if content[:2] == b"\xff\xfe" else "cp1252" if content is CP1252 else "utf-8-sig"
    before, after = (text.decode(encoding).splitlines() for text in (content, filled))
    assert after == [*before[:-1], f"{before[-1]}17.5"]
    assert filled.startswith(content[:4])


def test_a_column_whose_characters_an_encoding_lacks_is_written_in_utf_8(tmp_path: Path) -> None:
    headings = {LESSON: "Übung 1 → 2"}
    table = export(GRADED, roster(tmp_path, CP1252), headings=headings, add_columns=True).table
    assert "Zoë Müller – “Z”,,17.5" in table.content().decode("utf-8-sig")


WHO = [Person("ada", "Ada Lovelace", "ada@uni.example", {"canvas": "1"}), Person("zoe", "Zoë Noether", "z@uni.example")]


@pytest.mark.parametrize(
    ("column", "cell"),
    [("ID", "1"), ("SIS Login ID", "ADA@uni.example"), ("Student", "Lovelace, Ada"), ("Student", "Ada Lovelace")],
)
def test_the_course_s_roster_says_who_a_row_is(tmp_path: Path, column: str, cell: str) -> None:
    cells = {"Student": "", "ID": "9", "Section": "", "SIS Login ID": "", LESSON: "", column: cell}
    table = CsvTable([*cells], [[*cells.values()]])
    path = roster(tmp_path, table.content())
    assert not export(GRADED, path, column).matches
    made = export(GRADED, path, column, people=Roster([WHO]))
    assert made.matches
    assert rows(made.table)[1][4] == "17.5"


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot read the table"):
        export(GRADED, tmp_path / "none.csv")
    with pytest.raises(BadInput, match="a heading is given for 02_masking, which is not exported; there are: 01_att"):
        export(GRADED, headings={NEXT: "Homework 2"})


@pytest.mark.parametrize("student", ["=HYPERLINK(0)", "@SUM(1)", "+1", "-1"])
def test_no_id_becomes_a_formula(student: str) -> None:
    assert rows(export({LESSON: [result(student, 1)]}).table)[1] == [f"'{student}", "1"]


DUE = datetime.fromisoformat("2026-11-20T18:00:00+01:00")


def late(student: str, points: float | None, penalty: float) -> Record:
    hours = timedelta(hours=25)
    lateness = Lateness(DUE, DUE + hours, seconds=hours.total_seconds(), penalty=penalty)
    return replace(result(student, points), lateness=lateness)


def test_late_points_are_exported_as_they_are_left_and_told() -> None:
    made = export({LESSON: [late("ada", 17.5, 4), late("ben", 3, 3), late("zoe", None, 0)]})
    assert rows(made.table)[1:] == [["ada", "13.5"], ["ben", "0"], ["zoe", ""]]
    assert "01_attention: 7 points taken off for being late: ada, ben." in made.remarks


def test_deadlines_have_columns_of_their_own() -> None:
    unknown = replace(result("cem", 17), lateness=Lateness(DUE))
    made = export({LESSON: [late("ada", 17.5, 4), unknown, result("zoe", None)]}, deadlines=True)
    assert rows(made.table) == [
        ["student", LESSON, *(f"{LESSON} {name}" for name in DEADLINE_COLUMNS)],
        ["ada", "13.5", "2026-11-20T18:00:00+01:00", "2026-11-21T19:00:00+01:00", "90000", "17.5", "4"],
        ["cem", "17", "2026-11-20T18:00:00+01:00", "", "", "17", "0"],
        ["zoe", "", "", "", "", "", ""],
    ]


def test_totals_have_a_column_and_another_that_says_how_they_came_about(tmp_path: Path) -> None:
    graded = {
        LESSON: [result("ada", 19), result("ben", None)],
        NEXT: [result("ada", 9.5, NEXT), result("ben", 19, NEXT)],
    }
    made = export(graded, semester=Semester(lessons={LESSON: LessonTerms(weight=2)}), total_heading="total")
    assert rows(made.table) == [
        ["student", LESSON, NEXT, "total", "total remarks"],
        ["ada", "19", "9.5", "83.33", ""],
        ["ben", "", "19", "100.00", "01_attention: no score, left out"],
    ]
    assert made.remarks[-1] == "total: for 1 student a lesson is left out or a zero; the next column says which."


def test_a_row_of_a_roster_that_is_nobody_s_has_no_total(tmp_path: Path) -> None:
    path = roster(tmp_path)
    semester = Semester(lessons={LESSON: LessonTerms(DUE)})
    made = export(
        GRADED,
        path,
        "SIS Login ID",
        add_columns=True,
        semester=semester,
        total_heading="Sum",
        now=DUE + timedelta(days=1),
    )
    assert [row[-2:] for row in rows(made.table)[1:]] == [
        ["", ""],
        ["92.11", ""],
        ["", "01_attention: no score, left out"],
        ["0.00", "01_attention: not handed in, 0"],
    ]


def test_who_has_withdrawn_is_named_and_not_exported_unless_asked() -> None:
    gone = {LESSON: [result("ada", 17), replace(result("zoe", 5), is_withdrawn=True)]}
    made = export(gone)
    assert rows(made.table) == [["student", LESSON], ["ada", "17"]]
    assert made.remarks == [
        "01_attention: 1 graded, out of 19 points.",
        "01_attention: withdrawn (the submission is no longer there), so nothing is written (--withdrawn exports it "
        "anyway): zoe.",
    ]
    made = export(gone, withdrawn=True)
    assert rows(made.table)[2] == ["zoe", "5"]
    assert made.remarks[-1].endswith("no longer there), but exported anyway: zoe.")
