"""The exercises of lesson 06: how a model's probabilities become a sentence.

Built like those of `course_lib/exercises/attention.py`; read that file first.

A model is passed in as a step function: from the words so far to the logits of the next one. The models drawn here say
something else of every beginning, at random but always the same, so that an answer that forgets a word shows it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial, reduce

import torch
from torch import Generator, Tensor

from course_lib.checking.exercise import CORE, Callback, Case, Exercise, Misconception
from course_lib.exercises.common import integer, kinds, predicted, sizes
from course_lib.exercises.correct import decoding as correct
from course_lib.exercises.worked_examples import B
from course_lib.from_scratch import scoring, stepwise

LESSON = "06_decoding"
WITHHELD = (
    "course_lib.decoding.greedy",
    "course_lib.decoding.beam",
    "course_lib.decoding.sampling",
    "course_lib.from_scratch.stepwise",
)

START, END = 1, 2
"""The ids of <s> and <e> in the lesson."""

TREE = "worked example: the tree of the lesson"

BEHIND_DIE_KATZE = torch.tensor([0.3, 0.24, 0.16, 0.1, 0.07, 0.05, 0.04, 0.02, 0.015, 0.005])
"""The lesson's distribution over ten words behind *die Katze*."""

BEHIND = "worked example: the ten words of the lesson"


# Models to decode with ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Model:
    """Logits that depend on every word so far; an offset of their own keeps them from being log-probabilities.

    Attributes:
        seed: of all that it says.
        vocabulary: how many words it knows.
        never: a word that it never writes; None where it may write all.
        dtype: of the logits.
        spread: how far the logits of different words lie apart.
        offset: added to all logits.
    """

    seed: int
    vocabulary: int
    never: int | None = None
    dtype: torch.dtype = torch.float32
    spread: float = 2.0
    offset: float = 0.0

    def __call__(self, words: Tensor) -> Tensor:
        ids = _ids(words, self.vocabulary)
        number = reduce(lambda read, word: (31 * read + word + 1) % 2**40, ids, self.seed)
        generator = torch.Generator().manual_seed(number)
        logits = self.spread * torch.randn(self.vocabulary, generator=generator)
        logits += 4 * torch.rand((), generator=generator) + self.offset
        if self.never is not None:
            logits[self.never] = -math.inf
        return logits.to(self.dtype)


@dataclass(frozen=True)
class _Lesson:
    """The tree of the lesson."""

    def __call__(self, words: Tensor) -> Tensor:
        ids = _ids(words, len(stepwise.TANZTE_WORDS))
        return stepwise.tree_step(stepwise.TANZTE, stepwise.TANZTE_WORDS)(torch.tensor(ids))


def _ids(words: object, vocabulary: int) -> list[int]:
    """What an answer has passed, if it is the ids of one sentence; else an exception that says so.

    Raises:
        TypeError, ValueError, IndexError: it is not.
    """
    ids = torch.as_tensor(words) if isinstance(words, (Tensor, list, tuple)) and len(words) else None
    if ids is None or ids.dtype not in (torch.int64, torch.int32):
        raise TypeError("step takes the ids of the words so far, an int64 tensor [words] that begins with <s>")
    if ids.dim() != 1:
        raise ValueError(f"step takes the ids of one sentence, [words], not a tensor of shape {list(ids.shape)}")
    if not 0 <= int(ids.min()) <= int(ids.max()) < vocabulary:
        raise IndexError(f"step knows the ids 0 to {vocabulary - 1}, but it was given {ids.tolist()}")
    found: list[int] = ids.tolist()
    return found


def _step(model: Callable[[Tensor], Tensor]) -> Callback:
    return Callback("step", model)


def _drawn(
    generator: Generator,
    vocabulary: int,
    suits: Callable[[_Model], bool],
    never: int | None = None,
    *,
    spread: float = 2.0,
    offset: float = 0.0,
) -> _Model:
    """A model that suits; most seeds give one soon."""
    while True:
        model = _Model(integer(generator, 0, 10**6), vocabulary, never, spread=spread, offset=offset)
        if suits(model):
            return model


_Ids = Callable[[int, int], tuple[int, int]]
"""The ids of <s> and <e> that an answer works with, from those that it is given."""

_BOTH_IDS = (
    "Your answer takes 1 for <s> and 2 for <e> (START_ID and END_ID), whatever it is given. Use start_id and end_id: "
    "another vocabulary numbers its words differently."
)
_END_ID = (
    "Your answer takes 2 (END_ID) for <e>, whatever it is given. Use end_id: another vocabulary numbers its words "
    "differently."
)
_START_ID = (
    "Your answer begins with 1 (START_ID), whatever it is given. Use start_id: another vocabulary numbers its words "
    "differently."
)


def _given_ids(start_id: int, end_id: int) -> tuple[int, int]:
    return start_id, end_id


def _own_start(_start_id: int, end_id: int) -> tuple[int, int]:
    return START, end_id


def _own_end(start_id: int, _end_id: int) -> tuple[int, int]:
    return start_id, END


def _own_ids(_start_id: int, _end_id: int) -> tuple[int, int]:
    return START, END


# decoding.greedy -----------------------------------------------------------------------------------------------


LIMIT = "the limit"
"""The part of `greedy` where the model does not write <e> in time."""


def _greedy_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(TREE, (_step(_Lesson()), START, END, 8))

    def suits(model: _Model) -> bool:
        found = stepwise.greedy(model, start, end, longest).tolist()
        in_time = 3 <= len(found) < longest and found[-1] == end and len(set(found)) > 2
        return in_time and (start in found or not name.startswith("a model"))

    for name, start, end, dtype, offset in (
        ("a model that looks at all the words so far", START, END, torch.float32, 0.0),
        ("<s> and <e> have other ids", 6, 0, torch.float32, 0.0),
        ("large logits", START, END, torch.float32, 100.0),
        ("double precision", START, END, torch.float64, 0.0),
    ):
        vocabulary, longest = integer(generator, 7, 10), 12
        drawn = _drawn(generator, vocabulary, suits, offset=offset)
        model = replace(drawn, dtype=dtype)
        yield Case(name, (_step(model), start, end, longest))
    vocabulary, longest = integer(generator, 5, 9), integer(generator, 5, 9)
    endless = _drawn(generator, vocabulary, lambda _model: True, never=END)
    yield Case("a model that never writes <e>", (_step(endless), START, END, longest), part=LIMIT)
    yield Case("two words at most", (_step(endless), START, END, 2), part=LIMIT)


def _most_probable(logits: Tensor, _words: list[int]) -> Tensor:
    return logits.argmax()


def _none_twice(logits: Tensor, words: list[int]) -> Tensor:
    return logits.index_fill(0, torch.tensor(words[1:], dtype=torch.long), -math.inf).argmax()


def _as_they_are(words: list[int], _end: int) -> list[int]:
    return words


def _without_end(words: list[int], end: int) -> list[int]:
    return words[:-1] if words[-1] == end else words


def _greedily(
    step: stepwise.Step,
    start_id: int,
    end_id: int,
    max_length: int,
    *,
    ids: _Ids = _given_ids,
    chooses: Callable[[Tensor, list[int]], Tensor] = _most_probable,
    sees: Callable[[list[int]], list[int]] = list,
    stops: bool = True,
    longer: int = 0,
    ends: Callable[[list[int], int], list[int]] = _as_they_are,
    keeps_start: bool = False,
) -> Tensor:
    """Greedy decoding with something done differently.

    Args:
        ids: of <s> and <e>.
        chooses: the next word, from its logits and the words so far.
        sees: what the model is shown of the words so far.
        stops: whether a sentence ends at <e>.
        longer: how many words more than allowed.
        ends: what becomes of the sentence in the end.
        keeps_start: whether <s> is returned.
    """
    start, end = ids(start_id, end_id)
    words = [start]
    while len(words) <= max_length + longer and (words[-1] != end or not stops):
        words.append(int(chooses(step(torch.tensor(sees(words))), words)))
    return torch.tensor(ends(words, end)[0 if keeps_start else 1 :], dtype=torch.long)


def _asked_once(step: stepwise.Step, start_id: int, end_id: int, max_length: int) -> Tensor:
    order = step(torch.tensor([start_id])).argsort(descending=True).tolist()
    return torch.tensor(order[: min(order.index(end_id) + 1, max_length)])


GREEDY = Exercise(
    id="decoding.greedy",
    lesson=LESSON,
    name="greedy",
    title="Greedy decoding",
    statement=(
        "greedy(step, start_id, end_id, max_length) -> int64 [new]: the most probable word at every step, until it is "
        "<e> or there are max_length words; without <s>, with <e> where it was reached; max_length is at least 1."
    ),
    points=3,
    minutes=15,
    section="One word after the other",
    source="S2, generating outputs (greedy); S4, test time",
    reference=stepwise.greedy,
    cases=_greedy_cases,
    parts={CORE: 2, LIMIT: 1},
    correct=correct.GREEDY,
    misconceptions=(
        Misconception(
            "start_included",
            "Your answer begins with <s>. The model did not write <s>, it was given it: return the new words only.",
            partial(_greedily, keeps_start=True),
        ),
        Misconception(
            "end_left_out",
            "Your answer leaves out <e>. It is a word like any other, and the model wrote it: append it, then stop.",
            partial(_greedily, ends=_without_end),
        ),
        Misconception(
            "end_put_behind",
            "Your answer puts <e> behind a sentence that max_length cuts off. The model did not write it: return the "
            "words as they are.",
            partial(_greedily, ends=lambda words, end: words if words[-1] == end else [*words, end]),
            alone=True,
        ),
        Misconception(
            "end_put_last",
            "Where max_length cuts a sentence off, your answer has <e> in place of the last word. The model did not "
            "write it: return the words as they are.",
            partial(_greedily, ends=lambda words, end: [*words[:-1], end]),
            alone=True,
        ),
        Misconception(
            "goes_on_behind_the_end",
            "Your answer goes on behind <e>, up to the limit. Stop as soon as the word is end_id.",
            partial(_greedily, stops=False),
        ),
        Misconception(
            "only_the_last_word",
            "Your answer shows the model only the last word at each step. It knows nothing of the others then: give "
            "step all the words so far, <s> first.",
            partial(_greedily, sees=lambda words: words[-1:]),
        ),
        Misconception(
            "nothing_read",
            "Your answer asks for the word behind <s> again and again. Append each word that was chosen, and give step "
            "all the words so far.",
            partial(_greedily, sees=lambda words: words[:1]),
        ),
        Misconception(
            "newest_first",
            "Your answer puts each new word in front of those before it, where the model reads it first. Append it "
            "behind them.",
            partial(_greedily, sees=lambda words: [words[0], *reversed(words[1:])]),
        ),
        Misconception(
            "asked_once",
            "Your answer asks the model once, behind <s>, and writes its words from the most probable one down. Take "
            "only the best, append it, and ask again with all the words so far.",
            _asked_once,
        ),
        Misconception(
            "one_word_short",
            "Your answer stops one word too early where the model writes no <e>: <s> does not count. max_length is how "
            "many new words there may be.",
            partial(_greedily, longer=-1),
        ),
        Misconception(
            "one_word_more",
            "Your answer writes one word more than max_length where the model writes no <e>.",
            partial(_greedily, longer=1),
        ),
        Misconception(
            "least_probable",
            "Your answer takes the least probable word at each step. The largest logit belongs to the most probable "
            "one: argmax.",
            partial(_greedily, chooses=lambda logits, words: logits.argmin()),
        ),
        Misconception(
            "none_twice",
            "Your answer writes no word a second time. Sentences do repeat words: take the most probable one, whatever "
            "has been written.",
            partial(_greedily, chooses=_none_twice),
        ),
        Misconception(
            "exp_overflows",
            "Your answer compares exp of the logits, which is infinite for large ones, so that different words look "
            "alike. Compare the logits themselves: the order is the same.",
            partial(_greedily, chooses=lambda logits, words: logits.exp().argmax()),
        ),
        Misconception("start_written_into_the_code", _START_ID, partial(_greedily, ids=_own_start)),
        Misconception("end_written_into_the_code", _END_ID, partial(_greedily, ids=_own_end)),
        Misconception("ids_written_into_the_code", _BOTH_IDS, partial(_greedily, ids=_own_ids)),
    ),
    withheld=WITHHELD,
)


