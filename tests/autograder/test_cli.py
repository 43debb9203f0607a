"""The command as a user types it: what it prints, what it writes, and its exit status."""

import contextlib
import errno
import io
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.box.confinement.selftest import choose_level
from autograder.cli import main, make_parser
from autograder.commands.author import certify
from autograder.commands.semester import grade
from autograder.course.course import Course
from tests.autograder.conftest import Katze
from tests.autograder.gradebook.earlier import change
from tests.autograder.gradebook.toy_lesson import make_gradebook
from tests.autograder.small_class import LESSON, ROOT, answer, make_course

RELEASE = f"notebooks/{LESSON}/{LESSON}.ipynb"

RIGHT = "def dot_product_scores(q, k):\n    return q @ k.transpose(-2, -1)\n"
TRANSPOSED = "def flipped(q, k):\n    return k @ q.transpose(-2, -1)\n"


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty course with the repository's release, and the current directory."""
    monkeypatch.chdir(tmp_path)
    return make_course(tmp_path).root


def submit(course: Path, student: str, **answers: str) -> Path:
    """Hand in the release with these answers filled in."""
    return answer(Course.find(course), student, {f"attention-{name}-answer": text for name, text in answers.items()})


@pytest.mark.parametrize(
    ("typed", "said"),
    [("grad", "did you mean `katze grade`?"), ("xyz", "`katze --help` lists what there is.")],
)
def test_of_a_command_that_there_is_not_the_nearest_is_named(typed: str, said: str, katze: Katze) -> None:
    assert katze(typed, "01_attention", status=2) == f"katze: there is no command {typed!r}; {said}\n"


# check


@pytest.fixture
def answer_file(tmp_path: Path) -> Path:
    file = tmp_path / "answer.py"
    file.write_text("import torch\n" + RIGHT + TRANSPOSED)
    return file


@pytest.mark.usefixtures("processes")
def test_check_passes_a_right_answer(answer_file: Path, katze: Katze, tmp_path: Path) -> None:
    assert "Right, 1 of 1 point" in katze("check", "attention.scores", answer_file, "--json", tmp_path / "out.json")
    record = json.loads((tmp_path / "out.json").read_text())
    assert list(record) == [
        "exercise", "passed", "points", "max_points", "outcome", "misconception", "cases", "level",
    ]  # fmt: skip
    assert record["passed"] is True
    assert record["level"] == choose_level().name
    assert {case["hidden"] for case in record["cases"]} == {True, False}


@pytest.mark.usefixtures("processes")
def test_check_names_the_mistake_of_another_name(answer_file: Path, katze: Katze) -> None:
    typed = ("check", "attention.scores", f"{answer_file}:flipped", "--visible-only", "--json")
    record = json.loads(katze(*typed, status=1))
    assert record["misconception"] == "keys_as_rows"
    assert record["points"] == 0
    assert not any(case["hidden"] for case in record["cases"])


@pytest.mark.usefixtures("processes")
def test_check_tells_a_syntax_error(tmp_path: Path, katze: Katze) -> None:
    (tmp_path / "broken.py").write_text("def dot_product_scores(q, k:\n    return q")
    said = " ".join(katze("check", "attention.scores", tmp_path / "broken.py", status=1).split())
    assert "broken.py stops with SyntaxError in line 1: '(' was never closed: `def dot_product_scores(q, k:`" in said
    assert "cell" not in said


