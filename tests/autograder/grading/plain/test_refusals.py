"""What the sandbox refuses is no zero: it is named, before anybody is judged, and nothing but full marks counts.

Tests `solution.py` as well.
"""

import io
import shutil
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from rich.console import Console

from autograder.box.protocol import CellResult
from autograder.cli import main
from autograder.course.course import Course
from autograder.gradebook.record import Record
from autograder.grading.batch import grade_assignment
from autograder.grading.plain.judging import refusals
from autograder.grading.preview import preview_lesson
from course_lib.judging.observation import Outcome
from tests.autograder.grading.plain.plain_course import CONFIG, NAME, cell, hand_in, make_test, notebook, release

pytestmark = pytest.mark.usefixtures("processes")


Graded = tuple[Course, dict[str, Record], str]
ASKING = "import os\nos.system('clear')\n\n"
SOLVED = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"
ASKS = {
    "shell": ("x = !echo 4\nassert double(2) == int(x[0])", "to start the program `!echo 4`"),
    "bash": ("%%bash\ntest 1 -eq 1", "to start the program `%%bash`"),
    "system": ("import os\nassert os.system('true') == 0", "to start the program `true`"),
    "caught": (
        "import subprocess\ntry:\n    subprocess.check_output(['git', 'log'])\nexcept Exception:\n    pass",
        "to start the program `git log`",
    ),
    "fork": ("import os\nif os.fork() == 0:\n    os._exit(0)", "a system call (PermissionError: [Errno 1]"),
    "sqlite": (
        "import sqlite3\nwith sqlite3.connect('made.db') as db:\n    db.execute('create table t (a)')",
        "what SQLite asked for (sqlite3.OperationalError: access permission denied)",
    ),
    "lock": ("import fcntl\nfcntl.flock(open('l', 'w'), fcntl.LOCK_EX)", "a system call (OSError: [Errno 38]"),
    "thread": (
        "import asyncio, threading\nfound = []\nasync def find():\n    found.append(double(2))\n"
        "thread = threading.Thread(target=lambda: asyncio.run(find()))\nthread.start(); thread.join()\n"
        "assert found == [4]",
        "a system call (PermissionError: [Errno 1] Operation not permitted)",
    ),
    "elsewhere": ("assert open('{root}/data.txt').read()", "access to {root}/data.txt"),
    "above": ("assert open('../../../data.txt').read()", "access to ../../../data.txt"),
    "network": (
        "import urllib.request\nurllib.request.urlopen('http://example.org')",
        "a connection to the network",
    ),
}
"""Tests of a course's own that a sandbox refuses something, and how that is told."""

GOES_ON = {
    "in_memory": "import sqlite3\nassert sqlite3.connect(':memory:').execute('select 4').fetchone() == (double(2),)",
    "joblib": "from joblib import Parallel, delayed\nassert Parallel(2)(delayed(double)(i) for i in (1, 2)) == [2, 4]",
    "bar": "from tqdm.auto import tqdm\nassert [double(i) for i in tqdm([1, 2])] == [2, 4]",
    "pool": "import multiprocessing\nwith multiprocessing.Pool(2) as p:\n    assert p.map(double, [1, 2]) == [2, 4]",
    "loop": "import asyncio\nawait asyncio.sleep(0)\nassert double(2) == 4",
    "cell-0123456789abcdef": "print('doubled: <b>', double(2))\ndisplay('shown')\nassert double(2) == 4, 'add?'",
    "missing": "assert double(2) == 4, open('../../../nothing.txt')",
}
"""Tests that a sandbox refuses nothing, although they look as if it did."""


def make_course(root: Path) -> Course:
    tests = {name: source for name, (source, _) in ASKS.items()} | GOES_ON
    double = cell("code", SOLVED, "double", solution=True)
    every = [make_test(source.replace("{root}", str(root)), name, 1) for name, source in tests.items()]
    setup = cell("code", f"table = open('{root}/data.txt').read()", "setup", locked=True)
    later = [make_test("assert table and double(2) == 4", "needs", 1), make_test("double(2) / 4", "part", 2)]
    (root / "data.txt").write_text("1")
    files = {
        "all.ipynb": notebook([cell("markdown", "# All\n\n## Doubles"), double, *every]),
        "setup.ipynb": notebook([setup, double, *later]),
    }
    return Course.find(release(root, CONFIG.replace("timeout = 1", "timeout = 20"), files))


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """A class, and what was said before it was graded."""
    course = make_course(tmp_path_factory.mktemp("refusals").resolve())
    for student, before, value in (("right", "", "2 * x"), ("wrong", "", "x"), ("asks", ASKING, "2 * x")):
        double = {"double": f"{before}def double(x):\n    return {value}"}
        hand_in(course, student, {"all": double, "setup": double})
    said = io.StringIO()
    run = grade_assignment(course, NAME, workers=2, console=Console(file=said, width=1000))
    return course, {record.student: record for record in run.submissions}, said.getvalue()


def verdicts(record: Record) -> dict[str, tuple[Outcome, float | None, str]]:
    return {one.exercise: (one.outcome, one.points, one.note) for one in record.exercises}


