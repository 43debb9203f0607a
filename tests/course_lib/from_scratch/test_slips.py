"""What was printed, and not what is right."""

from __future__ import annotations

import torch
from torch.testing import assert_close

from course_lib.exercises.encoder_decoder.shared import MEOWED
from course_lib.from_scratch.slips import printed_likelihood, printed_probabilities


def test_the_slides_sum_is_as_printed() -> None:
    p = torch.tensor([listed[word] for word, listed in MEOWED.items()])
    assert round(float(printed_likelihood(p)), 4) == 1.6290
    assert round(float(-p.log().mean()), 4) == 1.5783


def test_only_the_last_word_is_wrong() -> None:
    p = torch.tensor([[0.5, 0.25, 0.1], [0.9, 0.3, 0.3]])
    right = -p.log().mean(dim=-1)
    assert printed_likelihood(p)[0] < right[0]
    assert_close(printed_likelihood(p)[1], right[1])


def test_the_texts_share_what_the_classes_should() -> None:
    found = printed_probabilities(torch.tensor([[1.2, -0.4, 0.3], [0.5, 2.0, -1.0]]))
    assert_close(found.sum(dim=0), torch.ones(3))
    assert not torch.allclose(found.sum(dim=1), torch.ones(2))