@pytest.mark.usefixtures("processes")
def test_check_refuses_what_is_not_there(answer_file: Path, tmp_path: Path, katze: Katze) -> None:
    assert "attention.scores" in katze("check", "attention.score", answer_file, status=2)
    assert "cannot read" in katze("check", "attention.scores", tmp_path / "no.py", status=2)
    assert "not a name" in katze("check", "attention.scores", f"{answer_file}:1+1", status=2)
    for name, quoted in (("x.ipynb", "x.ipynb"), ("my x.ipynb", "'my x.ipynb'"), ("$x;.ipynb", "'$x;.ipynb'")):
        said = katze("check", "attention.scores", name, status=2)
        assert f"is a notebook; check all its answers with `katze preflight {quoted} --run`" in said
    (tmp_path / "latin.py").write_bytes("# é".encode("latin-1"))
    assert "is read by a person" in katze("check", "attention.why_scale", "answer.py", status=2)
    assert "UTF-8" in katze("check", "attention.scores", tmp_path / "latin.py", status=2)


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("wanted", ["", ":scores"])
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import torch\n\ndef mine(q, k):\n    return q @ k.T\n", "it defines mine. If one of them is the answer"),
        ("".join(f"def f{n}(): ...\n" for n in range(7)), "it defines f0, f1, f2, f3, f4 and 2 more."),
        ("x = 1", "defines no function or class at its top level; write `def "),
    ],
)
def test_check_says_what_a_file_without_the_answer_defines(
    tmp_path: Path, source: str, said: str, wanted: str, katze: Katze
) -> None:
    (tmp_path / "b c.py").write_text(source)
    told = katze("check", "attention.scores", f"{tmp_path / 'b c.py'}{wanted}", status=2)
    assert said in told
    if "If one of them" in told:
        assert f"`katze check attention.scores '{tmp_path}/b c.py:" in told
    assert (wanted[1:] or "dot_product_scores") in told


# exercises and certify


def test_exercises_lists_them(katze: Katze) -> None:
    records = json.loads(katze("exercises", "--json"))
    assert list(records[0]) == ["id", "lesson", "points", "minutes", "misconceptions", "statement"]
    assert len(records) >= 10
    assert "attention.scores" in katze("exercises", "--lesson", LESSON)
    assert "03_nothing" in katze("exercises", "--lesson", "03_nothing", status=2)


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
@pytest.mark.parametrize("arguments", [["exercises"], ["exercises", "--lesson", "99_\u03b1\u2713"], ["--help"]])
def test_every_message_prints_on_a_console_of_few_characters(
    arguments: list[str], encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = io.BytesIO()
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, io.TextIOWrapper(shown, encoding, write_through=True))
    with contextlib.suppress(SystemExit):
        main(arguments)
    assert len(shown.getvalue()) > 20


def test_certify_takes_lessons_and_exercises(katze: Katze) -> None:
    records = json.loads(katze("certify", "--course", ROOT, "--json", "-", "masking.causal_mask", "attention.scale"))
    assert [record["id"] for record in records] == ["masking.causal_mask", "attention.scale"]
    for record in records:
        assert record["correct"][0] == record["correct"][1] >= 4
        assert record["misconceptions"][0] == record["misconceptions"][1] == record["misconceptions"][2] >= 6
        assert record["stub_rejected"] is True
    told = katze("certify", "--course", ROOT, "attention.scael", status=2)
    assert "did you mean attention.scale" in told
    assert told.rstrip().endswith("?")


