"""The weights that are collected are those of the models, and the models stay as they were."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from course_lib.blocks import BlockConfig, EncoderBlock
from course_lib.hooks import record_attention
from course_lib.models import BERT, GPT, BERTConfig, GPTConfig
from course_lib.multihead import MultiHeadAttention
from course_lib.references import heads_and_blocks as references
from tests.course_lib.references.test_heads_and_blocks import apart
from tests.course_lib.writers import SOURCES, transformer

IDS = torch.tensor([[4, 5, 6], [7, 8, 9]])


def test_the_weights_are_those_that_a_block_gives_itself() -> None:
    torch.manual_seed(0)
    block, x = EncoderBlock(BlockConfig(12, 3, 20)).eval(), torch.randn(2, 3, 12)
    with record_attention(block) as weights:
        out = block(x).out
    shown = block(x, need_weights=True)
    assert_close(weights, [shown.self_alpha])
    assert_close(out, shown.out)


def test_an_attention_as_lesson_04_has_it_is_watched_too() -> None:
    library, plain = MultiHeadAttention(12, 3), references.MultiHeadAttention(12, 3)
    plain.load_state_dict(apart(library.state_dict()))
    x, memory = torch.randn(2, 3, 12), torch.randn(2, 4, 12)
    for mask in (None, torch.tensor([[[True, True, True, False]], [[True, False, True, True]]])):
        with record_attention(nn.ModuleList([plain])) as weights:
            plain(x, memory, mask=mask)
            plain(x=x, memory=memory, mask=mask)
        expected = library(x, memory, mask, need_weights=True).alpha
        assert_close(weights, [expected, expected])


def test_a_model_without_weights_of_its_own_is_watched_too() -> None:
    bert = BERT(BERTConfig(13, 16, 12, 3, 2, 20)).eval()
    with record_attention(bert) as weights:
        bert(IDS, mask=torch.tensor([[True, True, False], [True, True, True]]))
    alpha = torch.stack(weights)
    assert alpha.shape == (2, 2, 3, 3, 3)
    assert_close(alpha.sum(dim=-1), torch.ones(2, 2, 3, 3))
    assert alpha[:, 0, ..., 2].eq(0).all()
    assert not alpha.requires_grad


def test_some_attentions_only() -> None:
    model = transformer().eval()
    crossed = nn.ModuleList(block.cross_attention for block in model.decoder)
    with record_attention(crossed) as weights:
        model(SOURCES, torch.ones(3, 1, dtype=torch.long))
    assert len(weights) == len(crossed)
    assert all(alpha.shape[2] == 1 for alpha in weights)


def test_nothing_is_watched_afterwards_even_where_the_model_fails() -> None:
    gpt = GPT(GPTConfig(13, 16, 12, 3, 2, 20)).eval()
    with pytest.raises(ValueError, match="17 tokens are more than the context"), record_attention(gpt) as weights:
        gpt(torch.zeros(1, 17, dtype=torch.long))
    gpt(IDS)
    assert weights == []
