"""What a notebook says once the library is there."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

import course_lib
from course_lib.ground.optional import install_command
from course_lib.learner import arrival


def test_it_says_in_a_line_what_there_is_now(folder: Path) -> None:
    said = arrival.welcome()
    assert "\n" not in said
    assert f"torch {torch.__version__}" in said
    assert said.endswith(f"Your progress is kept in {folder}.")


@pytest.mark.parametrize("there", [True, False])
def test_it_names_the_gpu_where_there_is_one(there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: there)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Tesla T4")
    assert ("trains on the GPU (Tesla T4)" in arrival.welcome()) is there


def test_colab_without_drive_forgets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(arrival, "COLAB", tmp_path)
    monkeypatch.setattr(arrival, "DRIVE", tmp_path / "drive")
    assert "File > Save a copy in Drive" in arrival.welcome()
    (tmp_path / "drive").mkdir()
    assert "Your progress is kept in" in arrival.welcome()


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("asks", ["course_lib.require_version('0.1')", "import course_lib.checking"])
def test_without_torch_the_first_cell_and_a_check_say_what_to_run(asks: str) -> None:
    there = "import sys; sys.modules['torch'] = None; import course_lib; course_lib.find_spec = lambda name: None"
    done = subprocess.run([sys.executable, "-c", f"{there}; {asks}"], capture_output=True, text=True, check=False)
    said = done.stderr.splitlines()[-1]
    assert said.startswith(f"course_lib.Unusable: {sys.executable} has no torch. Is this the course's kernel?")
    assert f"if it is, run:  {install_command('torch')}  Then restart the kernel" in said


@pytest.mark.parametrize(("asked", "refused"), [("0.1.0", False), ("0.0.9", False), ("0.10", True), ("1.0", True)])
def test_a_notebook_asks_for_its_version(asked: str, refused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course_lib, "__version__", "0.9.1")
    if refused:
        with pytest.raises(course_lib.TooOld, match=f"needs katze {asked}, and 0.9.1 is installed") as told:
            course_lib.require_version(asked)
        assert told.value._render_traceback_() == [str(told.value)]  # all that a notebook shows
    else:
        course_lib.require_version(asked)
