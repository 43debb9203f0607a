"""`model.generate`: what the `transformers` library writes with the same weights, word for word."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor, nn

from course_lib.models import GPT, GPTConfig, Transformer, TransformerConfig
from tests.course_lib.writers import PROMPTS_LEFT, SOURCES, Letters

WORDS = 24
SIZES = GPTConfig(WORDS, 48, 16, 2, 2, 32, activation="gelu_tanh", end_id=2, padding_id=0)
TWO_LANGUAGES = TransformerConfig(
    WORDS, WORDS, 16, 2, 32, 2, 2, shared_embeddings=True, output_bias=True, activation="silu", start_id=0
)
PROMPTS, MASK = PROMPTS_LEFT, PROMPTS_LEFT != 0
SEEDS = [0, 1]


def varied(model: GPT | Transformer, seed: int, embeddings: float, others: float) -> None:
    """Draw the weights so that what is said next depends on the last token, and many tokens are nearly as probable."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        if parameter.dim() > 1:
            nn.init.normal_(parameter, std=embeddings if "embedding" in name else others, generator=generator)
        elif name.endswith("norm.weight"):
            nn.init.normal_(parameter, generator=generator)


def writer(seed: int, **changes: Any) -> GPT:
    model = GPT(dataclasses.replace(SIZES, **changes)).eval()
    varied(model, seed, embeddings=0.5, others=0.3)
    with torch.no_grad():
        model.output.weight[2] *= 2  # texts of a few tokens
    return model


def translator(seed: int) -> Transformer:
    model = Transformer(TWO_LANGUAGES).eval()
    varied(model, seed, embeddings=0.3, others=0.1)
    with torch.no_grad():
        model.output.bias[2] = 1.0
        model.output.bias[0] = -1e4  # padding, where a translation begins, is not to be written
    return model


def theirs(ours: GPT | Transformer, folder: Path) -> Any:
    """The same model in their library."""
    ours.save_pretrained(folder)
    kind = transformers.GPT2LMHeadModel if isinstance(ours, GPT) else transformers.MarianMTModel
    return kind.from_pretrained(folder).eval()


def texts(tokens: Tensor, read: int) -> list[list[int]]:
    """What has been written after `read` tokens, each text up to its end: libraries fill up the rest differently."""
    rows = tokens[:, read:].tolist()
    return [row[: row.index(2) + 1] if 2 in row else row for row in rows]


def same(ours: Tensor, expected: Tensor, inputs: Tensor, model: nn.Module) -> bool:
    """Whether both begin with what was read, and go on alike."""
    read = inputs.shape[1] if isinstance(model, GPT) else 1
    return torch.equal(ours[:, :read], expected[:, :read]) and texts(ours, read) == texts(expected, read)


Make = Callable[[int], Any]
BOTH = pytest.mark.parametrize(("make", "inputs"), [(writer, PROMPTS), (translator, SOURCES)], ids=["GPT-2", "Marian"])


@BOTH
@pytest.mark.parametrize("seed", SEEDS)
class TestAsTheirs:
    """With all prompts padded on the left, where their library needs it."""

    def test_greedy(self, make: Make, inputs: Tensor, seed: int, tmp_path: Path) -> None:
        ours = make(seed)
        settings = {"attention_mask": (inputs != 0).long(), "max_new_tokens": 20}
        expected = theirs(ours, tmp_path).generate(inputs, do_sample=False, **settings)
        written = ours.generate(inputs, **settings)
        assert same(written, expected, inputs, ours)
        assert len({token for text in texts(written, 1) for token in text}) > 2

    @pytest.mark.parametrize("beams", [2, 5])
    def test_beam_search(self, make: Make, inputs: Tensor, seed: int, beams: int, tmp_path: Path) -> None:
        ours = make(seed)
        their_model = theirs(ours, tmp_path)
        for penalty in (0.0, 1.0, 2.0):
            for early in (False, True, "never"):
                settings: dict[str, Any] = {
                    "attention_mask": (inputs != 0).long(),
                    "max_new_tokens": 12,
                    "num_beams": beams,
                    "length_penalty": penalty,
                    "early_stopping": early,
                }
                expected = their_model.generate(inputs, do_sample=False, **settings)
                assert same(ours.generate(inputs, **settings), expected, inputs, ours), settings

    @pytest.mark.parametrize(
        "settings",
        [
            {"do_sample": True},
            {"temperature": 0.7},
            {"top_k": 5},
            {"top_p": 0.8},
            {"min_p": 0.2},
            {"temperature": 1.3, "top_k": 12, "top_p": 0.9, "min_p": 0.05, "repetition_penalty": 1.3},
        ],
        ids=lambda settings: " ".join(settings),
    )
    def test_the_same_draws(self, make: Make, inputs: Tensor, seed: int, settings: Any, tmp_path: Path) -> None:
        if "repetition_penalty" in settings:
            inputs = inputs[:1]  # their library penalizes padding, too
        ours = make(seed)
        their_model = theirs(ours, tmp_path)
        shared = {"attention_mask": (inputs != 0).long(), "max_new_tokens": 20}
        torch.manual_seed(seed)
        expected = their_model.generate(inputs, **{"do_sample": True, "top_k": 0} | shared | settings)
        torch.manual_seed(seed)
        assert same(ours.generate(inputs, **shared, **settings), expected, inputs, ours)
        generator = torch.Generator().manual_seed(seed)
        assert same(ours.generate(inputs, **shared, **settings, generator=generator), expected, inputs, ours)

    @pytest.mark.parametrize("beams", [1, 3])
    def test_a_penalty_for_repetition(self, make: Make, inputs: Tensor, seed: int, beams: int, tmp_path: Path) -> None:
        ours, inputs = make(seed), inputs[:1]
        their_model = theirs(ours, tmp_path)
        for penalty in (1.0, 1.5, 0.8):
            settings: dict[str, Any] = {"max_new_tokens": 15, "num_beams": beams, "repetition_penalty": penalty}
            expected = their_model.generate(inputs, do_sample=False, **settings)
            assert same(ours.generate(inputs, **settings), expected, inputs, ours), settings


