"""Fuzzes the code that reads, repairs and shows notebooks, their folders, and the code in them."""

import base64
import json
import os
import tempfile
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import nbformat

from autograder.course.filters import clean_html
from autograder.errors import Unreadable
from autograder.gradebook.record import Conditions, Record
from autograder.intake.submission import Submission, read_notebook, read_submission
from autograder.pages.feedback import render_feedback
from autograder.repair import CellKind, Release, Repaired, answers_in, repair
from benchmarks.fuzz import mutations
from benchmarks.fuzz.pages import require_harmless
from course_lib import exercises
from course_lib.judging.rules import Code, defines

LESSON = "01_attention"
_ROOT = Path(__file__).resolve().parents[2]
_PIXEL = base64.b64encode(
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02" + bytes(9)
).decode()
_ANSWERS = (
    "def dot_product_scores(q, k):\n    return q @ k.mT",
    "1 / 0",
    "import torch\nx = torch.ones(2)",
    "%time 1",
    "",
)

_NESTED = ("(", "[", "lambda: ", "not ", "-", "f(", "x if x else ", "a.", "{", "*", "\n    ", "if 1:\n ")


def make_notebook(random: Random) -> bytes:
    """Make a submission: the release filled in and spoiled, in some encoding, perhaps with broken bytes."""
    notebook = _filled(random)
    data: Any = mutations.spoiled(random, notebook) if random.random() < 0.9 else notebook
    if isinstance(data, dict) and random.random() < 0.1:
        data["nbformat"] = random.choice((2, 3, 5, "4", None, 4.5, -1, 10**30))
    written = mutations.written(random, data)
    return mutations.bent(random, written) if random.random() < 0.2 else written


def run_notebook(data: bytes) -> None:
    """Read, repair and show a notebook: the checks must be the release's, and the page harmless, whatever is in it.

    Raises:
        Exception: a finding.
    """
    try:
        submission = read_notebook(data)
    except Unreadable:
        return
    _show(submission)


def make_folder(random: Random) -> bytes:
    """Make a submission's folder: names, each with its kind and content."""
    names = [f"{LESSON}.ipynb", "timestamp.txt", mutations.text(random), "other.ipynb", ".hidden.ipynb"]
    entries = []
    for name in random.sample(names, random.randint(0, 4)):
        kind = random.choice(("file", "file", "file", "link", "folder", "pipe", "closed", "loop"))
        content = mutations.text(random)
        if name.endswith(".ipynb") and random.random() < 0.5:
            content = json.dumps({"cells": [], "nbformat": 4, "nbformat_minor": 5, "metadata": {}})
        entries.append([name, kind, content])
    return json.dumps(entries).encode()


def run_folder(data: bytes) -> None:
    """Read such a folder: the result must be a submission or a printable reason, and contain nothing from outside.

    Raises:
        Exception: a finding.
    """
    with tempfile.TemporaryDirectory() as root:
        (Path(root) / "secret").write_text("the secret")
        folder = Path(root) / "student" / LESSON
        folder.mkdir(parents=True)
        for name, kind, content in json.loads(data):
            _place(folder, name, kind, content)
        submission, reason = _read(folder)
    assert "the secret" not in f"{reason} {submission!r}"
    assert reason.isprintable(), "a sentence that does not print"
    if submission is not None:
        _show(submission)


def _read(folder: Path) -> tuple[Submission | None, str]:
    """Return the submission in a folder, or the reason why there is none."""
    try:
        return read_submission(folder, LESSON, answers_in(_release(), LESSON, exercises.COURSE)), ""
    except Unreadable as refusal:
        return None, refusal.reason


def make_code(random: Random) -> bytes:
    """Make some cells of code."""
    cells = [random.choice(_ANSWERS) + "\n" + mutations.text(random) for _ in range(random.randint(1, 5))]
    deep = random.choice(_NESTED)
    cells.append("x = " + deep * random.choice((1, 90, 250, 3_000, 9_000)))
    return json.dumps(cells).encode()


def run_code(data: bytes) -> None:
    """Look for forbidden names in cells of code.

    Raises:
        Exception: a finding.
    """
    cells = json.loads(data)
    code = Code(cells)
    for exercise in exercises.of_lesson(LESSON):
        rule = code.broken_rule(exercise.name, exercise.forbidden_names)
        assert rule is None or rule.name in exercise.forbidden_names
        defines(cells[0], exercise.name)


