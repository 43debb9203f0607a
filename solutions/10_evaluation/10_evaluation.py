# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lesson 10 · Evaluation
#
# *Die Katze tanzte gestern Abend nicht auf dem Tisch.* Two programs, Felix and Minka, translate it:
#
# - **Felix**: *The cat did dance on the table last night.*
# - **Minka**: *Yesterday evening the cat was not dancing on the table.*
#
# Which do you prefer? Felix says the opposite of the truth, and in the morning somebody will search the table for paw
# prints. Yet the metric that a thousand papers have used prefers Felix, and by a wide margin: 71 to 0.
#
# In this lesson you implement that metric, find out what it misses, and learn what to ask people. First you evaluate a
# tagger: that is simpler, but it can still go wrong.
#
# | | you will write | points | minutes |
# |---|---|---|---|
# | 1 | precision, recall and F1 of a label | 3 | 12 |
# | 2 | the accuracy of whole sentences | 2 | 8 |
# | 3 | clipped n-grams | 4 | 20 |
# | 4 | the brevity penalty | 2 | 8 |
# | 5 | BLEU | 4 | 20 |
# | 6 | two ways to average over a corpus | 2 | 8 |
# | 7 | the table of edits | 4 | 25 |
# | 8 | the word error rate | 2 | 8 |
# | 9 | does a metric choose as people do? | 4 | 20 |
# | 10 | was the test in the training data? | 4 | 20 |
# | 11 | a short answer, in words | 3 | 15 |
#
# Stuck? Each call to `hint("evaluation.precision_recall_f1")` opens another hint. Once you have tried, `solution(...)` shows the
# answer and explains it; `progress()` shows how far you have come.

# %%
import math
import random
import re
from collections import Counter
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from course_lib import show
from course_lib.checking import case, check, hint, progress, solution
from course_lib.configurations import GPTConfig
from course_lib.evaluation.meanings import read_meanings
from course_lib.evaluation.metrics import METRICS, Texts, evaluate_texts, meteor
from course_lib.evaluation.similarity import TextEncoder, bertscore
from course_lib.evaluation.thesaurus import lesson_thesaurus
from course_lib.ground.tables import Table
from course_lib.mine import answer
from course_lib.models import BERT, GPT
from course_lib.references.heads_and_blocks import one_by_one
from course_lib.scenes.sample import EVERYDAY, HELD_OUT, everyday_scenes
from course_lib.scenes.small_translator import load_small_translator
from course_lib.show import BLUE, GREY, INK, ORANGE
from course_lib.text.fast_subwords import SubwordVocabulary
from course_lib.text.texts import read_pairs
from course_lib.text.tokenization import END_ID, START_ID
from course_lib.toys.small_world import ENTITIES, SMALL_BERT, tagged
from course_lib.training.progress import track

show.use_style()
torch.set_num_threads(1)  # matrices this small gain nothing from a second one

# %% [markdown]
# ## 1. Where there is one right answer
#
# A tagger labels every word. In the headline *British Left Waffles on Falkland Islands*, *British Left* is a party (an
# organization, ORG), *Falkland Islands* is a location (LOC), and everything else is Other. Each word has one right
# label, so we can count the words that get it. The share of tokens with the right label is the **accuracy**.
#
# Here are three headlines, a hasty tagger's labels, and the right label where it differs. The padding of the third
# headline doesn't count.

# %%
labels = ["Other", "ORG", "LOC"]
headlines = [
    ["British", "Left", "Waffles", "on", "Falkland", "Islands"],
    ["Vienna", "cats", "sit", "on", "Red", "Cross"],
    ["Cats", "sleep"],
]
expected = torch.tensor([[1, 1, 0, 0, 2, 2], [2, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0]])
predicted = torch.tensor([[2, 0, 0, 0, 2, 2], [2, 0, 0, 0, 1, 1], [0, 0, 2, 2, 2, 2]])
mask = torch.arange(6) < torch.tensor([len(words) for words in headlines]).unsqueeze(-1)

for words, said, true in zip(headlines, predicted.tolist(), expected.tolist(), strict=True):
    for word, guess, gold in zip(words, said, true, strict=False):
        print(f"{word:9} {labels[guess]:6} {labels[gold] if guess != gold else ''}")
    print()
print(f"accuracy of the tagger: {(predicted == expected)[mask].float().mean():.0%}")

# %% [markdown]
# Before each result, write down what you expect.
#
# *Predict first:* another tagger labels every word *Other*. What is its accuracy?

# %%
accuracy_of_other_always = None  # in percent

# %% tags=["demo"]
show.prediction("always saying Other", accuracy_of_other_always, 100 * (expected == 0)[mask].float().mean().item(), "%")

# %% [markdown]
# That should worry you. A program that never finds anything is right half the time; if nine words out of ten were
# Other, it would reach 90%. Accuracy treats all words alike, but we care most about the words that aren't Other.
#
# ### 1.1 Precision and recall
#
# So take **one label at a time**, and ask two questions. For LOC:
#
# - Of the words that were *predicted* to be locations, how many really are? That is the **precision**.
# - Of the words that *are* locations, how many were predicted to be? That is the **recall**.
#
# $$\text{precision} = \frac{\text{right}}{\text{predicted}}, \qquad \text{recall} = \frac{\text{right}}{\text{expected}}, \qquad
# F_1 = \frac{2 \cdot \text{precision} \cdot \text{recall}}{\text{precision} + \text{recall}} .$$
#
# Either one is easy to get on its own. If you call everything a location, recall is perfect; if you label only the word
# you're surest of, precision probably is, too. The harmonic mean $F_1$ is close to the *smaller* of the two, so you
# need both.
#
# Our tagger labeled four words as locations, three of them correctly, and there are three locations: precision is 3/4,
# and recall is 3/3.
#
# ### Exercise 1 · Precision, recall and F1
# `evaluation.precision_recall_f1` · 3 points (2 for the values, 1 for 0 / 0) · about 12 minutes
#
# Score one label. Only tokens where the mask is True count. A score that would be 0 / 0 (the precision of a label that
# was never predicted, say) is 0.
#
# Shapes: `predicted` and `expected` are integers and `mask` is boolean, all of the same shape; `label` is an int; the
# result is a tuple of three floats, `(precision, recall, f1)`.

# %% [markdown] tags=["fine-print"]
# The tensors may have any number of dimensions. Return plain floats, not tensors. Don't use libraries that do the
# scoring (sklearn, say).


# %% nbgrader={"grade": false, "grade_id": "evaluation-precision_recall_f1-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def label_scores(predicted, expected, mask, label):
    """How well the tagger finds one label.

    predicted, expected: int64, the labels
    mask: bool of the same shape, True where there is a word
    label: int, the one to score
    returns: (precision, recall, f1), floats from 0 to 1; 0 for 0 / 0
    """
    ### BEGIN SOLUTION
    said, true = predicted[mask] == label, expected[mask] == label
    right = (said & true).sum().item()
    said, true = said.sum().item(), true.sum().item()
    return right / max(said, 1), right / max(true, 1), 2 * right / max(said + true, 1)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The harmonic mean of the two is 2 · right / (predicted + expected), so you don't need a special case where precision
# and recall are both 0. If the label was never predicted, the numerator is 0 as well, so dividing by 1 gives the
# required 0. Padding usually contains the id of some label and could count as a match, so mask both tensors first. An
# arithmetic mean would give about 0.5 to a system that predicts the label everywhere.

