"""The exercises of lesson 06: how a model's probabilities become a sentence.

Built like those of `course_lib/exercises/attention.py`; read that file first.

A model is passed in as a step function: from the words so far to the logits of the next one. The models drawn here say
something else of every beginning, at random but always the same, so that an answer that forgets a word shows it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from course_lib import scoring, stepwise
from course_lib.checking.exercise import CORE, Callback, Case, Exercise, Misconception
from course_lib.exercises.common import integer, kinds, predicted, sizes
from course_lib.exercises.correct import decoding as correct
from course_lib.exercises.worked_examples import B

LESSON = "06_decoding"
WITHHELD = ("course_lib.decoding", "course_lib.beam", "course_lib.sampling", "course_lib.stepwise")

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
    """

    seed: int
    vocabulary: int
    never: int | None = None
    dtype: torch.dtype = torch.float32

    def __call__(self, words: Tensor) -> Tensor:
        ids = _ids(words, self.vocabulary)
        number = sum((word + 1) * 31**place for place, word in enumerate(ids))
        generator = torch.Generator().manual_seed((1_000_003 * self.seed + number) % 2**62)
        logits = 2 * torch.randn(self.vocabulary, generator=generator) + 4 * torch.rand((), generator=generator)
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


def _drawn(generator: Generator, vocabulary: int, suits: Callable[[_Model], bool], never: int | None = None) -> _Model:
    """A model that suits; most seeds give one soon."""
    while True:
        model = _Model(integer(generator, 0, 10**6), vocabulary, never)
        if suits(model):
            return model


# decoding.greedy -----------------------------------------------------------------------------------------------


def _greedy_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(TREE, (_step(_Lesson()), START, END, 8))

    def ends_in_time(model: _Model) -> bool:
        found = stepwise.greedy(model, start, end, longest).tolist()
        return 3 <= len(found) < longest and found[-1] == end and len(set(found)) > 2

    for name, start, end, dtype in (
        ("a model that looks at all the words so far", START, END, torch.float32),
        ("<s> and <e> have other ids", 6, 0, torch.float32),
        ("double precision", START, END, torch.float64),
    ):
        vocabulary, longest = integer(generator, 7, 10), 12
        drawn = _drawn(generator, vocabulary, ends_in_time)
        model = _Model(drawn.seed, vocabulary, dtype=dtype)
        yield Case(name, (_step(model), start, end, longest))
    vocabulary, longest = integer(generator, 5, 9), integer(generator, 5, 9)
    endless = _drawn(generator, vocabulary, lambda _model: True, never=END)
    yield Case("a model that never writes <e>", (_step(endless), START, END, longest))
    yield Case("one word at most", (_step(endless), START, END, 1))
    at_once = _drawn(generator, vocabulary, lambda model: int(model(torch.tensor([START])).argmax()) == END)
    yield Case("a model that writes <e> at once", (_step(at_once), START, END, longest))


def _greedily(
    step: stepwise.Step,
    start_id: int,
    end_id: int,
    longest: int,
    choose: Callable[[Tensor], Tensor] = torch.argmax,
    seen: Callable[[list[int]], list[int]] = lambda words: words,
) -> list[int]:
    """`stepwise.greedy` with another choice, or with a step that sees something else; <s> included."""
    words = [start_id]
    while len(words) <= longest and words[-1] != end_id:
        words.append(int(choose(step(torch.tensor(seen(words))))))
    return words


def _not_stopping(step: stepwise.Step, start_id: int, end_id: int, max_length: int) -> Tensor:
    return torch.tensor(_greedily(step, start_id, -1, max_length)[1:])


