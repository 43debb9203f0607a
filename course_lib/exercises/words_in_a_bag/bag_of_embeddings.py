"""Lesson 00, words_in_a_bag.bag_of_embeddings: A bag of embeddings that decides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor, nn

from course_lib import bags
from course_lib.exercises.common import SMALLEST, as_it_is, integer, sizes
from course_lib.exercises.words_in_a_bag.shared import (
    LESSON,
    WITHHELD,
    inverted,
    padded,
    pooled_by,
    random_ids,
    words_of,
    wrong_means,
)
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
    """A class like `course_lib.bags.BagClassifier`, with the mistakes that are set; others are those of `pooled_by`."""

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        classes: int,
        *,
        taken: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]] = lambda ids, mask: (ids, mask),
        pooled: Callable[..., Tensor] = pooled_by,
        hidden: Callable[[Tensor], Tensor] = as_it_is,
        decided: Callable[[nn.Linear, Tensor], Tensor] = lambda output, mean: output(mean),
        then: Callable[[Tensor], Tensor] = as_it_is,
        padding_idx: int | None = None,
        **mistakes: Any,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=padding_idx)
        self.output = nn.Linear(d_model, classes)
        self.steps = taken, partial(pooled, **{"least": 0, **mistakes}), hidden, decided, then

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        taken, pooled, hidden, decided, then = self.steps
        ids, mask = taken(ids, mask)
        return then(decided(self.output, hidden(pooled(self.embedding(ids), mask))))


class _BagWithLoops(nn.Module):
    def __init__(self, vocab_size: int, d_model: int, classes: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.output = nn.Linear(d_model, classes)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        sentences = zip(ids, mask, strict=True)
        return torch.stack([self.output(self.embedding(words[allowed]).mean(0)) for words, allowed in sentences])


class _BagOfLogits(_BagWithLoops):
    """The mean of every word's logits: a linear layer and a mean may be swapped."""

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        logits: Tensor = self.output(self.embedding(ids))
        return (logits * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)


class _BagWithPaddingIndex(_BagWithLoops):
    """As usual where 0 is the id of padding: that row is never learned."""

    def __init__(self, vocab_size: int, d_model: int, classes: int) -> None:
        super().__init__(vocab_size, d_model, classes)
        self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=0)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        kept = mask.unsqueeze(-1).float()
        logits: Tensor = self.output((self.embedding(ids) * kept).sum(dim=1) / kept.sum(dim=1))
        return logits