# decoding.sequence_log_probability -----------------------------------------------------------------------------


def _tree_sentence(sentence: str) -> tuple[Tensor, Tensor]:
    """What the lesson's tree says of each word of a sentence, with an improbable 1e-4 for words it rules out."""
    ids = [stepwise.TANZTE_WORDS.index(word) for word in sentence.split()]
    rows = [_Lesson()(torch.tensor([START, *ids[:place]])) for place in range(len(ids))]
    return torch.stack(rows).clamp(min=math.log(1e-4)), torch.tensor(ids)


SMALL = "very small probabilities"
"""The part of `sequence_log_probability` where a probability is 0 in a float, or a power infinite."""


def _sequence_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(
            "worked example: die Katze tanzte <e>, by the tree of the lesson", _tree_sentence("die Katze tanzte <e>")
        )
    for kind in kinds(generator):
        words, vocabulary = kind.sizes(2)
        expected = torch.randint(vocabulary, (*kind.leading, words), generator=generator)
        yield Case(kind.name, (2 * kind.normal(words, vocabulary) + 1, expected))
    words = integer(generator, 150, 200)
    logits = 3 * torch.randn(words, 40, generator=generator)
    yield Case(f"{words} words", (logits, torch.randint(40, (words,), generator=generator)), part=SMALL)
    logits = torch.randn(6, 5, generator=generator)
    logits[::2] += 200  # exp overflows; the softmax is the same
    yield Case("large logits at every other word", (logits, torch.randint(5, (6,), generator=generator)), part=SMALL)
    logits = torch.randn(2, 4, 3, generator=generator)
    logits[1, 2, 0] = -float(integer(generator, 115, 130))
    expected = torch.tensor([[1, 2, 0, 1], [2, 0, 0, 1]])
    yield Case("a word that the model thinks next to impossible", (logits, expected), part=SMALL)


_ALL, _BUT_THE_LAST, _BUT_THE_FIRST = slice(None), slice(None, -1), slice(1, None)


def _picked(values: Tensor, expected: Tensor) -> Tensor:
    return values.gather(-1, expected.unsqueeze(-1)).squeeze(-1)


def _logs(logits: Tensor, expected: Tensor, *, dim: int = -1) -> Tensor:
    return _picked(torch.log_softmax(logits, dim=dim), expected)


def _by_exp(logits: Tensor, expected: Tensor, *, floor: float = 0.0, more: float = 0.0) -> Tensor:
    """The logarithm of the softmax, kept away from 0 by a floor or by a little more."""
    return (_picked(torch.softmax(logits, dim=-1), expected).clamp(min=floor) + more).log()


def _less_the_largest(logits: Tensor, expected: Tensor) -> Tensor:
    """The right way by hand, but with one largest logit for all rows."""
    less = logits - logits.max()
    return _picked(less - less.exp().sum(dim=-1, keepdim=True).log(), expected)


def _summed(values: Tensor) -> Tensor:
    return values.sum(dim=-1)


def _log_probability(
    logits: Tensor,
    expected: Tensor,
    *,
    rows: slice = _ALL,
    words: slice = _ALL,
    each: Callable[[Tensor, Tensor], Tensor] = _logs,
    joined: Callable[[Tensor], Tensor] = _summed,
    unit: float = 1.0,
    sign: int = 1,
) -> Tensor:
    """The log-probability with something done differently.

    Args:
        rows, words: which of them are looked at.
        each: a number for each word.
        joined: one for the sentence.
        unit: of the logarithm, in nats.
        sign: -1 turns it.
    """
    return sign * joined(each(logits[..., rows, :], expected[..., words])) / unit


_NOTHING_TO_KEEP_AWAY = "Take log_softmax, in one step, and nothing has to be kept away from 0."


def _floored(name: str, floor: float) -> Misconception:
    return Misconception(
        f"floor_of_a_{name}",
        f"Your answer is right unless a word is next to impossible: you then take its probability for {floor:g}. It is "
        f"much smaller. {_NOTHING_TO_KEEP_AWAY}",
        partial(_log_probability, each=partial(_by_exp, floor=floor)),
        alone=True,
    )


def _raised(power: int) -> Misconception:
    return Misconception(
        f"small_number_added_1e_{power}",
        f"Your answer adds 1e-{power} to the probabilities, so that no logarithm is of 0. That changes small ones too "
        f"much. {_NOTHING_TO_KEEP_AWAY}",
        partial(_log_probability, each=partial(_by_exp, more=10.0**-power)),
        alone=True,
    )


_EXP_OVERFLOWS = (
    "Your answer takes exp of the logits as they are, which is infinite for large ones: use torch.log_softmax, which "
    "subtracts the largest first."
)


SEQUENCE_LOG_PROBABILITY = Exercise(
    id="decoding.sequence_log_probability",
    lesson=LESSON,
    name="sequence_log_probability",
    title="How probable a sentence is",
    statement=(
        "sequence_log_probability(logits [..., words, vocabulary], expected int64 [..., words]) -> [...]: the natural "
        "logarithm of the whole sentence's probability, by the chain rule; all logits are finite."
    ),
    points=3,
    minutes=12,
    section="How probable is a sentence?",
    source="S1 and S4, the chain rule of P(e given f)",
    reference=scoring.sequence_log_probability,
    cases=_sequence_cases,
    parts={CORE: 2, SMALL: 1},
    correct=correct.SEQUENCE_LOG_PROBABILITY,
    misconceptions=(
        Misconception(
            "logarithm_of_the_product",
            "Your answer multiplies the probabilities, and takes the logarithm in the end. Of a long sentence, or of "
            "one with a word that is next to impossible, the product is too small for a float and becomes 0: take the "
            "logarithms first, by log_softmax, and add them up.",
            partial(_log_probability, joined=lambda logs: logs.exp().prod(dim=-1).log()),
        ),
        Misconception(
            "exp_overflows",
            _EXP_OVERFLOWS,
            lambda logits, expected: (
                _picked(logits.exp() / logits.exp().sum(dim=-1, keepdim=True), expected).log().sum(dim=-1)
            ),
        ),
        Misconception(
            "exp_overflows_in_the_sum",
            _EXP_OVERFLOWS,
            lambda logits, expected: _picked(logits - logits.exp().sum(dim=-1, keepdim=True).log(), expected).sum(-1),
        ),
        Misconception(
            "one_largest_for_all",
            "Your answer subtracts one number, the largest logit of all, everywhere. In a row that lies far below it "
            "every exp becomes 0: subtract each row's own largest, or use torch.log_softmax.",
            partial(_log_probability, each=_less_the_largest),
        ),
        Misconception(
            "logarithm_of_zero",
            "Your answer takes the softmax first and the logarithm afterwards. A probability that is next to 0 is "
            "rounded to 0 on the way, and its logarithm is −∞: take log_softmax, in one step.",
            partial(_log_probability, each=_by_exp),
        ),
        _floored("billionth", 1e-9),
        _floored("trillionth", 1e-12),
        _floored("nonillionth", 1e-30),
        Misconception(
            "logits_added",
            "Your answer adds up the logits. They are no log-probabilities yet: take log_softmax over the vocabulary "
            "first.",
            partial(_log_probability, each=_picked),
        ),
        Misconception(
            "product_of_probabilities",
            "Your answer is the probability itself. Its logarithm was asked for.",
            partial(_log_probability, joined=lambda logs: logs.sum(dim=-1).exp()),
        ),
        Misconception(
            "probabilities_added",
            "Your answer adds the words' probabilities. The chain rule multiplies them: add their logarithms.",
            partial(_log_probability, joined=lambda logs: logs.exp().sum(dim=-1)),
        ),
        Misconception(
            "mean_over_the_words",
            "Your answer is the mean over the words, as a training loss takes it. The sentence's log-probability is "
            "the sum.",
            partial(_log_probability, joined=lambda logs: logs.mean(dim=-1)),
        ),
        Misconception(
            "sign_turned",
            "Your answer has the sign of the loss, which training minimises. The log-probability itself is never above "
            "0: leave the minus away.",
            partial(_log_probability, sign=-1),
        ),
        Misconception(
            "most_probable_words",
            "Your answer is the log-probability of the most probable word at each place. That of the words in "
            "`expected` was asked for: gather them.",
            partial(_log_probability, each=lambda logits, expected: torch.log_softmax(logits, dim=-1).amax(dim=-1)),
        ),
        Misconception(
            "not_added_up",
            "Your answer still has a number for each word. Their sum is the logarithm of the product.",
            partial(_log_probability, joined=torch.clone),
        ),
        Misconception(
            "softmax_over_the_words",
            "Your answer takes the softmax over the words of the sentence (dim=-2). At each place the probabilities of "
            "the vocabulary sum to 1: dim=-1.",
            partial(_log_probability, each=partial(_logs, dim=-2)),
        ),
        Misconception(
            "softmax_over_dimension_1",
            "Your answer takes the softmax over dimension 1, which is the vocabulary only where there is no batch. "
            "Counted from the end it is always the last: dim=-1.",
            partial(_log_probability, each=partial(_logs, dim=1)),
        ),
        Misconception(
            "shifted_once_more",
            "Your answer compares each row of logits with the word after its own. The rows and `expected` are aligned "
            "already: row t is what the model said of word t.",
            partial(_log_probability, rows=_BUT_THE_LAST, words=_BUT_THE_FIRST),
        ),
        Misconception(
            "shifted_back",
            "Your answer compares each row of logits with the word before its own. The rows and `expected` are aligned "
            "already: row t is what the model said of word t.",
            partial(_log_probability, rows=_BUT_THE_FIRST, words=_BUT_THE_LAST),
        ),
        Misconception(
            "last_word_left_out",
            "Your answer leaves out the last word, which ends the sentence. A sentence must end as well: its factor "
            "belongs to the product.",
            partial(_log_probability, rows=_BUT_THE_LAST, words=_BUT_THE_LAST),
        ),
        Misconception(
            "first_word_left_out",
            "Your answer leaves out the first word. `expected` does not begin with <s>: all of its words are factors.",
            partial(_log_probability, rows=_BUT_THE_FIRST, words=_BUT_THE_FIRST),
        ),
        Misconception(
            "in_bits",
            "Your answer is in bits, by the logarithm to base 2. Take the natural one.",
            partial(_log_probability, unit=math.log(2)),
        ),
        Misconception(
            "base_10",
            "Your answer takes the logarithm to base 10. Take the natural one.",
            partial(_log_probability, unit=math.log(10)),
        ),
        Misconception(
            "batch_added_up",
            "Your answer adds the sentences of the batch together. Each has a probability of its own: sum over the "
            "last dimension only.",
            partial(_log_probability, joined=torch.sum),
        ),
        Misconception(
            "first_dimension_added_up",
            "Your answer sums over the first dimension, which is the batch where there is one. The words of a sentence "
            "are the last dimension: dim=-1.",
            partial(_log_probability, joined=lambda logs: logs.sum(dim=0)),
        ),
        *map(_raised, (8, 9, 10, 12)),
        Misconception(
            "id_0_left_out",
            "Your answer passes over the places where id 0 is expected, as if it were padding. All places count here.",
            partial(_log_probability, each=lambda logits, expected: _logs(logits, expected) * (expected != 0)),
        ),
    ),
    withheld=(*WITHHELD, "course_lib.from_scratch.scoring"),
)


# decoding.sentence_found ---------------------------------------------------------------------------------------


def _prediction_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    order = torch.randperm(3, generator=generator).tolist() if hidden else range(3)
    for place in order:
        beams = place + 1
        name = f"{beams} beam{'s' if beams > 1 else ''}"
        yield Case(name if hidden else f"{TREE}, {name}", (beams,))


