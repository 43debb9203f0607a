"""What a student is told about a notebook before handing it in."""

import io
import json
import re
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from shlex import quote
from types import ModuleType, SimpleNamespace
from typing import Any

import nbformat
import pytest

from autograder import preflight as module
from autograder.box.confinement.selftest import self_test
from autograder.cli import main
from autograder.console import output_console
from autograder.course import released as places
from autograder.errors import BadInput, Unreadable
from autograder.intake import this_notebook
from autograder.intake.submission import find_submission
from autograder.preflight import LOOK, READY, UNREADABLE, Preflight, State, preflight, print_preflight, write_mended
from autograder.repair import Release, answers_in
from course_lib.exercises import COURSE
from tests.autograder.answered_lesson import EXERCISES, LESSON, RELEASED, Notebook, filled, graded, released

pytestmark = pytest.mark.usefixtures("processes")

Save = Callable[..., Path]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    def saved(notebook: Notebook, name: str = f"{LESSON}.ipynb") -> Path:
        path = tmp_path / name
        path.write_text(json.dumps(notebook), encoding="utf-8")
        return path

    return saved


def code(source: str) -> dict[str, Any]:
    return dict(nbformat.v4.new_code_cell(source))


def states(found: Preflight) -> dict[str, State]:
    return {answer.exercise: answer.state for answer in found.answers}


def shown(found: Preflight) -> str:
    screen = io.StringIO()
    print_preflight(found, output_console(screen, 200))
    return screen.getvalue()


def test_a_notebook_with_all_answers_is_ready(save: Save) -> None:
    found = preflight(save(filled()))
    assert (found.status, found.lesson, found.repairs, found.remarks) == (READY, LESSON, (), ())
    assert set(states(found).values()) == {State.WRITTEN}
    assert sum(answer.points for answer in found.answers) == sum(exercise.points for exercise in EXERCISES) + 2
    assert "Ready to submit. Nothing was run" in shown(found)


@pytest.mark.parametrize("seat", ["colab", "vscode", "jupyter", "unsaved", "unknown"])
def test_in_a_cell_it_looks_at_that_notebook(save: Save, seat: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path, shell = save(filled(), "mine.ipynb"), SimpleNamespace(user_ns={})
    monkeypatch.setattr(this_notebook, "running_shell", lambda: shell)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    if seat == "colab":
        named = {**filled(), "metadata": {"colab": {"name": "mine.ipynb"}}}
        colab, message = ModuleType("google.colab"), ModuleType("google.colab._message")
        message.blocking_request = lambda asked, timeout_sec: {"ipynb": named}  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "google.colab", colab)
        monkeypatch.setitem(sys.modules, "google.colab._message", message)
    elif seat == "vscode":
        shell.user_ns["__vsc_ipynb_file__"] = str(path)
    elif seat != "unknown":
        monkeypatch.setenv("JPY_SESSION_NAME", str(path if seat == "jupyter" else path.with_name("new.ipynb")))
    if seat in ("unsaved", "unknown"):
        with pytest.raises(BadInput, match="name it" if seat == "unknown" else "save this notebook, and name its"):
            preflight()
    else:
        assert repr(preflight()).startswith(f"mine.ipynb, lesson {LESSON}")


def test_an_untouched_notebook_is_to_be_looked_at(save: Save) -> None:
    found = preflight(save(released()))
    assert found.status == LOOK
    assert set(states(found).values()) == {State.UNTOUCHED}
    assert shown(found).endswith("Nothing is written yet, so there is nothing to submit.\n")


def test_the_release_itself_is_not_compared_with_itself(tmp_path: Path) -> None:
    link = tmp_path / "mine.ipynb"
    link.symlink_to(RELEASED)
    said = f"is the released notebook itself: .* `katze learn --move-answers {LESSON}` moves"
    for path in (RELEASED, link):
        with pytest.raises(BadInput, match=said):
            preflight(path)
    link.unlink()
    link.write_bytes(RELEASED.read_bytes())
    assert preflight(link).lesson == LESSON


