"""The heads: their losses, padding and poolings, and that those learn which no lesson trains."""

import random
from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.testing import assert_close

from course_lib.bags import mean_pooling
from course_lib.models import BERT, GPT, BERTConfig, GPTConfig
from course_lib.objectives.heads import (
    GPTClassifier,
    MaskedLanguageModel,
    MultipleChoice,
    QuestionAnswering,
    SequenceClassifier,
    TokenClassifier,
    best_spans,
    head_loss,
    label_loss,
)
from course_lib.objectives.labelled_data import IGNORED, LabelledBatch, LabelledText, collate_labelled, labelled_data
from course_lib.text.tokenization import join_pair
from course_lib.training.loop import TrainingConfig, train
from course_lib.training.schedules import linear_schedule

SMALL = BERTConfig(12, context_length=8, d_model=16, heads=2, layers=2, d_ff=24)
IDS = torch.tensor([[1, 5, 2, 6, 2], [1, 7, 2, 0, 0]])
SEGMENTS = torch.tensor([[0, 0, 0, 1, 1], [0, 0, 0, 0, 0]])
MASK = IDS != 0


def bert() -> BERT:
    return BERT(SMALL).eval()


# --- What they compute -----------------------------------------------------------------------------------------


def test_labels_that_are_ignored_do_not_count_in_a_heads_loss() -> None:
    logits, labels = torch.randn(2, 3, 5), torch.tensor([[1, IGNORED, 4], [IGNORED] * 3])
    expected = -(logits[0, 0].log_softmax(0)[1] + logits[0, 2].log_softmax(0)[4]) / 2
    assert_close(label_loss(logits, labels), expected)


class TestLoss:
    def batch(self, labels: list[int] | list[list[int]]) -> LabelledBatch:
        return LabelledBatch(IDS, SEGMENTS, MASK, torch.tensor(labels))

    def test_is_the_mean_over_the_labels_that_count(self) -> None:
        model = TokenClassifier(bert(), 3).eval()
        batch = self.batch([[IGNORED, 1, IGNORED, 2, IGNORED], [IGNORED, 0, IGNORED, IGNORED, IGNORED]])
        log_p = model(IDS, segments=SEGMENTS, mask=MASK).log_softmax(dim=-1)
        expected = -(log_p[0, 1, 1] + log_p[0, 3, 2] + log_p[1, 1, 0]) / 3
        assert_close(head_loss(model, batch), expected)

    def test_of_a_span_is_that_of_both_ends(self) -> None:
        model = QuestionAnswering(bert())
        first, last = model(IDS, segments=SEGMENTS, mask=MASK).unbind(dim=1)
        right = torch.tensor([[1, 3], [0, 2]])
        expected = (F.cross_entropy(first, right[:, 0]) + F.cross_entropy(last, right[:, 1])) / 2
        assert_close(head_loss(model, self.batch(right.tolist())), expected)

    def test_labels_that_do_not_fit_are_refused(self) -> None:
        with pytest.raises(ValueError, match=r"logits \[2, 3\] need labels \[2\], not \[2, 2\]"):
            head_loss(SequenceClassifier(bert(), 3), self.batch([[0, 1], [1, 0]]))

    @pytest.mark.parametrize("wrong", [3, -1])
    def test_a_label_that_is_no_class_is_refused(self, wrong: int) -> None:
        with pytest.raises(ValueError, match=f"from 0 to 2, as there are 3 scores for each, but there is a {wrong}"):
            head_loss(SequenceClassifier(bert(), 3), self.batch([0, wrong]))

    def test_nothing_to_learn_is_refused(self) -> None:
        with pytest.raises(ValueError, match="no label of this batch counts"):
            head_loss(SequenceClassifier(bert(), 3), self.batch([IGNORED, IGNORED]))


def test_the_vector_is_the_encoders_own_or_the_mean_of_the_tokens() -> None:
    encoder = bert()
    read = encoder(IDS, segments=SEGMENTS, mask=MASK)
    for pooling, vector in (("pooled", read.pooled), ("mean", mean_pooling(read.states, MASK))):
        head = SequenceClassifier(encoder, 3, pooling=pooling).eval()
        assert_close(head(IDS, segments=SEGMENTS, mask=MASK), head.output(vector))
        choice = MultipleChoice(encoder, pooling=pooling).eval()
        ids, segments, mask = (x.view(1, 2, 5) for x in (IDS, SEGMENTS, MASK))
        assert_close(choice(ids, segments=segments, mask=mask), choice.output(vector).view(1, 2))


