"""Every reader meets what classes really send; the rest goes through, and the table says what did not."""

import io
import tracemalloc
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import yaml

from autograder.console import output_console
from autograder.course.course import Course
from autograder.course.store.collected import read_collected
from autograder.delivery.collect import Collection, collect
from autograder.delivery.deliver import folder_name
from autograder.delivery.report import print_collection
from autograder.errors import BadInput
from autograder.intake import archives
from autograder.intake.submission import check_student_id, list_submissions, refused_submissions
from tests.autograder.platforms.downloads import (
    LESSON,
    handed_in,
    laid,
    mailbox_of,
    make_course,
    message,
    notebook,
    put,
    zipped,
)

NAME = f"{LESSON}.ipynb"
GOOD, EMPTY, HUGE = notebook("good"), b"", b" " * 1_000_001
CLOCK = "2020-11-20 17:00:00 UTC"

ODD_NAMES = [
    "Lovelace, Ada",
    'Ada "the first"',
    "Ada\nLovelace",
    "=cmd|' /C calc'!A0",
    "\u202eadA",
    "\u0646\u0648\u0631 \u200f",
    "\U0001f431 Katze",
    "\u674e\u96f7",
    "a+b@uni.example",
    "../../ada",
    "-rf",
    "[bold red]ada[/]",
    "\x1b[31mada",
    "x" * 300,
    "\u674e" * 100,
    "CON:",
]

SHAPES: dict[str, Callable[[int, str], str]] = {
    "moodle": lambda number, who: f"{who.replace('/', ' ')}_{number}_assignsubmission_file/",
    "canvas": lambda number, who: f"{who.replace('/', '').replace('_', '')}_{number}_{number}_",
    "gradescope": lambda number, who: f"submission_{number}/",
    "exchange": lambda number, who: f"inbound/s{number}+{LESSON}+{CLOCK}+r/",
    "github": lambda number, who: f"01-attention-s{number}/",
    "folder": lambda number, who: f"class/s{number}/",
}
"""What comes before the name of a student's file."""

SHOW_NAMES = ["moodle", "canvas", "gradescope"]

Take = Callable[..., Collection]


def made(place: Path, shape: str, students: Mapping[str, Mapping[str, bytes]]) -> Path:
    """A download of files by student."""
    if shape == "mbox":
        messages = [message(f"s{n}@uni.example", files) for n, files in enumerate(students.values(), 100)]
        return mailbox_of(place / "in.mbox", *messages)
    files = {
        SHAPES[shape](number, who) + name: content
        for number, (who, own) in enumerate(students.items(), 100)
        for name, content in own.items()
    }
    if shape == "gradescope":
        listed = {
            f"submission_{number}": {":submitters": [{":name": who, ":sid": str(number), ":email": ""}]}
            for number, who in enumerate(students, 100)
        }
        files["submission_metadata.yml"] = yaml.safe_dump(listed).encode()
    return put(place / "d.zip", zipped(files))


@pytest.mark.parametrize("shape", [*SHAPES, "mbox"])
def test_one_bad_submission_never_stops_the_class(
    shape: str, course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "NOTEBOOK_BYTES", 1_000_000)
    students = {
        "good": {NAME: GOOD},
        "empty": {NAME: EMPTY},
        "huge": {NAME: HUGE},
        "wrong encoding": {NAME: b"\xff\xfe\x00{"},
        "a pdf": {"homework.pdf": b"%PDF"},
        "a damaged archive": {"homework.zip": b"PK\x03\x04"},
        "last": {NAME: GOOD},
    }
    collection = collect(course, made(tmp_path, shape, students), lesson=LESSON)
    taken = [row.result for row in collection.rows]
    assert sorted(taken) == ["collected"] * 6 + ["not collected"]
    [huge] = [row for row in collection.rows if row.result == "not collected"]
    assert "more than the limit of 1 MB" in huge.said[0]
    assert list(handed_in(course).values()).count(GOOD) == 2
    assert len(list_submissions(course.submitted, LESSON)) == 6
    problems = " ".join(said for row in collection.rows for said in row.said)
    assert "a PDF cannot be graded" in problems
    assert "it is damaged" in problems


