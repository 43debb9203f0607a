"""Explains torch's and Python's error texts: each with what the step wants."""

from __future__ import annotations

import re
from collections.abc import Callable

Match = re.Match[str]


def explained(message: str, code: str = "") -> str:
    """Explain an error text, in a sentence or two; empty if the text is not known.

    Args:
        message: as torch says it, such as "mat1 and mat2 shapes cannot be multiplied (2x2 and 3x2)".
        code: the line that raised it. Torch says the same of a product of batches and of a sum, and only the line tells
            which of them it was.
    """
    for pattern, told in (*_OF_SHAPES, *_OF_OTHERS):
        found = pattern.search(message)
        if found and told is _entry_by_entry:
            told = _step_of(code)
        if found:
            return told if isinstance(told, str) else told(found)
    return ""


def speaks_of_shapes(message: str) -> bool:
    """Return whether an error text is about tensors whose shapes do not fit."""
    return any(pattern.search(message) for pattern, _ in _OF_SHAPES)


def _product(found: Match) -> str:
    left, right = found[2], found[3]
    return f"A matrix product a @ b wants the last dimension of a ({left}) to be the last but one of b ({right})."


def _batched_product(found: Match) -> str:
    if found[1] != found[3]:
        return f"A product of batches of matrices wants as many matrices on both sides: here {found[1]} and {found[3]}."
    return (
        f"A matrix product a @ b wants the last dimension of a ({found[2]}) to be the last but one of b ({found[4]})."
    )


def _entry_by_entry(found: Match) -> str:
    return (
        "Adding, multiplying or masking two tensors entry by entry wants the same size on both sides, or 1 on one of "
        f"them: in dimension {found[3]} one has {found[1]} and the other {found[2]}. Where a sum or a mean has dropped "
        "a dimension, keepdim=True keeps it with size 1; unsqueeze puts one in."
    )


def _step_of(code: str) -> Callable[[Match], str]:
    """Describe what a line does with tensors that do not fit, as far as it can be told."""
    product, entrywise = _PRODUCT.search(code), _ENTRYWISE.search(_BY_A_NUMBER.sub("", code))
    if bool(product) == bool(entrywise):
        return _either
    return _product_of_batches if product else _entry_by_entry


def _product_of_batches(found: Match) -> str:
    return (
        "A product of batches of matrices, a @ b, wants the same leading dimensions on both sides, or 1 on one of "
        f"them: in dimension {found[3]} one has {found[1]} and the other {found[2]}. To transpose matrices, whatever "
        "comes before them, take .transpose(-2, -1)."
    )


def _either(found: Match) -> str:
    return (
        "Two tensors on this line do not fit: the same size is wanted on both sides, or 1 on one of them, but in "
        f"dimension {found[3]} one has {found[1]} and the other {found[2]}. Where a sum or a mean has "
        "dropped a dimension, keepdim=True keeps it with size 1; unsqueeze puts one in."
    )


_PRODUCT = re.compile(r"[^@]@[^@]|\b(?:matmul|einsum|bmm)\b")
_ENTRYWISE = re.compile(r"[+*]|\s[-/]\s|masked_fill|\bwhere\b")
_BY_A_NUMBER = re.compile(r"[*/]\s*(?:math\.sqrt\([^()]*\)|\d+(?:\.\d+)?)")
"""A factor that fits any tensor."""


def _taken_apart(found: Match) -> str:
    held = found[2] or "more"
    return (
        f"Something that holds {held} is taken apart into {found[1]} names. If it is a shape, the tensor has other "
        "dimensions than these names say: x.shape[-1] is the last size, whatever comes before."
    )


def _not_imported(found: Match) -> str:
    name = found[1]
    return (
        f"Nothing has imported {name} here. In a notebook run the cell with the imports first; in a file of your own, "
        f"or where that cell lacks it, add `{_IMPORTS[name]}`."
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
"""What answers use most, and how it is imported."""


Meaning = tuple[re.Pattern[str], str | Callable[[Match], str]]

_OF_SHAPES: list[Meaning] = [
    (re.compile(r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)"), _product),
    (
        re.compile(
            r"first two dimensions of batch2 tensor to be: \[(\d+), (\d+)\] but got: \[(\d+), (\d+)\]",
        ),
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
            f"A matrix times a vector wants the matrix's last dimension ({found[1]}) to be the vector's length "
            f"({found[2]})."
        ),
    ),
    (
        re.compile(r"expected tensor \[(\d+)\] and src \[(\d+)\] to have the same number of elements"),
        lambda found: (
            f"The dot product of two vectors wants both to have the same length: here {found[1]} and {found[2]}."
        ),
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
            f"Only a dimension of size 1 can be expanded or filled with something smaller: in dimension {found[3]} "
            f"{found[2]} are to fill {found[1]}."
        ),
    ),
    (
        re.compile(r"Sizes of tensors must match except in dimension (\d+)\. Expected (?:size )?(\d+)\D+(\d+)"),
        lambda found: (
            f"torch.cat joins along dimension {found[1]}, and wants all other dimensions the same: here {found[2]} and "
            f"{found[3]}."
        ),
    ),
    (
        re.compile(
            r"shape of the mask \[(.*?)\] at index \d+ does not match the shape of the indexed tensor \[(.*?)\]"
        ),
        lambda found: (
            f"x[mask] wants a mask of x's own shape ([{found[2]}], not [{found[1]}]): it does not broadcast. "
            "x.masked_fill(mask, value) and torch.where(mask, x, value) do."
        ),
    ),
    (
        re.compile(
            r"subscript (\w) has size (\d+) for operand \d+ which does not broadcast with previously seen size (\d+)"
        ),
        lambda found: f"In einsum a letter stands for one size: {found[1]} stands for {found[3]} and for {found[2]}.",
    ),
]
"""Texts about tensors whose shapes do not fit."""