_HELD = ([0.27], [0.27, 0.24], [0.27, 0.24, 0.216])
"""What 1, 2 and 3 beams hold after the third word: “die Katze hat”, “eine Katze tanzte”, “die Katze tanzte”."""


def _predicted(
    beams: int, *, one: str = "B", two: str = "E", three: str = "A", held: tuple[list[float], ...] = _HELD
) -> tuple[str, list[float]]:
    """A prediction: a sentence for each width, and what each holds."""
    return (one, two, three)[beams - 1], list(held[beams - 1])


SENTENCE_FOUND = Exercise(
    id="decoding.sentence_found",
    lesson=LESSON,
    name="sentence_found",
    title="Predict first",
    statement=(
        'sentence_found(beams) -> (letter, kept): "A" to "F", the sentence that a search of 1, 2 or 3 beams writes, '
        "and the probabilities of the beginnings that it holds after the third word, the best first, not rounded."
    ),
    points=2,
    minutes=10,
    section="Where greedy decoding loses",
    source="S2, generating outputs (greedy); Wu et al. (2016), section 7",
    reference=stepwise.sentence_found,
    cases=predicted(_prediction_cases),
    correct=correct.SENTENCE_FOUND,
    misconceptions=(
        Misconception(
            "one_beginning_continued",
            "With more than one beam you keep the best beginning alone and two or three of its continuations. Keep so "
            "many beginnings at every step: behind two words “die Katze” and “eine Katze”, and continue both.",
            partial(_predicted, two="A", three="A", held=([0.27], [0.27, 0.216], [0.27, 0.216, 0.054])),
        ),
        Misconception(
            "one_of_two_continued",
            "With two beams you keep two continuations of “die Katze”, and drop “eine Katze”. Continue both of them: "
            "“eine Katze tanzte” (0.4 · 0.6) is more probable than “die Katze tanzte” (0.54 · 0.4).",
            partial(_predicted, two="A", held=([0.27], [0.27, 0.216], _HELD[2])),
        ),
        Misconception(
            "each_beginning_continued_once",
            "You continue each beginning by one word, its best. A beginning may be continued by several: of all that "
            "there are, keep the most probable. “die Katze tanzte” (0.216) comes before “die Mieze tanzte” (0.06).",
            partial(_predicted, three="E", held=([0.27], [0.27, 0.24], [0.27, 0.24, 0.06])),
        ),
        Misconception(
            "each_beginning_kept",
            "With three beams you hold “die Mieze tanzte” (0.06). A beginning need not be continued at all: of all "
            "continuations keep the most probable, and “die Katze tanzte” (0.216) comes before it.",
            partial(_predicted, held=([0.27], [0.27, 0.24], [0.27, 0.24, 0.06])),
            alone=True,
        ),
        Misconception(
            "each_article_twice",
            "With three beams you hold “eine Katze hat” (0.4 · 0.4 = 0.16). “die Katze tanzte” (0.54 · 0.4 = 0.216) is "
            "more probable: a beginning may be continued by several words.",
            partial(_predicted, held=([0.27], [0.27, 0.24], [0.27, 0.24, 0.16])),
        ),
        Misconception(
            "kept_by_their_ends",
            "You keep the beginnings of the sentences that are the most probable in the end. A search does not see the "
            "end: after three words it knows only their product, and keeps the largest.",
            partial(_predicted, one="A", two="A", held=([0.216], [0.24, 0.216], _HELD[2])),
        ),
        Misconception(
            "second_best_word",
            "With one beam you go on with “tanzte” behind “die Katze”. It keeps only the most probable beginning, and "
            "“hat” is more probable there: 0.5, against 0.4.",
            partial(_predicted, one="A", held=([0.216], *_HELD[1:])),
        ),
        Misconception(
            "always_the_best",
            "You predict the most probable sentence of all, A, at every width. A search sees only the next word: "
            "behind “die Katze” the most probable one is “hat” (0.5, against 0.4), so that one beam never sees A.",
            partial(_predicted, one="A", two="A"),
        ),
        Misconception(
            "width_changes_nothing",
            "You predict what greedy decoding writes at every width. But more beams also keep other beginnings, such "
            "as “eine Katze tanzte” (0.24), and one of these may end as a more probable sentence.",
            partial(_predicted, two="B", three="B"),
        ),
        Misconception(
            "two_beams_are_enough",
            "One beam and three are right. With two, “die Katze hat” (0.27) and “eine Katze tanzte” (0.24) are kept, "
            "as you say. “die Katze tanzte” (0.216) is the third, and is dropped.",
            partial(_predicted, two="A"),
            alone=True,
        ),
        Misconception(
            "three_beams_do_not_suffice",
            "The third beam keeps “die Katze tanzte” (0.216), which <e> follows with 0.9: 0.1944 in the end, more than "
            "E.",
            partial(_predicted, three="E"),
        ),
        Misconception(
            "two_beams_as_one",
            "Two beams keep “die Katze hat” (0.27) and “eine Katze tanzte” (0.24). Multiply on: 0.27 · 0.6 = 0.162, "
            "but 0.24 · 0.7 = 0.168.",
            partial(_predicted, two="B"),
        ),
        Misconception(
            "not_kept_by_two",
            "For two beams you predict F. “eine Katze hat” has 0.4 · 0.4 = 0.16; two other beginnings of three words "
            "have more, and it is dropped.",
            partial(_predicted, two="F"),
        ),
        Misconception(
            "best_at_once",
            "You predict the most probable sentence of all, A, for one beam. Follow the tree word by word: behind “die "
            "Katze” greedy decoding takes “hat” (0.5, against 0.4).",
            partial(_predicted, one="A"),
        ),
        Misconception(
            "longest_sentence",
            "One beam takes “getanzt” (0.6) behind “die Katze hat”, not “gerade” (0.4).",
            partial(_predicted, one="C"),
        ),
        Misconception(
            "last_words_alone",
            "Of each beginning you give the probability of its third word alone. Multiply it by those of the first "
            "two: 0.6 · 0.9 · 0.5 for “die Katze hat”.",
            partial(_predicted, held=([0.5], [0.5, 0.6], [0.5, 0.6, 0.4])),
        ),
        Misconception(
            "last_words_alone_sorted",
            "Of each beginning you give the probability of its third word alone. Multiply it by those of the first "
            "two: 0.6 · 0.9 · 0.5 for “die Katze hat”.",
            partial(_predicted, held=([0.5], [0.6, 0.5], [0.6, 0.5, 0.4])),
        ),
        Misconception(
            "beginnings_of_two_words",
            "You give the beginnings of two words, “die Katze” first. Multiply on: the third word decides what is "
            "kept.",
            partial(_predicted, held=([0.54], [0.54, 0.4], [0.54, 0.4, 0.06])),
        ),
        Misconception(
            "whole_sentences",
            "You give the probabilities of whole sentences, their ends included. Stop after the third word.",
            partial(_predicted, held=([0.162], [0.168, 0.162], [0.1944, 0.168, 0.162])),
        ),
        Misconception(
            "only_the_sentence_found",
            "You give the probability of the sentence that is found, to its end. Asked for are the beginnings that are "
            "held after the third word: as many as there are beams.",
            partial(_predicted, held=([0.162], [0.168], [0.1944])),
        ),
        Misconception(
            "logarithms",
            "You give the logarithms of the probabilities. Give these themselves.",
            partial(_predicted, held=tuple([math.log(p) for p in held] for held in _HELD)),
        ),
        Misconception(
            "divided_by_their_sum",
            "You divide the probabilities by their sum. They need not sum to 1: give the products as they are.",
            partial(_predicted, held=tuple([p / sum(held) for p in held] for held in _HELD)),
        ),
        Misconception(
            "rounded",
            "You have rounded the probabilities. Give the products as they are, with all their digits.",
            partial(_predicted, held=([0.27], [0.27, 0.24], [0.27, 0.24, 0.22])),
        ),
        Misconception(
            "rounded_to_tenths",
            "You have rounded the probabilities. Give the products as they are, with all their digits.",
            partial(_predicted, held=([0.3], [0.3, 0.2], [0.3, 0.2, 0.2])),
        ),
        Misconception(
            "best_last",
            "The letters are right, and so are the probabilities. Put the largest first.",
            partial(_predicted, held=tuple(held[::-1] for held in _HELD)),
            alone=True,
        ),
        Misconception(
            "in_words",
            "The sentences are right, and so are the probabilities. Return letters in place of words.",
            partial(
                _predicted,
                one=stepwise.SENTENCES["B"],
                two=stepwise.SENTENCES["E"],
                three=stepwise.SENTENCES["A"],
            ),
            alone=True,
        ),
        Misconception(
            "small_letters",
            "The sentences are right, and so are the probabilities. Write the letters as capitals.",
            partial(_predicted, one="b", two="e", three="a"),
            alone=True,
        ),
    ),
    withheld=WITHHELD,
)


# decoding.beam_search ------------------------------------------------------------------------------------------


MANY_BEAMS = "more beams than words"
"""The part of `beam_search` where `topk(beams)` of a distribution is refused."""


def _beam_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{TREE}, 3 beams", (_step(_Lesson()), START, END, 3, 8))
        yield Case("the tree of the lesson, 2 beams", (_step(_Lesson()), START, END, 2, 8))
    for beams, vocabulary, longest, apart in (
        (2, 6, 6, ()),
        (3, 5, 5, ()),
        (2, 7, 5, (_longest_returned, _probabilities_added)),
        (3, 6, 6, (_searched, _two_continuations_each)),
    ):
        model = _worth_searching(generator, beams, vocabulary, longest, apart=apart)
        yield Case(f"{beams} beams, {vocabulary} words to choose from", (_step(model), START, END, beams, longest))
    model = _worth_searching(generator, 4, 5, 4, ids=(4, 0), apart=(_searched, partial(_searched, ids=_own_end)))
    yield Case("<s> and <e> have other ids", (_step(model), 4, 0, 4, 4))
    model = _worth_searching(generator, 3, 5, 4, never=END)
    yield Case("a model that never writes <e>", (_step(model), START, END, 3, 4))
    model = _worth_searching(generator, 6, 4, 4)
    yield Case("more beams than words", (_step(model), START, END, 6, 4), part=MANY_BEAMS)
    model = _drawn(generator, 6, _cut_at_once)
    yield Case("1 beam", (_step(model), START, END, 1, 6))
    longest = integer(generator, 55, 65)
    model = _drawn(generator, 30, lambda model: _beyond_a_float(model, longest), never=END, spread=0.5)
    yield Case("a sentence whose probability is too small for a float", (_step(model), START, END, 1, longest))


def _cut_at_once(model: _Model) -> bool:
    """Whether 1 beam finds another sentence where the first step keeps all words."""
    found = stepwise.beam_search(model, START, END, 1, 6)
    late = _searched(model, START, END, 1, 6, cut=lambda kept, beams: _cut(kept, 6 if len(kept[-1][1]) == 2 else beams))
    return len(found) > 2 and not torch.equal(found, late)


def _beyond_a_float(model: _Model, length: int) -> bool:
    """Whether 1 beam finds a sentence of so small a probability, with close choices that rounding does not decide."""
    words, total = [START], 0.0
    for _ in range(length):
        first, second = torch.log_softmax(model(torch.tensor(words)), dim=-1).topk(2).values.tolist()
        if first - second < 1e-3:
            return False
        words.append(int(model(torch.tensor(words)).argmax()))
        total += first
    coarse = _searched(model, START, END, 1, length, adds=lambda score, more, _length: round(score + more, 2))
    return total < -115 and coarse.tolist() != words[1:]


