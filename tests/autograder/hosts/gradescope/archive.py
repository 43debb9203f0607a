"""A Gradescope container without Gradescope: an archive unpacked, and its own `run_autograder` run on submissions."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.demo.student import Student
from tests.autograder.small_class import LESSON, ROOT

METADATA = {
    "id": 7,
    "created_at": "2026-11-20T18:00:00.000000+01:00",
    "assignment": {"id": 3, "title": "Attention", "total_points": "19.0", "group_size": 2, "group_submission": True},
    "users": [{"email": "ada@example.org", "id": 31, "name": "Ada"}, {"email": "b@example.org", "id": 4, "name": "B"}],
    "previous_submissions": [{"score": 1.0, "autograder_error": False, "results": {"score": 1.0}}],
}


@dataclass(frozen=True)
class Ran:
    """What came of a submission."""

    status: int
    stdout: str
    results: Any


@dataclass(frozen=True)
class Container:
    """A folder laid out as `/autograder`."""

    root: Path

    @classmethod
    def unpack(cls, archive: Path, root: Path) -> Container:
        for name in ("source", "submission", "results"):
            (root / name).mkdir(parents=True)
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(root / "source")  # as Gradescope does: without the files' modes
        (root / "submission_metadata.json").write_text(json.dumps(METADATA))
        return cls(root)

    def hand_in(self, student: Student, edit: Callable[[dict[str, Any]], None] = lambda notebook: None) -> None:
        """Hand in a submission of the bundled class."""
        shutil.rmtree(self.root / "submission")
        (self.root / "submission").mkdir()
        path = self.root / "submission" / f"{LESSON}.ipynb"
        student.hand_in(json.loads((ROOT / "notebooks" / LESSON / path.name).read_text()), LESSON, path)
        if path.suffix == ".ipynb" and path.read_bytes()[:1] == b"{":
            notebook = json.loads(path.read_text())
            edit(notebook)
            path.write_text(json.dumps(notebook))

    def run(self) -> Ran:
        """Run it as Gradescope does: with no argument but ours, from the folder of the submission at the worst."""
        environment = {"PATH": os.environ["PATH"], "KATZE_ENVIRONMENT": str(Path(sys.executable).parents[1])}
        done = subprocess.run(
            ["bash", str(self.root / "source" / "run_autograder"), str(self.root)],
            cwd=self.root / "submission",
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        results = self.root / "results" / "results.json"
        said = done.stdout + done.stderr
        return Ran(done.returncode, said, json.loads(results.read_text()) if results.exists() else None)
