"""Every shape that a public function of the library annotates holds at run time, in all its tests."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("processes")


ROOT = Path(__file__).parents[2]
HERE = Path("tests/course_lib")

ABSTRACT = {
    "course_lib.decoding.state.DecodingState.prefill",
    "course_lib.decoding.state.DecodingState.step",
    "course_lib.ground.encoder.Encoder.forward",
    "course_lib.objectives.heads.Head.logits",
}
"""What only subclasses do."""

COMPILED = ("course_lib.decoding_states.Compiled", "course_lib.decoding_states._Compiled")
"""What checks a shape cannot be compiled."""


def files_of_modules_with_shapes() -> list[str]:
    """The tests beside them; those of exercises and of their checks give wrong shapes on purpose."""
    modules = [path for path in (ROOT / "course_lib").rglob("*.py") if "[Tensor," in path.read_text()]
    tests = [HERE / path.relative_to(ROOT / "course_lib").with_name(f"test_{path.name}") for path in modules]
    tests = [test for test in tests if (ROOT / test).is_file()]
    return sorted(
        str(test) for test in tests if not {"checking", "exercises", "test_decoding_states.py"} & set(test.parts)
    )


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.course_lib.shapes", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.usefixtures("thorough")
def test_every_annotated_shape_holds() -> None:
    more = ("references/cases.py", "published/test_heads.py", "published/test_llama.py")
    files = [*files_of_modules_with_shapes(), *(str(HERE / name) for name in more)]
    assert len(files) > 12
    counted = str(HERE / "test_models.py::test_six_layers_are_read_in_few_calls")  # a checked call is more than one
    done = run(*files, str(HERE / "modern"), str(HERE / "show"), "--deselect", counted)
    assert done.returncode == 0, done.stdout.split("SHAPES ")[0][-4000:]
    found = json.loads(done.stdout.split("SHAPES ")[1])
    assert len(found["called"]) > 100
    uncalled = {name for name in found["annotated"] if name not in found["called"] and not name.startswith(COMPILED)}
    assert uncalled == ABSTRACT, "a public function that no test calls"


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