_OF_OTHERS: list[Meaning] = [
    (re.compile(rf"name '({'|'.join(_IMPORTS)})' is not defined"), _not_imported),
    (
        re.compile(r"name '(\w+)' is not defined"),
        lambda found: (
            f"Nothing has defined {found[1]} here. Is it misspelt? If another cell defines it, run that cell first."
        ),
    ),
    (
        re.compile(
            r"unsupported operand type\(s\) for .*'(?:tuple|torch\.return_types\.\w+)'"
            r"|'(tuple|torch\.return_types\.\w+)' object has no attribute"
            r"|not (tuple|torch\.return_types\.\w+)$"
        ),
        "There is a tuple where one value is wanted. A call that returns several results makes one "
        "(nn.MultiheadAttention, an LSTM, max and sort along a dimension): take the one that is needed, such as [0].",
    ),
    (
        re.compile(r"'bool' object has no attribute"),
        "There is a single True or False where a tensor is wanted. == compares entry by entry only between tensors and "
        "numbers: a list, None, or the pair that max along a dimension returns (values and indices) is one thing.",
    ),
    (
        re.compile(r"(\w+)\(\) missing 1 required positional arguments?: \W(dim\w*)\W"),
        lambda found: f"{found[1]} has to be told along which dimension: {found[2]}=-1 is the last.",
    ),
    (
        re.compile(r"1D tensors expected, but got"),
        "torch.dot takes two vectors. A matrix product, a @ b, takes the dot product of every row with every column.",
    ),
    (
        re.compile(r"outer: Expected 1-D argument"),
        "torch.outer takes two vectors. Whatever comes before them, a column times a row is the same: "
        "a.unsqueeze(-1) * b.unsqueeze(-2).",
    ),
    (
        re.compile(r"number of subscripts in the equation \((\d+)\) does not match the number of dimensions \((\d+)\)"),
        lambda found: (
            f"In einsum every dimension has a letter: here {found[1]} for {found[2]} dimensions. Three dots stand for "
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
            f"torch.cat wants tensors with equally many dimensions: here {found[1]} and {found[2]}. unsqueeze gives a "
            "tensor one more; torch.stack joins tensors of one shape along a new one."
        ),
    ),
    (re.compile(r"values to unpack \(expected (\d+)(?:, got (\d+))?\)"), _taken_apart),
    (
        re.compile(r"division by zero|modulo by zero"),
        "A plain number was divided by 0. Look at which inputs make the divisor 0, and what is asked for there.",
    ),
    (
        re.compile(
            r"^(sqrt|exp|log|cos|sin)\(\): argument 'input' (?:\(position 1\) )?must be Tensor, not (?:int|float)"
        ),
        lambda found: f"torch.{found[1]} wants a tensor. For a plain number take math.{found[1]}.",
    ),
    (
        re.compile(r"Dimension out of range \(expected to be in range of \[-(\d+), -?\d+\], but got (-?\d+)\)"),
        lambda found: (
            f"There is no dimension {found[2]}: this tensor has {found[1]}. Counted from the end, dim=-1 is the last "
            "whatever comes before."
        ),
    ),
    (
        re.compile(r"index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)"),
        lambda found: (
            f"Indices are counted from 0: dimension {found[2]} has {found[3]}, and so none numbered {found[1]}."
        ),
    ),
    (
        re.compile(r"same dtype, but got:? \w+ (?:!=|and) \w+|expected scalar type \w+ but found \w+"),
        "Both sides of a product must have the same dtype: give every new tensor that of the inputs (dtype=x.dtype).",
    ),
    (
        re.compile(r"Expected all tensors to be on the same device"),
        "Make every new tensor on the device of the inputs (device=x.device).",
    ),
    (
        re.compile(r"Boolean value of Tensor with more than one value is ambiguous"),
        "if, and, or and not want a single truth value: for tensors there are torch.where, &, | and ~.",
    ),
    (
        re.compile(r"with \d+ elements cannot be converted to Scalar|only one element tensors can be converted"),
        "item(), float() and int() want a tensor of a single number.",
    ),
    (
        re.compile(r"modified by an inplace operation"),
        "The gradient needs values that a step in place (x -= y, x[...] = y, exp_()) has replaced: work on a copy.",
    ),
    (
        re.compile(r"(?:must be Tensor, not |'|and ')((?:Block|MultiHead)Output)"),
        lambda found: f"A {found[1]} holds several results: take the one that is needed, such as its .out.",
    ),
    (
        re.compile(r"view size is not compatible with input tensor's size and stride"),
        "view wants tensors as they lie in memory; after a transpose take reshape, or contiguous() first.",
    ),
]
