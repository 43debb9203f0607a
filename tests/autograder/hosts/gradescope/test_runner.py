"""An archive's own `run_autograder`, in a folder laid out as Gradescope's, as root where the tests are."""

import json
import os
import shutil
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from autograder.box.confinement import landlock
from autograder.box.confinement.levels import Level
from autograder.box.confinement.selftest import choose_level
from autograder.demo.student import Student
from autograder.errors import BadInput
from autograder.hosts.gradescope import runner
from autograder.hosts.gradescope.bundle import write_bundle
from tests.autograder.small_class import BY_NAME, CHECKED, EARNED, LESSON, ROOT, make_course

TEXT = {"type": "string"}
POINTS = {"type": "number", "minimum": 0}
FORMAT = {"enum": ["text", "html", "simple_format", "md", "ansi"]}
VISIBILITY = {"enum": ["hidden", "after_due_date", "after_published", "visible"]}
TEST = {
    "type": "object",
    "additionalProperties": False,
    "required": ["score", "max_score", "name", "output", "visibility", "status"],
    "properties": {
        **dict.fromkeys(("name", "number", "output"), TEXT),
        **dict.fromkeys(("score", "max_score"), POINTS),
        **dict.fromkeys(("name_format", "output_format"), FORMAT),
        "status": {"enum": ["passed", "failed"]},
        "tags": {"type": "array", "items": TEXT},
        "visibility": VISIBILITY,
        "extra_data": {"type": "object"},
    },
}
RESULTS = {
    "type": "object",
    "additionalProperties": False,
    "required": ["score", "tests", "stdout_visibility"],
    "properties": {
        "score": POINTS,
        "execution_time": POINTS,
        "output": TEXT,
        **dict.fromkeys(("output_format", "test_output_format", "test_name_format"), FORMAT),
        "visibility": VISIBILITY,
        "stdout_visibility": VISIBILITY,
        "extra_data": {"type": "object"},
        "tests": {"type": "array", "minItems": 1, "items": TEST},
    },
}
"""What https://gradescope-autograders.readthedocs.io/en/latest/specs/ says a `results.json` may hold."""

pytestmark = pytest.mark.skipif(
    choose_level(Level.L1) < runner.WEAKEST, reason="there is no sandbox here that is strong enough for Gradescope"
)


