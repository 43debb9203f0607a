"""Rosters: a course's own, and what platforms export."""

from datetime import datetime
from pathlib import Path

import pytest

from autograder.errors import BadInput
from autograder.platforms.roster import Person, Roster, read_roster, written_date


def read(folder: Path, content: str | bytes, encoding: str = "utf-8") -> list[Person]:
    path = folder / "r.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return read_roster(path).people


TABLES = {
    "own": (
        "id,name,email,Canvas,moodle\nada,Ada,a@b.c,12,\nben,Ben,,,77\n",
        [Person("ada", "Ada", "a@b.c", {"canvas": "12"}), Person("ben", "Ben", "", {"moodle": "77"})],
    ),
    "canvas": (
        "Student,ID,SIS Login ID,Section,HW (1)\n,,,,Manual Posting\n    Points Possible,,,,10\n"
        '"Lovelace, Ada",12,ada,A,\n"X, Y",13,,A,\n',
        [Person("ada", "Lovelace, Ada", "", {"canvas": "12"}), Person("13", "X, Y", "", {"canvas": "13"})],
    ),
    "moodle's participants": (
        'First name,Last name,"ID number","Email address"\nAda,Lovelace,0815,a@b.c\nBen,X,,b@b.c\n',
        [Person("0815", "Ada Lovelace", "a@b.c"), Person("b@b.c", "Ben X", "b@b.c")],
    ),
    "gradescope": (
        "First Name,Last Name,SID,Email,Total Score,Submission ID\nAda,L,ada,a@b.c,1,55\n",
        [Person("ada", "Ada L", "a@b.c", {"gradescope": "55"})],
    ),
    "github classroom": (
        '"identifier","github_username","github_id","name"\n"ada","Ada-L","1",""\n"","ben","2",""\n',
        [Person("ada", "", "", {"github": "Ada-L"}), Person("ben", "", "", {"github": "ben"})],
    ),
}


@pytest.mark.parametrize("case", TABLES)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_every_kind_of_table_is_read(case: str, encoding: str, delimiter: str, tmp_path: Path) -> None:
    content, people = TABLES[case]
    if delimiter != ",":
        content = (
            content.replace('"Lovelace, Ada"', "Lovelace\0 Ada").replace('"X, Y"', "X\0 Y").replace(",", delimiter)
        )
        content = content.replace("\0", ",")
    assert read(tmp_path, content, encoding) == people


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"\xff\xff", "none of the columns that it should have"),
        (b"id,name\nada,M\x81ller\n", "not in UTF-8"),
        (b"a,b\n1,2\n", r"none of the columns that it should have \(it has a, b\); its first row should be id,"),
        (b"id,name\nada,b,c\n", "row 2 of the table"),
        (b'id,name\n"ada\n', "not a CSV file"),
        (b"x" * 20_000_001, "more than 20 MB"),
    ],
)
def test_what_is_no_roster_is_told_in_a_line(content: bytes, said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=said) as raised:
        read(tmp_path, content)
    assert "\n" not in str(raised.value)


def test_rows_of_one_student_that_differ_are_left_out_and_told(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("id,name\nada,Ada\nben,Ben\nben,Ben\nada,Eve\n,nobody\n,\n")
    listed = read_roster(path)
    assert [person.id for person in listed.people] == ["ben"]
    assert listed.remarks == [
        f"{path}: ada is in rows that differ, so none of them was used. Fix the rows.",
        f"{path}: 1 row without an id left out.",
    ]


ADA = Person("ada", "Ada Lovelace", "Ada@uni.example", {"canvas": "12"})
TWINS = [Person("t1", "Kim Lee"), Person("t2", "Lee, Kim")]
OTHERS = [Person("m", "Müller-Lüdenscheidt, Jörg"), Person("l", "李雷"), Person("cat", "🐈")]


@pytest.mark.parametrize(
    ("asked", "ids"),
    [
        (Person("", numbers={"canvas": "12"}), ["ada"]),
        (Person("", email="ada@UNI.example"), ["ada"]),
        (Person("", "lovelaceada"), ["ada"]),
        (Person("", "L\u00f3velace, ada"), ["ada"]),
        (Person("t1", "Ada Lovelace"), ["t1"]),
        (Person("", "Kim Lee"), ["t1", "t2"]),
        (Person("", "jorg muller ludenscheidt"), ["m"]),
        (Person("", "李雷"), ["l"]),
        (Person("", "🐈"), []),
        (Person("", "Ada Byron"), []),
        (Person("", "Eve"), []),
        (Person("", numbers={"canvas": "13"}), []),
        (Person("", numbers={"moodle": "12"}), []),
        (Person(""), []),
    ],
)
def test_students_are_found_by_what_a_platform_says(asked: Person, ids: list[str]) -> None:
    assert [one.id for one in Roster([[ADA, *TWINS, *OTHERS]]).find(asked)] == ids


def test_tables_about_the_same_student_are_joined_and_the_first_one_s_id_counts() -> None:
    exported = [
        Person("login1", "A. Lovelace", "ada@uni.example", {"canvas": "99", "moodle": "7"}),
        Person("login2", "Kim Lee", "", {"moodle": "8"}),
        Person("login3", "New", "n@x.y", {"moodle": "9"}),
    ]
    roster = Roster([[ADA, *TWINS], exported])
    assert set(roster.people) == {"ada", "t1", "t2", "login2", "login3"}  # two are called Kim Lee: nobody knows which
    joined = roster.people["ada"]
    assert (joined.name, joined.numbers) == ("Ada Lovelace", {"canvas": "12", "moodle": "7"})
    assert roster.find(Person("", numbers={"moodle": "7"})) == [joined]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("Friday, 20 November 2026, 5:50 PM", datetime(2026, 11, 20, 17, 50)),
        ("Friday, November 20, 2026, 12:05 AM", datetime(2026, 11, 20, 0, 5)),
        ("Dienstag, 2. Dezember 2025, 10:37", datetime(2025, 12, 2, 10, 37)),
        ("Samstag, 1. März 2025, 08:00", datetime(2025, 3, 1, 8, 0)),
        ("-", None),
        ("", None),
        ("Friday, 31 February 2026, 5:50 PM", None),
        ("99 November 2026, 77:99", None),
    ],
)
def test_times_as_moodle_writes_them(text: str, moment: datetime | None) -> None:
    assert written_date(text) == moment