@pytest.mark.parametrize("name", make_parser()[1])
def test_the_help_of_every_command_ends_with_an_example_that_it_understands(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([name, "--help"])
    example = capsys.readouterr().out.rstrip().rpartition("example: ")[2]
    parser, commands = make_parser()
    assert example == commands[name].module.EXAMPLE
    typed = shlex.split(example.removeprefix('eval "$(').removesuffix(')"'))
    assert typed[:2] == ["katze", name]
    assert parser.parse_args(typed[1:]).command == name


def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "certify" in capsys.readouterr().err


# grade


@pytest.mark.usefixtures("processes")
def test_grade_writes_records_gradebook_notebook_and_feedback(course: Path, katze: Katze) -> None:
    submit(course, "ada", scores=RIGHT)
    submit(course, "bob").write_bytes(b"\x00\x01 not a notebook")
    told = katze("grade", LESSON, "--json", "out.json", "--workers", "2")
    assert "ada" in told
    records = json.loads((course / "out.json").read_text())
    assert list(records[0]) == [
        "student", "lesson", "exercise", "points", "max_points", "outcome", "misconception", "ruling",
        "worth_a_look", "level", "repairs", "problem", "remarks", "total", "graded_now", "why", "before",
    ]  # fmt: skip
    by_id = {(record["student"], record["exercise"]): record for record in records}
    assert by_id["ada", "attention.scores"]["points"] == 1
    assert by_id["ada", "attention.scale"]["outcome"] == "not_attempted"
    assert by_id["bob", "attention.scores"]["outcome"] == "unreadable"
    assert by_id["bob", "attention.scores"]["points"] is None
    assert by_id["bob", "attention.scores"]["problem"] in " ".join(told.split())
    assert (course / "autograded" / "ada" / LESSON / f"{LESSON}.ipynb").exists()
    assert (course / "feedback" / "ada" / LESSON / f"{LESSON}.html").exists()
    assert "notebook" in (course / "feedback" / "bob" / LESSON / f"{LESSON}.html").read_text()

    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        assert gradebook.find_submission(LESSON, "ada").score == 1


@pytest.mark.usefixtures("processes")
def test_grade_again_tells_what_changed_and_why(course: Path, katze: Katze) -> None:
    submit(course, "ada", scores=TRANSPOSED.replace("flipped", "dot_product_scores"))
    submit(course, "ben")
    katze("grade", LESSON)
    submit(course, "ada", scores=RIGHT)
    shown = " ".join(katze("grade", LESSON, "--json", "out.json").split())
    assert "attention.scores: wrong (keys_as_rows), 0 points -> passed, 1 point" in shown
    assert "1 submission unchanged" in shown
    records = json.loads((course / "out.json").read_text())
    by_id = {(record["student"], record["exercise"]): record for record in records}
    changed = by_id["ada", "attention.scores"]
    assert changed["before"] == {"points": 0, "outcome": "wrong", "misconception": "keys_as_rows"}
    assert (changed["graded_now"], changed["why"]) == (True, ["handed in again"])
    same = by_id["ben", "attention.scores"]
    assert (same["graded_now"], same["why"], same["before"]) == (False, [], None)


@pytest.mark.usefixtures("processes")
def test_a_folder_that_is_no_student_id_does_not_stop_the_class(course: Path, katze: Katze) -> None:
    submit(course, "ada")
    submit(course, "zed +é")
    told = katze("grade", LESSON, "--json", "out.json", status=1)
    assert "not graded: the student id 'zed +é' holds +; rename its folder" in told
    records = json.loads((course / "out.json").read_text())
    graded, passed_over = ([one for one in records if one["student"] == name] for name in ("ada", "zed +é"))
    assert len(records) == len(graded) + len(passed_over)
    assert [one["exercise"] for one in graded] == [one["exercise"] for one in passed_over]
    assert {(one["outcome"], one["points"], one["graded_now"]) for one in passed_over} == {("unreadable", None, False)}
    assert {one["problem"] for one in passed_over} == {"the student id 'zed +é' holds +; rename its folder"}
    assert {one["problem"] for one in graded} == {""}
    for folder in ("autograded", "feedback"):
        assert [path.name for path in (course / folder).iterdir()] == ["ada"]
    assert "zed" not in (course / "gradebook.db").read_bytes().decode("latin-1")
    katze("grade", LESSON, "--student", "ada")


def write_over(path: Path, text: str | bytes) -> None:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def newer(gradebook: Path) -> None:
    make_gradebook(gradebook)
    change(gradebook, "UPDATE katze_version SET version_num = '99'")


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize(
    ("spoil", "arguments", "said"),
    [
        (lambda course: None, ["07_nothing"], "01_attention, 02_masking"),
        (lambda course: None, [LESSON, "--student", "zoe"], "no submission of zoe"),
        (lambda course: None, [LESSON, "--student=a|b"], "the student id 'a|b' holds |"),
        (lambda course: submit(course, "a..b"), [LESSON, "--student=a..b"], "student id"),
        (lambda course: shutil.rmtree(course / "submitted"), [LESSON], "submitted"),
        (lambda course: shutil.rmtree(course / "submitted" / "ada"), [LESSON], "no submissions"),
        (lambda course: write_over(course / RELEASE, '{"cells": ['), [LESSON], "run `katze release`"),
        (lambda course: (course / RELEASE).unlink(), [LESSON], f"no lesson '{LESSON}'"),
        (lambda course: write_over(course / "autograded", "in the way"), [LESSON], "cannot write into"),
        (lambda course: write_over(course / "gradebook.db", b"no database" * 100), [LESSON], "gradebook.db"),
        (lambda course: newer(course / "gradebook.db"), [LESSON], "update Katze"),
    ],
)
def test_grade_refuses_before_it_writes(
    course: Path, spoil: Callable[[Path], object], arguments: list[str], said: str, katze: Katze
) -> None:
    submit(course, "ada")
    spoil(course)
    before = {path: path.is_file() and path.read_bytes() for path in course.rglob("*")}
    assert said in katze("grade", *arguments, status=2)
    assert {path: path.is_file() and path.read_bytes() for path in before} == before
    written = {path.name for path in course.iterdir() if path not in before}
    assert not written & {"gradebook.db", "autograded", "feedback"}


@pytest.mark.parametrize(
    ("number", "said"),
    [(errno.ENOSPC, "No space left on device; make room"), (errno.EROFS, "Read-only file system; get permission to")],
)
def test_what_a_disk_refuses_is_one_line(
    number: int, said: str, course: Path, katze: Katze, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> None:
        raise OSError(number, os.strerror(number), "/course/x.ipynb")

    monkeypatch.setattr("autograder.course.store.builds.chosen_lessons", refuse)
    assert f"cannot write /course/x.ipynb: {said}" in katze("release", "--course", course, status=2)


def test_what_is_written_below_build_gets_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, katze: Katze, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    katze("exercises", "--json", "build/lists/all.json")
    assert json.loads((tmp_path / "build" / "lists" / "all.json").read_text())
    katze("exercises", "--json", tmp_path / "build" / "other" / "all.json")
    with pytest.raises(SystemExit):
        main(["exercises", "--json", "else/all.json"])
    assert "cannot write else/all.json: there is no folder else; name a file" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["exercises", "--json", "nowhere/build/all.json"])
    assert "there is no folder nowhere;" in capsys.readouterr().err
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.usefixtures("processes")
def test_a_shell_is_told_lessons_and_exercises(katze: Katze) -> None:
    assert "katze" in katze("completion", "bash")
    line = "katze check attention.sca"
    asked = {"_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line)), "IFS": "\013"}
    with tempfile.TemporaryFile() as told:
        script = f"import os; os.dup2({told.fileno()}, 8); from autograder.cli import main; main()"
        subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, **asked}, pass_fds=[told.fileno()], check=True
        )
        told.seek(0)
        assert told.read().decode().split("\013") == ["attention.scale", "attention.scaled_dot_product"]