SETTINGS: dict[str, dict[str, Any]] = {
    "no end before": {"min_new_tokens": 7},
    "no end before, with beams": {"min_new_tokens": 7, "num_beams": 3},
    "no pair twice": {"no_repeat_ngram_size": 2},
    "no token twice": {"no_repeat_ngram_size": 1, "max_new_tokens": 12},
    "no three twice, with beams": {"no_repeat_ngram_size": 3, "num_beams": 3},
    "another end": {"eos_token_id": 5},
    "two ends": {"eos_token_id": [2, 7]},
    "three ends, with beams": {"eos_token_id": [2, 7, 9], "num_beams": 2},
    "all beams": {"num_beams": 4, "num_return_sequences": 4},
    "two of three beams": {"num_beams": 3, "num_return_sequences": 2, "length_penalty": 0.0},
    "three draws": {"do_sample": True, "num_return_sequences": 3},
    "the same together": {
        "min_new_tokens": 4,
        "no_repeat_ngram_size": 2,
        "eos_token_id": [2, 4],
        "repetition_penalty": 1.4,
    },
}


def favours_seven(ids: Tensor, scores: Tensor) -> Tensor:
    return scores.index_fill(1, torch.tensor([7]), 3.0) if ids.shape[1] % 2 else scores


class TestMoreSettingsAsTheirs:
    @BOTH
    @pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
    def test_each(self, make: Make, inputs: Tensor, settings: Any, tmp_path: Path) -> None:
        if settings.keys() & {"repetition_penalty", "no_repeat_ngram_size"}:
            inputs = inputs[:1]  # their library takes padding for tokens there
        ours = make(0)
        shared = {"attention_mask": (inputs != 0).long(), "max_new_tokens": 15} | settings
        their_model = theirs(ours, tmp_path)
        torch.manual_seed(0)
        expected = their_model.generate(inputs, **{"do_sample": False, "top_k": 0} | shared)
        torch.manual_seed(0)
        written = ours.generate(inputs, **shared)
        ends = settings.get("eos_token_id", 2)
        ends = [ends] if isinstance(ends, int) else ends
        read = inputs.shape[1] if isinstance(ours, GPT) else 1
        assert written.shape[0] == expected.shape[0]
        assert up_to(ends, written[:, read:]) == up_to(ends, expected[:, read:])

    @BOTH
    @pytest.mark.parametrize("processors", [favours_seven, [favours_seven], [favours_seven, lambda _, scores: -scores]])
    @pytest.mark.parametrize("beams", [1, 3])
    def test_processors(self, make: Make, inputs: Tensor, processors: Any, beams: int, tmp_path: Path) -> None:
        ours = make(0)
        shared: dict[str, Any] = {"attention_mask": (inputs != 0).long(), "max_new_tokens": 9, "num_beams": beams}
        given = transformers.LogitsProcessorList([processors] if callable(processors) else processors)
        expected = theirs(ours, tmp_path).generate(inputs, do_sample=False, logits_processor=given, **shared)
        assert same(ours.generate(inputs, logits_processor=processors, **shared), expected, inputs, ours)

    def test_a_model_with_several_ends_stops_at_each(self, tmp_path: Path) -> None:
        ours = writer(0, end_id=(2, 7))
        expected = writer(0).generate(PROMPTS, max_new_tokens=15, eos_token_id=[2, 7])
        assert torch.equal(ours.generate(PROMPTS, max_new_tokens=15), expected)
        ours.save_pretrained(tmp_path)
        assert GPT.from_pretrained(tmp_path).config.end_id == (2, 7)


