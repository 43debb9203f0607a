"""Packages that are not in a box: no file of theirs can be read, and a cell that imports one goes on."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import pytest

from autograder.box import Box, Level, Zygote, self_test
from autograder.box.bench import CELLS, Bench
from course_lib.checking import Case

ABSENT = [name for name in ("scipy", "sklearn", "nltk", "transformers") if importlib.util.find_spec(name)]
BARE = Bench((), bare=True)


@pytest.fixture(scope="module")
def zygote(processes: None) -> Iterator[Zygote]:
    if self_test():
        pytest.skip("no boxes at level L2 here")
    with Zygote(level=Level.L2, shown=["tokenizers"], packages=["sacrebleu"], trains=False) as zygote:
        yield zygote


@pytest.mark.parametrize("name", ABSENT)
def test_no_file_of_an_absent_package_can_be_read(box: Box, name: str) -> None:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    result = box.run_cell(f"open({spec.origin!r}).read()")
    assert result.raised is not None
    assert result.raised.type_name == "PermissionError"


def test_a_cell_that_imports_one_goes_on_and_says_so(box: Box) -> None:
    result = box.run_cell("""
import scipy.special as special
from sklearn.metrics import accuracy_score, f1_score as f1
import nltk, pandas
print(special.softmax([1, 2]), accuracy_score([1], [1]) + 1 > 0, nltk.word_tokenize("a")[0], list(f1()), len(f1))
with nltk.open() as file:
    file["a"] = 1
answer = lambda x: 2 * x
""")
    assert result.ok, result.raised
    text = "".join(str(output.get("text", "")) for output in result.outputs)
    for name in ("scipy", "sklearn", "nltk", "pandas"):
        assert text.count(f"[katze] {name} is not there while a notebook is graded") == 1
    assert "<scipy.special.softmax is not in this box>" in text
    assert box.observe("answer", Case("a case", (2,))).value == 4


def test_an_answer_that_calls_one_is_told_apart(box: Box) -> None:
    box.run_cell("import scipy.special\ndef answer(x):\n    return scipy.special.softmax(x)")
    seen = box.observe("answer", Case("a case", (2,)))
    assert seen.raised is not None
    assert (seen.raised.type_name, seen.raised.message.split()[0]) == ("PackageAbsent", "scipy")


def test_libraries_do_without(box: Box) -> None:
    assert not box.run_cell("import google.colab").ok
    result = box.run_cell("import importlib.util\nimport networkx\nprint(importlib.util.find_spec('course_lib'))")
    assert result.ok, result.raised
    asked = "try:\\n    import scipy\\nexcept ImportError:\\n    scipy = 1"
    box.run_cell(f"import IPython.utils.io as elsewhere\nexec('{asked}', vars(elsewhere))")
    assert box.run_cell("assert elsewhere.scipy == 1").ok


def test_what_the_lesson_shows_is_there_for_its_cells_and_not_for_answers(zygote: Zygote) -> None:
    look = "import tokenizers, sacrebleu\nassert 'site-packages' in tokenizers.__file__"
    with zygote.open_box(bench=CELLS) as box:
        assert box.run_cell(look).ok
        assert box.run_cell("from course_lib.text.fast_subwords import SubwordVocabulary").ok
    with zygote.open_box(bench=BARE) as box:
        assert not box.run_cell(look).ok
        result = box.run_cell("import sys\nassert not [name for name in sys.modules if name.startswith('tokenizers.')]")
        assert result.ok, result.raised
        assert box.run_cell("from course_lib.text.fast_subwords import SubwordVocabulary").ok
        assert box.run_cell("import sacrebleu\nassert 'site-packages' in sacrebleu.__file__").ok
        result = box.run_cell("import tokenizers\nprint(tokenizers.Tokenizer)")
        assert "<tokenizers.Tokenizer is not in this box>" in str(result.outputs)
