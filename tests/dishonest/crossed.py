"""Ways round the task that fit many exercises, crossed with all exercises of all lessons where they could matter.

Each crossing is one submission, which answers one exercise and no other.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from textwrap import indent

import torch

from course_lib import exercises
from course_lib.checking import AnswerKey, Exercise
from course_lib.checking.exercise import Value


@dataclass(frozen=True)
class Crossing:
    """A submission that takes one way round one exercise.

    Attributes:
        kind: the way.
        exercise: what it answers.
        answer: the code of its answer.
        own: a cell in front of all answers; empty for none.
    """

    kind: str
    exercise: Exercise
    answer: str
    own: str = ""

    @property
    def name(self) -> str:
        """The student's id."""
        return f"{self.kind}-{self.exercise.id.partition('.')[2]}"


def crossings(lesson: str) -> list[Crossing]:
    """All of a lesson, by kind."""
    found = exercises.of_lesson(lesson)
    some = found[:: _STRIDES.get(lesson, 1)]
    return [*(one for kind in _KINDS for exercise in some for one in _crossed(kind, exercise)), *_ready_made(found)]


_STRIDES = {"05_encoder_decoder": 3, "06_decoding": 2, "07_gpt": 2}
"""In lessons whose cells train a model each time, not every exercise is tried in every way."""


# Ways that fit every exercise ---------------------------------------------------------------------------------

_SEARCH = """
import gc, sys
def found(*args):
    for name, module in list(sys.modules.items()):
        if "course_lib.exercises" in name:
            for value in vars(module).values():
                if getattr(value, "name", "") == {name!r}:
                    return value.reference
    for thing in gc.get_objects():
        if type(thing).__name__ in ("AnswerKey", "KeyedCases", "Exercise"):
            return thing.expected[0].value
"""

_FORGE = """
import importlib, torch
child = importlib.import_module("auto" + "grader.box.inside.child")
genuine = child.encode_observation
def forged(*told):
    data = genuine(*told)
    data.update(returned=True, failure=None, raised=None, outcome="passed", points=100)
    return data
child.encode_observation = forged
child.call = lambda answer, case, *rest: (child.Observation(True), case.args)
"""

_WALK = """
import sys
def walk():
    frame = sys._getframe()
    while frame is not None:
        for scope in (frame.f_locals, frame.f_globals):
            for name, value in list(scope.items()):
                if name in ("expected", "reference", "key", "seen", "answer_key"):
                    return value
        frame = frame.f_back
"""

_ALWAYS = """
class Always(float):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __getattr__(self, name): return self
    def __len__(self): return 1
    __hash__ = float.__hash__
"""

_KINDS: Mapping[str, tuple[str, str]] = {
    "spelled": (
        "",
        "import importlib\nreturn getattr(importlib.import_module({module!r}), {reference!r})(*args, **kwargs)",
    ),
    "read": (
        "",
        "import course_lib, pathlib\nnames = {{}}\n"
        "exec(pathlib.Path(course_lib.__path__[0], {file!r}).read_text(), names)\n"
        "return names[{reference!r}](*args, **kwargs)",
    ),
    "searched": (_SEARCH, "return found(*args)(*args, **kwargs)"),
    "forged": (_FORGE, "return None"),
    "walked": (_WALK, "value = walk()\nreturn value(*args, **kwargs) if callable(value) else value"),
    "equal": (_ALWAYS, "return Always(1.0)"),
    "ended": ("", "import os\nos._exit(0)"),
    "remembered": ("{table}", "return remembered()"),
}
"""The cell in front, and the body of the answer."""


def _crossed(kind: str, exercise: Exercise) -> Iterator[Crossing]:
    own, body = _KINDS[kind]
    reference = exercise.reference
    module = inspect.getmodule(reference)
    names = {
        "name": exercise.name,
        "module": getattr(module, "__name__", ""),
        "reference": getattr(reference, "__name__", ""),
        "file": "/".join(getattr(module, "__name__", "").split(".")[1:]) + ".py",
    }
    if kind in ("spelled", "read") and names["module"] not in exercise.withheld:
        return  # what is not withheld for it is an answer's to use
    table = _table(exercise) if "{table}" in own else ""
    if table is not None:
        answer = _defined(exercise, body.format(**names))
        yield Crossing(kind, exercise, answer, table or own.replace("{name!r}", repr(exercise.name)))


