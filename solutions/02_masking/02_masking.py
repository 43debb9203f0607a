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
# # Lesson 02 · Masking
#
# Cats like to sit on whatever you are reading. Tonight that is useful: a **mask** is a cat on the page. It decides which
# words a query may see and which are covered.
#
# There are two reasons to cover words. Some lie in the **future**: a model that should predict the next word must not
# read it first. Others are not words at all but **padding**, put there to make all sentences of a batch equally long. You
# will write both masks, combine them, and apply them in two different ways. A third way looks just as good and is wrong,
# and you will see why.
#
# | | you will write | points | minutes |
# |---|---|---|---|
# | 1 | the causal mask | 1 | 4 |
# | 2 | attention weights under a mask | 4 | 15 |
# | 3 | the same weights by multiplication | 3 | 15 |
# | 4 | masked self-attention | 3 | 10 |
# | 5 | a short answer, in words | 2 | 10 |
# | 6 | the padding mask of a batch | 2 | 8 |
# | 7 | both masks combined | 2 | 8 |
# | 8 | a layer that pools a sentence into one vector | 4 | 20 |
#
# Stuck? `hint("masking.causal_mask")` opens a hint, and with each further call the next one. `solution(...)` shows the
# answer with its reason, once you have tried; `progress()` shows how far you are.
#
# Masks are boolean throughout the course, and **True means "may attend"**. Rows are queries, columns are keys, as before.
# S0 to S4 are the lectures, and *the paper* is Vaswani et al. (2017),
# [*Attention Is All You Need*](https://arxiv.org/abs/1706.03762).

# %%
import math

import torch
import torch.nn.functional as F
from torch import nn

from course_lib import show
from course_lib.checking import case, check, hint, progress, solution

show.use_style()
torch.set_printoptions(precision=4, sci_mode=False)

# %% [markdown]
# ## 1. The cheating problem
#
# A **language model** reads the words so far and predicts the next one. To train it we feed in a whole sentence at once
# and ask for a prediction at *every* position: after *I* it should say *saw*, after *I saw* it should say *the*, and so
# on. The targets are the inputs shifted by one.
#
# | input | I | saw | the | dog |
# |---|---|---|---|---|
# | **target** | saw | the | dog | running |
#
# Now think of self-attention from lesson 01. At position *I*, whose target is *saw*, the model looks at all words of the
# input. One of them is *saw*. It need not learn any English; it only needs to learn to look one word to the right. S0
# asks why such a model reaches perfect accuracy so easily. Now you know.
#
# Let us catch one in the act. The sentences below are **random**: eight symbols, each as likely as any other, whatever
# came before. Nobody can predict them. An honest model can do no better than to give each symbol a probability of 1/8,
# which is a loss of $\log 8 \approx 2.08$. We train the same small model twice, once with a clear view and once with a
# mask. **Predict** both losses after 80 steps before you run the training.

# %%
my_losses = {"sees everything": None, "sees only the past": None}

# %% tags=["demo"]
SYMBOLS, LENGTH, D_MODEL = 8, 9, 32


class TinyLanguageModel(nn.Module):
    """Embeddings, one layer of self-attention, and a linear layer that predicts the next symbol."""

    def __init__(self):
        super().__init__()
        self.symbol = nn.Embedding(SYMBOLS, D_MODEL)
        self.position = nn.Embedding(LENGTH, D_MODEL)
        self.to_q, self.to_k, self.to_v = (nn.Linear(D_MODEL, D_MODEL, bias=False) for _ in range(3))
        self.to_symbol = nn.Linear(D_MODEL, SYMBOLS)

    def forward(self, symbols, added):
        x = self.symbol(symbols) + self.position.weight
        scaled = self.to_q(x) @ self.to_k(x).transpose(-2, -1) / math.sqrt(D_MODEL)
        alpha = F.softmax(scaled + added, dim=-1)
        return self.to_symbol(alpha @ self.to_v(x)), alpha


def train(added, steps=80):
    """Losses at each step, and the attention weights after the last one; `added` goes to the scores."""
    torch.manual_seed(0)
    model = TinyLanguageModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(steps):
        sequence = torch.randint(SYMBOLS, (64, LENGTH + 1))
        predicted, alpha = model(sequence[:, :-1], added)
        # The last position is left out: its target is not in the input, so nobody can cheat there.
        loss = F.cross_entropy(predicted[:, :-1].flatten(0, 1), sequence[:, 1:-1].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, alpha.mean(dim=0).detach()


free = torch.zeros(LENGTH, LENGTH)
past_only = nn.Transformer.generate_square_subsequent_mask(LENGTH)  # torch's own: numbers to be added, see section 2
cheating, cheating_alpha = train(free)
honest, honest_alpha = train(past_only)

drawn, [axes] = show.frames(height=3.2)
axes.plot(cheating, color=show.ORANGE, label="sees everything")
axes.plot(honest, color=show.BLUE, label="sees only the past")
axes.axhline(math.log(SYMBOLS), color=show.GREY, linestyle=":", label="log 8: no honest model can do better")
axes.set(xlabel="training step", ylabel="loss", ylim=(-0.1, 2.6), title="Predicting random symbols")
axes.legend(loc="center right")
show.figure(drawn, "Training loss: the model that sees everything falls to 0, the masked one stays at log 8.")
print(f"last loss: sees everything {cheating[-1]:.3f}, sees only the past {honest[-1]:.3f}")
show.prediction("sees everything", my_losses["sees everything"], cheating[-1])
show.prediction("sees only the past", my_losses["sees only the past"], honest[-1])

# %% [markdown]
# A loss near 0 on pure noise. And here is how it was done: the average attention weights of both models. The cheat's row
# 0 looks at column 1, row 1 at column 2, and so on: always one to the right, at the answer.

# %% tags=["demo"]
positions = [str(index) for index in range(LENGTH)]
show.matrices(
    show.Panel("alpha, sees everything", cheating_alpha, positions, positions, decimals=1),
    show.Panel("alpha, sees only the past", honest_alpha, positions, positions, decimals=1),
    alt="Attention weights. Left: a dark line just above the diagonal. Right: weights only on and below the diagonal.",
)

# %% [markdown]
# In use such a model is worthless, because then there *is* no next word to copy. A mistake in a mask is one of the
# nastiest bugs there are: nothing crashes, and the training loss looks wonderful.
#
# ## 2. The causal mask
#
# The remedy is one rule: **position $i$ may look at positions $0, \dots, i$ and at nothing later.** Itself included,
# because it knows its own word and needs it. This is the *causal* mask: only the past can influence the present.
#
# For the German sentence of S2, whose decoder reads `<s>` *die Katze tanzte* (the slides spell it *tantze*; the verb is
# *tanzen*, so *tanzte*), it looks like this. A tick means "may attend".

# %%
tokens = ["<s>", "die", "Katze", "tanzte"]
mask = torch.tensor([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]], dtype=torch.bool)

