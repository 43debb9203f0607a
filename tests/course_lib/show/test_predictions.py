"""A prediction beside what was found."""

from types import SimpleNamespace
from typing import Any

import pytest

from course_lib.show import prediction, predictions


@pytest.mark.parametrize(
    ("said", "found", "printed"),
    [
        (90, 82.66, "reviews: you said 90%, and it is 82.7%; off by 7.34%."),
        (50.0, 50.0, "reviews: you said 50%, and it is 50%; off by 0%."),
        (0.5, 1.25, "reviews: you said 0.5%, and it is 1.25%; off by 0.75%."),
        ("half", 50, "reviews: 50%. (Your prediction, 'half', is not a number.)"),
        (True, False, "reviews: you said True, and it is False. Now find out why."),
        ("radio", "radio", "reviews: you said radio, and it is radio. Right!"),
    ],
)
def test_it_says_how_near(
    said: float | str | bool, found: float | str | bool, printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    prediction("reviews", said, found, "%")
    assert capsys.readouterr().out == f"{printed}\n"


@pytest.mark.parametrize("said", [None, ""])
def test_without_one_what_was_found_is_folded_away(said: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(predictions, "display", shown.append)
    shell = SimpleNamespace(execution_count=4)
    monkeypatch.setattr(predictions, "get_ipython", lambda: shell)
    prediction("reviews < 3", said, 82.66, "%")
    prediction("the rest", said, "radio")
    prediction("in all", said, True)
    shell.execution_count = 5
    prediction("again", said, 1)
    first, *more, again = shown
    assert first._repr_html_().endswith("then this one.</summary>reviews &lt; 3: 82.7%.</details>")
    assert "82.7" not in repr(first)
    assert [repr(one) for one in more] == ["the rest: what do you expect?", "in all: what do you expect?"]
    assert repr(again).endswith("then this one.")