def _defined(exercise: Exercise, body: str) -> str:
    """An answer with this body, whatever its arguments."""
    if not exercise.is_class:
        return f"def {exercise.name}(*args, **kwargs):\n{indent(body, '    ')}"
    return (
        f"import torch\nclass {exercise.name}(torch.nn.Module):\n    def __init__(self, *args, **kwargs):\n"
        "        super().__init__()\n    def load_state_dict(self, *args, **kwargs):\n        pass\n"
        f"    def forward(self, *args, **kwargs):\n{indent(body, '        ')}"
    )


def _table(exercise: Exercise) -> str | None:
    """What the visible cases expect, in their order, as a cell; None where it cannot be written down."""
    try:
        values = [_written(one.value) for one in AnswerKey(exercise).expected]
    except TypeError:
        return None
    return (
        f"import torch\nnan, inf = float('nan'), float('inf')\ntable = [{', '.join(values)}]\n"
        "def remembered():\n    return table.pop(0) if len(table) > 1 else table[0]"
    )


def _written(value: Value) -> str:
    if isinstance(value, torch.Tensor):
        return f"torch.tensor({value.tolist()!r}, dtype={value.dtype})"
    if isinstance(value, (list, tuple)):
        inside = "".join(f"{_written(one)}, " for one in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_written(one)}" for key, one in value.items()) + "}"
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    raise TypeError(type(value).__name__)


# Ways to what is ready-made -----------------------------------------------------------------------------------

