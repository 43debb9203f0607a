"""Lesson 07, gpt.from_gpt2: GPT-2's weights."""

from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, hints, integer, mistake, slips
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.references import gpt

Tensors = dict[str, Tensor]

WITHOUT_A_PLACE = "what your model does not have"


def _published_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        small = _published(3, 2, 2, 1, lambda *shape: torch.arange(float(torch.Size(shape).numel())).reshape(shape))
        yield Case("worked example: one block, d_model 2", (small,))

    normal = partial(torch.randn, generator=generator)

    def drawn() -> Tensors:
        return _published(integer(generator, 7, 11), integer(generator, 4, 6), integer(generator, 2, 5), 2, normal)

    yield Case("two blocks", (drawn(),))
    yield Case("sizes of 1, in double precision", (_published(1, 1, 1, 1, partial(normal, dtype=torch.float64)),))
    yield Case("twelve blocks, as in the smallest GPT-2", (_published(5, 3, 2, 12, normal),))
    yield Case("in another order", (dict(sorted(drawn().items(), reverse=True)),))
    yield Case("an older copy, with masks and a head", (_older(drawn()),), part=WITHOUT_A_PLACE)
    whole = {f"transformer.{name}": tensor for name, tensor in _older(drawn()).items() if name != "lm_head.weight"}
    yield Case("names that begin with transformer.", (whole,), part=WITHOUT_A_PLACE)


def _published(vocab_size: int, context_length: int, d_model: int, layers: int, draw: Callable[..., Tensor]) -> Tensors:
    """A GPT-2 with GPT-2's names and shapes."""
    tensors = {"wte.weight": draw(vocab_size, d_model), "wpe.weight": draw(context_length, d_model)}
    for block in range(layers):
        for name, shape in {
            "ln_1": (d_model,),
            "attn.c_attn": (d_model, 3 * d_model),
            "attn.c_proj": (d_model, d_model),
            "ln_2": (d_model,),
            "mlp.c_fc": (d_model, 4 * d_model),
            "mlp.c_proj": (4 * d_model, d_model),
        }.items():
            tensors[f"h.{block}.{name}.weight"] = draw(*shape)
            tensors[f"h.{block}.{name}.bias"] = draw(shape[-1])
    return tensors | {"ln_f.weight": draw(d_model), "ln_f.bias": draw(d_model)}


def _older(tensors: Tensors) -> Tensors:
    """With what early copies store besides: the masks, what they write where a mask forbids, and the head."""
    context_length = len(tensors["wpe.weight"])
    more = {}
    for block in range(2):
        more[f"h.{block}.attn.bias"] = torch.ones(1, 1, context_length, context_length, dtype=torch.uint8).tril()
        more[f"h.{block}.attn.masked_bias"] = torch.tensor(-1e4)
    return tensors | more | {"lm_head.weight": tensors["wte.weight"].clone()}


_slip = partial(Edited, gpt.from_gpt2)
_TURNED, _IS_LINEAR = "tensor.T if turned else tensor", '".c_" in own'
_IS_HEAD, _THIRDS = 'own == "lm_head.weight"', "tensor.chunk(3)"

_COPIED = _slip((_TURNED, "tensor.t().contiguous() if turned else tensor.clone()"))
_SPLIT_FIRST = _slip(
    (f"tensor = {_TURNED}", "thirds = tensor.chunk(3, dim=-1)"),
    (_THIRDS, "thirds"),
    (": piece for", ": piece.T if turned else piece for"),
)


def _by_asking(tensors: Tensors) -> Tensors:
    """By what the model has, asking for each of its tensors."""
    plain = {name.removeprefix("transformer."): tensor for name, tensor in tensors.items()}
    found = {"embedding.weight": plain["wte.weight"], "positions.encoding": plain["wpe.weight"]}
    for kind in ("weight", "bias"):
        found[f"norm.{kind}"] = plain[f"ln_f.{kind}"]
        for block in range(sum(name.endswith("ln_1.bias") for name in plain)):
            for letter, piece in zip("qkv", plain[f"h.{block}.attn.c_attn.{kind}"].chunk(3, dim=-1), strict=True):
                found[f"blocks.{block}.self_attention.W_{letter}.{kind}"] = piece.t()
            for theirs, ours in list(gpt.NAMES_IN_GPT2.items())[3:-1]:
                found[f"blocks.{block}.{ours}{kind}"] = plain[f"h.{block}.{theirs}{kind}"].t()
    return found


def _called(**others: str) -> Edited:
    """Some parts under other names."""
    names = {f"{theirs.replace('__', '.')}.": f"{ours}." for theirs, ours in others.items()}
    return _slip(("NAMES_IN_GPT2.items", f"(NAMES_IN_GPT2 | {names}).items"), paired=False)


