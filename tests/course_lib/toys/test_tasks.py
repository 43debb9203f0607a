"""The small tasks: their labels are right, and words alone do not give them away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from course_lib.objectives.labelled_data import LabelledText
from course_lib.toys import tasks
from course_lib.toys.lexicon import ADVERBS, CONJUNCTIONS, LIVING, VERBS, VERBS_WITH_LIVING_OBJECT, VERBS_WITH_OBJECT
from course_lib.toys.tasks import (
    CLS_ID,
    MASK,
    PEOPLE,
    QUESTIONS,
    ROLES,
    SEP_ID,
    ToyTask,
    habits,
    person_or_animal,
    roles,
    who_did_what,
    word_order,
)

EVERY_VERB = (*VERBS, *VERBS_WITH_OBJECT, *VERBS_WITH_LIVING_OBJECT)
ENGLISH_VERBS = {verb.english for verb in EVERY_VERB}
GERMAN_VERBS = {form for verb in EVERY_VERB for form in (verb.singular, verb.plural)}
CONJUNCTION_WORDS = {english for english, _ in CONJUNCTIONS}

TASKS: list[Callable[..., ToyTask]] = [person_or_animal, roles, who_did_what, word_order, habits]


def words(task: ToyTask, example: LabelledText, choice: int = 0) -> list[str]:
    return [task.vocabulary.words[i] for i in example.inputs[choice].ids]


@pytest.mark.parametrize("make", TASKS)
class TestEvery:
    def test_has_as_many_examples_as_asked_for_all_different(self, make: Callable[..., ToyTask]) -> None:
        task = make(training=300, held_out=50)
        assert (len(task.training), len(task.held_out)) == (300, 50)
        texts = [tuple(tuple(text.ids) for text in example.inputs) for example in [*task.training, *task.held_out]]
        assert len(set(texts)) == 350

    def test_follows_from_its_seed(self, make: Callable[..., ToyTask]) -> None:
        first, again, other = ([example.inputs for example in make(20, 5, seed=seed).training] for seed in (1, 1, 2))
        assert first == again
        assert first != other

    def test_inputs_begin_with_cls_and_end_with_sep(self, make: Callable[..., ToyTask]) -> None:
        for example in make(20, 5).training:
            assert all(text.ids[0] == CLS_ID and text.ids[-1] == SEP_ID for text in example.inputs)

    def test_nothing_to_draw_is_refused(self, make: Callable[..., ToyTask]) -> None:
        with pytest.raises(ValueError, match="examples on both sides, not 0 and 5"):
            make(training=0, held_out=5)


class TestWhoActs:
    def test_the_subject_of_the_main_clause_decides(self) -> None:
        task = person_or_animal(training=400, held_out=50)
        forms = {form: noun for noun in LIVING for form in (noun.english, noun.english_plural)}
        checked = 0
        for example in task.training:
            sentence = words(task, example)[1:-1]
            if not CONJUNCTION_WORDS & set(sentence):  # with one clause, the first of the living is its subject
                first = next(forms[word] for word in sentence if word in forms)
                assert task.labels[example.labels] == ("person" if first.english in PEOPLE else "animal")
                checked += 1
        assert checked > 100

    def test_both_answers_are_about_as_frequent(self) -> None:
        counts = Counter(int(example.labels) for example in person_or_animal(training=500, held_out=50).training)
        assert 0.35 < counts[1] / 500 < 0.65


class TestRoles:
    def test_every_word_has_one(self) -> None:
        task = roles(training=300, held_out=50)
        assert task.labels == ROLES
        assert all(len(example.labels) == len(example.inputs[0].ids) for example in task.training)

    def test_of_words_that_have_just_one_are_right(self) -> None:
        task = roles(training=300, held_out=50)
        found = {
            (word, ROLES[role])
            for example in task.training
            for word, role in zip(words(task, example), example.labels.tolist(), strict=True)
        }
        assert {role for word, role in found if word in {"danced", "saw", "invited"}} == {"verb"}
        assert {role for word, role in found if word in {"with", "behind"}} == {"preposition"}
        assert {role for word, role in found if word in {"because", ",", "<s>", "<e>", "yesterday"}} == {"other"}
        assert {role for word, role in found if word in {"I", "he", "we"}} == {"subject"}
        assert {role for word, role in found if word == "cat"} == {"subject", "object", "its noun"}


class TestWhoDidWhat:
    def test_the_span_answers_the_question(self) -> None:
        task = who_did_what(training=400, held_out=50)
        for example in task.training:
            text = words(task, example)
            question = " ".join(text[1 : text.index("<e>")])
            first, last = example.labels.tolist()
            assert example.inputs[0].segments[first] == example.inputs[0].segments[last] == 1
            before, answer, behind = text[first - 1], text[first : last + 1], text[last + 1]
            if question == QUESTIONS["verb"]:
                assert len(answer) == 1
                assert answer[0] in ENGLISH_VERBS
            elif question == QUESTIONS["who"]:
                assert behind in ENGLISH_VERBS
                assert before in {"<e>", ",", *(english for english, _ in ADVERBS)}
            else:
                assert before in ENGLISH_VERBS
                assert behind in {"<e>", *CONJUNCTION_WORDS}

    def test_asks_every_question(self) -> None:
        task = who_did_what(training=100, held_out=50)
        asked = {" ".join(words(task, example)[1:-1]).split(" <e>")[0] for example in task.training}
        assert asked == set(QUESTIONS.values())


class TestWordOrder:
    def test_the_choices_have_the_same_words(self) -> None:
        task = word_order(training=200, held_out=50)
        prefixes = {"ein", "an"}  # of separable verbs, which stand apart unless the verb is last
        for example in task.training:
            choices = [words(task, example, choice) for choice in range(3)]
            joined = ["".join(sorted("".join(choice))) for choice in choices]
            assert len(set(joined)) == 1
            assert len({tuple(choice) for choice in choices}) == 3
            if not any(prefixes & set(choice) for choice in choices):
                assert len({tuple(sorted(choice)) for choice in choices}) == 1

    def test_a_conjunction_sends_the_verb_to_the_end_an_adverb_draws_it_to_the_front(self) -> None:
        task = word_order(training=200, held_out=50)
        for example in task.training:
            text = words(task, example, int(example.labels))
            beginning, clause = text[1], text[3:-1]
            if beginning in {german for _, german in CONJUNCTIONS}:
                assert clause[-1].removeprefix("ein").removeprefix("an") in GERMAN_VERBS
            else:
                assert beginning in {german for _, german in ADVERBS}
                assert clause[0] in GERMAN_VERBS

    def test_the_right_choice_stands_anywhere(self) -> None:
        counts = Counter(int(example.labels) for example in word_order(training=300, held_out=50).training)
        assert min(counts[0], counts[1], counts[2]) > 70


class TestHabits:
    def test_every_word_is_its_own_label(self) -> None:
        task = habits(training=100, held_out=20)
        assert all(example.labels.tolist() == example.inputs[0].ids for example in task.training)
        assert MASK in task.vocabulary.ids

    def test_a_hidden_noun_follows_from_the_words_around_it(self) -> None:
        task = habits(training=1000, held_out=100)
        around: dict[str, set[tuple[str, ...]]] = {}
        for example in task.training:
            text = words(task, example)
            for i, word in enumerate(text):
                if word in {"cat", "mice", "cow", "women", "queen", "dogs", "bird"}:
                    around.setdefault(word, set()).add((text[i - 2], text[i - 1], text[i + 1]))
        contexts = [context for found in around.values() for context in found]
        assert len(around) == len(contexts) == len(set(contexts)) == 7


def test_more_than_there_is_cannot_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "PATIENCE", 3)
    with pytest.raises(ValueError, match=r"hardly more different examples than \d+ to train on and \d+ held out: ask"):
        person_or_animal(training=10**6, held_out=10)
