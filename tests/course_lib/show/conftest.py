"""What a function puts on the page, for the tests of the widgets."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from course_lib.show.interactive import Interactive


@pytest.fixture
def put_on_the_page(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], Interactive]:
    """The one widget that a function shows."""

    def shown(function: Callable[[], None]) -> Interactive:
        seen: list[Interactive] = []
        monkeypatch.setattr(sys.modules["course_lib.show.interactive"], "display", seen.append)
        function()
        (one,) = seen
        return one

    return shown
