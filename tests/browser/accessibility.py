"""What axe-core finds wrong with a page for those who don't see it, or don't use a mouse."""

from collections.abc import Iterator
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

GRAVE = {"serious", "critical"}
"""Of axe-core's four impacts those that tests don't let pass."""

OPTIONS = {"resultTypes": ["violations"], "preload": False}
"""It need not fetch style sheets, which a page from a file may not do."""


def faults(page: Page, within: str | None = None, every: bool = False, contrast: bool = True) -> list[str]:
    """The grave faults of a page as it is shown now, a line each; other frames of it are looked at as well.

    Args:
        page: in its state of now.
        within: a CSS selector of the part to look at; all of the page without one.
        every: the small faults as well, and targets of less than 24 pixels, for a page that is all ours.
        contrast: whether to compare colors, for which it takes three times as long as for all else.
    """
    options = {**OPTIONS, "rules": {"target-size": {"enabled": every}, "color-contrast": {"enabled": contrast}}}
    found = Axe().run(page, context=within, options=options).response["violations"]
    return [line for violation in found if every or violation["impact"] in GRAVE for line in _lines(violation)]


def _lines(violation: dict[str, Any]) -> Iterator[str]:
    for node in violation["nodes"]:
        why = "; ".join(check["message"] for check in [*node["any"], *node["all"], *node["none"]])
        yield f"{violation['id']} ({violation['impact']}): {node['html'][:160]} ({why})"