def _worth_searching(
    generator: Generator,
    beams: int,
    vocabulary: int,
    longest: int,
    never: int | None = None,
    apart: tuple[Callable[..., Tensor], ...] = (),
    ids: tuple[int, int] = (START, END),
) -> _Model:
    """A model with which greedy decoding loses, and all honest ways of counting finished sentences find the same.

    The searches in `apart` find different sentences.

    Some books let a finished sentence keep its place among the beams, others move it out and let another one live on.
    """

    def suits(model: _Model) -> bool:
        asked = (model, *ids, beams, longest)
        found = stepwise.beam_search(*asked)
        if len(found) < 2 or torch.equal(found, stepwise.greedy(model, *ids, longest)):
            return False
        if len({tuple(search(*asked).tolist()) for search in apart}) < len(apart):
            return False
        return all(torch.equal(found, answer(*asked)) for answer in correct.COUNTING_DIFFERENTLY)

    return _drawn(generator, vocabulary, suits, never)


_Kept = list[tuple[float, list[int]]]
"""Sentences with their scores."""


def _log_probabilities(logits: Tensor) -> Tensor:
    return torch.log_softmax(logits, dim=-1)


def _added(score: float, more: float, _length: int) -> float:
    return score + more


def _cut(candidates: _Kept, beams: int) -> _Kept:
    return sorted(candidates, reverse=True)[:beams]


def _the_first(kept: _Kept, _end: int) -> list[int]:
    return kept[0][1]


def _without_start(words: list[int], _end: int) -> list[int]:
    return words[1:]


def _never(_kept: _Kept, _end: int) -> bool:
    return False


def _searched(
    step: stepwise.Step,
    start_id: int,
    end_id: int,
    beams: int,
    max_length: int,
    *,
    ids: _Ids = _given_ids,
    sees: Callable[[list[int]], list[int]] = list,
    says: Callable[[Tensor], Tensor] = _log_probabilities,
    adds: Callable[[float, float, int], float] = _added,
    finished: str = "stay",
    cut: Callable[[_Kept, int], _Kept] = _cut,
    picks: Callable[[_Kept, int], list[int]] = _the_first,
    writes: Callable[[list[int], int], list[int]] = _without_start,
    until: Callable[[_Kept, int], bool] = _never,
    longer: int = 0,
) -> Tensor:
    """Beam search with something done differently.

    Args:
        ids: of <s> and <e>.
        sees: what the model is shown of the words so far.
        says: the score of each next word, from the logits.
        adds: the score of a sentence, from that of its beginning, of its last word, and its length.
        finished: what becomes of sentences that have their <e>: they "stay", "go on", or are "dropped".
        cut: which of the candidates live on.
        picks: one of those that live at the end.
        writes: what is returned of it.
        until: ends the search early.
        longer: how many words more than allowed.
    """
    start, end = ids(start_id, end_id)
    kept: _Kept = [(0.0, [start])]
    for length in range(1, max_length + longer + 1):
        going_on = [(score, words) for score, words in kept if words[-1] != end or finished == "go on"]
        candidates = [sentence for sentence in kept if sentence[1][-1] == end] if finished == "stay" else []
        for score, words in going_on:
            following = enumerate(says(step(torch.tensor(sees(words)))).tolist())
            candidates += [(adds(score, more, length), [*words, word]) for word, more in following]
        if not candidates:
            break
        kept = cut(candidates, beams)
        if until(kept, end):
            break
    return torch.tensor(writes(picks(kept, end), end), dtype=torch.long)


def _forgetting_the_finished(step: stepwise.Step, start_id: int, end_id: int, beams: int, max_length: int) -> Tensor:
    kept: _Kept = [(0.0, [start_id])]
    for _ in range(max_length):
        candidates = [
            (score + more, [*words, word])
            for score, words in kept
            for word, more in enumerate(_log_probabilities(step(torch.tensor(words))).tolist())
            if word != end_id
        ]
        kept = _cut(candidates, beams)
    return torch.tensor(kept[0][1][1:])


def _apart_from_the_start(step: stepwise.Step, start_id: int, end_id: int, beams: int, max_length: int) -> Tensor:
    """The `beams` most probable first words, each continued greedily by itself."""
    said = _log_probabilities(step(torch.tensor([start_id]))).tolist()
    first = _cut([(more, [start_id, word]) for word, more in enumerate(said)], beams)
    sentences: _Kept = []
    for score, words in first:
        while len(words) <= max_length and words[-1] != end_id:
            log_probabilities = _log_probabilities(step(torch.tensor(words))).tolist()
            best = max(range(len(log_probabilities)), key=log_probabilities.__getitem__)
            score, words = score + log_probabilities[best], [*words, best]
        sentences.append((score, words))
    return torch.tensor(max(sentences)[1][1:])


def _until_enough_are_finished(step: stepwise.Step, start_id: int, end_id: int, beams: int, max_length: int) -> Tensor:
    """What ends is set aside; with so many as there are beams, the search is over and the best of them found."""
    live: _Kept = [(0.0, [start_id])]
    done: _Kept = []
    for _ in range(max_length):
        candidates = [
            (score + more, [*words, word])
            for score, words in live
            for word, more in enumerate(_log_probabilities(step(torch.tensor(words))).tolist())
        ]
        best = _cut(candidates, 2 * beams)
        done += [sentence for sentence in best if sentence[1][-1] == end_id]
        live = [sentence for sentence in best if sentence[1][-1] != end_id][:beams]
        if len(done) >= beams or not live:
            break
    return torch.tensor(max(done or live)[1][1:])


def _of_each_its_own(candidates: _Kept, beams: int) -> _Kept:
    """The best `beams` behind each beginning: nothing is ever dropped among these."""
    beginnings = {tuple(words[:-1]) for _score, words in candidates}
    return sorted(
        (
            sentence
            for beginning in beginnings
            for sentence in _cut([c for c in candidates if tuple(c[1][:-1]) == beginning], beams)
        ),
        reverse=True,
    )


def _two_of_each(candidates: _Kept, beams: int) -> _Kept:
    """The best `beams` of the candidates, of which each beginning has two at most."""
    beginnings = {tuple(words[:-1]) for _score, words in candidates}
    two_each = [_cut([c for c in candidates if tuple(c[1][:-1]) == beginning], 2) for beginning in beginnings]
    return _cut([sentence for two in two_each for sentence in two], beams)


def _least(candidates: _Kept, beams: int) -> _Kept:
    return sorted(candidates)[:beams]


def _any_finished(kept: _Kept, end: int) -> bool:
    return any(words[-1] == end for _score, words in kept)


def _first_finished(kept: _Kept, end: int) -> list[int]:
    return next((words for _score, words in kept if words[-1] == end), kept[0][1])


def _best_by(kept: _Kept, divisor: Callable[[int], float]) -> list[int]:
    """The best of them by a score divided by something of the length."""
    return max(kept, key=lambda sentence: sentence[0] / divisor(len(sentence[1]) - 1))[1]


_two_continuations_each = partial(_searched, cut=_two_of_each)
_longest_returned = partial(_searched, picks=lambda kept, end: max((words for _score, words in kept), key=len))
_probabilities_added = partial(_searched, says=lambda logits: torch.softmax(logits, dim=-1))
_LEAST_PROBABLE = (
    "Your answer keeps the least probable candidates. Scores are negative, and the best is the one nearest to 0: sort "
    "in descending order."
)


BEAM_SEARCH = Exercise(
    id="decoding.beam_search",
    lesson=LESSON,
    name="beam_search",
    title="Beam search",
    statement=(
        "beam_search(step, start_id, end_id, beams, max_length) -> int64 [new]: the most probable of the sentences "
        "that a search finds which keeps the `beams` best at every step, finished ones among them."
    ),
    points=6,
    minutes=35,
    section="Several beginnings at once",
    source="Wu et al. (2016), section 7; Vaswani et al. (2017), section 6.1",
    reference=stepwise.beam_search,
    cases=_beam_cases,
    parts={CORE: 5, MANY_BEAMS: 1},
    correct=correct.BEAM_SEARCH,
    misconceptions=(
        Misconception(
            "greedy",
            "Your answer is what greedy decoding writes, however many beams it gets. Keep the `beams` best of all "
            "candidates at every step; and begin with <s> once, for copies of it would stay copies.",
            lambda step, start_id, end_id, beams, max_length: stepwise.greedy(step, start_id, end_id, max_length),
        ),
        Misconception(
            "logits_added",
            "Your answer adds up the logits. Those of different beginnings cannot be compared: take log_softmax of "
            "each step's logits first.",
            partial(_searched, says=torch.clone),
        ),
        Misconception(
            "probabilities_added",
            "Your answer adds the words' probabilities. A sentence's probability is their product: add their "
            "logarithms, by log_softmax.",
            _probabilities_added,
        ),
        Misconception(
            "last_word_only",
            "Your answer rates a sentence by its last word alone. Its score is the sum of the log-probabilities of all "
            "its words.",
            partial(_searched, adds=lambda score, more, length: more),
        ),
        Misconception(
            "mean_of_the_words",
            "Your answer rates a sentence by the mean over its words, which favours long ones. That comes in the next "
            "section: here the score is the sum.",
            partial(_searched, adds=lambda score, more, length: (score * (length - 1) + more) / length),
        ),
        Misconception(
            "only_the_last_word_read",
            "Your answer shows the model only the last word of a beginning. It knows nothing of the others then: give "
            "step all its words, <s> first.",
            partial(_searched, sees=lambda words: words[-1:]),
        ),
        Misconception(
            "each_by_itself",
            "Your answer keeps the best first words and continues each of them greedily by itself. At every step all "
            "candidates compete: one beginning may keep several continuations, and another none.",
            _apart_from_the_start,
        ),
        Misconception(
            "nothing_dropped",
            "Your answer keeps the best `beams` behind each beginning, so that there are more and more of them. Put "
            "all candidates in one list, and keep the `beams` best of that.",
            partial(_searched, cut=_of_each_its_own),
            alone=True,
        ),
        Misconception(
            "goes_on_behind_the_end",
            "Your answer lets sentences go on behind <e>. A finished sentence stays as it is, with the score that it "
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
            "finished_forgotten",
            "Your answer forgets the sentences that end, and returns one that does not. Keep a finished sentence among "
            "the candidates: it may be the best in the end.",
            _forgetting_the_finished,
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
            "still under way may be more probable: go on as long as it is, up to max_length words.",
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
            "Your answer begins with <s>. Return the new words only.",
            partial(_searched, writes=_as_they_are),
        ),
        Misconception(
            "end_left_out",
            "<e> is missing at the end of your answer. The model wrote it, as any other word: keep it.",
            partial(_searched, writes=lambda words, end: _without_end(words, end)[1:]),
        ),
        Misconception(
            "one_word_short",
            "Your answer may write one word less than max_length: <s> does not count.",
            partial(_searched, longer=-1),
        ),
        Misconception(
            "one_word_more",
            "Your answer may write one word more than max_length.",
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
            "At the end your answer returns the sentence whose words are the most probable on average. Return the one "
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
            "Your answer continues each sentence by its two best words only. With more beams the third may be among "
            "the best of all: look at every word, or at the best `beams`.",
            _two_continuations_each,
        ),
        Misconception(
            "stopped_at_the_first_end",
            "Your answer stops as soon as one sentence has its <e>. Others may still become the best: go on until "
            "every sentence that is kept has one, or max_length words.",
            partial(_searched, until=_any_finished),
            alone=True,
        ),
        Misconception("start_written_into_the_code", _START_ID, partial(_searched, ids=_own_start)),
        Misconception("end_written_into_the_code", _END_ID, partial(_searched, ids=_own_end)),
        Misconception("ids_written_into_the_code", _BOTH_IDS, partial(_searched, ids=_own_ids)),
    ),
    withheld=WITHHELD,
)


# decoding.length_penalised -------------------------------------------------------------------------------------


DOUBLE = "double precision"
"""The part of `length_penalised` where whole numbers, divided, are not precise enough."""