@pytest.mark.parametrize(
    ("source", "state", "said"),
    [
        ("def scale_scores(scores, d_head):\n    return (scores", State.SYNTAX_ERROR, "line 2: '(' was never closed"),
        ("%time 1\ndef scale_scores(scores d_head):", State.SYNTAX_ERROR, "line 2: "),
        ("def scale_score(scores, d_head):\n    return scores", State.UNDEFINED, "cell defines `scale_score`; "),
        ("scale_scores", State.UNDEFINED, "no cell defines scale_scores"),
        ("def scale_scores(scores, d_head):\n    x = 1\n    raise NotImplementedError()", State.UNFINISHED, "still"),
        ("%timeit 1\ndef scale_scores(scores, d_head):\n    return scores", State.WRITTEN, ""),
        ("x = '\x1b[2J\x1b]0;title\x07", State.SYNTAX_ERROR, "line 1: unterminated string literal"),
        ("x = '\\0'\n" + "(" * 300 + ")" * 300, State.SYNTAX_ERROR, "too many nested parentheses"),
    ],
)
def test_what_is_wrong_with_an_answer_is_told_without_running_it(
    save: Save, source: str, state: State, said: str
) -> None:
    notebook = filled()
    graded(notebook, "attention.scale", "answer")["source"] = source
    found = preflight(save(notebook))
    [answer] = [answer for answer in found.answers if answer.exercise == "attention.scale"]
    assert answer.state is state
    assert said in answer.detail
    assert found.status == (READY if state is State.WRITTEN else LOOK)
    assert said in shown(found)
    assert "\x1b" not in shown(found)


def test_a_rule_that_grading_finds_broken_is_found_without_running_it(save: Save) -> None:
    notebook = filled()
    graded(notebook, "attention.scaled_dot_product", "answer")["source"] = (
        "import torch.nn.functional as F\n"
        "def scaled_dot_product_attention(q, k, v):\n    return F.scaled_dot_product_attention(q, k, v)"
    )
    weights = graded(notebook, "attention.weights", "answer")
    right = code(weights["source"].partition("\n")[2])
    weights["source"] = "def attention_weights(scaled):\n    return scaled.softmax(-1)"
    notebook["cells"].append(right)
    answers = {answer.exercise: answer for answer in preflight(save(notebook)).answers}
    for exercise, line in [
        ("attention.scaled_dot_product", "line 3: return F.scaled_dot_product_attention(q, k, v)"),
        ("attention.weights", "line 2: return scaled.softmax(-1)"),
    ]:
        assert answers[exercise].state is State.RULE_BROKEN
        assert line in answers[exercise].detail


@pytest.mark.parametrize("behind", [0, 1, 5])
def test_an_answer_in_a_cell_of_ones_own_counts(save: Save, behind: int) -> None:
    notebook = released()
    own = code("def scale_scores(scores, d_head):\n    return scores / d_head**0.5")
    stub = notebook["cells"].index(graded(notebook, "attention.scale", "answer"))
    notebook["cells"].insert(stub + behind, own)
    found = preflight(save(notebook))
    assert states(found)["attention.scale"] is State.WRITTEN
    assert states(found)["attention.scores"] is State.UNTOUCHED
    assert found.repairs[:2] == (
        "The answer to attention.scale was found in a cell other than its own.",
        "A copy of the cell of attention.scale in which nothing was written was left out.",
    )


def test_repairs_are_told_and_a_mended_copy_needs_none(save: Save, tmp_path: Path) -> None:
    notebook = filled()
    notebook["cells"].remove(graded(notebook, "attention.scale", "check"))
    for cell in notebook["cells"]:
        cell["metadata"] = {}
    found = preflight(save(notebook))
    assert found.status == LOOK
    assert "The check of attention.scale was missing and was put back." in found.repairs
    assert "Grading will repair this:" in shown(found)
    copy = tmp_path / "mended.ipynb"
    write_mended(found, copy)
    written = nbformat.read(copy, as_version=4)
    nbformat.validate(written)
    assert not any("katze" in part.metadata for part in (written, *written.cells))
    again = preflight(copy)
    assert (again.status, again.repairs) == (READY, ())
    with pytest.raises(BadInput, match="exists already"):
        write_mended(found, copy)
    with pytest.raises(BadInput, match="cannot write"):
        write_mended(found, tmp_path / "nowhere" / "x.ipynb")


