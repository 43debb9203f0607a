"""Fingerprints: they change with what decides a grade, and with nothing else."""

import copy
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from autograder.grading.digests.fingerprints import (
    changed,
    in_course,
    of_exercise,
    of_release,
    of_submission,
)
from autograder.grading.digests.sources import files_of, of_files
from course_lib import exercises
from tests.autograder.small_class import ROOT
from tests.autograder.small_lesson import released

TOY = '''
"""A toy exercise."""

import math

import torch


from course_lib.judging.exercise import Case, Exercise, Misconception
from course_lib.judging.ready_made import ReadyMade
from course_lib.exercises.common import kinds

FACTOR = 2.0
TABLE = {"a": torch.tensor([1.0, 2.0]), "b": {"x", "y", "z"}}


def helper(x):
    """Helps."""
    return x * FACTOR


def doubled(x):
    """Doubles."""
    # a comment
    return helper(x)


def cases(generator, hidden):
    yield Case("one", (TABLE["a"],))
    for kind in kinds(generator):
        yield Case(kind.name, (kind.normal(3),))


class Net(torch.nn.Module):
    """Some net."""

    width = 3

    def forward(self, x):
        return x + self.width


EXERCISE = Exercise(
    id="toy.double",
    lesson="01_toy",
    name="double",
    title="Doubling",
    statement="double(x): 2x",
    points=2,
    minutes=5,
    section="Doubling",
    source="nowhere",
    reference=doubled,
    cases=cases,
    misconceptions=(Misconception("tripled", "Your answer triples.", lambda x: 3 * x),),
    correct=(lambda x: x + x,),
)
'''


def load(folder: Path, source: str) -> ModuleType:
    path = folder / "toy_exercise.py"
    path.write_text(source)
    spec = importlib.util.spec_from_loader("toy_exercise", loader=None, origin=str(path))
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    exec(compile(source, str(path), "exec"), module.__dict__)
    return module


def fingerprint(folder: Path, *changes: tuple[str, str]) -> dict[str, object]:
    source = TOY
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    return of_exercise(load(folder, source).EXERCISE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# a comment", "# another comment, and a longer one\n    # on two lines"),
        ('    """Doubles."""\n', ""),
        ('"""A toy exercise."""', '"""Another text."""'),
        ("FACTOR = 2.0", 'FACTOR = 2.0\n"""What doubling multiplies by."""'),
        ('statement="double(x): 2x"', 'statement="double(x): x + x"'),
        ('title="Doubling"', 'title="Twice"'),
        ("minutes=5", "minutes=50"),
    ],
)
def test_words_and_what_only_readers_see_do_not_count(tmp_path: Path, old: str, new: str) -> None:
    assert fingerprint(tmp_path, (old, new)) == fingerprint(tmp_path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return x * FACTOR", "return FACTOR * x"),
        ("FACTOR = 2.0", "FACTOR = 2.5"),
        ('yield Case("one"', 'yield Case("uno"'),
        ("Your answer triples.", "Your answer takes it three times."),
        ('"tripled"', '"thrice"'),
        ("points=2", "points=3"),
        ('name="double"', 'name="twice"'),
        ("correct=(", 'forbidden=(ReadyMade("mul", ("mul",)),),\n    correct=('),
        ("correct=(", 'withheld=("course_lib.attention",),\n    correct=('),
        ("reference=doubled", "reference=math.sqrt"),
    ],
)
def test_what_decides_a_grade_counts(tmp_path: Path, old: str, new: str) -> None:
    assert fingerprint(tmp_path, (old, new)) != fingerprint(tmp_path)


BY_NAME = ('(Misconception("tripled", "Your answer triples.", lambda', 'mistake("Your answer triples.", tripled=lambda')


@pytest.mark.parametrize("written", [[], [BY_NAME, ("3 * x),)", "3 * x)"), ("import kinds", "import kinds, mistake")]])
def test_a_message_is_compared_by_itself(tmp_path: Path, written: list[tuple[str, str]]) -> None:
    before = fingerprint(tmp_path, *written)
    after = fingerprint(tmp_path, *written, ("Your answer triples.", "Your answer takes it three times."))
    assert {part for part in before if before[part] != after[part]} == {"texts"}


def test_a_class_counts_by_what_it_does(tmp_path: Path) -> None:
    net = ("reference=doubled", "reference=Net")
    before = fingerprint(tmp_path, net)
    assert fingerprint(tmp_path, net, ("width = 3", "width = 4")) != before != fingerprint(tmp_path)
    assert fingerprint(tmp_path, net, ('"""Some net."""', '"""Another text."""')) == before


def test_points_that_are_others_or_shared_out_otherwise_are_told() -> None:
    parts: dict[str, object] = {"definition": "a", "texts": "b"}
    one, other = (in_course({**parts, "points": {"values": n}}, "c", {"call_seconds": n}) for n in (2, 3))
    assert changed(one, other) == "its points 2 -> 3; its limit call_seconds 2 -> 3"
    before = in_course({**parts, "points": {"values": 2, "gradient": 1}}, "c", {})
    assert changed(before, in_course({**parts, "points": {"values": 1, "gradient": 2}}, "c", {})) == (
        "how its points are divided"
    )
    assert changed(before, in_course({**parts, "points": {"values": 2, "gradient": 1}}, "d", {})) == (
        "its cells in the release"
    )


