"""Collecting a class, from each platform.

Tests the files in `known/` and `deliver.py` as well.
"""

import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from autograder.cli import main
from autograder.course.course import Course
from autograder.course.store.collected import read_collected
from autograder.delivery.collect import Collection, collect
from autograder.delivery.deliver import deliverer, folder_name
from autograder.errors import BadInput
from autograder.platforms.registry import PLATFORMS
from tests.autograder.platforms.downloads import (
    LESSON,
    OTHER_LESSON,
    everything,
    handed_in,
    laid,
    mailbox_of,
    message,
    notebook,
    put,
    tarred,
    zipped,
)

NAME, TIME = f"{LESSON}.ipynb", "timestamp.txt"
A, B, C = notebook("a"), notebook("b"), notebook("c")
PACKED = zipped({f"main/{NAME}": A})
WORKSHEET = b"Identifier,Full name,Email address,Last modified (submission)\n"
CANVAS_ROSTER = b'Student,ID,SIS User ID,SIS Login ID,Section,Final\n"    Points Possible",,,,,10\n\
"Lovelace, Ada",123,u1,ada,All,\n"M\xc3\xbcller, Ben",124,u2,ben,All,\n'


Take = Callable[..., Collection]


def results(collection: Collection) -> dict[str, str]:
    return {row.student or row.title: row.result for row in collection.rows}


def placed(submitted: Mapping[str, Mapping[str, bytes]]) -> dict[str, bytes]:
    """The files of each student by their paths in `submitted/`."""
    return {f"{who}/{LESSON}/{name}": content for who, files in submitted.items() for name, content in files.items()}


# Each platform's shape ---------------------------------------------------------------------------------------


@dataclass
class Case:
    """A download, tables that were named, and what becomes of both, by student, in `submitted/` and in the record."""

    platform: str
    files: Mapping[str, bytes]
    submitted: Mapping[str, Mapping[str, bytes]]
    tables: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    kept: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    refused: tuple[str, ...] = ()


CANVAS = {"lovelaceada_LATE_123_9001_01_attention-1.ipynb": A, "m\u00fcllerben_124_9000_01_attention.ipynb": B}
GRADESCOPE_LIST = b"""---
submission_55:
  :submitters:
  - :name: Ada Lovelace
    :sid: ada
    :email: ada@uni.example
  - :name: Ben
    :sid: '0815'
    :email: ben@uni.example
  :created_at: 2020-11-20 16:50:00.938335000 Z
  :score: 0.0
  :results: {}
  :history:
  - :submitters: []
    :created_at: 2020-11-19 10:00:00.000000000 Z
    :id: 54
submission_56:
  :submitters:
  - :name: Cy
    :email: cy@uni.example
  :created_at: 2020-11-20 17:00:00.000000000 Z
"""
GRADESCOPE = {
    "assignment_9_export/submission_metadata.yml": GRADESCOPE_LIST,
    f"assignment_9_export/submission_55/{NAME}": A,
    f"assignment_9_export/submission_56/src/{NAME}": C,
}
PLUS = folder_name("a+da")
TIMES = ["2020-11-20 16:00:00.000001 UTC", "2020-11-20 17:00:00.000001 UTC"]
MAILS = [
    message("Ada <Ada@uni.example>", {NAME: A}, received="Fri, 20 Nov 2020 18:50:00 +0100", date="1 Jan 2030 00:00"),
    message("Ada <ada@uni.example>", {"answers.zip": b"B"}, received="Fri, 20 Nov 2020 18:00:00 +0000"),
    message("ben@uni.example", {NAME: C}, date="Fri, 20 Nov 2020 12:00:00 -0000"),
    message("cy@uni.example", {}),
    message("eve@uni.example", {NAME: A}, date="no date"),
]
MAILED = {
    "ada@uni.example": {"answers.zip": b"B", TIME: b"2020-11-20 18:00:00.000000 UTC"},
    "ben@uni.example": {NAME: C, TIME: b"2020-11-20 12:00:00.000000 UTC"},
    "eve@uni.example": {NAME: A},
}

