"""What a function puts on the page, for the tests of pictures and widgets."""

import sys
from collections.abc import Callable
from typing import Any

import pytest
from matplotlib.figure import Figure

from course_lib.show import figures
from course_lib.show.interactive import Interactive


@pytest.fixture
def put_on_the_page(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Interactive]:
    """The one widget that a function shows."""

    def shown(function: Callable[..., None], *args: Any, **named: Any) -> Interactive:
        seen: list[Interactive] = []
        monkeypatch.setattr(sys.modules["course_lib.show.interactive"], "display", seen.append)
        function(*args, **named)
        (one,) = seen
        return one

    return shown


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Figure]:
    """The one figure that a function shows, with the sentence in its place that it was given."""
    png = figures.png

    def shown(function: Callable[..., None], *args: Any, **named: Any) -> Figure:
        seen: list[Figure] = []
        said: list[str] = []
        monkeypatch.setattr(figures, "png", lambda figure: (seen.append(figure), png(figure))[1])
        for module in (figures, sys.modules["course_lib.show.interactive"]):
            monkeypatch.setattr(module, "display", lambda one: said.append(one.alt))
        function(*args, **named)
        assert said == [named.get("alt", *said)]
        (one,) = seen
        return one

    return shown
