"""What is asked for by an id, by a function's name, by nothing at all."""

from collections.abc import Callable
from pathlib import Path

import pytest

from course_lib.checking import case, check, hint, solution
from course_lib.learner.asked import asked_for, current_lesson
from course_lib.learner.progress_file import progress_file


@pytest.fixture(autouse=True)
def away(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def look_up() -> None:
    """Called like the answer to an exercise."""


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("attention.score", "no exercise 'attention.score'; did you mean attention.scores"),
        ("look_up", "no exercise 'look_up'; did you mean words_in_a_bag.look_up?"),
        (look_up, "no exercise 'look_up'; did you mean words_in_a_bag.look_up?"),
        ("scaled_dot_product_attention", "did you mean attention.scaled_dot_product?"),
        ("count_parameters", " heads_and_blocks.count_parameters?"),
    ],
)
def test_what_is_perhaps_meant_is_named(name: object, meant: str, said) -> None:
    assert asked_for(name, "check") is None
    assert progress_file().read() == {}
    told = said()
    assert told.startswith("Nothing was checked: no exercise '")
    assert meant in told
    assert "This lesson has" not in told


def test_of_what_is_like_nothing_only_this_lesson_s_ids_are_listed(said) -> None:
    progress_file().note_hint("attention.scores", "idea")
    assert asked_for("qqqq", "hint") is None
    told = said()
    assert told.startswith("No hint was opened: no exercise 'qqqq'; an id looks like")
    assert "This lesson has attention.contextual_embedding, attention.scores," in told
    assert "masking." not in told


@pytest.mark.parametrize("call", [case, check, hint])
@pytest.mark.parametrize("name", ["attention.why_scale", "words_in_a_bag.told_apart"])
def test_what_a_person_reads_is_said_to_be_so(call: Callable[[str], object], name: str, said) -> None:
    assert call(name) is None or call is case
    assert f"{name} is read by a person: it has no check and no hints." in said()


@pytest.mark.parametrize("call", [case, check, hint, solution])
def test_who_names_nothing_is_told_what_to_name(call: Callable[[], object], said) -> None:
    assert call() is None or call is case
    told = said()
    assert "give the id of the exercise, which is below its heading" in told
    assert f'{call.__name__}("primer.' in told


def test_the_current_lesson_is_the_one_last_worked_in() -> None:
    assert current_lesson() == "000_primer"
    progress_file().note_hint("gpt.generate", "idea")
    assert current_lesson() == "07_gpt"
