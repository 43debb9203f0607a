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
# # Lesson 05 · The encoder-decoder
#
# *The cat danced.* By the end of this lesson, your own model will say it in German, *die Katze tanzte*, and you will
# have seen every number along the way. It learns to do so in less than a minute, on this computer, from sentences that
# do **not** include this one.
#
# You have all the parts: attention, masks, positions, heads, blocks. Now you join two stacks of blocks into one model
# and train it. Then you can explain every box in figure 1 of the transformer paper.
#
# | | you will write | points | minutes |
# |---|---|---|---|
# | 1 | what the decoder reads, and what it should predict | 1 | 5 |
# | 2 | the loss of a batch, and its perplexity | 3 | 15 |
# | 3 | the decoder block | 4 | 15 |
# | 4 | the encoder and decoder, joined | 4 | 20 |
# | 5 | a training loop, with clipping | 4 | 20 |
# | 6 | a step of Adam | 3 | 12 |
# | 7 | the warm-up schedule | 1 | 8 |
# | 8 | label smoothing | 3 | 15 |
# | 9 | in your own words: two losses compared | 2 | 10 |
# | 10 | scheduled sampling | 4 | 15 |
#
# Stuck? Each call to `hint("encoder_decoder.shift_right")` opens another hint. Once you have tried, `solution(...)` shows the
# answer and explains it; `progress()` shows how far you have come.

# %%
import copy
import importlib.util
import itertools
import math
import tempfile
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

from course_lib import show
from course_lib.attention import attention
from course_lib.checking import case, check, hint, progress, solution
from course_lib.hooks import record_attention
from course_lib.masking import causal_mask
from course_lib.mine import answer, keep_figure
from course_lib.text.batches import collate, examples, pad
from course_lib.text.tokenization import END_ID, PADDING_ID, START_ID, WordVocabulary
from course_lib.toys.grammar import toy_translation
from course_lib.training.precision import autocast, precision_for
from course_lib.training.progress import track

show.use_style()
torch.set_num_threads(1)  # a second one doesn't speed up matrices as small as these
torch.set_printoptions(precision=4, sci_mode=False, linewidth=110)
device = "cuda" if torch.cuda.is_available() else "cpu"

# %% [markdown]
# ## 1. A small world, in two languages
#
# Real translation models learn from millions of sentences. Our world gets by with a few hundred words, about cats,
# kings and apple trees, but its German is real, and that is hard enough.

# %%
split = toy_translation(20_000, 500)
for pair in [split.training[i] for i in (3, 5, 7, 11, 13)]:
    print(f"{pair.source}\n    {pair.target}")

# %% [markdown]
# Could you translate these sentences word by word, with a dictionary? Three things get in the way.
#
# - **Endings.** *The* becomes *der, die, das, den* or *dem*, depending on the noun's gender, its number, and its role
#   in the sentence: you say *der Hund* if the dog sees you, *den Hund* if you see the dog, and *dem Hund* if you help
#   the dog.
# - **Order.** If you start with *yesterday*, the verb moves before the subject: *gestern tanzte die Katze*. After
#   *because*, it moves to the very end: *weil die Katze tanzte*.
# - **Two parts.** *Invited* is a single word, but its translation may have two parts: *der Hund **lud** die Katze
#   **ein***.
#
# So each German word depends on several English ones, near and far, and on the German words before it. A model with
# attention to both languages can learn that.
#
# One in ten sentence *structures* never occurs in training, and we test the model on exactly these held-out structures.
# *The cat danced* has such a structure: a feminine noun with *the*, and a verb without an object.

# %%
english = WordVocabulary.from_sentences(pair.source for pair in split.training)
german = WordVocabulary.from_sentences(pair.target for pair in split.training)
training = examples(split.training, english, german)
print(f"{len(english)} English tokens, {len(german)} German tokens (endings!), {len(training)} training sentences")
print("the cat danced, among them:", "the cat danced" in {pair.source for pair in split.training})
source_ids, target_ids = examples(split.held_out[:1], english, german)[0]
print(f"\n{split.held_out[0].source}\n    {source_ids.tolist()}\n{split.held_out[0].target}\n    {target_ids.tolist()}")

# %% [markdown]
# The words are now numbers, their **ids**; from here on, anything with an id is a **token**. Four ids are special: 0 is
# padding, 1 is `<s>`, where every translation begins, 2 is `<e>`, where it ends, and 3 is any unknown word. The source
# doesn't need `<s>` or `<e>`, because the model only reads it and never generates it.
#
# ## 2. What the model learns
#
# ### 2.1 Shifted right
#
# A model generates one word at a time: it reads `<s>` and says *die*; it reads `<s>` *die* and says *Katze*; and so on
# until it says `<e>`. At every step it may look at the English sentence.
#
# In training, we give the model the right words and ask for the next word at every position at once: this is **teacher
# forcing**. The causal mask from lesson 02 keeps each position from seeing its answer. So the model learns all the
# words of a sentence in parallel, which is why transformers train so fast.
#
# The decoder's input is the target **shifted right** by one position: wherever the model reads a word, it must predict
# the next one.

# %% [markdown] tags=["slides"]
# S2 writes *tantze*, but the verb is *tanzen*, so its past tense is *tanzte*.

# %% tags=["demo"]
show.matrices(
    show.Panel(
        "four questions at once",
        torch.zeros(2, 4),
        ["reads", "should predict"],
        ["position 0", "position 1", "position 2", "position 3"],
        texts=[["<s>", "die", "Katze", "tanzte"], ["die", "Katze", "tanzte", "<e>"]],
    ),
    show.Panel(
        "a shorter sentence of the same batch",
        torch.zeros(2, 4),
        ["reads", "should predict"],
        ["position 0", "position 1", "position 2", "position 3"],
        texts=[["<s>", "sie", "tanzte", "<e>"], ["sie", "tanzte", "<e>", "padding"]],
    ),
    alt="Two rows of four tokens, twice. The decoder reads <s> die Katze tanzte and should predict die Katze tanzte <e>; in "
    "the shorter sentence it reads <s> sie tanzte <e> and should predict sie tanzte <e> padding.",
)

# %% [markdown]
# ### Exercise 1 · Shifted right
# `encoder_decoder.shift_right` · 1 point · about 5 minutes
#
# Turn a batch of complete targets into the two rows shown in the picture: what the decoder reads, and what it should
# predict.
#
# Shapes: `target` is an int64 tensor `[batch, tokens]`, each row from `<s>` to `<e>`, with padding after it. Return a
# tuple of two tensors, `read` and `targets`, each `[batch, tokens - 1]`.


# %% nbgrader={"grade": false, "grade_id": "encoder_decoder-shift_right-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def shift_right(target):
    """What the decoder reads at each position, and the token that it should predict there.

    target: int64 [batch, tokens], from <s> to <e>
    returns: read and targets, each int64 [batch, tokens - 1]
    """
    ### BEGIN SOLUTION
    return target[:, :-1], target[:, 1:]
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Both results are slices of the target, one position apart. The batch is the first dimension, so slice along the
# second. The targets include `<e>` but not `<s>`: a model that never has to predict `<e>` never learns to stop. If you
# roll the row instead of slicing it, the model also has to predict `<s>` after the last token.