GREEDY = Exercise(
    id="decoding.greedy",
    lesson=LESSON,
    name="greedy",
    title="Greedy decoding",
    statement=(
        "greedy(step, start_id, end_id, max_length) -> int64 [new]: the most probable word at every step, until it is "
        "<e> or there are max_length words; without <s>, with <e> where it was reached."
    ),
    points=3,
    minutes=15,
    section="One word after the other",
    source="S2, generating outputs (greedy); S4, test time",
    reference=stepwise.greedy,
    cases=_greedy_cases,
    correct=correct.GREEDY,
    misconceptions=(
        Misconception(
            "start_included",
            "The words are right, but your answer begins with <s>. The model did not write <s>, it was given it: "
            "return the new words only.",
            lambda step, start_id, end_id, max_length: torch.tensor(_greedily(step, start_id, end_id, max_length)),
        ),
        Misconception(
            "end_left_out",
            "Your answer leaves out <e>. It is a word like any other, and the model wrote it: append it, then stop.",
            lambda step, start_id, end_id, max_length: torch.tensor(
                [word for word in _greedily(step, start_id, end_id, max_length)[1:] if word != end_id],
                dtype=torch.long,
            ),
        ),
        Misconception(
            "end_left_out_of_a_list",
            "Your answer leaves out <e>. It is a word like any other, and the model wrote it: append it, then stop. "
            "And torch.tensor of an empty list is of floats, unless it is told dtype=torch.long.",
            lambda step, start_id, end_id, max_length: torch.tensor(
                [word for word in _greedily(step, start_id, end_id, max_length)[1:] if word != end_id]
            ),
        ),
        Misconception(
            "goes_on_behind_the_end",
            "Your answer goes on behind <e>, up to max_length words. Stop as soon as the word is end_id.",
            _not_stopping,
        ),
        Misconception(
            "only_the_last_word",
            "Your answer shows the model only the last word at each step. It knows nothing of the others then: give "
            "step all the words so far, <s> first.",
            lambda step, start_id, end_id, max_length: torch.tensor(
                _greedily(step, start_id, end_id, max_length, seen=lambda words: words[-1:])[1:]
            ),
        ),
        Misconception(
            "nothing_read",
            "Your answer asks for the word behind <s> again and again. Append each word that was chosen, and give step "
            "all the words so far.",
            lambda step, start_id, end_id, max_length: torch.tensor(
                _greedily(step, start_id, end_id, max_length, seen=lambda words: words[:1])[1:]
            ),
        ),
        Misconception(
            "newest_first",
            "Your answer puts each new word in front of those before it, where the model reads it first. Append it "
            "behind them.",
            lambda step, start_id, end_id, max_length: torch.tensor(
                _greedily(step, start_id, end_id, max_length, seen=lambda words: [words[0], *reversed(words[1:])])[1:]
            ),
        ),
        Misconception(
            "one_word_short",
            "Your answer stops one word too early where the model writes no <e>: <s> does not count. max_length is how "
            "many new words there may be.",
            lambda step, start_id, end_id, max_length: torch.tensor(
                _greedily(step, start_id, end_id, max_length - 1)[1:], dtype=torch.long
            ),
        ),
        Misconception(
            "one_word_short_of_a_list",
            "Your answer stops one word too early where the model writes no <e>: <s> does not count. max_length is how "
            "many new words there may be. And torch.tensor of an empty list is of floats, unless it is told "
            "dtype=torch.long.",
            lambda step, start_id, end_id, max_length: torch.tensor(
                _greedily(step, start_id, end_id, max_length - 1)[1:]
            ),
        ),
        Misconception(
            "one_word_more",
            "Your answer writes one word more than max_length where the model writes no <e>.",
            lambda step, start_id, end_id, max_length: torch.tensor(
                _greedily(step, start_id, end_id, max_length + 1)[1:]
            ),
        ),
        Misconception(
            "least_probable",
            "Your answer takes the least probable word at each step. The largest logit belongs to the most probable "
            "one: argmax.",
            lambda step, start_id, end_id, max_length: torch.tensor(
                _greedily(step, start_id, end_id, max_length, choose=torch.argmin)[1:]
            ),
        ),
        Misconception(
            "ids_written_into_the_code",
            "Your answer takes 1 for <s> and 2 for <e>, whatever it is given. Use start_id and end_id: another "
            "vocabulary numbers its words differently.",
            lambda step, start_id, end_id, max_length: stepwise.greedy(step, START, END, max_length),
        ),
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
"""The part of `sequence_log_probability` where a probability is 0 in a float: of a long sentence, or of one word."""


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
    logits[::7] += 200  # exp overflows; the softmax is the same
    expected = torch.randint(40, (words,), generator=generator)
    yield Case(f"{words} words, some of them with large logits", (logits, expected), part=SMALL)
    logits = torch.randn(2, 4, 3, generator=generator)
    logits[1, 2, 1] = integer(generator, 115, 130)
    expected = torch.tensor([[1, 2, 0, 1], [2, 0, 0, 1]])
    yield Case("a word that the model thinks next to impossible", (logits, expected), part=SMALL)


def _word_probabilities(logits: Tensor, expected: Tensor) -> Tensor:
    return torch.softmax(logits, dim=-1).gather(-1, expected.unsqueeze(-1)).squeeze(-1)


def _picked(values: Tensor, expected: Tensor) -> Tensor:
    return values.gather(-1, expected.unsqueeze(-1)).squeeze(-1)


SEQUENCE_LOG_PROBABILITY = Exercise(
    id="decoding.sequence_log_probability",
    lesson=LESSON,
    name="sequence_log_probability",
    title="How probable a sentence is",
    statement=(
        "sequence_log_probability(logits [..., words, vocabulary], expected int64 [..., words]) -> [...]: the natural "
        "logarithm of the whole sentence's probability, by the chain rule."
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
            "Your answer is right for short sentences. In a long one the product of the probabilities is too small for "
            "a float and becomes 0: take the logarithms first, by log_softmax, and add them up.",
            lambda logits, expected: _word_probabilities(logits, expected).prod(dim=-1).log(),
        ),
        Misconception(
            "exp_overflows",
            "Your answer is right for small logits. exp of a large one is infinite: use torch.log_softmax, which "
            "subtracts the largest first.",
            lambda logits, expected: (
                _picked(logits.exp() / logits.exp().sum(dim=-1, keepdim=True), expected).log().sum(dim=-1)
            ),
        ),
        Misconception(
            "logarithm_of_zero",
            "Your answer is right unless a word is next to impossible. Its probability is rounded to 0 by the softmax, "
            "and the logarithm of that is −∞: take log_softmax, in one step.",
            lambda logits, expected: _word_probabilities(logits, expected).log().sum(dim=-1),
        ),
        Misconception(
            "floor_of_a_billionth",
            "Your answer is right unless a word is next to impossible: you then take its probability for 1e-9. It is "
            "much smaller: take log_softmax, in one step, and nothing has to be kept away from 0.",
            lambda logits, expected: _word_probabilities(logits, expected).clamp(min=1e-9).log().sum(dim=-1),
        ),
        Misconception(
            "floor_of_a_trillionth",
            "Your answer is right unless a word is next to impossible: you then take its probability for 1e-12. It is "
            "much smaller: take log_softmax, in one step, and nothing has to be kept away from 0.",
            lambda logits, expected: _word_probabilities(logits, expected).clamp(min=1e-12).log().sum(dim=-1),
        ),
        Misconception(
            "logits_added",
            "Your answer adds up the logits. They are no log-probabilities yet: take log_softmax over the vocabulary "
            "first.",
            lambda logits, expected: _picked(logits, expected).sum(dim=-1),
        ),
        Misconception(
            "product_of_probabilities",
            "Your answer is the probability itself. Its logarithm was asked for.",
            lambda logits, expected: _word_probabilities(logits, expected).prod(dim=-1),
        ),
        Misconception(
            "probabilities_added",
            "Your answer adds the words' probabilities. The chain rule multiplies them: add their logarithms.",
            lambda logits, expected: _word_probabilities(logits, expected).sum(dim=-1),
        ),
        Misconception(
            "mean_over_the_words",
            "Your answer is the mean over the words, as a training loss takes it. The sentence's log-probability is "
            "the sum.",
            lambda logits, expected: _word_probabilities(logits, expected).log().mean(dim=-1),
        ),
        Misconception(
            "sign_turned",
            "Your answer is the negative log-likelihood, which training minimises. The log-probability itself is never "
            "above 0: leave the minus away.",
            lambda logits, expected: -_word_probabilities(logits, expected).log().sum(dim=-1),
        ),
        Misconception(
            "most_probable_words",
            "Your answer is the log-probability of the most probable word at each place. That of the words in "
            "`expected` was asked for: gather them.",
            lambda logits, expected: torch.log_softmax(logits, dim=-1).amax(dim=-1).sum(dim=-1),
        ),
        Misconception(
            "not_added_up",
            "Your answer still has a number for each word. Their sum is the logarithm of the product.",
            lambda logits, expected: _word_probabilities(logits, expected).log(),
        ),
        Misconception(
            "softmax_over_the_words",
            "Your answer takes the softmax over the words of the sentence (dim=-2). At each place the probabilities of "
            "the vocabulary sum to 1: dim=-1.",
            lambda logits, expected: _picked(torch.log_softmax(logits, dim=-2), expected).sum(dim=-1),
        ),
        Misconception(
            "shifted_once_more",
            "Your answer compares each row of logits with the word after next. The rows and `expected` are aligned "
            "already: row t is what the model said of word t.",
            lambda logits, expected: _word_probabilities(logits[..., :-1, :], expected[..., 1:]).log().sum(dim=-1),
        ),
        Misconception(
            "in_bits",
            "Your answer is in bits, by the logarithm to base 2. Take the natural one.",
            lambda logits, expected: _word_probabilities(logits, expected).log2().sum(dim=-1),
        ),
        Misconception(
            "batch_added_up",
            "Your answer adds the sentences of the batch together. Each has a probability of its own: sum over the "
            "last dimension only.",
            lambda logits, expected: _word_probabilities(logits, expected).log().sum(),
        ),
        Misconception(
            "small_number_added_1e_8",
            "Your answer adds 1e-8 to the probabilities, so that no logarithm is of 0. That changes small ones too "
            "much. Take log_softmax, in one step, and nothing has to be kept away from 0.",
            lambda logits, expected: (_word_probabilities(logits, expected) + 1e-8).log().sum(dim=-1),
        ),
        Misconception(
            "small_number_added_1e_9",
            "Your answer adds 1e-9 to the probabilities, so that no logarithm is of 0. That changes small ones too "
            "much. Take log_softmax, in one step, and nothing has to be kept away from 0.",
            lambda logits, expected: (_word_probabilities(logits, expected) + 1e-9).log().sum(dim=-1),
        ),
        Misconception(
            "small_number_added_1e_10",
            "Your answer adds 1e-10 to the probabilities, so that no logarithm is of 0. That changes small ones too "
            "much. Take log_softmax, in one step, and nothing has to be kept away from 0.",
            lambda logits, expected: (_word_probabilities(logits, expected) + 1e-10).log().sum(dim=-1),
        ),
        Misconception(
            "id_0_left_out",
            "Your answer passes over the places where id 0 is expected, as if it were padding. All places count here.",
            lambda logits, expected: (_picked(logits.log_softmax(dim=-1), expected) * (expected != 0)).sum(dim=-1),
        ),
    ),
    withheld=(*WITHHELD, "course_lib.scoring"),
)


# decoding.sentence_found ---------------------------------------------------------------------------------------


def _prediction_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    order = torch.randperm(3, generator=generator).tolist() if hidden else range(3)
    for place in order:
        beams = place + 1
        name = f"{beams} beam{'s' if beams > 1 else ''}"
        yield Case(name if hidden else f"{TREE}, {name}", (beams,))


_KEPT = [0.27, 0.24, 0.216]
"""What a search holds after the third word: “die Katze hat”, “eine Katze tanzte”, “die Katze tanzte”."""


def _predicted(letters: str, *kept: list[float]) -> Callable[[int], tuple[str, list[float]]]:
    """A prediction for 1, 2 and 3 beams: these letters, each with what it keeps; by default what is kept indeed."""
    held = kept or [_KEPT[:beams] for beams in (1, 2, 3)]
    return lambda beams: (letters[beams - 1], list(held[beams - 1]))


SENTENCE_FOUND = Exercise(
    id="decoding.sentence_found",
    lesson=LESSON,
    name="sentence_found",
    title="Predict first",
    statement=(
        'sentence_found(beams) -> (letter, kept): "A" to "F", the sentence that a search of 1, 2 or 3 beams writes, '
        "and the probabilities of the beginnings that it holds after the third word, the best first."
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
            "One beam is right. With more, you keep the best beginning alone and two or three of its continuations. "
            "Keep so many beginnings at every step: behind two words “die Katze” and “eine Katze”, and continue both.",
            _predicted("BAA", [0.27], [0.27, 0.216], [0.27, 0.216, 0.054]),
        ),
        Misconception(
            "each_beginning_continued_once",
            "You continue each beginning by one word, its best. A beginning may be continued by several: of all that "
            "there are, keep the most probable. “die Katze tanzte” (0.216) comes before “die Mieze tanzte” (0.06).",
            _predicted("BEE", [0.27], [0.27, 0.24], [0.27, 0.24, 0.06]),
        ),
        Misconception(
            "kept_by_their_ends",
            "You keep the beginnings of the sentences that are the most probable in the end. A search does not see the "
            "end: after three words it knows only their product, and keeps the largest.",
            _predicted("AAA", [0.216], [0.24, 0.216], [0.27, 0.24, 0.216]),
        ),
        Misconception(
            "always_the_best",
            "You predict the most probable sentence of all, A, at every width. A search sees only the next word: "
            "behind “die Katze” the most probable one is “hat” (0.5, against 0.4), so that one beam never sees A.",
            _predicted("AAA"),
        ),
        Misconception(
            "width_changes_nothing",
            "One beam is right: greedy decoding takes “hat”. But more beams also keep other beginnings, such as “eine "
            "Katze tanzte” (0.24), and one of these may end as a more probable sentence.",
            _predicted("BBB"),
        ),
        Misconception(
            "two_beams_are_enough",
            "One beam and three are right. With two, “die Katze hat” (0.27) and “eine Katze tanzte” (0.24) are kept, "
            "as you say. “die Katze tanzte” (0.216) is the third, and is dropped.",
            _predicted("BAA"),
        ),
        Misconception(
            "three_beams_do_not_suffice",
            "One beam and two are right. The third beam keeps “die Katze tanzte” (0.216), which <e> follows with 0.9: "
            "0.1944 in the end, more than E.",
            _predicted("BEE"),
        ),
        Misconception(
            "two_beams_as_one",
            "One beam and three are right. With two, “die Katze hat” (0.27) and “eine Katze tanzte” (0.24) are kept. "
            "Multiply on: 0.27 · 0.6 = 0.162, but 0.24 · 0.7 = 0.168.",
            _predicted("BBA"),
        ),
        Misconception(
            "best_at_once",
            "You predict the most probable sentence of all, A, for one beam. Follow the tree word by word: behind “die "
            "Katze” greedy decoding takes “hat” (0.5, against 0.4). Two beams and three are right.",
            _predicted("AEA"),
        ),
        Misconception(
            "longest_sentence",
            "One beam takes “getanzt” (0.6) behind “die Katze hat”, not “gerade” (0.4). Two beams and three are right.",
            _predicted("CEA"),
        ),
        Misconception(
            "last_words_alone",
            "The letters are right. Of each beginning you give the probability of its third word alone. Multiply it by "
            "those of the first two: 0.6 · 0.9 · 0.5 for “die Katze hat”.",
            _predicted("BEA", [0.5], [0.5, 0.6], [0.5, 0.6, 0.4]),
        ),
        Misconception(
            "beginnings_of_two_words",
            "The letters are right. You give the beginnings of two words, “die Katze” first. Multiply on: the third "
            "word decides what is kept.",
            _predicted("BEA", [0.54], [0.54, 0.4], [0.54, 0.4, 0.06]),
        ),
        Misconception(
            "whole_sentences",
            "The letters are right. You give the probabilities of whole sentences, their ends included. Stop after the "
            "third word.",
            _predicted("BEA", [0.162], [0.168, 0.162], [0.1944, 0.168, 0.162]),
        ),
        Misconception(
            "best_last",
            "The letters are right, and so are the probabilities. Put the largest first.",
            _predicted("BEA", [0.27], [0.24, 0.27], [0.216, 0.24, 0.27]),
        ),
        Misconception(
            "in_words",
            "The sentences are right, and so are the probabilities. Return letters in place of words.",
            lambda beams: (stepwise.SENTENCES["BEA"[beams - 1]], _KEPT[:beams]),
        ),
        Misconception(
            "small_letters",
            "The sentences are right, and so are the probabilities. Write the letters as capitals.",
            _predicted("bea"),
        ),
    ),
    withheld=WITHHELD,
)