def up_to(ends: list[int], tokens: Tensor) -> list[list[int]]:
    """Each text up to its end."""
    rows = tokens.tolist()
    return [row[: next((i + 1 for i, token in enumerate(row) if token in ends), len(row))] for row in rows]


class TestPrompts:
    @pytest.mark.parametrize("beams", [1, 3])
    def test_on_either_side_padding_changes_nothing(self, beams: int) -> None:
        ours = writer(1)
        left = ours.generate(PROMPTS, MASK.long(), max_new_tokens=10, num_beams=beams)
        right, mask = PROMPTS.flip(1), MASK.flip(1)
        right[mask] = PROMPTS[MASK]
        for ids, seen in ((left, MASK), (ours.generate(right, mask, max_new_tokens=10, num_beams=beams), mask)):
            for row, prompt in enumerate(PROMPTS):
                alone = ours.generate(prompt[MASK[row]].unsqueeze(0), max_new_tokens=10, num_beams=beams)
                count = int(seen[row].sum())
                assert texts(ids[row : row + 1], 4) == texts(alone, count)

    def test_the_mask_says_what_is_padding(self) -> None:
        """Any id may stand at padding, and the id of padding may be a token."""
        ours = writer(1)
        expected = ours.generate(PROMPTS, max_new_tokens=6)[:, 4:]
        other = ours.generate(PROMPTS.masked_fill(~MASK, 9), MASK, max_new_tokens=6)
        assert torch.equal(other[:, 4:], expected)
        everything = ours.generate(PROMPTS, torch.ones_like(PROMPTS), max_new_tokens=6)
        without_padding = writer(1, padding_id=None)
        assert texts(everything, 4) == texts(without_padding.generate(PROMPTS, max_new_tokens=6), 4)
        assert texts(everything, 4) != texts(expected, 0)

    def test_a_sources_mask_becomes_padding(self) -> None:
        ours = translator(1)
        other = ours.generate(SOURCES.masked_fill(SOURCES == 0, 9), SOURCES != 0, max_new_tokens=6)
        assert torch.equal(other, ours.generate(SOURCES, max_new_tokens=6))

    @pytest.mark.parametrize("setting", [{"repetition_penalty": 1.5}, {"no_repeat_ngram_size": 1}])
    def test_padding_is_no_repetition(self, setting: Any) -> None:
        ours, settings = writer(0), {"max_new_tokens": 10, **setting}
        together = ours.generate(PROMPTS.masked_fill(~MASK, 9), MASK, **settings)
        for row, prompt in enumerate(PROMPTS):
            alone = ours.generate(prompt[MASK[row]].unsqueeze(0), **settings)
            assert texts(together[row : row + 1], 4) == texts(alone, int(MASK[row].sum()))


def test_what_it_writes_can_be_trained_on() -> None:
    ours = writer(0).train()
    ours(ours.generate(PROMPTS, max_new_tokens=4)).sum().backward()
    assert ours.embedding.weight.grad is not None
    assert ours.training


def seeded() -> torch.Generator:
    return torch.Generator().manual_seed(3)


class TestStop:
    def test_after_ids_or_a_text_which_stay(self) -> None:
        ours = writer(0, end_id=None)
        free = ours.generate(PROMPTS[:1], max_new_tokens=12)[0, 4:].tolist()
        ids = free[3:5]
        length = next(place for place in range(2, 13) if free[place - 2 : place] == ids)
        text = Letters().decode(ids)
        for stop in ([ids], [[99], ids], [tuple(ids)], text, [text], ["never", text]):
            written = ours.generate(PROMPTS[:1], max_new_tokens=12, stop_strings=stop, tokenizer=Letters())
            assert written[0, 4:].tolist() == free[:length]
        assert length < 12

    def test_with_beams_where_a_text_ends_is_where_it_is_compared(self) -> None:
        """To stop at a token's id is to have it as an end."""
        ended, stopped = writer(1, padding_id=None), writer(1, end_id=None, padding_id=None)
        for penalty in (0.0, 1.0):
            settings: dict[str, Any] = {"max_new_tokens": 12, "num_beams": 3, "length_penalty": penalty}
            written = stopped.generate(PROMPTS[:1], stop_strings=[[2]], **settings)
            assert texts(written, 4) == texts(ended.generate(PROMPTS[:1], **settings), 4)
            assert 2 in written[0, 4:]

    def test_each_text_by_itself(self) -> None:
        ours = writer(0, end_id=None)
        free = ours.generate(PROMPTS, max_new_tokens=12)[:, 4:].tolist()
        stop = [free[0][2]]
        written = ours.generate(PROMPTS, max_new_tokens=12, stop_strings=[stop])[:, 4:].tolist()
        for row, tokens in zip(written, free, strict=True):
            length = tokens.index(stop[0]) + 1 if stop[0] in tokens else 12
            assert row == (tokens[:length] + [0] * 12)[: len(row)]

    def test_as_their_library_does(self, tmp_path: Path) -> None:
        ours = writer(0)
        ids = ours.generate(PROMPTS[:1], max_new_tokens=12)[0, 6:8]
        expected = theirs(ours, tmp_path).generate(PROMPTS[:1], max_new_tokens=12, eos_token_id=[2, int(ids[1])])
        assert torch.equal(ours.generate(PROMPTS[:1], max_new_tokens=12, stop_strings=[[int(ids[1])]]), expected)


