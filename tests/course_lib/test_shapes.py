"""Every shape that a public function of the library annotates holds at run time, in all its tests."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HERE = Path("tests/course_lib")

ABSTRACT = {
    "course_lib.decoding.continuation.Continuation.read",
    "course_lib.decoding.continuation.Continuation.select",
}
"""What only subclasses do."""


def modules_with_shapes() -> list[str]:
    return sorted(path.stem for path in (ROOT / "course_lib").glob("*.py") if "[Tensor," in path.read_text())


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.course_lib.shapes", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_every_annotated_shape_holds() -> None:
    files = [str(HERE / f"test_{name}.py") for name in modules_with_shapes()]
    assert len(files) > 12
    done = run("-m", "not slow", *files, str(HERE / "show"))
    assert done.returncode == 0, done.stdout.split("SHAPES ")[0][-4000:]
    found = json.loads(done.stdout.split("SHAPES ")[1])
    assert len(found["called"]) > 100
    assert set(found["annotated"]) - set(found["called"]) == ABSTRACT, "a public function that no test calls"


def test_a_shape_that_does_not_hold_is_found(tmp_path: Path) -> None:
    test = tmp_path / "test_wrong.py"
    test.write_text(
        "import torch\n"
        "from course_lib.attention import dot_product_scores\n"
        "def test_right(): dot_product_scores(torch.ones(2, 3), torch.ones(4, 3))\n"
        "def test_wrong(): dot_product_scores(torch.ones(2, 3), torch.ones(3))\n"
    )
    done = run(str(test))
    assert "1 failed, 1 passed" in done.stdout
    assert "course_lib.attention.dot_product_scores" in json.loads(done.stdout.split("SHAPES ")[1])["called"]