# decoding.beam_search ------------------------------------------------------------------------------------------


def _beam_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{TREE}, 3 beams", (_step(_Lesson()), START, END, 3, 8))
        yield Case("the tree of the lesson, 2 beams", (_step(_Lesson()), START, END, 2, 8))
    for beams, vocabulary, longest in ((2, 6, 6), (3, 5, 5), (2, 7, 5), (3, 6, 6), (4, 4, 4)):
        apart = {
            (2, 7): (_longest_returned, _probabilities_added),
            (3, 6): (stepwise.beam_search, _two_continuations_each),
        }
        model = _worth_searching(generator, beams, vocabulary, longest, apart=apart.get((beams, vocabulary), ()))
        yield Case(f"{beams} beams, {vocabulary} words to choose from", (_step(model), START, END, beams, longest))
    model = _worth_searching(generator, 3, 5, 4, never=END)
    yield Case("a model that never writes <e>", (_step(model), START, END, 3, 4))
    model = _worth_searching(generator, 6, 4, 4)
    yield Case("more beams than words", (_step(model), START, END, 6, 4))
    model = _drawn(generator, 6, lambda model: len(stepwise.beam_search(model, START, END, 1, 6)) > 2)
    yield Case("1 beam", (_step(model), START, END, 1, 6))


