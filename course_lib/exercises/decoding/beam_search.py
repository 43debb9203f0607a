"""Lesson 06, decoding.beam_search: Beam search."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import hints, integer, mistake, slips
from course_lib.exercises.decoding import shared
from course_lib.exercises.decoding.shared import END, START, Lesson, Step, draw_model, step_callback
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.references import decoding

MANY_BEAMS = "more beams than tokens"
"""The part of `beam_search` where `topk(beams)` of a distribution is refused."""

Suits = Callable[[Step, tuple[int, ...]], bool]


def _beam_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{shared.TREE}, 3 beams", (step_callback(Lesson()), START, END, 3, 8))
        yield Case("the tree of the lesson, 2 beams", (step_callback(Lesson()), START, END, 2, 8))

    def case(name: str, vocab_size: int, *asked: int, suits: Suits = _is_worth_searching, **drawn: Any) -> Case:
        model = draw_model(generator, vocab_size, lambda model: suits(model, asked), **drawn)
        return Case(name, (step_callback(model), *asked), part=name if name == MANY_BEAMS else CORE)

    for beams, vocab_size, longest in ((2, 6, 6), (3, 5, 5), (2, 7, 5), (3, 6, 6)):
        yield case(f"{beams} beams, {vocab_size} tokens to choose from", vocab_size, START, END, beams, longest)
    yield case("<s> and <e> have other ids", 5, 4, 0, 4, 4, suits=_shows_its_end)
    yield case("a model that never writes <e>", 5, START, END, 3, 4, never=END)
    yield case(MANY_BEAMS, 4, START, END, 6, 4)
    yield case("one token at most", 4, START, END, 2, 1, suits=lambda _model, _asked: True)
    yield case("1 beam", 6, START, END, 1, 6, suits=_cuts_at_once)
    name, longest = "a sentence whose probability is too small for a float", integer(generator, 55, 65)
    yield case(name, 30, START, END, 1, longest, suits=_is_beyond_a_float, never=END, spread=0.5)


def _is_worth_searching(model: Step, asked: tuple[int, ...]) -> bool:
    """Return whether greedy decoding loses, and all honest ways of counting finished sentences find the same."""
    start, end, _beams, longest = asked
    found = _searched(model, *asked)
    if len(found) < 2 or torch.equal(found, decoding.greedy(model, start, end, longest)):
        return False
    return all(torch.equal(found, answer(model, *asked)) for answer in COUNTING_DIFFERENTLY)


def _shows_its_end(model: Step, asked: tuple[int, ...]) -> bool:
    return _is_worth_searching(model, asked) and not torch.equal(_searched(model, *asked), _OTHER_END(model, *asked))


def _cuts_at_once(model: Step, asked: tuple[int, ...]) -> bool:
    """Return whether a search finds another sentence where the first step keeps all tokens."""
    found = _searched(model, *asked)
    return len(found) > 2 and not torch.equal(found, _CUT_LATE(model, *asked))


def _is_beyond_a_float(model: Step, asked: tuple[int, ...]) -> bool:
    """Return whether one beam finds a sentence of so small a probability, with no choice left to rounding."""
    found = _searched(model, *asked)
    steps = [torch.log_softmax(model(torch.tensor([START, *found[:n]])), dim=-1) for n in range(len(found))]
    first, second = torch.stack(steps).topk(2).values.unbind(dim=-1)
    is_clear = float((first - second).min()) >= 1e-3 and not torch.equal(found, _ROUNDED(model, *asked))
    return is_clear and float(first.sum()) < -115


_Kept = list[tuple[float, list[int]]]  # sentences with their scores


def _searched(step: Step, start_id: int, end_id: int, beams: int, max_new_tokens: int) -> Tensor:
    start, end = start_id, end_id
    kept: _Kept = [(0.0, [start])]
    for _ in range(max_new_tokens):
        candidates = [sentence for sentence in kept if sentence[1][-1] == end]
        for score, tokens in kept:
            if tokens[-1] != end:
                log_p = torch.log_softmax(step(torch.tensor(tokens)), dim=-1)
                candidates += [(score + more, [*tokens, token]) for token, more in enumerate(log_p.tolist())]
        kept = sorted(candidates, reverse=True)[:beams]
    best = kept[0][1]
    return torch.tensor(best[1:], dtype=torch.long)


_slip, _slips = partial(Edited, _searched), partial(slips, _searched)
_BEST = "sorted(candidates, reverse=True)"
_STOP = ("[:beams]", "[:beams]\n        if any(tokens[-1] == end for _, tokens in kept):\n            break")
_FIRST_FINISHED = ("kept[0][1]", "next((tokens for _, tokens in kept if tokens[-1] == end), kept[0][1])")
_OTHER_END = _slip((", end_id\n", f", {END}\n"))
_CUT_LATE = _slip(("[:beams]", "[: 6 if len(kept[0][1]) == 1 else beams]"))
_ROUNDED = _slip(("score + more", "round(score + more, 2)"))
_EACH_ITS_BEST = "{tuple(tokens[:-1]): (score, tokens) for score, tokens in sorted(candidates)}.values()"


def _others_live_on(step: Step, start_id: int, end_id: int, beams: int, max_new_tokens: int) -> Tensor:
    """As `decoding.beam` counts: what ends among the best `beams` is finished; the best `beams` others live on."""
    live, finished = [(0.0, [start_id])], []
    for _ in range(max_new_tokens):
        longer: _Kept = []
        for score, tokens in live:
            log_p = torch.log_softmax(step(torch.tensor(tokens)), dim=-1)
            longer += [(score + more, [*tokens, token]) for token, more in enumerate(log_p.tolist())]
        best = sorted(longer, reverse=True)
        live = [each for each in best if each[1][-1] != end_id][:beams]
        finished += [each for each in best[:beams] if each[1][-1] == end_id]
    return torch.tensor(max(finished + live)[1][1:])


# What ends is set aside; once there is one for each beam, the search is over and the best of them is found.
_STOPPED = "best if each[1][-1] == end_id]\n        if len(finished) >= beams: break"
_ENOUGH_FINISHED = Edited(
    _others_live_on,
    ("reverse=True)", "reverse=True)[: 2 * beams]"),
    ("best[:beams] if each[1][-1] == end_id]", _STOPPED),
    ("finished + live", "finished or live"),
)
_SET_ASIDE = ("best if each[1][-1] != end_id][:beams]", "best[:beams] if each[1][-1] != end_id]")

COUNTING_DIFFERENTLY = (
    _others_live_on,
    # What ends before the last one that lives on is finished.
    Edited(_others_live_on, ("best[:beams] if", "best if (len(live) < beams or each > live[-1]) and")),
    # What ends among the best `beams` no longer competes, and leaves its position empty.
    Edited(_others_live_on, _SET_ASIDE),
    # As Sutskever et al. (2014) count: a finished sentence takes its beam with it.
    Edited(_others_live_on, _SET_ASIDE, ("reverse=True)", "reverse=True)[: beams - len(finished)]")),
)


EXERCISE = Exercise(
    id="decoding.beam_search",
    title="Beam search",
    statement=(
        "beam_search(step, start_id, end_id, beams, max_new_tokens) -> int64 [new]: the most probable sentence that "
        "the search finds. At every step it keeps the `beams` best, finished sentences included."
    ),
    minutes=35,
    difficulty=5,
    importance=5,
    section="Several beginnings at once",
    source="Wu et al. (2016), section 7; Vaswani et al. (2017), section 6.1",
    reference=decoding.beam_search,
    cases=_beam_cases,
    parts={CORE: 5, MANY_BEAMS: 1},
    correct=(_searched, _others_live_on, COUNTING_DIFFERENTLY[-1]),
    hints=hints(
        idea=(
            "Keep a few partial sentences, each with its score, the sum of its log-probabilities. At each step, "
            "extend every unfinished one by every token, add the finished ones, and keep the best of them all."
        ),
        shapes=(
            "Keep a list of scores with their tokens. At first it has one entry: score 0 and the start id. An "
            "unfinished sentence gives one candidate per token of the vocabulary, so a step has up to beams times "
            "vocab_size candidates. Keep the best `beams` of them.",
            ("greedy", "each_by_itself", "only_the_last_word_read", "one_beam_more"),
        ),
        outline=(
            "Start with one pair: the score 0.0 and a list with the start id.\n"
            "Repeat up to `max_new_tokens` times: collect the finished sentences as they are, and every extension of "
            "the others.\n"
            "An extension's score is the old score plus the token's log-probability. Use log-softmax, because logits "
            "of different sentences cannot be compared.\n"
            "Sort the candidates by score, best first, and keep `beams` of them.\n"
            "Return the tokens of the best pair, without the start id.",
            ("logits_added", "last_word_only", "goes_on_behind_the_end", "finished_dropped", "first_finished"),
        ),
    ),
    misconceptions=(
        *_slips(
            paired=False,
            greedy=(
                "Your answer writes the same text as greedy decoding, however many beams it has. Keep the best `beams` "
                "candidates at every step. Start with one <s>: copies of it would all be extended the same way.",
                ("[:beams]", "[:1]"),
            ),
            worst_of_the_kept=(
                "Your answer doesn't return the best sentence it kept. Return the sentence with the largest sum.",
                ("kept[0]", "kept[-1]"),
            ),
        ),
        *_slips(
            logits_added=(
                "Your answer adds up logits, but logits of different sentences can't be compared. Take log_softmax "
                "first.",
                ("torch.log_softmax(step(torch.tensor(tokens)), dim=-1)", "step(torch.tensor(tokens))"),
            ),
            probabilities_added=(
                "Your answer adds up the tokens' probabilities. Add up log-probabilities, from log_softmax.",
                ("log_softmax", "softmax"),
            ),
            last_word_only=(
                "Your answer scores a sentence by its last token only. Add up the log-probabilities of all its tokens.",
                ("score + more", "more"),
            ),
            only_the_last_word_read=(
                "Your answer passes only a sentence's last token to step. Pass all tokens so far, <s> first.",
                ("torch.tensor(tokens)", "torch.tensor(tokens[-1:])"),
            ),
            each_by_itself=(
                "Your answer picks the best first tokens, then extends each of them greedily. Let all candidates of a "
                "step compete: one sentence may keep several extensions and another none.",
                (_BEST, f"sorted(candidates if tokens == [start] else {_EACH_ITS_BEST}, reverse=True)"),
            ),
            goes_on_behind_the_end=(
                "Your answer extends sentences after <e>. A finished sentence keeps its tokens and its score, and "
                "competes with the others.",
                ("if sentence[1][-1] == end", "if False"),
                ("if tokens[-1] != end", "if True"),
            ),
            finished_dropped=(
                "Your answer drops a sentence one step after its <e>. Keep finished sentences: they may still win.",
                ("if sentence[1][-1] == end", "if False"),
                ("[:beams]", "[:beams] or kept"),
            ),
            least_probable_kept=(
                "Your answer keeps the least probable candidates. Scores are negative: the best is closest to 0.",
                (_BEST, "sorted(candidates)"),
            ),
            start_included=("Your answer begins with <s>. Return only the new tokens.", ("best[1:]", "best")),
            end_left_out=(
                "Your answer leaves out <e> at the end. The model wrote it like any other token: keep it.",
                ("best[1:]", "[each for each in best[1:] if each != end]"),
            ),
            one_beam_more=(
                "Your answer keeps one sentence too many. Keep the best `beams` sentences: [:beams].",
                ("[:beams]", "[: beams + 1]"),
            ),
            finished_preferred=(
                "Your answer prefers finished sentences at the end. Return the most probable sentence of all.",
                _FIRST_FINISHED,
            ),
            best_mean_returned=(
                "Your answer takes the length into account at the end. Return the sentence with the largest sum.",
                ("kept[0][1]", "max(kept, key=lambda each: each[0] / (len(each[1]) - 1))[1]"),
            ),
        ),
        *mistake(
            "Your answer stops as soon as one sentence has its <e>. Others may still overtake it: continue until "
            "every sentence you keep has its <e>, up to max_new_tokens tokens.",
            first_finished=_slip(_STOP, _FIRST_FINISHED),
            stopped_at_the_first_end=_slip(_STOP, paired=False),
        ),
        *mistake(
            "Your answer stops as soon as `beams` sentences are finished, and returns the best of them. Continue "
            "while an unfinished one is more probable, up to max_new_tokens tokens.",
            enough_finished=_ENOUGH_FINISHED,
        ),
        *mistake(
            "Your limit is off by one. Allow max_new_tokens new tokens, not counting <s>.",
            one_word_short=_slip(("range(max_new_tokens)", "range(max_new_tokens - 1)")),
            one_word_more=_slip(("range(max_new_tokens)", "range(max_new_tokens + 1)")),
        ),
        *shared.ids_written_into_the_code(_searched),
    ),
)
