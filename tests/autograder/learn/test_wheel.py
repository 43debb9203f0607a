"""`pip install` is enough to learn with: no clone, and no network once the packages are there."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from autograder.course.released import REPOSITORY
from course_lib import exercises
from tests.once import copied_checkout

STUB = "raise NotImplementedError()"


def ran(*command: str | Path, cwd: Path, status: int = 0) -> str:
    """What a command prints, in an environment that knows nothing of this checkout."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("KATZE_", "PYTHON", "PIP_"))}
    done = subprocess.run(
        command,
        cwd=cwd,
        env=kept,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == status, done.stdout
    return done.stdout


def pip(*arguments: str | Path, cwd: Path) -> str:
    quiet = ("--disable-pip-version-check", "--no-input")
    return ran(sys.executable, "-m", "pip", *quiet, *arguments, cwd=cwd)


@pytest.fixture(scope="module")
def wheel(processes: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of what git does not ignore here, built in a copy: building leaves folders behind."""
    copied = copied_checkout(tmp_path_factory.mktemp("wheel") / "katze")
    pip("wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", "..", ".", cwd=copied)
    shutil.rmtree(copied)
    (built,) = copied.parent.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def commands(processes: None, wheel: Path) -> Path:
    """The folder of programs of an environment with the wheel, and beside it the packages that are installed here."""
    place = wheel.parent / "environment"
    venv.create(place, symlinks=True)
    programs = place / "bin"
    pip("--python", programs / "python", "install", "--no-deps", "--no-index", wheel, cwd=wheel.parent)
    (packages,) = place.glob("lib/python*/site-packages")
    # A folder named so has its own .pth files left unread, so that the editable installation of this checkout is out.
    (packages / "others.pth").write_text("\n".join(sysconfig.get_path(kind) for kind in ("purelib", "platlib")))
    return programs


def test_every_lesson_comes_with_the_wheel(commands: Path, tmp_path: Path) -> None:
    imported = ran(
        commands / "python",
        "-c",
        "import autograder, course_lib; print(autograder.__file__); print(course_lib.__file__)",
        cwd=tmp_path,
    )
    assert all(Path(line).is_relative_to(commands.parent) for line in imported.splitlines())
    assert len(imported.splitlines()) == 2

    (tmp_path / "katze").symlink_to(commands / "katze")  # as pipx and uv put it on the path
    ran(tmp_path / "katze", "learn", "--no-lab", cwd=tmp_path)
    work = tmp_path / "work"
    start = (work / "start.ipynb").read_text(encoding="utf-8")
    assert "https://github.com/katze-course/katze/issues" in start, "which an installed package knows without settings"
    assert [path.name for path in sorted(work.iterdir()) if path.is_dir() and path.name != ".katze"] == list(
        exercises.LESSONS
    )
    for lesson in exercises.LESSONS:
        released = REPOSITORY / "notebooks" / lesson / f"{lesson}.ipynb"
        assert (work / lesson / f"{lesson}.ipynb").read_bytes() == released.read_bytes()
    assert all(f"{lesson}/{lesson}.ipynb" in start for lesson in exercises.LESSONS)


def test_a_script_of_it_is_answered_checked_and_solved(commands: Path, tmp_path: Path) -> None:
    told = ran(commands / "katze", "learn", "--scripts", cwd=tmp_path)
    assert all(f"{lesson}.py" in told for lesson in exercises.LESSONS)
    script = tmp_path / "work" / "01_attention.py"
    text = script.read_text(encoding="utf-8")
    before, after = text[: text.index("def scale_scores")], text[text.index("def scale_scores") :]
    answered = before + after.replace(STUB, "return scores / d_head**0.5", 1)
    script.write_text(answered + '\nprint(solution("attention.scale"))\n', encoding="utf-8")
    shown = ran(commands / "python", script, cwd=script.parent)
    assert "attention.scores: Not written yet, 0 of 1 point" in shown
    assert "attention.scale: Right, 1 of 1 point" in shown
    assert "[picture: " in shown
    assert "attention.scale: Solution" in shown


def test_an_answer_is_graded_by_it(commands: Path, tmp_path: Path) -> None:
    """In a sandbox, which has to find the packages where they are."""
    (tmp_path / "mine.py").write_text("def scale_scores(scores, d_head):\n    return scores / d_head**0.5\n")
    assert "attention.scale: Right, 1 of 1 point" in ran(
        commands / "katze", "check", "attention.scale", "mine.py", cwd=tmp_path
    )


def test_another_package_of_the_same_name_is_reported_and_its_removal_mends_it(
    commands: Path, wheel: Path, tmp_path: Path
) -> None:
    """PyPI has an `autograder`; pip lets it overwrite ours."""
    other = tmp_path / "autograder-3.7-py3-none-any.whl"
    information = "autograder-3.7.dist-info"
    files = {
        "autograder/__init__.py": "import antlr4\n",
        f"{information}/METADATA": "Metadata-Version: 2.1\nName: autograder\nVersion: 3.7\n",
        f"{information}/WHEEL": "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in (*files, f"{information}/RECORD"))
    with zipfile.ZipFile(other, "w") as archive:
        for name, text in (files | {f"{information}/RECORD": record}).items():
            archive.writestr(name, text)
    pip_there = ("--python", commands / "python")
    again = "install Katze again as you did before, with `--force-reinstall --no-deps`.\n"

    pip(*pip_there, "install", "--no-index", other, cwd=tmp_path)
    told = ran(commands / "katze", "exercises", cwd=tmp_path, status=2)
    assert told.startswith("katze: ")
    assert told.endswith(f"run `{commands / 'python'} -m pip uninstall --yes autograder`, then {again}")

    pip(*pip_there, "uninstall", "--yes", "autograder", cwd=tmp_path)
    told = ran(commands / "katze", "exercises", cwd=tmp_path, status=2)
    assert told == f"katze: its package `autograder` is not whole: {again}"

    pip(*pip_there, "install", "--force-reinstall", "--no-deps", "--no-index", wheel, cwd=tmp_path)
    assert "attention.scale" in ran(commands / "katze", "exercises", cwd=tmp_path)
