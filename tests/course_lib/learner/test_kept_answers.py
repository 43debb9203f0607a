"""Answers that have passed, kept and loaded again."""

import pytest

from course_lib.learner.kept_answers import NotAtHand, keep_answer, kept_at, load_answer, script_of

CELLS = (
    "import math\nimport torch\nfrom torch import nn, Tensor",
    "%matplotlib inline",
    "unused = expensive()",
    "SCALE = 2\ndef helper(x):\n    return SCALE * x",
    "def f(x):\n    return helper(x) + math.pi",
    "print(f(1))",
)
ID = "sample.double"


def test_a_script_holds_what_the_answer_uses_and_nothing_else() -> None:
    assert script_of("f", CELLS) == (
        "import math\n\nSCALE = 2\n\ndef helper(x):\n    return SCALE * x\n\n"
        "def f(x):\n    return helper(x) + math.pi\n"
    )


@pytest.mark.parametrize(
    ("cell", "kept"),
    [
        (
            "# why\n# so\ndef f(x):\n    return x  # that is it\nf(1)",
            "# why\n# so\ndef f(x):\n    return x  # that is it\n",
        ),
        ("# far above\n\n# near\n@cache\ndef f(x): ...  # ä", "# near\n@cache\ndef f(x): ...  # ä\n"),
        ("ä = '#'; f = ä; g = 1  # of g", "ä = '#'\n\nf = ä\n"),
        ("%matplotlib inline\nf = 1 # %", "f = 1 # %\n"),
    ],
)
def test_its_comments_are_kept(cell: str, kept: str) -> None:
    assert script_of("f", [cell]) == kept


def test_the_newest_definition_counts() -> None:
    cells = (*CELLS, "SCALE = 3", "def f(x):\n    return SCALE - x")
    assert script_of("f", cells) == "SCALE = 3\n\ndef f(x):\n    return SCALE - x\n"


def test_classes_decorators_and_several_names_at_once() -> None:
    cells = (
        "from functools import cache",
        "a, (b, c) = 1, (2, 3)",
        "@cache\ndef g():\n    return b\n\nclass F:\n    x = g",
    )
    assert script_of("F", cells) == (
        "from functools import cache\n\na, (b, c) = 1, (2, 3)\n\n@cache\ndef g():\n    return b"
        "\n\nclass F:\n    x = g\n"
    )


def test_what_is_read_at_once_stood_above_and_what_a_function_reads_may_stand_below() -> None:
    cells = (
        "n = 1\nn += 1",
        "try:\n    def f(x):\n        return x + n + m\nexcept ValueError: ...",
        "f = cached(f)\nm = 2",
    )
    assert script_of("f", cells).split("\n\n") == ["n = 1", "n += 1", cells[1], "f = cached(f)", "m = 2\n"]


def test_functions_that_call_each_other_are_both_kept() -> None:
    cells = ("def even(n):\n    return n == 0 or odd(n - 1)", "def odd(n):\n    return n != 0 and even(n - 1)")
    assert script_of("even", cells).count("def ") == 2


def test_nothing_is_kept_of_what_is_nowhere_defined() -> None:
    assert script_of("g", CELLS) == ""
    keep_answer(ID, "g", CELLS)
    assert not kept_at(ID).exists()
    assert load_answer(ID, "g") is None


def test_what_is_kept_can_be_loaded() -> None:
    keep_answer(ID, "f", CELLS)
    assert 5.14 < load_answer(ID, "f")(1) < 5.15
    keep_answer(ID, "f", ["def f(x):\n    return -x"])
    assert load_answer(ID, "f")(1) == -1


@pytest.mark.parametrize(
    ("script", "why"), [(b"def f(:", ID), (b"1 / 0", ID), (b"def g(): pass", ID), (b"\xff\xfe\x00", "cannot be read")]
)
def test_what_cannot_be_loaded_says_why(script: bytes, why: str) -> None:
    kept_at(ID).parent.mkdir()
    kept_at(ID).write_bytes(script)
    with pytest.raises(NotAtHand, match=why):
        load_answer(ID, "f")


@pytest.mark.usefixtures("no_folder")
def test_where_nothing_can_be_written_nothing_is_lost() -> None:
    keep_answer(ID, "f", CELLS)
    with pytest.raises(NotAtHand):
        load_answer(ID, "f")
