"""Libraries that may be missing."""

import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from course_lib.ground import optional
from course_lib.ground.optional import needed_for


@pytest.mark.parametrize(
    ("seat", "command"),
    [
        ("notebook, pip", "%pip install sacre-bleu"),
        ("notebook, browser", "%pip install sacre-bleu"),
        ("notebook, uv", "!uv pip install --no-progress --python /env/bin/python sacre-bleu"),
        ("notebook", "!/env/bin/python -m ensurepip && /env/bin/python -m pip install sacre-bleu"),
        ("pip", "/env/bin/python -m pip install sacre-bleu"),
        ("spaces, pip", '"/my env/bin/python" -m pip install sacre-bleu'),
        ("uv", "uv pip install --python /env/bin/python sacre-bleu"),
        ("pipx, uv", "pipx inject env sacre-bleu"),
        ("notebook, pipx, uv", "!pipx inject env sacre-bleu"),
        ("uv, pip", "/env/bin/python -m pip install sacre-bleu"),
        ("", "/env/bin/python -m ensurepip && /env/bin/python -m pip install sacre-bleu"),
        ("alone, notebook, pip", "%pip install --no-deps sacre-bleu"),
        ("alone, uv", "uv pip install --no-deps --python /env/bin/python sacre-bleu"),
        ("alone, pipx", "pipx inject --pip-args=--no-deps env sacre-bleu"),
    ],
)
def test_a_missing_library_comes_with_the_line_that_installs_it_here(
    seat: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell, alone = "notebook" in seat, "alone" in seat
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: object() if cell else None))
    found = SimpleNamespace(find_spec=lambda name: name if "pip" in seat.split(", ") else None)
    monkeypatch.setattr(optional, "PathFinder", found)
    monkeypatch.setattr(sys, "platform", "emscripten" if "browser" in seat else "linux")
    monkeypatch.setattr(sys, "executable", f"/{'my ' * ('spaces' in seat)}env/bin/python")
    environment = tmp_path / "env"
    environment.mkdir()
    monkeypatch.setattr(sys, "prefix", str(environment))
    made = "uv = 0.13.9\n" if "uv" in seat else ""
    (environment / "pyvenv.cfg").write_text(f"home = /opt/uv = x/bin\n{made}version_info = 3.11\n")
    if "pipx" in seat:
        (environment / "pipx_metadata.json").touch()
    message = f"^BLEU needs the package sacre-bleu, .* run:  {re.escape(command)}$"
    with pytest.raises(ModuleNotFoundError, match=message), needed_for("BLEU", package="sacre-bleu", alone=alone):
        importlib.import_module("no_such_module_anywhere")


def test_a_library_that_is_there_is_imported() -> None:
    with needed_for("roots", package="math"):
        import math
    assert math.isqrt(9) == 3


def test_other_errors_pass_through() -> None:
    with pytest.raises(ZeroDivisionError), needed_for("nothing", package="none"):
        1 // 0  # noqa: B018


@pytest.mark.usefixtures("processes")
def test_asking_for_the_command_leaves_setuptools_importable() -> None:
    asked = "from course_lib.ground.optional import install_command; install_command('x'); import setuptools"
    subprocess.run([sys.executable, "-c", asked], check=True)
