"""A cell that uses an unfinished answer says so in a sentence, and the notebook goes on."""

from collections.abc import Callable
from importlib import import_module

import matplotlib.pyplot as plt
import pytest

from course_lib import show
from course_lib.ground.optional import install_command, needed_for


def dot_product_scores() -> None:
    raise NotImplementedError()


class AttentionPooling:
    def forward(self) -> None:
        raise NotImplementedError()


def broken() -> None:
    plt.figure()
    raise ValueError("shapes differ")


def without_an_import() -> None:
    undefined_name  # noqa: B018


def without_a_package() -> None:
    with needed_for("BLEU", package="no_such_package"):
        import_module("no_such_package")


@pytest.mark.parametrize(
    ("picture", "printed"),
    [
        (lambda: print("drawn"), "drawn"),
        (
            dot_product_scores,
            "This cell is waiting for your dot_product_scores. Run it again once you have written",
        ),
        (
            AttentionPooling().forward,
            "This cell is waiting for your AttentionPooling.forward. Run it again",
        ),
        (broken, "Nothing to show yet (ValueError: shapes differ). Run this cell again once the check above passes."),
        (
            without_an_import,
            "This cell needs undefined_name, which a cell above it makes. Run the cells above",
        ),
        (lambda: without_an_import(), "Nothing to show yet (NameError: name 'undefined_name' is not defined)."),
        (
            without_a_package,
            "Nothing to show yet: BLEU needs the package no_such_package, which is not installed here; "
            f"run:  {install_command('no_such_package')}. Run this cell again once it is there.",
        ),
    ],
)
def test_it_is_drawn_at_once_or_a_sentence_says_why_not(
    picture: Callable[[], None], printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert show.when_ready(picture) is None
    said, err = capsys.readouterr()
    assert said.startswith(printed)
    assert (said.count("\n"), err) == (1, "")
    assert not plt.get_fignums(), "no half of a figure is left"


def test_an_interrupt_passes_through() -> None:
    def picture() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        show.when_ready(picture)
