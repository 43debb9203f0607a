"""Several texts in one row: each is read as if it stood alone, whatever says where its tokens are."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from course_lib.configurations import GPTConfig
from course_lib.models import GPT

DOCUMENTS = torch.tensor([[0, 0, 0, 1, 1, 2, 2, -1, -1], [0, 1, 1, 1, 1, 1, 1, 1, 1], [0] * 9])
LEARNED = GPTConfig(vocab_size=11, context_length=9, d_model=16, heads=4, layers=2, d_ff=32)
ROTARY = replace(GPTConfig.llama(11, 16, 4, 2, 32), key_value_heads=2)


@pytest.mark.parametrize("config", [LEARNED, ROTARY], ids=["learned", "rotary"])
def test_each_text_is_read_as_if_it_stood_alone(config: GPTConfig) -> None:
    gpt = GPT(config).eval()
    ids = torch.randint(11, DOCUMENTS.shape)
    together = gpt.states(ids, documents=DOCUMENTS)
    assert together.isfinite().all()
    for row, documents in enumerate(DOCUMENTS):
        for number in documents.unique():
            alone = gpt.states(ids[row, documents == number].unsqueeze(0))[0]
            assert_close(together[row, documents == number], alone, rtol=1e-5, atol=1e-5)