def _worth_searching(
    generator: Generator,
    beams: int,
    vocabulary: int,
    longest: int,
    never: int | None = None,
    apart: tuple[Callable[..., Tensor], ...] = (),
) -> _Model:
    """A model with which greedy decoding loses, and all honest ways of counting finished sentences find the same.

    The searches in `apart` find different sentences.

    Some books let a finished sentence keep its place among the beams, others move it out and let another one live on.
    """

    def suits(model: _Model) -> bool:
        asked = (model, START, END, beams, longest)
        found = stepwise.beam_search(*asked)
        same = all(torch.equal(found, answer(*asked)) for answer in correct.COUNTING_DIFFERENTLY)
        loses = not torch.equal(found, stepwise.greedy(model, START, END, longest))
        return (
            same
            and len(found) > 1
            and loses
            and len({tuple(search(*asked).tolist()) for search in apart}) == len(apart)
        )

    return _drawn(generator, vocabulary, suits, never)


_Kept = list[tuple[float, list[int]]]
"""Sentences with their scores."""


def _log_probabilities(step: stepwise.Step, words: list[int]) -> list[float]:
    found: list[float] = torch.log_softmax(step(torch.tensor(words)), dim=-1).tolist()
    return found


def _cut(candidates: _Kept, beams: int) -> _Kept:
    return sorted(candidates, reverse=True)[:beams]


def _searched(
    *,
    says: Callable[[stepwise.Step, list[int]], list[float]] = _log_probabilities,
    adds: Callable[[float, float, int], float] = lambda score, more, _length: score + more,
    cut: Callable[[_Kept, int], _Kept] = _cut,
    returns: Callable[[_Kept], list[int]] = lambda kept: kept[0][1][1:],
    stops: bool = True,
    until: Callable[[_Kept, int], bool] = lambda _kept, _end: False,
    longer: int = 0,
) -> Callable[..., Tensor]:
    """Beam search with one thing done differently.

    Args:
        says: the score of each next word.
        adds: the score of a sentence, from that of its beginning, of its last word, and its length.
        cut: which of the candidates live on.
        returns: what is returned of those that live at the end.
        stops: whether a sentence ends at <e>.
        until: ends the search early.
        longer: how many words more than allowed.
    """

    def search(step: stepwise.Step, start_id: int, end_id: int, beams: int, max_length: int) -> Tensor:
        kept: _Kept = [(0.0, [start_id])]
        end = end_id if stops else -1
        for length in range(1, max_length + longer + 1):
            candidates = [sentence for sentence in kept if sentence[1][-1] == end]
            for score, words in kept:
                if words[-1] != end:
                    following = enumerate(says(step, words))
                    candidates += [(adds(score, more, length), [*words, word]) for word, more in following]
            kept = cut(candidates, beams)
            if until(kept, end_id):
                break
        return torch.tensor(returns(kept), dtype=torch.long)

    return search


def _forgetting_the_finished(step: stepwise.Step, start_id: int, end_id: int, beams: int, max_length: int) -> Tensor:
    kept: _Kept = [(0.0, [start_id])]
    for _ in range(max_length):
        candidates = [
            (score + more, [*words, word])
            for score, words in kept
            for word, more in enumerate(_log_probabilities(step, words))
            if word != end_id
        ]
        kept = _cut(candidates, beams)
    return torch.tensor(kept[0][1][1:])


def _apart_from_the_start(step: stepwise.Step, start_id: int, end_id: int, beams: int, max_length: int) -> Tensor:
    """The `beams` most probable first words, each continued greedily by itself."""
    first = _cut([(more, [start_id, word]) for word, more in enumerate(_log_probabilities(step, [start_id]))], beams)
    sentences: _Kept = []
    for score, words in first:
        while len(words) <= max_length and words[-1] != end_id:
            log_probabilities = _log_probabilities(step, words)
            best = max(range(len(log_probabilities)), key=log_probabilities.__getitem__)
            score, words = score + log_probabilities[best], [*words, best]
        sentences.append((score, words))
    return torch.tensor(max(sentences)[1][1:])


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


