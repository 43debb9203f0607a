"""The action that looks at a pushed notebook: its own script is run, as a runner runs it."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / ".github" / "actions" / "grade" / "action.yml").read_text())
PAGE = (ROOT / "docs" / "github.md").read_text(encoding="utf-8")
STEPS = ACTION["runs"]["steps"]


def look(folder: Path, notebook: str) -> tuple[int, str, dict[str, Any]]:
    """The status, the job's summary and the report of the action's last step, run by bash as GitHub's runner does."""
    files = {name: folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "RUNNER_TEMP": str(folder),
        "NOTEBOOK": notebook,
        "LESSON": "",
        **{name: str(path) for name, path in files.items()},
    }
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[-1]["run"]]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False, timeout=300)
    [place] = re.findall(r"^report=(.*)$", files["GITHUB_OUTPUT"].read_text(), re.MULTILINE)
    report = json.loads(Path(place).read_text()) if Path(place).exists() else {}
    return done.returncode, files["GITHUB_STEP_SUMMARY"].read_text(), report


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "notebooks" / "01_attention" / "01_attention.ipynb", tmp_path / "$(touch owned).ipynb")
    (tmp_path / "broken.ipynb").write_text("no notebook")
    return tmp_path


@pytest.mark.usefixtures("processes")
def test_an_untouched_notebook_is_looked_at_whatever_it_is_called(folder: Path) -> None:
    status, summary, report = look(folder, "$(touch owned).ipynb")
    assert status == 1
    assert report["lesson"] == "01_attention"
    assert "attention.scores" in summary
    assert not (folder / "owned").exists()


@pytest.mark.usefixtures("processes")
def test_what_is_no_notebook_fails_the_job(folder: Path) -> None:
    status, _, report = look(folder, "broken.ipynb")
    assert status == 2
    assert report == {}


def test_no_input_is_written_into_a_script() -> None:
    assert not any("${{" in step.get("run", "") for step in STEPS)


def test_the_page_uses_the_action_as_it_is() -> None:
    [workflow] = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    step = yaml.safe_load(workflow)["jobs"]["check"]["steps"][-1]
    assert step["uses"] == "OWNER/NAME/.github/actions/grade@TAG"
    assert step["with"].keys() <= ACTION["inputs"].keys()
    required = {name for name, one in ACTION["inputs"].items() if one.get("required")}
    assert required <= step["with"].keys()
