"""`model.generate`: what calls the library's decoding, and says so where a lesson has its students write that."""

import dataclasses
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.box.library import copy_library
from course_lib.decoding.generation_config import GenerationConfig

WITHOUT_DECODING = """
import torch
from course_lib.models import GPT, GPTConfig
GPT(GPTConfig(11, 8, 8, 2, 1, 12)).generate(torch.tensor([[4]]), max_new_tokens=2)
"""


def test_every_setting_says_what_it_means() -> None:
    said = inspect.getdoc(GenerationConfig) or ""
    for setting in dataclasses.fields(GenerationConfig):
        assert f"    {setting.name}: " in said


@pytest.mark.usefixtures("processes")
def test_where_the_decoding_is_withheld_it_says_so(tmp_path: Path) -> None:
    """As in the sandboxes of lesson 06."""
    withheld = [f"course_lib.decoding.{name}" for name in ("greedy", "beam", "sampling")]
    modules = copy_library(tmp_path, withheld)
    assert "course_lib.models" in modules
    assert "course_lib.decoding.generation" not in modules
    command = [sys.executable, "-P", "-c", f"import sys; sys.path[:0] = [{str(tmp_path)!r}]\n{WITHOUT_DECODING}"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert run.returncode == 1
    last = run.stderr.strip().splitlines()[-1]
    assert last.startswith(
        "ModuleNotFoundError: generate is not available here: this lesson has you write the decoding"
    )
