"""The modern block in a whole language model: cached, padded, in steps of fixed shape, with parts of one's own."""

import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.testing import assert_close

from course_lib.blocks import BlockConfig
from course_lib.configurations import RotaryConfig
from course_lib.hooks import record_attention
from course_lib.models import GPT, GPTConfig
from course_lib.modern.rms_norm import rms_norm
from course_lib.modern.swiglu import GatedFeedForward

LLAMA = replace(GPTConfig.llama(31, 16, 4, 3, 24, context_length=12), end_id=2)
CONFIGS = {
    "llama": LLAMA,
    "grouped queries": replace(LLAMA, key_value_heads=2),
    "heads of their own length": replace(LLAMA, d_head=6, qk_norm=True, key_value_heads=1),
    "biases": replace(LLAMA, qkv_bias=True),
    "window": replace(LLAMA, window=3),
    "window in one block": replace(LLAMA, window=2, windowed=(1,)),
    "window and learned positions": GPTConfig(31, 12, 16, 4, 2, 24, window=3),
    "yarn": replace(LLAMA, rotary=RotaryConfig(extension="yarn", factor=2.0, trained_context=6)),
    "llama3": replace(LLAMA, rotary=RotaryConfig(extension="llama3", factor=2.0, trained_context=6)),
    "no biases": GPTConfig(31, 12, 16, 4, 2, 24, bias=False),
}
IDS = torch.tensor([[5, 17, 30, 9, 4, 11, 8, 3], [7, 12, 3, 3, 25, 6, 1, 19]])
PADDED = torch.tensor([[True] * 8, [False] * 3 + [True] * 5])


def model(config: GPTConfig) -> GPT:
    torch.manual_seed(0)
    gpt = GPT(config).eval()
    with torch.no_grad():
        for parameter in gpt.parameters():
            parameter += 0.2 * torch.randn_like(parameter)
    return gpt


@pytest.fixture(params=CONFIGS.values(), ids=CONFIGS.keys())
def gpt(request: pytest.FixtureRequest) -> GPT:
    return model(request.param)


@pytest.mark.parametrize("first", [1, 3, 7])
def test_cached_or_not_the_logits_are_the_same(gpt: GPT, first: int) -> None:
    kv_cache = gpt.kv_cache(2, 8)
    steps = [
        gpt(IDS[:, :first], kv_cache=kv_cache),
        *(gpt(IDS[:, i : i + 1], kv_cache=kv_cache) for i in range(first, 8)),
    ]
    assert_close(torch.cat(steps, dim=1), gpt(IDS), atol=1e-5, rtol=1e-4)