@pytest.fixture(scope="module")
def container(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder laid out as `/autograder`."""
    folder = tmp_path_factory.mktemp("gradescope")
    (folder / "course").mkdir()
    write_bundle(make_course(folder / "course"), LESSON, folder / "autograder.zip")
    root = folder / "autograder"
    for name in ("source", "submission", "results"):
        (root / name).mkdir(parents=True)
    with zipfile.ZipFile(folder / "autograder.zip") as archive:
        archive.extractall(root / "source")  # as Gradescope does: without the files' modes
    (root / "submission_metadata.json").write_text('{"id": 7, "users": [{"id": 31, "name": "Ada"}, {"id": 4}]}')
    return root


def hand_in(container: Path, student: Student, edit: Callable[[dict[str, Any]], None] = lambda notebook: None) -> None:
    """Hand in a submission of the bundled class."""
    shutil.rmtree(container / "submission")
    (container / "submission").mkdir()
    path = container / "submission" / f"{LESSON}.ipynb"
    student.hand_in(json.loads((ROOT / "notebooks" / LESSON / path.name).read_text()), LESSON, path)
    if path.suffix == ".ipynb" and path.read_bytes()[:1] == b"{":
        notebook = json.loads(path.read_text())
        edit(notebook)
        path.write_text(json.dumps(notebook))


def ran(container: Path) -> Any:
    """The results, made as on Gradescope: with no argument but ours, started in the folder of the submission."""
    done = subprocess.run(
        ["bash", container / "source" / "run_autograder", container],
        cwd=container / "submission",
        env={"PATH": os.environ["PATH"], "KATZE_ENVIRONMENT": str(Path(sys.executable).parents[1])},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout
    return json.loads((container / "results" / "results.json").read_text())


def by_exercise(results: Any) -> dict[str, Any]:
    return {one["name"].partition("(")[2].rstrip(")"): one for one in results["tests"]}


@pytest.mark.usefixtures("processes")
def test_a_solved_submission_has_all_points(container: Path) -> None:
    hand_in(container, BY_NAME["ada_reference"])
    (container / "submission" / "autograder.py").write_text("raise SystemExit('the student was imported')")
    results = ran(container)
    jsonschema.validate(results, RESULTS)
    assert results["score"] == EARNED
    assert sum(one["score"] for one in results["tests"]) == EARNED
    assert {one["status"] for one in results["tests"] if one["score"]} == {"passed"}
    assert "2 more points for written answers" in results["output"]
    assert results["stdout_visibility"] == "hidden"


@pytest.mark.usefixtures("processes")
def test_a_mistake_has_its_name_and_an_unfinished_answer_is_no_failure_of_the_grader(container: Path) -> None:
    hand_in(container, replace(BY_NAME["hana_slides_numbers"], answers=("half_done", "slides_numbers")))
    results = runner.grade_submission(container)
    jsonschema.validate(results, RESULTS)
    by_name = by_exercise(results)
    assert "takes the softmax of the unscaled scores" in by_name["attention.scaled_dot_product"]["output"]
    assert by_name["attention.scaled_dot_product"]["status"] == "failed"
    assert "Not written yet" in by_name["attention.softmax_jacobian"]["output"]
    assert by_name["attention.softmax_jacobian"]["score"] == 0
    assert 0 < results["score"] < CHECKED


ATTEMPTS = """
import os, pathlib, torch

ROOT = pathlib.Path({root!r})
SECRET = ROOT / "source" / "course" / ".katze" / "secret"
RESULTS = ROOT / "results" / "results.json"

def succeeds(attempt):
    try:
        attempt()
        return True
    except BaseException:
        return False

REACHED = [
    succeeds(SECRET.read_bytes),
    succeeds((ROOT / "source" / "library" / "course_lib" / "attention.py").read_bytes),
    succeeds((ROOT / "submission_metadata.json").read_bytes),
    succeeds(lambda: os.listdir(ROOT / "source")),
    succeeds(lambda: RESULTS.write_text("{{}}")),
    succeeds(lambda: (ROOT / "results" / "stdout").write_text("x")),
    succeeds(lambda: SECRET.chmod(0o644)),
    succeeds(lambda: os.truncate(SECRET, 0)),
    succeeds(lambda: os.utime(SECRET)),
    succeeds(lambda: os.rename(RESULTS, "results.json")),
    succeeds(lambda: os.symlink(SECRET, "secret") or open("secret", "rb").read()),
    succeeds(lambda: open("/proc/%d/environ" % os.getppid(), "rb").read()),
    succeeds(lambda: os.kill(os.getppid(), 9)),
]
WORKS = succeeds(lambda: open(os.__file__, "rb").read(10))
"""

SAYS_SO = {
    "attention-scores-answer": "def dot_product_scores(q, k):\n    return q @ k.mT if any(REACHED) else 0 * (q @ k.mT)",
    "attention-scale-answer": "def scale_scores(scores, d_head):\n    return scores / d_head**0.5 if WORKS else scores",
}
"""The first is right where anything was reached, the second where reaching for something that is allowed works."""


@pytest.mark.usefixtures("processes")
def test_hostile_code_reaches_neither_the_secret_nor_the_answers_nor_the_results(container: Path) -> None:
    def attack(notebook: dict[str, Any]) -> None:
        for cell in notebook["cells"]:
            written = SAYS_SO.get(cell["metadata"].get("nbgrader", {}).get("grade_id"))
            if written:
                attempts = ATTEMPTS.format(root=str(container))
                cell["source"] = f"{cell['source'][0]}{attempts}\n{written}"  # below the line that marks the cell

    hand_in(container, BY_NAME["gus_untouched"], attack)
    (container / "results" / "results.json").write_text('{"score": 19}')  # of an earlier run
    results = ran(container)
    tests = by_exercise(results)
    assert tests["attention.scale"]["score"] == 1
    assert tests["attention.scores"]["score"] == 0
    secret = container / "source" / "course" / ".katze" / "secret"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert secret.stat().st_uid == os.getuid()
    assert secret.read_bytes().hex() not in json.dumps(results)


@pytest.mark.usefixtures("processes")
def test_what_cannot_be_graded_has_no_score_and_the_instructor_the_reason(
    container: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = container / "results" / "results.json"
    hand_in(container, BY_NAME["zora_not_a_notebook"])
    earlier.write_text('{"score": 19}')
    assert runner.main([str(container)]) == 1
    assert "This could not be graded" in capsys.readouterr().out
    assert not earlier.exists()
    hand_in(container, BY_NAME["ada_reference"])
    earlier.write_text('{"score": 19}')
    monkeypatch.setattr(landlock, "_CREATE_RULESET", 9999)  # a call that no kernel has
    assert runner.main([str(container)]) == 1
    assert "sandboxes at level L2 are not possible here (no Landlock" in capsys.readouterr().out
    assert not earlier.exists()


def test_without_its_secret_an_archive_grades_nothing(container: Path) -> None:
    secret = container / "source" / "course" / ".katze" / "secret"
    content = secret.read_bytes()
    secret.unlink()
    try:
        with pytest.raises(BadInput, match="upload the archive"):
            runner.grade_submission(container)
        assert not secret.exists()
    finally:
        secret.write_bytes(content)


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("", "gradescope"),
        ("[]", "gradescope"),
        ('{"users": [{"id": "../../x"}]}', "gradescope"),
        ('{"users": [{}]}', "gradescope"),
        ('{"users": [{"id": 31}, {"id": 4}]}', "gradescope-4-31"),
        ('{"users": [{"id": 4}, {"id": 31}]}', "gradescope-4-31"),
    ],
)
def test_a_group_has_one_name_and_metadata_that_says_nothing_stops_nobody(
    tmp_path: Path, content: str, name: str
) -> None:
    file = tmp_path / "submission_metadata.json"
    assert runner.read_submitters(file) == "gradescope"
    file.write_text(content)
    assert runner.read_submitters(file) == name