@pytest.mark.parametrize("shape", SHOW_NAMES)
def test_names_of_all_kinds_go_through(shape: str, course: Course, tmp_path: Path) -> None:
    students = {name: {NAME: GOOD} for name in (*ODD_NAMES, "ben")}
    collection = collect(course, made(tmp_path, shape, students), lesson=LESSON)
    assert {row.result for row in collection.rows} == {"collected"}
    hidden = shape != "gradescope"  # a file whose name begins with a dot is nobody's
    assert len(collection.rows) == len(students) - hidden
    if shape == "moodle":
        names = {name.replace("/", " ") for name in students if not name.startswith(".")}
        assert {row.student for row in collection.rows} == set(map(folder_name, names))
    out = io.StringIO()
    print_collection(collection, course, output_console(out))
    assert "\x1b" not in out.getvalue()
    assert "\u202e" not in out.getvalue()
    assert shape != "gradescope" or "[bold red]ada[/]" in out.getvalue()


def test_an_id_of_any_kind_has_a_folder_of_its_own_that_grading_accepts(
    course: Course, take: Take, tmp_path: Path
) -> None:
    rows = ['"{}","Ada {}","{}"'.format(name.replace('"', '""'), n, n) for n, name in enumerate(ODD_NAMES)]
    roster = put(tmp_path / "r.csv", "\n".join(['"id","name","canvas"', *rows]).encode())
    files = {f"x_{number}_{number}_{NAME}": GOOD for number in range(len(ODD_NAMES))}
    students = sorted(row.student for row in take(files, rosters=[roster]).rows)
    assert [student for student, _ in list_submissions(course.submitted, LESSON)] == students
    assert refused_submissions(course.submitted, LESSON) == {}
    kept = read_collected(course, LESSON)
    assert {one.id or one.student for one in kept.values()} == set(map(str.strip, ODD_NAMES))  # there is a way back
    for student, one in kept.items():
        check_student_id(student)
        assert folder_name(one.id or student) == student


def test_ids_that_would_share_a_folder_do_not() -> None:
    ids = ["a+b", "a:b", "a/b", "a*b", "x" * 300, "x" * 301, "..", "...", "", " "]
    folders = [folder_name(id) for id in ids]
    assert len(set(folders)) == len(ids)
    for one in folders:
        check_student_id(one)
    assert folder_name("ada") == "ada"
    assert folder_name("ada@uni.example") == "ada@uni.example"


def test_students_who_are_unknown_or_cannot_be_told_apart_are_named(take: Take, tmp_path: Path) -> None:
    roster = b"id,name,email\nada,Ada L,\nada2,Ada L,\nben,Ben,b@x.y\n"
    files = {f"{who}_assignsubmission_file/{NAME}": GOOD for who in ("Ada L_1", "Ben_2", "Eve_3")}
    rows = take(files, rosters=[put(tmp_path / "r.csv", roster)]).rows
    said = {row.title: (row.result, *row.said) for row in rows}
    assert said["Ben_2"] == ("collected",)
    assert said["Eve_3"][1] == "nobody in the roster fits: add a row, then collect again"
    assert said["Ada L_1"][1].startswith("several in the roster fit (ada, ada2): give the number that moodle has")


def test_no_student_can_hand_in_a_roster(course: Course, tmp_path: Path) -> None:
    stolen = b"Student,ID,Section,SIS Login ID\nAda,2,,eve\nEve,1,,ada\n"
    files = {f"ada_1_10_{NAME}": GOOD, f"eve_2_11_{NAME}": GOOD, "eve_2_12_people.csv": stolen}
    rows = collect(course, laid(tmp_path / "c", files)).rows
    assert [row.student for row in rows] == ["1", "2"]


