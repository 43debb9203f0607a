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
# Cats like to sit on whatever you are reading. Here that is useful: a **mask** is a cat on the page. It decides which
# **tokens** a query may see and which are covered up.
#
# (From now on, we call the units that a model reads *tokens*. In this lesson they are words; later they can also be
# parts of words, characters or special symbols.)
#
# There are two reasons to cover tokens. Some lie in the **future**: a model that learns to predict the next token must
# not see it beforehand. Others are only **padding**, added to make all sentences of a batch the same length. You will
# write masks for both cases, and a test that finds leaky masks.
#
# | | you will write | points | minutes |
# |---|---|---|---|
# | 1 | the causal mask | 1 | 4 |
# | 2 | attention weights under a mask | 4 | 15 |
# | 3 | masked self-attention | 3 | 10 |
# | 4 | the leak test | 4 | 20 |
# | 5 | a short answer, in words | 2 | 10 |
# | 6 | the padding mask of a batch | 2 | 8 |
# | 7 | the mask for documents in one row | 4 | 20 |
# | 8 | a layer that pools a sentence into one vector | 4 | 20 |
#
# Stuck? Each call to `hint("masking.causal_mask")` opens another hint. Once you have tried, `solution(...)` shows the
# answer and explains it; `progress()` shows how far you have come.
#
# Masks are boolean throughout the course, and **True means "may attend"**. Rows are queries, columns are keys. *The
# paper* is Vaswani et al. (2017), [*Attention Is All You Need*](https://arxiv.org/abs/1706.03762). The demos in section
# 4 use your own scores and scaling from lesson 01 if both passed their checks, and say whose they use. No check depends
# on that.

# %%
import math

import torch
import torch.nn.functional as F
from torch import nn

from course_lib import show
from course_lib.checking import case, check, hint, progress, solution
from course_lib.mine import answer

show.use_style()
torch.set_printoptions(precision=4, sci_mode=False)

# %% [markdown]
# ## 1. The cheating problem
#
# A **language model** reads the tokens so far and predicts the next one. To train it, you feed in a whole sentence and
# ask for a prediction at *every* position: *saw* after *I*, *the* after *I saw*, and so on. The targets are the inputs,
# shifted by one token.
#
# | input | I | saw | the | dog |
# |---|---|---|---|---|
# | **target** | saw | the | dog | running |
#
# In the self-attention of lesson 01, *I* attends to all tokens of the input, and one of them is *saw*, the very token
# that it should predict. The model doesn't have to learn any English; it only has to look one token to the right.
#
# Let's catch such a model in the act. The sentences below are **random**: there are eight symbols, each equally likely
# no matter what came before. An honest model can do no better than give each symbol a probability of 1/8, for a loss of
# $\log 8 \approx 2.08$. We train the same small model twice, first without a mask and then with one. **Predict** both
# losses after 80 steps.

# %% [markdown] tags=["slides"]
# S0 asks why such a model reaches perfect accuracy so easily. This is the answer.

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
    """Losses at each step, and the attention weights at the last one; `added` is added to the scores."""
    torch.manual_seed(0)
    model = TinyLanguageModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(steps):
        sequence = torch.randint(SYMBOLS, (64, LENGTH + 1))
        predicted, alpha = model(sequence[:, :-1], added)
        # The last position is left out: its target is not in the input, so there is nothing to copy.
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
# Without a mask, the loss is near 0 on pure noise. The average attention weights of both models show why. In the
# cheating model, row 0 attends to column 1, row 1 to column 2, and so on: always one token to the right, where the
# answer is.

# %% tags=["demo"]
positions = [str(index) for index in range(LENGTH)]
show.matrices(
    show.Panel("alpha, sees everything", cheating_alpha, positions, positions, decimals=1),
    show.Panel("alpha, sees only the past", honest_alpha, positions, positions, decimals=1),
    alt="Attention weights. Left: a dark line just above the diagonal. Right: weights only on and below the diagonal.",
)

# %% [markdown]
# When you put such a model to use, it is worthless, because then there *is* no next token to copy. A wrong mask is one
# of the nastiest bugs: nothing crashes, and the training loss looks wonderful.
#
# ## 2. The causal mask
#
# The remedy is the **causal mask**: **position $i$ may attend to positions $0, \dots, i$ but to nothing later.**
# Position $i$ may attend to itself, because it knows its own token and needs it.
#
# Take a model that writes German, one token at a time (a *decoder*; see section 4.3). It has read `<s>`, which marks
# the beginning, and *die Katze tanzte*. Its mask looks like this; a check mark means "may attend".

# %%
tokens = ["<s>", "die", "Katze", "tanzte"]
mask = torch.tensor([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]], dtype=torch.bool)

# %% tags=["demo"]
show.matrices(
    show.Panel("may attend: query ↓  key →", mask, tokens, tokens),
    alt="A lower-triangular mask over <s>, die, Katze, tanzte: each token may attend to itself and earlier tokens.",
)

