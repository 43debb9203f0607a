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
# # Lesson 07 · GPT
#
# The fridge opens. Every cat in the house knows what comes next. They have watched ten thousand mornings, each one a
# small exam: *what happens now?*
#
# **GPT** learns the same way. It reads text and predicts the next token at every position. It doesn't need labels or a
# teacher, and yet it picks up grammar and some knowledge of the world. The models that everybody talks about all began
# this way.
#
# In this lesson, you will build a GPT from your blocks, train it, catch it cheating, let it write, fine-tune it for
# another task, and load GPT-2's own weights into it.
#
# | | you will write | points | minutes |
# |---|---|---|---|
# | 1 | windows of a text, with their targets | 2 | 8 |
# | 2 | scores for all tokens, from the embedding itself | 1 | 6 |
# | 3 | a causal language model | 5 | 25 |
# | 4 | a prediction: the loss without a mask | 1 | 6 |
# | 5 | a test for leaks | 4 | 18 |
# | 6 | writing | 3 | 15 |
# | 7 | the loss of fine-tuning | 2 | 8 |
# | 8 | GPT-2's weights in your own model | 4 | 20 |
# | 9 | in your own words | 2 | 12 |
#
# Stuck? Each call to `hint("gpt.training_windows")` opens another hint. Once you have tried, `solution(...)` shows the
# answer and explains it; `progress()` shows how far you have come.
#
# `packed_mask`, `LearnedPositions` and the parts of the block come from earlier lessons: your own if they have passed
# their checks, otherwise the library's. The first cell prints which ones you get. The checks don't use them.

# %% [markdown] tags=["fine-print"]
# Results have the same dtype as the inputs; checks try float32 and float64.

# %%
import copy
import math
import random
import tempfile
import textwrap
import time
from functools import partial
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

from course_lib import show
from course_lib.checking import case, check, hint, progress, solution
from course_lib.hooks import record_attention
from course_lib.masking import causal_mask
from course_lib.mine import answer
from course_lib.toys.grammar import is_english, log_probability, random_sentence
from course_lib.toys.lexicon import LIVING, THINGS
from course_lib.training.progress import track

show.use_style()
torch.set_num_threads(1)  # matrices this small don't benefit from a second one
torch.set_printoptions(precision=4, sci_mode=False)
device = "cuda" if torch.cuda.is_available() else "cpu"

packed_mask, LearnedPositions = answer("masking.packed_mask"), answer("positions.learned_positions")
MultiHeadAttention, LayerNorm = answer("heads_and_blocks.multi_head_attention"), answer("heads_and_blocks.layer_norm")
AddAndNorm, FeedForward = answer("heads_and_blocks.add_and_norm"), answer("heads_and_blocks.feed_forward")
EncoderBlock = answer("heads_and_blocks.encoder_block")

# %% [markdown]
# ## 1. Every word is a question
#
# A **language model** assigns every word a probability, given the words before it: $P(w \mid \text{context})$. By the
# chain rule, it also assigns a whole text a probability:
#
# $$P(\textit{I saw the dog}) = P(\textit{I})\; P(\textit{saw} \mid \textit{I})\; P(\textit{the} \mid \textit{I saw})\;
#   P(\textit{dog} \mid \textit{I saw the}) .$$
#
# How many training examples are in *I saw the dog running*? Four: every word except the first is the answer to a
# question, and the words before it are the question.

# %%
sentence = "I saw the dog running".split()

# %% tags=["demo"]
steps = len(sentence) - 1
shades = torch.zeros(steps, steps + 1)
for question in range(steps):
    shades[question, : question + 1] = 0.3
    shades[question, question + 1] = 1.0
show.matrices(
    show.Panel(
        "pale: input, dark: target",
        shades,
        [f"question {question + 1}" for question in range(steps)],
        [f"token {index}" for index in range(steps + 1)],
        texts=[sentence[: question + 2] + [""] * (steps - question - 1) for question in range(steps)],
    ),
    alt="A staircase: the first question is “I”, with the answer “saw”; the last is “I saw the dog”, with the answer "
    "“running”.",
)

# %% [markdown]
# A transformer can answer all four at once: under a causal mask, position $t$ has read only the tokens up to $t$. So
# the inputs are the sentence without its last token, which has no successor. The targets are the sentence without its
# first token, which the model never predicts. They are the same tokens, **shifted by one**.
#
# In lesson 05, `shift_right` did the same to the German half of a sentence pair. A language model's text has no second
# half and no `<s>`: it is one long stream, and the model reads a window cut from anywhere in it. The largest number of
# tokens that the model can read at once is its **context length**. The stream continues after the window, so even the
# last token of a window has a token after it.

# %% [markdown] tags=["slides"]
# The example sentence is from S0. S0 also warns about the word *batch*: several questions from one sentence are *not* a
# batch, but several sentences are.

# %% [markdown]
# ### Exercise 1 · Training windows
# `gpt.training_windows` · 2 points · about 8 minutes
#
# Cut windows out of a stream, and return what the model reads in each of them and what it should predict.
#
# Shapes: `stream` is an integer tensor `[tokens]`, `starts` is an integer tensor `[batch]` with the position of each
# window's first token, and `context_length` is the number of tokens in a window. Return a tuple of two tensors, both
# `[batch, context_length]`, inputs first (`return inputs, targets`).

# %% [markdown] tags=["fine-print"]
# Every start leaves room for `context_length + 1` tokens.


# %% nbgrader={"grade": false, "grade_id": "gpt-training_windows-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def training_windows(stream, starts, context_length):
    """What a language model reads, and at each position the token that comes next.

    stream: int64 [tokens], a text
    starts: int64 [batch], where each window begins
    context_length: int, tokens that the model reads at once
    returns: inputs and targets, both int64 [batch, context_length]
    """
    ### BEGIN SOLUTION
    windows = stream[starts.unsqueeze(1) + torch.arange(context_length + 1, device=starts.device)]
    return windows[:, :-1], windows[:, 1:]
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# A window of context_length + 1 tokens contains context_length questions with their answers. Adding a column of starts
# and a row of offsets gives the positions of all windows at once. Forgetting the shift is the costly mistake, because
# you don't get an error: the model learns to copy its input, the loss falls to nearly 0, and the text it writes repeats
# one word forever.

