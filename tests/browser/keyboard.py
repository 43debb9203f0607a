"""Moving the controls of a widget as somebody without a mouse does, and what its picture is meanwhile."""

import re
from collections.abc import Iterable
from pathlib import Path

from playwright.sync_api import Locator, Page

CONTROLS = (
    ".katze-live :is(input:not([type=radio]), input[type=radio]:checked, select, button, [role=gridcell][tabindex='0'])"
)
"""What the Tab key stops at."""

_PICTURE = """live => {
    const copy = live.cloneNode(true);
    copy.querySelectorAll('.katze-control, .katze-choices, button').forEach(control => control.remove());
    copy.querySelectorAll('[tabindex]').forEach(cell => cell.removeAttribute('tabindex'));
    return copy.innerHTML;
}"""

_KEYS = {
    "range": "Home",
    "range at its least": "End",
    "radio": "ArrowRight",
    "select-one": "ArrowDown",
    "gridcell": "ArrowRight ArrowDown Enter",
    "text": "c a t Space",
}
"""What moves each kind of control, wherever it is; any other is pressed."""


def page_of(bodies: Iterable[str], path: Path) -> Path:
    """A page with nothing but these, as cells show them."""
    head = '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    dark = "@media (prefers-color-scheme: dark) { body { background: #14161a; color: #e8eaed } }"
    style = f"<title>Shown</title><style>body {{ font: 16px sans-serif }} {dark}</style>"
    path.write_text(f"{head}{style}<main><h1>Shown</h1>{''.join(bodies)}</main></html>", encoding="utf-8")
    return path


def picture(where: Page | Locator) -> str:
    """What the only widget there shows, without its controls."""
    drawn: str = where.locator(".katze-live").evaluate(_PICTURE)
    return drawn


def control(page: Page, name: str) -> Locator:
    """The control with this label; the cell of a matrix that Tab stops at is called "cell"."""
    live = page.locator(".katze-live")
    if name == "cell":
        return live.locator("[role=gridcell][tabindex='0']")
    label = page.get_by_text(re.compile(f"^{re.escape(name)}$"))
    fields = live.locator(":is(.katze-control, .katze-choices label)").filter(has=label).locator("input, select")
    return fields.or_(live.get_by_role("button", name=name, exact=True))


def move(control: Locator) -> None:
    """Move a control of any kind, by keys alone."""
    kind = control.evaluate("control => control.getAttribute('role') || control.type")
    if kind == "range" and control.input_value() == control.get_attribute("min"):
        kind = "range at its least"
    control.focus()
    for key in _KEYS.get(kind, "Space").split():
        control.page.keyboard.press(key)


def reached_by_tab(page: Page) -> int:
    """How many controls the Tab key reaches, from the first to where the page ends."""
    page.locator("body").click(position={"x": 1, "y": 1})
    seen: set[int] = set()
    for _ in range(page.locator(CONTROLS).count() + 3):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("all => [...document.querySelectorAll(all)].indexOf(document.activeElement)", CONTROLS))
    return len(seen - {-1})