def test_another_lesson_and_another_version_are_told(save: Save) -> None:
    path = save(filled())
    with pytest.raises(Unreadable, match="This is the notebook of 01_attention, not of 02_masking"):
        preflight(path, lesson="02_masking")
    with pytest.raises(BadInput, match="no lesson 'x'; there are: .*01_attention, 02_masking"):
        preflight(path, lesson="x")
    notebook = filled()
    for cell in notebook["cells"]:
        if not cell["metadata"].get("nbgrader"):
            cell["source"] += " (2019)"
    assert "may come from another version" in preflight(save(notebook)).remarks[0]


def test_a_file_named_after_another_lesson_is_told(save: Save) -> None:
    for name in ("02_masking.ipynb", "Copy of 02_Masking (1).ipynb"):
        found = preflight(save(filled(), name))
        assert (found.status, found.lesson) == (LOOK, LESSON)
        said = f"The file is named {name}, but it is the notebook of 01_attention. Handed in for 02_masking it would"
        assert found.remarks[0].startswith(said)
        assert "Submit it for 01_attention, not for 02_masking." in shown(found)
        assert "as it is" not in shown(found)
    assert preflight(save(filled(), "mine.ipynb")).status == READY


def test_a_notebook_of_two_lessons_is_told(save: Save) -> None:
    notebook = filled()
    masking = json.loads((RELEASED.parents[1] / "02_masking" / "02_masking.ipynb").read_text(encoding="utf-8"))
    notebook["cells"] = [*notebook["cells"][: len(notebook["cells"]) // 2], *masking["cells"]]
    found = preflight(save(notebook), lesson=LESSON)
    assert "This is the notebook of lesson 02_masking, not of 01_attention." in found.remarks


def test_a_large_file_is_told(save: Save, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(filled())
    monkeypatch.setattr(module, "LARGE_BYTES", 1000)
    assert "clear the outputs" in preflight(path).remarks[0]
    monkeypatch.setattr(module, "NOTEBOOK_BYTES", 1000)
    with pytest.raises(Unreadable, match="clear its outputs"):
        preflight(path)


def test_a_script_is_read_as_when_graded(tmp_path: Path) -> None:
    script = tmp_path / "answers.py"
    script.write_text("# %%\n# katze: attention.scale answer\ndef scale_scores(scores, d_head):\n    return scores\n")
    assert states(preflight(script))["attention.scale"] is State.WRITTEN


def test_of_a_folder_and_of_an_archive_the_notebook_is_read_that_grading_would(save: Save, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    done = save(filled(), f"work/{LESSON}_final.ipynb")
    untouched = save(released(), f"work/{LESSON}.ipynb")
    with zipfile.ZipFile(tmp_path / "answers.zip", "w") as archive:
        for path in (done, untouched):
            archive.write(path, path.name)
    answers = answers_in(Release.load(RELEASED), LESSON, COURSE)
    in_grading, _ = find_submission(done.parent, LESSON, answers)
    for path in (done.parent, tmp_path / "answers.zip"):
        found = preflight(path)
        assert all(answer.is_ready for answer in found.answers)
        assert found.repairs[-2] == in_grading.notes[0]  # the archive comes before it


def test_a_plain_file_is_told_how_one_answer_is_checked(tmp_path: Path) -> None:
    plain = tmp_path / "my answer's.py"
    plain.write_text("def scale_scores(scores, d_head):\n    return scores\n")
    said = f"is not a notebook; .* `katze check EXERCISE_ID {re.escape(quote(str(plain)))}`"
    with pytest.raises(BadInput, match=said):
        preflight(plain)


def test_the_release_may_be_named(save: Save, tmp_path: Path) -> None:
    path = save(filled())
    assert preflight(path, release=RELEASED).status == READY
    with pytest.raises(BadInput, match="cannot read"):
        preflight(path, release=tmp_path / "none.ipynb")
    plain = save({"cells": [], "nbformat": 4}, "plain.ipynb")
    for other in (plain, Path(__file__)):
        with pytest.raises(BadInput, match="is not a released notebook"):
            preflight(path, release=other)


def test_a_release_beside_an_installed_package_is_found_as_well(
    save: Save, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(places, "REPOSITORY", tmp_path)
    monkeypatch.setattr(places, "INSTALLED", tmp_path / "share")
    path = save(filled())
    with pytest.raises(BadInput, match="name the one you were given with --release"):
        preflight(path)
    (tmp_path / "share").mkdir()
    (tmp_path / "share" / f"{LESSON}.ipynb").write_bytes(RELEASED.read_bytes())
    assert preflight(path).status == READY


def test_a_notebook_of_no_lesson_is_refused(save: Save) -> None:
    path = save({"cells": [code("1")], "metadata": {}, "nbformat": 4})
    with pytest.raises(Unreadable, match="is this the notebook you meant"):
        preflight(path)
    with pytest.raises(Unreadable, match=r"known here \(01_attention\): is this the notebook you meant"):
        preflight(path, release=RELEASED)
    with pytest.raises(Unreadable, match="none of its cells is from lesson 01_attention"):
        preflight(path, lesson=LESSON)


def test_answers_are_checked_on_what_students_see_and_looked_at_where_they_count(save: Save) -> None:
    if self_test():
        pytest.skip("no sandboxes at level L2 here")
    notebook, empty = filled(), released()
    own = {}
    for name in ("scores", "weights", "gradients"):
        cell = graded(notebook, f"attention.{name}", "answer")
        own[name] = cell["source"].partition("\n")[2]
        cell["source"] = graded(empty, f"attention.{name}", "answer")["source"]
    graded(notebook, "attention.scale", "answer")["source"] = "def scale_scores(scores, d_head):\n    return scores"
    unfinished = "def attention_gradients(q, k, v, of_out):\n    raise NotImplementedError()"
    notebook["cells"].insert(4, code(f"{own['weights']}\n\n{unfinished}"))
    graded(notebook, "attention.scaled_dot_product", "check")["source"] += f"\n\n{own['scores']}"
    notebook["cells"] += [
        code("def scale_scores(scores, d_head):\n    raise NotImplementedError()"),
        code("def attention_weights(scaled):\n    return torch.softmax(scaled, -1)"),
        code("def softmax_jacobian(scores)"),
    ]
    found = preflight(save(notebook), run=True)
    verdicts = {answer.exercise: answer.verdict for answer in found.answers if answer.verdict}
    assert len(verdicts) == len(EXERCISES)
    failed = {name for name, verdict in verdicts.items() if not verdict.passed}
    assert failed == {"attention.scale", "attention.gradients"}
    looks = states(found)
    assert looks.pop("attention.gradients") is State.UNFINISHED
    assert set(looks.values()) == {State.WRITTEN}
    assert not any(case.hidden for verdict in verdicts.values() for case in verdict.cases)
    assert "Not yet right: Your answer returns the scores unchanged." in shown(found)


def test_the_command_writes_json_and_a_mended_copy_and_its_status_says_what_to_do(
    save: Save, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, broken = tmp_path / "out.ipynb", save({}, "broken.ipynb")
    assert main(["preflight", str(save(filled())), "--json", "--write", str(out)]) == READY
    record = json.loads(capsys.readouterr().out)
    assert record["ready"]
    assert [entry["state"] for entry in record["exercises"]] == ["written"] * (len(EXERCISES) + 1)
    assert out.exists()
    assert main(["preflight", str(save(released()))]) == LOOK
    broken.write_text('{"cells": [')
    for path, status, said in ((broken, UNREADABLE, "breaks off at line 1"), (tmp_path / "x.ipynb", 2, "cannot read")):
        assert main(["preflight", str(path)]) == status
        assert said in capsys.readouterr().err
