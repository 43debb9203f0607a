"""Helpers that several exercises of lesson 01 use."""

from collections.abc import Callable

from torch import Generator, Tensor

from course_lib.exercises.common import Kind, integer, slips
from course_lib.judging.exercise import Misconception


def all_alike(generator: Generator) -> Kind:
    """A batch in which all sizes are the same: what raises elsewhere returns something here, and can be named."""
    return Kind("all sizes alike", generator, (integer(generator, 3, 8),))


def wrong_divisors(right: Callable[..., Tensor]) -> tuple[Misconception, ...]:
    """Another number than √d_head, in an answer that has `scores` and divides by math.sqrt(d_head)."""
    return slips(
        right,
        divided_by_number_of_keys=(
            "Your answer divides the scores by the number of keys. Divide by √d_head, the square root of the number "
            "of components in a query.",
            ("math.sqrt(d_head)", "scores.shape[-1]"),
        ),
        divided_by_d_head=(
            "Your answer divides the scores by d_head. The paper's formula takes the square root: divide by √d_head.",
            ("math.sqrt(d_head)", "d_head"),
        ),
        divided_by_twice_d_head=(
            "Your answer divides the scores by 2 · d_head. In d_head ** 1/2, the power comes before the division. Use "
            "d_head ** 0.5 or math.sqrt(d_head).",
            ("math.sqrt(d_head)", "(2 * d_head)"),
        ),
        root_of_number_of_keys=(
            "Your answer divides the scores by the square root of the number of keys. Divide by √d_head: scores grow "
            "with the number of components of a query, not with the number of keys.",
            ("math.sqrt(d_head)", "math.sqrt(scores.shape[-1])"),
        ),
        root_of_number_of_queries=(
            "Your answer divides the scores by the square root of the number of queries. Divide by √d_head, the square "
            "root of the number of components in a query.",
            ("math.sqrt(d_head)", "math.sqrt(scores.shape[-2])"),
        ),
        root_cut_to_an_integer=(
            "Your answer truncates √d_head to an integer. Keep the fraction: math.sqrt(d_head) or d_head ** 0.5.",
            ("math.sqrt(d_head)", "math.isqrt(d_head)"),
        ),
    )


def wrong_transposes(right: Callable[..., Tensor]) -> tuple[Misconception, ...]:
    """Other ways to turn the keys than k.mT."""
    return slips(
        right,
        all_dimensions_reversed=(
            "Your answer reverses all dimensions of k, as k.T does, which is wrong for a batch. Swap only the last "
            "two dimensions: k.transpose(-2, -1).",
            ("k.mT", "k.permute(*reversed(range(k.ndim)))"),
        ),
        reshaped_not_transposed=(
            "Your answer reshapes k to [..., d_head, keys], which mixes numbers from different keys. Transpose the "
            "last two dimensions of k: k.transpose(-2, -1).",
            ("k.mT", "k.reshape(k.mT.shape)"),
        ),
    )
