"""A model's cache: which tokens it has seen, and texts that multiply or change places.

Tests `text_state.py` as well.
"""

import torch
from torch import Tensor
from torch.testing import assert_close

from course_lib.kv_cache import KVCache
from course_lib.models import GPT, GPTConfig

IDS = torch.tensor([[4, 5, 6], [7, 8, 9]])
MASK = torch.tensor([[True, True, True], [False, True, True]])


def gpt() -> GPT:
    return GPT(GPTConfig(13, 16, 12, 3, 2, 20)).eval()


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