# %% nbgrader={"grade": true, "grade_id": "evaluation-precision_recall_f1-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("evaluation.precision_recall_f1")
### BEGIN HIDDEN TESTS
check("evaluation.precision_recall_f1", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Now the lazy program has nowhere to hide: it gets half the words right, but its F1 is 0 for each label that matters.


# %% tags=["demo"]
@show.when_ready
def accuracy_hides_what_f1_shows():
    taggers = {"the tagger": predicted, "always Other": torch.zeros_like(predicted)}
    drawn, [axes] = show.frames(width=6.8, height=3.0)
    for index, (name, said) in enumerate(taggers.items()):
        heights = [(said == expected)[mask].float().mean().item()]
        heights += [label_scores(said, expected, mask, label)[2] for label in (1, 2)]
        places = [place + 0.36 * index for place in range(3)]
        shown = axes.bar(places, heights, width=0.34, color=[BLUE, ORANGE][index], label=name)
        axes.bar_label(shown, [f"{height:.2f}" for height in heights], padding=2, fontsize=9.5)
    axes.set_xticks([0.18, 1.18, 2.18], labels=["accuracy", "F1 of ORG", "F1 of LOC"])
    axes.set(ylim=(0, 1.3), title="One number for everything, or one for each label", yticks=[0, 0.5, 1])
    axes.legend(loc="upper right", ncols=2)
    show.figure(drawn, "Bars: always saying Other reaches an accuracy of one half, and an F1 of 0 for ORG and for LOC.")


# %% [markdown]
# ### 1.2 Whole sentences
#
# If a tagger's output feeds another program, a sentence with one wrong label may be as useless as a sentence with five.
# So also ask **per sequence**: was the *entire* sentence right? If each of twenty words is right with probability 0.97,
# independently of the others, all of them are right with probability $0.97^{20} \approx 0.54$.
#
# ### Exercise 2 · Whole sentences
# `evaluation.sequence_accuracy` · 2 points · about 8 minutes
#
# Compute the share of sentences that are right from the first word to the last. Padding is never wrong.
#
# Shapes: `predicted` and `expected` are integers `[batch, tokens]`, and `mask` is boolean `[batch, tokens]`; the result
# is a float.

# %% [markdown] tags=["fine-print"]
# Every sentence has at least one word. Return a plain float, not a tensor.


# %% nbgrader={"grade": false, "grade_id": "evaluation-sequence_accuracy-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sequence_accuracy(predicted, expected, mask):
    """The share of sentences in which every word has the right label.

    predicted, expected: int64 [batch, tokens]
    mask: bool [batch, tokens], True where there is a word
    returns: float from 0 to 1
    """
    ### BEGIN SOLUTION
    fine = (predicted == expected) | ~mask
    return fine.all(dim=-1).float().mean().item()
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Before you average, check for each sentence whether all of its words are right. An "or" with the inverted mask counts
# padding as right; if padding had to match, a system would be penalized for what it outputs there.

# %% nbgrader={"grade": true, "grade_id": "evaluation-sequence_accuracy-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("evaluation.sequence_accuracy")
### BEGIN HIDDEN TESTS
check("evaluation.sequence_accuracy", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ### 1.3 Your tagger from lesson 09
#
# Your `TokenClassifier` learned the names of parties and places from sixty sentences, once from scratch and once on top
# of a pre-trained encoder. Now evaluate it with your own functions.
#
# A tagger gives each label a probability and chooses the most probable label. But it doesn't have to. If false alarms are
# expensive, require a probability of 70% for ORG; if misses are expensive, require only 10%. So a tagger doesn't have just
# one precision and one recall: it has a whole curve of them.
#
# *Predict first:* the tagger trained from scratch labels a hundred words as parties, but only a little more than half
# of them are. Let it say ORG only if it is at least 70% sure. What are precision and recall then?

# %%
from_70_percent_on = {"precision": None, "recall": None}  # in percent


# %% tags=["demo"]
def as_bert_reads_them(sentences, encode_pairs):
    """Lesson 09's input (ids, segments, mask, and where each word begins), the words' labels, and where the words are."""
    pieces = SubwordVocabulary.load_bert(SMALL_BERT / "vocab.txt")
    special = (pieces.id(token) for token in ("[CLS]", "[SEP]", "[PAD]"))
    read = encode_pairs([pieces.encode(told.text) for told in sentences], [None] * len(sentences), *special)
    starts = [torch.tensor([1, *(len(pieces.encode(word)) for word in told.words[:-1])]) for told in sentences]
    starts = nn.utils.rnn.pad_sequence([lengths.cumsum(dim=0) for lengths in starts], batch_first=True)
    tags = [torch.tensor([ENTITIES.index(entity) for entity in told.entities]) for told in sentences]
    there = [torch.ones(len(told.words), dtype=torch.bool) for told in sentences]
    return (*read, starts), *(nn.utils.rnn.pad_sequence(rows, batch_first=True) for rows in (tags, there))


def learned_tagger(bert, head, read, tags, there, title):
    """A function that scores the labels of every word, after training encoder and head on these sentences."""
    optimizer = torch.optim.AdamW([*bert.parameters(), *head.parameters()], lr=1e-3)
    generator = torch.Generator().manual_seed(0)

    def score(ids, segments, mask, starts):
        return head(bert(ids, segments=segments, mask=mask).states, starts)

    for _epoch in track(range(6), title):
        for chosen in torch.randperm(len(tags), generator=generator).split(25):
            scores = score(*(tensor[chosen] for tensor in read))
            loss = F.cross_entropy(scores[there[chosen]], tags[chosen][there[chosen]])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    bert.eval()
    return score


@show.when_ready
def your_tagger_judged():
    encode_pairs, TokenClassifier = answer("bert.pair_encoding"), answer("bert.token_classifier")
    few = as_bert_reads_them(tagged(60, 1), encode_pairs)
    read, right, there = as_bert_reads_them(tagged(300, 100), encode_pairs)
    drawn, [axes] = show.frames(width=6.6, height=4.2)
    print("on 300 new sentences:")
    print(" " * 12, "words right  sentences right  ORG: precision, recall, F1  LOC: the same")
    for name, colour in (("fine-tuned", BLUE), ("from scratch", ORANGE)):
        torch.manual_seed(0)
        bert = BERT.from_pretrained(SMALL_BERT)
        bert = bert if name == "fine-tuned" else BERT(bert.config)
        score = learned_tagger(bert.train(), TokenClassifier(bert.config.d_model, len(ENTITIES)), *few, name)
        with torch.no_grad():
            p = score(*read).softmax(dim=-1)
        said = p.argmax(dim=-1)
        org, loc = (label_scores(said, right, there, label) for label in (1, 2))
        print(f"{name:12} {(said == right)[there].float().mean():11.1%}", end="")
        print(f"{sequence_accuracy(said, right, there):17.0%}", end="   ")
        print("  ".join("".join(f"{100 * share:7.0f}%" for share in label) for label in (org, loc)))

        curve = {}  # by the smallest probability at which the tagger may say ORG
        for percent in range(1, 100):
            surely = p[..., 1] >= percent / 100
            if surely[there].any():
                curve[percent] = label_scores(surely.long(), (right == 1).long(), there, 1)
        axes.plot([recall for _, recall, _ in curve.values()], [one for one, *_ in curve.values()], color=colour)
        axes.plot(org[1], org[0], "o", color=colour, label=f"{name}: the largest probability")
        if name == "from scratch":
            axes.plot(curve[70][1], curve[70][0], "s", color=colour, label=f"{name}: from 70% on")
            at_70 = dict(zip(("precision", "recall"), curve[70], strict=False))
    recalls = torch.linspace(0.01, 1, 500)
    for f1 in (0.4, 0.6, 0.8):
        precisions = f1 * recalls / (2 * recalls - f1)
        shown = (precisions > 0) & (precisions <= 1)
        axes.plot(recalls[shown], precisions[shown], color=GREY, linewidth=0.8, linestyle=":", zorder=0)
        axes.annotate(
            f"F1 {f1}", (1.0, f1 / (2 - f1)), xytext=(3, -3), textcoords="offset points", color=GREY, fontsize=9
        )
    axes.set(xlim=(0, 1.1), ylim=(0, 1.08), xlabel="recall of ORG", ylabel="precision", title="As sure as you like")
    axes.legend(loc="lower left")
    show.figure(
        drawn,
        "Precision against recall of ORG for two taggers: the fine-tuned one's curve is in the upper right corner; the other's "
        "falls from a precision of 1 at a recall of a quarter to a third at nine tenths.",
    )
    for what, found in at_70.items():
        show.prediction(f"{what} from 70% on", from_70_percent_on[what], 100 * found, "%")


# %% [markdown]
# You can have certainty, at the price of recall: only a few predictions are left, and all of them are parties. You can also
# find nearly all parties, at the price of many false alarms. On each dotted line, F1 is constant. If you always choose the
# most probable label, as the tagger does, you may miss the highest line that the curve touches. You can't get from one curve
# to the other by changing the threshold: for that, you need a better tagger.
#
# ## 2. Where there are many right answers
#
# Translation isn't that simple. *The cat was not dancing*, *the cat did not dance*, *no dancing was done by the cat*: all
# of them are right. Let's count right words anyway. A human translator has given us one right answer, the **reference**; a
# program's output is the **hypothesis**.
#
# *Predict first:* Felix leaves out one word of eleven. How many of his words are in the right position?

# %%
reference = "the cat did not dance on the table last night .".split()
felix = "the cat did dance on the table last night .".split()
minka = "yesterday evening the cat was not dancing on the table .".split()
felix_right_in_their_place = None  # of 11


# %% tags=["demo"]
def place_by_place():
    for translator, hypothesis in (("Minka", minka), ("Felix", felix)):
        right = [word for word, wanted in zip(hypothesis, reference, strict=False) if word == wanted]
        print(f"{translator}: {len(right)} of {len(reference)} words are right by position: {right}")
    show.prediction("Felix's words", felix_right_in_their_place, len(right))


place_by_place()

# %% [markdown]
# After the gap, every word is one position too far to the left, and counts as wrong. Counting by position makes sense only
# if there is exactly one answer for each input word. That works for tagging, but a translator reads first and writes
# afterward, *with* a delay of any length.

# %% [markdown] tags=["slides"]
# S1 says *no time delay* for tagging and *with time delay* for translation, but two slides on evaluating generated text are
# headed "no time delay". That is a slip: you have just seen what happens if you take it literally. The heading for taggers
# says "w/o no time delay", which is one negation too many.

# %% [markdown]
# So we need a metric that ignores positions. We can ask **people**, which is slow and expensive, but tells us what we
# want to know. Or we can compare outputs with references **automatically**, and hope that the result agrees with
# people. We build the automatic metrics first.
#
# ## 3. BLEU
#
# BLEU (Papineni et al., 2002) rests on one idea: a good translation shares many **n-grams**, runs of $n$ neighboring words,
# with the reference. Single words that match show that the translation talks about the right things, and longer runs that
# match show that the words are in the right order. BLEU is a precision: of the n-grams in the hypothesis, how many are also
# in the reference?
#
# ### 3.1 Counting, and clipping
#
# High precision is easy to get. The cat is on the chair again, and a program has discovered that *the* and *cat* are
# always right:

# %%
on_the_chair = "the cat is on the chair".split()
babble = "the the cat cat the on the chair".split()
known = [word for word in babble if word in on_the_chair]
print(f"{len(known)} of {len(babble)} words are in the reference")

# %% tags=["demo"]
spoken, there = Counter(babble), Counter(on_the_chair)
drawn, [axes] = show.frames(width=6.4, height=3.0)
axes.bar(list(spoken), list(spoken.values()), width=0.6, color="#d5d8dd", label="clipped away")
axes.bar(
    list(spoken), [min(count, there[each]) for each, count in spoken.items()], width=0.6, color=BLUE, label="matched"
)
for place, each in enumerate(spoken):
    axes.hlines(there[each], place - 0.38, place + 0.38, color=ORANGE, linewidth=2.4)
axes.plot([], [], color=ORANGE, linewidth=2.4, label="in the reference")
axes.set(ylim=(0, 4.6), yticks=range(5), title="how often each word occurs, and how often it counts")
axes.legend(loc="upper right")
show.figure(drawn, "Bars of word counts: the occurs 4 times and counts twice, cat occurs twice and counts once.")

# %% [markdown]
# All eight words are "right". The remedy is **clipping**: count an n-gram of the hypothesis at most as often as it
# occurs in the reference. The reference has *the* twice, so two of the four count, and so does one of the two *cats*:
# five of eight words match.
#
# With several references, count each n-gram at most as often as it occurs in any **single reference**. Two references that
# each have two *the*s still allow only two.
#
# ### Exercise 3 · Clipped n-grams
# `evaluation.clipped_ngrams` · 4 points (3 for one reference, 1 for several) · about 20 minutes
#
# Count how many n-grams of the hypothesis match, and how many n-grams it has in all. Return both, `(matched, total)`,
# not their ratio; section 3.4 shows why. A sentence of 6 words has 5 runs of two words and 4 runs of three; a sentence
# of fewer than $n$ words has no n-grams.

# %% [markdown] tags=["fine-print"]
# Words are compared as they are, including capitals, and sentences aren't padded. In exercises 3 to 6, don't use functions
# that match or score for you, such as nltk's `modified_precision` or anything in sacrebleu.


# %% nbgrader={"grade": false, "grade_id": "evaluation-clipped_ngrams-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def clipped_ngrams(hypothesis, references, n):
    """How many n-grams of a hypothesis match its references, and how many it has.

    hypothesis: list of words
    references: list of lists of words, one or more
    n: int, the length of the n-grams
    returns: (matched, total), two ints
    """
    ### BEGIN SOLUTION

    def ngrams(words):
        return Counter(tuple(words[start : start + n]) for start in range(len(words) - n + 1))

    allowed = Counter()
    for reference in references:
        allowed |= ngrams(reference)
    said = ngrams(hypothesis)
    return (said & allowed).total(), said.total()
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The largest count in a single reference shows how often a translator really used the n-gram. Dividing by the number of
# n-grams in the reference would give recall. A sentence of w words has w - n + 1 n-grams; if it is too short, the range is
# empty and raises no error.

# %% nbgrader={"grade": true, "grade_id": "evaluation-clipped_ngrams-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("evaluation.clipped_ngrams")
### BEGIN HIDDEN TESTS
check("evaluation.clipped_ngrams", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Try it on the two translations from the beginning.


# %% tags=["demo"]
@show.when_ready
def both_translators_counted():
    counts = {n: [clipped_ngrams(said, [reference], n) for said in (felix, minka)] for n in range(1, 5)}
    print("n-grams  Felix     Minka")
    for n, both in counts.items():
        print(f"   {n}     " + "   ".join(f"{matched:2} of {total:2}" for matched, total in both))


# %% [markdown]
# Every word that Felix says is in the reference. Precision looks only at words that are in the hypothesis, so all that the
# missing *not* can do is break up longer runs. Minka uses different words, and a word that merely *resembles* the right one
# counts no more than a word from another planet.
#
# ### 3.2 The brevity penalty
#
# The less you say, the less can be wrong: the hypothesis *the cat* has a precision of 1. Recall would expose this, but
# it is awkward with several references. So BLEU looks at the **length**. With $c$ words in the hypothesis and $r$ in
# the reference,
#
# $$\text{penalty} = \begin{cases} 1 & c \ge r \\ e^{\,1 - r/c} & c < r . \end{cases}$$
#
# If the hypothesis is half as long as the reference, $r/c = 2$ and the penalty is $e^{-1} \approx 0.37$. Long
# hypotheses don't need a penalty: superfluous words have already cost precision.
#
# ### Exercise 4 · Brevity penalty
# `evaluation.brevity_penalty` · 2 points (1 for the values, 1 for an empty hypothesis) · about 8 minutes
#
# Implement this formula. A hypothesis without words gets 0, the limit of $e^{\,1 - r/c}$ as $c$ goes to 0.

# %% [markdown] tags=["fine-print"]
# The reference has at least one word.


# %% nbgrader={"grade": false, "grade_id": "evaluation-brevity_penalty-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def brevity_penalty(hypothesis_length, reference_length):
    """BLEU's factor for short hypotheses.

    hypothesis_length, reference_length: int, in words
    returns: float; below 1 if the hypothesis is shorter than the reference, 0 without words
    """
    ### BEGIN SOLUTION
    if hypothesis_length == 0:
        return 0.0
    return min(1.0, math.exp(1 - reference_length / hypothesis_length))
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# For c > r, the exponent 1 - r/c is positive, so the exponential is above 1. The minimum of 1 and the exponential
# therefore covers both cases.

# %% nbgrader={"grade": true, "grade_id": "evaluation-brevity_penalty-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("evaluation.brevity_penalty")
### BEGIN HIDDEN TESTS
check("evaluation.brevity_penalty", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ### 3.3 Putting BLEU together
#
# Now we combine four precisions (for $n = 1$ to $4$) and a penalty into one number. Precisions fall by roughly the same
# factor from each $n$ to the next, so BLEU takes their *geometric* mean, the fourth root of the product.
#
# $$\text{BLEU} = \text{penalty} \cdot \Big(\prod_{n=1}^{N} p_n\Big)^{1/N}
# = \text{penalty} \cdot \exp\Big(\frac1N \sum_{n=1}^{N} \ln p_n\Big), \qquad N = 4 .$$
#
# If one precision is 0, BLEU is 0. That happens to short sentences all the time, so BLEU is meant for a whole **corpus**.
# Then $p_n$ is the number of matches in all sentences, divided by the number of all n-grams in the hypotheses, and the
# penalty uses the total lengths. If a sentence has several references, its **reference length** is the length of the
# reference that is closest in length to the hypothesis.
#
# ### Exercise 5 · BLEU
# `evaluation.corpus_bleu` · 4 points (2 for the values, 1 for several references, 1 for a precision of 0) · about 20 minutes
#
# Compute BLEU from the counts of exercise 3. You get `penalty`, a function of the two lengths, so that you don't depend on
# exercise 4.

# %% [markdown] tags=["fine-print"]
# The counts determine N, which is 1 or more. If two references are equally close, use the shorter one. A precision is 0
# if there are no n-grams at all. Don't smooth. There is at least one sentence, and each has at least one reference.


# %% nbgrader={"grade": false, "grade_id": "evaluation-corpus_bleu-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def corpus_bleu(counts, lengths, penalty):
    """BLEU of a whole corpus.

    counts: list of sentences, each a list of pairs (matched, total), for 1-grams, 2-grams and so on
    lengths: list of pairs (hypothesis length, [reference lengths]), one for each sentence
    penalty: a function of the hypothesis length and the reference length
    returns: float from 0 to 1
    """
    ### BEGIN SOLUTION
    precisions = []
    for pairs in zip(*counts, strict=True):
        matched, total = map(sum, zip(*pairs, strict=True))
        precisions.append(matched / max(total, 1))
    said = sum(length for length, _ in lengths)
    right = sum(min((abs(one - length), one) for one in several)[1] for length, several in lengths)
    return penalty(said, right) * math.prod(precisions) ** (1 / len(precisions))
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# For a single sentence, smooth BLEU or, better yet, don't compute it at all. With n precisions, take the n-th root, not
# always the fourth; in Python, `x ** 1 / n` is x divided by n, so the exponent needs parentheses. The penalty multiplies the
# mean; inside the root, only its n-th root would count. If you compare `(distance, length)` pairs, the shorter of two
# equally close references wins.

# %% nbgrader={"grade": true, "grade_id": "evaluation-corpus_bleu-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("evaluation.corpus_bleu")
### BEGIN HIDDEN TESTS
check("evaluation.corpus_bleu", hidden=True)
### END HIDDEN TESTS


# %%
def bleu_counts(said, right):
    """A sentence's counts for BLEU: (matched, total) for n = 1 to 4, its length and the reference's."""
    return [clipped_ngrams(said, [right], n) for n in range(1, 5)], (len(said), [len(right)])


def bleu(counts):
    """BLEU in percent, from the counts of all sentences, by your functions."""
    ngrams, lengths = zip(*counts, strict=True)
    return 100 * corpus_bleu(list(ngrams), list(lengths), brevity_penalty)


# %% tags=["demo"]
@show.when_ready
def the_two_translations_judged():
    for name, hypothesis in (("Felix", felix), ("Minka", minka)):
        counts = bleu_counts(hypothesis, reference)
        shown = ", ".join(f"{matched / total:.2f}" for matched, total in counts[0])
        penalty = brevity_penalty(len(hypothesis), len(reference))
        print(f"{name}: precisions {shown}; penalty {penalty:.2f}; BLEU {bleu([counts]):.1f}")


# %% [markdown]
# They score 71 and 0, as promised (BLEU is usually given in percent; a library that smooths turns Minka's 0 into 19). This
# *is* BLEU. Felix loses points for one word out of eleven, and an n-gram can't know that the word was *not*.
#
# What is BLEU good at? Take a sentence of thirteen words. Output only its first $c$ words, or all of them and then more
# and more nonsense. *Predict first:* which costs more, five words too few or five too many?

# %%
costs_more = None  # "too few" or "too many"


# %% tags=["demo"]
@show.when_ready
def bleu_against_length():
    whole = "the animal did not cross the street because it was too tired .".split()
    endless = whole + "so it sat down and looked at its paws for a while .".split()
    lengths = range(4, len(endless) + 1)
    means, penalties = [], []
    for length in lengths:
        counts, lengths_of_both = bleu_counts(endless[:length], whole)
        means.append(corpus_bleu([counts], [lengths_of_both], lambda said, right: 1.0))
        penalties.append(brevity_penalty(length, len(whole)))
    drawn, [axes] = show.frames(width=7.0, height=3.3)
    axes.plot(lengths, means, color=ORANGE, linestyle="--", label="geometric mean of the precisions")
    axes.plot(lengths, penalties, color=BLUE, linestyle="--", label="brevity penalty")
    axes.plot(lengths, [m * p for m, p in zip(means, penalties, strict=True)], color=INK, linewidth=2.4, label="BLEU")
    axes.axvline(len(whole), color=GREY, linestyle=":")
    axes.annotate("length of the reference", (len(whole), 0.06), xytext=(5, 0), textcoords="offset points", color=GREY)
    axes.set(xlabel="words in the hypothesis", ylim=(0, 1.12), title="Too short: penalty. Too long: precision")
    axes.legend(loc="lower right", bbox_to_anchor=(1, 0.14))
    show.figure(
        drawn,
        "BLEU by length: it rises with the brevity penalty up to the reference's length, is 1 there, and falls with "
        "the precision beyond it.",
    )
    scores = {length: m * p for length, m, p in zip(lengths, means, penalties, strict=True)}
    few, many = (scores[len(whole) + change] for change in (-5, 5))
    print(f"five too few: {few:.2f}, five too many: {many:.2f}")
    show.prediction("costs more", costs_more, "too few" if few < many else "too many")


# %% [markdown]
# ### 3.4 Corpus or sentence
#
# One sentence is an anecdote, so here are eight. Felix repeats the reference but nearly always gets one little thing
# wrong; Minka uses her own words.

# %%
corpus = [  # German, reference, Felix, Minka
    (
        "Die Katze tanzte gestern Abend nicht auf dem Tisch.",
        "the cat did not dance on the table last night .",
        "the cat did dance on the table last night .",
        "yesterday evening the cat was not dancing on the table .",
    ),
    (
        "Der kleine Hund wartete vor der Tür auf das Mädchen.",
        "the little dog waited for the girl outside the door .",
        "the little girl waited for the dog outside the door .",
        "the small dog was waiting in front of the door for the girl .",
    ),
    (
        "Bitte füttern Sie die Katze, bevor Sie gehen.",
        "please feed the cat before you leave .",
        "please feed the cat after you leave .",
        "give the cat some food before you go , please .",
    ),
    (
        "Der Tierarzt sagte, die Katze sei wieder gesund.",
        "the vet said that the cat was healthy again .",
        "the vet said that the cat was ill again .",
        "according to the vet , the cat has recovered .",
    ),
    (
        "Der Zug verließ langsam den Bahnhof.",
        "the train slowly left the station .",
        "the train slowly left the radio station .",
        "slowly , the train pulled out of the station .",
    ),
    (
        "Das Tier ging nicht über die Straße, weil es zu müde war.",
        "the animal did not cross the street because it was too tired .",
        "the animal did not cross the street because it was too wide .",
        "the animal was too tired to go across the road .",
    ),
    (
        "Die Katze ist auf dem Stuhl.",
        "the cat is on the chair .",
        "the chair is on the cat .",
        "the cat is sitting on the chair .",
    ),
    (
        "Niemand hat das Buch gelesen.",
        "nobody has read the book .",
        "nobody has read the book .",
        "no one read it .",
    ),
]
german, references, *both = zip(*corpus, strict=True)
systems = dict(zip(("Felix", "Minka"), both, strict=True))
for row in corpus:
    print("{}\n   reference  {}\n   Felix      {}\n   Minka      {}".format(*row))

# %% [markdown]
# How do you combine eight precisions into one? There are two ways:
#
# - **micro**: add up the matches of all sentences, add up their totals, and divide *once*. That is *corpus* BLEU.
# - **macro**: divide for each sentence, and take the mean. That is the mean of *sentence* BLEUs.
#
# Micro gives every n-gram the same vote, and macro gives every sentence the same vote. In sentence A, 9 of 10 n-grams
# are right; in sentence B, which is very short, 0 of 2 are right. What are the two averages?
#
# <details><summary>The answer</summary>
#
# Micro is 9 of 12, or 0.75. Macro is the mean of 0.9 and 0, or 0.45.
#
# </details>
#
# ### Exercise 6 · Corpus or sentence
# `evaluation.corpus_or_sentence` · 2 points (1 for the values, 1 where there are no n-grams) · about 8 minutes
#
# Return `(micro, macro)`. A sentence that is too short for any n-gram has a precision of 0, and so does a corpus
# without n-grams.

# %% [markdown] tags=["fine-print"]
# There is at least one sentence.


# %% nbgrader={"grade": false, "grade_id": "evaluation-corpus_or_sentence-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def micro_and_macro(matched, total):
    """The precision of many sentences, averaged both ways.

    matched: list of ints, how many n-grams of each sentence are right
    total: list of ints, how many each sentence has; may be 0
    returns: (micro, macro), two floats
    """
    ### BEGIN SOLUTION
    shares = [right / max(of, 1) for right, of in zip(matched, total, strict=True)]
    return sum(matched) / max(sum(total), 1), sum(shares) / len(shares)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# A sentence too short for any n-gram has a precision of 0 in the macro average and still counts as a sentence; leaving it
# out would reward empty hypotheses.

# %% nbgrader={"grade": true, "grade_id": "evaluation-corpus_or_sentence-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("evaluation.corpus_or_sentence")
### BEGIN HIDDEN TESTS
check("evaluation.corpus_or_sentence", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def votes_of_ngrams_and_of_sentences():
    matched, total = [18, 1, 0], [20, 4, 3]  # one long sentence and two short ones
    micro, macro = micro_and_macro(matched, total)
    drawn, [axes] = show.frames(width=7.2, height=3.0)
    lefts = [sum(total[:index]) for index in range(len(total))]
    heights = [right / of for right, of in zip(matched, total, strict=True)]
    axes.bar(lefts, heights, width=total, align="edge", color="#c9dcf2", edgecolor="white", linewidth=2)
    for left, right, of in zip(lefts, matched, total, strict=True):
        axes.text(left + of / 2, 0.04, f"{right} of {of}", ha="center", color=INK, fontsize=9.5)
    axes.axhline(micro, color=BLUE)
    axes.text(27.3, micro, f"micro {micro:.2f}", va="center", color=BLUE)
    axes.axhline(macro, color=ORANGE, linestyle="--")
    axes.text(27.3, macro, f"macro {macro:.2f}", va="center", color="#b5651d")
    axes.set(
        xlim=(0, 27), ylim=(0, 1.05), xlabel="n-grams, sentence by sentence", title="Three sentences, two averages"
    )
    axes.set_position([0.09, 0.19, 0.76, 0.68])
    show.figure(
        drawn,
        "Three bars, as wide as a sentence has n-grams and as high as the share that match: a wide, high one and two "
        "narrow, low ones. The micro average is near the wide one, macro far below.",
    )


# %% [markdown]
# Micro is the height that you get if you level out the bars without changing their total area. Macro is the mean of the
# bars' heights, in which the two short sentences outvote the long one. Neither is wrong, but you can't compare one with the
# other. When a paper says "BLEU", it means micro. Does your BLEU agree with `sacrebleu`, which exists because people kept
# comparing BLEU scores that were computed differently (Post, 2018)?


# %% tags=["demo"]
@show.when_ready
def your_bleu_and_the_librarys():
    for name, sentences in systems.items():
        pairs = zip(sentences, references, strict=True)
        ours = bleu([bleu_counts(said.split(), right.split()) for said, right in pairs])
        theirs = evaluate_texts(sentences, references, ["bleu"])["BLEU"]
        print(f"{name}: yours {ours:.2f}, sacrebleu's {theirs.corpus:.2f}   ({theirs.signature.split(';')[0]})")


# %% [markdown]
# The text in parentheses is the **signature**. Compare two BLEU scores only if their signatures are the same: different
# settings, above all for tokenization, can change a score by up to 1.8 points (Post, 2018).
#
# ## 4. Edits
#
# Another old metric comes from speech recognition, where words *do* have one right order: how many words must you change to
# turn the hypothesis into the reference? An **edit** substitutes, deletes or inserts one word. Two edits turn *the cat did
# dance* into *a cat did not dance*: replace *the* with *a*, and insert *not*.
#
# ### 4.1 The table of edits
#
# There are astronomically many ways to turn one sentence into another; with a table, you find a way with the *fewest*
# edits. Let $D_{ij}$ be the fewest edits that turn the **first $i$ words** of the hypothesis into the **first $j$
# words** of the reference. Every sequence of edits ends with one of three steps:
#
# $$D_{ij} = \min \begin{cases}
# D_{i-1,\,j} + 1 & \text{the hypothesis's word } i \text{ is deleted} \\
# D_{i,\,j-1} + 1 & \text{the reference's word } j \text{ is inserted} \\
# D_{i-1,\,j-1} + [\,h_i \ne r_j\,] & \text{one replaces the other, for free if they are equal}
# \end{cases}$$
#
# and if one side is empty, you delete or insert everything: $D_{i0} = i$, $D_{0j} = j$. Each cell needs only three
# neighbors, and if you fill the table row by row, you already know them. This is *dynamic programming*: solve each
# small problem once, write down its answer, and combine the answers to solve the large problem.
#
# ### Exercise 7 · The table of edits
# `evaluation.edit_table` · 4 points · about 25 minutes
#
# Fill the table.
#
# Shapes: `hypothesis` and `reference` are lists of words; the result is an int64 tensor `[len(hypothesis) + 1,
# len(reference) + 1]`. Row 0 and column 0 stand for an empty sentence.

# %% [markdown] tags=["fine-print"]
# Either list may be empty. Words are equal only if their capitalization matches, too. Don't use libraries that compute
# edit distances.


# %% nbgrader={"grade": false, "grade_id": "evaluation-edit_table-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def edit_table(hypothesis, reference):
    """The fewest edits between any two prefixes of two sentences.

    hypothesis, reference: lists of words
    returns: int64 [len(hypothesis) + 1, len(reference) + 1]
    """
    ### BEGIN SOLUTION
    rows = [list(range(len(reference) + 1))]
    for i, word in enumerate(hypothesis, start=1):
        row = [i]
        for j, right in enumerate(reference, start=1):
            row.append(min(rows[-1][j] + 1, row[j - 1] + 1, rows[-1][j - 1] + (word != right)))
        rows.append(row)
    return torch.tensor(rows)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The borders count up, because it takes j insertions to make j words out of none; borders of 0 would let the alignment
# begin anywhere for free. The diagonal is free where the words are equal. A substitution costs 1, like the other edits;
# at a cost of 2, it would be no better than a deletion and an insertion, and the table would measure the longest common
# subsequence.

# %% nbgrader={"grade": true, "grade_id": "evaluation-edit_table-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("evaluation.edit_table")
### BEGIN HIDDEN TESTS
check("evaluation.edit_table", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# The number in the last cell is the **edit distance**. Walk back from there, from each cell to a neighbor that explains
# its number, and you see the edits themselves. If a diagonal step leaves the number unchanged, the word stays.


# %% tags=["demo"]
@show.when_ready
def a_way_through_the_table():
    hypothesis, right = "so the cat did dance".split(), "a cat did not dance".split()
    table = edit_table(hypothesis, right)
    (i, j), way, done = (len(hypothesis), len(right)), [], []
    while True:
        way.append((i, j))
        if i == j == 0:
            break
        here = table[i, j].item()
        if i and j and table[i - 1, j - 1] + (hypothesis[i - 1] != right[j - 1]) == here:
            i, j = i - 1, j - 1
            done.append(hypothesis[i] if hypothesis[i] == right[j] else f"[{hypothesis[i]} becomes {right[j]}]")
        elif i and table[i - 1, j] + 1 == here:
            i -= 1
            done.append(f"[{hypothesis[i]} deleted]")
        else:
            j -= 1
            done.append(f"[{right[j]} inserted]")
    show.edits(
        table,
        way,
        hypothesis,
        right,
        alt="The table of edits as a grid of numbers; framed cells lead from the "
        "upper left, 0, to the lower right, 3: delete, substitute, keep, keep, insert, keep.",
    )
    print(" ".join(reversed(done)))


# %% [markdown]
# ### 4.2 The word error rate
#
# The **word error rate** (WER) of a corpus is the number of all edits divided by the number of all reference words (micro
# again). It is an *error* rate, so lower is better; and since a hypothesis may contain any number of superfluous words, the
# rate may exceed 1.
#
# ### Exercise 8 · Word error rate
# `evaluation.word_error_rate` · 2 points · about 8 minutes
#
# Compute the word error rate of a corpus. You get `distance`, which counts the edits between two sentences, so that you
# don't depend on exercise 7.

# %% [markdown] tags=["fine-print"]
# No reference is empty, but a hypothesis may be. Don't use libraries that compute edits or error rates (jiwer, say).


# %% nbgrader={"grade": false, "grade_id": "evaluation-word_error_rate-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def word_error_rate(hypotheses, references, distance):
    """Edits divided by reference words, over a whole corpus.

    hypotheses, references: lists of sentences, which are lists of words
    distance: a function of two sentences that counts the edits between them
    returns: float, 0 at best; may exceed 1
    """
    ### BEGIN SOLUTION
    edits = sum(distance(*pair) for pair in zip(hypotheses, references, strict=True))
    return edits / sum(len(reference) for reference in references)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The mean of the sentences' rates would give a misheard "yes" as much weight as a misheard paragraph. The number of
# reference words is in the denominator because it is fixed; otherwise, a system could improve its rate by saying more.
# For an empty hypothesis, every word of the reference is an edit, so don't leave that sentence out.

# %% nbgrader={"grade": true, "grade_id": "evaluation-word_error_rate-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("evaluation.word_error_rate")
### BEGIN HIDDEN TESTS
check("evaluation.word_error_rate", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# *Predict first:* somebody says *last night the cat danced*, and the reference is *the cat danced last night*. What is
# the word error rate?

# %%
word_error_rate_of_moved_words = None  # in percent


# %% tags=["demo"]
@show.when_ready
def error_rates_of_the_translators():
    def distance(hypothesis, right):
        return edit_table(hypothesis, right)[-1, -1].item()

    right = [sentence.split() for sentence in references]
    for name, sentences in systems.items():
        print(f"{name}: {word_error_rate([sentence.split() for sentence in sentences], right, distance):.1%}")

    moved = word_error_rate(["last night the cat danced".split()], ["the cat danced last night".split()], distance)
    show.prediction("two words moved to the front", word_error_rate_of_moved_words, 100 * moved, "%")


# %% [markdown]
# Moving two words to the front takes two deletions and two insertions: four edits for five words. For speech, that is
# fair. For translation, it isn't; TER, a newer relative, counts moving a whole block as one edit.
#
# Again, Felix is far ahead. It is time to ask people.
#
# ## 5. What people say
#
# In a **human evaluation**, people judge a model's outputs: are they fluent, coherent, appropriate? For translations,
# the main question is whether they *mean the same* as the original. You can ask in two ways:
#
# - **Single response.** "The cat is on the chair. *Le chat est sur la chaise.* Is this a good translation?", with a grade
#   from 1 to 5. You get a number, but your 3 may be my 4.
# - **Comparison.** "*Le chat est sur la chaise*, or *Le chat sont sur la chaise*: which do you prefer?" That is easier
#   to answer, and people agree more often, but you don't learn whether either translation is any good.
#
# Now you are the judge. Here are sixteen translations, in random order, so that you don't know whose they are. How much
# of the German sentence's meaning does each translation express? If you can't read German, compare the translation with
# the reference.

# %% tags=["demo"]
entries = [(name, index) for name in systems for index in range(len(corpus))]
random.Random(10).shuffle(entries)
grades = show.questionnaire(
    "grades",
    [f"{german[i]} ({references[i]})\nIs this a good translation? {systems[name][i]}" for name, i in entries],
    ["1 wrong", "2 poor", "3 partly", "4 good", "5 all of it"],
)
grades

# %% [markdown]
# Now compare pairs, again in random order.

# %% tags=["demo"]
turned = [random.Random(index).random() < 0.5 for index in range(len(corpus))]
preferences = show.questionnaire(
    "preferences",
    [
        "{}\nA: {}\nB: {}".format(
            german[i], *(systems[name][i] for name in (("Minka", "Felix") if turn else ("Felix", "Minka")))
        )
        for i, turn in enumerate(turned)
    ],
    ["A", "no difference", "B"],
)
preferences

# %% [markdown]
# Under each questionnaire, there is a line of Python with your answers. Copy both lines into the next cell and run it.
# Otherwise, the cells below use only two made-up raters, Ada and Bo.

# %%
# your two lines: grades.answers = [...] and preferences.answers = [...]

# %%
ada = {"Felix": [1, 1, 2, 1, 2, 1, 1, 5], "Minka": [5, 5, 5, 4, 5, 4, 4, 3]}
bo = {"Felix": [2, 1, 1, 1, 3, 2, 1, 5], "Minka": [5, 5, 4, 4, 5, 5, 4, 2]}

# %% tags=["demo"]
raters = {"Ada": ada, "Bo": bo}
if grades.complete:
    raters["you"] = {name: [0] * len(corpus) for name in systems}
    for (name, index), choice in zip(entries, grades.answers, strict=True):
        raters["you"][name][index] = choice + 1
for rater, given in raters.items():
    means = {name: sum(values) / len(values) for name, values in given.items()}
    print(f"{rater:4} gives Felix {means['Felix']:.2f} and Minka {means['Minka']:.2f} of 5")

if preferences.complete:
    chosen = [
        {0: "Minka" if turn else "Felix", 1: "neither", 2: "Felix" if turn else "Minka"}[choice]
        for choice, turn in zip(preferences.answers, turned, strict=True)
    ]
    print("you prefer", dict(Counter(chosen)))
else:
    print("(you haven't answered all comparisons yet)")

# %% [markdown]
# ### 5.1 Do the raters agree?
#
# If two people grade the same sentence differently, what is either grade worth? Giving the *same grade* in nine of
# sixteen cases sounds fine, but people who roll dice sometimes agree, too. **Cohen's kappa** (1960) subtracts the
# agreement that you would expect by chance:
#
# $$\kappa = \frac{\text{observed} - \text{by chance}}{1 - \text{by chance}},$$
#
# where "by chance" assumes that each rater gives each grade as often as before, but at random. Kappa is 1 if the raters
# agree perfectly, and 0 if they agree no more often than dice would.
#
# *Predict first:* Ada and Bo give the same grade to nine of the sixteen translations. What kappa do you expect?

# %%
kappa_of_ada_and_bo = None  # 1 at most


# %% tags=["demo"]
def agreement(one, other):
    """How often two raters give each pair of grades, the share of equal grades, and Cohen's kappa."""
    counts = torch.zeros(5, 5)
    for name in systems:
        for first, second in zip(one[name], other[name], strict=True):
            counts[first - 1, second - 1] += 1
    share = counts / counts.sum()
    observed, by_chance = share.diagonal().sum(), (share.sum(dim=0) * share.sum(dim=1)).sum()
    return counts, observed.item(), ((observed - by_chance) / (1 - by_chance)).item()


for rater in list(raters)[1:]:
    counts, observed, kappa = agreement(ada, raters[rater])
    print(f"Ada and {rater}: the same grade in {observed:.0%}, kappa {kappa:.2f}")
counts, _observed, kappa = agreement(ada, bo)
show.prediction("kappa of Ada and Bo", kappa_of_ada_and_bo, kappa)
show.matrices(
    show.Panel(
        "Ada's grade ↓  Bo's grade →",
        counts / 8,
        "12345",
        "12345",
        texts=[[f"{n:.0f}" if n else "" for n in row] for row in counts.tolist()],
    ),
    alt="A 5 by 5 table of how often Ada and Bo gave which grades: most on the diagonal, the rest one step away from it.",
)

# %% [markdown]
# Where Ada and Bo differ, they are only one grade apart. Plain kappa treats that like a 1 against a 5; weighted kappa
# doesn't. They fully agree on who is the better translator.
#
# ## 6. When the judges disagree
#
# Now plot each translation's BLEU against people's grades. If BLEU could replace people, the points would rise from the
# lower left to the upper right. For a second opinion, we ask a newer metric.
#
# **BERTScore** (Zhang et al., 2020) doesn't require equal words. A BERT model reads both sentences, and each token's
# contextual vector is matched with the most similar vector of the other sentence. To BERTScore, *kitten* and *cat*
# aren't strangers.
#
# *Predict first:* the hypothesis is *the kitten was dancing*, and the reference is *the cat danced*. They share a
# single word, *the*. What is the BERTScore?

# %%
bertscore_of_the_kitten = None  # from 0 to 1

# %% tags=["demo"]
try:
    encoder = TextEncoder.packaged()
except ModuleNotFoundError as error:
    encoder = None
    print(error)

if encoder is not None:
    pair = ["the kitten was dancing", "the cat danced"]
    ours, theirs = (F.normalize(states[1:-1], dim=-1) for states in encoder.states(pair))
    alike = ours @ theirs.T
    show.matrices(
        show.Panel("hypothesis ↓  reference →", alike, pair[0].split(), pair[1].split()),
        alt="Cosine similarities of contextual vectors: kitten is most like cat, dancing most like danced.",
    )
    precision, recall = alike.amax(dim=1).mean(), alike.amax(dim=0).mean()
    print(f"precision, the mean of the rows' largest:  {precision:.2f}")
    print(f"recall, the mean of the columns' largest:  {recall:.2f}")
    f1 = 2 * precision * recall / (precision + recall)
    show.prediction("BERTScore, their F1", bertscore_of_the_kitten, f1.item())

# %% [markdown]
# Now we score both translators with every metric in the course. *Predict first:* how many of the eleven metrics prefer
# Felix? And what is the correlation, from −1 to 1, between BLEU and people's grades for the sixteen translations?

# %%
felix_is_ahead_in = None  # of 11 metrics
correlation_of_bleu = None  # from -1 to 1

# %% tags=["demo"]
judges = [*METRICS, *([partial(bertscore, encoder=encoder)] if encoder is not None else [])]
judges[judges.index("meteor")] = partial(meteor, synonyms=lesson_thesaurus())
reports = {}
try:
    reports = {
        name: evaluate_texts(sentences, references, judges) for name, sentences in track(systems.items(), "metrics")
    }
    scores = list(zip(*(report.scores for report in reports.values()), strict=True))
    rows = [
        (f"{one.name} {'↓' if one.lower_is_better else '↑'}", *(f"{s.corpus:.1f}" for s in (one, other)))
        for one, other in scores
    ]
    print(Table(("corpus, in percent", *systems), rows))
    print("\n" + "\n".join(one.signature for one, _ in scores))
except ModuleNotFoundError as error:
    print(error)

# %% [markdown]
# The libraries sacrebleu, rouge-score, jiwer and nltk compute all metrics but the last, and our own BERT computes the
# last.
#
# - **Perplexity** looks not at a model's *output* but at the probability that the model assigns to the right answer. You can
#   compute it at every step of training, but it says little about the output. A cell below computes it for *The gray fluffy
#   cat meowed very loudly*.
# - **WER** and its relatives count edits; the **CER** counts them in characters.
# - **BLEU** is a precision of n-grams. **ROUGE** was made for summaries, as a *recall*: how much of the reference is in the
#   output? (Libraries now report its F1. ROUGE-L looks for the longest common subsequence.)
# - **chrF** is an F-score of runs of *characters*, so *dancing* partly matches *danced*.
# - **METEOR** is an F-mean of single words, with nine times as much weight on recall as on precision, and with a penalty for
#   wrong order. It also matches words that share a stem, or that are **synonyms** in WordNet (Miller, 1995), a dictionary of
#   meanings.
# - **BERTScore** compares vectors.

# %% [markdown]
# Compute one metric **by hand**: ROUGE-1 of the two translations from the beginning. It ignores periods. Felix has 9
# words, all of them among the reference's 10: precision is $9/9$ and recall is $9/10$, so $F_1 = 18/19$. Of Minka's 10
# words, six match: *the* (twice), *cat*, *not*, *on* and *table*. The missing *not* costs Felix one word in ten.


# %% tags=["demo"]
def rouge_by_hand():
    for translator, hypothesis in (("Felix", felix), ("Minka", minka)):
        common = (Counter(hypothesis) & Counter(reference)).total() - 1  # without the full stop
        precision, recall = common / (len(hypothesis) - 1), common / (len(reference) - 1)
        f1 = 2 * precision * recall / (precision + recall)
        print(f"{translator}: precision {precision:.3f}, recall {recall:.3f}, F1 {f1:.3f}")
    library = METRICS["rouge1"](Texts.paired([" ".join(felix), " ".join(minka)], [" ".join(reference)] * 2))
    print("the library:", ", ".join(f"{score / 100:.3f}" for score in library.sentences))


try:
    rouge_by_hand()
except ModuleNotFoundError as error:
    print(error)

# %% [markdown]
# Compute another metric **with and without** its best-known feature. Minka says *small* where the reference says
# *little*, and METEOR has a dictionary for that.
#
# *Predict first:* without synonyms, Minka has a METEOR score of 57, and Felix has 92. How many points do synonyms add
# to Minka's score?

# %%
lifted_by_synonyms = None  # points


# %% tags=["demo"]
def meteor_with_and_without_synonyms():
    dictionary, corpus_scores = lesson_thesaurus(), {}
    for name, sentences in systems.items():
        texts = Texts.paired(sentences, references)
        without, found = meteor(texts, synonyms=None), meteor(texts, synonyms=dictionary)
        corpus_scores[name] = without.corpus, found.corpus
        print(f"{name}: {without.corpus:.1f} without synonyms, {found.corpus:.1f} with them")
        for said, wanted, before, after in zip(sentences, references, without.sentences, found.sentences, strict=True):
            missing = set(wanted.split()) - set(said.split())
            pairs = [f"{word} = {other}" for word in said.split() for other in missing & dictionary.synonyms(word)]
            if before != after:
                print(f"    {before:.0f} → {after:.0f}  {said}   ({', '.join(sorted(pairs))})")
    show.prediction("points by synonyms", lifted_by_synonyms, corpus_scores["Minka"][1] - corpus_scores["Minka"][0])
    ahead = sum(felix_has > minka_has for felix_has, minka_has in zip(*corpus_scores.values(), strict=True))
    print(f"METEOR prefers Felix in {ahead} of 2 versions")


try:
    meteor_with_and_without_synonyms()
except ModuleNotFoundError as error:
    print(error)

# %% [markdown]
# *small* is *little*: that is what the dictionary is for. The other match is an accident. *give* shares a meaning with
# *feed*, and a different one with *leave* (something to somebody). The dictionary doesn't know which meaning applies,
# and nltk takes the last word in the reference that fits, so *give* matches *leave*. A dictionary of single words can't
# know that *yesterday evening* is *last night*, or that somebody who *has recovered* is *healthy again*. For Felix,
# nothing changes; *after* isn't a synonym of *before*.

# %%
of_the_right_words = torch.tensor([0.2, 0.12, 0.2, 0.19, 0.3, 0.2, 0.2, 0.3])  # ..., loudly, EOS
print(f"perplexity: {torch.exp(-of_the_right_words.log().mean()):.3f}")

# %% tags=["demo"]
if reports:
    of_people = {
        name: [sum(given[name][i] for given in raters.values()) / len(raters) for i in range(8)] for name in systems
    }
    chosen = [name for name in ("BLEU", "BERTScore") if name in {score.name for score in reports["Felix"].scores}]
    drawn, panels = show.frames(len(chosen), width=4.8 * len(chosen), height=3.7)
    for panel, judge in zip(panels, chosen, strict=True):
        for name, colour, marker in (("Felix", BLUE, "o"), ("Minka", ORANGE, "s")):
            panel.scatter(of_people[name], reports[name][judge].sentences, color=colour, marker=marker, label=name)
        x = torch.tensor(of_people["Felix"] + of_people["Minka"])
        y = torch.tensor([*reports["Felix"][judge].sentences, *reports["Minka"][judge].sentences])
        correlation = torch.corrcoef(torch.stack([x, y]))[0, 1].item()
        print(f"{judge}: correlation with people {correlation:+.2f}")
        if judge == "BLEU":
            show.prediction("correlation of BLEU", correlation_of_bleu, correlation)
        panel.set(xlabel="people's grade", title=judge, xlim=(0.7, 5.3), xticks=range(1, 6), ylim=(0, 106))
    panels[0].set_ylabel("metric, in percent")
    panels[0].legend(loc="upper center")
    show.figure(
        drawn,
        "Metric by grade for sixteen translations: Felix's are at the upper left, liked by the metric and not by "
        "people; Minka's are at the lower right.",
    )

# %% [markdown]
# The correlation runs the wrong way. The more people like a translation, the less BLEU likes it; BERTScore is closer to
# people, but it is still on Felix's side. Are these two metrics exceptions? Here are all the metrics, with error rates
# reversed so that farther right is better, and with people's grades at the bottom.

# %% tags=["demo"]
if reports:
    rows = []
    for score, other in zip(reports["Felix"].scores, reports["Minka"].scores, strict=True):
        turn = (lambda value: 100 - value) if score.lower_is_better else (lambda value: value)
        rows.append(
            (f"100 − {score.name}" if score.lower_is_better else score.name, turn(score.corpus), turn(other.corpus))
        )
    rows.append(("people", *(100 * (sum(of_people[name]) / 8 - 1) / 4 for name in systems)))
    drawn, [axes] = show.frames(width=7.4, height=4.6)
    for place, (_metric, one, other) in enumerate(reversed(rows)):
        axes.plot([one, other], [place, place], color="#c8ccd2", linewidth=3, zorder=1)
        axes.scatter(one, place, color=BLUE, s=46, label="Felix" if place == 0 else None, zorder=2)
        axes.scatter(other, place, color=ORANGE, marker="s", s=42, label="Minka" if place == 0 else None, zorder=2)
    axes.axhline(0.5, color=GREY, linewidth=0.8)
    axes.set_yticks(range(len(rows)), labels=[row[0] for row in reversed(rows)])
    axes.set(xlim=(0, 103), xlabel="percent; farther right is better", title=f"{len(rows) - 1} metrics, and people")
    axes.legend(loc=(0.01, 0.13))
    left, bottom, width, height = axes.get_position().bounds
    axes.set_position((left + 0.06, bottom, width - 0.06, height))
    show.figure(
        drawn,
        "Scores of Felix and Minka by each metric: Felix is farther right in all of them; in the last row, the "
        "people's, Minka is.",
    )
    ahead = sum(one > other for _, one, other in rows[:-1])
    print(ahead, "of", len(rows) - 1, "metrics prefer Felix")
    show.prediction("Felix is ahead in", felix_is_ahead_in, ahead, " metrics")

# %% [markdown]
# The metrics are unanimous, and unanimously wrong. We chose tricky sentences, of course: over thousands of ordinary
# ones, and between systems that clearly differ, metrics and people mostly agree. And you can't ask people at every step
# of training. But the result isn't an accident: all of these metrics reward *the reference's words*, letters or
# vectors. A missing *not*, or *after* instead of *before*, is only one word in ten, but it is all of the meaning.
# Studies have found that you shouldn't use BLEU to decide between good systems, or use it for single sentences at all
# (Reiter, 2018; Mathur et al., 2020).
#
# ### 6.1 Luck, or not?
#
# Would Felix still be ahead with eight other sentences? We have no others, so we draw eight of these **with
# replacement**, a thousand times. Each time, we draw the *same* sentences for both systems, and look at the difference:
# this is the **paired bootstrap** (Koehn, 2004). A hard sentence then pulls both scores down, so its effect cancels
# out. With a separate interval for each system, it wouldn't.
#
# *Predict first:* in what share of the samples will Felix win?

# %%
felix_wins = None  # in percent of the samples


# %%
def paired_bootstrap(first, second, measure, samples=1000):
    """How much higher one system scores than another on each of many samples of the same sentences.

    first, second: lists of what `measure` needs about each sentence
    measure: a function of such a list
    returns: [samples]
    """
    drawing, gains = random.Random(7), []
    for _ in track(range(samples), "samples"):
        sample = [drawing.randrange(len(first)) for _ in first]
        gains.append(measure([first[number] for number in sample]) - measure([second[number] for number in sample]))
    return torch.tensor(gains)


def middle_of(gains):
    """The ends of the interval of the middle 95%."""
    return torch.quantile(gains, torch.tensor([0.025, 0.975], dtype=gains.dtype)).tolist()


# %% tags=["demo"]
def felix_against_minka():
    def library_bleu(pairs):
        return METRICS["bleu"](Texts.paired(*zip(*pairs, strict=True))).corpus

    differences = paired_bootstrap(
        *(list(zip(sentences, references, strict=True)) for sentences in systems.values()), library_bleu
    )
    low, high = middle_of(differences)
    show.prediction("Felix is ahead in", felix_wins, 100 * (differences > 0).float().mean().item(), "% of the samples")
    print(f"95% of the differences lie between {low:.0f} and {high:.0f} points")


try:
    felix_against_minka()
except ModuleNotFoundError as error:
    print(error)

# %% [markdown]
# So it isn't luck: BLEU prefers Felix, and it would prefer him on other sentences of this kind, too. Remember that when
# you read that a difference is *significant*. The bootstrap tells you how sure a **metric** is, not whether it is
# right.
#
# ### 6.2 A translator of your own
#
# Felix and Minka are made up. Now evaluate a real translator that is partly your own: your decoder blocks from lesson
# 05, with the weights of the course's small translator. It translates from English to German and was trained on six
# thousand captions, nearly all of them synthetic; in lesson 11 you fine-tune it. If your blocks are right, they compute
# exactly what the library's blocks compute.
#
# Your functions from lesson 06 do the search, and your functions from this lesson do the scoring. The captions were not
# in the training data: sixty are synthetic, and 97 were written by hand. On the synthetic captions, the translator
# reaches a BLEU near 100. *Predict first:* what BLEU does it reach on the hand-written ones? And which is better there,
# greedy decoding or a beam search with two beams?

# %%
bleu_by_hand = None  # of greedy decoding, in percent
better_by_hand = None  # "greedy" or "two beams"


# %% tags=["demo"]
def through_your_blocks(model):
    """A function that scores each next word as `model` does, but through your decoder blocks."""
    DecoderBlock, encode_and_decode, MultiHeadAttention, LayerNorm, AddAndNorm, FeedForward = answer(
        "encoder_decoder.decoder_block",
        "encoder_decoder.encode_and_decode",
        "heads_and_blocks.multi_head_attention",
        "heads_and_blocks.layer_norm",
        "heads_and_blocks.add_and_norm",
        "heads_and_blocks.feed_forward",
    )
    sizes = model.config
    decoder = nn.ModuleList(
        DecoderBlock(
            self_attention=MultiHeadAttention(sizes.d_model, sizes.heads),
            add_and_norm_1=AddAndNorm(LayerNorm(sizes.d_model), nn.Identity()),
            cross_attention=MultiHeadAttention(sizes.d_model, sizes.heads),
            add_and_norm_2=AddAndNorm(LayerNorm(sizes.d_model), nn.Identity()),
            feed_forward=FeedForward(sizes.d_model, sizes.d_ff),
            add_and_norm_3=AddAndNorm(LayerNorm(sizes.d_model), nn.Identity()),
        )
        for _ in model.decoder
    )
    decoder.load_state_dict(one_by_one(model.decoder.state_dict()))
    encoder = [lambda x, mask, block=block: block(x, mask).out for block in model.encoder]

    def embed(ids):
        return model.positions(model.source_embedding(ids) * math.sqrt(sizes.d_model))

    return lambda source, target: encode_and_decode(source, target, embed, encoder, embed, decoder, model.output)


def words_and_marks(text):
    return re.findall(r"\w+|[^\w\s]", text)


BY_HAND = {}  # how many n-grams of each hand-written caption match, for each search


@show.when_ready
def your_translator_judged():
    translator = load_small_translator()
    score = through_your_blocks(translator.model)
    greedy, beam_search = answer("decoding.greedy"), answer("decoding.beam_search")
    searches = {
        "greedy": lambda step: greedy(step, START_ID, END_ID, 30),
        "two beams": lambda step: beam_search(step, START_ID, END_ID, 2, 30),
    }

    @torch.no_grad()
    def translated(sentence, search):
        source = torch.tensor([translator.source.encode(sentence)])
        return translator.target.decode(search(lambda words: score(source, words.unsqueeze(0))[0, -1]).tolist())

    def distance(hypothesis, right):
        return edit_table(hypothesis, right)[-1, -1].item()

    scenes = everyday_scenes()
    source, target = (torch.tensor([translator.source.encode(text)]) for text in ("A cat is dancing.", "Eine Katze"))
    with torch.no_grad():
        apart = (score(source, target) - translator.model(source, target)).abs().max()
    print(f"largest difference between the library's scores and those of your blocks: {apart:.6f}\n")
    found, said = {}, {}
    for kind, pairs, name in (
        ("by rule", scenes.test[:60], "greedy"),
        ("by hand", scenes.by_hand, "greedy"),
        ("by hand", scenes.by_hand, "two beams"),
    ):
        said[name] = [translated(pair.source, searches[name]) for pair in track(pairs, f"{kind}, {name}")]
        both = zip(said[name], [pair.target for pair in pairs], strict=True)
        words = [tuple(map(words_and_marks, texts)) for texts in both]
        counts = [bleu_counts(*texts) for texts in words]
        found[kind, name] = bleu(counts)
        rate = word_error_rate(*map(list, zip(*words, strict=True)), distance)
        length = sum(len(hypothesis) for hypothesis, _ in words) / len(words)
        print(f"{kind}, {name:9}  BLEU {found[kind, name]:5.1f}   word error rate {rate:6.1%}", end="")
        print(f"   words and punctuation marks in a translation {length:5.2f}")
        if kind == "by hand":
            BY_HAND[name] = counts
    show.prediction("BLEU by hand", bleu_by_hand, found["by hand", "greedy"])
    better = max(("greedy", "two beams"), key=lambda name: found["by hand", name])
    show.prediction("better by hand", better_by_hand, better)
    for place in (0, 4, len(scenes.by_hand) - 1):
        print(f"\n{scenes.by_hand[place].source}\n    reference  {scenes.by_hand[place].target}")
        print("\n".join(f"    {name:9}  {texts[place]}" for name, texts in said.items()))


# %% [markdown]
# This is what a BLEU below 20 looks like. The last of the three is this lesson's first sentence, in the other
# direction; a translator trained on synthetic captions turns it into something with a broom. Publishing only the first
# line of results would have been truthful but thoroughly misleading: **test on the kind of data that the model will
# meet.**
#
# Two beams are worse than one. They do find more probable sentences. But every additional word costs probability, most of
# all where the model is clueless, so the more probable sentence is often the shorter one (last column). Or are two beams
# worse only on these 97 captions?
#
# *Predict first:* in what share of 1,000 samples is greedy decoding ahead? And what if we had stopped after the first
# sixty captions?

# %%
greedy_is_ahead = {60: None, 97: None}  # in percent of the samples, by the number of captions


# %% tags=["demo"]
@show.when_ready
def greedy_against_beams():
    drawn, panels = show.frames(2, width=9.6, height=3.2)
    for panel, (captions, guess) in zip(panels, greedy_is_ahead.items(), strict=True):
        differences = paired_bootstrap(*(counts[:captions] for counts in BY_HAND.values()), bleu)
        low, high = middle_of(differences)
        share = 100 * (differences > 0).float().mean().item()
        show.prediction(f"{captions} captions, greedy is ahead in", guess, share, "% of the samples")
        print(f"    95% of the differences lie between {low:+.2f} and {high:+.2f} points of BLEU")
        heights, *_ = panel.hist(differences.tolist(), bins=[place / 5 for place in range(-10, 26)], color="#c9dcf2")
        top = 1.12 * heights.max()
        panel.hlines(top, low, high, color=BLUE, linewidth=4)
        middle = (low + high) / 2, top
        panel.annotate("the middle 95%", middle, (0, 6), textcoords="offset points", ha="center", color=BLUE)
        panel.axvline(0, ymax=0.89, color=INK, linewidth=1)
        panel.set(title=f"{captions} captions", xlabel="greedy − two beams, in points of BLEU", yticks=[])
        panel.set(xlim=(-2, 5), ylim=(0, 1.3 * heights.max()))
    panels[0].set_ylabel("samples")
    show.figure(
        drawn,
        "Two histograms of how much greedy decoding is ahead of two beams: with sixty captions the middle 95% is "
        "above 0; with 97 it is closer to 0 and includes it.",
    )


# %% [markdown]
# Most samples agree: greedy is ahead. With sixty captions, the middle 95% is above 0: by the usual rule, the difference
# is significant. With all 97, the interval includes 0, so the difference isn't significant. So don't keep collecting
# data until you like the interval: sooner or later, you almost always will. Fix the number of captions beforehand.
#
# ## 7. Newer metrics and tests
#
# ### 7.1 Who judges the judges?
#
# A metric is good if it makes the same choices as people. So take every **pair** of translations, and ask people and
# the metric which is better. The share of pairs on which they agree is the **pairwise accuracy**. Kocmi et al. (2021)
# compared metrics this way, on pairs of systems; unlike a correlation, the pairwise accuracy assumes nothing about
# scales.
#
# But people often give two translations the same grade; a metric with decimals hardly ever does. So Deutsch et al.
# (2023) treat **ties** as answers: if people prefer neither, the metric is right if it prefers neither, too. Scores
# that differ by at most a **tolerance** count as a tie.
#
# ### Exercise 9 · Does it choose as people do?
# `evaluation.pairwise_accuracy` · 4 points (2 for the values, 2 for ties) · about 20 minutes
#
# Return the share of pairs for which people and the metric give the same answer. People prefer the translation with the
# higher grade, or neither if the grades are equal; the metric prefers the translation with the higher score, or neither
# if the scores are at most `tolerance` apart.

# %% [markdown] tags=["fine-print"]
# Any two different translations make one pair. People's grades tie only if they are equal. There are at least two
# translations. `tolerance` is 0 or more.


# %% nbgrader={"grade": false, "grade_id": "evaluation-pairwise_accuracy-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def pairwise_accuracy(metric, people, tolerance):
    """How often a metric and people make the same choice between two translations.

    metric: list of floats, the metric's score of each translation
    people: list of numbers, people's grade of each
    tolerance: float, how far apart two scores may be and still be a tie
    returns: float from 0 to 1
    """
    ### BEGIN SOLUTION
    agreed = pairs = 0
    for i in range(len(people)):
        for j in range(i):
            difference = metric[i] - metric[j]
            judged = (difference > tolerance) - (difference < -tolerance)
            preferred = (people[i] > people[j]) - (people[i] < people[j])
            agreed += judged == preferred
            pairs += 1
    return agreed / pairs
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Each choice has three outcomes, so turn both choices into 1, 0 or -1, and compare. The tolerance is only for the
# metric: people can say that they see no difference. If you left out ties, you wouldn't notice that a metric can't tell
# when two translations are equally good.

# %% nbgrader={"grade": true, "grade_id": "evaluation-pairwise_accuracy-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("evaluation.pairwise_accuracy")
### BEGIN HIDDEN TESTS
check("evaluation.pairwise_accuracy", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Sixteen translations make 120 pairs. *Predict first:* on what share of the pairs does BLEU make the same choice as
# Ada's and Bo's average grades?

# %%
bleu_chooses_as_people = None  # in percent

# %% tags=["demo"]
people_say = [sum(given[name][i] for given in (ada, bo)) / 2 for name in systems for i in range(len(corpus))]


@show.when_ready
def judges_judged():
    pairwise_accuracy([1.0, 2.0], [1, 2], 0.0)
    for number, score in enumerate(reports["Felix"].scores if reports else []):
        values = [value for report in reports.values() for value in report.scores[number].sentences]
        sign = -1 if score.lower_is_better else 1
        accuracy = pairwise_accuracy([sign * value for value in values], people_say, 0.0)
        print(f"{score.name:10} {accuracy:4.0%}")
        if score.name == "BLEU":
            show.prediction("BLEU chooses as people", bleu_chooses_as_people, 100 * accuracy, "%")


# %% [markdown]
# In 15 of the 120 pairs, people see no difference, so a coin toss would be right 44% of the time. On these tricky sentences,
# every metric does worse than that. (On the systems of Kocmi et al. even BLEU is right far more often than not.)
#
# ### 7.2 A metric that learns
#
# BERTScore uses an off-the-shelf encoder, which doesn't know what people care about. **COMET** (Rei et al., 2020) learns
# what they care about. It uses human ratings to train a **head**, a small network on top of the encoder's vectors of source,
# reference and hypothesis. **BLEURT** (Sellam et al., 2020) does the same without the source. Such **learned metrics** have
# led the comparisons ever since.
#
# Try the idea on our encoder, MiniLM. It knows only English, so we compare a hypothesis only with the reference. MiniLM
# stays frozen; the head is a linear regression. It learns from 48 sentences that a language model wrote for this course;
# none of them is in our test. Each has two paraphrases (grade 1) and two look-alikes, which use nearly the same words but
# have a different meaning (grade −1).


# %%
def difference_of(hypotheses, others, reads):
    """The head's features for each pair: how the two sentence vectors differ, and how the best-matching tokens differ."""
    a, b = reads.sentence_vectors(hypotheses), reads.sentence_vectors(others)
    found = []
    for mine, peer in zip(reads.states(hypotheses), reads.states(others), strict=True):
        mine, peer = mine[1:-1], peer[1:-1]
        similar = F.normalize(mine, dim=-1) @ F.normalize(peer, dim=-1).T
        apart = [(mine - peer[similar.argmax(dim=1)]).abs(), (peer - mine[similar.argmax(dim=0)]).abs()]
        found.append(torch.cat([part for side in apart for part in (side.mean(dim=0), side.amax(dim=0))]))
    return torch.cat([a * b, (a - b).abs(), torch.stack(found)], dim=-1)


def fitted_head(features, targets, decay=300.0):
    """A linear regression on standardized features, with small weights; returns a function from features to scores."""
    center, spread = features.mean(dim=0), features.std(dim=0) + 1e-6

    def scaled(inputs):
        return torch.cat([(inputs - center) / spread, torch.ones(len(inputs), 1)], dim=-1)

    z = scaled(features)
    w = z.T @ torch.linalg.solve(z @ z.T + decay * torch.eye(len(z)), targets)
    return lambda inputs: scaled(inputs) @ w


# %% [markdown]
# *Predict first:* on new sentences, how often does this head tell a paraphrase from a look-alike? (A coin is right half the
# time.) And what grade will it give to Felix's last translation, which is the reference word for word?

# %%
right_about_new_sentences = None  # in percent
grade_of_a_perfect_copy = None  # people's range from 1, all wrong, to 5; the head's from about -1 to 1

# %% tags=["demo"]
graded = [
    (m.sentence, other, grade)
    for m in read_meanings()
    for other, grade in zip(m.same + m.other, (1, 1, -1, -1), strict=True)
]


def judged_on_new_sentences(features, grades, group):
    """The share of right signs on held-out sentences, an eighth at a time, for four ways to divide them."""
    shares = []
    for seed in range(4):
        order, right = torch.randperm(48, generator=torch.Generator().manual_seed(seed)), torch.zeros(len(grades))
        for part in range(8):
            out = torch.isin(group, order[part::8])
            right[out] = (fitted_head(features[~out], grades[~out])(features[out]).sign() == grades[out].sign()).float()
        shares.append(right)
    return torch.stack(shares)


def beside_people(score, title, panel):
    for name, colour, marker in (("Felix", BLUE, "o"), ("Minka", ORANGE, "s")):
        start = 0 if name == "Felix" else 8
        panel.scatter(people_say[start : start + 8], score[start : start + 8], color=colour, marker=marker, label=name)
    panel.set(xlabel="people's grade", title=title, xlim=(0.7, 5.3), xticks=range(1, 6))


if encoder is not None:
    in_text, in_other_words, grades = (list(column) for column in zip(*graded, strict=True))
    look = difference_of(in_other_words, in_text, encoder)
    grades, group = torch.tensor(grades, dtype=torch.float32), torch.arange(len(in_text)) // 4
    new = judged_on_new_sentences(look, grades, group).mean(dim=1)
    print(f"right about new sentences: {new.mean():.0%} ({new.min():.0%} to {new.max():.0%})")
    show.prediction("right about new sentences", right_about_new_sentences, 100 * new.mean().item(), "%")
    sixteen = difference_of([text for texts in systems.values() for text in texts], list(references) * 2, encoder)
    narrow = fitted_head(look, grades)(sixteen).tolist()
    show.prediction("grade of a perfect copy", grade_of_a_perfect_copy, narrow[7])
    print(f"the sixteen translations: from {min(narrow):.2f} to {max(narrow):.2f}")

# %% [markdown]
# The head gets nearly nine out of ten new sentences right, but gives its *lowest* grade to the only perfect translation. Why? In
# the ratings that it learned from, sentences that use the reference's words were wrong, and sentences that use other words
# were right. So it learned *the more alike, the worse*, which is BLEU's prejudice in reverse. **A learned metric learns what
# is in its ratings**, and you can't see that from its accuracy on more ratings of the same kind.
#
# So add ratings that break this shortcut: pair each sentence with itself (grade 1), and with a paraphrase of a
# different sentence (grade −1).

# %% tags=["demo"]
if encoder is not None:
    meanings = read_meanings()
    copies = [(m.sentence, m.sentence, 1) for m in meanings]
    strangers = [(m.sentence, meanings[(n + 7) % 48].same[0], -1) for n, m in enumerate(meanings)]
    more = difference_of(*([row[i] for row in copies + strangers] for i in (1, 0)), encoder)
    look = torch.cat([look, more])
    grades = torch.cat([grades, torch.tensor([1.0] * 48 + [-1.0] * 48)])
    group = torch.cat([group, torch.arange(48).repeat(2)])
    found = judged_on_new_sentences(look, grades, group)
    kinds = {"paraphrases": torch.arange(192) % 4 < 2, "look-alikes": torch.arange(192) % 4 > 1}
    for name, rows in kinds.items():
        print(f"{name:12} {found[:, :192][:, rows].mean():.0%} right")
    print(f"{'copies':12} {found[:, 192:240].mean():.0%} right")
    print(f"{'strangers':12} {found[:, 240:].mean():.0%} right")
    wide = fitted_head(look, grades)(sixteen).tolist()
    drawn, panels = show.frames(2, width=9.6, height=3.6)
    beside_people(narrow, "fitted to paraphrases and look-alikes", panels[0])
    beside_people(wide, "... and to copies and strangers", panels[1])
    panels[0].set_ylabel("the head's score")
    panels[0].legend(loc="upper left")
    show.figure(
        drawn,
        "Two plots of the head's score by people's grade. On the left, Felix's perfect translation has the lowest score; on "
        "the right it has one of the highest, and Minka's are still above most of Felix's.",
    )


@show.when_ready
def heads_beside_people():
    pairwise_accuracy([1.0, 2.0], [1, 2], 0.0)
    for title, score in (("narrow", narrow), ("wide", wide)) if encoder is not None else ():
        together = torch.corrcoef(torch.tensor([score, people_say]))[0, 1]
        accuracy = pairwise_accuracy(score, people_say, 0.0)
        print(f"{title} ratings: correlation with people {together:+.2f}, pairwise accuracy {accuracy:.0%}")


# %% [markdown]
# Now the copy gets a good grade, and the head sides with people, unlike all eleven metrics. But on look-alikes it is
# only a little better than chance. COMET has far more than 288 ratings, and trains the encoder, too.
#
# ### 7.3 Errors with a name: MQM
#
# Grades from 1 to 5 are too noisy for comparing good systems. Since 2021 the comparison of metrics at WMT, the yearly
# conference on machine translation, has mostly relied on **MQM**, multidimensional quality metrics (Freitag et al.,
# 2021). Professional translators mark every error as a **span**, with a category and a severity. A **minor** error
# usually costs 1 point and a **major** one costs 5, and a system's score is the mean cost per sentence. Here are the
# errors that we marked.

# %%
marks = {  # sentence: (span, category, severity)
    "Felix": {
        0: ("did dance", "omission", "major"),
        1: ("girl ... dog", "mistranslation", "major"),
        2: ("after", "mistranslation", "major"),
        3: ("ill", "mistranslation", "major"),
        4: ("radio", "addition", "major"),
        5: ("wide", "mistranslation", "major"),
        6: ("chair ... cat", "mistranslation", "major"),
    },
    "Minka": {
        2: ("some food", "addition", "minor"),
        6: ("sitting", "addition", "minor"),
        7: ("it", "mistranslation", "minor"),
    },
}
costs = {"minor": 1, "major": 5}
for name, errors in marks.items():
    print(
        f"{name}: {sum(costs[severity] for *_, severity in errors.values()) / len(corpus):.2f} MQM points per sentence"
    )

# %% [markdown]
# This is a single number again, but you can trace each of its points to an error.
#
# ### 7.4 A language model as judge
#
# If a language model can read, why not ask it? Kocmi and Federmann (2023) had GPT-4 score translations from 0 to 100.
# In choosing between systems, it did at least as well as the best learned metrics, even without a reference. For open
# questions, **LLM-as-a-judge** has become common (Zheng et al., 2023). Like every rater, it has its biases:
#
# - **position bias**: it prefers the first of two answers, or the second (Wang et al., 2023);
# - **verbosity bias**: it prefers the longer answer (Zheng et al., 2023);
# - **self-preference**: it prefers what it wrote itself (Panickssery et al., 2024);
# - **sensitivity to the prompt**: a different wording of the question gets a different grade.
#
# So treat it the way section 5 treats people. Ask in both orders, and count only verdicts that agree. Report the
# lengths of the answers. Choose a judge from a different family of models. Have people grade some of the same answers,
# and report the pairwise accuracy. Name the model, its version and the prompt: they are the signature.
#
# ### 7.5 The test that was in the training data
#
# You can do well on any test if you have seen it before. Large models are trained on much of the public web, and that
# includes public tests. The score doesn't reveal this **contamination**.
#
# We train two small models on everyday captions, with the same seed and 1,200 captions each. The second model's
# captions include 100 from the test. *Predict first:* the first model has a perplexity of 20 on those 100. What is the
# second model's?

# %%
perplexity_of_what_was_read = None


# %% tags=["demo"]
def caption_model(captions, vocabulary, seed, epochs=8):
    """A small GPT trained on these captions, and a function for its perplexity on others."""
    torch.manual_seed(seed)
    model = GPT(GPTConfig(len(vocabulary) + 2, context_length=16, d_model=64, heads=4, layers=2, d_ff=256))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)

    def as_ids(texts):  # 0 is padding, 1 begins and ends a caption
        rows = [torch.tensor([1, *(vocabulary[word] for word in words), 1]) for words in texts]
        return nn.utils.rnn.pad_sequence(rows, batch_first=True)

    def loss(ids):
        return F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0)

    ids = as_ids(captions)
    for _ in track(range(epochs), f"seed {seed}"):
        for chosen in torch.randperm(len(ids)).split(64):
            optimizer.zero_grad()
            loss(ids[chosen]).backward()
            optimizer.step()
    model.eval()

    @torch.no_grad()
    def perplexity(texts):
        return loss(as_ids(texts)).exp().item()

    return perplexity


captions = [words_and_marks(pair.source.lower()) for pair in read_pairs(EVERYDAY)]
vocabulary = {word: number for number, word in enumerate(sorted({word for words in captions for word in words}), 2)}
clean, held_out = captions[:-HELD_OUT], captions[-HELD_OUT:]
leaked, others = held_out[:100], held_out[100:]
contaminated = clean[100:] + leaked
for seed in range(2):
    for kind, data in (("clean", clean), ("contaminated", contaminated)):
        perplexity = caption_model(data, vocabulary, seed)
        print(
            f"seed {seed}, {kind:13} perplexity on the leaked half {perplexity(leaked):5.1f}, on the other {perplexity(others):5.1f}"
        )
        if seed == 0 and kind == "contaminated":
            show.prediction("what it had read", perplexity_of_what_was_read, perplexity(leaked))

# %% [markdown]
# On the test captions that it has read (eight times each), the second model's perplexity is a quarter to a third lower; on
# the rest of the test, it is about the same as the first model's. The contaminated model isn't any better, but it would win
# every leaderboard.
#
# If you have the training data, check how much of each test sentence also occurs there, in runs of $n$ words. GPT-3's report
# used runs of 8 to 13 words (Brown et al., 2020, appendix C), and Llama 2's used runs of more than ten tokens (Touvron et
# al., 2023, appendix A.6).
#
# ### Exercise 10 · Was it in the training data?
# `evaluation.seen_before` · 4 points (3 for the values, 1 for short sentences) · about 20 minutes
#
# For each test sentence, return the share of its words that are in at least one run of `n` words that also occurs in a
# training sentence.

# %% [markdown] tags=["fine-print"]
# A run never crosses from one training sentence into the next. Words are compared as they are, including capitals. A
# sentence of fewer than `n` words has a share of 0, and so does an empty one. The training data may be empty.


# %% nbgrader={"grade": false, "grade_id": "evaluation-seen_before-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def seen_before(test, training, n):
    """How much of each test sentence is in the training data, word for word.

    test, training: lists of sentences, which are lists of words
    n: int, the number of words in a run
    returns: list of floats from 0 to 1, one for each test sentence
    """
    ### BEGIN SOLUTION
    known = {tuple(words[i : i + n]) for words in training for i in range(len(words) - n + 1)}
    shares = []
    for words in test:
        covered = [False] * len(words)
        for start in range(len(words) - n + 1):
            if tuple(words[start : start + n]) in known:
                covered[start : start + n] = [True] * n
        shares.append(sum(covered) / max(len(words), 1))
    return shares
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# In a set, you can look up a run quickly, however large the training data is. Runs overlap, so mark positions and count
# them at the end: adding up the lengths of the runs would count words several times.

# %% nbgrader={"grade": true, "grade_id": "evaluation-seen_before-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("evaluation.seen_before")
### BEGIN HIDDEN TESTS
check("evaluation.seen_before", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def who_has_read_the_test():
    for n in (2, 3, 5):
        shares = {
            name: [sum(seen_before(half, data, n)) / len(half) for half in (leaked, others)]
            for name, data in (("clean", clean), ("contaminated", contaminated))
        }
        print(f"n = {n}: " + "; ".join(f"{name} {one:4.0%} and {other:4.0%}" for name, (one, other) in shares.items()))
    trick = [[*words[:4], "same", *words[5:]] for words in leaked]
    found = sum(seen_before(trick, contaminated, 5)) / len(trick)
    print(f"n = 5, with the fifth word of each leaked caption replaced: {found:.0%}")


# %% [markdown]
# The check finds every leaked caption, whatever $n$ is. The other half of the test shows what is normal: with $n = 2$, most
# of it turns up in any training data; with $n = 5$, hardly any of it does. So compare with a test that you know is clean,
# and report your $n$. Replacing a single word is enough to hide most of a short caption, and a translated or paraphrased
# test goes undetected.
#
# ### 7.6 What to do
#
# Should you still use BLEU? Kocmi et al. (2021) found that COMET agrees with people more often than BLEU does, and that
# relying on BLEU alone has held better systems back. The report on the WMT 2022 metrics task put its conclusion in the
# title: *Stop Using BLEU* (Freitag et al., 2022). The 2024 report asks whether language models are breaking metrics (Freitag
# et al., 2024). BLEU remains useful as a second number: it is free, never changes, works for any language, and can't be
# talked into anything. For your own work:
#
# - Report a learned metric and a string-based one, each from a widely used library, **with its signature**.
# - Test on the kind of data that the model will meet. Report the number of sentences, and how certain the difference is.
# - Look for the test in the training data.
# - Read a random sample of outputs yourself. You would have caught Felix in a minute.
# - Where it matters, ask several people, blind and in random order. Report how well they agree. Let them mark errors.
#
# ### Exercise 11 · In your own words
# `evaluation.which_is_better` · 3 points, read by a person · about 15 minutes
#
# Your new translator scores 3 BLEU points higher than your colleague's, on the same test set and with the same
# signature. (a) Why might it still translate worse? Name a property of BLEU and give an example sentence. (b) Plan a
# human evaluation that would settle it: do you choose single response or comparison, what do you ask, whom do you ask,
# in which order, and how do you find out whether you can trust the answers? Write six to ten sentences.
#
# Learning on your own? Once you have written your answer,
# `solution("evaluation.which_is_better")` in a new cell shows one good answer and what earns points.

# %% [markdown] nbgrader={"grade": true, "grade_id": "evaluation-which_is_better-written", "locked": false, "points": 3, "schema_version": 3, "solution": true, "task": false}
# (a) BLEU counts n-grams that are in the reference and knows nothing about their meaning. All words have the same weight:
# leaving out *not* costs no more than leaving out *very*, and a synonym counts as a mistake. *The cat did dance on the
# table last night* for *... did not dance ...* has nearly all the n-grams and the opposite meaning, while my colleague's
# *yesterday evening the cat was not dancing on the table* loses most of them and is right.
#
# (b) The question is which of two systems is better, so I ask for comparisons: source (or reference), translation A,
# translation B, "which expresses the source better: A, B, no difference?". I draw at least a hundred sentences at
# random from the test set, and let chance decide which system is A, so that the raters don't know whose translation is
# whose. At least three people who read both languages, and who aren't the authors, answer all of the questions. I
# report how often each system is preferred, with its uncertainty, and the raters' agreement, for instance Cohen's kappa
# for each pair of raters. If that is near 0, the question was unclear; I rewrite it and ask again before I believe any
# result.
#
# *(One point: a property of BLEU with an example that fits it. One point: the kind of question, a random and blind order,
# and several suitable raters. One point: the agreement between raters is measured and compared with chance, and low
# agreement has consequences.)*

# %% [markdown]
# ## Stretch · A metric that is not fooled
#
# Ungraded. Write your own metric, a function of hypothesis and reference. On the sixteen translations of section 3.4, its
# correlation with Ada's and Bo's grades must be above +0.5; BLEU's is below 0. You may use anything in the course: the
# vectors of BERTScore, WordNet's synonyms, a list of words that reverse a meaning, or the translator of section 6.2, which
# can tell you how probable a caption is in *German*, given the English.
#
# Then be honest. Write eight new German sentences and two translations of each, let somebody else grade them, and only
# *then* run your metric. Can you write a wrong translation that gets a good score? It rarely takes five minutes.
#
# ## Glossary
#
# - **hypothesis, reference**: a model's output, and a right answer to compare it with.
# - **accuracy**: the share of tokens or whole sequences that are right.
# - **precision, recall**: the share of predictions that are right; the share of expected labels that were found.
# - **F1**: the harmonic mean of precision and recall, close to the smaller of the two.
# - **n-gram**: a run of n neighboring words.
# - **clipping**: counting an n-gram at most as often as it occurs in the reference.
# - **brevity penalty**: BLEU's factor for a hypothesis that is shorter than its reference.
# - **BLEU**: the geometric mean of clipped n-gram precisions, times the brevity penalty.
# - **micro, macro**: add the counts, then divide (a corpus score); or average the sentences' own scores.
# - **edit distance**: the smallest number of words that you must substitute, delete or insert to turn one sentence into
#   another.
# - **word error rate**: the number of edits divided by the number of reference words.
# - **METEOR**: an F-mean of single words that also matches stems and synonyms.
# - **paired bootstrap**: resampling the same sentences for two systems, to see how certain their difference is.
# - **signature**: a line that says exactly how a score was computed.
# - **BERTScore**: F1 over tokens that are matched by the similarity of their contextual vectors.
# - **single response, comparison**: grading one output at a time, or choosing between two.
# - **pairwise accuracy**: how often a metric makes the same choice between two translations as people do, ties included.
# - **learned metric**: a head on an encoder, fitted to people's ratings, as in COMET.
# - **MQM**: errors marked as spans, with a category and a severity that sets the cost.
# - **LLM-as-a-judge**: a language model that rates or compares outputs.
# - **contamination**: test data in the training data.
# - **Cohen's kappa**: the agreement of two raters beyond chance.
#
# ## What you have now
#
# You have precision and recall for a tagger, BLEU and the word error rate from scratch, a learned metric, a way to judge
# the judges, a search for the test in the training data, and a healthy distrust of all of them. You have built a
# transformer, trained it and let it write; now you can judge its output. The cat, by the way, did not dance on the table.
# She slept on it.