def _length_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        scores, lengths = torch.tensor([-3.2, -4.0]), torch.tensor([5, 10])
        yield Case("worked example: the short and the whole translation of the lesson", (scores, lengths, 0.6))
    for kind in kinds(generator):
        (sentences,) = kind.sizes(1)
        scores = -5 * kind.normal(sentences).abs() - 1
        lengths = torch.randint(1, 30, (*kind.leading, sentences), generator=generator)
        part = DOUBLE if kind.dtype == torch.float64 else CORE
        yield Case(kind.name, (scores, lengths, integer(generator, 3, 9) / 10), part=part)
    scores, lengths = torch.tensor([-2.0, -7.0, -11.0]), torch.randperm(20, generator=generator)[:3] + 2
    yield Case("alpha = 0: no penalty", (scores, lengths, 0.0))
    lengths = torch.tensor([3, 40, integer(generator, 130, 160)])
    yield Case("alpha above 1", (scores, lengths, integer(generator, 13, 18) / 10))


def _words(length: Tensor) -> Tensor:
    return length


def _five_more_by_six(length: Tensor) -> Tensor:
    return (5 + length) / 6


def _to_the_power(base: Tensor, alpha: float) -> Tensor:
    return base**alpha


def _penalised(
    log_probability: Tensor,
    length: Tensor,
    alpha: float,
    *,
    words: Callable[[Tensor], Tensor] = _words,
    base: Callable[[Tensor], Tensor] = _five_more_by_six,
    raised: Callable[[Tensor, float], Tensor] = _to_the_power,
    scored: Callable[[Tensor, Tensor], Tensor] = torch.div,
) -> Tensor:
    """The penalised score with something done differently.

    Args:
        words: how many there are.
        base: from the words, what is raised to a power.
        raised: the penalty, from its base and alpha.
        scored: the score, from log-probability and penalty.
    """
    return scored(log_probability, raised(base(words(length.to(log_probability.dtype))), alpha))


