"""Lesson 09, bert.mask_words: Hide tokens."""

from collections.abc import Iterator
from itertools import product

import torch
from torch import Generator, Tensor

from course_lib.exercises.bert.shared import CLS, MASK, SEP
from course_lib.exercises.common import and_turned_around, edits_of, hints, integer, mistake
from course_lib.judging.exercise import Case, Exercise
from course_lib.objectives import pretraining


def _mask_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        ids = torch.tensor([[CLS, 1996, 4937, 13303, 1996, 8000, 1012, SEP]])
        special = torch.tensor([[True, *[False] * 6, True]])
        chance = torch.tensor([[0.02, 0.60, 0.45, 0.05, 0.10, 0.14, 0.90, 0.01]])
        fate = torch.tensor([[0.50, 0.95, 0.30, 0.20, 0.85, 0.93, 0.10, 0.99]])
        anything = torch.tensor([[11, 12, 13, 14, 6207, 16, 17, 18]])
        yield Case("worked example: the cat chased the mouse", (ids, special, chance, fate, anything, MASK))
    shapes = [(1, 12), (integer(generator, 3, 6), integer(generator, 14, 20)), (integer(generator, 6, 9), 25)]
    for batch, tokens in shapes:
        ids = torch.randint(20, 90, (batch, tokens), generator=generator)
        special = torch.zeros(batch, tokens, dtype=torch.bool)
        special[:, 0] = True
        special[:, -integer(generator, 2, 5) :] = True
        ids[special] = torch.randint(0, 5, (int(special.sum()),), generator=generator)
        chance, fate = (torch.rand(batch, tokens, generator=generator) for _ in range(2))
        chance = torch.where(torch.rand(batch, tokens, generator=generator) < 0.6, 0.15 * chance, chance)
        fate = torch.where(torch.rand(batch, tokens, generator=generator) < 0.5, 0.75 + 0.25 * fate, fate)
        anything = torch.randint(100, 190, (batch, tokens), generator=generator)
        # There is one of every fate, whatever was drawn; one token is drawn in its own position, two are [MASK].
        chance[0, 1:8] = torch.tensor([0.01, 0.02, 0.03, 0.6, 0.04, 0.05, 0.7])
        fate[0, 1:8] = torch.tensor([0.1, 0.85, 0.95, 0, 0, 0.86, 0.5])
        anything[0, 6] = ids[0, 6]
        ids[0, 3] = ids[0, 7] = 99
        yield Case(f"{batch} x {tokens} tokens, two of them already [MASK]", (ids, special, chance, fate, anything, 99))
    ids, none = torch.randint(20, 90, (1, 1), generator=generator), torch.tensor([[False]])
    draws = torch.tensor([[0.5]]), torch.tensor([[0.2]]), torch.tensor([[150]])
    yield Case("one token, and it is not chosen", (ids, none, *draws, 99))


def _masked_at_once(
    ids: Tensor, special: Tensor, chance: Tensor, fate: Tensor, anything: Tensor, mask_id: int
) -> tuple[Tensor, Tensor]:
    small = chance < 0.15
    chosen = small & ~special
    shown = torch.where(fate < 0.8, mask_id, torch.where(fate < 0.9, anything, ids))
    corrupted = torch.where(chosen, shown, ids)
    labels = torch.where(chosen, ids, -100)
    return corrupted, labels


_slip = edits_of(_masked_at_once)
_CHOSEN, _LABELS = "small & ~special", "torch.where(chosen, ids, -100)"


def _masked_in_place(
    ids: Tensor, special: Tensor, chance: Tensor, fate: Tensor, anything: Tensor, mask_id: int
) -> tuple[Tensor, Tensor]:
    chosen = (chance < 0.15) & ~special
    corrupted, labels = ids.clone(), torch.full_like(ids, -100)
    labels[chosen] = ids[chosen]
    corrupted[chosen & (fate < 0.8)] = mask_id
    other = chosen & (fate >= 0.8) & (fate < 0.9)
    corrupted[other] = anything[other]
    return corrupted, labels


def _masked_by_loop(
    ids: Tensor, special: Tensor, chance: Tensor, fate: Tensor, anything: Tensor, mask_id: int
) -> tuple[Tensor, Tensor]:
    corrupted, labels = ids.clone(), ids.clone()
    for i, j in product(range(ids.shape[0]), range(ids.shape[1])):
        if special[i, j] or chance[i, j] >= 0.15:
            labels[i, j] = -100
        elif fate[i, j] < 0.8:
            corrupted[i, j] = mask_id
        elif fate[i, j] < 0.9:
            corrupted[i, j] = anything[i, j]
    return corrupted, labels