# %% nbgrader={"grade": true, "grade_id": "encoder_decoder-shift_right-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("encoder_decoder.shift_right")
### BEGIN HIDDEN TESTS
check("encoder_decoder.shift_right", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ### 2.2 One word at a time
#
# How good is a translation? A model gives every possible sentence a probability. By the **chain rule**, the probability
# of a whole German sentence $e$, given the source $f$, is a product over its words:
#
# $$P(e \mid f) = \prod_t P(e_t \mid e_1, \dots, e_{t-1}, f).$$
#
# This is exact, and each factor is a probability that the decoder outputs at one position. A product of many small
# numbers is hard to work with, so take the logarithm, which turns it into a sum. Divide by the number of tokens,
# including `<e>`, so that you can compare long and short sentences. And put a minus sign in front, since people like to
# minimize. This is the mean **negative log-likelihood**, NLL for short:
#
# $$\text{NLL} = -\frac{1}{T} \sum_{t=1}^{T} \ln P(e_t \mid e_1, \dots, e_{t-1}, f).$$
#
# A model is about to generate *The gray fluffy cat meowed very loudly*. Each row below is a position, with some of the
# words that could come there and their probabilities.

# %%
table = {
    "The": {"The": 0.2, "gray": 0.01, "blue": 0.001, "fluffy": 0.0005, "wet": 0.0005},
    "gray": {"black": 0.2, "gray": 0.12, "blue": 0.001, "fluffy": 0.0005, "wet": 0.0005},
    "fluffy": {"fluffy": 0.2, "gray": 0.01, "blue": 0.001, "bald": 0.0005, "wet": 0.0005},
    "cat": {"dog": 0.2, "cat": 0.19, "blue": 0.001, "fluffy": 0.0005, "wet": 0.0005},
    "meowed": {"meowed": 0.3, "purred": 0.2, "hissed": 0.1, "fluffy": 0.001, "wet": 0.001},
    "very": {"very": 0.2, "lots": 0.1, "softly": 0.1, "fluffy": 0.0005, "wet": 0.0005},
    "loudly": {"loudly": 0.2, "softly": 0.001, "quiet": 0.001, "fluffy": 0.001, "wet": 0.0005},
    "EOS": {"EOS": 0.3, "and": 0.1, "blue": 0.001, "fluffy": 0.0005, "wet": 0.0005},
}

# %% tags=["demo"]
show.matrices(
    show.Panel(
        "p(token), given the right tokens before it",
        torch.tensor([list(listed.values()) for listed in table.values()]),
        [f"right: {token}" for token in table],
        [""] * 5,
        texts=[
            [f"[{token}] {p:g}" if token == right else f"{token} {p:g}" for token, p in listed.items()]
            for right, listed in table.items()
        ],
        reach=0.35,
    ),
    alt="Five tokens with their probabilities at each of eight positions, the right token in brackets.",
)

# %% [markdown]
# Look at the second row. The model prefers *black*, but the right word is *gray*. The loss uses the probability of
# *gray*, 0.12, and the third row continues **as if the model had said *gray***: teacher forcing again. (On its own, the
# model would have to continue from *The black*.)

# %%
right = torch.tensor([listed[token] for token, listed in table.items()])
nll = -right.log().mean()
print("the right tokens' probabilities:", right)
print(f"mean NLL {nll:.4f}   perplexity {nll.exp():.3f}")

# %% [markdown] tags=["slides"]
# The table comes from S1. Below it, the slide computes the same mean and gets 1.6290, not 1.5783: for `EOS` it uses 0.2, the
# probability of *loudly*, although the table says 0.3. A slip like this still gives a loss that looks reasonable (the
# difference, times eight words, is $\ln(0.3 / 0.2) = 0.41$), so recompute a loss by hand at least once. The letters $e$ and
# $f$ come from S4.

# %% [markdown]
# ### 2.3 Perplexity
#
# The **perplexity** is just $e^{\text{NLL}}$, but it is easier to interpret. A model that gives each of $n$ words a
# probability of $1/n$ has an NLL of $\ln n$, and a perplexity of $n$. So perplexity tells you **how many words the
# model seems to choose from**: in the table above, almost five. A model that gives all our German tokens the same
# probability has a perplexity equal to their number; a perfect model has a perplexity of 1.
#
# Tables of results often don't say what the mean is taken over. We use the **perplexity per token**: the mean is over
# all tokens of all sentences, equally weighted, without padding.
#
# ### Exercise 2 · Loss and perplexity
# `encoder_decoder.loss_and_perplexity` · 3 points (2 for the values, 1 for very unlikely tokens) · about 15 minutes
#
# Given the scores for a batch, compute the mean negative log-likelihood of the right tokens, and the perplexity.
#
# Shapes: `logits` is `[batch, tokens, vocab_size]` and may contain any numbers; `targets` is int64 `[batch, tokens]`,
# with `PADDING_ID` where there is no token. Return a tuple of two scalar tensors, the loss first.

# %% [markdown] tags=["fine-print"]
# Every batch contains at least one token. A probability may be as small as $e^{-150}$, which is too small for float32,
# but its logarithm is not. The check also compares the gradient with respect to the logits. In this lesson, results
# have the dtype of the input, float32 or float64, unless the task says otherwise.


# %% nbgrader={"grade": false, "grade_id": "encoder_decoder-loss_and_perplexity-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def loss_and_perplexity(logits, targets):
    """The mean negative log-likelihood of the right tokens, and its exp.

    logits: [batch, tokens, vocab_size]
    targets: int64 [batch, tokens]; PADDING_ID where there is no token
    returns: two scalar tensors, the loss in nats and the perplexity
    """
    ### BEGIN SOLUTION
    log_p = torch.log_softmax(logits, dim=-1)
    right = log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    tokens = targets != PADDING_ID
    loss = -right[tokens].mean()
    return loss, loss.exp()
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# `log_softmax` computes the softmax and its logarithm in one step. After a separate softmax, any probability below
# about e⁻¹⁰⁴ is 0, and its logarithm is minus infinity.
#
# Leave padding out before you take the mean, so that it affects neither the sum nor the count. If you averaged each
# sentence first, the tokens of short sentences would count more. Take exp last: if you averaged perplexities, one hard
# sentence would dominate.

# %% nbgrader={"grade": true, "grade_id": "encoder_decoder-loss_and_perplexity-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("encoder_decoder.loss_and_perplexity")
### BEGIN HIDDEN TESTS
check("encoder_decoder.loss_and_perplexity", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ## 3. The model
#
# ### 3.1 From one vector to many
#
# Before transformers, translation models were pairs of **recurrent networks**. The encoder reads the source word by
# word, and after each word it updates a state, which is a single vector. The decoder generates the translation from the
# encoder's last state. The whole sentence, however long, must pass through this vector: the **bottleneck**. Section 6
# measures the cost.
#
# The solution is also older than the transformer: let the decoder look back at *all* the encoder's states with
# attention. The transformer keeps this attention and drops the recurrence. Here are its shapes for a batch of 2
# sentences: the longer one has 6 English words, and its translation takes 7 positions.

# %% tags=["demo"]
english_shape, german_shape = "[2, 6, 64]", "[2, 7, 64]"
show.stacks(
    show.Stack(
        "encoder",
        "source ids [2, 6]",
        [
            show.Layer(name, english_shape, residual=name == "add & norm")
            for name in ("embedding + positions", "self-attention", "add & norm", "feed-forward", "add & norm")
        ],
        block=(1, 4),
        times="2 ×",
    ),
    show.Stack(
        "decoder",
        "target ids, shifted right [2, 7]",
        [
            *(
                show.Layer(name, german_shape, residual=name == "add & norm")
                for name in (
                    "embedding + positions",
                    "masked self-attention",
                    "add & norm",
                    "cross-attention",
                    "add & norm",
                    "feed-forward",
                    "add & norm",
                )
            ),
            show.Layer("output layer", "[2, 7, 188]"),
            show.Layer("softmax", "[2, 7, 188]"),
        ],
        block=(1, 6),
        times="2 ×",
        output="a probability for each next token",
    ),
    into=3,
    alt="Encoder and decoder as two stacks of boxes with shapes; the encoder's output, the memory, enters each decoder "
    "block's cross-attention. An arrow leads around each sublayer into the add & norm above it.",
)

# %% [markdown]
# Both stacks keep the shape `[batch, tokens, d_model]` from bottom to top, each with its own number of tokens. The
# encoder's output, a vector for each English word, is called the **memory**. Only the **cross-attention** of each
# decoder block reads it: its queries come from the German words, its keys *and* values from the English ones.
#
# The thin arrows around the sublayers are the residual connections from lesson 04. The picture leaves out two things. A
# **padding mask** goes into the encoder's self-attention and into the cross-attention, so that no token looks at the
# padding of the English sentence. And the loss uses the scores before the **softmax**, since `log_softmax` is more
# accurate.
#
# The encoder's parts come from lesson 04, and the positions from lesson 03. We use your versions if they have passed
# their checks, and the course's otherwise; a printed line tells you which.

# %%
MultiHeadAttention, LayerNorm, AddAndNorm, FeedForward, EncoderBlock = answer(
    "heads_and_blocks.multi_head_attention",
    "heads_and_blocks.layer_norm",
    "heads_and_blocks.add_and_norm",
    "heads_and_blocks.feed_forward",
    "heads_and_blocks.encoder_block",
)
sinusoidal_encoding = answer("positions.sinusoidal_encoding")

# %% [markdown]
# ### 3.2 The decoder block
#
# A decoder block has three sublayers, each followed by its own add & norm.
#
# 1. **Masked self-attention**: the German words so far look at each other, but never ahead.
# 2. **Cross-attention**: each German word attends to the memory. The whole source is known from the start, so you don't
#    need a causal mask here, but each word must ignore padding.
# 3. **Feed-forward network**: it processes each word separately.
#
# ### Exercise 3 · The decoder block
# `encoder_decoder.decoder_block` · 4 points · about 15 minutes
#
# Like `EncoderBlock` in lesson 04, the block receives its parts as arguments. Write `forward`.
#
# Shapes: `x` is `[batch, target, d_model]`, `memory` is `[batch, source, d_model]`, `mask` is boolean `[batch, target,
# target]`, `memory_mask` is `[batch, target, source]`, True where a token may attend. The result has the same shape as
# `x`.

# %% [markdown] tags=["fine-print"]
# The check supplies its own parts. Leave the constructor as it is: the check loads weights by the attribute names that it
# sets. A mask's batch and query dimensions may be 1. Either mask may be None, which allows everything. Otherwise, don't
# assume that it is a causal or padding mask. The check also compares the gradients with respect to `x`, `memory`, and the
# weights of all parts.


# %% nbgrader={"grade": false, "grade_id": "encoder_decoder-decoder_block-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
class DecoderBlock(nn.Module):
    """Masked self-attention, cross-attention to the memory, feed-forward network, each in its add & norm.

    self_attention, cross_attention: called as self_attention(x, memory, mask)
    add_and_norm_1, add_and_norm_2, add_and_norm_3: called as add_and_norm_1(x, sublayer)
    feed_forward: called as feed_forward(x)
    """

    def __init__(self, self_attention, add_and_norm_1, cross_attention, add_and_norm_2, feed_forward, add_and_norm_3):
        super().__init__()
        self.self_attention = self_attention
        self.add_and_norm_1 = add_and_norm_1
        self.cross_attention = cross_attention
        self.add_and_norm_2 = add_and_norm_2
        self.feed_forward = feed_forward
        self.add_and_norm_3 = add_and_norm_3

    def forward(self, x, memory, mask=None, memory_mask=None):
        """One layer of the decoder.

        x: [batch, target, d_model]
        memory: [batch, source, d_model], the encoder's output
        mask: bool [batch, target, target]; True where a target token may attend to a target token
        memory_mask: bool [batch, target, source]; True where it may attend to a source token
        returns: [batch, target, d_model]
        """
        ### BEGIN SOLUTION
        x = self.add_and_norm_1(x, lambda y: self.self_attention(y, y, mask))
        x = self.add_and_norm_2(x, lambda y: self.cross_attention(y, memory, memory_mask))
        return self.add_and_norm_3(x, self.feed_forward)
        ### END SOLUTION


# %% [markdown] tags=["reason"]
# Each add & norm adds its sublayer's output to its input, so overwrite `x` after each one; if you continued from the
# block's own input, you would throw away the previous sublayer's result. In cross-attention, the queries come from `y`,
# which the add & norm passes in; the keys and values come from `memory`.

# %% nbgrader={"grade": true, "grade_id": "encoder_decoder-decoder_block-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("encoder_decoder.decoder_block")
### BEGIN HIDDEN TESTS
check("encoder_decoder.decoder_block", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ### 3.3 The two stacks joined
#
# Here is the whole picture as one function, which takes its parts as arguments:
#
# | argument | call | returns |
# |---|---|---|
# | `embed_source` | `embed_source(source)` | vectors of the English words, positions included |
# | `encoder` | `block(x, mask)`, for each block of the list | new vectors |
# | `embed_target` | `embed_target(target)` | vectors of the German words |
# | `decoder` | `block(x, memory, mask, memory_mask)`, likewise | new vectors |
# | `output` | `output(x)` | a score for each German word |
#
# **Every** decoder block reads the output of the **last** encoder block, so run the whole encoder first. Many first
# attempts get this wrong.
#
# ### Exercise 4 · Encoder and decoder joined
# `encoder_decoder.encode_and_decode` · 4 points (1 of them for a GPU) · about 20 minutes
#
# Create the two masks, run the encoder, run the decoder, and return the scores. The check supplies its own blocks, so
# you don't need your decoder block here.
#
# Shapes: `source` is int64 `[batch, source]`, with `PADDING_ID` after the tokens; `target` is int64 `[batch, target]`,
# already shifted right; the result is `[batch, target, vocab_size]`. Both masks are boolean `[batch, queries, keys]`,
# where batch and queries may be 1, and must be on the same device as the ids: `causal_mask(length, device)` takes the
# device.

# %% [markdown] tags=["fine-print"]
# Hide only padding: an unknown word still counts as a token. Padding after the target doesn't need a mask. The blocks
# reject a mask that isn't boolean or doesn't have three dimensions.


# %% nbgrader={"grade": false, "grade_id": "encoder_decoder-encode_and_decode-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def encode_and_decode(source, target, embed_source, encoder, embed_target, decoder, output):
    """Scores of the token after each target token.

    source: int64 [batch, source], padding after the tokens
    target: int64 [batch, target], shifted right
    embed_source, embed_target: functions, ids -> [batch, tokens, d_model]
    encoder: list of blocks, called as block(x, mask)
    decoder: list of blocks, called as block(x, memory, mask, memory_mask)
    output: function, [batch, target, d_model] -> [batch, target, vocab_size]
    returns: [batch, target, vocab_size]
    """
    ### BEGIN SOLUTION
    memory_mask = (source != PADDING_ID).unsqueeze(1)
    memory = embed_source(source)
    for block in encoder:
        memory = block(memory, memory_mask)
    mask = causal_mask(target.shape[1], target.device).unsqueeze(0)
    x = embed_target(target)
    for block in decoder:
        x = block(x, memory, mask, memory_mask)
    return output(x)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Use the source's mask twice, in the encoder and in each cross-attention, because both look at the same keys. Queries
# at padding positions need no mask: nothing uses their results. Return the scores without a softmax, since the loss
# includes one.

# %% nbgrader={"grade": true, "grade_id": "encoder_decoder-encode_and_decode-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("encoder_decoder.encode_and_decode")
### BEGIN HIDDEN TESTS
check("encoder_decoder.encode_and_decode", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# The model itself only stores the weights of your parts. Embeddings are multiplied by $\sqrt{d_\text{model}}$, as in
# section 3.4 of the paper, since they start out small and the positions would otherwise drown them out.


# %%
def encoder_block(d_model, heads, d_ff, dropout):
    return EncoderBlock(
        self_attention=MultiHeadAttention(d_model, heads),
        add_and_norm_1=AddAndNorm(LayerNorm(d_model), nn.Dropout(dropout)),
        feed_forward=FeedForward(d_model, d_ff),
        add_and_norm_2=AddAndNorm(LayerNorm(d_model), nn.Dropout(dropout)),
    )


def decoder_block(d_model, heads, d_ff, dropout):
    return DecoderBlock(
        self_attention=MultiHeadAttention(d_model, heads),
        add_and_norm_1=AddAndNorm(LayerNorm(d_model), nn.Dropout(dropout)),
        cross_attention=MultiHeadAttention(d_model, heads),
        add_and_norm_2=AddAndNorm(LayerNorm(d_model), nn.Dropout(dropout)),
        feed_forward=FeedForward(d_model, d_ff),
        add_and_norm_3=AddAndNorm(LayerNorm(d_model), nn.Dropout(dropout)),
    )


class EncoderDecoder(nn.Module):
    """The transformer, made of your blocks."""

    def __init__(self, source_vocab_size, target_vocab_size, d_model=64, heads=4, d_ff=256, layers=2, dropout=0.1):
        super().__init__()
        self.d_model = d_model
        self.source_embedding = nn.Embedding(source_vocab_size, d_model)
        self.target_embedding = nn.Embedding(target_vocab_size, d_model)
        self.dropout = nn.Dropout(dropout)
        self.encoder = nn.ModuleList(encoder_block(d_model, heads, d_ff, dropout) for _ in range(layers))
        self.decoder = nn.ModuleList(decoder_block(d_model, heads, d_ff, dropout) for _ in range(layers))
        self.output = nn.Linear(d_model, target_vocab_size)
        for weight in self.parameters():
            if weight.dim() > 1:
                nn.init.xavier_uniform_(weight)
        for embedding in (self.source_embedding, self.target_embedding):
            nn.init.normal_(embedding.weight, std=d_model**-0.5)

    def embed(self, ids, embedding):
        positions = sinusoidal_encoding(ids.shape[1], self.d_model).to(ids.device)
        return self.dropout(embedding(ids) * math.sqrt(self.d_model) + positions)

    def forward(self, source, target):
        """source: ids [batch, source]; target: ids [batch, target], shifted right."""
        return encode_and_decode(
            source,
            target,
            lambda ids: self.embed(ids, self.source_embedding),
            self.encoder,
            lambda ids: self.embed(ids, self.target_embedding),
            self.decoder,
            self.output,
        )


# %% [markdown]
# Before you train a model, test it. Change an input and see which scores move: does a position depend on the words
# after it? Does padding in the source matter? Does the source matter at all?


# %% tags=["demo"]
@show.when_ready
def three_tests_before_training():
    torch.manual_seed(0)
    model = EncoderDecoder(len(english), len(german)).eval()
    source = torch.tensor([english.encode("the cat danced")])
    target = torch.tensor([[START_ID, *german.encode("die Katze tanzte")]])
    with torch.no_grad():
        before = model(source, target)
        other_end = target.clone()
        other_end[0, -1] = german.ids["schlief"]
        padded = F.pad(source, (0, 3), value=PADDING_ID)
        changes = {
            "the last target token changed": model(source, other_end),
            "three paddings after the source": model(padded, target),
            "another source": model(source.flip(1), target),
        }
    print(f"{'how much the scores move, position':>34}   0       1       2       3")
    for name, after in changes.items():
        moved = (after - before).abs().amax(dim=-1)[0]
        print(f"{name:>34}  {'  '.join(f'{number:.4f}' for number in moved.tolist())}")


# %% [markdown]
# The first line must be 0 except at its last position, the second must be 0 everywhere, and the third must not be 0
# anywhere. These tests rule out most of what can go wrong in an encoder-decoder.
#
# ## 4. Learning
#
# ### 4.1 One step after the other
#
# Training repeats one step: draw a batch, compute the loss, compute its gradients, and move each weight a little
# against its gradient.
#
# Now and then a batch has enormous gradients, and a single step undoes the progress of hundreds of steps. So gradients
# are **clipped**: take the norm of *all* of them together, as one long vector, and if it is above a limit, scale them
# all down by the same factor. The direction stays the same, but the step can't get too long.
#
# $$g \leftarrow g \cdot \min\left(1, \frac{\text{clip}}{\lVert g \rVert}\right), \qquad
#   \lVert g \rVert = \sqrt{\textstyle\sum_w \lVert \partial L / \partial w \rVert^2}$$
#
# ### Exercise 5 · A training loop
# `encoder_decoder.training_loop` · 4 points (3 for the values, 1 for double precision) · about 20 minutes
#
# Write a whole training run for a model that is just an output layer: `logits = x @ W + b`. For each batch, compute the
# loss (the mean negative log-likelihood of the targets) and the gradients of `W` and `b`, clip them, and take one step
# of plain gradient descent, $w \leftarrow w - \text{rate} \cdot g$.
#
# Shapes: `W` is `[d_model, vocab_size]`, `b` is `[vocab_size]`; `batches` is a list of pairs `(x, targets)`, with `x`
# of shape `[tokens, d_model]` and `targets` int64 `[tokens]`. Return a tuple of three: the new `W`, the new `b`, and
# the losses, a tensor `[steps]`, each computed *before* its step. The caller's `W` and `b` don't require gradients;
# leave them unchanged. All three results have the dtype of `W`, including the losses.


# %% nbgrader={"grade": false, "grade_id": "encoder_decoder-training_loop-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def training_loop(W, b, batches, rate, clip):
    """Train an output layer, logits = x @ W + b, with a step of clipped gradient descent for each batch.

    W: [d_model, vocab_size]
    b: [vocab_size]
    batches: list of (x [tokens, d_model], targets int64 [tokens])
    rate: float, the learning rate
    clip: float, the largest norm of both gradients together
    returns: the new W, the new b, and the losses [steps], each from before its step
    """
    ### BEGIN SOLUTION
    W, b = W.clone().requires_grad_(), b.clone().requires_grad_()
    losses = []
    for x, targets in batches:
        loss = F.cross_entropy(x @ W + b, targets)
        of_W, of_b = torch.autograd.grad(loss, (W, b))
        norm = (of_W.square().sum() + of_b.square().sum()).sqrt()
        factor = (clip / norm).clamp(max=1)
        with torch.no_grad():
            W -= rate * factor * of_W
            b -= rate * factor * of_b
        losses.append(loss.detach())
    return W.detach(), b.detach(), torch.stack(losses)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Compute fresh gradients in each step: torch adds new gradients to `.grad`, so a loop that never resets it follows the
# sum of all past gradients, which looks like learning for a while and then diverges.
#
# Clipping gradients one by one, or entry by entry, would change their direction. The factor is at most 1, since
# clipping must not lengthen gradients. Take the step under `no_grad`, or it would become part of the graph.

# %% nbgrader={"grade": true, "grade_id": "encoder_decoder-training_loop-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("encoder_decoder.training_loop")
### BEGIN HIDDEN TESTS
check("encoder_decoder.training_loop", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ### 4.2 Adam
#
# Plain gradient descent uses one learning rate for all weights, which suits few of them: the embedding of a rare word
# gets a gradient only once in a hundred steps, while a bias gets one in every step. **Adam** gives each weight its own
# step size. It keeps two running means, one of the gradient and one of its square, and divides the first by the square
# root of the second. The quotient has a magnitude of about 1, however large or small the gradients are, so each weight
# moves by about the learning rate.
#
# $$\begin{aligned}
# \text{mean} &\leftarrow \beta_1\, \text{mean} + (1 - \beta_1)\, g \\
# \text{square} &\leftarrow \beta_2\, \text{square} + (1 - \beta_2)\, g^2 \\
# w &\leftarrow w - \text{rate} \cdot
#   \frac{\text{mean} / (1 - \beta_1^{\text{step}})}{\sqrt{\text{square} / (1 - \beta_2^{\text{step}})} + \varepsilon}
# \end{aligned}$$
#
# Both means start at 0, so they are too small at first; dividing them by $1 - \beta^{\text{step}}$ corrects that. The
# transformer paper uses $\beta_1 = 0.9$, $\beta_2 = 0.98$ and $\varepsilon = 10^{-9}$ (section 5.3).
#
# ### Exercise 6 · A step of Adam
# `encoder_decoder.adam_update` · 3 points · about 12 minutes
#
# Compute one step for one weight tensor, with these formulas and the paper's three constants. (`torch.optim.Adam` is
# not allowed here.)
#
# Shapes: `weight`, `gradient`, `mean` and `square` all have the same shape; `step` is an int, counted from 1. Return a
# tuple of the new `weight`, `mean` and `square`, the last two *without* the correction, all in the dtype of the inputs.
# Change nothing in place.


# %% nbgrader={"grade": false, "grade_id": "encoder_decoder-adam_update-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def adam_update(weight, gradient, mean, square, step, rate):
    """One step of Adam with the transformer paper's settings.

    weight, gradient: [...]
    mean, square: [...], the running means before this step
    step: int, from 1
    rate: float, the learning rate
    returns: the new weight, mean and square
    """
    ### BEGIN SOLUTION
    mean = 0.9 * mean + 0.1 * gradient
    square = 0.98 * square + 0.02 * gradient**2
    corrected_mean = mean / (1 - 0.9**step)
    corrected_square = square / (1 - 0.98**step)
    return weight - rate * corrected_mean / (corrected_square.sqrt() + 1e-9), mean, square
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The corrected values are for this step only: if you kept them, they would be corrected again and again. Without the
# corrections, the first step would be 0.1 / √0.02 ≈ 0.7 times as long. The paper's 0.98 and 10⁻⁹ are not torch's
# defaults, 0.999 and 10⁻⁸. Add epsilon outside the square root: inside it, 10⁻⁹ would act like 3 · 10⁻⁵.

# %% nbgrader={"grade": true, "grade_id": "encoder_decoder-adam_update-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("encoder_decoder.adam_update")
### BEGIN HIDDEN TESTS
check("encoder_decoder.adam_update", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Below is a loss with one steep direction and one that is a hundred times flatter. Gradient descent has to take small
# steps, or it would diverge in the steep direction, so it crawls along the flat one. Adam doesn't have this problem.
#
# **Guess first.** Both methods start at a distance of 1 from the minimum along the flat direction, and take 60 steps.
# What percentage of that distance does each of them have left?

# %%
still_to_go = {"gradient descent": None, "Adam": None}  # in %


# %% tags=["demo"]
@show.when_ready
def a_valley():
    steepness = torch.tensor([100.0, 1.0])

    def gradient(w):
        return steepness * w

    paths = {"gradient descent": [torch.tensor([0.7, 1.0])], "Adam": [torch.tensor([0.7, 1.0])]}
    mean, square = torch.zeros(2), torch.zeros(2)
    for step in range(1, 61):
        w = paths["Adam"][-1]
        w, mean, square = adam_update(w, gradient(w), mean, square, step, 0.05)
        paths["Adam"].append(w)
        w = paths["gradient descent"][-1]
        paths["gradient descent"].append(w - 0.018 * gradient(w))
    for name, path in paths.items():
        show.prediction(f"{name}, still to go", still_to_go[name], 100 * path[-1][1].abs().item(), "%")
    drawn, [axes] = show.frames(height=3.4)
    across, along = torch.linspace(-1, 1, 80), torch.linspace(-0.35, 1.15, 80)
    loss = 0.5 * (100 * across.unsqueeze(0) ** 2 + along.unsqueeze(1) ** 2)
    axes.contour(across, along, loss.sqrt(), levels=12, colors="#c9ccd2", linewidths=0.8)
    for (name, path), colour in zip(paths.items(), (show.ORANGE, show.BLUE), strict=True):
        x, y = torch.stack(path).T.tolist()
        axes.plot(x, y, marker="o", ms=3, color=colour, label=name)
    axes.plot(0, 0, marker="*", ms=13, color=show.INK, linestyle="none", label="the minimum")
    axes.set(title="60 steps", xlabel="steep direction", ylabel="shallow direction")
    axes.legend(loc="lower right")
    show.figure(
        drawn, "Gradient descent jumps to and fro across a steep valley and stays high; Adam reaches its bottom."
    )


# %% [markdown]
# ### 4.3 Up, then down
#
# Which learning rate is right? The paper answers with a curve (section 5.3):
#
# $$\text{rate}(\text{step}) = d_\text{model}^{-0.5} \cdot
#   \min\left(\text{step}^{-0.5},\; \text{step} \cdot \text{warmup}^{-1.5}\right)$$
#
# The rate rises in a straight line during the **warm-up**, then falls as $1/\sqrt{\text{step}}$. At the beginning,
# Adam's running means come from only a handful of gradients, and in a post-norm transformer the gradients near the
# output are large (Xiong et al., 2020): a full step could lead anywhere. Later, the steps must shrink, or the loss just
# dances around its minimum.
#
# ### Exercise 7 · The warm-up schedule
# `encoder_decoder.warmup_schedule` · 1 point · about 8 minutes
#
# Compute the learning rate for many steps at once.
#
# Shapes: `steps` is an int64 tensor `[steps]`, counted from 1, in any order; `d_model` and `warmup` are ints; the
# result is float32 `[steps]`.


# %% nbgrader={"grade": false, "grade_id": "encoder_decoder-warmup_schedule-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def warmup_schedule(steps, d_model, warmup):
    """The paper's learning rate at each of these steps.

    steps: int64 [steps], from 1
    d_model: int
    warmup: int, how many steps the rate rises
    returns: float32 [steps]
    """
    ### BEGIN SOLUTION
    return d_model**-0.5 * torch.minimum(steps**-0.5, steps * warmup**-1.5)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The two terms are equal at `step = warmup`, so their minimum covers both phases without an `if`. `torch.minimum`
# compares entry by entry, so it works for many steps at once; `min()` would return a single number. With the maximum,
# training would start with an enormous rate. The factor d_model⁻⁰·⁵ applies to both terms: wider models take smaller
# steps.

# %% nbgrader={"grade": true, "grade_id": "encoder_decoder-warmup_schedule-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("encoder_decoder.warmup_schedule")
### BEGIN HIDDEN TESTS
check("encoder_decoder.warmup_schedule", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def three_schedules():
    steps = torch.arange(1, 20_001, 20)
    drawn, [axes] = show.frames(height=3.2)
    for d_model, warmup in ((512, 4000), (512, 8000), (256, 4000)):
        axes.plot(steps, 1000 * warmup_schedule(steps, d_model, warmup), label=f"d_model {d_model}, warm-up {warmup}")
    axes.set(xlabel="step", ylabel="1000 · learning rate", title="The warm-up schedule")
    axes.legend()
    show.figure(
        drawn, "Three learning-rate curves: a straight rise to a peak at the end of the warm-up, then a slow decline."
    )


# %% [markdown]
# Doubling the warm-up makes the peak later and lower; halving the width makes all steps larger. Change the warm-up
# yourself: the peak moves along the falling curve, which stays where it is. The dashed line is a **cosine** schedule,
# which many current models use. It has its own peak and reaches 0 at the last step, so you must know in advance how
# long you will train.

# %% tags=["demo"]
show.schedules()

# %% [markdown]
# ### 4.4 Label smoothing
#
# *I went to class and took ...* what? The corpus says *notes*, but *a nap* would have been fine. The negative
# log-likelihood is lowest when *notes* has a probability of 1, which finite scores can't reach, so training drives the
# scores apart forever.
#
# **Label smoothing** asks for less: it takes a share $\varepsilon$ of the target's probability, 10% in the paper
# (section 5.4), from the right word and gives it to the others. The loss is the **cross-entropy** with that softer
# target $q$,
#
# $$L = -\sum_w q(w)\, \ln p(w), \qquad q(w) = \begin{cases} 1 - \varepsilon & \text{the right word} \\
#   \varepsilon / (V - 1) & \text{each other word,}\end{cases}$$
#
# for a vocabulary of $V$ words. With $\varepsilon = 0$, it is the negative log-likelihood again.

# %% tags=["demo"]
candidates = ["notes", "a nap", "a seat", "the bus", "a fish"]
hard = torch.tensor([1.0, 0.0, 0.0, 0.0, 0.0])
show.distributions(
    candidates,
    {"ε = 0": hard, "ε = 0.1": torch.tensor([0.9, *[0.1 / 4] * 4]), "ε = 0.3": torch.tensor([0.7, *[0.3 / 4] * 4])},
    alt="Targets over five tokens. Without smoothing, notes has 1; with 0.1, it has 0.9 and the others 0.025 each.",
)

# %% [markdown]
# ### Exercise 8 · Label smoothing
# `encoder_decoder.label_smoothing` · 3 points (2 for the values, 1 for logits far apart) · about 15 minutes
#
# Compute the loss above, in which the share ε goes to **all of the other words**, and only to them. Return its mean
# over the tokens.
#
# Shapes: `logits` is `[tokens, vocab_size]`, scores of any size, even a hundred or more, for a vocabulary of at least 3
# tokens; `targets` is int64 `[tokens]`; `smoothing` is ε, a float from 0 to 0.5. The result is a scalar tensor with the
# dtype of the logits. All tokens count, including id 0. The check also compares the gradient with respect to the
# logits.


# %% nbgrader={"grade": false, "grade_id": "encoder_decoder-label_smoothing-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def label_smoothing(logits, targets, smoothing):
    """The mean cross-entropy with smoothed targets: 1 - smoothing for the right token, the rest for all others.

    logits: [tokens, vocab_size]
    targets: int64 [tokens], the right tokens
    smoothing: float, from 0 to 0.5
    returns: a scalar tensor, in nats
    """
    ### BEGIN SOLUTION
    log_p = torch.log_softmax(logits, dim=-1)
    right = log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    others = log_p.sum(dim=-1) - right
    return -((1 - smoothing) * right + smoothing / (logits.shape[-1] - 1) * others).mean()
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# You don't have to build the target. All other words get the same share, so you only need the sum of their
# log-probabilities: take the sum over all words and subtract the right word's. As in exercise 2, use `log_softmax`.

# %% nbgrader={"grade": true, "grade_id": "encoder_decoder-label_smoothing-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("encoder_decoder.label_smoothing")
### BEGIN HIDDEN TESTS
check("encoder_decoder.label_smoothing", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# `torch.nn.CrossEntropyLoss(label_smoothing=ε)` spreads the mass over *all* words instead, including the right one,
# which keeps $1 - \varepsilon + \varepsilon / V$. The work that the paper cites for label smoothing (Szegedy et al.,
# 2016, section 7) does the same. Our loss with $\varepsilon$ equals torch's with $\varepsilon \cdot V / (V - 1)$. With
# 30,000 words you can't tell the difference; with five you can.

# %% [markdown] tags=["slides"]
# On S4's slide, as here, the mass goes to "all of the other words". The loss curve below comes from the same slide. The
# training wrapper of section 5.1 comes from S3.


# %% tags=["demo"]
@show.when_ready
def two_variants():
    generator = torch.Generator().manual_seed(0)
    for size in (5, 188, 30_000):
        targets = torch.randint(size, (50,), generator=generator)
        logits = torch.randn(50, size, generator=generator) + 12 * F.one_hot(targets, size)  # very sure, and right
        ours = label_smoothing(logits, targets, 0.1)
        theirs = F.cross_entropy(logits, targets, label_smoothing=0.1)
        converted = F.cross_entropy(logits, targets, label_smoothing=0.1 * size / (size - 1))
        print(f"V = {size:6}:  others only {ours:8.5f}   torch's {theirs:8.5f}   torch's, converted {converted:8.5f}")


# %% [markdown]
# The next cell plots the loss against the probability of the right word, with the rest shared evenly among the other
# words. **Guess first:** with $\varepsilon = 0.1$, at what probability is the loss lowest?

# %%
lowest_at = None  # the probability of the right token


# %% tags=["demo"]
@show.when_ready
def the_loss_rises_again():
    p = torch.sigmoid(torch.linspace(-6, 9, 400, dtype=torch.float64))  # close to both ends
    rest = ((1 - p) / (len(german) - 1)).unsqueeze(1).expand(-1, len(german) - 1)
    logits = torch.cat([p.unsqueeze(1), rest], dim=1).log()
    drawn, [axes] = show.frames(height=3.4)
    for smoothing, colour in ((0.0, show.GREY), (0.1, show.BLUE), (0.3, show.ORANGE)):
        losses = torch.stack([label_smoothing(row.unsqueeze(0), torch.tensor([0]), smoothing) for row in logits])
        axes.plot(p, losses, color=colour, label=f"ε = {smoothing:g}")
        lowest = int(losses.argmin())
        if smoothing:
            axes.plot(p[lowest], losses[lowest], "o", color=colour)
        if smoothing == 0.1:
            show.prediction("the loss is lowest at", lowest_at, round(p[lowest].item(), 2))
    axes.set(
        xlabel="probability of the right token", ylabel="loss", ylim=(0, 6.2), title="Being too sure also costs you"
    )
    axes.legend(loc="upper center")
    show.figure(
        drawn,
        "Loss against the right token's probability: without smoothing, it falls to 0 at 1; with it, the loss rises "
        "again beyond 1 - ε.",
    )


# %% [markdown]
# Without smoothing, the loss keeps falling until that probability is 1. With smoothing, it is lowest at
# $1 - \varepsilon$; beyond that, it **rises again**, because it penalizes a model that is too sure.
#
# ### Exercise 9 · In your own words
# `encoder_decoder.two_losses` · 2 points, read by a person · about 10 minutes
#
# Two teams each train a translator on the same sentences. Team A's tokens are whole words; with a label smoothing of
# 0.1, its loss on the test sentences is 1.6 per token, which it reports as "a perplexity of 5.0". Team B splits words
# into smaller tokens and does not smooth; its loss is 1.4, and it claims "a perplexity of 4.1, so ours is better". Give
# two reasons why this does not follow, and say what you would compute to compare the two models. Write three to six
# sentences.
#
# Learning on your own? Once you have written your answer,
# `solution("encoder_decoder.two_losses")` in a new cell shows one good answer and what earns points.

# %% [markdown] nbgrader={"grade": true, "grade_id": "encoder_decoder-two_losses-written", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# A smoothed loss has a minimum above 0, and penalizes a model that is more certain than the smoothed target. So 1.6 is
# not a negative log-likelihood, and its exp is not a perplexity. Team A's real perplexity may well be lower than 5.0. A
# mean per token depends on what a token is. Team B has more tokens for the same sentence, and the later tokens of a
# word are easy to guess, so its mean is low even if the sentence is no more probable. To compare the models, take their
# plain negative log-likelihood on the same test sentences, sum it over each sentence including `<e>`, and divide both
# sums by the same count: sentences, words or characters. (Or compare what you want in the end: the translations.)
#
# *(One point for saying that a smoothed loss is not a likelihood and has a different minimum. One point for saying that
# a mean per token depends on the tokens, and for naming a common measure: plain likelihood, summed over the same
# sentences.)*

# %% [markdown]
# ## 5. The moment
#
# ### 5.1 A training wrapper
#
# Every project puts a **training wrapper** around the loop of exercise 5:
#
# - a **`DataLoader`** shuffles the examples and groups them into batches, and its **`collate_fn`** turns sentences of
#   different lengths into one padded tensor;
# - the model and each batch move to the **device**;
# - **mixed precision**: on a GPU, most matrix products are computed in 16 bits, which is far faster, while the weights
#   stay in 32 bits. `bf16` needs nothing else; the older `fp16` has a small range, so the loss is scaled up, and the
#   gradients are scaled back down;
# - a **progress** display;
# - **checkpoints**, for long runs: now and then, the wrapper saves everything that the rest of the run depends on (the
#   weights, Adam's running means, the step, and the state of the random generator that dropout uses). It doesn't have
#   to save the order of the batches if it can reproduce it.

# %% tags=["demo"]
print("one batch, before and after collate:")
few = training[:4]
print([(len(source), len(target)) for source, target in few])
padded = collate(few)
print(list(padded.source.shape), list(padded.target.shape), "\n", padded.target)

# %% tags=["demo"]
from course_lib.training.checkpoints import Checkpoints, read_checkpoint

precision = precision_for(device) if device == "cuda" else "fp32"
print(f"training on {device} in {precision}")


def fit(model, data, loss_of, rates, every=100, look=None, checkpoints=None):
    """Train a model with Adam, one step for each learning rate; `look(step, loss)` is called now and then.

    With `checkpoints` the run saves its state on the way, and a run that finds a file in the folder resumes from it.
    """
    torch.manual_seed(0)
    dealt = torch.Generator().manual_seed(0)  # fixes the order of the batches
    loader = DataLoader(data, batch_size=64, shuffle=True, collate_fn=collate, generator=dealt)
    batches = itertools.chain.from_iterable(itertools.repeat(loader))  # epoch after epoch
    model.to(device)
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    scaler = torch.amp.GradScaler(device, enabled=precision == "fp16")
    done, losses = 0, []
    if checkpoints is not None and checkpoints.files():
        saved = read_checkpoint(checkpoints.files()[-1])
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        scaler.load_state_dict(saved["scaler"])
        torch.set_rng_state(saved["random"])
        done = saved["step"]
        for _ in range(done):
            next(batches)  # the batches it has already seen
    for step, rate in enumerate(track(rates[done:]), start=done + 1):
        model.train()
        batch = next(batches).to(device)
        with autocast(torch.device(device), precision):
            loss = loss_of(model, batch)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = rate
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.detach())
        if checkpoints is not None and step % checkpoints.every == 0:
            weights, moments, scale = model.state_dict(), optimizer.state_dict(), scaler.state_dict()
            random = torch.get_rng_state()
            checkpoints.save(
                step, {"step": step, "model": weights, "optimizer": moments, "scaler": scale, "random": random}
            )
        if look is not None and step % every == 0:
            look(step, loss.item())
    model.eval()
    return torch.stack(losses).tolist()


# %%
def translation_loss(model, batch):
    """Shift, compute, and compare at the tokens, not at padding."""
    read, targets = shift_right(batch.target)
    logits = model(batch.source, read)
    tokens = targets != PADDING_ID
    return label_smoothing(logits[tokens], targets[tokens], 0.1)


# %% [markdown]
# `translation_loss` is all yours: your shift, your model, your loss. It selects the real tokens first, so padding
# doesn't count.
#
# Now pull the plug. A run of 40 steps saves a checkpoint every 15 steps, but it is stopped at step 35. A second run
# starts with new random weights and finds the checkpoints. **Guess first:** how many steps does the second run still
# have to take? And do its final weights differ from those of an uninterrupted run?

# %%
steps_of_the_second_run = None  # a number
same_weights_in_the_end = None  # True or False


# %% tags=["demo"]
@show.when_ready
def the_plug_is_pulled():
    rates = (0.4 * warmup_schedule(torch.arange(1, 41), d_model=64, warmup=100)).tolist()

    def fresh():
        torch.manual_seed(0)
        return EncoderDecoder(len(english), len(german))

    def pull_the_plug(_step, _loss):
        raise KeyboardInterrupt

    undisturbed, interrupted, resumed = fresh(), fresh(), fresh()
    fit(undisturbed, training, translation_loss, rates)
    with tempfile.TemporaryDirectory() as folder:
        checkpoints = Checkpoints(Path(folder), every=15)
        try:
            fit(interrupted, training, translation_loss, rates, every=35, look=pull_the_plug, checkpoints=checkpoints)
        except KeyboardInterrupt:
            print("stopped in step 35; in the folder:", [file.name for file in checkpoints.files()])
        losses = fit(resumed, training, translation_loss, rates, checkpoints=checkpoints)
    differences = [
        (a - b).abs().max().item() for a, b in zip(undisturbed.parameters(), resumed.parameters(), strict=True)
    ]
    print(f"largest difference between its weights and the uninterrupted run's: {max(differences):.1e}")
    show.prediction("steps of the second run", steps_of_the_second_run, len(losses))
    if device == "cpu":
        show.prediction("the same weights", same_weights_in_the_end, max(differences) == 0)


# %% [markdown]
# Steps 31 to 35 run twice, and on a CPU the final weights are still the same, bit for bit. (A GPU adds numbers in its
# own order and draws different random numbers, so its weights differ a little.) If you leave Adam's means out of a
# checkpoint, the loss jumps when the run resumes, and a week later you can't explain why. In lesson 11, you will resume
# a long run.
#
# ### 5.2 Half a minute
#
# The model has vectors of 64 numbers, 4 heads, and 2 blocks on each side. The paper's learning rate is meant for long
# training runs of large models; for our few hundred steps, 0.4 times that rate works well.
#
# **Guess first.** The model knows nothing yet, and there are nearly two hundred German words. What is its loss at the
# first step, and what is it after 600 steps? What share of the held-out sentences will it translate without a mistake?

# %%
my_guess = {"loss of the first step": None, "loss of the last": None, "held-out sentences right": None}  # the last in %

# %% [markdown]
# Ready? The next cell takes about half a minute on a CPU.


# %% tags=["demo"]
translator = None


def trained():
    """Your model, once it is trained."""
    if translator is None:
        print("Not trained yet, so what follows is guesswork: run the cell of section 5.2 first.")
    return (translator or EncoderDecoder(len(english), len(german))).to(device).eval()


@show.when_ready
def learn_to_translate():
    global translator
    torch.manual_seed(0)
    model = EncoderDecoder(len(english), len(german))
    rates = 0.4 * warmup_schedule(torch.arange(1, 601), d_model=64, warmup=100)
    begun = time.perf_counter()

    def look(step, loss):
        print(f"step {step:4}   loss {loss:.3f}   {time.perf_counter() - begun:5.1f} s")

    losses = fit(model, training, translation_loss, rates.tolist(), look=look)
    q = torch.full((1, len(german)), 0.1 / (len(german) - 1))  # a model that predicts exactly the smoothed target
    q[0, 0] = 1 - 0.1
    lowest = label_smoothing(q.log(), torch.tensor([0]), 0.1).item()
    show.loss_curve(losses, title="smoothed loss, in nats", floor=lowest)
    show.prediction("loss of the first step", my_guess["loss of the first step"], losses[0])
    show.prediction("loss of the last", my_guess["loss of the last"], losses[-1])
    translator = model


# %% [markdown]
# The curve only looks stuck. The dotted line is the loss of a model that predicts exactly the smoothed target, 0.9 for
# the right word and the rest shared evenly: no model can do better. A model that guesses evenly among all words has a
# loss of $\ln 188 = 5.24$; random weights are a little worse, since they already have opinions.
#
# ### 5.3 One word, then the next
#
# When the model translates, it gets only the source and `<s>`. We append the word that the model finds most probable,
# and ask again: this is **greedy decoding**.


# %% tags=["demo"]
@torch.no_grad()
def translate(model, sentences, longest=40):
    """The translation of each sentence, the most probable token at each position."""
    source = pad([torch.tensor(english.encode(sentence)) for sentence in sentences]).to(device)
    tokens = torch.full((len(sentences), 1), START_ID, device=device)
    for _ in range(longest):
        likeliest = model(source, tokens)[:, -1].argmax(dim=-1, keepdim=True)
        tokens = torch.cat([tokens, likeliest], dim=1)
        if (tokens == END_ID).any(dim=1).all():
            break
    return [german.decode(row) for row in tokens.tolist()]  # up to the first <e>


@show.when_ready
def the_cat_danced():
    model = trained()
    source = torch.tensor([english.encode("the cat danced")], device=device)
    tokens = [START_ID]
    while tokens[-1] != END_ID and len(tokens) < 10:
        with torch.no_grad():
            scores = model(source, torch.tensor([tokens], device=device))[0, -1]
        p = torch.softmax(scores, dim=-1)
        best = p.topk(3)
        said = ", ".join(f"{german.words[i]} {q:.2f}" for q, i in zip(best.values, best.indices.tolist(), strict=True))
        print(f"{' '.join(german.words[i] for i in tokens):24} →  {said}")
        tokens.append(int(best.indices[0]))
    print(f"\nthe cat danced  →  {german.decode(tokens)}")


# %% [markdown]
# There it is, from your own model, in a structure that it has never seen. (Why do the highest probabilities stop short
# of 1? You asked for that in section 4.4, with label smoothing.)
#
# Was that just one lucky sentence? Test the model on all the held-out sentences.


# %% tags=["demo"]
held_out = split.held_out


def right_ones(model):
    """For each held-out sentence, whether its translation is right, word for word."""
    ours = translate(model, [pair.source for pair in held_out])
    return [translation == pair.target for translation, pair in zip(ours, held_out, strict=True)]


@show.when_ready
def unseen_structures():
    model = trained()
    sentences = [
        "yesterday the angry dog invited the cat",
        "because the cat saw the dog , the king danced",
        "the old queens helped a hungry bear",
    ]
    for sentence, translation in zip(sentences, translate(model, sentences), strict=True):
        print(f"{sentence}\n    {translation}")
    right = right_ones(model)
    share = f"{sum(right) / len(right):.1%}"
    keep_figure("05_encoder_decoder", "unseen sentences that your translator gets right, word for word", share)
    print(f"\nheld-out sentences translated exactly right, word for word: {sum(right) / len(right):.1%}")
    guess = my_guess["held-out sentences right"]
    show.prediction("held-out sentences right", guess, 100 * sum(right) / len(right), "%")
    data = collate(examples(held_out, english, german)).to(device)
    read, targets = shift_right(data.target)
    with torch.no_grad():
        _loss, perplexity = loss_and_perplexity(model(data.source, read), targets)
    print(f"perplexity on them, with the right tokens before each: {perplexity:.2f}")


# %% [markdown]
# The perplexity is a little above 1, although nearly every word is right. Label smoothing is the reason again: a model
# that reserves some probability for the other words looks slightly undecided.
#
# ### 5.4 Where it looks
#
# What does each German word look at while the model chooses the next one? The next cell shows the last block's
# cross-attention. (A **hook**, a function that torch calls whenever a layer is called, lets you observe a model without
# changing it.)


# %% tags=["demo"]
@torch.no_grad()
def attention_over_the_source(model, source, target):
    """The scores after each target token, and all cross-attention weights [layers, heads, target, source]."""
    crossing = nn.ModuleList([block.cross_attention for block in model.decoder])
    with record_attention(crossing) as weights:
        scores = model(source, target)
    return scores, torch.stack([alpha[0] for alpha in weights])


@show.when_ready
def what_it_looks_at():
    model = trained()
    panels = []
    for sentence in ("the cat danced", "yesterday the dog invited the cat"):
        source = torch.tensor([english.encode(sentence)], device=device)
        tokens = ["<s>", *translate(model, [sentence])[0].split()]
        target = torch.tensor([[german.ids[token] for token in tokens]], device=device)
        _scores, alpha = attention_over_the_source(model, source, target)
        alpha = alpha[-1].mean(dim=0).cpu()
        rows = [f"{token} → {after}" for token, after in zip(tokens, [*tokens[1:], "<e>"], strict=True)]
        panels.append(show.Panel(f"“{sentence}”", alpha, rows, sentence.split()))
    show.matrices(
        *panels,
        alt="Cross-attention weights over the English tokens, the mean of the heads, for two sentences: the English "
        "counterpart of the next German token is dark.",
    )


# %% [markdown]
# Each row says *what was read → what comes next*. In the second sentence, the verb comes early and its prefix *ein*
# comes at the end, and the model looks at *invited* both times. Nobody told it which words belong together. Earlier
# translation systems needed a separate model for such **word alignments** (Brown et al., 1993).
#
# The picture shows the mean of the heads. What does each head do? Below, type an English sentence or choose its words,
# press *Play*, and watch the translation grow. Then choose a head and a layer: some heads find the word being
# translated, and others find the words that decide its ending or its position. You can choose any combination of
# `PARTS`; put your own sentences into `YOURS` and run the cell again.


# %% tags=["demo"]
YOURS = ["because the cat saw the dog , the king danced"]
PARTS = (
    ["", "yesterday "],
    ["the cat ", "a king ", "the old dogs "],
    ["danced", "saw the mouse", "helped the queen", "invited a bear"],
)


@torch.no_grad()
def looked_over_its_shoulder(model, sentence, translation):
    """Scores and attention while the model generates this translation of a sentence."""
    tokens = translation.split()
    source = torch.tensor([english.encode(sentence)], device=device)
    target = torch.tensor([[START_ID, *(german.ids[token] for token in tokens)]], device=device)
    scores, alpha = attention_over_the_source(model, source, target)
    best = torch.softmax(scores[0], dim=-1).topk(3)
    names = [[german.words[i] for i in row] for row in best.indices.tolist()]
    likely = [list(zip(*row, strict=True)) for row in zip(names, best.values.tolist(), strict=True)]
    return show.TranslationAttention(sentence.split(), [*tokens, "<e>"], likely, alpha.cpu())


@show.when_ready
def word_for_word():
    model = trained()
    sentences = [*("".join(parts) for parts in itertools.product(*PARTS)), *YOURS]
    translations = zip(sentences, translate(model, sentences), strict=True)
    show.translating([looked_over_its_shoulder(model, *pair) for pair in translations])


# %% [markdown]
# ## 6. How it compares
#
# ### 6.1 The bottleneck, measured
#
# Now we train recurrent networks, with and without attention. The encoder is a GRU, a common recurrent network, and so
# is the decoder, which starts from the encoder's last state. Without attention, the decoder gets only that vector, at
# every position (Cho et al., 2014). With attention, it gets a weighted mix of all the states instead. The weights come
# from our own scaled dot-product attention, with the decoder's states as queries and the encoder's states as keys and
# values. Everything else is the same.
#
# Your transformer trained for 600 steps. **Guess first**, for the same held-out sentences: what share will the
# recurrent networks get right? Guess for one vector after 400 and after 1,000 steps, and for attention after 400.

# %%
right_of_the_recurrent = {
    "one vector, 400 steps": None,
    "one vector, 1,000 steps": None,
    "with attention, 400 steps": None,
}


# %% tags=["demo"]
class RecurrentTranslator(nn.Module):
    """A recurrent encoder-decoder, called like `EncoderDecoder`."""

    def __init__(self, d_model=64, attends=False):
        super().__init__()
        self.source_embedding = nn.Embedding(len(english), d_model)
        self.target_embedding = nn.Embedding(len(german), d_model)
        self.encoder = nn.GRU(d_model, d_model, batch_first=True)
        self.decoder = nn.GRU(d_model, d_model, batch_first=True)
        self.combine = nn.Linear(2 * d_model, d_model)
        self.output = nn.Linear(d_model, len(german))
        self.attends = attends

    def encode(self, source):
        """All states, and the one after each sentence's last token: the bottleneck."""
        states, _ = self.encoder(self.source_embedding(source))
        return states, self.last(source, states).unsqueeze(0).contiguous()

    def last(self, source, states):
        """The state after each sentence's last token."""
        return states[torch.arange(len(source), device=source.device), (source != PADDING_ID).sum(dim=1) - 1]

    def decode(self, target, source, states, state):
        """Scores after each target token, and the decoder's last state."""
        x, state = self.decoder(self.target_embedding(target), state)
        if self.attends:
            seen = attention(x, states, states, (source != PADDING_ID).unsqueeze(1)).out
        else:
            seen = self.last(source, states).unsqueeze(1).expand_as(x)
        return self.output(torch.tanh(self.combine(torch.cat([x, seen], dim=-1)))), state

    def forward(self, source, target):
        return self.decode(target, source, *self.encode(source))[0]


def plain_loss(model, batch):
    """The mean negative log-likelihood, with teacher forcing."""
    read, targets = batch.target[:, :-1], batch.target[:, 1:]
    tokens = targets != PADDING_ID
    return F.cross_entropy(model(batch.source, read)[tokens], targets[tokens])


recurrent = {}


def learn(name, attends, marks):
    """Train a recurrent translator up to the last of these steps, and keep a copy at each."""
    torch.manual_seed(0)
    model = RecurrentTranslator(attends=attends)

    def look(step, _loss):
        if step in marks:
            recurrent[f"{name}, {step:,} steps"] = copy.deepcopy(model).eval()

    losses = fit(model, training, plain_loss, [0.01] * marks[-1], every=math.gcd(*marks), look=look)
    for mark in marks:
        print(f"{name}, {mark:,} steps".ljust(30), f"loss {losses[0]:.2f} → {sum(losses[mark - 20 : mark]) / 20:.2f}")


learn("one vector", attends=False, marks=(400, 1000))
learn("with attention", attends=True, marks=(400,))


# %% tags=["demo"]
@show.when_ready
def right_by_length():
    right = {"transformer (yours)": right_ones(trained())}
    right |= {name: right_ones(model) for name, model in recurrent.items()}
    lengths = torch.tensor([len(pair.source.split()) for pair in held_out])
    ranges = ((2, 4), (5, 7), (8, 10), (11, 13), (14, 25))
    drawn, [axes] = show.frames(height=3.4)
    ways = ((show.BLUE, "o-"), (show.ORANGE, "o:"), (show.ORANGE, "o-"), (show.GREEN, "o-"))
    for (name, answers), (colour, line) in zip(right.items(), ways, strict=True):
        found = torch.tensor(answers).float()
        shares = [found[(lengths >= low) & (lengths <= high)].mean().item() for low, high in ranges]
        axes.plot(range(len(ranges)), shares, line, color=colour, label=name)
        print(f"{name:26} {found.mean():.1%} right; by length:", *(f"{share:4.0%}" for share in shares))
        if name in right_of_the_recurrent:
            show.prediction(name, right_of_the_recurrent[name], 100 * found.mean().item(), "%")
    axes.set_xticks(range(len(ranges)), labels=[f"{low}–{high}" for low, high in ranges])
    axes.set(xlabel="tokens in the source", ylabel="share translated exactly", ylim=(-0.04, 1.08))
    axes.set_title("How much one vector can hold")
    axes.legend(loc="center right")
    show.figure(
        drawn,
        "Share of exact translations by length: with one vector, it falls from most of the shortest to none of the "
        "longest, later after 1,000 steps than after 400; with attention, it stays near the top.",
    )


# %% [markdown]
# After 400 steps, one vector can carry most of the shortest sentences, but few others. Too little training might be the
# reason, so we train longer and look again. After 1,000 steps, nearly all of the shortest are right, but hardly any of
# the long ones are: the **bottleneck** has moved without disappearing. With attention, the same recurrent network
# overcomes it after only 400 steps, so the problem was the bottleneck, not the recurrence.
#
# On sentences as short as these, the recurrent network with attention learns about as well as the transformer. But it
# can't process all the words of a sentence at once, and that matters if you train on millions of long sentences, on
# hardware that is built to multiply large matrices (lesson 01).
#
# ### 6.2 Teacher forcing or not
#
# In training, a model reads the right words; in use, it reads its own. After each mistake, it reads a beginning that it has
# never seen in training: this is **exposure bias**. So why not let it read its own words in training too? **Scheduled
# sampling** (Bengio et al., 2015) chooses at random, at each position, what the model reads next: the right token or, with a
# probability called the *share*, the model's own likeliest token. With a share of 0, this is teacher forcing; with a share
# of 1, the model reads only its own tokens. You can let the share rise from 0 during training.
#
# The price is that the model must generate word by word while it learns. A recurrent network does that anyway, so we
# use one here.
#
# ### Exercise 10 · Scheduled sampling
# `encoder_decoder.scheduled_sampling` · 4 points · about 15 minutes
#
# Go through a batch of targets position by position. `step` is the model: it takes one token of each sentence and a
# state, and returns the scores for the next token, along with the next state. Collect the scores. After each step,
# choose what the model reads next in each sentence: its own likeliest token where `drawn` is below `share`, and the
# right token elsewhere.
#
# Shapes: `step(token, state)` takes int64 `[batch]` and `[batch, d_model]`, and returns `[batch, vocab_size]` and
# `[batch, d_model]`; `state` is the initial state; `target` is int64 `[batch, tokens]` and begins with `<s>`; `drawn`
# is `[batch, tokens - 1]`, numbers from 0 to 1; `share` is a float. The result is `[batch, tokens - 1, vocab_size]`.

# %% [markdown] tags=["fine-print"]
# We draw the random numbers for you, so that the check can compare results. Read padding after `<e>` like any other
# token: the loss leaves it out later. The check also compares the gradient with respect to `state`, which flows back
# through all steps.


# %% nbgrader={"grade": false, "grade_id": "encoder_decoder-scheduled_sampling-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def scheduled_sampling(step, state, target, drawn, share):
    """Scores at each position, where the model reads its own token next with probability `share`.

    step: function, (token int64 [batch], state [batch, d_model]) -> (scores [batch, vocab_size], next state)
    state: [batch, d_model], before the first token
    target: int64 [batch, tokens], from <s> on
    drawn: [batch, tokens - 1], numbers from 0 to 1
    share: float, from 0 to 1
    returns: [batch, tokens - 1, vocab_size]
    """
    ### BEGIN SOLUTION
    token = target[:, 0]
    scores = []
    for n in range(drawn.shape[1]):
        logits, state = step(token, state)
        scores.append(logits)
        own, right = logits.argmax(dim=-1), target[:, n + 1]
        token = torch.where(drawn[:, n] < share, own, right)
    return torch.stack(scores, dim=1)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Whatever the model reads next, keep the scores of every step: the loss compares them with the *right* tokens, so a
# model that has gone astray learns how to get back. If all sentences shared one draw, they would all read the right
# token at the same steps. `argmax` has no gradient and doesn't need one: the model learns through its scores and its
# states. If you detach the states, the model can't learn to remember anything for longer than one step.

# %% nbgrader={"grade": true, "grade_id": "encoder_decoder-scheduled_sampling-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("encoder_decoder.scheduled_sampling")
### BEGIN HIDDEN TESTS
check("encoder_decoder.scheduled_sampling", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Three copies of the small recurrent model, without attention, learn the short sentences in three ways: with teacher
# forcing, with a share that rises from 0 to 1, and with only their own words.
#
# We test each copy twice on held-out sentences: how many words does it get right after the *right* words, and how many
# after its *own*? **Guess first:** how far apart are the two numbers for each copy?

# %%
right_minus_own = {  # of 100 tokens, how many more are right
    "teacher forcing": None,
    "scheduled sampling": None,
    "its own words alone": None,
}


# %% tags=["demo"]
STEPS = 320


def sampled(model, source, target, share):
    """Scores at each position when the model reads its own words with this probability."""
    states, state = model.encode(source)

    def step(token, state):
        logits, state = model.decode(token.unsqueeze(1), source, states, state.unsqueeze(0))
        return logits[:, 0], state[0]

    drawn = torch.rand(len(target), target.shape[1] - 1, device=target.device)
    return scheduled_sampling(step, state[0], target, drawn, share)


def loss_with(shares):
    """The loss, with the next of these shares at each step."""
    shares = iter(shares)

    def loss(model, batch):
        targets = batch.target[:, 1:]
        tokens = targets != PADDING_ID
        return F.cross_entropy(sampled(model, batch.source, batch.target, next(shares))[tokens], targets[tokens])

    return loss


def accuracy(scores, targets):
    """The share of tokens that are right."""
    tokens = targets != PADDING_ID
    return (scores.argmax(dim=-1) == targets)[tokens].float().mean().item()


shorter = [example for example in training if len(example[1]) <= 9]
unseen = collate(examples([pair for pair in held_out if len(pair.target.split()) <= 7], english, german)).to(device)


def watched(loss_of):
    """Train a small model, and record its accuracy on the way, with right tokens before each and with its own."""
    torch.manual_seed(0)
    pupil, seen = RecurrentTranslator(), []

    @torch.no_grad()
    def look(step, _loss):
        targets = unseen.target[:, 1:]
        forced = accuracy(pupil(unseen.source, unseen.target[:, :-1]), targets)
        seen.append((step, forced, accuracy(sampled(pupil, unseen.source, unseen.target, 1.0), targets)))

    fit(pupil, shorter, loss_of, [5e-3] * STEPS, every=STEPS // 16, look=look)
    return seen


@show.when_ready
def right_words_or_its_own():
    drawn, frames = show.frames(3, width=9.0, height=3.1)
    ways = {
        "teacher forcing": plain_loss,  # a share of 0, all positions at once
        "scheduled sampling": loss_with(step / STEPS for step in range(STEPS)),
        "its own words alone": loss_with(itertools.repeat(1.0)),
    }
    for axes, (way, loss_of) in zip(frames, ways.items(), strict=True):
        steps, forced, free = zip(*watched(loss_of), strict=True)
        axes.plot(steps, forced, color=show.BLUE, label="right tokens before it")
        axes.plot(steps, free, color=show.ORANGE, label="its own before it")
        axes.set(title=way, xlabel="step", ylabel="share of tokens right", ylim=(0, 1))
        axes.legend(loc="lower right")
        print(f"{way:19}  right tokens before it {forced[-1]:.2f}   its own {free[-1]:.2f}")
        show.prediction(f"{way}, more of 100", right_minus_own[way], 100 * (forced[-1] - free[-1]), " tokens")
    show.figure(
        drawn,
        "Share of right tokens over training, in three panels: with right tokens before it, and with its own.",
    )


# %% [markdown]
# Compare the **gaps** between the two numbers, and then the orange curves, the ones that matter in practice.
#
# Exposure bias is not the only cause of a gap. One extra word shifts everything after it, so good words also count as
# wrong. And each right word that the model reads narrows down what can follow.
#
# A transformer that read its own words would lose the parallel training of section 2.1. So nearly all transformers are
# trained with teacher forcing, and live with the gap.
#
# ### 6.3 A wrapper that others maintain
#
# Libraries such as **Lightning** (`lightning`) do the work of our `fit`: the loop, the device, mixed precision,
# clipping and checkpoints. They also add logging and multi-GPU training. You write the model and the loss of one step,
# and choose the optimizer. If Lightning is installed, the next cell trains your model with it for a few steps.


# %% tags=["demo"]
@show.when_ready
def the_same_model_under_lightning():
    model = EncoderDecoder(len(english), len(german))
    before = translation_loss(model, collate(training[:64])).item()
    if importlib.util.find_spec("lightning") is None:
        print(f"Lightning is not installed here, and nothing below needs it. (Loss before any step: {before:.2f})")
        return
    lightning = importlib.import_module("lightning")

    class UnderLightning(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = model

        def training_step(self, batch, _number):
            return translation_loss(self.model, batch)

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters(), lr=1e-3, betas=(0.9, 0.98), eps=1e-9)

    trainer = lightning.Trainer(
        max_steps=20,
        gradient_clip_val=1.0,
        devices=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    loader = DataLoader(training, batch_size=64, shuffle=True, collate_fn=collate)
    trainer.fit(UnderLightning(), loader)
    after = translation_loss(model.cpu().eval(), collate(training[:64])).item()
    print(f"under Lightning, 20 steps: loss {before:.2f} → {after:.2f}")


# %% [markdown]
# ## Stretch · Without the warm-up
#
# Ungraded. In section 5.2, replace the schedule with a constant rate: first the schedule's peak rate, then a tenth of
# it, and then three times the peak rate. Before each run, guess the loss after 100 and after 600 steps. Then use the
# pre-norm of lesson 04 in your decoder block (put the norm before each sublayer, and one more norm at the very end),
# and train again with three times the peak rate. Lesson 12 comes back to what you see here.
#
# ## Glossary
#
# - **Encoder-decoder**: a model in which one stack reads a source, and another generates a target while looking at the
#   source.
# - **Memory**: the encoder's output, a vector for each source word, which every cross-attention reads.
# - **Cross-attention**: attention with queries from the target, and keys and values from the source.
# - **Shifted right**: the decoder's input, the target moved right by one position, so that it starts with `<s>`.
# - **Teacher forcing**: training with the right words before each position, not the model's own.
# - **Scheduled sampling**: training in which the model reads its own token with some probability.
# - **Exposure bias**: the mismatch that arises when a model trained only on the right words must later read its own.
# - **Chain rule**: a sentence's probability is the product of its words' probabilities, each given the words before it.
# - **Negative log-likelihood** (NLL): the mean of $-\ln p$ over the right words.
# - **Perplexity** (per token): $e^{\text{NLL}}$, the number of tokens that the model seems to choose from.
# - **Cross-entropy**: $-\sum q \ln p$, for a target distribution $q$ and a prediction $p$. If $q$ is 1 for one word,
#   this is the NLL.
# - **Label smoothing**: giving a share of the target's probability to the other words.
# - **Gradient clipping**: scaling down all gradients together if their norm is above a limit.
# - **Adam**: gradient descent in which each weight's mean gradient is divided by the square root of its mean squared
#   gradient.
# - **Warm-up**: the first steps of training, during which the learning rate rises from nearly 0.
# - **Recurrent network**: a network that reads word by word, and computes each state from the previous one.
# - **Bottleneck**: the single vector between a recurrent encoder and decoder without attention.
# - **Collate function**: a function that turns examples of different lengths into one padded batch.
# - **Mixed precision**: 16-bit products with 32-bit weights.
# - **Greedy decoding**: choosing the most probable word at each position.

# %% [markdown]
# ## What you have now
#
# You have written and trained a transformer that translates sentences of a kind it has never seen. But it lacks
# patience: it takes the likeliest word at once, never looks back, and recomputes everything for each word. In the next
# lesson you search for better translations, sample surprising ones, and generate many times faster.
