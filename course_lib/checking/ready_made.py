"""What exercises have their students write, and everything in torch that computes the same.

An exercise names families (`Exercise.forbidden`). Their names are for people: an answer's text is searched for them,
and a notebook's check watches for them, so that the message is friendly. What holds is that the answer is judged in a
process in which nothing computes these families: their operators are taken out of torch's dispatcher, for all threads
and all ways that lead there, and so are the functions that are written in Python.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ReadyMade:
    """A family of computations that libraries have ready-made.

    Attributes:
        id: a short name in snake_case.
        names: what answers may call it, in libraries of any kind; an answer that uses one breaks the rule.
        operators: torch's operators that compute it, or more than it, as in `torch.ops` ("aten::_softmax"), with `*`
            for any letters.
        functions: those that are written in Python: a function, a class, or all of a module, by its dotted name.
    """

    id: str
    names: tuple[str, ...]
    operators: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()


_ATTENTION_OPERATORS = ("aten::*attention*", "aten::_triton_*attention*", "aten::_transformer_encoder_layer_fwd")
_ATTENTION_FUNCTIONS = (
    "torch.nn.functional.multi_head_attention_forward",
    "torch.nn.modules.transformer",
    "torch.ao.nn.quantizable.modules.activation",
)

SOFTMAX = ReadyMade(
    "softmax",
    ("softmax", "log_softmax", "softmin", "Softmax", "LogSoftmax", "Softmin", "Softmax2d"),
    ("*::*softmax*", *_ATTENTION_OPERATORS),
    (
        *_ATTENTION_FUNCTIONS,
        "torch.nn.functional.gumbel_softmax",
        "torch.distributions.utils.logits_to_probs",
        "torch.distributions.transforms.SoftmaxTransform",
    ),
)
"""The weights that scores become: exp(x) over its sum. What attends has one in it."""

MASKED_SOFTMAX = ReadyMade(
    "masked_softmax",
    ("masked_softmax", "_masked_softmax", "MaskedTensor"),
    ("aten::*masked_softmax*",),
    ("torch.masked",),
)
"""The softmax of some of the scores."""

FUSED_ATTENTION = ReadyMade(
    "fused_attention",
    ("scaled_dot_product_attention", "multi_head_attention_forward", "MultiheadAttention"),
    _ATTENTION_OPERATORS,
    _ATTENTION_FUNCTIONS,
)
"""softmax(q kᵀ / √d) v in one call."""

READY_MADE_HEADS = ReadyMade(
    "ready_made_heads",
    ("multi_head_attention_forward", "MultiheadAttention"),
    ("aten::*multi_head_attention*", "aten::_transformer_encoder_layer_fwd"),
    _ATTENTION_FUNCTIONS,
)
"""Multi-head attention with its projections. Attention for heads that are cut already is no part of it."""

ENCODER_LAYERS = ReadyMade(
    "encoder_layers",
    ("TransformerEncoderLayer", "TransformerEncoder", "_transformer_encoder_layer_fwd"),
    ("aten::_transformer_encoder_layer_fwd",),
    ("torch.nn.modules.transformer",),
)
"""A whole block of the transformer."""

NORMALISATION = ReadyMade(
    "normalisation",
    ("layer_norm", "native_layer_norm", "LayerNorm", "group_norm", "instance_norm", "batch_norm", "rms_norm"),
    ("*::*layer_norm*", "*::*group_norm*", "*::*instance_norm*", "*::*batch_norm*", "aten::*rms_norm*"),
    ("torch.nn.functional.local_response_norm",),
)
"""Taking off the mean and dividing by the deviation, of whatever entries."""

DROPOUT = ReadyMade(
    "dropout",
    ("dropout", "Dropout"),
    ("*::*dropout", "*::*dropout_", "aten::native_dropout*", "aten::_fused_dropout*"),
)
"""Setting entries to zero at random."""

COSINE = ReadyMade(
    "cosine",
    ("cosine_similarity", "CosineSimilarity", "cosine_embedding_loss", "CosineEmbeddingLoss"),
    ("aten::cosine_similarity", "aten::cosine_embedding_loss"),
)
"""The cosine of the angle between two vectors."""

JACOBIAN = ReadyMade(
    "jacobian",
    ("jacobian", "jacrev", "jacfwd", "hessian"),
    ("aten::_make_dual*", "aten::_fw_primal*"),
    ("torch.autograd.functional", "torch._functorch.eager_transforms", "torch._vmap_internals"),
)
"""Derivatives of all outputs by all inputs at once."""

ADAM = ReadyMade(
    "adam",
    ("Adam", "AdamW", "NAdam", "RAdam", "Adamax", "SparseAdam"),
    ("aten::_fused_adam*",),
    (
        *("torch.optim.adam", "torch.optim.adamw", "torch.optim.nadam", "torch.optim.radam", "torch.optim.adamax"),
        *("torch.optim.sparse_adam", "torch.optim._functional"),
    ),
)
"""Adam's update, and that of its relatives."""

TOKENIZERS = ReadyMade("tokenizers", ("tokenizers", "Tokenizer", "BpeTrainer", "WordPieceTrainer", "WordPiece"))
"""Cutting words into pieces, as packages do that no answer's box has."""

METRICS = ReadyMade(
    "metrics",
    (
        *("precision_recall_fscore_support", "evaluate_texts", "modified_precision", "corpus_score", "sentence_score"),
        *("corpus_bleu", "sentence_bleu"),
    ),
)
"""Metrics, the same."""

EDITS = ReadyMade(
    "edits", ("edit_distance", "process_words", "levenshtein", "Levenshtein", "get_opcodes", "editops", "wer")
)
"""Edit distances, the same."""

PAIRS = ReadyMade(
    "pairs",
    ("join_pair", "encode_pair", "collate_labelled"),
    functions=("course_lib.text.tokenization.join_pair", "course_lib.objectives.labelled_data.collate_labelled"),
)
"""Two sentences with their special tokens, as the course's own library encodes them."""

READY_MADE = {
    family.id: family
    for family in (
        *(
            SOFTMAX,
            MASKED_SOFTMAX,
            FUSED_ATTENTION,
            READY_MADE_HEADS,
            ENCODER_LAYERS,
            NORMALISATION,
            DROPOUT,
            COSINE,
            JACOBIAN,
            ADAM,
        ),
        *(TOKENIZERS, METRICS, EDITS, PAIRS),
    )
}
"""All families, by id."""

TWICE = ("torch._refs", "torch._decomp", "torch._prims", "torch._inductor", "torch.onnx", "torch.ao.nn.quantized")
"""Modules in which torch is written once more, in Python: nothing that an answer needs, and every shortcut there is."""
