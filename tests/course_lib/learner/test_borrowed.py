"""A demo draws with the course's own what its notebook has not written yet, and leaves no trace of it."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from course_lib.exercises import find
from course_lib.learner.borrowed import borrowed, is_stub

NOTEBOOK = """
import torch

class Counted:
    def __len__(self):
        return len(count_pairs({}))

def count_pairs(words):
    raise NotImplementedError()

def most_frequent_pair(counts, ids):
    return max(counts)
    raise NotImplementedError()

def learned(words):
    return count_pairs(words), most_frequent_pair

@torch.no_grad()
def learned_without_gradients(words):
    return learned(words)

def decorated_picture():
    print(learned_without_gradients({("a", "b"): 2})[0])

def picture():
    print(learned({("a", "b"): 2})[0], "text".encode())

def of_a_class():
    print(len(Counted()))

def later():
    print(wordpiece("a", ["a"])[0])

def of_its_own():
    print(most_frequent_pair({1: 2}, {}))
"""


@pytest.fixture
def names() -> dict[str, Any]:
    notebook: dict[str, Any] = {}
    exec(NOTEBOOK, notebook)
    return notebook


def drawn(picture: Callable[[], None]) -> None:
    with borrowed(picture):
        picture()


@pytest.mark.parametrize("picture", ["picture", "decorated_picture"])
def test_what_is_missing_is_borrowed_and_given_back(
    names: dict[str, Any], picture: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stub = names["count_pairs"]
    drawn(names[picture])
    said, counts = capsys.readouterr().out.splitlines()
    assert said == "Borrowed for this cell: the course's own count_pairs, until yours is there."
    assert "('a', 'b'): 2" in counts
    assert names["count_pairs"] is stub


def test_what_a_class_and_a_cell_that_did_not_run_lack_is_borrowed(
    names: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    drawn(names["of_a_class"])
    drawn(names["later"])
    assert capsys.readouterr().out.splitlines()[1::2] == ["0", "a"]
    assert "wordpiece" not in names


def test_what_is_written_is_used(names: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    drawn(names["of_its_own"])
    assert capsys.readouterr().out == "1\n"


def test_a_picture_that_fails_gives_back_too(names: dict[str, Any]) -> None:
    stub = names["count_pairs"]
    exec("def failing():\n    raise ValueError(count_pairs is lent)", names)
    names["lent"] = find("subwords.count_pairs").reference
    with pytest.raises(ValueError, match="True"):
        drawn(names["failing"])
    assert names["count_pairs"] is stub


def test_of_one_name_in_two_lessons_the_one_at_hand_lends(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = [find("gpt.generate"), replace(find("gpt.tied_logits"), name="greedy")]
    lessons = {"06": [find("decoding.greedy")], "07": here}
    catalogue = SimpleNamespace(modules=lessons, of_lesson=lessons.__getitem__)
    monkeypatch.setattr("course_lib.learner.current_catalogue.current_catalogue", lambda: catalogue)
    notebook: dict[str, Any] = {}
    exec("def generate(): pass\ndef greedy(n): raise NotImplementedError()\n", notebook)
    exec("def picture():\n    print(greedy)", notebook)
    drawn(notebook["picture"])
    assert "tied_logits" in capsys.readouterr().out


def test_a_line_that_is_never_reached_makes_no_stub(names: dict[str, Any]) -> None:
    assert is_stub(names["count_pairs"])
    assert not is_stub(names["most_frequent_pair"])
    assert not is_stub(3)