EXERCISE = Exercise(
    id="gpt.from_gpt2",
    title="GPT-2's weights",
    statement=(
        "from_gpt2(tensors, a dict from GPT-2's names to tensors) -> dict from the names in CausalLanguageModel to "
        "tensors. Matrices of linear layers, [in, out] in GPT-2, are transposed; c_attn is W_q, W_k and W_v side by "
        "side; attn.bias, attn.masked_bias and lm_head.weight are left out; names may begin with transformer."
    ),
    minutes=20,
    difficulty=4,
    importance=4,
    section="GPT-2, in your own model",
    source="Radford et al. (2019); the published weights of GPT-2",
    reference=gpt.from_gpt2,
    cases=and_turned_around(_published_cases),
    parts={CORE: 3, WITHOUT_A_PLACE: 1},
    correct=(_COPIED, _SPLIT_FIRST, _by_asking),
    hints=hints(
        idea="Go through the dict once: all names change, part by part, and some matrices are transposed.",
        shapes=(
            "GPT-2's linear layers store matrices as `[in, out]`, torch's as `[out, in]`; the embedding and the "
            "positions are tables, which stay as they are. The matrix of `attn.c_proj` is square, so you won't get an "
            "error if you forget to transpose it. `c_attn` contains three projections side by side, `[d_model, 3 "
            "d_model]`: transposed, its first `d_model` rows are W_q.",
            ("not_turned", "square_not_turned", "tables_turned", "reshaped", "only_attention_turned"),
        ),
        outline=(
            "For each name and tensor: remove `transformer.` from the front, if it is there.\n"
            "Skip the head, the masks and masked_bias.\n"
            "Replace the parts of the name with those of your model; `h.` becomes `blocks.`.\n"
            "Transpose the weights, not the biases, of `c_attn`, `c_proj` and `c_fc`.\n"
            "Split `c_attn` into three with `chunk`: W_q, W_k and W_v.",
            ("head_kept", "masks_kept", "prefix_kept"),
        ),
    ),
    misconceptions=(
        *slips(
            gpt.from_gpt2,
            bias_of_c_attn_left_out=(
                "Your answer leaves out c_attn's bias. The mask is h.0.attn.bias, with a dot before attn.",
                ('".attn.bias"', '"attn.bias"'),
            ),
            not_turned=(
                "Your answer transposes nothing. Transpose the weights of c_attn, c_proj and c_fc to [out, in].",
                (f'own.endswith(".weight") and {_IS_LINEAR}', "False"),
                (_THIRDS, "tensor.chunk(3, dim=-1)"),
            ),
            tables_turned=(
                "Your answer also transposes the embedding and the positions. Leave these tables as they are.",
                (_IS_LINEAR, "tensor.ndim == 2"),
            ),
            reshaped=(
                "Your answer uses reshape or view, which scrambles a matrix. Transpose it instead: tensor.T.",
                ("tensor.T", "tensor.reshape(tensor.shape[::-1])"),
            ),
            attention_not_split=(
                "Your answer keeps c_attn whole. Split it into W_q, W_k and W_v with chunk(3).",
                (f'zip("qkv", {_THIRDS}, strict=True)', '[("qkv", tensor)]'),
            ),
            prefix_kept=(
                "Your answer keeps the prefix that some copies have. Remove it with name.removeprefix('transformer.').",
                ('removeprefix("transformer.")', 'replace("transformer.", "model.")'),
            ),
            names_unchanged=(
                "Your answer keeps GPT-2's names. Give each tensor the name in your model, as in the table.",
                ("own = own.replace(theirs, ours, 1)", "pass"),
            ),
            first_block_only=(
                "Your answer has only the first block. Convert all blocks: the number after h. is the number of the "
                "block.",
                (_IS_HEAD, f'{_IS_HEAD} or own.startswith("h.") and not own.startswith("h.0.")'),
            ),
        ),
        *mistake(
            "Your answer transposes only some matrices. Transpose the weights of c_attn, c_fc and both c_proj.",
            square_not_turned=_slip((_IS_LINEAR, f'{_IS_LINEAR} and "attn.c_proj" not in own')),
            only_attention_turned=_slip((_IS_LINEAR, f'{_IS_LINEAR} and "attn" in own')),
        ),
        *mistake(
            "Your answer splits c_attn in the wrong order: queries come first, then keys, then values. Use chunk(3).",
            queries_and_keys_swapped=_slip(('zip("qkv"', 'zip("kqv"')),
            every_third=_slip((_THIRDS, "[tensor[number::3] for number in range(3)]")),
        ),
        *mistake(
            "Your answer keeps tensors that your model does not have. Leave out attn.bias and attn.masked_bias, which "
            "belong to the causal mask, and lm_head.weight, which equals the embedding.",
            masks_kept=_slip((' or own.endswith((".attn.bias", ".attn.masked_bias"))', "")),
            head_kept=_slip((f"{_IS_HEAD} or ", "")),
        ),
        *mistake(
            "Your answer swaps two layers of a block. ln_1 is add_and_norm_1, and ln_2 is add_and_norm_2. attn.c_proj "
            "is W_o, mlp.c_fc is W_1, and mlp.c_proj is W_2.",
            projections_swapped=_called(attn__c_proj="feed_forward.W_2", mlp__c_proj="self_attention.W_o"),
            norms_swapped=_called(ln_1="add_and_norm_2.norm", ln_2="add_and_norm_1.norm"),
            feed_forward_swapped=_called(mlp__c_fc="feed_forward.W_2", mlp__c_proj="feed_forward.W_1"),
        ),
    ),
)
