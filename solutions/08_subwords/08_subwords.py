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
# # Lesson 08 · Words in pieces
#
# *Gesundheitsforschungsinstitut.* You have probably never seen this word, and yet you know what it is: *Gesundheit*,
# health; *Forschung*, research; *Institut* needs no translation. You cut it into pieces that you have met elsewhere.
#
# A model with a list of words cannot do that. The word is not on the list, so it becomes `<unk>`, and that is the end of
# it. Tonight the model learns to do what you just did: it finds, all by itself, pieces that are worth knowing, and cuts
# every word, seen or unseen, into them. The method has the dullest name in the course, **byte-pair encoding**, and stands
# at the front of nearly every large language model there is.
#
# By the end you will be able to learn pieces from a text, encode and decode with them, train a small GPT on them, say what
# a large vocabulary buys and what it costs, and tell byte-pair encoding from BERT's WordPiece.
#
# | | you will write | points | minutes |
# |---|---|---|---|
# | 1 | counting neighbours | 3 | 12 |
# | 2 | choosing a pair, ties included | 2 | 8 |
# | 3 | merging a pair | 3 | 12 |
# | 4 | learning the pairs: the whole algorithm | 4 | 20 |
# | 5 | a prediction: how many pieces? | 1 | 5 |
# | 6 | cutting a text into pieces | 4 | 15 |
# | 7 | and back | 1 | 6 |
# | 8 | bits for a byte | 2 | 8 |
# | 9 | WordPiece's cut | 3 | 15 |
#
# Stuck? `hint("subwords.count_pairs")` opens a hint, and with each further call the next one. `solution(...)` shows the
# answer with its reason, once you have tried; `progress()` shows how far you are.
#
# Hardly a tensor tonight: strings, tuples, lists and dicts. A check is as exact with them as it is with numbers. Whatever a
# function is given must stay as it was: change a copy, `list(x)` or `dict(x)`.
#
# The lectures are cited as S0 to S4 (`docs/sources.md` in the course's repository says what they are).

# %%
import math
import random
import time
from collections import Counter

import torch
import torch.nn.functional as F

from course_lib import show
from course_lib.checking import case, check, hint, progress, solution
from course_lib.mine import answer
from course_lib.references.gpt import gpt_parts
from course_lib.text.shakespeare import shakespeare_at_hand
from course_lib.text.tokenization import SPECIAL
from course_lib.training.progress import TrainingStep, progress_bar

show.use_style()
torch.set_num_threads(1)  # matrices as small as these gain nothing from a second one

# %% [markdown]
# ## 1. The trouble with words
#
# Until now a word was whatever stands between two spaces (S4 says so too: up to that slide, its class did the same). What
# is wrong with that? Two things.
#
# **Relatives are strangers.** *Play*, *playing* and *played* (S4) are three strings, three ids, three rows of the embedding
# table. What the model learns about one it has to learn again for the others.
#
# **The list never ends.** There are names and typing slips, and in German any two nouns make a third. Let us measure it,
# on a text of German compounds made here: one or two nouns in front, one at the end. (All in lower case, so that
# *Forschung* and *forschung* are one string.)

# %%
FRONT = (
    "gesundheits forschungs arbeits bildungs verkehrs landes staats stadt wasser katzen hunde wetter sommer winter "
    "jugend sport musik kinder"
).split()
END = "institut amt haus bericht plan dienst zentrum schule rat verein frage tag".split()
NEW_WORD = "gesundheitsforschungsinstitut"


def compound(rng):
    """A German compound of two or three parts, but not the one that must stay new."""
    while True:
        word = "".join(rng.sample(FRONT, rng.choice([1, 2]))) + rng.choice(END)
        if word != NEW_WORD:
            return word


rng = random.Random(0)
text = [compound(rng) for _ in range(700)]
held_out = [word for word in (compound(rng) for _ in range(200)) if word not in text]
print(text[:6])
print(f"{len(set(text))} different words, {len(set(''.join(text)))} different characters")
print(f"{len(held_out)} of 200 further words are not among them")

# %% tags=["demo"]
lengths = range(0, len(text) + 1, 50)
drawn, [axes] = show.frames()
axes.plot(lengths, [len(set(text[:length])) for length in lengths], label="different words")
axes.plot(lengths, [len(set("".join(text[:length]))) for length in lengths], label="different characters")
axes.plot(lengths, [len(set(FRONT + END)) if length else 0 for length in lengths], ":", label="parts they are made of")
axes.set(xlabel="words read", title="The list of words never ends")
axes.legend()
show.figure(drawn, "Different words against words read: a line that keeps rising; characters and parts stay few.")

# %% [markdown]
# Read more, and the list of words keeps growing, while most of the *next* words are still not on it. Yet all of them are
# made from thirty parts. A model that knew the parts would never be surprised again.
#
# So why not go down to single characters? There are few, and nothing is unknown. But sequences get long, and attention
# compares every position with every other: a sequence ten times as long costs a hundred times as many scores. And what
# should a model make of the embedding of *e*?
#
# Between the two lies what we want: **pieces**, longer than characters and shorter than words. Nobody will list them for
# us. The text will.
#
# ## 2. Learning pieces
#
# The idea is from 1994 and has nothing to do with language. To compress a file, find the two bytes that most often stand
# side by side, put a new symbol in their place, and repeat (Gage, "A New Algorithm for Data Compression"; hence
# **byte-pair encoding**). Sennrich et al. (2016) took it to words:
#
# 1. Cut every word of a text into characters.
# 2. Count which two pieces stand side by side, and how often.
# 3. Merge the most frequent pair into one new piece, everywhere.
# 4. Go back to 2, until there are as many pieces as you want.
#
# One detail first. Pieces should remember where words began, or *play ing* and *playing* would look alike. So the mark
# `▁` (it is not an underscore, though it looks like one) stands at the beginning of every word, as in Kudo and Richardson
# (2018), and counts as a character. Here are S4's words and some relatives, each as a tuple of its characters, with the
# number of times it occurs.

