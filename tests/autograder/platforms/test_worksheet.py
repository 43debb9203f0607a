"""Tables of platforms filled in: what is asked for, and nothing else, to the byte."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.delivery.history import digest_of_text
from autograder.delivery.worksheet import Cells, Filled, WorksheetRow, fill
from autograder.errors import BadInput
from autograder.platforms.registry import named as platform_named

MOODLE = (
    'Identifier,"Full name","Email address",Status,Grade,"Maximum grade","Last modified (submission)",'
    '"Last modified (grade)","Feedback comments"\r\n'
    'Participant 12,"Lovelace, Ada",ada@example.org,"Submitted for grading",,100.00,"Friday, 20 November 2026",-,\r\n'
    'Participant 13,"=cmd|\' /C calc\'!A0",ben@example.org,"In ""draft""",7.00,100.00,-,"Monday, 1 June 2026",\r\n'
    "Participant 14,Cy 🐈,007,-,,100.00,-,-,by a colleague\r\n"
)
GERMAN = (
    'ID,"Vollständiger Name",E-Mail-Adresse,Status,Bewertung,Bestwertung,"Zuletzt geändert (Bewertung)",'
    '"Feedback als Kommentar"\n'
    'Teilnehmer/in12,"Ada Lovelace",ada@example.org,Entwurf,,"19,00",-,\n'
)
GRADESCOPE = (
    "First Name,Last Name,SID,Email,Sections,Total Score,Max Points,Status,Submission ID\n"
    "Ada,Lovelace,0012,ada@example.org,,,19.0,Ungraded,99\n"
    "Ben,Ng,0013,ben@example.org,,,19.0,Ungraded,99\n"
    "Cy,Cy,0014,cy@example.org,,,,Missing,\n"
)


EARLIER = digest_of_text("by us")


def entry(student: str, number: str = "", email: str = "", points: float = 17.5, comment: str = "") -> WorksheetRow:
    ids = frozenset({student})
    return WorksheetRow(
        student=student, number=number, ids=ids, email=email, points=points, most=19, comment=comment, earlier=EARLIER
    )


def filled(
    tmp_path: Path, text: str, platform: str, *entries: WorksheetRow, scale: bool = False, encoding: str = "utf-8"
) -> tuple[Filled, str]:
    path = tmp_path / "exported.csv"
    path.write_bytes(text.encode(encoding))
    made = fill(path, platform_named(platform), entries, scale)
    return made, made.content.decode(encoding)


def test_only_the_cells_that_are_filled_in_change(tmp_path: Path) -> None:
    worksheet = MOODLE.replace("100.00", "19.00")
    made, text = filled(
        tmp_path,
        worksheet,
        "moodle",
        entry("ada", "12", comment='<p>a.b: "well", said</p>'),
        entry("ben", "13", points=7),
    )
    lines, before = text.split("\r\n"), worksheet.split("\r\n")
    assert lines[1] == before[1].replace('grading",,', 'grading",17.5,') + '"<p>a.b: ""well"", said</p>"'
    assert (lines[0], lines[2:]) == (before[0], before[2:]), "7.00 are 7 points"
    assert (made.points, made.comments, made.remarks) == (("ada", "ben"), ("ada",), ())


def test_who_has_no_row_is_named_and_another_s_comment_stays(tmp_path: Path) -> None:
    worksheet = MOODLE.replace("100.00", "19.00")
    made, text = filled(tmp_path, worksheet, "moodle", entry("cy", "14", comment="<p>x</p>"), entry("di", "99"))
    assert made.remarks == (
        "No row in exported.csv, so no points there: di.",
        "exported.csv has another comment already, which was kept: cy.",
    )
    assert text == worksheet.replace("007,-,,19.00", "007,-,17.5,19.00")
    own = worksheet.replace("by a colleague", "by us")
    assert filled(tmp_path, own, "moodle", entry("cy", "14", comment="<p>x</p>"))[1].endswith("-,-,<p>x</p>\r\n")


def test_another_number_of_points_is_refused_or_scaled(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is 100 points in the worksheet .* and 19 in the lesson: .* --scale"):
        filled(tmp_path, MOODLE, "moodle", entry("ada", "12"))
    _, text = filled(tmp_path, MOODLE, "moodle", entry("ada", "12", points=9.5), scale=True)
    assert text == MOODLE.replace('grading",,', 'grading",50,')


def test_a_worksheet_in_german_is_filled_in_as_it_writes_numbers(tmp_path: Path) -> None:
    _, text = filled(tmp_path, GERMAN, "moodle", entry("ada", "12"), encoding="utf-8-sig")
    assert text == GERMAN.replace("Entwurf,,", 'Entwurf,"17,5",')
    semicolons = GERMAN.replace('"19,00"', "19.00").replace(",", ";").replace("19.00", "19,00")
    _, text = filled(tmp_path, semicolons, "moodle", entry("ada", "12"), encoding="utf-16")
    assert text == semicolons.replace("Entwurf;;", "Entwurf;17,5;")


def test_a_worksheet_that_excel_has_saved_on_windows_keeps_its_first_line_and_encoding(tmp_path: Path) -> None:
    ada = entry("ada", "12", comment="<p>→</p>")
    saved = "sep=;\r\n" + GERMAN.replace(",", ";").replace('"19;00"', '"19,00"').replace("\n", "\r\n")
    _, text = filled(tmp_path, saved, "moodle", ada, encoding="cp1252")
    assert text == saved.replace('Entwurf;;"19,00";-;', 'Entwurf;17,5;"19,00";-;<p>&#8594;</p>')


def test_members_of_a_group_are_told_apart_in_gradescope_s_grades(tmp_path: Path) -> None:
    made, text = filled(
        tmp_path,
        GRADESCOPE,
        "gradescope",
        entry("0012", "99", points=3),
        entry("ben", "99", "BEN@example.org", 4),
        entry("x", "99"),
    )
    assert text == GRADESCOPE.replace(",,,19.0,Ungraded", ",,3,19.0,Ungraded", 1).replace(",,,19.0,U", ",,4,19.0,U", 1)
    assert "no points there: x." in made.remarks[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("a,b\n1,2\n", "has no columns Identifier and Grade .it has a, b."),
        (MOODLE.replace("Maximum grade", "Scale"), "graded on a scale"),
        ('Identifier,Grade\nParticipant 1"x",\n"a"b,\n', "is not a CSV file"),
    ],
)
def test_what_is_no_worksheet_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        filled(tmp_path, text, "moodle", entry("ada", "12"))


cell = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=6)


@given(st.lists(st.lists(cell, min_size=1, max_size=4), min_size=1, max_size=4), st.sampled_from(",;\t"), st.booleans())
def test_any_table_is_read_as_python_reads_it_and_written_as_it_was(
    rows: list[list[str]], delimiter: str, ends: bool
) -> None:
    quoted = [[cell if cell.isalnum() else '"' + cell.replace('"', '""') + '"' for cell in row] for row in rows]
    text = "\r\n".join(map(delimiter.join, quoted)) + ("\r\n" if ends else "")
    cells = Cells(text, delimiter)
    assert (cells.rows(), cells.text()) == (rows, text)
    cells.write(len(rows) - 1, 5, 'a"b')
    again = Cells(cells.text(), delimiter).rows()
    assert (again[-1][5], again[:-1]) == ('a"b', rows[:-1])
