"""Makes the site's pages about `course_lib`: one for each part, with every public module."""

import re
from collections import defaultdict
from pathlib import Path

import course_lib

LEFT_OUT = {"checking", "exercises", "judging", "learner"}
"""Parts that nobody calls by hand, and the exercises, because they contain right answers."""


def library_pages() -> dict[str, str]:
    """Return the pages in reStructuredText, by name without file ending, beginning with the contents."""
    parts: dict[str, list[str]] = defaultdict(list)
    folder = Path(course_lib.__file__).parent
    for path in sorted(folder.rglob("*.py")):
        place = path.relative_to(folder).with_suffix("").parts
        if place[0] not in {"__init__", *LEFT_OUT} and not place[-1].startswith("_"):
            parts[place[0]].append(".".join(("course_lib", *place)))
    pages = {f"library/{part}": _page(part, modules) for part, modules in parts.items()}
    contents = "\n".join(["The library", "===========", "", ".. toctree::", "", *(f"   {name}" for name in pages)])
    return {"library": contents, **pages}


def _page(part: str, modules: list[str]) -> str:
    """Return the page of a part: all modules of a package, or a single module."""
    title = f"course_lib.{part}"
    lines = [title, "=" * len(title), "", ".. highlight:: python", ""]
    if title not in modules:
        lines += [f".. automodule:: {title}", "   :no-members:", ""]
    for module in modules:
        if module != title:
            lines += [module, "-" * len(module), ""]
        lines += [f".. automodule:: {module}", "   :members:", ""]
    return "\n".join(lines)


def as_text(_app: object, _what: str, _name: str, _found: object, _options: object, lines: list[str]) -> None:
    """Escape bars and asterisks in a docstring, and mark indented lines as code, before Sphinx reads it."""
    for place, line in enumerate(lines):
        lines[place] = _NOT_CODE.sub(lambda outside: re.sub(r"([|*])", r"\\\1", outside[0]), line)
        if re.match(r"(?!:)\S.*:$", line) and re.match(r"( {4})+\S", "".join(lines[place + 2 : place + 3])):
            lines[place] += ":"


_NOT_CODE = re.compile(r"[^`]+(?=(?:[^`]*`[^`]*`)*[^`]*$)")
