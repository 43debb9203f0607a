"""Followed word for word, the page on contributing works: a first change, and an exercise that leaves all tests green.

Both are tried in a copy of the repository, with the packages that are installed here.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("thorough", "processes")

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Add a lesson")[0]
REFERENCE, TEST, EXERCISE, ROW, CELLS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)

NOT_COPIED = (".git", ".venv", ".*_cache", ".hypothesis", "__pycache__", "build", "*.egg-info")

FIRST_CHANGE, PROOF = (
    [line.partition("#")[0].strip() for line in part.splitlines() if line.startswith("    ")]
    for part in (PAGE.partition("## Add an exercise")[0], PAGE.partition("**4. Prove it.**")[2])
)
"""The commands that the page gives for them."""


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The repository as a stranger has it, with the environment of this one."""
    for ready in (Path(sys.prefix, ".ready"), Path(sys.prefix, ".ready-dev")):
        if not ready.exists() or ready.stat().st_mtime < (ROOT / "pyproject.toml").stat().st_mtime:
            pytest.fail("run `make dev` first: the copy's would change this environment")
    place = tmp_path_factory.mktemp("stranger") / "katze"
    shutil.copytree(ROOT, place, ignore=shutil.ignore_patterns(*NOT_COPIED))
    run(place, "git init --quiet && git add --all")
    (place / ".venv").symlink_to(sys.prefix)
    yield place
    shutil.rmtree(place)


@pytest.fixture(scope="module")
def copy(clone: Path) -> Path:
    """The same after its first change, and with the page's exercise."""
    follow(clone)
    return clone


def follow(place: Path) -> None:
    """The page's steps 1 to 3; where a reader is trying them, they are done already."""
    exercises = place / "course_lib/exercises/attention"
    if (exercises / "entropy.py").exists():
        return
    append(place / "course_lib/attention.py", REFERENCE)
    tests = place / "tests/course_lib/test_attention.py"
    append(tests, TEST)
    insert(tests, "    attention,\n", "    attention_entropy,\n")
    (exercises / "entropy.py").write_text(EXERCISE, encoding="utf-8")
    insert(exercises / "__init__.py", "    softmax_jacobian,\n", "    entropy,\n", times=2)
    lesson = place / "solutions/01_attention/01_attention.py"
    insert(lesson, "# | 9 | a short answer, in words | 2 | 10 |\n", ROW)
    survivors = place / "benchmarks/mutation_survivors.toml"
    insert(survivors, '"attention.softmax_jacobian", "attention.gradients",', ' "attention.entropy",')
    insert(lesson, "", CELLS, before="# %% [markdown]\n# ## 5. What attention replaced\n")


def append(path: Path, text: str) -> None:
    path.write_text(f"{path.read_text(encoding='utf-8')}\n\n{text}", encoding="utf-8")


def insert(path: Path, after: str, text: str, *, before: str = "", times: int = 1) -> None:
    """Put text between two others, which must be there so many times."""
    whole = path.read_text(encoding="utf-8")
    assert whole.count(after + before) == times, f"{path.name} no longer reads {after + before!r}"
    path.write_text(whole.replace(after + before, after + text + before), encoding="utf-8")


def run(place: Path, command: str) -> str:
    """What a command says in the copy, which it must take for the repository, and find nothing wrong with."""
    environment = os.environ | {"PYTHONPATH": str(place)}
    done = subprocess.run(
        ["bash", "-c", command], cwd=place, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, command + done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def test_the_page_has_the_commands_that_are_followed_here() -> None:
    assert FIRST_CHANGE[0] == "make dev"
    assert {"make quick", "make format", "make lint"} < {*FIRST_CHANGE}
    assert PROOF[-1] == "make test"


@pytest.mark.parametrize("command", dict.fromkeys(FIRST_CHANGE))
def test_a_first_change(clone: Path, command: str) -> None:
    run(clone, command)


@pytest.mark.parametrize("command", PROOF)
def test_an_exercise(copy: Path, command: str) -> None:
    said = run(copy, command)
    if "certify" in command:
        assert re.search(r"attention\.entropy +1 +4/4 +6/6 +6/6 +yes", said)


def test_the_exercise_s_solution_passes(copy: Path) -> None:
    answer = copy / "answer.py"
    answer.write_text("import torch\n" + CELLS.split("# %%")[2].partition("\n")[2], encoding="utf-8")
    assert "1 of 1 point" in run(copy, f".venv/bin/katze check attention.entropy {answer}")