def test_padding_before_a_text_changes_nothing(gpt: GPT) -> None:
    alone = gpt(IDS[1:, 3:])
    assert_close(gpt(IDS, PADDED)[1:, 3:], alone, atol=1e-5, rtol=1e-4)
    kv_cache = gpt.kv_cache(2, 8)
    gpt(IDS[:, :6], PADDED[:, :6], kv_cache)
    steps = [gpt(IDS[:, i : i + 1], kv_cache=kv_cache) for i in (6, 7)]
    assert_close(torch.cat(steps, dim=1)[1:], alone[:, 3:], atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("padded", [False, True])
def test_steps_of_fixed_shape_give_the_same(gpt: GPT, padded: bool) -> None:
    mask = PADDED if padded else None
    kv_cache = gpt.kv_cache(2, 11)  # more room than there are tokens
    gpt(IDS[:, :5], None if mask is None else mask[:, :5], kv_cache)
    static = kv_cache.static()
    steps = [gpt(IDS[:, 5:6], kv_cache=static), gpt(IDS[:, 6:8], kv_cache=static)]
    assert_close(torch.cat(steps, dim=1), gpt(IDS, mask)[:, 5:], atol=1e-5, rtol=1e-4)
    assert static.length == 8


def test_texts_in_one_row_know_nothing_of_each_other(gpt: GPT) -> None:
    documents = torch.tensor([[0, 0, 0, 1, 1, 1, 1, 1], [4, 4, 2, 2, 2, 2, 4, 4]])
    packed = gpt(IDS, documents=documents)
    for row, begin, end in ((0, 0, 3), (0, 3, 8), (1, 0, 2), (1, 2, 6), (1, 6, 8)):
        assert_close(packed[row : row + 1, begin:end], gpt(IDS[row : row + 1, begin:end]), atol=1e-5, rtol=1e-4)


def test_the_explicit_path_gives_the_same(gpt: GPT) -> None:
    with record_attention(gpt) as weights:
        shown = gpt(IDS)
    assert_close(shown, gpt(IDS), atol=1e-5, rtol=1e-4)
    assert weights[0].shape == (2, 4, 8, 8)


def test_a_window_ends_what_a_token_sees() -> None:
    gpt = model(replace(LLAMA, window=2, layers=1))
    changed = IDS.clone()
    changed[:, 3] = 29
    same = (gpt(changed) - gpt(IDS)).abs().amax(dim=(0, 2)) < 1e-6
    assert same.tolist() == [True, True, True, False, False, True, True, True]


def test_what_is_added_to_the_residual_path_begins_small() -> None:
    gpt = GPT(replace(GPTConfig.llama(31, 64, 4, 8, 128), key_value_heads=2))
    for name, weight in gpt.blocks.named_parameters():
        if weight.dim() == 2:
            small = name.endswith(("W_o.weight", "W_2.weight"))
            assert float(weight.detach().std()) == pytest.approx(0.02 / (4 if small else 1), rel=0.1)


class OwnNorm(nn.Module):
    """RMSNorm as a student writes it."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(config.d_model))
        self.epsilon = config.norm_epsilon

    def forward(self, x: Tensor) -> Tensor:
        return rms_norm(x, self.weight, self.epsilon)


class OwnFeedForward(GatedFeedForward):
    """SwiGLU as a student writes it, with the same names."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__(config.d_model, config.d_ff)

    def forward(self, x: Tensor) -> Tensor:
        gate = F.linear(x, self.W_1.weight)
        return F.linear(gate * torch.sigmoid(gate) * F.linear(x, self.V.weight), self.W_2.weight)


class OwnRotary(nn.Module):
    """Rotary positions as a student writes them: by complex numbers."""

    def __init__(self, config: RotaryConfig, d_head: int) -> None:
        super().__init__()
        self.frequencies = config.base ** (-torch.arange(0, d_head, 2) / d_head)

    def forward(self, position_ids: Tensor, longest: int) -> Any:
        angle = position_ids.unsqueeze(-1) * self.frequencies
        turn = torch.polar(torch.ones_like(angle), angle)
        turn = turn.unsqueeze(1) if position_ids.dim() == 2 else turn
        return lambda x: torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2))) * turn).flatten(-2)


def test_modules_of_ones_own_take_the_place_of_the_librarys() -> None:
    config = replace(LLAMA, window=3)
    own = model(config)
    own.norm = OwnNorm(config.block)
    own.rotary = OwnRotary(RotaryConfig(), config.block.head_dim)
    for block in own.blocks:
        block.add_and_norm_1.norm, block.add_and_norm_2.norm = OwnNorm(config.block), OwnNorm(config.block)
        block.feed_forward = OwnFeedForward(config.block)
    whole = model(config)
    whole.load_state_dict(own.state_dict())
    for mask in (None, PADDED):
        assert_close(own(IDS, mask), whole(IDS, mask), atol=1e-5, rtol=1e-4)


@pytest.mark.usefixtures("processes")
def test_a_model_needs_none_of_the_modern_modules_until_it_has_such_a_part() -> None:
    program = (
        "import sys; from course_lib.models import GPT, GPTConfig; GPT(GPTConfig(9, 8, 8, 2, 1, 8)); "
        "print([name for name in sys.modules if name.startswith('course_lib.modern')])"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"
