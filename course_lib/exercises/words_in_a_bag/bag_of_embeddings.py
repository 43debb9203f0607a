"""Lesson 00, words_in_a_bag.bag_of_embeddings: A bag of embeddings that decides."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor, nn

from course_lib import bags
from course_lib.exercises.common import SMALLEST, integer, sizes
from course_lib.exercises.words_in_a_bag.shared import (
    ADDED_UP,
    COUNTED,
    LESSON,
    WITHHELD,
    padded,
    random_ids,
    wrong_means,
)
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise, Hint, Misconception


def _weights(generator: Generator, vocab_size: int, d_model: int, classes: int) -> dict[str, Tensor]:
    return {
        "embedding.weight": torch.randn(vocab_size, d_model, generator=generator),
        "output.weight": torch.randn(classes, d_model, generator=generator),
        "output.bias": torch.randn(classes, generator=generator),
    }


def _bag_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(
            "worked example: the dog chased the cat, and the cat slept",
            (torch.tensor([[1, 2, 3, 1, 4], [1, 4, 5, 0, 0]]), torch.tensor([[True] * 5, [True] * 3 + [False] * 2])),
            construct={"vocab_size": 6, "d_model": 2, "classes": 3},
            weights={
                "embedding.weight": torch.tensor(
                    [[5.0, 5.0], [0.1, 0.1], [2.0, 0.5], [1.0, -1.5], [1.8, 0.9], [-0.6, 0.3]]
                ),
                "output.weight": torch.tensor([[1.0, 0.0], [0.0, 2.0], [-1.0, 1.0]]),
                "output.bias": torch.tensor([0.5, -0.25, 0.125]),
            },
            weight_gradients=True,
        )
    for name, batch, dtype in (
        ("a batch", integer(generator, 3, 5), torch.float32),
        ("weights in double precision", 4, torch.float64),
        ("a batch of one sentence", 1, torch.float32),
    ):
        words = integer(generator, 5, 8)
        vocab_size, d_model, classes = integer(generator, 10, 15), *sizes(generator, 2)
        # No word has id 0, which an answer may keep for padding (padding_idx); but padding may have any.
        mask = padded(generator, max(batch, 2), words, spare=1)[:batch]
        mask[2:3] = torch.arange(words + 1) == 0  # a sentence of one word
        anything = random_ids(generator, 5, batch, words + 1)
        ids = torch.where(mask, 1 + random_ids(generator, vocab_size - 1, batch, words + 1), anything)
        weights = _weights(generator, vocab_size, d_model, classes)
        yield Case(
            name,
            (ids, mask),
            construct={"vocab_size": vocab_size, "d_model": d_model, "classes": classes},
            weights={name: weight.to(dtype) for name, weight in weights.items()},
            weight_gradients=True,
            part=CORE if dtype == torch.float32 else "double precision",
        )
    yield Case(
        SMALLEST,
        (torch.tensor([[1]]), torch.tensor([[True]])),
        construct={"vocab_size": 2, "d_model": 1, "classes": 1},
        weights=_weights(generator, 2, 1, 1),
    )


class _Bag(nn.Module):
    def __init__(self, vocab_size: int, d_model: int, classes: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.output = nn.Linear(d_model, classes)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        x = self.embedding(ids)
        words = mask.unsqueeze(-1).to(x.dtype)
        total, count = (x * words).sum(dim=1), words.sum(dim=1)
        mean = total / count
        logits: Tensor = self.output(mean)
        return logits


_slip = partial(Edited, _Bag)


class _BagWithLoops(_Bag):
    """As usual where 0 is the id of padding, that row is never learned."""

    def __init__(self, vocab_size: int, d_model: int, classes: int) -> None:
        super().__init__(vocab_size, d_model, classes)
        self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=0)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        sentences = zip(ids, mask, strict=True)
        return torch.stack([self.output(self.embedding(words[allowed]).mean(0)) for words, allowed in sentences])


class _BagOfLogits(_Bag):
    """The mean of every word's logits: a linear layer and a mean may be swapped."""

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        logits: Tensor = self.output(self.embedding(ids))
        return (logits * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)