EXERCISE = Exercise(
    id="bert.mask_words",
    title="Hide words",
    statement=(
        "mask_words(ids, special, chance, fate, anything, mask_id) -> corrupted, labels, all [batch, tokens]. Choose "
        "a token where chance < 0.15 and it is not special. Replace it with [MASK] (fate < 0.8) or with anything "
        "(fate < 0.9), or keep it. The labels are the ids of the chosen tokens, and -100 elsewhere."
    ),
    points=4,
    minutes=15,
    difficulty=3,
    importance=5,
    section="Masking tokens",
    source="S1 and S2, masked language modeling; Devlin et al. (2019), section 3.1 and appendix A.1",
    reference=pretraining.mask_words,
    cases=and_turned_around(_mask_cases),
    correct=(_masked_at_once, _masked_in_place, _masked_by_loop),
    steps=("chosen",),
    hints=hints(
        idea=(
            "Ask two questions at each position: is the token chosen, and if so, what replaces it? At every chosen "
            "position, the label is the original token, even where the token is unchanged."
        ),
        shapes=(
            "Everything is `[batch, tokens]`. `torch.where(condition, a, b)` takes values from a where the condition "
            "is True and from b elsewhere; a and b may also be plain numbers. For three cases, put one `torch.where` "
            "inside another. Combine booleans with `&` and `~`.",
            ("or_for_and", "special_chosen", "the_other_words_hidden", "one_draw_for_both"),
        ),
        outline=(
            "Choose a position if `chance` is below 0.15 there and `special` is False.\n"
            "Work out the new id: that of [MASK] if `fate` is below 0.8, that of the other token if it is below 0.9, "
            "and otherwise the token's own.\n"
            "Use the new id at the chosen positions, and the old id everywhere else.\n"
            "Set the labels to the ids at the chosen positions, and to -100 everywhere else.",
            (
                "labels_only_where_mask",
                "labels_only_where_changed",
                "labels_missing_where_kept",
                "unchosen_hidden_too",
                "always_mask",
                "no_word_stays",
            ),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer makes an exception for a [MASK] that is already in the text. It is a token like any other: "
            "only `chance` and `special` decide which tokens are chosen and labeled.",
            mask_never_chosen=_slip((_CHOSEN, f"{_CHOSEN} & (ids != mask_id)"), paired=False),
            every_mask_asked_for=_slip(
                (_LABELS, "torch.where(chosen | (corrupted == mask_id), ids, -100)"), paired=False
            ),
        ),
        *mistake(
            "Your answer chooses special tokens. Leave out the positions where `special` is True, including padding.",
            special_chosen=_slip((_CHOSEN, "small")),
            first_and_last_left_out=_slip((_CHOSEN, "small.index_fill(1, torch.tensor([0, ids.shape[1] - 1]), False)")),
        ),
        *mistake(
            "Your answer chooses the wrong tokens. Choose those where `chance` is below 0.15 and `special` is False: "
            "combine both with &.",
            or_for_and=_slip((_CHOSEN, "small | ~special")),
            the_other_words_hidden=_slip((_CHOSEN, "~small & ~special")),
        ),
        *mistake(
            "Your answer changes tokens that were not chosen. Use `fate` only at the chosen positions.",
            unchosen_hidden_too=_slip(("torch.where(chosen, shown, ids)", "shown")),
            all_but_special_hidden=_slip(("chosen, shown", "~special, shown")),
        ),
        *mistake(
            "Your answer doesn't use `fate` correctly. Below 0.8, a chosen token becomes [MASK]; between 0.8 and 0.9, "
            "it becomes the token in `anything`; above 0.9, it stays.",
            always_mask=_slip(("fate < 0.8", "fate < 2")),
            no_word_stays=_slip(("fate < 0.9", "fate < 2")),
            others_and_stays_exchanged=_slip(("anything, ids", "ids, anything")),
            one_draw_for_both=_slip(("shown = ", "fate = chance / 0.15\n    shown = ")),
        ),
        *mistake(
            "Your answer uses 103 for [MASK], its id in BERT's own vocabulary. Use `mask_id`.",
            mask_id_of_bert=_slip(("mask_id, ", "103, ")),
        ),
        *mistake(
            "Your answer leaves some chosen tokens without a label. Label every one of them, even if it is unchanged.",
            no_label_where_the_word_itself_is_drawn=_slip(
                (_LABELS, "torch.where(chosen & ((corrupted != ids) | (fate < 0.8) | (fate >= 0.9)), ids, -100)")
            ),
            labels_only_where_changed=_slip((_LABELS, "torch.where(corrupted == ids, -100, ids)")),
            labels_missing_where_kept=_slip((_LABELS, "torch.where(chosen & (fate < 0.9), ids, -100)")),
            labels_only_where_mask=_slip((_LABELS, "torch.where(chosen & (fate < 0.8), ids, -100)")),
        ),
        *mistake(
            "Your labels are wrong. Use the original ids at the chosen positions, and -100 everywhere else.",
            labels_everywhere=_slip((_LABELS, "ids.clone()")),
            special_asked_for=_slip((_LABELS, "torch.where(small, ids, -100)")),
            labels_after_hiding=_slip((_LABELS, "torch.where(chosen, corrupted, -100)")),
            labels_inverted=_slip((_LABELS, "torch.where(chosen, -100, ids)")),
            labels_zero=_slip((_LABELS, "torch.where(chosen, ids, 0)")),
        ),
        *mistake(
            "Your answer returns the labels first. Return the corrupted ids first, then the labels.",
            exchanged=_slip(("corrupted, labels", "labels, corrupted")),
        ),
    ),
)
