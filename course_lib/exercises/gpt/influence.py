"""Lesson 07, gpt.influence: A test for leaks."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import hints, integer, slips
from course_lib.exercises.gpt.shared import Model, random_ids
from course_lib.judging.exercise import Callback, Case, Exercise
from course_lib.judging.recorded.stand_ins import ByHeart, EveryWord
from course_lib.references import gpt


def _influence_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        example = Callback("model", ByHeart(5))
        yield Case("worked example: I saw the dog, by heart", (example, torch.tensor([0, 1, 2, 3]), 5))
    for name, tokens, ahead in (
        ("an honest model", integer(generator, 4, 6), 0),
        ("a model that sees the next token", integer(generator, 5, 6), 1),
        ("one that sees two tokens ahead", integer(generator, 5, 7), 2),
        ("one token", 1, 0),
    ):
        vocab_size = integer(generator, 7, 11)
        own, so_far = torch.randn(2, vocab_size, vocab_size, generator=generator)
        ids = random_ids(generator, vocab_size, tokens)
        if tokens > 1:
            ids[1], ids[-2] = vocab_size - 1, 0  # the one has no id after it; the other is what many put in its place
        model = EveryWord(own, so_far, torch.randn(12, vocab_size, generator=generator), ahead=ahead)
        yield Case(name, (Callback("model", model), ids, vocab_size))


def _one_at_a_time(model: Model, ids: Tensor, vocab_size: int) -> Tensor:
    before = model(ids.unsqueeze(0))[0]
    columns = []
    for position in range(len(ids)):
        changed = ids.clone()
        changed[position] = (ids[position] + 1) % vocab_size
        moved = model(changed.unsqueeze(0))[0] - before
        columns.append(moved.abs().amax(dim=-1))
    return torch.stack(columns, dim=1)


def _all_at_once(model: Model, ids: Tensor, vocab_size: int) -> Tensor:
    texts = torch.where(torch.eye(len(ids), dtype=torch.bool), (ids + 1) % vocab_size, ids)
    moved = model(texts) - model(ids[None])
    return moved.abs().max(dim=-1).values.T


def _filled_in(model: Model, ids: Tensor, vocab_size: int) -> Tensor:
    before, found = model(ids.reshape(1, -1)), torch.zeros(len(ids), len(ids))
    for column, token in enumerate(ids.tolist()):
        other = 0 if token == vocab_size - 1 else token + 1
        text = torch.cat([ids[:column], torch.tensor([other]), ids[column + 1 :]])
        for row in range(len(ids)):
            found[row, column] = (before[0, row] - model(text.reshape(1, -1))[0, row]).abs().max()
    return found


_COPY, _OTHER, _SIZE, _RETURN = "ids.clone()", "(ids[position] + 1) % vocab_size", "moved.abs().amax(dim=-1)", "dim=1)"

EXERCISE = Exercise(
    id="gpt.influence",
    title="A test for leaks",
    statement=(
        "influence(model, ids int64 [tokens], vocab_size) -> [tokens, tokens]: in row i and column j, the largest "
        "absolute change in the logits after token i if token j becomes (ids[j] + 1) % vocab_size; model(ids [batch, "
        "tokens]) gives logits [batch, tokens, vocab_size]."
    ),
    points=4,
    minutes=18,
    difficulty=3,
    importance=4,
    section="What would happen without the mask?",
    source="S0, transformer language models",
    reference=gpt.influence,
    cases=_influence_cases,
    correct=(_one_at_a_time, _all_at_once, _filled_in),
    hints=hints(
        idea=(
            "Run the model once on the text as it is. Then change one token at a time, run the model again, and "
            "compare. A logit that moves depends on that token.",
            ("changes_pile_up", "compared_with_the_last_change", "replaced_by_0"),
        ),
        shapes=(
            "The model takes `[1, tokens]` and gives `[1, tokens, vocab_size]`. The largest absolute change over the "
            "vocabulary is `[tokens]`, one number for each prediction. It is a column of the result.",
            ("transposed", "signed", "last_prediction_only", "summed"),
        ),
    ),
    misconceptions=slips(
        _one_at_a_time,
        transposed=(
            "Your answer is transposed. Rows are predictions, and columns are the tokens you change.",
            (_RETURN, "dim=0)"),
        ),
        changes_pile_up=(
            "Your answer changes the ids themselves, so earlier changes remain. Each time, start from a copy of the "
            "original text: ids.clone().",
            (_COPY, "changed if position else ids.clone()"),
        ),
        compared_with_the_last_change=(
            "Your answer compares each changed text with the previous one. Compare each with the original text.",
            ("[0] - before\n", "[0] - before; before = before + moved\n"),
        ),
        replaced_by_0=(
            "Your answer replaces every token with token 0. A token that is already 0 then stays the same: use "
            "(ids[j] + 1) % vocab_size.",
            (_OTHER, "0"),
        ),
        last_token_stays=(
            "Your answer does not change the last id in the vocabulary. Replace it with id 0: % vocab_size.",
            (_OTHER, "(ids[position] + 1).clamp(max=vocab_size - 1)"),
        ),
        signed=(
            "Your answer takes the largest signed change, so it misses logits that only fall. Take the absolute value "
            "first.",
            (_SIZE, "moved.amax(dim=-1)"),
        ),
        summed=(
            "Your answer adds up the changes in all logits. Take the largest: .amax(dim=-1).",
            (_SIZE, "moved.abs().sum(dim=-1)"),
        ),
        averaged=(
            "Your answer takes the mean change in the logits. Take the largest: .amax(dim=-1).",
            (_SIZE, "moved.abs().mean(dim=-1)"),
        ),
        of_probabilities=(
            "Your answer compares probabilities. Compare the logits themselves, without a softmax.",
            ("before = model(ids.unsqueeze(0))[0]", "before = model(ids.unsqueeze(0))[0].softmax(dim=-1)"),
            ("model(changed.unsqueeze(0))[0]", "model(changed.unsqueeze(0))[0].softmax(dim=-1)"),
        ),
        last_prediction_only=(
            "Your answer measures only the last prediction. Every prediction needs its own row.",
            (_SIZE, "moved[-1:].abs().amax(dim=-1)"),
        ),
        yes_or_no=(
            "Your answer says only whether a prediction moved. Return how far: the largest absolute change.",
            (_SIZE, "(moved.abs().amax(dim=-1) > 1e-6)"),
        ),
    ),
)
