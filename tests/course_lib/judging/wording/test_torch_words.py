from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from course_lib.blocks import BlockOutput
from course_lib.judging.wording.torch_words import explained, speaks_of_shapes

X = torch.ones(2, 3)
IDS = torch.zeros(4, 2, dtype=torch.int64)
BLOCK = BlockOutput(X)


def message_of(fail: Callable[[], object]) -> str:
    with pytest.raises(
        (RuntimeError, IndexError, ValueError, TypeError, AttributeError, NameError, ArithmeticError)
    ) as caught:
        fail()
    return str(caught.value)


def _assigned() -> Tensor:
    y = torch.zeros(4, 3)
    y[:2] = torch.ones(3, 3)
    return y


def _unpacked(names: int) -> None:
    if names == 3:
        _batch, _words, _d_model = X.shape
    (_batch,) = X.shape


SHAPES: list[tuple[Callable[[], object], str]] = [
    (lambda: X @ X, "needs the last dimension of a (3) to equal the second-to-last of b (2)"),
    (lambda: torch.ones(4, 2, 3) @ torch.ones(4, 2, 3), "last dimension of a (3) to equal the second-to-last of b (2)"),
    (
        lambda: torch.bmm(torch.ones(4, 2, 3), torch.ones(5, 3, 2)),
        "the same number of matrices on both sides: here 4 and 5",
    ),
    (lambda: X + torch.ones(2, 4), "in dimension 1 one has 3 and the other 4"),
    (lambda: X / X.sum(dim=1), "keepdim=True keeps it with size 1; unsqueeze adds one"),
    (lambda: X @ torch.ones(2), "needs the matrix's last dimension (3) to equal the vector's length (2)"),
    (lambda: torch.ones(2) @ torch.ones(3), "two vectors of the same length: here 2 and 3"),
    (lambda: X.reshape(4, 2), "[4, 2] does not hold 6 of them"),
    (lambda: X.expand(2, 4), "dimension 1 has size 3 and cannot become 4"),
    (_assigned, "dimension 0 has size 3 and cannot become 2"),
    (lambda: torch.cat([X, torch.ones(1, 4)]), "all other dimensions to be equal: here 3 and 4"),
    (lambda: X[torch.ones(3, 2, dtype=torch.bool)], "x's own shape ([2, 3], not [3, 2])"),
    (lambda: torch.einsum("ij,ij->i", X, torch.ones(2, 4)), "here j is both 3 and 4"),
    (lambda: nn.functional.cross_entropy(torch.ones(4, 2, 3), IDS), "the classes are dimension 1"),
    (lambda: nn.functional.cross_entropy(torch.ones(8, 3), IDS), "logits.flatten(0, 1) and targets.flatten()"),
    (lambda: nn.functional.cross_entropy(torch.ones(8, 3), IDS[0]), "one target for each row of classes"),
]