# %% tags=["demo"]
show.matrices(
    show.Panel("may attend: query ↓  key →", mask, tokens, tokens),
    alt="A lower-triangular mask over <s>, die, Katze, tanzte: each token may attend to itself and earlier tokens.",
)

# %% [markdown]
# Read row by row: `<s>` sees only itself, *die* sees two words, *tanzte* sees all four. The ones fill the **lower**
# triangle, the diagonal included.
#
# Other people draw it differently, and it is worth knowing how, because their code will meet yours one day.
#
# - S3 writes its attention as $A_{ij} = \text{mask}_{ij} \exp\langle K w_i, Q w_j \rangle$: the first index is the
#   **key**. Its mask is the transpose of ours, an upper triangle.
# - S0 uses PyTorch's **additive** mask: a float matrix, with 0 where a query may look and $-\infty$ where it may not,
#   which is added to the scores.
# - Some PyTorch modules take boolean masks in which True means "may **not**" attend. Read the documentation each time.

# %% tags=["demo"]
show.matrices(
    show.Panel("ours: query ↓  key →", mask, tokens, tokens),
    show.Panel("S3: key ↓  query →", mask.T, tokens, tokens),
    show.Panel("S0: to be added", torch.zeros(4, 4).masked_fill(~mask, -math.inf), tokens, tokens, decimals=0),
    alt="One mask in three notations: lower-triangular, its upper-triangular transpose, and 0 with −∞ above the diagonal.",
)

# %% [markdown]
# While we are at S3's slide: it has two slips. The weights there are called $s_{i,k}$, but $i$ and $j$ are the only
# indices around, so they should be $s_{ij}$. And its example says
#
# $$\hat w_4 = s_{1,4} V w_1 + s_{2,4} V w_4 + s_{3,4} V w_3 + s_{4,4} V w_4 .$$
#
# The second term should be $s_{2,4} V w_2$: word 2's weight belongs to word 2. Here are both, on S3's own indices and
# with made-up words.

# %%
w = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0], [0.5, -0.5]])  # w_1 to w_4; K, Q and V leave them as they are
A = mask.T * torch.exp(w @ w.T)  # A[i, j]: key i, query j
s = A / A.sum(dim=0)  # for each query the sum over its keys, which are the rows here
right = s[0, 3] * w[0] + s[1, 3] * w[1] + s[2, 3] * w[2] + s[3, 3] * w[3]
printed = s[0, 3] * w[0] + s[1, 3] * w[3] + s[2, 3] * w[2] + s[3, 3] * w[3]
print("w_4 in its context:", right)
print("as printed on S3:  ", printed)
print("our way, transposed: row 3 of alpha @ w is", (s.T @ w)[3])

# %% [markdown]
# In the printed sum word 4 counts twice and word 2 not at all. So much for other people's notations.
#
# ### Exercise 1 · Causal mask
# `masking.causal_mask` · 1 point · about 4 minutes
#
# Make the mask for a sentence of any length.
#
# Shapes: `length` is an int, the result is a boolean tensor `[length, length]`, True where query (row) may see key
# (column).

# %% [markdown] tags=["fine-print"]
# Your mask will be used on a GPU one day, so make it on the `device` that it is asked for: hand `device` on, as in
# `torch.ones(3, device=device)`. None, torch's default, is the CPU. The check tries another device without needing one.


# %% nbgrader={"grade": false, "grade_id": "masking-causal_mask-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def causal_mask(length, device=None):
    """True where a query may attend to a key: at itself and at everything before it.

    length: int, how many tokens
    device: where the mask is made, as torch's own factories have it
    returns: bool [length, length], rows are queries
    """
    ### BEGIN SOLUTION
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Row i is query i, and it may attend to keys 0 to i. The diagonal belongs to it: a word knows itself, and without the
# diagonal the first word would have nothing to attend to. Booleans say what is meant, "may attend", and cannot be
# confused with numbers that are multiplied or added. The upper triangle would be the same picture turned round: every
# word sees the future and no past, and a model trained that way has read each answer before it gives it.