# %% [markdown]
# Read the mask row by row: `<s>` sees only itself, *die* sees two tokens, and *tanzte* sees all four. The check marks
# fill the **lower** triangle, including the diagonal.
#
# Other code writes masks differently. Some masks are **additive**: they hold 0 where a query may attend and $-\infty$
# where it may not, and you add them to the scores. In some PyTorch modules, True means "may **not** attend". So read
# the documentation each time.

# %% [markdown] tags=["slides"]
# S2's decoder reads this sentence (its slides spell the verb *tantze*; it should be *tanzte*, from *tanzen*). S0 uses
# PyTorch's additive mask. S3 writes its attention as $A_{ij} = \text{mask}_{ij} \exp\langle K w_i, Q w_j \rangle$: the
# first index is the **key**, so its mask is the transpose of ours.

# %% tags=["demo", "slides"]
show.matrices(
    show.Panel("ours: query ↓  key →", mask, tokens, tokens),
    show.Panel("S3: key ↓  query →", mask.T, tokens, tokens),
    show.Panel("S0: to be added", torch.zeros(4, 4).masked_fill(~mask, -math.inf), tokens, tokens, decimals=0),
    alt="One mask in three notations: lower-triangular, its upper-triangular transpose, and 0 with −∞ above the diagonal.",
)

# %% [markdown] tags=["slides"]
# S3's slide has two slips. It calls the weights $s_{i,k}$, but its indices are $i$ and $j$, so they should be $s_{ij}$. And
# its example says
#
# $$\hat w_4 = s_{1,4} V w_1 + s_{2,4} V w_4 + s_{3,4} V w_3 + s_{4,4} V w_4 .$$
#
# The second term should be $s_{2,4} V w_2$: the weight of word 2 belongs with the vector of word 2. In the printed sum,
# word 4 counts twice and word 2 not at all. Here are both sums, with S3's own indices and made-up word vectors.

# %% tags=["demo", "slides"]
w = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0], [0.5, -0.5]])  # w_1 to w_4; K, Q and V leave them as they are
A = mask.T * torch.exp(w @ w.T)  # A[i, j]: key i, query j
s = A / A.sum(dim=0)  # for each query, the sum over its keys, which are the rows here
right = s[0, 3] * w[0] + s[1, 3] * w[1] + s[2, 3] * w[2] + s[3, 3] * w[3]
printed = s[0, 3] * w[0] + s[1, 3] * w[3] + s[2, 3] * w[2] + s[3, 3] * w[3]
print("w_4 in its context:", right)
print("as printed on S3:  ", printed)
print("our way, transposed: row 3 of alpha @ w is", (s.T @ w)[3])

# %% [markdown]
# ### Exercise 1 · Causal mask
# `masking.causal_mask` · 1 point · about 4 minutes
#
# Make the causal mask for a sentence of any length.
#
# Shapes: `length` is an int, and the result is a boolean tensor `[length, length]`, True where the query (row) may see
# the key (column).

# %% [markdown] tags=["fine-print"]
# One day, your mask will be used on a GPU, so create it on the given `device`: pass the argument on, as in
# `torch.ones(3, device=device)`. `None` means torch's default, the CPU.


# %% nbgrader={"grade": false, "grade_id": "masking-causal_mask-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def causal_mask(length, device=None):
    """True where a query may attend to a key: to itself and everything before it.

    length: int, how many tokens
    device: where to create the mask, as in torch's own functions
    returns: bool [length, length], rows are queries
    """
    ### BEGIN SOLUTION
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Row i is query i, which may attend to keys 0 to i. Key i is included, because without the diagonal, the first token would
# have nothing to attend to. A boolean mask can't be mistaken for numbers to multiply or add. The upper triangle would show
# every token the future but not the past, so a model trained that way has read each answer before giving it.

