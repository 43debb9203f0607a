"""The browser that tests drive: the one that is installed, since Playwright's own has to be downloaded."""

import shutil

INSTALL = "make browser"
"""The README's command that installs one."""

NAMES = ("chromium", "chromium-browser", "google-chrome")

FLAGS = (
    "--no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update "
    "--disable-sync"
).split()
"""It runs as root in CI, without a screen, and asks nobody but the pages that it opens."""


def find_browser() -> str | None:
    """Where the browser is; None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)