def test_a_slow_command_says_something_at_once_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(certify, "run", lambda options: 0)
    assert main(["certify"]) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda self: True, raising=False)
    assert main(["certify"]) == 0
    assert capsys.readouterr().err == "katze: trying every answer ...\n"


@pytest.mark.usefixtures("processes")
def test_a_dry_run_starts_no_boxes_and_does_not_say_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(grade, "run", lambda options: 0)
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda self: True, raising=False)
    for options, said in (
        ([], "starting the sandboxes"),
        (["--dry-run"], "comparing"),
        (["--dry-run", "--run"], "starting the sandboxes"),
    ):
        assert main(["grade", LESSON, *options]) == 0
        assert capsys.readouterr().err == f"katze: {said} ...\n"


# logging


@pytest.mark.parametrize(
    ("options", "shown", "written"),
    [
        ([], [], None),
        (["-v"], ["INFO autograder.cli: katze 0", "1 submissions"], None),
        (["-vv"], ["DEBUG autograder.delivery.collect: ada", "1 submissions"], None),
        (
            ["--log", "katze.log"],
            [],
            ["collect in --from folder", "DEBUG autograder.delivery.collect: ada", "exit status 0"],
        ),
        (["-v", "--log", "katze.log"], ["INFO autograder.cli"], ["DEBUG autograder.delivery.collect: ada"]),
    ],
)
def test_a_command_says_what_it_does_when_asked(
    course: Path, capsys: pytest.CaptureFixture[str], options: list[str], shown: list[str], written: list[str] | None
) -> None:
    file = course / "in" / "ada" / f"{LESSON}.ipynb"
    file.parent.mkdir(parents=True)
    file.write_bytes((course / "notebooks" / LESSON / f"{LESSON}.ipynb").read_bytes())
    assert main(["collect", "in", "--from", "folder", *options]) == 0
    told = capsys.readouterr().err
    assert all(one in told for one in shown), told
    assert ("DEBUG" in told, "INFO" in told) == ("-vv" in options, bool(shown))
    log = course / "katze.log"
    assert log.exists() is (written is not None)
    if written is not None:
        assert all(one in log.read_text() for one in written), log.read_text()
        assert log.stat().st_mode & 0o077 == 0


