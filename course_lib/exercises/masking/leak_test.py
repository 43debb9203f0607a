"""Lesson 02, masking.leak_test: The leak test."""

from collections.abc import Callable, Iterator

import torch
from torch import Generator, Tensor

from course_lib import masking
from course_lib.exercises.common import hints, integer, slips
from course_lib.exercises.worked_examples import B
from course_lib.judging.exercise import Case, Exercise
from course_lib.judging.given import Given


def _leak_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield _leak_case(f"{B.name}, a causal model", generator, torch.ones(4, 4).tril().bool(), B.q)
    tokens = integer(generator, 5, 9)
    causal = masking.causal_mask(tokens)
    one_leak = causal.clone()
    one_leak[0, integer(generator, 2, tokens)] = True
    forgetful = causal.clone()
    forgetful[-1, :2] = False
    drawn = torch.rand(tokens, tokens, generator=generator) < 0.5
    drawn[1], drawn[:, 2] = False, False
    for name, mask, ignored in (
        ("one token looks ahead", one_leak, 0),
        ("one does not look back far", forgetful, -1),
        ("anything goes", drawn, 1),
    ):
        yield _leak_case(name, generator, mask, torch.randn(tokens, 4, generator=generator), ignored)
    sparse = torch.randn(tokens, 4, generator=generator)
    sparse[[1, -1]] = 0
    yield _leak_case("two tokens are all zeros", generator, causal, sparse)
    yield _leak_case("a token alone", generator, causal[:1, :1], torch.randn(1, 1, generator=generator))
    x = torch.randn(tokens, 4, generator=generator, dtype=torch.float64)
    yield _leak_case("double precision", generator, one_leak, x)


def _leak_case(name: str, generator: Generator, mask: Tensor, x: Tensor, ignored: int | None = None) -> Case:
    """A model that sees what a mask says, of each token all components but one."""
    tokens, d_model = x.shape
    reads = 1 + torch.rand(d_model, generator=generator, dtype=x.dtype)
    if ignored is not None:
        reads[ignored] = 0
    weights = {"weights": mask * (0.5 + torch.rand(tokens, tokens, generator=generator)).to(x.dtype), "reads": reads}
    return Case(name, (Given("Mixer", {"tokens": tokens, "d_model": d_model}, weights), x))


Model = Callable[[Tensor], Tensor]


def _tried(model: Model, x: Tensor) -> Tensor:
    before = model(x)
    seen = torch.zeros(len(x), len(x), dtype=torch.bool)
    for token in range(len(x)):
        changed = x.clone()
        changed[token] = torch.randn(x.shape[1])
        differs = model(changed) != before
        seen[:, token] = differs.any(dim=-1)
    return seen


_OTHER, _DIFFERS = "torch.randn(x.shape[1])", "differs.any(dim=-1)"


def _by_gradients(model: Model, x: Tensor) -> Tensor:
    slopes = torch.autograd.functional.jacobian(model, x)
    return slopes.abs().sum(dim=(1, 3)) > 0  # type: ignore[no-any-return]


def _pair_by_pair(model: Model, x: Tensor) -> Tensor:
    rows = []
    for output in range(len(x)):
        row = []
        for token in range(len(x)):
            other = torch.cat([x[:token], x[token : token + 1].sin() + torch.randn_like(x[:1]), x[token + 1 :]])
            row.append(bool((model(other)[output] - model(x)[output]).abs().max() > 1e-6))
        rows.append(row)
    return torch.tensor(rows)


EXERCISE = Exercise(
    id="masking.leak_test",
    title="The leak test",
    statement=(
        "leak_test(model, x [tokens, d_model]) -> bool [tokens, tokens]: True at [i, j] where the output of token i "
        "changes when you change token j; model takes [tokens, d_model] and returns one row per token."
    ),
    points=4,
    minutes=20,
    difficulty=4,
    importance=5,
    section="The leak test",
    source="S0 and S4, why a model must not look ahead",
    reference=masking.leak_test,
    cases=_leak_cases,
    correct=(_tried, _by_gradients, _pair_by_pair),
    hints=hints(
        idea="Change one token and keep all the others. Every output that changes has seen that token.",
        shapes=(
            "Changing token j fills column j of the result: `[tokens]`, one entry per output. An output is a row of "
            "numbers. If a single one differs, the output has changed.",
            ("transposed", "all_components", "first_component", "itself_left_out"),
        ),
        outline=(
            "Compute the outputs for `x` once.\n"
            "Make a `[tokens, tokens]` tensor of booleans, all False.\n"
            "For each token, copy `x` and replace that token's vector in the copy with random numbers.\n"
            "Call the model on the copy, and compare each output with the original one.\n"
            "In the token's column, write which outputs differ.",
            ("changes_pile_up", "one_component_changed", "scaled"),
        ),
    ),
    misconceptions=(
        *slips(
            _tried,
            transposed=(
                "Your result is transposed. Rows are outputs, and columns are the tokens that you change, as in a "
                "mask.",
                ("seen[:, token] =", "seen[token] ="),
            ),
            changes_pile_up=(
                "Your answer leaves earlier tokens changed while it tests later ones, so outputs seem to see tokens "
                "that they don't. Each time, start from a fresh copy, x.clone(), and don't change x.",
                ("x.clone()", "changed if token else x.clone()"),
            ),
            all_components=(
                "Your answer requires every number of an output to differ. One is enough: any(dim=-1).",
                (_DIFFERS, "differs.all(dim=-1)"),
            ),
            inverted=(
                "Your result is True where nothing changes. Make it True where an output sees the token.",
                ("return seen", "return ~seen"),
            ),
            numbers=(
                "Your result contains the numbers 1 and 0. Return booleans: compare, or end with .bool().",
                ("return seen", "return seen.long()"),
            ),
        ),
        *slips(
            _tried,
            paired=False,
            scaled=(
                "Your answer multiplies a token by a number, or sets it to 0, which doesn't change a token of zeros. "
                "Replace the token with random numbers.",
                (_OTHER, "0"),
            ),
            one_component_changed=(
                "Your answer changes one component of each token, and a model may ignore that one. Replace the whole "
                "vector.",
                ("changed[token] = torch.randn(x.shape[1])", "changed[token, 0] += 1"),
            ),
            first_component=(
                "Your answer compares only the first component of each output. Compare all components, because one "
                "difference anywhere is enough.",
                (_DIFFERS, "differs[:, 0]"),
            ),
            all_tokens_changed=(
                "Your answer changes all tokens at once, so every output differs. Change one token at a time.",
                ("changed[token] = torch.randn(x.shape[1])", "changed[:] = torch.randn(x.shape)"),
            ),
            itself_left_out=(
                "Your answer never says that a token sees itself. Test the diagonal like every other entry.",
                ("return seen", "return seen & ~torch.eye(len(x), dtype=torch.bool)"),
            ),
            leaks_alone=(
                "Your result shows only the leaks, which are above the diagonal. Return everything that each output "
                "sees, on and below the diagonal too.",
                ("return seen", "return seen.triu(1)"),
            ),
            yes_or_no=(
                "Your answer says only whether there is a leak. Return a table of which output sees which token: "
                "[tokens, tokens].",
                ("return seen", "return seen.triu(1).any()"),
            ),
        ),
    ),
)
