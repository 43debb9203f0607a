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
# # Lesson 12 · Since 2017
#
# A cat of 2017 and a cat of 2026 are the same cat: four legs, two ears, one opinion. The same is nearly true of
# transformers. Take a current model apart, and you'll find attention, a feed-forward network and residual connections, as in
# lesson 04. But hardly any part is the same: some now rotate, some have a gate, some are gone.
#
# You implement each of these changes, and then do what papers don't always do: measure each one **by itself**, on the same
# small model, with several seeds. Some help a lot, even here. Some do nothing at this size.
#
# | | you will write | points | minutes |
# |---|---|---|---|
# | 1 | RMSNorm | 1 | 6 |
# | 2 | pre-norm, and the norm at its end | 2 | 8 |
# | 3 | rotary positions | 4 | 20 |
# | 4 | SwiGLU | 1 | 7 |
# | 5 | grouped-query attention | 3 | 15 |
# | 6 | a softmax that reads in blocks | 4 | 25 |
# | 7 | a step with weight decay | 2 | 8 |
# | 8 | a step of equal size in every direction | 3 | 15 |
# | 9 | the parameters of Llama | 3 | 15 |
# | 10 | LoRA | 3 | 15 |
# | 11 | a short answer, in words | 2 | 10 |
#
# Stuck? Each call to `hint("since_2017.rms_norm")` opens another hint. Once you have tried, `solution(...)` shows the
# answer and explains it; `progress()` shows how far you have come.
#
# `causal_mask` and `sinusoidal_encoding` come from the library, so you don't need your earlier answers. Results have the
# dtype of the input.

# %%
import copy
import math
import random
import tempfile

import torch
import torch.nn.functional as F
from torch import nn

from course_lib import show
from course_lib.checking import case, check, hint, progress, solution
from course_lib.masking import causal_mask
from course_lib.positions import sinusoidal_encoding
from course_lib.toys.grammar import random_sentence
from course_lib.toys.trials import CONTEXT, CharacterText, held_out_loss, python_documentation, trial
from course_lib.training.progress import track

show.use_style()
torch.set_num_threads(1)  # matrices this small gain nothing from a second one
torch.set_printoptions(precision=4, sci_mode=False)

# %% [markdown]
# ## 1. A model of 2017
#
# To measure a change, you need something to change, something to read, and some patience.
#
# **Something to read.** A real text that is already on your computer: Python's own handbook (the pages that
# `help("lambda")` shows), half a million characters of English by many authors. We hold out the last tenth.

# %%
text = python_documentation()
print(
    f"{len(text.training):,} characters to learn from, {len(text.held_out):,} kept back, {len(text.characters)} different ones"
)
print("".join(text.characters[number] for number in text.training[:300].tolist()))

# %% [markdown]
# **Something to change.** A language model as you would have built it in 2017: the paper's block (lesson 04) under a causal
# mask. Sinusoids are added to the embeddings, the layer norm comes after each residual sum, the feed-forward network uses
# ReLU, and every head has its own keys. It has two layers, four heads and 64 numbers per character, and trains in two
# seconds. Each part that we will change is an argument of the model.

# %%
D_MODEL, HEADS, D_HEAD, LAYERS = 64, 4, 16, 2


def old_attention(q, k, v):
    """Every head has its own keys, under a causal mask."""
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def old_network():
    """Up, ReLU, down."""
    return nn.Sequential(nn.Linear(D_MODEL, 4 * D_MODEL), nn.ReLU(), nn.Linear(4 * D_MODEL, D_MODEL))


class Attention(nn.Module):
    """Multi-head attention; keys and values may have fewer heads, and queries and keys may be rotated."""

    def __init__(self, groups, attend, turn, bias):
        super().__init__()
        self.W_q = nn.Linear(D_MODEL, HEADS * D_HEAD, bias=bias)
        self.W_k = nn.Linear(D_MODEL, groups * D_HEAD, bias=bias)
        self.W_v = nn.Linear(D_MODEL, groups * D_HEAD, bias=bias)
        self.W_o = nn.Linear(HEADS * D_HEAD, D_MODEL, bias=bias)
        self.attend, self.turn = attend, turn

    def forward(self, x):
        q, k, v = (W(x).unflatten(-1, (-1, D_HEAD)).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v))
        if self.turn is not None:
            positions = torch.arange(x.shape[1])
            q, k = self.turn(q, positions), self.turn(k, positions)
        return self.W_o(self.attend(q, k, v).transpose(1, 2).flatten(2))


class SmallModel(nn.Module):
    """A language model of characters, by default as in 2017.

    norm: creates a norm, from d_model
    stack: from x, sublayers, norms and the final norm to the states; None for post-norm, as in 2017
    turn: rotates queries or keys by their positions; None to add sinusoids to the embeddings
    network: creates a feed-forward network
    groups: the number of key-value heads
    attend: attention, from q, k and v
    bias: whether the projections have a bias
    """

    def __init__(
        self,
        norm=nn.LayerNorm,
        stack=None,
        turn=None,
        network=old_network,
        groups=HEADS,
        attend=old_attention,
        bias=True,
    ):
        super().__init__()
        self.embedding = nn.Embedding(len(text.characters), D_MODEL)
        nn.init.normal_(self.embedding.weight, std=D_MODEL**-0.5)
        sublayers = [(Attention(groups, attend, turn, bias), network()) for _ in range(LAYERS)]
        self.sublayers = nn.ModuleList(sublayer for both in sublayers for sublayer in both)
        self.norms = nn.ModuleList(norm(D_MODEL) for _ in self.sublayers)
        self.final_norm = None if stack is None else norm(D_MODEL)
        self.stack, self.turn = stack, turn

    def forward(self, ids):
        x = D_MODEL**0.5 * self.embedding(ids)
        if self.turn is None:
            x = x + sinusoidal_encoding(ids.shape[1], D_MODEL)
        if self.stack is not None:
            x = self.stack(x, self.sublayers, self.norms, self.final_norm)
        else:
            for sublayer, norm in zip(self.sublayers, self.norms, strict=True):
                x = norm(x + sublayer(x))
        return x @ self.embedding.weight.T


# %% [markdown]
# **Some patience.** `measured` trains three models that differ only in their seed: 160 steps of Adam, each on eight windows
# of 64 characters. Proper training takes far longer, but all models get the same number of steps. We compare the loss on the
# held-out text, in nats per character. Each seed draws the same windows in every trial, so the data can't explain a
# difference.

# %%
STEPS, RATE = 160, 0.003
trials = {}


def measured(name, *, rates=None, seeds=3, before=None, optimizer=None, **changes):
    """Train small models with these changes, and keep the result under this name."""
    rates = [RATE] * STEPS if rates is None else rates
    trials[name] = trial(
        lambda: SmallModel(**changes), text, name, rates, seeds=seeds, before=before, optimizer=optimizer
    )
    print(f"{name:36} {trials[name]}")


# %% [markdown]
# **Predict first:** a model that knows nothing guesses uniformly, at about 4.5 nats per character. What will the loss be
# after 160 steps?

# %%
loss_of_2017 = None  # nats per character

# %% tags=["demo"]
print(f"a model that knows nothing: {math.log(len(text.characters)):.2f} nats per character")
measured("2017")
show.prediction("the loss of 2017", loss_of_2017, trials["2017"].mean, " nats")
print(f"it learns {trials['2017'].parameters:,} numbers")

# %% [markdown]
# Look at the numbers in parentheses, here and below: models that differ only in their seed are up to several hundredths of a
# nat apart. **That is the spread of the seeds** (*seed variance*), and it is our ruler. A change that moves the mean by less
# has not been shown to do anything, whatever a paper says. (Three seeds are few; a serious study uses more.)
#
# **Guess** before you go on. Now come six changes: RMSNorm instead of layer norm; the norm before the sublayer; rotated
# queries and keys; a gate in the feed-forward network; keys shared by four heads (multi-query attention, MQA); weight decay.
# What will each of them, by itself, do to this model's loss? Choose your answers, copy the line that appears into a new
# cell, and run it. Section 9 comes back to your guesses.

# %% tags=["demo"]
guesses = show.questionnaire(
    "guesses",
    ["RMSNorm", "pre-norm", "rotary", "SwiGLU", "one head of keys for four", "decay 0.1"],
    ["worse", "no visible difference", "a little better", "much better"],
)
guesses

# %% [markdown]
# ## 2. A norm with less in it
#
# A layer norm does four things to a token's vector: it subtracts the mean, divides by the standard deviation, stretches by
# $\gamma$ and shifts by $\beta$. Zhang and Sennrich (2019) asked which of these the model needs, and kept two.
#
# $$\text{RMSNorm}(x) = \gamma \odot \frac{x}{\sqrt{\tfrac{1}{d}\sum_i x_i^2 + \varepsilon}}$$
#
# RMSNorm uses neither the mean nor $\beta$. Apart from $\gamma$, the vector keeps its direction and gets a standard
# length. Llama, Qwen, Mistral and Gemma all use **RMSNorm**.

