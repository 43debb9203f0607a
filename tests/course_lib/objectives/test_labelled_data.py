"""Texts with labels, in batches."""

import pytest
import torch

from course_lib.objectives.labelled_data import IGNORED, LabelledText, collate_labelled, labelled_data
from course_lib.text.tokenization import JoinedPair


def text(length: int, labels: int | list[int], choices: int = 1) -> LabelledText:
    one = JoinedPair([5] * length, [0] * (length - 1) + [1])
    return LabelledText((one,) * choices, torch.tensor(labels))


def test_inputs_are_padded_and_masked() -> None:
    batch = collate_labelled([text(3, 1), text(2, 0)])
    assert batch.ids.tolist() == [[5, 5, 5], [5, 5, 0]]
    assert batch.segments.tolist() == [[0, 0, 1], [0, 1, 0]]
    assert batch.mask.tolist() == [[True, True, True], [True, True, False]]
    assert batch.labels.tolist() == [1, 0]
    assert (batch.targets, batch.tokens) == (2, 5)


def test_labels_of_tokens_are_padded_with_what_is_not_learned() -> None:
    batch = collate_labelled([text(3, [1, 2, 3]), text(2, [4, IGNORED])])
    assert batch.labels.tolist() == [[1, 2, 3], [4, IGNORED, IGNORED]]
    assert batch.targets == 4


def test_choices_get_a_dimension_of_their_own() -> None:
    batch = collate_labelled([text(3, 1, choices=4), text(2, 0, choices=4)])
    assert batch.ids.shape == batch.segments.shape == batch.mask.shape == (2, 4, 3)
    assert batch.mask[1, 3].tolist() == [True, True, False]
    assert batch.labels.shape == (2,)


def test_a_batch_moves_as_a_whole() -> None:
    moved = collate_labelled([text(3, 1)]).to("meta")
    assert {moved.ids.device.type, moved.segments.device.type, moved.mask.device.type, moved.labels.device.type} == {
        "meta"
    }


def test_batches_hold_at_most_so_many_tokens_and_every_example_once() -> None:
    examples = [text(length, [0] * length, choices=2) for length in (2, 3, 4, 5, 6, 7)]
    data = labelled_data(examples, max_tokens=28)
    plan = data.plan(torch.Generator().manual_seed(0))
    assert sorted(i for group in plan for i in group) == list(range(6))
    assert all(data.batch(group).ids.numel() <= 28 for group in plan)
    assert len(plan) < 6


@pytest.mark.parametrize("other", [text(2, 0, choices=2), text(2, [0, 0])])
def test_unlike_examples_are_no_batch(other: LabelledText) -> None:
    with pytest.raises(ValueError, match="the same number of inputs, and the same kind of labels"):
        collate_labelled([text(2, 0), other])