class TestStreamer:
    @BOTH
    def test_is_given_what_theirs_is_given(self, make: Make, inputs: Tensor, tmp_path: Path) -> None:
        ours, given, expected = make(1), Listener(), Listener()
        mask = (inputs != 0).long()
        written = ours.generate(inputs, mask, max_new_tokens=10, streamer=given)
        theirs(ours, tmp_path).generate(
            inputs, attention_mask=mask, max_new_tokens=10, do_sample=False, streamer=expected
        )
        assert [value.tolist() for value in given.values] == [value.tolist() for value in expected.values]
        assert torch.equal(torch.cat([given.values[0], torch.stack(given.values[1:], dim=1)], dim=1), written)
        assert given.ended

    def test_can_be_theirs(self, capsys: pytest.CaptureFixture[str]) -> None:
        ours = writer(0)
        streamer = transformers.TextStreamer(Spaced(), skip_prompt=True)
        written = ours.generate(PROMPTS[:1], max_new_tokens=6, streamer=streamer)[0, 4:].tolist()
        assert capsys.readouterr().out.split() == [str(token) for token in written]


class Listener:
    def __init__(self) -> None:
        self.values: list[Tensor] = []
        self.ended = False

    def put(self, value: Tensor) -> None:
        self.values.append(value)

    def end(self) -> None:
        self.ended = True


class Spaced:
    """A tokenizer that writes the ids themselves."""

    def decode(self, ids: Any, **_: Any) -> str:
        return "".join(f"{int(token)} " for token in ids)


class TestPastTheContext:
    @pytest.mark.parametrize("use_cache", [True, False])
    @pytest.mark.parametrize("length", [3, 8, 13])
    @pytest.mark.parametrize("norm_first", [True, False])
    def test_each_token_is_predicted_from_the_last_tokens(self, use_cache: bool, length: int, norm_first: bool) -> None:
        ours = writer(4, context_length=8, end_id=None, norm_first=norm_first)
        prompt = torch.randint(1, WORDS, (1, length), generator=seeded())
        text = prompt
        for _ in range(20):
            token = ours(text[:, -8:])[:, -1:].argmax(dim=-1)
            text = torch.cat([text, token], dim=1)
        written = ours.generate(prompt, max_new_tokens=20, past_context=True, use_cache=use_cache)
        assert torch.equal(written, text)
        assert len(set(text[0, length:].tolist())) > 2

    @pytest.mark.parametrize("settings", [{}, {"num_beams": 3}, {"num_beams": 3, "repetition_penalty": 1.2}])
    @pytest.mark.parametrize("tokens", [3, 6])
    def test_of_each_text_by_itself(self, settings: Any, tokens: int) -> None:
        ours = writer(4, context_length=tokens)
        together = ours.generate(PROMPTS, MASK, max_new_tokens=12, past_context=True, **settings)
        right = PROMPTS.flip(1)
        right[MASK.flip(1)] = PROMPTS[MASK]
        behind = ours.generate(right, MASK.flip(1), max_new_tokens=12, past_context=True, **settings)
        for row, prompt in enumerate(PROMPTS):
            count = int(MASK[row].sum())
            alone = ours.generate(prompt[-count:].unsqueeze(0), max_new_tokens=12, past_context=True, **settings)
            for written in (together, behind):
                assert texts(written[row : row + 1], 4) == texts(alone, count)

    def test_with_beams_it_is_the_same_with_and_without_the_cache(self) -> None:
        ours = writer(4, context_length=6)
        settings: dict[str, Any] = {"max_new_tokens": 12, "num_beams": 3, "past_context": True}
        written = ours.generate(PROMPTS, **settings)
        assert torch.equal(written, ours.generate(PROMPTS, **settings, use_cache=False))

    def test_within_it_nothing_changes(self) -> None:
        for make, inputs in ((writer, PROMPTS), (translator, SOURCES)):
            ours: Any = make(1)
            written = ours.generate(inputs, max_new_tokens=10, past_context=True)
            assert torch.equal(written, ours.generate(inputs, max_new_tokens=10))
