"""Explains torch's and Python's error messages: what the failing step requires."""

import re
from collections.abc import Callable

Match = re.Match[str]


def explained(message: str, code: str = "") -> str:
    """Explain an error message in a sentence or two; empty if it is not known.

    Args:
        message: torch's message, such as "mat1 and mat2 shapes cannot be multiplied (2x2 and 3x2)".
        code: the line that raised it. Torch gives the same message for a product of batches and for a sum; only the
            line tells which it was.
    """
    for pattern, explanation in (*_OF_SHAPES, *_OF_OTHERS):
        found = pattern.search(message)
        if found and explanation is _entry_by_entry:
            explanation = _step_of(code)
        if found:
            return explanation if isinstance(explanation, str) else explanation(found)
    return ""


def speaks_of_shapes(message: str) -> bool:
    """Return whether an error message is about tensors whose shapes do not fit."""
    return any(pattern.search(message) for pattern, _ in _OF_SHAPES)


def _product(left: str, right: str) -> str:
    return f"A matrix product a @ b needs the last dimension of a ({left}) to equal the second-to-last of b ({right})."


def _batched_product(found: Match) -> str:
    if found[1] == found[3]:
        return _product(found[2], found[4])
    return f"A batched matrix product needs the same number of matrices on both sides: here {found[1]} and {found[3]}."


def _entry_by_entry(found: Match) -> str:
    return (
        "To add, multiply or mask two tensors entry by entry, each dimension must have the same size on both sides, or "
        f"1 on one of them: in dimension {found[3]} one has {found[1]} and the other {found[2]}. If a sum or a mean "
        "has dropped a dimension, keepdim=True keeps it with size 1; unsqueeze adds one."
    )


def _step_of(code: str) -> Callable[[Match], str]:
    """Choose how to describe what a line does with tensors that do not fit, as far as that can be told."""
    product, entrywise = _PRODUCT.search(code), _ENTRYWISE.search(_BY_A_NUMBER.sub("", code))
    if bool(product) == bool(entrywise):
        return _either
    return _product_of_batches if product else _entry_by_entry


def _product_of_batches(found: Match) -> str:
    return (
        "A batched matrix product a @ b needs the same leading dimensions on both sides, or 1 on one of them: in "
        f"dimension {found[3]} one has {found[1]} and the other {found[2]}. To transpose each matrix of a batch, use "
        ".transpose(-2, -1)."
    )


def _either(found: Match) -> str:
    return (
        "Two tensors on this line do not fit: each dimension must have the same size on both sides, or 1 on one of "
        f"them, but in dimension {found[3]} one has {found[1]} and the other {found[2]}. If a sum or a mean has "
        "dropped a dimension, keepdim=True keeps it with size 1; unsqueeze adds one."
    )


_PRODUCT = re.compile(r"[^@]@[^@]|\b(?:matmul|einsum|bmm)\b")
_ENTRYWISE = re.compile(r"[+*]|\s[-/]\s|masked_fill|\bwhere\b")
_BY_A_NUMBER = re.compile(r"[*/]\s*(?:math\.sqrt\([^()]*\)|\d+(?:\.\d+)?)")
"""A factor that fits any tensor."""


def _taken_apart(found: Match) -> str:
    held = found[2] or "more"
    return (
        f"Something that holds {held} is unpacked into {found[1]} names. If it is a shape, the tensor does not have as "
        "many dimensions as there are names: x.shape[-1] is the last size, whatever comes before."
    )


def _not_imported(found: Match) -> str:
    name = found[1]
    return (
        f"Import {name} first: in a notebook, run the cell with the imports; in a file of your own, or if that cell "
        f"lacks it, add `{_IMPORTS[name]}`."
    )


_IMPORTS = {
    "math": "import math",
    "torch": "import torch",
    "nn": "from torch import nn",
    "F": "import torch.nn.functional as F",
    "Tensor": "from torch import Tensor",
    "np": "import numpy as np",
    "random": "import random",
    "copy": "import copy",
    "Counter": "from collections import Counter",
    "show": "from course_lib import show",
}
"""The names that answers use most, and how to import them."""


Meaning = tuple[re.Pattern[str], str | Callable[[Match], str]]

