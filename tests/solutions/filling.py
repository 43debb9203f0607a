"""A lesson's released notebook with the solutions' answers written into it, as a student who knows all would."""

import json
from pathlib import Path
from typing import Any

from autograder.course.release import Role
from tests.solutions.reading import read_lesson

ROOT = Path(__file__).parents[2]


def filled(lesson: str) -> dict[str, Any]:
    """The notebook."""
    notebook: dict[str, Any] = json.loads((ROOT / "notebooks" / lesson / f"{lesson}.ipynb").read_text())
    written = {}
    for cell in read_lesson(lesson).cells:
        role = Role.parse(cell.metadata.get("nbgrader", {}).get("grade_id", ""))
        if role and role.kind == "answer":
            written[cell.metadata.nbgrader.grade_id] = cell.source
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if name in written:
            cell["source"] = f"{cell['source'].partition(chr(10))[0]}\n{written[name]}"
    return notebook