CORRECT = (_BagWithPaddingIndex, _BagWithLoops, _BagOfLogits)


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
    section="A classifier",
    source="S3, a simple model",
    reference=bags.BagClassifier,
    cases=_bag_cases,
    formerly={"vocab_size": "vocabulary"},
    parts={CORE: 3, "double precision": 1},
    correct=CORRECT,
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
            answers=("over_the_batch", "softmax_over_the_batch", "number_without_keepdim", "zeroed_and_not_pooled"),
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
            partial(_Bag, padding="both"),
        ),
        *wrong_means(_Bag),
        Misconception(
            "one_more",
            "Your answer divides by the number of words plus one, which makes every mean too small. Every sentence "
            "has a word: divide by the number itself.",
            lambda **sizes: _Bag(**sizes, more=1),
        ),
        Misconception(
            "inverted",
            "Your answer mistakes the padding for the words, and is NaN where there is no padding. The mask is True "
            "at words: use it as it comes.",
            partial(_Bag, words=inverted),
        ),
        Misconception(
            "padding_is_zero",
            "Your answer treats every id except 0 as a word, and never uses the mask. Padding is where the mask is "
            "False, whatever id stands there.",
            partial(_Bag, taken=lambda ids, mask: (ids, ids != 0)),
        ),
        Misconception(
            "ids_multiplied_by_the_mask",
            "Your answer multiplies the ids by the mask, which turns the padding into word 0, and word 0 has a vector "
            "as well. Multiply the vectors, after the embedding: x * mask.unsqueeze(-1).",
            partial(_Bag, taken=lambda ids, mask: (ids * mask, mask), padding="sum"),
        ),
        Misconception(
            "ids_multiplied_and_counted",
            "Your answer multiplies the ids by the mask, which turns the padding into word 0, and takes the mean over "
            "all positions. Multiply the vectors by the mask, and divide by the number of words.",
            partial(_Bag, taken=lambda ids, mask: (ids * mask, mask), padding="both"),
        ),
        Misconception(
            "first_word",
            "Your answer takes only the first word. Take the mean of all the words.",
            lambda **sizes: _Bag(**sizes, pooled=lambda x, mask, **_: x[:, 0]),
        ),
        Misconception(
            "over_the_batch",
            "Your answer takes the mean over the batch (dim=0), which mixes different sentences. The words of a "
            "sentence are dim=1.",
            lambda **sizes: _Bag(**sizes, pooled=lambda x, mask, **_: words_of(x, mask).mean(dim=0)),
        ),
        Misconception(
            "maximum",
            "Your answer takes the largest value in each component of a sentence's words. Take their mean.",
            partial(
                _Bag,
                pooled=lambda x, mask, **_: x.masked_fill(~mask.unsqueeze(-1), torch.finfo(x.dtype).min).amax(dim=1),
            ),
        ),
        Misconception(
            "not_pooled",
            "Your answer gives every word numbers of its own, [batch, words, classes]. Take the mean over the words "
            "of a sentence.",
            partial(_Bag, pooled=lambda x, mask, **_: x),
        ),
        Misconception(
            "zeroed_and_not_pooled",
            "Your answer gives every position numbers of its own, [batch, words, classes]. Sum over the words of a "
            "sentence, dim=1, and divide by their number.",
            lambda **sizes: _Bag(**sizes, pooled=lambda x, mask, **_: words_of(x, mask)),
        ),
        Misconception(
            "probabilities",
            "Your answer ends in a softmax. Return the numbers before it, the logits: the loss takes the softmax "
            "itself.",
            partial(_Bag, then=lambda logits: logits.softmax(dim=-1)),
        ),
        Misconception(
            "log_probabilities",
            "Your answer ends in a log softmax. Return the numbers before it, the logits.",
            partial(_Bag, then=lambda logits: logits.log_softmax(dim=-1)),
        ),
        Misconception(
            "softmax_over_the_batch",
            "Your answer ends in a softmax, and one over the sentences of the batch at that. Return the numbers "
            "before it, the logits: the loss takes the softmax itself.",
            lambda **sizes: _Bag(**sizes, then=lambda logits: logits.softmax(dim=0)),
        ),
        Misconception(
            "sigmoid_at_the_end",
            "Your answer ends in a sigmoid. Return the linear layer's numbers as they are: the loss takes logits.",
            partial(_Bag, then=torch.sigmoid),
        ),
        Misconception(
            "classes_picked",
            "Your answer is the class with the largest number. Return the numbers of all classes, [batch, classes]: "
            "the loss needs them, and an argmax has no gradient.",
            partial(_Bag, then=lambda logits: logits.argmax(dim=-1)),
        ),
        Misconception(
            "bias_left_out",
            "Your answer multiplies by the output layer's weights, but leaves out its bias. Call the layer itself: "
            "self.output(...).",
            partial(_Bag, decided=lambda output, mean: mean @ output.weight.T),
        ),
        Misconception(
            "bias_twice",
            "Your answer adds the output layer's bias twice. The layer adds it when it is called: self.output(...) is "
            "all.",
            partial(_Bag, decided=lambda output, mean: output(mean) + output.bias),
        ),
        Misconception(
            "hidden_activation",
            "Your answer sets the negative components of the mean to 0 (a ReLU) before the output layer. This model "
            "has none: embeddings, mean, one linear layer.",
            partial(_Bag, hidden=torch.relu),
        ),
        Misconception(
            "hidden_tanh",
            "Your answer puts the mean through a tanh before the output layer. This model has none: embeddings, mean, "
            "one linear layer.",
            lambda **sizes: _Bag(**sizes, hidden=torch.tanh),
        ),
        Misconception(
            "embeddings_detached",
            "No gradient reaches the embeddings from your answer: somewhere you use .data, .detach(), numpy, no_grad "
            "or torch.tensor(...). They could never be learned.",
            partial(_Bag, arriving=Tensor.detach),
        ),
        Misconception(
            "padding_counted_with_padding_idx",
            "Your answer takes the mean over all positions, padding included: padding_idx=0 only keeps the gradient "
            "from one row, which is not 0 here. Leave out the positions where the mask is False.",
            lambda **sizes: _Bag(**sizes, padding="both", padding_idx=0),
        ),
    ),
    withheld=WITHHELD,
)
