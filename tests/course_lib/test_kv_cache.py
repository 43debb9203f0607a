"""A model's cache: which tokens it has seen, and texts that multiply or change places.

Tests `text_state.py` as well.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.testing import assert_close

from course_lib.kv_cache import KVCache
from course_lib.models import GPT, GPTConfig
from tests.course_lib.writers import SOURCES, transformer

IDS = torch.tensor([[4, 5, 6], [7, 8, 9]])
MASK = torch.tensor([[True, True, True], [False, True, True]])


def gpt() -> GPT:
    return GPT(GPTConfig(13, 16, 12, 3, 2, 20)).eval()


def test_without_padding_there_is_no_mask() -> None:
    kv_cache = gpt().kv_cache(2, 5)
    assert kv_cache.advance(None, IDS).position_ids is None
    assert kv_cache.mask is None


def test_padding_is_remembered_and_what_follows_is_tokens() -> None:
    model = gpt()
    kv_cache = model.kv_cache(2, 5)
    model(IDS, MASK, kv_cache)
    assert kv_cache.length == 3
    next_token = kv_cache.advance(None, IDS[:, :1])
    assert next_token.mask is not None
    assert next_token.mask.tolist() == [[[True] * 4], [[False, True, True, True]]]
    assert next_token.position_ids is not None
    assert next_token.position_ids.tolist() == [[3], [2]]


def test_padding_can_come_later() -> None:
    model = gpt()
    kv_cache = model.kv_cache(2, 6)
    model(IDS, kv_cache=kv_cache)
    mask = kv_cache.advance(torch.tensor([[False], [True]]), IDS[:, :1]).mask
    assert mask is not None
    assert mask.tolist() == [[[True, True, True, False]], [[True] * 4]]


def test_copies_stand_behind_each_other_and_go_their_own_ways() -> None:
    model = gpt()
    kv_cache = model.kv_cache(2, 5)
    model(IDS, MASK, kv_cache)
    kv_cache.expand(2)
    tokens = torch.tensor([[1], [2], [3], [4]])
    texts = torch.cat([IDS.repeat_interleave(2, dim=0), tokens], dim=1)
    mask = torch.cat([MASK.repeat_interleave(2, dim=0), torch.ones(4, 1, dtype=torch.bool)], dim=1)
    assert_close(model(tokens, kv_cache=kv_cache), model(texts, mask)[:, -1:])


def test_a_text_goes_on_from_another() -> None:
    model = gpt()
    kv_cache = model.kv_cache(2, 5)
    model(IDS, MASK, kv_cache)
    kv_cache.select(torch.tensor([1, 0]))
    token = torch.tensor([[3], [3]])
    texts, mask = torch.cat([IDS.flip(0), token], dim=1), torch.cat([MASK.flip(0), MASK[:, 1:2]], dim=1)
    assert_close(model(token, kv_cache=kv_cache), model(texts, mask)[:, -1:])


def test_copies_share_their_source() -> None:
    model = transformer().eval()
    encoded = model.encode(SOURCES)
    kv_cache = model.kv_cache(encoded, 4)
    kv_cache.expand(3)
    assert [len(pairs.keys) for pairs in kv_cache.memory] == [9, 9]
    assert torch.equal(kv_cache.memory[0].keys[3], kv_cache.memory[0].keys[5])
    assert not torch.equal(kv_cache.memory[0].keys[2], kv_cache.memory[0].keys[3])


def test_texts_of_a_static_cache_change_places_where_they_lie_in_memory() -> None:
    model = gpt()
    kv_cache = model.kv_cache(2, 6)
    model(IDS, MASK, kv_cache)
    static = kv_cache.static()
    held = [part.data_ptr() for block in static.blocks for part in (block.keys, block.values)]
    static.select(torch.tensor([1, 0]))
    token = torch.tensor([[3], [5]])
    texts, mask = torch.cat([IDS.flip(0), token], dim=1), torch.cat([MASK.flip(0), MASK[:, 1:2]], dim=1)
    assert_close(model(token, kv_cache=static), model(texts, mask)[:, -1:])
    assert [part.data_ptr() for block in static.blocks for part in (block.keys, block.values)] == held
    assert static.length == 4


def test_a_static_cache_takes_other_texts_of_its_shapes() -> None:
    model = gpt()

    def begun(ids: Tensor, capacity: int = 6) -> KVCache:
        kv_cache = model.kv_cache(2, capacity)
        model(ids, (ids != 0), kv_cache)
        return kv_cache

    kept = begun(IDS).static()
    kept.advance(None, IDS[:, :2])  # it was used
    others = IDS.flip(0)
    assert begun(others).static(kept) is kept
    token = torch.tensor([[3], [5]])
    assert_close(model(token, kv_cache=kept), model(token, kv_cache=begun(others)))
    assert begun(IDS, 7).static(kept) is not kept