def test_every_command_can_log_and_bad_input_leaves_its_traceback_there(course: Path, katze: Katze) -> None:
    _, commands = make_parser()
    for command in commands.values():
        assert {"-v", "--log"} <= set(command.parser._option_string_actions)
    katze("grade", "77_absent", "--log", "katze.log", status=2)
    assert "BadInput: no lesson '77_absent'" in (course / "katze.log").read_text()


# mine


@pytest.mark.usefixtures("processes")
def test_mine_writes_a_transformer_and_says_whose_its_pieces_are(
    tmp_path: Path, katze: Katze, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KATZE_WORK", str(tmp_path))
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / "attention.scale.py").write_text("def scale_scores(scores, d_head): return scores / root")
    (tmp_path / "answers" / "attention.scores.py").write_text("def dot_product_scores(q, k): return q @ k.mT")
    said = katze("mine", tmp_path, "--json", tmp_path / "out.json")
    assert said.startswith(
        "1 of the 14 pieces of your transformer is your own, and 0 of the 7 that make a GPT of it.\n"
    )
    assert (
        "cannot be joined: it uses root, which its cells do not define. It came from the cell of attention.scale"
        in said
    )
    assert said.endswith(f"run it with: {sys.executable} {tmp_path / 'my_transformer.py'}\n")
    record = json.loads((tmp_path / "out.json").read_text())
    assert [piece["exercise"] for piece in record["pieces"] if piece["own"]] == ["attention.scores"]
    assert f"written: {tmp_path / 'my_course.md'}, with what you have built" in said
    assert "from_gpt2" not in said
    (tmp_path / "next.md").write_text("More to read.")
    monkeypatch.setattr("course_lib.learner.ending.NEXT", tmp_path / "next.md")
    katze("mine", tmp_path)
    assert (tmp_path / "my_course.md").read_text().endswith("More to read.")
    (tmp_path / "my_course.md").write_text("mine")
    assert "my_course.md stays as it is" in katze("mine", tmp_path)
    assert (tmp_path / "my_course.md").read_text() == "mine"
    (gpt2 := tmp_path / "gpt2").mkdir()
    for name in ("config.json", "vocab.json"):
        (gpt2 / name).write_text("{}")
    told = f"{gpt2} has no model.safetensors, merges.txt: it must hold GPT-2 as published"
    assert told in katze("mine", tmp_path, "--gpt2", gpt2, status=2)
    for name in ("model.safetensors", "merges.txt"):
        (gpt2 / name).touch()
    assert "your classes cannot run it: KeyError" in katze("mine", tmp_path, "--gpt2", gpt2, status=2)
    (tmp_path / "my_transformer.py").write_text("my own")
    assert "has been changed, and would be overwritten" in katze("mine", tmp_path, status=2)
    assert "No such file or directory" in katze("mine", tmp_path / "nowhere", status=2)
