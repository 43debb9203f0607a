"""Lines on a terminal and in a pipe."""

from __future__ import annotations

import sys

import pytest
from rich.text import Text

from autograder.console import output_console


def test_what_is_piped_is_not_wrapped(capsys: pytest.CaptureFixture[str]) -> None:
    output_console().print(Text("word " * 100 + "end"))
    assert capsys.readouterr().out.count("\n") == 1


def test_a_terminal_breaks_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda self: True, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    output_console().print(Text("word " * 100 + "end"))
    assert capsys.readouterr().out.count("\n") > 5
