"""Packages: what is installed is there, and a cell that imports what is not goes on."""

import importlib.metadata
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.box.box import Box
from autograder.box.confinement import enclosure
from autograder.box.confinement.grants import package_folders
from autograder.box.confinement.levels import Level
from autograder.box.confinement.packages import closure
from autograder.box.fork_server.client import ForkServer
from autograder.repair import Cell, CellKind
from course_lib.judging.exercise import Case
from course_lib.judging.observation import Outcome
from tests.autograder.box.conftest import asked, raised
from tests.boxes import answered, graded_in, server_at


def test_what_is_installed_is_there(kept_box: Box) -> None:
    result = kept_box.run_cell("import ctypes, mistune, nbformat\nassert 'site-packages' in mistune.__file__")
    assert result.ok, result.raised


def test_a_cell_that_imports_what_is_not_installed_goes_on_and_says_so(box: Box) -> None:
    result = box.run_cell("""
import no_such_package.special as special
from nowhere.metrics import accuracy, f1 as score
import absent, not_here
print(special.gamma([1, 2]), accuracy([1], [1]) + 1 > 0, absent.tokenize("a")[0], list(score()), len(score()))
print(f"{absent.mean():.2f}", float(absent.x), 2 @ absent.x)
with absent.open() as file:
    file["a"] = 1
class Model(absent.nn.Module):
    pass
Model()
answer = lambda x: 2 * x
""")
    assert result.ok, result.raised
    assert result.missing == "no_such_package"
    text = "".join(str(output.get("text", "")) for output in result.outputs)
    for name in ("no_such_package", "nowhere", "absent", "not_here"):
        assert text.count(f"[katze] {name} is not installed where this is graded") == 1
    assert "<no_such_package.special.gamma is not installed here>" in text
    assert asked(box, "answer", Case("a case", (2,))).value == 4


@pytest.mark.parametrize(
    "body",
    [
        "return absent.softmax(x)",
        "return x + absent.offset",
        "import elsewhere as absent; return absent.softmax(x)",
        "return Model()(x)",
        "return made(x)",
        "return [y for y in absent.values]",
        "return float(absent.pi)",
        "\n    try: return absent.softmax(x)\n    except BaseException: return x",
    ],
)
def test_an_answer_that_uses_one_is_told_apart(kept_box: Box, body: str) -> None:
    kept_box.run_cell("import absent\nmade = absent.compile(abs)\nclass Model(absent.Module): pass")
    kept_box.run_cell(f"def answer(x):\n    {body}")
    seen = asked(kept_box, "answer", Case("a case", (2,)))
    assert seen.raised is not None
    package = "elsewhere" if "elsewhere" in body else "absent"
    assert (seen.raised.type_name, seen.raised.message.split()[0]) == ("PackageMissing", package)
    assert seen.failure is Outcome.RAISED


@pytest.mark.parametrize(
    "source",
    [
        "try:\n    import absent\nexcept ImportError:\n    absent = 1",
        "try:\n    from absent.parts import absent\nexcept (ModuleNotFoundError, KeyError):\n    absent = 1",
        "try:\n    import math, absent\nexcept:\n    absent = 1",
        "import importlib.util\nabsent = 1 if importlib.util.find_spec('absent') is None else 2",
        "import IPython.utils.io as other\nexec('try: import absent\\nexcept ImportError: absent = 1', vars(other))\n"
        "absent = other.absent",
    ],
)
def test_code_that_knows_what_to_do_without_does_it(box: Box, source: str) -> None:
    result = box.run_cell(f"{source}\nassert absent == 1")
    assert result.ok, result.raised


@pytest.mark.parametrize("name", ["google.colab", "torch.nowhere", "autograder.grading", "course_lib.exercises"])
def test_for_some_nothing_stands_in(kept_box: Box, name: str) -> None:
    assert raised(kept_box, f"import {name}").type_name == "ModuleNotFoundError"


@pytest.fixture(scope="module")
def bare(processes: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkServer]:
    """Boxes of an installation without extras: of packages there is what `pip install katze` brings, and no more."""
    folder = tmp_path_factory.mktemp("lib") / "site-packages"
    folder.mkdir()
    for name in closure(["katze"], package_folders()) - {"katze"}:
        for file in importlib.metadata.files(name) or ():
            top = Path(str(file.locate())).parents[len(file.parts) - 2] if len(file.parts) > 1 else file.locate()
            link = folder / file.parts[0]
            if file.parts[0] != ".." and not link.is_symlink():
                link.symlink_to(str(top))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(enclosure, "package_folders", lambda: [str(folder)])
        with server_at(Level.L2, trains=False) as fork_server:
            yield fork_server


@pytest.mark.parametrize("name", ["transformers", "torchmetrics", "dask", "einops"])
def test_without_extras_no_import_fails_and_an_answer_that_uses_one_is_ungraded(bare: ForkServer, name: str) -> None:
    exercise = "attention.scale"
    using = f"def scale_scores(scores, d_head):\n    return {name}.scale(scores) / d_head**0.5"
    right = f"import {name}\ndef scale_scores(scores, d_head):\n    return scores / d_head**0.5"
    later = f"import {name}.parts\nclass Scale({name}.Module): pass\nScale()\nraise ValueError\n{right}"
    expected = {
        using: (Outcome.UNGRADED, None),
        right: (Outcome.PASSED, 1),
        later: (Outcome.UNGRADED, None),
    }
    for answer, wanted in expected.items():
        cells = [Cell(CellKind.CODE, f"import {name}, tokenizers, sacrebleu"), *answered(exercise, answer)]
        graded = graded_in(bare, cells)
        verdict = graded.verdicts[exercise]
        assert (verdict.outcome, verdict.points) == wanted
        assert verdict.passed or name in verdict.note
        text = str(graded.outputs[0])
        assert f"{name} is not installed where this is graded" in text
        assert "tokenizers is not" not in text