def test_no_student_can_hand_in_a_list_of_submissions(course: Course, take: Take) -> None:
    listed = b"submission_%d:\n  :submitters:\n  - :sid: %s\n"
    files = {
        "submission_metadata.yml": listed % (1, b"ada") + listed % (2, b"eve"),
        f"submission_1/{NAME}": GOOD,
        f"submission_2/{NAME}": notebook("eve"),
        "submission_2/submission_metadata.yml": listed % (1, b"eve") + listed % (2, b"ada"),
    }
    take(files)
    assert handed_in(course)[f"ada/{LESSON}/{NAME}"] == GOOD


@pytest.mark.parametrize(
    "name",
    ["timestamp.txt", " timestamp.txt", "timestamp.txt ", "\u2003timestamp.txt", "Timestamp.TXT", " Timestamp.txt "],
)
@pytest.mark.parametrize("shape", SHOW_NAMES)
def test_no_student_says_when_it_was_handed_in(shape: str, name: str, course: Course, tmp_path: Path) -> None:
    late = {NAME: GOOD, name: b"1999-01-01 00:00:00 UTC"}
    collect(course, made(tmp_path, shape, {"ada": late}), lesson=LESSON)
    written = handed_in(course)
    times = [path for path in written if path.casefold().endswith(f"{LESSON}/timestamp.txt")]
    assert len([path for path in written if path.endswith(NAME)]) == 1
    assert len(times) <= 1
    assert not any(b"1999" in written[path] for path in times)


def test_names_of_files_are_made_safe_and_none_is_lost(course: Course, tmp_path: Path) -> None:
    attached = {"../../.bashrc": b"1", "a\nb\u202e.ipynb": GOOD, ("\u674e" * 200) + ".ipynb": b"{}", "\x00": b"2"}
    attached |= {"a\u202eb.txt": b"3", "a\u202fb.txt": b"4", ".": b"5", "..": b"6"}
    [row] = collect(course, mailbox_of(tmp_path / "in.mbox", message("a@b.c", attached)), lesson=LESSON).rows
    written = handed_in(course)
    assert row.result == "collected"
    assert len(written) == len(attached)
    assert all(path.isprintable() and "/." not in path for path in written)
    assert GOOD in written.values()


def test_memory_does_not_grow_with_the_class(tmp_path: Path) -> None:
    peaks = []
    for number in (4, 40):
        course = make_course(tmp_path / str(number))
        files = {f"s_{one}_{one}_{NAME}": notebook("x" * 500_000) for one in range(number)}
        of_class = put(tmp_path / f"{number}.zip", zipped(files))
        tracemalloc.start()
        try:
            collect(course, of_class)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0]


YAML = {
    "no yaml": b"{[",
    "an object of python's": b"a: !!python/object/apply:os.system ['touch /tmp/x']",
    "empty": b"",
    "a list": b"- a\n- b\n",
    "deep": b"[" * 100_000,
    "deep in a line": b"- " * 100_000 + b"x",
    "no text": b"\xff\xfe\x00\xd8",
    "aliases that multiply": b"a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nsubmission_1: *c\n",
    "wrong types": b"submission_1:\n  :submitters: 3\n  :created_at: [1]\n  :history: {}\n",
}


@pytest.mark.parametrize("case", YAML)
def test_a_list_of_gradescope_s_that_is_none(case: str, course: Course, take: Take) -> None:
    files = {"submission_metadata.yml": YAML[case], f"submission_1/{NAME}": GOOD}
    if case in ("an object of python's", "aliases that multiply", "wrong types"):
        [row] = take(files).rows
        assert row.said[0].startswith("nothing says whose it is")
    else:
        with pytest.raises(BadInput, match="again"):
            take(files)
        assert not course.submitted.exists()