# %% [markdown]
# ### Exercise 1 · RMSNorm
# `since_2017.rms_norm` · 1 point · about 6 minutes
#
# Write RMSNorm, without torch's norms. Take the mean over each token's numbers, and put $\varepsilon$ under the square root.

# %% [markdown] tags=["fine-print"]
# Gradients are compared too. Llama always computes in float32; here float64 input keeps its precision.


# %% nbgrader={"grade": false, "grade_id": "since_2017-rms_norm-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def rms_norm(x, gamma, epsilon):
    """Each token's vector divided by its root mean square, and scaled by gamma.

    x: [..., d_model]
    gamma: [d_model]
    epsilon: float
    returns: [..., d_model]
    """
    ### BEGIN SOLUTION
    return gamma * x / (x.square().mean(dim=-1, keepdim=True) + epsilon).sqrt()
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The mean of the squares keeps its dimension, so that each token is divided by its own root mean square. If you
# subtract the mean first, you get a layer norm. Epsilon is for tokens whose numbers are all near 0, and it keeps their
# gradient finite only if it is under the square root.

# %% nbgrader={"grade": true, "grade_id": "since_2017-rms_norm-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("since_2017.rms_norm")
### BEGIN HIDDEN TESTS
check("since_2017.rms_norm", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Here is the small model with your norm; nothing else changes. What do you expect?


# %%
class RMSNorm(nn.Module):
    """Your norm, with gains to learn."""

    def __init__(self, d_model):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        return rms_norm(x, self.gamma, 1e-6)


# %% tags=["demo"]
@show.when_ready
def the_other_norm():
    rms_norm(torch.ones(1, 4), torch.ones(4), 1e-6)
    measured("RMSNorm", norm=RMSNorm)
    print(f"against 2017: {trials['RMSNorm'].mean - trials['2017'].mean:+.2f}")
    saved = trials["2017"].parameters - trials["RMSNorm"].parameters
    print(f"it learns {saved} fewer numbers, of {trials['2017'].parameters:,}")


# %% [markdown]
# The difference is smaller than the spread of the seeds: the model didn't need the mean and $\beta$. That *is* the paper's
# result: the same quality with less work (7 to 64% less time, depending on the model, according to its abstract). A change
# doesn't have to make a model better. It may just make it simpler.
#
# ## 3. A free way through
#
# The 2017 paper puts the norm on the residual path, after each sum (**post-norm**). You met the problem in lesson 04: a
# gradient has to pass through all of these norms. **Pre-norm** moves each norm into the branch. It normalizes what the
# sublayer *reads*; the residual path itself contains only sums.
#
# $$x \leftarrow x + \text{sublayer}(\text{norm}(x))$$
#
# There is a price. After many sums, $x$ has grown, and it has never been normalized. So one more norm comes before the
# output layer: the **final norm**. (GPT-2 has it, and so has your model of lesson 07.)

# %% [markdown]
# ### Exercise 2 · Pre-norm, and the norm at its end
# `since_2017.pre_norm` · 2 points · about 8 minutes
#
# `sublayers` and `norms` are equally long lists of functions from `[..., tokens, d_model]` to the same shape, and
# `final_norm` is one more such function. Pass `x` through all of them.

# %% [markdown] tags=["fine-print"]
# Without any sublayers, only the final norm is left.


# %% nbgrader={"grade": false, "grade_id": "since_2017-pre_norm-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def pre_norm(x, sublayers, norms, final_norm):
    """A stack of sublayers: each reads x through its norm, and adds to x.

    x: [..., tokens, d_model]
    sublayers, norms: lists of functions, of equal length
    final_norm: a function
    returns: [..., tokens, d_model]
    """
    ### BEGIN SOLUTION
    for sublayer, norm in zip(sublayers, norms, strict=True):
        x = x + sublayer(norm(x))
    return final_norm(x)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Each sum uses x itself. Adding to `norm(x)` instead looks almost the same on paper, but cuts the free path at every
# sublayer. Without the final norm, you get no error: the output layer just reads numbers whose size depends on the depth.

# %% nbgrader={"grade": true, "grade_id": "since_2017-pre_norm-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("since_2017.pre_norm")
### BEGIN HIDDEN TESTS
check("since_2017.pre_norm", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Now try two learning rates: our usual one, and one more than three times as large. **Predict** which of the two models has
# the larger loss at the large rate, and how large that loss is.

# %%
suffers_from_the_large_rate, and_comes_to = "", None  # "2017" or "pre-norm"; nats per character

# %% tags=["demo"]
BRISK = 0.01


@show.when_ready
def before_or_after():
    pre_norm(torch.ones(1, 4), [], [], torch.sign)
    measured("pre-norm", stack=pre_norm)
    measured(f"2017, rate {BRISK}", rates=[BRISK] * STEPS, seeds=2)
    measured(f"pre-norm, rate {BRISK}", rates=[BRISK] * STEPS, seeds=2, stack=pre_norm)
    rates = [f"{RATE}", f"{BRISK}"]
    drawn, [axes] = show.frames(width=6.4, height=3.2)
    for name, colour in (("2017", show.ORANGE), ("pre-norm", show.BLUE)):
        both = [trials[name], trials[f"{name}, rate {BRISK}"]]
        axes.plot(
            rates, [one.mean for one in both], color=colour, label="post-norm, as in 2017" if name == "2017" else name
        )
        for rate, one in zip(rates, both, strict=True):
            axes.plot([rate] * len(one.losses), one.losses, "o", color=colour, ms=4)
    at_brisk = {name: trials[f"{name}, rate {BRISK}"].mean for name in ("2017", "pre-norm")}
    show.prediction("suffers", suffers_from_the_large_rate, max(at_brisk, key=at_brisk.get))
    show.prediction("and comes to", and_comes_to, max(at_brisk.values()), " nats")
    axes.set(xlabel="learning rate", ylabel="nats per character", xlim=(-0.3, 1.3), title="Where the norm is")
    axes.legend(loc="upper left")
    show.figure(
        drawn,
        "At the small rate both norms do equally well; at the large one pre-norm has learned and post-norm hardly has.",
    )


# %% [markdown]
# At the small rate, the position of the norm doesn't matter. At the large one, it decides everything, even in a model of
# only two layers: post-norm has learned little more than how often each letter occurs, and pre-norm trains as if nothing had
# happened. Xiong et al. (2020) explain why: in post-norm, the gradients near the output are large at the start, so the 2017
# paper needs its warm-up.
#
# So measure a change where it is meant to work. "No difference" at one learning rate doesn't mean "no difference".
#
# ## 4. Positions that turn
#
# ### 4.1 Rotate, don't add
#
# Lesson 03 left us with a question. The shift matrix $M_k$ turns the encoding of any position into the encoding of the one
# $k$ positions later, and a head built from it by hand looks two tokens back, at any length. But training found a different
# head, which broke down beyond the longest training position. Later methods build the shift into attention itself.
#
# Take the matrix apart. $M_k$ consists of 2 × 2 rotations: it rotates pair $i$ by $k f_i$, with $f_i = 10000^{-2i/d}$. Now
# don't *add* anything to the embeddings. Instead, **rotate the query** at position $m$ by $M_m$, and **the key** at
# position $n$ by $M_n$. Their dot product is
#
# $$(M_m q) \cdot (M_n k) = q^\top M_m^\top M_n\, k = q^\top M_{n-m}\, k ,$$
#
# because rotating back by $m$ and forward by $n$ is the same as rotating by $n - m$. **A score depends on how far apart two
# tokens are, and on nothing else about their positions.** Whatever a head learns about "two tokens back" at position 10 also
# holds at position 10,000.
#
# Only queries and keys are rotated, in every layer. Values are not rotated: what a token has to say doesn't depend on
# its position. This is *rotary position embedding*, **RoPE** (Su et al., 2021), and Llama, Qwen and Mistral all use it.
#
# $$\begin{pmatrix} x'_{2i} \\ x'_{2i+1} \end{pmatrix} =
#   \begin{pmatrix} \cos pf_i & -\sin pf_i \\ \sin pf_i & \cos pf_i \end{pmatrix}
#   \begin{pmatrix} x_{2i} \\ x_{2i+1} \end{pmatrix},
#   \qquad f_i = \text{base}^{-2i/d_\text{head}}$$
#
# (Lesson 03 had the sine first in each pair, so the minus sign in its blocks was below the diagonal.)

# %% [markdown]
# ### Exercise 3 · Turned by their positions
# `since_2017.rotary` · 4 points (3 for the values, 1 for double precision) · about 20 minutes
#
# Rotate each pair of neighboring numbers (0 and 1, 2 and 3, and so on) by the position of its token times the frequency of
# the pair. You are given the positions, because with a cache the only new token may be token 40. You are also given the
# base, which is 10,000 in the paper and 500,000 in Llama 3.

# %% [markdown] tags=["fine-print"]
# The result has the dtype of `x`. The angles may be in single precision, as in Llama, but float64 input keeps its
# precision. Gradients are compared too.


# %% nbgrader={"grade": false, "grade_id": "since_2017-rotary-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def rotary(x, positions, base):
    """Queries, or keys, rotated by the positions of their tokens.

    x: [..., tokens, d_head], d_head even
    positions: int64 [tokens]
    base: float, for the frequencies base^(-2i / d_head)
    returns: [..., tokens, d_head]
    """
    ### BEGIN SOLUTION
    frequencies = base ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    angles = positions.unsqueeze(-1) * frequencies
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The angles are a table, `[tokens, pairs]`, broadcast over batches and heads. Both new numbers of a pair are computed
# from both old ones; stacking them in a new last dimension and flattening restores the order. Hugging Face's Llama
# pairs number i with number i + d_head / 2 instead. That works just as well, but weights trained in one order are noise
# in the other.

# %% nbgrader={"grade": true, "grade_id": "since_2017-rotary-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("since_2017.rotary")
### BEGIN HIDDEN TESTS
check("since_2017.rotary", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Does it hold? Put the same query and the same key at each of eight positions: any difference between the scores then comes
# from the positions.


# %% tags=["demo"]
@show.when_ready
def only_the_distance():
    generator = torch.Generator().manual_seed(3)
    q, k = torch.randn(2, 16, generator=generator)
    panels = []
    for first in (0, 1000):
        positions = torch.arange(first, first + 8)
        scores = rotary(q.expand(8, -1), positions, 10_000.0) @ rotary(k.expand(8, -1), positions, 10_000.0).T
        labels = [str(position) for position in positions.tolist()]
        panels.append(show.Panel(f"scores from position {first} on", scores, labels, labels, decimals=1))
    show.matrices(*panels, alt="Two identical matrices of scores; along each diagonal all numbers are the same.")
    print(f"largest difference between the two: {(panels[0].values - panels[1].values).abs().max():.4f}")


# %% [markdown]
# The numbers on each diagonal are equal, and the scores that start at position 1,000 equal those that start at 0 (apart from
# the rounding of large angles). That is the shift matrix at work, inside the score.
#
# ### 4.2 The answer to lesson 03
#
# Here is lesson 03's section 9 again: name the symbol two positions back, train on 16 symbols, test on 64. The models
# with sinusoids were right on the first 16 and wavered between chance and perfect after that. The task and the training
# are the same, but we rotate queries and keys and add nothing. **Guess first:** how often is each model right after
# the first 16?

# %%
right_beyond = {"sinusoids, added": None, "rotary": None}  # in percent


# %% tags=["demo"]
@show.when_ready
def past_the_trained_length():
    symbols, width, trained, longest, back = 8, 32, 16, 64, 2

    class Recaller(nn.Module):
        """Names the symbol two positions back."""

        def __init__(self, turned):
            super().__init__()
            self.symbol = nn.Embedding(symbols, width)
            self.to_q, self.to_k, self.to_v = (nn.Linear(width, width) for _ in range(3))
            self.to_symbol = nn.Linear(width, symbols)
            self.turned = turned

        def forward(self, sequence):
            x, positions = self.symbol(sequence), torch.arange(sequence.shape[1])
            if not self.turned:
                x = x + sinusoidal_encoding(len(positions), width)
            q, k, v = self.to_q(x), self.to_k(x), self.to_v(x)
            if self.turned:
                q, k = rotary(q, positions, 10_000.0), rotary(k, positions, 10_000.0)
            return self.to_symbol(F.scaled_dot_product_attention(q, k, v, is_causal=True))

    def right_at_each_place(turned, seed):
        torch.manual_seed(seed)
        model = Recaller(turned)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for _ in track(range(400), "rotary" if turned else "sinusoids"):
            sequence = torch.randint(symbols, (64, trained))
            named = model(sequence)[:, back:]
            loss = F.cross_entropy(named.flatten(0, 1), sequence[:, :-back].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            sequence = torch.randint(symbols, (500, longest))
            right = model(sequence)[:, back:].argmax(dim=-1) == sequence[:, :-back]
        return right.float().mean(dim=0)

    drawn, [axes] = show.frames(width=9.5, height=3.4)
    for name, turned, colour in (("sinusoids, added", False, show.ORANGE), ("rotary", True, show.BLUE)):
        runs = torch.stack([right_at_each_place(turned, seed) for seed in range(2)])
        for run in runs:
            axes.plot(range(back, longest), run, color=colour, linewidth=0.7, alpha=0.45)
        axes.plot(range(back, longest), runs.mean(dim=0), color=colour, linewidth=2.2, label=name)
        within, beyond = runs[:, : trained - back].mean(), runs[:, trained - back :].mean()
        print(f"{name:17} right within the trained length {within:4.0%}, beyond it {beyond:4.0%}")
        show.prediction(f"{name}, beyond", right_beyond[name], 100 * beyond.item(), "%")
    axes.axvspan(0, trained - 0.5, color="#f1f4f8", zorder=0)
    axes.axhline(1 / symbols, color=show.INK, linewidth=0.8, linestyle=":")
    axes.set(xlabel="position", ylabel="share of right answers", xlim=(0, longest - 1), ylim=(0, 1.08))
    axes.legend(loc="lower left")
    axes.set_title("Naming the symbol two positions back, trained on 16")
    show.figure(drawn, "Right answers by position: rotary stays near 1 up to 64, sinusoids fall after position 16.")


# %% [markdown]
# The model learned once what "two positions back" means, and that holds everywhere. (Not quite perfectly: at position
# 60 there are keys fifty tokens away, a distance never seen in training, and now and then one of them scores high.
# Rotary positions cover every *position*, but not every *distance*. That is why models are still trained for long
# contexts, with slower rotations: Peng et al. 2023, "YaRN", and `course_lib.modern.rotary`.)
#
# ### 4.3 And the small model?


# %% tags=["demo"]
def turned(x, positions):
    """Your rotation, with the paper's base."""
    return rotary(x, positions, 10_000.0)


@show.when_ready
def positions_that_turn():
    rotary(torch.ones(1, 4), torch.arange(1), 10_000.0)
    measured("rotary", turn=turned)
    print(f"against 2017: {trials['rotary'].mean - trials['2017'].mean:+.2f}")
    print(f"numbers learned: {trials['rotary'].parameters:,}, as before")


# %% [markdown]
# The difference is larger than the spread of the seeds, although the model has no more weights than before. Why does it
# learn faster? To predict the next character of the handbook, you mostly need the last few, and *the letter before* is a
# distance. With sinusoids, the model must first learn to read distances from sums of sines, mixed in with the letters;
# rotary positions have them built in.
#
# (To be fair, sinusoids are easy to beat in such a short training run. To see whether they catch up, set `STEPS = 1600` and
# wait a few minutes.)
#
# ## 5. A gate in every token
#
# The feed-forward network of 2017 projects a token up to $4d$ numbers, sets the negative ones to 0, and projects back down.
# Dauphin et al. (2017) computed *two* projections, and let one, the **gate**, decide how much of the other passes. Shazeer
# (2020) tried that in the transformer, with many activations. The one that lasted is **SwiGLU**:
#
# $$\text{SwiGLU}(x) = \big(\text{SiLU}(x W_1) \odot x V\big)\, W_2, \qquad \text{SiLU}(z) = z\,\sigma(z).$$
#
# $\odot$ multiplies number by number. SiLU is a soft ReLU: it goes to 0 on the left and to $z$ on the right. Why is it
# better? The paper ends honestly: "We offer no explanation as to why these architectures seem to work; we attribute their
# success, as all else, to divine benevolence."

# %% [markdown]
# ### Exercise 4 · A gate
# `since_2017.swiglu` · 1 point · about 7 minutes
#
# Write SwiGLU, without biases.

# %% [markdown] tags=["fine-print"]
# Gradients are compared too.


# %% nbgrader={"grade": false, "grade_id": "since_2017-swiglu-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def swiglu(x, W_1, V, W_2):
    """A feed-forward network with a gate.

    x: [..., d_model]
    W_1, V: [d_model, d_ff]
    W_2: [d_ff, d_model]
    returns: [..., d_model]
    """
    ### BEGIN SOLUTION
    return (F.silu(x @ W_1) * (x @ V)) @ W_2
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Only one of the two projections goes through the activation. With an activation on both, no negative number would get
# through at full size.

# %% nbgrader={"grade": true, "grade_id": "since_2017-swiglu-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("since_2017.swiglu")
### BEGIN HIDDEN TESTS
check("since_2017.swiglu", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# There are now three matrices instead of two. To keep the number of weights, we make the hidden layer narrower:
# $\tfrac{2}{3} \cdot 4d \approx 171$ numbers instead of 256. (Llama does the same, and rounds up.)


# %%
class SwiGLU(nn.Module):
    """Your network, with as many weights as the old one."""

    def __init__(self, d_ff=171):
        super().__init__()
        self.W_1, self.V = (nn.Parameter(torch.empty(D_MODEL, d_ff)) for _ in range(2))
        self.W_2 = nn.Parameter(torch.empty(d_ff, D_MODEL))
        for weight in (self.W_1, self.V, self.W_2):  # as nn.Linear initializes
            nn.init.uniform_(weight, -(len(weight) ** -0.5), len(weight) ** -0.5)

    def forward(self, x):
        return swiglu(x, self.W_1, self.V, self.W_2)


# %% tags=["demo"]
@show.when_ready
def with_a_gate():
    swiglu(torch.ones(1, 2), torch.ones(2, 3), torch.ones(2, 3), torch.ones(3, 2))
    measured("SwiGLU", network=SwiGLU)
    print(f"against 2017: {trials['SwiGLU'].mean - trials['2017'].mean:+.2f}")
    print(f"numbers learned: {trials['SwiGLU'].parameters:,} instead of {trials['2017'].parameters:,}")


# %% [markdown]
# It gains a little, or nothing: compare the difference with the numbers in parentheses. Shazeer's gains are small, too. In
# his table 1, the loss after 65,536 steps goes from 1.997 (ReLU) to 1.944 (SwiGLU): on such a large model, five hundredths
# matter. On ours, you couldn't tell them from luck.
#
# ## 6. Fewer keys
#
# ### 6.1 Who needs so many?
#
# A model that generates text keeps the keys and values of everything it has read, in its **key-value cache** (lesson 06).
# For each new token, it must fetch them *all* from memory, and with long texts you wait for that, not for the arithmetic.
# Shazeer (2019) let all heads share **one** head of keys and values; only the queries differ. That is **multi-query
# attention**. Generation got faster, and the model a little worse. Ainslie et al. (2023) found a compromise: **grouped-query
# attention**, in which a few neighboring heads share their keys and values.
#
# | | heads of queries | heads of keys and values |
# |---|---|---|
# | multi-head, 2017 | 32 | 32 |
# | grouped (Llama 3, 8B) | 32 | 8 |
# | multi-query | 32 | 1 |

# %% [markdown]
# ### Exercise 5 · Heads that share their keys
# `since_2017.grouped_query` · 3 points · about 15 minutes
#
# Write attention with `heads` heads of queries and `groups` heads of keys and values. Neighbors share: with four heads and
# two groups, heads 0 and 1 use group 0, and heads 2 and 3 use group 1. Divide the scores of every head by
# $\sqrt{d_\text{head}}$, as always. You may use torch's softmax, but not its built-in attention.

# %% [markdown] tags=["fine-print"]
# `groups` divides `heads`. Gradients are compared too.


# %% nbgrader={"grade": false, "grade_id": "since_2017-grouped_query-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def grouped_query_attention(q, k, v, mask):
    """Attention in which neighboring heads of queries share a head of keys and values.

    q: [batch, heads, queries, d_head]
    k, v: [batch, groups, keys, d_head]
    mask: bool [queries, keys], True where a query may attend, or None
    returns: [batch, heads, queries, d_head]
    """
    ### BEGIN SOLUTION
    shared = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(shared, dim=1), v.repeat_interleave(shared, dim=1)
    scaled = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scaled = scaled.masked_fill(~mask, -math.inf)
    return torch.softmax(scaled, dim=-1) @ v
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Each head of keys is copied for every head of queries that shares it; the rest is the attention of lesson 01.
# `repeat_interleave` gives 0, 0, 1, 1; `repeat` would give 0, 1, 0, 1, and pair queries with keys that they weren't trained
# with. We copy for clarity: a fast program keeps each key once.

# %% nbgrader={"grade": true, "grade_id": "since_2017-grouped_query-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("since_2017.grouped_query")
### BEGIN HIDDEN TESTS
check("since_2017.grouped_query", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
def shared_by_all(q, k, v):
    """Your attention, under a causal mask."""
    return grouped_query_attention(q, k, v, causal_mask(q.shape[2]))


@show.when_ready
def fewer_keys():
    grouped_query_attention(torch.ones(1, 2, 1, 2), torch.ones(1, 1, 1, 2), torch.ones(1, 1, 1, 2), None)
    measured("one head of keys for four", groups=1, attend=shared_by_all)
    print(f"against 2017: {trials['one head of keys for four'].mean - trials['2017'].mean:+.2f}")
    print(
        f"numbers learned: {trials['one head of keys for four'].parameters:,} instead of {trials['2017'].parameters:,}"
    )


# %% [markdown]
# With a quarter of the keys and fewer weights, the loss is where it was. (Large models do notice: Ainslie et al., figure 3,
# lose a little with one group and almost nothing with eight.)
#
# ### 6.2 What a cache holds
#
# For every token read, each layer keeps a key and a value for each of its *key-value heads*, with `d_head` numbers each:
#
# $$\text{bytes} = 2 \cdot \text{layers} \cdot \text{key-value heads} \cdot d_\text{head} \cdot \text{tokens} \cdot
# \text{bytes per number} .$$
#
# The number of query heads doesn't appear, because queries are not kept. And the cache grows with the number of tokens, not
# with its square: only the scores grow with the square, and they are thrown away after use.

# %% tags=["demo"]
PUBLISHED_SIZES = {
    "Llama 2, 7B": (32, 32, 128),
    "Llama 3, 8B": (32, 8, 128),
    "Llama 3, 8B, with one head": (32, 1, 128),
    "Qwen3, 0.6B": (28, 8, 128),
}


def caches():
    tokens = 8192
    sizes = {name: 2 * math.prod(shape) * tokens * 2 / 2**30 for name, shape in PUBLISHED_SIZES.items()}
    drawn, [axes] = show.frames(width=8.5, height=2.6)
    axes.barh(
        range(len(sizes)), list(sizes.values()), color=[show.ORANGE, show.BLUE, show.GREY, show.BLUE], height=0.65
    )
    for row, (name, size) in enumerate(sizes.items()):
        axes.text(size + 0.06, row, name, va="center", fontsize=11)
    axes.set_yticks([])
    axes.set(
        xlabel="GiB", xlim=(0, 5), ylim=(len(sizes) - 0.4, -0.6), title="A cache of 8,192 tokens in half precision"
    )
    show.figure(
        drawn,
        "Bars: Llama 2 takes 4 GiB; Llama 3, just as deep, takes 1 GiB, and with one head of keys an eighth of that.",
    )
    for name, size in sizes.items():
        print(f"{name:28} {size:6.3f} GiB for one text of {tokens:,} tokens")


caches()

# %% [markdown]
# Llama 2 needs four GiB for *one* text, and its weights take thirteen. Serve ten people at once, and their caches take
# forty. That is why Llama 3, Qwen3 and Mistral have fewer heads of keys than of queries.
#
# ## 7. A softmax in one pass
#
# This change is different from all the others: **it doesn't change a single number**, only where the numbers are kept.
#
# Attention computes a table of scores, `[queries, keys]`. For 8,192 tokens, that is 67 million numbers in each head, written
# to memory, read for the softmax, written, and read again for the values. But we don't need the table itself. Could we read
# the keys block by block, and never store more than one block of scores?
#
# The softmax seems to forbid it: $\alpha_j = e^{s_j} / \sum_k e^{s_k}$ needs the sum over *all* keys and also, to prevent
# overflow, the largest score of all. But after some blocks, you need to remember only three things for each query:
#
# - `largest`: the largest score so far, $m$;
# - `total`: $\sum_j e^{s_j - m}$ over the keys so far;
# - `out`: $\sum_j e^{s_j - m} v_j$, the weighted values, not yet divided.
#
# Then a new block arrives, perhaps with a larger score, $m' > m$. Every term of the old sums was computed with $m$ and needs
# $m'$ instead. That changes all of them by the same factor: $e^{s_j - m'} = e^{s_j - m} \cdot e^{m - m'}$. So **shrink the
# old sums by** $e^{m - m'}$, add the new block's terms, and go on. At the very end, `out / total` is the output of
# attention.
#
# Milakov and Gimelshein (2018) found this **online softmax**. Dao et al. (2022) built attention on it, in the fast memory
# of a GPU, and called it **FlashAttention**. On a GPU, torch's `scaled_dot_product_attention` uses it.

# %% [markdown]
# ### Exercise 6 · A softmax block by block
# `since_2017.read_block` · 4 points (3 for the values, 1 for blocks in which nothing is visible) · about 25 minutes
#
# Write one step: from `largest`, `total` and `out` so far and the next block, compute the three values after it. Return
# them as a tuple, in that order.
#
# Before the first block, `largest` is $-\infty$ and the two sums are 0. A masked score is $-\infty$.

# %% [markdown] tags=["fine-print"]
# If a query hasn't seen a key yet, and doesn't see one in this block, its three values stay the same. Beware of $-\infty -
# (-\infty)$.


# %% nbgrader={"grade": false, "grade_id": "since_2017-read_block-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def read_block(largest, total, out, scores, values):
    """Read one more block of keys and values.

    largest: [..., queries], the largest score so far
    total: [..., queries], the sum of exp(score - largest)
    out: [..., queries, d_head], the sum of exp(score - largest) times value
    scores: [..., queries, keys], of this block
    values: [..., keys, d_head], of this block
    returns: largest, total and out after this block
    """
    ### BEGIN SOLUTION
    new_largest = torch.maximum(largest, scores.amax(dim=-1))
    level = new_largest.masked_fill(new_largest == -math.inf, 0.0)
    shrink = torch.exp(largest - level)
    powers = torch.exp(scores - level.unsqueeze(-1))
    return new_largest, shrink * total + powers.sum(dim=-1), shrink.unsqueeze(-1) * out + powers @ values
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The shrinking factor is at most 1, so nothing can overflow. In the first block, the old largest score is minus infinity
# and the factor is 0, so the empty sums need no special case. Where a query hasn't seen any key, minus infinity minus
# itself gives NaN, which would poison everything after it; subtracting 0 instead makes all exponentials 0 there.

# %% nbgrader={"grade": true, "grade_id": "since_2017-read_block-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("since_2017.read_block")
### BEGIN HIDDEN TESTS
check("since_2017.read_block", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Read a thousand keys in blocks of 64, and compare with the softmax over all of them at once.


# %% tags=["demo"]
@show.when_ready
def block_by_block():
    generator = torch.Generator().manual_seed(0)
    q, k, v = torch.randn(3, 1024, 64, generator=generator, dtype=torch.float64)
    state = (torch.full((1024,), -math.inf), torch.zeros(1024), torch.zeros(1024, 64))
    state = tuple(part.double() for part in state)
    largest_so_far = []
    for block_k, block_v in zip(k.split(64), v.split(64), strict=True):
        state = read_block(*state, q @ block_k.T / 8, block_v)
        largest_so_far.append(state[0][:5].tolist())
    at_once = torch.softmax(q @ k.T / 8, dim=-1) @ v
    difference = (state[2] / state[1].unsqueeze(-1) - at_once).abs().max()
    print(f"largest difference from the softmax over all keys at once: {difference:.0e}")
    print(f"scores held at once: {1024 * 64:,} instead of {1024 * 1024:,}")
    drawn, [axes] = show.frames(width=8.0, height=3.0)
    for curve in zip(*largest_so_far, strict=True):
        axes.step(range(1, 17), curve, where="mid")
    axes.set(xlabel="block", ylabel="largest score so far", title="Five queries: at each step up, the old sums shrink")
    show.figure(drawn, "Five curves that rise in a few steps, most of them early, and then stay level.")


# %% [markdown]
# The results agree up to rounding. The figure shows how rarely the sums have to shrink.
#
# Does it make the small model better? It can't: it computes the same thing. But it works at lengths where the table
# would not fit. And on a GPU it is faster, too: Dao et al. (2022) trained GPT-2 medium three times as fast as Hugging
# Face's implementation, and 1.7 times as fast as Megatron's (table 2). FlashAttention even does a little more
# arithmetic, but it saves trips to memory.
#
# ## 8. How it is trained
#
# Three changes are about training, not about the model.
#
# ### 8.1 Weight decay
#
# **Weight decay** pulls every weight a little toward 0 in each step, so that only weights needed again and again stay
# large. With plain gradient descent, that is the same as adding $\tfrac{1}{2}\lambda \lVert w \rVert^2$ to the loss. Adam,
# however, divides each gradient, decay included, by its typical size, so the weights with the largest gradients decay
# least. Loshchilov and Hutter (2019) took the decay out of the gradient: **AdamW**.
#
# $$w \leftarrow w - \eta\, (u + \lambda w),$$
#
# where $u$ is Adam's update for the gradient (lesson 05). Only matrices decay. A norm's gain should be near 1, and a bias
# should be wherever it is needed; neither benefits from being near 0.

# %% [markdown]
# ### Exercise 7 · A step with decay
# `since_2017.decayed_step` · 2 points (1 for the values, 1 for vectors) · about 8 minutes
#
# Write the step for a list of weights, given each one's update $u$: matrices decay, vectors only move.

# %% [markdown] tags=["fine-print"]
# Tensors with more than two dimensions decay, too. Return the new weights as a list, and leave the old ones as they are.


# %% nbgrader={"grade": false, "grade_id": "since_2017-decayed_step-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def decayed_step(weights, updates, rate, decay):
    """Move all weights by one step, matrices with decay.

    weights, updates: lists of tensors of the same shapes
    rate, decay: float
    returns: list of tensors
    """
    ### BEGIN SOLUTION
    return [
        weight - rate * (update + (decay * weight if weight.dim() > 1 else 0))
        for weight, update in zip(weights, updates, strict=True)
    ]
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Every matrix shrinks by the same fraction, whatever its gradients are. The decay is multiplied by the learning rate, so
# that a schedule slows both down. `weight.dim()` tells matrices from vectors without looking at names, as most training
# code does.

# %% nbgrader={"grade": true, "grade_id": "since_2017-decayed_step-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("since_2017.decayed_step")
### BEGIN HIDDEN TESTS
check("since_2017.decayed_step", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
def fading(decay):
    """Decay all weights of a model before Adam moves them, by your step with an update of 0."""

    @torch.no_grad()
    def fade(model, rate):
        weights = list(model.parameters())
        stay = [torch.zeros_like(weight) for weight in weights]
        for weight, faded in zip(weights, decayed_step(weights, stay, rate, decay), strict=True):
            weight.copy_(faded)

    return fade


def typical_size(model):
    """The root mean square of all numbers in matrices."""
    numbers = torch.cat([weight.detach().flatten() for weight in model.parameters() if weight.dim() > 1])
    return numbers.square().mean().sqrt().item()


@show.when_ready
def with_decay():
    decayed_step([], [], 0.1, 0.1)
    print(f"{'no decay':36} {trials['2017']}; typical weight {typical_size(trials['2017'].model):.3f}")
    for decay in (0.1, 2.0):
        name = f"decay {decay}"
        measured(name, seeds=2 if decay < 1 else 1, before=fading(decay))
        share = 1 - (1 - RATE * decay) ** STEPS
        print(
            f"    typical weight {typical_size(trials[name].model):.3f}; a weight that never moved would have lost {share:.0%}"
        )


# %% [markdown]
# The small decay makes no difference; the large one makes the model worse. The usual 0.1 takes only 5% off a weight in all
# 160 steps. Twenty times as much makes the weights smaller, as it should, and the model worse, because weights that it still
# needs shrink as fast as it learns them.
#
# Decay is meant for long training runs. There it keeps the weights from growing forever, so that a step of a given size
# still makes a difference.
#
# ### 8.2 Down to nothing
#
# A large learning rate gets far and then jumps around; a small one settles and gets nowhere. So start large and end small.
# The 2017 paper's rate falls with $1/\sqrt{\text{step}}$, forever. If you know the number of steps, the usual plan is a
# **cosine schedule**: a short warm-up, then half a cosine (Loshchilov and Hutter, 2017). Here it is in code.


# %%
def cosine_rates(peak, warmup=16, total=STEPS):
    """The rate at each step: up linearly to the peak, then down half a cosine to 0."""
    step = torch.arange(1, total + 1)
    falling = peak * (1 + torch.cos(math.pi * (step - warmup) / (total - warmup))) / 2
    return torch.where(step < warmup, peak * step / warmup, falling)


# %% [markdown]
# We compare four training runs in pre-norm, which tolerates a large rate. The peak is either our usual,
# *small* rate or the large, *brisk* one; the rate then either stays there to the end (you already have those runs) or falls
# to 0. **Guess** the best and the worst of the four.

# %%
best_of_four, worst_of_four = "", ""  # "small, held", "small, down", "brisk, held" or "brisk, down"


# %% tags=["demo"]
@show.when_ready
def held_or_brought_down():
    pre_norm(torch.ones(1, 4), [], [], torch.sign)
    found = {}
    for size, peak, held in (("small", RATE, "pre-norm"), ("brisk", BRISK, f"pre-norm, rate {BRISK}")):
        measured(f"pre-norm, down from {peak}", rates=cosine_rates(peak).tolist(), seeds=1, stack=pre_norm)
        print(f"    held at {peak}: {trials[held]}")
        found |= {f"{size}, held": trials[held].mean, f"{size}, down": trials[f"pre-norm, down from {peak}"].mean}
    show.prediction("best", best_of_four, min(found, key=found.get))
    show.prediction("worst", worst_of_four, max(found, key=found.get))


# %% [markdown]
# So much for guesses: from the small peak, the cosine is **worse** than no schedule at all, and from the brisk one it isn't
# any better.
#
# That doesn't refute the cosine. A falling rate is for models that no longer improve with a constant one. We stop ours long
# before that, and half of its few steps are tiny. Loshchilov and Hutter trained far longer.
#
# ### 8.3 A step in every direction
#
# To Adam, a matrix is just a pile of numbers. But a matrix maps some directions to others, and its **singular values** say
# how strongly. A gradient usually has a few large singular values and many small ones, so a step changes a few directions a
# lot and the others hardly at all. **Muon** (Jordan et al., 2024) takes a step of the *same size in every direction*: it
# keeps the gradient's singular vectors, and makes all singular values about 1.
#
# A polynomial does that without a singular value decomposition in every step. If $X$ is the gradient divided by its
# Frobenius norm (the square root of the sum of all squares),
#
# $$X \leftarrow a X + b\, (X X^\top) X + c\, (X X^\top)^2 X$$
#
# turns each singular value $s$ into $a s + b s^3 + c s^5$, and leaves the vectors alone. With $a = 3.4445$, $b = -4.775$
# and $c = 2.0315$, five rounds bring every value that isn't tiny close to 1. It takes only matrix products, which GPUs are
# good at.

# %% [markdown]
# ### Exercise 8 · A step of equal size in every direction
# `since_2017.orthogonalised` · 3 points (2 for the values, 1 for tall matrices) · about 15 minutes
#
# Divide the gradient by its norm, and apply the polynomial `steps` times. Don't use a ready-made Muon.

# %% [markdown] tags=["fine-print"]
# With 0 steps, the result is the gradient divided by its norm. It has the gradient's dtype. The gradient is never all
# zeros.


# %% nbgrader={"grade": false, "grade_id": "since_2017-orthogonalised-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def orthogonalised(gradient, coefficients, steps):
    """A matrix with the gradient's singular vectors, and singular values near 1.

    gradient: [rows, columns]
    coefficients: a, b and c, floats
    steps: int
    returns: [rows, columns]
    """
    ### BEGIN SOLUTION
    a, b, c = coefficients
    x = gradient / gradient.norm()
    for _ in range(steps):
        square = x @ x.T
        x = a * x + (b * square + c * square @ square) @ x
    return x
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The Frobenius norm is at least as large as the largest singular value, so after the division, all of them are at most 1,
# where the polynomial is well behaved. With X = U S V^T, the product X X^T is U S^2 U^T: each round changes only S. The
# square of X X^T is a matrix product, not the squares of its entries. A fast program transposes a tall matrix first: the
# product is smaller, and the result is the same.

# %% nbgrader={"grade": true, "grade_id": "since_2017-orthogonalised-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("since_2017.orthogonalised")
### BEGIN HIDDEN TESTS
check("since_2017.orthogonalised", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# First, look at the singular values of one real gradient, before and after your function. Then train the 2017 model again:
# Muon updates its matrices, and Adam updates its embeddings, norms and biases, as before. (Muon keeps a running mean of the
# gradients, and scales a step so that its numbers are about as large as Adam's: Liu et al., 2025.) **Guess** the loss.

# %%
loss_with_muon = None  # nats per character

# %% tags=["demo"]
MUON = (3.4445, -4.775, 2.0315)


class Muon:
    """Your steps for the matrices of all sublayers, and Adam's for everything else."""

    def __init__(self, model):
        self.matrices = [weight for weight in model.sublayers.parameters() if weight.dim() == 2]
        ours = {id(weight) for weight in self.matrices}
        others = [weight for weight in model.parameters() if id(weight) not in ours]
        self.adam = torch.optim.Adam(others, betas=(0.9, 0.98))
        self.means = [torch.zeros_like(weight) for weight in self.matrices]
        self.param_groups = self.adam.param_groups

    def zero_grad(self):
        for weight in (*self.matrices, *self.param_groups[0]["params"]):
            weight.grad = None

    @torch.no_grad()
    def step(self):
        self.adam.step()
        for weight, mean in zip(self.matrices, self.means, strict=True):
            mean.mul_(0.95).add_(weight.grad)
            step = orthogonalised(weight.grad + 0.95 * mean, MUON, 5)
            weight -= self.param_groups[0]["lr"] * 0.4 * max(weight.shape) ** 0.5 * step


@show.when_ready
def equal_steps():
    weight = next(iter(Muon(trials["2017"].model).matrices))
    trials["2017"].model(text.training[:CONTEXT].unsqueeze(0)).logsumexp(dim=-1).sum().backward()
    before = torch.linalg.svdvals(weight.grad / weight.grad.norm())
    after = torch.linalg.svdvals(orthogonalised(weight.grad, MUON, 5))
    for name, values in (("gradient", before), ("step", after)):
        print(f"{name:8} {(values > values[0] / 2).sum():2} of {len(values)} singular values above half the largest")
    measured("Muon", seeds=2, optimizer=Muon)
    print(f"against 2017: {trials['Muon'].mean - trials['2017'].mean:+.2f}")
    show.prediction("with Muon", loss_with_muon, trials["Muon"].mean, " nats")


# %% [markdown]
# The difference is larger than the spread of the seeds: after rotary positions, this is the second change that pays off
# right away. It doesn't change the model, only how it is trained. Each step takes longer, because of the products in your
# loop. Large models have since been trained with Muon (Liu et al., 2025).

# %% [markdown]
# ## 9. All of it
#
# ### 9.1 The current model
#
# Put it all together: RMSNorm, pre-norm, rotary positions, a gate, two heads of keys for four heads of queries, and, as in
# Llama, no biases. **Predict** the loss with all these changes together, at our usual rate and at twice that rate.

# %%
loss_of_all = {"all of it": None, "all of it, twice the rate": None}  # nats per character


# %% tags=["demo"]
def modern_model():
    """Every change at once."""
    return {
        "norm": RMSNorm,
        "stack": pre_norm,
        "turn": turned,
        "network": SwiGLU,
        "groups": 2,
        "attend": shared_by_all,
        "bias": False,
    }


@show.when_ready
def all_of_it():
    SmallModel(**modern_model())(torch.zeros(1, 2, dtype=torch.int64))
    measured("all of it", **modern_model())
    measured("all of it, twice the rate", rates=[2 * RATE] * STEPS, seeds=2, **modern_model())
    table = ["2017", "RMSNorm", "pre-norm", "SwiGLU", "one head of keys for four", "decay 0.1", "rotary", "all of it"]
    table += ["all of it, twice the rate"]
    for name, guess in loss_of_all.items():
        show.prediction(name, guess, trials[name].mean, " nats")
    drawn, [axes] = show.frames(width=9.5, height=4.0)
    for row, name in enumerate(table):
        colour = show.GREY if name == "2017" else show.BLUE
        axes.plot(trials[name].losses, [row] * len(trials[name].losses), "o", color=colour, ms=5, alpha=0.6)
        axes.plot(trials[name].mean, row, "|", color=show.INK, ms=16, mew=2)
    old, best = trials["2017"].mean, min(min(trials[name].losses) for name in table)
    for row, name in enumerate(table):
        axes.text(best - 0.15, row, name, va="center", fontsize=11)
    ruler = max(max(trials[name].losses) - min(trials[name].losses) for name in table)
    axes.axvspan(old - ruler / 2, old + ruler / 2, color="#f1f4f8", zorder=0)
    axes.set_yticks([])
    axes.set(xlabel="nats per character", ylim=(len(table) - 0.5, -0.5), xlim=(best - 0.16, old + ruler))
    axes.set_title("Each change by itself, and all of them")
    show.figure(
        drawn,
        "Losses of each trial: most changes are in or next to the band of 2017; rotary and all of it are far to the "
        "left.",
    )
    print(f"{trials['all of it'].parameters:,} numbers instead of {trials['2017'].parameters:,}")
    for name, guess in zip(guesses.questions, guesses.answers, strict=True):
        said = "no guess" if guess is None else guesses.choices[guess]
        print(f"{name:26} {round(trials[name].mean - old, 2) + 0.0:+.2f}; you said: {said}")


# %% [markdown]
# The gray band is the ruler, as wide as the widest spread of seeds in the table. Most of the changes are in it or next to
# it. One lies far outside. And all of them together, at our usual rate, are *worse* than rotary positions alone. Gains
# don't simply add up: this model has about 10% fewer weights, and with every norm in a branch, it takes smaller steps.
# Double the rate, and the model makes up most of the difference, or all of it.
#
# So are the others just fads? No. A change can make a model **better** (rotary), **trainable** where it wasn't (pre-norm),
# or **cheaper** at the same quality (RMSNorm, grouped queries, the softmax in blocks). Or it helps so little that only a
# large and careful experiment can show it (SwiGLU), or only in a run a thousand times as long (decay, perhaps the cosine). A
# single number after 160 steps shows the first of these five kinds and, with care, the second. Know which kind you are
# looking at.
#
# ### 9.2 Counting a Llama
#
# Now you can compute the published parameter counts yourself. A Llama has
#
# - an embedding, `vocab_size × d_model`, and an output matrix of the same size, unless the two are tied;
# - in each block $W_q$ and $W_o$, `d_model × d_model` each; $W_k$ and $W_v$, `d_model` × (`key_value_heads` · `d_head`)
#   each, where `d_head` is `d_model / heads`; a gated feed-forward network, three matrices of `d_model × d_ff`; two
#   RMSNorms;
# - a final RMSNorm. It has no biases, and no learned positions.

# %% [markdown]
# ### Exercise 9 · The parameters of Llama
# `since_2017.llama_parameters` · 3 points (2 for the values, 1 for a tied output) · about 15 minutes
#
# How many numbers does a Llama of these sizes learn? You don't need a model, only arithmetic.

# %% [markdown] tags=["fine-print"]
# The result is a plain `int`.


# %% nbgrader={"grade": false, "grade_id": "since_2017-llama_parameters-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def llama_parameters(vocab_size, d_model, layers, heads, key_value_heads, d_ff, tied):
    """The number of parameters of a Llama of these sizes.

    vocab_size, d_model, layers, heads, key_value_heads, d_ff: int
    tied: bool, whether the output matrix is the embedding
    returns: int
    """
    ### BEGIN SOLUTION
    keys = key_value_heads * (d_model // heads)
    attention = 2 * d_model * d_model + 2 * d_model * keys
    feed_forward = 3 * d_model * d_ff
    tables = (1 if tied else 2) * vocab_size * d_model
    return tables + layers * (attention + feed_forward + 2 * d_model) + d_model
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# A formula from 2017 gets keys and values wrong: they have their own number of heads. In the 8B model, they are a
# quarter as wide as the queries. Apart from the matrices, only the norms have parameters: `d_model` gains each.

# %% nbgrader={"grade": true, "grade_id": "since_2017-llama_parameters-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("since_2017.llama_parameters")
### BEGIN HIDDEN TESTS
check("since_2017.llama_parameters", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def llamas():
    sizes = {
        "Llama 2, 7B": (32_000, 4096, 32, 32, 32, 11_008, False),
        "Llama 3, 8B": (128_256, 4096, 32, 32, 8, 14_336, False),
        "Llama 3.2, 1B": (128_256, 2048, 16, 32, 8, 8192, True),
    }
    for name, shape in sizes.items():
        vocab_size, d_model, layers, _heads, _groups, d_ff, tied = shape
        total = llama_parameters(*shape)
        tables, network = (1 if tied else 2) * vocab_size * d_model, layers * 3 * d_model * d_ff
        print(
            f"{name:14} {total:13,} numbers: {tables / total:4.0%} in tables, {network / total:4.0%} in feed-forward networks"
        )


# %% [markdown]
# These are the published numbers, to the last digit; the ones in the models' names are rounded. Compare with GPT-2 (lesson
# 07): the feed-forward network takes a larger share, attention a smaller one, and with a vocabulary of 128,256, the tables
# are a fifth of a small model.
#
# ### 9.3 Is it really a Llama?
#
# Are your norms, rotations, gates and groups the same as in the published models? Put the weights of **your** small model
# into the library's `GPT` with Llama's settings, and compare the logits. The library reads Llama's, Qwen's and Mistral's
# published weights.

# %% tags=["demo"]
PUBLISHED = None  # "Qwen/Qwen3-0.6B", if you are online: 1.2 GB; or a folder with a model of this kind


def as_llama(small):
    """The library's model with Llama's settings and a small model's weights."""
    from dataclasses import replace

    from course_lib.models import GPT, GPTConfig

    settings = GPTConfig.llama(len(text.characters), D_MODEL, HEADS, LAYERS, small.sublayers[1].W_1.shape[1], CONTEXT)
    llama = GPT(replace(settings, key_value_heads=2)).eval()
    with torch.no_grad():
        llama.embedding.weight.copy_(D_MODEL**0.5 * small.embedding.weight)
        llama.output.weight.copy_(small.embedding.weight)
        llama.norm.weight.copy_(small.final_norm.gamma)
        for number, block in enumerate(llama.blocks):
            looking, network = small.sublayers[2 * number : 2 * number + 2]
            block.add_and_norm_1.norm.weight.copy_(small.norms[2 * number].gamma)
            block.add_and_norm_2.norm.weight.copy_(small.norms[2 * number + 1].gamma)
            together = torch.cat([looking.W_q.weight, looking.W_k.weight, looking.W_v.weight])
            block.self_attention.W_qkv.weight.copy_(together)
            block.self_attention.W_o.weight.copy_(looking.W_o.weight)
            for name in ("W_1", "V", "W_2"):
                getattr(block.feed_forward, name).weight.copy_(getattr(network, name).T)
    return llama


@show.when_ready
def yours_and_the_librarys():
    SmallModel(**modern_model())(torch.zeros(1, 2, dtype=torch.int64))
    from course_lib.models import GPT

    yours = trials["all of it"].model
    ids = text.held_out[:CONTEXT].unsqueeze(0)
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        as_llama(yours).save_pretrained(folder)  # in the files of a published Llama
        loaded = GPT.from_pretrained(folder)
        difference = (loaded(ids) - yours(ids)).abs().max()
    print(f"largest difference between your logits and those of the library's Llama: {difference:.0e}")
    if PUBLISHED is None:
        print('No published model was loaded: set PUBLISHED = "Qwen/Qwen3-0.6B" above if you are online (1.2 GB).')
        return
    model = GPT.from_pretrained(PUBLISHED)
    print(f"{PUBLISHED}: {sum(weight.numel() for weight in model.parameters()):,} numbers; {model.config}")


# %% [markdown]
# Two programs that don't share a line compute the same function. What you wrote *is* a Llama.
#
# **Stretch, ungraded.** If you are online, set `PUBLISHED` and let a current model write:
# `tokenizers.Tokenizer.from_pretrained` gives you its tokens, and the samplers of lesson 06 do the rest. Qwen3 has one
# thing that your model doesn't: it normalizes queries and keys before it rotates them. Find that in `model.config`. What
# might it be good for?
#
# ## 10. Learning beside a large model
#
# You will rarely train such a model; you will *adapt* one. Lesson 07 fine-tuned all the weights of its GPT. With seven
# billion weights, that takes seven billion gradients and fourteen billion running averages for Adam, and leaves you with
# another thirteen gigabytes for every task.
#
# Hu et al. (2022) guessed that the *change* that a model needs for a task is simple, however large the model. So they
# leave $W$ as it is and learn the change as a product of two narrow matrices, of **rank** $r$:
#
# $$W x + \frac{\alpha}{r}\, B A x, \qquad A: r \times d_\text{in},\quad B: d_\text{out} \times r .$$
#
# With $r = 8$ and $d = 4096$, that is 65,536 numbers instead of 16.8 million. $B$ starts at zero, so at first the layer
# computes what it did before. At the end, you merge $W + \tfrac{\alpha}{r} B A$ into one matrix, and the model is as fast
# as it was. This is **LoRA**, low-rank adaptation.

# %% [markdown]
# ### Exercise 10 · Learning beside a frozen weight
# `since_2017.lora_layer` · 3 points · about 15 minutes
#
# Write the layer as a module. Its constructor takes the frozen weight, and creates two parameters: `A`, of shape
# `[rank, d_in]`, and `B`, of shape `[d_out, rank]`. As in `nn.Linear`, each row of a matrix gives one output.

# %% [markdown] tags=["fine-print"]
# Keep the weight, but not as a parameter: an optimizer must not see it (`register_buffer` keeps a tensor that isn't
# trained). Initialize `A` at random, with a standard deviation of 1 / √d_in, and `B` with 0; the check loads its own values.
# The check also compares the gradients of `x`, `A` and `B`.


# %% nbgrader={"grade": false, "grade_id": "since_2017-lora_layer-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
class LoRA(nn.Module):
    """A frozen linear layer and its learned change: a constructor, and forward(self, x).

    weight: [d_out, d_in], frozen
    rank: int
    alpha: float
    x: [..., d_in]; forward returns [..., d_out]
    """

    def __init__(self, weight, rank, alpha):
        super().__init__()
        ### BEGIN SOLUTION
        d_out, d_in = weight.shape
        self.register_buffer("weight", weight)
        self.A = nn.Parameter(torch.randn(rank, d_in) / math.sqrt(d_in))
        self.B = nn.Parameter(torch.zeros(d_out, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return x @ self.weight.T + self.scale * (x @ self.A.T @ self.B.T)
        ### END SOLUTION


# %% [markdown] tags=["reason"]
# Multiply x first by A and then by B, so that the large matrix B A is never built. A buffer moves to the GPU and is saved
# with the model, but isn't trained. If A started at 0, too, neither would ever get a gradient. Dividing alpha by the rank
# keeps the size of the change about the same at any rank, so you can keep the learning rate.

# %% nbgrader={"grade": true, "grade_id": "since_2017-lora_layer-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("since_2017.lora_layer")
### BEGIN HIDDEN TESTS
check("since_2017.lora_layer", hidden=True)
### END HIDDEN TESTS


# %%
class Adapted(nn.Module):
    """Your layer in place of a linear one, with that one's bias."""

    def __init__(self, layer, rank, alpha):
        super().__init__()
        self.beside = LoRA(layer.weight.detach(), rank, alpha)
        self.bias = layer.bias

    def forward(self, x):
        out = self.beside(x)
        return out if self.bias is None else out + self.bias


def adapted(model, names, rank, alpha=16.0):
    """A copy of a model in which only LoRA for the layers of these names can learn."""
    model = copy.deepcopy(model).requires_grad_(False)
    for name, layer in list(model.named_modules()):
        if isinstance(layer, nn.Linear) and name.rpartition(".")[2] in names:
            model.set_submodule(name, Adapted(layer, rank, alpha))
    return model


def learned(model):
    """How many numbers of a model can learn."""
    return sum(weight.numel() for weight in model.parameters() if weight.requires_grad)


# %% [markdown]
# First, look at the sizes for the smallest GPT-2, without its weights (torch builds it on a device that stores no numbers):


# %% tags=["demo"]
@show.when_ready
def beside_gpt2():
    LoRA(torch.ones(2, 2), 1, 1.0)(torch.ones(1, 2))
    from course_lib.models import GPT, GPTConfig

    with torch.device("meta"):
        gpt2 = GPT(GPTConfig.gpt2())
        total = learned(gpt2)
        print(f"GPT-2: {total:,} numbers")
        for rank in (1, 8, 64):
            beside = learned(adapted(gpt2, ["W_qkv", "W_o"], rank))
            print(f"rank {rank:2}: {beside:9,} of them learn, {beside / total:.2%}")


# %% [markdown]
# Our small modern model has read the handbook. Now teach it the toy grammar's sentences about cats, in three ways:
# train all weights, or only LoRA for $W_q$, $W_k$, $W_v$ and $W_o$, with rank 4 or with rank 1. After each, we measure
# two losses: on the cats, and on the handbook. What will it forget? **Predict** the loss on the handbook after each.

# %%
loss_on_the_handbook = {"all weights": None, "LoRA, rank 4": None, "LoRA, rank 1": None}  # nats per character


# %% tags=["demo"]
@show.when_ready
def a_handbook_learns_about_cats():
    LoRA(torch.ones(2, 2), 1, 1.0)(torch.ones(1, 2))
    SmallModel(**modern_model())(torch.zeros(1, 2, dtype=torch.int64))
    drawing = random.Random(5)
    lines = [f"{' '.join(random_sentence(drawing).in_english())}. " for _ in range(3000)]
    cats = CharacterText(text.characters, text.encode("".join(lines[:2700])), text.encode("".join(lines[2700:])))
    before = trials["all of it, twice the rate"].model
    print("".join(lines[:3]))
    projections = ["W_q", "W_k", "W_v", "W_o"]
    ways = {
        "all weights": lambda: copy.deepcopy(before),
        "LoRA, rank 4": lambda: adapted(before, projections, 4),
        "LoRA, rank 1": lambda: adapted(before, projections, 1),
    }
    forgotten = {}
    print(f"{'':14} {'learns':>8} {'cats':>6} {'handbook':>9}")
    print(
        f"{'before':14} {'':8} {held_out_loss(before, cats.held_out):6.2f} {held_out_loss(before, text.held_out):9.2f}"
    )
    for name, make in ways.items():
        found = trial(make, cats, name, [2 * RATE] * STEPS, seeds=1)
        handbook = held_out_loss(found.model, text.held_out)
        print(f"{name:14} {learned(found.model):8,} {found.mean:6.2f} {handbook:9.2f}")
        forgotten[name] = handbook
    for name, guess in loss_on_the_handbook.items():
        show.prediction(f"{name}, on the handbook", guess, forgotten[name], " nats")


# %% [markdown]
# Training all weights gives the best loss on the cats, but the model has forgotten the handbook: it now does worse there
# than a model that knows nothing. The higher LoRA's rank, the better it learns the cats. LoRA stays well behind full
# fine-tuning, but it trains very few numbers and forgets far less of the handbook. And without $A$ and $B$ you have the old
# model back, to the last digit, because its weights were never touched. On a model this small, LoRA costs something; on
# GPT-3, it didn't (Hu et al., table 4).
#
# **Stretch, ungraded: LoRA on the real GPT-2.** If you are online and have 500 MB and some patience (or a GPU), the same
# function adapts the real one. Set `GPT2 = "gpt2"`.

# %% tags=["demo"]
GPT2 = None  # "gpt2", if you are online: 500 MB


def tuned_by_lora(model, ids, steps, rate=0.001, rank=8, tokens=64):
    """A copy of a model trained on some ids with your LoRA; and the loss at each step."""
    model = adapted(model, ["W_qkv", "W_o"], rank)
    optimizer = torch.optim.Adam([weight for weight in model.parameters() if weight.requires_grad], lr=rate)
    losses = []
    for _ in range(steps):
        pieces = ids[torch.randint(len(ids) - tokens, (4, 1)) + torch.arange(tokens + 1)]
        loss = F.cross_entropy(model(pieces[:, :-1]).flatten(0, 1), pieces[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, losses


@show.when_ready
def cats_for_gpt2():
    LoRA(torch.ones(2, 2), 1, 1.0)(torch.ones(1, 2))
    if GPT2 is None:
        print('The real GPT-2 was not loaded: set GPT2 = "gpt2" above if you are online (500 MB).')
        return
    from tokenizers import Tokenizer

    from course_lib.models import GPT

    pieces = Tokenizer.from_pretrained(GPT2)
    drawing = random.Random(5)
    sentences = " ".join(f"{' '.join(random_sentence(drawing).in_english())}." for _ in range(1000))
    _model, losses = tuned_by_lora(GPT.from_pretrained(GPT2), torch.tensor(pieces.encode(sentences).ids), 40)
    print(f"loss on the cats' sentences: {losses[0]:.2f} at first, {sum(losses[-5:]) / 5:.2f} after 40 steps")


# %% [markdown]
# ### Exercise 11 · In your own words
# `since_2017.what_to_keep` · 2 points, read by a person · about 10 minutes
#
# A friend has read your table. "Pre-norm, SwiGLU, grouped queries, decay: all within the noise. I will build my
# seven-billion-weight model with rotary positions and leave the rest as it was in 2017." In four to eight sentences: which
# two of the changes would you insist on, and why can't your table show what they are good for? And what would you have to
# measure instead?
#
# Learning on your own? Once you have written your answer,
# `solution("since_2017.what_to_keep")` in a new cell shows one good answer and what earns points.

# %% [markdown] nbgrader={"grade": true, "grade_id": "since_2017-what_to_keep-written", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# Pre-norm: at the small rate, the table shows no difference, but at the large one, post-norm hardly learned anything, even
# with only two layers. A deep post-norm model trains only with a careful warm-up, if at all. To see it, train deeper models
# at several rates; one loss at one rate does not show it. Grouped queries: they are not meant to lower the loss but to make
# the cache smaller, by a factor of four in Llama 3. So measure memory and time per token on long texts, and check that the
# loss doesn't rise. (RMSNorm and the softmax in blocks also save time and memory at equal loss. To tell SwiGLU's gain of a
# few hundredths from noise, you need a larger model, longer training and many seeds; decay needs a run long enough for
# weights to grow.)
#
# *(One point: two changes with a valid reason other than the loss after a short run. One point: what to measure instead,
# for both: rates and depth, memory and time on long texts, more seeds and longer training.)*

# %% [markdown]
# ## Glossary
#
# - **RMSNorm**: divides a vector by the square root of its mean square and multiplies it by learned gains; a layer norm
#   without mean and shift.
# - **Post-norm**, **pre-norm**: the norm after the residual sum, or before the sublayer, in its branch.
# - **Final norm**: the norm after the last block; pre-norm needs it.
# - **Rotary positions (RoPE)**: queries and keys rotated by their positions, so that a score depends only on the distance.
# - **Gate**: a projection that decides how much of another one passes, number by number.
# - **SwiGLU**: a feed-forward network with a gate and SiLU.
# - **Grouped-query attention**: several query heads share a head of keys and values; with one head for all, **multi-query
#   attention**.
# - **Key-value cache**: the keys and values of everything read so far.
# - **Online softmax**: a softmax that reads its scores once, block by block, and shrinks its sums when a larger score turns
#   up.
# - **FlashAttention**: attention computed block by block in a GPU's fast memory; the same numbers, less traffic.
# - **Weight decay**: each step shrinks every matrix by a small fraction; in **AdamW** it is decoupled, applied outside
#   Adam's update.
# - **Cosine schedule**: a learning rate that falls along half a cosine to the last step.
# - **Singular values**: how strongly a matrix stretches each of its directions.
# - **Muon**: an optimizer whose step has the same size in every direction of a matrix.
# - **LoRA**: learning the change to a frozen matrix as a product of two narrow ones; the **rank** says how narrow.
#
# ## What you have now
#
# You have a current model that agrees with the library's Llama up to rounding, and you wrote every part of it. And you have
# a ruler: you know which of these changes you could see on your own machine, and which you must take on trust, or measure at
# a size beyond your machine. Next time you hear that *everybody does it this way now*, you know what to ask.
#
# The page below is yours to keep. In a terminal, `katze mine` saves it next to `my_transformer.py`, your transformer from
# lessons 01 to 06. That file runs without this course, compares itself with torch's transformer, and translates *the cat
# danced*.

# %% tags=["demo"]
from course_lib.mine import ending

ending()