def test_padding_is_never_in_a_span() -> None:
    logits = QuestionAnswering(bert())(IDS, segments=SEGMENTS, mask=MASK)
    assert logits[1, :, 3:].eq(-torch.inf).all()
    assert logits[MASK.unsqueeze(1).expand_as(logits)].isfinite().all()
    assert (best_spans(logits)[1] < 3).all()


class TestGPTClassifier:
    def model(self) -> GPTClassifier:
        return GPTClassifier(GPT(GPTConfig(12, 8, 16, 2, 1, 24)), 2).eval()

    def test_classifies_by_the_last_token_that_is_no_padding(self) -> None:
        model = self.model()
        assert_close(model(IDS, mask=MASK)[1:], model(IDS[1:, :3]))

    def test_padding_may_stand_before_the_tokens(self) -> None:
        model = self.model()
        ids, mask = torch.tensor([[0, 0, 5, 6, 7]]), torch.tensor([[False, False, True, True, True]])
        assert_close(model(ids, mask=mask), model(ids[:, 2:]))


def test_a_masked_language_models_output_is_its_embedding() -> None:
    model = MaskedLanguageModel(BERT(SMALL))
    assert model.output.weight is model.bert.embedding.weight
    names = {name for name, _ in model.named_parameters() if not name.startswith("bert.")}
    assert names == {"dense.weight", "dense.bias", "norm.weight", "norm.bias", "output.bias"}


# --- That they learn -------------------------------------------------------------------------------------------

CLS, SEP, HIDDEN, A, B = 1, 2, 3, 4, 5
WORDS = 12


@dataclass(frozen=True)
class Task:
    """Labeled texts in which the tokens alone do not give the answer: their order does."""

    training: list[LabelledText]
    held_out: list[LabelledText]


def made(label: Callable[[list[int]], int | list[int]]) -> Task:
    """Texts with one A, one B and up to five other tokens, no two of them the same."""
    rng = random.Random(0)
    seen: set[str] = set()
    examples: list[LabelledText] = []
    while len(examples) < 1200:
        others = rng.choices(range(B + 1, WORDS), k=rng.randrange(6))
        text = join_pair(rng.sample([A, B, *others], len(others) + 2), None, cls_id=CLS, sep_id=SEP)
        if str(text.ids) not in seen:
            seen.add(str(text.ids))
            examples.append(LabelledText((text,), torch.tensor(label(list(text.ids)))))
    return Task(examples[:1000], examples[1000:])


def choices(task: Task) -> Task:
    """Which of two texts has A first? One has, and the other has not."""

    def joined(examples: list[LabelledText]) -> list[LabelledText]:
        yes, no = ([one for one in examples if int(one.labels) == label] for label in (1, 0))
        pairs = list(zip(yes, no, strict=False))
        return [
            LabelledText((*(pair[0].inputs + pair[1].inputs)[:: 1 - 2 * (i % 2)],), torch.tensor(i % 2))
            for i, pair in enumerate(pairs)
        ]

    return Task(joined(task.training), joined(task.held_out))


def a_first(ids: list[int]) -> int:
    return int(ids.index(A) < ids.index(B))


def encoder(layers: int = 2) -> BERT:
    return BERT(BERTConfig(WORDS, 12, 32, 4, layers, 64, dropout=0.0, attention_dropout=0.0))


def learn(model: nn.Module, task: Task, steps: int = 150, peak: float = 5e-3) -> nn.Module:
    config = TrainingConfig(steps, linear_schedule(peak, steps // 10, steps))
    train(model, labelled_data(task.training, max_tokens=500), head_loss, config, "cpu")
    return model.eval()


def right(model: nn.Module, task: Task) -> float:
    """The share of held-out labels that the model gives."""
    batch = collate_labelled(task.held_out)
    with torch.no_grad():
        said = model(batch.ids, segments=batch.segments, mask=batch.mask).argmax(dim=-1)
    return (said == batch.labels)[batch.labels != IGNORED].float().mean().item()


@pytest.mark.usefixtures("slow")
class TestLearning:
    def test_multiple_choice(self) -> None:
        task = choices(made(a_first))
        assert right(learn(MultipleChoice(encoder()), task), task) > 0.9

    @pytest.mark.sampled(1)
    def test_classification_by_gpt(self) -> None:
        task = made(a_first)
        model = GPTClassifier(GPT(GPTConfig(WORDS, 12, 32, 4, 2, 64, dropout=0.0)), 2)
        assert right(learn(model, task, 300), task) > 0.9