# %%
MARK = "▁"
SMALL_TEXT = "play play play playing playing played stay stay staying staying stayed say saying"
words = {tuple(MARK + word): times for word, times in Counter(SMALL_TEXT.split()).items()}
for pieces, times in words.items():
    print(times, pieces)

# %% [markdown]
# ### 2.1 Which two stand together?
#
# Two rules. A word that occurs three times contributes its pairs three times. And words do not touch each other: the last
# letter of one and the first of the next are not neighbours, since the order of words is not what we are after.
#
# ### Exercise 1 · Counting neighbours
# `subwords.count_pairs` · 3 points · about 12 minutes
#
# Count all pairs of neighbouring pieces in the words of a text.
#
# `words` is a dict from the pieces of a word, a tuple of strings, to how often the word occurs. The result is a dict from
# pairs `(left, right)`, also tuples, to how often they occur. A `Counter` is a dict. In `a a a` the pair `(a, a)` occurs
# twice.


# %% nbgrader={"grade": false, "grade_id": "subwords-count_pairs-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def count_pairs(words):
    """How often any two pieces stand side by side.

    words: dict from pieces (tuple of str) to how often the word occurs
    returns: dict from pairs (left, right) to how often they occur
    """
    ### BEGIN SOLUTION
    counts = Counter()
    for pieces, times in words.items():
        for pair in zip(pieces, pieces[1:], strict=False):
            counts[pair] += times
    return counts
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# A corpus is kept as its different words with their frequencies, since a pair in a word that occurs a thousand times
# has been seen a thousand times. Adding 1 instead of the frequency makes rare names as important as "the", and the
# merges come out quite different. Pairs are taken within words only: across a boundary they would make pieces that
# contain a space. In "a a a" the pair overlaps with itself and counts twice here, although merging will use only one of
# the two; the published algorithm counts the same way.

