"""The Containerfile, what an image leaves out, and the devcontainer, as far as they can be read without an engine.

Building and running them is for a machine that has one: `docs/containers.md`.
"""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
CONTAINERFILE = (ROOT / "Containerfile").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "containers.md").read_text(encoding="utf-8")
TARGETS = re.findall(r"^FROM \S+ AS (\w+)$", CONTAINERFILE, re.MULTILINE)


def test_the_page_builds_each_target_and_no_other() -> None:
    assert re.findall(r"--target (\w+)", PAGE) == TARGETS
    assert re.findall(r"--target (\w+)", CONTAINERFILE) == TARGETS


def test_an_image_takes_nothing_that_git_ignores() -> None:
    ignored = {line.strip("/") for line in (ROOT / ".gitignore").read_text().splitlines() if line and line[0] != "#"}
    left_out = {line.removeprefix("**/") for line in (ROOT / ".dockerignore").read_text().splitlines()}
    assert ignored <= left_out
    assert ".git" in left_out


def test_student_code_is_never_root() -> None:
    users = re.findall(r"^USER (\w+)$", CONTAINERFILE, re.MULTILINE)
    assert users == ["katze"]
    assert CONTAINERFILE.index("USER katze") < CONTAINERFILE.index("make setup")


def test_the_devcontainer_uses_a_target_and_the_place_of_the_checkout() -> None:
    settings = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    assert settings["build"]["target"] in TARGETS
    assert (ROOT / ".devcontainer" / settings["build"]["dockerfile"]).resolve() == ROOT / "Containerfile"
    assert f"WORKDIR {settings['workspaceFolder']}" in CONTAINERFILE
    assert settings["customizations"]["vscode"]["settings"]["python.defaultInterpreterPath"].startswith(
        settings["workspaceFolder"]
    )