OTHERS: list[tuple[Callable[[], object], str]] = [
    (lambda: (X > 0).mean(), "convert with .float() first"),
    (lambda: nn.Embedding(3, 2)(X), "looks up whole numbers"),
    (lambda: X.sum(dim=2), "There is no dimension 2: this tensor has 2, counted from 0."),
    (lambda: X[5], "dimension 0 has size 2, so there is no index 5"),
    (lambda: X @ torch.ones(3, 2, dtype=torch.float64), "dtype=x.dtype"),
    (lambda: nn.Linear(3, 2).double()(X), "dtype=x.dtype"),
    (lambda: torch.bmm(X[None], torch.ones(1, 3, 2, dtype=torch.float64)), "dtype=x.dtype"),
    (lambda: bool(X), "torch.where, &, |, ~"),
    (lambda: min(X, X.mean(dim=0)), "min and max need a single truth value"),
    (lambda: max(0, X), "torch.minimum and torch.maximum"),
    (lambda: X(X), "pass the function itself, not its result"),
    (lambda: list(map(X.mean(), [X])), "pass the function itself, not its result"),
    (lambda: torch.sqrt(4), "torch.sqrt needs a tensor. For a plain number use math.sqrt."),
    (lambda: F.relu(X), "add `import torch.nn.functional as F`"),
    (lambda: X.item(), "a tensor with a single number"),
    (lambda: nn.Linear(3, 3)(BLOCK), "A BlockOutput holds several results"),
    (lambda: X + BLOCK, "such as its .out"),
    (lambda: BLOCK.shape, "such as its .out"),
    (lambda: X.mT.view(6), "use reshape, or call contiguous() first"),
    (lambda: X + nn.MultiheadAttention(3, 1)(X, X, X), "This is a tuple where a single value is needed."),
    (lambda: torch.relu(X.max(dim=1)), "This is a tuple where a single value is needed."),
    (lambda: X.sort().sum(), "This is a tuple where a single value is needed."),
    (lambda: X - X.max(dim=-1), "This is a tuple where a single value is needed."),
    (lambda: X.sort(dim=-1) / 2, "This is a tuple where a single value is needed."),
    (lambda: (X.max(dim=-1) == X).mean(), "the pair (values and indices) that max along a dimension returns"),
    (lambda: (X == [1, 2]).any(), "This is a single True or False where a tensor is needed."),
    (lambda: (X is None).float(), "This is a single True or False"),
    (lambda: torch.softmax(X), "Tell softmax along which dimension: dim=-1 is the last."),
    (lambda: X.cumsum(), "Tell cumsum along which dimension"),
    (lambda: torch.dot(X, X), "torch.dot takes two vectors. A matrix product, a @ b,"),
    (lambda: torch.outer(X, X), "a.unsqueeze(-1) * b.unsqueeze(-2)"),
    (lambda: torch.einsum("bij,bkj->bik", X, X), "here 3 for 2 dimensions"),
    (lambda: torch.einsum("i,j->ij", X, X), "here 1 for 2 dimensions"),
    (lambda: X.topk(5), "min(k, x.shape[-1]) is never too many"),
    (lambda: torch.cat([X, torch.ones(3)]), "the same number of dimensions: here 2 and 1"),
    (lambda: _unpacked(3), "holds 2 is unpacked into 3 names. If it is a shape"),
    (lambda: _unpacked(1), "is unpacked into 1 names."),
    (lambda: dict([(1, 2, 3)]), ""),
    (lambda: 1 / len([]), "A plain number was divided by 0."),
    (lambda: divmod(7, 0), "A plain number was divided by 0."),
    (lambda: 5 % 0, "A plain number was divided by 0."),
    (lambda: attend(X), "Is attend misspelled?"),
]


@pytest.mark.parametrize(("fail", "sentence"), SHAPES + OTHERS)
def test_what_this_torch_says_is_explained(fail: Callable[[], object], sentence: str) -> None:
    assert sentence in explained(message_of(fail))


@pytest.mark.parametrize(
    ("code", "step"),
    [
        ("return q @ k.transpose(1, 2)", "A batched matrix product"),
        ("scores = torch.matmul(q, k.mT)", "A batched matrix product"),
        ("y = torch.bmm(a, b)", "A batched matrix product"),
        ("s = x @ x.T / math.sqrt(x.shape[-1])", "A batched matrix product"),
        ("return (q @ k.transpose(1, 2)) / 8.0", "A batched matrix product"),
        ("return 2 * q @ k", "Two tensors on this line do not fit"),
        ("x = x @ w / norms", "Two tensors on this line do not fit"),
        ("x = x + positions", "To add, multiply or mask two tensors entry by entry"),
        ("return scores.masked_fill(~mask, -1)", "To add, multiply or mask two tensors entry by entry"),
        ("return softmax((x @ x.T) / 2).masked_fill(mask, 0)", "Two tensors on this line do not fit"),
        ("return attend(x, mask)", "Two tensors on this line do not fit"),
        ("", "Two tensors on this line do not fit"),
    ],
)
def test_what_does_not_fit_is_told_only_as_far_as_the_line_tells_it(code: str, step: str) -> None:
    said = message_of(lambda: torch.ones(2, 3) + torch.ones(2, 2))
    assert explained(said, code).startswith(step)


def test_shapes_are_told_where_they_are_the_matter() -> None:
    assert all(speaks_of_shapes(message_of(fail)) for fail, _ in SHAPES)
    assert not any(speaks_of_shapes(message_of(fail)) for fail, _ in OTHERS)


def test_what_is_not_torchs_is_left_as_it_is() -> None:
    assert explained("list.remove(x): x not in list") == ""