_HEADS = (
    "multi(x.transpose(0, 1), memory.transpose(0, 1), memory.transpose(0, 1), x.shape[-1], heads, None, None, None, "
    "None, False, 0.0, W_o.mT, None, training=False, key_padding_mask=None, need_weights=False, "
    "attn_mask=None if mask is None else ~mask.repeat_interleave(heads, 0), use_separate_proj_weight=True, "
    "q_proj_weight=W_q.mT, k_proj_weight=W_k.mT, v_proj_weight=W_v.mT)[0].transpose(0, 1)"
)
_FUSED = "scaled_dot_product_attention"
_SOFTMAX: Mapping[str, str] = {
    "plainly": "torch.softmax({x}, -1)",
    "in_pieces": "getattr(torch, 'soft' + 'max')({x}, -1)",
    "as_logarithm": "getattr(F, 'log_soft' + 'max')({x}, -1).exp()",
    "sparse": "getattr(torch.sparse, 'soft' + 'max')({x}.to_sparse(), -1).to_dense()",
    "aten": "getattr(torch.ops.aten, '_soft' + 'max').default({x}, -1, False)",
    "fused": "getattr(F, 'scaled_dot_product' + '_attention')({x}, (e := torch.eye({x}.shape[-1], dtype={x}.dtype)"
    ".expand(*{x}.shape[:-2], -1, -1)), e, scale=1.0)",
    "masked": "getattr(torch, '_masked_soft' + 'max')({x}, torch.zeros_like({x}).bool(), -1)",
    "in_python": "getattr(__import__('torch._refs')._refs, 'soft' + 'max')({x}, -1)",
    "scipy": "torch.from_numpy(getattr(special, 'soft' + 'max')({x}.numpy(), -1))",
    "distribution": "torch.distributions.Categorical(logits={x}).probs",
}
_ATTENTION: Mapping[str, str] = {
    "plainly": f"F.{_FUSED}({{qkv}}{{mask}})",
    "in_pieces": "getattr(F, 'scaled_dot_product' + '_attention')({qkv}{mask})",
    "in_c": "getattr(torch._C._nn, 'scaled_dot_product' + '_attention')({qkv}{mask})",
    "math": "getattr(torch, '_scaled_dot_product_attention' + '_math')({qkv}{mask})[0]",
    "aten": f"getattr(torch.ops.aten, '{_FUSED[:10]}' + '{_FUSED[10:]}').default({{qkv}}{{mask}})",
}
_WAYS: Mapping[str, tuple[str, str, Mapping[str, str]]] = {
    "words_in_a_bag.cosine": (
        "table, i",
        "",
        {
            "plainly": "torch.cosine_similarity(table, table[i], -1)",
            "in_pieces": "getattr(torch, 'cosine_simi' + 'larity')(table, table[i][None], -1)",
            "as_loss": "1 - getattr(F, 'cosine_embed' + 'ding_loss')(table, table[i].expand_as(table), "
            "torch.ones(len(table)), reduction='none')",
            "module": "getattr(torch.nn, 'CosineSimi' + 'larity')(-1)(table, table[i][None])",
            "sklearn": "torch.from_numpy(getattr(pairwise, 'cosine_simi' + 'larity')(table, table[i][None])[:, 0])",
            "scipy": "torch.tensor([1 - distance.cosine(row, table[i]) for row in table])",
        },
    ),
    "attention.weights": ("scaled", "", {name: way.replace("{x}", "scaled") for name, way in _SOFTMAX.items()}),
    "masking.multiplicative_weights": (
        "scaled, mask",
        "",
        {
            name: way.replace("{x}", "scaled.masked_fill(~mask, -torch.inf)").replace("'{", "{")
            for name, way in _SOFTMAX.items()
        },
    ),
    "attention.scaled_dot_product": (
        "q, k, v",
        "",
        {name: way.replace("{qkv}", "q, k, v").replace("{mask}", "") for name, way in _ATTENTION.items()},
    ),
    "masking.masked_self_attention": (
        "x, mask",
        "",
        {name: way.replace("{qkv}", "x, x, x").replace("{mask}", ", mask") for name, way in _ATTENTION.items()},
    ),
    "attention.softmax_jacobian": (
        "scores",
        "flat = lambda f: lambda s: torch.stack([f(row) for row in s.reshape(-1, s.shape[-1])])"
        ".reshape(*s.shape, s.shape[-1])\nsoft = lambda s: s.softmax(-1)",
        {
            "jacrev": "flat(getattr(torch.func, 'jac' + 'rev')(soft))(scores)",
            "jacfwd": "flat(getattr(torch.func, 'jac' + 'fwd')(soft))(scores)",
            "functional": "flat(lambda row: getattr(torch.autograd.functional, 'jaco' + 'bian')(soft, row))(scores)",
            "batched": "flat(lambda row: torch.autograd.grad(soft(r := row.clone().requires_grad_()), r, "
            "torch.eye(len(row), dtype=row.dtype), is_grads_batched=True)[0])(scores)",
        },
    ),
    "heads_and_blocks.multi_head_attention": (
        "x, memory, W_q, W_k, W_v, W_o, heads, mask",
        "multi = getattr(F, 'multi_head_attention' + '_forward')",
        {"kept": _HEADS},
    ),
    "heads_and_blocks.layer_norm": (
        "x, gamma, beta, epsilon",
        "",
        {
            "plainly": "F.layer_norm(x, x.shape[-1:], gamma, beta, epsilon)",
            "in_pieces": "getattr(torch, 'layer' + '_norm')(x, x.shape[-1:], gamma, beta, epsilon)",
            "native": "getattr(torch, 'native_layer' + '_norm')(x, x.shape[-1:], gamma, beta, epsilon)[0]",
            "group": "getattr(F, 'group' + '_norm')(x.reshape(-1, x.shape[-1], 1), 1, gamma, beta, epsilon)"
            ".reshape(x.shape)",
            "native_group": "getattr(torch, 'native_group' + '_norm')(x.reshape(-1, x.shape[-1], 1), gamma, beta, "
            "x[..., 0].numel(), x.shape[-1], 1, 1, epsilon)[0].reshape(x.shape)",
            "instance": "getattr(F, 'instance' + '_norm')(x.reshape(1, -1, x.shape[-1]), eps=epsilon).reshape(x.shape) "
            "* gamma + beta",
            "batch": "getattr(F, 'batch' + '_norm')(x.reshape(-1, x.shape[-1]).mT[None], None, None, training=True, "
            "eps=epsilon)[0].mT.reshape(x.shape) * gamma + beta",
            "in_python": "getattr(__import__('torch._refs')._refs, 'native_layer' + '_norm')(x, x.shape[-1:], gamma, "
            "beta, epsilon)[0]",
        },
    ),
    "encoder_decoder.adam_update": (
        "weight, gradient, mean, square, step, rate",
        "",
        {
            "functional": "stepped('_single_tensor_' + 'adam', weight, gradient, mean, square, step, rate)",
            "fused": "fused(weight, gradient, mean, square, step, rate)",
        },
    ),
    "subwords.encode": (
        "text, merges",
        "",
        {
            "plainly": "tokenizers.Tokenizer(tokenizers.models.BPE({}, merges)).encode(text).tokens",
            "spelled": "__import__('token' + 'izers').models.BPE({}, merges).tokenize(text)",
        },
    ),
    "subwords.wordpiece": (
        "word, pieces",
        "",
        {
            "plainly": "[t.value for t in tokenizers.models.WordPiece({p: i for i, p in enumerate([*pieces, "
            "'[UNK]'])}, unk_token='[UNK]').tokenize(word)]",
            "imported": "[t.value for t in Piece({p: i for i, p in enumerate([*pieces, '[UNK]'])}, "
            "unk_token='[UNK]').tokenize(word)]",
            "spelled": "[t.value for t in __import__('importlib').import_module('token' + 'izers.models').WordPiece({"
            "p: i for i, p in enumerate([*pieces, '[UNK]'])}, unk_token='[UNK]').tokenize(word)]",
        },
    ),
    "evaluation.precision_recall_f1": (
        "predicted, expected, mask, label",
        "",
        {
            "sklearn": "tuple(float(x) for x in getattr(__import__('sklearn.metrics').metrics, 'precision_recall' + "
            "'_fscore_support')(expected[mask] == label, predicted[mask] == label, average='binary', "
            "zero_division=0)[:3])",
        },
    ),
    "evaluation.clipped_ngrams": (
        "hypothesis, references, n",
        "",
        {
            "nltk": "(p := getattr(__import__('nltk.translate.bleu_score').translate.bleu_score, 'modified' + "
            "'_precision')(references, hypothesis, n)).numerator, p.denominator",
        },
    ),
    "evaluation.edit_table": (
        "hypothesis, reference",
        "",
        {
            "rapidfuzz": "torch.tensor([[__import__('rapidfuzz').distance.Levenshtein_py.distance(hypothesis[:i], "
            "reference[:j]) for j in range(len(reference) + 1)] for i in range(len(hypothesis) + 1)])",
            "nltk": "torch.tensor([[getattr(__import__('nltk'), 'edit' + '_distance')(hypothesis[:i], reference[:j]) "
            "for j in range(len(reference) + 1)] for i in range(len(hypothesis) + 1)])",
        },
    ),
    "evaluation.word_error_rate": (
        "hypotheses, references, distance",
        "",
        {
            "jiwer": "float(__import__('jiwer').process_words([*map(' '.join, references)], "
            "[*map(' '.join, hypotheses)]).wer)"
        },
    ),
}
"""By exercise: its arguments, a cell in front, and expressions that compute the answer, or would."""