# %% nbgrader={"grade": true, "grade_id": "gpt-training_windows-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("gpt.training_windows")
### BEGIN HIDDEN TESTS
check("gpt.training_windows", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ### 1.1 Many documents, one stream
#
# A real corpus is not one text but millions of **documents**: articles, e-mails, programs. Padding each document to the
# context length would waste most of the computation. So training programs **pack** them: one document after another,
# each ending with an end token (GPT-2's is `<|endoftext|>`), until a row is full.
#
# Under a plain causal mask, the second document of a row also attends to the first, although the two are unrelated.
# Many programs live with that. Others prevent it with a mask, as Llama 3 did (Grattafiori et al., 2024, section 3.2):
# each document is then processed exactly as if it had the row to itself. (Learned positions must also restart in each
# document.)
#
# You have already written that mask: `packed_mask` in lesson 02. *Exactly as if it had the row to itself*? Test it. One
# of your attention modules reads two documents packed into one row, first under your mask and then under a plain causal
# one. Finally, it reads the second document alone.


# %% tags=["demo"]
@show.when_ready
def packed_and_alone():
    torch.manual_seed(0)
    row, end = torch.tensor([[3, 1, 4, 9, 2, 7, 1, 8]]), 9
    x, read = torch.randn(1, 8, 16), MultiHeadAttention(16, 4)
    with torch.no_grad():
        alone = read(x[:, 4:], x[:, 4:], causal_mask(4).unsqueeze(0))
        for name, mask in (("your mask", packed_mask(row, end)), ("a causal mask", causal_mask(8).unsqueeze(0))):
            difference = (read(x, x, mask)[:, 4:] - alone).abs().max().item()
            print(f"{name}: the second document differs from itself alone by {difference:.0e}")


# %% [markdown]
# ## 2. A text to read
#
# GPT-1 read seven thousand books, and GPT-2 read forty gigabytes of text from the internet (Radford et al., 2018,
# 2019). We use a language so small that a model learns it in seconds on a laptop: the English half of the course's toy
# grammar. Six thousand sentences, each ending in a period, make one long stream of tokens. (We don't mask documents
# here.)

# %%
drawing = random.Random(7)
sentences = [random_sentence(drawing) for _ in range(6000)]
words_of = [[*one.in_english(), "."] for one in sentences]
vocabulary = sorted({token for tokens in words_of for token in tokens})
id_of = {token: number for number, token in enumerate(vocabulary)}


def encode(tokens):
    """Tokens to ids."""
    return torch.tensor([id_of[token] for token in tokens])


def decode(ids):
    """Ids to text."""
    return " ".join(vocabulary[number] for number in ids.tolist())


training_tokens, held_out_tokens = words_of[:5400], words_of[5400:]
training_text = encode([token for tokens in training_tokens for token in tokens])
held_out_text = encode([token for tokens in held_out_tokens for token in tokens])

print(
    f"{len(vocabulary)} tokens in the vocabulary; {len(training_text)} tokens to learn from, {len(held_out_text)} held out"
)
print(decode(training_text[:40]), "...")

# %% [markdown]
# Before you train anything, ask what you can hope for. A model that knows nothing gives all words the same probability.
# Its loss, the mean of $-\log P(\text{next word})$, is the logarithm of the vocabulary size.
#
# Even the best model can't know *which* noun follows *the old*: the grammar rolls dice. But here we know the dice, so
# we can compute each sentence's true probability, and from it the lowest loss that an honest model can reach. For real
# languages this number is unknown.

# %%
knows_nothing = math.log(len(vocabulary))
held_out_sentences = sentences[5400:]
best_possible = -sum(map(log_probability, held_out_sentences)) / len(held_out_text)
print(f"a model that knows nothing: {knows_nothing:.2f} nats per token")
print(f"a model that knows the grammar: {best_possible:.2f} nats per token")

# %% [markdown]
# Keep the second number in mind: it is a floor. **On new text, a loss below it isn't talent; it's a leak.**
#
# ## 3. One loss for a whole batch
#
# The log-softmax of the model's scores gives a log-probability for every token in the vocabulary, at every position of
# every text: `[batch, tokens, vocab_size]`. The targets are `[batch, tokens]`. PyTorch's `nn.NLLLoss` picks the
# target's log-probability, flips its sign and takes the mean. But it expects the classes in dimension 1: `[items,
# classes]` and `[items]`.
#
# So we **collapse** the first two dimensions: all positions of all texts, one after another, `[batch * tokens,
# vocab_size]`. The loss doesn't care which text a question came from. Here are two texts of three positions each, with
# the probabilities of five words shown as shades:

# %% tags=["demo"]
shaded = torch.softmax(2 * torch.cos(torch.arange(30.0)), dim=0).reshape(2, 3, 5) * 6
shaded = shaded / shaded.sum(dim=-1, keepdim=True)
few = ["I", "saw", "the", "dog", "."]
show.matrices(
    *(show.Panel(f"text {text}", shaded[text], [f"position {t}" for t in range(3)], few) for text in range(2)),
    show.Panel(
        "collapsed",
        shaded.flatten(0, 1),
        [f"text {text}, position {t}" for text in range(2) for t in range(3)],
        few,
    ),
    alt="Two matrices of three rows each, and a third matrix with the rows of the first above those of the second.",
)

# %% [markdown]
# Keep the rows intact: `reshape` cuts the numbers into *any* shape you ask for, and doesn't complain if it tears the
# rows apart.


# %%
def lm_loss(logits, targets):
    """The mean negative log-likelihood of all targets of a batch; cross_entropy takes the log-softmax first."""
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


torch.manual_seed(0)
few_logits, few_targets = torch.randn(2, 3, 5), torch.tensor([[1, 2, 3], [2, 3, 4]])
torn = F.nll_loss(few_logits.log_softmax(-1).reshape(2, 5, 3), few_targets)
print(f"collapsed: {lm_loss(few_logits, few_targets):.4f}   transposed: ", end="")
print(f"{F.cross_entropy(few_logits.transpose(1, 2), few_targets):.4f}   reshaped to [2, 5, 3]: {torn:.4f}")

# %% [markdown]
# Transposing moves the classes to dimension 1 and keeps every row together. Reshaping gives the same shape but tears
# the rows apart, and the wrong loss looks just as plausible.

# %% [markdown] tags=["slides"]
# S0 collapses the batch for `NLLLoss` in the same way.

# %% [markdown]
# ## 4. From a vector to a word
#
# The transformer computes a vector for each position, such as $h_i$, the contextual embedding of *dog* in
# *I saw the dog*. How do we turn it into probabilities for the next token? Ask how well each token in the vocabulary
# fits: take the dot product of $h_i$ with the token's row of a matrix $W$, then a softmax over all tokens.
#
# $$P(w \mid \text{context}) = \frac{\exp(\mathbf{w} \cdot \mathbf{h}_i)}{\sum_{w'} \exp(\mathbf{w}' \cdot \mathbf{h}_i)},
#   \qquad\text{for all tokens at once}\qquad \operatorname{softmax}(W \mathbf{h}_i) .$$
#
# $W$ has a vector for each token. We already have such a matrix: the embedding. GPT uses one matrix for both the
# embedding and the output layer, which is called **weight tying**. Press and Wolf (2017) found that it makes language
# models better. It also makes them smaller: GPT-2 saves tens of millions of parameters.

# %% [markdown] tags=["slides"]
# S0 shows this softmax, and says in passing that the rows of $W$ **are word embeddings**.

# %% [markdown]
# ### Exercise 2 · Tied logits
# `gpt.tied_logits` · 1 point · about 6 minutes
#
# For each state, compute the scores of all tokens before the softmax: the **logits** $W \mathbf{h}$.
#
# Shapes: `states` is `[..., d_model]`, `embedding` is `[vocab_size, d_model]`, and the result is `[..., vocab_size]`.

# %% [markdown] tags=["fine-print"]
# Gradients are compared too.


# %% nbgrader={"grade": false, "grade_id": "gpt-tied_logits-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def tied_logits(states, embedding):
    """A score for each token, given each state.

    states: [..., d_model]
    embedding: [vocab_size, d_model]
    returns: [..., vocab_size]
    """
    ### BEGIN SOLUTION
    return states @ embedding.T
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Each row of the embedding is a token's vector, so comparing a state with all rows shows which token it resembles most.
# Using the same table twice saves `vocab_size * d_model` parameters, about a third of the smallest GPT-2, and gives rare
# words gradients from both uses. You don't need attention's scaling here: the model learns the size of its logits itself. If
# you detach the table the second time you use it, it learns only from the first.

# %% nbgrader={"grade": true, "grade_id": "gpt-tied_logits-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("gpt.tied_logits")
### BEGIN HIDDEN TESTS
check("gpt.tied_logits", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ## 5. Only a decoder
#
# The original transformer translates: an encoder reads one language, a decoder writes the other, with cross-attention
# between the two. What do you need if there is only one language?
#
# Liu et al. (2018, section 4.2.3) had a suspicion: if both sides are in the same language, the encoder and the decoder
# learn the same things about it twice. So they dropped the encoder. Input and output become **one sequence** with a
# separator between them, read by one stack of blocks under one causal mask: a **decoder-only** transformer. Is anything
# lost? Write source and target on one line and see which tokens may attend to which. (Ours are in two languages, but
# the triangle is the same.)

# %% [markdown] tags=["slides"]
# S2 mentions the same suspicion, and calls this transformer **T-D**.


# %% tags=["demo"]
def one_triangle():
    line = ["the", "cat", "danced", "|", "die", "Katze", "tanzte"]
    regions = {"encoder": [], "cross-attention": [], "decoder": []}
    for query, key in causal_mask(len(line)).nonzero().tolist():
        regions["encoder" if query < 4 else "cross-attention" if key < 4 else "decoder"].append((query, key))
    drawn, [axes] = show.frames(width=5.6, height=4.4)
    for (name, cells), colour in zip(regions.items(), (show.ORANGE, show.GREEN, show.BLUE), strict=True):
        queries, keys = zip(*cells, strict=True)
        axes.barh(queries, 0.94, left=[key - 0.47 for key in keys], height=0.94, color=colour, alpha=0.75, label=name)
    axes.set_xticks(range(len(line)), labels=line)
    axes.set_yticks(range(len(line)), labels=line)
    axes.set(xlim=(-0.6, 6.6), ylim=(6.6, -0.6), title="One causal mask: query ↓  key →")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.legend(loc="upper right")
    show.figure(
        drawn,
        "One causal mask over both sentences in three colors: the encoder's triangle above left, the rectangle of "
        "cross-attention below left, the decoder's triangle below right.",
    )


one_triangle()

# %% [markdown]
# All three kinds of attention are still there, as parts of one triangle: orange is the encoder's self-attention, green is
# cross-attention, and blue is the decoder's self-attention. You lose only one thing: source tokens no longer see what is to
# their right. In return you save nearly half of the parameters, and the model can learn from *any* text, translated or not.
#
# Without cross-attention, a decoder block is masked self-attention and a feed-forward network. So a GPT block **is an
# encoder block with a causal mask**. You have everything you need:
#
# 1. the embeddings of the tokens, `[batch, tokens, d_model]`,
# 2. plus a learned vector for each position,
# 3. all blocks, under the causal mask,
# 4. a final layer norm (the blocks are pre-norm, so nothing else normalizes their sum),
# 5. logits from the embedding itself, `[batch, tokens, vocab_size]`.
#
# ### Exercise 3 · A causal language model
# `gpt.causal_language_model` · 5 points (3 for the values, 1 for the model without the mask, 1 for another device) · about 25 minutes
#
# The given constructor stores the modules you pass in. Write `forward`. Call each block as `block(x, mask)`; the mask
# is `[batch, tokens, tokens]`, where `batch` may be 1. Create it on the same device as the ids. With `causal=False`,
# don't use a mask: section 6 trains such a model.
#
# Shapes: `ids` is an integer tensor `[batch, tokens]`; `embedding` is an `nn.Embedding`; the result is `[batch, tokens,
# vocab_size]`.

# %% [markdown] tags=["fine-print"]
# Don't rename the parts: the check loads weights into them, and in section 9 you load GPT-2's weights. The check uses
# its own parts, and also compares the gradients of all parameters.


# %% nbgrader={"grade": false, "grade_id": "gpt-causal_language_model-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
class CausalLanguageModel(nn.Module):
    """GPT in its simplest form.

    embedding: nn.Embedding, a vector for each token
    positions: called as positions(x), returns x with the positions added
    blocks: list of blocks, each called as block(x, mask)
    norm: the final norm, called as norm(x)
    causal: bool, whether to use the mask
    """

    def __init__(self, embedding, positions, blocks, norm, causal=True):
        super().__init__()
        self.embedding = embedding
        self.positions = positions
        self.blocks = nn.ModuleList(blocks)
        self.norm = norm
        self.causal = causal

    def forward(self, ids):
        """Logits of the token that follows each token.

        ids: int64 [batch, tokens]
        returns: [batch, tokens, vocab_size]
        """
        ### BEGIN SOLUTION
        mask = causal_mask(ids.shape[1], device=ids.device).unsqueeze(0) if self.causal else None
        x = self.positions(self.embedding(ids))
        for block in self.blocks:
            x = block(x, mask)
        return self.norm(x) @ self.embedding.weight.T
        ### END SOLUTION


# %% [markdown] tags=["reason"]
# Give every block the mask: a single block without it leaks the next token to all the blocks after it, and the loss
# becomes too good to be true.
#
# Pre-norm blocks add to `x` without ever normalizing it, so you need one norm after the last block, or the logits grow
# with depth. Return the logits of all positions, because in training every position is a question. Don't apply a
# softmax, because the loss applies one.

# %% nbgrader={"grade": true, "grade_id": "gpt-causal_language_model-check", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check("gpt.causal_language_model")
### BEGIN HIDDEN TESTS
check("gpt.causal_language_model", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Now build the parts the way GPT-2 does: norms come before sublayers, GELU is the tanh approximation that GPT-2 was
# trained with, and embeddings start small. Models this small don't need dropout.

# %%
gelu_tanh = partial(F.gelu, approximate="tanh")


def language_model(vocab_size, context_length, d_model, heads, layers, causal=True):
    """A language model of your own parts."""

    def block():
        joins = [AddAndNorm(LayerNorm(d_model), nn.Identity(), norm_first=True) for _ in range(2)]
        network = FeedForward(d_model, 4 * d_model, gelu_tanh)
        return EncoderBlock(MultiHeadAttention(d_model, heads), joins[0], network, joins[1])

    embedding = nn.Embedding(vocab_size, d_model)
    nn.init.normal_(embedding.weight, std=0.02)
    positions = LearnedPositions(d_model, context_length)
    return CausalLanguageModel(embedding, positions, [block() for _ in range(layers)], LayerNorm(d_model), causal)


# %% [markdown]
# ### 5.1 The same model from PyTorch's parts
#
# Have you built the real thing? PyTorch has modules for it: `nn.TransformerEncoder`, a stack of
# `nn.TransformerEncoderLayer`s. (PyTorch calls it an *encoder*: without cross-attention, only the mask differs.) Their
# mask is either *additive*, 0 where a token may attend and $-\infty$ where it may not, as in lesson 02, or boolean,
# with True where it may **not** attend. They also expect the tokens in the **first** dimension unless you pass
# `batch_first=True`.

# %% [markdown] tags=["slides"]
# S0 builds the model from these modules. Here are two lines of the constructor, as the slide prints them:

# %% tags=["slides", "demo"]
try:
    layers = nn.TransformerEncoderLayer(d_model=64, nhead=4)
    transformer_encoder = nn.TransformerEncoder(encoder_layers, num_layers=2)
except NameError as error:
    print("NameError:", error)

# %% [markdown] tags=["slides"]
# The slide defines `layers` and then passes `encoder_layers`, which doesn't exist. Use one name for both, and it runs.

# %% [markdown]
# Now put the weights of *your* model into PyTorch's parts, and compare the logits:

# %%
CONTEXT, D_MODEL, HEADS, LAYERS = 24, 64, 4, 2
SIZES = {"vocab_size": len(vocabulary), "context_length": CONTEXT, "d_model": D_MODEL, "heads": HEADS, "layers": LAYERS}

NAMES = {
    "self_attn.out_proj.": "self_attention.W_o.",
    "linear1.": "feed_forward.W_1.",
    "linear2.": "feed_forward.W_2.",
    "norm1.": "add_and_norm_1.norm.",
    "norm2.": "add_and_norm_2.norm.",
}


def from_torchs_parts(model):
    """A function from ids to logits, built from nn.TransformerEncoder with the weights of `model`."""
    layer = nn.TransformerEncoderLayer(
        D_MODEL, HEADS, 4 * D_MODEL, dropout=0.0, activation=gelu_tanh, batch_first=True, norm_first=True
    )
    encoder = nn.TransformerEncoder(layer, LAYERS, norm=nn.LayerNorm(D_MODEL), enable_nested_tensor=False)
    weights = {f"norm.{kind}": value for kind, value in model.norm.state_dict().items()}
    for number, block in enumerate(model.blocks):
        ours = block.state_dict()
        for kind in ("weight", "bias"):
            weights |= {f"layers.{number}.{theirs}{kind}": ours[name + kind] for theirs, name in NAMES.items()}
            three = [ours[f"self_attention.W_{letter}.{kind}"] for letter in "qkv"]  # torch keeps them in one
            weights[f"layers.{number}.self_attn.in_proj_{kind}"] = torch.cat(three)
    encoder.load_state_dict(weights)
    encoder.to(model.embedding.weight.dtype)

    def logits(ids):
        tokens = ids.shape[1]
        mask = torch.triu(torch.ones(tokens, tokens) * float("-inf"), diagonal=1)
        x = model.embedding(ids) + model.positions.encoding[:tokens]
        return encoder(x, mask=mask.to(x.dtype)) @ model.embedding.weight.T

    return logits


# %% tags=["demo"]
@show.when_ready
def ours_beside_torchs():
    torch.manual_seed(0)
    model = language_model(**SIZES)
    ids = training_text[: 4 * CONTEXT].view(4, CONTEXT)
    for precision in (torch.float32, torch.float64):
        model.to(precision)
        ours, theirs = model(ids), from_torchs_parts(model)(ids)
        largest, difference = ours.abs().max().item(), (ours - theirs).abs().max().item()
        unit = torch.finfo(precision).eps * largest
        print(f"{precision}: largest logit {largest:.3f}, largest difference {difference:.0e}, last digit {unit:.0e}")


# %% [markdown]
# The logits are equal apart from rounding: in either precision the difference is at most a few units in the last digit.
# What you wrote *is* the model.
#
# ## 6. What would happen without the mask?
#
# In lesson 02 you caught a tiny attention module cheating on random symbols. Now take two whole language models of the
# same size, trained on the same text. The honest one has the mask. The other sees everything.
#
# Even after long training, the honest one still has a loss at every position: a large one at the first, where it knows
# little, and smaller ones later. What is the other model's loss, position by position?
#
# Decide before you scroll. Does it improve a little everywhere, because it sees more? Is it as good at every position
# as the honest model is at the last one, where it has seen everything? Does overfitting make it worse?

# %% [markdown] tags=["slides"]
# S0 asks the same question, and calls it "a small problem": without a mask the model would easily reach perfect
# accuracy.

# %% [markdown]
# ### Exercise 4 · Predict: the loss without a mask
# `gpt.loss_without_mask` · 1 point · about 6 minutes
#
# From the honest model's loss at each position, predict the loss of the model without a mask: the lowest loss it can
# reach, however long it trains.
#
# Shapes: `honest` is `[..., tokens]`, a loss for each position, and the result has the same shape.

# %% [markdown] tags=["fine-print"]
# Don't change `honest` itself: the plot below needs it.


# %% nbgrader={"grade": false, "grade_id": "gpt-loss_without_mask-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def loss_without_mask(honest):
    """The loss at each position of a model trained without a mask.

    honest: [..., tokens], the loss at each position of a model trained with one
    returns: [..., tokens]
    """
    ### BEGIN SOLUTION
    losses = torch.zeros_like(honest)
    losses[..., -1] = honest[..., -1]
    return losses
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Without a mask, every position sees the whole input, and the target of position i is the input of position i + 1: the
# model only has to copy it. So the loss can fall to 0 everywhere except at the last position, whose target isn't in the
# input. There the model sees exactly what an honest one sees and can't do any better. A training loss close to 0 on
# real text is a bug, and this shape gives it away.

# %% nbgrader={"grade": true, "grade_id": "gpt-loss_without_mask-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("gpt.loss_without_mask")
### BEGIN HIDDEN TESTS
check("gpt.loss_without_mask", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Now try it, with windows of 25 tokens. Train your model twice, with `causal=True` and `causal=False`, and test both on
# text that **neither has seen**. Training both takes about 15 seconds on a CPU.
#
# You have predicted the shape. **Now guess two numbers:** on new text, what is the honest model's mean loss, and what
# is the cheat's loss at the last position, where it can't copy?

# %%
my_losses = {"with the mask": None, "without, at the last position": None}  # in nats


# %% tags=["demo"]
MODELS = {}


def trained(causal=True):
    """A trained model and its losses; trained when first asked for, with the functions as they are then."""
    key = (CausalLanguageModel, training_windows, causal)
    if key not in MODELS:
        MODELS[key] = train(causal, steps=600 if causal else 250)
    return MODELS[key]


def train(causal, steps, batch=32, most=0.006):
    """A training run; if it would take more than ten minutes, it is stopped after its second step."""
    torch.manual_seed(0)
    model = language_model(**SIZES, causal=causal).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=most)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, most, total_steps=steps, pct_start=0.2)
    text = training_text.to(device)
    losses = []
    for step in track(range(steps), "with the mask" if causal else "without"):
        began = time.perf_counter()
        starts = torch.randint(len(text) - CONTEXT, (batch,), device=device)
        inputs, targets = training_windows(text, starts, CONTEXT)
        loss = lm_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.detach())
        took = time.perf_counter() - began
        if step == 1 and took * steps > 600:
            raise RuntimeError(
                f"one training step takes {took:.1f} s, all {steps} would take {took * steps / 60:.0f} minutes; "
                "compute with whole tensors instead of loops over tokens in training_windows and the model"
            )
    return model.eval(), torch.stack(losses).tolist()


def held_out_windows():
    text = held_out_text.to(device)
    return training_windows(text, torch.arange(0, len(text) - CONTEXT, CONTEXT, device=device), CONTEXT)


@torch.no_grad()
def loss_by_position(model):
    inputs, targets = held_out_windows()
    log_probs = torch.log_softmax(model(inputs), dim=-1)
    return -log_probs.gather(-1, targets.unsqueeze(-1)).squeeze(-1).mean(dim=0).cpu()


@show.when_ready
def the_loss_hits_zero():
    honest, honest_losses = trained()
    cheat, cheat_losses = trained(causal=False)
    by_position, by_position_cheat = loss_by_position(honest), loss_by_position(cheat)
    drawn, [left, right] = show.frames(2, width=10.4, height=3.7)
    left.plot(honest_losses, color=show.BLUE, label="with the mask")
    left.plot(cheat_losses, color=show.ORANGE, label="without")
    left.axhline(best_possible, color=show.GREY, linestyle=":")
    left.annotate(
        "an honest model can't do better", (600, best_possible), (0, -12), textcoords="offset points", ha="right"
    )
    left.set(xlabel="training step", ylabel="loss in nats", ylim=(0, 4.8), title="Training")
    left.legend()
    positions = range(1, CONTEXT + 1)
    right.plot(positions, by_position, "o-", ms=4, color=show.BLUE, label="with the mask")
    right.plot(positions, by_position_cheat, "o-", ms=4, color=show.ORANGE, label="without")
    right.plot(positions, loss_without_mask(by_position), "x", color=show.INK, label="your prediction")
    right.axhline(best_possible, color=show.GREY, linestyle=":")
    right.set(xlabel="position in the text", ylim=(-0.15, 4.8), title="On text never seen before")
    right.legend(loc=(0.1, 0.15))
    show.figure(
        drawn,
        "Left: with the mask the loss settles just above the best possible; without, it falls to nearly 0. Right: "
        "without the mask it is 0 at every position except the last.",
    )
    print(f"held-out loss: with the mask {by_position.mean():.3f}, best possible {best_possible:.3f}")
    print(
        f"without the mask: {by_position_cheat[:-1].mean():.3f} at all positions except the last, "
        f"{by_position_cheat[-1]:.3f} at the last"
    )
    found = {"with the mask": by_position.mean().item(), "without, at the last position": by_position_cheat[-1].item()}
    for name, guess in my_losses.items():
        show.prediction(name, guess, found[name], " nats")


# %% [markdown]
# **The loss is nearly zero, and the model is cheating.** Wherever it can copy the target, the loss *is* zero; all that
# remains comes from the last position. The mean is far below the floor, so something leaks. The same happens on new
# text, because copying works on any text. So this isn't overfitting, and a validation set won't reveal it. (The honest
# model's loss wobbles around the floor, with only about two hundred questions at each position, but its mean stays
# above it.)
#
# At the last position the cheat is *worse* than the honest model, though it could be just as good: only one target in
# 24 made it think, and it trained for fewer steps.
#
# How would you find such a leak in a thousand lines of code? **Change one token, and see which predictions move.** A
# prediction may depend only on the tokens up to its own position.
#
# In lesson 02, `leak_test` changed vectors, and said whether an output moved. A GPT reads ids, which you can't change
# just a little. And here you measure *how far* each prediction moves: that also shows what an honest model looks at.
#
# ### Exercise 5 · A test for leaks
# `gpt.influence` · 4 points · about 18 minutes
#
# Write this test. Run the model once on the text as it is. Then replace one token at a time with the next id in the
# vocabulary, `(ids[j] + 1) % vocab_size`, and measure how much every prediction moves: the largest absolute change in
# its logits.
#
# Shapes: `model` is a function from ids `[batch, tokens]` to logits `[batch, tokens, vocab_size]`, and `ids` is int64
# `[tokens]`. The result is `[tokens, tokens]`: the entry in row i and column j says how far the logits after token i
# move when you replace token j.

# %% [markdown] tags=["fine-print"]
# You may run the model on one text after another or on all of them in one batch. Don't change `ids` itself.


# %% nbgrader={"grade": false, "grade_id": "gpt-influence-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def influence(model, ids, vocab_size):
    """How far each prediction moves when each token is replaced.

    model: from ids [batch, tokens] to logits [batch, tokens, vocab_size]
    ids: int64 [tokens]
    vocab_size: int; token j becomes (ids[j] + 1) % vocab_size
    returns: [tokens, tokens], rows are predictions, columns the replaced tokens
    """
    ### BEGIN SOLUTION
    before = model(ids.unsqueeze(0))[0]
    columns = []
    for position in range(len(ids)):
        changed = ids.clone()
        changed[position] = (ids[position] + 1) % vocab_size
        moved = model(changed.unsqueeze(0))[0] - before
        columns.append(moved.abs().amax(dim=-1))
    return torch.stack(columns, dim=1)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The test treats the model as a black box, so it finds a leak wherever it is: a forgotten mask, a mask of the wrong
# shape, a norm over the tokens. Start each changed text from a fresh copy; otherwise the changes pile up, and every
# column also measures all earlier changes. The absolute value matters, since a logit that falls has moved too. In a
# causal model everything above the diagonal must be exactly 0.

# %% nbgrader={"grade": true, "grade_id": "gpt-influence-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("gpt.influence")
### BEGIN HIDDEN TESTS
check("gpt.influence", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Run your test on both models. The plot scales each row to sum to 1.


# %% tags=["demo"]
@show.when_ready
def a_test_for_leaks():
    tokens = ["the", "hungry", "cat", "saw", "a", "small", "mouse"]
    panels = []
    for name, causal in (("with the mask", True), ("without", False)):
        model, _losses = trained(causal)
        with torch.no_grad():
            moved = influence(model, encode(tokens).to(device), len(vocabulary)).cpu()
        print(f"{name}: the largest change above the diagonal is {moved.triu(1).max():.1g}")
        shares = moved / moved.sum(dim=-1, keepdim=True)
        panels.append(
            show.Panel(f"{name}: prediction ↓  changed token →", shares, [f"after {w}" for w in tokens], tokens)
        )
    show.matrices(
        *panels,
        alt="Left: a lower triangle, each prediction moves with the tokens up to its position. Right: a line above the "
        "diagonal, each prediction moves with the next token.",
    )


# %% [markdown]
# On the left you see a triangle: nothing moves above the diagonal. On the right each prediction depends almost entirely
# on the next token; only the last prediction has no next token to look at. Keep this test: it works on any language
# model.
#
# ## 7. Let it write
#
# A language model writes as in lesson 06: it reads the text so far, looks at the distribution **after the last word**,
# chooses a word, appends it, and reads again. What does our model expect after these beginnings?


# %% tags=["demo"]
@torch.no_grad()
def next_token_probabilities(model, tokens):
    return torch.softmax(model(encode(tokens).to(device).unsqueeze(0))[0, -1], dim=-1).cpu()


@show.when_ready
def what_comes_next():
    model, _losses = trained()
    beginnings = [". a hungry", ". these hungry", ". the king invited", ". the king slept"]
    distributions = {text.removeprefix(". "): next_token_probabilities(model, text.split()) for text in beginnings}
    best = [token for values in distributions.values() for token in values.topk(4).indices.tolist()]
    shown = list(dict.fromkeys(best))
    show.distributions(
        [vocabulary[token] for token in shown],
        {text: values[shown] for text, values in distributions.items()},
        alt="Next tokens: singular animals after a hungry, plural ones after these hungry, determiners after invited.",
    )


# %% [markdown]
# After *a hungry*, the model expects only animals and people in the singular; after *these hungry*, only those in the
# plural. *Invited* needs an object, so a determiner follows; after *slept* the sentence may end. Nobody told the model
# what a plural is.
#
# What did it look at to know that? Here are the attention weights of its heads. Each row is a token that looks back,
# and the triangle is your mask. Go to *hungry*, and find the heads that look at the determiner before it. Then put your
# own sentences into `YOURS`, and run the cell again.


# %% tags=["demo"]
YOURS = [". the king invited these hungry"]


@show.when_ready
def where_it_looks():
    model, _losses = trained()
    texts = []
    for text in (". a hungry", ". these hungry", *YOURS):
        if unknown := [token for token in text.split() if token not in id_of]:
            print(f"“{text}”: the model has never read {', '.join(unknown)}")
            continue
        with torch.no_grad(), record_attention(model) as weights:
            model(encode(text.split()).to(device).unsqueeze(0))
        texts.append(show.TextAttention(text.split(), torch.cat(weights).cpu()))
    show.heads(texts)


# %% [markdown]
# The simplest choice is the most probable word: greedy decoding. One thing is new: a text may outgrow the **context**.
# Our model has no learned vector for a 25th position, so it reads only the last `context_length` tokens.
#
# ### Exercise 6 · Writing
# `gpt.generate` · 3 points (2 for the values, 1 for long texts) · about 15 minutes
#
# Append `max_new_tokens` tokens to the prompt, each time the most probable one. `model` is a function from ids `[batch,
# tokens]` to logits `[batch, tokens, vocab_size]`, and can read at most `context_length` tokens.
#
# Shapes: `prompt` is an integer tensor `[tokens]`, and the result is `[tokens + max_new_tokens]`: the prompt followed by the
# new tokens.


# %% nbgrader={"grade": false, "grade_id": "gpt-generate-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def generate(model, prompt, max_new_tokens, context_length):
    """The prompt, repeatedly extended by the most probable next token.

    model: from ids [batch, tokens] to logits [batch, tokens, vocab_size]
    prompt: int64 [tokens], at least one
    max_new_tokens: int, how many to write
    context_length: int, the largest number of tokens that the model can read
    returns: int64 [tokens + max_new_tokens]
    """
    ### BEGIN SOLUTION
    ids = prompt
    for _ in range(max_new_tokens):
        logits = model(ids[-context_length:].unsqueeze(0))
        ids = torch.cat([ids, logits[0, -1:].argmax(dim=-1)])
    return ids
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Cut a new window in each round: the model forgets the tokens that drop out of it, but they stay in the text. If you
# kept the first tokens instead of the last, the model would answer the same question again and again. Only the last
# position's logits predict a token that isn't there yet. You can't run the model once and take several tokens from it:
# the second new token depends on the first.

# %% nbgrader={"grade": true, "grade_id": "gpt-generate-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("gpt.generate")
### BEGIN HIDDEN TESTS
check("gpt.generate", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def both_write():
    prompt = encode([".", "the", "hungry"]).to(device)
    for name, causal in (("with the mask", True), ("without", False)):
        model, _losses = trained(causal)
        with torch.no_grad():
            print(f"{name:14}{decode(generate(model, prompt, 40, CONTEXT))}\n")


# %% [markdown]
# The cheat can't copy the next token when it has to write it: a model with a loss of nearly 0 can't string three words
# together.
#
# The honest model writes well, but dully: because it always takes the most probable word, it soon goes in circles. So
# let it sample: draw each token with the probability that the model gives it. Then we can *grade* the author, because
# we can check whether the grammar allows each sentence. **Predict:** how many of a hundred sentences are right, with
# the mask and without?

# %%
right_of_100 = {"with the mask": None, "without": None}


# %% tags=["demo"]
@torch.no_grad()
def sampled_sentences(model, count, most=CONTEXT - 1):
    """Sentences drawn token by token, each from the period before it to its own."""
    torch.manual_seed(1)
    ids = torch.full((count, 1), id_of["."], device=device)
    for _ in range(most):
        probabilities = torch.softmax(model(ids)[:, -1], dim=-1)
        ids = torch.cat([ids, torch.multinomial(probabilities, 1)], dim=1)
    texts = [decode(row[1:]).split(" .")[0] for row in ids if id_of["."] in row[1:].tolist()]
    return [text.removesuffix(".").strip() for text in texts]


@show.when_ready
def the_author_graded():
    known = {" ".join(tokens[:-1]) for tokens in training_tokens}
    for name, causal in (("with the mask", True), ("without", False)):
        written = sampled_sentences(trained(causal)[0], 200)
        right = [text for text in written if is_english(text)]
        new = [text for text in right if text not in known]
        news = f", {len(new) / len(right):.0%} of these are new" if right else ""
        print(f"{name}: {len(right) / max(1, len(written)):.0%} of the sentences are right{news}")
        show.prediction(f"{name}, right of 100", right_of_100[name], 100 * len(right) / max(1, len(written)))
        for text in new[:3]:
            print("    ", text)
        for text in [text for text in written if causal and text not in right][:3]:
            print("  * ", text)


# %% [markdown]
# Most of the honest model's sentences are right, and nearly all of those are **new**: it hasn't memorized the text; it
# has learned the language. Stars mark its mistakes. What does it get wrong?
#
# Watch it write: choose a beginning, and roll the dice again. Then put your own beginnings into the last line of the
# cell, in lower case and with words that the model knows, and run the cell again.


# %% tags=["demo"]
@show.when_ready
def your_turn():
    model, _losses = trained()

    def go_on(text):
        tokens = text.split()
        unknown = [token for token in tokens if token not in id_of]
        if unknown or not tokens:
            return f"I know {len(vocabulary)} tokens, but not {', '.join(unknown) or 'an empty page'}."
        ids = encode([".", *tokens]).to(device)
        with torch.no_grad():
            for _ in range(30):
                probabilities = torch.softmax(model(ids[-CONTEXT:].unsqueeze(0))[0, -1], dim=-1)
                ids = torch.cat([ids, torch.multinomial(probabilities, 1)])
        return decode(ids[1:])

    torch.manual_seed(2)
    show.prompts(go_on, ["because the old queen", "sometimes"])


# %% [markdown]
# ## 8. GPT-1: what is it good for?
#
# In 2018 people wanted to classify texts, compare them, and answer questions. GPT-1 (Radford et al., 2018) was the
# first to show that a transformer language model is a great **starting point** for all of these: train it on text,
# which doesn't need labels, and then fine-tune it for the task. *GPT* stands for *generative pre-training*.
#
# ### 8.1 No training at all
#
# Sometimes you don't even have to fine-tune. A model that knows how probable a sentence is can already judge it
# **zero-shot**. GPT-1 (section 5) judged whether English sentences are acceptable by comparing their mean log-probability
# per token with a threshold. We do the same with held-out sentences and with a copy of each in which two neighboring words
# are swapped. **Guess first:** how often will the model be right? A coin toss is right half the time.

# %%
right_without_a_label = None  # in %


# %%
def spoiled(tokens, spoiling):
    """The tokens with two neighbors swapped, so that they are no longer a sentence of the grammar."""
    while True:
        changed = list(tokens)
        position = spoiling.randrange(len(tokens) - 2)  # the period stays
        changed[position], changed[position + 1] = changed[position + 1], changed[position]
        if not is_english(" ".join(changed[:-1])):
            return changed


# %% tags=["demo"]
@torch.no_grad()
def mean_log_probability(model, tokens):
    ids = encode([".", *tokens]).to(device)
    log_probs = torch.log_softmax(model(ids[:-1].unsqueeze(0))[0], dim=-1)
    return log_probs.gather(-1, ids[1:].unsqueeze(-1)).mean().item()


@show.when_ready
def zero_shot():
    model, _losses = trained()
    spoiling = random.Random(3)
    good_sentences = [tokens for tokens in held_out_tokens if 4 <= len(tokens) <= CONTEXT][:200]
    bad_sentences = [spoiled(tokens, spoiling) for tokens in good_sentences]
    good, bad = ([mean_log_probability(model, tokens) for tokens in some] for some in (good_sentences, bad_sentences))
    threshold = torch.tensor(good + bad).median().item()
    right = sum(score > threshold for score in good) + sum(score <= threshold for score in bad)
    drawn, [axes] = show.frames(height=3.2)
    edges = torch.linspace(min(bad), max(good), 40).tolist()
    axes.hist(bad, edges, color=show.ORANGE, alpha=0.75, label="two words swapped")
    axes.hist(good, edges, color=show.BLUE, alpha=0.75, label="unchanged")
    axes.axvline(threshold, color=show.INK, linestyle=":", label="median of all: the threshold")
    axes.set(
        xlabel="mean log-probability of a token", ylabel="sentences", title="Zero-shot: which sentences are acceptable?"
    )
    axes.legend(loc="upper left")
    show.figure(drawn, "Two histograms that hardly overlap: spoiled sentences are much less probable than good ones.")
    print(" ".join(good_sentences[1]), "→", " ".join(bad_sentences[1]))
    print(f"zero-shot accuracy: {right / (len(good) + len(bad)):.3f}, without a single label")
    show.prediction("right without a label", right_without_a_label, 100 * right / (len(good) + len(bad)), "%")


# %% [markdown]
# GPT-2's paper (Radford et al., 2019) made this its theme. *Without any training* on them, GPT-2 was the best language
# model on seven of eight data sets. It could also do some reading comprehension and question answering, but was far
# from the best.

# %% [markdown] tags=["slides"]
# S2 quotes these results. (S1 dates GPT-2 to 2018, but that was GPT-1: *Improving Language Understanding by Generative
# Pre-Training*. GPT-2's report, *Language Models are Unsupervised Multitask Learners*, is from **2019**. Both have
# Radford as their first author.)

# %% [markdown]
# GPT-3 added **few-shot** learning: put a handful of solved examples into the prompt, and the model continues in the
# same way, without any training. This is **in-context learning** (Brown et al., 2020), and it improves with model size.
# Can ours do it? Its simplest form is noticing a repetition: three random tokens, over and over. After the first round,
# you know what comes next.


# %% tags=["demo"]
@torch.no_grad()
def loss_by_round(model, first, sizes, count=200, rounds=5):
    """The mean loss of each round of three tokens that are drawn at random and repeated; `first` comes before them."""
    draws = torch.Generator().manual_seed(5)
    three = torch.randint(sizes["vocab_size"], (count, 3), generator=draws).to(first.device)
    ids = torch.cat([first.expand(count, 1), three.repeat(1, rounds)], dim=1)
    losses = F.cross_entropy(model(ids[:, :-1]).transpose(1, 2), ids[:, 1:], reduction="none")
    return losses.view(count, rounds, 3).mean(dim=(0, 2)).tolist()


@show.when_ready
def in_context():
    model, _losses = trained()
    losses = loss_by_round(model, encode(["."]).to(device), SIZES)
    print("loss in each round of a repetition:", " ".join(f"{loss:.2f}" for loss in losses), "nats per token")
    print(f"a uniform guess among all tokens costs {knows_nothing:.2f}")


# %% [markdown]
# No: the second round surprises our model as much as the first, and so does the fifth. Its training text never repeated
# three random words, so its two small blocks never needed to copy. Section 9.2 asks GPT-2 the same question.
#
# ### 8.2 Fine-tuning
#
# For other tasks you do need labels, but only a few. Here is GPT-1's recipe (Radford et al., 2018):
#
# - keep the whole model, and put **one linear layer** on top of the state of the last token (for us, the period at the
#   end);
# - train everything, for about **three epochs**;
# - keep the language model's loss as an **auxiliary loss**, weighted by $\lambda$ (0.5 in the paper):
#
# $$\text{loss} = \text{loss}_\text{task} + \lambda \cdot \text{loss}_\text{LM} .$$
#
# ### Exercise 7 · The loss of fine-tuning
# `gpt.fine_tuning_loss` · 2 points · about 8 minutes
#
# Return the mean cross-entropy of the labels, plus `weight` times the mean cross-entropy of all next tokens. You may
# use `F.cross_entropy`, which takes logits.
#
# Shapes: `class_logits` is `[batch, classes]`, `labels` is `[batch]`, `lm_logits` is `[batch, tokens, vocab_size]`,
# `targets` is `[batch, tokens]`, and `weight` is a number; the result is a tensor without dimensions.

# %% [markdown] tags=["fine-print"]
# Gradients are compared too.


# %% nbgrader={"grade": false, "grade_id": "gpt-fine_tuning_loss-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def fine_tuning_loss(class_logits, labels, lm_logits, targets, weight):
    """The loss of the labels, and the weighted loss of language modeling.

    class_logits: [batch, classes]
    labels: int64 [batch]
    lm_logits: [batch, tokens, vocab_size]
    targets: int64 [batch, tokens]
    weight: float, of the auxiliary loss
    returns: a single number, []
    """
    ### BEGIN SOLUTION
    task = F.cross_entropy(class_logits, labels)
    auxiliary = F.cross_entropy(lm_logits.flatten(0, 1), targets.flatten())
    return task + weight * auxiliary
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The auxiliary loss reminds the model of what it already knew. Both losses are means, so the weight doesn't depend on
# the length of the texts; a sum over tokens would drown out the task loss. Weight only the auxiliary loss. Weighting
# both, or mixing them as w and 1 - w, changes how fast the model learns the task itself. `F.cross_entropy` takes
# logits: if you put a softmax before it, you apply the softmax twice.

# %% nbgrader={"grade": true, "grade_id": "gpt-fine_tuning_loss-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("gpt.fine_tuning_loss")
### BEGIN HIDDEN TESTS
check("gpt.fine_tuning_loss", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Our task: is the last noun of a sentence a **thing** (*door*, *apple*) or a **living being** (*queen*, *pig*)? To make
# it hard, only **half of the nouns** ever appear with a label. We test on the other half.
#
# We compare three candidates: a new model trained from scratch, the pre-trained one, and the pre-trained one with the
# auxiliary loss. All sentences have eight words, so they don't need padding.

# %%
THINGS_AND_BEINGS = {
    form: int(noun in THINGS) for noun in (*THINGS, *LIVING) for form in (noun.english, noun.english_plural)
}
WITH_LABELS = {form for noun in (*THINGS[::2], *LIVING[::2]) for form in (noun.english, noun.english_plural)}


def labeled(count, with_labels, seed):
    """Eight-token sentences that end in a noun, half of them in a thing: ids [count, 10], labels [count]."""
    drawing = random.Random(seed)
    found = {0: [], 1: []}
    while min(len(found[0]), len(found[1])) < count // 2:
        tokens = random_sentence(drawing).in_english()
        if len(tokens) == 8 and tokens[-1] in THINGS_AND_BEINGS and (tokens[-1] in WITH_LABELS) == with_labels:
            found[THINGS_AND_BEINGS[tokens[-1]]].append(encode([".", *tokens, "."]))
    ids = torch.stack([*found[0][: count // 2], *found[1][: count // 2]])
    return ids, torch.arange(2).repeat_interleave(count // 2)


# %% [markdown]
# **Predict** how often each candidate is right about the *other* nouns after three epochs.

# %%
right_on_other_tokens = {"new": None, "pre-trained": None, "pre-trained, auxiliary loss": None}  # in %

# %% tags=["demo"]
CANDIDATES = {"new": (False, 0.0), "pre-trained": (True, 0.0), "pre-trained, auxiliary loss": (True, 0.5)}
EPOCHS, SEEDS = 3, 3


def states_and_logits(model, ids):
    """What passes through the final norm, caught on the way, and the logits."""
    caught = []
    handle = model.norm.register_forward_hook(lambda _module, _inputs, output: caught.append(output))
    logits = model(ids)
    handle.remove()
    return caught[0], logits


def fine_tuned(pre_trained, weight, seed, training_set, test_sets):
    """What `judged` finds before the first epoch and after each one."""
    torch.manual_seed(seed)
    model = copy.deepcopy(trained()[0]) if pre_trained else language_model(**SIZES).to(device)
    head = nn.Linear(D_MODEL, 2).to(device)
    optimizer = torch.optim.AdamW([*model.parameters(), *head.parameters()], lr=0.001)
    ids, labels = (part.to(device) for part in training_set)
    history = [judged(model, head, test_sets)]
    for _ in range(EPOCHS):
        for chosen in torch.randperm(len(ids)).split(16):
            states, logits = states_and_logits(model, ids[chosen])
            inputs_logits, targets = logits[:, :-1], ids[chosen][:, 1:]
            loss = fine_tuning_loss(head(states[:, -1]), labels[chosen], inputs_logits, targets, weight)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        history.append(judged(model, head, test_sets))
    return history


@torch.no_grad()
def judged(model, head, test_sets):
    """The accuracy on each test set, and the loss as a language model."""
    found = {}
    for name, (ids, labels) in test_sets.items():
        states, _logits = states_and_logits(model, ids.to(device))
        found[name] = (head(states[:, -1]).argmax(dim=-1).cpu() == labels).float().mean().item()
    return {**found, "language model": loss_by_position(model).mean().item()}


@show.when_ready
def three_candidates():
    training_set = labeled(512, with_labels=True, seed=11)
    test_sets = {"labeled tokens": labeled(300, True, seed=12), "other tokens": labeled(300, False, seed=13)}
    print("living:", decode(training_set[0][0]))
    print("thing: ", decode(training_set[0][-1]))
    histories = {
        name: [fine_tuned(*what, seed, training_set, test_sets) for seed in track(range(SEEDS), name)]
        for name, what in CANDIDATES.items()
    }

    def mean(name, what, epoch):
        return sum(history[epoch][what] for history in histories[name]) / SEEDS

    drawn, panels = show.frames(3, width=11.4, height=3.4)
    titles = ("accuracy, labeled tokens", "accuracy, other tokens", "loss as a language model")
    for panel, what, title in zip(panels, [*test_sets, "language model"], titles, strict=True):
        for name, colour in zip(CANDIDATES, (show.GREY, show.BLUE, show.ORANGE), strict=True):
            panel.plot([mean(name, what, epoch) for epoch in range(EPOCHS + 1)], "o-", ms=4, color=colour, label=name)
        panel.set(xlabel="epoch", title=title, xticks=range(EPOCHS + 1))
        panel.set_ylim((0.3, 1.04) if "accuracy" in title else (0, 5.6))
    panels[2].legend(loc="lower right")
    show.figure(
        drawn,
        "Three plots over three epochs. All candidates learn the labeled tokens. On other tokens only the pre-trained "
        "models are right. Meanwhile they get worse as language models, less so with the auxiliary loss.",
    )
    for name in CANDIDATES:
        for epoch in (1, EPOCHS):
            numbers = ", ".join(f"{what} {mean(name, what, epoch):.2f}" for what in (*test_sets, "language model"))
            print(f"{name}, after epoch {epoch}: {numbers}")
    for name, guess in right_on_other_tokens.items():
        show.prediction(f"{name}, other tokens", guess, 100 * mean(name, "other tokens", EPOCHS), "%")


# %% [markdown]
# Each point is the mean of three runs.
#
# **Pre-training pays off.** All three learn the labeled nouns, and the new model learns them as fast as the pre-trained
# ones do. But it has no idea about the other nouns, while the pre-trained models simply know them: they have read
# thousands of sentences that use *doors* and *apples* in the same way. Labels for half of the nouns were enough.
#
# **Fine-tuning forgets.** Meanwhile the language-modeling loss rises: a model forgets what it doesn't practice. With
# the auxiliary loss it rises less. (This held for three of four seeds; with the fourth, neither rose much.)
#
# **Does the auxiliary loss help the task?** GPT-1's paper says that it speeds up convergence (section 3.2). Compare the
# two pre-trained candidates after the first epoch and after the last: you won't see a speedup here. The paper's own
# ablation (section 5) is cautious too: the auxiliary loss helped on the larger data sets, but not on the smaller ones.
# Our data set is small.

# %% [markdown] tags=["slides"]
# S2 repeats the claim that the auxiliary loss speeds up convergence.

# %% [markdown]
# ## 9. GPT-2
#
# GPT-1 had 12 layers, a d_model of 768 and a context length of 512. GPT-2 is the same model, only larger, with small
# changes: the norms before the sublayers and one more at the end, as in your model; smaller initial weights on the
# residual path; a context length of 1024 and a vocabulary of 50,257 subword tokens. Table 2 of its report lists four
# sizes:
#
# | parameters, as printed | layers | d_model |
# |---|---|---|
# | 117M | 12 | 768 |
# | 345M | 24 | 1024 |
# | 762M | 36 | 1280 |
# | 1542M | 48 | 1600 |
#
# ### 9.1 How large is GPT-2?
#
# Build your own model in these sizes, and count its parameters. On torch's device `meta` a tensor has a shape but no
# numbers, so even the largest model takes only a second to build. (Lesson 04 counted a block's parameters with a
# formula: about $12\, d_\text{model}^2$, four for attention and eight for the feed-forward network.)
#
# The printed numbers are all wrong. The notes in the authors' code say that this was *due to an error*, but not what the
# error was. Try GPT-2's blocks with the vocabulary of **GPT-1**, 40,478 subword tokens. **Guess first:** what share of the
# parameters is the embedding, in the smallest GPT-2 and in the largest?

# %% [markdown] tags=["slides"]
# S3 prints the same four numbers as the report.

# %%
share_of_the_embedding = {"smallest": None, "largest": None}  # in %


# %% tags=["demo"]
PRINTED = {12: 117, 24: 345, 36: 762, 48: 1542}
D_MODELS = {12: 768, 24: 1024, 36: 1280, 48: 1600}


def counted(vocab_size, d_model, layers):
    """The parameters of your own model in these sizes, and those of its embedding, attention and feed-forward parts."""
    with torch.device("meta"):
        sizes = {
            name: parameter.numel()
            for name, parameter in language_model(vocab_size, 1024, d_model, 8, layers).named_parameters()
        }
    parts = [
        sum(size for name, size in sizes.items() if part in name) for part in ("embedding", "attention", "feed_forward")
    ]
    return sum(sizes.values()), parts


@show.when_ready
def four_sizes():
    print("layers  printed   as counted          with GPT-1's vocabulary")
    parts = {"embedding": [], "attention": [], "feed-forward": []}
    shares = []
    for layers, d_model in D_MODELS.items():
        right, found = counted(50_257, d_model, layers)
        with_gpt_1s, _parts = counted(40_478, d_model, layers)
        print(f"{layers:6} {PRINTED[layers]:6}M  {right:13,}  {with_gpt_1s:17,} = {with_gpt_1s / 1e6:.0f}M")
        shares.append(100 * found[0] / right)
        for name, size in zip(parts, found, strict=True):
            parts[name].append(size / 1e6)
    show.prediction("the embedding of the smallest", share_of_the_embedding["smallest"], shares[0], "%")
    show.prediction("of the largest", share_of_the_embedding["largest"], shares[-1], "%")
    drawn, [axes] = show.frames(width=9.0, height=3.2)
    left = [0.0] * 4
    for (name, sizes), colour in zip(parts.items(), (show.GREEN, show.ORANGE, show.BLUE), strict=True):
        axes.barh(range(4), sizes, left=left, height=0.62, color=colour, label=name)
        left = [a + b for a, b in zip(left, sizes, strict=True)]
    axes.plot(list(PRINTED.values()), range(4), "|", color=show.INK, ms=24, mew=1.8, label="as printed")
    axes.set_yticks(range(4), labels=list(D_MODELS))
    axes.set(xlabel="millions of parameters", ylabel="layers", ylim=(3.6, -0.6), title="Where are GPT-2's parameters?")
    axes.legend(loc="upper right", markerscale=0.45)
    show.figure(
        drawn,
        "Stacked bars of the four GPT-2s. Feed-forward networks take most, twice as much as attention; the embedding is a "
        "third of the smallest and a twentieth of the largest. Each bar ends a little beyond the printed number.",
    )


# %% [markdown]
# GPT-1's vocabulary reproduces all four printed numbers to the last digit. We can't know what the authors did, but this
# fits: they counted with the old vocabulary, and trained with the new one. The 9,779 additional tokens add seven and a
# half million parameters to the smallest model.
#
# The bars also show that two thirds of every block is the feed-forward network, and one third is attention. In the
# smallest model the embedding is nearly a third of all parameters. Without tying you would count it twice. (The number
# of heads doesn't matter.)
#
# ### 9.2 GPT-2, in your own model
#
# If yours is the same model, GPT-2's weights must fit into it, and it must produce exactly GPT-2's outputs. The weights
# are public: a dict of tensors, 148 of them for the smallest model. Three things differ from your model.
#
# 1. **The names.** GPT-2's `h.0.mlp.c_fc.weight` is your `blocks.0.feed_forward.W_1.weight`. The table `NAMES_IN_GPT2`
#    below lists all parts that differ.
# 2. **The layout of matrices.** GPT-2 computes $x W$, so it stores the matrix of a linear layer as `[in, out]`.
#    PyTorch's `nn.Linear` computes $x W^T$ and stores `[out, in]`. The linear layers are those with `c_` in their
#    names.
# 3. **Three in one.** `c_attn` computes queries, keys and values in a single product: its `3 d_model` outputs are the
#    outputs of `W_q`, `W_k` and `W_v`, in this order. Its weight and its bias each become three tensors, such as
#    `blocks.0.self_attention.W_q.weight`.

# %%
NAMES_IN_GPT2 = {
    "wte.weight": "embedding.weight",
    "wpe.weight": "positions.encoding",
    "h.": "blocks.",
    "ln_1.": "add_and_norm_1.norm.",
    "attn.c_attn.": "self_attention.W_qkv.",
    "attn.c_proj.": "self_attention.W_o.",
    "ln_2.": "add_and_norm_2.norm.",
    "mlp.c_fc.": "feed_forward.W_1.",
    "mlp.c_proj.": "feed_forward.W_2.",
    "ln_f.": "norm.",
}  # the parts of GPT-2's names, and what your model calls them; you still have to split W_qkv into three

# %% [markdown]
# ### Exercise 8 · GPT-2's weights
# `gpt.from_gpt2` · 4 points (3 for the weights, 1 for what your model does not have) · about 20 minutes
#
# Convert GPT-2's tensors into a dict that your model's `load_state_dict` accepts, with your names as keys. Transpose
# only the matrices of linear layers, and split `c_attn` into three. You may use the table.
#
# Shapes: `tensors` is a dict from names to tensors, and so is the result.

# %% [markdown] tags=["fine-print"]
# Some copies of GPT-2 contain extra tensors. Leave these out: `h.0.attn.bias`, which isn't a bias but the causal mask;
# `h.0.attn.masked_bias`, the score of a masked position; and `lm_head.weight`, the tied output layer, which is the
# embedding again. In other copies, every name except `lm_head.weight` begins with `transformer.`: remove this prefix.
# Block numbers don't change, and `self_attention` has `W_q`, `W_k`, `W_v` and `W_o`.


# %% nbgrader={"grade": false, "grade_id": "gpt-from_gpt2-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def from_gpt2(tensors):
    """The state dict of a CausalLanguageModel, from the tensors of a published GPT-2.

    tensors: dict from GPT-2's names to tensors
    returns: dict from the names in CausalLanguageModel to tensors
    """
    ### BEGIN SOLUTION
    found = {}
    for name, tensor in tensors.items():
        own = name.removeprefix("transformer.")
        if own == "lm_head.weight" or own.endswith((".attn.bias", ".attn.masked_bias")):
            continue
        if ".c_" in own and own.endswith(".weight"):
            tensor = tensor.T
        for theirs, ours in NAMES_IN_GPT2.items():
            own = own.replace(theirs, ours, 1)
        pieces = zip("qkv", tensor.chunk(3), strict=True) if "W_qkv" in own else [("qkv", tensor)]
        for letter, piece in pieces:
            found[own.replace("W_qkv", f"W_{letter}")] = piece
    return found
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# One table of ten lines works for any number of blocks. Transpose only the matrices of linear layers: `c_attn`,
# `c_proj` and `c_fc` are the names that contain `c_` (for *convolution*: GPT-2's code writes a linear layer as a
# convolution over single tokens). The embedding and the positions are lookup tables, so they stay as they are. Shapes
# catch most mistakes here, but not all: attention's `c_proj` is square and fits either way. With `c_proj` left as it
# is, the model runs, but writes nonsense. So compare the logits, not only the shapes.

# %% nbgrader={"grade": true, "grade_id": "gpt-from_gpt2-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("gpt.from_gpt2")
### BEGIN HIDDEN TESTS
check("gpt.from_gpt2", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Now load GPT-2. The first time, the cell downloads `"gpt2"` from the Hugging Face hub: 550 MB. You can also give the
# path of a folder with `config.json` and `model.safetensors`. If the cell finds neither, it says so and uses a
# stand-in: the model you trained above, saved in GPT-2's format.
#
# Do your logits match those of the course's own library, which loads GPT-2 in its own way? Does GPT-2 notice a
# repetition, unlike our small model? And what does it write, with nucleus sampling as in lesson 06?

# %%
PUBLISHED = "gpt2"  # or "gpt2-medium", or a folder
PROMPTS = ["The cat opened the fridge and", "Nobody expected the old queen to"]

# %% tags=["demo"]
nucleus = answer("decoding.nucleus")


def stand_in():
    """The model from above in a folder, as GPT-2 is published, and its tokens."""
    from course_lib.models import GPT, GPTConfig

    weights = trained()[0].cpu().state_dict() | {"output.weight": trained()[0].embedding.weight}
    for name in [name for name in weights if ".W_q." in name]:  # the library keeps the three in one
        three = [weights.pop(name.replace("W_q", f"W_{letter}")) for letter in "qkv"]
        weights[name.replace("W_q", "W_qkv")] = torch.cat(three)
    sizes = SIZES | {"d_ff": 4 * D_MODEL, "activation": "gelu_tanh"}
    saved = GPT(GPTConfig(**sizes))
    saved.load_state_dict(weights)
    trained()[0].to(device)
    folder = Path(tempfile.mkdtemp())
    saved.save_pretrained(folder)
    return folder, encode_words, decode, [". the old queen", ". because a small cat"]


def encode_words(text):
    return encode(text.split())


def published():
    """A folder with a GPT-2, how to make ids of a text and a text of ids, and beginnings of texts."""
    from course_lib.published.hub import find_folder
    from course_lib.text.fast_subwords import SubwordVocabulary

    try:
        folder = find_folder(PUBLISHED)
    except FileNotFoundError as problem:
        print(f"A stand-in instead of {PUBLISHED}: {problem}.\n")
        return stand_in()
    pieces = SubwordVocabulary.load_gpt2(folder / "vocab.json", folder / "merges.txt")
    return folder, lambda text: torch.tensor(pieces.encode(text)), lambda ids: pieces.decode(ids.tolist()), PROMPTS


@torch.no_grad()
def drawn_after(model, ids, max_new_tokens, context_length):
    """The ids and `max_new_tokens` more, each drawn from the nucleus at a temperature of 0.8."""
    for _ in range(max_new_tokens):
        logits = model(ids[-context_length:].unsqueeze(0))[0, -1]
        ids = torch.cat([ids, torch.multinomial(nucleus(torch.softmax(logits / 0.8, dim=-1), 0.9), 1)])
    return ids


@show.when_ready
def gpt_2_in_your_model():
    from course_lib.models import GPT  # the library's own, to compare yours with
    from course_lib.published.hub import PublishedModel

    folder, to_ids, to_text, prompts = published()
    tensors = PublishedModel.read(folder, "gpt2").tensors
    library = GPT.from_pretrained(folder)
    sizes = {
        name: getattr(library.config, name) for name in ("vocab_size", "context_length", "d_model", "heads", "layers")
    }
    own = language_model(**sizes)
    own.load_state_dict(from_gpt2(tensors))

    ids = to_ids(prompts[0])
    with torch.no_grad():
        mine, theirs = own(ids.unsqueeze(0)), library(ids.unsqueeze(0))
    print(
        f"largest logit {theirs.abs().max():.1f}, largest difference from the library's {(mine - theirs).abs().max():.0e}"
    )
    print(f"{sum(parameter.numel() for parameter in own.parameters()):,} numbers loaded")
    losses = loss_by_round(own, ids[:1], sizes)
    print("its loss in each round of a repetition:", " ".join(f"{loss:.2f}" for loss in losses), "nats per token\n")

    torch.manual_seed(4)
    for prompt in prompts:
        written = drawn_after(own, to_ids(prompt), 30, sizes["context_length"])
        print(textwrap.fill(to_text(written), 110, initial_indent="  “", subsequent_indent="   ") + " …”")


# %% [markdown]
# The logits agree to the last digits: you changed only the weights, and your model *is* GPT-2. If you got the stand-in,
# go online and run the cell again. With the real weights, look at the rounds of the repetition. Does the loss fall
# after the first round? That would be in-context learning in its simplest form: the weights don't change, but the model
# learns from the prompt (Olsson et al., 2022, on *induction heads*).
#
# A **stretch task**, for a free evening: `"gpt2-medium"` has 345 million parameters (on paper; you know better). Can your
# `from_gpt2` convert it without any changes? What about Hugging Face's `"distilgpt2"`, which has half the layers? Compare
# how probable these models find a paragraph of yours and one from this morning's newspaper.
#
# ### Exercise 9 · In your own words
# `gpt.too_good` · 2 points, read by a person · about 12 minutes
#
# A colleague has changed the attention of your language model to make it faster. The loss on training text falls from
# 3.1 to 0.4 nats, and on held-out text to 0.5. "It generalizes," he says. "The validation loss proves it." In four to
# seven sentences: why doesn't the held-out loss prove that? Which two experiments would show what is going on? What
# would each show if the model were honest, and if it weren't?
#
# Learning on your own? Once you have written your answer,
# `solution("gpt.too_good")` in a new cell shows one good answer and what earns points.

# %% [markdown] nbgrader={"grade": true, "grade_id": "gpt-too_good-written", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# If a model can see the token that it should predict, it copies that token, and copying works on any text, including
# new text. So a low held-out loss shows that the model hasn't just memorized its training text, but not that it is
# honest: with a leak, both losses fall together. A loss far below what the text's own uncertainty allows is suspicious
# in itself. First experiment: change one token and see which predictions move. In an honest model, predictions before
# that position don't move at all; in a leaky one they do, especially the prediction just before it. Second: let it
# write. It can't copy the next token while writing, so an honest model with such a loss writes well, and a leaky one
# writes nonsense. (The loss by position would also work: in a leaky model it is near 0 everywhere except at the last
# position.)
#
# *(One point: copying works on new text too, so the held-out loss distinguishes learning from memorizing, but not from
# leaking. One point: two experiments, such as changing a token, letting it write, or looking at the loss by position,
# each with both outcomes.)*

# %% [markdown]
# ### 9.3 Where do you get good text?
#
# A larger model needs more text, and the web has plenty, most of it garbage. GPT-2's authors left the choice to people
# who didn't know they were choosing: they took every page linked from a post on **Reddit** with **at least 3 karma**,
# and called the result **WebText** (Radford et al., 2019, section 2.1).


# %%
LINKS, DOCUMENTS, BYTES = 45e6, 8e6, 40e9
our_bytes = len(decode(training_text))
print(
    f"{DOCUMENTS / LINKS:.0%} of the links became documents: duplicates, unreadable pages and (on purpose) Wikipedia were removed"
)
print(f"{BYTES / DOCUMENTS / 1000:.0f} kB per document, about {BYTES / DOCUMENTS / 6:.0f} words")
print(f"reading it all at 250 words a minute, day and night: {BYTES / 6 / 250 / 60 / 24 / 365:.0f} years")
print(f"our text would fit into it {BYTES / our_bytes:,.0f} times")

# %% tags=["demo"]
drawn, [axes] = show.frames(width=9.0, height=2.3)
axes.barh([0, 1], [LINKS / 1e6, DOCUMENTS / 1e6], height=0.7, color=["#c9dcf2", show.BLUE])
axes.text(0.7, 0, "45 million links, from posts on Reddit with at least 3 karma", va="center", fontsize=11)
axes.text(8.7, 1, "8 million documents: text only, no duplicates. 40 GB", va="center", fontsize=11)
axes.set_yticks([])
axes.set(xlabel="millions", ylim=(1.5, -0.5), title="How WebText was made")
axes.spines["left"].set_visible(False)
show.figure(
    drawn, "Two bars to scale: 45 million links from posts with at least 3 karma, and 8 million documents, 40 GB."
)

# %% [markdown]
# Who writes on Reddit, and who doesn't? A model mirrors what it has read.

# %% [markdown] tags=["slides"]
# S3 explains how WebText was made, and sums it up as *right data + right model*.

# %% [markdown]
# ## Glossary
#
# - **language model**: a model that assigns each possible next token a probability, given the tokens before it.
# - **shifted targets**: the inputs moved one position to the left, so that each position holds the next token.
# - **packing**: putting several documents in one row; a document mask keeps them apart.
# - **logits**: the scores of all tokens before the softmax.
# - **weight tying**: the output layer's matrix is the embedding; both uses train the same parameters.
# - **decoder-only transformer**: blocks of masked self-attention and a feed-forward network, without an encoder.
# - **context length**: the largest number of tokens that a model can read at once.
# - **leak**: a way for a model to see what it should predict; in a causal model, any dependence on later tokens.
# - **pre-training**: training on plain text, before any task.
# - **fine-tuning**: further training of a pre-trained model on a task with labels.
# - **auxiliary loss**: a second loss, added with a weight, for a task that isn't the goal itself.
# - **zero-shot**: doing a task without having been trained on any example of it.
# - **few-shot, in-context learning**: doing a task from a few examples in the prompt, without any training.
#
# ## What you have now
#
# You have a GPT of your own that matches PyTorch's to the last digits. You have trained it, caught it cheating, graded
# its sentences, fine-tuned it, and loaded GPT-2's weights into it. It reads from left to right and must not look ahead,
# because it writes.
#
# But what if you only want to *understand*? Then looking ahead isn't cheating; it helps, and you only have to set
# `causal=False`. You just need a game other than predicting the next word: one where the answer isn't on the page.
# Lesson 09 plays that game.