LENGTH_PENALISED = Exercise(
    id="decoding.length_penalised",
    lesson=LESSON,
    name="length_penalised",
    title="Length penalty",
    statement=(
        "length_penalised(log_probability [...], length int64 [...], alpha) -> [...]: each log-probability divided by "
        "((5 + length) / 6)^alpha, as precise as the log-probabilities are."
    ),
    points=2,
    minutes=8,
    section="Short sentences win",
    source="Wu et al. (2016), section 7, equation 14",
    reference=stepwise.length_penalised,
    cases=_length_cases,
    parts={CORE: 1, DOUBLE: 1},
    correct=correct.LENGTH_PENALISED,
    entrywise=True,
    misconceptions=(
        Misconception(
            "single_precision",
            "Your formula is right, but whole numbers divided by one another are of single precision in torch, and so "
            "is your penalty. Bring the lengths to the log-probabilities' dtype first: "
            "length.to(log_probability.dtype).",
            lambda log_probability, length, alpha: log_probability / ((5 + length) / 6) ** alpha,
            alone=True,
        ),
        Misconception(
            "multiplied",
            "Your answer multiplies by the penalty, which makes long sentences even worse. Divide by it: the scores "
            "are negative, and come nearer to 0.",
            partial(_penalised, scored=torch.mul),
        ),
        Misconception(
            "divided_by_the_length",
            "Your answer divides by length^alpha, which is another way of normalising. Here the divisor is "
            "((5 + length) / 6)^alpha, which is milder for short sentences.",
            partial(_penalised, base=_words),
        ),
        Misconception(
            "mean_of_the_words",
            "Your answer is the mean log-probability of a word. Divide by ((5 + length) / 6)^alpha instead.",
            lambda log_probability, length, alpha: log_probability / length,
        ),
        Misconception(
            "alpha_left_out",
            "Your answer divides by (5 + length) / 6 whatever alpha is. Raise that to the power alpha.",
            partial(_penalised, raised=lambda base, alpha: base),
            alone=True,
        ),
        Misconception(
            "alpha_of_the_paper",
            "Your answer raises to the power 0.6 whatever alpha is. Use the argument.",
            partial(_penalised, raised=lambda base, alpha: base**0.6),
        ),
        Misconception(
            "alpha_of_the_paper_for_0",
            "Where alpha is 0 your answer takes 0.6: to Python 0 counts as False in `alpha or 0.6`. With alpha = 0 "
            "nothing is penalised.",
            partial(_penalised, raised=lambda base, alpha: base ** (alpha or 0.6)),
        ),
        Misconception(
            "alpha_as_a_factor",
            "Your answer multiplies by alpha in the divisor. alpha is its exponent.",
            partial(_penalised, raised=lambda base, alpha: base * alpha),
        ),
        Misconception(
            "six_not_raised",
            "Your answer raises only 5 + length to the power alpha. The exponent belongs to the whole fraction, the 6 "
            "included.",
            partial(_penalised, raised=lambda base, alpha: (6 * base) ** alpha / 6),
        ),
        Misconception(
            "only_six_raised",
            "Your answer raises only the 6 to the power alpha, for ** binds more strongly than /. Put the whole "
            "fraction in parentheses: ((5 + length) / 6) ** alpha.",
            partial(_penalised, raised=lambda base, alpha: 6 * base / 6**alpha),
        ),
        Misconception(
            "divided_twice",
            "Your answer divides by 5 + length, and then by 6^alpha as well. Put the whole divisor in parentheses: "
            "((5 + length) / 6) ** alpha.",
            partial(_penalised, raised=lambda base, alpha: 6 * base * 6**alpha),
        ),
        Misconception(
            "score_raised",
            "Your answer raises the whole quotient to the power alpha, the log-probability included, and a negative "
            "number has no such power. Raise the divisor alone, then divide.",
            lambda log_probability, length, alpha: (log_probability / ((5 + length) / 6)) ** alpha,
        ),
        Misconception(
            "exponent_turned_over",
            "Your answer raises (5 + length) / 6 to the power 1 / alpha. The exponent is alpha.",
            lambda log_probability, length, alpha: log_probability / ((5 + length) / 6) ** (1 / alpha),
        ),
        Misconception(
            "whole_division",
            "Your answer divides 5 + length by 6 without remainder (//), so that sentences of different lengths share "
            "a penalty. Use /.",
            partial(_penalised, base=lambda words: (5 + words) // 6),
        ),
        Misconception(
            "only_the_length_divided",
            "Your answer divides only the length by 6, for / binds more strongly than +. Put the sum in parentheses: "
            "(5 + length) / 6.",
            partial(_penalised, base=lambda words: 5 + words / 6),
        ),
        Misconception(
            "divided_by_five",
            "Your answer divides 5 + length by 5. Divide it by 6.",
            partial(_penalised, base=lambda words: (5 + words) / 5),
        ),
        Misconception(
            "five_left_out",
            "Your answer leaves out the 5: the divisor is ((5 + length) / 6)^alpha.",
            partial(_penalised, base=lambda words: words / 6),
        ),
        Misconception(
            "end_not_counted",
            "Your answer counts one word less than `length`, which is right as it comes: <e> is a word like any other.",
            partial(_penalised, words=lambda length: length - 1),
        ),
        Misconception(
            "end_counted_twice",
            "Your answer counts one word more than `length`, in which <e> is included already.",
            partial(_penalised, words=lambda length: length + 1),
        ),
        Misconception(
            "longest_for_all",
            "Your answer takes the length of the longest sentence for all. Each is divided by a penalty of its own.",
            partial(_penalised, words=torch.max),
        ),
        Misconception(
            "number_of_sentences",
            "Your answer takes the number of sentences for their length. How long each is, `length` says.",
            partial(_penalised, words=lambda length: length.new_tensor(length.numel())),
        ),
        Misconception(
            "subtracted",
            "Your answer subtracts the penalty. The log-probability is divided by it.",
            partial(_penalised, scored=torch.sub),
        ),
        Misconception(
            "divided_inside_the_logarithm",
            "Your answer divides the probability, and takes the logarithm afterwards. The log-probability itself is "
            "divided.",
            partial(_penalised, scored=lambda log_probability, penalty: log_probability - penalty.log()),
        ),
        Misconception(
            "penalty_returned",
            "Your answer is the penalty itself. Divide the log-probabilities by it.",
            partial(_penalised, scored=lambda log_probability, penalty: penalty + 0 * log_probability),
        ),
        Misconception(
            "not_penalised",
            "Your answer is the log-probability as it came. Divide it by the penalty.",
            partial(_penalised, scored=lambda log_probability, penalty: log_probability.clone()),
            alone=True,
        ),
    ),
    withheld=WITHHELD,
)


# decoding.with_temperature -------------------------------------------------------------------------------------


NEAR_0 = "near 0"
"""The part of `with_temperature` where what is computed on the way may be too large or too small for a float."""


def _temperature_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{BEHIND}, temperature 0.5", (BEHIND_DIE_KATZE.log(), 0.5))
        yield Case("the ten words of the lesson, temperature 2", (BEHIND_DIE_KATZE.log(), 2.0))
        yield Case("the ten words of the lesson, temperature 0.02", (BEHIND_DIE_KATZE.log(), 0.02), part=NEAR_0)
    for kind, temperature in zip(kinds(generator), (0.7, 1.5, 0.4, 2.5, 1.0), strict=True):
        (vocabulary,) = kind.sizes(1)
        several = (3,) if kind.transposed else ()
        yield Case(f"{kind.name}, temperature {temperature:g}", (2 * kind.normal(*several, vocabulary), temperature))
    (vocabulary,) = sizes(generator, 1)
    logits = 20 * torch.randn(2, vocabulary, generator=generator)
    logits[0, 0], logits[1, 1] = 80.0, -80.0
    yield Case("a temperature near 0", (logits, 0.02), part=NEAR_0)
    order = torch.stack([torch.randperm(8, generator=generator) for _ in range(2)])
    yield Case("a temperature near 0, and logits that differ by little", (0.02 * order, 0.015), part=NEAR_0)


def _softmax(divided: Tensor, dim: int) -> Tensor:
    return torch.softmax(divided, dim=dim)


def _tempered(
    logits: Tensor,
    temperature: float,
    *,
    divided: Callable[[Tensor, float], Tensor] = torch.div,
    normalised: Callable[[Tensor, int], Tensor] = _softmax,
    dim: int = -1,
) -> Tensor:
    """Probabilities at a temperature, with something done differently.

    Args:
        divided: the logits, by the temperature.
        normalised: what is made of that, along a dimension.
        dim: this dimension.
    """
    return normalised(divided(logits, temperature), dim)


def _exp_of_all(divided: Tensor, dim: int) -> Tensor:
    powers = torch.exp(divided)
    return powers / powers.sum(dim=dim, keepdim=True)


def _less_the_largest_of_all(divided: Tensor, dim: int) -> Tensor:
    return _exp_of_all(divided - divided.max(), dim)


def _on_the_best(logits: Tensor) -> Tensor:
    return (logits == logits.amax(dim=-1, keepdim=True)).to(logits.dtype)


def _normalised_powers(logits: Tensor, temperature: float) -> Tensor:
    powers = torch.softmax(logits, dim=-1) ** (1 / temperature)
    return powers / powers.sum(dim=-1, keepdim=True)


WITH_TEMPERATURE = Exercise(
    id="decoding.with_temperature",
    lesson=LESSON,
    name="with_temperature",
    title="Temperature",
    statement=(
        "with_temperature(logits [..., vocabulary], temperature) -> [..., vocabulary]: probabilities, "
        "softmax(logits / temperature); the temperature is at least 0.01."
    ),
    points=2,
    minutes=6,
    section="Temperature",
    source="Ackley, Hinton and Sejnowski (1985); Holtzman et al. (2020)",
    reference=stepwise.with_temperature,
    cases=_temperature_cases,
    parts={CORE: 1, NEAR_0: 1},
    correct=correct.WITH_TEMPERATURE,
    misconceptions=(
        Misconception(
            "exp_overflows",
            "Your answer is right where exp does not overflow. Near temperature 0 the quotients are large: subtract "
            "the largest logit first, or use torch.softmax, which does.",
            partial(_tempered, normalised=_exp_of_all),
            alone=True,
        ),
        Misconception(
            "one_largest_for_all",
            "Your answer subtracts one number, the largest of all rows, everywhere. Near temperature 0 every exp of a "
            "row that lies far below it becomes 0, and 0 / 0 is NaN: subtract each row's own largest.",
            partial(_tempered, normalised=_less_the_largest_of_all),
            alone=True,
        ),
        Misconception(
            "powers_vanish",
            "Your answer is right where the powers of the probabilities are not too small for a float. Near "
            "temperature 0 all of them may be rounded to 0, and 0 / 0 is NaN: take softmax(logits / temperature).",
            _normalised_powers,
        ),
        Misconception(
            "all_on_the_best_near_0",
            "At a low temperature your answer gives all the probability to the best word. Where others are nearly as "
            "good they keep some: use the formula at every temperature.",
            lambda logits, temperature: (
                _on_the_best(logits) if temperature < 0.1 else torch.softmax(logits / temperature, dim=-1)
            ),
        ),
        Misconception(
            "multiplied",
            "Your answer flattens where it should sharpen, and the other way round: it multiplies the logits by the "
            "temperature, in effect. Divide them.",
            partial(_tempered, divided=torch.mul),
        ),
        Misconception(
            "ignored",
            "Your answer is the softmax of the logits, and the temperature has no effect. (Subtracting a constant from "
            "all logits changes nothing, nor does dividing all probabilities before they are normalised.) Divide the "
            "logits by it.",
            partial(_tempered, divided=lambda logits, temperature: logits),
        ),
        Misconception(
            "probabilities_divided",
            "Your answer divides the probabilities by the temperature, so that they no longer sum to 1. Divide the "
            "logits, before the softmax.",
            lambda logits, temperature: torch.softmax(logits, dim=-1) / temperature,
        ),
        Misconception(
            "logarithms_divided",
            "Your answer is log-probabilities, divided by the temperature. Divide the logits, and take their softmax "
            "afterwards.",
            lambda logits, temperature: torch.log_softmax(logits, dim=-1) / temperature,
        ),
        Misconception(
            "softmax_twice",
            "Your answer takes the softmax of probabilities. Divide the logits themselves by the temperature.",
            partial(_tempered, divided=lambda logits, temperature: torch.softmax(logits, dim=-1) / temperature),
            alone=True,
        ),
        Misconception(
            "powers_not_normalised",
            "Your answer raises the probabilities to the power 1 / temperature, which is a good way, but then they no "
            "longer sum to 1. Divide them by their sum.",
            lambda logits, temperature: torch.softmax(logits, dim=-1) ** (1 / temperature),
        ),
        Misconception(
            "exp_not_normalised",
            "Your answer is exp of the quotients. Divide by their sum, so that they are probabilities.",
            partial(_tempered, normalised=lambda divided, dim: divided.exp()),
        ),
        Misconception(
            "logits_returned",
            "Your answer is logits still. Their softmax is to be taken.",
            partial(_tempered, normalised=lambda divided, dim: divided.clone()),
        ),
        Misconception(
            "logarithms",
            "Your answer is the logarithms of the probabilities. Use softmax in place of log_softmax.",
            partial(_tempered, normalised=lambda divided, dim: torch.log_softmax(divided, dim=dim)),
        ),
        Misconception(
            "first_dimension",
            "Your answer takes the softmax over the first dimension, which is the batch where there is one. The "
            "vocabulary is the last: dim=-1.",
            partial(_tempered, dim=0),
        ),
        Misconception(
            "everything_normalised_together",
            "Your answer takes one softmax of all rows together, so that all of them sum to 1. Each row does so by "
            "itself: dim=-1.",
            partial(_tempered, normalised=lambda divided, dim: divided.flatten().softmax(0).view(divided.shape)),
        ),
        Misconception(
            "root_of_the_temperature",
            "Your answer divides the logits by the root of the temperature. Divide them by the temperature itself.",
            partial(_tempered, divided=lambda logits, temperature: logits / math.sqrt(temperature)),
        ),
        Misconception(
            "sign_turned",
            "Your answer prefers the words with the smallest logits: it has a minus too many (softmin has one inside).",
            partial(_tempered, divided=lambda logits, temperature: -logits / temperature),
        ),
        Misconception(
            "whole_division",
            "Your answer divides without remainder (//), so that different logits become the same. Use /.",
            partial(_tempered, divided=torch.floor_divide),
        ),
        Misconception(
            "most_probable_word",
            "Your answer gives all the probability to the most probable word, at every temperature. Only near "
            "temperature 0 it comes to that.",
            lambda logits, temperature: _on_the_best(logits),
        ),
    ),
    withheld=WITHHELD,
)


# decoding.top_k ------------------------------------------------------------------------------------------------


def _distributions(generator: Generator, words: int) -> Iterator[tuple[str, Tensor]]:
    """A distribution over about so many words, of each kind; no two words are equally probable."""
    for place, kind in enumerate(kinds(generator)):
        several = (3,) if kind.transposed else ()
        yield kind.name, torch.softmax(1.5 * kind.normal(*several, words + place), dim=-1)


def _top_k_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{BEHIND}, k = 3", (BEHIND_DIE_KATZE, 3))
    for name, probabilities in _distributions(generator, 6):
        yield Case(name, (probabilities, integer(generator, 2, 5)))
    probabilities = torch.softmax(torch.randn(2, 7, generator=generator), dim=-1)
    yield Case("k = 1", (probabilities, 1))
    yield Case("k = all of them", (probabilities, 7))
    larger = integer(generator, 8, 60)
    yield Case(f"7 words, k = {larger}", (probabilities, larger), part="k beyond the vocabulary")


_Keep = Callable[[Tensor, float], Tensor]
"""From probabilities and k, or p, to True at the words that stay."""


def _over_the_sum(kept: Tensor, _stay: Tensor) -> Tensor:
    return kept / kept.sum(dim=-1, keepdim=True)


def _in_place(restricted: Tensor, _probabilities: Tensor, _stay: Tensor) -> Tensor:
    return restricted


def _sorted(restricted: Tensor, _probabilities: Tensor, _stay: Tensor) -> Tensor:
    return restricted.sort(dim=-1, descending=True).values


def _only_k(restricted: Tensor, _probabilities: Tensor, stay: Tensor) -> Tensor:
    most = int(stay.sum(dim=-1).max()) if stay.numel() else 0
    return restricted.sort(dim=-1, descending=True).values[..., :most]


def _gathered(restricted: Tensor, probabilities: Tensor, _stay: Tensor) -> Tensor:
    ordered, places = restricted.sort(dim=-1, descending=True).values, probabilities.argsort(dim=-1, descending=True)
    return ordered.gather(-1, places)


def _restricted(
    probabilities: Tensor,
    limit: float,
    *,
    keep: _Keep,
    divided: Callable[[Tensor, Tensor], Tensor] = _over_the_sum,
    laid_out: Callable[[Tensor, Tensor, Tensor], Tensor] = _in_place,
) -> Tensor:
    """What is left of a distribution.

    Args:
        keep: which words stay.
        divided: their probabilities, from those that they had.
        laid_out: where these are put.
    """
    stay = keep(probabilities, limit)
    return laid_out(divided(probabilities * stay, stay), probabilities, stay)


_DIVISIONS: tuple[tuple[str, str, Callable[[Tensor, Tensor], Tensor]], ...] = (
    (
        "not_normalised",
        "The probabilities in your answer no longer sum to 1. Divide those that stay by their sum.",
        lambda kept, stay: kept,
    ),
    (
        "softmax_of_zeros",
        "Your answer sets the others to 0 and takes the softmax, but exp(0) is 1: the dropped words come back. "
        "Divide the kept probabilities by their sum.",
        lambda kept, stay: torch.softmax(kept, dim=-1),
    ),
    (
        "softmax_of_probabilities",
        "Your answer takes a softmax of the probabilities that stay, which makes them nearly equal. Divide them by "
        "their sum: their proportions stay.",
        lambda kept, stay: torch.softmax(kept.masked_fill(~stay, -math.inf), dim=-1),
    ),
    (
        "all_equal",
        "Your answer gives the same probability to all words that stay. They keep their proportions: divide by "
        "their sum.",
        lambda kept, stay: stay / stay.sum(dim=-1, keepdim=True).to(kept.dtype),
    ),
    (
        "rest_in_equal_shares",
        "Your answer shares what the dropped words had equally among those that stay. These keep their "
        "proportions: divide by their sum.",
        lambda kept, stay: (
            kept + stay * (1 - kept.sum(dim=-1, keepdim=True)) / stay.sum(dim=-1, keepdim=True).to(kept.dtype)
        ),
    ),
    (
        "rest_to_the_best",
        "Your answer gives what the dropped words had to the best one. All that stay keep their proportions: "
        "divide by their sum.",
        lambda kept, stay: kept + _is_largest(kept) * (1 - kept.sum(dim=-1, keepdim=True)),
    ),
    (
        "small_number_added",
        "Your answer adds a small number, 1e-8, to the sum that it divides by, so that the result no longer sums "
        "to 1. There is no 0 to be afraid of: the most probable word is always kept.",
        lambda kept, stay: kept / (kept.sum(dim=-1, keepdim=True) + 1e-8),
    ),
    (
        "one_sum_for_all_rows",
        "Your answer divides by the sum of all rows together. Each row has its own: .sum(dim=-1, keepdim=True).",
        lambda kept, stay: kept / kept.sum(),
    ),
    (
        "sum_over_the_first_dimension",
        "Your answer sums over the first dimension, which is the batch where there is one. The words of a row are "
        "the last: .sum(dim=-1, keepdim=True).",
        lambda kept, stay: kept / kept.sum(dim=0, keepdim=True),
    ),
)
"""What may go wrong where the words that stay are given their probabilities: id, message, what is done."""


def _is_largest(values: Tensor) -> Tensor:
    return values == values.amax(dim=-1, keepdim=True)


def _among_the_first(probabilities: Tensor, k: float, *, descending: bool = True, dim: int = -1) -> Tensor:
    """True at the k most probable words; at the least probable, where the order is turned."""
    ranks = probabilities.argsort(dim=dim, descending=descending).argsort(dim=dim)
    return ranks < k


def _first_of_the_vocabulary(probabilities: Tensor, k: float) -> Tensor:
    return (torch.arange(probabilities.shape[-1]) < k).expand_as(probabilities)


def _all_rows_alike(keep: _Keep) -> _Keep:
    """Apply to the first row what holds for it, and to all others the same."""
    return lambda probabilities, limit: keep(probabilities.reshape(-1, probabilities.shape[-1])[0], limit).expand_as(
        probabilities
    )


def _above_the_first_rows_least(probabilities: Tensor, k: float) -> Tensor:
    first = probabilities.reshape(-1, probabilities.shape[-1])[0]
    return probabilities >= first[_among_the_first(first, k)].min()


def _of_all_rows(probabilities: Tensor, k: float) -> Tensor:
    return _among_the_first(probabilities.flatten(), k).view(probabilities.shape)


def _topped(probabilities: Tensor, k: int, *, keep: _Keep = _among_the_first, **rest: Callable[..., Tensor]) -> Tensor:
    """Top-k with something done differently."""
    return _restricted(probabilities, k, keep=keep, **rest)


TOP_K = Exercise(
    id="decoding.top_k",
    lesson=LESSON,
    name="top_k",
    title="Top-k",
    statement=(
        "top_k(probabilities [..., vocabulary], k) -> [..., vocabulary]: 0 but for the k most probable words, whose "
        "probabilities are divided by their sum; all words where k is larger than the vocabulary."
    ),
    points=3,
    minutes=10,
    section="Only the k most probable words",
    source="Fan et al. (2018); Holtzman et al. (2020)",
    reference=stepwise.top_k,
    cases=_top_k_cases,
    parts={CORE: 2, "k beyond the vocabulary": 1},
    correct=correct.TOP_K,
    misconceptions=(
        *(Misconception(name, told, partial(_topped, divided=divided)) for name, told, divided in _DIVISIONS),
        Misconception(
            "least_probable",
            "Your answer keeps the k least probable words. Sort in descending order, or use torch.topk.",
            partial(_topped, keep=partial(_among_the_first, descending=False)),
        ),
        Misconception(
            "first_in_the_vocabulary",
            "Your answer keeps the first k words of the vocabulary. Keep the k most probable ones, wherever they "
            "stand.",
            partial(_topped, keep=_first_of_the_vocabulary),
        ),
        Misconception(
            "one_too_few",
            "Your answer keeps one word less than k. The k-th most probable stays as well: compare with >=, not >.",
            partial(_topped, keep=lambda probabilities, k: _among_the_first(probabilities, k - 1)),
        ),
        Misconception(
            "one_too_many",
            "Your answer keeps one word more than k.",
            partial(_topped, keep=lambda probabilities, k: _among_the_first(probabilities, k + 1)),
        ),
        Misconception(
            "only_the_best",
            "Your answer keeps only the best word, for every k. Of what topk returns, the smallest value is the last: "
            "[..., -1:].",
            partial(_topped, keep=lambda probabilities, k: _is_largest(probabilities)),
        ),
        Misconception(
            "at_least_one_kth",
            "Your answer keeps the words that have a probability of 1 / k or more, however many these are. Keep the k "
            "most probable ones.",
            partial(_topped, keep=lambda probabilities, k: probabilities >= 1 / k),
        ),
        Misconception(
            "all_but_one_at_most",
            "Where k is as large as the vocabulary or larger, your answer loses the least probable word. All stay: "
            "min(k, probabilities.shape[-1]).",
            partial(
                _topped,
                keep=lambda probabilities, k: _among_the_first(probabilities, min(k, probabilities.shape[-1] - 1)),
            ),
        ),
        Misconception(
            "along_the_first_dimension",
            "Your answer takes the most probable ones along the first dimension, which is the batch where there is "
            "one. The vocabulary is the last: dim=-1.",
            partial(_topped, keep=partial(_among_the_first, dim=0)),
        ),
        Misconception(
            "one_choice_for_all_rows",
            "Your answer keeps for every row the words that are most probable in the first. Each row has its own.",
            partial(_topped, keep=_all_rows_alike(_among_the_first)),
        ),
        Misconception(
            "one_limit_for_all_rows",
            "Your answer compares all rows with the smallest probability that stays in the first. Each row has its "
            "own: .values[..., -1:].",
            partial(_topped, keep=_above_the_first_rows_least),
        ),
        Misconception(
            "k_of_all_rows_together",
            "Your answer keeps the k most probable words of all rows together. Each row has its own: topk(k, dim=-1), "
            "without flatten.",
            partial(_topped, keep=_of_all_rows),
        ),
        Misconception(
            "sorted_order",
            "Your answer is sorted: word 0 gets the probability of the most probable word, whichever that was. Each "
            "word keeps its place.",
            partial(_topped, laid_out=_sorted),
        ),
        Misconception(
            "only_k_numbers",
            "Your answer has only the k kept probabilities. Return one for every word of the vocabulary, 0 for the "
            "others, so that it is known which is which.",
            partial(_topped, laid_out=_only_k),
        ),
        Misconception(
            "nothing_dropped",
            "Your answer is the distribution as it came. Set all but the k most probable words to 0.",
            lambda probabilities, k: probabilities.clone(),
        ),
    ),
    withheld=WITHHELD,
)


# decoding.nucleus ----------------------------------------------------------------------------------------------


EDGE = "p reached exactly, or not quite"
"""The part of `nucleus` where the mass may be p without a word more, or miss 1 by rounding."""


def _nucleus_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{BEHIND}, p = 0.75", (BEHIND_DIE_KATZE, 0.75))
    for name, probabilities in _distributions(generator, 6):
        yield Case(name, (probabilities, _clear_of(probabilities, generator)))
    flat = torch.softmax(0.3 * torch.randn(9, generator=generator), dim=-1)
    yield Case("nearly equal words", (flat, _clear_of(flat, generator)))
    sharp = torch.softmax(torch.randn(2, 7, generator=generator), dim=-1) * 0.2
    sharp[0, 4] += 0.8
    sharp[1, 2] += 0.8
    yield Case("one word has more than p", (sharp, 0.6))
    nearly = torch.softmax(torch.randn(2, 6, generator=generator), dim=-1) * (1 - 2**-20)
    yield Case("p = 1, which the sum may miss by rounding", (nearly, 1.0), part=EDGE)
    exact = torch.tensor([0.5, 0.25, 0.125, 0.09375, 0.03125])  # no sum of these is rounded
    exact = torch.stack([exact[torch.randperm(5, generator=generator)] for _ in range(2)])
    yield Case("two words sum to p exactly", (exact, 0.75), part=EDGE)


def _clear_of(probabilities: Tensor, generator: Generator) -> float:
    """A mass that no sum of the most probable words is near, so that rounding decides nothing."""
    sums = probabilities.sort(dim=-1, descending=True).values.cumsum(dim=-1)
    while True:
        p = integer(generator, 45, 93) / 100
        if float((sums - p).abs().min()) > 0.004:
            return p


def _nucleus_of(
    probabilities: Tensor,
    p: float,
    *,
    descending: bool = True,
    crossing: bool = True,
    reached: bool = True,
    dim: int = -1,
) -> Tensor:
    """True at the words of the nucleus.

    Args:
        descending: from the most probable word on.
        crossing: whether the word that crosses p belongs to them.
        reached: whether p is enough, or must be exceeded.
        dim: of the words.
    """
    ordered, places = probabilities.sort(dim=dim, descending=descending)
    mass = ordered.cumsum(dim=dim)
    mass = mass - ordered if crossing else mass
    return torch.zeros_like(mass, dtype=torch.bool).scatter(dim, places, mass < p if reached else mass <= p)


def _count(probabilities: Tensor, p: float) -> Tensor:
    return _nucleus_of(probabilities, p).sum(dim=-1, keepdim=True)


def _so_many(probabilities: Tensor, count: Tensor | float) -> Tensor:
    return probabilities.argsort(dim=-1, descending=True).argsort(dim=-1) < count


def _and_the_best(keep: _Keep) -> _Keep:
    return lambda probabilities, p: keep(probabilities, p) | _is_largest(probabilities)


def _first_so_many(probabilities: Tensor, p: float) -> Tensor:
    return torch.arange(probabilities.shape[-1]) < _count(probabilities, p)


def _to_the_first_true(probabilities: Tensor, p: float) -> Tensor:
    """Up to the word that argmax finds to cross p; where none does that is the first."""
    ordered = probabilities.sort(dim=-1, descending=True).values
    return _so_many(probabilities, (ordered.cumsum(dim=-1) >= p).int().argmax(dim=-1, keepdim=True) + 1)


def _share(rounded: Callable[[float], int]) -> _Keep:
    """A share p of all words, the most probable ones."""
    return lambda probabilities, p: _so_many(probabilities, max(1, rounded(p * probabilities.shape[-1])))


_SHARE_OF_THE_VOCABULARY = (
    "Your answer keeps a share p of all words, however probable they are. It is their mass that counts: add the "
    "probabilities up until the sum is p."
)


def _nucleated(probabilities: Tensor, p: float, *, keep: _Keep = _nucleus_of, **rest: Callable[..., Tensor]) -> Tensor:
    """The nucleus with something done differently."""
    return _restricted(probabilities, p, keep=keep, **rest)


NUCLEUS = Exercise(
    id="decoding.nucleus",
    lesson=LESSON,
    name="nucleus",
    title="Nucleus",
    statement=(
        "nucleus(probabilities [..., vocabulary], p) -> [..., vocabulary]: 0 but for the fewest most probable words "
        "whose probabilities sum to at least p, and these divided by their sum."
    ),
    points=3,
    minutes=18,
    section="The nucleus",
    source="Holtzman et al. (2020)",
    reference=stepwise.nucleus,
    cases=_nucleus_cases,
    parts={CORE: 2, EDGE: 1},
    correct=correct.NUCLEUS,
    misconceptions=(
        Misconception(
            "stops_below_p",
            "Your answer leaves out the word with which the sum reaches p, and keeps nothing where one word alone has "
            "that much. It belongs to the nucleus: look at the sum of the words *before* each.",
            partial(_nucleated, keep=partial(_nucleus_of, crossing=False)),
        ),
        Misconception(
            "stops_below_p_but_keeps_one",
            "Your answer leaves out the word with which the sum reaches p, though it always keeps one word. It belongs "
            "to the nucleus: look at the sum of the words *before* each.",
            partial(_nucleated, keep=_and_the_best(partial(_nucleus_of, crossing=False))),
        ),
        Misconception(
            "one_too_many",
            "Your answer keeps one word more than the nucleus: the sum has reached p before it.",
            partial(_nucleated, keep=lambda probabilities, p: _so_many(probabilities, _count(probabilities, p) + 1)),
        ),
        Misconception(
            "one_too_many_at_p",
            "Where words sum to exactly p, your answer keeps one more. These are enough, for at least p is asked for: "
            "a word stays if the sum before it is < p, not <=.",
            partial(_nucleated, keep=partial(_nucleus_of, reached=False)),
        ),
        Misconception(
            "two_at_least",
            "Your answer keeps two words at least. Where the best alone has p, it is the nucleus.",
            partial(
                _nucleated,
                keep=lambda probabilities, p: _so_many(probabilities, _count(probabilities, p).clamp(min=2)),
            ),
        ),
        Misconception(
            "none_reaches_1",
            "With p = 1 your answer keeps only the best word. All words stay, even if their sum, by rounding, is less "
            "than 1. (Where no sum reaches p, argmax of nothing but False is 0.)",
            partial(_nucleated, keep=_to_the_first_true),
        ),
        Misconception(
            "not_sorted",
            "Your answer adds the probabilities up in the order of the vocabulary. Begin with the most probable word: "
            "sort first.",
            partial(_nucleated, keep=lambda probabilities, p: probabilities.cumsum(dim=-1) - probabilities < p),
        ),
        Misconception(
            "least_probable_first",
            "Your answer begins with the least probable words. Sort in descending order.",
            partial(_nucleated, keep=partial(_nucleus_of, descending=False)),
        ),
        Misconception(
            "sorted_order",
            "Your answer is sorted: word 0 gets the probability of the most probable word, whichever that was. Put "
            "each back where its word stands: scatter, or argsort once more.",
            partial(_nucleated, laid_out=_sorted),
        ),
        Misconception(
            "gathered",
            "Your answer does not put the numbers back in their places: gather (or indexing with the places) applies "
            "the order of sorting once more. scatter undoes it.",
            partial(_nucleated, laid_out=_gathered),
        ),
        Misconception(
            "first_in_the_vocabulary",
            "Your answer keeps so many words as the nucleus has, but the first ones of the vocabulary: what is known "
            "of the sorted order must go back to it, by scatter, before it meets the probabilities.",
            partial(_nucleated, keep=_first_so_many),
        ),
        Misconception(
            "threshold",
            "Your answer keeps the words that have a probability of p by themselves. Add the probabilities up, from "
            "the most probable on, until the sum is p.",
            partial(_nucleated, keep=lambda probabilities, p: probabilities >= p),
        ),
        Misconception(
            "threshold_of_the_rest",
            "Your answer keeps the words that have a probability of 1 - p by themselves. Add the probabilities up, "
            "from the most probable on, until the sum is p.",
            partial(_nucleated, keep=_and_the_best(lambda probabilities, p: probabilities >= 1 - p)),
        ),
        Misconception(
            "share_of_the_best",
            "Your answer keeps the words that are at least p times as probable as the best one, which is another "
            "method (min-p). Add the probabilities up, from the most probable on, until the sum is p.",
            partial(
                _nucleated,
                keep=lambda probabilities, p: probabilities >= p * probabilities.amax(dim=-1, keepdim=True),
            ),
        ),
        Misconception("share_of_the_vocabulary", _SHARE_OF_THE_VOCABULARY, partial(_nucleated, keep=_share(round))),
        Misconception("share_rounded_up", _SHARE_OF_THE_VOCABULARY, partial(_nucleated, keep=_share(math.ceil))),
        *(Misconception(name, told, partial(_nucleated, divided=divided)) for name, told, divided in _DIVISIONS),
        Misconception(
            "divided_by_p",
            "Your answer divides by p. The words that stay may have more than that: divide by their sum.",
            lambda probabilities, p: probabilities * _nucleus_of(probabilities, p) / p,
        ),
        Misconception(
            "one_choice_for_all_rows",
            "Your answer keeps for every row the nucleus of the first. Each row has its own.",
            partial(_nucleated, keep=_all_rows_alike(_nucleus_of)),
        ),
        Misconception(
            "one_number_for_all_rows",
            "Your answer keeps as many words of every row as the nucleus of the first row has. Each row has its own "
            "number.",
            partial(
                _nucleated,
                keep=lambda probabilities, p: _so_many(probabilities, int(_count(probabilities, p).flatten()[0])),
            ),
        ),
        Misconception(
            "along_the_first_dimension",
            "Your answer sorts and sums along the first dimension, which is the batch where there is one. The "
            "vocabulary is the last: dim=-1 everywhere.",
            partial(_nucleated, keep=partial(_nucleus_of, dim=0), divided=_DIVISIONS[-1][2]),
            alone=True,
        ),
        Misconception(
            "nothing_dropped",
            "Your answer is the distribution as it came. Set the words outside of the nucleus to 0.",
            lambda probabilities, p: probabilities.clone(),
        ),
    ),
    withheld=WITHHELD,
)


# decoding.cached_attention -------------------------------------------------------------------------------------


def _cache_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        x, unit = B.q, torch.eye(2)
        yield Case(f"{B.name}: tanzte, with <s> die Katze in the cache", (x[3:], x[:3], x[:3], unit, unit, unit))
    for kind in kinds(generator):
        words, d_model = kind.sizes(2)
        d_head = kind.d_head()
        yield Case(kind.name, _cache_case(kind.normal, generator, words, d_model, d_head, kind.dtype))
    (d_model,) = sizes(generator, 1)

    def normal(*shape: int) -> Tensor:
        return torch.randn(2, *shape, generator=generator)

    yield Case("the first word: nothing in the cache", _cache_case(normal, generator, 0, d_model, 10, torch.float32))


def _cache_case(
    normal: Callable[..., Tensor], generator: Generator, words: int, d_model: int, d_head: int, dtype: torch.dtype
) -> tuple[Tensor, ...]:
    projections = torch.randn(3, d_model, d_head, generator=generator, dtype=dtype) / math.sqrt(d_model)
    return (normal(1, d_model), normal(words, d_head), normal(words, d_head), *projections)


_Three = tuple[Tensor, Tensor, Tensor]


def _projected(x: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> _Three:
    return x @ W_q, x @ W_k, x @ W_v


def _behind(before: Tensor, new: Tensor) -> Tensor:
    return torch.cat([before, new], dim=-2)


def _in_front(before: Tensor, new: Tensor) -> Tensor:
    return torch.cat([new, before], dim=-2)


def _all_of_it(_before: Tensor, _new: Tensor, joined: Tensor) -> Tensor:
    return joined


def _root_of_d_head(_x: Tensor, joined: Tensor) -> float:
    return math.sqrt(joined.shape[-1])


def _weights(scaled: Tensor) -> Tensor:
    return torch.softmax(scaled, dim=-1)


def _out_and_cache(out: Tensor, keys: Tensor, values: Tensor) -> _Three:
    return out, keys, values


def _one_step(
    x: Tensor,
    keys: Tensor,
    values: Tensor,
    W_q: Tensor,
    W_k: Tensor,
    W_v: Tensor,
    *,
    projected: Callable[[Tensor, Tensor, Tensor, Tensor], _Three] = _projected,
    join: Callable[[Tensor, Tensor], Tensor] = _behind,
    seen: Callable[[Tensor, Tensor, Tensor], Tensor] = _all_of_it,
    scale: Callable[[Tensor, Tensor], float] = _root_of_d_head,
    weights: Callable[[Tensor], Tensor] = _weights,
    averaged: str = "values",
    stored: Callable[[Tensor, Tensor, Tensor], Tensor] = _all_of_it,
    returned: Callable[[Tensor, Tensor, Tensor], tuple[Tensor, ...]] = _out_and_cache,
) -> tuple[Tensor, ...]:
    """One step with a cache, and something done differently.

    Args:
        projected: query, key and value of the newest word.
        join: puts its key, or value, to those before.
        seen: of those before, the new one and both together, what is attended to.
        scale: what the scores are divided by, from the word and the keys.
        weights: alpha, from the scaled scores.
        averaged: the "values" or the "keys".
        stored: of those before, the new one and both together, what is returned.
        returned: what is returned of the output and the cache.
    """
    q, k, v = projected(x, W_q, W_k, W_v)
    all_k, all_v = join(keys, k), join(values, v)
    seen_k, seen_v = seen(keys, k, all_k), seen(values, v, all_v)
    alpha = weights(q @ seen_k.mT / scale(x, seen_k))
    out = alpha @ (seen_v if averaged == "values" else seen_k)
    return returned(out, stored(keys, k, all_k).clone(), stored(values, v, all_v).clone())


def _query_of_every_word(
    x: Tensor, keys: Tensor, values: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    q, k, v = _behind(keys, x @ W_q), _behind(keys, x @ W_k), _behind(values, x @ W_v)
    return torch.softmax(q @ k.mT / math.sqrt(k.shape[-1]), dim=-1) @ v, k, v


CACHED_ATTENTION = Exercise(
    id="decoding.cached_attention",
    lesson=LESSON,
    name="cached_attention",
    title="One step with a cache",
    statement=(
        "cached_attention(x [..., 1, d_model], keys [..., words, d_head], values [..., words, d_head], W_q, W_k, W_v "
        "[d_model, d_head]) -> (out [..., 1, d_head], keys, values): the newest word attends to all words, its own key "
        "and value appended."
    ),
    points=3,
    minutes=15,
    section="What has been read need not be read again",
    source="S4, test time; Shazeer (2019)",
    reference=stepwise.cached_attention,
    cases=_cache_cases,
    correct=correct.CACHED_ATTENTION,
    misconceptions=(
        Misconception(
            "itself_not_seen",
            "The newest word attends only to those before it. Append its own key and value first: a word may attend to "
            "itself.",
            partial(_one_step, seen=lambda before, new, joined: before),
        ),
        Misconception(
            "only_itself_seen",
            "The newest word attends to nothing but itself. Attend to all keys and values, those of the cache and its "
            "own.",
            partial(_one_step, seen=lambda before, new, joined: new),
        ),
        Misconception(
            "only_the_first_seen",
            "The newest word attends to the first word alone, as under a causal mask (is_causal=True, tril), which "
            "takes a single query for the first. Leave the mask away: nothing in the cache lies in the future.",
            partial(_one_step, seen=lambda before, new, joined: joined[..., :1, :]),
        ),
        Misconception(
            "old_cache_returned",
            "The keys and values that you return are those that came in. Return them with the new ones appended, or "
            "the next step will know nothing of this word.",
            partial(_one_step, stored=lambda before, new, joined: before),
        ),
        Misconception(
            "new_ones_only_returned",
            "The keys and values that you return are the newest word's alone. Return all of them.",
            partial(_one_step, stored=lambda before, new, joined: new),
        ),
        Misconception(
            "put_in_front",
            "The newest key and value stand in front of the others. They belong behind them: torch.cat([keys, new], "
            "dim=-2).",
            partial(_one_step, join=_in_front),
        ),
        Misconception(
            "oldest_dropped",
            "Your answer drops the oldest word for the newest. The cache grows by one at each step: append, and keep "
            "all.",
            partial(_one_step, join=lambda before, new: _behind(before[..., 1:, :], new)),
        ),
        Misconception(
            "values_first",
            "Your answer returns the values before the keys. The order is: output, keys, values.",
            partial(_one_step, returned=lambda out, keys, values: (out, values, keys)),
        ),
        Misconception(
            "not_scaled",
            "The scores are not divided by √d_head.",
            partial(_one_step, scale=lambda x, keys: 1.0),
        ),
        Misconception(
            "scaled_by_d_model",
            "The scores are divided by √d_model. Divide by √d_head, the size of a query.",
            partial(_one_step, scale=lambda x, keys: math.sqrt(x.shape[-1])),
        ),
        Misconception(
            "scaled_by_the_words",
            "The scores are divided by the root of the number of words. Divide by √d_head, the size of a query: "
            "keys.shape[-1].",
            partial(_one_step, scale=lambda x, keys: math.sqrt(keys.shape[-2])),
        ),
        Misconception(
            "root_forgotten",
            "The scores are divided by d_head itself. Divide by its root.",
            partial(_one_step, scale=lambda x, keys: keys.shape[-1]),
        ),
        Misconception(
            "half_of_d_head",
            "The scores are divided by d_head / 2, for ** binds more strongly than /. The root is d_head ** (1 / 2), "
            "or d_head ** 0.5.",
            partial(_one_step, scale=lambda x, keys: keys.shape[-1] / 2),
        ),
        Misconception(
            "keys_and_values_swapped",
            "Your answer appends x W_v to the keys and x W_k to the values. It is the other way round.",
            partial(_one_step, projected=lambda x, W_q, W_k, W_v: (x @ W_q, x @ W_v, x @ W_k)),
        ),
        Misconception(
            "queries_and_keys_swapped",
            "Your answer appends x W_q to the keys, and asks with x W_k. It is the other way round.",
            partial(_one_step, projected=lambda x, W_q, W_k, W_v: (x @ W_k, x @ W_q, x @ W_v)),
        ),
        Misconception(
            "keys_for_values",
            "Your answer appends x W_k to the values. The new word's value is x W_v.",
            partial(_one_step, projected=lambda x, W_q, W_k, W_v: (x @ W_q, x @ W_k, x @ W_k)),
        ),
        Misconception(
            "softmax_over_the_query",
            "Your answer takes the softmax over the queries. There is only one, so that all weights are 1: take it "
            "over the keys, dim=-1.",
            partial(_one_step, weights=lambda scaled: torch.softmax(scaled, dim=-2)),
        ),
        Misconception(
            "softmax_left_out",
            "Your answer averages with the scores themselves. Take their softmax over the keys first.",
            partial(_one_step, weights=torch.clone),
        ),
        Misconception(
            "values_not_weighed",
            "The output is the plain mean of the values. Weight them by the softmax of the scaled scores.",
            partial(_one_step, weights=lambda scaled: torch.softmax(0 * scaled, dim=-1)),
        ),
        Misconception(
            "keys_averaged",
            "The output is a weighted average of the keys. Average the values.",
            partial(_one_step, averaged="keys"),
        ),
        Misconception(
            "dimension_lost",
            "The output has lost the dimension of the newest word: it is [..., 1, d_head], as x is [..., 1, d_model].",
            partial(_one_step, returned=lambda out, keys, values: (out.squeeze(-2), keys, values)),
        ),
        Misconception(
            "query_of_every_word",
            "Your answer takes the cached keys for queries, and has an output for every word. Only the newest word "
            "asks: its query is x W_q, and the outputs of the others were computed when they were the newest.",
            _query_of_every_word,
        ),
    ),
    withheld=WITHHELD,
)


EXERCISES = (
    GREEDY,
    SEQUENCE_LOG_PROBABILITY,
    SENTENCE_FOUND,
    BEAM_SEARCH,
    LENGTH_PENALISED,
    WITH_TEMPERATURE,
    TOP_K,
    NUCLEUS,
    CACHED_ATTENTION,
)
"""In the order of the lesson."""