# %% nbgrader={"grade": true, "grade_id": "masking-causal_mask-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("masking.causal_mask")
### BEGIN HIDDEN TESTS
check("masking.causal_mask", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ## 3. Three ways to mask
#
# A mask says which weights must be 0, and the other weights of a row must still sum to 1. Three ways to do that come to
# mind, and two of them are right. Try them on the scaled scores of self-attention over the four German tokens. (Section
# 4 computes these scores.)

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
# The first idea is to multiply the scores by the mask (1 for allowed, 0 for forbidden) and then to take the softmax. Look at
# the mask's first row and predict: how much of its attention does `<s>` give to the three tokens that it must not see?

# %%
leaked_by_the_first_token = None  # in %
multiplied = scaled_b * mask
wrong_alpha = torch.softmax(multiplied, dim=-1)

# %% tags=["demo"]
print("scores times mask\n", multiplied)
print("softmax of that\n", wrong_alpha)
show.prediction("leaked by <s>", leaked_by_the_first_token, 100 * wrong_alpha[0, 1:].sum().item(), "%")

# %% [markdown]
# **A score of 0 is not a weight of 0.** The softmax turns 0 into $e^0 = 1$, which gets an ordinary weight. The token
# `<s>` spends 42% of its attention on tokens that it must not see. And it can get worse: if the allowed scores are
# negative, the forbidden zeros are the *largest* scores in the row.
#
# To get a weight of 0 out of a softmax, put in $-\infty$, because $e^{-\infty} = 0$.

# %% [markdown] tags=["slides"]
# S4 sketches this multiplication on the board, but immediately adds that it is only for intuition.

# %% [markdown]
# ### 3.2 Filling with −∞
#
# So replace every forbidden score with $-\infty$, then take the softmax. For our example:
#
# $$\text{masked} = \begin{pmatrix}
# 1.4142 & -\infty & -\infty & -\infty \\
# -2.4749 & 5.1265 & -\infty & -\infty \\
# 4.9497 & -8.1317 & 17.6777 & -\infty \\
# -0.7071 & 3.8891 & -0.7071 & 9.1924 \end{pmatrix}$$
#
# The masked keys vanish from the numerator *and* from the sum in the denominator, so each row still sums to 1.
#
# Some people use a large negative number such as $-10^9$ instead of $-\infty$. That makes a difference only in extreme
# cases:

# %%
nothing_allowed = torch.full((3,), -math.inf)
print("all -inf:", torch.softmax(nothing_allowed, dim=0))
print("all -1e9:", torch.softmax(torch.full((3,), -1e9), dim=0))
print("-1e9 in half precision:", torch.tensor(-1e9).half())

# %% [markdown]
# In a row where **everything** is forbidden, neither number gives the right answer. With $-\infty$, the softmax becomes
# $0/0$, `nan`, which spreads through the whole model at the next training step. With $-10^9$, the query attends evenly
# to exactly the tokens that it must not see. (And half precision can't represent $-10^9$ at all.)
#
# Such rows do occur, in padding and in empty sentences. Let's agree: **a query that may attend to nothing gets weights
# of 0**, and its output is the zero vector.
#
# ### Exercise 2 · Masked weights
# `masking.masked_weights` · 4 points · about 15 minutes
#
# Turn scaled scores and a mask into attention weights: fill, then take the softmax over the keys. You may use
# `torch.softmax`, but not `torch.masked`. In a row without any allowed key, all weights are 0.
#
# Shapes: `scaled` is `[..., queries, keys]`, `mask` is boolean and has the same shape or broadcasts to it (one mask
# `[queries, keys]` for a whole batch, for example), and the result has the shape of `scaled`.

# %% [markdown] tags=["fine-print"]
# One point is for the values, and one each for scores far from 0, for a mask that broadcasts, and for fully masked
# rows. Scores, allowed or forbidden, lie anywhere between −5000 and 5000, so $-10^9$ is low enough to fill with, but
# −1000 is not. With fully masked rows, the check also compares the gradient of `scaled`: in such a row, it is 0, not
# `nan`. (Torch can't compute the gradient if you overwrite the result of the softmax in place.) Scores may be in double
# precision, in which case the check compares nine digits. So compute in their dtype, and don't add an epsilon anywhere.
# Don't change `scaled` itself, or any other argument in this course: the caller may still need it.


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
# Replace forbidden scores before the softmax, so that the allowed weights of the row still sum to 1. If you zero
# weights afterward, rows sum to less than 1.
#
# Fill with the lowest finite number, not minus infinity, because of rows that allow nothing: there, minus infinity gives
# 0 / 0. Replacing that `nan` afterward fixes the value, but if you added minus infinity, the gradient stays `nan`. With a
# finite fill, a row that allows nothing comes out uniform, and multiplying by the mask turns it into zeros, with a gradient
# of 0. A fixed fill such as -1000 works until a real score falls below it.

# %% nbgrader={"grade": true, "grade_id": "masking-masked_weights-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("masking.masked_weights")
### BEGIN HIDDEN TESTS
check("masking.masked_weights", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ### 3.3 Multiplying the exponentials
#
# Multiplying wasn't a bad idea; it just came too early. Multiply **after** the exponential, where 0 really means no
# weight, and then divide by the sum:
#
# $$A_{ij} = \text{mask}_{ij} \cdot \exp(\text{scaled}_{ij}), \qquad
#   \alpha_{ij} = \frac{A_{ij}}{\sum_{j'} A_{ij'}} .$$
#
# Forbidden keys drop out of the numerator and of the sum, so you get the same weights as with $-\infty$.
#
# But be careful. A bare `exp` overflows (lesson 01), so you subtract a number from each row first. That number must be
# the largest **allowed** score: if you subtracted a forbidden 1000, all allowed exponentials would underflow to 0. But
# then the forbidden 1000 overflows, and the mask can't fix that, because $0 \times \infty$ is `nan`:

# %%
far_above = torch.tensor(1000.0)
print("exp(1000) =", far_above.exp().item(), "   times a mask of 0 =", (far_above.exp() * 0).item())

# %% [markdown]
# So you have to make forbidden scores harmless **before** the exponential; the function below does that with `clamp`.
# Here are all three ways side by side. Look at the upper right triangle, which should be empty.


# %% tags=["demo"]
def by_multiplication(scaled, mask):
    """Exponentials times 0 or 1, divided by their sum, after subtracting the largest allowed score of each row."""
    largest = scaled.masked_fill(~mask, -math.inf).amax(dim=-1, keepdim=True)
    kept = torch.exp((scaled - largest).clamp(max=0)) * mask
    return kept / kept.sum(dim=-1, keepdim=True)


@show.when_ready
def three_ways_compared():
    show.matrices(
        show.Panel("scores × mask: leaks", wrong_alpha, tokens, tokens, decimals=4),
        show.Panel("fill with −∞", masked_weights(scaled_b, mask), tokens, tokens, decimals=4),
        show.Panel("exp(scores) × mask", by_multiplication(scaled_b, mask), tokens, tokens, decimals=4),
        alt="Weights from three ways to mask. The first leaks into the upper triangle; the other two are equal and do not.",
    )
    far = torch.where(mask, scaled_b, 1000.0)  # every forbidden score is far above the allowed ones
    apart = (masked_weights(far, mask) - by_multiplication(far, mask)).abs().max()
    print(f"with forbidden scores of 1000, filling and multiplying differ by {apart:.0e}")


# %% [markdown] tags=["slides"]
# The formula with the exponentials comes from S3.

# %% [markdown]
# ## 4. Masked self-attention
#
# ### 4.1 An example by hand
#
# The decoder has written `<s>` *die Katze tanzte*, and the four tokens attend to each other: queries, keys and values
# are all the same matrix $x$. (Learned projections come in lesson 04.)
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
# The scores are symmetric: without projections, *die* scores *Katze* exactly as *Katze* scores *die*. Divided by
# $\sqrt 2$, they are:
#
# $$\text{scaled} = \begin{pmatrix}
# 1.4142 & -2.4749 & 4.9497 & -0.7071 \\
# -2.4749 & 5.1265 & -8.1317 & 3.8891 \\
# 4.9497 & -8.1317 & 17.6777 & -0.7071 \\
# -0.7071 & 3.8891 & -0.7071 & 9.1924 \end{pmatrix}$$
#
# Then come the mask, the softmax and the average of the values:
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
# The first row of `out` is the first row of $x$: `<s>` can attend only to itself.

# %%
x_b = torch.tensor([[1.0, 1.0], [-1.0, -2.5], [4.0, 3.0], [2.0, -3.0]])

# %% [markdown]
# ### Exercise 3 · Masked self-attention
# `masking.masked_self_attention` · 3 points · about 10 minutes
#
# Put together scores, scaling, mask, softmax and average, with `x` in all three roles. You may call your own
# `masked_weights`, but then a mistake in it costs you points here too. Torch's built-in attention is not allowed.
#
# Shapes: `x` is `[..., tokens, d_model]`, `mask` is boolean and has the shape `[..., tokens, tokens]` or broadcasts to
# it, and the result is `[..., tokens, d_model]`. Each token may attend to at least one token.

# %% [markdown] tags=["fine-print"]
# One point is for the values and the gradient of `x`, one for long vectors, whose scores lie in the thousands, and one
# for a mask that broadcasts.


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
# The mask goes between the scaling and the softmax. If you mask after the softmax, forbidden tokens have already taken
# some of the weight, and the rows no longer sum to 1. Fill with the lowest number of the dtype, because long vectors
# give scores in the thousands, and -1000 may not be low enough. All three roles of `x` carry gradients; if you detach
# one of them, the model learns only through the others.

# %% nbgrader={"grade": true, "grade_id": "masking-masked_self_attention-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("masking.masked_self_attention")
### BEGIN HIDDEN TESTS
check("masking.masked_self_attention", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
dot_product_scores, scale_scores = answer("attention.scores", "attention.scale")


# %% tags=["demo"]
@show.when_ready
def worked_example_recomputed():
    scores = dot_product_scores(x_b, x_b)
    scaled = scale_scores(scores, 2)
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


# %% [markdown] tags=["slides"]
# This is S2's second worked example, and its printed numbers differ from ours.
#
# | step | right | printed on the slide |
# |---|---|---|
# | scaled, `<s>` | 1.4142, -2.4749, 4.9497, -0.7071 | 0.5, -0.875, 1.75, -0.25 |
# | alpha, *die* | 0.0005, 0.9995, 0, 0 | 0, 1, 0, 0 |
# | alpha, *tanzte* | 0.0000, 0.0050, 0.0000, 0.9950 | 0.0000, 0.0006, 0.0000, 0.9994 |
# | out, *die* | -0.9990, -2.4983 | -0.9999571, -2.499925 |
# | out, *tanzte* | 1.9852, -2.9970 | 1.9983424, -2.9997153 |
#
# **Which computation printed 0.0006 and 0.9994 for *tanzte*?** The obvious suspect, after lesson 01, is a division by
# the number of keys. Try it, and then other divisors, until the cell says you have found it.

# %% tags=["demo", "slides"]
suspected_divisor = math.sqrt(2)  # right, but not what is printed: change this number
scores_of_tanzte = torch.tensor([-1.0, 5.5, -1.0, 13.0])  # it may see all four tokens, so no mask is needed
reconstructed = torch.softmax(scores_of_tanzte / suspected_divisor, dim=-1)
found = torch.allclose(reconstructed, torch.tensor([0.0, 0.0006, 0.0, 0.9994]), atol=5e-5)
print([round(number, 4) for number in reconstructed.tolist()], "found it!" if found else "not yet")

# %% [markdown] tags=["slides"]
# Here are two candidates, with everything that the slide prints.

# %% tags=["demo", "slides"]
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

# %% [markdown] tags=["slides"]
# So the slide shows two different computations at once:
#
# 1. The printed `scaled` and `masked` are `scores / 4`: they are divided by the number of *keys* instead of $\sqrt{2}$.
# 2. The printed `alpha` and `out` do **not** follow from the printed `scaled`. They come from the softmax of the
#    *unscaled* scores: the code says `masked = scores.masked_fill(...)`, so `scaled` is computed and then never used.
#
# Such a line is easy to miss in a program that runs: the shapes fit, the rows sum to 1, and the causal rule holds. Only
# the numbers give it away.

# %% [markdown]
# ### 4.2 The leak test
#
# Here is a test to keep for every model you will ever build: **change the future, and see whether the past notices.**
# Change one token, run the model again, and compare the outputs with the old ones. Every output that differs has seen
# that token. Do this for each token, and you have a table of who sees whom. In a causal model, everything above the
# diagonal must be False.
#
# ### Exercise 4 · The leak test
# `masking.leak_test` · 4 points · about 20 minutes
#
# Write the test for any model, that is, any function of one tensor that returns a row for each token.
#
# Shapes: `x` is `[tokens, d_model]`, `model(x)` is `[tokens, d_out]`, and the result is boolean `[tokens, tokens]`:
# True at `[i, j]` where the output of token `i` changes when token `j` is changed.

# %% [markdown] tags=["fine-print"]
# The check's models see a token clearly or not at all, so you don't have to think about rounding here. Some models
# ignore one of the components, and some tokens are all zeros, so replace a token with something so different that every
# output that sees it has to change. Don't change `x`.


# %% nbgrader={"grade": false, "grade_id": "masking-leak_test-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def leak_test(model, x):
    """Which outputs of a model see which tokens.

    model: a function; takes [tokens, d_model], returns [tokens, d_out]
    x: [tokens, d_model]
    returns: bool [tokens, tokens], True at [i, j] where the output of token i changes with token j
    """
    ### BEGIN SOLUTION
    before = model(x)
    seen = torch.zeros(len(x), len(x), dtype=torch.bool)
    for token in range(len(x)):
        changed = x.clone()
        changed[token] = torch.randn(x.shape[1])
        seen[:, token] = (model(changed) != before).any(dim=-1)
    return seen
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Change one token at a time, on a fresh copy; otherwise the changes pile up, and a difference is blamed on the wrong
# token. The new vector is random: doubling a token of zeros changes nothing, and a model that ignores one component
# doesn't notice a change in it. An output has changed if any of its numbers has. Rows are outputs and columns are
# inputs, so you can read the result like a mask, but it says what the model does, while a mask says what the model
# should do.

# %% nbgrader={"grade": true, "grade_id": "masking-leak_test-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("masking.leak_test")
### BEGIN HIDDEN TESTS
check("masking.leak_test", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Use the test on your masked self-attention and on the leaky version from section 3.1. **Predict:** with the leaky
# version, how many of the three earlier tokens notice when *tanzte* is replaced?

# %%
notice_the_leak = None  # 0, 1, 2 or 3


# %% tags=["demo"]
@show.when_ready
def does_the_past_notice():
    def masked(x):
        return masked_self_attention(x, mask)

    def leaky(x):
        return torch.softmax(scale_scores(dot_product_scores(x, x), 2) * mask, dim=-1) @ x

    torch.manual_seed(0)
    proper, leaking = leak_test(masked, x_b), leak_test(leaky, x_b)
    show.matrices(
        show.Panel("your masked self-attention", proper, tokens, tokens),
        show.Panel("scores × mask", leaking, tokens, tokens),
        title="Output ↓ sees token →",
        alt="Two tables of who sees whom. Left, a lower triangle; right, the first two rows see everything.",
    )
    changed = x_b.clone()
    changed[3] = torch.tensor([-5.0, 1.0])
    masked_change = (masked(changed) - masked(x_b)).abs().amax(dim=-1)
    leaky_change = (leaky(changed) - leaky(x_b)).abs().amax(dim=-1)
    for token, right, wrong in zip(tokens, masked_change.tolist(), leaky_change.tolist(), strict=True):
        print(f"{token:7} changes by {right:.4f} with your mask, by {wrong:.4f} with multiplied scores")
    show.prediction("tokens that notice the leak", notice_the_leak, int((leaky_change[:3] > 1e-4).sum()))
    ahead = wrong_alpha.masked_fill(mask, 0).sum(dim=-1)
    for token, share in zip(tokens[:3], ahead[:3].tolist(), strict=True):
        print(f"{token:7} gives {share:.2g} of its attention to the future with multiplied scores")


# %% [markdown]
# *Tanzte* changes in both columns, as it must: it is the token that we replaced. But *Katze* changes by 0.0000 in the
# leaky column as well. Is it safe? No. Its own score is 17.68, so a forbidden score of 0 keeps a weight of about
# $e^{-17.68}$ (printed in the last line). In float32, adding something so small to a 4 doesn't change it. The leak is
# there, and with shorter vectors it would show. So the test can find leaks, but if it finds none, that proves little:
# try several sentences, with small numbers in them.
#
# Now repeat the experiment by hand. Replace the last token, and then paint cells of the mask: a token that you let look
# ahead notices the change. Does a token that only looks at *that* token notice as well? What changes when the mask
# multiplies the scores?

# %% tags=["demo"]
show.mask_painter(tokens, x_b, torch.tensor([-5.0, 1.0]))

# %% [markdown]
# ### 4.3 Who needs a causal mask?
#
# The transformer in the paper has two halves. The **encoder** reads all of *the cat danced* and turns each token into a
# contextual vector. The **decoder** writes *die Katze tanzte*, one token at a time, attending to its own tokens through
# masked self-attention and to the encoder's vectors through cross-attention. In training, both halves see whole
# sentences, since we know the correct translation. At test time, the decoder has only what it has written so far.
#
# ### Exercise 5 · In your own words
# `masking.why_decoder` · 2 points, read by a person · about 10 minutes
#
# Why does the decoder's self-attention need a causal mask in training, and why doesn't the encoder's self-attention?
# Would the cross-attention from German queries to English keys need one? Write three to six sentences.
#
# Learning on your own? Once you have written your answer,
# `solution("masking.why_decoder")` in a new cell shows one good answer and what earns points.

# %% [markdown] nbgrader={"grade": true, "grade_id": "masking-why_decoder-written", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The decoder is trained to predict each German token from the tokens before it, at all positions at once, and its input is
# the whole German sentence, shifted by one token. Without a causal mask, position i could attend to position i + 1, which
# holds the very token that it must predict; the model would learn to copy, reach a loss near 0, and be useless at test time,
# when the next token doesn't exist yet. The encoder doesn't predict the tokens that it reads: the whole English sentence is
# given, in training and at test time alike, so looking in both directions gives nothing away. And it helps: the meaning of
# *station* may depend on a word to its right. Cross-attention doesn't need a causal mask either, for the same reason: its
# keys are English tokens, all known before the first German token is written. (It does need a padding mask.)
#
# *(One point: the decoder would see its targets, which don't exist at test time. One point: the encoder's input is
# completely known and isn't predicted.)*

# %% [markdown]
# ## 5. Many sentences at once
#
# ### 5.1 Padding
#
# Training rarely uses one sentence at a time. A **batch** is a single tensor `[batch, tokens, d_model]`, so all its
# sentences must have the same length: we add **padding** tokens to the short ones.

# %% [markdown] tags=["slides"]
# S2 says that transformers don't need padding or inputs of matching size. That is true for one sentence at a time, but
# a batch still has to be padded.

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
# The dots are padding and mean nothing, so no token should attend to them; otherwise *meow* would be mostly about dots.
# So each sentence gets a mask that fits its length: True for its tokens, False for the padding after them.
#
# ### Exercise 6 · Padding mask
# `masking.padding_mask` · 2 points · about 8 minutes
#
# Make the padding mask of a batch from the lengths of its sentences.
#
# Shapes: `lengths` is an integer tensor `[batch]`, `max_length` is an int, and the result is boolean
# `[batch, max_length]`. Lengths of 0 are allowed, a batch may be a single sentence, and all sentences may be shorter
# than `max_length`.

# %% [markdown] tags=["fine-print"]
# One point is for the values and one for the device: create every tensor on the device of `lengths`.


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
# Position 0 is the first token, so a sentence of three tokens has positions 0, 1 and 2, all less than its length. *Less
# than or equal* would let every sentence attend to one padding token. The width is `max_length`, not the greatest
# length in the batch, because the mask has to fit the tensor that it is used on. Comparing a row with a column replaces
# the loop over sentences, and the result is already boolean.

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
        alt="The padded batch as a grid: tokens in blue, padding in gray, one row for each sentence.",
    )


# %% [markdown]
# A decoder trained on batches needs both rules at once: a key must be **neither in the future nor padding**. The causal
# mask, `[queries, keys]`, is the same for all sentences. The padding mask, `[batch, keys]`, is the same for all queries of a
# sentence; with a dimension of size 1 for the queries, `&` broadcasts the two masks to one mask for each sentence.


# %% tags=["demo"]
@show.when_ready
def one_mask_for_each_length():
    both = causal_mask(longest) & padding_mask(lengths, longest).unsqueeze(-2)
    chosen = [1, 3, 0]
    show.matrices(
        *(show.Panel(f"“{' '.join(batch[index])}”", both[index], padded[index], padded[index]) for index in chosen),
        alt="Three combined masks: lower triangles, cut off to the right where the padding of each sentence begins.",
    )


# %% [markdown]
# Padding is masked where it is a *key*. As a query, padding still attends to tokens, but the loss ignores its outputs. If
# you also masked padding queries, all you would get is fully masked rows.
#
# ### 5.2 Packing
#
# Padding wastes work. To train a language model on texts, you **pack** them instead: documents follow each other in one
# long row, each closed by a special token, and the row is cut off when it is full. But *sie* at the start of a new
# document must not attend to the cat in the previous one. So a packed row needs a mask that is causal *within* each
# document and False between documents. (Krell et al. 2021 do this for BERT: [*Efficient Sequence Packing without
# Cross-contamination*](https://arxiv.org/abs/2107.02027).)

# %%
END = 2
row = ["die", "Katze", "tanzte", "<e>", "sie", "sang", "<e>", "Meow"]
packed = torch.tensor([[5, 6, 7, END, 8, 9, END, 4]])

# %% [markdown]
# ### Exercise 7 · Documents in one row
# `masking.packed_mask` · 4 points · about 20 minutes
#
# Make the masks for packed rows. An `end` token closes a document and belongs to it. The last document of a row may be cut
# off, without an end token, and a document may consist of just an end token.
#
# Shapes: `ids` is an integer tensor `[batch, tokens]`, `end` is an int, and the result is boolean
# `[batch, tokens, tokens]`.

# %% [markdown] tags=["fine-print"]
# Three points are for the values and one for the device: create every tensor on the device of `ids`. The id that closes
# a document differs from case to case.


# %% nbgrader={"grade": false, "grade_id": "masking-packed_mask-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def packed_mask(ids, end):
    """Causal masks within documents that follow each other in a row.

    ids: int64 [batch, tokens]
    end: int, the id that closes a document and belongs to it
    returns: bool [batch, tokens, tokens], True where the key is in the query's document and not after the query
    """
    ### BEGIN SOLUTION
    ends = ids == end
    document = ends.cumsum(dim=-1) - ends.long()
    same = document.unsqueeze(-1) == document.unsqueeze(-2)
    position = torch.arange(ids.shape[-1], device=ids.device)
    return same & (position.unsqueeze(-1) >= position)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# A token's document number is the number of end tokens before it. `cumsum` counts the token itself as well, which would
# put an end token into the next document, so subtract 1 at every end token. Two tokens are in the same document if their
# numbers are equal, and comparing a column with a row gives the whole table. Then comes the causal rule, which is the same
# for all rows. Without the first rule, a model learns to look for its topic in another text; without the causal rule, it
# reads the answers.

# %% nbgrader={"grade": true, "grade_id": "masking-packed_mask-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("masking.packed_mask")
### BEGIN HIDDEN TESTS
check("masking.packed_mask", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def documents_side_by_side():
    mask_of_all = packed_mask(packed, END)[0]
    show.matrices(
        show.Panel("causal mask alone", causal_mask(len(row)), row, row),
        show.Panel("packed", mask_of_all, row, row),
        alt="Left: one lower triangle over eight tokens. Right: three lower triangles along the diagonal, one per document.",
    )
    torch.manual_seed(0)
    x = torch.randn(len(row), 8)
    seen = leak_test(lambda vectors: masked_self_attention(vectors, mask_of_all), x)
    print("what your attention sees is what the mask says:", bool((seen == mask_of_all).all()))


# %% [markdown]
# ## 6. One vector for a whole sentence
#
# To classify a sentence of any length, you want a single vector for it. Lesson 00 took the mean of its word vectors,
# with a mask so that padding didn't count. But some tokens say more than others, and now you know how to weight them.
#
# Take the general recipe of lesson 01, $\alpha_k = \operatorname{softmax}_k(\operatorname{sim}(q, x_k))$ and
# $u = \sum_k \alpha_k x_k$, with **one query that does not come from any token but is learned**:
#
# $$\text{scaled}_k = \frac{q \cdot x_k}{\sqrt{d_\text{model}}}, \qquad
#   \alpha = \operatorname{softmax}(\text{scaled, masked}), \qquad u = \sum_k \alpha_k\, x_k .$$
#
# Here attention gets its first learned part, and it is as small as possible: one vector, which learns what is worth
# knowing about a sentence.
#
# ### Exercise 8 · Attention pooling
# `masking.attention_pooling` · 4 points · about 20 minutes
#
# This time you write a layer with weights. The constructor is given: it creates the learned query, an `nn.Parameter` (a
# tensor that an optimizer finds and trains) of shape `[d_model]`. Write `forward`. Torch's built-in attention is not
# allowed.
#
# Shapes: `x` is `[batch, tokens, d_model]`, `mask` is boolean `[batch, tokens]`, and the result is `[batch, d_model]`.
# Padding gets a weight of 0, wherever it is: after the tokens, before them or between them. Each sentence has at least
# one token.

# %% [markdown] tags=["fine-print"]
# Keep the name `query`, because the check loads weights into it. One point is for the values and gradients (of `x` and
# `query`), and one each for scores in the thousands, for a batch of a single sentence, and for padding that does not
# come after the tokens. In two cases, `x` and `query` are in double precision, so compute in the dtype of `x`.


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
# This is masked attention with one query: scale, fill, softmax, average. Mean pooling is a special case, with a query
# of zeros.
#
# Most points are lost on three details. Scale the scores, or else long vectors will saturate the softmax. Fill before
# the softmax, and go by the mask, because padding may be anywhere. And remove the query's dimension by its number: a
# bare `squeeze()` also removes a batch dimension of 1, and the layer that worked in training breaks on the first single
# sentence.

# %% nbgrader={"grade": true, "grade_id": "masking-attention_pooling-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("masking.attention_pooling")
### BEGIN HIDDEN TESTS
check("masking.attention_pooling", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# To see the layer learn, give it a task in which most tokens are noise. Every sentence has between 3 and 10 tokens.
# Exactly one token, at a random position, is a *signal*: one dimension marks it, and another says whether the answer is
# yes or no. A plain mean blurs the signal; a query can learn to find it. How often will each method be right? Guessing
# is right half the time.

# %%
my_pooling = {"mean": None, "attention": None}  # in %


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
    print(f"correct answers on new sentences: mean {accuracy['mean']:.0%}, attention {accuracy['attention']:.0%}")
    for name, share in accuracy.items():
        show.prediction(name, my_pooling[name], 100 * share, "%")

    length = int(allowed[0].sum())
    powers = torch.exp(x[0, :length] @ pooling.query.detach() / math.sqrt(8))
    show.bars(
        [f"token {index}" for index in range(length)],
        powers / powers.sum(),
        title=f"Where the learned query looks (the signal is token {int(where[0])})",
        highlight=int(where[0]),
        alt="Attention weights of the learned query for one sentence: nearly all on the signal token.",
    )


# %% [markdown]
# ## Stretch · Masks of your own
#
# No points. A mask is a matrix of booleans, and it doesn't have to be a triangle. Write one of these, look at it with
# `show.matrices(show.Panel("mine", mask, tokens, tokens), alt="my mask")`, and give it to your `masked_self_attention`.
#
# 1. **A sliding window**: each token sees itself and the two before it. How many layers does it take before token 9 can
#    see token 0? Ask your `leak_test`, with several layers as the model.
# 2. **A prefix**: the first three tokens see each other, as in an encoder; the others are causal. What does `leak_test`
#    say?
# 3. Find a mask that lets the future in, and an `x` for which `leak_test` doesn't notice.

# %%
# Your own experiments.

# %% [markdown]
# ## Glossary
#
# - **Token**: a unit that a model reads: a word, part of a word, a character, a special symbol.
# - **Mask**: a table that says which keys each query may attend to; ours are boolean, and True means "may attend".
# - **Causal mask**: a query may attend to itself and to what comes before it.
# - **Padding**: tokens without meaning, added to short sentences so that all sentences of a batch have the same length.
# - **Padding mask**: True at tokens, False at padding.
# - **Packing**: several documents in one row instead of padding, with a mask that keeps them apart.
# - **Language model**: predicts each next token from the tokens before it.
# - **Leak**: attention to a token that the query must not see, such as the answer.
# - **Fully masked row**: a query that may attend to nothing; its weights and its output are 0.
# - **Attention pooling**: one vector for a sentence, the average of its tokens, weighted by the attention of one
#   learned query.
# - **Parameter**: a tensor that training changes; in torch, an `nn.Parameter`.
# - **Encoder and decoder**: the half that reads the source and sees all of it, and the half that writes and sees only the
#   past.

# %% [markdown]
# ## What you have now
#
# You have masks for the future, for padding and for packed documents, two right ways to apply them, a test that finds
# leaks, and a layer that learns where to look.
#
# Here is one question to take with you. Shuffle the tokens of a sentence: what happens to the outputs of
# self-attention, with and without a mask? Make up your mind before you open lesson 03, which begins with that question.
# In lesson 04, several heads attend at once, and lesson 05 puts encoder and decoder together.