@pytest.mark.parametrize("test", ASKS)
def test_what_was_refused_is_named_and_is_no_zero(graded: Graded, test: str) -> None:
    course, records, said = graded
    what = ASKS[test][1].replace("{root}", str(course.root))
    for student in ("right", "asks"):
        outcome, points, note = verdicts(records[student])[f"all.{test}"]
        assert (outcome, points) == (Outcome.UNGRADED, None)
        assert note.startswith(f"This could not be graded: the sandbox refused {what}")
    assert f"  all.{test}: ungraded: This could not be graded: the sandbox refused {what}" in said


@pytest.mark.parametrize("test", GOES_ON)
def test_what_was_not_refused_is_judged(graded: Graded, test: str) -> None:
    _, records, said = graded
    assert verdicts(records["right"])[f"all.{test}"] == (Outcome.PASSED, 1, "")
    assert verdicts(records["wrong"])[f"all.{test}"][1] == 0
    assert f"all.{test}:" not in said


def test_a_student_s_own_program_is_a_notice(graded: Graded) -> None:
    course, records, _ = graded
    assert verdicts(records["asks"])["all.loop"] == (Outcome.PASSED, 1, "")
    assert "`clear` was left out" in (course.feedback / "asks" / NAME / "all.html").read_text()


def test_what_needs_a_refused_setup_is_ungraded_too(graded: Graded) -> None:
    course, records, said = graded
    why = f"This could not be graded: the sandbox refused access to {course.root}/data.txt."
    assert verdicts(records["right"])["setup.needs"] == (Outcome.UNGRADED, None, why)
    assert verdicts(records["wrong"])["setup.part"] == (Outcome.UNGRADED, None, why)
    assert f"  setup.part: ungraded: {why}" in said


def test_nothing_runs_again_for_it_and_the_rest_is_on_the_page(graded: Graded) -> None:
    course, records, _ = graded
    assert preview_lesson(course, NAME)["to_grade"] == []
    assert records["right"].points == len(GOES_ON)
    page = (course.feedback / "right" / NAME / "all.html").read_text()
    assert "the sandbox refused to start the program <code>!echo 4</code>" in page


def test_a_page_shows_what_a_test_prints_and_calls_it_by_its_heading(
    graded: Graded,
) -> None:
    page = BeautifulSoup((graded[0].feedback / "wrong" / NAME / "all.html").read_text(), "html.parser")
    [verdict] = [one for one in page.select(".verdict") if "Doubles" in one.text]
    assert [one.text for one in verdict.select("code, .katze-lead, pre")] == [
        "Doubles",
        "add?",
        "doubled: <b> 2",
        "'shown'",
    ]
    assert "0123456789abcdef" not in page.text
    [row] = [row for row in page.select("tr") if "Doubles" in row.text]
    assert "0 / 1" in row.text


def stream(name: str, text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": text}


def error(*traceback: str) -> dict[str, Any]:
    return {"output_type": "error", "ename": "E", "evalue": "", "traceback": [*traceback]}


WARNED = "w.py:4: UserWarning: [Errno 13] Permission denied.  x"


@pytest.mark.parametrize(
    ("output", "found"),
    [
        (stream("stdout", "Permission denied"), []),
        (stream("stderr", "careful"), []),
        (stream("stderr", f"{WARNED}\n"), [f"a system call ({WARNED})"]),
        (error("PermissionError: [Errno 13] Permission denied: '/data'", "", "E: no data"), ["access to /data"]),
        (error("sqlite3.OperationalError: no such table"), []),
    ],
)
def test_a_refusal_is_read_from_what_a_cell_shows(output: dict[str, Any], found: list[str], tmp_path: Path) -> None:
    assert refusals(CellResult([output], True), tmp_path) == found


@pytest.mark.parametrize("name", ["../there.txt", "{tmp}/there.txt"])
def test_a_missing_file_was_refused_if_nbgrader_would_have_found_it(name: str, tmp_path: Path) -> None:
    (tmp_path / "there.txt").touch()
    for shown, found in [
        (name, True),
        (name.replace("there", "nowhere"), False),
        ("there.txt", False),
        ("a\0b", False),
    ]:
        path = shown.replace("{tmp}", str(tmp_path))
        missing = error(f"FileNotFoundError: [Errno 2] No such file or directory: {path!r}")
        assert refusals(CellResult([missing], False), tmp_path / "run") == ([f"access to {path}"] if found else [])


def test_a_solution_may_be_elsewhere_or_missing(
    graded: Graded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    course = Course.find(shutil.copytree(graded[0].root, tmp_path / "course"))
    again = ["autograde", NAME, "--student", "right", "--force", "--course", str(course.root)]
    (course.source / NAME).rename(tmp_path / "solved")
    assert main(again) == 1
    assert "no solution to try the tests on: no notebook of hw in" in capsys.readouterr().err
    assert main([*again, "--solution", str(tmp_path / "solved" / "all.ipynb")]) == 1
    assert "  all.shell: ungraded" in capsys.readouterr().err
    assert main([*again, "--solution", str(course.release / NAME)]) == 1
    assert "has no answers; see --solution" in capsys.readouterr().err
    assert main([*again, "--solution", str(tmp_path)]) == 2
    assert "--solution: no notebook in" in capsys.readouterr().err