_two_continuations_each = _searched(cut=_two_of_each)
_longest_returned = _searched(returns=lambda kept: max((words for _score, words in kept), key=len)[1:])
_probabilities_added = _searched(says=lambda step, words: torch.softmax(step(torch.tensor(words)), dim=-1).tolist())


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
            _searched(says=lambda step, words: step(torch.tensor(words)).tolist()),
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
            _searched(adds=lambda score, more, length: more),
        ),
        Misconception(
            "mean_of_the_words",
            "Your answer rates a sentence by the mean over its words, which favours long ones. That comes in the next "
            "section: here the score is the sum.",
            _searched(adds=lambda score, more, length: (score * (length - 1) + more) / length),
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
            _searched(cut=_of_each_its_own),
        ),
        Misconception(
            "goes_on_behind_the_end",
            "Your answer lets sentences go on behind <e>. A finished sentence stays as it is, with the score that it "
            "has, and competes with the others.",
            _searched(stops=False),
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
            _searched(
                until=lambda kept, end: any(words[-1] == end for _score, words in kept),
                returns=lambda kept: next((words for _score, words in kept if words[-1] == END), kept[0][1])[1:],
            ),
        ),
        Misconception(
            "worst_of_the_kept",
            "Your answer returns the least probable of the sentences that are kept at the end. Return the most "
            "probable one.",
            _searched(returns=lambda kept: kept[-1][1][1:]),
        ),
        Misconception(
            "least_probable_kept",
            "Your answer keeps the least probable candidates. Scores are negative, and the best is the one nearest to "
            "0: sort in descending order.",
            _searched(cut=lambda candidates, beams: sorted(candidates)[:beams]),
        ),
        Misconception(
            "start_included",
            "The sentence is right, but your answer begins with <s>. Return the new words only.",
            _searched(returns=lambda kept: kept[0][1]),
        ),
        Misconception(
            "end_left_out",
            "The sentence is right, but <e> is missing at its end. The model wrote it, as any other word: keep it.",
            _searched(returns=lambda kept: [word for word in kept[0][1][1:] if word != END]),
        ),
        Misconception(
            "one_word_short",
            "Your answer may write one word less than max_length: <s> does not count.",
            _searched(longer=-1),
        ),
        Misconception(
            "one_word_more",
            "Your answer may write one word more than max_length.",
            _searched(longer=1),
        ),
        Misconception(
            "finished_preferred",
            "At the end your answer returns the best sentence that has its <e>, even where one that is cut off at "
            "max_length is more probable. Such a sentence counts as it is.",
            _searched(returns=lambda kept: next((words for _score, words in kept if words[-1] == END), kept[0][1])[1:]),
        ),
        Misconception(
            "longest_returned",
            "Your answer returns the longest of the sentences that it holds at the end. Return the most probable one.",
            _longest_returned,
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
            _searched(until=lambda kept, end: any(words[-1] == end for _score, words in kept)),
        ),
    ),
    withheld=WITHHELD,
)


# decoding.length_penalised -------------------------------------------------------------------------------------


def _length_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        scores, lengths = torch.tensor([-3.2, -4.0]), torch.tensor([5, 10])
        yield Case("worked example: the short and the whole translation of the lesson", (scores, lengths, 0.6))
    for kind in kinds(generator):
        if kind.dtype == torch.float64:
            continue  # a penalty made of whole numbers is of single precision, and rightly so
        (sentences,) = kind.sizes(1)
        scores = -5 * kind.normal(sentences).abs() - 1
        lengths = torch.randint(1, 30, (*kind.leading, sentences), generator=generator)
        yield Case(kind.name, (scores, lengths, integer(generator, 3, 9) / 10))
    scores, lengths = torch.tensor([-2.0, -7.0, -11.0]), torch.randperm(20, generator=generator)[:3] + 2
    yield Case("alpha = 0: no penalty", (scores, lengths, 0.0))
    yield Case("alpha = 1", (scores, lengths, 1.0))