EXERCISE = Exercise(
    id="words_in_a_bag.bag_of_embeddings",
    lesson=LESSON,
    name="BagClassifier",
    title="A bag of embeddings that decides",
    statement=(
        "class BagClassifier(nn.Module): __init__(vocab_size, d_model, classes) makes `embedding` (nn.Embedding) and "
        "`output` (nn.Linear); forward(ids int [batch, words], mask bool [batch, words]) -> [batch, classes] is the "
        "linear layer of the mean of each sentence's embeddings, padding left out."
    ),
    points=4,
    minutes=15,
    difficulty=3,
    importance=4,
    section="A classifier",
    source="S3, a simple model",
    reference=bags.BagClassifier,
    cases=_bag_cases,
    formerly={"vocab_size": "vocabulary"},
    parts={CORE: 3, "double precision": 1},
    correct=(_Bag, _BagWithLoops, _BagOfLogits),
    hints=(
        Hint(
            "idea",
            "The model is what you have written so far, in a row: look the words up, take the mean of those that the "
            "mask allows, and let the linear layer turn the mean into one score for each class. The loss takes the "
            "softmax itself.",
        ),
        Hint(
            "shapes",
            "`self.embedding` takes ids `[batch, words]` to `[batch, words, d_model]`. The mean is "
            "`[batch, d_model]`, and `self.output` takes it to `[batch, classes]`. Layers are called like functions.",
            answers=("over_the_batch", "number_without_keepdim"),
        ),
        Hint(
            "outline",
            "Look up all ids, padding included: whatever stands there is removed next.\n"
            "Multiply by the mask, with a last dimension of size 1, and sum over the words.\n"
            "Divide by the number of words of each sentence, `[batch, 1]`.\n"
            "Return what the linear layer gives for these means.",
            answers=(
                "ids_multiplied_by_the_mask",
                "ids_multiplied_and_counted",
                "padding_added_up",
                "padding_is_zero",
                "padding_counted_in_the_number",
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "padding_counted",
            "Your answer takes the mean over all positions, padding included, as on slide S3. Add up the words where "
            "the mask is True, and divide by their number.",
            _slip(COUNTED, ADDED_UP),
        ),
        *wrong_means(_Bag),
        Misconception(
            "inverted",
            "Your answer mistakes the padding for the words, and is NaN where there is no padding. The mask is True "
            "at words: use it as it comes.",
            _slip(("words = mask", "words = (~mask)")),
        ),
        Misconception(
            "padding_is_zero",
            "Your answer treats every id except 0 as a word, and never uses the mask. Padding is where the mask is "
            "False, whatever id stands there.",
            _slip(("words = mask", "words = (ids != 0)")),
        ),
        Misconception(
            "ids_multiplied_by_the_mask",
            "Your answer multiplies the ids by the mask, which turns the padding into word 0, and word 0 has a vector "
            "as well. Multiply the vectors, after the embedding: x * mask.unsqueeze(-1).",
            _slip(("(ids)", "(ids * mask)"), ADDED_UP, paired=False),
        ),
        Misconception(
            "ids_multiplied_and_counted",
            "Your answer multiplies the ids by the mask, which turns the padding into word 0, and takes the mean over "
            "all positions. Multiply the vectors by the mask, and divide by the number of words.",
            _slip(("(ids)", "(ids * mask)"), ADDED_UP, COUNTED, paired=False),
        ),
        Misconception(
            "first_word",
            "Your answer takes only the first word. Take the mean of all the words.",
            _slip(("total, count = (x * words).sum(dim=1), words.sum(dim=1)", "total, count = x[:, 0], 1")),
        ),
        Misconception(
            "over_the_batch",
            "Your answer takes the mean over the batch (dim=0), which mixes different sentences. The words of a "
            "sentence are dim=1.",
            _slip(
                (
                    "total, count = (x * words).sum(dim=1), words.sum(dim=1)",
                    "total, count = (x * words).sum(dim=0), len(x)",
                )
            ),
        ),
        Misconception(
            "maximum",
            "Your answer takes the largest value in each component of a sentence's words. Take their mean.",
            _slip(("total / count", "x.masked_fill(~mask.unsqueeze(-1), torch.finfo(x.dtype).min).amax(dim=1)")),
        ),
        Misconception(
            "not_pooled",
            "Your answer gives every word numbers of its own, [batch, words, classes]. Take the mean over the words "
            "of a sentence.",
            _slip(("total / count", "x")),
        ),
        Misconception(
            "probabilities",
            "Your answer ends in a softmax. Return the numbers before it, the logits: the loss takes the softmax "
            "itself.",
            _slip(("return logits", "return logits.softmax(dim=-1)")),
        ),
        Misconception(
            "log_probabilities",
            "Your answer ends in a log softmax. Return the numbers before it, the logits.",
            _slip(("return logits", "return logits.log_softmax(dim=-1)")),
        ),
        Misconception(
            "sigmoid_at_the_end",
            "Your answer ends in a sigmoid. Return the linear layer's numbers as they are: the loss takes logits.",
            _slip(("return logits", "return logits.sigmoid()")),
        ),
        Misconception(
            "classes_picked",
            "Your answer is the class with the largest number. Return the numbers of all classes, [batch, classes]: "
            "the loss needs them, and an argmax has no gradient.",
            _slip(("return logits", "return logits.argmax(dim=-1)")),
        ),
        Misconception(
            "bias_left_out",
            "Your answer multiplies by the output layer's weights, but leaves out its bias. Call the layer itself: "
            "self.output(...).",
            _slip(("self.output(mean)", "mean @ self.output.weight.T")),
        ),
        Misconception(
            "hidden_activation",
            "Your answer sets the negative components of the mean to 0 (a ReLU) before the output layer. This model "
            "has none: embeddings, mean, one linear layer.",
            _slip(("(mean)", "(mean.relu())")),
        ),
        Misconception(
            "embeddings_detached",
            "No gradient reaches the embeddings from your answer: somewhere you use .data, .detach(), numpy, no_grad "
            "or torch.tensor(...). They could never be learned.",
            _slip(("self.embedding(ids)", "self.embedding(ids).detach()")),
        ),
    ),
    withheld=WITHHELD,
)