# %% nbgrader={"grade": true, "grade_id": "masking-causal_mask-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("masking.causal_mask")
### BEGIN HIDDEN TESTS
check("masking.causal_mask", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ## 3. Three ways to mask
#
# A mask says which weights must be 0. The remaining weights of a row must still sum to 1. How do we get there? The
# lectures show three ways. Two are right.
#
# Let us try them on the scaled scores of S2's second worked example: self-attention with $q = k = v$ over the four German
# words. (You will compute these scores yourself in section 4.)

# %%
scaled_b = torch.tensor(
    [
        [1.4142, -2.4749, 4.9497, -0.7071],
        [-2.4749, 5.1265, -8.1317, 3.8891],
        [4.9497, -8.1317, 17.6777, -0.7071],
        [-0.7071, 3.8891, -0.7071, 9.1924],
    ]
)

# %% [markdown]
# ### 3.1 Multiplying the scores: wrong
#
# Everybody's first idea: multiply the scores by the mask, 1 for allowed and 0 for forbidden, then take the softmax. S4
# sketches it like that on the board, and adds straight away that this is only for intuition. Why only? Look at the mask's
# first row, and predict: how much of its attention does `<s>` give to the three words that it must not see?

# %%
leaked_by_the_first_token = None  # in per cent
multiplied = scaled_b * mask
wrong_alpha = torch.softmax(multiplied, dim=-1)

# %% tags=["demo"]
print("scores times mask\n", multiplied)
print("softmax of that\n", wrong_alpha)
show.prediction("leaked by <s>", leaked_by_the_first_token, 100 * wrong_alpha[0, 1:].sum().item(), " %")

# %% [markdown]
# Because **a score of 0 is not a weight of 0**. The softmax turns 0 into $e^0 = 1$, a perfectly ordinary share. The word
# `<s>`, which should see nothing but itself, spends 42 % of its attention on words that it must not see. It gets worse:
# if the allowed scores are negative, the forbidden zeros are the *largest* scores in the row.
#
# To get a weight of 0 out of a softmax you must put $-\infty$ into it, because $e^{-\infty} = 0$.
#
# ### 3.2 Filling with −∞
#
# So replace every forbidden score by $-\infty$, then take the softmax. For our example:
#
# $$\text{masked} = \begin{pmatrix}
# 1.4142 & -\infty & -\infty & -\infty \\
# -2.4749 & 5.1265 & -\infty & -\infty \\
# 4.9497 & -8.1317 & 17.6777 & -\infty \\
# -0.7071 & 3.8891 & -0.7071 & 9.1924 \end{pmatrix}$$
#
# The masked keys vanish from the numerator *and* from the sum below, so each row still sums to 1 without further ado.
#
# Instead of $-\infty$ people also write a large negative number; S2 uses $-10^9$. Mostly that is the same thing. The
# difference shows in the extreme cases:

# %%
nothing_allowed = torch.full((3,), -math.inf)
print("all -inf:", torch.softmax(nothing_allowed, dim=0))
print("all -1e9:", torch.softmax(torch.full((3,), -1e9), dim=0))
print("-1e9 in half precision:", torch.tensor(-1e9).half())

# %% [markdown]
# A row in which **everything** is forbidden has no right answer in the formula. With $-\infty$ it becomes $0/0$, `nan`,
# and one `nan` eats the whole model at the next step of training. With $-10^9$ the row attends evenly to exactly the
# words that it must not see. (And $-10^9$ does not even exist in half precision.)
#
# Such rows do occur: padding, blocked documents, empty sentences. So let us agree on what they mean, as torch's fused
# kernels do: **a query that may attend to nothing gets weights of 0**, and its output is the zero vector.
#
# ### Exercise 2 · Masked weights
# `masking.masked_weights` · 4 points · about 15 minutes
#
# Turn scaled scores and a mask into attention weights: fill, then softmax along the keys. You are welcome to use
# `torch.softmax`, but not to `torch.masked`. In a row without any allowed key, all weights are 0.
#
# One point is for the values, and one each for scores far from 0, for a mask that broadcasts, and for fully masked rows.
# Scores lie anywhere between −5000 and 5000, allowed or forbidden: $-10^9$ is low enough to fill with, −1000 is not. With
# fully masked rows the gradient of `scaled` is compared too: in such a row it is 0, not `nan` (and torch cannot compute
# it where the softmax's result is overwritten in place). Scores may come in double precision, and are then compared to
# nine digits: compute in their dtype, and add no small number anywhere.
#
# Shapes: `scaled` is `[..., queries, keys]`, `mask` is boolean and has the same shape or broadcasts to it (one mask
# `[queries, keys]` for a whole batch, for example), the result has the shape of `scaled`. Leave `scaled` itself as it
# is: the caller may still need it.


# %% nbgrader={"grade": false, "grade_id": "masking-masked_weights-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def masked_weights(scaled, mask):
    """Attention weights under a mask: fill, then softmax over the keys.

    scaled: [..., queries, keys]
    mask: bool, broadcasts to the shape of scaled; True where a query may attend
    returns: [..., queries, keys]; a row that allows nothing is all 0
    """
    ### BEGIN SOLUTION
    lowest = torch.finfo(scaled.dtype).min
    alpha = torch.softmax(scaled.masked_fill(~mask, lowest), dim=-1)
    return alpha * mask
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# A forbidden score is replaced before the softmax, so that the allowed weights of the row still sum to 1. Zeroing
# weights afterwards leaves rows that sum to less, and multiplying scores by the mask makes them 0, which is an ordinary
# score and may well be the largest.
#
# The fill is the lowest finite number and not minus infinity, because of rows that allow nothing: there minus infinity
# gives 0 / 0. Repairing that `nan` afterwards mends the value, and where minus infinity was added the gradient stays
# `nan`. With a finite fill such a row comes out uniform, and the product with the mask makes it 0, gradient included. A
# fixed fill such as -1000 works until a real score lies below it.

# %% nbgrader={"grade": true, "grade_id": "masking-masked_weights-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("masking.masked_weights")
### BEGIN HIDDEN TESTS
check("masking.masked_weights", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ### 3.3 Multiplying the exponentials
#
# Multiplication was not a bad idea, only too early. S3 multiplies **after** the exponential, where 0 really means
# nothing, and divides by the sum afterwards:
#
# $$A_{ij} = \text{mask}_{ij} \cdot \exp(\text{scaled}_{ij}), \qquad
#   \alpha_{ij} = \frac{A_{ij}}{\sum_{j'} A_{ij'}} .$$
#
# Forbidden keys drop out of the numerator and of the sum: exactly the same weights as with $-\infty$. One order of two
# operations apart, one right and one wrong.
#
# You know from lesson 01 that a bare `exp` overflows, and that subtracting a constant from a row is free. But which
# constant? The largest score of the whole row is safe against overflow. Yet suppose the largest score is a *forbidden* one
# and enormous, say 1000, while the allowed ones are around 0. Then every allowed exponential becomes $e^{-1000} = 0$ in a
# computer, and the row is $0/0$ again. So subtract the largest **allowed** score.
#
# Now the trap is on the other side. Measured from the allowed scores, the forbidden 1000 is still 1000, its exponential
# overflows to infinity, and the mask does not put that right: $0 \times \infty$ is `nan`, not 0. Whatever stands at a forbidden
# position must be made harmless **before** the exponential.

# %%
far_above = torch.tensor(1000.0)
print("exp(1000) =", far_above.exp().item(), "   times a mask of 0 =", (far_above.exp() * 0).item())

# %% [markdown]
# ### Exercise 3 · Weights by multiplication
# `masking.multiplicative_weights` · 3 points · about 15 minutes
#
# The same weights as in exercise 2, this time by S3's formula: exponentials, mask, sum, with no torch softmax anywhere.
# One point is for the values, one for large scores, allowed or forbidden (up to 2000 from 0), and one for a mask that
# broadcasts. Rows that allow nothing had their point in exercise 2 and do not come up again, here or later: in everything
# that is checked, each row allows something. Gradients are not compared here.
#
# Shapes: as in exercise 2. Leave `scaled` as it is here too, like all arguments in this course.


# %% nbgrader={"grade": false, "grade_id": "masking-multiplicative_weights-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def multiplicative_weights(scaled, mask):
    """Attention weights under a mask: exponentials times 0 or 1, divided by their sum.

    scaled: [..., queries, keys]
    mask: bool, broadcasts to the shape of scaled; True where a query may attend
    returns: [..., queries, keys]
    """
    ### BEGIN SOLUTION
    lowest = torch.finfo(scaled.dtype).min
    largest_allowed = scaled.masked_fill(~mask, lowest).amax(dim=-1, keepdim=True)
    powers = torch.exp((scaled - largest_allowed).clamp(max=0.0)) * mask
    total = powers.sum(dim=-1, keepdim=True)
    return powers / total.masked_fill(total == 0, 1.0)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# S3's formula multiplies exponentials by 0 or 1 and divides by what is left. In real arithmetic that equals filling and
# softmax; in floating point it needs care, because 0 times infinity is `nan`. The largest allowed score is subtracted,
# so that every allowed exponential is at most 1 and the sum at least 1. A forbidden score can still be far above that:
# the clamp keeps it finite until the mask removes it.
#
# Taking the maximum over all scores is the usual slip. If a forbidden score is 1000 above the rest, all allowed
# exponentials underflow to 0, and the row is lost.

# %% nbgrader={"grade": true, "grade_id": "masking-multiplicative_weights-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("masking.multiplicative_weights")
### BEGIN HIDDEN TESTS
check("masking.multiplicative_weights", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# All three side by side. Look at the upper right triangle, which should be empty.


# %% tags=["demo"]
@show.when_ready
def three_ways_compared():
    show.matrices(
        show.Panel("scores × mask: leaks", wrong_alpha, tokens, tokens, decimals=4),
        show.Panel("fill with −∞", masked_weights(scaled_b, mask), tokens, tokens, decimals=4),
        show.Panel("exp(scores) × mask", multiplicative_weights(scaled_b, mask), tokens, tokens, decimals=4),
        alt="Weights of three ways to mask. The first leaks into the upper triangle; the other two are equal and do not.",
    )


# %% [markdown]
# ## 4. Masked self-attention
#
# ### 4.1 The lecture's example
#
# Now the whole of S2's second example. The decoder has written `<s>` *die Katze tanzte*, and the four words look at
# each other: queries, keys and values are all the same matrix $x$. (No learned projections yet; they come in lesson
# 04.)
#
# $$x = q = k = v = \begin{pmatrix} 1 & 1 \\ -1 & -2.5 \\ 4 & 3 \\ 2 & -3 \end{pmatrix}\;
# \begin{matrix}\texttt{<s>}\\ \text{die}\\ \text{Katze}\\ \text{tanzte}\end{matrix}
# \qquad
# \text{scores} = x\,x^\top = \begin{pmatrix}
# 2 & -3.5 & 7 & -1 \\
# -3.5 & 7.25 & -11.5 & 5.5 \\
# 7 & -11.5 & 25 & -1 \\
# -1 & 5.5 & -1 & 13 \end{pmatrix}$$
#
# The scores are symmetric: without projections *die* rates *Katze* exactly as *Katze* rates *die*. Divided by $\sqrt 2$:
#
# $$\text{scaled} = \begin{pmatrix}
# 1.4142 & -2.4749 & 4.9497 & -0.7071 \\
# -2.4749 & 5.1265 & -8.1317 & 3.8891 \\
# 4.9497 & -8.1317 & 17.6777 & -0.7071 \\
# -0.7071 & 3.8891 & -0.7071 & 9.1924 \end{pmatrix}$$
#
# You have already seen the mask; then come the softmax and the average of the values:
#
# $$\alpha = \begin{pmatrix}
# 1.0000 & 0 & 0 & 0 \\
# 0.0005 & 0.9995 & 0 & 0 \\
# 0.0000 & 0.0000 & 1.0000 & 0 \\
# 0.0000 & 0.0050 & 0.0000 & 0.9950 \end{pmatrix}
# \qquad
# \text{out} = \alpha\, x = \begin{pmatrix}
# 1.0000 & 1.0000 \\
# -0.9990 & -2.4983 \\
# 4.0000 & 3.0000 \\
# 1.9852 & -2.9970 \end{pmatrix}$$
#
# The first row of `out` is the first row of $x$: `<s>` has only itself to look at.

# %%
x_b = torch.tensor([[1.0, 1.0], [-1.0, -2.5], [4.0, 3.0], [2.0, -3.0]])

# %% [markdown]
# ### Exercise 4 · Masked self-attention
# `masking.masked_self_attention` · 3 points · about 10 minutes
#
# Scores, scaling, mask, softmax, average, with `x` in all three parts. You may call your own `masked_weights`, but then a
# slip in it counts again here; write it out once more, and each exercise stands on its own. Torch's ready-made attention
# is not allowed. The gradient of `x` is compared too.
#
# One point is for values and gradients, one for long vectors, whose scores lie in the thousands, and one for a mask that
# broadcasts.
#
# Shapes: `x` is `[..., tokens, d_model]`, `mask` is boolean and has the shape `[..., tokens, tokens]` or broadcasts to it, the
# result is `[..., tokens, d_model]`. Each token may attend to something.


# %% nbgrader={"grade": false, "grade_id": "masking-masked_self_attention-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def masked_self_attention(x, mask):
    """Scaled dot-product attention with q = k = v = x, under a mask.

    x: [..., tokens, d_model]
    mask: bool, broadcasts to [..., tokens, tokens]; True where a query may attend
    returns: [..., tokens, d_model]
    """
    ### BEGIN SOLUTION
    scaled = x @ x.transpose(-2, -1) / math.sqrt(x.shape[-1])
    masked = scaled.masked_fill(~mask, torch.finfo(x.dtype).min)
    alpha = torch.softmax(masked, dim=-1) * mask
    return alpha @ x
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Self-attention is attention in which queries, keys and values all come from one sentence; the mask goes between
# scaling and softmax. Its place is not a matter of taste: after the softmax, forbidden words have already taken their
# share from the allowed ones, and the rows no longer sum to 1. The fill must be low for the dtype at hand, since long
# vectors give scores in the thousands and a modest -1000 would then be one of the larger ones. All three roles of `x`
# carry gradients; detaching one of them would let the model learn with the others only.

# %% nbgrader={"grade": true, "grade_id": "masking-masked_self_attention-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("masking.masked_self_attention")
### BEGIN HIDDEN TESTS
check("masking.masked_self_attention", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def worked_example_recomputed():
    scores = x_b @ x_b.T
    scaled = scores / math.sqrt(2)
    masked = scaled.masked_fill(~mask, -math.inf)
    dimensions = ["dim 0", "dim 1"]
    show.matrices(
        show.Panel("scores", scores, tokens, tokens),
        show.Panel("scaled = scores / √2", scaled, tokens, tokens, decimals=4),
        alt="Scores and scaled scores of the second worked example.",
    )
    show.matrices(
        show.Panel("masked", masked, tokens, tokens, decimals=4),
        show.Panel("alpha", masked_weights(scaled, mask), tokens, tokens, decimals=4),
        show.Panel("out", masked_self_attention(x_b, mask), tokens, dimensions, decimals=4),
        alt="Masked scores, attention weights and output of the second worked example.",
    )


# %% [markdown]
# Here is a test that is worth keeping for every model you will ever build: **change the future, and see whether the past
# notices.** We replace the last word with something else and compare the outputs, once with your attention and once with
# the leaky kind from 3.1. Predict: how many of the three earlier words notice under the leaky kind?

# %%
notice_the_leak = None  # 0, 1, 2 or 3


# %% tags=["demo"]
@show.when_ready
def does_the_past_notice():
    changed = x_b.clone()
    changed[3] = torch.tensor([-5.0, 1.0])

    def leaky(x):
        return torch.softmax(x @ x.T / math.sqrt(2) * mask, dim=-1) @ x

    masked_change = (masked_self_attention(changed, mask) - masked_self_attention(x_b, mask)).abs().amax(dim=-1)
    leaky_change = (leaky(changed) - leaky(x_b)).abs().amax(dim=-1)
    for token, proper, leaking in zip(tokens, masked_change.tolist(), leaky_change.tolist(), strict=True):
        print(f"{token:7} changes by {proper:.4f} with your mask, by {leaking:.4f} with multiplied scores")
    show.prediction("tokens that notice the leak", notice_the_leak, int((leaky_change[:3] > 1e-4).sum()))
    ahead = wrong_alpha.masked_fill(mask, 0).sum(dim=-1)
    for token, share in zip(tokens[:3], ahead[:3].tolist(), strict=True):
        print(f"{token:7} gives {share:.2g} of its attention to the future with multiplied scores")


# %% [markdown]
# *Tanzte* changes in both columns, as it must: it is the word that we replaced. But look at *Katze*, 0.0000 in the leaky column
# as well. Is it safe? No, only deaf. Its own score is 17.68, so that a forbidden score of 0 is left with a weight of about
# $e^{-17.68}$, which the last line prints, and float32 cannot add so little to a 4. The leak is there, and with shorter vectors it
# would show. So a test like this one finds a leak, but not finding any proves little: try several sentences, with small
# numbers in them.
#
# The same experiment by hand. Exchange the last word, then paint: allow a word a look ahead, and it notices. Does a word
# that only looks at *that* word notice as well? And what changes when the mask multiplies the scores, as in 3.1?

# %% tags=["demo"]
show.mask_painter(tokens, x_b, torch.tensor([-5.0, 1.0]))

# %% [markdown]
# ### 4.2 The slide, proofread
#
# The numbers printed in S2 differ from ours again, and in a more tangled way than last time.
#
# | step | right | printed on the slide |
# |---|---|---|
# | scaled, `<s>` | 1.4142, -2.4749, 4.9497, -0.7071 | 0.5, -0.875, 1.75, -0.25 |
# | alpha, *die* | 0.0005, 0.9995, 0, 0 | 0, 1, 0, 0 |
# | alpha, *tanzte* | 0.0000, 0.0050, 0.0000, 0.9950 | 0.0000, 0.0006, 0.0000, 0.9994 |
# | out, *die* | -0.9990, -2.4983 | -0.9999571, -2.499925 |
# | out, *tanzte* | 1.9852, -2.9970 | 1.9983424, -2.9997153 |
#
# **Which computation printed 0.0006 and 0.9994 for *tanzte*?** The obvious suspect, after lesson 01, is a division by the
# number of keys. Try it, and then other divisors, until the cell says that you found it. Something about the answer will
# surprise you.

# %%
suspected_divisor = math.sqrt(2)  # right, and not what is printed: change this number
scores_of_tanzte = torch.tensor([-1.0, 5.5, -1.0, 13.0])  # it may see all four tokens, so no mask is needed
reconstructed = torch.softmax(scores_of_tanzte / suspected_divisor, dim=-1)
found = torch.allclose(reconstructed, torch.tensor([0.0, 0.0006, 0.0, 0.9994]), atol=5e-5)
print([round(number, 4) for number in reconstructed.tolist()], "found it!" if found else "not yet")

# %% [markdown]
# Here are two candidates, with everything that the slide prints.

# %%
scores_b = torch.tensor(
    [[2.0, -3.5, 7.0, -1.0], [-3.5, 7.25, -11.5, 5.5], [7.0, -11.5, 25.0, -1.0], [-1.0, 5.5, -1.0, 13.0]]
)
quarter = scores_b / 4  # the number of keys, where √2 belongs
print("scores / 4, first row:", quarter[0])

for name, values in (("scores / 4", quarter), ("scores, unscaled", scores_b)):
    candidate = torch.softmax(values.masked_fill(~mask, -1e9), dim=-1)
    print(f"\nfrom {name}:")
    print("  alpha, tanzte:", candidate[3])
    print("  out, tanzte:  ", [round(number, 6) for number in (candidate @ x_b)[3].tolist()])

# %% [markdown]
# So the slide shows two different computations at once:
#
# 1. The printed `scaled` and `masked` are `scores / 4`: divided by the number of *keys*, where $\sqrt{2}$ belongs.
# 2. The printed `alpha` and `out` do **not** follow from them. They are the softmax of the *unscaled* scores: the code says
#    `masked = scores.masked_fill(...)`, so `scaled` is computed and then never used.
#
# In a program that runs, nobody notices such a line: shapes fit, rows sum to 1, the causal rule holds. Only numbers tell.
#
# ### 4.3 Who needs a causal mask?
#
# The transformer of the paper has two halves. The **encoder** reads *the cat danced*, all of it, and turns each word into
# a contextual vector. The **decoder** writes *die Katze tanzte*, one word after another, looking at its own words through
# masked self-attention and at the encoder's vectors through cross-attention.
#
# In training both halves see whole sentences, since we know the right translation. At test time the encoder still does.
# The decoder has only what it has written so far.
#
# ### Exercise 5 · In your own words
# `masking.why_decoder` · 2 points, read by a person · about 10 minutes
#
# Why does the decoder's self-attention need a causal mask in training, and why does the encoder's need none? And would the
# cross-attention from German queries to English keys need one? Three to six sentences.
#
# Learning on your own? Once yours is written,
# `solution("masking.why_decoder")`, in a cell of its own, shows one good answer and what earns its points.

# %% [markdown] nbgrader={"grade": true, "grade_id": "masking-why_decoder-written", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The decoder is trained to predict each German word from those before it, at all positions at once, and the whole German
# sentence is its input, shifted by one. Without a causal mask, position i could attend to position i + 1, which holds the
# very word that it should predict; it would learn to copy, reach a loss near 0, and be useless at test time, when the
# next word does not exist yet. The encoder predicts none of the words that it reads: the whole English sentence is given,
# in training and at test time alike, so looking in both directions gives nothing away and helps (what *station* means may
# depend on a word to its right). Cross-attention needs no causal mask for the same reason: its keys are English words,
# all known before the first German word is written. (It does need a padding mask.)
#
# *(One point: the decoder would see its targets, which are not there at test time. One point: the encoder's input is
# completely known and not what is predicted.)*

# %% [markdown]
# ## 5. Padding
#
# Real training never takes one sentence at a time. A **batch** is a single tensor `[batch, tokens, d_model]`, so all its
# sentences must be equally long, and short ones are filled with a padding token. (S2 says that transformers don't need
# inputs of matching size or padding. True for one sentence at a time; a batch is padded all the same.)

# %%
batch = [
    ["the", "cat", "danced"],
    ["the", "cat", "slept", "on", "my", "notes"],
    ["meow"],
    ["who", "wrote", "this", "?"],
]
lengths = torch.tensor([len(sentence) for sentence in batch])
longest = int(lengths.max())
padded = [sentence + ["·"] * (longest - len(sentence)) for sentence in batch]
for sentence in padded:
    print("  ".join(f"{token:6}" for token in sentence))

# %% [markdown]
# The dots are not words. Nobody should pay them any attention, or *meow* would be mostly about nothing. So each sentence
# gets a mask that fits its length: True for its words, False for the padding after them.
#
# ### Exercise 6 · Padding mask
# `masking.padding_mask` · 2 points · about 8 minutes
#
# Turn the lengths of the sentences into their masks.
#
# Shapes: `lengths` is an integer tensor `[batch]`, `max_length` is an int, the result is boolean `[batch, max_length]`.
# Lengths of 0 are allowed, a batch may be a single sentence, and `max_length` may be longer than the longest one.

# %% [markdown] tags=["fine-print"]
# One point is for the values and one for the device: make what you make on that of `lengths`.


# %% nbgrader={"grade": false, "grade_id": "masking-padding_mask-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def padding_mask(lengths, max_length):
    """True at the tokens of each sentence, False at the padding after them.

    lengths: int64 [batch]
    max_length: int
    returns: bool [batch, max_length]
    """
    ### BEGIN SOLUTION
    position = torch.arange(max_length, device=lengths.device)
    return position < lengths.unsqueeze(-1)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Position 0 is the first word, so a sentence of three words has positions 0, 1 and 2: smaller than the length, and not
# smaller or equal. One word too many is the usual slip, and it lets every sentence look at one padding token. The width
# is `max_length` and not the longest length in the batch, because the mask has to fit the tensor that it will be used
# on. Comparing a row with a column replaces the loop over sentences, and gives booleans without a cast.

# %% nbgrader={"grade": true, "grade_id": "masking-padding_mask-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("masking.padding_mask")
### BEGIN HIDDEN TESTS
check("masking.padding_mask", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def masks_of_the_batch():
    show.matrices(
        show.Panel(
            "tokens and padding",
            padding_mask(lengths, longest),
            [f"length {length}" for length in lengths.tolist()],
            [str(index) for index in range(longest)],
            texts=padded,
        ),
        alt="The padded batch as a grid: tokens in blue, padding in grey, one row for each sentence.",
    )


# %% [markdown]
# A decoder that is trained on batches needs both rules at once: a key must be **neither in the future nor padding**. The
# causal mask is the same for all sentences, `[queries, keys]`. The padding mask is the same for all queries of a sentence,
# `[batch, keys]`. Together they make one mask for each sentence.
#
# ### Exercise 7 · Both at once
# `masking.combined_mask` · 2 points · about 8 minutes
#
# Combine the two.
#
# Shapes: `causal` is boolean `[queries, keys]`, `padding` is boolean `[batch, keys]`, the result is boolean
# `[batch, queries, keys]`. There may be fewer queries than keys, and padding may stand in front of the tokens.


# %% nbgrader={"grade": false, "grade_id": "masking-combined_mask-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def combined_mask(causal, padding):
    """True where a key is neither in the future nor padding.

    causal: bool [queries, keys]
    padding: bool [batch, keys]
    returns: bool [batch, queries, keys]
    """
    ### BEGIN SOLUTION
    return causal & padding.unsqueeze(-2)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Both masks mean "may attend", so both have to say yes: that is `&`. With `|` the causal mask would let words look at
# padding, and the padding mask would let them look ahead. The new dimension of the padding mask stands where the
# queries are, so that the same keys are hidden from every query. Rows of padding, that is queries that are padding
# themselves, are left alone. What they compute is never looked at, and forbidding them everything would only produce
# rows without a single allowed key.

# %% nbgrader={"grade": true, "grade_id": "masking-combined_mask-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("masking.combined_mask")
### BEGIN HIDDEN TESTS
check("masking.combined_mask", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def one_mask_for_each_length():
    both = combined_mask(causal_mask(longest), padding_mask(lengths, longest))
    chosen = [1, 3, 0]
    show.matrices(
        *(show.Panel(f"“{' '.join(batch[index])}”", both[index], padded[index], padded[index]) for index in chosen),
        alt="Three combined masks: lower triangles, cut off to the right where the padding of each sentence begins.",
    )


# %% [markdown]
# Each sentence has its own mask, and one batch computes them all in a single product. The rows of the padding itself still
# attend to something. Nobody reads those outputs, and the loss leaves them out, so there is no need to forbid it (and good
# reason not to: their rows would be fully masked).
#
# ## 6. One vector for a whole sentence
#
# Sometimes you want a single vector for a sentence of any length, to classify it for example. Lesson 00 took the mean of its
# words, with a mask, so that padding does not count (section 4 there). But why a plain mean? Some words say more than
# others, and by now you know a way to weigh words.
#
# Take the general recipe of lesson 01, $\alpha_k = \operatorname{softmax}_k(\operatorname{sim}(q, x_k))$ and
# $u = \sum_k \alpha_k x_k$, with **one query that does not come from any word but is learned**:
#
# $$\text{scaled}_k = \frac{q \cdot x_k}{\sqrt{d_\text{model}}}, \qquad
#   \alpha = \operatorname{softmax}(\text{scaled, masked}), \qquad u = \sum_k \alpha_k\, x_k .$$
#
# The query learns what is worth knowing about a sentence. In lesson 00 the embeddings learned, and the linear layer behind
# them; scores, mask and softmax have nothing in them that could. Here attention gets a learned part of its own, as small as
# it can be: one vector.
#
# ### Exercise 8 · Attention pooling
# `masking.attention_pooling` · 4 points · about 20 minutes
#
# Your first layer. The constructor is given: it makes the learned query, an `nn.Parameter` of shape `[d_model]`; leave
# its name as it is, because the check loads weights into it. Write `forward`.
#
# Shapes: `x` is `[batch, tokens, d_model]`, `mask` is boolean `[batch, tokens]`, the result is `[batch, d_model]`. Padding
# gets no weight, wherever it stands: after the tokens, before them or between them; each sentence has at least one token.
# Torch's ready-made attention is not allowed. The gradients of `x` and `query` are compared too. In one case both are in
# double precision: compute in the dtype of `x`.
#
# One point is for values and gradients, and one each for scores in the thousands, for a batch of a single sentence, and
# for padding that does not come after the words.


# %% nbgrader={"grade": false, "grade_id": "masking-attention_pooling-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
class AttentionPooling(nn.Module):
    """A sentence as one vector: the average of its tokens under the attention of one learned query.

    d_model: int, the length of a token's vector
    """

    def __init__(self, d_model):
        super().__init__()
        self.query = nn.Parameter(torch.randn(d_model) / math.sqrt(d_model))

    def forward(self, x, mask):
        """The weighted average of the tokens where the mask is True.

        x: [batch, tokens, d_model]
        mask: bool [batch, tokens]
        returns: [batch, d_model]
        """
        ### BEGIN SOLUTION
        scaled = x @ self.query / math.sqrt(x.shape[-1])
        masked = scaled.masked_fill(~mask, torch.finfo(x.dtype).min)
        alpha = torch.softmax(masked, dim=-1) * mask
        return (alpha.unsqueeze(-2) @ x).squeeze(-2)
        ### END SOLUTION


# %% [markdown] tags=["reason"]
# Mean pooling gives every word the same share; here a learned query says what is worth listening to. All the rest is
# masked attention with one query: scale, fill, softmax, average. Mean pooling is still inside it, as the case of a
# query of zeros.
#
# Three details cost points most often. The scores are scaled, or long vectors saturate the softmax. The fill goes in
# before the softmax and goes by the mask, because padding may stand anywhere. And the single query's dimension is
# removed by its number: a bare `squeeze()` also removes the batch where that is 1, and the layer that worked in
# training breaks on the first single sentence.

# %% nbgrader={"grade": true, "grade_id": "masking-attention_pooling-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("masking.attention_pooling")
### BEGIN HIDDEN TESTS
check("masking.attention_pooling", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# To see it learn, give it a task in which most words are noise. Every sentence has between 3 and 10 words; exactly one of
# them, at a random position, is a *signal* word, marked in one dimension, and another dimension of that word says whether the
# answer is yes or no. A plain mean blurs the signal; a query can learn to find it. How often will each of them be right? Half
# would be guessing.

# %%
my_pooling = {"mean": None, "attention": None}  # in per cent


# %% tags=["demo"]
@show.when_ready
def pooling_learns_where_to_look():
    torch.manual_seed(0)

    def sentences(count):
        how_long = torch.randint(3, 11, (count,))
        allowed = torch.arange(10) < how_long.unsqueeze(-1)
        x = torch.randn(count, 10, 8)
        where = (torch.rand(count) * how_long).long()
        answer = torch.randint(2, (count,)).float()
        x[torch.arange(count), where, 0] = 6.0
        x[torch.arange(count), where, 1] = 4 * answer - 2
        return x, allowed, answer, where

    def mean(x, allowed):
        return (x * allowed.unsqueeze(-1)).sum(dim=-2) / allowed.sum(dim=-1, keepdim=True)

    pooling = AttentionPooling(8)
    accuracy = {}
    for name, pool, extra in (("mean", mean, []), ("attention", pooling, list(pooling.parameters()))):
        head = nn.Linear(8, 1)
        optimizer = torch.optim.Adam([*head.parameters(), *extra], lr=0.05)
        for _ in range(200):
            x, allowed, answer, _ = sentences(128)
            loss = F.binary_cross_entropy_with_logits(head(pool(x, allowed)).squeeze(-1), answer)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        x, allowed, answer, where = sentences(2000)
        accuracy[name] = ((head(pool(x, allowed)).squeeze(-1) > 0) == answer.bool()).float().mean().item()
    print(f"right answers on new sentences: mean {accuracy['mean']:.0%}, attention {accuracy['attention']:.0%}")
    for name, share in accuracy.items():
        show.prediction(name, my_pooling[name], 100 * share, " %")

    length = int(allowed[0].sum())
    powers = torch.exp(x[0, :length] @ pooling.query.detach() / math.sqrt(8))
    show.bars(
        [f"token {index}" for index in range(length)],
        powers / powers.sum(),
        title=f"Where the learned query looks (the signal is token {int(where[0])})",
        highlight=int(where[0]),
        alt="Attention weights of the learned query on one sentence: nearly all on the signal token.",
    )


# %% [markdown]
# ## Stretch · Masks of your own
#
# For no points. A mask is a matrix of booleans, and nothing says that it has to be a triangle. Write one of these, look at it
# with `show.matrices(show.Panel("mine", mask, tokens, tokens), alt="my mask")`, and give it to your `masked_self_attention`.
#
# 1. **A window**: each word sees itself and the two before it. How many layers does it take until word 9 can know of word 0? Test
#    it as in section 4.1: change word 0, and count the layers until word 9 notices.
# 2. **A prefix**: the first three words see each other, as an encoder's do; the others are causal. Which words notice when
#    word 2 is changed, which when word 3 is?
# 3. **Two sentences in one row**, so that nothing is padded: each word sees only its own sentence, and no later word.
# 4. Find a mask under which your leak test of section 4.1 finds nothing although the mask lets the future in.

# %%
# Your own experiments.

# %% [markdown]
# ## Glossary
#
# - **Mask**: says for each query which keys it may attend to; boolean, and True means "may attend".
# - **Causal mask**: a query may attend to itself and to what comes before it.
# - **Padding**: words without meaning after short sentences, so that all sentences of a batch are equally long.
# - **Padding mask**: True at words, False at padding.
# - **Language model**: predicts each next word from the words before it.
# - **Leak**: a mask that lets some weight through, and with it the answer.
# - **Fully masked row**: a query that may attend to nothing; its weights and its output are 0.
# - **Attention pooling**: one vector for a sentence, the average of its words under the attention of one learned query.
# - **Parameter**: a tensor that training changes; in torch an `nn.Parameter`.
# - **Encoder and decoder**: the half that reads the source and sees all of it, and the half that writes and sees only
#   the past.

# %% [markdown]
# ## What you have now
#
# Masks of both kinds, two right ways to apply them and one wrong one, and a layer that learns where to look.
#
# One question to take with you. Shuffle the words of a sentence: what happens to the outputs of self-attention, with a
# mask and without? Make up your mind before you open lesson 03, which begins with it and then gives the words their
# positions. Lesson 04 lets several heads look at once, and lesson 05 puts encoder and decoder together.
