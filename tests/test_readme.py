"""What the README and the pages that it begins with show and name must be so."""

import re
from pathlib import Path

import torch
from torch import Tensor

from autograder.commands.registry import make_parser, with_table
from autograder.course.course import Course
from autograder.course.reading_time import what_it_takes
from course_lib.checking import check

ROOT = Path(__file__).resolve().parents[1]
README, LEARNERS, INSTRUCTORS = (
    (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/learners.md", "docs/instructors.md")
)


def test_the_verdict_it_shows_is_the_verdict_one_gets() -> None:
    def as_on_the_slide(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return torch.softmax(q @ k.transpose(-2, -1) / k.shape[-2], dim=-1) @ v

    [shown] = re.findall(r"```\n(attention\.scaled_dot_product:.*?)```", LEARNERS, re.DOTALL)
    verdict = check("attention.scaled_dot_product", as_on_the_slide)
    assert verdict is not None
    assert verdict.text().startswith(shown.rstrip())


def test_its_links_to_colab_are_those_of_the_notebooks() -> None:
    for notebook in sorted((ROOT / "notebooks").glob("*/*.ipynb")):
        (link,) = re.findall(r"https://colab[^)\"]+\.ipynb", notebook.read_text(encoding="utf-8"))
        assert f"({link})" in README


def test_it_links_to_where_questions_are_asked() -> None:
    assert f"(https://github.com/{Course.find(ROOT).repository}/issues)" in README


def test_it_says_what_the_course_takes() -> None:
    said = what_it_takes(sorted((ROOT / "notebooks").glob("*/*.ipynb")))
    assert said in " ".join(README.split()), f"write: {said}"


def test_instructors_find_all_commands() -> None:
    _, commands = make_parser()
    assert with_table(INSTRUCTORS) == INSTRUCTORS, "run `make format`"
    assert re.findall(r"^\| `katze ([a-z-]+)", INSTRUCTORS, re.MULTILINE) == list(commands)
    for usage in ("learn [DIR]", "export [LESSON ...]", "report LESSON FILE.html", "return LESSON --for PLATFORM"):
        assert f"| `katze {usage}` |" in INSTRUCTORS
