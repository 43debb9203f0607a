"""What cannot be drawn is refused with what would fit."""

from collections.abc import Callable

import pytest
import torch

from course_lib import show

AB, ABC = ["a", "b"], ["a", "b", "c"]
LAYER, ROUND = show.Layer("one", "[2]"), show.Layer("one", "[2]", residual=True)
STACK = show.Stack("stack", "a", [LAYER], (0, 0), "")
TREE = {(): {"die": 0.6, "eine": 0.4}}
STEP = show.Written(["<s>"], [("die", 0.9)], [0.5, 0.3, 0.2])


def encoder_only(into: int) -> None:
    show.stacks(STACK, STACK, into, alt="")


def merged(piece: str, numbers: list[int]) -> None:
    show.merge_tree([AB, [piece]], numbers=numbers, title="", alt="")


@pytest.mark.parametrize(
    ("draw", "told"),
    [
        (
            lambda: show.Panel("scores", torch.zeros(2, 3), ABC, ABC),
            r"scores: a matrix of shape \[2, 3\] has no place f",
        ),
        (lambda: show.bars(ABC, torch.ones(2), title="", alt=""), r"3 words need values of shape \[3\], not \[2\]"),
        (lambda: show.distributions(ABC, {"flat": torch.ones(2)}, alt=""), r"flat: 3 words need values of shape \[3\]"),
        (lambda: show.distributions(AB, {}, alt="", drawn={"it": torch.ones(2)}), "no distribution is called it"),
        (lambda: encoder_only(-1), "the decoder has layers 0 to 0, none with the number -1"),
        (lambda: encoder_only(1), "the decoder has layers 0 to 0, none with the number 1"),
        (
            lambda: show.stacks(STACK, show.Stack("stack", "a", [ROUND], (0, 0), ""), 0, alt=""),
            "no layer is below one, for an arrow to go round",
        ),
        (lambda: show.tree(TREE, ways={"one": ["die", "Hund"]}, alt=""), "one: 'die Hund' leaves the tree at 'Hund'"),
        (lambda: show.tree(TREE, ways={str(n): [] for n in range(4)}, alt=""), "3 ways, not 4"),
        (lambda: merged("ba", [1]), "does not follow"),
        (lambda: merged("a", [1]), "lacks the end"),
        (lambda: merged("ab", []), "2 steps need 1 numbers, not 0"),
        (lambda: show.loss_curve([]), "no loss to draw"),
        (lambda: show.edits(torch.ones(2, 2, dtype=torch.long), [], AB, AB, alt=""), "no place for"),
        (lambda: show.race([1], {"a": [1]}, {}, machine="cpu", alt=""), "steps are for a, but times for"),
        (
            lambda: show.race([1, 2], {"a": [1, 2]}, {"a": [1.0]}, machine="cpu", alt=""),
            "a has 1 numbers for 2 lengths",
        ),
        (lambda: show.heads([]), "at least one text"),
        (lambda: show.merging("  "), "at least one word"),
        (lambda: show.sampling(ABC, torch.tensor([1.0])), "above 0"),
        (lambda: show.sampling(ABC, torch.tensor([0.5, 0.5, 0.0])), "above 0"),
        (lambda: show.sampling(AB, torch.tensor([0.3, 0.6, 0.1])), "above 0"),
        (lambda: show.sampling([], torch.tensor([])), "above 0"),
        (lambda: show.searching({("die",): {"<e>": 1.0}}, "the cat"), "first word"),
        (lambda: show.translating([]), "at least one sentence"),
        (lambda: show.clocks(torch.zeros(4, 3), [0], alt="", title=""), "clocks need"),
        (lambda: show.clocks(torch.zeros(4), [0], alt="", title=""), "clocks need"),
        (lambda: show.clocks(torch.zeros(4, 2), [4], alt="", title=""), "no position 4 among 4"),
        (lambda: show.covered(AB, [[("a", 0.5)]]), "2 words need guesses for each of them, not for 1"),
        (
            lambda: show.mask_painter(ABC, torch.ones(2, 2), torch.ones(2)),
            r"3 words need vectors of shape \[3, d_model\]",
        ),
        (lambda: show.mask_painter(AB, torch.ones(2, 2), torch.zeros(3)), "2 words need"),
        (lambda: show.neighbours(ABC, torch.eye(3), 0), r"3 words need vectors of shape \[3, 2\], not \[3, 3\]"),
        (lambda: show.neighbours(AB, torch.ones(2, 2), 2), "no word 2 among 2"),
        (lambda: show.prompts(str, []), "give at least one"),
        (lambda: show.questionnaire("grades", [], AB), "at least one question and two choices"),
        (lambda: show.questionnaire("grades", AB, ["yes"]), "at least one question and two choices"),
        (lambda: show.writing(AB, [STEP], alt=""), "2 source words need as many weights, not 3"),
        (lambda: show.writing(AB, (), alt=""), "no word has been written"),
    ],
)
def test_what_does_not_fit_is_told(draw: Callable[[], object], told: str) -> None:
    with pytest.raises((ValueError, IndexError), match=told):
        draw()
