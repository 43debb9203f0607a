"""What was printed, and not what is right."""

from __future__ import annotations

import torch
from torch.testing import assert_close

from course_lib.references.bert import printed_probabilities


def test_the_texts_share_what_the_classes_should() -> None:
    found = printed_probabilities(torch.tensor([[1.2, -0.4, 0.3], [0.5, 2.0, -1.0]]))
    assert_close(found.sum(dim=0), torch.ones(3))
    assert not torch.allclose(found.sum(dim=1), torch.ones(2))