# %% nbgrader={"grade": true, "grade_id": "subwords-count_pairs-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("subwords.count_pairs")
### BEGIN HIDDEN TESTS
check("subwords.count_pairs", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def pairs_as_a_table():
    counts = count_pairs(words)
    characters = sorted({character for pieces in words for character in pieces})
    grid = torch.tensor([[counts.get((left, right), 0) for right in characters] for left in characters])
    texts = [[str(number) if number else "" for number in row] for row in grid.tolist()]
    show.matrices(
        show.Panel("how often: left piece ↓  right piece →", grid.float(), characters, characters, texts=texts),
        alt="A table of letter pairs with their counts; the darkest cell, 13, is a followed by y.",
    )


# %% [markdown]
# One cell is darker than all others. Which pair will be merged first? And what happens to its neighbours' counts then?
#
# ### 2.2 Ties
#
# Often several pairs are equally frequent, especially in a small text. Then *some* rule must decide, the same on every
# machine, or my pieces will not be yours. Ours is the rule of the widely used `tokenizers` library: every piece has an
# **id**, in the order in which the pieces came into being. Special tokens come first, then the characters in the order of
# their code points, then each merged piece as it is made. Of equally frequent pairs, the one whose **left** piece has the
# smallest id wins; if that is the same piece, the **right** one decides.

# %%
ids = {piece: i for i, piece in enumerate([*SPECIAL, *sorted({character for pieces in words for character in pieces})])}
print(ids)

# %% [markdown]
# ### Exercise 2 · Choosing a pair
# `subwords.most_frequent_pair` · 2 points · about 8 minutes
#
# `counts` is a dict from pairs to how often they occur, with at least one pair; `ids` is a dict from pieces to their ids,
# not always in the order of the ids. The result is the pair to merge next.


# %% nbgrader={"grade": false, "grade_id": "subwords-most_frequent_pair-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def most_frequent_pair(counts, ids):
    """The most frequent pair; of several, the one with the smallest ids, the left piece's first.

    counts: dict from pairs (left, right) to how often they occur
    ids: dict from pieces to ids
    returns: a pair
    """
    ### BEGIN SOLUTION
    return min(counts, key=lambda pair: (-counts[pair], ids[pair[0]], ids[pair[1]]))
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The count decides, and ties are common among rare pairs, so a rule for them is part of the algorithm: first the
# smaller id of the left piece, then that of the right. With a key of three numbers all that is one comparison. `max`
# over the counts alone returns whichever tied pair came first in the dict, so that two programs, or two orders of the
# same corpus, learn different vocabularies. Ids are compared as numbers. As text, 10 would come before 9, and
# alphabetical order of the pieces is another rule again.

# %% nbgrader={"grade": true, "grade_id": "subwords-most_frequent_pair-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("subwords.most_frequent_pair")
### BEGIN HIDDEN TESTS
check("subwords.most_frequent_pair", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ### 2.3 Merging
#
# Now put the new piece in place of the two. This looks trivial but has three traps. A pair may stand in a word more than
# once. Occurrences may overlap: with `a a a` and the pair `(a, a)`, the first two become `aa`, and the third has no
# partner left. And a pair is two whole *pieces*: in `xl a` there is no piece `l`, whatever the letters say.
#
# ### Exercise 3 · Merging a pair
# `subwords.merge` · 3 points · about 12 minutes
#
# Merge every occurrence of the pair, from left to right.
#
# `pieces` is a tuple of strings, `pair` a tuple of two strings, the result is a tuple of strings. Where the pair does not
# occur, it is the same pieces again.


# %% nbgrader={"grade": false, "grade_id": "subwords-merge-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def join(pieces, pair):
    """The pieces with every occurrence of the pair merged, from left to right.

    pieces: tuple of str
    pair: tuple of two str
    returns: tuple of str
    """
    ### BEGIN SOLUTION
    merged = []
    i = 0
    while i < len(pieces):
        if pieces[i : i + 2] == pair:
            merged.append(pair[0] + pair[1])
            i += 2
        else:
            merged.append(pieces[i])
            i += 1
    return tuple(merged)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# A piece that has been merged is used up, so the walk goes on after it: of three times "a" the first two become one
# piece and the third stays. Going on by one would use the middle "a" twice and make the word longer. The comparison is
# of whole pieces and never of letters. Replacing in the text would find the pair inside other pieces, such as "e" and
# "r" inside a finished "her". Building a new list and leaving the old one alone also avoids the classic trap of
# changing a sequence while walking along it.

# %% nbgrader={"grade": true, "grade_id": "subwords-merge-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("subwords.merge")
### BEGIN HIDDEN TESTS
check("subwords.merge", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ### 2.4 The whole algorithm
#
# Count, choose, join, start again. After each round there are different neighbours, so the counts of the last round are
# stale: count again. (Programs for large texts correct only the counts that a merging has changed. The result is the
# same, and the code no longer fits on a page.)
#
# ### Exercise 4 · Learning the pairs
# `subwords.learn_merges` · 4 points (2 for the pairs, 1 for a piece that is there already, 1 for stopping) · about 20 minutes
#
# Write the loop. The three steps come in as functions, so that a slip in yours costs nothing here: `count(words)`,
# `choose(counts, ids)` and `join(pieces, pair)` do what exercises 1 to 3 ask for. Call these, not functions of your own.
#
# `words` is a dict from pieces to how often the word occurs, `ids` a dict from pieces to ids, `merges` the largest number
# of pairs. The result is the list of pairs, in the order in which they were merged. A merged piece gets the next id,
# `len(ids)`, unless it already has one: then it keeps it, and its pair is listed like any other. (If all words begin as
# single characters, that never happens. But words may arrive in longer pieces, and then `abc` may be made of `ab` and
# `c`, and later of `a` and `bc`.) If every word is a single piece, there is nothing left: stop. Leave `words` and `ids`
# as they are: the caller may need them. The `tokenizers` library is not allowed.


# %% nbgrader={"grade": false, "grade_id": "subwords-learn_merges-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def learn_merges(words, ids, merges, count, choose, join):
    """The pairs to merge, in order.

    words: dict from pieces (tuple of str) to how often the word occurs
    ids: dict from pieces to ids
    merges: int, how many pairs at most
    count, choose, join: functions, as in exercises 1 to 3
    returns: list of pairs
    """
    ### BEGIN SOLUTION
    ids = dict(ids)
    learned = []
    while len(learned) < merges:
        counts = count(words)
        if not counts:
            break
        pair = choose(counts, ids)
        learned.append(pair)
        ids.setdefault(pair[0] + pair[1], len(ids))
        words = {join(pieces, pair): times for pieces, times in words.items()}
    return learned
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Byte-pair encoding is greedy: merge the most frequent pair, look again. The counts have to be taken anew in each round,
# since merging "t" and "h" makes "th" a piece that can be merged in turn, and takes its letters out of other pairs.
# Counting once would list frequent pairs that no longer exist.
#
# A piece that is already known keeps its id; a second id would leave two numbers for one string, of which one is never
# used. The loop ends early where every word is one piece, and not as soon as one of them is. Both arguments are copied,
# or built anew, because the caller still needs the words and ids from before.

# %% nbgrader={"grade": true, "grade_id": "subwords-learn_merges-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("subwords.learn_merges")
### BEGIN HIDDEN TESTS
check("subwords.learn_merges", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def the_first_pairs():
    for number, pair in enumerate(learn_merges(words, ids, 10, count_pairs, most_frequent_pair, join), start=1):
        print(f"{number:2}. {pair[0]:>5} + {pair[1]:5} -> {''.join(pair)}")


# %% [markdown]
# First *ay*, which all of them share; then, step by step, *▁play*, *▁stay*, *ing* and *ed*. Stems and endings: nobody said a
# word about grammar, the counts did.
#
# Here is *playing* as a tree. Its leaves are characters, each fork is a pair that was merged, and the numbers say when.


# %% tags=["demo"]
def steps_of(word, merges):
    """The pieces of a word before and after each of its pairs is merged, and the pairs' numbers."""
    steps, numbers = [tuple(MARK + word)], []
    for number, pair in enumerate(merges, start=1):
        merged = join(steps[-1], pair)
        if merged != steps[-1]:
            steps.append(merged)
            numbers.append(number)
    return steps, numbers


@show.when_ready
def playing_as_a_tree():
    merges = learn_merges(words, ids, 10, count_pairs, most_frequent_pair, join)
    steps, numbers = steps_of("playing", merges)
    show.merge_tree(
        steps,
        numbers=numbers,
        title="How “playing” was put together",
        alt="A tree over the characters of playing: a and y are merged first, then step by step to ▁play, and i, n, g to ing.",
    )


# %% [markdown]
# Is this the real thing? The `tokenizers` library, written in Rust and used in earnest, should learn the same pairs from the
# same text.


# %% tags=["demo"]
@show.when_ready
def compared_with_the_library():
    import json

    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    library = Tokenizer(models.BPE(unk_token="<unk>"))
    library.pre_tokenizer = pre_tokenizers.Metaspace(MARK, "always")
    trainer = trainers.BpeTrainer(vocab_size=len(ids) + 10, special_tokens=list(SPECIAL), show_progress=False)
    library.train_from_iterator([SMALL_TEXT], trainer)
    theirs = [tuple(pair) for pair in json.loads(library.to_str())["model"]["merges"]]
    ours = learn_merges(words, ids, 10, count_pairs, most_frequent_pair, join)
    print("the same ten pairs in the same order:", ours == theirs)


# %% [markdown]
# ### 2.5 How many pieces?
#
# Every round merges two pieces into one. Before you read on: does the vocabulary shrink, grow, or stay as large as it is?
#
# ### Exercise 5 · Predict: how many pieces?
# `subwords.vocabulary_size` · 1 point · about 5 minutes
#
# Write your prediction as a function: how many pieces are there after `merges` rounds, if there were that many
# `characters` and `special` tokens at the start, and each round made a piece that was not there before? All are ints, and
# so is the result.
#
# You can test it on a famous number. GPT-2 begins with the 256 possible bytes instead of characters, merges 50,000 pairs,
# and has one special token, which stands between two documents. How large is its vocabulary?


# %% nbgrader={"grade": false, "grade_id": "subwords-vocabulary_size-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def vocabulary_size(characters, merges, special):
    """How many pieces there are after this many rounds.

    characters, merges, special: int
    returns: int
    """
    ### BEGIN SOLUTION
    return special + characters + merges
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Each round adds exactly one piece and removes none, so the size is that of the start plus the number of rounds. The
# two merged pieces stay, because another word may need them without each other. GPT-2: 256 bytes, 50,000 merges and one
# special token make 50,257. That so many published numbers end oddly is just this sum. Thinking that two pieces become
# one, and the vocabulary shrinks, confuses the vocabulary with the text: the text gets shorter in each round, the
# vocabulary longer.

# %% nbgrader={"grade": true, "grade_id": "subwords-vocabulary_size-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("subwords.vocabulary_size")
### BEGIN HIDDEN TESTS
check("subwords.vocabulary_size", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# The **words** get shorter, the **vocabulary** gets longer. Both halves of a pair stay in it, since other words may need them:
# *and* has an *a* without a *y*.
#
# Now with a text of your own. Type one into the field, step through the pairs or press *Play*, and watch both bars of
# *pieces now*: every step makes the text shorter and the list longer. Begin with the words of one family (*tanzen, tanzte,
# getanzt*), then write without any repetition: which pairs are merged when all are equally rare?

# %% tags=["demo"]
show.merging(SMALL_TEXT)

# %% [markdown]
# ## 3. Using pieces
#
# ### 3.1 Words that were never seen
#
# Learning happened once, on some text. Now along comes a new text. How is it cut? By replaying the history: begin with
# characters, and merge the pairs **in the order in which they were learned**. A word of the old text ends up exactly as it
# did then. A new word goes as far as its characters allow.
#
# ### Exercise 6 · Cutting a text into pieces
# `subwords.encode` · 4 points · about 15 minutes
#
# Put `▁` before each word, cut it into characters, and merge, each pair from left to right, as in exercise 3. This
# exercise is checked on its own: write the merging out again rather than calling your `join`. The `tokenizers` library is not allowed.
#
# `text` is a string of one or more words, with one or more spaces between them, and perhaps some at its ends; `merges` is
# a list of pairs as `learn_merges` returns it, in the order in which they were learned. The result is one list of
# strings: the pieces of all words, in order. Characters that occur in no pair stay single, and capitals stay capitals.


# %% nbgrader={"grade": false, "grade_id": "subwords-encode-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def encode(text, merges):
    """The pieces of a text.

    text: str, words with spaces between them
    merges: list of pairs, in the order in which they were learned
    returns: list of str, each word's first piece beginning with ▁
    """
    ### BEGIN SOLUTION
    found = []
    for word in text.split():
        pieces = [MARK, *word]
        for pair in merges:
            i = 0
            while i < len(pieces) - 1:
                if (pieces[i], pieces[i + 1]) == pair:
                    pieces[i : i + 2] = [pair[0] + pair[1]]
                i += 1
        found += pieces
    return found
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Encoding repeats what learning did, on a new word: the same merges in the same order, and so a word of the training
# text ends in exactly the pieces that it had there. The loop over the merges is therefore the outer one and the walk
# along the word the inner one. Exchanged, the leftmost pair wins instead of the one that was learned first.
#
# Taking the longest known piece is another algorithm, WordPiece's, and differs on some words. The mark is set before
# the merging, because the merges contain it: without it "▁the" can never be formed, and a word's beginning looks like
# its middle. A pair that is missing in this word is passed over, for later pairs may well occur.

# %% nbgrader={"grade": true, "grade_id": "subwords-encode-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("subwords.encode")
### BEGIN HIDDEN TESTS
check("subwords.encode", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# The moment of truth. Learn pieces from the compounds of section 1, then cut a word that is not among them.


# %% tags=["demo"]
compounds = {tuple(MARK + word): times for word, times in Counter(text).items()}
compound_ids = {
    piece: i for i, piece in enumerate([*SPECIAL, *sorted({character for pieces in compounds for character in pieces})])
}


@show.when_ready
def a_word_that_was_never_seen():
    merges = learn_merges(compounds, compound_ids, 250, count_pairs, most_frequent_pair, join)
    print(f"{NEW_WORD} is in the text: {NEW_WORD in text}")
    show.cutting(
        encode,
        NEW_WORD,
        merges,
        (0, 25, 50, 100, 150, 250),
        title="A word that was never seen, in pieces that were",
        alt="The word gesundheitsforschungsinstitut as bricks: single characters at 0 pairs, and ever fewer and longer "
        "pieces, until from 150 pairs on it is ▁gesundheits, forschungs, institut.",
    )


# %% [markdown]
# There it is, cut where you would have cut it. Type other words into the field, begin with no pair at all, and
# press Play: one learned pair after another merges what it can. S4's slide shows the same on a real translation
# system: the German compound comes out as a handful of pieces, though not always at the seams that a linguist would
# choose. The pieces are what is *frequent*, and mostly that is also what means something.
#
# And the relatives: one piece for the stem, others for the endings, and two forms that our small text never had.


# %% tags=["demo"]
@show.when_ready
def relatives_share_pieces():
    merges = learn_merges(words, ids, 10, count_pairs, most_frequent_pair, join)
    chosen = ["play", "playing", "played", "staying", "says", "laying"]
    show.piece_rows(
        [(word if word in SMALL_TEXT.split() else f"{word} (new)", encode(word, merges)) for word in chosen],
        title="Stems and endings",
        alt="Six words as bricks: play, playing and played share the piece ▁play, playing and staying the piece ing; "
        "says and laying, which are new, are cut into smaller pieces.",
    )


# %% [markdown]
# Pieces go in and out of a model as ids. What comes out must become a text again. That is the easier direction: the marks say
# where the spaces were.
#
# ### Exercise 7 · And back
# `subwords.decode` · 1 point · about 6 minutes
#
# `pieces` is a list of strings, the result is the text: a space where a word begins, but none before the first word. A
# model may begin in the middle of a word; then the first character is a letter and must stay. After each `▁` there are
# letters, in the same piece or in the next one; a mark never stands alone as a word. No pieces give an empty string.


# %% nbgrader={"grade": false, "grade_id": "subwords-decode-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def decode(pieces):
    """The text that these pieces spell.

    pieces: list of str
    returns: str
    """
    ### BEGIN SOLUTION
    return "".join(pieces).replace(MARK, " ").strip(" ")
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The pieces of a text, put together, are the text with marks for the spaces, so decoding is a join and a replacement:
# that nothing is lost is what the mark was introduced for. The first mark stands for the beginning of the text, not for
# a space, and goes. If a model begins in the middle of a word there is no mark, and cutting the first character blindly
# would cost a letter. Putting spaces between the pieces is the usual slip, and gives "mer ge s".

# %% nbgrader={"grade": true, "grade_id": "subwords-decode-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("subwords.decode")
### BEGIN HIDDEN TESTS
check("subwords.decode", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def there_and_back():
    merges = learn_merges(compounds, compound_ids, 250, count_pairs, most_frequent_pair, join)
    line = f"das {NEW_WORD} prüft katzen"
    pieces = encode(line, merges)
    print(pieces)
    print("and back:", decode(pieces) == line)


# %% [markdown]
# Even *das* and *prüft* come through, letter by letter if need be. Only a character that the learning text never had,
# such as the *ü*, has no id and would become `<unk>`. GPT-2 closes this last gap by working on **bytes**: any text in any
# script is a sequence of bytes, there are only 256 different ones, and so nothing at all is unknown to it.
#
# ### 3.2 How large should a vocabulary be?
#
# More pairs make shorter sequences, and attention is grateful for every position it is spared: half the length, a quarter
# of the scores. But every piece needs a row in the embedding table, and rare pieces turn up too seldom to learn anything.
# Measure the first half of this bargain: cut the held-out words with more and more pairs.


# %% tags=["demo"]
@show.when_ready
def vocabulary_against_length():
    merges = learn_merges(compounds, compound_ids, 400, count_pairs, most_frequent_pair, join)
    sample = held_out[:80]
    numbers = [0, 10, 25, 50, 100, 150, 200, 300, 400]
    sizes = [vocabulary_size(len(compound_ids) - len(SPECIAL), number, len(SPECIAL)) for number in numbers]
    pieces_a_word = [len(encode(" ".join(sample), merges[:number])) / len(sample) for number in numbers]
    drawn, [axes] = show.frames(width=6.8, height=3.8)
    axes.plot(sizes, pieces_a_word, "o-")
    for number, size, length in zip(numbers, sizes, pieces_a_word, strict=True):
        if number in (0, 25, 50, 100, 200, 400):
            axes.annotate(f"{number} pairs", (size, length), xytext=(7, 5), textcoords="offset points", fontsize=9)
    axes.axhline(1, color=show.GREY, linestyle=":")
    axes.annotate(
        "1: whole words, all of them unknown",
        (sizes[-1], 1),
        xytext=(-190, 5),
        textcoords="offset points",
        fontsize=9,
        color="#59636e",
    )
    axes.set(xlabel="pieces in the vocabulary", ylabel="pieces in a new word", xlim=(0, 500), ylim=(0, 20))
    axes.set_title("A larger vocabulary makes shorter sequences")
    show.figure(
        drawn,
        "Pieces in a new word against the size of the vocabulary: a steep fall at first, then nearly flat "
        "at about three.",
    )
    for number in (0, 100, 400):
        position = numbers.index(number)
        print(f"{number:3} pairs: {sizes[position]} rows in the table, {pieces_a_word[position]:.1f} pieces in a word")


# %% [markdown]
# The curve falls steeply until all thirty parts have become pieces. From there on, further pairs spell out whole words of the
# learning text, which hardly ever help with a new one. Real systems stop between thirty thousand and a few hundred thousand
# pieces; BERT has 30,522, GPT-2 50,257.
#
# ### 3.3 Pieces in a model
#
# So far pieces were only counted. What do they do for a *model*? Give the same text to the same model in three forms, as
# characters, in about 500 and in about 2,000 of your pieces, and compare the losses.
#
# Compare which losses? A model of characters is asked many easy questions (*q*: what comes next?), a model of words a few
# hard ones. The mean loss of a question says nothing across vocabularies. What all of them must do is to tell the same
# *text*, and all of its questions together are worth so many bits. So divide by something that no vocabulary changes: the
# **bytes** of the text. In UTF-8 a plain letter is one byte, an *ä* is two, a 🐈 four.
#
# ### Exercise 8 · Bits for a byte
# `subwords.bits_per_byte` · 2 points (1 for plain letters, 1 for others) · about 8 minutes
#
# A model reads a text as `pieces` pieces, with a mean loss of `mean_loss` nats a piece (the natural logarithm, as
# `F.cross_entropy` gives it). How many bits does it spend on each byte of the text? One bit is $\ln 2$ nats.
#
# `mean_loss` is a float, `pieces` an int, `text` a string that is not empty; the result is a float. The module `math` is
# imported.


# %% nbgrader={"grade": false, "grade_id": "subwords-bits_per_byte-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def bits_per_byte(mean_loss, pieces, text):
    """The bits that a model spends on each byte of a text.

    mean_loss: float, nats a piece
    pieces: int, how many the model reads the text as
    text: str
    returns: float
    """
    ### BEGIN SOLUTION
    return mean_loss * pieces / math.log(2) / len(text.encode())
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The mean loss times the number of pieces is the loss of the whole text, which does not depend on how the text is cut;
# divided by ln 2 it is in bits, and divided by the bytes it can be compared between any two models, whatever their
# vocabularies. `len(text)` counts characters: the same for English, but for *süß* it is 3 where UTF-8 has 5 bytes, and a
# model would look worse in German than it is. A perfect model would need as many bits for a byte as a perfect program
# that packs the text: that is what a language model is, read the other way round (Shannon, 1948).

# %% nbgrader={"grade": true, "grade_id": "subwords-bits_per_byte-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("subwords.bits_per_byte")
### BEGIN HIDDEN TESTS
check("subwords.bits_per_byte", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Now Shakespeare: *your* pairs, learned from the words that occur at least twice, cut his lines; a small GPT learns from
# them. The model is the one that you wrote in lesson 07, if it has passed its check, or else the course's. All three
# models read the same text three times from beginning to end, and are tested on a tenth of it that they have not read.
#
# **Predict first**: write an order into `PREDICTION`, from the most bits for a byte to the fewest. And which model has the
# smallest loss for a *piece*?

# %%
PREDICTION = ["characters", "500 pieces", "2,000 pieces"]  # from the most bits for a byte to the fewest: your order

# %% tags=["demo"]
CausalLanguageModel = answer("gpt.causal_language_model")
CONTEXT, BATCH, PASSES = 64, 16, 3


def shakespeare_cut():
    """Shakespeare in words, two parts, and the pairs that the first part teaches."""
    text, said = shakespeare_at_hand(190_000)
    print(said)
    written = text.split()
    reading, testing = written[: len(written) * 9 // 10], written[len(written) * 9 // 10 :]
    times = Counter(tuple(MARK + word) for word in reading)
    characters = sorted({character for pieces in times for character in pieces})
    often = {pieces: count for pieces, count in times.items() if count > 1}
    first_ids = {character: number for number, character in enumerate(characters)}
    merges = learn_merges(often, first_ids, 2000 - len(characters), count_pairs, most_frequent_pair, join)
    return reading, testing, characters, merges


def cut(word, ranks):
    """What `encode` makes of a word, sooner: of the pairs that are there, the one learned first is merged."""
    pieces = (MARK, *word)
    while known := [pair for pair in zip(pieces, pieces[1:], strict=False) if pair in ranks]:
        pieces = join(pieces, min(known, key=ranks.get))
    return pieces


def as_ids(some_words, characters, merges):
    """The ids of all pieces of these words; each different word is cut once."""
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    pieces = dict.fromkeys([*characters, *("".join(pair) for pair in merges)])
    id_of = {piece: number for number, piece in enumerate(pieces)}
    ids = {word: [id_of.get(piece, len(id_of)) for piece in cut(word, ranks)] for word in dict.fromkeys(some_words)}
    return torch.tensor([number for word in some_words for number in ids[word]]), len(id_of) + 1  # one for the unknown


def small_gpt(reading, vocabulary, title):
    """A small GPT that has read these ids `PASSES` times."""
    torch.manual_seed(0)
    model = CausalLanguageModel(**gpt_parts(vocabulary, CONTEXT, d_model=64, heads=4, layers=2))
    steps = PASSES * len(reading) // (BATCH * CONTEXT)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.003)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.003, total_steps=steps, pct_start=0.1)
    began = time.perf_counter()
    with progress_bar(steps, title) as tell:
        for step in range(1, steps + 1):
            starts = torch.randint(len(reading) - CONTEXT, (BATCH, 1))
            ids = reading[starts + torch.arange(CONTEXT + 1)]
            loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            read, took = step * BATCH * CONTEXT, time.perf_counter() - began
            tell(TrainingStep(step, loss.item(), schedule.get_last_lr()[0], read, took))
    return model


@torch.no_grad()
def mean_loss_on(model, ids):
    """Nats a piece, each predicted from those before it in its window."""
    windows = [window for window in ids.split(CONTEXT) if len(window) > 1]
    losses = [F.cross_entropy(model(window[None, :-1])[0], window[1:], reduction="none") for window in windows]
    return torch.cat(losses).mean().item()


@show.when_ready
def pieces_in_a_model():
    reading, testing, characters, merges = shakespeare_cut()
    found = {}
    for name, pairs in (("characters", 0), ("500 pieces", 500 - len(characters)), ("2,000 pieces", len(merges))):
        ids, vocabulary = as_ids(reading, characters, merges[:pairs])
        held_out, _ = as_ids(testing, characters, merges[:pairs])
        loss = mean_loss_on(small_gpt(ids, vocabulary, name), held_out)
        found[name] = vocabulary, loss, bits_per_byte(loss, len(held_out), " ".join(testing))
        print(f"{name}: {len(held_out):,} pieces to test on, {loss:.2f} nats a piece, {found[name][2]:.2f} bits a byte")
    print("from the most bits a byte to the fewest, you said:", ", ".join(PREDICTION))
    print(
        "                                     it has been:", ", ".join(sorted(found, key=lambda name: -found[name][2]))
    )
    drawn, panels = show.frames(2, width=9.6, height=3.6)
    sizes = [size for size, _, _ in found.values()]
    for panel, what, label in zip(panels, (1, 2), ("nats a piece", "bits a byte"), strict=True):
        panel.plot(sizes, [values[what] for values in found.values()], "o-", color=(show.GREY, show.BLUE)[what - 1])
        panel.set(xlabel="pieces in the vocabulary", ylabel=label, xscale="log", ylim=(0, None))
        panel.set_xticks(sizes, labels=[f"{size:,}" for size in sizes], minor=False)
        panel.minorticks_off()
    panels[0].set_title("A piece's loss: not to be compared")
    panels[1].set_title("A byte's loss")
    show.figure(
        drawn,
        "Two plots over the size of the vocabulary. The loss of a piece rises steeply with it; the bits for a byte fall.",
    )


# %% [markdown]
# The model of characters has by far the smallest loss for a piece, and needs the most bits for the text. With larger pieces
# there are fewer questions, each window shows more of the text, and the three passes are made of fewer steps.
#
# Do not take it for a law. All three saw little and learned for a short time: give the characters a hundred passes, and
# they catch up, because how to spell can be learned; give 2,000 pieces a text of a few pages, and most of their rows are
# hardly ever trained. A **stretch task**: find the size from which on a larger vocabulary no longer helps *this* text, and
# say why there must be one.
#
# ## 4. WordPiece
#
# BERT does not use byte-pair encoding but its cousin WordPiece (Schuster and Nakajima, 2012; Devlin et al., 2019, section
# 3). Both learn pieces from a text and cut new words into them. They differ in three ways.
#
# | | byte-pair encoding | WordPiece |
# |---|---|---|
# | marks | the beginning of a word: `▁play` `ing` | what continues one: `play` `##ing` |
# | learns | the most frequent pair | the pair that makes the text most likely |
# | cuts | replays the pairs in their order | from the left, always the longest piece it knows |
#
# The last row is the one that you meet in practice, so write it.
#
# ### Exercise 9 · WordPiece's cut
# `subwords.wordpiece` · 3 points · about 15 minutes
#
# Find the longest known piece at the beginning of the word, then the longest one at the beginning of the rest, and so on.
# All pieces after the first have `##` before them in the vocabulary, and in the result. If at any point nothing fits,
# WordPiece gives up: the whole word becomes `["[UNK]"]`. The `tokenizers` library is not allowed.
#
# `word` is a string of one or more characters, of any length, without any mark; `pieces` is a list of strings; the result
# is a list of strings. Capitals stay capitals.


# %% nbgrader={"grade": false, "grade_id": "subwords-wordpiece-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def wordpiece(word, pieces):
    """A word's pieces: from the left, always the longest that is known.

    word: str
    pieces: list of str, those within a word with ## before them
    returns: list of str; ["[UNK]"] where none fits
    """
    ### BEGIN SOLUTION
    found, begin = [], 0
    while begin < len(word):
        mark = "##" if begin else ""
        end = len(word)
        while end > begin and mark + word[begin:end] not in pieces:
            end -= 1
        if end == begin:
            return ["[UNK]"]
        found.append(mark + word[begin:end])
        begin = end
    return found
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# WordPiece needs no list of merges when it is used: it takes the longest match from the left, and never goes back. That
# is fast, and sometimes wrong: a greedy first piece can leave a rest that nothing fits, although another cut would have
# worked. Then the whole word becomes `[UNK]`, not only its unknown part, so that no half-understood beginning remains.
#
# The mark is part of the piece's name. "ing" at the start of a word and "##ing" inside one are two entries with two
# vectors; looking up without the mark finds the wrong one, or one that should not be there.

# %% nbgrader={"grade": true, "grade_id": "subwords-wordpiece-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("subwords.wordpiece")
### BEGIN HIDDEN TESTS
check("subwords.wordpiece", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Do the two ways of cutting differ? Give both the *same* pieces and the same new words. (A piece with `▁` may begin a
# word, one without may continue it; characters may do both.)


# %% tags=["demo"]
def as_wordpiece(merges):
    """The pieces of byte-pair encoding, marked as WordPiece marks them."""
    characters = sorted({character for pieces in compounds for character in pieces} - {MARK})
    merged = ["".join(pair) for pair in merges]
    return [
        *characters,
        *("##" + character for character in characters),
        *(piece.removeprefix(MARK) if piece.startswith(MARK) else "##" + piece for piece in merged),
    ]


def unmarked(pieces):
    """The pieces without the marks of either kind."""
    plain = [piece.removeprefix(MARK).removeprefix("##") for piece in pieces]
    return [piece for piece in plain if piece]


@show.when_ready
def two_ways_to_cut():
    merges = learn_merges(compounds, compound_ids, 120, count_pairs, most_frequent_pair, join)
    pieces = as_wordpiece(merges)
    sample = held_out[:80]
    by_pairs = {word: encode(word, merges) for word in sample}
    by_length = {word: wordpiece(word, pieces) for word in sample}
    different = [word for word in sample if unmarked(by_pairs[word]) != unmarked(by_length[word])]
    print(f"{len(different)} of {len(sample)} new words are cut differently")
    for name, cuts in (("byte-pair encoding", by_pairs), ("longest piece first", by_length)):
        print(f"{name:20} {sum(map(len, cuts.values())) / len(sample):.2f} pieces in a word")
    rows = []
    for word in different[:3]:
        rows += [("in order of learning", by_pairs[word]), ("longest piece first", by_length[word])]
    show.piece_rows(
        rows,
        title="The same pieces, two ways to cut",
        alt="Three words, each cut in two ways with the same pieces: replaying the pairs and taking the longest piece.",
    )
    print("a word with an unknown letter:", encode("sportcafé", merges), "and", wordpiece("sportcafé", pieces))


# %% [markdown]
# Most of the time the two agree. In the first word *t* and *s* were merged early, as in *gesundheits*, so byte-pair
# encoding has no *t* left for *sport*, while WordPiece takes *##port* as the longer one. In the others the marks are to
# blame: *landes* was learned within words, and to WordPiece a piece that continues a word is not a piece that begins one.
#
# A letter that nobody knows shows one more difference: byte-pair encoding loses one character, WordPiece the whole word.
# (BERT's vocabulary has about a thousand single characters, so this seldom happens.)
#
# And learning? WordPiece asks which merge makes the text most *likely*, if its pieces were drawn independently. A pair
# gains most if it occurs more often than its two halves would lead one to expect:
#
# $$\text{score}(a, b) = \frac{\text{count}(a\,b)}{\text{count}(a) \cdot \text{count}(b)} .$$
#
# Google never published its own training program; this score is how its papers are usually read, and the `tokenizers`
# library simply counts pairs, as byte-pair encoding does. Your `learn_merges` takes its steps from outside, so it can do
# either.


# %% tags=["demo"]
def pair_scores(words):
    """How much more often each pair occurs than its halves would lead one to expect."""
    single = Counter()
    for pieces, times in words.items():
        for piece in pieces:
            single[piece] += times
    return {pair: times / (single[pair[0]] * single[pair[1]]) for pair, times in count_pairs(words).items()}


@show.when_ready
def two_ways_to_learn():
    most_frequent = learn_merges(compounds, compound_ids, 12, count_pairs, most_frequent_pair, join)
    most_likely = learn_merges(compounds, compound_ids, 12, pair_scores, most_frequent_pair, join)
    counts = count_pairs(compounds)
    print("most frequent        most likely")
    for pair, other in zip(most_frequent, most_likely, strict=True):
        print(f"{pair[0]:>6} + {pair[1]:<10} {other[0]:>6} + {other[1]}")
    first = {"by count": most_frequent[0], "by likelihood": most_likely[0]}
    for name, pair in first.items():
        print(f"first {name}: {pair[0]} + {pair[1]}, {counts[pair]} times")


# %% [markdown]
# Going by likelihood, it is not the frequent letters that meet first but the *faithful* ones: rare letters that stick to
# a few others. Here, *j* is never seen without *u*, nor *c* without *h*.
#
# ## 5. What pieces hide
#
# A model sees ids, not letters. Ask one how many times *e* occurs in *gesundheitsforschungsinstitut*, and it has to know
# by heart how the three pieces are spelt; it cannot look. Numbers are cut wherever the learning text happened to suggest
# it: *1984* may be one piece and *1985* two. And a language that was rare in the learning text is cut into more pieces
# per word, so the same sentence is longer, slower and more expensive in it than in English.
#
# None of this is a fault of the transformer. It is decided before the first embedding is looked up.
#
# ## Glossary
#
# - **Piece** (or subword): a string that the vocabulary knows, from a character to a whole word.
# - **Byte-pair encoding**: learns pieces by merging, again and again, the most frequent pair of neighbours.
# - **Pair** (or merge): two pieces that are merged into a new one; the list of them, in order, is what is learned.
# - **Mark**: `▁` at the beginning of a word, so that decoding knows where the spaces were.
# - **Encoding**: from a text to its pieces and their ids; **decoding** is the way back.
# - **Tie**: several pairs are equally frequent; a fixed rule decides, by ids.
# - **WordPiece**: BERT's pieces, cut from the left, longest first, with `##` before those within a word.
# - **Bits per byte**: the loss of a whole text, in bits, for each of its bytes: it compares models whatever their pieces.
# - **Byte level**: pieces made of bytes instead of characters, so that nothing is unknown.
#
# ## What you have now
#
# The whole way from a string to the ids that a model reads, and back: `course_lib.text.subwords` is what you have just
# written, and `course_lib.text.fast_subwords` the same at speed. In lesson 09 BERT reads such pieces, with two special
# ones around them, and learns by guessing the ones that were hidden from it.
