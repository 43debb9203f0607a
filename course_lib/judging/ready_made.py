"""Library names of what students write in exercises.

An exercise lists families (`Exercise.forbidden`). `rules.py` searches an answer's text for their names, and `trap.py`
watches for them while it runs. A call that neither sees costs no points; code that could hide one is shown to the
teacher (`hiding.py`).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class ReadyMade:
    """A family of computations that libraries offer ready-made.

    Attributes:
        id: a short name in snake_case.
        names: names of functions and classes in any module ("softmax"), and of whole modules ("torch.masked").
    """

    id: str
    names: tuple[str, ...]


FUSED_ATTENTION = ReadyMade(
    "fused_attention",
    ("scaled_dot_product_attention", "multi_head_attention_forward", "MultiheadAttention"),
)
"""softmax(q kᵀ / √d) v in one call."""

SOFTMAX = ReadyMade(
    "softmax",
    (
        *("softmax", "log_softmax", "softmin", "Softmax", "LogSoftmax", "Softmin", "Softmax2d"),
        *FUSED_ATTENTION.names,
    ),
)
"""Turning scores into weights: exp(x) over its sum. Whatever attends includes it."""

MASKED_SOFTMAX = ReadyMade("masked_softmax", ("masked_softmax", "_masked_softmax", "MaskedTensor", "torch.masked"))
"""The softmax over some of the scores."""

READY_MADE_HEADS = ReadyMade(
    "ready_made_heads",
    ("multi_head_attention_forward", "_native_multi_head_attention", "MultiheadAttention"),
)
"""Multi-head attention with its projections, but not attention for heads that are already split."""

ENCODER_LAYERS = ReadyMade(
    "encoder_layers",
    ("TransformerEncoderLayer", "TransformerEncoder", "_transformer_encoder_layer_fwd"),
)
"""A whole block of the transformer."""

NORMALISATION = ReadyMade(
    "normalisation",
    (
        *("layer_norm", "native_layer_norm", "LayerNorm", "group_norm", "instance_norm", "batch_norm", "rms_norm"),
        "local_response_norm",
    ),
)
"""Subtracting the mean and dividing by the deviation, over any entries."""

DROPOUT = ReadyMade("dropout", ("dropout", "Dropout"))
"""Setting entries to zero at random."""

GELU = ReadyMade("gelu", ("gelu", "gelu_", "GELU"))
"""GELU, exact or not."""

COSINE = ReadyMade(
    "cosine",
    ("cosine_similarity", "CosineSimilarity", "cosine_embedding_loss", "CosineEmbeddingLoss"),
)
"""The cosine of the angle between two vectors."""

JACOBIAN = ReadyMade("jacobian", ("jacobian", "jacrev", "jacfwd", "hessian"))
"""Derivatives of all outputs with respect to all inputs at once."""

AUTOGRAD = ReadyMade("autograd", ("backward", "vjp", "jvp", "torch.autograd", "torch.func"))
"""Torch's gradients of any computation."""

ADAM = ReadyMade(
    "adam",
    (
        *("Adam", "AdamW", "NAdam", "RAdam", "Adamax", "SparseAdam", "_single_tensor_adam", "_multi_tensor_adam"),
        *("_fused_adam", "_fused_adam_", "torch.optim.adam", "torch.optim.adamw"),
    ),
)
"""The updates of Adam and its relatives."""

ORTHOGONALISATION = ReadyMade("orthogonalisation", ("Muon", "muon", "_zeropower_via_newtonschulz"))
"""Muon's matrix polynomial."""

TOKENIZERS = ReadyMade("tokenizers", ("tokenizers", "Tokenizer", "BpeTrainer", "WordPieceTrainer", "WordPiece"))
"""Cutting words into pieces."""

METRICS = ReadyMade(
    "metrics",
    (
        *("precision_recall_fscore_support", "evaluate_texts", "modified_precision", "corpus_score", "sentence_score"),
        *("corpus_bleu", "sentence_bleu", "sacrebleu", "sklearn", "course_lib.evaluation"),
    ),
)
"""Metrics."""

EDITS = ReadyMade(
    "edits",
    (
        *("edit_distance", "process_words", "levenshtein", "Levenshtein", "get_opcodes", "editops", "wer"),
        *("jiwer", "rapidfuzz", "course_lib.evaluation"),
    ),
)
"""Edit distances."""

PAIRS = ReadyMade("pairs", ("join_pair", "encode_pair", "collate_labelled"))
"""The library's encoding of two sentences with their special tokens."""