_OF_SHAPES: list[Meaning] = [
    (
        re.compile(r"mat1 and mat2 shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)"),
        lambda found: _product(found[1], found[2]),
    ),
    (
        re.compile(r"first two dimensions of batch2 tensor to be: \[(\d+), (\d+)\] but got: \[(\d+), (\d+)\]"),
        _batched_product,
    ),
    (
        re.compile(
            r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dim\w* (\d+)"
        ),
        _entry_by_entry,
    ),
    (
        re.compile(r"size mismatch, got input \(\d+\), mat \(\d+x(\d+)\), vec \((\d+)\)"),
        lambda found: (
            f"A matrix times a vector needs the matrix's last dimension ({found[1]}) to equal the vector's length "
            f"({found[2]})."
        ),
    ),
    (
        re.compile(r"expected tensor \[(\d+)\] and src \[(\d+)\] to have the same number of elements"),
        lambda found: f"The dot product needs two vectors of the same length: here {found[1]} and {found[2]}.",
    ),
    (
        re.compile(r"shape '\[(.*?)\]' is invalid for input of size (\d+)"),
        lambda found: f"view and reshape keep the number of entries: [{found[1]}] does not hold {found[2]} of them.",
    ),
    (
        re.compile(
            r"expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\) at non-singleton \w+ (\d+)"
        ),
        lambda found: (
            f"Only a dimension of size 1 can be expanded: dimension {found[3]} has size {found[2]} and cannot become "
            f"{found[1]}."
        ),
    ),
    (
        re.compile(r"Sizes of tensors must match except in dimension (\d+)\. Expected (?:size )?(\d+)\D+(\d+)"),
        lambda found: (
            f"torch.cat joins along dimension {found[1]} and needs all other dimensions to be equal: here {found[2]} "
            f"and {found[3]}."
        ),
    ),
    (
        re.compile(
            r"shape of the mask \[(.*?)\] at index \d+ does not match the shape of the indexed tensor \[(.*?)\]"
        ),
        lambda found: (
            f"x[mask] needs a mask of x's own shape ([{found[2]}], not [{found[1]}]): it does not broadcast. "
            "x.masked_fill(mask, value) and torch.where(mask, x, value) do."
        ),
    ),
    (
        re.compile(
            r"subscript (\w) has size (\d+) for operand \d+ which does not broadcast with previously seen size (\d+)"
        ),
        lambda found: f"In einsum each letter has one size: here {found[1]} is both {found[3]} and {found[2]}.",
    ),
    (
        re.compile(
            r"Expected target size \[|multi-target not supported|input batch_size \(\d+\) to match target batch_size"
        ),
        "cross_entropy needs one target for each row of classes. If there are more dimensions, the classes are "
        "dimension 1: transpose the logits to [batch, classes, tokens], or flatten both, with logits.flatten(0, 1) and "
        "targets.flatten().",
    ),
]
"""Messages about tensors whose shapes do not fit."""

