"""A cell that uses an unfinished answer says so in a sentence, and the notebook goes on."""

from __future__ import annotations

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


def test_a_finished_picture_is_drawn_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    @show.when_ready
    def picture() -> None:
        print("drawn")

    assert picture is None
    assert capsys.readouterr().out == "drawn\n"


@pytest.mark.parametrize(
    ("stub", "name"),
    [(dot_product_scores, "dot_product_scores"), (AttentionPooling().forward, "AttentionPooling.forward")],
)
def test_a_stub_is_named(stub: object, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    show.when_ready(stub)  # type: ignore[arg-type]
    captured = capsys.readouterr()
    assert captured.out == f"This cell is waiting for your {name}. Run it again once you have written it.\n"
    assert captured.err == ""


def test_a_broken_answer_is_quoted_and_leaves_no_half_a_figure(capsys: pytest.CaptureFixture[str]) -> None:
    @show.when_ready
    def picture() -> None:
        plt.figure()
        raise ValueError("shapes differ")

    assert capsys.readouterr().out == (
        "Nothing to show yet (ValueError: shapes differ). Run this cell again once the check above passes.\n"
    )
    assert not plt.get_fignums()


def test_a_cell_above_that_was_not_run_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    show.when_ready(lambda: undefined_name)  # type: ignore[name-defined]
    assert capsys.readouterr().out == (
        "This cell needs undefined_name, which a cell above it makes. Run the cells above first, then this one.\n"
    )


def test_a_name_that_an_answer_does_not_find_is_quoted(capsys: pytest.CaptureFixture[str]) -> None:
    def answer() -> None:
        undefined_name  # type: ignore[name-defined]  # noqa: B018

    show.when_ready(lambda: answer())
    assert "Nothing to show yet (NameError: name 'undefined_name' is not defined)" in capsys.readouterr().out


def test_a_package_that_is_missing_is_named_with_the_line_that_installs_it(capsys: pytest.CaptureFixture[str]) -> None:
    @show.when_ready
    def picture() -> None:
        with needed_for("BLEU", package="no_such_package"):
            import_module("no_such_package")

    assert capsys.readouterr().out == (
        "Nothing to show yet: BLEU needs the package no_such_package, which is not installed here; "
        f"run:  {install_command('no_such_package')}. Run this cell again once it is there.\n"
    )


def test_an_interrupt_passes_through() -> None:
    def picture() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        show.when_ready(picture)