def test_what_an_exercise_imports_counts_and_what_lies_beside_it_does_not(tmp_path: Path) -> None:
    (tmp_path / "toy_helpers.py").write_text("import toy_deeper\nHELP = toy_deeper.HELP\n")
    (tmp_path / "toy_deeper.py").write_text("HELP = 1\n")
    (tmp_path / "numpy.py").write_text("x = 1\n")
    helped = ("import math\n", "import math\nfrom toy_helpers import HELP\n")
    sys.path.insert(0, str(tmp_path))
    try:
        before = fingerprint(tmp_path, helped)
        for name, text, same in (
            ("other.py", "x = 2", True),
            ("toy_helpers.py", "import toy_deeper\n\nHELP = toy_deeper.HELP  # a word\n", True),
            ("toy_deeper.py", "HELP = 2\n", False),
        ):
            (tmp_path / name).write_text(text)
            assert (fingerprint(tmp_path, helped) == before) is same, name
    finally:
        sys.path.remove(str(tmp_path))


def test_an_exercise_of_the_library_reaches_its_own_files_and_no_other_exercise_s() -> None:
    folder = Path(exercises.__file__).parent
    own = {
        str(path.relative_to(folder)) for path in files_of(exercises.find("attention.scores")) if folder in path.parents
    }
    assert {"attention/scores.py", "attention/shared.py"} <= own
    assert not {"attention/scale.py", "attention/__init__.py", "masking/__init__.py"} & own
    block = {path.name for path in files_of(exercises.find("heads_and_blocks.encoder_block"))}
    assert {"encoder_block.py", "heads_and_blocks.py", "attention.py"} <= block
    assert not {"models.py", "progress_map.py", "compare.py"} & block


@pytest.mark.usefixtures("processes")
def test_fingerprints_are_the_same_in_every_process() -> None:
    code = "from autograder.grading.digests.fingerprints import of_exercise; from course_lib import exercises; "
    code += "print([of_exercise(exercise) for exercise in exercises.of_lesson('01_attention')])"
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, check=True, text=True)
    assert done.stdout == f"{[of_exercise(exercise) for exercise in exercises.of_lesson('01_attention')]}\n"


# --- code


@pytest.mark.parametrize(
    ("name", "text", "same"),
    [
        ("code.py", "def f(x):\n    return x + 2\n", False),
        ("other.py", "def f(x):\n    return x + 1\n", False),
        ("code.py", "def f(x):\n    return x + 1\n\ndef g(): ...\n", False),
        ("code.py", "def f(x:\n", False),
        ("code.py", '"""Text."""\n\n\ndef f(x):\n    """More text."""\n    return (x + 1)  # a word\n', True),
        ("code.py", '__version__ = "2"\n\ndef f(x):\n    return x + 1\n', True),
    ],
)
def test_code_counts_by_what_it_says_and_its_name(tmp_path: Path, name: str, text: str, same: bool) -> None:
    file = tmp_path / "code.py"
    file.write_text("def f(x):\n    return x + 1\n")
    before = of_files([file])
    assert of_files([file]) == before
    other = tmp_path / name
    other.write_text(text)
    assert (of_files([other]) == before) is same


# --- a release


def cell(notebook: dict[str, Any], identity: str) -> dict[str, Any]:
    return next(one for one in notebook["cells"] if one["id"] == identity)


def test_a_new_exercise_leaves_the_others() -> None:
    notebook = released()
    new = copy.deepcopy([cell(notebook, "two-a"), cell(notebook, "two-c")])
    for one in new:
        one["metadata"]["nbgrader"]["grade_id"] = one["metadata"]["nbgrader"]["grade_id"].replace("two", "three")
    notebook["cells"][8:8] = new
    common, own = of_release(released())
    new_common, with_new = of_release(notebook)
    assert new_common == common
    assert {name: with_new[name] for name in own} == own
    assert set(with_new) - set(own) == {"small.three"}


# --- a submission


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "ada" / "01_small"
    folder.mkdir(parents=True)
    (folder / "01_small.ipynb").write_text("{}")
    return folder


def test_all_names_and_bytes_count_and_times_do_not(folder: Path) -> None:
    seen = {of_submission(folder)}
    os.utime(folder / "01_small.ipynb", (1, 1))
    assert of_submission(folder) in seen
    deep = folder / "deep" / "file.txt"
    for change in (
        lambda: (folder / "timestamp.txt").write_text("2026-11-20 10:00:00 UTC"),
        deep.parent.mkdir,
        lambda: deep.write_text("x"),
        lambda: deep.write_text("y"),
        lambda: (folder / "01_small.ipynb").write_text("[]"),
        lambda: (folder / "01_small.ipynb").rename(folder / "other.ipynb"),
    ):
        change()
        assert of_submission(folder) not in seen
        seen.add(of_submission(folder))


def test_links_pipes_and_what_is_huge_are_not_read(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("one")
    (folder / "link").symlink_to(secret)
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe")
    before = of_submission(folder)
    secret.write_text("two")
    assert of_submission(folder) == before
    with open(folder / "huge", "wb") as file:
        file.truncate(1 << 40)
    assert of_submission(folder) != before


def test_a_submission_that_is_a_link_or_a_file_has_a_fingerprint(folder: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(folder)
    file = tmp_path / "file"
    file.write_text("x")
    assert len({of_submission(link), of_submission(file), of_submission(folder)}) == 3