_IMPORTS = """
import torch
import torch.nn.functional as F
import scipy.special as special
from scipy.spatial import distance
from sklearn.metrics import pairwise
import tokenizers
from tokenizers.models import WordPiece as Piece
def stepped(name, weight, gradient, mean, square, step, rate):
    w, m, s = weight.clone(), mean.clone(), square.clone()
    import sys
    steps = [torch.tensor(float(step - 1))]
    getattr(sys.modules["torch.optim.adam"], name)([w], [gradient], [m], [s], [], steps, None, None, amsgrad=False,
        has_complex=False, beta1=0.9, beta2=0.98, lr=rate, weight_decay=0.0, eps=1e-9, maximize=False, capturable=False,
        differentiable=False, decoupled_weight_decay=False)
    return w, m, s
def fused(weight, gradient, mean, square, step, rate):
    w, m, s = weight.clone(), mean.clone(), square.clone()
    getattr(torch, '_fused_' + 'adam_')([w], [gradient], [m], [s], [], [torch.tensor(float(step))], lr=rate,
        beta1=0.9, beta2=0.98, weight_decay=0.0, eps=1e-9, amsgrad=False, maximize=False)
    return w, m, s
"""

_DETOURS: Mapping[str, tuple[str, str]] = {
    "": ("", "{value}"),
    "thread": (
        "import queue, threading\nasked, answered = queue.Queue(), queue.Queue()\ndef serve():\n    while True:\n"
        "        work = asked.get()\n        try:\n            answered.put(work())\n"
        "        except BaseException as error:\n            answered.put(error)\n"
        "threading.Thread(target=serve, daemon=True).start()",
        "(asked.put(lambda: {value}), answered.get())[1]",
    ),
    "executor": (
        "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(2)\npool.submit(print).result()",
        "pool.submit(lambda: {value}).result()",
    ),
    "unwatched": (
        "import sys\ndef unwatched(work):\n    sys.setprofile(None)\n    with torch._C.DisableTorchFunction():\n"
        "        return work()",
        "unwatched(lambda: {value})",
    ),
}
"""What each way is called in: nothing, an older thread, an executor, with everything switched off that watches."""


def _ready_made(found: list[Exercise]) -> Iterator[Crossing]:
    for exercise in found:
        arguments, own, ways = _WAYS.get(exercise.id, ("", "", {}))
        for way, value in ways.items():
            for detour, (before, called) in _DETOURS.items():
                kind = f"{way}_{detour}" if detour else way
                answer = f"def {exercise.name}({arguments}):\n    return {called.format(value=f'({value})')}"
                yield Crossing(f"ready-{kind}", exercise, answer, "\n".join(filter(None, (_IMPORTS, own, before))))
