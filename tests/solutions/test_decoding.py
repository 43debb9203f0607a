"""Lesson 06, run."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch.testing import assert_close

from course_lib.exercises.decoding.shared import BEHIND_DIE_KATZE
from course_lib.references import decoding
from tests.solutions.executing import ExecutedLesson
from tests.solutions.reading import read_lesson


def numbers(pattern: str, output: str) -> list[float]:
    """The numbers of the only line like this."""
    (found,) = re.findall(pattern, output)
    return [float(number) for number in ([found] if isinstance(found, str) else found)]


def defined_by(beginning: str) -> dict[str, Any]:
    """What the lesson's cell that begins so defines."""
    (cell,) = (cell.source for cell in read_lesson("06_decoding").cells if cell.source.startswith(beginning))
    names: dict[str, Any] = {"torch": torch, "END_ID": 2}
    exec(cell, names)
    return names


class TestWhatTheLessonTypesIn:
    def test_the_tree_is_that_of_the_checks(self) -> None:
        names = defined_by("TREE = {")
        assert names["TREE"] == decoding.TANZTE
        assert tuple(names["VOCABULARY"]) == decoding.TANZTE_WORDS
        assert names["LETTERS"] == decoding.SENTENCES
        step = decoding.tree_step(decoding.TANZTE, decoding.TANZTE_WORDS)
        for tokens in ([1], [1, 3, 5], [1, 4, 5, 8], [1, 7, 7]):
            assert_close(names["tree_step"](tokens), step(torch.tensor(tokens)))

    def test_the_ten_tokens_are_those_of_the_checks(self) -> None:
        assert_close(defined_by("WORDS = ")["behind"], BEHIND_DIE_KATZE)


class TestDecoding(ExecutedLesson):
    lesson = "06_decoding"
    pictures = 11

    def test_the_translator_says_what_the_lecture_says(self, output: str) -> None:
        assert "the cat danced → die Katze tanzte <e>" in output

    def test_the_attention_finds_verb_and_noun_wherever_they_stand(self, output: str) -> None:
        crossing, *_rest = [line for line in output.splitlines() if line.startswith("gestern←")]
        assert "tanzte←danced" in crossing
        assert "Katze←cat" in crossing
        assert output.count("tanzte←danced") == 2

    def test_the_right_translation_is_the_most_probable_and_word_salad_the_least(self, output: str) -> None:
        judged = {tokens: float(value) for value, tokens in re.findall(r"(-[\d.]+) nats   (\w.*)", output)}
        assert (
            max((tokens for tokens in judged if tokens != "by hand, above"), key=judged.__getitem__)
            == "die Katze tanzte"
        )
        assert min(judged, key=judged.__getitem__) == "Katze die tanzte"
        assert judged["by hand, above"] == -1.64

    def test_one_two_and_three_beams_find_three_sentences(self, output: str) -> None:
        for line in (
            "1 beam(s): die Katze hat getanzt",
            "2 beam(s): eine Katze tanzte",
            "3 beam(s): die Katze tanzte",
        ):
            assert line in output

    def test_the_first_beams_bring_most(self, output: str) -> None:
        shares = numbers(r"1: (\d+)%  2: (\d+)%  3: (\d+)%  4: (\d+)%  6: (\d+)%  8: (\d+)%  12: (\d+)%", output)
        assert shares == sorted(shares)
        assert shares[0] < 60
        assert shares[3] > 85
        assert shares[-1] >= 98

    def test_a_search_finds_more_probable_sentences_which_are_often_shorter(self, output: str) -> None:
        better, worse = numbers(r"found a more probable one for (\d+), a less probable one for (\d+)", output)
        (shorter,) = numbers(r"and a shorter one for (\d+)", output)
        assert better > 8
        assert worse < 5
        assert shorter > 3

    def test_the_whole_sentence_wins_at_the_papers_alpha(self, output: str) -> None:
        assert "alpha = 0.6: tensor([-2.3553, -2.3083])" in output

    def test_a_cache_changes_no_number(self, output: str) -> None:
        (alone,) = numbers(r"one attention, largest difference: (\S+)", output)
        (model,) = numbers(r"the translator, largest difference: (\S+)", output)
        assert alone < 1e-5
        assert model < 1e-2  # on a GPU, in its fast half-single precision

    def test_independent_tokens_are_often_no_sentence(self, output: str) -> None:
        (right,) = numbers(r"(\d+) of 1000 are sentences of the tree", output)
        assert 300 < right < 500
        assert "not a sentence: " in output
        for text in ("tanzte getanzt", "hat <e>"):
            assert any(text in line for line in output.splitlines() if line.startswith("not a sentence"))