_OF_OTHERS: list[Meaning] = [
    (re.compile(rf"name '({'|'.join(_IMPORTS)})' is not defined"), _not_imported),
    (
        re.compile(r"name '(\w+)' is not defined"),
        lambda found: f"Is {found[1]} misspelled? If another cell defines it, run that cell first.",
    ),
    (
        re.compile(
            r"unsupported operand type\(s\) for .*'(?:tuple|torch\.return_types\.\w+)'"
            r"|'(tuple|torch\.return_types\.\w+)' object has no attribute"
            r"|not (tuple|torch\.return_types\.\w+)$"
        ),
        "This is a tuple where a single value is needed. Some calls return several results (nn.MultiheadAttention, an "
        "LSTM, max and sort along a dimension): take the one that you need, such as [0].",
    ),
    (
        re.compile(r"'bool' object has no attribute"),
        "This is a single True or False where a tensor is needed. == compares entry by entry only between tensors "
        "and numbers, not with a list, None, or the pair (values and indices) that max along a dimension returns.",
    ),
    (
        re.compile(r"(\w+)\(\) missing 1 required positional arguments?: \W(dim\w*)\W"),
        lambda found: f"Tell {found[1]} along which dimension: {found[2]}=-1 is the last.",
    ),
    (
        re.compile(r"1D tensors expected, but got"),
        "torch.dot takes two vectors. A matrix product, a @ b, takes the dot product of every row with every column.",
    ),
    (
        re.compile(r"outer: Expected 1-D argument"),
        "torch.outer takes two vectors. For batches of vectors, multiply a column by a row: "
        "a.unsqueeze(-1) * b.unsqueeze(-2).",
    ),
    (
        re.compile(r"number of subscripts in the equation \((\d+)\) does not match the number of dimensions \((\d+)\)"),
        lambda found: (
            f"In einsum every dimension needs a letter: here {found[1]} for {found[2]} dimensions. Three dots cover "
            "any leading ones: '...ij,...jk->...ik'."
        ),
    ),
    (
        re.compile(r"selected index k out of range"),
        "topk was asked for more entries than there are along that dimension: min(k, x.shape[-1]) is never too many.",
    ),
    (
        re.compile(r"Tensors must have same number of dimensions: got (\d+) and (\d+)"),
        lambda found: (
            f"torch.cat needs tensors with the same number of dimensions: here {found[1]} and {found[2]}. unsqueeze "
            "adds one; torch.stack joins tensors of the same shape along a new one."
        ),
    ),
    (re.compile(r"values to unpack \(expected (\d+)(?:, got (\d+))?\)"), _taken_apart),
    (
        re.compile(r"division by zero|modulo by zero"),
        "A plain number was divided by 0. See which inputs make the divisor 0, and what the task says about them.",
    ),
    (
        re.compile(
            r"^(sqrt|exp|log|cos|sin)\(\): argument 'input' (?:\(position 1\) )?must be Tensor, not (?:int|float)"
        ),
        lambda found: f"torch.{found[1]} needs a tensor. For a plain number use math.{found[1]}.",
    ),
    (
        re.compile(r"Dimension out of range \(expected to be in range of \[-(\d+), -?\d+\], but got (-?\d+)\)"),
        lambda found: (
            f"There is no dimension {found[2]}: this tensor has {found[1]}, counted from 0. dim=-1 is always the last."
        ),
    ),
    (
        re.compile(r"index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)"),
        lambda found: (
            f"Indices are counted from 0: dimension {found[2]} has size {found[3]}, so there is no index {found[1]}."
        ),
    ),
    (
        re.compile(r"same dtype, but got:? \w+ (?:!=|and) \w+|expected scalar type \w+ but found \w+"),
        "Both sides of a product must have the same dtype: give each new tensor the inputs' dtype (dtype=x.dtype).",
    ),
    (
        re.compile(r"Expected all tensors to be on the same device"),
        "Create every new tensor on the device of the inputs (device=x.device).",
    ),
    (
        re.compile(r"'Tensor' object is not callable"),
        "A tensor is called like a function, as in x(...). Where a function is asked for, pass the function itself, "
        "not its result; and a product needs its *.",
    ),
    (
        re.compile(r"Boolean value of Tensor with more than one value is ambiguous"),
        "if, and, or, not, min and max need a single truth value. For tensors use torch.where, &, |, ~, torch.minimum "
        "and torch.maximum.",
    ),
    (
        re.compile(r"with \d+ elements cannot be converted to Scalar|only one element tensors can be converted"),
        "item(), float() and int() need a tensor with a single number.",
    ),
    (
        re.compile(r"could not infer output dtype|Input dtype must be either a floating point or complex dtype"),
        "The mean and its relatives need numbers with a decimal point: convert with .float() first.",
    ),
    (
        re.compile(r"argument #1 'indices' to have one of the following scalar types"),
        "nn.Embedding looks up whole numbers, the ids of tokens: this is a tensor of other numbers.",
    ),
    (
        re.compile(r"modified by an inplace operation"),
        "The gradient needs values that a step in place (x -= y, x[...] = y, exp_()) has replaced: work on a copy.",
    ),
    (
        re.compile(r"(?:must be Tensor, not |'|and ')((?:Block|MultiHead)Output)"),
        lambda found: f"A {found[1]} holds several results: take the one that you need, such as its .out.",
    ),
    (
        re.compile(r"view size is not compatible with input tensor's size and stride"),
        "view needs a contiguous tensor: after a transpose use reshape, or call contiguous() first.",
    ),
]