CASES = {
    "moodle": Case(
        "moodle",
        {
            f"Ada Lovelace_4567_assignsubmission_file/{NAME}": A,
            "Ada Lovelace_4567_assignsubmission_file/data/x.csv": b"1",
            "Ada Lovelace_4567_assignsubmission_onlinetext/onlinetext.html": b"<p>hello",
            f"Ben M\u00fcller_4568_assignsubmission_file_/{NAME}": B,
        },
        {
            "Ada Lovelace": {NAME: A, "data/x.csv": b"1", "onlinetext.html": b"<p>hello"},
            "Ben M\u00fcller": {NAME: B},
        },
        kept={"Ada Lovelace": {"number": "4567", "name": "Ada Lovelace", "platform": "moodle", "source": "d"}},
    ),
    "moodle, without folders and with its worksheet": Case(
        "moodle",
        {
            f"Ada Lovelace_4567_assignsubmission_file_{NAME}": A,
            f"Ben_4568_assignsubmission_file_{NAME}": B,
            "Grades-course.csv": b"Identifier,Full name,Email address,Status,Grade,Last modified (submission)\n"
            b'Participant 4567,Ada Lovelace,ada@uni.example,"Submitted for grading, 2 hours late",,'
            b'"Friday, 20 November 2020, 5:50 PM"\n'
            b'Participant 4568,Ben,ben@uni.example,Submitted for grading,,"Friday, 20 November 2020, 9:05 AM"\n',
        },
        {
            "ada@uni.example": {NAME: A, TIME: b"2020-11-20 16:50:00.000000 UTC"},
            "ben@uni.example": {NAME: B, TIME: b"2020-11-20 08:05:00.000000 UTC"},
        },
        kept={"ada@uni.example": {"late": True}, "ben@uni.example": {"handed_in": "2020-11-20T08:05:00+00:00"}},
    ),
    "moodle, in German": Case(
        "moodle",
        {f"Ada Lovelace_4567_assignsubmission_file/{NAME}": A},
        {"ada@uni.example": {NAME: A, TIME: b"2020-12-04 16:50:00.000000 UTC"}},
        {
            "Bewertungen.csv": '\ufeffID,"Vollst\u00e4ndiger Name",E-Mail-Adresse,Status,"Zuletzt ge\u00e4ndert '
            '(Abgabe)"\nTeilnehmer/in4567,"Ada Lovelace",ada@uni.example,"2 Tage zu sp\u00e4t",'
            '"Freitag, 4. Dezember 2020, 17:50"\n'
        },
        kept={"ada@uni.example": {"late": True}},
    ),
    "moodle, marked blindly": Case(
        "moodle",
        {f"Participant_{number}_assignsubmission_file/{NAME}": A for number in (7, 8)},
        {"7": {NAME: A}, "8": {NAME: A}},
    ),
    "canvas, with texts, links and anonymous students": Case(
        "canvas",
        {
            "lovelaceada_123_text.html": b"<p>",
            "ben_124_link.html": b"<p>",
            "eve_125_text.html": b"<p>",
            f"LATE_anon_Ab1_77_{NAME}": C,
            **CANVAS,
        },
        {
            "123": {"01_attention-1.ipynb": A, "text.html": b"<p>"},
            "124": {NAME: B, "link.html": b"<p>"},
            "125": {"text.html": b"<p>"},
            "Ab1": {NAME: C},
        },
        kept={"123": {"number": "123", "late": True, "rank": 9001}, "124": {"late": False}, "125": {"rank": 0}},
    ),
    "canvas, with its gradebook": Case(
        "canvas",
        CANVAS,
        {"ada": {"01_attention-1.ipynb": A}, "ben": {NAME: B}},
        {"canvas.csv": CANVAS_ROSTER.decode()},
        kept={"ada": {"name": "Lovelace, Ada", "names": ("lovelaceada_LATE_123_9001_01_attention-1.ipynb",)}},
    ),
    "gradescope": Case(
        "gradescope",
        GRADESCOPE,
        {
            "0815": {NAME: A, TIME: b"2020-11-20 16:50:00.938335 UTC"},  # a group: each has it
            "ada": {NAME: A, TIME: b"2020-11-20 16:50:00.938335 UTC"},
            "cy@uni.example": {f"src/{NAME}": C, TIME: b"2020-11-20 17:00:00.000000 UTC"},
        },
        kept={"ada": {"attempt": 2, "extra": {"submission": "55"}, "email": "ada@uni.example"}},
    ),
    "gradescope, without its list and with its grades": Case(
        "gradescope",
        {name: content for name, content in GRADESCOPE.items() if not name.endswith(".yml")},
        {"ada": {NAME: A}, "cy": {f"src/{NAME}": C}},
        {"g.csv": "First Name,Last Name,SID,Email,Total Score,Submission ID\nAda,L,ada,a@b.c,,55\nCy,X,cy,c@d.e,,56\n"},
    ),
    "exchange": Case(
        "exchange",
        {
            f"inbound/ada+{LESSON}+{TIMES[0]}+x1/{NAME}": A,
            f"inbound/ada+{LESSON}+{TIMES[1]}+a9/{NAME}": B,
            f"inbound/ada+{LESSON}+{TIMES[1]}+a9/timestamp.txt": b"1999",
            f"inbound/ada+{LESSON}+{TIMES[1]}+a9/submission_secret.txt": b"s",
            f"inbound/a+da+{LESSON}+{TIMES[0]}/{NAME}": C,
            f"inbound/ben+ps1+{TIMES[0]}+q/ps1.ipynb": C,
            "inbound/README": b"x",
        },
        {
            "ada": {NAME: B, "submission_secret.txt": b"s", TIME: TIMES[1].encode()},
            PLUS: {NAME: C, TIME: TIMES[0].encode()},
        },
        kept={PLUS: {"id": "a+da"}},
        refused=("inbound/README",),
    ),
    "github, with its roster": Case(
        "github",
        {
            f"01-attention-submissions/01-attention-ada-l/{NAME}": A,
            "01-attention-submissions/01-attention-ada-l/.git/config": b"x",
            f"01-attention-submissions/01-attention-ben/work/{NAME}": B,
        },
        {"ada": {NAME: A}, "ben": {f"work/{NAME}": B}},
        {"roster.csv": "identifier,github_username,github_id,name\nada,ada-l,1,A\nben,Ben,2,B\n"},
    ),
    "github, by another name": Case(
        "github",
        {f"week-1-{who}-main.zip": PACKED for who in ("ada", "ben")},
        {who: {f"week-1-{who}-main.zip": PACKED} for who in ("ada", "ben")},
        options={"platform": "github", "lesson": LESSON},
    ),
    "messages": Case(
        "mbox",
        {f"{n}.eml": bytes(mail) for n, mail in enumerate(MAILS)} | {"b.eml": b"\xff\x00", "c.pdf": b"x"},
        MAILED,
        options={"lesson": LESSON},
        refused=("3.eml, cy@uni.example", "b.eml", "c.pdf"),
    ),
    "archives in an archive": Case(
        "canvas",
        {
            "section 1.zip": zipped(dict([*CANVAS.items()][:1])),
            "section 2.tar.gz": tarred(dict([*CANVAS.items()][1:])),
            "damaged.zip": b"PK\x03\x04",
        },
        {"123": {"01_attention-1.ipynb": A}, "124": {NAME: B}},
        kept={"123": {"names": ("section 1.zip/lovelaceada_LATE_123_9001_01_attention-1.ipynb",)}},
        refused=("damaged.zip",),
    ),
    "a folder for each": Case(
        "folder",
        {f"ada/{NAME}": A, f"ada/{LESSON}-1.ipynb": B, "ben/x.ipynb": B, "index.html": b"x", "grades.csv": b"x"},
        {"ada": {NAME: A, f"{LESSON}-1.ipynb": B}, "ben": {"x.ipynb": B}},
        options={"lesson": LESSON},
        refused=("grades.csv", "index.html"),
    ),
    "a folder with the lesson's": Case("folder", {f"ada/01-Attention/{NAME}": A}, {"ada": {NAME: A}}),
    "a file for each": Case(
        "folder",
        {f"ada_{NAME}": A, "01_attention-ben (1).ipynb": B, "cy d.ipynb": C},
        {"ada": {f"ada_{NAME}": A}, "ben": {"01_attention-ben (1).ipynb": B}, "cy d": {"cy d.ipynb": C}},
        options={"lesson": LESSON},
    ),
    "an archive for each": Case(
        "folder",
        {"ada.zip": PACKED},
        {"ada": {"ada.zip": PACKED}},
        options={"lesson": LESSON},
    ),
    "attempts by the time in their names": Case(
        "folder",
        {f"ada/2020-11-20 17.50/{NAME}": A, f"ada/2020-11-20 18.10/{NAME}": B, f"ada/2020-11-09T23-59-59Z/{NAME}": C},
        {"ada": {NAME: B, TIME: b"2020-11-20 17:10:00.000000 UTC"}},
    ),
    "files by the time in their names": Case(
        "folder",
        {"ada_2020-11-20T17-50-00.ipynb": A, "ada_2020-11-19T17-50-00.ipynb": B},
        {"ada": {"ada_2020-11-20T17-50-00.ipynb": A, TIME: b"2020-11-20 16:50:00.000000 UTC"}},
        options={"lesson": LESSON},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_download_is_taken_in(case: str, course: Course, tmp_path: Path) -> None:
    one = CASES[case]
    rosters = [put(tmp_path / name, table.encode()) for name, table in one.tables.items()]
    folder = laid(tmp_path / "d", one.files)
    collection = collect(course, folder, rosters=rosters, zone=ZoneInfo("Europe/Berlin"), **one.options)
    assert collection.platform == one.platform
    assert handed_in(course) == placed(one.submitted)
    assert set(collection.refused) == set(one.refused)
    record = read_collected(course, LESSON)
    for student, facts in one.kept.items():
        assert asdict(record[student]).items() >= facts.items()


def test_a_mailbox_and_archives_of_folders_are_taken_in(course: Course, tmp_path: Path) -> None:
    box = collect(course, mailbox_of(tmp_path / "inbox.mbox", *MAILS), lesson=LESSON)
    assert (box.platform, handed_in(course)) == ("mbox", placed(MAILED))
    assert box.refused == {"message 4, cy@uni.example": "it has no attachment"}
    for name, packed in (("class.zip", zipped), ("class.tar.gz", tarred)):
        archive = put(tmp_path / name, packed({f"class/dan/{NAME}": A, f"class/fay/{NAME}": B}))
        assert set(results(collect(course, archive))) == {"dan", "fay"}


def test_what_came_before_and_who_is_unknown_is_told(take: Take) -> None:
    collection = take(CASES["exchange"].files)
    [first] = [row.said for row in collection.rows if row.student == "ada"]
    assert first == (f"an earlier one does not count: ada+{LESSON}+{TIMES[0]}+x1, 2020-11-20T16:00:00.000001+00:00",)
    assert collection.remarks == ["1 submission to ps1 left out: it is no lesson of this course."]
    [remark] = take(CASES["moodle"].files).remarks
    assert remark.startswith("No roster: students are known by their names; with --roster")
    [row, _] = take(CASES["gradescope, without its list and with its grades"].files).rows
    assert row.said == (
        "nothing says whose it is: collect again with --roster, and the grades that Gradescope exports",
    )


UNKNOWN = {
    "Blackboard": [
        f"gradebook_NLP_Lesson2001_{who}_attempt_2020-11-20-12-00-00{end}"
        for who in ("ada", "ben")
        for end in (f"_{NAME}", ".txt")
    ],
    "Brightspace": [
        "index.html",
        f"12345-67 - Ada Lovelace - Nov 20, 2020 1200 PM/{NAME}",
        f"12346-67 - Ben Lee - 20 November, 2020 13.00/{NAME}",
    ],
    "ILIAS": [
        f"Lesson 1/Abgaben/{who}_471{n}/20201120120000_{NAME}" for n, who in enumerate(("Li_Ada_a", "Lee_Ben_b"))
    ],
    "Google Classroom": [f"Lesson 1/{who} - Kopie von {NAME}" for who in ("Ada Lovelace", "Ben Lee")],
    "Sakai": [
        "Lesson 1/grades.csv",
        f"Lesson 1/Lovelace, Ada(ada)/Submission attachment(s)/{NAME}",
        "Lesson 1/Lovelace, Ada(ada)/timestamp.txt",
    ],
    "Microsoft Teams": [f"Submitted files/{who}/Lesson 1/Version 2/{NAME}" for who in ("Ada Lovelace", "Ben Lee")],
    "which may not be a student's name": [f"Week 1/{who}_{NAME}" for who in ("ada", "ben")],
    "all notebooks in .* are in": [f"Week 1/Abgaben/{who}/{NAME}" for who in ("ada", "ben")],
    "its name does not say whose it is": [f"{who} - final.ipynb" for who in ("Ada Lovelace", "Ben Lee")],
}


@pytest.mark.parametrize("said", UNKNOWN)
def test_what_may_be_of_an_unknown_platform_is_not_collected(said: str, course: Course, tmp_path: Path) -> None:
    files = dict.fromkeys(UNKNOWN[said], A)
    for download in (put(tmp_path / "d.zip", zipped(files)), laid(tmp_path / "d", files)):
        with pytest.raises(BadInput, match=said):
            collect(course, download, lesson=LESSON)
    assert not course.submitted.exists()


def test_of_very_many_files_of_a_student_the_notebook_is_taken(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.delivery.deliver.FILES", 3)
    files = {f"ada/{'a' * number}.py": b"x" for number in range(1, 9)} | {f"ada/work/{NAME}": A}
    collect(course, laid(tmp_path / "class", files))
    assert handed_in(course)[f"ada/{LESSON}/work/{NAME}"] == A


# The lesson --------------------------------------------------------------------------------------------------


def test_the_lesson_is_told_by_the_cells_where_no_name_tells_and_asked_for_where_nothing_does(take: Take) -> None:
    assert [row.lesson for row in take({"ada_1_2_homework.ipynb": M}).rows] == [OTHER_LESSON]
    unclear = {"ben_1_2_homework.pdf": b"%PDF"}
    with pytest.raises(BadInput, match="--lesson"):
        take(unclear)
    [row] = take(unclear, lesson=LESSON).rows
    assert (row.result, "a PDF cannot be graded" in row.said[0]) == ("collected", True)
    with pytest.raises(BadInput, match="no lesson '03_x'"):
        take(unclear, lesson="03_x")


M = notebook("m", "masking")
OF_THE_OTHER = {
    "Moodle": [f"{who}_{n}_assignsubmission_file_/{OTHER_LESSON}.ipynb" for n, who in enumerate(("Ada", "Ben"))],
    "Canvas, with names that tell nothing": [f"ada_{n}_{n}_homework.ipynb" for n in range(3)],
    "Gradescope": [f"submission_{n}/{OTHER_LESSON}-1.ipynb" for n in range(2)],
    "a folder for each": [f"{who}/{OTHER_LESSON}/x.ipynb" for who in ("ada", "ben")],
    "repositories": [f"02-masking-{who}/{OTHER_LESSON}.ipynb" for who in ("ada", "ben")],
}


@pytest.mark.parametrize("case", OF_THE_OTHER)
def test_another_lesson_than_the_named_one_is_asked_about(case: str, course: Course, tmp_path: Path) -> None:
    folder = laid(tmp_path / "d", dict.fromkeys(OF_THE_OTHER[case], M))
    with pytest.raises(BadInput, match=f"did you mean `--lesson {OTHER_LESSON}`?"):
        collect(course, folder, lesson=LESSON)
    assert not course.submitted.exists()
    assert collect(course, folder, lesson=OTHER_LESSON).rows


def test_a_lesson_by_another_name_is_collected_as_it_is_named(take: Take) -> None:
    files = {f"ada_1_2_{OTHER_LESSON}.ipynb": A, f"ben_2_3_{OTHER_LESSON}.ipynb": M, f"cy_3_4_{OTHER_LESSON}.ipynb": B}
    assert [row.lesson for row in take(files, lesson=LESSON).rows] == [LESSON] * 3


def test_a_download_of_two_assignments_is_refused(course: Course, take: Take) -> None:
    ours = {f"ada_1_2_{NAME}": A, f"ben_2_5_{NAME}": A}
    with pytest.raises(BadInput, match="several lessons"):
        take(ours | {f"{who}_{OTHER_LESSON}.ipynb": B for who in ("ada_1_3", "ben_2_4", "cy_3_6")})
    assert not course.submitted.exists()


def test_of_several_lessons_only_one_is_collected_when_it_is_named(course: Course, tmp_path: Path) -> None:
    folder = laid(tmp_path / "c", {f"ada/{LESSON}/{NAME}": A, f"ada/{OTHER_LESSON}/{OTHER_LESSON}.ipynb": B})
    collection = collect(course, folder, lesson=OTHER_LESSON)
    assert [row.lesson for row in collection.rows] == [OTHER_LESSON]
    assert collection.remarks == [f"1 submission to {LESSON} left out: it is another lesson."]
    assert {row.lesson for row in collect(course, folder).rows} == {LESSON, OTHER_LESSON}


# Twice, later, and never lost --------------------------------------------------------------------------------


def test_a_dry_run_and_collecting_twice_change_nothing(course: Course, take: Take) -> None:
    before = everything(course.root)
    dry = take(GRADESCOPE, dry_run=True)
    assert everything(course.root) == before
    assert not course.submitted.exists()
    assert dry.rows == take(GRADESCOPE).rows
    before = everything(course.root)
    assert set(results(take(GRADESCOPE)).values()) == {"unchanged"}
    assert everything(course.root) == before


def test_a_second_attempt_replaces_the_first_which_is_kept_and_named(course: Course, take: Take) -> None:
    first, second = {f"ada_1_10_{NAME}": A}, {f"ada_1_11_{LESSON}-1.ipynb": B}
    take(first)
    dry = take(second, dry_run=True)
    [row] = take(second).rows
    assert (row.result, [one.result for one in dry.rows]) == ("replaced", ["replaced"])
    assert handed_in(course) == {f"1/{LESSON}/{LESSON}-1.ipynb": B}
    [older] = read_collected(course, LESSON)["1"].others
    assert older.name == f"ada_1_10_{NAME}"
    assert (course.root / older.kept / NAME).read_bytes() == A
    assert row.said == (f"the earlier version is in {older.kept}",)
    [again] = take(first).rows  # the old download once more: it doesn't come back
    assert (again.result, again.said) == ("older", (f"a later one was collected before: ada_1_11_{LESSON}-1.ipynb",))
    assert handed_in(course) == {f"1/{LESSON}/{LESSON}-1.ipynb": B}


def test_what_was_put_there_by_hand_is_kept(course: Course, take: Take) -> None:
    put(course.submitted / "1" / LESSON / "mine.ipynb", C)
    [row] = take({f"ada_1_10_{NAME}": A}).rows
    [older] = read_collected(course, LESSON)["1"].others
    assert (row.result, (course.root / older.kept / "mine.ipynb").read_bytes()) == ("replaced", C)


def test_a_link_is_not_written_through(course: Course, take: Take, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    course.submitted.mkdir()
    (course.submitted / "1").symlink_to(elsewhere)
    (course.submitted / "2").mkdir()
    (course.submitted / "2" / LESSON).symlink_to(elsewhere)
    assert results(take({f"ada_1_10_{NAME}": A, f"ben_2_11_{NAME}": B})) == {"1": "not collected", "2": "replaced"}
    assert list(elsewhere.iterdir()) == []
    assert (course.submitted / "2" / LESSON / NAME).read_bytes() == B


def test_when_it_came_is_told_later_and_nothing_else_changes(course: Course, take: Take, tmp_path: Path) -> None:
    files = {f"Ada_7_assignsubmission_file_/{NAME}": A}
    own = put(course.root / "roster.csv", b"id,name,moodle\nada,Ada,7\n")
    take(files)
    sheet = WORKSHEET + b'Participant 7,Ada,a@b.c,"20 November 2020, 17:50"\n'
    [row] = take(files, rosters=[put(tmp_path / "w.csv", sheet)], zone=UTC).rows
    assert (row.student, row.result) == ("ada", "collected")
    assert handed_in(course)[f"ada/{LESSON}/timestamp.txt"] == b"2020-11-20 17:50:00.000000 UTC"
    assert not (course.root / ".katze" / "replaced").exists()
    assert own.exists()
    [again] = take(files).rows  # without the worksheet, which knew more
    assert (again.result, again.handed_in) == ("unchanged", "2020-11-20T17:50:00+00:00")
    assert handed_in(course)[f"ada/{LESSON}/timestamp.txt"] == b"2020-11-20 17:50:00.000000 UTC"
    assert read_collected(course, LESSON)["ada"].handed_in == again.handed_in


def test_a_time_that_the_instructor_has_written_stays_until_something_else_comes(course: Course, take: Take) -> None:
    first = {f"ada_LATE_1_10_{NAME}": A}
    told = take(first).remarks
    assert any("marked late, and nobody knows when it came, so it counts as on time: 1;" in remark for remark in told)
    written = put(course.submitted / "1" / LESSON / "timestamp.txt", b"2020-11-20 17:50:00 UTC")
    assert results(take(first)) == {"1": "unchanged"}
    assert written.exists()
    take({f"ada_1_11_{NAME}": B})
    assert not written.exists()


def test_a_worksheet_of_another_assignment_says_nothing_of_this_one(take: Take, tmp_path: Path) -> None:
    sheet = put(tmp_path / "w.csv", WORKSHEET + b'Participant 8,Ada,a@b.c,"20 November 2020, 17:50"\n')
    [row] = take({f"Ada_7_assignsubmission_file_/{NAME}": A}, rosters=[sheet]).rows
    assert (row.student, row.handed_in) == ("a@b.c", "")


def test_a_clock_that_is_ahead_is_not_believed(course: Course, tmp_path: Path) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(days=400))
    box = mailbox_of(tmp_path / "in.mbox", message("ada@uni.example", {NAME: A}, date=later))
    [row] = collect(course, box).rows
    assert row.handed_in == ""
    assert "is in the future" in row.said[0]


def test_nobody_else_collects_at_the_same_time(course: Course, take: Take) -> None:
    with deliverer(course, dry_run=False), pytest.raises(BadInput, match="another `katze collect`"):
        take(CANVAS)
    put(course.submitted / ".collecting-x" / "y" / NAME, A)  # by a run that was cut off
    take(CANVAS)
    assert not [path for path in course.submitted.iterdir() if path.name.startswith(".")]


# On the command line -----------------------------------------------------------------------------------------


def test_the_command_shows_a_table_and_the_next_step(
    course: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    roster = put(tmp_path / "canvas.csv", CANVAS_ROSTER)
    files = {**CANVAS, f"eve[bold]_125_3_{NAME}": C}
    download = put(tmp_path / "s.zip", zipped(files))
    arguments = ["collect", str(download), "--roster", str(roster), "--course", str(course.root)]
    assert main([*arguments, "--dry-run"]) == 1
    assert "nothing was written" in capsys.readouterr().out
    assert main(arguments) == 1
    said = capsys.readouterr().out
    assert "eve[bold]_125_3_" in said  # and no markup
    assert "not collected; nobody in the roster fits: add a row, then collect again" in said
    assert "s.zip, from canvas: 2 collected, 1 not collected\nnext: katze grade 01_attention\n" in said
    assert main([*arguments, "--json"]) == 1
    assert capsys.readouterr().out.startswith('{\n  "source": "s.zip"')


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.zip"], "cannot read missing.zip"),
        (["{empty}"], "holds no submissions"),
        (["{zip}"], "cannot be opened"),
        (["{zip}", "--timezone", "Europe/Nowhere"], "no time zone"),
        (["{folder}", "--from", "moodle"], "holds no submissions from moodle: ada.ipynb"),
        (["{folder}", "--roster", "nowhere.csv"], "cannot read the table nowhere.csv"),
    ],
)
def test_wrong_use_is_told_in_a_line(
    arguments: list[str], said: str, course: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    places = {
        "empty": tmp_path / "empty",
        "zip": put(tmp_path / "d.zip", b"PK\x03\x04 and no more"),
        "folder": laid(tmp_path / "f", {"ada.ipynb": A}),
    }
    filled = [one.format(**places) for one in arguments]
    try:
        status = main(["collect", *filled, "--course", str(course.root)])
    except SystemExit as stopped:
        status = int(str(stopped.code))
    assert status == 2
    error = capsys.readouterr().err
    assert said in error
    assert not course.submitted.exists()


# A platform of one's own ---------------------------------------------------------------------------------------


NEW_PLATFORM = r"""
import re
from autograder.platforms.platform import Found, Platform

class Campus(Platform):
    name, order, folder_names, feedback = "campus", 35, (re.compile("matr_(?P<number>[0-9]+)"),), "zip"
    is_one_assignment = True
    table_marks = (frozenset({"matr", "who"}),)
    table_columns = {"id": ("who",), "number": ("matr",), "points": ("points",)}

    def read(self, download, lessons, zone):
        for file in download.files:
            number = file.path.split("/")[-2].removeprefix("matr_")
            yield Found(title=number, files={file.name: file}, number=number)

    def page_name(self, delivery, lesson):
        return f"matr_{delivery.number}/{lesson}.html"

PLATFORM = Campus()
"""

USE_IT = """
import sys
from pathlib import Path
from autograder.platforms import known
known.__path__.append(sys.argv[1])
from autograder.cli import main
from autograder.course.course import Course
from autograder.course.store.collected import read_collected
from autograder.delivery.worksheet import WorksheetRow, fill
from autograder.platforms.registry import named
from autograder.platforms.roster import read_roster
course = Course.find(Path(sys.argv[2]))
status = main(["collect", sys.argv[3], "--roster", sys.argv[4], "--course", str(course.root), "--json"])
[delivery] = read_collected(course, "01_attention").values()
print(status, delivery.student, delivery.platform, named("campus").page_name(delivery, "01_attention"))
row = WorksheetRow(student="ada", number="7", points=3, most=4)
print(fill(Path(sys.argv[4]), named("campus"), [row]).content)
print(read_roster(Path(sys.argv[5])).people[0].numbers)
main(["return", "--help"])
"""


@pytest.mark.usefixtures("processes")
def test_a_platform_is_one_file(course: Course, tmp_path: Path) -> None:
    put(tmp_path / "known" / "campus.py", NEW_PLATFORM.encode())
    download = laid(tmp_path / "d", {"matr_7/01_attention.ipynb": notebook("a")})
    table = put(tmp_path / "table.csv", b"matr,who,points\n7,ada,\n")
    roster = put(tmp_path / "roster.csv", b"id,campus\nada,7\n")
    places = (tmp_path / "known", course.root, download, table, roster)
    done = subprocess.run([sys.executable, "-c", USE_IT, *map(str, places)], capture_output=True, text=True)
    said = done.stdout
    assert "0 ada campus matr_7/01_attention.html" in said, done.stderr
    assert "b'matr,who,points\\n7,ada,3\\n'" in said
    assert "{'campus': '7'}" in said
    assert "{gradescope,moodle,campus,canvas,folder}" in said.replace("\n", "").replace(" ", "")


def test_the_page_names_every_platform() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "collecting.md").read_text(encoding="utf-8")
    names = {one.name for one in PLATFORMS}
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.M)) == names
    [columns] = re.findall(r"Columns called (.*?) hold what that platform", page, re.S)
    assert set(re.findall(r"\w+", columns)) - {"or"} == names
