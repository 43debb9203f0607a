"""Lesson 06, decoding.beam_search: Beam search."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib.checking.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.checking.recorded.stand_ins import NextWord
from course_lib.exercises.common import integer
from course_lib.exercises.decoding.shared import (
    END,
    LESSON,
    START,
    TREE,
    WITHHELD,
    Ids,
    Lesson,
    Step,
    as_they_are,
    draw_model,
    given_ids,
    ids_written_into_the_code,
    own_end,
    step_callback,
    without_end,
)
from course_lib.references import decoding

MANY_BEAMS = "more beams than tokens"
"""The part of `beam_search` where `topk(beams)` of a distribution is refused."""


def _beam_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{TREE}, 3 beams", (step_callback(Lesson()), START, END, 3, 8))
        yield Case("the tree of the lesson, 2 beams", (step_callback(Lesson()), START, END, 2, 8))
    for beams, vocabulary, longest, apart in (
        (2, 6, 6, ()),
        (3, 5, 5, ()),
        (2, 7, 5, (_longest_returned, _probabilities_added)),
        (3, 6, 6, (_searched, _two_continuations_each)),
    ):
        model = _worth_searching(generator, beams, vocabulary, longest, apart=apart)
        yield Case(
            f"{beams} beams, {vocabulary} tokens to choose from", (step_callback(model), START, END, beams, longest)
        )
    model = _worth_searching(generator, 4, 5, 4, ids=(4, 0), apart=(_searched, partial(_searched, ids=own_end)))
    yield Case("<s> and <e> have other ids", (step_callback(model), 4, 0, 4, 4))
    model = _worth_searching(generator, 3, 5, 4, never=END)
    yield Case("a model that never writes <e>", (step_callback(model), START, END, 3, 4))
    model = _worth_searching(generator, 6, 4, 4)
    yield Case("more beams than tokens", (step_callback(model), START, END, 6, 4), part=MANY_BEAMS)
    yield Case("one token at most", (step_callback(model), START, END, 2, 1))
    model = draw_model(generator, 6, _cut_at_once)
    yield Case("1 beam", (step_callback(model), START, END, 1, 6))
    longest = integer(generator, 55, 65)
    model = draw_model(generator, 30, lambda model: _beyond_a_float(model, longest), never=END, spread=0.5)
    yield Case("a sentence whose probability is too small for a float", (step_callback(model), START, END, 1, longest))


def _cut_at_once(model: NextWord) -> bool:
    """Whether 1 beam finds another sentence where the first step keeps all tokens."""
    found = decoding.beam_search(model, START, END, 1, 6)
    late = _searched(model, START, END, 1, 6, cut=lambda kept, beams: _cut(kept, 6 if len(kept[-1][1]) == 2 else beams))
    return len(found) > 2 and not torch.equal(found, late)


def _beyond_a_float(model: NextWord, length: int) -> bool:
    """Whether 1 beam finds a sentence of so small a probability, with close choices that rounding does not decide."""
    tokens, total = [START], 0.0
    for _ in range(length):
        first, second = torch.log_softmax(model(torch.tensor(tokens)), dim=-1).topk(2).values.tolist()
        if first - second < 1e-3:
            return False
        tokens.append(int(model(torch.tensor(tokens)).argmax()))
        total += first
    coarse = _searched(model, START, END, 1, length, adds=lambda score, more, _length: round(score + more, 2))
    return total < -115 and coarse.tolist() != tokens[1:]


def _worth_searching(
    generator: Generator,
    beams: int,
    vocabulary: int,
    longest: int,
    never: int | None = None,
    apart: tuple[Callable[..., Tensor], ...] = (),
    ids: tuple[int, int] = (START, END),
) -> NextWord:
    """A model with which greedy decoding loses, and all honest ways of counting finished sentences find the same.

    The searches in `apart` find different sentences.

    Some programs let a finished sentence keep its place among the beams, others move it out and let another one live
    on.
    """

    def suits(model: NextWord) -> bool:
        asked = (model, *ids, beams, longest)
        found = decoding.beam_search(*asked)
        if len(found) < 2 or torch.equal(found, decoding.greedy(model, *ids, longest)):
            return False
        if len({tuple(search(*asked).tolist()) for search in apart}) < len(apart):
            return False
        return all(torch.equal(found, answer(*asked)) for answer in COUNTING_DIFFERENTLY)

    return draw_model(generator, vocabulary, suits, never)


_Kept = list[tuple[float, list[int]]]
"""Sentences with their scores."""


def _log_probabilities(logits: Tensor) -> Tensor:
    return torch.log_softmax(logits, dim=-1)


def _cut(candidates: _Kept, beams: int) -> _Kept:
    return sorted(candidates, reverse=True)[:beams]


def _searched(
    step: Step,
    start_id: int,
    end_id: int,
    beams: int,
    max_length: int,
    *,
    ids: Ids = given_ids,
    sees: Callable[[list[int]], list[int]] = list,
    says: Callable[[Tensor], Tensor] = _log_probabilities,
    adds: Callable[[float, float, int], float] = lambda score, more, length: score + more,
    finished: str = "stay",
    cut: Callable[[_Kept, int], _Kept] = _cut,
    picks: Callable[[_Kept, int], list[int]] = lambda kept, end: kept[0][1],
    writes: Callable[[list[int], int], list[int]] = lambda tokens, end: tokens[1:],
    until: Callable[[_Kept, int], bool] = lambda kept, end: False,
    longer: int = 0,
) -> Tensor:
    """Beam search with something done differently.

    Args:
        ids: of <s> and <e>.
        sees: what the model is shown of the tokens so far.
        says: the score of each next token, from the logits.
        adds: the score of a sentence, from that of its beginning, of its last token, and its length.
        finished: what becomes of sentences that have their <e>: they "stay", "go on", or are "dropped".
        cut: which of the candidates live on.
        picks: one of those that live at the end.
        writes: what is returned of it.
        until: ends the search early.
        longer: how many tokens more than allowed.
    """
    start, end = ids(start_id, end_id)
    kept: _Kept = [(0.0, [start])]
    for length in range(1, max_length + longer + 1):
        going_on = [(score, tokens) for score, tokens in kept if tokens[-1] != end or finished == "go on"]
        candidates = [sentence for sentence in kept if sentence[1][-1] == end] if finished == "stay" else []
        for score, tokens in going_on:
            following = enumerate(says(step(torch.tensor(sees(tokens)))).tolist())
            candidates += [(adds(score, more, length), [*tokens, token]) for token, more in following]
        if not candidates:
            break
        kept = cut(candidates, beams)
        if until(kept, end):
            break
    return torch.tensor(writes(picks(kept, end), end), dtype=torch.long)


def _continued(step: Step, kept: _Kept) -> _Kept:
    """Every sentence, continued by every token."""
    return [
        (score + more, [*tokens, token])
        for score, tokens in kept
        for token, more in enumerate(_log_probabilities(step(torch.tensor(tokens))).tolist())
    ]


def _apart_from_the_start(step: Step, start_id: int, end_id: int, beams: int, max_length: int) -> Tensor:
    """The `beams` most probable first tokens, each continued greedily by itself."""
    said = _log_probabilities(step(torch.tensor([start_id]))).tolist()
    first = _cut([(more, [start_id, token]) for token, more in enumerate(said)], beams)
    sentences: _Kept = []
    for score, tokens in first:
        while len(tokens) <= max_length and tokens[-1] != end_id:
            log_probabilities = _log_probabilities(step(torch.tensor(tokens))).tolist()
            best = max(range(len(log_probabilities)), key=log_probabilities.__getitem__)
            score, tokens = score + log_probabilities[best], [*tokens, best]
        sentences.append((score, tokens))
    return torch.tensor(max(sentences)[1][1:])


def _until_enough_are_finished(step: Step, start_id: int, end_id: int, beams: int, max_length: int) -> Tensor:
    """What ends is set aside; once there is one for each beam, the search is over and the best of them is found."""
    live: _Kept = [(0.0, [start_id])]
    done: _Kept = []
    for _ in range(max_length):
        best = _cut(_continued(step, live), 2 * beams)
        done += [sentence for sentence in best if sentence[1][-1] == end_id]
        live = [sentence for sentence in best if sentence[1][-1] != end_id][:beams]
        if len(done) >= beams or not live:
            break
    return torch.tensor(max(done or live)[1][1:])


def _two_of_each(candidates: _Kept, beams: int) -> _Kept:
    """The best `beams` of the candidates, at most two for each beginning."""
    beginnings = {tuple(tokens[:-1]) for _score, tokens in candidates}
    two_each = [_cut([c for c in candidates if tuple(c[1][:-1]) == beginning], 2) for beginning in beginnings]
    return _cut([sentence for two in two_each for sentence in two], beams)


def _least(candidates: _Kept, beams: int) -> _Kept:
    return sorted(candidates)[:beams]


def _any_finished(kept: _Kept, end: int) -> bool:
    return any(tokens[-1] == end for _score, tokens in kept)


def _first_finished(kept: _Kept, end: int) -> list[int]:
    return next((tokens for _score, tokens in kept if tokens[-1] == end), kept[0][1])


def _best_by(kept: _Kept, divisor: Callable[[int], float]) -> list[int]:
    """The best of them by a score divided by something of the length."""
    return max(kept, key=lambda sentence: sentence[0] / divisor(len(sentence[1]) - 1))[1]


_two_continuations_each = partial(_searched, cut=_two_of_each)


_longest_returned = partial(_searched, picks=lambda kept, end: max((tokens for _score, tokens in kept), key=len))


_probabilities_added = partial(_searched, says=lambda logits: torch.softmax(logits, dim=-1))


_LEAST_PROBABLE = (
    "Your answer keeps the least probable candidates. Scores are negative, and the best is the one nearest to 0: sort "
    "in descending order."
)


def _others_live_on(step: Step, start_id: int, end_id: int, beams: int, max_length: int) -> Tensor:
    """As `decoding.beam` counts: what ends among the best `beams` is finished; the best `beams` others live on."""
    live: _Kept = [(0.0, [start_id])]
    finished: _Kept = []
    for _ in range(max_length):
        candidates = sorted(_continued(step, live), reverse=True)
        finished += [sentence for sentence in candidates[:beams] if sentence[1][-1] == end_id]
        live = [sentence for sentence in candidates if sentence[1][-1] != end_id][:beams]
    return torch.tensor(max(finished + live)[1][1:])


def _endings_before_the_last_live(step: Step, start_id: int, end_id: int, beams: int, max_length: int) -> Tensor:
    """Goes through the candidates until `beams` of them live on; what ends before these is finished."""
    live: _Kept = [(0.0, [start_id])]
    finished: _Kept = []
    for _ in range(max_length):
        candidates, live = sorted(_continued(step, live), reverse=True), []
        for sentence in candidates:
            if len(live) == beams:
                break
            (finished if sentence[1][-1] == end_id else live).append(sentence)
    return torch.tensor(max(finished + live)[1][1:])


def _finished_set_aside(
    step: Step, start_id: int, end_id: int, beams: int, max_length: int, *, with_its_beam: bool = False
) -> Tensor:
    """The best `beams` of what goes on; those of them that end no longer compete, and leave their place empty.

    As Sutskever et al. (2014) count, a finished sentence takes its beam with it.
    """
    live: _Kept = [(0.0, [start_id])]
    finished: _Kept = []
    for _ in range(max_length):
        best = _cut(_continued(step, live), beams - len(finished) * with_its_beam)
        finished += [sentence for sentence in best if sentence[1][-1] == end_id]
        live = [sentence for sentence in best if sentence[1][-1] != end_id]
        if not live:
            break
    return torch.tensor(max(finished + live)[1][1:])


def _beams_in_tensors(step: Step, start_id: int, end_id: int, beams: int, max_length: int) -> Tensor:
    tokens, scores = torch.tensor([[start_id]]), torch.zeros(1)
    for _ in range(max_length):
        ended = tokens[:, -1] == end_id
        rows = [row[row != -1] for row in tokens]
        logits = torch.stack([step(row) for row in rows])
        following = torch.log_softmax(logits, dim=-1)
        vocabulary = following.shape[-1]
        stays = torch.full((vocabulary,), -math.inf, dtype=following.dtype)
        stays[end_id] = 0.0  # after <e> nothing but <e>, at no cost
        following = torch.where(ended.unsqueeze(1), stays, following)
        totals = (scores.unsqueeze(1) + following).flatten()
        scores, places = totals.topk(min(beams, len(totals)))
        tokens = torch.cat([tokens[places // vocabulary], (places % vocabulary).unsqueeze(1)], dim=1)
        tokens = tokens[scores > -math.inf]
        scores = scores[scores > -math.inf]
    best = tokens[scores.argmax(), 1:].tolist()
    return torch.tensor(best[: best.index(end_id) + 1] if end_id in best else best)


COUNTING_DIFFERENTLY = (
    _others_live_on,
    _endings_before_the_last_live,
    _finished_set_aside,
    partial(_finished_set_aside, with_its_beam=True),
)
"""Other honest ways of counting finished sentences. The cases are chosen so that all of them find the same."""


CORRECT = (
    *COUNTING_DIFFERENTLY,
    _beams_in_tensors,
)


EXERCISE = Exercise(
    id="decoding.beam_search",
    lesson=LESSON,
    name="beam_search",
    title="Beam search",
    statement=(
        "beam_search(step, start_id, end_id, beams, max_length) -> int64 [new]: the most probable of the sentences "
        "found by a search that keeps the `beams` best at every step, finished ones included."
    ),
    points=6,
    minutes=35,
    section="Several beginnings at once",
    source="Wu et al. (2016), section 7; Vaswani et al. (2017), section 6.1",
    reference=decoding.beam_search,
    cases=_beam_cases,
    parts={CORE: 5, MANY_BEAMS: 1},
    correct=CORRECT,
    hints=(
        Hint(
            "idea",
            "Hold a few beginnings, each with its score, the sum of its log-probabilities. At each step, continue all "
            "that are not finished by every token, put the finished ones beside them, and keep the best of all these "
            "together.",
        ),
        Hint(
            "shapes",
            "What you hold is a list of pairs, at first one: the score 0 and the start id alone. A beginning that is "
            "not finished gives one candidate for each token of the vocabulary, so a step has up to beams times "
            "vocabulary candidates, of which `beams` are kept.",
            answers=("greedy", "each_by_itself", "two_continuations_each", "only_the_last_word_read", "one_beam_more"),
        ),
        Hint(
            "outline",
            "Start with one pair, the score 0.0 and a list with the start id.\n"
            "Up to `max_length` times: the candidates are the finished beginnings, as they are, and the "
            "continuations of all others.\n"
            "A continuation's score is the old score plus the token's log-probability; take a log-softmax of the "
            "logits, or scores of different beginnings cannot be compared.\n"
            "Sort the candidates by score, best first, and keep `beams` of them.\n"
            "Return the tokens of the best pair, without the start.",
            answers=(
                "logits_added",
                "probabilities_added",
                "last_word_only",
                "goes_on_behind_the_end",
                "finished_dropped",
                "first_finished",
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "greedy",
            "Your answer is what greedy decoding writes, however many beams it gets. Keep the `beams` best of all "
            "candidates at every step; and begin with <s> once, because copies of it would stay copies.",
            lambda step, start_id, end_id, beams, max_length: decoding.greedy(step, start_id, end_id, max_length),
        ),
        Misconception(
            "logits_added",
            "Your answer adds up the logits. Those of different beginnings cannot be compared: take log_softmax of "
            "each step's logits first.",
            partial(_searched, says=torch.clone),
        ),
        Misconception(
            "probabilities_added",
            "Your answer adds the tokens' probabilities. A sentence's probability is their product: add their "
            "logarithms, by log_softmax.",
            _probabilities_added,
        ),
        Misconception(
            "last_word_only",
            "Your answer scores a sentence by its last token alone. Its score is the sum of the log-probabilities of "
            "all its tokens.",
            partial(_searched, adds=lambda score, more, length: more),
        ),
        Misconception(
            "only_the_last_word_read",
            "Your answer shows the model only the last token of a beginning. Then it knows nothing about the others: "
            "give step all its tokens, <s> first.",
            partial(_searched, sees=lambda tokens: tokens[-1:]),
        ),
        Misconception(
            "each_by_itself",
            "Your answer keeps the best first tokens and continues each of them greedily by itself. At every step all "
            "candidates compete: one beginning may keep several continuations, and another none.",
            _apart_from_the_start,
        ),
        Misconception(
            "goes_on_behind_the_end",
            "Your answer lets sentences go on after <e>. A finished sentence stays as it is, with the score that it "
            "has, and competes with the others.",
            partial(_searched, finished="go on"),
        ),
        Misconception(
            "finished_dropped",
            "Your answer drops a sentence one step after it got its <e>. Put it among the candidates as it is, with "
            "the score that it has: it may be the best in the end.",
            partial(_searched, finished="dropped"),
        ),
        Misconception(
            "first_finished",
            "Your answer returns the first sentence that ends. Others that are more probable may still be under way: "
            "go on until no live one is better than the best finished one.",
            partial(_searched, until=_any_finished, picks=_first_finished),
        ),
        Misconception(
            "enough_finished",
            "Your answer stops as soon as `beams` sentences are finished, and returns the best of them. One that is "
            "still under way may be more probable: go on as long as it is, up to max_length tokens.",
            _until_enough_are_finished,
        ),
        Misconception(
            "worst_of_the_kept",
            "Your answer returns the least probable of the sentences that are kept at the end. Return the most "
            "probable one.",
            partial(_searched, picks=lambda kept, end: kept[-1][1]),
            alone=True,
        ),
        Misconception("least_probable_kept", _LEAST_PROBABLE, partial(_searched, cut=_least)),
        Misconception(
            "least_probable_kept_to_the_end",
            _LEAST_PROBABLE,
            partial(_searched, cut=_least, picks=lambda kept, end: max(kept)[1]),
            alone=True,
        ),
        Misconception(
            "start_included",
            "Your answer begins with <s>. Return the new tokens only.",
            partial(_searched, writes=as_they_are),
        ),
        Misconception(
            "end_left_out",
            "<e> is missing at the end of your answer. The model wrote it, like any other token: keep it.",
            partial(_searched, writes=lambda tokens, end: without_end(tokens, end)[1:]),
        ),
        Misconception(
            "one_word_short",
            "Your answer may write one token fewer than max_length: <s> does not count.",
            partial(_searched, longer=-1),
        ),
        Misconception(
            "one_word_more",
            "Your answer may write one token more than max_length.",
            partial(_searched, longer=1),
        ),
        Misconception(
            "one_beam_more",
            "Your answer keeps one sentence more than there are beams. Keep the `beams` best: [:beams].",
            partial(_searched, cut=lambda candidates, beams: _cut(candidates, beams + 1)),
        ),
        Misconception(
            "finished_preferred",
            "At the end your answer returns the best sentence that has its <e>, even where one that is cut off at "
            "max_length is more probable. Such a sentence counts as it is.",
            partial(_searched, picks=_first_finished),
        ),
        Misconception(
            "longest_returned",
            "Your answer returns the longest of the sentences that it holds at the end. Return the most probable one.",
            _longest_returned,
        ),
        Misconception(
            "best_mean_returned",
            "At the end your answer returns the sentence whose tokens are the most probable on average. Return the one "
            "with the largest sum; how to deal with length comes in the next section.",
            partial(_searched, picks=lambda kept, end: _best_by(kept, float)),
        ),
        Misconception(
            "length_penalised",
            "At the end your answer divides by the length penalty of the next section, and so prefers long sentences. "
            "Here return the one with the largest sum.",
            partial(_searched, picks=lambda kept, end: _best_by(kept, lambda length: ((5 + length) / 6) ** 0.6)),
        ),
        Misconception(
            "two_continuations_each",
            "Your answer continues each sentence with its two best tokens only. With more beams the third may be among "
            "the best of all: look at every token, or at the best `beams`.",
            _two_continuations_each,
        ),
        Misconception(
            "stopped_at_the_first_end",
            "Your answer stops as soon as one sentence has its <e>. Others may still become the best: go on until "
            "every sentence that is kept has one, or max_length tokens.",
            partial(_searched, until=_any_finished),
            alone=True,
        ),
        *ids_written_into_the_code(_searched),
    ),
    withheld=WITHHELD,
)
