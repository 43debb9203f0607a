"""The command `katze`, outside `autograder`: where a package is missing, or another takes our place, it says so.

Colab's first cell leaves out what only instructors need, and a Python chosen by mistake may have no torch. PyPI has
another package `autograder`. pip installs both without a word, and the one that came last overwrites the other.
"""

import importlib.util
import sys
from importlib.metadata import packages_distributions
from pathlib import Path
from shlex import quote

OURS = '"""Katze\'s harness'
"""How our `autograder/__init__.py` begins. It is read, not imported: another's may need what is not installed."""


def main() -> int:
    """Run `katze` with the arguments of the command line; returns the exit status."""
    if problem := _clash():
        print(f"katze: {problem}", file=sys.stderr)
        return 2
    try:
        from autograder.cli import main as run

        return run()
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "autograder", "course_lib"):
            raise  # a fault of ours
        print(f"katze: {_lack(package)}", file=sys.stderr)
        return 2


def _lack(package: str) -> str:
    """What to do about a package that is not installed."""
    return (
        f"this needs {package}, which {sys.executable} does not have. Run `katze` of the environment that Katze was "
        "installed in, such as .venv/bin/katze; or install Katze here with all that it needs, without `--no-deps`."
    )


def _clash() -> str:
    """What is in the place of our `autograder`, and what to do about it; empty where ours is there."""
    found = importlib.util.find_spec("autograder")
    file = Path(found.origin) if found and found.origin else None
    if file and file.read_text(encoding="utf-8", errors="replace").startswith(OURS):
        return ""
    again = "install Katze again as you did before, with `--force-reinstall --no-deps`"
    if file is None:
        return f"its package `autograder` is not whole: {again}."
    clash = f"{file.parent} is not Katze's `autograder` but another package of that name"
    others = sorted({name for name in packages_distributions().get("autograder", ()) if name.lower() != "katze"})
    if not others:
        return f"{clash}: rename it, move it, or take its folder from PYTHONPATH."
    fix = f"`{quote(sys.executable)} -m pip uninstall --yes {' '.join(others)}`"
    overwritten = file.parent.parent == Path(__file__).parent
    return f"{clash}; only one of them can be here: run {fix}{f', then {again}' if overwritten else ''}."


if __name__ == "__main__":
    sys.exit(main())