LENGTH_PENALISED = Exercise(
    id="decoding.length_penalised",
    lesson=LESSON,
    name="length_penalised",
    title="Length penalty",
    statement=(
        "length_penalised(log_probability [...], length int64 [...], alpha) -> [...]: each log-probability divided by "
        "((5 + length) / 6)^alpha."
    ),
    points=2,
    minutes=8,
    section="Short sentences win",
    source="Wu et al. (2016), section 7, equation 14",
    reference=stepwise.length_penalised,
    cases=_length_cases,
    correct=correct.LENGTH_PENALISED,
    misconceptions=(
        Misconception(
            "multiplied",
            "Your answer multiplies by the penalty, which makes long sentences even worse. Divide by it: the scores "
            "are negative, and come nearer to 0.",
            lambda log_probability, length, alpha: log_probability * ((5 + length) / 6) ** alpha,
        ),
        Misconception(
            "divided_by_the_length",
            "Your answer divides by length^alpha, which is another way of normalising. Here the divisor is "
            "((5 + length) / 6)^alpha, which is milder for short sentences.",
            lambda log_probability, length, alpha: log_probability / length**alpha,
        ),
        Misconception(
            "mean_of_the_words",
            "Your answer is the mean log-probability of a word. Divide by ((5 + length) / 6)^alpha instead.",
            lambda log_probability, length, alpha: log_probability / length,
        ),
        Misconception(
            "alpha_left_out",
            "Your answer divides by (5 + length) / 6 whatever alpha is. Raise that to the power alpha.",
            lambda log_probability, length, alpha: log_probability / ((5 + length) / 6),
        ),
        Misconception(
            "alpha_as_a_factor",
            "Your answer multiplies (5 + length) / 6 by alpha. alpha is its exponent.",
            lambda log_probability, length, alpha: log_probability / (((5 + length) / 6) * alpha),
        ),
        Misconception(
            "six_not_raised",
            "Your answer raises only 5 + length to the power alpha. The exponent belongs to the whole fraction, the 6 "
            "included.",
            lambda log_probability, length, alpha: log_probability / ((5 + length) ** alpha / 6),
        ),
        Misconception(
            "only_six_raised",
            "Your answer raises only the 6 to the power alpha, for ** binds more strongly than /. Put the whole "
            "fraction in parentheses: ((5 + length) / 6) ** alpha.",
            lambda log_probability, length, alpha: log_probability / ((5 + length) / 6**alpha),
        ),
        Misconception(
            "divided_twice",
            "Your answer divides by 5 + length, and then by 6^alpha as well. Put the whole divisor in parentheses: "
            "((5 + length) / 6) ** alpha.",
            lambda log_probability, length, alpha: log_probability / (5 + length) / 6**alpha,
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
            lambda log_probability, length, alpha: log_probability / ((5 + length) // 6) ** alpha,
        ),
        Misconception(
            "five_left_out",
            "Your answer leaves out the 5: the divisor is ((5 + length) / 6)^alpha.",
            lambda log_probability, length, alpha: log_probability / (length / 6) ** alpha,
        ),
        Misconception(
            "subtracted",
            "Your answer subtracts the penalty. The log-probability is divided by it.",
            lambda log_probability, length, alpha: log_probability - ((5 + length) / 6) ** alpha,
        ),
        Misconception(
            "penalty_returned",
            "Your answer is the penalty itself. Divide the log-probabilities by it.",
            lambda log_probability, length, alpha: (((5 + length) / 6) ** alpha).to(log_probability.dtype),
        ),
        Misconception(
            "not_penalised",
            "Your answer is the log-probability as it came, for every alpha.",
            lambda log_probability, length, alpha: log_probability.clone(),
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
        yield Case("the ten words of the lesson, temperature 0.01", (BEHIND_DIE_KATZE.log(), 0.01), part=NEAR_0)
    for kind, temperature in zip(kinds(generator), (0.7, 1.5, 0.4, 2.5, 1.0), strict=True):
        (vocabulary,) = kind.sizes(1)
        several = (3,) if kind.transposed else ()
        yield Case(f"{kind.name}, temperature {temperature:g}", (2 * kind.normal(*several, vocabulary), temperature))
    (vocabulary,) = sizes(generator, 1)
    logits = 20 * torch.randn(2, vocabulary, generator=generator)
    logits[0, 0], logits[1, 1] = 80.0, -80.0
    yield Case("a temperature near 0", (logits, 0.02), part=NEAR_0)
    order = torch.stack([torch.randperm(8, generator=generator) for _ in range(2)])
    yield Case("a temperature near 0, and logits that differ by little", (0.3 * order, 0.01), part=NEAR_0)


def _exp_of_all(logits: Tensor, temperature: float) -> Tensor:
    powers = torch.exp(logits / temperature)
    return powers / powers.sum(dim=-1, keepdim=True)


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
        "softmax(logits / temperature)."
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
            _exp_of_all,
        ),
        Misconception(
            "powers_vanish",
            "Your answer is right where the powers of the probabilities are not too small for a float. Near "
            "temperature 0 all of them may be rounded to 0, and 0 / 0 is NaN: take softmax(logits / temperature).",
            _normalised_powers,
        ),
        Misconception(
            "multiplied",
            "Your answer flattens where it should sharpen, and the other way round: it multiplies the logits by the "
            "temperature, in effect. Divide them.",
            lambda logits, temperature: torch.softmax(logits * temperature, dim=-1),
        ),
        Misconception(
            "ignored",
            "Your answer is the softmax of the logits at every temperature. (Subtracting a constant from all logits "
            "changes nothing.) Divide them by the temperature.",
            lambda logits, temperature: torch.softmax(logits, dim=-1),
        ),
        Misconception(
            "probabilities_divided",
            "Your answer divides the probabilities by the temperature, so that they no longer sum to 1. Divide the "
            "logits, before the softmax.",
            lambda logits, temperature: torch.softmax(logits, dim=-1) / temperature,
        ),
        Misconception(
            "softmax_twice",
            "Your answer takes the softmax of probabilities. Divide the logits themselves by the temperature.",
            lambda logits, temperature: torch.softmax(torch.softmax(logits, dim=-1) / temperature, dim=-1),
        ),
        Misconception(
            "powers_not_normalised",
            "Your answer raises the probabilities to the power 1 / temperature, which is a good way, but then they no "
            "longer sum to 1. Divide them by their sum.",
            lambda logits, temperature: torch.softmax(logits, dim=-1) ** (1 / temperature),
        ),
        Misconception(
            "exp_not_normalised",
            "Your answer is exp(logits / temperature). Divide by their sum, so that they are probabilities.",
            lambda logits, temperature: torch.exp(logits / temperature),
        ),
        Misconception(
            "logits_returned",
            "Your answer is the logits, divided by the temperature. Their softmax is still to be taken.",
            lambda logits, temperature: logits / temperature,
        ),
        Misconception(
            "logarithms",
            "Your answer is the logarithms of the probabilities. Use softmax in place of log_softmax.",
            lambda logits, temperature: torch.log_softmax(logits / temperature, dim=-1),
        ),
        Misconception(
            "first_dimension",
            "Your answer takes the softmax over the first dimension, which is the batch where there is one. The "
            "vocabulary is the last: dim=-1.",
            lambda logits, temperature: torch.softmax(logits / temperature, dim=0),
        ),
        Misconception(
            "root_of_the_temperature",
            "Your answer divides the logits by the root of the temperature. Divide them by the temperature itself.",
            lambda logits, temperature: torch.softmax(logits / math.sqrt(temperature), dim=-1),
        ),
        Misconception(
            "most_probable_word",
            "Your answer gives all the probability to the most probable word, at every temperature. Only near "
            "temperature 0 it comes to that.",
            lambda logits, temperature: (logits == logits.amax(dim=-1, keepdim=True)).to(logits.dtype),
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


def _only(probabilities: Tensor, keep: Tensor) -> Tensor:
    """The probabilities where `keep` is True, divided by their sum."""
    kept = probabilities * keep
    return kept / kept.sum(dim=-1, keepdim=True)


def _almost(probabilities: Tensor, keep: Tensor) -> Tensor:
    """The kept ones, divided by a little more than their sum."""
    kept = probabilities * keep
    return kept / (kept.sum(dim=-1, keepdim=True) + 1e-8)


def _among_the_first(probabilities: Tensor, k: int, *, descending: bool = True) -> Tensor:
    """True at the k most probable words; at the least probable, where the order is turned."""
    ranks = probabilities.argsort(dim=-1, descending=descending).argsort(dim=-1)
    return ranks < k


def _all_rows_alike(keep: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """Apply to the first row what holds for it, and to all others the same."""
    return lambda probabilities: keep(probabilities.reshape(-1, probabilities.shape[-1])[0]).expand_as(probabilities)


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
        Misconception(
            "not_normalised",
            "The right words are left, but their probabilities no longer sum to 1. Divide them by their sum.",
            lambda probabilities, k: probabilities * _among_the_first(probabilities, k),
        ),
        Misconception(
            "softmax_of_zeros",
            "Your answer sets the others to 0 and takes the softmax, but exp(0) is 1: the dropped words come back. "
            "Divide the kept probabilities by their sum.",
            lambda probabilities, k: torch.softmax(probabilities * _among_the_first(probabilities, k), dim=-1),
        ),
        Misconception(
            "softmax_of_probabilities",
            "The right words are left, but a softmax of probabilities makes them nearly equal. Divide the kept ones by "
            "their sum: their proportions stay.",
            lambda probabilities, k: torch.softmax(
                probabilities.masked_fill(~_among_the_first(probabilities, k), -math.inf), dim=-1
            ),
        ),
        Misconception(
            "all_equal",
            "The right words are left, but all with the same probability. They keep their proportions: divide by their "
            "sum.",
            lambda probabilities, k: _only(torch.ones_like(probabilities), _among_the_first(probabilities, k)),
        ),
        Misconception(
            "least_probable",
            "Your answer keeps the k least probable words. Sort in descending order, or use torch.topk.",
            lambda probabilities, k: _only(probabilities, _among_the_first(probabilities, k, descending=False)),
        ),
        Misconception(
            "first_in_the_vocabulary",
            "Your answer keeps the first k words of the vocabulary. Keep the k most probable ones, wherever they "
            "stand.",
            lambda probabilities, k: _only(probabilities, torch.arange(probabilities.shape[-1]) < k),
        ),
        Misconception(
            "one_too_few",
            "Your answer keeps one word less than k. The k-th most probable stays as well: compare with >=, not >.",
            lambda probabilities, k: _only(probabilities, _among_the_first(probabilities, k - 1)),
        ),
        Misconception(
            "one_too_many",
            "Your answer keeps one word more than k.",
            lambda probabilities, k: _only(probabilities, _among_the_first(probabilities, k + 1)),
        ),
        Misconception(
            "sorted_order",
            "Your answer has the right numbers, but sorted: word 0 gets the probability of the most probable word, "
            "whichever that was. Each word keeps its place.",
            lambda probabilities, k: _only(
                probabilities.sort(dim=-1, descending=True).values, torch.arange(probabilities.shape[-1]) < k
            ),
        ),
        Misconception(
            "only_k_numbers",
            "Your answer has only the k kept probabilities. Return one for every word of the vocabulary, 0 for the "
            "others, so that it is known which is which.",
            lambda probabilities, k: (
                probabilities.topk(min(k, probabilities.shape[-1]), dim=-1).values
                / probabilities.topk(min(k, probabilities.shape[-1]), dim=-1).values.sum(dim=-1, keepdim=True)
            ),
        ),
        Misconception(
            "nothing_dropped",
            "Your answer is the distribution as it came. Set all but the k most probable words to 0.",
            lambda probabilities, k: probabilities.clone(),
        ),
        Misconception(
            "one_choice_for_all_rows",
            "Your answer keeps for every row the words that are most probable in the first. Each row has its own.",
            lambda probabilities, k: _only(
                probabilities, _all_rows_alike(lambda row: _among_the_first(row, k))(probabilities)
            ),
        ),
        Misconception(
            "small_number_added",
            "Your answer adds a small number, 1e-8, to the sum that it divides by, so that the result no longer sums "
            "to 1. There is no 0 to be afraid of: the most probable word is always kept.",
            lambda probabilities, k: _almost(probabilities, _among_the_first(probabilities, k)),
        ),
        Misconception(
            "one_sum_for_all_rows",
            "Your answer divides by the sum of all rows together. Each row has its own: .sum(dim=-1, keepdim=True).",
            lambda probabilities, k: (
                probabilities
                * _among_the_first(probabilities, k)
                / (probabilities * _among_the_first(probabilities, k)).sum()
            ),
        ),
    ),
    withheld=WITHHELD,
)


# decoding.nucleus ----------------------------------------------------------------------------------------------


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
    yield Case("p = 1, which the sum may miss by rounding", (nearly, 1.0), part="p = 1")


def _clear_of(probabilities: Tensor, generator: Generator) -> float:
    """A mass that no sum of the most probable words is near, so that rounding decides nothing."""
    sums = probabilities.sort(dim=-1, descending=True).values.cumsum(dim=-1)
    while True:
        p = integer(generator, 45, 93) / 100
        if float((sums - p).abs().min()) > 0.004:
            return p


def _nucleus_of(probabilities: Tensor, p: float, *, descending: bool = True, crossing: bool = True) -> Tensor:
    """True at the words of the nucleus; without the word that crosses p, or from the least probable on."""
    ordered, places = probabilities.sort(dim=-1, descending=descending)
    sums = ordered.cumsum(dim=-1)
    keep = sums - ordered < p if crossing else sums < p
    return torch.zeros_like(keep).scatter(-1, places, keep)


def _with_one_more(probabilities: Tensor, p: float) -> Tensor:
    count = _nucleus_of(probabilities, p).sum(dim=-1, keepdim=True) + 1
    return probabilities.argsort(dim=-1, descending=True).argsort(dim=-1) < count


def _gathered(probabilities: Tensor, keep: Tensor) -> Tensor:
    ordered = _only(probabilities, keep).sort(dim=-1, descending=True).values
    return ordered.gather(-1, probabilities.argsort(dim=-1, descending=True))


def _best(probabilities: Tensor) -> Tensor:
    return probabilities == probabilities.amax(dim=-1, keepdim=True)


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
    parts={CORE: 2, "p = 1": 1},
    correct=correct.NUCLEUS,
    misconceptions=(
        Misconception(
            "stops_below_p",
            "Your answer stops before the sum reaches p, and keeps nothing where one word alone has more than p. The "
            "word that crosses p belongs to the nucleus: look at the sum of the words *before* each.",
            lambda probabilities, p: _only(probabilities, _nucleus_of(probabilities, p, crossing=False)),
        ),
        Misconception(
            "stops_below_p_but_keeps_one",
            "Your answer stops before the sum reaches p, though it always keeps one word. The word that crosses p "
            "belongs to the nucleus: look at the sum of the words *before* each.",
            lambda probabilities, p: _only(
                probabilities, _nucleus_of(probabilities, p, crossing=False) | _best(probabilities)
            ),
        ),
        Misconception(
            "one_too_many",
            "Your answer keeps one word more than the nucleus: the sum has reached p before it.",
            lambda probabilities, p: _only(probabilities, _with_one_more(probabilities, p)),
        ),
        Misconception(
            "not_sorted",
            "Your answer adds the probabilities up in the order of the vocabulary. Begin with the most probable word: "
            "sort first.",
            lambda probabilities, p: _only(probabilities, probabilities.cumsum(dim=-1) - probabilities < p),
        ),
        Misconception(
            "least_probable_first",
            "Your answer begins with the least probable words. Sort in descending order.",
            lambda probabilities, p: _only(probabilities, _nucleus_of(probabilities, p, descending=False)),
        ),
        Misconception(
            "sorted_order",
            "Your answer has the right numbers, but sorted: word 0 gets the probability of the most probable word, "
            "whichever that was. Put each back where its word stands: scatter, or argsort once more.",
            lambda probabilities, p: _only(
                probabilities.sort(dim=-1, descending=True).values,
                _nucleus_of(probabilities, p).sort(dim=-1, descending=True).values,
            ),
        ),
        Misconception(
            "gathered",
            "Your answer has the right numbers, but not in their places: gather (or indexing with the places) applies "
            "the order of sorting once more. scatter undoes it.",
            lambda probabilities, p: _gathered(probabilities, _nucleus_of(probabilities, p)),
        ),
        Misconception(
            "threshold",
            "Your answer keeps the words that have a probability of p by themselves. Add the probabilities up, from "
            "the most probable on, until the sum is p.",
            lambda probabilities, p: _only(probabilities, probabilities >= p),
        ),
        Misconception(
            "share_of_the_best",
            "Your answer keeps the words that are at least p times as probable as the best one, which is another "
            "method (min-p). Add the probabilities up, from the most probable on, until the sum is p.",
            lambda probabilities, p: _only(
                probabilities, probabilities >= p * probabilities.amax(dim=-1, keepdim=True)
            ),
        ),
        Misconception(
            "share_of_the_vocabulary",
            "Your answer keeps a share p of all words, however probable they are. It is their mass that counts: add "
            "the probabilities up until the sum is p.",
            lambda probabilities, p: _only(
                probabilities, _among_the_first(probabilities, max(1, round(p * probabilities.shape[-1])))
            ),
        ),
        Misconception(
            "not_normalised",
            "The right words are left, but their probabilities no longer sum to 1. Divide them by their sum.",
            lambda probabilities, p: probabilities * _nucleus_of(probabilities, p),
        ),
        Misconception(
            "softmax_of_zeros",
            "Your answer sets the others to 0 and takes the softmax, but exp(0) is 1: the dropped words come back. "
            "Divide the kept probabilities by their sum.",
            lambda probabilities, p: torch.softmax(probabilities * _nucleus_of(probabilities, p), dim=-1),
        ),
        Misconception(
            "softmax_of_probabilities",
            "The right words are left, but a softmax of probabilities makes them nearly equal. Divide the kept ones by "
            "their sum: their proportions stay.",
            lambda probabilities, p: torch.softmax(
                probabilities.masked_fill(~_nucleus_of(probabilities, p), -math.inf), dim=-1
            ),
        ),
        Misconception(
            "one_choice_for_all_rows",
            "Your answer keeps for every row the nucleus of the first. Each row has its own.",
            lambda probabilities, p: _only(
                probabilities, _all_rows_alike(lambda row: _nucleus_of(row, p))(probabilities)
            ),
        ),
        Misconception(
            "nothing_dropped",
            "Your answer is the distribution as it came. Set the words outside of the nucleus to 0.",
            lambda probabilities, p: probabilities.clone(),
        ),
        Misconception(
            "small_number_added",
            "Your answer adds a small number, 1e-8, to the sum that it divides by, so that the result no longer sums "
            "to 1. There is no 0 to be afraid of: the most probable word is always kept.",
            lambda probabilities, p: _almost(probabilities, _nucleus_of(probabilities, p)),
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


def _attended(q: Tensor, k: Tensor, v: Tensor, scale: float | None = None) -> Tensor:
    """Attention from `q`; no keys give zeros."""
    scaled = q @ k.mT / (math.sqrt(q.shape[-1]) if scale is None else scale)
    return torch.softmax(scaled, dim=-1) @ v


def _appended(before: Tensor, new: Tensor) -> Tensor:
    return torch.cat([before, new], dim=-2)


_Cached = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]


def _with_projected(
    attend: Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]],
) -> _Cached:
    """An answer from what it makes of q, the keys and values before, and the new word's own."""

    def answer(
        x: Tensor, keys: Tensor, values: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        return attend(x @ W_q, keys, values, x @ W_k, x @ W_v)

    return answer


def _swapped(
    x: Tensor, keys: Tensor, values: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    k, v = _appended(keys, x @ W_v), _appended(values, x @ W_k)
    return _attended(x @ W_q, k, v), k, v


def _divided_by_d_model(
    x: Tensor, keys: Tensor, values: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    k, v = _appended(keys, x @ W_k), _appended(values, x @ W_v)
    return _attended(x @ W_q, k, v, scale=math.sqrt(x.shape[-1])), k, v


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
            "The cache that you return is right, but the newest word attends only to those before it. Append its own "
            "key and value first: a word may attend to itself.",
            _with_projected(
                lambda q, keys, values, k, v: (
                    _attended(q, keys, values),
                    _appended(keys, k),
                    _appended(values, v),
                )
            ),
        ),
        Misconception(
            "only_itself_seen",
            "The cache that you return is right, but the newest word attends to nothing but itself. Attend to all keys "
            "and values, those of the cache and its own.",
            _with_projected(
                lambda q, keys, values, k, v: (_attended(q, k, v), _appended(keys, k), _appended(values, v))
            ),
        ),
        Misconception(
            "only_the_first_seen",
            "The cache that you return is right, but the newest word attends to the first word alone, as under a "
            "causal mask (is_causal=True, tril), which takes a single query for the first. Leave the mask away: "
            "nothing in the cache lies in the future.",
            _with_projected(
                lambda q, keys, values, k, v: (
                    _appended(values, v)[..., :1, :].clone(),
                    _appended(keys, k),
                    _appended(values, v),
                )
            ),
        ),
        Misconception(
            "old_cache_returned",
            "The output is right, but the keys and values that you return are those that came in. Return them with the "
            "new ones appended, or the next step will know nothing of this word.",
            _with_projected(
                lambda q, keys, values, k, v: (
                    _attended(q, _appended(keys, k), _appended(values, v)),
                    keys.clone(),
                    values.clone(),
                )
            ),
        ),
        Misconception(
            "new_ones_only_returned",
            "The output is right, but the keys and values that you return are the newest word's alone. Return all of "
            "them.",
            _with_projected(
                lambda q, keys, values, k, v: (_attended(q, _appended(keys, k), _appended(values, v)), k, v)
            ),
        ),
        Misconception(
            "put_in_front",
            "The output is right, but the newest key and value stand in front of the others. They belong behind them: "
            "torch.cat([keys, new]).",
            _with_projected(
                lambda q, keys, values, k, v: (
                    _attended(q, _appended(k, keys), _appended(v, values)),
                    _appended(k, keys),
                    _appended(v, values),
                )
            ),
        ),
        Misconception(
            "not_scaled",
            "The cache is right, but the scores are not divided by √d_head.",
            _with_projected(
                lambda q, keys, values, k, v: (
                    _attended(q, _appended(keys, k), _appended(values, v), scale=1.0),
                    _appended(keys, k),
                    _appended(values, v),
                )
            ),
        ),
        Misconception(
            "scaled_by_d_model",
            "The cache is right, but the scores are divided by √d_model. Divide by √d_head, the size of a query.",
            _divided_by_d_model,
        ),
        Misconception(
            "keys_and_values_swapped",
            "Your answer appends x W_v to the keys and x W_k to the values. It is the other way round.",
            _swapped,
        ),
        Misconception(
            "values_not_weighed",
            "The cache is right, but the output is the plain mean of the values. Weight them by the softmax of the "
            "scaled scores.",
            _with_projected(
                lambda q, keys, values, k, v: (
                    _appended(values, v).mean(dim=-2, keepdim=True),
                    _appended(keys, k),
                    _appended(values, v),
                )
            ),
        ),
        Misconception(
            "keys_averaged",
            "The cache is right, but the output is a weighted average of the keys. Average the values.",
            _with_projected(
                lambda q, keys, values, k, v: (
                    _attended(q, _appended(keys, k), _appended(keys, k)),
                    _appended(keys, k),
                    _appended(values, v),
                )
            ),
        ),
        Misconception(
            "dimension_lost",
            "The output has lost the dimension of the newest word: it is [..., 1, d_head], as x is [..., 1, d_model].",
            _with_projected(
                lambda q, keys, values, k, v: (
                    _attended(q, _appended(keys, k), _appended(values, v)).squeeze(-2),
                    _appended(keys, k),
                    _appended(values, v),
                )
            ),
        ),
        Misconception(
            "query_of_every_word",
            "Your answer takes the cached keys for queries, and has an output for every word. Only the newest word "
            "asks: its query is x W_q, and the outputs of the others were computed when they were the newest.",
            _with_projected(
                lambda q, keys, values, k, v: (
                    _attended(_appended(keys, q), _appended(keys, k), _appended(values, v)),
                    _appended(keys, k),
                    _appended(values, v),
                )
            ),
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