def make_text(random: Random) -> bytes:
    """Make a student's Markdown or HTML."""
    return mutations.text(random).encode("utf-8", "surrogatepass")


def run_text(data: bytes) -> None:
    """Show a text in nbgrader's pages and in ours.

    Raises:
        Exception: a finding.
    """
    shown = data.decode("utf-8", "surrogatepass")
    page = clean_html(shown.encode("utf-8", "replace"))
    require_harmless(page)
    outputs = [{"output_type": "display_data", "data": {"text/html": shown, "text/plain": shown}, "metadata": {}}]
    cells: list[dict[str, Any]] = [
        {"cell_type": kind, "metadata": {}, "source": shown} for kind in ("markdown", "raw", "code")
    ]
    cells.append({"cell_type": "code", "metadata": {}, "source": "1", "outputs": outputs})
    notebook = {"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}
    _show(read_notebook(json.dumps(notebook).encode()))


@cache
def _release() -> Release:
    return Release.load(_ROOT / "notebooks" / LESSON / f"{LESSON}.ipynb")


def _filled(random: Random) -> dict[str, Any]:
    """Return a part of the release with a student's answers, outputs and attachments."""
    notebook: dict[str, Any] = json.loads(json.dumps(_release().notebook))
    cells = random.sample(notebook["cells"], min(12, len(notebook["cells"])))
    for cell in cells:
        if random.random() < 0.3:
            cell["source"] += "\n" + random.choice((*_ANSWERS, mutations.text(random)))
        if cell["cell_type"] == "code":
            cell["outputs"] = [_output(random) for _ in range(random.randint(0, 2))]
        elif random.random() < 0.2:
            cell["attachments"] = {"a.png": {"image/png": _PIXEL}, mutations.text(random): {"image/png": "AAAA"}}
    notebook["cells"] = cells
    return notebook


def _output(random: Random) -> dict[str, Any]:
    shown = mutations.text(random)
    match random.randrange(4):
        case 0:
            return {"output_type": "stream", "name": "stderr", "text": [shown, shown]}
        case 1:
            return {"output_type": "error", "ename": shown, "evalue": shown, "traceback": [shown, shown]}
        case 2:
            return {"output_type": "display_data", "data": {"image/png": _PIXEL, "text/plain": shown}, "metadata": {}}
    data = {"text/html": shown, "text/markdown": shown, "application/json": {"a": shown}}
    return {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": 1}


def _show(submission: Submission) -> None:
    """Repair and render a submission, and require what must hold for every submission."""
    repaired = repair(submission, _release())
    _require_checks(repaired)
    notebook = repaired.notebook()
    json.dumps(notebook, ensure_ascii=False).encode()
    nbformat.validate(nbformat.from_dict(notebook))
    assert all(sentence.isprintable() for sentence in repaired.repairs), "a receipt that does not print"
    record = Record("ada", LESSON, "", "", "", 0, Conditions("", "", {}, {}), (), repaired.repairs)
    page = render_feedback(notebook, record, {})
    require_harmless(page.partition("<body>")[2])


def _require_checks(repaired: Repaired) -> None:
    """Require that every check of the release is there once, word for word, with its points."""
    wanted = {
        cell["metadata"]["nbgrader"]["grade_id"]: (cell["source"], cell["metadata"]["nbgrader"]["points"])
        for cell in _release().notebook["cells"]
        if cell["metadata"].get("nbgrader", {}).get("locked") and cell["metadata"]["nbgrader"].get("grade")
    }
    checks = [cell for cell in repaired.cells if cell.kind is CellKind.CHECK]
    found = {str(cell.nbgrader["grade_id"]): (cell.source, cell.nbgrader["points"]) for cell in checks}
    assert found == wanted, "the checks are not the release's"
    assert len(checks) == len(wanted), "a check that is there twice"


def _place(folder: Path, name: str, kind: str, content: str) -> None:
    """Put something into a folder, if the file system accepts the name."""
    try:
        path = folder / name.replace("/", "_").replace("\0", "_")
        match kind:
            case "file" | "closed":
                path.write_text(content, encoding="utf-8", errors="replace")
                path.chmod(0o600 if kind == "file" else 0)
            case "link":
                path.symlink_to("../../secret")
            case "loop":
                path.symlink_to(path.name)
            case "folder":
                path.mkdir()
            case _:
                os.mkfifo(path)
    except (OSError, ValueError):  # a name that is too long, taken, or invalid
        return
