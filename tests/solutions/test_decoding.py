"""Lesson 06, run."""

import re
from typing import Any

import torch
from torch.testing import assert_close

from course_lib.exercises.decoding.shared import AFTER_DIE_KATZE
from course_lib.references import decoding
from tests.solutions.executing import ExecutedLesson, numbers
from tests.solutions.reading import defined_by


def test_the_tree_and_the_ten_tokens_are_those_of_the_checks() -> None:
    names: dict[str, Any] = defined_by("06_decoding", "TREE = {", torch=torch, END_ID=2)
    assert names["TREE"] == decoding.TANZTE
    assert tuple(names["VOCABULARY"]) == decoding.TANZTE_WORDS
    assert names["LETTERS"] == decoding.SENTENCES
    step = decoding.tree_step(decoding.TANZTE, decoding.TANZTE_WORDS)
    for tokens in ([1], [1, 3, 5], [1, 4, 5, 8], [1, 7, 7]):
        assert_close(names["tree_step"](tokens), step(torch.tensor(tokens)))
    assert_close(defined_by("06_decoding", "WORDS = ", torch=torch)["following"], AFTER_DIE_KATZE)


class TestDecoding(ExecutedLesson):
    lesson = "06_decoding"
    pictures = 11
    prints = (
        "the cat danced → die Katze tanzte <e>",
        "1 beam(s): die Katze hat getanzt",
        "2 beam(s): eine Katze tanzte",
        "3 beam(s): die Katze tanzte",
        "alpha = 0.6: tensor([-2.3553, -2.3083])",
        "not a sentence: ",
    )

    def test_the_attention_finds_verb_and_noun_wherever_they_stand(self, output: str) -> None:
        crossing, *_rest = [line for line in output.splitlines() if line.startswith("gestern←")]
        assert "tanzte←danced" in crossing
        assert "Katze←cat" in crossing
        assert output.count("tanzte←danced") == 2

    def test_the_right_translation_is_the_most_probable_and_word_salad_the_least(self, output: str) -> None:
        judged = {tokens: float(value) for value, tokens in re.findall(r"(-[\d.]+) nats   (\w.*)", output)}
        assert min(judged, key=judged.__getitem__) == "Katze die tanzte"
        assert max(judged, key=judged.__getitem__) == "die Katze tanzte"

    def test_the_first_beams_bring_most(self, output: str) -> None:
        shares = numbers(r"1: (\d+)%  2: (\d+)%  3: (\d+)%  4: (\d+)%  6: (\d+)%  8: (\d+)%  12: (\d+)%", output)
        assert shares == sorted(shares)
        assert shares[0] < 60 < 85 < shares[3]
        assert shares[-1] >= 98

    def test_a_search_finds_more_probable_sentences_which_are_often_shorter(self, output: str) -> None:
        better, worse = numbers(r"found a more probable one for (\d+), a less probable one for (\d+)", output)
        assert better > 8 > 5 > worse
        assert numbers(r"and a shorter one for (\d+)", output)[0] > 3

    def test_a_vote_of_samples_beats_one_of_them(self, output: str) -> None:
        one, greedy, vote = (
            numbers(rf"F1 against the right translation, {name}: ([\d.]+)%", output)[0]
            for name in ("a single draw", "greedy decoding", "the vote of twenty")
        )
        assert one + 5 < vote < greedy

    def test_a_cache_changes_no_number(self, output: str) -> None:
        found = re.findall(r"one attention, .* at a time, largest difference: (\S+)", output)
        assert len(found) == 2
        assert max(map(float, found)) < 1e-5
        # on a GPU, in its fast half-single precision
        assert numbers(r"a GPT of 4 blocks, largest difference: (\S+)", output)[0] < 1e-2

    def test_a_draft_changes_no_text_and_saves_passes(self, output: str) -> None:
        same, asked = numbers(r"(\d+) of (\d+) translations match greedy decoding", output)
        assert same == asked
        assert numbers(r"([\d.]+) passes of the trained translator for each token", output)[0] < 0.7
        assert numbers(r"20,000 draws, largest difference .*: ([\d.]+)", output)[0] < 0.02

    def test_independent_tokens_are_often_no_sentence(self, output: str) -> None:
        assert 300 < numbers(r"(\d+) of 1000 are sentences of the tree", output)[0] < 500
        for text in ("tanzte getanzt", "hat <e>"):
            assert any(text in line for line in output.splitlines() if line.startswith("not a sentence"))
